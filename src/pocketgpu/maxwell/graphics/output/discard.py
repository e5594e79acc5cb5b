"""Removing samples after the pixel program: KIL, its sample mask, the alpha test, alpha to coverage."""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.lanes.comparisons import compare
from pocketgpu.maxwell.formats.words import Number
from pocketgpu.maxwell.graphics.output.keys import (
    COMPARISONS,
    COVERAGE_DITHERED,
    NO_COVERAGE,
    NO_TEST,
    KeyFields,
    each,
    indexed,
)
from pocketgpu.maxwell.graphics.records import FRAGMENTS
from pocketgpu.maxwell.sass.thread_memory.work import LANES, VECTOR

_STEPS = tuple((1, 5, 7, 3)[lane & 3] / 8 for lane in range(LANES))
"""Dither: added to the number of samples before it is truncated, by the position in a quad of pixels."""


def register(k: Lang, fragments: Value, number: Number) -> Value:
    """A register at the end of the pixel program (f32 lanes)."""
    return k.load(F32, indexed(k, k.to_i64(k.load(I32, fragments + FRAGMENTS.OUTPUTS)), number, VECTOR), LANES)


def discard(k: Lang, settings: KeyFields, fragments: Value) -> None:
    """Remove samples from COVER and COVERED.

    Alpha to coverage keeps the first `round(alpha * samples)` samples, or with dithering as many on average over a quad
    of pixels. Source: OpenGL requires a number proportional to alpha; which samples the chip keeps is not documented.
    """
    samples = settings("SAMPLES")
    kept = k.i32(-1)
    killed: Value = k.branch(
        settings("KILLS") != 0, lambda: k.load(I32, fragments + FRAGMENTS.KILLED), lambda: k.i32(0)
    )
    k.probe("discard.killed", killed)
    kept = kept & ~killed
    function, alpha_register = settings("ALPHA_FUNCTION"), settings("ALPHA_REGISTER")

    def alpha_test() -> Value:
        reference = k.bits_f32(settings.word("ALPHA_REFERENCE"))
        alpha = register(k, fragments, alpha_register)
        k.probe("discard.alpha", alpha)
        k.probe("discard.reference", reference)
        return k.ballot(compare(k, COMPARISONS, function, alpha, k.splat(reference)))

    kept = kept & k.branch(function != NO_TEST, alpha_test, lambda: k.i32(-1))
    coverage = settings("TO_COVERAGE")
    given: Callable[[], Value] = lambda: k.load(I32, fragments + FRAGMENTS.SAMPLE_MASK, LANES)
    mask: Value = k.branch(settings("MASKS") != 0, given, lambda: k.splat(-1))

    def count() -> Value:
        alpha = register(k, fragments, alpha_register)
        number = k.f32(float(samples)) if isinstance(samples, int) else k.to_f32(samples)
        half = lambda: k.splat(k.f32(0.5))
        step = k.branch(coverage == COVERAGE_DITHERED, lambda: k.pattern(_STEPS, F32), half)
        return k.to_i32(alpha * number + step, 0, 16)

    some: Value = k.branch(coverage != NO_COVERAGE, count, lambda: k.splat(16))
    k.probe("discard.kept", kept)
    k.probe("discard.mask", mask)
    covered = k.var(0)
    for sample in each(k, samples):
        at = indexed(k, fragments + FRAGMENTS.COVER, sample, 4)
        cover = k.load(I32, at) & kept
        cover = cover & k.ballot(((mask.lsr(sample) & 1) != 0) & (some > sample))
        k.store(I32, at, cover)
        covered.value = covered.value | cover
    k.store(I32, fragments + FRAGMENTS.COVERED, covered.value)
