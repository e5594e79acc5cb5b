"""Which line and pixel of which framebuffer each line and pixel of a screen shows, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.pica.pdc import display_mode
from pocketgpu.pica.pdc.scan import NOWHERE, ScanPlan, scan_plan


def plan(screen: str = "top", choices: dict[str, str] | None = None, **words: int) -> ScanPlan:
    return scan_plan(display_mode(screen, words, choices))


def lines(found: ScanPlan, count: int, low: int = 2) -> list[tuple[int, int, int]]:
    """(line of the screen, framebuffer, its line) of the picture's first lines."""
    parts = (found.panel, found.buffer, found.source)
    return list(zip(*(part[low : low + count].tolist() for part in parts), strict=True))


@pytest.mark.parametrize(
    ("line_mode", "interleave", "expected"),
    [
        (0, "same", [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]), (1, "same", [(0, 0), (0, 0), (0, 1), (0, 1), (0, 2)]),
        (2, "same", [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]), (3, "same", [(1, 0), (0, 0), (1, 1), (0, 1), (1, 2)]),
        (2, "skip", [(0, 0), (1, 1), (0, 2), (1, 3), (0, 4)]), (1, "skip", [(0, 0), (0, 0), (0, 1), (0, 1), (0, 2)]),
    ],
)  # fmt: skip
def test_line_modes(line_mode: int, interleave: str, expected: list[tuple[int, int]]) -> None:
    """The lines of one framebuffer, each of them twice, or those of both in turns."""
    choices = {"display.interleave": "skip"} if interleave == "skip" else None
    found = plan(choices=choices, FORMAT=0x80340 | line_mode << 4)
    assert lines(found, 5) == [(number, *place) for number, place in enumerate(expected)]


def test_the_usual_picture_fills_the_screen() -> None:
    for screen, low, height in (("top", 2, 400), ("bottom", 82, 320)):
        found = plan(screen)
        shown = np.arange(414)
        inside = (shown >= low) & (shown < low + height)
        assert (found.panel == np.where(inside, shown - low, NOWHERE)).all()
        assert (found.buffer == np.where(inside, 0, NOWHERE)).all() and (found.source[inside] == shown[:height]).all()
        assert found.pixel.tolist() == list(range(240)) and (found.first_pixel, found.pixels) == (0, 240)


def test_vstart_moves_the_picture() -> None:
    assert lines(plan(VSTART=1), 2) == [(0, 0, 1), (1, 0, 2)]
    assert [line[:2] for line in lines(plan(VSTART=4), 3)] == [(0, NOWHERE), (1, NOWHERE), (2, 0)]
    assert lines(plan(VSTART=4), 4)[2:] == [(2, 0, 0), (3, 0, 1)]
    assert lines(plan(VSTART=453), 2) == [(0, 0, 3), (1, 0, 4)]


def test_an_early_blank_repeats_two_lines() -> None:
    found = lines(plan(VBLANK=302), 304)
    assert found[297:304] == [(297 + n, 0, line) for n, line in enumerate((297, 298, 299, 298, 299, 298, 299))]


def test_hstart_moves_the_picture_to_the_side() -> None:
    found = plan(HSTART=219)
    assert found.pixel.tolist() == [NOWHERE] * 10 + list(range(230)) and (found.first_pixel, found.pixels) == (0, 230)
    narrow = plan(SIZE=100 | 400 << 16)
    assert narrow.pixel.tolist() == [*range(100), *[NOWHERE] * 140] and (narrow.first_pixel, narrow.pixels) == (0, 100)


def test_the_bottom_screen_may_double_its_pixels() -> None:
    found = plan("bottom", FORMAT=0x80340)
    assert found.pixel.tolist() == [n // 2 for n in range(240)] and (found.first_pixel, found.pixels) == (0, 120)
