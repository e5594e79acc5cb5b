"""The vertices of a draw, its vertex and index buffers, and the attributes that are read from them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, table_html, title_html
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.elements import Element
from pocketgpu.inspect.model.fates import Fates
from pocketgpu.inspect.model.steppable import Steppable
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

Per = Literal["vertex", "instance", "draw"]
"""How often an attribute changes: for each vertex, for each instance, or once a draw (a constant)."""


@dataclass(frozen=True, eq=False, repr=False)
class Attribute(Displayed):
    """Where an input of the vertex program is read from.

    register: its name in the program: "v0" on a 3DS, "a0" on a Switch. format: of the bytes: "3 x f32",
    "R32_G32_B32". type: of the numbers: "f32", "FLOAT", "UNORM"; "constant" for a value that all vertices share.
    address: of the first element, None if no memory is there; stride: bytes from element to element.
    """

    register: str
    format: str
    type: str
    address: int | None
    stride: int
    per: Per = "vertex"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        address = None if self.address is None else f"{self.address:#x}"
        return {
            "register": self.register, "format": self.format, "type": self.type, "address": address,
            "stride": self.stride, "per": self.per,
        }  # fmt: skip

    def __str__(self) -> str:
        if self.per == "draw":
            return f"{self.register}: a constant"
        kind = self.format if self.type in self.format else f"{self.format} {self.type}"
        if self.address is None:
            return f"{self.register}: {kind} from no memory of its own"
        return f"{self.register}: {kind} from {self.address:#x}, {counted(self.stride, 'byte')} for each {self.per}"


@dataclass(frozen=True, repr=False)
class VertexBuffer(Displayed):
    """A vertex buffer in use.

    number: of the loader (3DS) or stream (Switch). address: of its first element. size: bytes that may be read, None
    if no register limits them. stride: bytes from element to element. components: the parts of an element, in order,
    as texts. elements: the same parts, with their places and numbers; without gaps.
    """

    number: int
    address: int
    stride: int
    components: tuple[str, ...]
    size: int | None = None
    elements: tuple[Element, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "number": self.number, "address": f"{self.address:#x}", "size": self.size, "stride": self.stride,
            "components": list(self.components),
        }  # fmt: skip

    def __str__(self) -> str:
        what = ", ".join(self.components) or "no attribute"
        of = "" if self.size is None else f" of {self.size}"
        return f"buffer {self.number} at {self.address:#x}, every {self.stride}{of} bytes: {what}"


@dataclass(frozen=True, eq=False, repr=False)
class IndexBuffer(Displayed):
    """The indices of a draw. address: of the first; 0 if they are in the command stream. type: "u8", "u16" or "u32".
    array: (n,) as many of them as are in memory."""

    address: int
    type: str
    array: NDArray[np.unsignedinteger[Any]]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        low, high = (int(f(self.array)) if len(self.array) else None for f in (np.min, np.max))
        return {
            "address": f"{self.address:#x}", "type": self.type, "count": len(self.array), "lowest": low,
            "highest": high,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{len(self.array)} x {self.type} at {self.address:#x}"


@dataclass(eq=False, repr=False)
class Vertices(Displayed):
    """The vertices of a draw, in the order in which it names them; a vertex may appear several times.

    numbers: (n,) int64, their numbers in the buffers (the indices of an indexed draw). ids: (n,) uint32, the vertex
    number that programs read. inputs: structured (n,), four numbers for each input in use ("v0"… or "a0"…). outputs:
    structured (n,), outputs of the vertex program by name ("position", "color", "generic0"…); empty where they are not
    available. registers: structured (n,), output registers of a 3DS ("o0"…), four floats each; None on a Switch.
    emitted: structured, outputs of a later program (geometry, tessellation), None without one; emitted_by names it.
    triangles: (m, 3) int64, indices into `outputs`, or into `emitted` if there is one. primitives: the topology, by its
    official name. cut: how many vertices were left out because the draw has too many. fates: what becomes of the
    triangles before raster. window: matrix (3, 4) from a position in clip space to pixels of the target as addresses
    count them: x times w, y times w, w; None where no single one says it. depths: z divided by w at the near and at the
    far plane.
    """

    numbers: NDArray[np.int64]
    ids: NDArray[np.uint32]
    inputs: NDArray[Any]
    outputs: NDArray[Any]
    emitted: NDArray[Any] | None
    triangles: NDArray[np.int64]
    attributes: tuple[Attribute, ...]
    primitives: str
    registers: NDArray[Any] | None = None
    emitted_by: str = ""
    cut: int = 0
    fates: Fates | None = None
    window: NDArray[np.float64] | None = None
    depths: tuple[float, float] = (-1.0, 1.0)

    @property
    def shaded(self) -> NDArray[Any]:
        """The vertices that `triangles` index: `emitted`, or `outputs` without a later program."""
        return self.outputs if self.emitted is None else self.emitted

    def to_json(self) -> dict[str, Any]:
        """Counts, names and attributes; not the values of each vertex."""
        return {
            "count": len(self), "distinct": len(set(self.numbers.tolist())), "triangles": len(self.triangles),
            "primitives": self.primitives, "attributes": [one.to_json() for one in self.attributes],
            "inputs": list(self.inputs.dtype.names or ()), "outputs": list(self.outputs.dtype.names or ()),
            "emitted": None if self.emitted is None else len(self.emitted), "cut": self.cut,
        }  # fmt: skip

    def __len__(self) -> int:
        return len(self.numbers)

    def __str__(self) -> str:
        made = "" if self.emitted is None else f", {len(self.emitted)} emitted by {self.emitted_by}"
        vertices = counted(len(self), "vertex", "vertices")
        return f"{vertices}{made}, {counted(len(self.triangles), 'triangle')}"

    def _repr_html_(self) -> str:
        """The first vertices: their numbers, and what the vertex program made of them."""
        names = self.outputs.dtype.names or ()
        shown = min(len(self), len(self.outputs))
        rows = (
            (self.numbers[n], *(", ".join(f"{value:.6g}" for value in _flat(self.outputs[name][n])) for name in names))
            for n in range(shown)
        )
        return title_html(str(self)) + table_html(("number", *names), rows, shown)


@dataclass(frozen=True, slots=True, repr=False)
class Corner(Displayed):
    """A vertex of a primitive. address: f1/d17/v5. number: in the buffers, the index of an indexed draw."""

    address: Address
    number: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"address": str(self.address), "number": self.number}

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True, repr=False)
class Primitive(Displayed):
    """A primitive that a draw names, with its vertices in the order of the draw.

    address: f1/d17/t8. corners: its vertices; without those that came with an earlier draw, and empty where the list of
    vertices has other things in it. runs: of programs that worked on it, the last stage first.
    """

    address: Address
    corners: tuple[Corner, ...] = ()
    runs: tuple[Steppable, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "address": str(self.address), "vertices": [one.to_json() for one in self.corners],
            "programs": [one.to_json() for one in self.runs],
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.address}: {self.said}" if self.corners else str(self.address)

    @property
    def said(self) -> str:
        """Its vertices as text."""
        names = ", ".join(map(str, self.corners))
        text = f"{'vertex' if len(self.corners) == 1 else 'vertices'} {names}"
        if all(one.number == one.address.vertex for one in self.corners):
            return text
        return f"{text} ({', '.join(str(one.number) for one in self.corners)} in the buffers)"


def _flat(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(values)]


# -- positions in clip space in a few words, for reasons why triangles are not drawn ----------------------------------
_AXES = "xyzw"
"""Of positions in clip space."""


def numbers_of(positions: NDArray[Any], axes: str) -> str:
    """": z is 0.5 to 0.75, w is 1": the values of some axes. positions: (n, 4), without NaN. "" for none."""
    if not axes or not len(positions):
        return ""
    ranges = ((axis, positions[:, _AXES.index(axis)]) for axis in axes)
    return ": " + ", ".join(f"{axis} is {_range(float(some.min()), float(some.max()))}" for axis, some in ranges)


def _range(low: float, high: float) -> str:
    first, last = f"{low:.4g}", f"{high:.4g}"
    return first if first == last else f"{first} to {last}"


def same_place(positions: NDArray[Any]) -> str:
    """": all corners are at (0, 0, 0, 1)" if they are; else ""."""
    if not len(positions) or not bool(np.all(positions == positions[0])):
        return ""
    return f": all corners are at ({', '.join(f'{value:.4g}' for value in positions[0].tolist())})"


__all__ = [
    "Attribute", "Corner", "IndexBuffer", "Per", "Primitive", "VertexBuffer", "Vertices", "numbers_of", "same_place",
]  # fmt: skip
