"""Registers explain themselves: found by any of their names, and values taken apart to the last bit."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pocketgpu.cli import main
from pocketgpu.facts.dialect.registers import Certainty
from pocketgpu.facts.external import EXTERNAL, LCD, USER_OFFSET
from pocketgpu.facts.lookup import BLOCKS
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.registers import describe

REGISTERS = [register for block in BLOCKS for register in block]


def test_every_register_answers_to_every_name_and_address() -> None:
    for register in REGISTERS:
        for name in (register.name, register.name.lower(), *register.aliases):
            assert describe.resolve(name) == describe.Match(register), name
        for address in (register.address, register.address + USER_OFFSET):
            match = describe.resolve(f"{address:#x}")
            assert match == describe.Match(register), hex(address)
            assert describe.resolve(f"{address + 3:#010X}") == describe.Match(register, byte=3)
            assert describe.resolve(f"{address:08X}") == match
        if register.block is PICA.bank:
            assert describe.resolve(hex(register.offset)) == describe.resolve(str(register.offset)) == match
            assert describe.resolve(f"GPUREG_{register.offset:04X}") == match
        elif register.block is EXTERNAL.bank and register.offset >= 0x300:
            assert describe.resolve(hex(register.offset)) == match


@pytest.mark.parametrize("text", ["0x300000000", "0x10000000", "0x1EF00BFC", "NOTHING", "PPF_FLAGS.nothing", "", "-1"])
def test_what_names_nothing(text: str) -> None:
    assert describe.resolve(text) is None


def test_fields_are_found_below_their_register() -> None:
    match = describe.resolve("gpureg_texunit0_dim.HEIGHT")
    assert match is not None and match.register.name == "TEXUNIT0_DIM" and match.field is not None
    assert match.field.name == "height"


def test_an_explanation_covers_every_bit_once() -> None:
    for register in REGISTERS:
        rows = describe.explain(register, 0xFFFFFFFF).bits
        assert {bit for row in rows for bit in range(row.lo, row.hi + 1)} == set(range(32)), register.name
        # Only a second reading of the same bits may overlap.
        plain = [bit for row in rows if row.field is None or not row.field.view for bit in range(row.lo, row.hi + 1)]
        assert len(plain) == len(set(plain)), register.name


def test_the_values_of_an_explanation_make_the_word_again() -> None:
    source = random.Random(3)
    for register in REGISTERS:
        word = source.getrandbits(32)
        again = 0
        for row in describe.explain(register, word).bits:
            assert row.raw is not None
            again |= row.raw << row.lo
        assert again == word


def test_a_display_transfer_bit_by_bit(capsys: Any) -> None:
    assert main(["regs", "0x10400C10", "0x01001000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "PPF_FLAGS   external register at 0x10400c10 (programs: 0x1ef00c10)"
    at = next(number for number, line in enumerate(lines) if "source: 3dbrew GPU/External Registers" in line)
    assert "the public documentation" in " ".join(" ".join(lines[at : at + 2]).split())
    assert max(map(len, lines)) <= 80
    rows = {
        line.split()[1]: " ".join(line.split()[2:]) for line in lines if line.startswith("    ") and line[4].isdigit()
    }
    assert rows["scale"] == "1 (2x1)" and rows["output_format"] == "1 (RGB8)" and rows["input_format"] == "0 (RGBA8)"
    assert rows["flip"].startswith("no")


def test_bits_that_no_source_describes_are_pointed_out(capsys: Any) -> None:
    assert main(["regs", "PPF_FLAGS=0x80000000"]) == 0
    assert "[set, but a write does not change these bits]" in capsys.readouterr().out
    assert main(["regs", "TEXUNIT0_DIM", "0xF8000000"]) == 0
    assert "[set, but no source says what for]" in capsys.readouterr().out
    assert main(["regs", "TEXUNIT0_DIM", "0xF8400040", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["registers"]
    assert entry["unexplained_bits"] == 0xF8000000


def test_json_holds_all_of_it(capsys: Any) -> None:
    assert main(["regs", "0x1EF00400", "0x1C2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (entry,) = document["registers"]
    assert entry["name"] == "PDC0_HTOTAL" and entry["address"] == 0x10400400 and entry["id"] is None
    assert entry["virtual_address"] == 0x1EF00400 and entry["value"] == 0x1C2
    assert entry["fields"] == [
        {
            "name": "value", "lo": 0, "hi": 11, "type": "uint", "unit": "", "doc": "", "values": None,
            "raw": 0x1C2, "value": 450, "text": "450",
        }
    ]  # fmt: skip
    assert main(["regs", "0x4D", "0x7F0000", "--json"]) == 0  # infinity, for which JSON has no word
    (entry,) = json.loads(capsys.readouterr().out)["registers"]
    assert entry["fields"][0]["value"] is None and entry["fields"][0]["text"] == "inf"


def test_one_field_alone(capsys: Any) -> None:
    assert main(["regs", "LIGHTING_CONFIG0.layer", "0x50"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "layer" in line]
    assert len(rows) == 1 and "5 (D0, FR, RR, RG, RB, SP, DA)" in rows[0]


def test_a_byte_inside_a_register_is_named(capsys: Any) -> None:
    assert main(["regs", "0x10400C12"]) == 0
    assert "byte 2 of it: bits 23 to 16" in capsys.readouterr().out


def test_listing_and_searching(capsys: Any) -> None:
    assert main(["regs"]) == 0
    listed, _, classes = capsys.readouterr().out.partition("\n\n")
    assert len(listed.splitlines()) == sum(register.known for register in REGISTERS)
    assert "b197  MAXWELL_B" in classes  # the Switch's GPU: its methods are listed class by class
    assert main(["regs", "--unknown"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(not register.known for register in REGISTERS)
    assert main(["regs", "border", "color", "--json"]) == 0
    found = {entry["name"] for entry in json.loads(capsys.readouterr().out)["registers"]}
    assert found == {*(f"TEXUNIT{n}_BORDER_COLOR" for n in range(3)), *(f"PDC{n}_BORDER_COLOR" for n in range(2))}
    assert main(["regs", "largest density so far"]) == 0  # a single hit is explained
    assert capsys.readouterr().out.startswith("GAS_ACCMAX_FEEDBACK")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["TEXUNIT0_DIN"], "Did you mean TEXUNIT0_DIM"),
        (["TEXUNIT0_DIM.heigth"], "Did you mean TEXUNIT0_DIM.height"),
        (["TEXUNIT0_DIN", "5"], "there is no register 'TEXUNIT0_DIN'"),
        (["0x10000000"], "there is no register at 0x10000000"),
        (["0x80", "0x100000000"], "does not fit a 32-bit register"),
        (["0x80", "lots"], "'lots' is no value"),
        (["PPF_FLAGS="], "'' is no value"),
        (["no", "such", "thing"], "no register has 'no such thing'"),
    ],
)
def test_mistakes_are_usage_errors_that_help(words: list[str], said: str, capsys: Any) -> None:
    assert main(["regs", *words]) == 2
    printed = capsys.readouterr()
    assert said in printed.err and printed.out == ""


def test_every_certainty_has_words() -> None:
    assert set(describe.CERTAINTY_TEXT) == set(Certainty)
    for block in (PICA, EXTERNAL, LCD):
        assert (
            describe.explain(next(iter(block))).lines()[0].split("   ")[1].startswith(("internal", "external", "LCD"))
        )


def test_a_register_with_choices_says_where_their_evidence_is(capsys: Any) -> None:
    assert main(["regs", "DEPTHBUFFER_WRITE", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["registers"]
    assert {"choice": "test.stencil_write", "default": "any", "certainty": "measured"} in found["choices"]
    assert main(["regs", "DEPTHBUFFER_WRITE"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "who says what: pocketgpu switches test." in text and "test.stencil_write" in text.partition("who says")[2]
