"""Power of video memory: the register that disables halves of its two banks.

Each bank is 128 bits wide. A half is its lower or upper 64 bits: 8 bytes of every 16. A half that is off loses its
contents (choice vram.power_off), and writes to it are lost too.

Source: 3dbrew GPU/External Registers (VRAM bank control); GBATEK.
"""

from __future__ import annotations

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.pica.memory.guest import GuestMemory

_BANK = VRAM.size // 2


class VramPower:
    """The half banks that are off, by name ("a_low", "a_high", "b_low", "b_high")."""

    def __init__(self, memory: GuestMemory, reading: str) -> None:
        """reading: the value of vram.power_off."""
        self.memory = memory
        self.off: tuple[str, ...] = ()
        self._loses = reading == "lose"

    def set(self, word: int) -> None:
        """VRAM_POWER has the value `word` now."""
        fields = EXTERNAL["VRAM_POWER"].fields
        self.off = tuple(f.name.removesuffix("_off") for f in fields if f.raw(word)) if self._loses else ()
        self.lose()

    def lose(self) -> None:
        """Clear the halves that are off; to be called after anything that may have written there."""
        for name in self.off:
            bank, side = name.split("_")
            start = VRAM.base + _BANK * (bank == "b")
            at = 8 * (side == "high")
            self.memory.view(start, _BANK).reshape(-1, 16)[:, at : at + 8] = 0
            offset = self.memory.offset_of(start, _BANK)
            assert offset is not None
            self.memory.touch(offset, _BANK)
