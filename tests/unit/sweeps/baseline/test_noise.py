"""The band of noise: what is noise stays inside, what is not does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sweeps import Made

from pocketgpu.sweeps.baseline.compare import compare
from pocketgpu.sweeps.baseline.noise import FEWEST, LEAST, Band, band_of

POSITIVE = st.floats(1e-4, 1e5, allow_nan=False)


def outside(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which captures are outside of the band."""
    band = band_of(list(before), list(after))
    assert band.factors is not None
    ratio = after / before / band.common
    factors = np.array(band.factors)
    return (ratio > factors) | (ratio < 1 / factors)


def noisy(random: np.random.Generator, count: int, tails: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Times of two sweeps of the same captures: short ones are noisier."""
    true = np.exp(random.uniform(np.log(0.05), np.log(200), count))
    spread = 0.01 + 0.002 / true
    draw = (lambda: random.standard_t(tails, count)) if tails else (lambda: random.standard_normal(count))
    return true * np.exp(spread * draw()), true * np.exp(spread * draw())


@pytest.mark.parametrize("count", [8, 40, 300, 2000])
def test_noise_stays_inside(count: int) -> None:
    random = np.random.default_rng(count)
    wrong = [int(outside(*noisy(random, count)).sum()) for _ in range(60)]
    # Meant is one sweep of twenty: 3 of 60, and with luck twice as many.
    assert sum(one > 0 for one in wrong) <= 8 and sum(wrong) <= 12


def test_long_tails_widen_the_band() -> None:
    random = np.random.default_rng(5)
    wrong = [outside(*noisy(random, 500, tails=4)).mean() for _ in range(20)]
    assert np.mean(wrong) < 0.01


def test_changes_are_found_and_named() -> None:
    random = np.random.default_rng(1)
    before, after = noisy(random, 400)
    long = np.flatnonzero(before > 1)  # a short one has noise of the same size
    slow, fast = long[:10], long[10:15]
    after[slow] *= 1.6
    after[fast] /= 1.6
    found = np.flatnonzero(outside(before, after))
    assert set(found) >= {*slow, *fast} and len(found) <= 17


def test_a_slower_machine_is_no_change_of_a_capture() -> None:
    before, after = noisy(np.random.default_rng(2), 300)
    band = band_of(list(before), list(after * 1.37))
    assert band.common == pytest.approx(1.37, rel=0.01)
    assert outside(before, after * 1.37).sum() <= 1


def test_few_captures_do_not_tell() -> None:
    assert band_of([], []) == Band(1.0, None)
    assert band_of([1.0] * (FEWEST - 1), [2.0] * (FEWEST - 1)) == Band(1.0, None)
    assert band_of([1.0] * FEWEST, [2.0] * FEWEST) == Band(2.0, (LEAST,) * FEWEST)


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=FEWEST, max_size=80))
def test_the_band_is_sound_for_any_times(pairs: list[tuple[float, float]]) -> None:
    before, after = (np.array(side) for side in zip(*pairs, strict=True))
    band = band_of(list(before), list(after))
    assert band.factors is not None and len(band.factors) == len(pairs)
    assert all(LEAST <= one < float("inf") for one in band.factors)
    back = band_of(list(after), list(before))
    assert back.common * band.common == pytest.approx(1.0, rel=1e-6)
    assert back.factors == pytest.approx(band.factors, rel=1e-6)  # either side may be the baseline
    assert not outside(before, before * 3).any()


@pytest.mark.parametrize("work", ["bench", "render"])
def test_times_of_sweeps(tmp_path: Path, work: str) -> None:
    old, new = Made(tmp_path / "a", work), Made(tmp_path / "b", work)
    for index in range(30):
        frames = [1.0 + index, 2.0]
        old.add(f"c{index:02}", frames=frames)
        new.add(f"c{index:02}", frames=[one * (3 if index in (4, 5) else 1.001) for one in frames], first=index == 5)
    old.add("fewer", frames=[1.0])
    new.add("fewer", frames=[1.0, 1.0])
    new.add("none", frames=[])
    old.add("none", frames=[])
    found = compare(new.done(), old.done())
    slower = [one.capture for one in found.matched if "time" in one.kinds]
    # The first task of a process also compiles; only bench has a pass for that.
    assert slower == (["c04", "c05"] if work == "bench" else ["c04"]) and not found.failed
    assert found.timed == (30 if work == "bench" else 29)
    assert found.counts["time"] == len(slower) and "times outside of the noise" in str(found)
    assert all(len(line) <= 80 for line in found.lines())
