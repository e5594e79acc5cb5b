"""What a player finds on a 3DS, and how a script becomes its input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pocketgpu.guests.input.controls import Control, Controls, Span, Value
from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.n3ds.services.hid import KEYS, Input

STICK: Final = 156
"""What the service says of a circle pad that is pushed to its edge. Source: libctru's hid.h."""
GRAVITY: Final = 512
"""What the service says of an acceleration of 1 g. Source: 3dbrew HID Shared Memory."""
DEGREE: Final = 14.375
"""What the service says of a rotation of one degree in a second. Source: libctru's hid.c."""
_WIDTH, _HEIGHT = 320, 240
_MOST_G, _MOST_DEGREES, _LOUDEST = 4, 2000, 63
_LEVEL = (0.0, -1.0, 0.0)
"""The acceleration of a console that lies still."""
CONTROLS: Final = Controls(
    "3DS",
    tuple(KEYS),
    (
        Control(
            "touch", Span.HELD, (Value("x", 0, _WIDTH - 1, whole=True), Value("y", 0, _HEIGHT - 1, whole=True))
        ),
        Control("circle", Span.HELD, (Value("x", -1, 1), Value("y", -1, 1))),
        Control("accel", Span.LASTING, tuple(Value(name, -_MOST_G, _MOST_G) for name in "xyz")),
        Control("gyro", Span.HELD, tuple(Value(name, -_MOST_DEGREES, _MOST_DEGREES) for name in "xyz")),
        Control("slider", Span.LASTING, (Value("position", 0, 1),)),
        Control("volume", Span.LASTING, (Value("volume", 0, _LOUDEST, whole=True),)),
        Control("text", Span.ONCE, text=True),
        Control("cancel", Span.ONCE),
        Control("home", Span.ONCE),
        Control("sleep", Span.ONCE),
        Control("power", Span.ONCE),
        Control("close", Span.ONCE),
    ),
)
"""circle: 1 is the edge. accel: in g; gyro: in degrees a second. slider: of the 3D effect. text, cancel: what the
player answers the next keyboard or other applet. sleep: the lid is closed and opened. close: what the HOME menu does to
a program."""
TOUCH, CIRCLE, ACCELERATION, ROTATION, SLIDER, VOLUME, TEXT, CANCEL, *_BUTTONS = (one.name for one in CONTROLS.others)
BUTTONS: Final = frozenset(_BUTTONS)
"""Controls that are buttons of the system."""


def answer_of(control: str, values: Sequence[float | str]) -> tuple[str | None] | None:
    """What a control answers an applet, in a tuple; None if it is about something else."""
    if control == TEXT:
        return (str(values[0]),)
    return (None,) if control == CANCEL else None


def input_of(actions: Actions) -> Input:
    """What the service is told of a frame's actions."""
    x, y = (round(STICK * float(value)) for value in actions.values.get(CIRCLE, (0.0, 0.0)))
    touch = actions.values.get(TOUCH)
    ax, ay, az = (round(GRAVITY * float(value)) for value in actions.values.get(ACCELERATION, _LEVEL))
    rx, ry, rz = (round(DEGREE * float(value)) for value in actions.values.get(ROTATION, (0.0, 0.0, 0.0)))
    slider, volume = actions.values.get(SLIDER), actions.values.get(VOLUME, (_LOUDEST,))
    return Input(
        keys=sum(1 << KEYS[name] for name in actions.keys),
        circle=(x, y),
        touch=None if touch is None else (int(touch[0]), int(touch[1])),
        acceleration=(ax, ay, az),
        rotation=(rx, ry, rz),
        slider=None if slider is None else float(slider[0]),
        volume=int(volume[0]),
    )
