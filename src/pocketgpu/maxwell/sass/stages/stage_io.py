"""Instructions that only stages of graphics have: attributes in and out, interpolation, samples, discarding, emitting.

One function for an instruction, over a `Machine`, shared by both executors: modifiers and the stage are numbers in
specialised code and scalars in the interpreter. Where attributes lie is told by maps and columns (graphics/records.py).

Sources: a[] and the meaning of operands are what drivers' compilers rely on and simulators agree on. Offsets of samples
are in 1/4096 pixel, two signed halves, as compilers scale them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.lanes import BOOL, F32, I32, Lang, Value
from pocketgpu.maxwell.graphics.records import ATTRIBUTE_SPACE, FRAGMENTS, LANE_X, LANE_Y, MAX_SAMPLES, PLANE
from pocketgpu.maxwell.sass.semantics import float32
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH, VECTOR

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.steps import Step
    from pocketgpu.maxwell.sass.warp.machine import Machine

_STAGES = SPH["VTG"]["SHADER_TYPE"].values
NONE, VERTEX, GEOMETRY, PIXEL = 0, _STAGES.VERTEX, _STAGES.GEOMETRY, _STAGES.PIXEL
CONTROL, EVALUATION = _STAGES.TESSELLATION_INIT, _STAGES.TESSELLATION
"""Stages as shader headers number them, and `LAUNCH.STAGE`."""
_RZ = 255
SC = 3
"""The kind of interpolation that the shade mode decides about."""
Y_DIRECTION = 0x12
"""The special register of which way y goes."""
_WORD = ATTRIBUTE_SPACE - 4
OFFSET_UNIT = 1.0 / 4096
ENDS_STRIP = 1 << 8
"""Bit of the word of an emitted vertex: its strip ends with it. The stream is in the bits below."""
MOST_VERTICES = 32
"""Vertices of a primitive that comes in: patches have up to 32."""
PRIMITIVE_ID, LAYER, VIEWPORT, TESS_U, TESS_V, VIEWPORT_MASK, FACING = 0x60, 0x64, 0x68, 0x2F0, 0x2F4, 0x3A0, 0x3FC
OF_INVOCATION = (PRIMITIVE_ID, TESS_U, TESS_V)
"""What programs after the vertex stage find with the invocation, not with a vertex."""
OF_PRIMITIVE = (PRIMITIVE_ID, LAYER, VIEWPORT, VIEWPORT_MASK, FACING)
"""What is the same for all pixels of a primitive, and no float: never interpolated."""


# -- pixels and samples ------------------------------------------------------------------------------------------------
def pixel_centres(k: Lang, slot: Value) -> tuple[Value, Value]:
    """x and y of the centres of a block's pixels, from the origin of the primitive."""
    x = k.load(F32, slot + BLOCK.PIXEL_X) + k.pattern_of([float(v) for v in LANE_X], F32)
    y = k.load(F32, slot + BLOCK.PIXEL_Y) + k.pattern_of([float(v) for v in LANE_Y], F32)
    return x, y


def sample_shift(k: Lang, launch: Value, sample: Value) -> tuple[Value, Value]:
    """Where a sample is (a scalar, or lanes), in pixels from the centre."""
    at = k.load(I32, launch + LAUNCH.SAMPLES_AT) + (k.clamp(sample, 0, MAX_SAMPLES - 1) << 2)
    x, y = (k.load(I32, at + o) if at.lanes == 1 else k.gather(I32, at + o) for o in (0, 4 * MAX_SAMPLES))
    return k.to_f32(x - 8) * (1 / 16), k.to_f32(y - 8) * (1 / 16)


def fragments_of(m: Machine) -> Value:
    """The record of the block of pixels; 0 in other stages."""
    return m.place.of_block(BLOCK.FRAGMENTS)


def helpers(m: Machine) -> Value:
    """Lanes that are no pixels (any more), as a mask."""
    k, at = m.k, fragments_of(m)
    return k.mask_of(~k.load(I32, at + FRAGMENTS.COVERED) | k.load(I32, at + FRAGMENTS.KILLED))


def with_effect(m: Machine, mask: Value) -> Value:
    """The lanes of a mask whose stores and atomics count: helpers of pixels have no effect."""
    k = m.k
    if isinstance(m.stage, int):
        return mask & ~helpers(m) if m.stage == PIXEL else mask
    return mask & k.mask_of(k.branch(m.stage == PIXEL, lambda: k.ballot(~helpers(m)), lambda: k.i32(-1)))


def centroid(m: Machine) -> tuple[Value, Value]:
    """From the centre of each pixel to where its centroid is taken: the centre of a pixel that is covered all over
    (or not at all), else its first sample that is covered."""
    k, at = m.k, fragments_of(m)
    count = k.clamp(k.load(I32, at + FRAGMENTS.SAMPLES), 1, MAX_SAMPLES)
    whole, none = k.var(-1), k.var(-1)
    x, y = k.var(k.splat(0.0, type=F32)), k.var(k.splat(0.0, type=F32))
    for i in k.range(0, count):
        s = count - 1 - i
        covered = k.load(I32, at + FRAGMENTS.COVER + (s << 2))
        shift_x, shift_y = sample_shift(k, m.place.launch, s)
        x.value = k.select(k.mask_of(covered), shift_x, x.value)
        y.value = k.select(k.mask_of(covered), shift_y, y.value)
        whole.value = whole.value & covered
        none.value = none.value & ~covered
    plain = k.mask_of(whole.value | none.value)
    return k.select(plain, 0.0, x.value), k.select(plain, 0.0, y.value)


def _packed(k: Lang, x: Value, y: Value) -> Value:
    """Two offsets in 1/4096 pixel as halves of a word."""
    halves = [k.to_i32(v * (1 / OFFSET_UNIT), -32768, 32767) & 0xFFFF for v in (x, y)]
    return halves[0] | (halves[1] << 16)


def _position(m: Machine, step: Step) -> tuple[Value, Value]:
    """Where an interpolation is done."""
    k, slot = m.k, m.place.slot

    def default() -> tuple[Value, Value]:
        return k.load(F32, slot + BLOCK.CENTRE_X, LANES), k.load(F32, slot + BLOCK.CENTRE_Y, LANES)

    def at_centroid() -> tuple[Value, Value]:
        (x, y), (dx, dy) = pixel_centres(k, slot), centroid(m)
        return x + dx, y + dy

    def offset() -> tuple[Value, Value]:
        (x, y), packed = pixel_centres(k, slot), m.word(step.sources[1])
        return x + k.to_f32((packed << 16) >> 16) * OFFSET_UNIT, y + k.to_f32(packed >> 16) * OFFSET_UNIT

    return k.switch(step.mods["sample"], [default, at_centroid, offset, default])


def interpolate(m: Machine, step: Step, mask: Value) -> None:
    """IPA: an input of a pixel program. PASS as it is, MUL times a register (w), CONSTANT of the provoking vertex, SC
    as the shade mode says."""
    k, p, mods = m.k, m.place, step.mods
    place_of, planes = p.of_launch(LAUNCH.IN_MAP), p.of_block(BLOCK.IN_AT)

    def by_address(address: Value | int) -> Value:
        """Where the plane is: a scalar, or lanes."""
        at = place_of + (address & _WORD)
        return planes + (k.load(I32, at) if at.lanes == 1 else k.gather(I32, at))

    def evaluate(plane: Value, whole: Value | bool) -> Value:
        read = lambda name, type=F32: (
            k.splat(k.load(type, plane + PLANE.offsets[name]))
            if plane.lanes == 1
            else k.gather(type, plane + PLANE.offsets[name])
        )
        flat = lambda: read("FLAT", I32)

        def linear() -> Value:
            x, y = _position(m, step)
            return k.fma(read("DX"), x, k.fma(read("DY"), y, read("C")))

        def passed() -> Value:
            return float32.canonical(linear())

        def times_w() -> Value:
            return float32.canonical(linear() * k.bits_f32(m.word(step.sources[0])))

        def shaded() -> Value:
            # Perspective is taken out again where the instruction names a register for w.
            n = step.sources[0].n
            smooth = lambda: k.branch(n == _RZ, passed, times_w)
            return k.branch(p.of_launch(LAUNCH.FLAT) != 0, flat, smooth)

        def varying() -> Value:
            v = k.switch(mods["op"], [passed, times_w, flat, shaded])
            sat = mods["sat"] != 0
            clamped = lambda: k.bits_i32(k.min(k.max(k.bits_f32(v), 0.0), 1.0))
            return k.branch(sat, clamped, lambda: v)

        if isinstance(whole, bool):
            return flat() if whole else varying()
        return k.select(whole, flat(), varying())

    def at_offset() -> Value:
        address = step.offset
        if isinstance(address, int):
            return evaluate(by_address(address), address in OF_PRIMITIVE)
        return evaluate(by_address(address), k.fit(_any_of(k, address, OF_PRIMITIVE), BOOL, LANES))

    def at_register() -> Value:
        address = m.register(step.base) + step.offset
        return evaluate(by_address(address), _any_of(k, address & _WORD, OF_PRIMITIVE))

    m.set_register(step.dest, k.branch(step.base == _RZ, at_offset, at_register), mask)


def _any_of(k: Lang, v: Value, words: tuple[int, ...]) -> Value:
    found = v == words[0]
    for word in words[1:]:
        found = found | (v == word)
    return found


def discard(m: Machine, step: Step, mask: Value) -> None:
    """KIL: lanes write nothing any more, and go on as helpers. Nothing if the header says that no pixel is killed."""
    k = m.k
    pixel = k.fit(m.stage == PIXEL, BOOL, 1)
    for _ in k.when(pixel & (m.place.of_launch(LAUNCH.KILLS) != 0)):
        at = fragments_of(m) + FRAGMENTS.KILLED
        k.store(I32, at, k.load(I32, at) | k.ballot(mask))


def pixel_load(m: Machine, step: Step, mask: Value) -> None:
    """PIXLD: which samples are covered, where samples are, which one is shaded."""
    k, at = m.k, fragments_of(m)
    number = k.splat(m.register(step.base)) + step.offset
    count = k.clamp(k.load(I32, at + FRAGMENTS.SAMPLES), 1, MAX_SAMPLES)
    nothing = lambda: k.splat(0)

    def cover() -> Value:
        found = k.var(k.splat(0))
        for s in k.range(0, count):
            here = k.mask_of(k.load(I32, at + FRAGMENTS.COVER + (s << 2)))
            found.value = found.value | k.select(here, k.splat(k.i32(1) << s), 0)
        return found.value

    def covered() -> Value:
        return k.select(k.mask_of(k.load(I32, at + FRAGMENTS.COVERED)), k.splat(1), 0)

    def offset() -> Value:
        return _packed(k, *sample_shift(k, m.place.launch, number))

    def centroid_offset() -> Value:
        return _packed(k, *centroid(m))

    def index() -> Value:
        return k.splat(k.max(k.load(I32, at + FRAGMENTS.SAMPLE), 0))

    ways = [nothing, cover, covered, offset, centroid_offset, index, nothing]
    found = k.switch(step.mods["mode"], ways)
    m.set_register(step.dest, found, mask)
    m.set_result(step, found != 0, mask)


# -- attributes of vertices, patches and invocations -------------------------------------------------------------------
Flag = bool | Value


def _and(a: Flag, b: Flag) -> Flag:
    if isinstance(a, bool):
        return b if a else False
    return (a if b else False) if isinstance(b, bool) else a & b


def _not(a: Flag) -> Flag:
    return not a if isinstance(a, bool) else ~a


def _or(a: Flag, b: Flag) -> Flag:
    return _not(_and(_not(a), _not(b)))


def _is(v: Any, *numbers: int) -> Flag:
    if isinstance(v, int):
        return v in numbers
    return _any_of(v.k, v, numbers)


class _Access:
    """One word of an access to attributes: of inputs, of outputs or of a patch."""

    def __init__(self, m: Machine, step: Step, n: int, writes: bool, mask: Value) -> None:
        self.m, self.k, self.step, self.mask = m, m.k, step, mask
        self.address = step.offset + 4 * n
        self.named, self.vertex = step.sources[0].n != _RZ, step.sources[0]
        self.patch: Flag = step.mods["p"] != 0
        self.known: Flag = step.base == _RZ
        self.of_invocation = _and(self.known, _is(self.address, *OF_INVOCATION))
        # Evaluation programs ask for their coordinates among their outputs.
        asked = step.mods["o"] != 0
        self.outputs: Flag = True if writes else _and(asked, _not(_and(self.of_invocation, _is(m.stage, EVALUATION))))

    @property
    def simple(self) -> Flag:
        """Whether it is one vector: each lane's own column, and the same word for all."""
        stage, named = self.m.stage, self.named
        elsewhere = _or(_and(_is(stage, CONTROL), named), _is(stage, GEOMETRY))
        late = _is(stage, CONTROL, EVALUATION, GEOMETRY)
        by_vertex = _and(late, _and(named, _not(self.of_invocation)))
        moved = _or(_and(self.outputs, elsewhere), _and(_not(self.outputs), by_vertex))
        return _and(self.known, _and(_not(self.patch), _not(moved)))

    def _choose(self, flag: Flag, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        return self.k.branch(flag, then, otherwise)

    def vector(self) -> Value:
        """Where the vector is (scalar), if it is one."""
        k, p = self.k, self.m.place

        def place(table: int, page: int) -> Value:
            address = k.fit(self.address & _WORD, I32, 1)
            return p.of_block(page) + k.load(I32, p.of_launch(table) + address)

        out, into = (lambda: place(LAUNCH.OUT_MAP, BLOCK.OUT_AT)), (lambda: place(LAUNCH.IN_MAP, BLOCK.IN_AT))
        return self._choose(self.outputs, out, into)

    def _offset(self, table: int) -> Value:
        """Where the word is behind the beginning of a column, in lanes."""
        k, at = self.k, self.m.place.of_launch(table)
        known = lambda: k.splat(k.load(I32, at + k.fit(self.address & _WORD, I32, 1)))
        by_lane = lambda: k.gather(I32, at + ((self.m.register(self.step.base) + self.address) & _WORD))
        return self._choose(self.known, known, by_lane)

    def lanes(self) -> Value:
        """Where the word of each lane is; 0 for lanes that are not at work."""
        k, p, m = self.k, self.m.place, self.m
        own = k.iota() << 2
        vertex = lambda: m.word(self.vertex)

        def of_patch() -> Value:
            return k.load(I32, p.of_block(BLOCK.PATCHES_AT), LANES) + self._offset(LAUNCH.PATCH_MAP)

        def of_inputs() -> Value:
            def by_vertex() -> Value:
                good = vertex().below(k.min(p.of_launch(LAUNCH.VERTICES), MOST_VERTICES))
                columns = p.of_block(BLOCK.VERTICES_AT) + own + k.select(good, vertex(), 0) * VECTOR
                return k.select(good, k.gather(I32, columns, self.mask), 0)

            mine = lambda: p.of_block(BLOCK.IN_AT) + own
            late = _and(_is(m.stage, CONTROL, EVALUATION, GEOMETRY), self.named)
            return self._choose(late, by_vertex, mine) + self._offset(LAUNCH.IN_MAP)

        def of_outputs() -> Value:
            at = p.of_block(BLOCK.OUT_AT)
            # Threads of a patch name each other by lane.
            thread = lambda: at + ((vertex() & (LANES - 1)) << 2)
            emitted = lambda: at + own + emitted_by(m) * p.of_launch(LAUNCH.OUT_STRIDE)
            plain = lambda: at + own
            named = lambda: self._choose(_and(_is(m.stage, CONTROL), self.named), thread, plain)
            return self._choose(_is(m.stage, GEOMETRY), emitted, named) + self._offset(LAUNCH.OUT_MAP)

        found = self._choose(self.patch, of_patch, lambda: self._choose(self.outputs, of_outputs, of_inputs))
        return k.select(self.mask, found, 0)


def emitted_by(m: Machine) -> Value:
    """How many vertices each lane has emitted."""
    return m.k.load(I32, m.place.of_block(BLOCK.EMITTED_AT), LANES)


def _writable(m: Machine, patch: Flag, mask: Value) -> Value:
    """The lanes of a mask that may write an output: pixel programs have none, patches are those of control programs,
    and geometry programs have a number of vertices to emit."""
    k = m.k
    allowed = _and(_not(_is(m.stage, NONE, PIXEL)), _or(_not(patch), _is(m.stage, CONTROL)))
    few = lambda: k.ballot(emitted_by(m) < m.place.of_launch(LAUNCH.MOST_EMITTED))
    room = k.branch(_is(m.stage, GEOMETRY), few, lambda: k.i32(-1))
    return mask & k.mask_of(k.branch(allowed, lambda: room, lambda: k.i32(0)))


def above(k: Lang, n: Any, count: int) -> Any:
    """The register `count` behind another; RZ for RZ."""
    if isinstance(n, int):
        return n if n == _RZ else n + count
    return k.select(n == _RZ, _RZ, n + count)


def attribute_load(m: Machine, step: Step, mask: Value) -> None:
    """ALD: words of inputs, of outputs (.O) or of a patch (.P), of the vertex that a register names."""
    k, size = m.k, step.mods["size"]
    for n in range(4):
        for _ in k.when(size >= n):
            access = _Access(m, step, n, False, mask)
            vector = lambda access=access: k.load(I32, access.vector(), LANES)
            gathered = lambda access=access: k.gather(I32, access.lanes())
            m.set_register(above(k, step.dest, n), k.branch(access.simple, vector, gathered), mask)


def attribute_store(m: Machine, step: Step, mask: Value) -> None:
    """AST: words into outputs, or into the patch (.P)."""
    k, size = m.k, step.mods["size"]
    mask = _writable(m, step.mods["p"] != 0, mask)
    for n in range(4):
        for _ in k.when(size >= n):
            access = _Access(m, step, n, True, mask)
            v = m.word(step.sources[1], n)
            vector = lambda access=access, v=v: k.store(I32, access.vector(), v, mask)
            scattered = lambda access=access, v=v: k.scatter(I32, access.lanes(), v, mask)
            k.branch(access.simple, vector, scattered)


def attribute_address(m: Machine, step: Step, mask: Value) -> None:
    """AL2P: a physical address. Here attributes have but one address."""
    k = m.k
    m.set_register(step.dest, m.word(step.sources[0]) + step.offset, mask)
    m.set_result(step, k.fit(False, BOOL, LANES), mask)


def vertex_handle(m: Machine, step: Step, mask: Value) -> None:
    """ISBERD: the name of a vertex of the primitive, which is its number here."""
    m.set_register(step.dest, m.register(step.base), mask)


def emit(m: Machine, step: Step, mask: Value) -> None:
    """OUT: a vertex is complete, or a strip ends with the last one (or both)."""
    k, mods = m.k, step.mods
    stage = _is(m.stage, GEOMETRY)

    def run() -> None:
        at = m.place.of_block(BLOCK.EMITTED_AT)
        own = (k.iota() << 2) + at
        stream = m.word(step.sources[1]) & 3

        def complete() -> None:
            count = emitted_by(m)
            fits = mask & (count < m.place.of_launch(LAUNCH.MOST_EMITTED))
            k.scatter(I32, own + k.select(fits, count + 1, 0) * VECTOR, stream, fits)
            k.store(I32, at, count + 1, fits)

        def cut() -> None:
            count = emitted_by(m)
            some = mask & (count > 0)
            last = own + k.select(some, count, 0) * VECTOR
            k.scatter(I32, last, k.gather(I32, last) | ENDS_STRIP, some)

        for _ in k.when((mods["op"] & 1) != 0):
            complete()
        for _ in k.when((mods["op"] & 2) != 0):
            cut()

    for _ in k.when(stage):
        run()
    m.set_register(step.dest, m.word(step.sources[0]), mask)


INSTRUCTIONS: Mapping[str, Callable[[Machine, Step, Value], None]] = {
    "IPA": interpolate, "KIL": discard, "PIXLD": pixel_load, "ALD": attribute_load, "AST": attribute_store,
    "AL2P": attribute_address, "ISBERD": vertex_handle, "OUT": emit,
}  # fmt: skip
"""By name."""
MODIFIERS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "IPA": (("op", 2), ("sample", 2), ("sat", 1)), "KIL": (), "PIXLD": (("mode", 3),),
    "ALD": (("size", 2), ("o", 1), ("p", 1)), "AST": (("size", 2), ("o", 1), ("p", 1)), "AL2P": (), "ISBERD": (),
    "OUT": (("op", 2),),
}  # fmt: skip
"""What of an instruction matters here, with widths in bits."""


def special_registers(m: Machine) -> Mapping[int, Callable[[], Value]]:
    """Special registers of graphics by number. The scale of w, which no document tells of, is 1."""
    k, p = m.k, m.place
    launch = lambda word: lambda: p.of_launch(word)
    one = lambda: k.i32(0x3F800000)
    return {
        0x10: launch(LAUNCH.PRIMITIVE_TYPE),
        0x11: lambda: k.load(I32, p.of_block(BLOCK.INVOCATIONS_AT), LANES),
        Y_DIRECTION: launch(LAUNCH.Y_DIRECTION),
        0x13: lambda: k.select(k.mask_of(k.branch(_is(m.stage, PIXEL), lambda: k.ballot(helpers(m)), lambda: k.i32(0))),
                               k.splat(-1), 0),
        0x14: launch(LAUNCH.STAGE),
        0x1D: launch(LAUNCH.INVOCATION_INFO),
        0x1E: one,
        0x1F: one,
    }  # fmt: skip
