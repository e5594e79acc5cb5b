"""Matrices for vertex programs: rows for dp4, so that a point p becomes matrix @ p.

Clip space of this GPU has z from -w (near) to 0 (far), and its screens are rotated by 90 degrees; both are easy to
forget and hard to notice.

Source: 3dbrew GPU/Internal Registers (depth map, viewport), GPU/External Registers (screens).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError

Matrix: TypeAlias = NDArray[np.float64]

UPRIGHT: Matrix = np.array([[0.0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""Rotates pictures upright for the console's screens: multiply it from the left to a projection."""

_SMALLEST_SINE: Final = 1e-9
"""Of the angle between the view and what is above: below it the rounding of numbers decides what is right."""


def translation(x: float, y: float, z: float) -> Matrix:
    """Moves points."""
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def scaling(x: float, y: float, z: float) -> Matrix:
    """Stretches along the axes."""
    return np.diag([x, y, z, 1.0])


def rotation(axis: tuple[float, float, float], angle: float) -> Matrix:
    """Rotates by `angle` radians around an axis, counter-clockwise when looking against the axis."""
    x, y, z = np.asarray(axis, np.float64) / math.hypot(*axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    return matrix


def perspective(fov_y: float, aspect: float, near: float, far: float) -> Matrix:
    """The view of a camera at the origin that looks along -z: depth 1 at `near`, 0 at `far` (test "greater").

    fov_y: angle from lowest to highest line of the upright picture in radians. aspect: its width / height.
    """
    f = 1.0 / math.tan(fov_y / 2)
    k = near / (near - far)
    return np.array([[f / aspect, 0, 0, 0], [0, f, 0, 0], [0, 0, k, far * k], [0, 0, -1, 0]])


def orthographic(left: float, right: float, bottom: float, top: float, near: float = 0.0, far: float = 1.0) -> Matrix:
    """A box of space without perspective; z = -near is nearest."""
    x, y, z = 2 / (right - left), 2 / (top - bottom), 1 / (far - near)
    return np.array(
        [[x, 0, 0, -(right + left) / (right - left)], [0, y, 0, -(top + bottom) / (top - bottom)],
         [0, 0, -z, -far * z], [0, 0, 0, 1]]
    )  # fmt: skip


def look_at(
    eye: tuple[float, float, float], target: tuple[float, float, float], up: tuple[float, float, float] = (0, 1, 0)
) -> Matrix:
    """The view from `eye` to `target`: the eye becomes the origin, and the target lies on -z. up: what is above, which
    must not be the direction of the view.

    :raises UsageError: the target is at the eye, or above or below it as `up` says.
    """
    back = np.subtract(eye, target).astype(np.float64)
    right = np.cross(up, back)
    if np.linalg.norm(right) <= _SMALLEST_SINE * np.linalg.norm(up) * np.linalg.norm(back):
        raise UsageError(f"no view goes from {eye} to {target} with {up} above", hint="Give another target, or up=.")
    back /= np.linalg.norm(back)
    right /= np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, :3] = right, np.cross(back, right), back
    matrix[:3, 3] = -matrix[:3, :3] @ eye
    return matrix


__all__ = ["UPRIGHT", "look_at", "orthographic", "perspective", "rotation", "scaling", "translation"]


def __dir__() -> list[str]:
    return [*__all__]
