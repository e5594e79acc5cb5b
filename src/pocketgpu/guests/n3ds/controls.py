"""What a player finds on a 3DS, and how a script becomes its input."""

from __future__ import annotations

from typing import Final

from pocketgpu.guests.input.controls import Control, Controls, Span, Value
from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.n3ds.services.hid import KEYS, Input

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
        Control("slider", Span.LASTING, (Value("position", 0, 1),)),
        Control("close", Span.ONCE),
    ),
)
"""circle: 1 is the edge. slider: of the 3D effect. close: what the HOME menu does to a program."""
TOUCH, CIRCLE, SLIDER, CLOSE = (one.name for one in CONTROLS.others)


def input_of(actions: Actions) -> Input:
    """What the service is told of a frame's actions."""
    x, y = (round(STICK * float(value)) for value in actions.values.get(CIRCLE, (0.0, 0.0)))
    touch = actions.values.get(TOUCH)
    return Input(
        keys=sum(1 << KEYS[name] for name in actions.keys),
        circle=(x, y),
        touch=None if touch is None else (int(touch[0]), int(touch[1])),
    )
