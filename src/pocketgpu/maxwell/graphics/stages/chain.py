"""What is known of the stages between the vertex program and the raster before any of them runs.

A `Chain` is the programs of a draw with the layouts between them: where each reads what the one before it wrote. What
runs them (`late_stages.py`) is imported by the first draw that has one: most draws have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.programs.headers import Header, PageLayout, layout_of, patch_layout
from pocketgpu.maxwell.graphics.programs.programs import StageProgram
from pocketgpu.maxwell.graphics.records import PAGE_SLOTS, PAGE_ZERO
from pocketgpu.maxwell.sass.stages.attributes import MOST_VERTICES
from pocketgpu.maxwell.sass.stages.stage import PRIMITIVE_ID, TESS_U, TESS_V
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR

CONTROL, EVALUATION, GEOMETRY = 2, 3, 4
"""Numbers of these stages in the pipeline."""
STREAMS = 4
VECTORS = 1 << 17
"""Vectors of each of the two rooms."""
AREA_SIZE = 2 * VECTORS * VECTOR + (16 << 10)
"""Bytes of the work area for the stages, with their records, without the rooms of threads (THREAD_ROOM bytes each)."""
INVOCATION_WORDS = (PRIMITIVE_ID, TESS_U, TESS_V)
INVOCATION_VECTORS = PAGE_SLOTS // VECTOR + len(INVOCATION_WORDS)
"""The page with an invocation's inputs for stages after the vertex stage: these words, in this order."""
TABLE, INVOCATIONS, PATCHES, INVOCATION_PAGE = (
    n * VECTOR for n in (0, MOST_VERTICES, MOST_VERTICES + 1, MOST_VERTICES + 2)
)
THREAD_ROOM = INVOCATION_PAGE + INVOCATION_VECTORS * VECTOR
"""Room of a thread for stages after the vertex stage: columns of vertices, numbers, columns of patches, that page."""
LEVELS = 6
"""Of a patch: four outer levels, then two inner ones."""
LEVEL_LAYOUT = layout_of(range(0, 4 * LEVELS, 4))
"""The page of patches without a control program: only levels, from registers."""


def with_invocation(read: NDArray[np.int32]) -> NDArray[np.int32]:
    """The map of inputs for a stage after the vertex stage: that of the vertices, and of the invocation's own page."""
    table = read.copy()
    for i, address in enumerate(INVOCATION_WORDS):
        table[address >> 2] = PAGE_SLOTS + i * VECTOR
    return table


def addresses_of(layout: PageLayout) -> list[int]:
    """The words that a page has slots for, in the order of the slots."""
    return [int(word) << 2 for word in np.flatnonzero(layout.read != PAGE_ZERO)]


@dataclass(frozen=True)
class Chain:
    """Layouts and maps of a draw's programs. vertices: outputs of the vertex program; headers by pipeline number."""

    vertices: PageLayout
    headers: Mapping[int, Header]

    @staticmethod
    def of(programs: Mapping[int, StageProgram], vertices: PageLayout) -> Chain | None:
        """The chain of a draw's programs; None if there is none of these stages.

        A control program without an evaluation program after it is left out, as nothing uses its outputs.
        """
        found = {n: programs[n].header for n in (CONTROL, EVALUATION, GEOMETRY) if n in programs}
        if EVALUATION not in found:
            found.pop(CONTROL, None)
        return Chain(vertices, found) if found else None

    @cached_property
    def layouts(self) -> dict[int, PageLayout]:
        """The outputs of each stage. A pass-through program keeps those of the stage before it."""
        found: dict[int, PageLayout] = {}
        before = self.vertices
        for n in sorted(self.headers):
            header = self.headers[n]
            passed = addresses_of(before) if header.pass_through else ()
            found[n] = before = layout_of((*header.outputs, *passed))
        return found

    @cached_property
    def output(self) -> PageLayout:
        """The outputs of the last stage."""
        return self.layouts[max(self.layouts)]

    @cached_property
    def patches(self) -> PageLayout:
        """Words of patches."""
        return patch_layout(self.headers[CONTROL]) if CONTROL in self.headers else LEVEL_LAYOUT

    @cached_property
    def inputs(self) -> dict[int, NDArray[np.int32]]:
        """IN_MAP of each stage."""
        found, before = {}, self.vertices
        for n in sorted(self.headers):
            found[n] = with_invocation(before.read)
            before = self.layouts[n]
        return found

    def before(self, n: int) -> PageLayout:
        """The outputs of the stage before."""
        earlier = [m for m in self.headers if m < n]
        return self.layouts[max(earlier)] if earlier else self.vertices

    @property
    def wants_neighbours(self) -> bool:
        """Whether neighbours of lines and triangles are used: by a geometry program without tessellation."""
        return GEOMETRY in self.headers and EVALUATION not in self.headers


__all__ = [
    "AREA_SIZE", "CONTROL", "EVALUATION", "GEOMETRY", "INVOCATIONS", "INVOCATION_PAGE", "INVOCATION_VECTORS", "LEVELS",
    "LEVEL_LAYOUT", "PATCHES", "STREAMS", "TABLE", "THREAD_ROOM", "VECTORS", "Chain", "addresses_of", "with_invocation",
]  # fmt: skip
