"""Plain shapes: closed, seen from outside, with normals that fit their triangles."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pocketgpu.builder import shapes
from pocketgpu.errors import UsageError

ALL = {
    "plane": shapes.plane(3, 2, 4, 3), "cube": shapes.cube(2, 2), "sphere": shapes.sphere(1.5), "torus": shapes.torus(),
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_triangles_are_seen_from_the_side_of_their_normals(name: str) -> None:
    vertices, indices = ALL[name]
    assert vertices.dtype == np.float32 and vertices.shape[1:] == (8,)
    assert indices.dtype == np.uint16 and len(indices) % 3 == 0 and set(indices.tolist()) == {*range(len(vertices))}
    assert np.linalg.norm(vertices[:, 3:6], axis=1) == pytest.approx(1)
    a, b, c = (vertices[indices[n::3]] for n in range(3))
    faces = np.cross(b[:, :3] - a[:, :3], c[:, :3] - a[:, :3])
    large = np.linalg.norm(faces, axis=1) > 1e-6  # triangles at a pole have two corners in one place
    assert large.sum() >= len(faces) * 0.9
    assert ((faces * (a + b + c)[:, 3:6]).sum(axis=1)[large] > 0).all()


@pytest.mark.parametrize("name", ["cube", "sphere", "torus"])
def test_each_edge_has_a_triangle_on_both_sides(name: str) -> None:
    vertices, indices = ALL[name]
    places = [tuple(place) for place in (np.round(vertices[:, :3], 4) + 0.0).tolist()]
    edges: Counter[tuple[object, object]] = Counter()
    for triangle in indices.reshape(-1, 3).tolist():
        corners = [places[number] for number in triangle]
        edges.update((one, other) for one, other in zip(corners, corners[1:] + corners[:1], strict=True))
    assert all(edges[other, one] == times for (one, other), times in edges.items() if one != other)


def test_texture_coordinates_go_right_and_up_for_who_looks() -> None:
    """u grows to the right and v upward on what faces the eye, and a sphere shows the middle of its texture."""
    vertices, _ = shapes.plane(4, 2)
    assert vertices[:, [0, 1, 6, 7]].tolist() == [[-2, -1, 0, 0], [2, -1, 1, 0], [-2, 1, 0, 1], [2, 1, 1, 1]]
    front = shapes.cube()[0][:4]
    assert front.tolist() == [
        [-1, -1, 1, 0, 0, 1, 0, 0], [1, -1, 1, 0, 0, 1, 1, 0], [-1, 1, 1, 0, 0, 1, 0, 1], [1, 1, 1, 0, 0, 1, 1, 1],
    ]  # fmt: skip
    ball, _ = shapes.sphere(2, 4, 2)
    nearest = ball[ball[:, 2].argmax()]
    assert nearest == pytest.approx([0, 0, 2, 0, 0, 1, 0.5, 0.5], abs=1e-6)
    right = ball[ball[:, 0].argmax()]
    assert right[6:] == pytest.approx([0.75, 0.5])


def test_sizes() -> None:
    assert np.abs(shapes.cube(3)[0][:, :3]).max() == 1.5
    assert np.linalg.norm(shapes.sphere(1.5)[0][:, :3], axis=1) == pytest.approx(1.5)
    ring = shapes.torus(2, 0.5)[0]
    around = np.hypot(ring[:, 0], ring[:, 1])
    assert np.hypot(around - 2, ring[:, 2]) == pytest.approx(0.5)
    assert [len(shapes.sphere(1, 4, 2)[part]) for part in (0, 1)] == [15, 48]


@pytest.mark.parametrize("call", [
    lambda: shapes.plane(columns=0), lambda: shapes.torus(rows=0), lambda: shapes.sphere(1, 256, 255),
    lambda: shapes.cube(cells=110),
])  # fmt: skip
def test_what_is_no_shape(call: object) -> None:
    with pytest.raises(UsageError, match=r"at least one|65536"):
        call()  # type: ignore[operator]
