"""Queues in shared memory, byte by byte, from both ends."""

from __future__ import annotations

import struct

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.pica.gsp import SharedMemory

PSC0, PSC1, PDC0, PDC1, PPF, P3D, DMA = range(7)


def test_interrupts_lie_where_they_should() -> None:
    shared = SharedMemory()
    assert len(shared.data) == 0x1000
    queue = shared.interrupts(2)
    assert queue.push(P3D) and queue.push(PDC1)
    assert shared.data[0x80:0x84] == bytes([0, 2, 0, 0])
    assert shared.data[0x8C:0x8F] == bytes([5, 3, 0])
    assert queue.take() == P3D
    assert shared.data[0x80:0x82] == bytes([1, 1])
    assert queue.drain() == ["PDC1"] and queue.take() is None
    assert not any(shared.data[:0x80]) and not any(shared.data[0xC0:])


def test_the_ring_wraps_at_0x34_and_only_the_client_moves_the_index() -> None:
    queue = SharedMemory().interrupts(0)
    for number in range(3 * 0x34 + 7):
        assert queue.push(number % 2)
        assert queue["index"] == number % 0x34
        assert queue.take() == number % 2
    for _ in range(0x34):
        assert queue.push(PPF)
    assert queue["index"] == (3 * 0x34 + 7) % 0x34  # seven ahead: the entries stand on both ends
    assert queue["count"] == 0x34 and queue.drain() == ["PPF"] * 0x34


def test_a_full_ring_counts_what_it_misses() -> None:
    queue = SharedMemory().interrupts(1)
    stored = [queue.push(PDC0) for _ in range(60)]
    assert stored == [True] * 0x20 + [False] * 28
    assert (queue["count"], queue["missed_pdc0"], queue["missed_pdc1"], queue["missed_other"]) == (0x20, 28, 0, 0)
    assert not queue.push(PDC1) and queue["missed_pdc1"] == 1
    # Others still find room, until all 0x34 places are taken.
    assert [queue.push(P3D) for _ in range(30)] == [True] * 0x14 + [False] * 10
    assert (queue["count"], queue["missed_other"]) == (0x34, 1)
    assert queue["missed_pdc0"] == 28
    assert queue.take() == PDC0
    assert queue["missed_other"] == 0  # the client's side of the protocol clears it
    assert queue.push(DMA) and queue["count"] == 0x34
    queue["missed_pdc0"] = 0xFFFFFFFF
    queue.push(PDC0)
    assert queue["missed_pdc0"] == 0


def test_vblanks_can_be_kept_out() -> None:
    queue = SharedMemory().interrupts(0)
    queue["flags"] = 1
    assert not queue.push(PDC0) and not queue.push(PDC1)
    assert (queue["count"], queue["missed_pdc0"], queue["missed_pdc1"]) == (0, 0, 0)
    assert queue.push(PSC1) and queue.drain() == ["PSC1"]


@pytest.mark.parametrize("index", [0, 0x33, 0x34, 0xFF])
@pytest.mark.parametrize("count", [0, 1, 0x33, 0x34, 0xFF])
def test_broken_interrupt_queues_stay_inside(index: int, count: int) -> None:
    shared = SharedMemory()
    queue = shared.interrupts(1)
    queue["index"], queue["count"] = index, count
    for number in (PDC0, P3D):
        queue.push(number)
        queue.push(number, limited=False)
    assert len(queue.drain()) <= 0x100
    assert not any(shared.data[:0x40]) and not any(shared.data[0x80:])


def test_framebuffer_info_protocol() -> None:
    shared = SharedMemory()
    info = shared.framebuffer(3, 1)
    assert info.take() is None
    info.present([0, 0x30000000, 0, 720, 0x41, 0, 9])
    start = 0x200 + 3 * 0x80 + 0x40
    assert shared.data[start : start + 2] == bytes([1, 1])  # entry 1, because 0 was current
    assert struct.unpack_from("<7I", shared.data, start + 0x20) == (0, 0x30000000, 0, 720, 0x41, 0, 9)
    assert info.take() == (0, 0x30000000, 0, 720, 0x41, 0, 9)
    assert shared.data[start + 1] == 0
    assert info.take() is None
    info.present([1, 1, 2, 3, 4, 5, 6])
    assert shared.data[start : start + 2] == bytes([0, 1])
    assert struct.unpack_from("<7I", shared.data, start + 4) == (1, 1, 2, 3, 4, 5, 6)
    # Two before gsp looks: the newer one wins.
    info.present([7] * 7)
    assert info.take() == (7,) * 7
    with pytest.raises(UsageError):
        info.present([1, 2, 3])


def test_the_flag_is_one_bit() -> None:
    info = SharedMemory().framebuffer(0, 0)
    info["flag"] = 0xFE
    assert info.take() is None
    info["flag"], info["index"] = 0xFF, 0xFE
    assert info.take() == (0,) * 7
    assert info["flag"] == 0


def test_the_command_queue_has_fifteen_slots() -> None:
    shared = SharedMemory()
    queue = shared.commands(1)
    for n in range(15):
        assert queue.submit([n, 1, 2, 3, 4, 5, 6, 7 + n])
    assert not queue.submit([99] * 8)
    assert shared.data[0xA00:0xA02] == bytes([0, 15])
    assert struct.unpack_from("<8I", shared.data, 0xA20 + 14 * 0x20) == (14, 1, 2, 3, 4, 5, 6, 21)
    # gsp takes one: the sixteenth command goes to slot 0.
    queue["index"], queue["count"] = 1, 14
    assert queue.submit([16] * 8)
    assert struct.unpack_from("<8I", shared.data, 0xA20) == (16,) * 8
    assert queue["count"] == 15
    assert not any(shared.data[0xC00:]) and not any(shared.data[:0xA00])
    with pytest.raises(UsageError):
        queue.submit([1] * 7)


def test_words_are_cut_to_32_bits() -> None:
    queue = SharedMemory().commands(0)
    queue.submit([-1, 1 << 32, 0x1_2345_6789, 0, 0, 0, 0, 0])
    assert queue.slot(0) == (0xFFFFFFFF, 0, 0x23456789, 0, 0, 0, 0, 0)


def test_status_bits() -> None:
    queue = SharedMemory().commands(0)
    assert not queue.stopped
    queue.fail(0xE0E02BF5)
    assert (queue["status"], queue["error"]) == (0x80, 0xE0E02BF5) and queue.stopped
    queue["control"] = 1
    queue.halt()
    assert queue["status"] == 0x81
    queue.resume()
    assert (queue["status"], queue["error"], queue["control"]) == (0, 0, 0) and not queue.stopped


def test_only_four_clients_and_two_screens() -> None:
    shared = SharedMemory()
    for call in (shared.interrupts, shared.commands):
        for client in (-1, 4):
            with pytest.raises(UsageError, match="no client"):
                call(client)
    with pytest.raises(UsageError, match="no screen"):
        shared.framebuffer(0, 2)
    assert "count=0x0" in repr(shared.commands(0))
