"""Running the program of a stage for one warp: 32 vertices, threads of patches, primitives, or a block of pixels.

The launch record has the handle of the code (`LAUNCH.RUN`), so code that calls stages is the same for all programs.

Before, the caller sets words of the slot (`sass.work.BLOCK`); each thread of the host has one:

=============================  ======================================================================================
vertex                         IN_AT, OUT_AT, NUMBER (for messages: of the first vertex)
tessellation control           VERTICES_AT, INVOCATIONS_AT, PATCHES_AT (written), IN_AT (primitive id), OUT_AT
tessellation evaluation        VERTICES_AT, PATCHES_AT (read), IN_AT (tessellation coordinates, primitive id), OUT_AT
geometry                       VERTICES_AT, INVOCATIONS_AT, IN_AT (primitive id), OUT_AT, EMITTED_AT
pixel                          IN_AT (planes of the primitive), FRAGMENTS, PIXEL_X, PIXEL_Y
=============================  ======================================================================================

The control program's thread in lane n writes vertex n of the page at OUT_AT; the geometry program's lane n its e-th
vertex into lane n of the page e * LAUNCH.OUT_STRIDE after OUT_AT.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, I64, Lang, Value
from pocketgpu.maxwell.graphics.records import FRAGMENTS, MAX_SAMPLES, PAGE_DUMP
from pocketgpu.maxwell.sass.launch import block_runner
from pocketgpu.maxwell.sass.stages.pixels import pixel_centres, sample_shift
from pocketgpu.maxwell.sass.stages.stage import PIXEL
from pocketgpu.maxwell.sass.thread_memory.work import (
    BLOCK,
    DONE,
    ENDLESS,
    LANES,
    LAUNCH,
    LEFT,
    OVER_BUDGET,
    READY,
    REGISTERS,
    VECTOR,
    WAITING,
    WARP,
    WARPS,
)


def whole_quads(covered: Value) -> Value:
    """All lanes of the quads that have any of these (ballots): pixels and the helpers that derivatives need."""
    some = covered | covered.lsr(1) | covered.lsr(2) | covered.lsr(3)
    return (some & 0x11111111) * 15


def run_stage(k: Lang, launch: Value, slot: Value, mask: Value) -> None:
    """Run the stage of a launch record for the lanes of a mask, from its beginning to its end.

    :param launch, slot: arena offsets (scalars, i32): `sass.work.LAUNCH`, and a slot of the thread that calls.
    :param mask: the lanes (a ballot, scalar i32). For pixels it includes helper lanes (`whole_quads`);
        FRAGMENTS.COVERED has the actual pixels.

    If LAUNCH.NEXT names a second vertex program, it runs after the first, on its outputs. Results are in the pages; for
    pixels in FRAGMENTS: OUTPUTS, KILLED (of this run), SAMPLE_MASK, and DEPTH if the program writes it. A warp that
    does not end within its steps sets BLOCK.HUNG, and so does one with which the slot has taken more than
    LAUNCH.BUDGET. Then nothing runs in that slot until HUNG is cleared, and its pixels count as killed. Pixels of lanes
    that were stopped by a fault of the divergence stack count as killed, too.
    """
    pixel = k.load(I32, launch + LAUNCH.STAGE) == PIXEL
    for _ in k.when(pixel):
        _begin_pixels(k, launch, slot)
    following = k.load(I32, launch + LAUNCH.NEXT)
    at, place = k.var(launch), k.var(slot)
    end = k.load(I32, slot + BLOCK.OUT_AT)
    for i in k.range(0, k.select(following != 0, 2, 1)):
        for _ in k.when(following != 0):
            _connect(k, i, launch, slot, end)
            at.value = k.select(i == 0, launch, following)
            place.value = k.select(i == 0, slot, k.load(I32, slot + BLOCK.NEXT_SLOT))
        for _ in k.when(k.load(I32, place.value + BLOCK.HUNG) == 0):
            _run_warp(k, at.value, place.value, mask)
    for _ in k.when(pixel):
        _end_pixels(k, launch, slot)


def _connect(k: Lang, number: Value, launch: Value, slot: Value, end: Value) -> None:
    """Before the first (0) or second of two vertex programs: set up the page between them. end: where the final outputs
    go."""
    between = k.load(I32, slot + BLOCK.BETWEEN)
    for _ in k.when(number == 0):
        for i in k.range(PAGE_DUMP, k.load(I32, launch + LAUNCH.OUT_STRIDE), VECTOR):
            k.store(I32, between + i, k.splat(0))
        k.store(I32, slot + BLOCK.OUT_AT, between)
    for _ in k.when(number != 0):
        other = k.load(I32, slot + BLOCK.NEXT_SLOT)
        k.store(I32, slot + BLOCK.OUT_AT, end)
        k.store(I32, other + BLOCK.IN_AT, between)
        k.store(I32, other + BLOCK.OUT_AT, end)
        k.store(I32, other + BLOCK.NUMBER, k.load(I32, slot + BLOCK.NUMBER))


def _run_warp(k: Lang, launch: Value, slot: Value, mask: Value) -> None:
    of = lambda word: k.load(I32, launch + word)
    record, zero = slot + WARPS, k.i32(0)
    for name, v in (("RESUME", zero), ("DEPTH", zero), ("STARTED", zero), ("RESULT", zero), ("STATE", k.i32(READY))):
        k.store(I32, record + WARP.offsets[name], v)
    k.store(I32, record + WARP.ACTIVE, mask)
    k.store(I32, record + WARP.ALIVE, mask)
    k.store(I64, record + WARP.STEPS, 0)
    for _ in k.when(of(LAUNCH.CLEAR) != 0):
        for i in k.range(0, of(LAUNCH.WARP_STRIDE) - REGISTERS, VECTOR):
            k.store(I32, record + REGISTERS + i, k.splat(0))
        for n in range(7):
            k.store(I32, record + WARP.PREDICATES + 4 * n, 0)
        k.store(I32, record + WARP.PREDICATES + 28, -1)
        for n in range(4):
            k.store(I32, record + WARP.FLAGS + 4 * n, 0)
    state = k.var(READY)
    limit = k.to_i64(of(LAUNCH.SLICE)) * k.to_i64(of(LAUNCH.TURNS))
    steps = k.var(k.i64(0))
    for _ in k.loop(lambda: (state.value == READY) & (steps.value < limit)):
        k.invoke(k.load(I64, launch + LAUNCH.RUN), launch, slot, zero)
        for _ in k.when(k.load(I32, record + WARP.STATE) == LEFT):
            fallback = k.load(I64, launch + LAUNCH.FALLBACK)
            k.store(I32, record + WARP.STATE, k.select(fallback != 0, k.i32(READY), DONE))
            for _ in k.when(fallback != 0):
                k.invoke(fallback, launch, slot, zero)
        for _ in k.when(k.load(I32, record + WARP.STATE) == WAITING):
            block_runner.pass_barrier(k, record)
        state.value = k.load(I32, record + WARP.STATE)
        steps.value = k.load(I64, record + WARP.STEPS)
    total = k.load(I64, slot + BLOCK.STEPS) + steps.value
    k.store(I64, slot + BLOCK.STEPS, total)
    for _ in k.when(total > k.to_i64(of(LAUNCH.BUDGET))):
        k.store(I32, slot + BLOCK.HUNG, OVER_BUDGET)
    for _ in k.when(state.value == READY):
        k.store(I32, slot + BLOCK.HUNG, ENDLESS)


def _begin_pixels(k: Lang, launch: Value, slot: Value) -> None:
    fragments = k.load(I32, slot + BLOCK.FRAGMENTS)
    where = k.load(I32, fragments + FRAGMENTS.X) | (k.load(I32, fragments + FRAGMENTS.Y) << 16)
    k.store(I32, slot + BLOCK.NUMBER, where)
    k.store(I32, fragments + FRAGMENTS.KILLED, 0)
    k.store(I32, fragments + FRAGMENTS.OUTPUTS, slot + (WARPS + REGISTERS))
    sample = k.load(I32, fragments + FRAGMENTS.SAMPLE)
    x, y = pixel_centres(k, slot)
    shift_x, shift_y = sample_shift(k, launch, k.max(sample, 0))
    per_sample = sample >= 0
    k.store(F32, slot + BLOCK.CENTRE_X, x + k.select(per_sample, shift_x, 0.0))
    k.store(F32, slot + BLOCK.CENTRE_Y, y + k.select(per_sample, shift_y, 0.0))


def _end_pixels(k: Lang, launch: Value, slot: Value) -> None:
    fragments, record = k.load(I32, slot + BLOCK.FRAGMENTS), slot + WARPS
    mask_at, depth_at = k.load(I32, launch + LAUNCH.MASK_AT), k.load(I32, launch + LAUNCH.DEPTH_AT)
    given = k.load(I32, record + mask_at, LANES)
    k.store(I32, fragments + FRAGMENTS.SAMPLE_MASK, k.select(mask_at != 0, given, k.splat(-1)))
    sample, count = k.load(I32, fragments + FRAGMENTS.SAMPLE), k.load(I32, fragments + FRAGMENTS.SAMPLES)
    for _ in k.when(depth_at != 0):
        depth = k.load(F32, record + depth_at, LANES)
        first = k.clamp(sample, 0, MAX_SAMPLES - 1)
        for s in k.range(first, k.select(sample < 0, k.clamp(count, 1, MAX_SAMPLES), first + 1)):
            k.store(F32, fragments + FRAGMENTS.DEPTH + s * VECTOR, depth)
    # Lanes that were stopped by a fault have no outputs.
    stopped = k.select(k.load(I32, slot + BLOCK.HUNG) != 0, -1, k.load(I32, record + WARP.ALIVE))
    k.store(I32, fragments + FRAGMENTS.KILLED, k.load(I32, fragments + FRAGMENTS.KILLED) | stopped)
