"""Several samples of a pixel: where they lie, which are covered, and how often the program runs for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .switch_canvas import BLUE, PIXEL, RED, WHITE, Canvas, paint

FOUR = {"samples": "MODE_2X2", "side": 4, "depth_format": None}
"""Four samples at (6, 2), (14, 6), (2, 10), (10, 14), in sixteenths of a pixel; stored 2 x 2 beside each other."""


def samples(function: Any, *args: Any, **options: Any) -> list[list[str]]:
    """Four letters, one for each sample, for each pixel."""
    lines = paint(function, *args, canvas={**FOUR, **options}).picture.split()
    return [
        [lines[y][x : x + 2] + lines[y + 1][x : x + 2] for x in range(0, len(lines), 2)]
        for y in range(0, len(lines), 2)
    ]


def pixels(letters: str) -> list[list[str]]:
    """The same four samples all over the target."""
    return [[letters] * 4] * 4


@pytest.mark.row("b197.0x54d", "b197.0x574")
@pytest.mark.parametrize(("enabled", "edge"), [(1, ".R.R"), (0, "RRRR")])
def test_samples_are_covered_one_by_one_if_multisampling_is_on(enabled: int, edge: str) -> None:
    """The rectangle's left edge goes through the middle of a column, its right edge through that of another."""

    def draw(s: Canvas) -> None:
        s.set(SET_ANTI_ALIAS_ENABLE=enabled).rect(RED, (0.5, 0, 2.5, 4))

    end = "R.R." if enabled else "...."
    assert samples(draw) == [[edge, "RRRR", end, "...."]] * 4


@pytest.mark.row("b197.0x574")
@pytest.mark.parametrize(
    ("mode", "across", "down"), [("MODE_2X1", 2, 1), ("MODE_2X2", 2, 2), ("MODE_4X2", 4, 2), ("MODE_4X4", 4, 4)]
)
def test_the_mode_says_how_many_samples_a_pixel_has(mode: str, across: int, down: int) -> None:
    """A pixel in the middle of the target and nothing else."""

    def draw(s: Canvas) -> None:
        s.rect(RED, (1, 2, 2, 3))

    lit = paint(draw, canvas={**FOUR, "samples": mode}).rgba()[..., 0] == 1
    assert lit.shape == (4 * down, 4 * across) and lit.sum() == across * down
    assert lit[2 * down : 3 * down, across : 2 * across].all()


@pytest.mark.parametrize("number", [
    pytest.param(n, marks=pytest.mark.row("b197.0x478")) for n in range(4)
])  # fmt: skip
def test_samples_lie_where_registers_say(number: int) -> None:
    """One of four is moved to the left of the edge, or to its right."""

    def draw(s: Canvas, x: int) -> None:
        places = {f"X{n}": x if n == number else 12 for n in range(4)} | dict.fromkeys(("Y0", "Y1", "Y2", "Y3"), 8)
        s.set(SET_ANTI_ALIAS_SAMPLE_POSITIONS=(0, places)).rect(RED, (0.5, 0, 1, 4))

    moved = "".join("." if n == number else "R" for n in range(4))
    assert samples(draw, 12) == [["RRRR", "....", "....", "...."]] * 4
    assert samples(draw, 4) == [[moved, "....", "....", "...."]] * 4


@pytest.mark.row("b197.0x478")
def test_all_sixteen_samples_have_their_place() -> None:
    """In four registers; sample n is the only one above an edge. Samples are stored in quads of quads."""

    def draw(s: Canvas, number: int) -> None:
        for n in range(4):
            ys = {f"Y{i}": 2 if 4 * n + i == number else 12 for i in range(4)}
            s.set(SET_ANTI_ALIAS_SAMPLE_POSITIONS=(n, ys | dict.fromkeys(("X0", "X1", "X2", "X3"), 8)))
        s.rect(RED, (0, 0, 1, 0.5))

    for number in (0, 3, 6, 9, 15):
        lit = paint(draw, number, canvas={**FOUR, "samples": "MODE_4X4"}).rgba()[..., 0] == 1
        x, y = (number >> n & 1 | number >> n + 1 & 2 for n in range(2))
        assert np.argwhere(lit).tolist() == [[y, x]]


@pytest.mark.parametrize(
    ("word", "x", "y"),
    [
        pytest.param("X0_Y0", 0, 0, marks=pytest.mark.row("b197.0x3ef")),
        pytest.param("X1_Y0", 1, 0, marks=pytest.mark.row("b197.0x3f0")),
        pytest.param("X0_Y1", 0, 1, marks=pytest.mark.row("b197.0x3f1")),
        pytest.param("X1_Y1", 1, 1, marks=pytest.mark.row("b197.0x3f2")),
    ],
)
def test_each_pixel_of_a_quad_has_a_mask_of_samples(word: str, x: int, y: int) -> None:
    def draw(s: Canvas, mask: int) -> None:
        s.set(**{f"SET_SAMPLE_MASK_{word}": mask}).rect(RED)

    assert samples(draw, 0xFFFF) == pixels("RRRR")
    found = samples(draw, 0b0110)
    for row in range(4):
        for column in range(4):
            mine = (column & 1, row & 1) == (x, y)
            assert found[row][column] == (".RR." if mine else "RRRR")


# -- alpha ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x54f")
@pytest.mark.parametrize(("alpha", "count"), [(0.0, 0), (0.25, 1), (0.5, 2), (0.75, 3), (1.0, 4)])
def test_alpha_can_be_how_many_samples_are_covered(alpha: float, count: int) -> None:
    def draw(s: Canvas, on: int) -> None:
        s.set(SET_ANTI_ALIAS_ALPHA_CONTROL={"ALPHA_TO_COVERAGE": on}).rect((1, 0, 0, alpha))

    assert samples(draw, 0) == pixels("RRRR")
    assert {cell.count("R") for line in samples(draw, 1) for cell in line} == {count}


@pytest.mark.row("b197.0x54f")
@pytest.mark.parametrize(("on", "alpha"), [(0, 0.25), (1, 1.0)])
def test_alpha_can_be_one(on: int, alpha: float) -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_ANTI_ALIAS_ALPHA_CONTROL={"ALPHA_TO_ONE": on}).rect((1, 0, 0, 0.25))

    found = paint(draw, canvas={**FOUR, "format": "RF32_GF32_BF32_AF32"}).rgba()
    assert (found == (1, 0, 0, alpha)).all()


@pytest.mark.row("b197.0x4b8")
def test_dithered_coverage_differs_from_pixel_to_pixel() -> None:
    """Between one sample and two: all pixels alike without it, some of each with it."""

    def draw(s: Canvas, footprint: int) -> None:
        s.set(SET_ANTI_ALIAS_ALPHA_CONTROL={"ALPHA_TO_COVERAGE": 1})
        s.set(SET_ALPHA_TO_COVERAGE_DITHER_CONTROL={"DITHER_FOOTPRINT": footprint}).rect((1, 0, 0, 0.375))

    plain, dithered = ([cell.count("R") for line in samples(draw, n) for cell in line] for n in (0, 1))
    assert len(set(plain)) == 1
    assert set(dithered) == {1, 2} and sum(dithered) == 1.5 * 16


# -- the program for each sample --------------------------------------------------------------------------------------

BY_SAMPLE = PIXEL.replace("EXIT", "PIXLD.MY_INDEX R4, [RZ]\nI2F.F32.U32 R4, R4\nFMUL R0, R4, 0.25\nEXIT")


@pytest.mark.row("b197.0x1d5")
@pytest.mark.parametrize(
    ("passes", "extended", "indices"), [(1, 0, {0.0}), (2, 0, {0.0, 0.5}), (4, 0, {0.0, 0.25, 0.5, 0.75})]
)
def test_the_program_can_run_for_each_sample(passes: int, extended: int, indices: set[float]) -> None:
    """Each run tells the number of its sample."""

    def draw(s: Canvas) -> None:
        s.programs(BY_SAMPLE)
        s.set(SET_HYBRID_ANTI_ALIAS_CONTROL={"PASSES": passes, "PASSES_EXTENDED": extended}).rect(WHITE)

    found = paint(draw, canvas={**FOUR, "format": "RF32_GF32_BF32_AF32"}).rgba()[..., 0]
    for y in range(0, 8, 2):
        for x in range(0, 8, 2):
            assert set(found[y : y + 2, x : x + 2].ravel().tolist()) == indices


@pytest.mark.row("b197.0x1d5")
def test_sixteen_passes_need_the_further_bit() -> None:
    def draw(s: Canvas) -> None:
        s.programs(BY_SAMPLE.replace("0.25", "0.0625"))
        s.set(SET_HYBRID_ANTI_ALIAS_CONTROL={"PASSES": 0, "PASSES_EXTENDED": 1}).rect(WHITE)

    options = {**FOUR, "samples": "MODE_4X4", "format": "RF32_GF32_BF32_AF32"}
    found = paint(draw, canvas=options).rgba()[..., 0]
    assert sorted(found[4:8, 4:8].ravel().tolist()) == [n / 16 for n in range(16)]


# -- what no picture shows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("UNORM8", marks=pytest.mark.row("b197.0x433")),
        pytest.param("UNORM10", marks=pytest.mark.row("b197.0x438")),
        pytest.param("UNORM16", marks=pytest.mark.row("b197.0x439")),
        pytest.param("FP16", marks=pytest.mark.row("b197.0x43b")),
        pytest.param("SRGB8", marks=pytest.mark.row("b197.0x43c")),
    ],
)
def test_thresholds_of_compression_take_no_sample_away(kind: str) -> None:
    """They decide when samples that are alike are stored once; targets here always hold all of them."""

    def draw(s: Canvas, value: int) -> None:
        s.set(**{f"SET_REDUCE_COLOR_THRESHOLDS_{kind}": {"ALL_COVERED_ALL_HIT_ONCE": value, "ALL_COVERED": value}})
        s.set(SET_REDUCE_COLOR_THRESHOLDS_ENABLE=1).rect((1, 1, 1, 1))
        s.rect((254 / 255, 1, 1, 1), (0.5, 0, 4, 4))

    least, most = (paint(draw, value, canvas=FOUR).rgba() for value in (0, 0xFF))
    assert (least == most).all() and len(np.unique(most[:, :2, 0])) == 2


INTEGER = PIXEL.replace("EXIT", "MOV32I R0, 0x63\nEXIT")


@pytest.mark.row("b197.0x47e")
@pytest.mark.parametrize(("slot", "edge", "inside"), [(None, 0x63, 0x63), (1, 0x63, 0x63), (0, 0b1010, 0b1111)])
@pytest.mark.parametrize(("tier", "evaluator"), [("general", "llvm"), ("specialised", "llvm"), ("general", "numpy")])
def test_coverage_can_replace_what_goes_to_a_target(
    slot: int | None, edge: int, inside: int, tier: str, evaluator: str
) -> None:
    """The samples that are left after all tests, a bit each; only those are written. On the edge the first and third
    are not covered; in the lower half a test lets none of the others pass but the fourth."""

    def draw(s: Canvas) -> None:
        s.programs(INTEGER)
        if slot is not None:
            s.set(SET_COVERAGE_TO_COLOR={"ENABLE": 1, "CT_SELECT": slot})
        s.set(SET_SAMPLE_MASK_X0_Y1=8, SET_SAMPLE_MASK_X1_Y1=8).rect(RED, (0.5, 0, 4, 4))

    painted = paint(draw, canvas={**FOUR, "format": "RU8"}, tier=tier, evaluator=evaluator)
    found = painted.rows(painted.canvas.color)[:8, :8]
    assert found[0:2, 0:2].tolist() == [[0, edge], [0, edge]]
    assert found[0:2, 2:4].tolist() == [[inside, inside]] * 2
    assert found[2:4, 2:4].tolist() == [[0, 0], [0, 0x63 if inside == 0x63 else 8]]


@pytest.mark.row("b197.0x47e")
def test_coverage_as_a_colour_that_is_no_integer_is_told_of() -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_COVERAGE_TO_COLOR={"ENABLE": 1, "CT_SELECT": 0}).rect(BLUE)

    painted = paint(draw, canvas=FOUR)
    assert painted.events == ("draw.coverage",) and painted.picture == " ".join(["BBBBBBBB"] * 8)


@pytest.mark.row("b197.0x3ed", note="pixels=later")
def test_raster_with_more_samples_than_the_target_is_told_of() -> None:
    def draw(s: Canvas, mode: str) -> None:
        s.set(SET_TIR={"MODE": mode}).rect(BLUE)

    plain, asked = (paint(draw, mode, canvas=FOUR) for mode in ("DISABLED", "RASTER_N_TARGET_M"))
    assert plain.events == () and asked.events == ("draw.left_out",)
    assert plain.picture == asked.picture
