"""Constant buffers of the 3D class: selecting, filling word by word, binding to slots of groups, unbinding."""

from __future__ import annotations

import pytest

from .switch_client import INC, NON_INC, Client, header

SIZE, OFFSET, DATA_WORD, UNBIND = 0x8E0, 0x8E3, 0x8E4, 0x43D


def bind_word(group: int) -> int:
    return 0x904 + 8 * group


def select(client: Client, address: int, size: int = 256) -> None:
    client.put(SIZE, size, address >> 32, address & 0xFFFFFFFF)


def bindings(client: Client) -> dict[tuple[int, int], tuple[int, int]]:
    """(group, slot) to (address, size), as a draw sees them."""
    client.put(0x586, 4)
    client.put(0x35D, 0, 3)
    client.put(0x585, 0)
    shown = client.logged("Draw")[-1].constants
    return {(g, s): tuple(one) for g, group in enumerate(shown) for s, one in enumerate(group) if one is not None}


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.mark.row("b197.0x8e0", "b197.0x8e1", "b197.0x904")
@pytest.mark.parametrize("group", range(5))
def test_a_bind_takes_address_and_size_that_the_selector_has_then(client: Client, group: int) -> None:
    first, second = client.room(0x1000), client.room(0x10000)
    select(client, first, 0x100)
    client.put(bind_word(group), 3 << 4 | 1)
    select(client, second, 0x10000)
    assert bindings(client) == {(group, 3): (first, 0x100)}  # moving the selector moves no binding
    client.put(bind_word(group), 17 << 4 | 1)
    assert bindings(client) == {(group, 3): (first, 0x100), (group, 17): (second, 0x10000)}
    client.put(bind_word(group), 3 << 4)
    assert bindings(client) == {(group, 17): (second, 0x10000)}


@pytest.mark.row("b197.0x43d")
def test_unbinding_frees_all_slots_of_all_groups(client: Client) -> None:
    """Bits 0 and 4, which the page also has, belong to older classes: they do nothing."""
    select(client, client.room(256))
    for group in range(5):
        client.put(bind_word(group), 1)
    client.put(UNBIND, 1 | 1 << 4)
    assert len(bindings(client)) == 5
    client.put(UNBIND, 1 << 8)
    assert bindings(client) == {}


@pytest.mark.row("b197.0x8e3", "b197.0x8e4")
def test_words_go_to_the_selected_buffer_and_the_offset_moves_on(client: Client) -> None:
    address = client.room(256, 0x11)
    select(client, address)
    client.put(OFFSET, 0x20)
    client.feed(DATA_WORD, 1, 2, 3)
    assert client.peek(address + 0x1C, 5) == (0x11111111, 1, 2, 3, 0x11111111)
    client.feed(DATA_WORD, 4)
    assert client.peek(address + 0x2C) == (4,)
    # Offset and words under one header: all sixteen words do the same.
    client.put(OFFSET, 0x80, *range(100, 116))
    assert client.peek(address + 0x80, 16) == tuple(range(100, 116)) and client.events() == []


@pytest.mark.row("b197.0x8e4")
@pytest.mark.parametrize("which", range(16))
def test_all_sixteen_words_are_the_same(client: Client, which: int) -> None:
    address = client.room(256)
    select(client, address)
    client.put(OFFSET, 8)
    client.put(DATA_WORD + which, 0xABCD)
    client.put(DATA_WORD, 0xEF01)
    assert client.peek(address, 5) == (0, 0, 0xABCD, 0xEF01, 0)


@pytest.mark.row("b197.0x8e1")
def test_fills_go_where_the_selector_points_at_that_moment(client: Client) -> None:
    first, second = client.room(256), client.room(256)
    for address in (first, second):
        select(client, address)
        client.push(header(INC, OFFSET, 1), 0, header(NON_INC, DATA_WORD, 2), address & 0xFFFF, 7)
    assert client.peek(first, 2) == (first & 0xFFFF, 7) and client.peek(second, 2) == (second & 0xFFFF, 7)


@pytest.mark.row("b197.0x8e0", "b197.0x8e3")
def test_a_fill_outside_of_mapped_memory_is_a_fault_and_nothing_else(client: Client) -> None:
    address = client.room(256, 0x11)
    select(client, 0x99_0000_0000)
    client.put(OFFSET, 0)
    client.feed(DATA_WORD, 1, 2)
    assert len(client.events()) >= 1 and client.get(address, 256) == b"\x11" * 256
    select(client, address)
    client.put(OFFSET, 0)
    client.feed(DATA_WORD, 3)
    assert client.peek(address) == (3,)
