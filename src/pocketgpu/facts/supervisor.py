"""Supervisor calls of the 3DS: numbers, names, and which registers carry what.

    call = CALLS[0x08]
    call.name, call.arguments  # "CreateThread", (Argument("priority", 0, None), ...)

The rows are in n3ds/supervisor_calls.tsv. What the calls do is in pocketgpu.guests.n3ds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.n3ds import TABLES


@dataclass(frozen=True, slots=True)
class Argument:
    """A number in a register; high: the register of its upper 32 bits, if it has 64."""

    name: str
    low: int
    high: int | None = None

    def get(self, registers: Sequence[int]) -> int:
        """The number; those of 64 bits are signed, as times are."""
        if self.high is None:
            return registers[self.low]
        value = registers[self.low] | registers[self.high] << 32
        return value - (value >> 63 << 64)

    def set(self, registers: dict[int, int], value: int) -> None:
        """Put a number into its registers."""
        registers[self.low] = value & 0xFFFFFFFF
        if self.high is not None:
            registers[self.high] = value >> 32 & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class SupervisorCall:
    """A call. arguments, replies: by register; the result code in r0 is not among the replies."""

    number: int
    name: str
    arguments: tuple[Argument, ...]
    replies: tuple[Argument, ...]
    doc: str = ""

    def __repr__(self) -> str:
        return f"<SupervisorCall {self.number:#04x} {self.name}>"


def _arguments(cell: str) -> tuple[Argument, ...]:
    found = []
    for part in filter(None, cell.split(",")):
        places, _, name = part.partition(" ")
        low, _, high = places.partition(":")
        found.append(Argument(name, int(low[1:]), int(high[1:]) if high else None))
    return tuple(found)


def _read() -> Mapping[int, SupervisorCall]:
    rows = TABLES.read("supervisor_calls")
    calls = (
        SupervisorCall(
            int(row["number"], 0), row["call"], _arguments(row["request"]), _arguments(row["reply"]), row["doc"]
        )
        for row in rows
    )
    return MappingProxyType({call.number: call for call in calls})


CALLS: Final = _read()
"""All calls by number."""
