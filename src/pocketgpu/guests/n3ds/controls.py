"""What a player finds on a 3DS, and how a script becomes its input."""

from __future__ import annotations

from typing import Final

from pocketgpu.guests.input.controls import ANSWERS, LETTERS, Control, Controls, Span, Value, pushed
from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.n3ds.abi import pages
from pocketgpu.guests.n3ds.services.hid import DEGREE, GRAVITY, KEYS, Input

STICK: Final = 156
"""What the service says of a circle pad that is pushed to its edge. Source: libctru's hid.h."""
_WIDTH, _HEIGHT = 320, 240
CONTROLS: Final = Controls(
    "3DS",
    tuple(KEYS),
    (
        Control(
            "touch", Span.HELD, (Value("x", 0, _WIDTH - 1, whole=True), Value("y", 0, _HEIGHT - 1, whole=True))
        ),
        Control("circle", Span.HELD, (Value("x", -1, 1), Value("y", -1, 1))),
        Control("slider", Span.LASTING, (Value("position", 0, 1, start=pages.SLIDER),)),
        Control("volume", Span.LASTING, (Value("position", 0, 1, start=1),)),
        Control("acceleration", Span.HELD, tuple(Value(axis, -4, 4) for axis in "xyz")),
        Control("rotation", Span.HELD, tuple(Value(axis, -2000, 2000) for axis in "xyz")),
        *ANSWERS,
        *(Control(name, Span.ONCE) for name in ("close", "home", "power", "lid")),
    ),
    keyboard=(
        *LETTERS, ("Enter", "START"), ("ShiftLeft", "SELECT"), ("ShiftRight", "SELECT"),
        *pushed("circle", "KeyW", "KeyA", "KeyS", "KeyD"),
    ),
    gamepad=("B", "A", "Y", "X", "L", "R", "ZL", "ZR", "SELECT", "START", "", "", "UP", "DOWN", "LEFT", "RIGHT"),
    sticks=("circle",),
)  # fmt: skip
"""circle: 1 is the edge. slider: of the 3D effect. acceleration: in those of the earth; a console that lies on a table
has 0,-1,0. rotation: degrees in a second. close: what the HOME menu does
to a program. lid: it is closed and opened again."""
TOUCH, CIRCLE, SLIDER, VOLUME, ACCELERATION, ROTATION, *_ = (one.name for one in CONTROLS.others)
BUTTONS: Final = {"close": "CLOSE", "home": "HOME", "power": "POWER", "lid": "SLEEP"}
"""What the program is signalled, by control."""


def input_of(actions: Actions) -> Input:
    """A frame's actions as the service has them."""
    values = actions.values
    touch, slider = values.get(TOUCH), values.get(SLIDER)
    rest = Input()
    x, y = _scaled(values.get(CIRCLE), STICK) or (0, 0)
    (volume,) = _scaled(values.get(VOLUME), rest.volume) or (rest.volume,)
    pull, turn = _scaled(values.get(ACCELERATION), GRAVITY), _scaled(values.get(ROTATION), DEGREE)
    return Input(
        keys=sum(1 << KEYS[name] for name in actions.keys),
        circle=(x, y),
        touch=None if touch is None else (int(touch[0]), int(touch[1])),
        acceleration=(pull[0], pull[1], pull[2]) if pull else rest.acceleration,
        rotation=(turn[0], turn[1], turn[2]) if turn else rest.rotation,
        slider=None if slider is None else float(slider[0]),
        volume=volume,
    )


def _scaled(values: tuple[float | str, ...] | None, unit: float) -> tuple[int, ...]:
    """Numbers of a script in the service's units, which have 16 bits; none if there are none."""
    return tuple(max(-0x8000, min(0x7FFF, round(unit * float(value)))) for value in values or ())
