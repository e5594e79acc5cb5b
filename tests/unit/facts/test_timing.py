"""Durations, by the sentences beside them."""

from __future__ import annotations

import pytest

from pocketgpu.facts import timing


def test_durations() -> None:
    assert timing.FRAME_CYCLES == 4_481_136 and timing.FAST_PIXEL_DIVIDER * 2 == timing.PIXEL_DIVIDER
    assert round(timing.CPU_CLOCK / timing.FRAME_CYCLES, 4) == 59.8312
    assert [timing.FILL.cost(count) for count in (0, 7, 8, 16, 160)] == [0, 0, 1, 2, 20]
    assert [timing.FRAGMENT.cost(count) for count in (3, 4, 7, 4000)] == [0, 1, 1, 1000]
    # 450 MiB take a second, and a pair of words 22 ns.
    assert timing.TRANSFER.cost(450 << 20) == pytest.approx(timing.CPU_CLOCK, abs=1)
    assert timing.TRANSFER_VRAM.cost(3100 << 20) == pytest.approx(timing.CPU_CLOCK, abs=1)
    assert timing.TRANSFER_VRAM_ONLY.cost(5400 << 20) == pytest.approx(timing.CPU_CLOCK, abs=1)
    assert timing.COMMAND.cost(2_000_000) == int(timing.CPU_CLOCK * 0.022)
    assert timing.TRIANGLE.cost(1_000_000) == pytest.approx(0.4 * timing.CPU_CLOCK, abs=1)
