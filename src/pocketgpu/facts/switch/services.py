"""Commands of the Switch's services: their names.

    command_name("IFileSystem", 8)  # "OpenFile"
    command_name("IFileSystem", 999)  # "command 999"

The rows are in switch/service_commands.tsv. What the services do is in pocketgpu.guests.switch.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from pocketgpu.facts.switch import TABLES


@cache
def commands() -> Mapping[str, Mapping[int, str]]:
    """The names of all commands, by service or interface and number."""
    found = {
        service: MappingProxyType({int(row["number"]): row["command"] for row in entry.rows})
        for entry in TABLES.read("service_commands")
        for service in entry["service"].split(",")
    }
    return MappingProxyType(found)


def command_name(service: str, number: int) -> str:
    """The name of a command of a service or interface; one that the table does not have has its number as name."""
    return commands().get(service, {}).get(number, f"command {number}")
