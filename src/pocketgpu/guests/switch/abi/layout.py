"""Where things lie in the address space of a program on a Switch, and how fast its clocks are.

A console chooses regions at random; here they are constant, so that every run gives the same bytes.
Source: libnx's virtmem.c for what the regions are.
"""

from __future__ import annotations

from typing import Final

MIB: Final = 1 << 20
LIMIT: Final = 1 << 39
ALIAS: Final = 0x10_0000_0000
ALIAS_SIZE: Final = 0x10_0000_0000
ASLR: Final = 0x0800_0000
ASLR_SIZE: Final = 0x7F_F800_0000
HEAP: Final = 0x21_0000_0000
HEAP_REGION_SIZE: Final = 0x1_8000_0000
STACKS: Final = 0x30_0000_0000
STACKS_SIZE: Final = 0x8000_0000
STACK_SIZE: Final = MIB
"""Of the main thread, at the start of the region; the start block lies at its end."""
START_BLOCK: Final = STACKS + 0xF_D000
FIRST_SP: Final = STACKS + 0xF_C000
TLS: Final = 0x40_0000_0000
TLS_BYTES: Final = 0x200
TLS_SLOTS: Final = 128
CODE: Final = 0x71_0000_0000
HEAP_SIZE: Final = 384 * MIB
"""Of programs that get their heap from the loader, as a homebrew loader gives it."""
RAM: Final = 640 * MIB
"""All memory of the program. It is the GPU's memory, too."""
TOTAL_MEMORY: Final = RAM + 2 * MIB
"""What programs are told. They leave 2 MiB of it to the system when they ask for all of it as heap."""
SYSTEM_USED: Final = RAM - HEAP_SIZE
"""What they are told is used without a heap: code, stacks and what the system has, always the same."""
HEAP_STEP: Final = 2 * MIB
RETURN: Final = 0xDEAD_0000
"""Where the main thread returns to: nothing is there, and the program ends."""

PROCESS_ID: Final = 0x51
"""Of the program: lower ones are those of the system."""
POINTER_BUFFER: Final = 0x8000
"""Bytes of a service's buffer for what messages copy, where a console has one."""

CLOCK: Final = 1_020_000_000
"""Ticks of a second: one for each instruction of the processor."""
COUNTER: Final = 19_200_000
"""Steps of the processor's counter (CNTPCT_EL0) in a second."""
VSYNC: Final = CLOCK // 60
"""Ticks from one VBlank to the next."""
START: Final = CLOCK
"""The tick at which a program starts: a second after the console did."""
CALL_COST: Final = CLOCK // 1_000_000
"""Ticks that a supervisor call takes: a microsecond."""
