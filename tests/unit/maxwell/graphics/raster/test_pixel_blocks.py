"""The way of a block: tests before or after the program, sample shading, smooth edges, dropping what nobody sees."""

from __future__ import annotations

import numpy as np
import pytest
from support.raster_side import HEIGHT, WIDTH, Raster, clip_of, registers

SAMPLE, COVERED, COVERS, RUNS = 0, 1, slice(2, 6), 6
EVERYTHING = {0x70: clip_of([[0, 0], [2 * WIDTH, 0], [0, 2 * HEIGHT]])}
BLOCKS = WIDTH // 8 * (HEIGHT // 4)
FOUR = {"SET_ANTI_ALIAS__SAMPLES": 2, "SET_ANTI_ALIAS_ENABLE": 1} | {
    f"SET_ANTI_ALIAS_SAMPLE_POSITIONS__{axis}{s}": v
    for s, at in enumerate([(6, 2), (14, 6), (2, 10), (10, 14)])
    for axis, v in zip("XY", at, strict=True)
}


@pytest.fixture(scope="module")
def raster() -> Raster:
    return Raster()


def test_blocks_go_through_test_program_and_write(raster: Raster) -> None:
    """`log` sees each block twice; the program has run for it at the second, or at both."""
    for early in (0, 1):
        words = {"PROGRAM": 1, "EARLY": early}
        raster.draw(registers(), EVERYTHING, [[0, 1, 2]], words=words, logs=("TEST", "WRITE"))
        blocks = raster.calls.blocks
        assert len(blocks) == 2 * BLOCKS
        assert (blocks[:, COVERED] == -1).all() and (blocks[:, SAMPLE] == -1).all()
        runs = blocks[early:, RUNS] if early else blocks[:, RUNS]
        last = np.arange(BLOCKS) + 1
        if early:  # the test sees what the block before left
            np.testing.assert_array_equal(runs[::2], last)
        else:
            np.testing.assert_array_equal(runs, np.repeat(last, 2))


def test_nothing_runs_where_nothing_is_covered(raster: Raster) -> None:
    at = {0x70: clip_of([[0, 0], [WIDTH, HEIGHT - 2], [WIDTH, HEIGHT]])}
    raster.draw(registers(), at, [[0, 1, 2]], words={"PROGRAM": 1}, logs=("WRITE",))
    blocks = raster.calls.blocks
    assert (blocks[:, COVERED] != 0).all()
    assert len(blocks) < 2 * (WIDTH // 8 + HEIGHT // 4)
    assert blocks[-1, RUNS] == len(blocks)


@pytest.mark.parametrize("passes", [1, 2, 4])
def test_sample_shading_runs_the_program_for_each_part_of_the_samples(raster: Raster, passes: int) -> None:
    state = registers(SET_HYBRID_ANTI_ALIAS_CONTROL=passes, **FOUR)
    raster.draw(state, EVERYTHING, [[0, 1, 2]], words={"PROGRAM": 1}, logs=("WRITE",))
    blocks = raster.calls.blocks.reshape(BLOCKS, passes, 7)
    each = 4 // passes
    for n in range(passes):
        wanted = [-1 if n * each <= s < (n + 1) * each else 0 for s in range(4)]
        assert (blocks[:, n, COVERS] == wanted).all()
        assert (blocks[:, n, SAMPLE] == (n * each if passes > 1 else -1)).all()
    np.testing.assert_array_equal(blocks[:, :, RUNS].reshape(-1), np.arange(BLOCKS * passes) + 1)


def test_smooth_lines_fade_in_alpha(raster: Raster) -> None:
    """Alpha adds up to the area of the line; it is whole in its middle and nothing outside."""
    a, b = np.array([9.3, 7.2]), np.array([51.8, 38.6])
    length = np.hypot(*(b - a))
    for width in (1.0, 2.5, 7.0):
        state = registers(SET_ANTI_ALIASED_LINE=1, SET_LINE_WIDTH_FLOAT=width)
        words = {"PROGRAM": 1, "ALPHAS": 1 << 3}
        raster.draw(state, {0x70: clip_of([a, b])}, [[0, 1]], words=words, logs=("WRITE",))
        alpha = raster.calls.alpha
        assert abs(alpha.sum() - length * width) < 0.02 * length * width
        rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
        along = ((columns - a[0]) * (b - a)[0] + (rows - a[1]) * (b - a)[1]) / length
        across = ((rows - a[1]) * (b - a)[0] - (columns - a[0]) * (b - a)[1]) / length
        beyond = (np.abs(across) > width / 2 + 0.51) | (along < -0.51) | (along > length + 0.51)
        assert (alpha[beyond] == 0).all()
        inside = (np.abs(across) < width / 2 - 0.51) & (along > 0.51) & (along < length - 0.51)
        assert (alpha[inside] == 1).all()


def test_smooth_points_are_discs(raster: Raster) -> None:
    state = registers(SET_ANTI_ALIASED_POINT=1, SET_POINT_SIZE=15.0)
    words = {"PROGRAM": 1, "ALPHAS": 1 << 3}
    raster.draw(state, {0x70: clip_of([[30.3, 20.7]])}, [[0]], words=words, logs=("WRITE",))
    alpha = raster.calls.alpha
    assert abs(alpha.sum() - np.pi * 7.5**2) < 1
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    distance = np.hypot(columns - 30.3, rows - 20.7)
    assert (alpha[distance > 8.01] == 0).all() and (alpha[distance < 6.99] == 1).all()


def test_registers_without_alpha_do_not_fade(raster: Raster) -> None:
    state = registers(SET_ANTI_ALIASED_POINT=1, SET_POINT_SIZE=15.0)
    raster.draw(state, {0x70: clip_of([[30.3, 20.7]])}, [[0]], words={"PROGRAM": 1}, logs=("WRITE",))
    assert set(np.unique(raster.calls.alpha)) == {0.0, 1.0}
