"""Where things lie in the address space of a program on a 3DS. Source: libctru's os.h; 3dbrew Memory layout."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.memory_map import FCRAM, MIB, VRAM

LIMIT: Final = 1 << 32
CODE: Final = 0x00100000
HEAP: Final = 0x08000000
HEAP_END: Final = 0x0E000000
LOADER_PAGE: Final = 0x0FF00000
"""Arguments and the list of handles that a homebrew loader leaves."""
STACK_TOP: Final = 0x10000000
STACK_SIZE: Final = 0x4000
MAPPABLE: Final = 0x10000000
MAPPABLE_END: Final = 0x14000000
FONT: Final = 0x18000000
FONT_PHYSICAL: Final = 0x24000000
FONT_SIZE: Final = 0x400000
VRAM_VIRTUAL: Final = 0x1F000000
DSP: Final = 0x1FF00000
DSP_SIZE: Final = 0x80000
KERNEL_PAGE: Final = 0x1FF80000
SHARED_PAGE: Final = 0x1FF81000
TLS: Final = 0x1FF82000
TLS_BYTES: Final = 0x200
TLS_SLOTS: Final = 128
LINEAR: Final = 0x30000000
LINEAR_END: Final = 0x40000000
LINEAR_PHYSICAL: Final = FCRAM.base
VRAM_PHYSICAL: Final = VRAM.base

APPLICATION_MEMORY: Final = 64 * MIB
"""What a program may have; SYSTEM_USED is in use when it starts."""
SYSTEM_USED: Final = 1 * MIB
CLOCK: Final = 268_111_856
"""Ticks of a second."""
VBLANK: Final = 4_481_519
"""Ticks from one VBlank to the next: 59.83 in a second."""
CALL_COST: Final = 268
"""Ticks that a supervisor call takes: a microsecond."""
HID_PERIOD: Final = 4 * CLOCK // 1000
"""Ticks between entries of the pad's shared memory: 4 ms."""
GET_TICK_COST: Final = 10
"""Ticks that reading the clock takes, so that programs that wait for it to move go on."""
