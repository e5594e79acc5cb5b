"""Command lists: the entry format, where a list ends, jumps, and what single writes set off.

Sources: 3dbrew GPU/Internal Registers (command lists), GBATEK (sizes, interrupt registers).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

# Ids that only store: combiner constants and texture unit 0.
PLAIN, ROW = 0xC3, 0x81
FINAL = (0x12345678, 0x000F0010)
OTHER_LIST = 0x20100000


def run(gpu: Any, *words: int, address: int = 0x20000000, size: int | None = None) -> bool:
    """Run words as they are; size in bytes, all of them if left out."""
    data = np.array(words, np.uint32).tobytes()
    gpu.memory.write(address, data)
    return gpu.start(address, len(data) if size is None else size)


def core(gpu: Any, number: int) -> int:
    return gpu.peek(0x10401000 + 4 * number)


def stored(gpu: Any) -> list[int]:
    """What lists can write, without the registers that start them."""
    return [core(gpu, i) for i in range(0x40, 0x300) if not 0x238 <= i < 0x23E]


# -- entries ----------------------------------------------------------------------------------------------------------


def test_first_parameter_stands_before_the_header(gpu: Any) -> None:
    assert run(gpu, 0xCAFE, 0x000F0000 | PLAIN, *FINAL)
    assert core(gpu, PLAIN) == 0xCAFE


@pytest.mark.parametrize("extras", [0, 1, 2, 3, 4, 5, 6, 7])
def test_entries_are_padded_to_eight_bytes(gpu: Any, extras: int) -> None:
    words = [1000, 0x800F0000 | extras << 20 | ROW, *range(1001, 1001 + extras)]
    if extras % 2:
        words.append(0xDEADBEEF)
    assert run(gpu, *words, 77, 0x000F0000 | PLAIN, *FINAL, *FINAL)
    assert [core(gpu, ROW + i) for i in range(extras + 1)] == list(range(1000, 1001 + extras))
    assert core(gpu, PLAIN) == 77


def test_header_chooses_between_one_register_and_following_ones(gpu: Any) -> None:
    # The documents' example, and the same without bit 31.
    run(gpu, 0xAAAAAAAA, 0x802F011C, 0xBBBBBBBB, 0xCCCCCCCC, *FINAL)
    assert [core(gpu, 0x11C + i) for i in range(3)] == [0xAAAAAAAA, 0xBBBBBBBB, 0xCCCCCCCC]
    run(gpu, 1, 0x002F011C, 2, 3, *FINAL)
    assert [core(gpu, 0x11C + i) for i in range(3)] == [3, 0xBBBBBBBB, 0xCCCCCCCC]


def test_unused_header_bits_do_not_matter(gpu: Any) -> None:
    assert run(gpu, 5, 0x700F0000 | PLAIN, *FINAL)
    assert core(gpu, PLAIN) == 5


def test_longest_entry_has_256_parameters(gpu: Any) -> None:
    words = [0, 0x0FFF0000 | PLAIN, *range(1, 256), 0]
    assert run(gpu, *words, 9, 0x000F0000 | ROW, *FINAL, *FINAL)
    assert (core(gpu, PLAIN), core(gpu, ROW)) == (255, 9)


@pytest.mark.parametrize("mask", range(16))
def test_bytes_outside_the_mask_keep_their_value(gpu: Any, mask: int) -> None:
    old, new = 0x11223344, 0xAABBCCDD
    run(gpu, old, 0x000F0000 | PLAIN, new, mask << 16 | PLAIN, *FINAL, *FINAL)
    select = sum(0xFF << 8 * i for i in range(4) if mask >> i & 1)
    assert core(gpu, PLAIN) == (old & ~select) | (new & select)


def test_mask_counts_for_every_parameter(gpu: Any) -> None:
    run(gpu, 0x11111111, 0x801F0000 | ROW, 0x22222222, 0, 0xABCDABCD, 0x80120000 | ROW, 0x98769876, 0, *FINAL)
    assert [core(gpu, ROW), core(gpu, ROW + 1)] == [0x1111AB11, 0x22229822]


def test_byte_write_changes_the_colour_masks_only(gpu: Any) -> None:
    run(gpu, 0x1F71, 0x000F0107, 0x0300, 0x00020107, *FINAL, *FINAL)
    assert core(gpu, 0x107) == 0x0371


def test_mask_zero_changes_nothing_but_still_triggers(gpu: Any) -> None:
    gpu.quad()
    at = max(i for i, w in enumerate(gpu.list) if w == 0x000F022E)
    gpu.list[at] &= ~0xF0000
    gpu.run()
    assert gpu.covered().all()
    assert core(gpu, 0x22E) == 0


@pytest.mark.parametrize("number", [*range(0x10), *range(0x20, 0x40)])
def test_lists_cannot_reach_the_processors_registers(gpu: Any, number: int) -> None:
    before = core(gpu, number)
    assert run(gpu, 0x5A5A5A5A, 0x000F0000 | number, *FINAL)
    assert core(gpu, number) == before


@pytest.mark.parametrize("number", [0x300, 0x3C3, 0x400, 0x403, 0x1003, 0xFFFF])
def test_ids_past_the_last_register_are_ignored(gpu: Any, number: int) -> None:
    before = stored(gpu)
    assert run(gpu, 0x5A5A5A5A, 0x000F0000 | number, *FINAL)
    assert stored(gpu) == before


def test_following_ids_past_the_last_register_are_ignored(gpu: Any) -> None:
    before = stored(gpu)[: 0x2F0 - 0x300]
    assert run(gpu, 0, 0x81FF02F0, *range(1, 32), 0, *FINAL)
    assert stored(gpu)[: 0x2F0 - 0x300] == before


# -- the end of a list ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "fires"),
    [
        (0x12345678, True), (0x00000078, True), (0x00005600, True), (0x00340000, True), (0x12000000, True),
        (0x78123456, False), (0, False), (0x56781234, False), (0x12345600, True),
    ],
)  # fmt: skip
def test_finalize_fires_when_one_byte_matches(gpu: Any, value: int, fires: bool) -> None:
    assert run(gpu, value, 0x000F0010, 1, 0x000F0000 | PLAIN) is fires
    assert core(gpu, PLAIN) == (0 if fires else 1)
    assert ("list.no-finalize" in gpu.ids) is not fires


def test_masked_request_bytes_do_not_fire(gpu: Any) -> None:
    gpu.poke(0x104010C0, 0xFFFFFFFE)  # byte 0 only
    assert not run(gpu, 0x12345600, 0x000F0010, 1, 0x000F0000 | PLAIN)
    assert run(gpu, 0xFFFFFF78, 0x000F0010, 1, 0x000F0000 | PLAIN)


def test_further_request_words_fire_when_enabled(gpu: Any) -> None:
    gpu.poke(0x10401084, 0xAABBCCDD)
    assert not run(gpu, 0xAABBCCDD, 0x000F0011, 1, 0x000F0000 | PLAIN)
    gpu.poke(0x104010C0, 0xFFFFFFFF & ~(1 << 5))
    assert not run(gpu, 0xAABB00DD, 0x000F0011, 1, 0x000F0000 | PLAIN)
    assert run(gpu, 0x0000CC00, 0x000F0011, 1, 0x000F0000 | PLAIN)


def test_one_write_fires_once_however_many_bytes_match(gpu: Any) -> None:
    gpu.poke(0x104010D0, 0)
    gpu.memory.write(0x20000000, np.array(FINAL * 2, np.uint32).tobytes())
    gpu.n3ds.take_interrupts()
    gpu.start(0x20000000, 0)
    gpu.n3ds.submit([*FINAL])
    assert gpu.n3ds.take_interrupts() == {"P3D": 1}


def test_without_autostop_the_list_goes_on_and_fires_again(gpu: Any) -> None:
    gpu.poke(0x104010D0, 0)
    gpu.n3ds.take_interrupts()
    gpu.n3ds.submit([*FINAL, 1, 0x000F0000 | PLAIN, *FINAL])
    assert core(gpu, PLAIN) == 1
    assert gpu.n3ds.take_interrupts() == {"P3D": 2}


def test_what_follows_finalize_is_ignored(gpu: Any) -> None:
    assert run(gpu, *FINAL, 1, 0x000F0000 | PLAIN, 0xFFFFFFFF, 0xFFFFFFFF)
    assert core(gpu, PLAIN) == 0
    assert not gpu.ids


def test_list_without_finalize_raises_no_interrupt_and_is_reported(gpu: Any) -> None:
    assert not run(gpu, 1, 0x000F0000 | PLAIN, 2, 0x000F0000 | ROW)
    assert (core(gpu, PLAIN), core(gpu, ROW)) == (1, 2)
    (event,) = gpu.events
    assert (event.kind, event.id) == ("hang", "list.no-finalize")


def test_size_rounds_down_to_sixteen_bytes(gpu: Any) -> None:
    assert not run(gpu, 1, 0x000F0000 | PLAIN, 2, 0x000F0000 | ROW, *FINAL, size=24)
    assert run(gpu, 1, 0x000F0000 | PLAIN, *FINAL, *FINAL, size=24)


def test_address_rounds_down_to_sixteen_bytes(gpu: Any) -> None:
    gpu.memory.write(0x20000000, np.array([1, 0x000F0000 | PLAIN, *FINAL], np.uint32).tobytes())
    assert gpu.start(0x20000008, 16)
    assert core(gpu, PLAIN) == 1


def test_second_channel_has_registers_of_its_own(gpu: Any) -> None:
    gpu.memory.write(OTHER_LIST, np.array([1, 0x000F0000 | PLAIN, *FINAL], np.uint32).tobytes())
    gpu.poke(0x104018E4, 16 >> 3)
    gpu.poke(0x104018EC, OTHER_LIST >> 3)
    gpu.poke(0x104018F4, 1)
    assert core(gpu, PLAIN) == 1
    assert gpu.n3ds.take_interrupts() == {"P3D": 1}


def test_start_register_needs_bit_0_and_reads_0_when_done(gpu: Any) -> None:
    gpu.memory.write(OTHER_LIST, np.array([1, 0x000F0000 | PLAIN, *FINAL], np.uint32).tobytes())
    gpu.poke(0x104018E0, 16 >> 3)
    gpu.poke(0x104018E8, OTHER_LIST >> 3)
    gpu.poke(0x104018F0, 2)
    assert core(gpu, PLAIN) == 0
    gpu.poke(0x104018F0, 1)
    assert core(gpu, PLAIN) == 1
    assert gpu.peek(0x104018F0) == 0


def test_acknowledging_clears_the_status_bit(gpu: Any) -> None:
    assert gpu.peek("STATUS") >> 31 == 0
    run(gpu, *FINAL, *FINAL)
    assert gpu.peek("STATUS") >> 31 == 1
    gpu.poke(0x10401000, 0)
    assert gpu.peek("STATUS") >> 31 == 0


# -- jumps ------------------------------------------------------------------------------------------------------------


def other(gpu: Any, *words: int, address: int = OTHER_LIST) -> int:
    """Put a further list into memory; its size register's value."""
    data = np.array(words, np.uint32).tobytes()
    gpu.memory.write(address, data)
    return len(data) >> 3


@pytest.mark.parametrize("channel", [0, 1])
@pytest.mark.parametrize("value", [1, 0, 0x80])
def test_jump_leaves_the_running_list(gpu: Any, channel: int, value: int) -> None:
    size = other(gpu, 1, 0x000F0000 | PLAIN, *FINAL)
    assert run(
        gpu, size, 0x000F0238 + channel, OTHER_LIST >> 3, 0x000F023A + channel, value, 0x000F023C + channel,
        2, 0x000F0000 | ROW, 3, 0x000F0000 | PLAIN,
    )  # fmt: skip
    assert (core(gpu, PLAIN), core(gpu, ROW)) == (1, 0)


def test_jump_inside_an_entry_drops_its_other_parameters(gpu: Any) -> None:
    size = other(gpu, 1, 0x000F0000 | PLAIN, *FINAL)
    # SIZE0, SIZE1, ADDR0, ADDR1, JUMP0 and, never reached, JUMP1
    assert run(gpu, size, 0x805F0238, 0x40, OTHER_LIST >> 3, 0xFFFFFFFF, 1, 1, 0)
    assert core(gpu, PLAIN) == 1


def test_sub_list_comes_back_by_another_jump(gpu: Any) -> None:
    back = 0x20200000
    rest = other(gpu, 3, 0x000F0000 | ROW + 1, *FINAL, address=back)
    size = other(gpu, 2, 0x000F0000 | ROW, 1, 0x000F023D)
    assert run(
        gpu, size, 0x000F0238, OTHER_LIST >> 3, 0x000F023A, rest, 0x000F0239, back >> 3, 0x000F023B,
        1, 0x000F0000 | PLAIN, 1, 0x000F023C,
    )  # fmt: skip
    assert [core(gpu, PLAIN), core(gpu, ROW), core(gpu, ROW + 1)] == [1, 2, 3]


def test_jump_target_is_cut_to_sixteen_bytes(gpu: Any) -> None:
    other(gpu, 1, 0x000F0000 | PLAIN, 5, 0x000F0000 | ROW, *FINAL)
    # 24 bytes from 8 past the start: sixteen bytes from the start
    assert not run(gpu, 24 >> 3, 0x000F0238, OTHER_LIST + 8 >> 3, 0x000F023A, 1, 0x000F023C, 0, 0)
    assert (core(gpu, PLAIN), core(gpu, ROW)) == (1, 5)
    assert "list.no-finalize" in gpu.ids


def test_state_and_draws_go_on_across_jumps(gpu: Any) -> None:
    gpu.quad(box=(-1, -1, 0, 1), color=(1, 0, 0, 1))
    first = gpu.list
    gpu.list = []
    gpu.quad(box=(0, -1, 1, 1), color=(0, 1, 0, 1))
    size = other(gpu, *gpu.list, *FINAL, *FINAL[: len(gpu.list) % 4])
    gpu.list = first
    gpu.set(CMDBUF_SIZE1=size, CMDBUF_ADDR1=OTHER_LIST >> 3, CMDBUF_JUMP1=1)
    gpu.run()
    assert (gpu.color_words()[:, :8] == 0xFF0000FF).all()
    assert (gpu.color_words()[:, 8:] == 0x00FF00FF).all()


# -- what writes set off ----------------------------------------------------------------------------------------------


def test_fifo_takes_every_parameter_of_an_entry(gpu: Any) -> None:
    gpu.write(0x2C0, 0x80000000)
    gpu.write(0x2C1, 1, 2, 3, 4, 5)  # one uniform of four words; one word waits
    gpu.run()
    assert core(gpu, 0x2C0) == 0x80000001
    gpu.write(0x2C1, 6, 7, 8)
    gpu.run()
    assert core(gpu, 0x2C0) == 0x80000002


def show_uniform(gpu: Any, number: int) -> np.ndarray:
    """A float uniform whose components lie in 0..1, seen as a colour: 255 times each."""
    gpu.program([gpu.op(0x13, "o0", "v0"), gpu.op(0x13, "o1", f"c{number}")])
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == gpu.color_words()[0, 0]).all()
    return gpu.pixels()[0, 0]


def test_packed_uniform_words_are_w_z_y_x(gpu: Any) -> None:
    gpu.uniform(1, 0.25, 0.25, 0.25, 0.25)
    gpu.write(0x2C0, 0)
    gpu.write(0x2C1, 0x41000040, 0x80004000, 0x003F0000)  # (1, 2, 3, 4)
    gpu.program([gpu.op(0x08, "o1", "c0", "v1"), gpu.op(0x13, "o0", "v0")])
    gpu.quad(color=[(0.2, 0.2, 0.2, 0.2)] * 4)
    gpu.run()
    assert gpu.pixels()[5, 5].tolist() == [51, 102, 153, 204]


def test_full_uniform_words_are_w_z_y_x(gpu: Any) -> None:
    gpu.write(0x2C0, 0x80000005)
    gpu.write(0x2C1, *np.array([0.8, 0.6, 0.4, 0.2], np.float32).view(np.uint32).tolist())
    assert show_uniform(gpu, 5).tolist() == [51, 102, 153, 204]


def test_all_data_ids_are_one_fifo(gpu: Any) -> None:
    words = gpu.packed(0.2, 0.4, 0.6, 0.8)
    gpu.write(0x2C0, 7)
    for number, word in zip((0x2C8, 0x2C1, 0x2C5), words, strict=True):
        gpu.write(number, word)
    assert np.abs(show_uniform(gpu, 7) - [51, 102, 153, 204]).max() <= 1


def test_following_data_ids_take_one_uniform_after_another(gpu: Any) -> None:
    gpu.write(0x2C0, 10)
    gpu.write(0x2C1, *gpu.packed(1, 0, 0, 1), *gpu.packed(0, 1, 0, 1), each=True)
    assert show_uniform(gpu, 10).tolist() == [255, 0, 0, 255]
    assert show_uniform(gpu, 11).tolist() == [0, 255, 0, 255]


def test_writing_the_index_drops_words_that_wait(gpu: Any) -> None:
    gpu.uniform(3, 0, 0, 0, 0)
    gpu.write(0x2C0, 3)
    gpu.write(0x2C1, 0xFFFFFFFF, 0xFFFFFFFF)
    gpu.write(0x2C0, 3)
    gpu.write(0x2C1, *gpu.packed(1, 0, 1, 1))
    assert show_uniform(gpu, 3).tolist() == [255, 0, 255, 255]


def test_uniforms_past_the_last_one_are_ignored(gpu: Any) -> None:
    for number in range(96):
        gpu.uniform(number, 1, 1, 1, 1)
    for number in (96, 127, 128, 255):
        gpu.uniform(number, 0, 0, 0, 0)
    assert [show_uniform(gpu, number).tolist() for number in (0, 31, 32, 95)] == [[255] * 4] * 4


@pytest.mark.parametrize(
    ("bits", "value"),
    [
        (0x3F0000, 1.0),
        (0x3E0000, 0.5),
        (0xC00000, -2.0),
        (0x45E000, 120.0),
        (0x3D5555, 1 / 3),
        (0, 0.0),
        (0x800000, 0.0),
    ],
)
def test_24_bit_floats_have_bias_63(gpu: Any, bits: int, value: float) -> None:
    gpu.write(0x2C0, 0)
    gpu.write(0x2C1, bits << 8 | bits >> 16, (bits << 16 | bits >> 8) & 0xFFFFFFFF, (bits << 24 | bits) & 0xFFFFFFFF)
    # colour = value * v1 + v2
    gpu.program([gpu.op(0x08, "r0", "c0", "v1"), gpu.op(0x00, "o1", "r0", "v2"), gpu.op(0x13, "o0", "v0")])
    gpu.quad(color=[(1 / 240,) * 4] * 4, uv0=[(0.5,) * 4] * 4)
    gpu.run()
    expected = (value / 240 + 0.5) * 255
    assert (np.abs(gpu.pixels() - expected) <= 0.51).all()
    assert f"{gpu.f24(value) & 0x7FFFFF:06x}" == f"{bits & 0x7FFFFF:06x}"


@pytest.mark.parametrize(
    ("index", "data", "start", "after"),
    [
        (0x0AF, 0x0B0, 0x005, 0x006), (0x0AF, 0x0B7, 0x4FF, 0x400), (0x0E6, 0x0E8, 0x10, 0x11), (0x0E6, 0x0EF, 0x7E,
        0x7F),
        (0x123, 0x124, 0x3, 0x4), (0x1C5, 0x1C8, 0x210, 0x211), (0x1C5, 0x1CF, 0x10FF, 0x1000),
        (0x2CB, 0x2CC, 0x10, 0x11), (0x2CB, 0x2D3, 0xFF, 0x100), (0x2D5, 0x2D6, 0x20, 0x21), (0x2D5, 0x2DD, 0x7E, 0x7F),
        (0x29B, 0x29C, 0x10, 0x11), (0x2A5, 0x2AD, 0x20, 0x21),
    ],
)  # fmt: skip
def test_table_uploads_count_their_index(gpu: Any, index: int, data: int, start: int, after: int) -> None:
    gpu.write(index, start)
    gpu.write(data, 0x123456)
    gpu.run()
    assert core(gpu, index) == after


def test_processor_writes_act_like_list_writes(gpu: Any) -> None:
    gpu.quad(color=(0, 0, 1, 1))
    words, gpu.list = gpu.list, []
    at = 0
    while at < len(words):
        header = words[at + 1]
        extras = header >> 20 & 0xFF
        for i, word in enumerate([words[at], *words[at + 2 : at + 2 + extras]]):
            gpu.poke(0x10401000 + 4 * ((header & 0x3FF) + i * (header >> 31)), word)
        at += 2 + extras + (extras & 1)
    assert (gpu.color_words() == 0x0000FFFF).all()


def test_lists_may_change_state_after_a_draw_without_touching_it(gpu: Any) -> None:
    """A draw sees registers, uniforms and program as they were when it was triggered."""
    gpu.uniform(0, 1, 0, 0, 1)
    colored = [gpu.op(0x13, "o0", "v0"), gpu.op(0x13, "o1", "c0")]
    gpu.program(colored)
    gpu.quad(box=(-1, -1, 0, 0))
    gpu.uniform(0, 0, 1, 0, 1)
    gpu.quad(box=(0, -1, 1, 0))
    gpu.program([gpu.op(0x13, "o0", "v0"), gpu.op(0x13, "o1", "v1")])
    gpu.quad(box=(-1, 0, 0, 1), color=(0, 0, 1, 1))
    gpu.set(DEPTH_COLOR_MASK=0x900)
    gpu.quad(box=(0, 0, 1, 1))
    gpu.uniform(0, 0, 0, 0, 0)
    gpu.set(DEPTH_COLOR_MASK=0)
    gpu.run()
    words = gpu.color_words()
    assert {f"{w:08x}" for w in words[:8, :8].ravel()} == {"ff0000ff"}
    assert {f"{w:08x}" for w in words[:8, 8:].ravel()} == {"00ff00ff"}
    assert {f"{w:08x}" for w in words[8:, :8].ravel()} == {"0000ffff"}
    assert {f"{w:08x}" for w in words[8:, 8:].ravel()} == {"ff0000ff"}


def test_more_draws_than_one_batch_holds(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(width=64, height=64)
    gpu.quad(color=(0, 0, 0, 1))
    gpu.outputs(0x03020100)  # an unmapped colour is white
    for i in range(2500):
        place = i % 64 | i // 64 << 16
        gpu.set(SCISSORTEST_MODE=3, SCISSORTEST_POS=place, SCISSORTEST_DIM=place, RESTART_PRIMITIVE=1, DRAWARRAYS=1)
    assert gpu.run()
    words = gpu.color_words().ravel()
    assert (words[:2500] == 0xFFFFFFFF).all()
    assert (words[2500:] == 0xFF).all()
