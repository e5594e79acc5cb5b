"""How answers show themselves; `pocketgpu.displayed` has it for all rooms."""

from pocketgpu.displayed import MOST_LETTERS, Displayed

__all__ = ["MOST_LETTERS", "Displayed"]
