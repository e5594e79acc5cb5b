"""The numbers of a draw's funnel, held to a slow model: pixels of triangles by their centres, inside of a scissor."""

from __future__ import annotations

import random

import pytest
from support.switch_scene import Scene

from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.switch.inspection import SwitchInspection

SIZE, STEPS = 32, 256
Point = tuple[int, int]
"""In 1/256 pixel, y down."""
Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two are not part of it."""
WHOLE: Box = (0, 0, SIZE, SIZE)
SIDES: list[Box] = [
    WHOLE, (9, 0, 32, 32), (0, 9, 32, 32), (0, 0, 9, 32), (0, 0, 32, 9), (15, 15, 16, 16), (7, 5, 21, 30),
]  # fmt: skip


def clip(point: Point) -> tuple[float, ...]:
    """A vertex at a point of the window; the viewport turns y."""
    x, y = (2 * v / (SIZE * STEPS) - 1 for v in point)
    return (x, -y, 0.5, 1.0, 0.0, 0.0)


def covered(corners: list[Point], box: Box) -> set[Point]:
    """Pixels whose centres are inside; of those on an edge, the ones on left and upper edges."""
    (ax, ay), (bx, by), (cx, cy) = corners
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if not area:
        return set()
    turn = corners if area > 0 else [corners[0], corners[2], corners[1]]
    found = set()
    left, top, right, bottom = box
    for py in range(top, bottom):
        for px in range(left, right):
            x, y = px * STEPS + STEPS // 2, py * STEPS + STEPS // 2
            for n in range(3):
                (x0, y0), (x1, y1) = turn[n], turn[(n + 1) % 3]
                a, b = y0 - y1, x1 - x0
                side = a * (x - x0) + b * (y - y0)
                if side < 0 or (side == 0 and not (a > 0 or (a == 0 and b > 0))):
                    break
            else:
                found.add((px, py))
    return found


def looked(triangles: list[list[Point]], box: Box) -> SwitchInspection:
    """Draw 1 has the triangles. Draw 0 has one of no area."""
    left, top, right, bottom = box
    methods = (
        ("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", right << 16 | left),
        ("SET_SCISSOR_VERTICAL(0)", bottom << 16 | top),
    )  # fmt: skip
    corners = [clip((0, 0))] * 3 + [clip(point) for triangle in triangles for point in triangle]
    return Scene(corners=tuple(corners), methods=methods).look()


def ends(run: SwitchInspection, place: str) -> tuple[int, int]:
    """Pixels that shapes cover, and samples that changed."""
    found = run.why(place)
    assert isinstance(found, Funnel) and found.proved
    stages = {stage.name: stage.passed for stage in found.stages}
    return stages["pixels that shapes cover"], stages.get("samples of colour target 0 that changed", 0)


@pytest.mark.parametrize("box", SIDES, ids=str)
def test_pixels_are_those_of_a_slow_model(box: Box) -> None:
    """Of a draw and of each of its primitives, with a scissor on each side."""
    chance = random.Random(str(box))
    size = SIZE * STEPS
    triangles = [[(chance.randrange(size), chance.randrange(size)) for _ in range(3)] for _ in range(4)]
    triangles.append([(0, 0), (size, 0), (0, size)])  # edges on pixel centres and on the target's corners
    run = looked(triangles, box)
    drawn: set[Point] = set()
    total = 0
    for n, triangle in enumerate(triangles, 1):  # t0 has no area
        mine = covered(triangle, box)
        assert ends(run, f"f0/d1/t{n}") == (len(mine), len(mine - drawn)), n
        drawn |= mine
        total += len(mine)
    assert ends(run, "f0/d1") == (total, len(drawn))
