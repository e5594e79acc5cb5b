"""Names and texts of decoded words: every id of every table, and the numbers beside them that have none."""

from __future__ import annotations

import pytest

from pocketgpu.facts.gsp import GX_COMMANDS
from pocketgpu.facts.maxwell import B06F, CLASSES
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.decode.names import BLOCKS, TITLES, entry_text, fields, gx_text, named, short

GX, GPFIFO, PICA_WORDS = BLOCKS.index("gx"), BLOCKS.index("gpfifo"), BLOCKS.index("pica")


def test_words_of_gx_commands() -> None:
    for number, command in enumerate(GX_COMMANDS):
        assert named(GX, 0, number).name == f"{command.name}.command"
        for n, word in enumerate(command.words):
            found = named(GX, n + 1, number)
            assert (found.name, found.id, found.known) == (f"{command.name}.{word.name}", f"{n + 1:#x}", False)
    for number in (len(GX_COMMANDS), len(GX_COMMANDS) + 1, 255):
        assert named(GX, 3, number).name == f"UNKNOWN_{number}.word3"
    assert [named(GPFIFO, n).name for n in range(4)] == ["ENTRY.low", "ENTRY.high"] * 2


def test_registers_and_methods_have_the_names_of_their_tables() -> None:
    for register in PICA.registers:
        found = named(PICA_WORDS, register.offset)
        assert (found.name, found.known) == (register.name, register.known) and int(found.id, 16) == register.offset
    for block, name in enumerate(BLOCKS[:6]):
        table = CLASSES[int(name, 16)]
        for word in range(0, 0x1000, 7):
            method, found = table.get(word), named(block, word)
            assert found.name == (method.label if method is not None else f"UNKNOWN_{word:03X}")
            assert found.register == method and found.id == f"{word:#05x}"
    assert named(BLOCKS.index("unbound"), 0x200).name == "UNKNOWN_200" and len(TITLES) == len(BLOCKS)
    assert named(BLOCKS.index("b06f"), 4).name == B06F[4].label
    for name in ("external", "lcd"):
        assert named(BLOCKS.index(name), 0xFFFC).name == "UNKNOWN_FFFC"
    assert fields(PICA_WORDS, 0x41, 1) and not fields(GX, 1, 1) and not fields(GPFIFO, 0, 1)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0x1000, 5 << 10, "5 words at 0x1000"),
        (0x12345678 & ~3, 3 << 10 | 0x21, "3 words at 0x2112345678"),
        (0x1000, 5 << 10 | 1 << 31, "5 words at 0x1000, WAIT"),
        (0x1001, 5 << 10, "5 words at 0x1000, CONDITIONAL"),
        (0x1001, 5 << 10 | 1 << 9 | 1 << 8 | 1 << 31, "5 words at 0x1000, CONDITIONAL, KERNEL, SUBROUTINE, WAIT"),
        (0, 0, "control 0 (NOP), operand 0x0"),
        (0x500, 3, "control 3 (PB_CRC), operand 0x500"),
    ],
)
def test_entries_of_a_ring(low: int, high: int, text: str) -> None:
    """The length is in bits 30 to 10 of the upper word, in words; bit 31 waits for what came before."""
    assert entry_text(low, high) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1 (front)", "front"), ("5", "5"), ("1 (5 bytes)", "1 (5 bytes)"), ("7 (undefined)", "7 (undefined)"),
        ("2 (means more)", "2 (means more)"), ("0x10 (a (b))", "a (b)"), ("(front)", "(front)"), ("1 (", "1 ("),
    ],
)  # fmt: skip
def test_values_with_a_name_are_shown_by_it(text: str, found: str) -> None:
    assert short(text) == found


def test_gx_commands_as_text() -> None:
    texts = {command.name: gx_text([number, *range(0x10, 0x17)]) for number, command in enumerate(GX_COMMANDS)}
    for command in GX_COMMANDS:
        words = texts[command.name].split(" ")
        wanted = [(word, 0x10 + n) for n, word in enumerate(command.words) if word.kind != "unused"]
        assert words[0] == command.name
        text = texts[command.name]
        for word, value in wanted:
            shown = {"size": f"{value} bytes", "pair": f"{value},0"}.get(word.kind, f"{value:#x}")
            if word.kind in ("address", "end", "value"):
                shown = f"{value:#010x}"
            assert f"{word.name}={shown}" in text
        assert text.count("=") == len(wanted)
    assert gx_text([200, 1, 2]) == "unknown command 200"
