"""The listing of a program of the 3DS's shader unit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pocketgpu.control_flow import Block
from pocketgpu.errors import CaptureError
from pocketgpu.inspect.stepping.listing import ProgramListing, SourceLine
from pocketgpu.pica.shader.disassembler import instruction_text
from pocketgpu.pica.shader.flow import flow_of
from pocketgpu.pica.shader.unit import Program


class UnitListing(ProgramListing):
    """A program of the unit. Code memory is larger than programs are: the listing ends where control can't come.

    lines: the line of the source text of each word, empty if it is not known. file: that text's name.
    """

    def __init__(self, program: Program, lines: Sequence[int] = (), file: str = "") -> None:
        self._program, self._lines, self._file = program, lines, file

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
        return self._lines[number] if number < len(self._lines) else None

    def source(self, number: int) -> SourceLine | None:
        line = self.line_of(number)
        return None if line is None else SourceLine(self._file, line)

    def blocks(self) -> list[Block]:
        return self._blocks


__all__ = ["UnitListing"]
