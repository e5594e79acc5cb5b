"""The header of a GX command queue and of a command in it, byte by byte (GSP Shared Memory)."""

from __future__ import annotations

import pytest

from .console import HEAP_VA, PPF, VRAM, VRAM_VA, Console
from .gsp_client import SLOTS, Client

FILL, FLUSH, BAD = 2, 5, 0x77


@pytest.fixture
def console() -> Console:
    return Console()


@pytest.fixture
def client(console: Console) -> Client:
    return Client(console)


def fill(place: int, value: int = 0xFFFFFFFF, head: int = FILL) -> tuple[int, ...]:
    """A command that fills 16 bytes of video memory, at 16 times `place`."""
    start = VRAM_VA + 16 * place
    return head, start, value, start + 16, 0, 0, 0, 0x201


def filled(console: Console) -> list[int]:
    """Which of the first places hold something."""
    return [n for n in range(32) if any(console.get(VRAM + 16 * n, 16))]


# -- the queue's header ----------------------------------------------------------------------------------------------


@pytest.mark.row("gsp.header.0")
@pytest.mark.parametrize("index", range(SLOTS))
def test_byte_0_is_the_slot_that_runs_next(console: Console, client: Client, index: int) -> None:
    for slot in range(SLOTS):
        client.put(slot, *fill(slot))
    client.set(0, index)
    client.set(1, 1)
    client.trigger()
    assert filled(console) == [index]
    assert (client.byte(0), client.byte(1), client.error) == ((index + 1) % SLOTS, 0, 0)


@pytest.mark.row("gsp.header.0")
@pytest.mark.parametrize("index", [15, 16, 255])
def test_byte_0_has_fifteen_values(console: Console, client: Client, index: int) -> None:
    """The page allows 15 as well, but a slot 15 would lie in the next thread's header: there are slots 0 to 14."""
    neighbour = client.base + 0x200
    client.put(SLOTS, *fill(3))
    assert client.data[neighbour] == FILL
    client.set(0, index)
    client.set(1, 1)
    assert client.trigger() == 0
    assert filled(console) == [] and client.byte(2) == 0x80 and client.error != 0
    assert console.events == {"gsp.refused"}


@pytest.mark.row("gsp.header.0")
@pytest.mark.parametrize("number", range(4))
def test_each_thread_has_a_queue_of_its_own(console: Console, number: int) -> None:
    clients = [Client(console) for _ in range(4)]
    assert [client.number for client in clients] == [0, 1, 2, 3]
    for client in clients:
        client.put(7, *fill(client.number))
        client.set(0, 7)
        client.set(1, 1)
    clients[number].trigger()
    assert filled(console) == [number]
    assert [client.byte(0) for client in clients] == [8 if client.number == number else 7 for client in clients]


@pytest.mark.row("gsp.header.1")
@pytest.mark.parametrize("count", [0, 1, 3, SLOTS])
def test_byte_1_is_the_number_of_commands_that_wait(console: Console, client: Client, count: int) -> None:
    """The page only says that it must not be 0; it counts the commands that the program added."""
    for slot in range(SLOTS):
        client.put((12 + slot) % SLOTS, *fill(slot))
    client.set(0, 12)
    client.set(1, count)
    assert filled(console) == []  # nothing happens before the call
    client.trigger()
    assert filled(console) == list(range(count))
    assert (client.byte(0), client.byte(1), client.byte(2)) == ((12 + count) % SLOTS, 0, 0)


@pytest.mark.row("gsp.header.2")
def test_byte_2_of_1_stops_the_queue(console: Console, client: Client) -> None:
    client.put(0, *fill(0))
    client.set(1, 1)
    client.set(2, 1)
    client.trigger()
    assert (filled(console), client.byte(0), client.byte(1)) == ([], 0, 1)
    client.set(2, 0)
    client.trigger()
    assert (filled(console), client.byte(0), client.byte(1)) == ([0], 1, 0)


@pytest.mark.row("gsp.header.2", "gsp.header.4")
def test_byte_2_is_0x80_and_word_1_the_code_after_a_failure(console: Console, client: Client) -> None:
    for slot, command in enumerate((fill(0), (BAD,), fill(1))):
        client.put(slot, *command)
    client.set(1, 3)
    client.trigger()
    assert (filled(console), client.byte(2), client.byte(0), client.byte(1)) == ([0], 0x80, 2, 1)
    code = client.error
    assert code >> 31 == 1  # result codes of failures are negative
    client.trigger()
    assert (filled(console), client.error) == ([0], code)  # stopped until the program clears the byte
    client.set(2, 0)
    client.trigger()
    assert (filled(console), client.byte(1)) == ([0, 1], 0)


@pytest.mark.row("gsp.header.3")
@pytest.mark.parametrize("value", [0x01, 0xFF, 0x02, 0xFE])
def test_bit_0_of_byte_3_asks_for_a_halt(console: Console, client: Client, value: int) -> None:
    client.put(0, *fill(0))
    client.set(1, 1)
    client.set(3, value)
    client.trigger()
    halted = value & 1
    assert (filled(console), client.byte(1), client.byte(2)) == ([] if halted else [0], halted, halted)


@pytest.mark.row("gsp.header.4")
def test_word_1_tells_failures_apart(client: Client) -> None:
    head = 0x01000000
    codes = [
        client.run(BAD), client.run(head | 3, VRAM_VA + 4, HEAP_VA, 0x80008, 0x80008), client.run(FLUSH, HEAP_VA, 0),
        client.run(head | 4, VRAM_VA, HEAP_VA, 60, 0, 0, 8),
        client.run(head | 3, 0x00100000, HEAP_VA, 0x80008, 0x80008),
    ]  # fmt: skip
    assert len(set(codes)) == 5 and 0 not in codes
    assert client.run(*fill(0)) == 0


# -- a command's header ----------------------------------------------------------------------------------------------


@pytest.mark.row("gsp.cmdheader.0")
def test_byte_0_of_a_command_is_its_id(console: Console, client: Client) -> None:
    console.put(VRAM + 0x1000, bytes(range(256)))
    done = {}
    for number in range(256):
        client.entries()
        error = client.run(number, VRAM_VA + 0x1000, HEAP_VA, 16, 0, 0, 8)
        done[number] = (error != 0, client.entries())
    # DMA ends with interrupt 6; the copy as texture copy with 4. Nothing to fill: word 1 to 3 make no range.
    assert done[0] == (False, [6]) and done[4] == (False, [4]) and done[5] == (False, [])
    assert done[2][0] and all(done[number] == (True, []) for number in range(6, 256))


@pytest.mark.row("gsp.cmdheader.2-1")
def test_byte_1_of_a_command_means_nothing(console: Console, client: Client) -> None:
    for value in (0, 1, 0x80, 0xFF):
        console.put(VRAM, bytes(16))
        assert client.run(*fill(0, head=FILL | value << 8)) == 0
        assert (filled(console), client.byte(2)) == ([0], 0)


@pytest.mark.row("gsp.cmdheader.2-1")
@pytest.mark.parametrize("value", [0x01, 0xFF, 0x02, 0xFE])
def test_bit_0_of_byte_2_of_a_command_stops_the_queue_after_it(console: Console, client: Client, value: int) -> None:
    """The page does not know the byte; by now it is known that its lowest bit halts the queue after the command."""
    client.put(0, *fill(0, head=FILL | value << 16))
    client.put(1, *fill(1))
    client.set(1, 2)
    client.trigger()
    stops = value & 1
    assert (filled(console), client.byte(1), client.byte(2)) == ([0] if stops else [0, 1], stops, stops)


@pytest.mark.row("gsp.cmdheader.3")
@pytest.mark.parametrize("value", [0, 1])
def test_byte_3_of_a_command_makes_it_fail_while_a_unit_works(console: Console, client: Client, value: int) -> None:
    """The flags that the page speaks of say which units are at work: any one with the byte set, else its own."""
    head = value << 24
    assert client.run(head | 4, VRAM_VA, HEAP_VA, 0, 0, 0, 8) == 0  # a copy of nothing never ends
    assert console.read(PPF + 0x18) & 1
    assert (client.run(*fill(0, head=head | FILL)) != 0) == bool(value)
    assert filled(console) == ([] if value else [0])
    assert client.run(head | 4, VRAM_VA, HEAP_VA, 16, 0, 0, 8) != 0
    assert console.get(0x20000000, 16) == bytes(16)


@pytest.mark.row("gsp.cmdheader.3")
@pytest.mark.parametrize(("value", "refused"), [(0, [FILL]), (1, [FILL, 3, 4, 1])])
def test_a_working_unit_in_emulated_time(value: int, refused: list[int]) -> None:
    """While a fill is under way: with the byte set every command of a unit fails, else only another fill."""
    for command in (FILL, 3, 4, 1):
        console = Console({"timing": "emulated"})
        client = Client(console)
        assert client.run(FILL, VRAM_VA, 1, VRAM_VA + 0x80000, 0, 0, 0, 0x201) == 0
        words = {
            FILL: (HEAP_VA, 1, HEAP_VA + 16, 0, 0, 0, 0x201), 3: (VRAM_VA, HEAP_VA, 0x80008, 0x80008),
            4: (VRAM_VA, HEAP_VA, 64, 0, 0, 8), 1: (HEAP_VA, 16),
        }[command]  # fmt: skip
        assert (client.run(value << 24 | command, *words) != 0) == (command in refused)
        console.n3ds.advance(10_000_000)
        assert client.run(value << 24 | command, *words) == 0
