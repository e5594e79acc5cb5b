"""Macros as text: what the assembler takes, what the disassembler prints, and that one undoes the other."""

from __future__ import annotations

import random

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.maxwell.mme import isa
from pocketgpu.maxwell.mme.assembler import MacroSyntaxError, assemble
from pocketgpu.maxwell.mme.disassembler import disassemble, text_of

FILL = """
    parm r2 maddr r1        ; r1 is the method and its step
    parm r3                 # the value
again:
    mov r2, r2 - 1
    bnz r2, again           // the send is in its delay slot
    exit send r3
    nop
"""
FILL_WORDS = [0x00000A51, 0x00000301, 0xFFFFD211, 0xFFFFD017, 0x000018C1, 0x00000011]


def test_a_program() -> None:
    assert assemble(FILL) == FILL_WORDS
    assert [str(line) for line in disassemble(FILL_WORDS)] == [
        "    parm r2 maddr r1",
        "    parm r3",
        "L0:\n    mov r2, r2 - 1",
        "    bnz r2, L0",
        "    exit send r3",
        "    nop",
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("nop", 0x00000011),
        ("exit", 0x00000091),
        ("exit nop", 0x00000091),
        ("maddr 0x674", 0x019D0021),
        ("maddr @CLEAR_SURFACE", 0x019D0021),
        ("maddr @SET_CT_WRITE[0]:1", 0x05A00021),
        ("maddr r0, 0x680:1", 0x05A00021),
        ("mov r2, read(r2+@SET_COLOR_TARGET_THIRD_DIMENSION[0])", 0x00819215),
        ("mov r2,r2-1", 0xFFFFD211),
        ("mov r2, 5", 0x00014211),
        ("mov r2, -1", 0xFFFFC211),
        ("mov r2, 0x1FFFF", 0x7FFFC211),
        ("mov r2, 0x3FFFF", 0xFFFFC211),
        ("bnz r2, .-1", 0xFFFFD017),
        ("bz annul r5, .+3", 0x0000E827),
        ("bra .+2", 0x00008007),
        ("bra .", 0x00000007),
        ("bra annul .+0x10", 0x00040027),
        ("exit bnz r1, .+5", 0x00014897),
        (".word 0xdeadbeef", 0xDEADBEEF),
        (".word 16", 16),
        ("mov r2, extract(r1, 6, 4)", 0x010C4212),
        ("mov r3, insert(r3, r1, 0, 1, 4)", 0x20405B12),
        ("mov r1, extract(r2, r3, 4, 5)", 0x29009913),
        ("mov r1, extract(r2, 7, 4, r3)", 0x010E9914),
        ("parm r2 drop nand(r1, r3)", 0x0018CA00),
        ("maddrsend r0, 0x301:3", 0x00C04071 | 3 << 26),
    ],
)
def test_statements(text: str, word: int) -> None:
    assert [f"{w:#010x}" for w in assemble(text)] == [f"{word:#010x}"]
    assert assemble(text_of([word])) == [word]


def test_spaces_and_cases_of_layout_do_not_matter() -> None:
    assert assemble("\n\n  a: b:mov   r3 ,  add( r1 ,r2 )  ;x\n") == assemble("mov r3, add(r1, r2)")
    assert assemble("") == [] == assemble("; nothing\n\n")


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("nop\nfoo r1", 2, "no instruction"),
        ("mov r8, 1", 1, "no instruction"),
        ("mov r1, 0x40000", 1, "does not fit"),
        ("mov r1, -131073", 1, "does not fit"),
        ("mov r1, extract(r2, 32, 1)", 1, "does not fit"),
        ("mov r1, r2 * 3", 1, "no expression"),
        ("bra nowhere", 1, "no label"),
        ("bra r1, .", 1, "takes no register"),
        ("bz .", 1, "takes a register"),
        ("a: nop\na: nop", 2, "stands twice"),
        (".word 0x100000000", 1, "no 32-bit word"),
        ("maddr 0x1000:1", 1, "method with a step"),
        ("maddr 0x100:64", 1, "method with a step"),
        ("maddr @NO_SUCH_METHOD", 1, "no method"),
        ("send", 1, "no instruction"),
    ],
)
def test_mistakes_name_their_line(text: str, line: int, part: str) -> None:
    with pytest.raises(MacroSyntaxError, match=part) as caught:
        assemble(text)
    assert caught.value.line == line and isinstance(caught.value, UsageError)
    assert f"line {line}" in str(caught.value)


def test_far_too_many_lines_are_refused() -> None:
    with pytest.raises(MacroSyntaxError, match="lines"):
        assemble("nop\n" * 70_000)


def test_any_words_come_back() -> None:
    rng = random.Random(5)
    shown = 0
    for _ in range(4000):
        words = [rng.getrandbits(32) & (~8 if rng.random() < 0.8 else -1) for _ in range(rng.randrange(1, 8))]
        text = text_of(words)
        assert assemble(text) == words
        shown += text.count("\n") - text.count(".word")
    assert shown > 1000


def test_every_combination_of_the_table_is_shown_as_text() -> None:
    """Each operation with each result, with all of its fields set, is an instruction and not a word."""
    for operation in isa.OPERATIONS:
        for result in isa.RESULTS if operation.code != isa.BRANCH else ():
            values = dict.fromkeys(operation.fields, 1) | {"op": operation.code, "result": result.code, "rd": 3}
            word = sum(value << isa.FIELDS[name].lo for name, value in values.items())
            (line,) = disassemble([word])
            assert not line.text.startswith(".word"), operation.name
            assert assemble(str(line)) == [word]
    for function in isa.FUNCTIONS:
        (line,) = disassemble([function.code << isa.FIELDS["function"].lo | 0x00008910])
        assert line.text == f"mov r1, {function.name}(r1, r2)"


def test_remarks_name_methods_that_stand_as_numbers() -> None:
    lines = disassemble(assemble("maddr 0x674\nmov r1, read(0x206)\nmov r1, 0x674\nmaddr 0x9f0"))
    assert [line.remark for line in lines] == ["CLEAR_SURFACE", "SET_COLOR_TARGET_THIRD_DIMENSION(0)", "", ""]
    assert str(lines[0]).endswith("; CLEAR_SURFACE")
