"""The layout of the 3D core's work area in the arena.

Kernels get one pointer, so everything they share has a fixed place here: the live registers, the memories that FIFO
registers fill ("banks"), draw packets, shaded vertices and triangle records. Offsets are bytes from the start of the
work area; `Struct` names the 32-bit words of a record.
"""

from __future__ import annotations

from pocketgpu.facts.pica import COUNT, FLOAT_UNIFORMS, LIGHT_TABLES
from pocketgpu.facts.pica_enums import PROCTEX_TABLE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.struct_words import Struct

REGISTER_COUNT = COUNT
ID_SPACE = 0x400  # distinct ids; lists may name higher ones, which do nothing, or wrap


@dataclass(frozen=True)
class Bank:
    """A memory that FIFO registers fill. `words` 32-bit words; each draw reads its own version of it."""

    name: str
    words: int


BANKS = (
    Bank("vs_uniforms", FLOAT_UNIFORMS * 4),
    Bank("vs_code", 512),
    Bank("vs_opdescs", 128),
    Bank("gs_uniforms", FLOAT_UNIFORMS * 4),
    Bank("gs_code", 4096),
    Bank("gs_opdescs", 128),
    Bank("fixed_attributes", 16 * 4),
    Bank("fog_lut", 128),
    Bank("lighting_lut", LIGHT_TABLES * 256),
    Bank("proctex_lut", 3 * 128 + 2 * 256),
    Bank("gas_lut", 16),
    # The upload count at which each uniform of the geometry unit was last uploaded; primitives write uniforms too.
    Bank("gs_uniform_marks", FLOAT_UNIFORMS),
)
BANK_INDEX = {bank.name: i for i, bank in enumerate(BANKS)}


def words_of(bank: str) -> int:
    """Number of words of a bank."""
    return BANKS[BANK_INDEX[bank]].words


# Proctex tables inside their bank, by the number in PROCTEX_LUT.table: (first word, entries).
PROCTEX_TABLES = {
    PROCTEX_TABLE.NOISE: (0, 128),
    PROCTEX_TABLE.RGB_MAP: (128, 128),
    PROCTEX_TABLE.ALPHA_MAP: (256, 128),
    PROCTEX_TABLE.COLOR: (384, 256),
    PROCTEX_TABLE.COLOR_DIFFERENCE: (640, 256),
}

CONTROL = Struct(
    # the walk through a command list
    "POSITION", "END", "STATUS", "BUDGET", "FAULT", "POOL_TOP", "RESTART", "DIRTY", "STAGED_VS", "STAGED_GS",
    "STAGING_FIXED:4", "STAGING_VS:4", "STAGING_GS:4",
    # zero when recorded draws have run: from PACKETS to IMMEDIATE_OPEN; at the start of a submission: from there to
    # SHADER_STEPS_LOW
    "PACKETS", "GROUPS", "IMMEDIATE_OPEN", "ENTRY_INDEX", "JUMPS", "WORDS", "INTERRUPTS", "IGNORED", "HANG",
    "STAGED_FIXED", "VERTICES", "EMITTED", "SHADER_STEPS", "SHADER_STEPS_LOW",
    # the vertex side; zero at the start of a batch: from VERTEX_ENTRY to TRIANGLES
    "VERTEX_ENTRY", "VERTEX_START", "VERTEX_STAGE", "TRIANGLES", "AREA",
    "SHADE_COUNT", "NAN_PRODUCTS", "VERTEX_FAULTS", "CARRY", "CARRY_PARITY", "NEXT_PRIMITIVE", "CLIPPED",
    "CARRIED", "ASSEMBLED",  # of the current draw: vertices that it began with, primitives of earlier pieces
    "VERTEX_STATUS", "GROUP_WORDS", "LOWEST_VERTEX",
    # the geometry stage; the first two count uploads of float uniforms and writes to the booleans
    "GS_UPLOADS", "GS_BOOLS", "PIECE", "PIECE_VERTICES", "ASSEMBLE_COUNT",
    # register writes: the first that was not stored, and how many units ran
    "WRITE_INDEX", "UNITS_RUN",
    f"VERSIONS:{len(BANKS)}",
)  # fmt: skip

# The settings of a texture unit for general code. FIRST_REGISTER: id of TEXUNITn_BORDER_COLOR.
UNIT = Struct(
    "ENABLED", "KIND", "WRAP_S", "WRAP_T", "MAG", "MIN", "TRILINEAR", "MIPMAPPED", "POWER_OF_TWO", "SLOT",
    "FIRST_REGISTER",
)  # fmt: skip
UNIT_SIZE = 48
assert UNIT.size <= UNIT_SIZE
MAX_STATE_WORDS = 96

# One draw as the walk recorded it: this head, then the registers at PACKET_REGISTERS.
PACKET = Struct(
    "PROGRAM:2", "GEOMETRY:2",  # 64 bits each, so they come first
    "KIND", "RESTART", "IMMEDIATE_DATA", "IMMEDIATE_COUNT", "GS_BOOLS", f"VERSIONS:{len(BANKS)}",
    "AT",  # arena offset of the list entry that draws
    # filled in before the draw runs
    "COLOR", "DEPTH", "WIDTH", "HEIGHT", "TEXTURES:3", "RECT:4",
    "FIRST_TRIANGLE", "LAST_TRIANGLE",
    # textures: word offset of each level, words of a cube face, the coarsest level that may be used
    "LEVELS:24", "FACES:3", "TOP_LEVELS:3",
    # for general code: the normal form of the state, and the settings of the texture units
    f"STATE:{MAX_STATE_WORDS}", f"UNITS:{3 * UNIT_SIZE // 4}",
)  # fmt: skip
PACKET_REGISTERS = 1024
assert PACKET.size <= PACKET_REGISTERS
PACKET_SIZE = PACKET_REGISTERS + 4 * REGISTER_COUNT
KIND_ARRAYS, KIND_ELEMENTS, KIND_IMMEDIATE = range(3)

# A shaded vertex: 24 floats, one for each semantic of SH_OUTMAP (unused ones included), padded to 32.
VERTEX_FLOATS = 24
VERTEX_SIZE = 128

# A triangle ready to be rasterised; BASE, D1, D2 hold one float per semantic: value = base + d1*e1 + d2*e2.
# PRIMITIVE: the primitive of the draw that it is (part) of. CARRIED: with how many vertices of earlier draws the draw
# began.
TRIANGLE = Struct(
    "MIN_X", "MAX_X", "MIN_Y", "MAX_Y", "A:3", "B:3", "PRIMITIVE", "CARRIED", "C:6", "BASE:24", "D1:24", "D2:24",
    "END:2",
)  # fmt: skip
TRIANGLE_SIZE = 384
assert TRIANGLE.size <= TRIANGLE_SIZE

assert PACKET.PROGRAM % 8 == PACKET.GEOMETRY % 8 == 0

# The geometry unit's state between draws, and the stage's state during one piece of a draw (primitives/geometry.py).
GEOMETRY = Struct(
    "EMIT:2",  # handle of the kernel that EMIT calls
    "MODE", "FILLED", "WANTED", "PLACE", "BOOL15", "SEEN_BOOLS", "EMIT_BUFFERS:4",
    # vertices that the current primitive still needs, and its size; the same after this piece
    "OWED", "SIZE", "OWED_AFTER", "SIZE_AFTER",
    "STARTED", "VERTEX", "PRIMITIVE", "READY", "RUN", "LIMIT", "TOP", "COLLECT", "COLLECT_END", "LINK", "MORE",
)  # fmt: skip

MAX_PACKETS = 1024
MAX_GROUP_WORDS = 256
# Packets FIRST .. END-1 are equal in all words of the group table; WORDS are the first packet's, masked.
# LOW, HIGH: the physical range of vertices and indices, high end exclusive; empty unless low < high.
# All four are 64 bits.
GROUP = Struct("LOW:2", "HIGH:2", "FIRST:2", "END:2", f"WORDS:{MAX_GROUP_WORDS}")
EXTERNAL_WORDS = 0x2000 // 4
MAX_WRITES = 16384  # register writes per call of the compiled store
# A fill or transfer that ran before (external/writes.py): native code with its arguments (HANDLE and two PLACES have
# 64 bits); the word index of the unit's control register; its registers, and which of their bits count.
REPEATED = Struct("HANDLE:2", "PLACES:4", "NUMBERS:4", "CONTROL:2", "WORDS:16", "MASKS:16")
MAX_REPEATED = 32
MAX_UNITS_RUN = 64  # per call of the compiled store
POOL_SIZE = 24 << 20
INLINE_SIZE = 4 << 20  # command words that are not in guest memory
CHUNK = 128  # vertices per step: their 64 input and 64 output components stay in the caches
MAX_PIECE = 49152  # vertices of one draw per step; a multiple of 3
MAX_RECORDS = 65536 + 64  # with room for a last group of lanes
MAX_TRIANGLES = 32768
LIGHT_SIZE = 128  # bytes; one light's record (lighting.py)
LIGHTS_SIZE = 8 * LIGHT_SIZE
# The largest number of triangles from one primitive: a polygon of 3 + 8 clipped corners.
MAX_FAN = 9
PLAN_ENTRY = 32  # bytes; see fetch.py
GEOMETRY_PIECE = 8192  # vertices of one draw with a geometry shader per step
OUTPUTS_SIZE = 256  # bytes; all outputs of one vertex, as inputs of a geometry shader
UNIFORMS_SIZE = 96 * 16
MOST_LANES = 64  # of any evaluator
EMIT_ROW = 4 * MOST_LANES
EMIT_ONES, EMIT_MASK, EMIT_STATE, EMIT_ROWS = 64, 65, 66, 67  # rows after the 64 output components
EMIT_SLOTS = 4


class WorkLayout:
    """Byte offsets of each part, absolute in the arena."""

    def __init__(self, start: int, size: int) -> None:
        self._at = start
        take = self._take
        self.control = take(4096)
        self.registers = take(4 * ID_SPACE)
        self.effects = take(ID_SPACE)
        self.regions = take(256)
        self.planes = take(512)
        self.run_list = take(MAX_PACKETS * 16)
        self.counters = take(4096)
        self.lights = take(LIGHTS_SIZE * 1024)  # as many parts as there are counters
        self.group_table = take(8 * MAX_GROUP_WORDS)
        self.groups = take(MAX_PACKETS * GROUP.size)
        self.external = take(4 * EXTERNAL_WORDS)
        self.external_writable = take(4 * EXTERNAL_WORDS)
        self.external_kinds = take(EXTERNAL_WORDS)
        self.writes = take(8 * MAX_WRITES)
        self.repeated = take(MAX_REPEATED * REPEATED.size)
        self.units_run = take(4 * MAX_UNITS_RUN)
        self.banks = tuple(take(4 * bank.words) for bank in BANKS)
        self.inline = take(INLINE_SIZE)
        self.packets = take(MAX_PACKETS * PACKET_SIZE)
        self.pool = take(POOL_SIZE)
        self.pool_end = self._at
        self.plan = take(256 * PLAN_ENTRY)
        self.shade_list = take(4 * MAX_RECORDS)
        self.slot_list = take(4 * MAX_RECORDS)
        self.shader_in = take(4 * 64 * CHUNK)
        self.shader_out = take(4 * 65 * CHUNK)  # the last row holds ones, for unmapped semantics
        self.output_map = take(4 * 64)
        self.output_registers = take(4 * 16)
        self.carry = take(VERTEX_SIZE * 4)
        self.clip = take(VERTEX_SIZE * 16 * 2)
        # The last records are the contents of the geometry unit's emission buffers between draws.
        self.vertices = take(VERTEX_SIZE * (MAX_RECORDS + EMIT_SLOTS))
        self.geometry = take(GEOMETRY.size)
        self.geometry_packet = take(PACKET_SIZE)
        self.geometry_marks = take(4 * 96)
        self.geometry_uniforms = take(UNIFORMS_SIZE)
        self.geometry_queue = take(16 * 32)
        self.geometry_in = take(4 * 64 * CHUNK + 4 * MOST_LANES)
        self.geometry_sets = take(UNIFORMS_SIZE * (CHUNK + MOST_LANES))
        self.geometry_lists = take(2 * 4 * (CHUNK + MOST_LANES))
        self.geometry_slots = take(4 * (GEOMETRY_PIECE + MOST_LANES))
        self.geometry_sizes = take(4 * GEOMETRY_PIECE)
        self.geometry_outputs = take(OUTPUTS_SIZE * (GEOMETRY_PIECE + MOST_LANES))
        self.emission = take(EMIT_ROW * EMIT_ROWS)
        self.emission_map = take(4 * 32)
        self.triangles = take(TRIANGLE_SIZE * (MAX_TRIANGLES + 16))
        self.textures = self._at
        self.textures_end = start + size
        if self.textures + (16 << 20) > self.textures_end:
            raise ValueError("the work area is too small for the 3D core")

    @property
    def first_used(self) -> list[tuple[int, int]]:
        """Ranges (offset, size) that the first frame of any program uses."""
        area = 64 << 10
        return [
            (self.control, self.lights + area - self.control),
            (self.group_table, area),
            (self.external, self.inline - self.external),
            *((start, area) for start in (self.packets, self.pool, self.vertices, self.triangles)),
            (self.shader_in, self.vertices - self.shader_in),
        ]

    def _take(self, size: int) -> int:
        at = self._at
        self._at += (size + 63) & ~63
        return at

    def bank(self, name: str) -> int:
        """Offset of the live contents of a bank."""
        return self.banks[BANK_INDEX[name]]
