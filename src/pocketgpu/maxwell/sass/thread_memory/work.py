"""The work area of a launch, as byte offsets: one record of the launch, and a slot for each block of threads under way.

A slot has the block's own words, scratch vectors, its warps (state, divergence stack, registers), shared memory and
local memory. Both executors keep a warp's state there. So the interpreter can go on where specialised code stopped, and
a block can wait while others run.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

from pocketgpu.late_dataclass import dataclass
from pocketgpu.struct_words import Struct

LANES = 32
VECTOR = 4 * LANES
"""Bytes of a register of a warp."""
STACK_ENTRIES = 256
FAULTS = 32
"""Faults of a slot that are kept; further ones are counted, and kept if their instruction has none yet."""
SCRATCH_VECTORS = 19
BARRIERS = 16
BANK_SIZE = 1 << 16
BANKS = 18
SHARED_CLEAR = VECTOR
"""Bytes of shared memory that are cleared at a time; its room is a multiple of it."""
INDEFINITE = -(1 << 31)
"""The integer that NaN can become: what the host's conversion gives."""
MAX_THREADS = 1024
"""Threads of a block."""

MEMORY_KERNELS = 4 * 8 * 2
"""Kernels for memory: one for each space, size, and loads or stores."""
TEXTURE_KERNELS = 7
"""Kernels on textures and surfaces (sampling/records.py numbers them)."""
FUNCTION_KERNELS = 4 * 2
"""Kernels for functions: each with the result saturated or not."""
MOST_PARTS = 32
NO_PART = (1 << 31) - 1

# Handles of kernels that others call come first, 64 bits each.
LAUNCH = Struct(
    "ACCESS:2", "ATOMIC:2", "FAULT:2", "UNSTACK:2", f"MEMORY:{2 * MEMORY_KERNELS}", f"TEXTURE:{2 * TEXTURE_KERNELS}",
    f"FUNCTION:{2 * FUNCTION_KERNELS}",
    f"PART:{2 * MOST_PARTS}",  # of parts of a long program
    f"PART_FIRST:{MOST_PARTS}",  # the first instruction of each part, NO_PART where there is none
    "RUN:2", "FALLBACK:2",  # handles of code that runs a warp, and of code that goes on where it cannot (0: none)
    "GRID:3", "BLOCK:3", "THREADS", "WARPS", "REGISTERS", "WARP_STRIDE", "WARPS_AT", "SHARED_AT", "SHARED_SIZE",
    "LOCAL_AT", "LOCAL_SIZE", "LOCAL_STRIDE", "SLICE", "CONSTANTS", "THREAD_IDS", "PROGRAM", "INSTRUCTIONS", "START",
    "SMEM_SIZE", "SHARED_WINDOW", "LOCAL_WINDOW", "TURNS", "CLEAR",
    "TEXTURES",  # arena offset of the book of textures (sampling/records.py)
    "TEXTURE_BANK",  # the constant bank with handles
    "NAN_INTEGER",  # the integer that NaN of f32 or f16 becomes
    "QUADS",  # whether instructions compute the level of detail from neighbouring lanes
    # Of stages of graphics; all of this is 0 for compute programs.
    "STAGE",  # which one, as shader headers number them
    "NEXT",  # offset of the launch record of the second vertex program, which takes what the first gives; or 0
    "IN_MAP", "OUT_MAP", "PATCH_MAP",  # offsets of maps: see graphics/records.py
    "VERTICES",  # of a primitive that comes in
    "MOST_EMITTED", "OUT_STRIDE",  # of geometry programs: vertices of an invocation; bytes of a page of outputs
    "KILLS",  # whether pixels can be thrown away
    "FLAT",  # whether inputs that ask for it are taken from one vertex (SET_SHADE_MODE)
    "SAMPLES_AT",  # offset of 16 words, x of samples, and 16 words, y: 1/16 pixel from the upper left corner
    "MASK_AT", "DEPTH_AT",  # offsets into a warp's record of the sample mask and the depth of pixels; 0: none
    "PRIMITIVE_TYPE", "INVOCATION_INFO", "Y_DIRECTION",  # what special registers show
    "BUDGET",  # steps that all warps of a slot may take in a draw
)  # fmt: skip

BLOCK = Struct(
    "STEPS:2", "LANE_STEPS:2",  # 64 bits each, of all blocks that this slot has run
    "STATUS", "X", "Y", "Z", "NUMBER", "LIVE", "FAULT_COUNT",
    "ROW",  # warps that code may run in a row, from the first on (0: one warp); ROW_GOES_ON if they can go on in a row
    "ANSWER",  # where the host puts what a kernel asked it for
    "HUNG",  # not 0: the warp of a stage did not end; later warps are not run then
    # Of stages of graphics: the inputs and outputs of the next warp, as arena offsets.
    "IN_AT", "OUT_AT",  # pages of inputs (planes for pixels) and of outputs
    "NEXT_SLOT", "BETWEEN",  # of two vertex programs: the slot of the second, the page from the first to it
    "VERTICES_AT",  # vectors: for vertex i of each lane's primitive where its column of a page begins
    "PATCHES_AT",  # a vector: where the column of each lane's patch begins
    "INVOCATIONS_AT",  # a vector: the number of each lane's invocation
    "EMITTED_AT",  # vectors: how many vertices each lane has emitted; and for each of these stream and end of strip
    "FRAGMENTS",  # the record of the block of pixels
    "PIXEL_X", "PIXEL_Y",  # f32: centre of the block's first pixel, from the origin of the primitive
    f"CENTRE_X:{LANES}@{VECTOR}", f"CENTRE_Y:{LANES}",  # f32 vectors: where inputs of pixels are taken by default
    f"ARRIVED:{BARRIERS}", f"EXPECTED:{BARRIERS}", f"COUNT:{BARRIERS}", f"ALL:{BARRIERS}", f"SOME:{BARRIERS}",
    f"FAULT_LIST:{8 * FAULTS}",
)  # fmt: skip
SCRATCH = (BLOCK.size + VECTOR - 1) // VECTOR * VECTOR
ROW_TABLE = SCRATCH + SCRATCH_VECTORS * VECTOR
"""Where a slot has words of its warps' registers, in rows: see `warp/row_table.py`."""
ROW_WORDS = 32
"""So many words of a warp's half fit."""
ROW_WARP = 4 * 2
"""Bytes of such a word of both halves of a warp."""
ROW_WORD = ROW_WARP * (MAX_THREADS // LANES)
"""The same of all warps."""
WARPS = ROW_TABLE + ROW_WORDS * ROW_WORD

FAULT = Struct("INSTRUCTION", "LANE", "WARP", "NUMBER", "LOW", "HIGH", "KIND", "SIZE")

ENTRY = Struct("KIND", "TARGET", "MASK")
"""An entry of the divergence stack: its kind (`program.control.StackEntry`), the instruction to go on at, the lanes."""

NOTED = Struct("START:2", "BYTES", "PLACE")
"""A page that compiled code has found: its address, how many bytes a row may begin in, and its arena offset."""
NOTED_PAGES = 8
"""Addresses of a warp of which pages are noted, for each half of the lanes."""

WARP = Struct(
    "STEPS:2", "LANE_STEPS:2",  # 64 bits each: instructions, and those times the lanes active (if they are counted)
    f"PAGES:{2 * NOTED_PAGES * NOTED.size // 4}",  # what compiled code has found
    "STATE", "RESUME", "ACTIVE", "ALIVE", "DEPTH", "STARTED", "BARRIER", "BARRIER_KIND", "BARRIER_COUNT",
    "BARRIER_VALUE", "RESULT", "SAVED",
    "KNOWN",  # at a barrier: addresses that compiled code found to be simple
    "PREDICATES:8", "FLAGS:4", f"STACK:{ENTRY.size // 4 * STACK_ENTRIES}",
)  # fmt: skip
REGISTERS = (WARP.size + VECTOR - 1) // VECTOR * VECTOR

# An instruction as the interpreter reads it: the handle of the kernel that executes it (64 bits), its `control.Action`,
# guard (predicate, its negation << 3, test of the condition code << 4, whether it writes that << 9), operands. A source
# is two words: kind, signs << 2, number << 4; and the offset or the bits. SPARE makes the size a multiple of 8.
STEP = Struct(
    "HANDLE:2", "FLOW", "GUARD", "DEST", "RESULTS", "MODS", "SOURCES:8", "PREDICATES", "TARGET", "TARGET_ADDRESS",
    "BASE", "OFFSET", "ADDRESS", "NUMBER", "ENTRY", "SPARE",
)  # fmt: skip


class Barrier(IntEnum):
    """Kinds of barrier instructions, WARP.BARRIER_KIND. From POPC on it is a reduction: a count, all, or any."""

    SYNC = 0
    ARRIVE = 1
    POPC = 2
    AND = 3
    OR = 4


ALL_VOTED, SOME_VOTED = 1 << 30, 1 << 29
"""Bits of WARP.BARRIER_VALUE above the count of lanes that voted for: whether all did, whether any did."""
VOTES = 63
"""Bits of the count."""

ROW_GOES_ON = -1
"""BLOCK.ROW after a call: all warps are ready after the same barrier."""
BEGUN, AT_BARRIER = 1, 2
"""WARP.STARTED: a turn has ended; compiled code has ended it at a barrier. 0: the warp has not begun."""

# States of a warp.
READY, WAITING, DONE, LEFT = range(4)
# BLOCK.STATUS.
RUNNING, FINISHED, TURN_OVER, STUCK = range(4)
# BLOCK.HUNG: one warp did not end, or all warps together took too many steps.
ENDLESS, OVER_BUDGET = 1, 2
# Kinds of faults.
UNMAPPED, MISALIGNED, OUTSIDE_SHARED, OUTSIDE_LOCAL, BAD_TARGET, STACK_FULL, STACK_EMPTY, NOT_BUILT = range(8)
NO_TEXTURE, OUTSIDE_SURFACE = 8, 9


FAULT_TEXT = {
    UNMAPPED: "nothing is mapped at {va:#x}",
    MISALIGNED: "{va:#x} is no multiple of {size}",
    OUTSIDE_SHARED: "{low:#x} is outside of shared memory",
    OUTSIDE_LOCAL: "{low:#x} is outside of local memory",
    BAD_TARGET: "a jump to where no instruction is",
    STACK_FULL: f"more than {STACK_ENTRIES} entries on the divergence stack",
    STACK_EMPTY: "lanes wait for an entry of the divergence stack that is not there",
    NO_TEXTURE: "no texture has the handle {low:#x}",
    OUTSIDE_SURFACE: "a place outside of a surface",
    NOT_BUILT: "an instruction that only the 3D engine has",
}
FAULT_NAMES = {
    UNMAPPED: "unmapped",
    MISALIGNED: "misaligned",
    OUTSIDE_SHARED: "outside shared memory",
    OUTSIDE_LOCAL: "outside local memory",
    BAD_TARGET: "bad target",
    STACK_FULL: "stack full",
    STACK_EMPTY: "stack empty",
    NO_TEXTURE: "no texture",
    OUTSIDE_SURFACE: "outside surface",
    NOT_BUILT: "not built",
}
"""The kinds by name, for programs that read faults."""
WITH_ADDRESS = {UNMAPPED, MISALIGNED, OUTSIDE_SHARED, OUTSIDE_LOCAL}
"""Kinds whose fault has the address of an access."""


def rounded(size: int, to: int = VECTOR) -> int:
    return (size + to - 1) // to * to


@dataclass(frozen=True)
class SlotLayout:
    """Offsets inside a slot, for the sizes of one launch."""

    warps: int
    registers: int
    shared: int
    local: int

    @cached_property
    def warp_stride(self) -> int:
        return REGISTERS + VECTOR * self.registers

    @cached_property
    def shared_at(self) -> int:
        return WARPS + self.warps * self.warp_stride

    @cached_property
    def local_stride(self) -> int:
        """Bytes of local memory of a warp."""
        return rounded(self.local, 16) * LANES

    @cached_property
    def local_at(self) -> int:
        return self.shared_at + rounded(self.shared)

    @cached_property
    def clearing(self) -> int:
        """Vectors that are cleared for a block."""
        return (self.shared + self.local_stride * self.warps) // VECTOR

    @cached_property
    def size(self) -> int:
        return rounded(self.local_at + self.local_stride * self.warps, 4096)


def memory_index(space: int, size: int, store: bool) -> int:
    """Place of the handle of a `memory` kernel in the launch's record."""
    return (space * 8 + size) * 2 + int(store)


def function_index(fn: int, saturated: int) -> int:
    """Place of the handle of a function in the launch's record."""
    return 2 * fn + saturated
