"""A draw's vertices as a mesh: in the space of the program's outputs, or with the values of one of its inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.meshes import Mesh
from pocketgpu.inspect.model.vertices import Vertices
from pocketgpu.inspect.pictures.comparing import to_png

_INPUT = re.compile(r"input|[va]\d{1,2}")
_SPACES = "output, clip, input, or an input register such as v2 (3DS) or attribute such as a2 (Switch)"


class Textured(Protocol):
    """A texture whose first level is an array."""

    @property
    def enabled(self) -> bool: ...
    @property
    def array(self) -> NDArray[np.uint8]: ...


def mesh_of(vertices: Vertices, space: str, textures: Mapping[int, Textured], name: str) -> Mesh:
    """The triangles of a draw.

    space: "output": positions divided by w, as the viewport takes them (x and y from -1 to 1, z from -1 near to 0 far);
    "clip": x, y and z of the position that the program wrote; "input": the first input register or attribute; "v2"
    (3DS), "a2" (Switch) and so on: that input. Inputs of a draw with a geometry program form triangles three by
    three, in the order of its vertices.

    :raises UsageError: there is no such space, or no triangle with finite positions in it.
    """
    if _INPUT.fullmatch(space):
        names = vertices.inputs.dtype.names or ()
        register = names[0] if space == "input" and names else space
        if register not in names:
            hint = f"It has {', '.join(names)}." if names else "Its program reads none from memory."
            raise UsageError(f"the draw has no input {space}", location=name, hint=hint)
        corners, triangles = vertices.inputs, vertices.triangles
        if vertices.emitted is not None:
            triangles = np.arange(len(corners) // 3 * 3).reshape(-1, 3)
        places, whole = corners[register][:, :3], np.ones(len(corners), bool)
    elif space in ("output", "clip"):
        corners, triangles = vertices.shaded, vertices.triangles
        if "position" not in (corners.dtype.names or ()):
            raise UsageError("no output of the program is a position", location=name)
        position = corners["position"]
        places, whole = position[:, :3], np.ones(len(corners), bool)
        if space == "output":
            whole = position[:, 3] > 0  # a point behind the camera has no position on the screen
            with np.errstate(all="ignore"):  # values that are not finite are left out below
                places = position[:, :3] / np.where(whole, position[:, 3], 1)[:, None]
    else:
        raise UsageError(f"there is no space {space!r}", location=name, hint=f"There are {_SPACES}.")
    whole &= np.isfinite(places).all(axis=1)
    kept = triangles[whole[triangles].all(axis=1)] if len(triangles) else triangles
    # A vertex that the draw names twice is one vertex of the mesh.
    own = np.arange(len(corners)) if len(corners) != len(vertices.numbers) else vertices.numbers
    if vertices.emitted is not None:
        own = np.arange(len(corners))
    _, first, place = np.unique(own, return_index=True, return_inverse=True)
    used, triangles_used = np.unique(place[kept], return_inverse=True)
    chosen = first[used]
    colors, texcoords = _colors_of(vertices, chosen), _texcoords_of(vertices, chosen)
    bound = textures.get(0)
    picture = to_png(bound.array) if bound is not None and bound.enabled and texcoords else None
    return Mesh(
        name.replace("/", "-"), np.ascontiguousarray(places[chosen], np.float32),
        triangles_used.reshape(-1, 3).astype(np.int64), colors, texcoords, picture, len(triangles) - len(kept),
        {"space": space, "address": name},
    )  # fmt: skip


def _shaded_at(vertices: Vertices, name: str, chosen: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """A semantic of some vertices, with finite values only; None if the shaded vertices are not the chosen ones."""
    shaded = vertices.shaded
    if name not in (shaded.dtype.names or ()) or chosen.max(initial=-1) >= len(shaded):
        return None
    values: NDArray[np.float32] = shaded[name][chosen]
    return np.where(np.isfinite(values), values, np.float32(0))


def _colors_of(vertices: Vertices, chosen: NDArray[np.int64]) -> NDArray[np.float32] | None:
    return _shaded_at(vertices, "color", chosen)


def _texcoords_of(vertices: Vertices, chosen: NDArray[np.int64]) -> list[NDArray[np.float32]]:
    found = (_shaded_at(vertices, f"texcoord{n}", chosen) for n in range(3))
    return [values[:, :2] for values in found if values is not None]
