"""Semaphores, queries, notifications and conditional rendering of the 3D class; methods that wait or do nothing."""

from __future__ import annotations

import struct

import pytest

from .switch_client import INC, Client, f32, header

PAYLOAD = 0x1234ABCD
ONE_WORD = 1 << 28
RELEASE, ACQUIRE, REPORT = 0, 1, 2
DA_VERTICES, DA_PRIMITIVES, ZPASS64 = 1, 3, 0x15


@pytest.fixture
def client() -> Client:
    return Client()


def report(client: Client, address: int, control: int, payload: int = PAYLOAD, **how: bool) -> None:
    client.put(0x6C0, address >> 32, address & 0xFFFFFFFF, payload, control, **how)


def draw(client: Client, topology: int, count: int) -> None:
    client.put(0x586, topology)
    client.put(0x35D, 0, count)
    client.put(0x585, 0)


# -- report semaphores ------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x6c0", "b197.0x6c2", "b197.0x6c3")
def test_a_release_writes_the_payload_alone_or_with_the_time(client: Client) -> None:
    address = client.room(64, 0x11)
    report(client, address, RELEASE | ONE_WORD)
    assert client.get(address, 16) == struct.pack("<I", PAYLOAD) + b"\x11" * 12
    report(client, address + 32, RELEASE, 7)
    payload, zero, first = struct.unpack("<IIQ", client.get(address + 32, 16))
    assert (payload, zero) == (7, 0) and first > 0
    client.feed(0x360, *range(200))  # work done makes time pass
    report(client, address + 32, RELEASE, 8)
    assert struct.unpack("<IIQ", client.get(address + 32, 16))[2] > first
    assert client.get(address + 16, 16) == b"\x11" * 16 and client.events() == []


@pytest.mark.row("b197.0x6c3")
def test_only_the_last_word_of_the_block_runs_the_operation(client: Client) -> None:
    address = client.room(16)
    client.put(0x6C0, address >> 32, address & 0xFFFFFFFF, PAYLOAD)
    assert client.get(address, 16) == bytes(16)
    client.put(0x6C3, ONE_WORD)
    assert client.peek(address) == (PAYLOAD,)


@pytest.mark.row("b197.0x6c3")
@pytest.mark.parametrize(
    ("op", "old", "payload", "signed", "new"),
    [
        (0, 5, 7, 0, 12), (1, 5, 0xFFFFFFFF, 0, 5), (1, 5, 0xFFFFFFFF, 1, 0xFFFFFFFF), (2, 5, 0xFFFFFFFF, 1, 5),
        (3, 5, 5, 0, 0), (3, 4, 5, 0, 5), (4, 0, 9, 0, 9), (4, 3, 9, 0, 2), (5, 0xF0, 0x3C, 0, 0x30),
        (6, 0xF0, 0x3C, 0, 0xFC), (7, 0xF0, 0x3C, 0, 0xCC),
    ],
)  # fmt: skip
def test_a_release_may_reduce_instead_of_store(
    client: Client, op: int, old: int, payload: int, signed: int, new: int
) -> None:
    """Add, min, max, count up, count down, and, or, xor."""
    address = client.room(16)
    client.poke(address, old)
    report(client, address, RELEASE | 1 << 3 | op << 9 | signed << 17 | ONE_WORD, payload)
    assert client.peek(address, 2) == (new, 0)


@pytest.mark.row("b197.0x6c3")
def test_an_acquire_waits_until_another_channel_releases(client: Client) -> None:
    address, done = client.room(16), client.room(16)
    report(client, address, ACQUIRE | ONE_WORD, 5, finish=False)
    report(client, done, RELEASE | ONE_WORD, 1, finish=False)
    assert client.peek(done) == (0,)
    block = (address >> 32, address & 0xFFFFFFFF, 5, RELEASE | ONE_WORD)
    client.push(header(INC, 0, 1), 0xB197, header(INC, 0x6C0, 4), *block, channel=1)
    assert client.peek(address) == (5,) and client.peek(done) == (1,) and client.events() == []


@pytest.mark.row("b197.0x6c3")
def test_an_acquire_that_nobody_answers_is_a_hang(client: Client) -> None:
    address = client.room(16)
    report(client, address, ACQUIRE | ONE_WORD, 5)
    assert client.events() == ["channel.deadlock"]


@pytest.mark.row("b197.0x6c0")
def test_a_report_to_memory_that_is_not_there_is_a_fault(client: Client) -> None:
    report(client, 0x99_0000_0000, RELEASE)
    assert len(client.events()) == 1


# -- counters ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x35a", "b197.0x6c3")
def test_counters_run_while_they_are_enabled(client: Client) -> None:
    address = client.room(64)

    def counted(number: int) -> int:
        report(client, address, REPORT | number << 23)
        return int(struct.unpack("<QQ", client.get(address, 16))[0])

    draw(client, 4, 9)
    assert counted(DA_VERTICES) == counted(DA_PRIMITIVES) == 0
    client.put(0x35A, 3)
    draw(client, 4, 9)
    draw(client, 5, 6)
    assert (counted(DA_VERTICES), counted(DA_PRIMITIVES)) == (15, 3 + 4)
    client.put(0x35A, 1)
    draw(client, 1, 4)
    assert (counted(DA_VERTICES), counted(DA_PRIMITIVES)) == (19, 7)
    report(client, address + 32, REPORT | DA_VERTICES << 23 | ONE_WORD)
    assert client.peek(address + 32, 4) == (19, 0, 0, 0)


@pytest.mark.row("b197.0x54c")
def test_a_reset_clears_the_counter_that_its_own_list_of_numbers_names(client: Client) -> None:
    """0x12 are the vertices, 0x13 the primitives: not the numbers that reports have."""
    address = client.room(64)
    client.put(0x35A, 3)
    draw(client, 4, 9)
    client.put(0x54C, 0x13)
    for number, expected in ((DA_VERTICES, 9), (DA_PRIMITIVES, 0)):
        report(client, address, REPORT | number << 23)
        assert client.peek(address, 2) == (expected, 0)
    client.put(0x54C, 0x12)
    report(client, address, REPORT | DA_VERTICES << 23)
    assert client.peek(address, 2) == (0, 0)


# What SET_REPORT_SEMAPHORE_D (bits 27:23) reads of each counter, and the name that the machine counts it under.
REPORTS = {
    0x01: "DA_VERTICES_GENERATED", 0x03: "DA_PRIMITIVES_GENERATED", 0x05: "VS_INVOCATIONS", 0x1B: "TI_INVOCATIONS",
    0x1D: "TS_INVOCATIONS", 0x1F: "TS_PRIMITIVES_GENERATED", 0x07: "GS_INVOCATIONS", 0x09: "GS_PRIMITIVES_GENERATED",
    0x04: "ALPHA_BETA_CLOCKS", 0x12: "VTG_PRIMITIVES_OUT", 0x0B: "STREAMING_PRIMITIVES_SUCCEEDED",
    0x0D: "STREAMING_PRIMITIVES_NEEDED", 0x0F: "CLIPPER_INVOCATIONS", 0x11: "CLIPPER_PRIMITIVES_GENERATED",
    0x0A: "ZCULL_STATS0", 0x0C: "ZCULL_STATS1", 0x0E: "ZCULL_STATS2", 0x10: "ZCULL_STATS3", 0x13: "PS_INVOCATIONS",
    0x15: "ZPASS_PIXEL_CNT64",
}  # fmt: skip
STREAMS = {0x0B, 0x0D}
# What is written to word 0x54c, and the reports that it clears.
CLEARS = {
    0x01: {0x15}, 0x02: {0x0A, 0x0C, 0x0E, 0x10}, 0x03: {0x0B, 0x0D}, 0x04: {0x04}, 0x10: {0x0B}, 0x11: {0x0D},
    0x12: {0x01}, 0x13: {0x03}, 0x15: {0x05}, 0x16: {0x1B}, 0x17: {0x1D}, 0x18: {0x1F}, 0x1A: {0x07}, 0x1B: {0x09},
    0x1C: {0x0F}, 0x1D: {0x11}, 0x1E: {0x13}, 0x1F: {0x12},
}  # fmt: skip


@pytest.mark.row("b197.0x54c")
@pytest.mark.parametrize("type", range(32))
def test_each_number_of_a_reset_clears_its_counter_and_no_other(client: Client, type: int) -> None:
    """All counters run and have a value of their own; unknown numbers clear nothing and are reported."""
    address = client.room(64)
    client.put(0x35A, 0xFFFF)
    client.put(0x545, 1)  # SET_ZPASS_PIXEL_COUNT
    client.put(0x547, 1)  # SET_ZCULL_STATS
    counters = client.gpu.channel().engines[0].counters
    for number, name in REPORTS.items():
        for stream in range(4 if number in STREAMS else 1):
            counters.add(name, 100 + number + 1000 * stream, stream)

    def counted() -> dict[tuple[int, int], int]:
        found = {}
        for number in REPORTS:
            for stream in range(4 if number in STREAMS else 1):
                report(client, address, REPORT | number << 23 | stream << 5)
                found[number, stream] = struct.unpack("<QQ", client.get(address, 16))[0]
        return found

    before = counted()
    assert before == {(number, stream): 100 + number + 1000 * stream for number, stream in before}
    client.put(0x54C, type)
    cleared = CLEARS.get(type, set())
    assert counted() == {key: 0 if key[0] in cleared else value for key, value in before.items()}
    assert client.events() == ([] if cleared else ["report.unknown"])


# -- conditional rendering --------------------------------------------------------------------------------------------

CASES = [
    (0, (1, 0), (1, 0), False), (1, (0, 0), (0, 0), True),
    (2, (0, 0), (5, 5), False), (2, (1, 0), (0, 0), True), (2, (0, 1), (0, 0), True),
    (3, (7, 0), (7, 0), True), (3, (7, 0), (8, 0), False), (3, (7, 1), (7, 2), False),
    (4, (7, 0), (7, 0), False), (4, (7, 0), (8, 0), True),
]  # fmt: skip


@pytest.mark.row("b197.0x554", "b197.0x556")
@pytest.mark.parametrize(("mode", "first", "second", "drawn"), CASES)
def test_draws_and_clears_depend_on_the_words_at_the_address(
    client: Client, mode: int, first: tuple[int, int], second: tuple[int, int], drawn: bool
) -> None:
    """Never, always, not zero, equal, not equal: the second value is 16 bytes after the first."""
    address = client.room(32)
    client.poke(address, *first, 0x55, 0x55, *second)
    client.put(0x554, address >> 32, address & 0xFFFFFFFF, mode)
    draw(client, 4, 3)
    client.put(0x674, 0x3C)
    assert len(client.logged("Draw")) == drawn and client.gpu.stats.clears == drawn
    assert client.events() == []


@pytest.mark.row("b197.0x651")
@pytest.mark.parametrize(("override", "drawn"), [(0, None), (1, True), (2, False)])
@pytest.mark.parametrize("mode", [0, 1])
def test_the_override_beats_the_condition(client: Client, override: int, drawn: bool | None, mode: int) -> None:
    client.put(0x556, mode)
    client.put(0x651, override)
    draw(client, 4, 3)
    assert len(client.logged("Draw")) == (bool(mode) if drawn is None else drawn)


# -- notifications, waiting, nothing ----------------------------------------------------------------------------------


@pytest.mark.row("b197.0x041", "b197.0x043")
@pytest.mark.parametrize("kind", [0, 1])
def test_notify_writes_to_its_address_and_may_awaken(client: Client, kind: int) -> None:
    address = client.room(64, 0xEE)
    client.put(0x41, address >> 32, address & 0xFFFFFFFF)
    assert client.get(address, 16) == b"\xee" * 16
    client.put(0x43, kind)
    time, info, status = struct.unpack("<QII", client.get(address, 16))
    assert time > 0 and info == status == 0 and client.get(address + 16, 16) == b"\xee" * 16
    assert client.gpu.take_interrupts() == ({"notify": 1} if kind else {})


@pytest.mark.row("b197.0x041", "b197.0x043")
def test_notify_can_be_told_to_write_nothing() -> None:
    client = Client(notify__write="never")
    address = client.room(64, 0xEE)
    client.put(0x41, address >> 32, address & 0xFFFFFFFF, 0)
    assert client.get(address, 16) == b"\xee" * 16 and client.events() == []


QUIET = [
    ("b197.0x040", 0x40), ("b197.0x044", 0x44), ("b197.0x087", 0x87), ("b197.0x0ba", 0xBA), ("b197.0x0be", 0xBE),
    ("b197.0x0bf", 0xBF), ("b197.0x0c2", 0xC2), ("b197.0x0dc", 0xDC), ("b197.0x1d3", 0x1D3), ("b197.0x1df", 0x1DF),
    ("b197.0x1f0", 0x1F0), ("b197.0x1f1", 0x1F1), ("b197.0x1f2", 0x1F2), ("b197.0x1f3", 0x1F3), ("b197.0x1f8", 0x1F8),
    ("b197.0x1f9", 0x1F9), ("b197.0x1fa", 0x1FA), ("b197.0x1fc", 0x1FC), ("b197.0x359", 0x359), ("b197.0x36f", 0x36F),
    ("b197.0x379", 0x379), ("b197.0x3d8", 0x3D8), ("b197.0x3d9", 0x3D9), ("b197.0x3de", 0x3DE), ("b197.0x3e0", 0x3E0),
    ("b197.0x44d", 0x44D), ("b197.0x47f", 0x47F), ("b197.0x4a2", 0x4A2), ("b197.0x4ab", 0x4AB), ("b197.0x4cc", 0x4CC),
    ("b197.0x4cd", 0x4CD), ("b197.0x4ce", 0x4CE), ("b197.0x519", 0x519), ("b197.0x540", 0x540), ("b197.0x56d", 0x56D),
    ("b197.0x57f", 0x57F), ("b197.0x580", 0x580), ("b197.0x599", 0x599), ("b197.0x5a5", 0x5A5), ("b197.0x64c", 0x64C),
    ("b197.0x68b", 0x68B),
]  # fmt: skip


@pytest.mark.parametrize(
    "word", [pytest.param(word, id=f"{word:#x}", marks=pytest.mark.row(row)) for row, word in QUIET]
)
def test_caches_coarse_depth_tiles_and_waits_change_no_memory_and_stop_nothing(client: Client, word: int) -> None:
    """Memory is one and work is done in order: there is nothing to flush, to save or to wait for."""
    target = client.room(0x4000, 0x5A)
    registers = (target >> 32, target & 0xFFFFFFFF, 64 * 4, 32, 0xD5, 1 << 12)
    client.put(0x200, *registers)
    client.put(0x1FA, target >> 32, target & 0xFFFFFFFF, target >> 32, (target & 0xFFFFFFFF) + 0x3FFF)
    for value in (0, 1, 0xFFFFFFFF):
        client.put(word, value)
    assert client.get(target, 0x4000) == b"\x5a" * 0x4000
    assert client.gpu.log == [] and client.gpu.take_interrupts() == {} and client.events() == []
    # What follows is done: a clear of the whole target.
    client.put(0x3FD, 64 << 16, 32 << 16)
    client.put(0x360, *[f32(1.0)] * 4)
    client.put(0x674, 0x3C)
    assert client.get(target, 64 * 4 * 32) == b"\xff" * (64 * 4 * 32)
