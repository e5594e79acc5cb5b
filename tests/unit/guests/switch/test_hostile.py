"""Programs of the Switch that try to keep the host busy, to take its memory or to reach what is not theirs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.fuzz import load
from support.switch_talk import BUFFER, NUMBERS, ROOM, Talk

from pocketgpu.guests.kernel import handles as kernel_handles
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.threads import State, Thread
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.pages import Kind, Use
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.calls.memory import TransferMemory
from pocketgpu.guests.switch.pages import PageUses, RamPages

MOST_STEPS = 50_000
"""Of the kernel for one frame, whatever the program does."""
_BOTH = Permission.READ | Permission.WRITE


class Loop:
    """A processor that makes the same calls again and again, two instructions each."""

    def __init__(self, calls: Sequence[tuple[str, dict[str, int]]]) -> None:
        self.calls, self.at = calls, 0

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        thread.answer = {}
        self.at += 1
        if budget < 2:
            return Stop(budget)
        name, arguments = self.calls[self.at % len(self.calls)]
        values = dict.fromkeys(range(8), 0)
        for one in NUMBERS[name].arguments:
            one.set(values, arguments.get(one.name, 0))
        thread.registers = [values[n] for n in range(8)]
        return Stop(2, NUMBERS[name].number)

    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        """Nothing is executed."""

    def registers(self, thread: Thread) -> None:
        """It has none."""


def test_random_calls_and_messages() -> None:
    counts = load("switch_calls").run(2000, seed=3)
    assert counts["cases"] == 2000 and counts["calls"] > 1500 and counts["requests to devices"] > 20


def _anywhere(self: HostFolder, path: str) -> Path:
    return self.root / path.lstrip("/").replace("\0", "")


def test_the_fuzzer_notices_a_card_that_is_open_to_all_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostFolder, "_place", _anywhere)
    with pytest.raises(AssertionError, match="episode"):
        load("switch_calls").run(60000, seed=4)  # far fewer are needed; how many changes with each new service


@pytest.mark.parametrize(
    "calls",
    [
        [("GetSystemTick", {})], [("SleepThread", {"nanoseconds": 1})], [("SleepThread", {"nanoseconds": 0})],
        [("SleepThread", {"nanoseconds": -2})], [("OutputDebugString", {"text": BUFFER, "length": 1 << 16})],
        [("CloseHandle", {"handle": 5})], [("CreateEvent", {})], [("QueryMemory", {"result": BUFFER})],
        [("WaitForAddress", {"address": BUFFER, "kind": 2, "nanoseconds": 1})],
        [("SignalToAddress", {"address": BUFFER})],
        [("WaitSynchronization", {"handles": BUFFER, "nanoseconds": 1})], [("CreateThread", {"core": 0})],
        [("SetMemoryAttribute", {"address": BUFFER, "size": PAGE, "mask": 8, "value": 8})],
        [("MapMemory", {"address": layout.STACKS, "source": BUFFER, "size": PAGE}),
         ("UnmapMemory", {"address": layout.STACKS, "source": BUFFER, "size": PAGE})],
        [("CreateSession", {})], [("CreatePort", {"most": 1})], [("SleepThread", {"nanoseconds": -1})],
        [("ReplyAndReceive", {"handles": BUFFER, "nanoseconds": 1})],
        [("ManageNamedPort", {"name": BUFFER, "most": 1})],
        [("CreateSharedMemory", {"size": PAGE, "permission": 3, "other": 3})],
        [("CreateCodeMemory", {"address": BUFFER, "size": PAGE})], [("GetInfo", {"type": 9})],
        [("GetProcessList", {"ids": BUFFER, "most": 1})], [("DebugActiveProcess", {})],
    ],
    ids=lambda calls: calls[0][0],
)  # fmt: skip
def test_a_program_that_only_makes_calls_gets_to_the_next_frame(calls: list[tuple[str, dict[str, int]]]) -> None:
    talk = Talk()
    talk.kernel.processor = Loop(calls)  # type: ignore[assignment]
    while not talk.console.vblanks:
        assert talk.kernel.step() and talk.kernel.steps < MOST_STEPS


# -- memory -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", [layout.TLS, layout.CODE, 0, layout.LIMIT, (1 << 64) - PAGE])
@pytest.mark.parametrize("call", ["SetMemoryPermission", "SetMemoryAttribute", "CreateTransferMemory"])
def test_memory_that_is_not_the_programs_to_change_stays(place: int, call: str) -> None:
    talk = Talk()
    before = talk.kernel.space.find(place)
    assert talk.called(call, address=place, size=PAGE) != Result.OK
    assert talk.kernel.space.find(place) is before


def test_pages_that_are_lent_are_not_lent_again_nor_given_back() -> None:
    talk = Talk()
    kernel = talk.kernel
    kernel.heap = ROOM
    block = talk.made("CreateTransferMemory", address=BUFFER + PAGE, size=2 * PAGE)
    assert talk.called("CreateTransferMemory", address=BUFFER, size=2 * PAGE) == Result.INVALID_MEMORY_STATE
    assert talk.called("MapMemory", address=layout.STACKS, source=BUFFER, size=ROOM) == Result.INVALID_MEMORY_STATE
    assert talk.called("SetHeapSize", size=0) == Result.INVALID_MEMORY_STATE
    held = kernel.handles.get(block)
    assert isinstance(held, TransferMemory) and len(held.view) == 2 * PAGE
    held.view[:4] = b"used"
    assert talk.called("CloseHandle", handle=block) == Result.OK
    assert kernel.space.read(BUFFER + PAGE, 4) == b"used"
    assert talk.called("SetHeapSize", size=0) == Result.OK and kernel.space.find(BUFFER) is None


def test_the_heap_takes_no_more_than_there_is_and_gives_all_back() -> None:
    talk = Talk()
    talk.kernel.unmap_ram(BUFFER, ROOM)
    left = talk.kernel.free_ram.left
    assert talk.called("SetHeapSize", size=layout.RAM) == Result.OUT_OF_MEMORY
    for size in (4, 64, 8, 32, 0):
        assert talk.called("SetHeapSize", size=size * layout.MIB) == Result.OK
        assert talk.kernel.free_ram.left == left - size * layout.MIB
    assert len(list(talk.kernel.space.within(layout.HEAP, layout.HEAP_REGION_SIZE))) == 0


def test_memory_is_zero_when_it_is_used_again() -> None:
    talk = Talk()
    kernel = talk.kernel
    kernel.space.write(BUFFER + PAGE, b"of before")
    kernel.unmap_ram(BUFFER, ROOM)
    area = kernel.map_ram("again", BUFFER, ROOM, _BOTH, Kind.HEAP)
    assert not any(area.view)


def test_pages_of_ram() -> None:
    ram = RamPages(0x10000)
    assert (ram.take(0x4000), ram.take(0x4000), ram.take(0x9000)) == (0, 0x4000, None)
    assert ram.take(0x1000, at=0x9000) == 0x9000 and ram.take(0x1000, at=0x9000) is None
    ram.give_back(0, 0x4000)
    assert ram.take(0x5000) == 0xA000 and ram.take(0x4000) == 0
    for offset, size in ((0x9000, 0x1000), (0, 0x4000), (0xA000, 0x5000), (0x4000, 0x4000)):
        ram.give_back(offset, size)
    assert ram.left == 0x10000 and ram.take(0x10000) == 0


def test_uses_of_pages() -> None:
    uses = PageUses()
    uses.set(0x3000, 0x2000, Use.LENT, Use.LENT)
    uses.set(0x4000, 0x2000, Use.UNCACHED, Use.UNCACHED)
    assert [uses.at(place)[0] for place in (0x2FFF, 0x3000, 0x4000, 0x5000, 0x6000)] == [0, 1, 9, 8, 0]
    assert uses.at(0x4800)[1:] == (0x4000, 0x5000) and uses.at(0)[1:] == (0, 0x3000)
    assert uses.any(0, 0x3000) == 0 and uses.any(0, 0x3001) == 1 and uses.any(0x3000, 0x3000) == 9
    uses.set(0x3000, 0x2000, Use.LENT, 0)
    assert uses.at(0x3000) == (0, 0, 0x4000) and uses.at(0x5000) == (8, 0x4000, 0x6000)
    uses.clear(0, 0x10000)
    assert uses.at(0x4000) == (0, 0, layout.LIMIT)


def test_caches_of_the_programs_own_memory_are_written_back() -> None:
    talk = Talk()
    told: list[tuple[int, int]] = []
    talk.kernel.flush_listeners.append(lambda address, size: told.append((address, size)))
    assert talk.called("FlushDataCache", address=BUFFER, size=PAGE) == Result.OK
    assert talk.called("FlushProcessDataCache", process=0xFFFF8001, address=BUFFER + 8, size=1) == Result.OK
    assert talk.called("InvalidateProcessDataCache", process=0xFFFF8001, address=BUFFER, size=1) == Result.OK
    assert talk.called("FlushDataCache", address=BUFFER, size=ROOM + 1) == Result.INVALID_POINTER
    assert talk.called("FlushDataCache", address=(1 << 64) - 1, size=1 << 63) == Result.INVALID_POINTER
    assert talk.called("StoreProcessDataCache", process=0xFFFF8000, address=BUFFER, size=1) == Result.INVALID_HANDLE
    assert told == [(BUFFER, PAGE), (BUFFER + 8, 1)]


def test_calls_that_are_not_modelled_are_told_by_their_names() -> None:
    talk = Talk()
    for number, name in ((0x79, "CreateProcess"), (0x7F, "CallSecureMonitor"), (0xFF, "supervisor call 0xff")):
        talk.thread.registers, talk.thread.answer = [0] * 8, {}
        talk.kernel.unknown_call(talk.thread, number)
        assert talk.thread.answer[0] == Result.NOT_IMPLEMENTED
        assert name in list(talk.kernel.events)[-1].message


# -- ports and code ---------------------------------------------------------------------------------------------------
def test_names_of_ports_are_few() -> None:
    talk = Talk()
    results = []
    for n in range(100):
        talk.kernel.space.write(BUFFER, f"p{n}\0".encode())
        results.append(talk.called("ManageNamedPort", name=BUFFER, most=1))
        talk.called("CloseHandle", handle=talk.thread.answer.get(1, 0))
    assert results == [Result.OK] * 64 + [Result.OUT_OF_RESOURCE] * 36
    for name in ("p3", "sm:"):
        talk.kernel.space.write(BUFFER, name.encode() + b"\0")
        assert talk.called("ManageNamedPort", name=BUFFER, most=1) == Result.INVALID_STATE
    talk.kernel.space.write(BUFFER, b"p3\0")
    assert talk.called("ConnectToNamedPort", name=BUFFER) == Result.PORT_CLOSED
    assert talk.called("ManageNamedPort", name=BUFFER, most=0) == Result.OK
    assert talk.called("ConnectToNamedPort", name=BUFFER) == Result.NOT_FOUND


def test_a_table_of_handles_that_is_full_loses_nothing() -> None:
    """No session, port or memory is made whose handle the program cannot have."""
    talk = Talk()
    kernel = talk.kernel
    port = talk.made("CreatePort", most=5)
    client = talk.thread.answer[2]
    assert talk.called("ConnectToPort", port=client) == Result.OK
    kernel.handles.limit = len(kernel.handles)
    left, areas = kernel.free_ram.left, list(kernel.space)
    for call, arguments in (
        ("ConnectToPort", {"port": client}), ("AcceptSession", {"port": port}), ("CreateSession", {}),
        ("CreatePort", {"most": 1}), ("CreateSharedMemory", {"size": PAGE, "permission": 3, "other": 3}),
        ("CreateCodeMemory", {"address": BUFFER, "size": PAGE}),
        ("CreateTransferMemory", {"address": BUFFER, "size": PAGE}),
    ):  # fmt: skip
        assert talk.called(call, **arguments) == Result.OUT_OF_HANDLES, call
    assert kernel.free_ram.left == left and list(kernel.space) == areas
    kernel.handles.limit += 1
    assert talk.called("AcceptSession", port=port) == Result.OK, "the session still waits for it"


def test_threads_that_ask_a_server_that_ends_go_on() -> None:
    talk = Talk()
    kernel = talk.kernel
    server = talk.made("CreateSession")
    client = talk.thread.answer[2]
    askers = []
    for _ in range(3):
        other = kernel.make_thread(0x2C, 0, 0, 0)
        assert other is not None
        askers.append(other)
        kernel.space.set_words(other.tls, 4, 0)
        other.registers, other.answer = [client] + [0] * 7, {}
        kernel.calls[NUMBERS["SendSyncRequest"].number](other)
    assert [one.state for one in askers] == [State.WAITING] * 3
    kernel.space.set_words(BUFFER, server)
    kernel.space.set_words(talk.thread.tls, 0, 0)
    assert talk.called("ReplyAndReceive", handles=BUFFER, count=1, nanoseconds=0) == Result.OK
    assert talk.called("CloseHandle", handle=server) == Result.OK
    assert [(one.state, one.answer) for one in askers] == [(State.READY, {0: Result.SESSION_CLOSED})] * 3
    assert talk.called("CloseHandle", handle=client) == Result.OK


def test_code_memory_that_is_mapped_keeps_its_pages() -> None:
    """Its handle closed, its sides stay, and the heap under them is not given back."""
    talk = Talk()
    kernel = talk.kernel
    kernel.heap = ROOM
    code = talk.made("CreateCodeMemory", address=BUFFER, size=PAGE)
    ((offset, _),) = kernel.offsets(BUFFER, PAGE)
    assert (kernel.machine.memory.arena[offset : offset + PAGE] == 0xFF).all()
    place = layout.CODE + 0x1000_0000
    given = {"code": code, "operation": 1, "address": place, "size": PAGE, "permission": 5}
    assert talk.called("ControlCodeMemory", **given) == Result.OK
    assert talk.called("CloseHandle", handle=code) == Result.OK
    assert talk.called("SetHeapSize", size=0) == Result.INVALID_MEMORY_STATE
    area = kernel.space.find(place)
    assert area is not None and area.permission == Permission.READ | Permission.EXECUTE


def test_no_memory_is_both_written_and_run() -> None:
    talk = Talk()
    kernel = talk.kernel
    process = kernel.handles.add(kernel.process)
    assert process is not None
    place = layout.CODE + 0x1000_0000
    given = {"process": process, "address": place, "source": BUFFER, "size": PAGE}
    assert talk.called("MapProcessCodeMemory", **given) == Result.OK
    for permission in range(16):
        talk.called("SetProcessMemoryPermission", process=process, address=place, size=PAGE, permission=permission)
        area = kernel.space.find(place)
        assert area is not None
        assert not (area.permission & Permission.WRITE and area.permission & Permission.EXECUTE)


# -- objects ----------------------------------------------------------------------------------------------------------
def test_handles_never_have_the_bits_that_mutexes_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_handles, "GREATEST", 0x20)
    table = kernel_handles.Handles(first=0x10, limit=8)
    kept = table.add(Event(Reset.STICKY))
    seen = set()
    for _ in range(100):
        number = table.add(Event(Reset.STICKY))
        assert number is not None and 0x10 <= number <= 0x20 and number != kept
        seen.add(number)
        table.close(number)
    assert len(seen) == 16


def test_threads_that_never_start_leave_nothing_behind() -> None:
    talk = Talk()
    for _ in range(3 * layout.TLS_SLOTS):
        handle = talk.made("CreateThread", priority=0x2C, core=0)
        assert talk.called("CloseHandle", handle=handle) == Result.OK
    handles = [talk.made("CreateThread", priority=0x2C, core=0) for _ in range(layout.TLS_SLOTS - 1)]
    assert talk.called("CreateThread", priority=0x2C, core=0) == Result.LIMIT_REACHED
    assert len(talk.kernel.scheduler.threads) == 1
    first = talk.kernel.handles.get(handles[0])
    assert isinstance(first, Thread) and first.state is State.NEW
    assert talk.called("CloseHandle", handle=handles[0]) == Result.OK
    talk.made("CreateThread", priority=0x2C, core=0)


def test_all_threads_paused_or_waiting_is_the_end() -> None:
    talk = Talk()
    kernel = talk.kernel
    other = kernel.make_thread(0x2C, 0, 0, 0)
    assert other is not None
    handle = kernel.handles.add(other)
    assert handle is not None
    assert talk.called("SetThreadActivity", thread=handle, activity=1) == Result.OK
    talk.called("WaitForAddress", address=BUFFER, kind=2, value=0, nanoseconds=-1)
    assert kernel.run() is not None and kernel.end is not None and kernel.end.why == "waits forever"
