"""The raster side of a Maxwell draw alone: vertices and primitives as numbers, coverage and depth as pictures.

What would test and write blocks is a kernel that notes what came: how many samples of each pixel, the last depth, the
last value of each input (taken from the planes).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import F32, I32, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.primitives import setup
from pocketgpu.maxwell.graphics.primitives.layout import SCRATCH_SIZE, input_offset, plane_offset
from pocketgpu.maxwell.graphics.programs.headers import PERSPECTIVE, PageLayout, layout_of
from pocketgpu.maxwell.graphics.raster import raster_state
from pocketgpu.maxwell.graphics.raster.coverage import lane_x, lane_y
from pocketgpu.maxwell.graphics.raster.pixel_blocks import raster_shapes
from pocketgpu.maxwell.graphics.records import (
    FRAGMENTS,
    GROUP,
    PAGE_ONE,
    PLANE,
    PRIMITIVE_COLUMNS,
    PRIMITIVES,
    PROVOKING,
    RASTER,
    REGION,
    VERTICES,
    VIEWPORT,
    VIEWPORT_COUNT,
)
from pocketgpu.maxwell.sass.stages.stage import PIXEL
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, DONE, LANES, LAUNCH, REGISTERS, VECTOR, WARP, WARPS

_GENERAL = (
    "SET_RT_LAYER", "SET_OFFSET_RENDER_TARGET_INDEX", "SET_ATTRIBUTE_POINT_SIZE", "SET_VIEWPORT_PIXEL",
    "SET_CONSERVATIVE_RASTER", "SET_FILL_VIA_TRIANGLE", "SET_VIEWPORT_SCALE_OFFSET", "SET_USER_CLIP_ENABLE",
    "SET_USER_CLIP_OP", "SET_VIEWPORT_CLIP_CONTROL", "SET_VIEWPORT_Z_CLIP", "OGL_SET_CULL", "OGL_SET_CULL_FACE",
    "OGL_SET_FRONT_FACE", "SET_WINDOW_ORIGIN", "SET_FRONT_POLYGON_MODE", "SET_BACK_POLYGON_MODE", "SET_TWO_SIDED_LIGHT",
    "SET_POLY_OFFSET_FILL", "SET_POLY_OFFSET_LINE", "SET_POLY_OFFSET_POINT", "SET_SLOPE_SCALE_DEPTH_BIAS",
    "SET_DEPTH_BIAS", "SET_DEPTH_BIAS_CLAMP", "SET_ZT_FORMAT", "SET_ALIASED_LINE_WIDTH_ENABLE",
    "SET_ALIASED_LINE_WIDTH_FLOAT", "SET_LINE_WIDTH_FLOAT", "SET_ANTI_ALIAS", "SET_ANTI_ALIAS_ENABLE",
    "SET_ANTI_ALIASED_LINE", "SET_LINE_STIPPLE", "SET_LINE_STIPPLE_PARAMETERS", "SET_LINE_MODE_POLYGON_CLIP",
    "SET_POINT_SIZE", "SET_POINT_SPRITE", "SET_POINT_SPRITE_SELECT", "SET_ANTI_ALIASED_POINT",
    "SET_ANTI_ALIAS_SAMPLE_POSITIONS", "SET_NONMULTISAMPLED_Z", "SET_HYBRID_ANTI_ALIAS_CONTROL", "SET_SAMPLE_MASK",
    "SET_SAMPLE_MASK_X0_Y0", "SET_SAMPLE_MASK_X1_Y0", "SET_SAMPLE_MASK_X0_Y1", "SET_SAMPLE_MASK_X1_Y1",
    "SET_WINDOW_CLIP_ENABLE", "SET_WINDOW_CLIP_TYPE", "SET_WINDOW_CLIP_HORIZONTAL", "SET_WINDOW_CLIP_VERTICAL",
    "SET_POLYGON_STIPPLE", "SET_POLYGON_STIPPLE_PATTERN", "SET_DEPTH_BIAS_CONTROL", "SET_POLY_SMOOTH",
)  # fmt: skip
_OF_ALL_VIEWPORTS = (
    "SET_VIEWPORT_SCALE_OFFSET", "SET_VIEWPORT_CLIP_CONTROL", "SET_SURFACE_CLIP_HORIZONTAL",
    "SET_SURFACE_CLIP_VERTICAL", "SET_WINDOW_ORIGIN", "SET_WINDOW_OFFSET_X", "SET_WINDOW_OFFSET_Y",
)  # fmt: skip
_OF_A_VIEWPORT = (
    "SET_VIEWPORT_COORDINATE_SWIZZLE", "SET_VIEWPORT_SCALE_X", "SET_VIEWPORT_SCALE_Y", "SET_VIEWPORT_SCALE_Z",
    "SET_VIEWPORT_OFFSET_X", "SET_VIEWPORT_OFFSET_Y", "SET_VIEWPORT_OFFSET_Z", "SET_VIEWPORT_CLIP_MIN_Z",
    "SET_VIEWPORT_CLIP_MAX_Z", "SET_VIEWPORT_CLIP_HORIZONTAL", "SET_VIEWPORT_CLIP_VERTICAL", "SET_SCISSOR_ENABLE",
    "SET_SCISSOR_HORIZONTAL", "SET_SCISSOR_VERTICAL",
)  # fmt: skip
RASTER_NAMES = tuple(dict.fromkeys((*_GENERAL, *_OF_ALL_VIEWPORTS, *_OF_A_VIEWPORT)))
"""The methods that `RasterEncoder` and `pixel_inputs` may read."""
WIDTH, HEIGHT = 64, 48
ARENA = 4 << 20
_INPUTS = 8  # that are noted


@kernel(lanes=32, output=I32, fragments=I32)
def note(k: Lang, output: Value, fragments: Value) -> None:
    """Add up samples, and keep depth and inputs, of the pixels of a block. output: offset of the offsets of the
    pictures (samples, depth of sample 0, inputs) and of the slot, and of how many inputs there are."""

    def word(n: int) -> Value:
        return k.load(I32, output + (4 * n))

    def of(name: str) -> Value:
        return k.load(I32, fragments + FRAGMENTS.offsets[name])

    x, y = lane_x(k) + of("X"), lane_y(k) + of("Y")
    pixel = (y * WIDTH + x) << 2
    covered = k.mask_of(of("COVERED"))
    at = pixel + word(0)
    total = k.var(k.gather(I32, at, covered))
    for s in k.range(0, of("SAMPLES")):
        here = k.mask_of(k.load(I32, fragments + (s << 2) + FRAGMENTS.COVER))
        total.value = total.value + k.select(here, 1, 0)
    k.scatter(I32, at, total.value, covered)
    k.scatter(F32, pixel + word(1), k.load(F32, fragments + FRAGMENTS.DEPTH, LANES), covered)
    slot = word(3)
    planes = k.load(I32, slot + BLOCK.IN_AT)
    px, py = (k.load(F32, slot + w) for w in (BLOCK.PIXEL_X, BLOCK.PIXEL_Y))
    for n in k.range(0, word(4)):
        words = (PLANE.C, PLANE.DX, PLANE.DY)
        plane = planes + input_offset(0) + k.udiv(n, GROUP) * PLANE.size + ((n & (GROUP - 1)) << 2)
        c, dx, dy = (k.load(F32, plane + w) for w in words)
        v = k.fma(dx, k.to_f32(lane_x(k)) + px, k.fma(dy, k.to_f32(lane_y(k)) + py, k.splat(c)))
        w = [k.load(F32, planes + plane_offset("INVERSE_W") + i) for i in words]
        inverse = k.fma(w[1], k.to_f32(lane_x(k)) + px, k.fma(w[2], k.to_f32(lane_y(k)) + py, k.splat(w[0])))
        place = pixel + word(2) + n * (WIDTH * HEIGHT * 4)
        k.scatter(F32, place, v / inverse, covered)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def ones(k: Lang, launch: Value, slot: Value, warp: Value) -> None:
    """A pixel program: R0 is the number of the sample, R1 how often it has run, R2 0, R3 1.0."""
    record = slot + WARPS
    registers = record + REGISTERS
    fragments = k.load(I32, slot + BLOCK.FRAGMENTS)
    runs = k.load(I32, launch + LAUNCH.PROGRAM) + 1
    k.store(I32, launch + LAUNCH.PROGRAM, runs)
    values = (k.load(I32, fragments + FRAGMENTS.SAMPLE), runs, k.i32(0), k.bits_i32(k.f32(1.0)))
    for n, v in enumerate(values):
        k.store(I32, registers + n * VECTOR, k.splat(v))
    k.store(I32, record + WARP.STATE, DONE)


@kernel(lanes=32, output=I32, fragments=I32)
def log(k: Lang, output: Value, fragments: Value) -> None:
    """Note a call: SAMPLE, COVERED, the ballots of four samples, R1 of the program; and add up alpha of sample 0."""

    def of(name):
        return k.load(I32, fragments + FRAGMENTS.offsets[name])

    at = k.load(I32, output)
    registers = of("OUTPUTS")
    covers = [k.load(I32, fragments + FRAGMENTS.COVER + 4 * s) for s in range(4)]
    runs = k.load(I32, k.select(registers == 0, output, registers + VECTOR))
    for n, v in enumerate((of("SAMPLE"), of("COVERED"), *covers, runs)):
        k.store(I32, at + 4 * n, v)
    k.store(I32, output, at + 32)
    x, y = lane_x(k) + of("X"), lane_y(k) + of("Y")
    place = ((y * WIDTH + x) << 2) + k.load(I32, output + 4)
    for _ in k.when(registers != 0):
        covered = k.mask_of(covers[0])
        alpha = k.load(F32, registers + 3 * VECTOR, LANES)
        k.scatter(F32, place, k.gather(F32, place, covered) + alpha, covered)


@dataclass
class Calls:
    """What `log` saw. alpha: sum for each pixel; blocks: rows of SAMPLE, COVERED, four ballots, runs of the program."""

    alpha: NDArray[np.float32]
    blocks: NDArray[np.int32]


@dataclass
class Picture:
    """samples: covered samples of each pixel, of all shapes. depth: of the last one. inputs: (n, HEIGHT, WIDTH),
    perspective divided out. shapes: how many were made."""

    samples: NDArray[np.int32]
    depth: NDArray[np.float32]
    inputs: NDArray[np.float32]
    shapes: int
    come: int
    gone: int


def registers(**values: Any) -> State:
    """The class's registers as a plain OpenGL program has them for a window of WIDTH x HEIGHT; `values` by name of the
    method (a word, a float), or METHOD__FIELD."""
    state = State(B197, np.zeros(1 << 14, np.uint32))

    def put(name: str, value: Any) -> None:
        name, _, part = name.partition("__")
        name, _, index = name.partition("_AT_")
        method = B197[name]
        at = method.word + int(index or 0) * method.stride
        if isinstance(value, float):
            value = int(np.float32(value).view(np.uint32))
        if part:
            bits = method[part]
            value = int(state.registers[at]) & ~bits.mask | (value << bits.lo & bits.mask)
        state.registers[at] = value

    start = {
        "SET_VIEWPORT_SCALE_X": WIDTH / 2, "SET_VIEWPORT_SCALE_Y": -HEIGHT / 2, "SET_VIEWPORT_SCALE_Z": 0.5,
        "SET_VIEWPORT_OFFSET_X": WIDTH / 2, "SET_VIEWPORT_OFFSET_Y": HEIGHT / 2, "SET_VIEWPORT_OFFSET_Z": 0.5,
        "SET_VIEWPORT_COORDINATE_SWIZZLE": 0x6420, "SET_VIEWPORT_CLIP_HORIZONTAL": WIDTH << 16,
        "SET_VIEWPORT_CLIP_VERTICAL": HEIGHT << 16, "SET_VIEWPORT_CLIP_MAX_Z": 1.0,
        "SET_SURFACE_CLIP_HORIZONTAL": WIDTH << 16, "SET_SURFACE_CLIP_VERTICAL": HEIGHT << 16,
        "SET_VIEWPORT_SCALE_OFFSET": 1, "SET_VIEWPORT_CLIP_CONTROL__GEOMETRY_CLIP": 3,
        "SET_FRONT_POLYGON_MODE": 0x1B02, "SET_BACK_POLYGON_MODE": 0x1B02, "OGL_SET_FRONT_FACE": 0x901,
        "SET_POINT_SIZE": 1.0, "SET_LINE_WIDTH_FLOAT": 1.0, "SET_ALIASED_LINE_WIDTH_FLOAT": 1.0,
    }  # fmt: skip
    for name, value in (start | values).items():
        put(name, value)
    return state


def wild(rng: np.random.Generator) -> State:
    """Registers of any value, most of them as they should be."""
    state = registers()
    for name in RASTER_NAMES:
        method = B197[name]
        for n in range(method.count or 1):
            kind = rng.integers(0, 80)
            place = method.word + n * method.stride
            if kind == 0:
                state.registers[place] = rng.integers(0, 1 << 32)
            elif kind in (1, 2) and "CLIP_" not in name:
                state.registers[place] = rng.integers(0, 8)
            elif kind < 20 and ("SCALE" in name or "SIZE" in name or "WIDTH" in name):
                state.registers[place] = np.float32(rng.normal() * 30).view(np.uint32)
    return state


def wild_vertices(rng: np.random.Generator, n: int) -> dict[int, NDArray[Any]]:
    """Positions of any kind, point sizes, distances, colours, texture coordinates; sometimes layers and viewports."""
    way = rng.integers(0, 4)
    if way == 0:
        clip = rng.integers(0, 1 << 32, (n, 4), np.uint64).astype(np.uint32).view(np.float32)
    else:
        clip = np.column_stack([rng.uniform(-2, 2, (n, 3)), rng.uniform(-0.3, 2, n)]).astype(np.float32)
        if way == 1:
            clip *= (10.0 ** rng.uniform(-8, 8, (n, 1))).astype(np.float32)
    chosen = rng.integers(0, 17, (n, 2)) * (rng.integers(0, 5) == 0)
    return {
        0x70: clip, 0x64: chosen.astype(np.int32).view(np.float32), 0x6C: rng.uniform(-5, 30, (n, 1)),
        0x2C0: rng.normal(size=(n, 8)) + 0.5, 0x280: rng.normal(size=(n, 4)), 0x300: rng.normal(size=(n, 4)),
    }  # fmt: skip


@dataclass
class Raster:
    """A small machine for set-up and raster. attributes: address to the words of all vertices (f32)."""

    evaluator: str = "llvm"
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        self.arena = np.zeros(ARENA, np.uint8)
        self.engine = Engine(self.arena, self.evaluator)

    def words(self, at: int, count: int) -> NDArray[np.int32]:
        return self.arena[at : at + 4 * count].view(np.int32)

    def draw(
        self,
        state: State,
        attributes: dict[int, NDArray[Any]],
        primitives: NDArray[Any],
        *,
        provoking: int = 0,
        flags: int = 15,
        parts: int = 1,
        inputs: dict[int, int] | None = None,
        region_size: int = 1 << 20,
        depth: bool = True,
        only_set_up: bool = False,
        words: dict[str, int] | None = None,
        logs: tuple[str, ...] = (),
    ) -> Picture:
        """Draw primitives (n, 1 to 3: numbers of vertices). attributes: 0x70 (n, 4) is the position.

        words: of the RASTER record. logs: TEST, WRITE: call `log` there (with PROGRAM 1 in `words`: run `ones`), and
        keep what it saw in `calls`.
        """
        self.arena[:] = 0
        at = 4096

        def take(size: int) -> int:
            nonlocal at
            found, at = at, at + -(-size // 4096) * 4096
            return found

        flat = {a + 4 * c: np.asarray(v)[:, c] for a, v in attributes.items() for c in range(np.asarray(v).shape[1])}
        layout: PageLayout = layout_of(flat)
        count = len(next(iter(flat.values())))
        page_size = layout.vectors * VECTOR
        pages = take(page_size * (count // LANES + 1))
        for first in range(0, count, LANES):
            page = pages + first // LANES * page_size
            self.words(page + PAGE_ONE, LANES)[:] = np.float32(1.0).view(np.int32)
            for address, values in flat.items():
                part = np.asarray(values[first : first + LANES], np.float32)
                self.words(page + int(layout.read[address >> 2]), len(part))[:] = part.view(np.int32)
        primitives = np.asarray(primitives, np.int32)
        number, kind = primitives.shape
        stride = (number // LANES + 2) * VECTOR
        columns = take(stride * PRIMITIVE_COLUMNS)
        for column in range(kind):
            self.words(columns + column * stride, number)[:] = primitives[:, column]
        self.words(columns + PROVOKING * stride, number)[:] = primitives[:, provoking]
        self.words(columns + (PROVOKING + 1) * stride, number)[:] = np.arange(number)
        self.words(columns + (PROVOKING + 2) * stride, number)[:] = flags
        vertices, lists = take(VERTICES.size), take(PRIMITIVES.size)
        self.words(vertices, 4)[:] = pages, page_size, 0, count
        self.words(lists, 4)[:] = number, kind - 1, columns, stride
        raster, viewports = take(RASTER.size), take(VIEWPORT.size * VIEWPORT_COUNT)
        record = self.words(raster, RASTER.size // 4)
        table_of = self.words(viewports, VIEWPORT.size // 4 * VIEWPORT_COUNT)
        raster_state.RasterEncoder({}).encode(state, layout.read, record, table_of)
        if not only_set_up:
            raster_state.limit(table_of, WIDTH, HEIGHT)
        wanted = {a: PERSPECTIVE for a in flat if a >= 0x80} if inputs is None else inputs
        table = raster_state.pixel_inputs(state, wanted, layout.read)
        table_at = take(table.table.nbytes)
        self.words(table_at, table.table.size)[:] = table.table
        output = take(64)
        samples, depths, values = (take(WIDTH * HEIGHT * 4 * n) for n in (1, 1, _INPUTS))
        slot, fragments, scratch = take(WARPS + REGISTERS + 8 * VECTOR), take(FRAGMENTS.size), take(SCRATCH_SIZE)
        noted = min(len(wanted), _INPUTS)
        self.words(output, 5)[:] = samples, depths, values, slot, noted
        self.words(raster + RASTER.WRITE, 2).view(np.int64)[0] = self.engine.handle(note)
        places = {
            "VERTICES": vertices, "PRIMITIVES": lists, "VIEWPORTS": viewports, "INPUTS": table_at,
            "INPUT_GROUPS": table.groups, "OUTPUT": output, "DEPTH_WANTED": int(depth),
        }  # fmt: skip
        for name, v in places.items():
            record[RASTER.offsets[name] // 4] = v
        for name, v in (words or {}).items():
            record[RASTER.offsets[name] // 4] = v
        launch, calls, alpha = take(LAUNCH.size), take(1 << 20), take(WIDTH * HEIGHT * 4)
        if logs:
            self.words(output, 2)[:] = calls, alpha
            for name in ("TEST", "WRITE"):
                handle = self.engine.handle(log) if name in logs else 0
                self.words(raster + RASTER.offsets[name], 2).view(np.int64)[0] = handle
            self.words(launch + LAUNCH.STAGE, 1)[0] = PIXEL
            self.words(launch + LAUNCH.SLICE, 1)[0] = self.words(launch + LAUNCH.TURNS, 1)[0] = 1
            self.words(launch + LAUNCH.SAMPLES_AT, 1)[0] = launch
            self.words(launch + LAUNCH.RUN, 2).view(np.int64)[0] = self.engine.handle(ones)
            record[RASTER.PROGRAM // 4] = launch if (words or {}).get("PROGRAM") else 0
        multi = bool(record[RASTER.SAMPLES // 4] > 1)
        region, room = take(REGION.size), take(region_size)
        state_of = self.words(region, REGION.size // 4)
        state_of[REGION.AT // 4], state_of[REGION.END // 4] = room, room + region_size
        set_up, run = self.engine.get(setup.set_up, kind=kind), self.engine.get(raster_shapes, multi=multi)
        following, self.pieces = 0, []
        while following < number:
            set_up(raster, region, scratch, following, number)
            assert state_of[REGION.NEXT // 4] > following, "no room for one primitive"
            following = int(state_of[REGION.NEXT // 4])
            self.pieces.append(following)
            for part in range(0 if only_set_up else parts):
                run(raster, region, slot, fragments, part, parts)
        assert not self.arena[at:].any(), "something was written past all that there is"
        seen = self.words(calls, (int(self.words(output, 1)[0]) - calls) // 4 if logs else 0).reshape(-1, 8)[:, :7]
        self.calls = Calls(
            self.words(alpha, WIDTH * HEIGHT).view(np.float32).reshape(HEIGHT, WIDTH).copy(), seen.copy()
        )
        self.region, self.record = state_of.copy(), record
        shape = (HEIGHT, WIDTH)
        found = self.words(values, noted * WIDTH * HEIGHT).view(np.float32).reshape(noted, *shape)
        return Picture(
            self.words(samples, WIDTH * HEIGHT).reshape(shape).copy(),
            self.words(depths, WIDTH * HEIGHT).view(np.float32).reshape(shape).copy(),
            found.copy(),
            int(state_of[REGION.SHAPES // 4]),
            int(state_of[REGION.COME // 4]),
            int(state_of[REGION.GONE // 4]),
        )


def clip_of(window: NDArray[Any], z: float | NDArray[Any] = 0.0, w: float | NDArray[Any] = 1.0) -> NDArray[np.float32]:
    """Clip positions of places on the screen (n, 2), pixels from the upper left."""
    window = np.asarray(window, np.float64)
    ndc = np.stack([window[:, 0] / (WIDTH / 2) - 1, 1 - window[:, 1] / (HEIGHT / 2)], 1)
    w = np.broadcast_to(np.asarray(w, np.float64), (len(window),))
    z = np.broadcast_to(np.asarray(z, np.float64), (len(window),))
    return np.stack([ndc[:, 0] * w, ndc[:, 1] * w, z * w, w], 1).astype(np.float32)


assert GROUP == 8
