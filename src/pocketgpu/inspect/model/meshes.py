"""Meshes: of a draw's vertices, and as files that other programs open, OBJ as text, glTF 2.0 as one binary (.glb).

Source: Khronos glTF 2.0 specification, sections 3.6 (accessors), 3.7 (meshes) and 4.4 (GLB); Wavefront OBJ, with
vertex colours after positions as most programs read them.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, table_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.vertices import Vertices
from pocketgpu.inspect.pictures.comparing import to_png
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

_MAGIC, _VERSION = 0x46546C67, 2
_JSON, _BINARY = 0x4E4F534A, 0x004E4942
_FLOAT, _UINT = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963
_SHAPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
_TRIANGLES = 4
_INPUT = re.compile(r"input|[va]\d{1,2}")
_SPACES = "output, clip, input, or an input register such as v2 (3DS) or attribute such as a2 (Switch)"


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Displayed):
    """Triangles. positions: (n, 3) float32, finite. triangles: (m, 3), indices into positions. colors: (n, 4) float32,
    0 to 1. texcoords: each (n, 2) float32, t = 0 at the bottom of the picture. texture: a PNG file for the first of
    them. left_out: how many triangles of the draw are left out, because a corner has no finite position here."""

    name: str
    positions: NDArray[np.float32]
    triangles: NDArray[np.int64]
    colors: NDArray[np.float32] | None = None
    texcoords: Sequence[NDArray[np.float32]] = ()
    texture: bytes | None = None
    left_out: int = 0
    extras: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        left = f", {self.left_out} left out" if self.left_out else ""
        vertices = counted(len(self.positions), "vertex", "vertices")
        return f"{self.name}: {vertices}, {counted(len(self.triangles), 'triangle')}{left}"

    def _repr_html_(self) -> str:
        parts: list[tuple[str, NDArray[Any]]] = [("xyz", self.positions)]
        parts += [("rgba", self.colors)] if self.colors is not None else []
        parts += [(f"st{n}", one) for n, one in enumerate(self.texcoords)]
        head = ("vertex", *(name for name, _ in parts))
        rows = (
            (n, *(", ".join(f"{value:.6g}" for value in one[n].tolist()) for _, one in parts))
            for n in range(len(self.positions))
        )
        return title_html(str(self)) + table_html(head, rows, len(self.positions))

    def __post_init__(self) -> None:
        if not len(self.triangles):
            raise UsageError("there is no triangle to make a mesh of", location=self.extras.get("address", self.name))


def to_obj(mesh: Mesh) -> str:
    """An OBJ file: vertices with their colours, the first texture coordinates, faces."""
    lines = [f"# {mesh}", f"o {mesh.name}"]
    colors = mesh.colors[:, :3] if mesh.colors is not None else np.zeros((len(mesh.positions), 0), np.float32)
    for row in np.concatenate([mesh.positions, colors], axis=1).tolist():
        lines.append("v " + " ".join(f"{value:.9g}" for value in row))
    for u, v in mesh.texcoords[0].tolist() if mesh.texcoords else ():
        lines.append(f"vt {u:.9g} {v:.9g}")
    corner = "{0}/{0}" if mesh.texcoords else "{0}"
    for triangle in (mesh.triangles + 1).tolist():
        lines.append("f " + " ".join(corner.format(place) for place in triangle))
    return "\n".join(lines) + "\n"


class _BinaryChunk:
    """The binary chunk under construction, with the views and accessors into it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes, target: int | None = None) -> int:
        self.data += bytes(-len(self.data) % 4)
        found: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        self.views.append(found if target is None else {**found, "target": target})
        self.data += data
        return len(self.views) - 1

    def accessor(self, values: NDArray[Any], kind: int, target: int, bounds: bool = False) -> int:
        found: dict[str, Any] = {
            "bufferView": self.view(values.tobytes(), target), "componentType": kind, "count": len(values),
            "type": _SHAPES[1 if values.ndim == 1 else values.shape[1]],
        }  # fmt: skip
        if bounds:
            found |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.accessors.append(found)
        return len(self.accessors) - 1


def to_glb(mesh: Mesh) -> bytes:
    """A binary glTF 2.0 file: one node with the mesh, its texture inside."""
    buffer = _BinaryChunk()

    def floats(values: NDArray[np.float32], bounds: bool = False) -> int:
        return buffer.accessor(np.ascontiguousarray(values, "<f4"), _FLOAT, _ARRAY, bounds)

    attributes = {"POSITION": floats(mesh.positions, bounds=True)}
    if mesh.colors is not None:
        attributes["COLOR_0"] = floats(mesh.colors)
    for n, texcoords in enumerate(mesh.texcoords):
        # glTF counts from the top of the picture down.
        attributes[f"TEXCOORD_{n}"] = floats(np.stack([texcoords[:, 0], 1 - texcoords[:, 1]], axis=1))
    indices = buffer.accessor(mesh.triangles.ravel().astype("<u4"), _UINT, _ELEMENTS)
    material: dict[str, Any] = {
        "doubleSided": True,
        "pbrMetallicRoughness": {"metallicFactor": 0, "roughnessFactor": 1},
    }
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "pocketgpu"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": mesh.name}],
        "meshes": [{
            "name": mesh.name, "extras": mesh.extras,
            "primitives": [{"attributes": attributes, "indices": indices, "material": 0, "mode": _TRIANGLES}],
        }],
        "materials": [material],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
    }  # fmt: skip
    if mesh.texture is not None and mesh.texcoords:
        document["images"] = [{"bufferView": buffer.view(mesh.texture), "mimeType": "image/png"}]
        document["textures"] = [{"source": 0}]
        material["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
    buffer.data += bytes(-len(buffer.data) % 4)
    document["buffers"] = [{"byteLength": len(buffer.data)}]
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    chunks = b"".join(
        struct.pack("<II", len(part), kind) + bytes(part) for part, kind in ((text, _JSON), (buffer.data, _BINARY))
    )
    return struct.pack("<III", _MAGIC, _VERSION, 12 + len(chunks)) + chunks


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
            whole = position[:, 3] > 0  # others are behind the eye, where the division by w means nothing
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


__all__ = ["Mesh", "Textured", "mesh_of", "to_glb", "to_obj"]
