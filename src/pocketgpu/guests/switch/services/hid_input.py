"""What a player does on a Switch at a VBlank, in the units of `hid`."""

from __future__ import annotations

from typing import Final, TypeAlias

from pocketgpu.facts.switch.hid import STICK, STICK_BUTTONS
from pocketgpu.late_dataclass import dataclass

WIDTH, HEIGHT = 1280, 720
"""Of the touch screen."""
_PUSHED: Final = STICK // 2
"""A stick counts as a button from here on. No source says from where."""
Vector: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Input:
    """buttons: bits as libnx's HidNpadButton. left, right: x and y of the sticks, -32767 to 32767. touches: number of
    the finger, x and y. acceleration: in those of the earth. rotation: turns in a second."""

    buttons: int = 0
    left: tuple[int, int] = (0, 0)
    right: tuple[int, int] = (0, 0)
    touches: tuple[tuple[int, int, int], ...] = ()
    acceleration: Vector = (0.0, 0.0, -1.0)
    rotation: Vector = (0.0, 0.0, 0.0)

    @property
    def pad(self) -> int:
        """Buttons as the console has them: sticks count as buttons too, when they are far from their middle."""
        found = self.buttons
        for name, (x, y) in (("left", self.left), ("right", self.right)):
            to_left, up, to_right, down = STICK_BUTTONS[name]
            if abs(x) >= _PUSHED:
                found |= to_right if x > 0 else to_left
            if abs(y) >= _PUSHED:
                found |= up if y > 0 else down
        return found
