"""Commands of the services of the 3DS: their names, and what their messages hold.

    command_name("fs:USER", 0x080201C2)  # "OpenFile"
    command_name("fs:USER", 0x0FFF0000)  # "command 0xfff"

The rows are in n3ds/service_commands.tsv. What the services do is in pocketgpu.guests.n3ds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from pocketgpu.facts.n3ds import TABLES
from pocketgpu.late_dataclass import dataclass

_COMMAND_SHIFT = 16


@dataclass(frozen=True, slots=True)
class ServiceCommand:
    """A command. header: the first word of a request. services: who answers it, under any of these names.
    descriptors: what the translated words describe. answer: words of the answer that libctru reads."""

    header: int
    services: tuple[str, ...]
    name: str
    descriptors: tuple[str, ...]
    answer: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<ServiceCommand {self.services[0]} {self.name} {self.header:#010x}>"


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split(",")))


@cache
def commands() -> tuple[ServiceCommand, ...]:
    """All commands, by service and header."""
    return tuple(
        ServiceCommand(
            int(row["header"], 0), _parts(row["service"]), row["call"], _parts(row["descriptors"]),
            tuple(map(int, _parts(row["answer"]))),
        )
        for row in TABLES.read("service_commands")
    )  # fmt: skip


@cache
def _by_service() -> Mapping[tuple[str, int], ServiceCommand]:
    found: dict[tuple[str, int], ServiceCommand] = {}
    for one in commands():
        for service in one.services:
            found.setdefault((service, one.header), one)
            found.setdefault((service, one.header >> _COMMAND_SHIFT), one)
    return MappingProxyType(found)


def command_name(service: str, header: int) -> str:
    """The name of a command of a service. A header with other counts of words than the table's has the same name; a
    command that the table does not have has its number as name."""
    known = _by_service()
    one = known.get((service, header)) or known.get((service, header >> _COMMAND_SHIFT))
    return one.name if one else f"command {header >> _COMMAND_SHIFT:#x}"
