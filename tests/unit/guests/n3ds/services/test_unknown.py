"""What is not modelled is told by name, once for each kind, and ends the run where the choice says so."""

from __future__ import annotations

import pytest
from support.guest_messages import Talk

from pocketgpu.guests.n3ds.abi.results import Result


def name_words(name: str) -> tuple[int, int, int]:
    data = name.encode().ljust(8, b"\0")
    return int.from_bytes(data[:4], "little"), int.from_bytes(data[4:], "little"), len(name)


def test_an_unknown_command_is_told_once_with_its_count() -> None:
    talk = Talk()
    for word in range(5):
        answer = talk.ask(talk.console.fs, 0x08250040, word)
        assert answer[:2] == (0x08250040, Result.INVALID_COMMAND)
    (event,) = talk.kernel.events
    assert (event.id, event.count) == ("guest.command", 5)
    assert event.message == (
        "fs:USER: CardNorDirectCommand is not modelled (first by thread 1: 08250040 00000000)"
    )  # fmt: skip
    assert talk.kernel.end is None


def test_kinds_are_told_apart() -> None:
    talk = Talk()
    talk.ask(talk.console.fs, 0x08250040, 1)
    talk.ask(talk.console.fs, 0x0FFE0000)
    talk.ask(talk.console.hid, 0x00990000)
    assert [one.message.split(" is")[0] for one in talk.kernel.events] == [
        "fs:USER: CardNorDirectCommand", "fs:USER: command 0xffe", "hid:USER: command 0x99"
    ]  # fmt: skip


def test_an_unknown_supervisor_call_is_told_by_name() -> None:
    talk = Talk()
    talk.thread.registers = [1, 2, 3, 4, 0, 0, 0, 0]
    for number in (0x70, 0x70, 0xFE):
        talk.kernel.unknown_call(talk.thread, number)
    first, second = talk.kernel.events
    assert first.message.startswith("supervisor call 0x70 ControlProcessMemory is not modelled") and first.count == 2
    assert second.message.startswith("supervisor call 0xfe is not modelled")
    assert talk.thread.answer[0] == Result.NOT_IMPLEMENTED


@pytest.mark.parametrize("what", ["command", "call"])
def test_the_choice_ends_the_run(what: str) -> None:
    talk = Talk(choices={"guest.unknown_call": "end"})
    if what == "command":
        talk.ask(talk.console.fs, 0x08250040, 0)
    else:
        talk.kernel.unknown_call(talk.thread, 0x70)
    end = talk.kernel.end
    assert end is not None and end.why == "unknown call" and not end.well
    assert "is not modelled" in end.text


def test_absent_services_are_refused_and_told_by_name() -> None:
    talk = Talk()
    for _ in range(3):
        assert talk.ask(talk.console.srv, 0x00050100, *name_words("cam:u"), 0)[1] == Result.ACCESS_DENIED
    assert talk.ask(talk.console.srv, 0x00050100, *name_words("cfg:i"), 0)[1] == Result.OK
    (event,) = talk.kernel.events
    assert (event.id, event.message, event.count) == ("guest.service", "the service cam:u is absent here", 3)


def test_notifications_reach_who_subscribed() -> None:
    talk = Talk()
    srv = talk.console.srv
    semaphore = talk.kernel.handles.get(talk.ask(srv, 0x00020000)[3])
    assert semaphore is srv.notified
    talk.ask(srv, 0x000C0080, 0x100, 0)
    assert talk.ask(srv, 0x000B0000)[2] == 0
    talk.ask(srv, 0x00090040, 0x100)
    talk.ask(srv, 0x000C0080, 0x100, 0)
    assert srv.notified.count == 1
    assert talk.ask(srv, 0x000B0000)[2] == 0x100
    talk.ask(srv, 0x000A0040, 0x100)
    assert not srv.publish(0x100)
