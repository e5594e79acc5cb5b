"""A program as it is launched: its bytes, and what running them needs."""

from __future__ import annotations

from functools import cached_property

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.bundles import index_at, offset_of
from pocketgpu.maxwell.sass.isa.decoder import decode_program
from pocketgpu.maxwell.sass.isa.disassembler import instruction_text
from pocketgpu.maxwell.sass.isa.instruction import Program
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.program.needs import Needs, commutes
from pocketgpu.maxwell.sass.thread_memory.work import LANES
from pocketgpu.maxwell.sass.warp.encoding import operations_of
from pocketgpu.maxwell.sass.warp.functions import called
from pocketgpu.maxwell.sass.warp.inline_access import twins


@dataclass(frozen=True)
class Code:
    """A program to launch: its bytes from the first control word on.

    registers: of a thread. start: byte offset of the entry. indirect: code addresses that tables of jumps name.
    origins: pairs of a byte offset in `data` and the offset that the program's owner knows this place by, ascending.
    file, lines: the source text, and for each instruction its line there; empty if there is no such text. sources: file
    and line of each instruction instead, if they come from a line table.
    """

    name: str
    data: bytes
    registers: int = LANES
    start: int = 0
    indirect: tuple[int, ...] = ()
    origins: tuple[tuple[int, int], ...] = ((0, 0),)
    lines: tuple[int, ...] = ()
    file: str = ""
    sources: tuple[tuple[str, int] | None, ...] = ()

    def __repr__(self) -> str:
        return f"<code {self.name}, {len(self.data)} bytes>"

    def origin_of(self, index: int) -> int:
        """Byte offset of an instruction, as the program's owner counts."""
        offset = offset_of(index)
        start, origin = max((pair for pair in self.origins if pair[0] <= offset), default=(0, 0))
        return origin + offset - start

    def offset_at(self, index: int) -> str:
        """The same for people."""
        return f"{self.origin_of(index):#06x}"

    def line_of(self, index: int) -> int | None:
        """The line of the source text of an instruction, if it is known."""
        place = self.source_of(index)
        return None if place is None else place[1]

    def source_of(self, index: int) -> tuple[str, int] | None:
        """File and line of the source text of an instruction, if they are known."""
        if index < len(self.lines):
            return self.file, self.lines[index]
        return self.sources[index] if index < len(self.sources) else None

    def text_of(self, index: int) -> str:
        """An instruction as text."""
        return instruction_text(self._program[index]).strip()

    @cached_property
    def _program(self) -> Program:
        return decode_program(self.data)

    @cached_property
    def flow(self) -> Flow:
        """Blocks of the program. Raises SassError."""
        return flow_of(*self.key)

    @cached_property
    def key(self) -> tuple[bytes, int, tuple[int, ...]]:
        """What specialised code is made from: the bytes, the first instruction, those that tables of jumps name."""
        return self.data, index_at(self.start), tuple(sorted({index_at(a) for a in self.indirect}))

    @cached_property
    def possible(self) -> set[int]:
        """Instructions that control can reach: all of them if a jump can go anywhere."""
        return set(range(len(self.flow.steps))) if self.jumps else set(self.flow.reached)

    @cached_property
    def reached_needs(self) -> Needs:
        """The needs of the instructions that are known to be reached."""
        return Needs(self.flow.steps[i] for i in self.flow.reached)

    @cached_property
    def needs(self) -> Needs:
        """The needs of all possible instructions."""
        return Needs(self.flow.steps[i] for i in self.possible)

    @property
    def jumps(self) -> bool:
        """See `Needs.jumps`."""
        return self.reached_needs.jumps

    @property
    def used_registers(self) -> int:
        """Registers that need room."""
        return self.needs.registers

    @property
    def accesses(self) -> set[tuple[int, int, bool]]:
        """See `Needs.accesses`."""
        return self.reached_needs.accesses

    @property
    def textures(self) -> tuple[int, ...]:
        """See `Needs.textures`."""
        return self.needs.textures

    @cached_property
    def operations(self) -> set[str]:
        """Operations that the interpreter needs for it."""
        return operations_of(self.flow.steps, self.possible)

    @cached_property
    def functions(self) -> set[tuple[int, int]]:
        """Functions that it calls: (number, whether the result is saturated)."""
        return {(step.mods["fn"], step.mods["sat"]) for step in called(self.flow).values()}

    @cached_property
    def has_twins(self) -> bool:
        """Whether code is made for it that counts on a block with two rows a warp."""
        return bool(twins(self.flow))

    @cached_property
    def parallel(self) -> bool:
        """Whether blocks may run at once."""
        return all(commutes(step) for step in self.needs.steps)


__all__ = ["Code"]
