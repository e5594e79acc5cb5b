"""Names of the commands of the Switch's services."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator

import pytest
from support import recordings

from pocketgpu.facts.switch.services import command_name, commands
from pocketgpu.guests.kernel.service import methods_of
from pocketgpu.guests.switch.abi.cmif import Interface
from pocketgpu.guests.switch.console import SwitchConsole


def interfaces(kind: type[Interface] = Interface) -> Iterator[type[Interface]]:
    for one in kind.__subclasses__():
        yield one
        yield from interfaces(one)


def test_names_by_service_and_number() -> None:
    assert command_name("IFileSystem", 8) == "OpenFile"
    assert command_name("time:s", 20) == command_name("time:u", 20) == "GetSharedMemoryNativeHandle"
    assert command_name("IFileSystem", 999) == "command 999"
    assert command_name("nobody", 1) == "command 1"


def test_no_number_has_two_names() -> None:
    assert all(len(known) == len(set(known.values())) for service, known in commands().items() if service != "vi:m")
    assert sum(map(len, commands().values())) > 800


def test_every_command_that_is_modelled_has_a_name() -> None:
    assert SwitchConsole.screen_names  # which imports all services
    ours = [one for one in interfaces() if one.__module__.startswith("pocketgpu.") and one.name]
    assert len(ours) > 30
    unnamed = [
        f"{one.name} {number}" for one in ours for number in methods_of(one)
        if command_name(one.name, number).startswith("command ")
    ]  # fmt: skip
    assert unnamed == []


FOLDER = recordings.folder() / "guests" / "switch" / "conversations"
_OTHER_NAMES = {"hid.IAppletResource": "IAppletResource"}


@pytest.mark.skipif(not FOLDER.is_dir(), reason=recordings.REASON)
def test_commands_of_recorded_programs_have_their_names() -> None:
    wanted = {
        (one["to"], one["cmd"]): one["cmdname"]
        for path in FOLDER.glob("*.xz") for line in lzma.decompress(path.read_bytes()).splitlines()
        if (one := json.loads(line).get("ipc", {})).get("kind") == "request"
    }  # fmt: skip
    assert len(wanted) > 60
    found = {key: command_name(_OTHER_NAMES.get(key[0], key[0]), key[1]) for key in wanted}
    assert found == wanted
