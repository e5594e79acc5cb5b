"""The stages of a draw between the vertex program and the raster: tessellation, geometry, transform feedback.

`LateStages.pieces` runs the programs of a `Chain` for the primitives of a piece of the draw and stops after each list
that is ready to be written or drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pocketgpu.lanes import Engine, Kernel
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.input.vertex_records import MAX_PATCH, TOPOLOGIES
from pocketgpu.maxwell.graphics.programs.programs import StageLaunch
from pocketgpu.maxwell.graphics.records import PATCH_LIST, PRIMITIVES, VERTICES
from pocketgpu.maxwell.graphics.stages.chain import AREA_SIZE, CONTROL, EVALUATION, GEOMETRY, VECTORS, Chain
from pocketgpu.maxwell.graphics.stages.geometry import GeometryRoom, GeometryStage, list_geometry, run_geometry
from pocketgpu.maxwell.graphics.stages.tessellation import (
    TESSELLATION,
    TessellationRoom,
    TessellationStage,
    begin_patches,
    run_control,
    run_evaluation,
    tessellate,
)
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR
from pocketgpu.workers import Workers


class LateStages:
    """Runs these stages for the draws of one machine.

    :param area: arena offset of AREA_SIZE bytes. rooms: offsets of THREAD_ROOM bytes for each thread.
    """

    def __init__(
        self, memory: GpuMemory, engine: Engine, stages: list[StageLaunch], workers: Workers, area: int,
        rooms: list[int], choices: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.memory, self.engine, self.stages, self.workers, self.rooms = memory, engine, stages, workers, rooms
        start = (area + VECTOR - 1) & -VECTOR
        first = TessellationRoom(start, VECTORS)
        second = GeometryRoom(start + first.size, VECTORS)
        assert second.start + second.size <= area + AREA_SIZE
        self.tessellation = TessellationStage(memory, engine, first, choices)
        self.geometry = GeometryStage(memory, engine, second, choices)
        self._chain: Chain | None = None
        self.vertices = self.primitives = 0
        """Offsets of the VERTICES and PRIMITIVES records with the output."""

    def begin(
        self, chain: Chain, state: State, topology: str, vertices: int, primitives: int, slots: int, output_map: int
    ) -> str:
        """Set up for a draw; returns why it cannot be drawn, or "".

        :param topology: the draw's, by NVIDIA's name. vertices, primitives, slots: offsets of the vertex side's records
            and list of slots. output_map: arena offset of `chain.output.read`.
        """
        self._chain = chain
        kind = TOPOLOGIES[topology].kind
        neighbours = chain.wants_neighbours and topology.endswith("ADJCY")
        if (kind == PATCH_LIST) != (EVALUATION in chain.headers):
            return "patches need a tessellation program, and other primitives must not have one"
        for n in chain.headers:
            self.stages[n].set_map("IN_MAP", chain.inputs[n])
            self.stages[n].set_map("OUT_MAP", chain.layouts[n].written)
        if EVALUATION in chain.headers:
            size = min(max(state.field("SET_PATCH", "SIZE"), 1), MAX_PATCH)
            if not self._begin_tessellation(chain, state, size, vertices, primitives, slots, output_map):
                return "the tessellation stages have no room for their vertices"
            vertices, primitives = self.tessellation.vertices, self.tessellation.primitives
            kind = self.tessellation.kind
        if GEOMETRY in chain.headers:
            stage, header = self.stages[GEOMETRY], chain.headers[GEOMETRY]
            layout = chain.layouts[GEOMETRY]
            if not self.geometry.begin(
                state, header, stage.record, layout, output_map, vertices, primitives, kind, neighbours,
                chain.before(GEOMETRY).read,
            ):  # fmt: skip
                return f"the geometry program emits {header.most_vertices} vertices, more than there is room for"
            vertices, primitives = self.geometry.vertices, self.geometry.primitives
        self.vertices, self.primitives = vertices, primitives
        return ""

    def _begin_tessellation(
        self, chain: Chain, state: State, size: int, vertices: int, primitives: int, slots: int, output_map: int
    ) -> bool:
        evaluation, control = self.stages[EVALUATION], self.stages[CONTROL]
        evaluation.set_map("PATCH_MAP", chain.patches.read)
        header, written, record = None, None, 0
        if CONTROL in chain.headers:
            header, written, record = chain.headers[CONTROL], chain.layouts[CONTROL], control.record
            control.set_map("PATCH_MAP", chain.patches.written)
        return self.tessellation.begin(
            state, size, vertices, primitives, slots, evaluation.record, chain.layouts[EVALUATION], output_map, record,
            header, written, chain.patches,
        )  # fmt: skip

    # -- the run ----------------------------------------------------------------------------------------------------
    def pieces(self, counters: Counters, streams: tuple[int, ...] = (0,)) -> Iterator[int]:
        """Run the stages for the primitives that the vertex side has just listed.

        Yields the number of a stream each time that a list of its primitives is in the records; the list is valid until
        the next one is requested. Only geometry programs have other streams than 0.
        """
        assert self._chain is not None
        if EVALUATION not in self._chain.headers:
            yield from self._geometry(counters, streams)
            return
        stage, engine = self.tessellation, self.engine
        record, vertices = stage.room.record, stage.primitives
        total = self._count_of(self._word(record + TESSELLATION.PRIMITIVES_IN))
        first = 0
        while first < total:
            engine.get(begin_patches)(record, first)
            first += self._word(record + TESSELLATION.COUNT)
            warps = stage.control_warps
            if warps:
                counters.add("TI_INVOCATIONS", self._word(record + TESSELLATION.COUNT))
                self._run(CONTROL, run_control, record, warps)
            while stage.left:
                engine.get(tessellate)(record)
                counters.add("TS_INVOCATIONS", self._word(stage.vertices + VERTICES.COUNT))
                counters.add("TS_PRIMITIVES_GENERATED", self._count_of(vertices))
                self._run(EVALUATION, run_evaluation, record, stage.pages)
                yield from self._geometry(counters, streams)

    def _geometry(self, counters: Counters, streams: tuple[int, ...]) -> Iterator[int]:
        assert self._chain is not None
        if GEOMETRY not in self._chain.headers:
            yield 0
            return
        stage, record = self.geometry, self.geometry.room.record
        header = self._chain.headers[GEOMETRY]
        groups = stage.start_piece()
        counters.add("GS_INVOCATIONS", stage.incoming * header.threads)
        for first in range(0, groups, stage.groups):
            count = min(stage.groups, groups - first)
            stage.start_batch(first)
            self._run(GEOMETRY, run_geometry, record, count)
            for stream in streams:
                self.engine.get(list_geometry)(record, count, stream)
                counters.add("GS_PRIMITIVES_GENERATED", self._count_of(stage.primitives))
                yield stream

    def _run(self, stage: int, kernel: Kernel, record: int, amount: int) -> None:
        """Run a kernel over warps, shared by threads."""
        run, slots = self.engine.get(kernel), self.stages[stage].slots

        def part(number: int, parts: int) -> None:
            first, last = amount * number // parts, amount * (number + 1) // parts
            run(record, slots[number], self.rooms[number], first, last)

        self.workers.run(part, (stage, self.stages[stage].program), amount)

    def _word(self, at: int) -> int:
        return int(self.memory.arena[at : at + 4].view(np.int32)[0])

    def _count_of(self, primitives: int) -> int:
        return self._word(primitives + PRIMITIVES.COUNT)


__all__ = ["LateStages"]
