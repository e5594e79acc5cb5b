"""Names of the commands of services, and of supervisor calls."""

from __future__ import annotations

import csv

import pytest
from support import recordings

from pocketgpu.facts.services import command_name, commands
from pocketgpu.facts.supervisor import CALLS

FACTS = recordings.folder() / "reference" / "guests" / "3ds-ipc-commands.tsv"
OTHER_NAMES = {
    "socuipc_cmd7": "RecvFromOther", "socuipc_cmd9": "SendToOther", "socuipc_cmda": "SendTo",
    "getaddrinfo_detail": "GetAddrInfo", "SOCU_ShutdownSockets": "Shutdown", "srvWaitForPortRegistered": "GetPort",
}  # fmt: skip
"""Functions of the library whose command is called otherwise; some do the same as another function."""


@pytest.mark.parametrize(
    ("service", "header", "name"),
    [
        ("fs:USER", 0x080201C2, "OpenFile"), ("file", 0x080200C2, "Read"), ("directory", 0x08010042, "Read"),
        ("APT:A", 0x000D0080, "ReceiveParameter"), ("ptm:sysm", 0x00070000, "GetBatteryLevel"),
        ("cfg:i", 0x00050000, "GetSystemModel"), ("cam:u", 0x00010040, "StartCapture"),
        ("fs:USER", 0x08020000, "OpenFile"), ("fs:USER", 0x0FFF0000, "command 0xfff"), ("new", 0x10000, "command 0x1"),
    ],
)  # fmt: skip
def test_commands_have_names(service: str, header: int, name: str) -> None:
    assert command_name(service, header) == name


def test_headers_count_words() -> None:
    for one in commands():
        translated, words = one.header & 0x3F, one.header >> 6 & 0x3F
        assert translated + words < 64 and one.name[0].isupper() and one.services, one
        assert all(index < 64 for index in one.answer), one


@pytest.mark.skipif(not FACTS.exists(), reason=recordings.REASON)
def test_no_command_of_the_facts_is_missing() -> None:
    ours = {(one.header, one.name.lower()) for one in commands()}
    headers = {header for header, _ in ours}
    with FACTS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["header"].startswith("0x")]
    assert len(rows) == 1084
    for row in rows:
        assert int(row["header"], 0) in headers, row
        names = [one for header, one in ours if header == int(row["header"], 0)]
        name = row["call"].lower()
        assert [one for one in names if name.endswith(one)] or OTHER_NAMES.get(row["call"], "").lower() in names, row


def test_supervisor_calls_that_are_not_modelled_have_names_too() -> None:
    assert CALLS[0x26].name == "SignalAndWait" and CALLS[0x70].name == "ControlProcessMemory"
    assert len({one.name for one in CALLS.values()}) == len(CALLS)
