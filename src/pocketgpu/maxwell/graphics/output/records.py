"""The record of a draw for the tests and writes at the end of the pipeline: `OUTPUT`, in the work area.

`output.state.OutputState` makes its words from the registers, except for the BASE of each target, its arena offset.
General code reads everything here; specialised code has the keys (`output.keys.TestKey`, `WriteKey`) as static values
and reads the rest: places, references, constants.
"""

from __future__ import annotations

from pocketgpu.maxwell.graphics.records import MAX_SAMPLES, MAX_TARGETS, TARGET
from pocketgpu.maxwell.sass.thread_memory.work import LANES
from pocketgpu.struct_words import Struct

SURFACE = Struct(
    f"TARGET:{TARGET.size // 4}",
    "SLICE_STRIDE",  # bytes of 2^BLOCK_DEPTH slices of a 3D target, 0: layers are LAYER_STRIDE apart
    "COLUMNS", "ROWS",  # of the target, in pixels
    f"LANE_OFFSETS:{LANES}",  # bytes from a block's first sample to sample 0 of each lane
    f"SAMPLE_OFFSETS:{MAX_SAMPLES}",  # bytes from sample 0 of a pixel to its others
    "BYTES",  # of a sample
)  # fmt: skip
"""A target with tables of a block's samples, for code that is independent of layout and format."""

COLOR = Struct(
    f"SURFACE:{SURFACE.size // 4 - 1}", "BYTES",  # a SURFACE
    "FIXED",  # bits of the first word that are always written as ones
    "TYPES:4", "WORDS:4", "LOWS:4", "WIDTHS:4",  # of red, green, blue, alpha: formats.components.Channel
    "NUMBERS",  # type of the components: formats.channels.NUMBER_*
    "BITS:4",  # of each word: the bits that are written
    "SOURCE", "WRITTEN",  # register of red; mask of the four that the program writes (red is bit 0), others are 0
    "SATURATE",  # the program's output is clamped to 0..1 (1) or -1..1 (2)
    "COVERAGE",  # whether red is replaced by the mask of remaining samples
    "MODE",  # blend.PLAIN, BLEND or LOGIC
    "COLOR_OPERATION", "COLOR_SOURCE", "COLOR_TARGET", "ALPHA_OPERATION", "ALPHA_SOURCE", "ALPHA_TARGET",
)  # fmt: skip
"""One colour of the program and its target."""

OUTPUT = Struct(
    "SRGB",  # offset of formats.srgb.srgb_tables
    "ALPHA_REFERENCE", "BOUNDS_LOW", "BOUNDS_HIGH",  # f32
    "STENCIL:6",  # reference, bits to compare, bits to write: of front faces, of back faces
    "CONSTANT:4",  # blend constant, f32
    # Static values in specialised code, see TestKey and WriteKey.
    "SAMPLES", "GRID_X", "GRID_Y",
    "DISCARD_IN_TEST", "DISCARD_IN_WRITE", "KILLS", "MASKS", "ALPHA_REGISTER", "ALPHA_FUNCTION", "TO_COVERAGE",
    "Z_TYPE", "Z_LOW", "Z_WIDTH", "S_WORD", "S_LOW", "DEPTH_FUNCTION", "DEPTH_WRITE", "BOUNDS",
    "STENCIL_TEST", "FRONT_FUNCTION", "FRONT_FAIL", "FRONT_DEPTH_FAIL", "FRONT_PASS",
    "BACK_FUNCTION", "BACK_FAIL", "BACK_DEPTH_FAIL", "BACK_PASS",
    "LEFT_OUT", "TO_ONE", "LOGIC", "ZERO_WINS", "SECOND_SOURCE", "SECOND_WRITTEN",
    "COLORS",  # number of colours
    f"ZETA:{SURFACE.size // 4 - 1}", "ZETA_BYTES",  # a SURFACE: the depth and stencil target
    f"COLOR:{MAX_TARGETS * COLOR.size // 4}",
)  # fmt: skip
