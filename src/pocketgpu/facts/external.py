"""The registers that the ARM11 accesses directly: memory fill, transfer, display and the LCD block.

Two blocks, both with offsets in bytes: EXTERNAL at physical 0x10400000 (its upper half, from 0x1000, is the
bank of facts/pica.py) and LCD at 0x10202000. Their virtual addresses in programs are 0x0EB00000 higher.

The tables are n3ds/external.tsv and n3ds/lcd.tsv with their parts. Reset values are those that the system software
(gsp) leaves to programs. Source: 3dbrew GPU/External Registers, LCD Registers; GBATEK where a register says so.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.registers import Bank, RegisterBlock
from pocketgpu.facts.n3ds.blocks import block
from pocketgpu.facts.pica_enums import INTERLACE
from pocketgpu.late_dataclass import dataclass

USER_OFFSET: Final = 0x0EB00000
"""Virtual address of a device register in a program, minus its physical address."""

EXTERNAL_BANK: Final = Bank("external", 0x10400000, 1)
LCD_BANK: Final = Bank("lcd", 0x10202000, 1)

WIKI: Final = "3dbrew GPU/External Registers"
LCD_WIKI: Final = "3dbrew LCD Registers"
GBATEK: Final = "GBATEK"

SCREENS: Final = ("top", "bottom")
"""Name of each display controller's screen."""

COUNTED_TRAFFIC: Final = ("PDC0_READ", "PDC1_READ", "PPF_READ", "PPF_WRITE", "PSC0_WRITE", "PSC1_WRITE")
"""Counters that this machine keeps, because it can count exactly; the displays' only in emulated time."""


@dataclass(frozen=True, slots=True)
class Area:
    """Offsets of the GPU block, `end` exclusive, without registers of their own. `period`: the area repeats this number
    of bytes from `home` on. Without one, `hangs` is whether an access hangs the console or only ends the program."""

    start: int
    end: int
    home: int = 0
    period: int = 0
    hangs: bool = False


MIRRORS: Final = (Area(0x100, 0x400, 0x000, 0x100), Area(0xD00, 0x1000, 0xC00, 0x100))
"""Where registers are repeated. Source: GBATEK."""

HOLES: Final = (Area(0x600, 0x800, hangs=True), Area(0x800, 0xC00), Area(0x2000, 0x100000))
"""Unused areas: the bus hangs, or the access ends in a data abort. Source: GBATEK."""

CORE_READ_HANGS: Final = frozenset({0x6C})
"""Ids of registers of the 3D core that hang the bus when they are read from outside. Source: GBATEK."""


def shows_both(interlace: int) -> bool:
    """Whether a line mode (PDCn_FORMAT.interlace) alternates lines of both framebuffers."""
    return interlace in (INTERLACE.A_THEN_B, INTERLACE.B_THEN_A)


EXTERNAL: Final[RegisterBlock] = block(EXTERNAL_BANK, "external", WIKI)
"""Fill, transfer and display registers; offsets in bytes from 0x10400000."""

LCD: Final[RegisterBlock] = block(LCD_BANK, "lcd", LCD_WIKI)
"""Screen registers; offsets in bytes from 0x10202000."""


__all__ = ["EXTERNAL"]


def __dir__() -> list[str]:
    return [*__all__]
