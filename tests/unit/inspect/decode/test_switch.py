"""What rows say of pushbuffers of a Switch, on words made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support.channels import END, LEGACY, LEGACY_STEADY, header, immd, inc, load_macro, non_inc, one_inc

from pocketgpu.facts.maxwell import A140, B06F, B197
from pocketgpu.inspect.decode import BLOCKS, EFFECTS, WHAT, decode_words
from pocketgpu.maxwell.mme.assembler import assemble

SCALE = B197["SET_VIEWPORT_SCALE_X"].word
BEGIN, FINISH = B197["BEGIN"].word, B197["END"].word
ARRAY = B197["DRAW_VERTEX_ARRAY"].word
BIND = inc(0, 0xB197) + inc(0, 0x902D, subchannel=3) + inc(0, 0xA140, subchannel=2)
DRAW = [*inc(BEGIN, 4), *inc(ARRAY, 3), *immd(FINISH, 0)]


def rows(*parts: list[int], **more: object) -> np.ndarray:
    words = [word for part in (BIND, *parts) for word in part]
    found = decode_words(words, "pushbuffer", tolerant=False, **more).rows  # type: ignore[arg-type]
    assert found[found["what"] != WHAT.index("issued")]["word"].tolist() == words
    return found[found["position"] >= len(BIND)]


def whats(found: np.ndarray) -> list[str]:
    return [WHAT[n] for n in found["what"]]


def has(row: np.void, effect: str) -> bool:
    return bool(int(row["effect"]) & EFFECTS[effect])


def written(found: np.ndarray) -> list[int]:
    return found["id"][(found["what"] == 1) | (found["what"] == 2)].tolist()  # type: ignore[no-any-return]


def test_kinds_of_packets() -> None:
    assert written(rows(inc(SCALE, 1, 2, 3))) == [SCALE, SCALE + 1, SCALE + 2]
    assert written(rows(non_inc(SCALE, 1, 2, 3))) == [SCALE] * 3
    assert written(rows(one_inc(SCALE, 1, 2, 3))) == [SCALE, SCALE + 1, SCALE + 1]
    found = rows(immd(SCALE, 5))
    assert whats(found) == ["immediate"] and found["new"][0] == 5 and found["id"][0] == SCALE
    # The old forms count in other bits.
    assert written(rows([header(LEGACY, 0, 0) | 2 << 18 | SCALE << 2, 1, 2])) == [SCALE, SCALE + 1]
    assert written(rows([header(LEGACY_STEADY, 0, 0) | 2 << 18 | SCALE << 2, 1, 2])) == [SCALE] * 2
    assert whats(rows([0, 0])) == ["padding"] * 2


def test_headers() -> None:
    found = rows(inc(SCALE, 7), base=0x5_0000_0000)
    assert whats(found) == ["header", "parameter"]
    assert found["address"].tolist() == [0x5_0000_0000 + 4 * len(BIND), 0x5_0000_0004 + 4 * len(BIND)]
    assert (found["id"] == SCALE).all() and [BLOCKS[n] for n in found["block"]] == ["b197"] * 2
    assert found["old"][1] == 0 and found["new"][1] == 7 and has(found[1], "changed")


def test_the_end_of_a_segment() -> None:
    found = rows(inc(SCALE, 1), [header(END, 0, 0)], inc(SCALE, 2))
    assert whats(found) == ["header", "parameter", "header", "not_reached", "not_reached"]


def test_binding() -> None:
    found = rows(inc(0x100, 5, subchannel=3), inc(0, 0xB197, subchannel=3), inc(SCALE, 5, subchannel=3))
    assert [BLOCKS[n] for n in found["block"]] == ["902d"] * 2 + ["b06f"] * 2 + ["b197"] * 2
    assert (found["subchannel"] == 3).all()
    none = rows(inc(0, 0x1234, subchannel=6), inc(SCALE, 1, subchannel=6))
    assert BLOCKS[none["block"][-1]] == "unbound" and has(none[-1], "ignored")


def test_the_host_takes_low_words_on_every_subchannel() -> None:
    found = rows(inc(B06F["SYNCPOINTA"].word, 1, 2, subchannel=3))
    assert [BLOCKS[n] for n in found["block"]] == ["b06f"] * 3 and has(found[2], "report")


def test_draws() -> None:
    found = rows(inc(SCALE, 1), DRAW, inc(SCALE, 1), DRAW, inc(SCALE, 2))
    fired = np.flatnonzero(found["effect"] & EFFECTS["draw"])
    assert found["draw"][fired].tolist() == [0, 1] and found["id"][fired].tolist() == [ARRAY] * 2
    assert (found["draw"][: fired[0] + 1] == 0).all() and (found["draw"][fired[1] + 1 :] == -1).all()
    assert not has(found[fired[0] + 3], "changed") and has(found[-1], "changed")


def test_draws_need_begin() -> None:
    assert not (rows(inc(ARRAY, 3))["effect"] & EFFECTS["draw"]).any()
    whole = B197["DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_FIRST"].word
    assert has(rows(inc(whole, 3))[1], "draw")
    inline = rows(inc(BEGIN, 4), non_inc(B197["DRAW_INLINE_INDEX"].word, 0, 1, 2), immd(FINISH, 0))
    assert np.flatnonzero(inline["effect"] & EFFECTS["draw"]).tolist() == [len(inline) - 1]


def test_constants_and_inline_data() -> None:
    offset = B197["LOAD_CONSTANT_BUFFER_OFFSET"].word
    found = rows(one_inc(offset, 0x10, 1, 2, 3), inc(offset, 0))
    assert [has(row, "constant") for row in found] == [False, False, True, True, True, False, False]
    assert found["old"][-1] == 0x1C  # the offset moves on by itself
    data = rows(inc(A140["LOAD_INLINE_DATA"].word, 1, subchannel=2))
    assert has(data[1], "inline") and not has(data[1], "changed")


CODE = assemble("""
    parm r2 maddr r1
    send r2
    exit nop
    nop
""")


def test_macros() -> None:
    code = [int(word) for word in CODE]
    call = B197["CALL_MME_MACRO"](2).word
    words = (load_macro(2, code), one_inc(call, 0x1000 | SCALE, 77), inc(SCALE, 5))
    hidden, shown = rows(*words), rows(*words, macros=True)
    assert has(hidden[-3], "macro") and has(hidden[-4], "macro")
    assert int(hidden["old"][-1]) == 77  # the macro did write
    issued = shown[shown["what"] == WHAT.index("issued")]
    assert issued["id"].tolist() == [SCALE] and issued["new"].tolist() == [77]
    assert (shown[shown["what"] != WHAT.index("issued")] == hidden).all()
    place = np.flatnonzero(shown["what"] == WHAT.index("issued"))[0]
    assert shown["position"][place] == shown["position"][place - 1]


def test_draws_of_macros_are_told_of_the_word_that_sets_them_off() -> None:
    whole = B197["DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_FIRST"].word
    code = [int(word) for word in CODE]
    call = one_inc(B197["CALL_MME_MACRO"](2).word, 0x1000 | whole, 3)
    words = (load_macro(2, code), call, call)
    hidden, shown = rows(*words), rows(*words, macros=True)
    fired = hidden[(hidden["effect"] & EFFECTS["draw"]) != 0]
    assert fired["draw"].tolist() == [0, 1] and has(fired[0], "macro")
    own = shown[(shown["effect"] & EFFECTS["draw"]) != 0]
    assert own["what"].tolist() == [WHAT.index("issued")] * 2 and own["draw"].tolist() == [0, 1]


# Dumps


def test_garbage_is_passed_over() -> None:
    good = [*inc(SCALE, 1, 2), *immd(SCALE, 3), *DRAW, *inc(SCALE, 9)]
    noise = [0xFFFFFFFF, 0xDEADBEEF, 0x7F7F7F7F]
    found = decode_words([*BIND, *good, *noise, *good], "pushbuffer").rows
    garbage = found["what"] == WHAT.index("garbage")
    start = len(BIND) + len(good)
    assert np.flatnonzero(garbage).tolist() == [start, start + 1, start + 2]
    assert sum(has(row, "draw") for row in found) == 2


def test_a_cut_dump() -> None:
    found = decode_words([*BIND, *inc(SCALE, 1, 2, 3)[:-1]], "pushbuffer").rows
    assert whats(found)[-3:] == ["header", "parameter", "parameter"]


def test_dumps_go_on_behind_the_end_of_a_segment() -> None:
    found = decode_words([*BIND, header(END, 0, 0), *inc(SCALE, 1)], "pushbuffer").rows
    assert whats(found)[-3:] == ["header", "header", "parameter"]


def test_endless_macros_end() -> None:
    code = [int(word) for word in assemble("again:\n    bra again\n    nop\n")]
    call = [*BIND, *load_macro(0, code), *inc(B197["CALL_MME_MACRO"](0).word, 1), *inc(SCALE, 1)]
    assert decode_words(call, "pushbuffer").rows["new"][-1] == 1


@pytest.mark.parametrize("tolerant", [False, True])
def test_both_evaluators_agree(tolerant: bool) -> None:
    random = np.random.default_rng(5)
    code = [int(word) for word in CODE]
    words = [*BIND, *load_macro(2, code)]
    for _ in range(30):
        values = random.integers(0, 1 << 32, int(random.integers(1, 5))).tolist()
        word = int(
            random.choice([SCALE, BEGIN, ARRAY, FINISH, 0x8E3, 0x8E4, 0xE04, 0xE05, 0x45, 0x46, 0x60, 0x6C, 0x6D])
        )
        kind = random.integers(4)
        sub = int(random.choice([0, 0, 0, 2, 3, 7]))
        if kind == 3:
            words += immd(word, values[0] & 0x1FFF, subchannel=sub)
        else:
            words += (inc, non_inc, one_inc)[kind](word, *values, subchannel=sub)
    words += random.integers(0, 1 << 32, 20).tolist()
    for macros in (False, True):
        quick, oracle = (
            decode_words(words, "pushbuffer", 0x1000, tolerant, macros, evaluator=one).rows for one in ("llvm", "numpy")
        )
        assert len(quick) == len(oracle) >= len(words) and (quick == oracle).all()
