"""From vertices to pixels: primitives, clipping, viewport, coverage, interpolation, scissor.

Sources: 3dbrew GPU/Internal Registers ("Rasterizer registers"); GBATEK for culling. Sub-pixel precision (1/16) and the
fill rule are those of the public software models.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

LISTS, STRIP, FAN = 0, 1, 2
ADDING = 0x01010000  # blend: source * 1 + target * 1, for colour and (shifted) alpha


def at(points: Any, z: float = -0.5, w: float = 1.0) -> np.ndarray:
    """Clip positions of 2D points."""
    points = np.asarray(points, np.float32)
    return np.concatenate([points * w, np.tile([z * w, w], (len(points), 1))], axis=1).astype(np.float32)


def count_layers(gpu: Any) -> None:
    """Every draw adds one to each channel it covers."""
    gpu.set(COLOR_OPERATION=0x00E40100, BLEND_FUNC=0x11110000)


def layers(gpu: Any) -> np.ndarray:
    return gpu.pixels()[..., 0]


ONE = (1 / 255,) * 4


# -- coverage ---------------------------------------------------------------------------------------------------------


def inside(points: Any, x: int, y: int) -> bool:
    """The fill rule in exact numbers: points in pixels, already at sixteenths; sample at the centre, y up.

    A pixel whose centre lies on an edge belongs to the triangle if that is a left edge, or a lower horizontal one.
    """
    p = [(Fraction(a), Fraction(b)) for a, b in points]
    area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1])
    if area == 0:
        return False
    if area < 0:
        p = [p[0], p[2], p[1]]
    sample = (Fraction(2 * x + 1, 2), Fraction(2 * y + 1, 2))
    for i in range(3):
        (ax, ay), (bx, by) = p[i], p[(i + 1) % 3]
        side = (bx - ax) * (sample[1] - ay) - (by - ay) * (sample[0] - ax)
        left_or_lower = by < ay or (by == ay and bx > ax)
        if side < 0 or (side == 0 and not left_or_lower):
            return False
    return True


def sixteenths(points: np.ndarray, width: int, height: int) -> list[tuple[Fraction, Fraction]]:
    """Window coordinates as the rasteriser sees them."""
    half = np.float32([width / 2, height / 2])
    window = (points.astype(np.float32) + np.float32(1)) * half
    return [(Fraction(int(np.floor(x * 16 + 0.5)), 16), Fraction(int(np.floor(y * 16 + 0.5)), 16)) for x, y in window]


def reference(points: np.ndarray, width: int, height: int) -> np.ndarray:
    """Coverage of one triangle, computed pixel by pixel."""
    p = sixteenths(points, width, height)
    return np.array([[inside(p, x, y) for x in range(width)] for y in range(height)])


@pytest.mark.parametrize("seed", range(6))
def test_coverage_matches_exact_arithmetic(make_gpu: Callable[..., Any], seed: int) -> None:
    random = np.random.default_rng(seed)
    gpu = make_gpu(16, 24)
    for trial in range(12):
        points = random.uniform(-1, 1, (3, 2))
        if trial % 3 == 0:  # corners and edges that run through pixel centres
            points = (random.integers(-16, 16, (3, 2)) + trial % 2) / 16
        gpu.put_color(np.zeros((24, 16), np.uint32))
        gpu.draw(at(points))
        gpu.run()
        expected = reference(points, 16, 24)
        assert (gpu.covered() == expected).all(), points.tolist()


def mesh(random: np.random.Generator, cells: int, jitter: float, step: float) -> tuple[np.ndarray, list[int]]:
    """A square net of triangles over [-1, 1]: the outline stays straight, inner points move; diagonals at random."""
    lines = np.linspace(-1, 1, cells + 1)
    x, y = np.meshgrid(lines, lines)
    move = random.uniform(-jitter, jitter, (2, cells + 1, cells + 1)) / cells
    move[0][:, [0, -1]] = move[1][[0, -1], :] = 0
    points = np.stack([x + move[0], y + move[1]], axis=-1).reshape(-1, 2)
    if step:
        points = np.round(points / step) * step
    indices: list[int] = []
    for j in range(cells):
        for i in range(cells):
            a = j * (cells + 1) + i
            b, c, d = a + 1, a + cells + 1, a + cells + 2
            quads = [(a, b, c), (b, d, c)] if random.random() < 0.5 else [(a, b, d), (a, d, c)]
            for t in quads:
                indices += t if random.random() < 0.5 else (t[0], t[2], t[1])
    return points, indices


@pytest.mark.parametrize(
    ("cells", "jitter", "step"),
    [(3, 0.45, 0), (5, 0.45, 0), (8, 0.35, 1 / 32), (8, 0.35, 1 / 64), (40, 0.3, 0), (64, 0.0, 0)],
)
def test_mesh_covers_every_pixel_exactly_once(
    make_gpu: Callable[..., Any], cells: int, jitter: float, step: float
) -> None:
    """Both windings, edges through pixel centres, triangles smaller than a pixel."""
    random = np.random.default_rng(cells * 1000 + int(100 * jitter))
    gpu = make_gpu(64, 64)
    count_layers(gpu)
    points, indices = mesh(random, cells, jitter, step)
    gpu.draw(at(points), color=ONE, indices=indices)
    gpu.run()
    assert (layers(gpu) == 1).all()
    assert gpu.n3ds.stats.fragments == 64 * 64


def test_mesh_that_is_clipped_covers_every_pixel_exactly_once(make_gpu: Callable[..., Any]) -> None:
    """Reaching past all four borders, with and without perspective: neighbours are cut at the same points."""
    gpu = make_gpu(64, 64)
    count_layers(gpu)
    for seed in range(30):
        random = np.random.default_rng(seed)
        points, indices = mesh(random, 6, 0.4, 0)
        points *= random.uniform(1.05, 2.5)
        w = random.uniform(0.5, 3, (len(points), 1)) if seed % 2 else np.ones((len(points), 1))
        gpu.put_color(np.zeros((64, 64), np.uint32))
        gpu.draw(np.concatenate([points * w, -0.5 * w, w], axis=1), color=ONE, indices=indices)
        gpu.run()
        assert (layers(gpu) == 1).all(), seed


@pytest.mark.parametrize("corners", [3, 7, 32, 200])
def test_fan_of_a_convex_polygon_covers_its_pixels_once(make_gpu: Callable[..., Any], corners: int) -> None:
    gpu = make_gpu(64, 64)
    count_layers(gpu)
    angles = np.sort(np.random.default_rng(corners).uniform(0, 2 * np.pi, corners))
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) * 0.95
    gpu.draw(at(ring), mode=FAN, color=ONE)
    gpu.run()
    assert set(np.unique(layers(gpu)).tolist()) <= {0, 1}
    y, x = np.mgrid[:64, :64]
    centre = np.stack([x + 0.5, y + 0.5], axis=-1) / 32 - 1
    nxt = np.roll(ring, -1, axis=0)
    cross = [
        (b[0] - a[0]) * (centre[..., 1] - a[1]) - (b[1] - a[1]) * (centre[..., 0] - a[0])
        for a, b in zip(ring, nxt, strict=True)
    ]
    lengths = np.linalg.norm(nxt - ring, axis=1)
    distance = np.min([c / max(n, 1e-9) for c, n in zip(cross, lengths, strict=True)], axis=0)
    assert (layers(gpu)[distance > 0.005] == 1).all()
    assert (layers(gpu)[distance < -0.005] == 0).all()


def test_left_and_lower_edges_belong_to_a_rectangle(gpu: Any) -> None:
    """From pixel centre (4, 4) to (8, 8): columns and rows 4 to 7."""
    edge = lambda v: (v + 0.5) / 8 - 1  # noqa: E731
    gpu.quad((edge(4), edge(4), edge(8), edge(8)))
    gpu.run()
    expected = np.zeros((16, 16), bool)
    expected[4:8, 4:8] = True
    assert (gpu.covered() == expected).all()


@pytest.mark.parametrize("mirror", [False, True])
def test_mirrored_target_keeps_the_fill_rule(make_gpu: Callable[..., Any], mirror: bool) -> None:
    """With FRAMEBUFFER_DIM bit 24 off the picture is stored upside down, pixel for pixel the same."""
    points = np.random.default_rng(3).integers(-16, 17, (30, 2)) / 16 + 1 / 16
    usual, other = make_gpu(), make_gpu()
    other.target(16, 16, flip=0)
    for gpu in (usual, other):
        gpu.draw(at(points), np.random.default_rng(5).integers(0, 256, (30, 4)) / 255)
        gpu.run()
    assert usual.covered().any()
    assert (usual.color_words() == other.color_words()[::-1]).all()


def test_degenerate_triangles_draw_nothing(gpu: Any) -> None:
    same, line = [(0, 0)] * 3, [(-1, -1), (0, 0), (1, 1)]
    tiny = [(0.001, 0.001), (0.002, 0.001), (0.001, 0.002)]
    gpu.draw(at([*same, *line, *tiny]))
    gpu.run()
    assert not gpu.covered().any()
    assert gpu.n3ds.stats.fragments == 0


def test_pixels_are_stored_in_tiles_from_the_top_row(make_gpu: Callable[..., Any]) -> None:
    """8x8 Morton tiles; window y = 0 is the last row of memory; opaque red is FF 00 00 FF."""
    gpu = make_gpu(16, 24)
    for x, y, place in (
        (0, 23, 0),
        (1, 23, 1),
        (0, 22, 2),
        (7, 16, 63),
        (8, 23, 64),
        (0, 15, 128),
        (0, 0, 256 + 42),
        (15, 0, 320 + 63),
    ):
        gpu.memory.write(0x18000000, bytes(16 * 24 * 4))
        edge = lambda v, size: v / size * 2 - 1  # noqa: E731
        gpu.quad((edge(x, 16), edge(y, 24), edge(x + 1, 16), edge(y + 1, 24)), color=(1, 0, 0, 1))
        gpu.run()
        data = np.frombuffer(gpu.memory.read(0x18000000, 16 * 24 * 4), np.uint8).reshape(-1, 4)
        assert data.any(axis=1).nonzero()[0].tolist() == [place]
        assert data[place].tolist() == [0xFF, 0, 0, 0xFF]
    gpu.quad(color=(1, 0, 0, 128 / 255))
    gpu.run()
    assert gpu.memory.read(0x18000000, 4) == b"\x80\x00\x00\xff"


def test_height_field_is_minus_one(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(240, 400)
    assert gpu.list[1::2].count(0x000F011E) == 1
    at_ = gpu.list.index(0x000F011E, 1)
    assert gpu.list[at_ - 1] == 240 | 399 << 12 | 1 << 24
    gpu.quad()
    gpu.run()
    assert gpu.covered().all()
    assert gpu.memory.read(0x18000000 + 240 * 400 * 4, 64) == bytes(64)


# -- culling and primitives -------------------------------------------------------------------------------------------

CCW = [(-0.5, -0.5), (0.5, -0.5), (0, 0.5)]


@pytest.mark.parametrize(
    ("mode", "front", "back"), [(0, True, True), (1, False, True), (2, True, False), (3, True, True)]
)
@pytest.mark.parametrize("flip", [0, 1])
def test_culling_modes(gpu: Any, mode: int, front: bool, back: bool, flip: int) -> None:
    """1 drops counter-clockwise triangles (y up), 2 clockwise ones, whichever way the target is stored."""
    gpu.target(16, 16, flip=flip)
    gpu.set(FACECULLING_CONFIG=mode)
    for points, expected in ((CCW, front), (CCW[::-1], back), ([CCW[1], CCW[2], CCW[0]], front)):
        gpu.put_color(np.zeros((16, 16), np.uint32))
        gpu.draw(at(points))
        gpu.run()
        assert gpu.covered().any() == expected


@pytest.mark.parametrize("count", [3, 4, 5, 9, 30])
def test_strips_turn_every_second_triangle_round(gpu: Any, count: int) -> None:
    """A ribbon with culling on: nothing is missing, and all of it with the other winding."""
    x = np.repeat(np.linspace(-1, 1, (count + 1) // 2), 2)[:count]
    y = np.tile([1.0, -1.0], count)[:count]
    ribbon = at(np.stack([x, y], axis=1))
    gpu.set(FACECULLING_CONFIG=2)
    gpu.draw(ribbon, mode=STRIP)
    gpu.run()
    drawn = gpu.covered()
    gpu.put_color(np.zeros((16, 16), np.uint32))
    gpu.set(FACECULLING_CONFIG=1)
    gpu.draw(ribbon, mode=STRIP)
    gpu.run()
    assert drawn.any()
    assert not gpu.covered().any()


@pytest.mark.parametrize("mode", [LISTS, STRIP, FAN, 3])
@pytest.mark.parametrize("cull", [0, 1, 2])
def test_primitive_modes_equal_lists_of_their_triangles(make_gpu: Callable[..., Any], mode: int, cull: int) -> None:
    n = 23
    random = np.random.default_rng(17)
    position, color = at(random.uniform(-1, 1, (n, 2))), random.uniform(0, 1, (n, 4))
    triangles = {
        LISTS: [(i, i + 1, i + 2) for i in range(0, n - 2, 3)], 3: [(i, i + 1, i + 2) for i in range(0, n - 2, 3)],
        STRIP: [(i + 1, i, i + 2) if i % 2 else (i, i + 1, i + 2) for i in range(n - 2)],
        FAN: [(0, i, i + 1) for i in range(1, n - 1)],
    }[mode]  # fmt: skip
    order = np.array(triangles).ravel()
    one, other = make_gpu(), make_gpu()
    for gpu in (one, other):
        gpu.set(FACECULLING_CONFIG=cull)
    one.draw(position, color, mode=mode)
    other.draw(position[order], color[order])
    one.run()
    other.run()
    assert one.covered().any()
    assert (one.color_words() == other.color_words()).all()


@pytest.mark.parametrize("mode", [LISTS, STRIP, FAN])
@pytest.mark.parametrize("pieces", [(1, 22), (2, 21), (3, 20), (1, 1, 1, 20), (4, 4, 4, 11), (10, 1, 12), (7, 7, 9)])
def test_unfinished_primitives_go_on_in_the_next_draw(
    make_gpu: Callable[..., Any], mode: int, pieces: tuple[int, ...]
) -> None:
    """Vertices stay in the assembler across draws (and lists) until a restart: culling shows the strip's turns too."""
    n = 23
    random = np.random.default_rng(7)
    position, color = at(random.uniform(-1, 1, (n, 2))), random.integers(0, 256, (n, 4)) / 255
    whole, parts = make_gpu(), make_gpu()
    for gpu in (whole, parts):
        gpu.set(FACECULLING_CONFIG=2)
    whole.draw(position, color, mode=mode)
    whole.run()
    first = 0
    for number, count in enumerate(pieces):
        if number == 0:
            parts.draw(position[:count], color[:count], mode=mode)
        else:
            parts.attributes(position[first : first + count], color[first : first + count], *[np.zeros((count, 4))] * 2)
            parts.launch(count)
        if number == 1:
            parts.run()
        first += count
    parts.run()
    assert whole.covered().any()
    assert (whole.color_words() == parts.color_words()).all()


@pytest.mark.parametrize("name", ["RESTART_PRIMITIVE", "PRIMITIVE_CONFIG"])
def test_restart_forgets_unfinished_primitives(gpu: Any, name: str) -> None:
    gpu.draw(at([(-1, -1), (1, -1)]))
    gpu.write(name, 3)
    gpu.attributes(at([(0, 1), (-1, 1)]), *[np.ones((2, 4))] * 3)
    gpu.launch(2)
    gpu.run()
    assert not gpu.covered().any()
    gpu.attributes(at([(1, 0)]), *[np.ones((1, 4))] * 3)
    gpu.launch(1)
    gpu.run()
    assert gpu.covered().any()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_vertices_draw_nothing(gpu: Any, count: int) -> None:
    for mode in (LISTS, STRIP, FAN):
        gpu.draw(at([(-1, -1), (3, -1), (-1, 3)]), mode=mode)
        gpu.write("RESTART_PRIMITIVE", 1)
        words = gpu.list
        where = max(i for i, w in enumerate(words) if w == 0x000F022E)
        gpu.list = words[: where - 1]
        gpu.set(RESTART_PRIMITIVE=1, NUMVERTICES=count, DRAWARRAYS=1)
        gpu.run()
    assert not gpu.covered().any()


def test_later_triangles_of_a_draw_lie_over_earlier_ones(gpu: Any) -> None:
    full = [(-1, -1), (3, -1), (-1, 3)]
    gpu.draw(at(full * 3), color=np.repeat([(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)], 3, axis=0))
    gpu.run()
    assert (gpu.color_words() == 0x0000FFFF).all()


def test_many_triangles_in_one_draw_keep_their_order(make_gpu: Callable[..., Any]) -> None:
    """More triangles, and more vertices, than are handled at a time."""
    gpu = make_gpu(64, 64)
    n = 40000
    random = np.random.default_rng(1)
    cell = random.integers(1, 63, (n, 2))
    corners = np.array([(0, 0), (1, 0), (0, 1)])
    position = at(((cell[:, None] + 1.8 * corners - 0.2) / 32 - 1).reshape(-1, 2))
    color = random.integers(0, 256, (n, 4)) / 255
    gpu.draw(position, np.repeat(color, 3, axis=0))
    gpu.run()
    # The triangle covers the centre of its own cell, and at most the neighbours': the last of a cell wins there.
    expected: dict[tuple[int, int], np.ndarray] = {}
    for (x, y), c in zip(cell.tolist(), np.rint(color * 255).astype(int), strict=True):
        expected[x, y] = c
    got = gpu.pixels()
    assert len(expected) == 62 * 62
    assert all((got[y, x] == c).all() for (x, y), c in expected.items())
    assert gpu.n3ds.stats.triangles == n


# -- scissor ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize(
    "box", [(3, 5, 9, 12), (0, 0, 15, 15), (7, 7, 7, 7), (10, 3, 4, 8), (5, 5, 1023, 1023), (100, 100, 200, 200)]
)
@pytest.mark.parametrize("flip", [0, 1])
def test_scissor_modes(gpu: Any, mode: int, box: tuple[int, int, int, int], flip: int) -> None:
    """3 keeps, 1 drops what is inside, both corners inclusive; 0 and 2 are off. Rows count from the bottom."""
    gpu.target(16, 16, flip=flip)
    x1, y1, x2, y2 = box
    gpu.set(SCISSORTEST_MODE=mode, SCISSORTEST_POS=x1 | y1 << 16, SCISSORTEST_DIM=x2 | y2 << 16)
    gpu.quad()
    gpu.run()
    inside_box = np.zeros((16, 16), bool)
    if x1 <= x2 and y1 <= y2:
        inside_box[y1 : y2 + 1, x1 : x2 + 1] = True
    expected = {1: ~inside_box, 3: inside_box}.get(mode, np.ones((16, 16), bool))
    covered = gpu.covered() if flip else gpu.covered()[::-1]
    assert (covered == expected).all()


def test_scissor_is_part_of_each_draws_state(gpu: Any) -> None:
    for i in range(16):
        gpu.set(SCISSORTEST_MODE=3, SCISSORTEST_POS=i, SCISSORTEST_DIM=i | 15 << 16)
        gpu.quad(color=(i / 255, 0, 0, 1))
    gpu.run()
    assert (gpu.pixels()[..., 0] == np.arange(16)).all()


# -- counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_any_number_of_threads_draws_every_row_of_tiles_once(make_gpu: Callable[..., Any], threads: int) -> None:
    """Rectangles that begin and end in any row of tiles, one over the other: each adds its number to its pixels."""
    random = np.random.default_rng(threads)
    rows = [(first, last) for first in range(5) for last in range(first, 5)]
    random.shuffle(rows)
    gpu = make_gpu(32, 40, threads=threads)
    count_layers(gpu)
    expected = np.zeros((40, 32), int)
    for number, (first, last) in enumerate(rows, 1):
        left, right = random.integers(0, 16), 32 - number
        bottom, top = first * 8 + number % 4, last * 8 + 4 + number % 5
        gpu.quad((left / 16 - 1, bottom / 20 - 1, right / 16 - 1, top / 20 - 1), color=(number / 255, 1 / 255, 0, 0))
        expected[bottom:top, left:right] += number
    gpu.run()
    assert (gpu.pixels()[..., 0] == expected).all()
    assert gpu.n3ds.stats.fragments == gpu.pixels()[..., 1].sum() > 1000


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_counts_are_those_of_the_work(make_gpu: Callable[..., Any], threads: int) -> None:
    gpu = make_gpu(16, 16, threads=threads)
    gpu.quad()
    gpu.quad((0, 0, 1, 1))
    gpu.draw(at([(5, 5), (6, 5), (5, 6)]))
    gpu.run()
    stats = gpu.n3ds.stats
    assert (stats.draws, stats.vertices, stats.triangles, stats.fragments) == (3, 11, 4, 256 + 64)
    stats.reset()
    assert (stats.draws, stats.triangles, stats.fragments) == (0, 0, 0)
