"""Vertices of a draw of the Switch: buffers and attributes, inputs, outputs, and how primitives name them.

The draw is replayed for the outputs: when its shapes are ready, the work area has the vertices that the last program
before raster wrote, and the lists of primitives that name them.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.elements import Element
from pocketgpu.inspect.model.fates import Fates, together
from pocketgpu.inspect.model.vertices import Attribute, IndexBuffer, Primitive, VertexBuffer, Vertices
from pocketgpu.inspect.switch.primitives.corners import DrawCorners
from pocketgpu.inspect.switch.primitives.primitive_fates import depths_of, fates_of, window_of
from pocketgpu.maxwell.engines.threed import vertices
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, SECOND_VERTEX, Plan
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.graphics.records import MAP_WORDS, PRIMITIVES, REGION, TRIANGLE_LIST, VERTICES
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.memory.gpu_memory import PartlyReadable

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.switch.inspection import SwitchInspection

_NAMES = {0x64: "layer", 0x68: "viewport", 0x6C: "point_size"}
"""Words of attribute space that have names; `_vector` names vectors."""
_NO_OUTPUTS = np.dtype([("position", np.float32, (4,))])


def fresh(draw: Draw, memory: PartlyReadable | None = None) -> Draw:
    """A copy of the draw that reads memory again: earlier reads may be of another moment. memory: where it reads from;
    by default from the machine as it is."""
    found = copy(draw)
    if memory is not None:
        found.memory = memory
    for name in ("indices", "runs", "vertex_numbers", "inputs"):
        found.__dict__.pop(name, None)
    return found


def index_buffer(draw: Draw) -> IndexBuffer | None:
    """The indices of a draw, from a buffer (type "u8", "u16", "u32") or the pushbuffer (address 0); None without."""
    if not draw.indexed:
        return None
    found = fresh(draw)
    size = draw.index_bytes or 4
    address = draw.state.address("SET_INDEX_BUFFER_A") + draw.first * size if draw.index_bytes else 0
    return IndexBuffer(address, f"u{8 * size}", found.indices)


def attributes_of(draw: Draw) -> tuple[Attribute, ...]:
    """The attributes that are read from streams."""
    found = []
    for one in draw.attributes:
        assert one.format is not None
        stream = draw.streams[one.stream]
        found.append(
            Attribute(
                f"a{one.number}", one.format.name, one.type, stream.address + one.offset, stream.stride,
                "instance" if stream.instanced else "vertex",
            )
        )  # fmt: skip
    return tuple(found)


def vertex_buffers(draw: Draw) -> list[VertexBuffer]:
    """The streams of a draw that are on."""
    found = []
    for number, stream in draw.streams.items():
        parts = sorted((one for one in draw.attributes if one.stream == number), key=lambda one: one.offset)
        texts = tuple(f"a{one.number} {one.format.name} {one.type}" for one in parts if one.format is not None)
        size = max(stream.limit + 1 - stream.address, 0)
        elements = tuple(_element(one) for one in parts if one.format is not None)
        found.append(VertexBuffer(number, stream.address, stream.stride, texts, size, elements))
    return found


def _element(one: Any) -> Element:
    """The numbers of an attribute in a stream, as its program reads them."""
    format, type, swap = one.format, one.type, one.swap
    count = sum(part.name in "RGBA" for part in format.components)

    def numbers(raw: NDArray[np.uint8]) -> NDArray[Any]:
        return vertices.decode(raw, format, type, swap)[:, :count]

    name = f"a{one.number}: {format.name} {type}"
    return Element(name, one.offset, format.bytes, tuple("xyzw"[:count]), numbers)


def vertices_of(inspection: SwitchInspection, draw: Draw, tick: int) -> Vertices:
    """The vertices of the draw at tick number `tick`. Afterwards the machine is right after the draw.

    :raises UsageError: the draw has too many vertices.
    """
    player = inspection.player
    player.go(player.at(tick))
    whole = fresh(draw)
    read = whole.inputs
    inputs = np.zeros(len(whole.vertex_numbers), [(f"a{n}", values.dtype, (4,)) for n, values in read.items()])
    for n, values in read.items():
        inputs[f"a{n}"] = values
    player.go(player.at(tick - 1))
    listener = _OutputRecorder(draw)
    player.play_to(player.at(tick), listener)
    named = np.concatenate(whole.runs).astype(np.int64) if whole.runs else np.empty(0, np.int64)
    outputs, emitted, triangles = listener.result(named)
    return Vertices(
        whole.vertex_numbers, whole.vertex_ids, inputs, outputs, emitted, triangles, attributes_of(whole),
        draw.topology_name, emitted_by="its evaluation or geometry program", fates=together(listener.fates),
        window=listener.window, depths=listener.depths,
    )  # fmt: skip


def primitive_of(inspection: SwitchInspection, event: Event, number: int) -> Primitive:
    """A primitive of a draw with its vertices.

    :raises UsageError: the draw has no such primitive.
    """
    tick = inspection.tick_of(event.address)
    draw = inspection.recorder.traces[tick - 1].what
    assert isinstance(draw, Draw)
    inspection.player.go(inspection.player.at(tick))
    found = DrawCorners(fresh(draw)).primitive(event.address, number)
    if not found.corners:
        raise UsageError(f"the draw has no primitive {number}", location=str(found.address))
    return found


def _vector(address: int) -> str:
    """The name of the vector that a word of attribute space belongs to."""
    if 0x70 <= address < 0x80:
        return "position"
    if 0x80 <= address < 0x280:
        return f"generic{(address - 0x80) // 16}"
    return _NAMES.get(address, f"a{address & ~15:#x}")


class _OutputRecorder(Observer):
    """Observes a draw and keeps the outputs of its last stage before raster, list by list."""

    wants_shapes = True

    def __init__(self, draw: Draw) -> None:
        self._state = draw.state
        self.fates: list[Fates] = []
        self.window: NDArray[np.float64] | None = None
        self.depths = (-1.0, 1.0)
        self._parts: list[NDArray[Any]] = []
        self._numbers: list[NDArray[np.int64]] = []
        self._triangles: list[NDArray[np.int64]] = []
        self._count = 0
        self._going = self._late = False

    def shapes_ready(self, plan: Plan) -> None:
        """The region has the shapes of a list of primitives; the list's vertices are there, too."""
        drawing = self.machine.drawing
        count = int(self.machine.memory.words(plan.lists[1] + PRIMITIVES.COUNT, 1)[0])
        following = int(self.machine.memory.words(drawing.region + REGION.NEXT, 1)[0])
        if not self._going:
            last = max(n for n in plan.programs if n != PIXEL)
            self._late = last > SECOND_VERTEX
            part = self._vertices(plan, last)
            self._parts.append(part)
            if not self._late:
                shade = int(self.machine.memory.words(drawing.room.input + INPUT.SHADE, 1)[0])
                self._numbers.append(self.machine.memory.words(shade, len(part)).view(np.uint32).astype(np.int64))
            self._list(plan, count)
            self._count += len(part)
        self._going = following < count

    def _list(self, plan: Plan, count: int) -> None:
        """The triangles of a list."""
        words = self.machine.memory.words(plan.lists[1], PRIMITIVES.size // 4)
        kind, start, stride = (int(words[PRIMITIVES.offsets[n] // 4]) for n in ("KIND", "COLUMNS", "STRIDE"))
        if kind == TRIANGLE_LIST and count:
            columns = [self.machine.memory.words(start + n * stride, count) for n in range(3)]
            self._triangles.append(np.stack(columns, axis=1).astype(np.int64) + self._count)
            self.fates.append(fates_of(self.machine.memory, self._state, plan, count))
        if self.window is None:
            self.window, self.depths = window_of(self.machine.memory, plan), depths_of(plan)

    def _vertices(self, plan: Plan, last: int) -> NDArray[Any]:
        record = self.machine.memory.words(plan.lists[0], VERTICES.size // 4)
        pages, size, table_at, count = (int(n) for n in record[:4])
        table = self.machine.memory.words(table_at, MAP_WORDS)
        number = -(-count // 32)
        raw = self.machine.memory.arena[pages : pages + number * size].reshape(number, size)
        names: dict[str, list[int]] = {}
        for address in sorted(plan.programs[last].header.outputs):
            names.setdefault(_vector(address), []).append(address)
        fields: list[Any] = [
            (name, np.float32, (4,)) if name == "position" or name.startswith(("generic", "a")) else (name, np.uint32)
            for name in names
        ]
        found = np.zeros(count, np.dtype(fields))
        for name, words in names.items():
            for address in words:
                at = int(table[address // 4])
                column = raw[:, at : at + 128].copy().view(np.float32).reshape(-1)[:count]
                if found[name].ndim == 2:
                    found[name][:, address >> 2 & 3] = column
                else:
                    found[name] = column.view(np.uint32)
        return found

    def result(
        self, named: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[np.int64]]:  # fmt: skip
        """Outputs, what later programs emitted, triangles. named: the numbers of vertices in the draw's order."""
        shaded = np.concatenate(self._parts) if self._parts else np.zeros(0, _NO_OUTPUTS)
        triangles = np.concatenate(self._triangles) if self._triangles else np.zeros((0, 3), np.int64)
        if self._late:
            return np.zeros(0, _NO_OUTPUTS), shaded, triangles
        if not self._parts:
            return shaded, None, triangles
        # A vertex that the draw names several times is shaded once; its place is the first.
        numbers = np.concatenate(self._numbers)
        order = np.argsort(numbers, kind="stable")
        at = np.minimum(np.searchsorted(numbers[order], named), len(numbers) - 1)
        slots = order[at]
        if not len(named) or (numbers[slots] != named).any():  # a draw that was cut off: rows in the order of shading
            return shaded, None, triangles
        kept, first = np.unique(named, return_index=True)
        return shaded[slots], None, first[np.searchsorted(kept, numbers[triangles])]
