"""Layout of the work area of a GM20B: what channels and kernels share in the arena.

Kernels get one pointer, so everything has a fixed place: a block for each channel with its parser, its macro engine and
a register file for each class. Offsets are bytes; `Struct` names the 32-bit words of a record.
"""

from __future__ import annotations

from pocketgpu.facts.maxwell import A140, B0B5, B06F, B1C0, B197, TWOD, WORDS
from pocketgpu.struct_words import Struct

# Classes that have a register file of their own, in the order of their files; then the host, then everything else
# that a subchannel can be bound to.
CLASS_FILES = tuple(block.class_id for block in (B197, B1C0, A140, TWOD, B0B5))
THREED_FILE = CLASS_FILES.index(B197.class_id)
HOST_FILE = len(CLASS_FILES)
OTHER_FILE = HOST_FILE + 1
FILES = OTHER_FILE + 1
FRONT_END_FILES = 4
"""The first files: classes of the graphics front end, which have macros and inline data."""
CLASS_OF_FILE = (*CLASS_FILES, B06F.class_id, 0)

FILE_WORDS = WORDS  # that a method header can address
FILE_SIZE = 4 * FILE_WORDS
MACRO_WORDS = B197["CALL_MME_MACRO"].word  # methods from here on call macros, in the classes that have them

CHANNEL_COUNT = 32
MAX_RUNS = 8192  # contiguous pieces of pushbuffer given to the parser at a time; an entry has 2049 at most
MME_WORDS = 0x2000  # instruction RAM
MACROS = 0x80  # start addresses
MAX_DEFERRED = 32
STAGING_SIZE = 256 << 10  # inline data that the parser stages, for each front-end class; longer data is taken in pieces

INLINE_PLACES_SIZE = CHANNEL_COUNT * FRONT_END_FILES * STAGING_SIZE
"""Bytes for the arena offsets of staged inline data: four for each word of it."""

# A piece of pushbuffer: arena offset of its first word, words, GPFIFO entry it is from, index of its first word there.
RUN = Struct("OFFSET", "WORDS", "ENTRY", "FIRST")

DRAW_STATE = ("TOPOLOGY", "INSTANCE", "PRIMITIVE", "DRAWN", "BEGUN")
"""State of the 3D class's draws that is not in its registers, in the order of the words."""
CONSTANT_GROUPS, CONSTANT_SLOTS = 5, 32
"""Groups of constant buffers of the 3D class, and the slots of a group (the range of the field; drivers use 18)."""
BOUND = Struct("VALID", "LOW", "HIGH", "SIZE")
"""What is bound to a slot: 1 or 0, the two words of its address, bytes. Nothing bound: all words are 0."""
BOUND_WORDS = CONSTANT_GROUPS * CONSTANT_SLOTS * BOUND.size // 4

# State of one channel. INLINE_*: for each front-end class.
CHANNEL = Struct(
    f"INLINE_LEFT:{2 * FRONT_END_FILES}",  # 64 bits each, so they come first: words of inline data still to come
    "QUICK_CALL:2",  # handle of the kernel that makes draws without Python (graphics/draw/quick.py)
    # why the parser stopped, and for what; Python reads these seven at once
    "STATUS", "ODD", "EFFECT_FILE", "EFFECT_WORD", "EFFECT_VALUE", "DEFERRED", "QUICK_DRAWS",
    # methods that Python runs with the next effect (DEFERRED: how many), and each one's file, word and value; whether
    # they are effects at present
    f"DEFERRED_METHODS:{3 * MAX_DEFERRED}", "URGENT",
    # quick draws: the record that they start from (0: there are none), how the last one ended; QUICK_DRAWS (above): how
    # many Python has not read yet; what they cost of a macro's budget
    "QUICK", "QUICK_RESULT", "MME_COST",
    # between BEGIN and END (engines/threed/draws.py)
    *(f"DRAW_{name}" for name in DRAW_STATE),
    "SUBMISSION",
    "RUN", "RUNS", "POSITION", "END", "ENTRY",
    # the current packet
    "METHOD", "STEP", "LATER_STEP", "REMAINING", "SUBCHANNEL", "IMMEDIATE", "IMMEDIATE_VALUE", "HEADER",
    "BINDINGS:8", "SHADOW_MODE",
    # the macro engine
    "MME_POINTER", "MME_TOP", "MME_START_POINTER", "MME_STATE", "MME_MACRO", "MME_FILE", "MME_PC", "MME_NEXT",
    "MME_IN_SLOT", "MME_LAST", "MME_REGISTERS:8", "MME_CARRY", "MME_METHOD", "MME_INCREMENT", "MME_PARAMETER",
    "MME_FULL", "MME_DRY", "MME_BUDGET", "MME_RUN_STEPS", "ODD_SEEN",
    # words of inline data that are staged, and whether Python has taken the ones before them
    f"INLINE_STAGED:{FRONT_END_FILES}", f"INLINE_TAKEN:{FRONT_END_FILES}",
)  # fmt: skip

# Counts since the channel was made, 64 bits each.
COUNTERS = (
    "words", "methods", "host_methods", "macro_calls", "macro_steps", "longest_macro", "mme_instruction_words",
    "mme_macros_loaded", "falcon_register_writes", "constbuf_binds", "constbuf_words_inline",
    "inline_launches", "inline_upload_words", "unknown_methods", "ignored_methods", "segments_ended",
    *(f"header_{op}" for op in range(8)), "nop_words",
    *(f"subchannel_{n}" for n in range(8)),
)  # fmt: skip
COUNTER = {name: 8 * i for i, name in enumerate(COUNTERS)}


class ChannelLayout:
    """Byte offsets inside the block of one channel."""

    def __init__(self) -> None:
        self._at = 0
        take = self._take
        self.state = take(CHANNEL.size)
        self.counters = take(8 * len(COUNTERS))
        self.macro_counts = take(8 * MACROS)
        self.immediate = self.state + CHANNEL.IMMEDIATE_VALUE
        self.registers = take(FILES * FILE_SIZE)
        self.shadows = take(FILES * FILE_SIZE)
        self.bound = take(4 * BOUND_WORDS)  # constant buffers by group and slot (engines/common/constants.py)
        self.mme_code = take(4 * MME_WORDS)
        self.mme_starts = take(4 * MACROS)
        self.mme_known = take(4 * MACROS)  # 1 where a start address was loaded
        self.runs = take(RUN.size * MAX_RUNS)
        self.staging = take(FRONT_END_FILES * STAGING_SIZE)
        self.size = self._at

    def _take(self, size: int) -> int:
        at = self._at
        self._at += (size + 63) & ~63
        return at


CHANNEL_LAYOUT = ChannelLayout()
assert CHANNEL_LAYOUT.staging + FRONT_END_FILES * STAGING_SIZE == CHANNEL_LAYOUT.size
"""Inline data is at the end, so that copies of a channel can leave it out."""


class WorkLayout:
    """Byte offsets of what channels share, absolute in the arena, and of the block of each channel."""

    def __init__(self, start: int) -> None:
        self.effects = start
        self.channels = start + FILES * FILE_WORDS
        self.end = self.channels + CHANNEL_COUNT * CHANNEL_LAYOUT.size

    @staticmethod
    def inline_places(start: int, channel: int, file: int) -> int:
        """Where the places of a channel's inline data for a class are, in an area of INLINE_PLACES_SIZE."""
        return start + (channel * FRONT_END_FILES + file) * STAGING_SIZE

    def channel(self, index: int) -> int:
        """Start of the block of a channel."""
        return self.channels + index * CHANNEL_LAYOUT.size


def work_size(extra: int = 0) -> int:
    """Bytes of work area that a GM20B needs, followed by `extra` bytes for others; a multiple of 4096."""
    return (WorkLayout(0).end + extra + 4095) & ~4095
