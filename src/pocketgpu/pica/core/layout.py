"""Where the 3D core keeps its things in the arena's work area.

Kernels see one pointer, so everything they share has a fixed place here: the live registers, the memories behind the
FIFO registers ("banks"), draw packets, shaded vertices and triangle records. Offsets are bytes from the start of the
work area; `Struct` names the 32-bit words of a record.
"""

from __future__ import annotations

from dataclasses import dataclass

from pocketgpu.facts.pica import COUNT, FLOAT_UNIFORMS, LIGHT_TABLES
from pocketgpu.facts.pica_enums import PROCTEX_TABLE
from pocketgpu.struct_words import Struct

REGISTER_COUNT = COUNT
ID_SPACE = 0x400  # ids that are told apart; lists may name more, which do nothing, or wrap


@dataclass(frozen=True)
class Bank:
    """A memory behind FIFO registers. `words` 32-bit words; each draw sees its own version of it."""

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
    # When each uniform of the geometry unit was last uploaded: a number that rises. Primitives write there too.
    Bank("gs_uniform_marks", FLOAT_UNIFORMS),
)
BANK_INDEX = {bank.name: i for i, bank in enumerate(BANKS)}


def words_of(bank: str) -> int:
    """Words that a bank has."""
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
    "POSITION", "END", "ENTRY_INDEX", "STATUS", "INTERRUPTS", "BUDGET", "JUMPS", "FAULT",
    "PACKETS", "POOL_TOP", "IMMEDIATE_OPEN", "RESTART", "DIRTY", "IGNORED", "WORDS",
    "STAGED_FIXED", "STAGED_VS", "STAGED_GS", "STAGING_FIXED:4", "STAGING_VS:4", "STAGING_GS:4",
    # the vertex side
    "SHADE_COUNT", "NAN_PRODUCTS", "VERTEX_FAULTS", "CARRY", "CARRY_PARITY", "TRIANGLES", "NEXT_PRIMITIVE", "CLIPPED",
    "HANG", "VERTEX_ENTRY", "VERTEX_START", "VERTEX_STAGE", "VERTEX_STATUS", "VERTICES", "AREA",
    "GROUP_WORDS", "GROUPS", "WRITE_INDEX", "LOWEST_VERTEX",
    # the geometry stage; the counts rise with each upload of a float uniform, each write to the booleans
    "GS_UPLOADS", "GS_BOOLS", "PIECE", "PIECE_VERTICES", "ASSEMBLE_COUNT", "EMITTED",
    "SHADER_STEPS", "SHADER_STEPS_LOW",
    f"VERSIONS:{len(BANKS)}",
)  # fmt: skip

# One draw as the walk recorded it: this head, then the registers at PACKET_REGISTERS.
# The settings of a texture unit as general code wants them. FIRST_REGISTER: id of TEXUNITn_BORDER_COLOR.
UNIT = Struct(
    "ENABLED", "KIND", "WRAP_S", "WRAP_T", "MAG", "MIN", "TRILINEAR", "MIPMAPPED", "POWER_OF_TWO", "SLOT",
    "FIRST_REGISTER",
)  # fmt: skip
UNIT_SIZE = 48
assert UNIT.size <= UNIT_SIZE
MAX_STATE_WORDS = 96

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

# A triangle ready to be rasterised; BASE, D1, D2 hold one float for each semantic: value = base + d1*e1 + d2*e2.
# PRIMITIVE: which primitive it is (part) of, counted from vertex START of the draw on.
TRIANGLE = Struct(
    "MIN_X", "MAX_X", "MIN_Y", "MAX_Y", "A:3", "B:3", "PRIMITIVE", "START", "C:6", "BASE:24", "D1:24", "D2:24", "END:2",
)  # fmt: skip
TRIANGLE_SIZE = 384
assert TRIANGLE.size <= TRIANGLE_SIZE

assert PACKET.PROGRAM % 8 == PACKET.GEOMETRY % 8 == 0

# The geometry unit between draws, and its way through one piece of a draw; see geometry.py.
GEOMETRY = Struct(
    "EMIT:2",  # handle of the kernel that EMIT calls
    "MODE", "FILLED", "WANTED", "PLACE", "BOOL15", "SEEN_BOOLS", "EMIT_BUFFERS:4",
    # vertices that the index list still owes the primitive at hand, of how many; the same behind this piece
    "OWED", "SIZE", "OWED_AFTER", "SIZE_AFTER",
    "STARTED", "VERTEX", "PRIMITIVE", "READY", "RUN", "LIMIT", "TOP", "COLLECT", "COLLECT_END", "LINK", "MORE",
)  # fmt: skip

MAX_PACKETS = 1024
MAX_GROUP_WORDS = 256
# Packets FIRST .. END-1 agree in all words of the group table, which follow here (of the first packet, masked).
# LOW, HIGH: the physical range that vertices and indices may be read from, high end exclusive; empty if not low < high.
# All four are 64 bits.
GROUP = Struct("LOW:2", "HIGH:2", "FIRST:2", "END:2", f"WORDS:{MAX_GROUP_WORDS}")
EXTERNAL_WORDS = 0x2000 // 4
MAX_WRITES = 16384  # register writes handed to the compiled store at once
POOL_SIZE = 24 << 20
INLINE_SIZE = 4 << 20  # command words that are not in guest memory
CHUNK = 128  # vertices shaded at a time: their 64 input and 64 output components stay in the caches
MAX_PIECE = 49152  # vertices of one draw handled at a time; a multiple of 3
MAX_RECORDS = 65536 + 64  # with room for a last group of lanes
MAX_TRIANGLES = 32768
LIGHT_SIZE = 128  # bytes; a light as the fragment side reads it (lighting.py)
LIGHTS_SIZE = 8 * LIGHT_SIZE
# The most triangles one primitive can become: a polygon of 3 + 8 clipped corners.
MAX_FAN = 9
PLAN_ENTRY = 32  # bytes; see vertex_fetch.py
GEOMETRY_PIECE = 8192  # vertices of one draw with a geometry shader handled at a time
OUTPUTS_SIZE = 256  # bytes; all outputs of one vertex, as a geometry shader gets them
UNIFORMS_SIZE = 96 * 16
MOST_LANES = 64  # that any evaluator has
EMIT_ROW = 4 * MOST_LANES
EMIT_ONES, EMIT_MASK, EMIT_STATE, EMIT_ROWS = 64, 65, 66, 67  # rows behind the 64 output components
EMIT_SLOTS = 4


class WorkLayout:
    """Byte offsets of each thing, absolute in the arena."""

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
        # The last records are what the emission buffers of the geometry unit hold between draws.
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
