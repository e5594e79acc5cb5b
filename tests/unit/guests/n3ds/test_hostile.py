"""Programs that try to keep the host busy, to take its memory or to reach what is not theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import pytest
from support.fuzz import load
from support.guest_messages import BUFFER, Talk

from pocketgpu.facts.supervisor import CALLS
from pocketgpu.guests.kernel import kernel
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.memory import PAGE, AddressError, Permission
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.results import Result

NUMBERS = {one.name: one for one in CALLS.values()}
FREE, ALLOCATE, MAP, UNMAP, PROTECT = 1, 3, 4, 5, 6
MOST_STEPS = 50_000
"""Of the kernel for one frame, whatever the program does: a second of the host, or two."""


def test_random_calls_and_messages() -> None:
    counts = load("guest_calls").run(1000, seed=3)
    assert counts["cases"] == 1000 and counts["calls"] > 800


def called(talk: Talk, call: str, **arguments: int) -> int:
    """Make a call; its result. Replies are in the thread's answer."""
    values = dict.fromkeys(range(8), 0)
    for one in NUMBERS[call].arguments:
        one.set(values, arguments.pop(one.name, 0))
    assert not arguments
    talk.thread.registers, talk.thread.answer = [values[n] for n in range(8)], {}
    talk.kernel.calls[NUMBERS[call].number](talk.thread)
    return talk.thread.answer.get(0, 0)


def made(talk: Talk, call: str, **arguments: int) -> int:
    """Make an object; its handle."""
    assert called(talk, call, **arguments) == Result.OK
    return talk.thread.answer[1]


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

    def registers(self, thread: Thread) -> None:
        """It has none."""


@pytest.mark.parametrize(
    "calls",
    [
        [("GetSystemTick", {})], [("SleepThread", {"nanoseconds": 1})], [("SleepThread", {"nanoseconds": 0})],
        [("OutputDebugString", {"text": BUFFER, "length": 1 << 16})], [("CloseHandle", {"handle": 5})],
        [("SetTimer", {"handle": 0x10, "first": 1}), ("WaitSynchronization", {"handle": 0x10, "nanoseconds": 1})],
        [("ArbitrateAddress", {"handle": 0x11, "address": BUFFER, "type": 3, "value": 1, "nanoseconds": 1})],
        [("SendSyncRequest", {"handle": 0x12})], [("CreateEvent", {})], [("QueryMemory", {"address": BUFFER})],
    ],
    ids=lambda calls: calls[0][0],
)  # fmt: skip
def test_a_program_that_only_makes_calls_gets_to_the_next_frame(calls: list[tuple[str, dict[str, int]]]) -> None:
    talk = Talk()
    made(talk, "CreateTimer")
    made(talk, "CreateAddressArbiter")
    talk.store(b"srv:\0")
    made(talk, "ConnectToPort", name=BUFFER)
    talk.kernel.processor = Loop(calls)  # type: ignore[assignment]
    talk.pass_frames(1)
    assert talk.kernel.steps < MOST_STEPS


@pytest.mark.parametrize("first", [0, 1, 10**6])
@pytest.mark.parametrize("interval", [1, 2, 999])
def test_timers_that_repeat_at_once_leave_time_for_the_host(first: int, interval: int) -> None:
    talk = Talk()
    timers = [made(talk, "CreateTimer", reset=2) for _ in range(3)]
    for timer in timers:
        assert called(talk, "SetTimer", handle=timer, first=first, interval=interval) == Result.OK
    start = perf_counter()
    talk.pass_frames(2)
    assert perf_counter() - start < 5 and talk.kernel.steps < MOST_STEPS


def test_timers_that_are_set_again_and_again_leave_nothing_behind() -> None:
    talk = Talk()
    timer = made(talk, "CreateTimer")
    for _ in range(20_000):
        called(talk, "SetTimer", handle=timer, first=10**18, interval=0)
    assert len(talk.kernel.time) < 1000
    talk.pass_frames(2)


def test_what_is_printed_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MOST_TEXT", 100_000)
    talk = Talk()
    talk.store(b"x" * 65536)
    for _ in range(4):
        assert called(talk, "OutputDebugString", text=BUFFER, length=65536) == Result.OK
    assert len(talk.kernel.text) == 100_000
    assert [one.id for one in talk.kernel.events] == ["guest.text"]


def test_unknown_things_are_told_a_bounded_number_of_times() -> None:
    talk = Talk()
    for number in range(3000):
        talk.ask(talk.console.gsp, 0x7000_0000 | number << 16)
        talk.kernel.absent_service(f"s{number}", talk.thread)
    assert len(list(talk.kernel.events)) <= 1001


# -- memory -----------------------------------------------------------------------------------------------------------
def control(talk: Talk, operation: int, address: int, size: int, source: int = 0) -> int:
    return called(
        talk, "ControlMemory", operation=operation, address=address, source=source, size=size, permission=3
    )


@pytest.mark.parametrize(
    "place",
    [layout.TLS, layout.KERNEL_PAGE, layout.SHARED_PAGE, layout.VRAM_VIRTUAL, layout.DSP, layout.LOADER_PAGE,
     layout.STACK_TOP - layout.STACK_SIZE],
)  # fmt: skip
@pytest.mark.parametrize("operation", [FREE, UNMAP, PROTECT])
def test_memory_that_is_always_there_stays(place: int, operation: int) -> None:
    talk = Talk()
    used = talk.kernel.used
    before = talk.kernel.space.find(place)
    assert control(talk, operation, place, PAGE) & 1 << 31
    assert talk.kernel.space.find(place) is before and talk.kernel.used == used


def test_memory_is_given_back_once_and_only_what_was_taken() -> None:
    talk = Talk()
    used = talk.kernel.used
    place = layout.HEAP + 0x400000
    assert control(talk, ALLOCATE, place, 4 * PAGE) == Result.OK
    assert control(talk, FREE, place, 5 * PAGE) & 1 << 31
    assert control(talk, FREE, place + PAGE, PAGE) == Result.OK
    assert control(talk, FREE, place, 4 * PAGE) & 1 << 31
    assert talk.kernel.used == used + 3 * PAGE
    assert control(talk, MAP, place + PAGE, PAGE, source=place) == Result.OK
    assert control(talk, FREE, place + PAGE, PAGE) & 1 << 31  # a mirror costs nothing, so it gives nothing back
    assert control(talk, UNMAP, place, PAGE) & 1 << 31
    assert control(talk, UNMAP, place + PAGE, PAGE) == Result.OK
    assert control(talk, PROTECT, place, PAGE) == Result.OK
    assert talk.kernel.used == used + 3 * PAGE


@pytest.mark.parametrize("place", [0, 0x50000000, 0xFFFFF000, layout.TLS, 0x14000000, layout.LINEAR_END])
def test_mirrors_lie_where_programs_lie(place: int) -> None:
    talk = Talk()
    assert control(talk, MAP, place, PAGE, source=BUFFER) == Result.INVALID_ADDRESS
    with pytest.raises(AddressError):
        talk.kernel.mirror(place, BUFFER, PAGE, Permission.READ)


def test_a_block_is_unmapped_by_its_own_handle() -> None:
    talk = Talk()
    handles = []
    for number in range(2):
        size = (number + 1) * 4 * PAGE
        handles.append(made(talk, "CreateMemoryBlock", address=BUFFER + number * 0x10000, size=size))
    at = layout.MAPPABLE
    assert called(talk, "MapMemoryBlock", handle=handles[0], address=at, permission=3) == Result.OK
    assert called(talk, "MapMemoryBlock", handle=handles[1], address=at + 4 * PAGE, permission=3) == Result.OK
    called(talk, "UnmapMemoryBlock", handle=handles[1], address=at)
    assert talk.kernel.space.find(at) is not None and talk.kernel.space.find(at + 4 * PAGE) is not None
    called(talk, "UnmapMemoryBlock", handle=handles[0], address=at)
    assert talk.kernel.space.find(at) is None


# -- services ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ask", [lambda apt: apt.press("HOME"), lambda apt: apt.jump_to_home_menu(None)])
def test_what_waits_for_a_program_is_bounded(ask: Callable[[object], object]) -> None:
    talk = Talk()
    for _ in range(500):
        ask(talk.console.apt)
    assert len(talk.console.apt.signals) <= 16 and len(talk.console.apt.parameters) <= 16


def _anywhere(self: HostFolder, path: str) -> Path:
    return self.root / path.lstrip("/").replace("\0", "")


def test_the_fuzzer_notices_a_card_that_is_open_to_all_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostFolder, "_place", _anywhere)
    with pytest.raises(AssertionError, match="episode"):
        load("guest_calls").run(4000, seed=5)
