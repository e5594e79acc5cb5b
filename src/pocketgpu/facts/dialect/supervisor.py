"""Supervisor calls as tables have them: numbers, names, and which registers carry what.

A cell lists registers and names: `r0 operation,r2:r3 nanoseconds` on a 32-bit processor, where `r2:r3` is a number of
64 bits, its low word first; `w0 handle,x1 address,s3 nanoseconds` on a 64-bit one, where `w` has 32 bits, `x` has 64,
and `s` has 64 with a sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.dialect.tables import Tables
from pocketgpu.late_dataclass import dataclass

_WORD: Final = 0xFFFFFFFF
_LONG: Final = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class Argument:
    """A number in a register. high: the register of its upper 32 bits, if it has two; then it is signed, as times are.
    mask: its bits; signed: whether the highest of them is a sign."""

    name: str
    low: int
    high: int | None = None
    mask: int = _WORD
    signed: bool = False

    def get(self, registers: Sequence[int]) -> int:
        """The number."""
        value = registers[self.low] if self.high is None else registers[self.low] | registers[self.high] << 32
        value &= self.mask
        return value - (value >> 63 << 64) if self.signed else value

    def set(self, registers: dict[int, int], value: int) -> None:
        """Put a number into its registers."""
        if self.high is None:
            registers[self.low] = value & self.mask
        else:
            registers[self.low] = value & _WORD
            registers[self.high] = value >> 32 & _WORD


@dataclass(frozen=True, slots=True)
class SupervisorCall:
    """A call. arguments, replies: by register; the result code in the first register is not among the replies."""

    number: int
    name: str
    arguments: tuple[Argument, ...]
    replies: tuple[Argument, ...]
    doc: str = ""

    def __repr__(self) -> str:
        return f"<SupervisorCall {self.number:#04x} {self.name}>"


def _argument(text: str) -> Argument:
    places, _, name = text.partition(" ")
    low, _, high = places.partition(":")
    if high:
        return Argument(name, int(low[1:]), int(high[1:]), _LONG, signed=True)
    return Argument(name, int(low[1:]), None, _LONG if low[0] in "xs" else _WORD, low[0] == "s")


def _arguments(cell: str) -> tuple[Argument, ...]:
    return tuple(_argument(part) for part in filter(None, cell.split(",")))


def read_calls(tables: Tables) -> Mapping[int, SupervisorCall]:
    """The rows of `supervisor_calls.tsv`, by number."""
    calls = (
        SupervisorCall(
            int(row["number"], 0), row["call"], _arguments(row["request"]), _arguments(row["reply"]), row["doc"]
        )
        for row in tables.read("supervisor_calls")
    )
    return MappingProxyType({call.number: call for call in calls})
