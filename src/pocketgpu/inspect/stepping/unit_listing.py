"""The listing of a program of the 3DS's shader unit."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pocketgpu.control_flow import Block
from pocketgpu.errors import CaptureError
from pocketgpu.inspect.stepping.listing import ProgramListing, SourceLine
from pocketgpu.inspect.stepping.program_text import ProgramText
from pocketgpu.pica.shader.disassembler import instruction_text
from pocketgpu.pica.shader.flow import flow_of
from pocketgpu.pica.shader.unit import Program


class UnitListing(ProgramListing):
    """A program of the unit. Code memory is larger than programs are: the listing ends where control can't come.

    source: what is known of its source text.
    """

    def __init__(self, program: Program, source: ProgramText | None = None) -> None:
        self._program, self._source = program, source or ProgramText()

    @cached_property
    def _code(self) -> tuple[int, ...]:
        return self._program.code

    @cached_property
    def _descriptors(self) -> tuple[int, ...]:
        return self._program.descriptors

    @cached_property
    def _blocks(self) -> list[Block]:
        return flow_of(self._code, self._descriptors, self._program.entry_point)

    @cached_property
    def _size(self) -> int:
        try:
            reached = max((block.last for block in self._blocks), default=-1) + 1
        except CaptureError:
            reached = int(np.flatnonzero(np.array(self._code))[-1:].sum()) + 1
        return min(reached, len(self._code))

    def __len__(self) -> int:
        return self._size

    def address_of(self, number: int) -> int:
        return number

    def text(self, number: int) -> str:
        return instruction_text(self._code[number], self._descriptors, "{:#06x}".format)

    def line_of(self, number: int) -> int | None:
        place = self._source.places.get(number)
        return None if place is None else place[1]

    def source(self, number: int) -> SourceLine | None:
        place = self._source.places.get(number)
        return None if place is None else SourceLine(*place, self._source.row(number))

    @property
    def note(self) -> str:
        return self._source.note

    def label(self, number: int) -> str:
        return self._source.labels.get(number, "")

    def names(self, number: int) -> str:
        return self._source.names_in(self.text(number))

    def register(self, name: str) -> str | None:
        return self._source.register(name)

    @property
    def variables(self) -> dict[str, tuple[str, ...]]:
        return {one.name: tuple(one.at(n) for n in range(one.count)) for one in self._source.symbols}

    def blocks(self) -> list[Block]:
        return self._blocks


__all__ = ["UnitListing"]
