"""Shader files as texts and data: a text makes the same code again, and data has each instruction at its address."""

from __future__ import annotations

import struct

import pytest
from support.fuzz import load

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.inspect.shaders.files import ShaderProgram, open_shader
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.pica.shader.assembler import assemble as assemble_pica

fuzz = load("sass")
BARE = assemble("MOV R0, c[0x0][0x0]\nhere:\nIADD32I R0, R0, 0x1\n@P0 BRA here\nEXIT").code
PICA = struct.pack("<3I", 0x4C201000, 0x84000000, 0x88000000)


def opened(kind: str) -> list[ShaderProgram]:
    data = {"maxwell": BARE, "pica": PICA}.get(kind)
    module = open_shader(getattr(fuzz, kind)() if data is None else data, "a file", kind)
    assert module.kind == kind
    return module.programs


@pytest.mark.parametrize("kind", ["cubin", "dksh", "maxwell"])
def test_instructions_of_the_switch_are_at_their_addresses(kind: str) -> None:
    """A word of control comes before each three instructions."""
    (program,) = opened(kind)
    found = program.instructions()
    assert len(found) == len(program.code) // 32 * 3 == program.facts["instructions"]
    for number, one in enumerate(found):
        address = 32 * (number // 3) + 8 * (number % 3 + 1)
        word = int.from_bytes(program.code[address : address + 8], "little")
        assert (one["address"], one["word"]) == (address, f"{word:#018x}")
        assert f"/*{address:04x}*/" in program.text(False) and one["text"].split()[0] in program.text(False)
    assert program.console == "switch" and program.text(True) != program.text(False)


@pytest.mark.parametrize("kind", ["dksh", "maxwell"])
def test_a_text_of_the_switch_makes_the_same_code(kind: str) -> None:
    (program,) = opened(kind)
    assert assemble(program.text(True)).code == program.code


@pytest.mark.parametrize("kind", ["shbin", "pica"])
def test_a_text_of_the_3ds_makes_the_same_code(kind: str) -> None:
    (program,) = opened(kind)
    assert program.words == tuple(word for (word,) in struct.iter_unpack("<I", program.code))
    assert assemble_pica(program.text(True)).code == program.words and program.console == "3ds"
    with pytest.raises(UsageError, match="no Maxwell program"):
        program.instructions()


def test_facts_of_a_3ds_file() -> None:
    module = open_shader(fuzz.shbin())
    (program,) = module.programs
    assert module.facts == {"words": 2, "descriptors": len(program.descriptors)} and program.name == "vertex0"
    facts = program.facts
    assert (facts["type"], facts["entry"], facts["instructions"]) == ("vertex", 0, 2)
    assert facts["constants"] == {"c8": [1.0, 0.5, 0.0, 2.0]}
    assert facts["outputs"] == [{"register": "o0", "kind": "position", "mask": facts["outputs"][0]["mask"]}]


def test_facts_of_a_deko3d_file() -> None:
    facts = open_shader(fuzz.dksh()).programs[0].facts
    assert facts == {
        "stage": "compute", "entry": 0, "instructions": 9, "registers": 8, "constant_bytes": 0, "scratch_bytes": 0,
        "block": [32, 1, 1], "shared_bytes": 256, "local_bytes": 16, "barriers": 1,
    }  # fmt: skip


def test_bare_words_of_the_3ds() -> None:
    """Without descriptors operands are used whole; a unit holds 4096 instructions and 128 descriptors."""
    end = struct.pack("<I", 0x88000000)
    assert len(open_shader(end * 4096, kind="pica").programs[0].words) == 4096
    with pytest.raises(CaptureError, match="a shader unit holds 4096"):
        open_shader(end * 4097, kind="pica")
    # The lowest four bits of a descriptor are the mask, w first; the first component of an operand is chosen highest.
    descriptor = struct.pack("<I", 0b1000 | 0b00_01_10_11 << 5)
    (program,) = open_shader(PICA, kind="pica", descriptors=descriptor * 200).programs
    assert program.text(False).splitlines()[1].strip() == "mov o1.x, v1" and len(program.descriptors) == 128
    (program,) = open_shader(PICA, kind="pica").programs
    assert program.text(False) == "main:\n    mov o1, v1\n    nop\n    end"
    with pytest.raises(UsageError, match="no kind 'glsl'"):
        open_shader(PICA, kind="glsl")


def test_numbers_that_json_has_not_are_text() -> None:
    (program,) = open_shader(assemble("FADD R0, R0, +INF\nFADD R1, R1, 1\nEXIT").code, kind="maxwell").programs
    values = [part.get("value") for one in program.instructions() for part in one["operands"]]
    assert "inf" in values and float("inf") not in values
