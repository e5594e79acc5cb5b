"""Shader text to words and back: encodings against the instruction tables, results against the shader unit."""

from __future__ import annotations

import json
import lzma
import random
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts.shader_isa import OPCODES, SEMANTICS, descriptor
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.assembler import Assembly, ShaderError, assemble
from pocketgpu.pica.shader.disassembler import disassemble, instruction_text


def one(text: str) -> tuple[str, dict[str, int], dict[str, int]]:
    """Name, instruction fields and descriptor fields of one instruction."""
    program = assemble(text)
    (word,) = program.code
    op = OPCODES[word >> 26]
    fields = {name: op.format.get(word, name) for name in op.format.fields}
    desc = program.descriptors[fields["desc"]] if "desc" in fields else 0
    names = ("mask", "neg1", "sel1", "neg2", "sel2", "neg3", "sel3")
    return op.name, fields, {name: descriptor(desc, name) for name in names}


def run(text: str, inputs: list[list[float]], **more: object) -> np.ndarray:
    """Output registers (16, 4) of one vertex."""
    program = assemble(text)
    uniforms = {number: value for number, value in program.constants.items()}
    vertex = np.zeros((1, 16, 4), np.float32)
    vertex[0, : len(inputs)] = inputs
    unit = Program(program.code, program.descriptors, program.entry)
    return np.asarray(unit.run(vertex, uniforms=uniforms, **more))[0]  # type: ignore[arg-type]


# -- encodings --------------------------------------------------------------------------------------------------------
def test_the_word_of_a_published_program() -> None:
    # dp4 o0.x, c0, v0 and end, as the public documentation's fields put them together.
    program = assemble("dp4 o0.x, c0, v0\nend")
    assert program.code == (0x02 << 26 | 0 << 21 | 0x20 << 12 | 0 << 7, 0x22 << 26)
    assert program.descriptors == (0x8 | 0x1B << 5 | 0x1B << 14,)


def test_operands_of_an_arithmetic_instruction() -> None:
    name, fields, desc = one("add r3.yz, -c95.wzyx, r2.x")
    assert name == "ADD"
    assert (fields["dst"], fields["src1"], fields["src2"], fields["idx"]) == (16 + 3, 0x20 + 95, 0x10 + 2, 0)
    assert desc["mask"] == 0b0110
    assert (desc["neg1"], desc["sel1"]) == (1, 0b11_10_01_00)
    assert (desc["neg2"], desc["sel2"]) == (0, 0)


@pytest.mark.parametrize(
    ("text", "name", "sources"),
    [
        ("mul r0, r1, c2", "MUL", (0x22, 0x11)),  # exchanged: only the first source may be a uniform
        ("sge r0, r1, c2", "SGEI", (0x11, 0x22)),
        ("slt r0, c1, r2", "SLT", (0x21, 0x12)),
        ("dph r0, r1, c2", "DPHI", (0x11, 0x22)),
        ("mad r0, r1, c2, r3", "MAD", (0x11, 0x22, 0x13)),
        ("mad r0, c1, r2, r3", "MAD", (0x12, 0x21, 0x13)),
        ("mad r0, r1, r2, c3", "MADI", (0x11, 0x12, 0x23)),
        ("madi r0, r1, r2, r3", "MADI", (0x11, 0x12, 0x13)),
    ],
)
def test_a_uniform_goes_where_it_can(text: str, name: str, sources: tuple[int, ...]) -> None:
    found, fields, _ = one(text)
    assert found == name
    assert tuple(fields[f"src{i}"] for i in range(1, len(sources) + 1)) == sources


@pytest.mark.parametrize(("index", "code"), [("a0.x", 1), ("a0.y", 2), ("aL", 3)])
def test_indices(index: str, code: int) -> None:
    _, fields, _ = one(f"mov r0, c4[{index}]")
    assert (fields["idx"], fields["src1"]) == (code, 0x24)
    _, fields, _ = one(f".alias table c8\nmov r0, table[{index} + 3]")
    assert (fields["idx"], fields["src1"]) == (code, 0x20 + 11)
    _, fields, _ = one(f"mad r0, r1, r2, c4[{index}]")
    assert (fields["idx"], fields["src3"]) == (code, 0x24)


def test_comparisons_and_conditions() -> None:
    name, fields, _ = one("cmp c1, ge, ne, r2")
    assert (name, fields["cmpx"], fields["cmpy"], fields["src1"]) == ("CMP", 5, 1, 0x21)
    for text, expected in (
        ("cmp.x", (2, 1, 0)),
        ("!cmp.y", (3, 0, 0)),
        ("cmp.x || !cmp.y", (0, 1, 0)),
        ("!cmp.x && cmp.y", (1, 0, 1)),
    ):
        _, fields, _ = one(f"jmpc {text}, 7")
        assert (fields["cond"], fields["refx"], fields["refy"]) == expected
        assert fields["dst"] == 7


def test_blocks_become_addresses() -> None:
    program = assemble(
        """
        main:
            ifu b3
                mov r0, v0
                mov r1, v0
            else
                mov r2, v0
                mov r3, v0
                mov r4, v0
            endif
            loop i2
                add r0, r0, r1
                add r0, r0, r1
            endloop
            call twice
            jmpu !b1, main
            end
        .proc twice
            add r0, r0, r0
        .endproc
        """
    )
    fields = [
        {name: OPCODES[word >> 26].format.get(word, name) for name in ("dst", "num", "bool", "int")}
        for word in program.code
    ]
    assert (fields[0]["dst"], fields[0]["num"], fields[0]["bool"]) == (3, 3, 3)
    assert (fields[6]["dst"], fields[6]["int"]) == (8, 2)  # a loop names its last instruction
    assert (fields[9]["dst"], fields[9]["num"]) == (12, 1)
    assert (fields[10]["dst"], fields[10]["num"], fields[10]["bool"]) == (0, 1, 1)
    assert program.labels == {"main": 0, "twice": 12} and program.entry == 0


def test_blocks_do_not_end_with_what_the_console_cannot_take() -> None:
    program = assemble(
        """
            loop i0
                ifu b0
                    nop
                    breakc cmp.x
                endif
            endloop
            end
        """
    )
    names = [OPCODES[word >> 26].name for word in program.code]
    # A pad after the break, and one so that block and loop do not end together.
    assert names == ["LOOP", "IFU", "NOP", "BREAKC", "NOP", "NOP", "END"]


def test_setemit() -> None:
    _, fields, _ = one("setemit 2, prim inv")
    assert fields == {"vertex": 2, "primitive": 1, "winding": 1}


def test_outputs_and_constants() -> None:
    program = assemble(
        ".out o0 position\n.out o1.xy texcoord1\n.out o1.zw texcoord0\n.out o2 texcoord0w\n"
        ".constf c7 1, -2.5, 1e3, 0\nend"
    )
    names = {
        number: [SEMANTICS[code] if code != 31 else "" for code in codes] for number, codes in program.outputs.items()
    }
    assert names[0] == ["position.x", "position.y", "position.z", "position.w"]
    assert names[1] == ["texcoord1.u", "texcoord1.v", "texcoord0.u", "texcoord0.v"]
    assert names[2] == ["texcoord0.u", "texcoord0.v", "texcoord0.w", ""]
    assert program.constants == {7: (1.0, -2.5, 1000.0, 0.0)}


def test_the_third_texture_coordinate_stands_alone_or_with_both_others() -> None:
    names = lambda text: [  # noqa: E731
        SEMANTICS[code] if code != 31 else "" for code in assemble(text + "\nend").outputs[2]
    ]
    whole = ["texcoord0.u", "texcoord0.v", "texcoord0.w", ""]
    assert names(".out o2.xyz texcoord0w") == whole
    assert names(".out o2.xy texcoord0\n.out o2.z texcoord0w") == whole
    with pytest.raises(ShaderError, match="two components"):
        assemble(".out o2.xy texcoord0w\nend")


# -- descriptors ------------------------------------------------------------------------------------------------------
def test_descriptors_are_shared() -> None:
    # mov looks at one source only, so it fits the descriptor of the add; the third needs one of its own.
    program = assemble("add r0, r1, r2.x\nmov r3, r4\nmov r3.x, r4")
    assert len(program.descriptors) == 2
    assert [word & 0x7F for word in program.code] == [0, 0, 1]


def test_mad_gets_the_low_descriptors() -> None:
    letters = "xyzw"
    swizzles = [a + b + c + "w" for a in letters for b in letters for c in letters][:50]
    lines = [f"mov r0, r1.{swizzle}" for swizzle in swizzles] + ["mad r0, r1, r2, r3.wzyx"]
    program = assemble("\n".join(lines))
    assert len(program.descriptors) >= 50
    assert program.code[-1] & 0x1F == 0 and descriptor(program.descriptors[0], "sel3") == 0b11_10_01_00


def test_too_many_descriptors_are_an_error() -> None:
    letters = "xyzw"
    swizzles = [a + b + c for a in letters for b in letters for c in letters]
    with pytest.raises(ShaderError, match="more than 32 operand descriptors for MAD") as caught:
        assemble("\n".join(f"mad r0, r1.{swizzle}, r2, r3" for swizzle in swizzles))
    assert caught.value.line == 33
    many = [f"mov r0.{mask}, r1.{swizzle}" for mask in ("x", "y", "xy") for swizzle in swizzles]
    with pytest.raises(ShaderError, match="more than 128 operand descriptors"):
        assemble("\n".join(many))


# -- errors -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nop\nmuv r0, r1", "no instruction 'muv' .* Did you mean mul|Did you mean mov"),
        ("nop\nmov r0", "mov takes 2 operands, not 1"),
        ("nop\nmov r16, r0", "there is no register r16"),
        ("nop\nmov c0, r0", "'c0' is not a valid register here"),
        ("nop\nmov r0, o1", "'o1' is not a valid register here"),
        ("nop\nmov r0.yk, r1", "'yk' is no write mask"),
        ("nop\nmov r0, r1.xyzwx", "no swizzle"),
        ("nop\nadd r0, c0, c1", "only one source may be a uniform"),
        ("nop\nmax r0, r1, c1", "source 2 of max can be neither a uniform nor indexed"),
        ("nop\nmov r0, c95[3]", "there is no register c98"),
        ("nop\nmov r0, c0[a0.z]", "'a0.z' is no index"),
        ("nop\nmova a0.z, r1", "mova cannot write a0.z"),
        ("nop\ncmp r0, lt, lowest, r1", "'lowest' is no comparison"),
        ("nop\nifc cmp.z", "'cmp.z' is no condition"),
        ("nop\nifu !b0", "ifu cannot negate its boolean"),
        ("nop\njmpc cmp.x, nowhere", "no label nowhere"),
        ("here:\njmpc cmp.x, hare", "Did you mean here"),
        ("nop\ncall nowhere", "no .proc nowhere"),
        ("here:\nhere: nop", "label here is defined already"),
        ("nop\nendif", "endif without ifu or ifc"),
        ("nop\nloop i0\nnop\nnop", "loop has no end"),
        ("nop\n.proc light\nnop", ".proc has no end"),
        ("nop\nloop i4", "there is no register i4"),
        ("nop\n.outt o0 position", "no directive .outt"),
        ("nop\n.out o0 place", "no semantic place"),
        ("nop\n.constf c0, 1, 2, 3, four", "'four' is not a number"),
        ("nop\n.word 0x100000000", "word 0x100000000 is not in"),
        ("nop\nsetemit 4", "vertex 4 is not in"),
        ("nop\njmpc cmp.x, 4096", "4096 does not fit the 12 bits of DST"),
        (".desc 3, 0x0\nmov r0, r1 @3", "descriptor 3 is 0x0, which has other bits"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(ShaderError, match=message) as caught:
        assemble(text)
    assert caught.value.line == 2
    assert "line 2" in str(caught.value)
    assert isinstance(caught.value, UsageError)


def test_a_program_that_is_too_long() -> None:
    assert len(assemble("nop\n" * 512).code) == 512
    with pytest.raises(ShaderError, match="513 words; 512 fit"):
        assemble("nop\n" * 513)
    assert len(assemble("nop\n" * 513, words=4096).code) == 513


def test_two_inputs_at_once_are_worth_a_warning() -> None:
    assert assemble("add r0, v0, v0").warnings == ()
    (warning,) = assemble("nop\nadd r0, v0, v1").warnings
    assert "line 2" in warning


def test_the_example_of_the_language() -> None:
    from pocketgpu.pica.shader import assembler

    example = (assembler.__doc__ or "").split("\n\n")[2]
    program = assemble(example)
    assert program.labels.keys() == {"main", "lit"} and program.warnings == ()
    assert program.outputs and program.constants


# -- what programs do -------------------------------------------------------------------------------------------------
def test_a_matrix_and_a_light() -> None:
    out = run(
        """
        .constf c0, 1, 0, 0, 10
        .constf c1, 0, 2, 0, 20
        .constf c8, 0, 3, 4, 0
        main:
            dp4 o0.x, c0, v0
            dp4 o0.y, c1, v0
            dp3 r0.x, v1, v1
            rsq r0.x, r0.x
            mul r1.xyz, r0.x, v1
            dp3 o1.x, c8, r1
            mov o1.yzw, -v1.xxyz
            end
        """,
        [[1, 2, 3, 1], [0, 0, 5, 0]],
    )
    assert out[0, :2].tolist() == [11.0, 24.0]
    assert out[1, 0] == pytest.approx(4.0, rel=1e-3)
    assert out[1, 1:].tolist() == [0.0, 0.0, -5.0]


BRANCHES = """
    .constf c0, 0, 1, 2, 3
    .constf c1, 10, 20, 30, 40
    main:
        mov r0, c0
        cmp c0, lt, eq, v0      ; 0 < x, 1 == y
        ifc cmp.x && !cmp.y
            mov r1, c0.w
        else
            mov r1, c0.z
        endif
        ifu b0
            call double
        endif
        loop i0
            add r1, c0.y, r1
            mova a0.x, c0.y
        endloop
        jmpu !b1, past
        add r1, c1.x, r1
    past:
        mov o0, r1
        mov o1, c0[a0.x]
        end
    .proc double
        add r1, r1, r1
    .endproc
"""


@pytest.mark.parametrize(
    ("x", "y", "bools", "rounds", "expected"),
    [
        (1.0, 0.0, {0: True}, 0, 2 * 3 + 1),
        (1.0, 1.0, {}, 4, 2 + 5),
        (-1.0, 0.0, {0: True, 1: True}, 2, 2 * 2 + 3 + 10),
    ],
)
def test_control_flow(x: float, y: float, bools: dict[int, bool], rounds: int, expected: float) -> None:
    flags = [bools.get(number, False) for number in range(16)]
    integers = [(rounds, 0, 1, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)]
    out = run(BRANCHES, [[x, y, 0, 0]], bool_uniforms=flags, int_uniforms=integers)
    assert out[0].tolist() == [expected] * 4
    assert out[1].tolist() == [10.0, 20.0, 30.0, 40.0]


# -- back to text -----------------------------------------------------------------------------------------------------
def same(first: Assembly, code: list[int], descriptors: list[int]) -> bool:
    return list(first.code) == code and list(first.descriptors) == descriptors


def test_a_jump_on_a_boolean_shows_whether_it_is_inverted() -> None:
    for condition in ("b3", "!b3"):
        program = assemble(f"jmpu {condition}, there\nmov o0, v0\nthere:\nend")
        assert f"jmpu {condition}, " in disassemble(program.code, program.descriptors)


def test_text_of_a_program() -> None:
    program = assemble(BRANCHES)
    text = disassemble(program.code, program.descriptors, entry=program.entry)
    assert "cmp c0, lt, eq, v0" in text
    assert "ifc cmp.x && !cmp.y, l005, l007" in text
    assert "mov o1, c0[a0.x]" in text
    assert "jmpu !b1, " in text and "main:" in text
    again = assemble(text)
    # Descriptors may be numbered otherwise; flow and operands are the same.
    assert disassemble(again.code, again.descriptors, entry=again.entry) == text


def test_any_words_survive_the_round_trip() -> None:
    source = random.Random(20)
    for _ in range(40):
        code = [source.getrandbits(32) for _ in range(60)]
        descriptors = [source.getrandbits(32) for _ in range(128)]
        text = disassemble(code, descriptors, entry=source.randrange(60), exact=True)
        assert same(assemble(text), code, descriptors)


NO_MEANING = {
    "LOOP": {"num": 0, "bool": 3, "int": 0}, "JMPC": {"num": 0}, "JMPU": {"num": 1}, "BREAKC": {"num": 0, "dst": 0},
    "CALL": {"cond": 0, "refx": 0, "refy": 0}, "MOVA": {"dst": 0},
}  # fmt: skip
"""Bits of fields that the opcode looks at, where it does not look at all of them."""


def test_every_opcode_survives_the_round_trip() -> None:
    source = random.Random(21)
    for number, op in OPCODES.items():
        said = 0
        for _ in range(15):
            fields = {name: source.getrandbits(width) for name, (_, width) in op.format.fields.items() if name != "op"}
            fields |= {name: fields[name] & mask for name, mask in NO_MEANING.get(op.name, {}).items()}
            if op.sources == 1:
                fields["src2"] = 0
            word = number << 26
            for name, value in fields.items():
                word |= value << op.format.fields[name][0]
            descriptors = [source.getrandbits(31) for _ in range(128)]
            text = disassemble([word], descriptors, exact=True)
            assert same(assemble(text), [word], descriptors)
            said += ".word" not in text
        assert said, op.name


def test_undefined_words_stay_words() -> None:
    assert instruction_text(0x3F << 24, []).startswith(".word")
    assert instruction_text(0x10 << 26, [0] * 128) == ".word 0x40000000"
    assert instruction_text(0x22 << 26, []) == "end"


def test_public_programs_survive_the_round_trip(shared_dir: Path) -> None:
    cases = json.loads(lzma.decompress((shared_dir / "shader-cases" / "cases.json.xz").read_bytes()))
    assert len(cases) > 300
    for case in cases:
        text = disassemble(case["program"], case["swizzle"], entry=case["entry_point"], exact=True)
        again = assemble(text, words=4096)
        assert list(again.code) == case["program"], case["name"]
        assert list(again.descriptors) == case["swizzle"], case["name"]
        assert again.entry == case["entry_point"]
