"""Vertex inputs of a draw as arrays: attributes decoded from streams, by format and numerical type.

Source: class header B197 for fields; OpenGL for defaults (missing components are 0, 0, 0, 1) and for the element of an
instanced stream; drivers and simulators for limits, which are inclusive. An element that reaches past the limit reads
as zero, as robust access requires; what the chip does is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import VERTEX, PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.formats.channels import CHANNELS, vertex_types
from pocketgpu.maxwell.formats.small_floats import MANTISSA
from pocketgpu.maxwell.memory.gpu_memory import PartlyReadable

ATTRIBUTES = 32
STREAMS = 32
MAX_VERTICES = 1 << 22
"""Draws with more vertices are not decoded: no recording has nearly as many, and a guest can request 2^32."""
_NEAR = 1 << 20  # addresses closer together than this are read at once
SOURCES = B197.values("SET_VERTEX_ATTRIBUTE_A.SOURCE")


@dataclass(frozen=True)
class Stream:
    """A vertex stream. limit: address of the last byte that may be read. frequency: instances that share an element."""

    number: int
    enabled: bool
    address: int
    limit: int
    stride: int
    instanced: bool
    frequency: int


@dataclass(frozen=True)
class Attribute:
    """The source of an attribute. format: None for an unknown code. An inactive one has a fixed value."""

    number: int
    stream: int
    active: bool
    offset: int
    format: PixelLayout | None
    type: str
    swap: bool


def streams(state: State) -> dict[int, Stream]:
    """All enabled streams by number."""
    found = {}
    for number in range(STREAMS):
        half, i = "AB"[number >> 4], number & 15
        base = f"SET_VERTEX_STREAM_{half}_"
        if not state.field(f"{base}FORMAT", "ENABLE", i):
            continue
        found[number] = Stream(
            number,
            True,
            state.address(f"{base}LOCATION_A", i),
            state.address(f"SET_VERTEX_STREAM_LIMIT_{half}_A", i),
            state.field(f"{base}FORMAT", "STRIDE", i),
            bool(state.field(f"SET_VERTEX_STREAM_INSTANCE_{half}", "IS_INSTANCED", i)),
            state.word(f"{base}FREQUENCY", i),
        )
    return found


def attributes(state: State) -> list[Attribute]:
    """All 32 attributes."""
    found = []
    for number in range(ATTRIBUTES):
        name, i = f"SET_VERTEX_ATTRIBUTE_{'AB'[number >> 4]}", number & 15
        field = lambda part, name=name, i=i: state.field(name, part, i)
        layout = VERTEX.get(field("COMPONENT_BIT_WIDTHS"))
        type = vertex_types().get(field("NUMERICAL_TYPE"), "")
        active = field("SOURCE") == SOURCES.ACTIVE
        found.append(
            Attribute(number, field("STREAM"), active, field("OFFSET"), layout, type, bool(field("SWAP_R_AND_B")))
        )
    return found


def fetch(
    memory: PartlyReadable, addresses: NDArray[np.int64], size: int, first: int, limit: int
) -> tuple[NDArray[np.uint8], int]:
    """`size` bytes from each address: uint8 of shape (n, size), zero outside first .. limit and where nothing is
    mapped; and the number of unmapped bytes."""
    out = np.zeros((len(addresses), size), np.uint8)
    inside = np.flatnonzero((addresses >= first) & (addresses + (size - 1) <= limit))
    missed = 0
    for group in _near(addresses[inside], size):
        rows = inside[group]
        low = int(addresses[rows].min())
        data, holes = memory.try_read(low, int(addresses[rows].max()) + size - low)
        missed += holes
        out[rows] = np.frombuffer(data, np.uint8)[(addresses[rows] - low)[:, None] + np.arange(size)]
    return out, missed


def _near(addresses: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """Indices of addresses, in groups without large gaps."""
    if not len(addresses):
        return
    order = np.argsort(addresses, kind="stable")
    gaps = np.flatnonzero(np.diff(addresses[order]) > _NEAR + size) + 1
    yield from np.split(order, gaps)


def decode(raw: NDArray[np.uint8], layout: PixelLayout, type: str, swap: bool) -> NDArray[Any]:
    """Elements as bytes to (n, 4): int32 or uint32 for the integer types, float32 for all others."""
    out = arrays.decode(raw.reshape(1, -1), layout, types_of(layout, type))[0]
    return out[:, [2, 1, 0, 3]] if swap else out


def types_of(layout: PixelLayout, type: str) -> tuple[str, str, str, str]:
    """The codec's types of red, green, blue and alpha for one of `vertex_types`.

    There are no floats of 8 or 2 bits: they read as zero. An unknown type counts as float.
    """
    widths = {c.name: c.width for c in layout.components}
    types = [type or "float" for _ in CHANNELS]
    for n, name in enumerate(CHANNELS):
        if types[n] == "float" and widths.get(name, 32) not in (32, *MANTISSA):
            types[n] = "zero"
    return types[0], types[1], types[2], types[3]


def elements(
    stream: Stream, vertices: NDArray[np.int64], instance: int, base_instance: int, zero_frequency: str
) -> NDArray[np.int64]:
    """The element of a stream for each vertex."""
    if not stream.instanced or (stream.frequency == 0 and zero_frequency == "per-vertex"):
        return vertices
    step = instance // stream.frequency if stream.frequency else 0
    return np.full(len(vertices), base_instance + step, np.int64)


def check_count(count: int) -> None:
    """Raise UsageError if a draw has more vertices than are decoded."""
    if count > MAX_VERTICES:
        raise UsageError(f"a draw of {count} vertices is not decoded", hint=f"{MAX_VERTICES} is the limit.")
