"""Macros: loading them, the shadow copy of the registers, scratch words, calls with parameters, calls of the firmware.

Instructions are the 32-bit words of this chip's macro engine, put together by hand; their meaning is in comments.
"""

from __future__ import annotations

import pytest

from .switch_client import IMMEDIATE, INC, NON_INC, ONCE, Client, header

TARGET, SPARE = 0x4ED, 0x68C  # a line width and a spare word: methods that only keep what is written
SEND_R1_AND_EXIT = [0x000008C1, 0x00000011]  # send r1, exit; the delay slot does nothing
FILL = [0x00000A51, 0x00000301, 0xFFFFD211, 0xFFFFD017, 0x000018C1, 0x00000011]
"""Method address and step from r1, r2 = fetch; r3 = fetch; r2 -= 1; back while r2 is not 0, sending r3 on the way."""


def address(word: int) -> int:
    """The instruction that makes `word` the address of what is sent, and exits nothing."""
    return word << 14 | 0x21  # method address = r0 + immediate, step 0


def add(to: int, register: int, number: int) -> int:
    """to = register + number."""
    return (number & 0x3FFFF) << 14 | register << 11 | to << 8 | 0x11


def fetch_state(to: int, word: int) -> int:
    """to = what a method's register holds."""
    return word << 14 | to << 8 | 0x15


def back_unless_zero(register: int, steps: int) -> int:
    """Branch; the instruction after it runs all the same."""
    return (-steps & 0x3FFFF) << 14 | register << 11 | 0x17


def load(client: Client, macro: int, start: int, code: list[int]) -> None:
    """Upload a macro as drivers do: pointer and words, then the start address."""
    client.push(header(INC, 0x45, 1), start, header(NON_INC, 0x46, len(code)), *code)
    client.push(header(INC, 0x47, 2), macro, start)


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.mark.row("b197.0x045", "b197.0x046", "b197.0x047", "b197.0x048")
def test_code_and_start_addresses_are_loaded_behind_pointers_that_move_on(client: Client) -> None:
    """Both loads move their pointer on by one; the page says so of the first only."""
    first, second = [address(TARGET), *SEND_R1_AND_EXIT], [address(SPARE), *SEND_R1_AND_EXIT]
    client.push(header(INC, 0x45, 1), 0x10, header(NON_INC, 0x46, 6), *first, *second)
    client.push(header(INC, 0x47, 1), 5, header(NON_INC, 0x48, 2), 0x10, 0x13)
    client.call(5, 0xAAAA)
    client.call(6, 0xBBBB)
    assert client.read(TARGET) == 0xAAAA and client.read(SPARE) == 0xBBBB
    # A new pointer: the same place is overwritten, and nothing else.
    client.push(header(INC, 0x45, 1), 0x10, header(NON_INC, 0x46, 1), address(SPARE + 1))
    client.call(5, 0xCCCC)
    assert client.read(TARGET) == 0xAAAA and client.read(SPARE + 1) == 0xCCCC
    # Start addresses as well.
    client.push(header(INC, 0x47, 2), 5, 0x13)
    client.call(5, 0xDDDD)
    assert client.read(SPARE) == 0xDDDD and client.events() == []


@pytest.mark.row("b197.0xe00")
@pytest.mark.parametrize("macro", [0, 1, 0x7F])
def test_a_call_runs_its_macro_with_the_word_in_r1(client: Client, macro: int) -> None:
    load(client, macro, 0x40, [address(TARGET), *SEND_R1_AND_EXIT])
    client.put(0xE00 + 2 * macro, 0x1234567)
    assert client.read(TARGET) == 0x1234567
    assert client.gpu.stats.calls == {macro: 1} and client.events() == []


@pytest.mark.row("b197.0xe01")
def test_parameters_follow_in_the_same_packet_or_later(client: Client) -> None:
    load(client, 3, 0, FILL)
    client.call(3, SPARE | 1 << 12, 3, 0x1111)
    assert [client.read(SPARE + i) for i in range(4)] == [0x1111, 0x1111, 0x1111, 0]
    # The data words may come in packets of their own, also in another submission.
    client.put(0xE06, SPARE | 1 << 12)
    client.put(0xE07, 2)
    client.push(header(NON_INC, 0xE07, 1), 0x2222)
    assert [client.read(SPARE + i) for i in range(4)] == [0x2222, 0x2222, 0x1111, 0]
    assert client.gpu.stats.calls == {3: 2} and client.events() == []


@pytest.mark.row("b197.0xe01")
def test_a_parameter_that_never_comes_is_a_fault_and_reads_zero(client: Client) -> None:
    client.put(SPARE, 5)
    load(client, 3, 0, FILL)
    client.call(3, SPARE | 1 << 12, 1)
    client.put(0x40, 0)  # any other method
    assert "mme.missing_parameter" in client.events() and client.read(SPARE) == 0


@pytest.mark.row("b197.0xd00")
def test_scratch_words_are_kept_for_macros_and_pushbuffers_alike(client: Client) -> None:
    """The page says 128 words; the offsets leave room for 256, and all of them work."""
    copy = [fetch_state(1, 0xD05), address(0xDFF), *SEND_R1_AND_EXIT]
    load(client, 0, 0, copy)
    client.put(0xD05, 0x5EED)
    client.call(0, 0)
    assert client.read(0xDFF) == 0x5EED and client.read(0xD80) == 0
    client.put(0xD80, 1, 2, 3)
    assert [client.read(0xD80 + i) for i in range(3)] == [1, 2, 3] and client.events() == []


@pytest.mark.row("b197.0x8c0")
@pytest.mark.parametrize("number", [0, 4, 31])
def test_a_call_of_the_firmware_is_answered_so_that_macros_can_wait_for_it(client: Client, number: int) -> None:
    """The page says 8 of them; there are 32. Macros clear scratch word 0, call, and read it until it is 1."""
    wait = [
        address(0xD00), 0x00000041,  # scratch 0 = r0
        address(0x8C0 + number), 0x00000841,  # the call, with r1
        fetch_state(2, 0xD00),
        add(2, 2, -1),
        back_unless_zero(2, 2),
        0x00000011, address(TARGET), *SEND_R1_AND_EXIT,
    ]  # fmt: skip
    load(client, 9, 0x20, wait)
    client.call(9, 0x418800)
    assert client.read(TARGET) == 0x418800 and client.read(0xD00) == 1 and client.events() == []


@pytest.mark.row("b197.0x049")
def test_replay_brings_back_what_was_tracked(client: Client) -> None:
    """Tracked: engine and shadow copy. Passed through: engine alone. Replayed: the shadow's word counts."""
    for track in (0, 1):
        client.put(0x49, track)
        client.put(TARGET, 0x100 + track)
        client.put(0x49, 2)
        client.put(TARGET, 0x222)
        assert client.read(TARGET) == 0x222
        client.put(0x49, 3)
        client.put(TARGET, 0x333)
        assert client.read(TARGET) == 0x100 + track
    client.put(0x49, 0)
    client.put(TARGET, 0x444)
    assert client.read(TARGET) == 0x444 and client.events() == []


@pytest.mark.row("b197.0x049")
def test_what_starts_something_is_never_replayed(client: Client) -> None:
    memory = client.room(16)
    client.put(0x6C0, memory >> 32, memory & 0xFFFFFFFF, 0x1D)
    client.put(0x6C3, 1 << 28)  # releases one word
    assert client.peek(memory) == (0x1D,)
    client.put(0x49, 3)
    client.put(0x6C2, 0x2D)  # replayed: the payload stays
    client.put(0x6C3, 0)  # releases four words, although the word before was one that released one
    assert client.peek(memory, 4)[:2] == (0x1D, 0) and client.peek(memory + 8, 2) != (0, 0)


@pytest.mark.row("b197.0x000")
def test_word_0_binds_the_subchannel_and_never_reaches_the_class() -> None:
    client = Client(bound=False)
    client.push(header(INC, 0, 1, 5), 0xB197)
    client.push(header(IMMEDIATE, TARGET, 0x77, 5))
    assert client.read(TARGET) == 0x77 and client.read(0) == 0
    # Bits 20 to 16 name an engine: 0x1f is software, whose methods nobody here takes.
    client.push(header(INC, 0, 1, 5), 0x1F << 16)
    client.push(header(IMMEDIATE, TARGET, 0x99, 5))
    assert client.read(TARGET) == 0x77 and client.events() == []
    client.push(header(INC, 0, 1, 5), 0x1234)
    assert client.events() == ["channel.unknown_class"]


@pytest.mark.row("b197.0xe00")
def test_a_macro_calls_with_each_kind_of_header(client: Client) -> None:
    load(client, 2, 0, [address(TARGET), *SEND_R1_AND_EXIT])
    for number, kind in enumerate((INC, NON_INC, ONCE)):
        client.push(header(kind, 0xE04, 1), number + 1)
        assert client.read(TARGET) == number + 1
    client.push(header(IMMEDIATE, 0xE04, 4))
    assert client.read(TARGET) == 4
    assert client.gpu.stats.calls == {2: 4}
