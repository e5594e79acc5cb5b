"""Records in the work area that the parts of a draw pass to each other. All offsets are arena offsets.

The stages of a draw: vertices are fetched into *pages* of attributes, 32 vertices each; vertex programs turn pages of
inputs into pages of outputs; primitives are assembled, clipped and set up from those; each primitive covers *blocks* of
8 x 4 pixels, whose 32 lanes run the pixel program; the outputs in its registers are tested, blended and stored.

Attributes are named by their byte address `a` in attribute space (`a[0x70]` is the position's x). A *map*, a table of
256 words at index a / 4, gives the offset of each in a page, so that no code depends on the stage before it.
"""

from __future__ import annotations

from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR
from pocketgpu.struct_words import Struct

# -- blocks of pixels --------------------------------------------------------------------------------------------------
BLOCK_WIDTH, BLOCK_HEIGHT = 8, 4
LANE_X = tuple((lane >> 2 & 3) * 2 + (lane & 1) for lane in range(LANES))
"""Column of a lane's pixel in its block: lanes are quads of 2 x 2 pixels, four quads in a row."""
LANE_Y = tuple((lane >> 4) * 2 + (lane >> 1 & 1) for lane in range(LANES))
"""Row of a lane's pixel in its block."""
MAX_SAMPLES = 16
MAX_TARGETS = 8

# -- pages of attributes -----------------------------------------------------------------------------------------------
MAP_WORDS = 256
"""Entries of a map: one for each 32-bit word of attribute space."""
ATTRIBUTE_SPACE = 4 * MAP_WORDS
PAGE_ZERO, PAGE_ONE, PAGE_DUMP, PAGE_SLOTS = (n * VECTOR for n in range(4))
"""A page begins with a vector of 0, one of 1.0, and one that receives unused outputs; slots of attributes follow.

A map of a page has byte offsets into it: of a slot, of PAGE_ZERO or PAGE_ONE for inputs that were not written, of
PAGE_DUMP for outputs that are not read. Word `i` of lane `n` is at page + map[a / 4] + 4 * n. Vertex v of a buffer of
pages is lane v & 31 of page v >> 5.
"""

# -- vertices and primitives of a piece of a draw ----------------------------------------------------------------------
VERTICES = Struct("PAGES", "PAGE_SIZE", "MAP", "COUNT")
"""Shaded vertices: offset of the first page, bytes from page to page, the map of the outputs, number of vertices.

The map is that of the last stage that wrote them (vertex, evaluation or geometry program). It has PAGE_ZERO for
attributes that the stage does not write, so every attribute can be read.
"""
POINT_LIST, LINE_LIST, TRIANGLE_LIST, PATCH_LIST = range(4)
PRIMITIVES = Struct("COUNT", "KIND", "COLUMNS", "STRIDE")
"""A list of primitives: number, kind, offset of the first column, bytes from column to column.

Word i of a column (32 bits) belongs to primitive i; columns begin at multiples of 128 bytes and have room for a whole
vector after the last primitive, so that 32 primitives can be loaded at once.
"""
V0, V1, V2, PROVOKING, PRIMITIVE_ID, PRIMITIVE_FLAGS, V3, V4, V5 = range(9)
"""Columns: vertices (numbers in VERTICES; those that a kind does not have are undefined), the vertex whose attributes
flat inputs take (with quads and polygons it need not be one of the three), the primitive id that programs read, flags.
V3 to V5 are for geometry programs only: a line with neighbours is V0 (neighbour) V1 V2 V3 (neighbour), a triangle with
neighbours is V0 V2 V4 with V1 V3 V5 across its edges. A patch has V0 only: the index of its first vertex in the list of
slots, where its others follow."""
PRIMITIVE_COLUMNS = 9
FLAG_EDGE0, FLAG_EDGE1, FLAG_EDGE2, FLAG_BEGINS = (1 << n for n in range(4))
"""Flags: edge n of a triangle, from vertex n to the next, is an edge of the polygon that was drawn. (Other edges result
from splitting the polygon; polygon modes that draw edges or vertices leave them out. Vertex n goes with edge n.)
FLAG_BEGINS: the primitive is the first of its strip, loop or list item, where a line's stipple starts again."""

# -- planes of a primitive ---------------------------------------------------------------------------------------------
GROUP = 8
"""Planes that lie side by side, so that a vector has the same word of all of them."""
PLANE = Struct(*(f"{word}:{GROUP}" for word in ("C", "DX", "DY", "FLAT")))
"""How inputs of a pixel program vary: C + DX * x + DY * y, x and y in pixels from the primitive's origin; FLAT is the
provoking vertex's own word. For perspective inputs the plane is that of value / w. A record has GROUP planes; the
offset of a plane (`plane_at`) is that of its C, and its other words are PLANE.DX, PLANE.DY and PLANE.FLAT after it. The
map of a pixel program's inputs has offsets of planes; offset 0 is a plane of zeros, `plane_at(1)` one of 1.0. Inputs
that are constant in a primitive (facing, layer, ...) are planes without slope. Programs read a copy whose origin is the
current block, so that rounding errors of slopes do not add up over the screen."""


def plane_at(number: int) -> int:
    """Offset of a plane of a primitive by its number."""
    return number // GROUP * PLANE.size + number % GROUP * 4


MAX_PLANES = MAP_WORDS + 2 * GROUP

# -- from primitives to shapes -----------------------------------------------------------------------------------------
VIEWPORT = Struct(
    "SOURCE:4", "SIGN:4",  # of x, y, z, w after the swizzle: offset into a page, and 0 or the sign bit to flip
    "SCALE:3", "OFFSET:3",  # f32
    "MIN_Z", "MAX_Z",  # f32: limits that window depth is clamped to
    "LEFT", "TOP", "RIGHT", "BOTTOM",  # pixels that may be drawn, inclusive: clip rectangle, scissor and surface clip
)  # fmt: skip
"""One of VIEWPORT_COUNT viewports, in the form that set-up uses."""
VIEWPORT_COUNT = 16
PIXEL_INPUT = Struct("FRONT:8", "BACK:8", "LINEAR:8", "SPRITE:8")
"""Eight inputs of a pixel program, side by side: the page offsets of the attribute for front and for back faces (two
colours differ); f32 1.0 if it is interpolated without perspective, else 0.0; its replacement on a point with sprites: 0
none, 1 s, 2 t, 3 a zero, 4 a one."""
PLANE_NAMES = (
    "ZERO", "ONE", "X", "Y", "Z", "INVERSE_W", "POINT_S", "POINT_T",
    "FRONT", "PRIMITIVE_ID", "LAYER", "VIEWPORT",
)  # fmt: skip
"""The first planes of every primitive, in two groups: those that `planes.move` moves, and constants, whose integers are
in C and FLAT as bits. Planes of the PIXEL_INPUT table follow in further groups."""
KILL_BELOW, KILL_ABOVE = 1, 2
INSIDE_ANY, OUTSIDE_ALL, NOTHING = 1, 2, 3
"""RASTER.WINDOW_CLIPS."""
FILL, LINE, POINT = range(3)
"""How polygons are drawn, and the origin of a shape."""
RASTER = Struct(
    # Offsets of a VERTICES and a PRIMITIVES record, and of tables of VIEWPORT and PIXEL_INPUT.
    "VERTICES", "PRIMITIVES", "VIEWPORTS", "INPUTS", "INPUT_GROUPS",
    # Page offsets of the layer, viewport index, viewport mask and point size that programs write, -1: not written.
    "LAYER_AT", "VIEWPORT_AT", "VIEWPORT_MASK_AT", "POINT_SIZE_AT", "LAYER", "LAYER_BY_VIEWPORT",
    # Clipping: bits of user planes in use, those of them that cull; page offsets of distances; whether z is clipped,
    # and whether the near plane is z = 0 (1) or z = -w (0).
    "USER_PLANES", "USER_CULLS", "DISTANCES:8", "CLIP_Z", "NEAR_ZERO",
    # Faces: bits FRONT 1, BACK 2 to cull; 1 if negative area (y down) is the front; polygon modes of front and back.
    "CULL", "FRONT_NEGATIVE", "MODES:2", "TWO_SIDED",
    # Polygon offset: bit FILL, LINE, POINT; f32 factor, units, clamp; r is a constant (f32), or that of f32 depth if 0.
    "OFFSETS", "OFFSET_SLOPE", "OFFSET_UNITS", "OFFSET_CLAMP", "OFFSET_STEP",
    # Lines and points (f32 sizes), sprites; stipples; rectangles from triangles (SET_FILL_VIA_TRIANGLE).
    "LINE_WIDTH", "LINE_SMOOTH", "LINE_STIPPLE", "STIPPLE_FACTOR", "STIPPLE_PATTERN", "GENERATED_EDGES",
    "POINT_SIZE", "POINT_SPRITE", "SPRITE_LOWER", "POINT_SMOOTH", "FILL_VIA_TRIANGLE", "CONSERVATIVE", "POLY_SMOOTH",
    "HALF",  # 128 if pixel centres have integer coordinates, else 0 (1/256 pixel)
    # Samples: number, whether shapes are multisampled, positions in 1/16 pixel, whether all use the depth at the
    # centre. Runs of the program for a pixel (sample shading).
    "SAMPLES", "MULTISAMPLE", f"SAMPLE_X:{MAX_SAMPLES}", f"SAMPLE_Y:{MAX_SAMPLES}", "CENTRE_DEPTH", "PASSES",
    f"SAMPLES_LEFT:{MAX_SAMPLES}",  # ballots: pixels whose sample s the sample masks keep
    # Pixel clipping: window rectangles (0 off, 1 inside any, 2 outside all, 3 nothing passes) with left, top, right,
    # bottom (inclusive) of each; pixels killed by their depth (bit 0 below, 1 above); polygon stipple.
    "WINDOW_CLIPS", "WINDOWS:32", "DEPTH_KILL", "POLYGON_STIPPLE", "POLYGON_PATTERN:32",
    "MASKED",  # whether any of these, a line's stipple or a smooth edge may remove pixels
    # Steps of a block: whether depth is needed; handles of `test` and `write` (0: not called), which take the offset of
    # an OUTPUT record; whether the test comes before the program; LAUNCH record of the program (0: none); bits of the
    # registers with alpha, which smooth lines, points and polygons fade.
    "DEPTH_WANTED", "TEST:2", "WRITE:2", "OUTPUT", "EARLY", "PROGRAM", "ALPHAS",
    "UNSEEN",  # whether the program does not run, because nothing depends on it
    "COLUMN_BITS",  # threads share the pixels in columns of 2^n; 0: in strips of rows
)  # fmt: skip
"""Everything that set-up and raster need of a draw. `RasterEncoder` fills it, except for places and handles."""
REGION = Struct(
    "AT", "END",  # where the first shape goes; the end of the room, from which planes are allocated downwards
    "SHAPES_END",  # after the last shape
    "NEXT",  # the primitive to continue with: after the last one, unless room ran out or the shapes are very large
    "SHAPES", "COME", "GONE",  # shapes made; primitives that entered the clipper, and primitives that left it
    "AREA",  # area of the boxes of the shapes, in 256 pixels: a measure of their work
    "STIPPLE",  # pixel counter of the current line strip
)  # fmt: skip
SHAPE = Struct(
    "PLANES",  # offset of the planes, which shapes of one primitive share (planes.py)
    "ORIGIN_X", "ORIGIN_Y",  # pixels: the point where x = y = 0 of the planes
    "LEFT", "TOP", "RIGHT", "BOTTOM",  # pixels, inclusive
    "KIND", "FRONT", "LAYER", "VIEWPORT", "EDGES", "FADE",  # EDGES: 3 or 4
    "BIAS",  # f32: polygon offset, included in depth
    # Edges: a sample at x, y (1/256 pixel) is inside where A x + B y + C >= 0 for all; f32: 1 / (256 A), or 0.
    "A:4", "B:4", "C:8", "INVERSE:4",
    # Lines: pixel counter + STEP_X x + STEP_Y y, for the stipple. Smooth lines and points (FADE 1, 2): planes across
    # and along from the origin, half width and half length. Smooth polygons (FADE 3): bits of the edges that fade,
    # which are moved outwards by a margin.
    "COUNTER", "STEP_X", "STEP_Y", "ACROSS:3", "ALONG:3", "HALF_WIDTH", "HALF_LENGTH", "SOFT",
    start=0,
)  # fmt: skip
"""A convex piece of a primitive that is drawn, at a multiple of 32 bytes."""

# -- the current block of pixels: a record for each thread -------------------------------------------------------------
FRAGMENTS = Struct(
    "X", "Y",  # the upper left pixel of the block, in pixels of the target
    "LAYER", "VIEWPORT", "FRONT",  # of the primitive; FRONT: 1 or 0
    "SAMPLES",  # coverage samples of a pixel
    "COVERED",  # ballot: pixels with any remaining sample; other lanes are helpers
    f"COVER:{MAX_SAMPLES}",  # ballots: pixels whose sample s remains
    "KILLED",  # ballot: pixels killed by the program
    "SAMPLE",  # the sample that the program runs for, -1: the whole pixel
    "MIN_Z", "MAX_Z",  # f32: the viewport's range, for depth that the program writes
    f"DEPTH:{MAX_SAMPLES * LANES}@{VECTOR}",  # f32 vectors: window depth of each sample (after bias, not clamped)
    f"SAMPLE_MASK:{LANES}",  # a vector: the program's sample mask, all ones if it writes none
    f"PART:{LANES}",  # an f32 vector: the fraction of each pixel that a smooth polygon covers
    # Masks of x and y: where a pixel lies in a column and a strip of the thread's own; all ones if all pixels are.
    "COLUMN", "STRIP",
    "OUTPUTS",  # offset of the program's R0; R n follows at VECTOR * n
    "PASSED:2@8",  # 64 bits: samples that passed all tests since it was set to 0
    f"PLANES:{MAX_PLANES // GROUP * PLANE.size // 4}@{VECTOR}",  # those of the primitive, as programs read them
)  # fmt: skip

# -- targets -----------------------------------------------------------------------------------------------------------
TARGET = Struct(
    "BASE",  # offset of the first byte of layer 0; a target is contiguous in the arena
    "PITCH",  # bytes of a row of a linear target, 0: block-linear
    "GOBS", "BLOCK_HEIGHT", "BLOCK_DEPTH",  # GOBs in a row; log2 of the GOBs of a block
    "LAYER_STRIDE", "LAYERS",  # bytes from a layer to the next (slices of a 3D target are inside its blocks instead)
    "WIDTH", "HEIGHT",  # in samples: nothing is written outside
    "FIRST_LAYER",
)  # fmt: skip
"""The memory layout of a colour or depth target. Formats are static values of the kernels that write it."""
