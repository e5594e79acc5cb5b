"""Registers of set-up and raster as words of RASTER and VIEWPORT records, and the table of pixel inputs.

Not set here: the places VERTICES, PRIMITIVES, VIEWPORTS, INPUTS, OUTPUT, PROGRAM; and EARLY, DEPTH_WANTED and ALPHAS,
which depend on programs and targets.
Sources: class header B197; drivers, where headers only have names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.read_cache import ReadCache
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats.samples import sample_count
from pocketgpu.maxwell.graphics.primitives.layout import input_offset, plane_offset
from pocketgpu.maxwell.graphics.programs.headers import LINEAR
from pocketgpu.maxwell.graphics.records import (
    ATTRIBUTE_SPACE,
    FILL,
    GROUP,
    INSIDE_ANY,
    KILL_ABOVE,
    KILL_BELOW,
    LINE,
    MAP_WORDS,
    MAX_SAMPLES,
    NOTHING,
    OUTSIDE_ALL,
    PAGE_ONE,
    PAGE_ZERO,
    PIXEL_INPUT,
    POINT,
    RASTER,
    VIEWPORT,
    VIEWPORT_COUNT,
)
from pocketgpu.maxwell.sass.stages.stage import VIEWPORT_MASK

POSITION, LAYER, VIEWPORT_INDEX, POINT_SIZE, DISTANCES = 0x70, 0x64, 0x68, 0x6C, 0x2C0
_VIEWPORT_CHOICES = VIEWPORT_INDEX >> 2, VIEWPORT_MASK >> 2
"""Addresses in attribute space that set-up itself reads."""
_POLYGON_MODES = B197.values("SET_FRONT_POLYGON_MODE")
_MODES = {_POLYGON_MODES.POINT: POINT, _POLYGON_MODES.LINE: LINE, _POLYGON_MODES.FILL: FILL}
_CULLED = B197.values("OGL_SET_CULL_FACE")
_CULL = {_CULLED.FRONT: 1, _CULLED.BACK: 2, _CULLED.FRONT_AND_BACK: 3}
_FRONT_FACES = B197.values("OGL_SET_FRONT_FACE")
_ORIGINS = B197.values("SET_WINDOW_ORIGIN.MODE")
_LAYERS = B197.values("SET_RT_LAYER.CONTROL")
_CENTERS = B197.values("SET_VIEWPORT_PIXEL.CENTER")
_USER_CLIPS = B197.values("SET_USER_CLIP_OP.PLANE0")
_Z_RANGES = B197.values("SET_VIEWPORT_Z_CLIP.RANGE")
_PIXEL_Z = B197.values("SET_VIEWPORT_CLIP_CONTROL.PIXEL_MIN_Z")
_CLIPS_AT_Z = B197.values("SET_VIEWPORT_CLIP_CONTROL.GEOMETRY_CLIP").numbers("FRUSTUM_XYZ_CLIP", "FRUSTUM_Z_CLIP")
"""Clip modes that cut at near and far plane."""
_EDGES = B197.values("SET_LINE_MODE_POLYGON_CLIP.GENERATED_EDGE")
_SPRITE_ORIGINS = B197.values("SET_POINT_SPRITE_SELECT.ORIGIN")
_SPRITE_R = B197.values("SET_POINT_SPRITE_SELECT.RMODE")
_SPRITE_TEXTURES = B197.values("SET_POINT_SPRITE_SELECT.TEXTURE0")
_DEPTHS = B197.values("SET_NONMULTISAMPLED_Z")
_ZT_FORMATS = B197.values("SET_ZT_FORMAT")
_CLIP_TYPES = B197.values("SET_WINDOW_CLIP_TYPE")
_WINDOW_CLIPS = {_CLIP_TYPES.INCLUSIVE: INSIDE_ANY, _CLIP_TYPES.EXCLUSIVE: OUTSIDE_ALL, _CLIP_TYPES.CLIPALL: NOTHING}
_STEP_OF_24_BITS = 2.0**-24
_DEPTH_STEPS = {"Z16": 2.0**-16, "ZF32": 0.0}
_SIGN = -(1 << 31)
_MOST = (1 << 15) - 1
_PLAIN = {
    POSITION: "X", POSITION + 4: "Y", POSITION + 8: "Z", POSITION + 12: "INVERSE_W", 0x60: "PRIMITIVE_ID",
    LAYER: "LAYER", VIEWPORT_INDEX: "VIEWPORT", 0x2E0: "POINT_S", 0x2E4: "POINT_T", 0x3FC: "FRONT",
}  # fmt: skip
"""Inputs of pixel programs that set-up makes."""
_FRONT_COLORS, _COLOR_BYTES = range(0x280, 0x2A0), 0x20
_TEXTURES = range(0x300, 0x3A0)
_S, _T, _NOTHING, _ONE = 1, 2, 3, 4

Words = NDArray[np.int32]


def float_word(v: float) -> int:
    """The bits of an f32 as a signed number."""
    return int(np.float32(v).view(np.int32))


def _multisampled(state: State) -> bool:
    """Whether shapes are multisampled; then they have no smooth edges."""
    return sample_count(state) > 1 and bool(state.field("SET_ANTI_ALIAS_ENABLE"))


class _RecordWriter:
    """Words of a record by name."""

    def __init__(self, offsets: Mapping[str, int], words: Words) -> None:
        self._offsets, self.words = offsets, words

    def put(self, name: str, *values: int) -> None:
        at = self._offsets[name] // 4
        self.words[at : at + len(values)] = np.array(values, np.int64).astype(np.uint32).view(np.int32)

    def put_float(self, name: str, *values: float) -> None:
        at = self._offsets[name] // 4
        self.words[at : at + len(values)] = np.array(values, np.float32).view(np.int32)


_OWN = slice(RASTER.LAYER_AT // 4, RASTER.DEPTH_WANTED // 4)
"""The words of RASTER that registers determine."""
_POSITIONS = slice(POSITION >> 2, (POSITION >> 2) + 4)
_MOST_KEPT = 4096


class RasterEncoder:
    """Makes RASTER and VIEWPORT records from registers, and caches them for later draws in the same state.

    :param choices: by name; missing ones have their default.
    """

    def __init__(self, choices: Mapping[str, str]) -> None:
        self._control_step = choices.get("raster.offset_step") == "control"
        self._window_clip_cut = int(choices.get("raster.window_clip_end") != "inclusive")
        self._mirrors = choices.get("raster.lower_left") == "mirror"
        self._moves = choices.get("raster.window_offset") != "ignore"
        self._rasters: ReadCache[Words] = ReadCache(_MOST_KEPT)
        self._viewports: list[ReadCache[Words]] = [ReadCache(_MOST_KEPT) for _ in range(VIEWPORT_COUNT)]

    def __repr__(self) -> str:
        return f"RasterEncoder({len(self._rasters)} rasters, {sum(map(len, self._viewports))} viewports)"

    def encode(self, state: State, vertex_map: Words, raster: Words, viewports: Words) -> None:
        """Fill a RASTER record and VIEWPORT_COUNT VIEWPORT records (i32 words).

        Unused words are not changed: places in RASTER, all but the first viewport if the program selects none.

        :param vertex_map: page offsets of attributes, for programs that read them (VERTICES.MAP).
        """
        make = partial(
            _raster, vertex_map=vertex_map, control_step=self._control_step, window_clip_cut=self._window_clip_cut
        )
        raster[_OWN] = self._rasters.get(state, make, vertex_map.tobytes())
        size, positions = VIEWPORT.size // 4, vertex_map[_POSITIONS].tobytes()
        several = any(int(vertex_map[word]) != PAGE_ZERO for word in _VIEWPORT_CHOICES)
        for n in range(VIEWPORT_COUNT if several else 1):
            make_one = partial(_viewport, n=n, vertex_map=vertex_map, mirrors=self._mirrors, moves=self._moves)
            viewports[n * size : (n + 1) * size] = self._viewports[n].get(state, make_one, positions)


def _raster(state: State, vertex_map: Words, control_step: bool, window_clip_cut: int) -> Words:
    """All words of RASTER that registers determine. For the last two parameters see `_faces` and `_masks`."""
    raster = np.zeros(RASTER.size // 4, np.int32)
    r = _RecordWriter(RASTER.offsets, raster)
    field = state.field
    place = lambda address: int(vertex_map[address >> 2])
    optional = lambda address: -1 if place(address) == PAGE_ZERO else place(address)
    from_program = field("SET_RT_LAYER", "CONTROL") == _LAYERS.GEOMETRY_SHADER_SELECTS_LAYER
    r.put("LAYER_AT", place(LAYER) if from_program else -1)
    r.put("LAYER", field("SET_RT_LAYER", "V"))
    r.put("LAYER_BY_VIEWPORT", field("SET_OFFSET_RENDER_TARGET_INDEX", "BY_VIEWPORT_INDEX"))
    r.put("VIEWPORT_AT", optional(VIEWPORT_INDEX))
    r.put("VIEWPORT_MASK_AT", optional(VIEWPORT_MASK))
    own_size = field("SET_ATTRIBUTE_POINT_SIZE", "ENABLE")
    size_at = state.bytes("SET_ATTRIBUTE_POINT_SIZE", "SLOT")
    r.put("POINT_SIZE_AT", optional(size_at) if own_size and size_at < ATTRIBUTE_SPACE else -1)
    _clip(state, r, vertex_map)
    _faces(state, r, control_step)
    _lines_and_points(state, r)
    _samples(state, r)
    _masks(state, r, window_clip_cut)
    r.put("HALF", 128 if field("SET_VIEWPORT_PIXEL", "CENTER") == _CENTERS.AT_INTEGERS else 0)
    r.put("CONSERVATIVE", field("SET_CONSERVATIVE_RASTER", "ENABLE"))
    r.put("FILL_VIA_TRIANGLE", field("SET_FILL_VIA_TRIANGLE", "MODE"))
    return raster[_OWN]


def _transforms(state: State) -> bool:
    return bool(state.field("SET_VIEWPORT_SCALE_OFFSET", "ENABLE"))


def _clip(state: State, r: _RecordWriter, vertex_map: Words) -> None:
    field = state.field
    planes = [n for n in range(8) if field("SET_USER_CLIP_ENABLE", f"PLANE{n}")]
    r.put("USER_PLANES", sum(1 << n for n in planes))
    culls = [n for n in planes if field("SET_USER_CLIP_OP", f"PLANE{n}") == _USER_CLIPS.CULL]
    r.put("USER_CULLS", sum(1 << n for n in culls))
    r.put("DISTANCES", *(int(vertex_map[(DISTANCES >> 2) + n]) for n in range(8)))
    cuts = field("SET_VIEWPORT_CLIP_CONTROL", "GEOMETRY_CLIP") in _CLIPS_AT_Z and _transforms(state)
    r.put("CLIP_Z", int(cuts))
    r.put("NEAR_ZERO", int(field("SET_VIEWPORT_Z_CLIP", "RANGE") == _Z_RANGES.ZERO_TO_POSITIVE_W))
    below = KILL_BELOW if field("SET_VIEWPORT_CLIP_CONTROL", "PIXEL_MIN_Z") == _PIXEL_Z.CLIP else 0
    above = KILL_ABOVE if field("SET_VIEWPORT_CLIP_CONTROL", "PIXEL_MAX_Z") == _PIXEL_Z.CLIP else 0
    # What is clipped needs no killing, and rounding would remove pixels at the cut.
    r.put("DEPTH_KILL", 0 if cuts else below | above)


def _faces(state: State, r: _RecordWriter, controlled: bool) -> None:
    """controlled: whether SET_DEPTH_BIAS_CONTROL selects the step of a depth offset."""
    field, number = state.field, state.float
    drops = _CULL.get(field("OGL_SET_CULL_FACE"), 0) if field("OGL_SET_CULL", "ENABLE") else 0
    r.put("CULL", drops)
    # y goes down, so what is counter-clockwise for a viewer has a negative area.
    negative = int(field("OGL_SET_FRONT_FACE") == _FRONT_FACES.CCW) ^ field("SET_WINDOW_ORIGIN", "FLIP_Y")
    r.put("FRONT_NEGATIVE", negative)
    r.put("MODES", *(_MODES.get(field(f"SET_{side}_POLYGON_MODE"), FILL) for side in ("FRONT", "BACK")))
    r.put("TWO_SIDED", field("SET_TWO_SIDED_LIGHT", "ENABLE"))
    names = ((FILL, "FILL"), (LINE, "LINE"), (POINT, "POINT"))
    r.put("OFFSETS", sum(field(f"SET_POLY_OFFSET_{name}", "ENABLE") << bit for bit, name in names))
    r.put_float("OFFSET_SLOPE", number("SET_SLOPE_SCALE_DEPTH_BIAS"))
    r.put_float("OFFSET_UNITS", number("SET_DEPTH_BIAS") / 2)  # drivers store twice the units
    r.put_float("OFFSET_CLAMP", number("SET_DEPTH_BIAS_CLAMP"))
    format = _ZT_FORMATS.get(field("SET_ZT_FORMAT"), "")
    step = _DEPTH_STEPS.get(format.split("_")[0], _STEP_OF_24_BITS)
    if controlled and not field("SET_DEPTH_BIAS_CONTROL", "DEPTH_FORMAT_DEPENDENT"):
        step = _STEP_OF_24_BITS
    r.put_float("OFFSET_STEP", step)


def _lines_and_points(state: State, r: _RecordWriter) -> None:
    field, number = state.field, state.float
    aliased = field("SET_ALIASED_LINE_WIDTH_ENABLE")
    r.put_float("LINE_WIDTH", number("SET_ALIASED_LINE_WIDTH_FLOAT" if aliased else "SET_LINE_WIDTH_FLOAT"))
    samples = _multisampled(state)
    r.put("LINE_SMOOTH", int(bool(field("SET_ANTI_ALIASED_LINE", "ENABLE")) and not samples))
    r.put("LINE_STIPPLE", field("SET_LINE_STIPPLE", "ENABLE"))
    r.put("STIPPLE_FACTOR", field("SET_LINE_STIPPLE_PARAMETERS", "FACTOR"))
    r.put("STIPPLE_PATTERN", field("SET_LINE_STIPPLE_PARAMETERS", "PATTERN"))
    r.put("GENERATED_EDGES", int(field("SET_LINE_MODE_POLYGON_CLIP", "GENERATED_EDGE") == _EDGES.DRAW_LINE))
    r.put_float("POINT_SIZE", number("SET_POINT_SIZE"))
    r.put("POINT_SPRITE", field("SET_POINT_SPRITE", "ENABLE"))
    r.put("SPRITE_LOWER", int(field("SET_POINT_SPRITE_SELECT", "ORIGIN") == _SPRITE_ORIGINS.BOTTOM))
    r.put("POINT_SMOOTH", int(bool(field("SET_ANTI_ALIASED_POINT", "ENABLE")) and not samples))


def _samples(state: State, r: _RecordWriter) -> None:
    field = state.field
    count = sample_count(state)
    on = _multisampled(state)
    r.put("SAMPLES", count)
    r.put("MULTISAMPLE", int(on))
    for axis in "XY":
        at = [field("SET_ANTI_ALIAS_SAMPLE_POSITIONS", f"{axis}{s & 3}", s >> 2) for s in range(MAX_SAMPLES)]
        r.put(f"SAMPLE_{axis}", *(at if on else [8] * MAX_SAMPLES))
    # A mask for each pixel of a quad; quads have four adjacent lanes.
    masked = field("SET_SAMPLE_MASK", "RASTER_OUT_ENABLE")
    masks = [field(f"SET_SAMPLE_MASK_X{n & 1}_Y{n >> 1}") if masked else -1 for n in range(4)]
    quads = [sum((mask >> s & 1) << n for n, mask in enumerate(masks)) for s in range(MAX_SAMPLES)]
    r.put("SAMPLES_LEFT", *(0x11111111 * quad for quad in quads))
    r.put("CENTRE_DEPTH", int(field("SET_NONMULTISAMPLED_Z") == _DEPTHS.AT_PIXEL_CENTER))
    passes = field("SET_HYBRID_ANTI_ALIAS_CONTROL", "PASSES")
    passes |= field("SET_HYBRID_ANTI_ALIAS_CONTROL", "PASSES_EXTENDED") << 4
    r.put("PASSES", min(max(passes, 1), count) if on else 1)


def _masks(state: State, r: _RecordWriter, left_out: int) -> None:
    """left_out: pixels at the far end of a window rectangle that are not part of it."""
    field = state.field
    windows = 0
    if field("SET_WINDOW_CLIP_ENABLE"):
        windows = _WINDOW_CLIPS.get(field("SET_WINDOW_CLIP_TYPE"), NOTHING)
        for n in range(8):
            across = [field("SET_WINDOW_CLIP_HORIZONTAL", name, n) for name in ("XMIN", "XMAX")]
            down = [field("SET_WINDOW_CLIP_VERTICAL", name, n) for name in ("YMIN", "YMAX")]
            at = RASTER.WINDOWS // 4 + 4 * n
            r.words[at : at + 4] = (across[0], down[0], across[1] - left_out, down[1] - left_out)
    r.put("WINDOW_CLIPS", windows)
    stipple = field("SET_POLYGON_STIPPLE", "ENABLE")
    r.put("POLYGON_STIPPLE", stipple)
    if stipple:
        r.put("POLYGON_PATTERN", *(state.word("SET_POLYGON_STIPPLE_PATTERN", n) for n in range(32)))
    smooth = int(bool(field("SET_POLY_SMOOTH", "ENABLE")) and not _multisampled(state))
    r.put("POLY_SMOOTH", smooth)
    r.put("MASKED", int(bool(windows or stipple or smooth or field("SET_LINE_STIPPLE", "ENABLE"))))


_EXTENTS = (
    ("SET_SURFACE_CLIP_HORIZONTAL", "X", "WIDTH"), ("SET_SURFACE_CLIP_VERTICAL", "Y", "HEIGHT"),
    ("SET_VIEWPORT_CLIP_HORIZONTAL", "X0", "WIDTH"), ("SET_VIEWPORT_CLIP_VERTICAL", "Y0", "HEIGHT"),
)  # fmt: skip
"""Methods that bound a viewport with their fields, alternating columns and rows; the first two bound all viewports."""
_OF_ALL = 2
_SCISSOR = (("SET_SCISSOR_HORIZONTAL", "XMIN", "XMAX"), ("SET_SCISSOR_VERTICAL", "YMIN", "YMAX"))


def _viewport(state: State, n: int, vertex_map: Words, mirrors: bool, moves: bool) -> Words:
    """The record of viewport `n`. mirrors: whether a lower-left origin mirrors it; moves: whether the window's offset
    moves it."""
    field, number = state.field, state.float
    at = POSITION >> 2
    swizzle = [field("SET_VIEWPORT_COORDINATE_SWIZZLE", axis, n) for axis in "XYZW"]
    source = [int(vertex_map[at + (code >> 1)]) for code in swizzle]
    scale, offset = [1.0] * 3, [0.0] * 3
    if _transforms(state):
        scale = [number(f"SET_VIEWPORT_SCALE_{axis}", n) for axis in "XYZ"]
        offset = [number(f"SET_VIEWPORT_OFFSET_{axis}", n) for axis in "XYZ"]
        if mirrors and field("SET_WINDOW_ORIGIN", "MODE") == _ORIGINS.LOWER_LEFT:
            scale[1] = -scale[1]
    else:  # positions are screen coordinates
        source[3], swizzle[3] = PAGE_ONE, 0
    for axis, name in enumerate(("SET_WINDOW_OFFSET_X", "SET_WINDOW_OFFSET_Y") if moves else ()):
        offset[axis] += float(B197[name]["V"].decode(state.word(name)))
    low, high = 0.0, 1.0
    if not field("SET_VIEWPORT_CLIP_CONTROL", "MIN_Z_ZERO_MAX_Z_ONE"):
        low, high = number("SET_VIEWPORT_CLIP_MIN_Z", n), number("SET_VIEWPORT_CLIP_MAX_Z", n)
    sides: list[list[tuple[int, int]]] = [[], []]
    for i, (name, start, size) in enumerate(_EXTENTS):
        index = 0 if i < _OF_ALL else n
        first = field(name, start, index)
        sides[i & 1].append((first, first + field(name, size, index) - 1))
    if field("SET_SCISSOR_ENABLE", "V", n):
        for side, (name, least, most) in zip(sides, _SCISSOR, strict=True):
            side.append((field(name, least, n), field(name, most, n) - 1))
    (left, right), (top, bottom) = ((max(v[0] for v in side), min(_MOST, *(v[1] for v in side))) for side in sides)
    v = _RecordWriter(VIEWPORT.offsets, np.zeros(VIEWPORT.size // 4, np.int32))
    v.put("SOURCE", *source, *(_SIGN if code & 1 else 0 for code in swizzle))
    v.put_float("SCALE", *scale, *offset, min(low, high), max(low, high))
    v.put("LEFT", left, top, right, bottom)
    return v.words


def limit(viewports: Words, width: int, height: int) -> None:
    """Limit all viewports to a target of this size in pixels (used after `RasterEncoder.encode`)."""
    table = viewports.reshape(-1, VIEWPORT.size // 4)
    for name, size in (("RIGHT", width), ("BOTTOM", height)):
        column = table[:, VIEWPORT.offsets[name] // 4]
        np.minimum(column, size - 1, out=column)


@dataclass(frozen=True, eq=False)
class PixelInputs:
    """Inputs of a pixel program: PIXEL_INPUT records (`table`), their number (`groups`), and the map for
    LAUNCH.IN_MAP."""

    table: Words
    groups: int
    map: Words


def pixel_inputs(state: State, inputs: Mapping[int, int], vertex_map: Words) -> PixelInputs:
    """The inputs of a pixel program by its header (`Header.inputs`: address to kind of interpolation)."""
    read = [address for address in sorted(inputs) if address not in _PLAIN]
    groups = -(-len(read) // GROUP)
    table = np.zeros((max(groups, 1), PIXEL_INPUT.size // 4), np.int32)
    columns = {name: at // 4 for name, at in PIXEL_INPUT.offsets.items()}
    table[:, columns["FRONT"] : columns["FRONT"] + 2 * GROUP] = PAGE_ZERO
    map = np.zeros(MAP_WORDS, np.int32)
    for address, name in _PLAIN.items():
        map[address >> 2] = plane_offset(name)
    for n, address in enumerate(read):
        row, column = table[n // GROUP], n % GROUP
        front = int(vertex_map[address >> 2])
        back = int(vertex_map[(address + _COLOR_BYTES) >> 2]) if address in _FRONT_COLORS else front
        row[columns["FRONT"] + column], row[columns["BACK"] + column] = front, back
        row[columns["LINEAR"] + column] = float_word(1.0) if inputs[address] == LINEAR else 0
        row[columns["SPRITE"] + column] = _sprite(state, address)
        map[address >> 2] = input_offset(n)
    return PixelInputs(table.reshape(-1), groups, map)


def _sprite(state: State, address: int) -> int:
    """The replacement of a texture coordinate on a point with sprites."""
    if address not in _TEXTURES or not state.field("SET_POINT_SPRITE", "ENABLE"):
        return 0
    number, component = divmod(address - _TEXTURES.start, 16)
    if state.field("SET_POINT_SPRITE_SELECT", f"TEXTURE{number}") != _SPRITE_TEXTURES.GENERATE:
        return 0
    mode = state.field("SET_POINT_SPRITE_SELECT", "RMODE")
    r = {_SPRITE_R.ZERO: _NOTHING, _SPRITE_R.FROM_S: _S}.get(mode, 0)
    return (_S, _T, r, _ONE)[component // 4]


def alpha_registers(first_registers: Iterable[int | None]) -> int:
    """RASTER.ALPHAS of `Header.target_registers`, as a signed word."""
    bits = sum(1 << (n + 3) for n in first_registers if n is not None)
    return bits - (bits >> 31 << 32)


_LEFT_OUT = (
    ("SET_TIR", "MODE", "samples of raster are those of the targets"),
    ("SET_CLIP_ID_TEST", "ENABLE", "clip ids are not tested"),
    ("SET_LINE_MULTISAMPLE_OVERRIDE", "ENABLE", "lines have samples as everything has"),
    ("SET_VIEWPORT_INCREASE_SNAP_GRID_PRECISION", "X_BITS", "corners have 8 bits below the pixel"),
    ("SET_VIEWPORT_INCREASE_SNAP_GRID_PRECISION", "Y_BITS", "corners have 8 bits below the pixel"),
)


def left_out(state: State) -> tuple[str, ...]:
    """Features of raster that the registers enable and that are not emulated, as texts for events."""
    return tuple(f"{name}: {text}" for name, part, text in _LEFT_OUT if state.field(name, part))
