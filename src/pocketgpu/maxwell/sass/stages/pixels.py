"""Instructions of pixel programs: interpolation, samples and coverage, discarding pixels.

Sources: drivers' compilers and simulators agree on the meaning of operands. Offsets of samples are two signed halves in
1/4096 pixel, as compilers scale them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.lanes import BOOL, F32, I32, Lang, Type, Value
from pocketgpu.maxwell.graphics.records import FRAGMENTS, LANE_X, LANE_Y, MAX_SAMPLES, PLANE
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.semantics import float32
from pocketgpu.maxwell.sass.stages.stage import OF_PRIMITIVE, PIXEL, WORD_MASK, any_of
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.steps import Step
    from pocketgpu.maxwell.sass.warp.warp_machine import WarpMachine

PASS, MUL, CONSTANT, SC = range(4)
"""Kinds of interpolation: of a value, of one that is multiplied with w, none, what the shade mode says."""
OFFSET_UNIT = 1.0 / 4096
"""Pixels of one step of an offset."""


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


def fragments_of(m: WarpMachine) -> Value:
    """The record of the block of pixels; 0 in other stages."""
    return m.place.of_block(BLOCK.FRAGMENTS)


def helpers(m: WarpMachine) -> Value:
    """Helper pixels, as a mask: lanes that are not covered, or were discarded."""
    k, at = m.k, fragments_of(m)
    return k.mask_of(~k.load(I32, at + FRAGMENTS.COVERED) | k.load(I32, at + FRAGMENTS.KILLED))


def with_effect(m: WarpMachine, mask: Value) -> Value:
    """The lanes of a mask whose stores and atomics have an effect: helper pixels have none."""
    k = m.k
    if isinstance(m.stage, int):
        return mask & ~helpers(m) if m.stage == PIXEL else mask
    return mask & k.mask_of(k.branch(m.stage == PIXEL, lambda: k.ballot(~helpers(m)), lambda: k.i32(-1)))


def centroid(m: WarpMachine) -> tuple[Value, Value]:
    """The distance from the centre of each pixel to its centroid.

    The centroid is the centre if the pixel is covered as a whole or not at all, else its first covered sample.
    """
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


def _position(m: WarpMachine, step: Step) -> tuple[Value, Value]:
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


def interpolate(m: WarpMachine, step: Step, mask: Value) -> None:
    """IPA: an input of a pixel program.

    PASS interpolates, MUL multiplies with a register (w) as well, CONSTANT takes the provoking vertex, SC does what the
    shade mode says.
    """
    k, p, mods = m.k, m.place, step.mods
    place_of, planes = p.of_launch(LAUNCH.IN_MAP), p.of_block(BLOCK.IN_AT)

    def by_address(address: Value | int) -> Value:
        """Where the plane is: a scalar, or lanes."""
        at = place_of + (address & WORD_MASK)
        return planes + (k.load(I32, at) if at.lanes == 1 else k.gather(I32, at))

    def read(plane: Value, name: str, type: Type = F32) -> Value:
        at = plane + PLANE.offsets[name]
        return k.splat(k.load(type, at)) if plane.lanes == 1 else k.gather(type, at)

    def linear(plane: Value) -> Value:
        x, y = _position(m, step)
        return k.fma(read(plane, "DX"), x, k.fma(read(plane, "DY"), y, read(plane, "C")))

    def evaluate(plane: Value, whole: Value | bool) -> Value:
        flat = lambda: read(plane, "FLAT", I32)

        def passed() -> Value:
            return float32.canonical(linear(plane))

        def times_w() -> Value:
            return float32.canonical(linear(plane) * k.bits_f32(m.word(step.sources[0])))

        def shaded() -> Value:
            # If the instruction names a register for w, the plane was divided by w.
            n = step.sources[0].n
            smooth = lambda: k.branch(n == RZ, passed, times_w)
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
        return evaluate(by_address(address), k.fit(any_of(address, OF_PRIMITIVE), BOOL, LANES))

    def at_register() -> Value:
        address = m.register(step.base) + step.offset
        return evaluate(by_address(address), any_of(address & WORD_MASK, OF_PRIMITIVE))

    address = step.offset
    if isinstance(address, int) and address not in OF_PRIMITIVE and (step.base, mods["sat"]) == (RZ, 0):
        # NaNs become canonical where their bits matter, which is rarely the case.
        if mods["op"] == PASS:
            m.set_float(step.dest, linear(by_address(address)), mask)
            return
        if mods["op"] == MUL:
            (w,) = m.operand(step.sources[0], "f")
            m.set_float(step.dest, linear(by_address(address)) * w, mask)
            return
    m.set_register(step.dest, k.branch(step.base == RZ, at_offset, at_register), mask)


def discard(m: WarpMachine, step: Step, mask: Value) -> None:
    """KIL: lanes go on as helpers. It does nothing if the header says that no pixel is killed."""
    k = m.k
    pixel = k.fit(m.stage == PIXEL, BOOL, 1)
    for _ in k.when(pixel & (m.place.of_launch(LAUNCH.KILLS) != 0)):
        at = fragments_of(m) + FRAGMENTS.KILLED
        k.store(I32, at, k.load(I32, at) | k.ballot(mask))


def pixel_load(m: WarpMachine, step: Step, mask: Value) -> None:
    """PIXLD: which samples are covered, where samples are, which sample is shaded."""
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
