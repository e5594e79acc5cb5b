"""Layout of textures in the work area, as byte offsets: the book, which every kernel starts from, and records.

The book is at the start of a `Textures` object's area. Its table has the record of each handle; an entry is (handle,
use + 1, offset of the record). An empty entry does not end a search, which covers all PROBES places. CHANGES increases
whenever a launch begins, or a handle is resolved.

A record has the fields of a texture header and a sampler that kernels need, decoded:

=====================  =================================================================================================
KIND                   storage of the copy of the texels, one of UNORM8 to HALF below
TARGET                 TEXTURE_TYPE of the header
WIDTH HEIGHT DEPTH     of the first level that the view shows, in texels
LAYERS LEVELS          layers (six for each cube), levels of the view
LEVEL                  arena offset of each level's copy: layers, slices, rows of texels without gaps
WRAP                   address modes along x, y, z, by the numbers of the sampler
FLAGS                  bits FAST to SEAMLESS below
MAG MIN MIP            filters: 1 point, 2 linear; MIP 1 none, 2 point, 3 linear
LOD_BIAS MIN_LOD       f32; the bias is that of header and sampler together
MAX_LOD
BORDER                 words of the border colour as a texel of the copy has them: f32, or integers
COMPARE                DEPTH_COMPARE_FUNC
ANISOTROPY             samples along the longer side of a footprint, 1 for none
REDUCTION              0 weighted sum, 1 minimum, 2 maximum
SAMPLES                log2 of the samples of a pixel in x and y
PLAIN                  NOT_PLAIN; NEAR or SMOOTH for reads of one level with one filter; MIPMAPPED (`plain.py`)
MASK SIDE LAST         along x and y: the bits of a texel number that count (wrapped sizes that are powers of two), the
                       size as f32, the last texel
ADDRESS ... STRIDE     address and layout of a surface in guest memory (surface.py)
CHANNEL                for each of red to alpha: type, word, lowest bit and width, as `formats.components.Channel`
=====================  =================================================================================================

Texels of UNORM8 and SRGB8 are words with red in the lowest byte, those of FLOAT and INTEGER four words, those of HALF
four half floats in two words: floats of 16, 11 and 10 bits fit without loss. They are swizzled already. Red, green and
blue of SRGB8 are not linear yet: the table LINEAR of the book converts them.
"""

from __future__ import annotations

from pocketgpu.facts.maxwell.headers import TSC
from pocketgpu.maxwell.sass.thread_memory.work import TEXTURE_KERNELS
from pocketgpu.struct_words import Struct

MAX_LEVELS = 16
TABLE_BITS = 11
ENTRIES = 1 << TABLE_BITS
ENTRY_WORDS = 4
PROBES = 8
HASH = 0x9E3779B1
"""The upper bits of a handle times this are the first index in the table."""

BOOK = Struct("RESOLVE:2", "COUNT", "CHANGES", "LINEAR:256", f"TABLE:{ENTRIES * ENTRY_WORDS}")

RECORD = Struct(
    "KIND", "TARGET", "WIDTH", "HEIGHT", "DEPTH", "LAYERS", "LEVELS", "FLAGS", f"LEVEL:{MAX_LEVELS}",
    "WRAP:3", "MAG", "MIN", "MIP", "LOD_BIAS", "MIN_LOD", "MAX_LOD", "BORDER:4", "COMPARE", "ANISOTROPY", "REDUCTION",
    "SAMPLES:2", "RAW_LOD:3", "PLAIN", "MASK:2", "SIDE:2", "LAST:2",
    "ADDRESS:2", "STRIDE:2", "BLOCK_HEIGHT", "BLOCK_DEPTH", "BLOCK_SIZE", "ROW_SIZE", "SLICE_SIZE:2", "PITCH",
    "ELEMENT", "CHANNEL:16",
)  # fmt: skip
RECORD_ROOM = (RECORD.size + 63) // 64 * 64

# Plain reads.
NOT_PLAIN, NEAR, SMOOTH, MIPMAPPED = range(4)
# Storage kinds of texels.
UNORM8, SRGB8, FLOAT, INTEGER, HALF = range(5)
TEXEL_BYTES = (4, 4, 16, 16, 8)
FORMAT_OF_BYTES = {UNORM8: "A8B8G8R8", SRGB8: "A8BL8GL8RL8"}
"""The formats of colour targets with the same pixels as these texels."""

# Uses of a handle: only records for sampling have a copy of the texels.
SAMPLED, HEADER = range(2)

# Bits of FLAGS.
FAST = 1
"""Two dimensions, no integers, no border, no anisotropy, no reduction, normalized coordinates."""
NEEDS_LEVEL = 2
"""The level of detail has an effect."""
NORMALIZED = 4
POWERS = 8
"""All sides are powers of two."""
SEAMLESS = 16
"""A cube whose faces are filtered across their edges."""
PITCH_LINEAR = 32
"""The surface has plain rows."""
GOOD = 64
"""The record is one of a texture; the record of bad handles has no flags."""

# Address modes, filters.
ANISOTROPIES = {code: int(name.split("_")[1]) for name, code in TSC["MAX_ANISOTROPY"].values.symbols.items()}
"""MAX_ANISOTROPY to the most samples along the longer side of a footprint."""
_MODES, _MIPS = TSC["ADDRESS_U"].values, TSC["MIP_FILTER"].values
WRAP, MIRROR, CLAMP_TO_EDGE, BORDER = _MODES.WRAP, _MODES.MIRROR, _MODES.CLAMP_TO_EDGE, _MODES.BORDER
CLAMP_OGL, ONCE_EDGE = _MODES.CLAMP_OGL, _MODES.MIRROR_ONCE_CLAMP_TO_EDGE
ONCE_OGL = _MODES.MIRROR_ONCE_CLAMP_OGL
POINT, LINEAR = TSC["MIN_FILTER"].values.MIN_POINT, TSC["MIN_FILTER"].values.MIN_LINEAR
MIP_NONE, MIP_POINT, MIP_LINEAR = _MIPS.MIP_NONE, _MIPS.MIP_POINT, _MIPS.MIP_LINEAR

# Scratch vectors of a call: inputs, and the first of four words of results.
V_HANDLE, V_X, V_Y, V_Z, V_LAYER, V_LOD, V_REFERENCE, V_OFFSETS = range(8)
COORDINATES = (V_X, V_Y, V_Z)
V_SAMPLE = 8
"""Number of the sample; of a gather the second word of offsets; of gradients the first of four."""
V_GRADIENTS = 8
V_DATA = 4
"""Data of a surface's store or atomic operation, four words from here on."""
V_RESULT = 12
V_PLACE, V_POSITION = 16, 17
"""Of plain reads: where lanes read, and positions along x and y."""

# Kernels, by their index in a launch's record.
SAMPLE, FETCH, GATHER, QUERY, SURFACE, SAMPLE_QUICK, SAMPLE_RARE = range(TEXTURE_KERNELS)
CALLED = {SAMPLE: (SAMPLE_QUICK, SAMPLE_RARE)}
"""Kernels that a kernel calls."""


class Call:
    """Bits of the word with an instruction's options for a kernel; calls.py packs it."""

    DIMENSIONS, CUBE, ARRAY = (0, 2), (2, 1), (3, 1)
    LOD, COMPARE, OFFSETS = (4, 3), (7, 1), (8, 3)
    COMPONENT, HALVES, ORDER = (11, 2), (13, 1), (14, 8)
    MULTISAMPLED, QUADS = (22, 1), (23, 1)
    QUESTION = (24, 6)


class SurfaceCall:
    """The same for surfaces."""

    DIMENSION, CLAMP, ACTION = (0, 3), (3, 2), (5, 2)
    FORMATTED, BYTES, SIZE, MASK = (7, 1), (8, 1), (9, 3), (12, 4)
    OPERATION, TYPE, SWAP, SILENT = (16, 4), (20, 3), (23, 1), (24, 1)


# Level of detail: from neighbours, level 0, from neighbours with a bias, explicit, from gradients.
AUTO, ZERO, BIAS, LEVEL, GRADIENTS = range(5)
# Offsets in texels: none, four bits each, six bits each in bytes, one pair for each texel, four bits each from bit 16.
NO_OFFSETS, NIBBLES, BYTES, EACH, UPPER_NIBBLES = range(5)
# Accesses of a surface instruction.
LOAD, STORE, ATOMIC = range(3)


def packed(**values: tuple[tuple[int, int], int]) -> int:
    """A call's word: ((lowest bit, width), value) by name."""
    word = 0
    for (low, width), value in values.values():
        assert 0 <= value < 1 << width, value
        word |= value << low
    return word
