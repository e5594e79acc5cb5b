"""What the funnel of a draw says is held to counts by hand: random rectangles whose fate the test has planted."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.inspect.model.inspection import Inspection

SIDE = 32
PROGRAM = ".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend"
COMPARE = {
    "never": lambda a, b: a != a, "always": lambda a, b: a == a, "equal": np.equal, "not equal": np.not_equal,
    "less": np.less, "less or equal": np.less_equal, "greater": np.greater, "greater or equal": np.greater_equal,
}  # fmt: skip
Box = tuple[int, int, int, int]


def corners(box: Box, primitive: str, turned: bool) -> list[tuple[int, int]]:
    """Corners of a rectangle (left, bottom, width, height) as two triangles; counter-clockwise unless turned."""
    x, y, width, height = box
    a, b, c, d = (x, y), (x + width, y), (x + width, y + height), (x, y + height)
    found = {"triangles": [a, b, c, a, c, d], "triangle strip": [a, b, d, c], "triangle fan": [a, b, c, d]}[primitive]
    if turned:
        mirrored = {a: a, b: d, c: c, d: b}
        found = [mirrored[corner] for corner in found]
    return found


def rectangle(cl: CommandList, box: Box, z: float, primitive: str = "triangles", turned: bool = False) -> None:
    half = SIDE / 2
    cl.draw_immediate(
        [[(a / half - 1, b / half - 1, z, 1), (1, 1, 1, 1)] for a, b in corners(box, primitive, turned)], primitive
    )


def inside(box: Box) -> np.ndarray:
    """(SIDE, SIDE) bool: pixels of a rectangle, row 0 at the bottom."""
    x, y, width, height = box
    found = np.zeros((SIDE, SIDE), bool)
    found[y : y + height, x : x + width] = True
    return found


def scene(folder: Path, format: str, draws: Callable[[CommandList], None]) -> Inspection:
    capture = CaptureBuilder()
    target, depth = (capture.allocate(SIDE * SIDE * 4, region="VRAM") for _ in range(2))
    cl = CommandList().plain_state().render_target(target, SIDE, SIDE, depth=depth, depth_format=format)
    draws(cl.shader(assemble(PROGRAM)))
    capture.clear(target, SIDE, SIDE).fill(depth, depth + SIDE * SIDE * 4, 0)
    capture.submit(cl.end_drawing()).end_frame()
    capture.save(folder / "scene.ctf")
    return pocketgpu.debug(folder / "scene.ctf")


def planted(
    half: Box | None, keeps: Box, cull: str, function: str | None, rectangles: list[tuple[Box, float, str, bool]]
) -> Callable[[CommandList], None]:
    """Draws: a rectangle of depth 0.5 alone, if wanted; then rectangles under a scissor, culling and a depth test."""
    x, y, width, height = keeps

    def draws(cl: CommandList) -> None:
        if half is not None:
            rectangle(cl.depth("always", colors=""), half, -0.5)
        cl.scissor(x, y, x + width - 1, y + height - 1)
        cl.write("FACECULLING_CONFIG", mode=cull).depth(function, write=False)
        for one in rectangles:
            rectangle(cl, *one)

    return draws


def box_of(rng: random.Random) -> Box:
    x, y = rng.randrange(SIDE - 2), rng.randrange(SIDE - 2)
    return x, y, rng.randint(1, SIDE - x), rng.randint(1, SIDE - y)


@pytest.mark.parametrize("format", ["D16", "D24", "D24S8"])
@pytest.mark.parametrize("primitive", ["triangles", "triangle strip", "triangle fan"])
def test_each_stage_counts_what_was_planted(tmp_path: Path, primitive: str, format: str) -> None:
    """Equality at each stage: culling, the scissor, depth against two planted depths, changed bytes."""
    rng = random.Random(f"{primitive} {format}")
    for _ in range(6):
        half, box, scissor = box_of(rng), box_of(rng), box_of(rng)
        function, turned = rng.choice(sorted(COMPARE)), rng.random() < 0.5
        cull = rng.choice(["none", "front (counter-clockwise)", "back (clockwise)"])
        z = rng.choice([0.25, 0.5, 0.75])

        draws = planted(half, scissor, cull, function, [(box, -z, primitive, turned)] * 2)
        run = scene(tmp_path, format, draws)
        stored = np.where(inside(half), 0.5, 0.0)
        covered = inside(box) & inside(scissor)
        passed = covered & COMPARE[function](np.full((SIDE, SIDE), z), stored)
        culled = cull != "none" and turned == cull.startswith("back")
        for draw, changed in ((1, int(passed.sum())), (2, 0)):
            found = run.why(f"f0/d{draw}", every=True)
            stages = {stage.name: (stage.came, stage.passed) for stage in found.stages}
            said = (format, primitive, half, box, scissor, function, turned, cull, z, str(found))
            assert stages["triangles"] == (2, 0 if culled else 2), said
            if culled:
                assert found.because.startswith("no triangles left: 2 of 2 are culled"), said
                assert ("clockwise on the screen" in found.because) and cull in found.because, said
                continue
            assert stages.get("fragments", (0, 0)) == (int(covered.sum()), int(passed.sum())), said
            if passed.any():
                assert stages["colours"] == (int(passed.sum()), changed), said
            elif covered.any():
                assert f"DEPTH_COLOR_MASK.depth_function {function}" in found.because, said
            assert found.proved and not found.depths, said


def test_a_draw_without_pixels_names_the_side_of_the_scissor(tmp_path: Path) -> None:
    """A scissor on each side of a rectangle, and one that shares a row or a column with it."""
    box = (12, 12, 8, 8)
    beside = [(0, 12, 12, 8), (20, 12, 12, 8), (12, 0, 8, 12), (12, 20, 8, 12)]
    touching = [(0, 12, 13, 8), (19, 12, 12, 8), (12, 0, 8, 13), (12, 19, 8, 12)]
    for keeps, count in (*((one, 0) for one in beside), *((one, 8) for one in touching)):
        x, y, width, height = keeps

        draws = planted(None, keeps, "none", None, [(box, -0.5, "triangles", False)])
        found = scene(tmp_path, "D24S8", draws).why("f0/d0", every=True)
        stages = {stage.name: stage.passed for stage in found.stages}
        assert stages.get("colours", 0) == count, (keeps, str(found))
        if not count:
            assert f"the scissor, which keeps {x}, {y} to {x + width - 1}, {y + height - 1}" in found.because, keeps


def test_the_values_that_a_test_compared_are_those_of_the_format(tmp_path: Path) -> None:
    """Depth as a fraction of the largest value of each format."""

    def draws(cl: CommandList) -> None:
        rectangle(cl.depth("always", colors=""), (0, 0, SIDE, SIDE), -0.75)
        rectangle(cl.depth("greater"), (4, 4, 8, 8), -0.25)

    for format in ("D16", "D24", "D24S8"):
        found = scene(tmp_path, format, draws).why("f0/d1")
        assert "their depth is 0.25, the buffer has 0.75" in found.because, (format, found.because)
