"""The primitive of a pixel and its vertices: held to the vertices of the draw, which the machine shaded."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.maxwell.engines.threed import topology

SIDE = 64
PROGRAM = ".out o0, position\n.out o1, color\n.proc main\nmov o0, v0\nmov o1, v1\nend\n.endproc\n"
PIECE = 4096
"""A strip of more vertices is assembled in several pieces."""


def placed(vertices: Any, triangle: int) -> np.ndarray:
    """The corners (3, 2) of a triangle in pixels of the target."""
    positions = vertices.shaded["position"][vertices.triangles[triangle]].astype(np.float64)
    at = positions @ vertices.window.T
    return at[:, :2] / at[:, 2:]


def covers(corners: np.ndarray, x: int, y: int) -> bool:
    """Whether a triangle covers the centre of a pixel, or nearly."""
    a, b, c = corners
    point = np.array([x + 0.5, y + 0.5])
    sides = []
    for one, other in ((a, b), (b, c), (c, a)):
        edge, to = other - one, point - one
        sides.append((edge[0] * to[1] - edge[1] * to[0]) / max(float(np.hypot(*edge)), 1e-9))
    return min(sides) > -0.1 or max(sides) < 0.1


def pixels(run: Inspection, draw: str, rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Some pixels of triangles that are drawn."""
    vertices = run.seek(draw).vertices
    assert vertices.fates is not None and vertices.window is not None
    drawn = [n for n in range(len(vertices.triangles)) if vertices.fates[n].verdict == "drawn"]
    found = []
    for triangle in rng.sample(drawn, min(count, len(drawn))):
        corners = placed(vertices, triangle)
        found += [(int(x), int(y)) for x, y in (corners.mean(axis=0), corners[:2].mean(axis=0))]  # an edge: as lines
    return found


def check(run: Inspection, draw: str, rng: random.Random, count: int = 4) -> int:
    """The primitives of some pixels; how many there were."""
    asked = 0
    for x, y in pixels(run, draw, rng, count):
        try:
            found = run.primitive(f"{draw}/px{x},{y}")
        except UsageError:  # beside the target
            continue
        if found is None:
            continue
        vertices = run.seek(draw).vertices
        number = found.address.primitive
        mine = np.flatnonzero(vertices.fates.numbers == number)
        assert len(mine), (draw, x, y, found)
        assert any(covers(placed(vertices, n), x, y) for n in mine.tolist()), (draw, x, y, found)
        for corner in found.corners:
            assert vertices.numbers[corner.address.vertex] == corner.number
        if vertices.emitted is None:
            named = {int(vertices.numbers[place]) for place in vertices.triangles[mine].ravel()}
            assert {corner.number for corner in found.corners} == named
        assert run.primitive(found.address).to_json() == found.to_json()
        answer = run.why(f"{draw}/px{x},{y}")
        text = answer.text()
        last = next(one for one in reversed(answer.touches) if str(one.event.address) == draw)
        fragment = last.writer or last.fragments[-1]
        assert fragment.primitive == number and fragment.origin == found
        if found.corners:
            assert found.said in text and str(found.corners[0].address) in text
            assert answer.to_json()["events"][-1]["fragments"][-1]["vertices"][0]["address"].startswith(f"{draw}/v")
        # What ran can be stepped through, and is offered.
        assert [str(one.address) for one in found.runs] == [
            str(one.address) for one in run.programs_at(f"{draw}/px{x},{y}") if not one.parts
        ]
        for one in found.runs:
            assert len(run.trace(one.address, most=2))
        asked += 1
    return asked


@pytest.mark.parametrize("console", ["3ds", "switch"])
def test_pixels_of_the_samples(console: str, sample_path: Path) -> None:
    path = sample_path if console == "3ds" else sample_path.with_name("sample_switch.mxcap.zip")
    run, rng = pocketgpu.debug(str(path)), random.Random(7)
    draws = [str(draw.address) for draw in run.draws(0)]
    assert sum(check(run, draw, rng, 1) for draw in rng.sample(draws, 4)) > 2


@pytest.mark.parametrize("name", [
    "3ds/geoshader.ctf.xz", "3ds/loop_subdivision.ctf.xz", "3ds/textured_cube.ctf.xz", "3ds/immediate.ctf.xz",
    "switch/mesa_indexed_320x180.mxcap.zip", "switch/ex05_tessellation_320x180.mxcap.zip",
    "switch/gl_textured_cube_320x180.mxcap.zip",
])  # fmt: skip
def test_pixels_of_recordings(name: str, shared_dir: Path) -> None:
    """With geometry programs and tessellation, indices, and several frames."""
    run, rng = pocketgpu.debug(str(shared_dir / "captures" / name)), random.Random(name)
    frame = next(frame for frame in range(run.frame_count) if run.draws(frame))
    assert sum(check(run, str(draw.address), rng) for draw in run.draws(frame)[:3])


class Continued(CommandList):
    """Draws that go on with the primitives of the draw before, once `restarts` is False."""

    restarts = True

    def _begin(self, primitive: str) -> None:
        if self.restarts:
            super()._begin(primitive)


def scene(folder: Path, draws: Callable[[Continued], None]) -> Inspection:
    capture = CaptureBuilder()
    target = capture.allocate(SIDE * SIDE * 4, region="VRAM")
    cl = Continued().plain_state().render_target(target, SIDE, SIDE)
    draws(cl.shader(assemble(PROGRAM)))
    capture.clear(target, SIDE, SIDE)
    capture.submit(cl.end_drawing()).end_frame()
    capture.save(folder / "scene.ctf")
    return pocketgpu.debug(folder / "scene.ctf")


def corner(x: float, y: float) -> list[tuple[float, ...]]:
    """A vertex at a place of the target, in pixels."""
    return [(2 * x / SIDE - 1, 2 * y / SIDE - 1, -0.5, 1), (1, 1, 1, 1)]


def of(run: Inspection, pixel: str) -> tuple[str, list[int | None]]:
    found = run.primitive(pixel)
    assert found is not None
    return str(found.address), [one.address.vertex for one in found.corners]


@pytest.mark.parametrize("primitive", ["triangle strip", "triangles", "triangle fan"])
def test_primitives_that_an_earlier_draw_began(tmp_path: Path, primitive: str) -> None:
    """The second draw has one vertex; the others of its triangle are of the draw before."""
    points = {
        "triangle strip": [(0, 0), (0, 64), (32, 0), (32, 64), (64, 32)],
        "triangles": [(0, 0), (0, 1), (1, 0), (32, 0), (32, 64), (64, 32)],
        "triangle fan": [(32, 0), (0, 0), (0, 64), (32, 64), (64, 32)],
    }[primitive]

    def draws(cl: Continued) -> None:
        cl.draw_immediate([corner(*point) for point in points[:-1]], primitive)
        cl.restarts = False
        cl.draw_immediate([corner(*points[-1])], primitive)

    run = scene(tmp_path, draws)
    # Its first primitive is the second draw's whole one; only the last vertex is its own.
    assert of(run, "f0/d1/px40,32") == ("f0/d1/t0", [0])
    if primitive == "triangles":
        return
    kept = [1, 2, 3] if primitive == "triangle strip" else [0, 2, 3]
    assert of(run, "f0/d0/px24,40") == ("f0/d0/t1", kept)
    with pytest.raises(UsageError, match="the draw has no primitive 2"):
        run.primitive("f0/d0/t2")


def test_a_strip_of_several_pieces(tmp_path: Path) -> None:
    """Numbers go on from piece to piece. The strip goes to and fro, and its last triangle lies over the others."""
    rows = [corner(x % 60, 10 + 8 * (x & 1)) for x in range(PIECE + 700)]
    rows += [corner(2, 30), corner(2, 60), corner(40, 30)]
    run = scene(tmp_path, lambda cl: cl.draw_immediate(rows, "triangle strip"))
    count = len(rows)
    assert of(run, "f0/d0/px6,40") == (f"f0/d0/t{count - 3}", [count - 3, count - 2, count - 1])


@pytest.mark.parametrize("name", [*topology.begin_names().values()])
@pytest.mark.parametrize("vertices", [0, 1, 2, 3, 5, 8, 13, 24])
def test_corners_of_topologies(name: str, vertices: int) -> None:
    """Every primitive has vertices of the run, as many as its kind; together they reach the last one that is used."""
    number = next(code for code, known in topology.begin_names().items() if known == name)
    patch = 4
    total = topology.primitives(number, vertices, patch)
    found = [topology.corners(number, vertices, patch, n) for n in range(total)]
    size = {"POINTS": 1, "PATCH": patch, "POLYGON": vertices}.get(
        name, 2 if "LINE" in name else 4 if name.startswith("QUAD") else 3
    )
    assert all(len(set(one)) == size and min(one) >= 0 and max(one) < vertices for one in found)
    if name in ("TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN", "LINES", "POINTS", "LINE_STRIP", "LINE_LOOP"):
        used = {place for one in found for place in one}
        assert used == set(range(max(used, default=-1) + 1))
    assert len({tuple(one) for one in found}) == total
