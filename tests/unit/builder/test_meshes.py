"""Quaternions of shapes: each turns z to the normal and x to where u grows, also after the shape has moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.builder import meshes, shapes
from pocketgpu.builder.matrices import look_at, rotation, scaling, translation


def turned(quaternions: NDArray[Any], vector: tuple[float, float, float]) -> NDArray[np.float64]:
    """A vector, turned by each quaternion: v + 2 w (q x v) + 2 q x (q x v)."""
    q, w = quaternions[:, :3].astype(np.float64), quaternions[:, 3:].astype(np.float64)
    once = np.cross(q, np.broadcast_to(vector, q.shape))
    return np.asarray(vector + 2 * w * once + 2 * np.cross(q, once))


@pytest.mark.parametrize("shape", [shapes.cube(), shapes.sphere(), shapes.torus(), shapes.plane(2, 3, 2, 2)])
def test_a_quaternion_turns_z_to_the_normal(shape: shapes.Shape) -> None:
    rows = meshes.with_quaternions(*shape)
    assert rows.dtype == np.float32 and rows.shape == (len(shape[0]), sum(count for _, count in meshes.LAYOUT))
    assert np.array_equal(rows[:, :3], shape[0][:, :3]) and np.array_equal(rows[:, 7:], shape[0][:, 6:])
    assert np.linalg.norm(rows[:, 3:7], axis=1) == pytest.approx(1, abs=1e-5)
    assert turned(rows[:, 3:7], (0, 0, 1)) == pytest.approx(shape[0][:, 3:6], abs=1e-5)


def test_a_quaternion_turns_x_to_where_u_grows() -> None:
    cube = meshes.with_quaternions(*shapes.cube())
    along = turned(cube[:, 3:7], (1, 0, 0))[::4]  # of a corner of each side
    right = [[1, 0, 0], [0, 0, -1], [-1, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]
    assert along == pytest.approx(np.array(right), abs=1e-5)
    ring, _ = shapes.torus()
    around = 2 * np.pi * ring[:, 6]
    found = turned(meshes.with_quaternions(*shapes.torus())[:, 3:7], (1, 0, 0))
    assert found == pytest.approx(np.stack([-np.sin(around), np.cos(around), 0 * around], axis=1), abs=0.1)


def test_a_mirrored_texture_has_x_where_u_grows_too() -> None:
    vertices, indices = shapes.plane()
    vertices[:, 6] = 1 - vertices[:, 6]
    found = turned(meshes.with_quaternions(vertices, indices)[:, 3:7], (1, 0, 0))
    assert found == pytest.approx(np.broadcast_to([-1, 0, 0], (4, 3)), abs=1e-6)


def test_without_texture_coordinates_normals_stay() -> None:
    vertices, indices = shapes.sphere(1, 8, 4)
    vertices[:, 6:] = 0
    found = turned(meshes.with_quaternions(vertices, indices)[:, 3:7], (0, 0, 1))
    assert found == pytest.approx(vertices[:, 3:6], abs=1e-5)


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0, np.pi])
@pytest.mark.parametrize("size", [0.5, 1.0, 3.0])
def test_a_shape_that_moves_takes_its_quaternions_with_it(angle: float, size: float) -> None:
    move = translation(1, 2, 3) @ rotation((1, 2, -0.5), angle) @ scaling(size, size, size)
    move = look_at((1, 2, 5), (0, 0, 0)) @ move
    rows = meshes.with_quaternions(*shapes.torus(1, 0.3, 12, 8))
    moved = rows[:, 3:7] @ meshes.turning(move).T
    for axis in ((1.0, 0, 0), (0, 0, 1.0)):
        assert turned(moved, axis) == pytest.approx(turned(rows[:, 3:7], axis) @ (move[:3, :3] / size).T, abs=1e-5)
