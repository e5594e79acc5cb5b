"""What the parser does by itself, besides writing registers: shadow RAM, macros, constant buffers, inline data."""

from __future__ import annotations

import numpy as np
import pytest
from support.channels import BUFFER, DATA, Sender, entry, header, immd, inc, load_macro, non_inc, one_inc

from pocketgpu.maxwell.engines.common.base import Engine
from pocketgpu.maxwell.mme.assembler import assemble

A = 0x280
TRACK, FILTER, PASS, REPLAY = range(4)
SHADOW = 0x49
SCRATCH = 0xD00


class Recorder(Engine):
    """An engine that keeps what it is told."""

    class_id = 0xB197

    def __init__(self, host, channel, registers) -> None:  # type: ignore[no-untyped-def]
        super().__init__(host, channel, registers)
        self.seen: list[tuple[int, int, str]] = []
        self.uploads: list[bytes] = []
        for word in (0x61C, 0x674):
            self.effects[word] = lambda value, word=word: self.seen.append((word, value, host.place))  # type: ignore[misc]

    def staged_complete(self, data: np.ndarray) -> None:
        self.uploads.append(data.tobytes())


class Upload(Recorder):
    class_id = 0xA140


def recorded(evaluator: str = "llvm", **choices: str) -> Sender:
    """A machine whose classes only take notes."""
    sender = Sender(evaluator, bare=True, **choices)
    sender.gpu.engine_classes = {0xB197: Recorder, 0xA140: Upload}
    return sender


def recorder(sender: Sender, file: int = 0) -> Recorder:
    engine = sender.gpu.channel().engines[file]
    assert isinstance(engine, Recorder)
    return engine


@pytest.fixture(params=["llvm", "numpy"])
def sender(request: pytest.FixtureRequest) -> Sender:
    return recorded(request.param)


# -- effects ----------------------------------------------------------------------------------------------------------
def test_effects_come_in_order_with_their_place_and_after_the_store(sender: Sender) -> None:
    sender.segments(inc(A, 1), [*inc(0x61C, 7), *immd(0x674, 8)], inc(0x673, 1, 9))
    assert recorder(sender).seen == [(0x61C, 7, "s0/e1+1"), (0x674, 8, "s0/e1+2"), (0x674, 9, "s0/e2+2")]
    assert sender.word(0x674) == 9


def test_what_was_written_before_is_there_when_an_effect_comes(sender: Sender) -> None:
    seen = []
    engine = recorder(sender.send())
    engine_effects = sender.gpu.channel()._effects
    engine_effects[0x61C] = lambda value: seen.append([int(word) for word in engine.registers[A : A + 2]])
    sender.send(inc(A, 1), inc(0x61C, 0), inc(A + 1, 2), inc(0x61C, 0))
    assert seen == [[1, 0], [1, 2]]


# -- shadow RAM -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", [TRACK, FILTER])
def test_tracked_methods_go_to_both(sender: Sender, mode: int) -> None:
    sender.send(inc(SHADOW, mode), inc(A, 5))
    assert sender.word(A) == 5 and int(sender.gpu.channel().shadows[0][A]) == 5


def test_pass_through_leaves_the_shadow_alone(sender: Sender) -> None:
    sender.send(inc(A, 5), inc(SHADOW, PASS), inc(A, 6))
    assert sender.word(A) == 6 and int(sender.gpu.channel().shadows[0][A]) == 5


def test_replay_sends_what_the_shadow_holds(sender: Sender) -> None:
    """What clears do: save nothing, change a range in pass-through, touch it in replay."""
    sender.send(inc(A, 1, 2, 3), inc(SHADOW, PASS), inc(A, 7, 8, 9))
    assert sender.words(A, 3) == [7, 8, 9]
    sender.send(inc(SHADOW, REPLAY), inc(A, 0xFF, 0xFF, 0xFF), inc(SHADOW, TRACK), inc(A + 2, 4))
    assert sender.words(A, 3) == [1, 2, 4]
    assert [int(word) for word in sender.gpu.channel().shadows[0][A : A + 3]] == [1, 2, 4]


def test_triggers_and_low_words_are_not_replayed(sender: Sender) -> None:
    sender.send(inc(0x60, 1), inc(0x674, 2), inc(SHADOW, REPLAY), inc(0x60, 3), inc(0x674, 4))
    assert sender.word(0x60) == 3
    assert [value for _, value, _ in recorder(sender).seen] == [2, 4]


def test_low_words_can_be_replayed_too() -> None:
    sender = recorded(mme__shadow_exempt="none").send(inc(0x60, 1), inc(SHADOW, REPLAY), inc(0x60, 3))
    assert sender.word(0x60) == 1


def test_the_mode_outlives_a_submission(sender: Sender) -> None:
    sender.send(inc(A, 5), inc(SHADOW, PASS)).send(inc(A, 6)).send(inc(SHADOW, REPLAY)).send(inc(A, 7))
    assert sender.word(A) == 5


class Waiting(Recorder):
    """An engine one of whose effects waits for the next effect."""

    def __init__(self, host, channel, registers) -> None:  # type: ignore[no-untyped-def]
        super().__init__(host, channel, registers)
        self.deferred = {0x61C}


@pytest.mark.parametrize("urgent", [False, True])
@pytest.mark.parametrize(("mode", "kept"), [(TRACK, 6), (FILTER, 6), (PASS, 5), (REPLAY, 5)])
@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_methods_that_wait_are_under_the_shadow_modes(evaluator: str, mode: int, kept: int, urgent: bool) -> None:
    sender = recorded(evaluator)
    sender.gpu.engine_classes = {0xB197: Waiting, 0xA140: Upload}
    sender.send()
    sender.gpu.channel().hurry(urgent)
    sender.send(inc(0x61C, 5), inc(SHADOW, mode), inc(0x61C, 6), inc(A, 1), inc(0x674, 7))
    assert (sender.word(0x61C), int(sender.gpu.channel().shadows[0][0x61C])) == (6, kept)
    assert [(word, value) for word, value, _ in recorder(sender).seen] == [(0x61C, 5), (0x61C, 6), (0x674, 7)]


def test_the_copy_engine_is_not_behind_the_shadow_ram(sender: Sender) -> None:
    sender.send(inc(0x100, 5, subchannel=4), inc(SHADOW, REPLAY), inc(0x100, 6, subchannel=4))
    assert sender.word(0x100, 0xB0B5) == 6


# -- macros -----------------------------------------------------------------------------------------------------------
FILL = [0x00000A51, 0x00000301, 0xFFFFD211, 0xFFFFD017, 0x000018C1, 0x00000011]


def call_of(macro: int) -> int:
    return 0xE00 + 2 * macro


def test_a_macro_is_loaded_and_called(sender: Sender) -> None:
    sender.send(load_macro(0x12, FILL, at=100), one_inc(call_of(0x12), A | 1 << 12, 3, 0x1111))
    assert sender.words(A, 4) == [0x1111, 0x1111, 0x1111, 0]
    channel, stats = sender.gpu.channel(), sender.gpu.stats
    assert channel.mme_code[100:106].tolist() == FILL and int(channel.mme_starts[0x12]) == 100
    assert (stats.macro_calls, stats.macro_steps, stats.longest_macro, stats.calls) == (1, 12, 12, {0x12: 1})
    assert (stats.mme_instruction_words, stats.mme_macros_loaded) == (6, 1)
    assert channel.macros() == {0x12: FILL}


def test_pointers_of_both_memories_move_on(sender: Sender) -> None:
    sender.send(inc(0x45, 10), non_inc(0x46, 1, 2), non_inc(0x46, 3), inc(0x47, 5), non_inc(0x48, 10, 11, 12))
    channel = sender.gpu.channel()
    assert channel.mme_code[9:14].tolist() == [0, 1, 2, 3, 0]
    assert channel.mme_starts[4:9].tolist() == [0, 10, 11, 12, 0]
    assert channel.macros() == {5: [1], 6: [2], 7: [3]}


def test_2d_shares_the_macros_of_3d(sender: Sender) -> None:
    code = assemble("maddr 0x80\nexit send r1\nnop")
    sender.send(load_macro(0, code), one_inc(call_of(0), 6, subchannel=3), one_inc(call_of(0), 7))
    assert sender.word(0x80, 0x902D) == 6 and sender.word(0x80) == 7


def test_classes_without_macros_have_no_calls(sender: Sender) -> None:
    sender.send(load_macro(0, FILL), one_inc(call_of(0), A, 1, 2, subchannel=1))
    assert sender.gpu.stats.macro_calls == 0 and "channel.unknown_method" in sender.ids


@pytest.mark.parametrize("split", [1, 2, 3])
def test_parameters_may_come_later(sender: Sender, split: int) -> None:
    """In another packet, another segment, another submission."""
    call = one_inc(call_of(1), A | 1 << 12, 3, 0x1111)
    data = [call[0], *call[1 : 1 + split]]
    sender.send(load_macro(1, FILL))
    if split < 3:
        sender.send(data).send(call[1 + split :])
    else:
        sender.send(inc(call_of(1), A | 1 << 12)).segments(non_inc(call_of(1) + 1, 3), non_inc(call_of(1) + 1, 0x1111))
    assert sender.words(A, 4) == [0x1111, 0x1111, 0x1111, 0] and not sender.ids
    assert sender.gpu.stats.macro_steps == 12


def test_indirect_parameters_are_spliced_in_between_segments(sender: Sender) -> None:
    """What drivers do for indirect draws: a header at the end of one entry, its data in a buffer of their own."""
    sender.send(load_macro(1, FILL))
    sender.segments([*inc(call_of(1), A | 1 << 12), header(3, call_of(1) + 1, 2)], [2, 0x77], inc(A + 5, 1))
    assert sender.words(A, 3) == [0x77, 0x77, 0] and sender.word(A + 5) == 1 and not sender.ids


def test_host_methods_and_the_copy_engine_do_not_disturb_a_macro_that_waits(sender: Sender) -> None:
    sender.send(load_macro(1, FILL), one_inc(call_of(1), A | 1 << 12, 2), inc(0x14, 1), inc(0x100, 5, subchannel=4))
    sender.send(non_inc(call_of(1) + 1, 0x22))
    assert sender.words(A, 3) == [0x22, 0x22, 0] and not sender.ids


def test_another_method_ends_the_wait_with_zeros(sender: Sender) -> None:
    sender.send(load_macro(1, FILL), one_inc(call_of(1), A | 1 << 12, 2), inc(A + 5, 9))
    (event,) = sender.gpu.events
    assert (event.kind, event.id) == ("fault", "mme.missing_parameter") and "(macro 1)" in event.message
    assert sender.words(A, 6) == [0, 0, 0, 0, 0, 9]
    assert sender.gpu.stats.macro_steps == 9


def test_another_call_ends_the_wait_too(sender: Sender) -> None:
    code = assemble("maddr 0x280\nparm r2\nexit send r2\nnop")
    sender.send(load_macro(1, code), inc(call_of(1), 0), one_inc(call_of(1), 0, 5))
    assert sender.word(A) == 5 and sender.ids == ["mme.missing_parameter"]
    assert sender.gpu.stats.calls == {1: 2}


def test_parameters_that_are_left_over_are_told_and_lost(sender: Sender) -> None:
    code = assemble("maddr 0x280\nexit send r1\nnop")
    sender.send(load_macro(1, code), one_inc(call_of(1), 5, 6, 7), one_inc(call_of(1), 8))
    assert sender.word(A) == 8 and sender.ids == ["mme.leftover_parameter"]


def test_macros_stop_at_effects_and_go_on(sender: Sender) -> None:
    code = assemble("maddr 0x674\nsend r1\nsend 5\nmaddr 0x61c\nparm r2 send 6\nexit send r2\nnop")
    sender.send(load_macro(1, code), one_inc(call_of(1), 4, 9), inc(A, 3))
    assert [(word, value) for word, value, _ in recorder(sender).seen] == [
        (0x674, 4), (0x674, 5), (0x61C, 6), (0x61C, 9),
    ]  # fmt: skip
    assert sender.word(A) == 3 and sender.gpu.stats.macro_steps == 7


def test_macros_do_not_call_macros_nor_the_host(sender: Sender) -> None:
    code = assemble(f"maddr {call_of(1)}\nsend 1\nmaddr 0x14\nexit send 2\nnop")
    sender.send(load_macro(1, code), one_inc(call_of(1), 0))
    assert sender.ids == ["mme.nested_call", "mme.host_method"]
    assert sender.gpu.stats.macro_calls == 1 and sender.word(0x14, 0xB06F) == 0


def test_macros_can_load_macros(sender: Sender) -> None:
    """Instruction RAM is a method like others."""
    code = assemble("maddr 0x45\nsend 50\nmaddr 0x46\nsend r1\nparm r2\nexit send r2\nnop")
    sender.send(load_macro(1, code), one_inc(call_of(1), 0x19D0021, 0x91))
    assert sender.gpu.channel().mme_code[50:52].tolist() == [0x19D0021, 0x91]


def test_an_endless_macro_is_a_hang_and_the_rest_goes_on(sender: Sender) -> None:
    sender.gpu.macro_budget = 1000
    sender.send(load_macro(1, assemble("bra .\nnop")), one_inc(call_of(1), 0), inc(A, 1), one_inc(call_of(1), 0))
    event = next(iter(sender.gpu.events))
    assert (event.kind, event.id, event.at) == ("hang", "mme.endless", "s0/e0+9")
    assert sender.word(A) == 1 and sender.gpu.stats.macro_steps == 1000
    sender.send(load_macro(2, FILL, at=16), one_inc(call_of(2), A | 1 << 12, 1, 7))
    assert sender.word(A) == 7  # the next submission has its own budget


def test_loads_beyond_the_memories_are_told(sender: Sender) -> None:
    sender.send(inc(0x45, 0x1FFF), non_inc(0x46, 1, 2), inc(0x47, 0x7F), non_inc(0x48, 3, 4))
    channel = sender.gpu.channel()
    assert (int(channel.mme_code[0x1FFF]), int(channel.mme_starts[0x7F])) == (1, 3)
    assert sender.ids == ["mme.ram"]
    assert int(channel.mme_code[0]) == 0 and int(channel.mme_starts[0]) == 0


def test_the_instruction_ram_can_be_small() -> None:
    sender = recorded(mme__instruction_ram="2048").send(inc(0x45, 0x7FF), non_inc(0x46, 1, 2))
    assert sender.ids == ["mme.ram"] and len(sender.gpu.channel().mme_code) == 2048


def test_reads_see_what_was_written_last_and_scratch_words(sender: Sender) -> None:
    code = assemble("mov r2, read(0x280)\nmov r3, read(0xd05)\nmaddr 0x288:1\nsend r2\nexit send r3\nnop")
    sender.send(load_macro(1, code), inc(A, 5), inc(SHADOW, PASS), inc(A, 6), inc(SCRATCH + 5, 7), inc(SHADOW, TRACK))
    sender.send(one_inc(call_of(1), 0))
    assert sender.words(A + 8, 2) == [6, 7]


def test_reads_can_see_the_shadow() -> None:
    code = assemble("mov r2, read(0x280)\nmaddr 0x288\nexit send r2\nnop")
    sender = recorded(mme__reads="shadow").send(load_macro(1, code), inc(A, 5), inc(SHADOW, PASS), inc(A, 6))
    sender.send(one_inc(call_of(1), 0))
    assert sender.word(A + 8) == 5


@pytest.mark.parametrize(("choice", "found"), [("modulo", [0x3F, 0x1C]), ("zero", [0, 0])])
def test_shifts_by_32_and_more(choice: str, found: list[int]) -> None:
    source = "mov r2, 34\nmov r3, extract(r1, r2, 10)\nmov r4, extract(r1, 5, 3, r2)\n"
    code = assemble(source + "maddr 0x288:1\nsend r3\nexit send r4\nnop")
    sender = recorded(mme__wide_shift=choice).send(load_macro(1, code), one_inc(call_of(1), 0xFF))
    assert sender.words(A + 8, 2) == found


def test_what_macros_send_is_under_the_shadow_modes(sender: Sender) -> None:
    code = assemble("maddr 0x280\nexit send r1\nnop")
    sender.send(load_macro(1, code), one_inc(call_of(1), 5), inc(SHADOW, PASS), one_inc(call_of(1), 6))
    assert (sender.word(A), int(sender.gpu.channel().shadows[0][A])) == (6, 5)
    sender.send(inc(SHADOW, REPLAY), one_inc(call_of(1), 7))
    assert sender.word(A) == 5


def test_firmware_call_4_answers_in_scratch(sender: Sender) -> None:
    source = "maddr 0xd00:1\nsend 0\nparm r2 send r1\nsend r2\nmaddr 0x8c4\nparm r3\nsend r3\n"
    source += "L: mov r4, read(0xd00)\nbz r4, L\nexit nop\nnop"
    sender.gpu.macro_budget = 10_000
    sender.send(load_macro(5, assemble(source)), one_inc(call_of(5), 1, 2, 0x418800))
    assert sender.words(SCRATCH, 3) == [1, 1, 2] and sender.word(0x8C4) == 0x418800 and not sender.ids
    assert sender.gpu.stats.falcon_register_writes == 1


# -- constant buffers -------------------------------------------------------------------------------------------------
SELECTOR = [0x1000, DATA >> 32, DATA & 0xFFFFFFFF]


def constants(sender: Sender, count: int, at: int = 0) -> list[int]:
    return np.frombuffer(sender.gpu.memory.read(DATA + at, 4 * count), np.uint32).tolist()


def test_constants_go_to_memory_and_the_offset_moves_on(sender: Sender) -> None:
    sender.send(inc(0x8E0, *SELECTOR, 8, 1, 2, 3), non_inc(0x8E4, 4), inc(0x8F3, 5))
    assert constants(sender, 8) == [0, 0, 1, 2, 3, 4, 5, 0]
    assert sender.word(0x8E3) == 8 + 20
    assert sender.gpu.stats.constbuf_words_inline == 5


def test_constant_offsets_have_16_bits(sender: Sender) -> None:
    sender.send(inc(0x8E0, *SELECTOR, 0xFFFC, 1), non_inc(0x8E4, 2))
    assert constants(sender, 1, 0xFFFC) == [1] and constants(sender, 1) == [2]


def test_constants_stamp_the_pages_they_change() -> None:
    sender = recorded()
    memory = sender.gpu.memory
    place = memory.offset_of(DATA, 4) or 0
    other = memory.offset_of(DATA + 0x2000, 4) or 0
    before, beside = memory.newest(place, 4), memory.newest(other, 4)
    kept = memory.snapshot()
    sender.send(inc(0x8E0, *SELECTOR, 0, 1))
    assert memory.newest(place, 4) != before and memory.newest(other, 4) == beside
    # Each stop of the parser has a version of its own, so that what was read in between is known to be old.
    engine_effects, newest = sender.gpu.channel()._effects, []
    engine_effects[0x61C] = lambda value: newest.append(memory.newest(place, 4))
    sender.send(*([*non_inc(0x8E4, n), *inc(0x61C, 0), *inc(0x61C, 0)] for n in range(3)))
    assert newest[0] == newest[1] != newest[2] == newest[3] != newest[4]
    memory.restore(kept)
    assert constants(sender, 1) == [0]


def test_constants_without_memory_are_a_fault(sender: Sender) -> None:
    sender.send(inc(0x8E0, 0x1000, 9, 0, 0, 1, 2, 3), inc(A, 4))
    (event,) = sender.gpu.events
    assert (event.kind, event.id, event.at) == ("fault", "channel.constant_unmapped", "s0/e0+5")
    assert sender.word(A) == 4 and sender.word(0x8E3) == 12


def test_macros_can_write_constants(sender: Sender) -> None:
    code = assemble("maddr 0x8e3:1\nsend 16\nsend r1\nexit send 7\nnop")
    sender.send(inc(0x8E0, *SELECTOR), load_macro(1, code), one_inc(call_of(1), 6))
    assert constants(sender, 7) == [0, 0, 0, 0, 6, 7, 0]


def test_constants_follow_the_page_table() -> None:
    """Two pages side by side in addresses, apart in memory."""
    sender = recorded()
    memory = sender.gpu.memory
    backing = memory.allocate(2 * 4096)
    memory.map(0x7000_0000, 4096, backing, 4096)
    memory.map(0x7000_1000, 4096, backing, 0)
    sender.send(inc(0x8E0, 0x2000, 0, 0x7000_0000, 0xFFC, 1, 2))
    words = memory.arena[backing.offset : backing.offset + 8192].view(np.uint32)
    assert (int(words[2047]), int(words[0])) == (1, 2)


# -- inline data ------------------------------------------------------------------------------------------------------
LAUNCH, INLINE = 0x6C, 0x6D


def test_inline_data_are_collected(sender: Sender) -> None:
    sender.send(inc(0x60, 10, 2), immd(LAUNCH, 1), non_inc(INLINE, 1, 2, 3, 4, 5))
    assert recorder(sender).uploads == []
    sender.send(non_inc(INLINE, 6, 7))
    assert recorder(sender).uploads == [np.array([1, 2, 3, 4, 5, 6], np.uint32).tobytes()]  # 2 lines of 12 bytes
    assert sender.ids == ["inline.not_expected"]
    assert (sender.gpu.stats.inline_launches, sender.gpu.stats.inline_upload_words) == (1, 6)


def test_each_class_has_inline_data_of_its_own(sender: Sender) -> None:
    sender.send(inc(0x60, 8, 1, subchannel=0), immd(LAUNCH, 1), inc(0x60, 4, 1, subchannel=2))
    sender.send(immd(LAUNCH, 1, subchannel=2), non_inc(INLINE, 1), non_inc(INLINE, 9, subchannel=2), non_inc(INLINE, 2))
    assert recorder(sender, 0).uploads == [np.array([1, 2], np.uint32).tobytes()]
    assert recorder(sender, 2).uploads == [np.array([9], np.uint32).tobytes()]


@pytest.mark.parametrize(("length", "lines"), [(0, 1), (4, 0), (0, 0)])
def test_launches_without_data_are_complete_at_once(sender: Sender, length: int, lines: int) -> None:
    sender.send(inc(0x60, length, lines), immd(LAUNCH, 1), inc(A, 1))
    assert recorder(sender).uploads == [b""] and sender.word(A) == 1


def test_a_new_launch_forgets_what_came_before(sender: Sender) -> None:
    sender.send(inc(0x60, 8, 1), immd(LAUNCH, 1), non_inc(INLINE, 1), immd(LAUNCH, 1), non_inc(INLINE, 2, 3))
    assert recorder(sender).uploads == [np.array([2, 3], np.uint32).tobytes()]


def test_inline_data_larger_than_the_staging_area() -> None:
    sender = recorded()
    size = (256 << 10) * 2 + 40
    words = np.arange(size // 4, dtype=np.uint32)
    sender.send(inc(0x60, size, 1), immd(LAUNCH, 1))
    for at in range(0, len(words), 4000):
        sender._next = BUFFER
        sender.send(non_inc(INLINE, *words[at : at + 4000].tolist()))
    assert recorder(sender).uploads == [words.tobytes()]


def test_a_launch_after_part_of_a_large_upload_starts_anew() -> None:
    sender = recorded()
    sender.gpu.map(0x8_0000_0000, 1 << 20)
    words = np.arange(0x1FFF, dtype=np.uint32)
    sender.send(inc(0x60, 1 << 20, 1), immd(LAUNCH, 1))
    packet = np.concatenate([np.array([header(3, INLINE, len(words))], np.uint32), words])
    sender.gpu.memory.write(0x8_0000_0000, packet)
    for _ in range(10):
        sender.gpu.submit([entry(0x8_0000_0000, len(packet))])
    sender.send(inc(0x60, 8, 1), immd(LAUNCH, 1), non_inc(INLINE, 1, 2))
    assert recorder(sender).uploads == [np.array([1, 2], np.uint32).tobytes()]


def test_sizes_that_no_data_can_fill_just_wait(sender: Sender) -> None:
    sender.send(inc(0x60, 0xFFFFFFFC, 0xFFFFFFFF), immd(LAUNCH, 1), non_inc(INLINE, 1, 2), inc(A, 3))
    assert recorder(sender).uploads == [] and sender.word(A) == 3 and not sender.ids
