"""Depth test and its bounds, polygon offset, early tests: which pixels are left, and what the depth target holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from .switch_canvas import BLUE, GREEN, PIXEL, RED, WHITE, YELLOW, Canvas, empty, paint, row

STEP = 2.0**-24
"""Of a depth target of 24 bits, as polygon offset counts."""


def columns(letters: str) -> str:
    """A picture of four columns of two pixels each."""
    return row(f"8 x {''.join(2 * letter for letter in letters)}")


def prepare(s: Canvas, depth: float = 0.5) -> Canvas:
    """Depth tests on; the target holds `depth`."""
    s.pb.clear_depth(depth)
    return s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1, SET_DEPTH_FUNC={"V": "OGL_LESS"})


STAIRS = (0.25, 0.5, 0.75, 1.0)
PASSED = {
    "NEVER": "....", "LESS": "R...", "EQUAL": ".G..", "LEQUAL": "RG..", "GREATER": "..BY", "NOTEQUAL": "R.BY",
    "GEQUAL": ".GBY", "ALWAYS": "RGBY",
}  # fmt: skip
"""Of columns at STAIRS against 0.5."""


# -- the depth test ---------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x4c3")
@pytest.mark.parametrize(
    ("code", "name"),
    [(0x200 + n, name) for n, name in enumerate(PASSED)] + [(1 + n, name) for n, name in enumerate(PASSED)],
)
def test_depth_is_compared_by_functions_in_two_numberings(code: int, name: str) -> None:
    def draw(s: Canvas) -> None:
        prepare(s).set(SET_DEPTH_FUNC=code).bars(RED, GREEN, BLUE, YELLOW, z=STAIRS)

    painted = paint(draw)
    assert painted.picture == columns(PASSED[name])
    stored = [z if letter != "." else 0.5 for z, letter in zip(STAIRS, PASSED[name], strict=True)]
    assert np.allclose(painted.depth[3, ::2], stored, atol=1e-6)


@pytest.mark.row("b197.0x4b3")
@pytest.mark.parametrize(("on", "seen", "stored"), [(1, "R...", (0.25, 0.5)), (0, "RGBY", (0.5, 0.5))])
def test_without_the_test_all_pass_and_nothing_is_stored(on: int, seen: str, stored: Sequence[float]) -> None:
    def draw(s: Canvas) -> None:
        prepare(s).set(SET_DEPTH_TEST=on).bars(RED, GREEN, BLUE, YELLOW, z=STAIRS)

    painted = paint(draw)
    assert painted.picture == columns(seen)
    assert np.allclose(painted.depth[3, 0:4:2], stored, atol=1e-6)


@pytest.mark.row("b197.0x4ba")
@pytest.mark.parametrize(("write", "seen"), [(1, "R"), (0, "G")])
def test_depth_is_stored_if_it_may_be_written(write: int, seen: str) -> None:
    """What comes later and lies between sees the difference."""

    def draw(s: Canvas) -> None:
        prepare(s).set(SET_DEPTH_WRITE=write).rect(RED, z=0.125)
        s.rect(GREEN, z=0.25)

    painted = paint(draw)
    assert painted.picture == row(f"8 x {8 * seen}")
    assert np.allclose(painted.depth, 0.125 if write else 0.5, atol=1e-6)


@pytest.mark.row("b197.0x3f8", "b197.0x3fa")
def test_depth_lies_where_the_target_is_in_its_format() -> None:
    """A second target of 16 bits takes over from the first."""

    def draw(s: Canvas) -> None:
        prepare(s).rect(RED, z=0.25)
        s.show(replace(s.depth_target("Z16", 0.75), name="other"))
        s.rect(GREEN, (0, 0, 8, 4), z=0.5)

    painted = paint(draw)
    assert painted.picture == row("4 x GGGGGGGG", "4 x RRRRRRRR")
    assert np.allclose(painted.depth, 0.25, atol=1e-6)
    words = painted.rows(painted.canvas.surfaces[-1])[:8, :16].copy().view("<u2")
    assert words.tolist() == [[0x8000] * 8] * 4 + [[0xBFFF] * 8] * 4


@pytest.mark.row("b197.0x54e")
def test_without_a_depth_target_nothing_is_tested() -> None:
    def draw(s: Canvas, selected: int) -> None:
        prepare(s).set(SET_ZT_SELECT=selected).bars(RED, GREEN, BLUE, YELLOW, z=STAIRS)

    assert paint(draw, 1).picture == columns("R...")
    painted = paint(draw, 0)
    assert painted.picture == columns("RGBY") and np.allclose(painted.depth, 0.5, atol=1e-6)


@pytest.mark.row("b197.0x3e7", "b197.0x66f")
@pytest.mark.parametrize(
    ("on", "low", "high", "seen"),
    [(0, 0.4, 0.8, "WWWW"), (1, 0.4, 0.8, ".WW."), (1, 0.0, 0.6, "WW.."), (1, 0.6, 1.0, "..WW")],
)
def test_bounds_are_those_of_the_depth_that_is_stored(on: int, low: float, high: float, seen: str) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 1.0).set(SET_CT_WRITE=(0, 0), SET_DEPTH_FUNC={"V": "OGL_ALWAYS"})
        s.bars(RED, RED, RED, RED, z=STAIRS)
        s.set(SET_CT_WRITE=(0, 0x1111), SET_DEPTH_TEST=0, SET_DEPTH_BOUNDS_TEST=on)
        s.pb.method("SET_DEPTH_BOUNDS_MIN", low).method("SET_DEPTH_BOUNDS_MAX", high)
        s.rect(WHITE, z=0.1)

    assert paint(draw).picture == columns(seen)


# -- polygon offset ---------------------------------------------------------------------------------------------------

SHAPES = {"FILL": (0x1B02, 2), "LINE": (0x1B01, 1), "POINT": (0x1B00, 0)}


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("POINT", marks=pytest.mark.row("b197.0x370")),
        pytest.param("LINE", marks=pytest.mark.row("b197.0x371")),
        pytest.param("FILL", marks=pytest.mark.row("b197.0x372")),
    ],
)
@pytest.mark.parametrize("enabled", ["POINT", "LINE", "FILL"])
def test_each_polygon_mode_has_a_switch_for_the_offset(mode: str, enabled: str) -> None:
    def draw(s: Canvas) -> None:
        prepare(s, 1.0).set(SET_FRONT_POLYGON_MODE=SHAPES[mode][0], SET_BACK_POLYGON_MODE=SHAPES[mode][0])
        s.set(**{f"SET_POLY_OFFSET_{enabled}": 1}).set(SET_DEPTH_BIAS=2.0**22)
        s.shape([(1.5, 1.5), (1.5, 5.5), (5.5, 5.5), (5.5, 1.5)], topology="QUADS")

    depth = paint(draw).depth
    assert depth[1, 1] == pytest.approx(0.5 + (2.0**21 * STEP if mode == enabled else 0), abs=1e-6)
    assert depth[0, 0] == 1.0


@pytest.mark.row("b197.0x56f")
@pytest.mark.parametrize("units", [-1024.0, 2.0, 4096.0])
def test_units_of_the_offset_are_half_steps_of_the_depth_format(units: float) -> None:
    def draw(s: Canvas, bias: float) -> None:
        prepare(s, 1.0).set(SET_POLY_OFFSET_FILL=1, SET_DEPTH_BIAS=bias).rect(RED, z=0.25)

    moved = np.round((paint(draw, units).depth - paint(draw, 0.0).depth) / STEP)
    assert (moved == units / 2).all()


def slope(s: Canvas) -> None:
    """Depth grows by 1/16 with each pixel to the right."""
    s.shape([(0, 8, 0.25), (8, 8, 0.75), (8, 0, 0.75), (0, 0, 0.25)], topology="TRIANGLE_FAN")


@pytest.mark.row("b197.0x55b")
@pytest.mark.parametrize("factor", [-1.0, 0.5, 3.0])
def test_the_factor_of_the_offset_counts_slopes(factor: float) -> None:
    def draw(s: Canvas, value: float) -> None:
        slope(prepare(s, 1.0).set(SET_POLY_OFFSET_FILL=1, SET_SLOPE_SCALE_DEPTH_BIAS=value))

    assert np.allclose(paint(draw, factor).depth - paint(draw, 0.0).depth, factor / 16, atol=1e-6)


@pytest.mark.row("b197.0x51f")
@pytest.mark.parametrize(
    ("factor", "limit", "moved"), [(2.0, 0.0, 0.125), (2.0, 0.03125, 0.03125), (-2.0, -0.0625, -0.0625)]
)
def test_the_offset_has_a_limit(factor: float, limit: float, moved: float) -> None:
    """The page has it at 0x51f, where no method is; it is at 0x61f. 0 is no limit."""

    def draw(s: Canvas, value: float) -> None:
        slope(prepare(s, 1.0).set(SET_POLY_OFFSET_FILL=1, SET_SLOPE_SCALE_DEPTH_BIAS=value, SET_DEPTH_BIAS_CLAMP=limit))

    assert np.allclose(paint(draw, factor).depth - paint(draw, 0.0).depth, moved, atol=1e-6)


# -- before or after the program --------------------------------------------------------------------------------------

KILL = PIXEL.replace("EXIT", "FSETP.GT.AND P0, PT, R0, 0.5, PT\n@P0 KIL\nEXIT")
"""Throws away what is red."""


@pytest.mark.row("b197.0x084")
@pytest.mark.parametrize(("early", "stored"), [(0, 0.5), (1, 0.25)])
def test_early_tests_store_depth_of_what_the_program_throws_away(early: int, stored: float) -> None:
    def draw(s: Canvas) -> None:
        s.programs(KILL)
        prepare(s).set(SET_API_MANDATED_EARLY_Z=early).bars(RED, GREEN, z=0.25)

    painted = paint(draw)
    assert painted.picture == columns(".G..")
    assert np.allclose(painted.depth[3, ::2], (stored, 0.25, 0.5, 0.5), atol=1e-6)


@pytest.mark.row("b197.0x084")
@pytest.mark.parametrize(("early", "seen"), [(0, "G"), (1, ".")])
def test_early_tests_do_not_see_depth_that_the_program_gives(early: int, seen: str) -> None:
    """The program's depth is nearer than the triangle's, which is farther than what is stored."""

    def draw(s: Canvas) -> None:
        s.programs(PIXEL.replace("EXIT", "MOV R5, c[0x0][0x0]\nEXIT"), options={"depth": True})
        s.constants(np.array([0.25], np.float32))
        prepare(s).set(SET_API_MANDATED_EARLY_Z=early).rect(GREEN, z=0.75)

    assert paint(draw).picture == (row("8 x GGGGGGGG") if seen == "G" else empty())
