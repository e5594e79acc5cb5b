"""What draws shapes on a canvas: the vertex program, and the quaternions that lighting takes.

The PICA200 lights a fragment by a quaternion that turns z to its normal, x to the direction of u, and y to that of v. A
shape has them in its own space; the program turns them with the shape.

Source: 3dbrew GPU/Fragment Lighting.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.matrices import Matrix
from pocketgpu.pica.shader.assembler import assemble

LAYOUT: Final = [("f32", 3), ("f32", 4), ("f32", 2)]
"""Attributes of a vertex: v0 place, v1 quaternion, v2 texture coordinates; v3 is the colour of all."""
OUTPUTS: Final = """
    .out o0 position
    .out o1 color
    .out o2.xyz texcoord0w
    .out o3 normalquat
    .out o4.xyz view
    .out o5.xy texcoord1
    .out o5.zw texcoord2
"""
PLACE: Final = """
    .alias moved c0
    .alias projection c4
    .alias turn c8
    .alias one c95
    .constf c95, 1.0, 1.0, 1.0, 1.0
    main:
        dp4 r0.x, moved[0], v0
        dp4 r0.y, moved[1], v0
        dp4 r0.z, moved[2], v0
        mov r0.w, one
        dp4 o0.x, projection[0], r0
        dp4 o0.y, projection[1], r0
        dp4 o0.z, projection[2], r0
        dp4 o0.w, projection[3], r0
        dp4 r1.x, turn[0], v1
        dp4 r1.y, turn[1], v1
        dp4 r1.z, turn[2], v1
        dp4 r1.w, turn[3], v1
        mov o3, r1
        mov o4.xyz, -r0
        mov o1, v3
        mov o5, v2.xyxy
"""
"""The start of a program: r0 is the place as seen by the eye, r1 the quaternion; it writes all outputs but texture
coordinate 0."""
NORMAL: Final = """
    .alias half c94
    .constf c94, 0.5, 0.5, 0.5, 0.5
        mul r3, r1.xyxy, r1.zzww
        mul r4.xy, r1, r1
        add r2.x, r3.x, r3.w
        add r2.y, r3.y, -r3.z
        add r4.x, r4.x, r4.y
        add r2.z, half, -r4.x
        add r2.xyz, r2, r2
"""
"""What may follow PLACE: r2 is the normal as seen by the eye. It takes r3 and r4."""
PROGRAM: Final = assemble(f"{OUTPUTS}{PLACE}mov o2.xy, v2\nmov o2.z, one\nend\n")

_Floats = NDArray[np.float64]


def with_quaternions(vertices: NDArray[Any], indices: NDArray[Any]) -> NDArray[np.float32]:
    """Vertices of `shapes` with a quaternion instead of the normal: float32 of shape (n, 9) in the order of LAYOUT."""
    rows = np.asarray(vertices, np.float64)
    normal = _unit(rows[:, 3:6])
    along = _along_u(rows, np.asarray(indices, np.int64).reshape(-1, 3))
    along = _unit(along - normal * (along * normal).sum(axis=1, keepdims=True))
    frame = np.stack([along, np.cross(normal, along), normal], axis=-1)
    return np.concatenate([rows[:, :3], _quaternions(frame), rows[:, 6:8]], axis=1).astype(np.float32)


def turning(matrix: Matrix) -> _Floats:
    """Rows for dp4 that turn a quaternion by the rotation of a matrix (whose axes may be scaled alike)."""
    turn = matrix[:3, :3] / np.cbrt(np.linalg.det(matrix[:3, :3]))
    x, y, z, w = _quaternions(turn[None])[0]
    return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])


def _along_u(rows: _Floats, triangles: NDArray[np.int64]) -> _Floats:
    """The direction in which u grows, at each vertex: the mean of its triangles; x or z where they have none."""
    a, b, c = (rows[triangles[:, n]] for n in range(3))
    one, other = b - a, c - a
    area = one[:, 6] * other[:, 7] - other[:, 6] * one[:, 7]
    along = (one[:, :3] * other[:, 7:8] - other[:, :3] * one[:, 7:8]) * np.sign(area)[:, None]
    summed = np.zeros((len(rows), 3))
    for corner in range(3):
        np.add.at(summed, triangles[:, corner], along)
    normal = rows[:, 3:6]
    missing = np.linalg.norm(np.cross(summed, normal), axis=1) < 1e-9
    spare = np.where(np.abs(normal[:, :1]) < 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]])
    return np.where(missing[:, None], spare, summed)


def _quaternions(frames: _Floats) -> _Floats:
    """Unit quaternions (n, 4), x y z w, of rotations (n, 3, 3): the largest component is found first, for exactness."""
    m = frames
    products = np.empty((len(m), 4, 4))  # each row is the quaternion times one of its components
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        products[:, i, i] = 1 + m[:, i, i] - m[:, j, j] - m[:, k, k]
        products[:, j, k] = products[:, k, j] = m[:, k, j] + m[:, j, k]
        products[:, i, 3] = products[:, 3, i] = m[:, k, j] - m[:, j, k]
    products[:, 3, 3] = 1 + m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    largest = np.argmax(np.diagonal(products, axis1=1, axis2=2), axis=1)
    return _unit(products[np.arange(len(m)), largest])


def _unit(vectors: _Floats) -> _Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)


__all__ = ["LAYOUT", "NORMAL", "OUTPUTS", "PLACE", "PROGRAM", "turning", "with_quaternions"]


def __dir__() -> list[str]:
    return [*__all__]
