"""What a player finds on a Switch, and how a script becomes its input."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.switch.hid import BUTTONS, STICK
from pocketgpu.guests.input.controls import ANSWERS, LETTERS, Control, Controls, Span, Value, pushed
from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.switch.services.hid_input import HEIGHT, WIDTH, Input, Vector

_POINT: Final = (Value("x", 0, WIDTH - 1, whole=True), Value("y", 0, HEIGHT - 1, whole=True))
_PUSH: Final = (Value("x", -1, 1), Value("y", -1, 1))
TOUCH: Final = ("touch", "touch2", "touch3", "touch4")
LEFT_STICK, RIGHT_STICK, ACCELERATION, ROTATION = "left_stick", "right_stick", "acceleration", "rotation"
CLOSE, HOME, DOCKED, HANDHELD = "close", "home", "docked", "handheld"
_DEGREES: Final = 360
CONTROLS: Final = Controls(
    "Switch",
    (*(name for name in BUTTONS if not name.endswith(("_SL", "_SR"))), "SL", "SR"),
    (
        *(Control(name, Span.HELD, _POINT) for name in TOUCH),
        Control(LEFT_STICK, Span.HELD, _PUSH),
        Control(RIGHT_STICK, Span.HELD, _PUSH),
        Control(ACCELERATION, Span.HELD, tuple(Value(axis, -8, 8) for axis in "xyz")),
        Control(ROTATION, Span.HELD, tuple(Value(axis, -2000, 2000) for axis in "xyz")),
        *ANSWERS,
        *(Control(name, Span.ONCE) for name in (CLOSE, HOME, DOCKED, HANDHELD)),
    ),
    keyboard=(
        *LETTERS, ("Enter", "PLUS"), ("ShiftLeft", "MINUS"), ("ShiftRight", "MINUS"),
        *pushed(LEFT_STICK, "KeyW", "KeyA", "KeyS", "KeyD"), *pushed(RIGHT_STICK, "KeyI", "KeyJ", "KeyK", "KeyL"),
    ),
    gamepad=(
        "B", "A", "Y", "X", "L", "R", "ZL", "ZR", "MINUS", "PLUS", "LSTICK", "RSTICK", "UP", "DOWN", "LEFT", "RIGHT",
    ),
    sticks=(LEFT_STICK, RIGHT_STICK),
)  # fmt: skip
"""touch: a finger on the screen of 1280x720; touch2 and so on: further ones. Sticks: 1 is the edge. acceleration: in
those of the earth. rotation: degrees in a second. close: what the HOME menu does to a program. home: the HOME menu
comes in front of the program, or goes again. docked, handheld: the console is put into its dock, or taken out."""


def input_of(actions: Actions) -> Input:
    """A frame's actions as the service has them."""
    values = actions.values
    rest = Input()
    fingers = [(number, values[name]) for number, name in enumerate(TOUCH) if name in values]
    return Input(
        buttons=sum(_bits(name) for name in actions.keys),
        left=_stick(values.get(LEFT_STICK)),
        right=_stick(values.get(RIGHT_STICK)),
        touches=tuple((number, int(x), int(y)) for number, (x, y) in fingers),
        acceleration=_vector(values.get(ACCELERATION), 1) or rest.acceleration,
        rotation=_vector(values.get(ROTATION), _DEGREES) or rest.rotation,
    )


def _bits(key: str) -> int:
    """SL and SR are on both halves."""
    if key in BUTTONS:
        return BUTTONS[key]
    return BUTTONS[f"LEFT_{key}"] | BUTTONS[f"RIGHT_{key}"]


def _stick(values: tuple[float | str, ...] | None) -> tuple[int, int]:
    if values is None:
        return 0, 0
    x, y = (round(STICK * float(one)) for one in values)
    return x, y


def _vector(values: tuple[float | str, ...] | None, unit: float) -> Vector | None:
    if values is None:
        return None
    x, y, z = (float(one) / unit for one in values)
    return x, y, z
