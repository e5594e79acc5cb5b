"""Words of a pushbuffer: every form of header, packets over segments, what is no header, GPFIFO entries."""

from __future__ import annotations

import numpy as np
import pytest
from support.channels import (
    BUFFER,
    DATA,
    END,
    LEGACY,
    LEGACY_STEADY,
    RESERVED,
    Sender,
    entry,
    header,
    immd,
    inc,
    non_inc,
    one_inc,
)

from pocketgpu.errors import UsageError
from pocketgpu.maxwell.gm20b import GM20B

A = 0x280  # viewport scales and offsets: 128 plain registers in a row


@pytest.fixture(params=["llvm", "numpy"])
def sender(request: pytest.FixtureRequest) -> Sender:
    return Sender(request.param)


def test_increasing_packets_go_on_by_a_word(sender: Sender) -> None:
    sender.send(inc(A, 1, 2, 3))
    assert sender.words(A, 4) == [1, 2, 3, 0]
    assert sender.gpu.stats.headers == {"incrementing": 1}


def test_steady_packets_stay_at_their_word(sender: Sender) -> None:
    sender.send(non_inc(A, 1, 2, 3))
    assert sender.words(A, 2) == [3, 0]
    assert sender.gpu.stats.headers == {"non_incrementing": 1}


def test_increment_once_goes_on_after_the_first_word_only(sender: Sender) -> None:
    sender.send(one_inc(A, 1, 2, 3, 4))
    assert sender.words(A, 3) == [1, 4, 0]
    assert sender.gpu.stats.headers == {"increment_once": 1}


def test_immediate_packets_carry_13_bits_and_no_sign(sender: Sender) -> None:
    sender.send(immd(A, 0x1FFF), immd(A + 1, 0x1234), inc(A + 2, 7))
    assert sender.words(A, 3) == [0x1FFF, 0x1234, 7]


def test_an_immediate_packet_can_be_the_last_word_of_memory_that_is_mapped(sender: Sender) -> None:
    sender.gpu.map(0x7000_0000, 4096)
    sender.gpu.memory.write(0x7000_0FFC, np.array(immd(A, 5), np.uint32))
    sender.gpu.submit([entry(0x7000_0FFC, 1)])
    assert sender.word(A) == 5 and not sender.ids


def test_zero_is_a_no_op_and_packets_of_no_words_do_nothing(sender: Sender) -> None:
    sender.send([0, 0], inc(A), non_inc(A), one_inc(A), [0], inc(A, 9))
    assert sender.word(A) == 9
    assert sender.gpu.stats.nop_words == 3
    assert sender.gpu.stats.methods == 1
    assert not sender.ids


def test_legacy_forms_have_byte_addresses_and_11_bits_of_count(sender: Sender) -> None:
    before = sender.words(A, 9)
    sender.send([LEGACY << 29 | 3 << 18 | 4 * A, 1, 2, 3], [LEGACY_STEADY << 29 | 2 << 18 | 4 * (A + 8), 4, 5])
    assert sender.words(A, 9) == [1, 2, 3, *before[3:8], 5]
    assert sender.gpu.stats.headers == {"legacy": 1, "legacy_non_incrementing": 1}


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_masks_of_sub_devices_have_no_data(sender: Sender, kind: int) -> None:
    sender.send([LEGACY << 29 | 5 << 18 | kind << 16 | 0xFFF0], inc(A, 6))
    assert sender.word(A) == 6 and not sender.ids


def test_the_end_of_a_segment_leaves_out_its_rest(sender: Sender) -> None:
    sender.segments([*inc(A, 1), END << 29, *inc(A, 2)], inc(A + 1, 3))
    assert sender.words(A, 2) == [1, 3]
    assert sender.gpu.stats.segments_ended == 1 and not sender.ids


def test_the_end_of_a_segment_in_pieces_leaves_out_all_of_them(sender: Sender) -> None:
    """A segment whose pages are not contiguous in memory is several pieces of memory, and still one segment."""
    memory = sender.gpu.memory
    backing = memory.allocate(4 * 4096)
    for page in range(4):
        memory.map(0x7000_0000 + 4096 * page, 4096, backing, 4096 * (3 - page))
    words = np.zeros(4096, np.uint32)
    words[:3] = [*inc(A, 1), END << 29]
    words[1024:1026] = inc(A, 2)
    words[3072:3074] = inc(A, 4)
    memory.write(0x7000_0000, words)
    sender.gpu.submit([entry(0x7000_0000, 4096), sender.put(inc(A + 1, 3))])
    assert sender.words(A, 2) == [1, 3]


@pytest.mark.parametrize("words", [[RESERVED << 29 | 0x1FFFFFFF], [LEGACY_STEADY << 29 | 1 << 16 | 5 << 18]])
def test_reserved_forms_are_told_with_their_place(sender: Sender, words: list[int]) -> None:
    sender.segments(inc(A, 1), [*inc(A, 2), *words, *inc(A + 1, 3)])
    assert sender.words(A, 2) == [2, 3]
    (event,) = sender.gpu.events
    assert (event.kind, event.id, event.at) == ("fault", "channel.illegal_header", "s0/e1+2")
    assert f"{words[0]:#010x}" in event.message


def test_reserved_forms_can_end_their_segment() -> None:
    sender = Sender(channel__illegal_header="end-segment")
    sender.segments([RESERVED << 29, *inc(A, 1)], inc(A + 1, 2))
    assert sender.words(A, 2) == [0, 2] and sender.ids == ["channel.illegal_header"]


def test_packets_go_on_in_the_next_segment_and_the_next_submission(sender: Sender) -> None:
    first = inc(A, 1, 2, 3, 4)
    sender.segments(first[:2], first[2:3]).send(first[3:], inc(A + 4, 5))
    assert sender.words(A, 5) == [1, 2, 3, 4, 5]
    once = one_inc(A, 6, 7, 8)
    sender.send(once[:3]).send(once[3:])
    assert sender.words(A, 2) == [6, 8]


def test_channels_do_not_disturb_each_others_packets(sender: Sender) -> None:
    packet = inc(A, 1, 2)
    sender.send(packet[:2], channel=0).send(inc(A, 7), channel=3).send(packet[2:], channel=0)
    assert sender.words(A, 2) == [1, 2]
    assert sender.word(A, channel=3) == 7 and sender.word(A + 1, channel=3) == 0


def test_words_are_read_when_their_turn_comes() -> None:
    """What a segment holds may be written by the segment before: a semaphore release fills the next one's data."""
    sender = Sender("llvm")
    target = BUFFER + 0x8000
    release = [*inc(0x4, target >> 32, target & 0xFFFFFFFF, 0x1234, 1 << 24 | 2)]
    sender.gpu.submit([sender.put([*release, header(1, A, 1)]), entry(target, 1, sync=True)])
    assert sender.word(A) == 0x1234


def test_addresses_wrap_within_12_bits(sender: Sender) -> None:
    sender.send(inc(0xFFF, 1, 2, 3))
    assert (sender.word(0xFFF), sender.word(0, 0xB06F), sender.word(1, 0xB06F)) == (1, 2, 3)
    assert "channel.illegal_method" in sender.ids


def test_host_methods_reach_the_host_on_any_subchannel(sender: Sender) -> None:
    sender.send(inc(0x14, 77, subchannel=6), inc(0x1C, 5, subchannel=4))
    assert sender.word(0x14, 0xB06F) == 77 and sender.word(0x1C, 0xB06F) == 5
    assert sender.word(0x14) == 0
    assert sender.gpu.channel().reference == 77
    assert sender.gpu.stats.host_methods == 2 and sender.gpu.stats.methods_by_subchannel == [0] * 8


def test_a_packet_can_begin_with_the_host_and_go_on_to_the_class(sender: Sender) -> None:
    sender.send(inc(0x3E, 1, 2, 3, 4))
    assert sender.word(0x41) == 4 and sender.word(0x3F, 0xB06F) == 2
    stats = sender.gpu.stats
    assert (stats.host_methods, stats.methods_by_subchannel[0]) == (2, 2)


def test_each_class_has_registers_of_its_own(sender: Sender) -> None:
    classes = (0xB197, 0xB1C0, 0xA140, 0x902D, 0xB0B5)
    for subchannel, class_id in enumerate(classes):
        sender.send(inc(0, class_id, subchannel=subchannel), inc(0x100, subchannel + 1, subchannel=subchannel))
    assert [sender.word(0x100, class_id) for class_id in classes] == [1, 2, 3, 4, 5]


def test_binding_is_honoured_on_every_subchannel(sender: Sender) -> None:
    sender.send(inc(0, 0x902D, subchannel=7), inc(0x80, 4, subchannel=7), inc(0, 0xB197, subchannel=7))
    sender.send(inc(A, 5, subchannel=7))
    assert sender.word(0x80, 0x902D) == 4 and sender.word(A) == 5


def test_classes_that_are_not_there_are_told(sender: Sender) -> None:
    sender.send(inc(0, 0xA06F, subchannel=5), inc(A, 1, subchannel=5))
    assert sender.ids == ["channel.unknown_class"]
    assert sender.gpu.stats.ignored_methods == 1 and sender.word(A) == 0


def test_software_objects_are_no_fault(sender: Sender) -> None:
    sender.send(inc(0, 0x1F0000 | 0x1234, subchannel=5), inc(A, 1, subchannel=5))
    assert not sender.ids and sender.gpu.stats.ignored_methods == 1


@pytest.mark.parametrize(("choice", "value"), [("convention", 3), ("ignore", 0)])
def test_without_binding_the_convention_holds_unless_switched_off(choice: str, value: int) -> None:
    sender = Sender(channel__unbound=choice).send(inc(A, 3))
    assert sender.word(A) == value


def test_unknown_methods_are_stored_told_once_and_counted(sender: Sender) -> None:
    sender.send(inc(0x9F0, 1, 2), inc(0x9F0, 3))
    assert sender.words(0x9F0, 2) == [3, 2]
    assert sender.gpu.stats.unknown_methods == 3
    events = list(sender.gpu.events)
    assert [event.message for event in events] == [f"class 0xb197 has no method at word {w:#x}" for w in (0x9F0, 0x9F1)]
    assert [event.at for event in events] == ["s0/e0+1", "s0/e0+2"]


# -- GPFIFO entries ---------------------------------------------------------------------------------------------------
def test_control_entries_are_no_words(sender: Sender) -> None:
    sender.gpu.submit([0, 1 << 32, 2 << 32, 3 << 32])
    assert sender.ids == ["channel.illegal_entry"]
    assert next(iter(sender.gpu.events)).at == "s0/e1"


def test_bits_of_an_entry_that_mean_nothing_here(sender: Sender) -> None:
    """Conditional fetch, privilege, level of the subroutine and SYNC change nothing in a model that keeps order."""
    word = sender.put(inc(A, 8))
    sender.gpu.submit([word | 1 | 1 << 40 | 1 << 41 | 1 << 63])
    assert sender.word(A) == 8 and not sender.ids


def test_a_pushbuffer_without_memory_is_a_fault(sender: Sender) -> None:
    sender.gpu.submit([entry(0x9_0000_0000, 4), sender.put(inc(A, 1))])
    (event,) = sender.gpu.events
    assert (event.kind, event.id, event.at) == ("fault", "channel.unmapped_pushbuffer", "s0/e0+0")
    assert sender.word(A) == 1


def test_a_pushbuffer_that_runs_out_of_memory_ends_there(sender: Sender) -> None:
    sender.gpu.memory.write(DATA + 0xFFF8, np.array(inc(A, 5), np.uint32))
    sender.gpu.submit([entry(DATA + 0xFFF8, 100)])
    assert sender.word(A) == 5
    assert [event.at for event in sender.gpu.events] == ["s0/e0+2"]


def test_more_entries_than_the_parser_holds_at_a_time() -> None:
    sender = Sender()
    entries = [sender.put(inc(A + n % 8, n)) for n in range(10_000)]
    sender.gpu.submit(entries)
    assert sender.words(A, 8) == list(range(9992, 10_000))
    assert sender.gpu.stats.words == 20_000


def test_what_is_no_entry_is_refused() -> None:
    gpu = GM20B()
    for entries in ([1 << 64], [-1], ["x"], [None]):
        with pytest.raises(UsageError):
            gpu.submit(entries)  # type: ignore[arg-type]
    gpu.submit(np.array([], np.uint64))
    gpu.submit(np.array([0, 0], np.uint64))
    assert not list(gpu.events)


def test_there_is_an_end_to_channels() -> None:
    gpu = GM20B()
    for id in range(32):
        gpu.submit([], channel=100 + id)
    with pytest.raises(UsageError, match="channels"):
        gpu.submit([], channel=1)
    with pytest.raises(UsageError):
        gpu.registers(0x1234, channel=100)


def test_wrong_arguments_of_the_machine() -> None:
    for wrong in ({"threads": 0}, {"evaluator": "x"}, {"switches": {"a.b": "c"}}):
        with pytest.raises(UsageError):
            GM20B(**wrong)  # type: ignore[arg-type]


def test_reset_makes_a_machine_like_new() -> None:
    sender = Sender()
    sender.send(inc(A, 1), inc(0x9F0, 1), non_inc(0x46, 1, 2))
    gpu = sender.gpu
    gpu.syncpoints.increment(3)
    gpu.reset()
    assert not gpu.channels and not list(gpu.events) and gpu.stats.methods == 0 and gpu.syncpoints[3] == 0
    assert np.array_equal(gpu.registers(0xB197), GM20B().registers(0xB197))
    assert not gpu.channel().mme_code.any()
    gpu.map(BUFFER, 4096)
    gpu.memory.write(BUFFER, np.array([*inc(A, 4), *inc(0x9F0, 5)], np.uint32))
    gpu.submit([entry(BUFFER, 4)])
    assert int(gpu.registers(0xB197)[A]) == 4
    assert [event.id for event in gpu.events] == ["channel.unknown_method"]
