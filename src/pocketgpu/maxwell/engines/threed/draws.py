"""Draws as records: the state of the whole class, and vertex inputs that are decoded on demand.

Every DRAW_* method between BEGIN and END has its own record, and so has each instance. A record reads memory on demand,
not at the time of the draw; `freeze` reads everything at once.
Source: class header B197; simulators agree on the numbers of vertices and of instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.base import Registers
from pocketgpu.maxwell.engines.common.constants import Bindings
from pocketgpu.maxwell.engines.common.snapshots import RegisterSnapshot
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed import topology, vertices
from pocketgpu.maxwell.memory.gpu_memory import PartlyReadable

STAGES = ("vertex A", "vertex B", "tessellation control", "tessellation evaluation", "geometry", "pixel")
"""Shader stages by number of the pipeline."""


@dataclass(frozen=True)
class Shader:
    """An enabled stage. address: GPU address of the program's header. group: of constant buffers."""

    stage: int
    address: int
    registers: int
    group: int


def shaders_of(state: State) -> list[Shader]:
    """The enabled stages, in order of the pipeline."""
    region = state.address("SET_PROGRAM_REGION_A")
    return [
        Shader(
            stage,
            region + state.word("SET_PIPELINE_PROGRAM", stage) & 0xFF_FFFF_FFFF,
            state.field("SET_PIPELINE_REGISTER_COUNT", "V", stage),
            state.field("SET_PIPELINE_BINDING", "GROUP", stage),
        )
        for stage in range(len(STAGES))
        if state.field("SET_PIPELINE_SHADER", "ENABLE", stage)
    ]


@dataclass(eq=False)
class Draw:
    """One draw. first, count: vertices, or indices where `index_bytes` is not 0.

    method: the method that drew. topology: in BEGIN's numbers. inline: the indices, if they came in the pushbuffer.
    instance: from 0, without `base_instance`. first_primitive: the number of the first primitive.
    """

    place: str
    method: str
    topology: int
    first: int
    count: int
    index_bytes: int
    instance: int
    snapshot: RegisterSnapshot
    constants: Bindings
    memory: PartlyReadable
    choices: Mapping[str, str]
    inline: NDArray[np.uint32] | None = None
    first_primitive: int = 0
    missed: int = field(default=0)
    """Bytes of inputs read so far that were not mapped."""

    def alike(self, other: Draw) -> bool:
        """Whether another one draws the same, as long as memory is the same."""
        what = ("place", "method", "topology", "first", "count", "index_bytes", "instance", "first_primitive")
        return (
            all(getattr(self, name) == getattr(other, name) for name in what)
            and self.constants == other.constants
            and np.array_equal(self.registers, other.registers)
            and np.array_equal(() if self.inline is None else self.inline, () if other.inline is None else other.inline)
        )

    @property
    def topology_name(self) -> str:
        """NVIDIA's name of the topology."""
        return topology.name(self.topology)

    @property
    def indexed(self) -> bool:
        """Whether the draw has indices."""
        return self.index_bytes != 0 or self.inline is not None

    @property
    def registers(self) -> Registers:
        """A copy of all registers at the time of the draw."""
        return self.snapshot.registers

    @cached_property
    def state(self) -> State:
        """The registers by name."""
        return State(B197, self.registers)

    @property
    def base_vertex(self) -> int:
        """SET_GLOBAL_BASE_VERTEX_INDEX as a signed number."""
        return self.state.signed("SET_GLOBAL_BASE_VERTEX_INDEX")

    @property
    def base_instance(self) -> int:
        """SET_GLOBAL_BASE_INSTANCE_INDEX."""
        return self.state.word("SET_GLOBAL_BASE_INSTANCE_INDEX")

    @property
    def restart(self) -> int | None:
        """The restart index, None if there is none."""
        state = self.state
        on = state.field("SET_DA_PRIMITIVE_RESTART", "ENABLE")
        if not self.indexed:
            on = on and state.field("SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY", "ENABLE")
        return state.word("SET_DA_PRIMITIVE_RESTART_INDEX") if on else None

    @cached_property
    def indices(self) -> NDArray[np.uint32]:
        """The indices in the buffer, with restart indices; for a draw without indices, the vertex numbers.

        Indices after the limit of the buffer, or where nothing is mapped, are 0.

        :raises UsageError: the draw has more than `vertices.MAX_VERTICES` of them.
        """
        if self.inline is not None:
            return self.inline
        vertices.check_count(self.count)
        if not self.index_bytes:
            return np.arange(self.first, self.first + self.count, dtype=np.int64).astype(np.uint32)
        size, state = self.index_bytes, self.state
        base, limit = state.address("SET_INDEX_BUFFER_A"), state.address("SET_INDEX_BUFFER_C")
        at = base + size * self.first
        inside = max(0, min(self.count, (limit + 1 - at) // size))
        data, missed = self.memory.try_read(at, inside * size)
        self.missed += missed
        out = np.zeros(self.count, np.uint32)
        out[:inside] = np.frombuffer(data, f"<u{size}")
        return out

    @cached_property
    def runs(self) -> list[NDArray[np.uint32]]:
        """The indices, split at restart indices."""
        return topology.runs(self.indices, self.restart)

    @property
    def primitives(self) -> int:
        """Number of primitives of the draw."""
        patch = self.state.field("SET_PATCH", "SIZE")
        return sum(topology.primitives(self.topology, len(run), patch) for run in self.runs)

    @property
    def generated(self) -> tuple[int, int]:
        """Number of input vertices and primitives; draws that are too large are not limited."""
        if self.count > vertices.MAX_VERTICES or self.restart is None:
            patch = self.state.field("SET_PATCH", "SIZE")
            return self.count, topology.primitives(self.topology, self.count, patch)
        return sum(len(run) for run in self.runs), self.primitives

    @cached_property
    def vertex_numbers(self) -> NDArray[np.int64]:
        """The stream element of each index: with base vertex, 32 bits, without restart indices."""
        parts = [run.astype(np.int64) for run in self.runs]
        numbers = np.concatenate(parts) if parts else np.empty(0, np.int64)
        if self.indexed or self.choices["draw.array_base_vertex"] == "add":
            numbers = (numbers + self.base_vertex) & 0xFFFFFFFF
        return numbers

    @property
    def vertex_ids(self) -> NDArray[np.uint32]:
        """The vertex number that a program reads: the index plus SET_VERTEX_ID_BASE. For draws without indices it
        counts from 0, unless SET_DA_OUTPUT includes the start."""
        state = self.state
        ids = np.concatenate(self.runs) if self.runs else np.empty(0, np.uint32)
        if not self.indexed and not state.field("SET_DA_OUTPUT", "VERTEX_ID_USES_ARRAY_START"):
            ids = ids - np.uint32(self.first & 0xFFFFFFFF)
        return ids + np.uint32(state.word("SET_VERTEX_ID_BASE"))

    @cached_property
    def streams(self) -> dict[int, vertices.Stream]:
        """Enabled vertex streams by number."""
        return vertices.streams(self.state)

    @cached_property
    def attributes(self) -> list[vertices.Attribute]:
        """Attributes that are read from a stream."""
        return [a for a in vertices.attributes(self.state) if a.active and a.stream in self.streams and a.format]

    @cached_property
    def inputs(self) -> dict[int, NDArray[Any]]:
        """Values of each attribute by its number, (n, 4), one row for each of `vertex_numbers`.

        :raises UsageError: the draw has more than `vertices.MAX_VERTICES` of them.
        """
        found = {}
        numbers = self.vertex_numbers
        for a in self.attributes:
            assert a.format is not None
            stream = self.streams[a.stream]
            chosen = vertices.elements(
                stream, numbers, self.instance, self.base_instance, self.choices["draw.zero_frequency"]
            )
            at = stream.address + chosen * stream.stride + a.offset
            raw, missed = vertices.fetch(self.memory, at, a.format.bytes, stream.address, stream.limit)
            self.missed += missed
            found[a.number] = vertices.decode(raw, a.format, a.type, a.swap)
        return found

    @property
    def shaders(self) -> list[Shader]:
        """The enabled stages, in order of the pipeline."""
        return shaders_of(self.state)

    def freeze(self) -> Draw:
        """Read indices and inputs now. Returns the draw itself.

        :raises UsageError: the draw has more than `vertices.MAX_VERTICES` vertices.
        """
        _ = self.inputs
        return self
