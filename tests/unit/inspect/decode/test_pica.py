"""What rows say of command lists, register writes and GX commands of a 3DS, on words made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder import CaptureBuilder
from pocketgpu.builder.values import encode_register
from pocketgpu.capture.formats import citrace
from pocketgpu.capture.replay import Capture
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA, START_LIST
from pocketgpu.inspect.decode import BLOCKS, EFFECTS, WHAT, Decoded, decode, decode_words
from pocketgpu.inspect.decode.rows import CHANGED

FINALIZE = [0x12345678, 0x000F0010]
DRAW = [1, 0x000F022E]


def entry(id: int, *values: int, mask: int = 15, consecutive: bool = False) -> list[int]:
    """An entry of a command list, padded."""
    extra = len(values) - 1
    words = [values[0], id | mask << 16 | extra << 20 | consecutive << 31, *values[1:]]
    return words + [0xBADBAD] * (len(words) % 2)


def rows(*parts: list[int], **more: object) -> np.ndarray:
    return decode_words([word for part in parts for word in part], "pica", tolerant=False, **more).rows  # type: ignore[arg-type]


def whats(found: np.ndarray) -> list[str]:
    return [WHAT[n] for n in found["what"]]


def has(row: np.void, effect: str) -> bool:
    return bool(int(row["effect"]) & EFFECTS[effect])


def test_a_word_before_its_header() -> None:
    found = rows(entry(0x40, 2), base=0x20000000)
    assert whats(found) == ["parameter", "header"]
    assert found["address"].tolist() == [0x20000000, 0x20000004]
    assert (found["id"] == 0x40).all() and found["new"][0] == 2 and found["old"][0] == PICA[0x40].reset
    assert BLOCKS[found["block"][0]] == "pica"


@pytest.mark.parametrize("mask", range(16))
def test_a_byte_mask_keeps_the_other_bytes(mask: int) -> None:
    found = rows(entry(0xC3, 0x11223344), entry(0xC3, 0xAABBCCDD, mask=mask))
    bits = sum(0xFF << 8 * byte for byte in range(4) if mask >> byte & 1)
    assert found["old"][2] == 0x11223344 and found["mask"][2] == mask
    assert found["new"][2] == (0x11223344 & ~bits) | (0xAABBCCDD & bits)


def test_consecutive_entries_and_padding() -> None:
    # 2 extra words need no padding, 3 do.
    found = rows(entry(0xC0, 1, 2, 3, consecutive=True), entry(0xC8, 1, 2, 3, 4, consecutive=True), entry(0x40, 1))
    assert whats(found) == [
        "parameter", "header", "parameter", "parameter",
        "parameter", "header", "parameter", "parameter", "parameter", "padding",
        "parameter", "header",
    ]  # fmt: skip
    writes = found[found["what"] == WHAT.index("parameter")]
    assert writes["id"].tolist() == [0xC0, 0xC1, 0xC2, 0xC8, 0xC9, 0xCA, 0xCB, 0x40]


def test_entries_that_are_not_consecutive_write_one_register() -> None:
    found = rows(entry(0x2CC, 10, 20, 30))
    writes = found[found["what"] == WHAT.index("parameter")]
    assert (writes["id"] == 0x2CC).all() and writes["old"].tolist()[1:] == [10, 20]
    assert all(has(row, "upload") and not has(row, "changed") for row in writes)


def test_index_registers_count_on() -> None:
    found = rows(entry(0x2CB, 5), entry(0x2CC, *range(3)), entry(0x2CB, 0))
    assert found["old"][-2] == 8  # VSH_CODETRANSFER_INDEX after three words


def test_words_belong_to_the_draw_that_they_come_before() -> None:
    found = rows(entry(0x40, 1), DRAW, entry(0x40, 2), DRAW, entry(0x40, 1), FINALIZE)
    assert found["draw"].tolist() == [0] * 4 + [1] * 4 + [-1] * 4
    assert [row["position"] for row in found if has(row, "draw")] == [2, 6]
    assert [has(row, "interrupt") for row in found][-2]


def test_what_changed_since_the_last_draw() -> None:
    found = rows(entry(0x40, 1), entry(0x40, 0), entry(0x40, 2), DRAW, entry(0x40, 1), entry(0x40, 2))
    marks = [bool(row["effect"] & CHANGED) for row in found if row["id"] == 0x40 and row["what"] == 1]
    assert marks == [True, False, True, True, False]


def test_immediate_vertices_are_one_draw() -> None:
    vertex = [0x3E000000, 0, 0]
    found = rows(entry(0x232, 0xF), entry(0x233, *vertex * 3, consecutive=False), entry(0x40, 1), entry(0x232, 0xF),
                 entry(0x233, *vertex))  # fmt: skip
    fired = [row for row in found if has(row, "draw")]
    assert [row["draw"] for row in fired] == [0, 1]
    assert (found["draw"][:12] == 0).all() and found["draw"][12] == 1


def test_nothing_is_reached_behind_the_end() -> None:
    found = rows(entry(PICA["IRQ_AUTOSTOP"].offset, 1), entry(PICA["IRQ_CMP0"].offset, 0x12345678), FINALIZE, DRAW)
    assert whats(found)[-2:] == ["not_reached", "not_reached"]
    assert not any(has(row, "draw") for row in found)


def test_a_cut_list() -> None:
    found = rows(entry(0xC0, 1, 2, 3, consecutive=True)[:3])
    assert whats(found) == ["parameter", "header", "parameter"]
    assert whats(rows([1])) == ["not_reached"]
    assert len(rows([])) == 0


def test_ids_without_a_register() -> None:
    found = rows(entry(0x300, 7), entry(0xFFFF, 7))
    assert [has(row, "ignored") for row in found] == [True, False, True, False]
    assert found["id"].tolist() == [0x300, 0x300, 0xFFFF, 0xFFFF]


def test_a_jump_without_a_target_ends_the_list() -> None:
    jump = [*entry(0x238, 2), *entry(0x23A, 0x20000000 >> 3), *entry(0x23C, 1)]
    found = rows(jump, entry(0x40, 1))
    assert has(found[-4], "jump") and whats(found)[-2:] == ["not_reached"] * 2


def jumping(words: list[int], target: list[int], tail: list[int]) -> Decoded:
    """A capture whose list jumps to another one."""
    capture = CaptureBuilder()
    second = capture.put(np.array(target, np.uint32).tobytes(), align=16)
    jump = [*entry(0x238, 4 * len(target) >> 3), *entry(0x23A, second >> 3), *entry(0x23C, 1)]
    first = np.array([*words, *jump, *tail], np.uint32)
    place = capture.put(first.tobytes(), align=16)
    for name, value in (("CMDBUF_SIZE0", first.nbytes >> 3), ("CMDBUF_ADDR0", place >> 3), ("CMDBUF_JUMP0", 1)):
        capture.write_word(PICA[name].address, value)
    capture.end_frame()
    return decode(Capture("jump", citrace.parse(capture.tobytes())))


def test_lists_follow_jumps() -> None:
    target = [*entry(0x41, 7), *DRAW, *FINALIZE, *entry(0x40, 0)]
    found = jumping(entry(0x40, 2), target, [*entry(0x40, 1), *entry(0x40, 1)])
    flags = found.stream.table["flags"].tolist()
    assert found.stream.table["kind"].tolist() == [1, 0, 0] and flags == [0, 0, 1]
    own = found.rows[found.rows["segment"] == 1]
    assert whats(own)[-4:] == ["not_reached"] * 4 and has(own[6], "jump")
    reached = found.rows[found.rows["segment"] == 2]
    assert reached["word"].tolist() == target and (reached["draw"][:4] == 0).all() and has(reached[2], "draw")
    assert reached["address"][0] == int(own["new"][4]) << 3  # CMDBUF_ADDR0


def test_lists_in_a_circle_come_to_an_end() -> None:
    capture = CaptureBuilder()
    place = capture.allocate(64, align=16)
    jump = [*entry(0x238, 48 >> 3), *entry(0x23A, place >> 3), *entry(0x41, 7, 8), *entry(0x23C, 1), *entry(0x40, 1)]
    capture.load(place, np.array(jump, np.uint32).tobytes())
    for name, value in (("CMDBUF_SIZE0", 48 >> 3), ("CMDBUF_ADDR0", place >> 3), ("CMDBUF_JUMP0", 1)):
        capture.write_word(PICA[name].address, value)
    capture.end_frame()
    found = decode(Capture("circle", citrace.parse(capture.tobytes())))
    assert len(found.stream.table) > 1000
    assert (found.rows["word"] == found.stream.words).all()


def test_the_processors_writes() -> None:
    control = EXTERNAL["PSC0_CONTROL"]
    capture = CaptureBuilder()
    capture.write_word(control.address, 0x201).write_word(control.address, 0x201).write_word(0x10202204, 0x100)
    capture.write_word(PICA["IRQ_CMP0"].address, 5).write_word(0x10000000, 5).end_frame()
    found = decode(Capture("writes", citrace.parse(capture.tobytes())))
    values = found.rows[1::2]
    assert [WHAT[n] for n in found.rows["what"][:2]] == ["address", "parameter"]
    assert has(values[0], "fill") and values["id"][0] == control.offset
    assert int(values["old"][1]) == 0x202  # done: no longer "start", but "finished"
    assert [BLOCKS[n] for n in values["block"]][:4] == ["external", "external", "lcd", "pica"]
    assert values["new"][3] == 5 and has(values[4], "ignored")


def test_gx_commands() -> None:
    found = decode_words([1, 0x14000000, 0x100, 0, 0, 0, 0, 1, 2], "gx", base=0x1000)
    assert found.rows["id"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0]
    assert found.rows["subchannel"].tolist() == [1] * 8 + [2]
    assert any("ProcessCommandList list=0x14000000 size=256 bytes" in line for line in found.lines())


# Dumps


def test_garbage_is_passed_over() -> None:
    listed = [*entry(0x40, 2), *entry(0xC0, 1, 2, 3, consecutive=True), *DRAW, *entry(0x41, 3)]
    noise = [0xFFFFFFFF, 0x7FFFFFFF] * 20
    found = decode_words([*noise, *listed, *noise, *listed], "pica").rows
    garbage = found["what"] == WHAT.index("garbage")
    assert garbage[:40].all() and not garbage[40:50].any() and garbage[50:90].all() and not garbage[90:].any()
    assert sum(has(row, "draw") for row in found) == 2


def test_dumps_do_not_end_with_a_list() -> None:
    stop = [*entry(PICA["IRQ_AUTOSTOP"].offset, 1), *entry(PICA["IRQ_CMP0"].offset, 0x12345678), *FINALIZE]
    found = decode_words([*stop, *entry(0x23C, 1), *entry(0x40, 1)], "pica").rows
    assert WHAT.index("not_reached") not in found["what"] and found["new"][-2] == 1


@pytest.mark.parametrize("words", [[1 << 32], [-1], ["x"], [1.5, None]])
def test_numbers_that_are_no_words(words: list[object]) -> None:
    with pytest.raises(UsageError, match="32 bits"):
        decode_words(words, "pica")  # type: ignore[arg-type]


def test_kinds_and_bases() -> None:
    with pytest.raises(UsageError, match="no words of kind"):
        decode_words([], "gpu")
    with pytest.raises(UsageError, match="no word can be"):
        decode_words([], "pica", base=2)


@pytest.mark.parametrize("tolerant", [False, True])
def test_both_evaluators_agree(tolerant: bool) -> None:
    random = np.random.default_rng(3)
    words: list[int] = []
    for _ in range(40):
        values = random.integers(0, 1 << 32, int(random.integers(1, 6))).tolist()
        id = int(random.choice([0x40, 0xC0, 0x232, 0x233, 0x2C0, 0x2C1, 0x2CC, 0x22E, 0x10, 0x300, 0x1C8]))
        words += entry(id, *values, mask=int(random.integers(16)), consecutive=bool(random.integers(2)))
    words += random.integers(0, 1 << 32, 30).tolist()
    quick, oracle = (decode_words(words, "pica", 0x20000000, tolerant, evaluator=one).rows for one in ("llvm", "numpy"))
    assert (quick == oracle).all() and len(quick) == len(words)


def test_choices_decide_which_words_a_list_has() -> None:
    """A fill of 24 bits ends just before a list. With one choice it writes the first two bytes of the list as well."""
    builder = CaptureBuilder()
    start = builder.allocate(32, align=16)
    words = [*entry(0x40, 0xAABBCCDD), *FINALIZE]
    builder.load(start + 16, np.array(words, np.uint32)).fill(start, start + 16, 0x112233, width=24)
    for name, fields in (("CMDBUF_SIZE0", {"size": 4 * len(words)}), ("CMDBUF_ADDR0", {"address": start + 16})):
        builder.write_word(PICA[name].address, encode_register(PICA[name], fields))
    builder.write_word(PICA["CMDBUF_JUMP0"].address, START_LIST).end_frame()
    capture = Capture("", citrace.parse(builder.tobytes()))
    for tail, first in (("stop", 0xAABBCCDD), ("whole-groups", 0xAABB1122), ("stop", 0xAABBCCDD)):
        found = decode(capture, switches={"fill.tail_24": tail})
        assert found.rows[found.rows["address"] == start + 16]["word"].tolist() == [first]
