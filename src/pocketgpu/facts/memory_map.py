"""The map of physical addresses: memory that the GPU can reach, and address ranges that are not memory.

The allocator, the register front end and the tools all use this map.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.late_dataclass import dataclass

MIB: Final = 1 << 20
KIB: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class Region:
    """`size` bytes of physical addresses from `base`. memory: plain storage (False for device registers)."""

    name: str
    base: int
    size: int
    doc: str = ""
    source: str = ""
    memory: bool = True

    @property
    def end(self) -> int:
        """First address after the region."""
        return self.base + self.size

    def contains(self, address: int, size: int = 1) -> bool:
        """Whether all of [address, address + size) is inside."""
        return self.base <= address and address + size <= self.end


_MAP: Final = "3dbrew Memory layout"

VRAM: Final = Region("VRAM", 0x18000000, 6 * MIB, "Video memory, two banks of 3 MiB.", _MAP)
DSP: Final = Region("DSP", 0x1FF00000, 512 * KIB, "Memory of the sound processor.", _MAP)
AXI_WRAM: Final = Region("AXI_WRAM", 0x1FF80000, 512 * KIB, "Work memory of the processors.", _MAP)
FCRAM: Final = Region("FCRAM", 0x20000000, 128 * MIB, "Main memory.", _MAP)

FCRAM_NEW_SIZE: Final = 256 * MIB
"""Main memory of the new model, in bytes."""

MEMORY: Final[tuple[Region, ...]] = (VRAM, DSP, AXI_WRAM, FCRAM)
"""Regions that hold data, in order of address; FCRAM with the size of the old model."""

IO_RANGES: Final[tuple[Region, ...]] = (
    Region("IO_ARM9", 0x10000000, 0x100000, "Devices of the ARM9.", "3dbrew IO Registers", memory=False),
    Region("IO_SHARED", 0x10100000, 0x100000, "Devices of both processors.", "3dbrew IO Registers", memory=False),
    Region("LCD", 0x10202000, 0x1000, "Screens and backlights.", "3dbrew LCD Registers", memory=False),
    Region("GPU", 0x10400000, 0x1000, "Fill, transfer, display.", "3dbrew GPU/External Registers", memory=False),
    Region("PICA", 0x10401000, 0x1000, "Internal registers.", "3dbrew GPU/Internal Registers", memory=False),
)
"""Address ranges that are devices: reads and writes there are not memory accesses. Not a complete list."""


def find(address: int, size: int = 1, fcram_size: int = FCRAM.size) -> Region | None:
    """The memory region that contains all of [address, address + size), or None."""
    for region in MEMORY:
        extent = fcram_size if region is FCRAM else region.size
        if region.base <= address and address + size <= region.base + extent:
            return region
    return None
