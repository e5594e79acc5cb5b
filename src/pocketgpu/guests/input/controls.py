"""What a player finds on a console: keys, and controls with values.

    slider = Control("slider", Span.LASTING, (Value("position", 0, 1),))
    Controls("3DS", ("A", "B"), (slider,))
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from pocketgpu.late_dataclass import dataclass


class Span(Enum):
    """How long a control acts."""

    HELD = "held"  # in the frames that are written, then it is let go
    LASTING = "lasting"  # from a frame on, until it is put elsewhere
    ONCE = "once"  # at a frame


@dataclass(frozen=True, slots=True)
class Value:
    """A number that a control takes, from `low` to `high`. whole: without fractions. start: where it is before anybody
    moves it, if it stays where it is put."""

    name: str
    low: float
    high: float
    whole: bool = False
    start: float = 0

    def __str__(self) -> str:
        return f"{self.name} {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Control:
    """A control. name: as scripts write it. text: whether it takes a text in quotation marks instead of numbers."""

    name: str
    span: Span
    values: tuple[Value, ...] = ()
    text: bool = False

    @property
    def example(self) -> str:
        """How a script writes it."""
        if self.text:
            return f'{self.name} "hello"'
        return f"{self.name} {','.join(f'{one.high:g}' for one in self.values)}".rstrip()


@dataclass(frozen=True, slots=True)
class Controls:
    """All that a player finds on a console. keys: their names. keyboard: what a computer's keys do, by the code that
    browsers give them: a key, or a control as scripts write it. gamepad: the same for the buttons of a gamepad, in the
    order of the Gamepad API's standard layout. sticks: controls of its sticks, left and right."""

    console: str
    keys: tuple[str, ...]
    others: tuple[Control, ...]
    keyboard: tuple[tuple[str, str], ...] = ()
    gamepad: tuple[str, ...] = ()
    sticks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Controls of {self.console}: {len(self.keys)} keys, {', '.join(one.name for one in self.others)}>"

    def find(self, name: str) -> Control | None:
        """A control by name."""
        return next((one for one in self.others if one.name == name), None)


LETTERS: Final = (
    ("ArrowUp", "UP"), ("ArrowDown", "DOWN"), ("ArrowLeft", "LEFT"), ("ArrowRight", "RIGHT"),
    ("KeyX", "A"), ("KeyZ", "B"), ("KeyV", "X"), ("KeyC", "Y"),
    ("KeyQ", "L"), ("KeyE", "R"), ("Digit1", "ZL"), ("Digit3", "ZR"),
)  # fmt: skip
"""What the keyboard does on both consoles: arrows, and letters beside each other for keys beside each other."""


def pushed(control: str, up: str, left: str, down: str, right: str) -> tuple[tuple[str, str], ...]:
    """Four keys of a keyboard that push a stick to its edge."""
    return (
        (up, f"{control} 0,1"), (left, f"{control} -1,0"), (down, f"{control} 0,-1"), (right, f"{control} 1,0"),
    )  # fmt: skip


ANSWERS: Final = (Control("text", Span.ONCE, text=True), Control("cancel", Span.ONCE))
"""Controls of every console: a text for a program that asks, such as the keyboard, or cancelling it."""
ANSWERING: Final = tuple(one.name for one in ANSWERS)
