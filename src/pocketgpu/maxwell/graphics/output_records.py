"""The record of a draw that the tests and the writes at the end of the pipeline read: `OUTPUT`, in the work area.

`output_state.OutputState` makes its words out of the registers, all but the BASE of each target, which is where its
bytes are in the arena. General code reads everything here; specialised code has as static values what shapes code
(`output_state.TestKey`, `WriteKey`) and reads the rest: places, references, constants.
"""

from __future__ import annotations

from ...struct_words import Struct
from ..sass.work import LANES
from .records import MAX_SAMPLES, MAX_TARGETS, TARGET

VIEWPORTS = 16

SURFACE = Struct(
    f"TARGET:{TARGET.size // 4}",
    "SLICE_STRIDE",  # bytes of 2^BLOCK_DEPTH slices of a 3D target, 0: layers are LAYER_STRIDE apart
    "COLUMNS", "ROWS",  # of the target, in pixels
    f"LANE_OFFSETS:{LANES}",  # bytes from a block's first sample to sample 0 of each lane
    f"SAMPLE_OFFSETS:{MAX_SAMPLES}",  # bytes from sample 0 of a pixel to its others
    "BYTES",  # of a sample
)  # fmt: skip
"""A target and how the samples of a block of pixels lie in it, for code that knows neither layout nor format."""

COLOR = Struct(
    f"SURFACE:{SURFACE.size // 4}",
    "FIXED",  # bits of the first word that are always written as ones
    "TYPES:4", "WORDS:4", "LOWS:4", "WIDTHS:4",  # of red, green, blue, alpha: a pixel_access type, where its bits are
    "NUMBERS",  # what colours are: a pixel_access class of numbers
    "SOURCE",  # register that holds red
    "MASK",  # channels that are written: red 1, green 2, blue 4, alpha 8
    "SATURATE",  # what the program puts out is clamped to 0..1 (1) or -1..1 (2)
    "BLEND", "COLOR_OP", "COLOR_SOURCE", "COLOR_TARGET", "ALPHA_OP", "ALPHA_SOURCE", "ALPHA_TARGET",
)  # fmt: skip
"""One colour of the program on its way into a target."""

OUTPUT = Struct(
    "TEST:2", "WRITE:2",  # handles of `output.test` and `output.write`, 64 bits each
    "SRGB",  # offset of engines.pixels.srgb_tables
    "SAMPLES", "GRID_X", "GRID_Y",  # samples of a pixel; log2 of how many lie beside and below each other
    f"RASTER_MASK:{MAX_SAMPLES}",  # ballots: sample s of which pixels the sample masks of the registers let through
    "ALPHA_REFERENCE", "BOUNDS_LOW", "BOUNDS_HIGH",  # f32
    f"DEPTH_RANGE:{2 * VIEWPORTS}",  # f32: least and greatest depth of each viewport
    "STENCIL:6",  # reference, bits to compare, bits to write: of front faces, of back faces
    "CONSTANT:4",  # blend constant, f32
    # What is static in specialised code. Registers: number in FRAGMENTS.OUTPUTS, -1 for none. Functions: 0 never to 7
    # always, 8: no test.
    "MASKED", "KILLS", "MASK_REGISTER", "ALPHA_REGISTER", "ALPHA_FUNCTION", "TO_COVERAGE", "TO_ONE",
    "DISCARD_IN_TEST", "DISCARD_IN_WRITE",
    "ZETA", "DEPTH_REGISTER", "DEPTH_FUNCTION", "DEPTH_WRITE", "BOUNDS",
    "STENCIL_TEST", "FRONT_FUNCTION", "FRONT_FAIL", "FRONT_DEPTH_FAIL", "FRONT_PASS",
    "BACK_FUNCTION", "BACK_FAIL", "BACK_DEPTH_FAIL", "BACK_PASS",
    "LOGIC", "ZERO_WINS", "SECOND_SOURCE",
    "COLORS",  # how many there are in COLOR
    f"DEPTH:{SURFACE.size // 4}",
    f"COLOR:{MAX_TARGETS * COLOR.size // 4}",
)  # fmt: skip
