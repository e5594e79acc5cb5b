"""The language of picasso: what each directive and each form of an operand becomes, and each mistake with its place."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pocketgpu.facts.shader_isa import OPCODES, SEMANTICS, descriptor
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.assembler import ShaderError, assemble, problems
from pocketgpu.pica.shader.disassembler import disassemble
from pocketgpu.pica.shader.symbols import Symbol, Use


def same(text: str, other: str) -> None:
    """Two texts that become the same words."""
    first, second = assemble(text), assemble(other)
    assert disassemble(first.code, first.descriptors) == disassemble(second.code, second.descriptors)
    assert (first.code, first.descriptors) == (second.code, second.descriptors)


def symbols(text: str) -> dict[str, tuple[str, int]]:
    return {one.name: (one.register, one.count) for one in assemble(text).symbols}


def semantics(text: str) -> dict[int, list[str]]:
    return {
        register: [SEMANTICS[code] if code != 0x1F else "" for code in row]
        for register, row in assemble(text + "\nend").outputs.items()
    }


# -- registers and names ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("mov r0, c8[4]", "mov r0, c12"),
        ("mov r4[-2], v0", "mov r2, v0"),
        ("mov r0, c8[ 1 + 2 - 1 ]", "mov r0, c10"),
        ("mov r0, c8[0x10]", "mov r0, c24"),
        ("mov r0, c8[a0]", "mov r0, c8[a0.x]"),
        ("mov r0, c8[a1+3]", "mov r0, c11[a0.y]"),
        ("mov r0, c8[3+a1]", "mov r0, c11[a0.y]"),
        ("mov r0, c8[lcnt-2]", "mov r0, c6[aL]"),
        ("mov r0, c8[a2]", "mov r0, c8[aL]"),
        ("mov r0.rgb, r1.bgra", "mov r0.xyz, r1.zyxw"),
        ("mov r0.st, r1.qpts", "mov r0.xy, r1.wzyx"),
        ("mov r0.yx, r1", "mov r0.xy, r1"),
        ("mov r0.zz, r1", "mov r0.z, r1"),
        ("mova a0, r0", "mova a0.x, r0"),
        ("mova a1, r0", "mova a0.y, r0"),
        ("mova a01, r0", "mova a0.xy, r0"),
        ("jmpc cmp.x & !cmp.y, 3", "jmpc cmp.x && !cmp.y, 3"),
        ("jmpc cmp.y | cmp.x, 3", "jmpc cmp.x || cmp.y, 3"),
        ("setemit 1, primitive invert", "setemit 1, prim inv"),
        ("mov\tr0 , -c8[ 1 ].x", "mov r0, -c9.x"),
        ("sgei r0, r1, c2", "sge r0, r1, c2"),
        ("madi r0, r1, r2, c3", "mad r0, r1, r2, c3"),
    ],
)
def test_forms_of_operands(text: str, plain: str) -> None:
    same(text, plain)


@pytest.mark.parametrize(
    ("alias", "use", "plain"),
    [
        ("c0.wyxz", "mov r0, it.xxww", "mov r0, c0.wwzz"),
        ("c0.wyxz", "mov r0, it", "mov r0, c0.wyxz"),
        ("c0.y", "mov r0, it", "mov r0, c0.yyyy"),
        ("c0.y", "mov r0, it.w", "mov r0, c0.yyyy"),
        ("c4[2].x", "mov r0, -it[1]", "mov r0, -c7.x"),
        ("r3.zw", "mov it, v0", "mov r3.zw, v0"),
        ("r3.zw", "mov it.x, v0", "mov r3.z, v0"),
        ("o2", "mov it.xyz, v0", "mov o2.xyz, v0"),
        ("b3", "ifu it\nnop\nnop\n.end", "ifu b3\nnop\nnop\nendif"),
        ("i2", "for it\nnop\nnop\n.end", "loop i2\nnop\nnop\nendloop"),
        ("v1", "mov r0, it[2]", "mov r0, v3"),
    ],
)
def test_aliases(alias: str, use: str, plain: str) -> None:
    same(f".alias it {alias}\n{use}", plain)
    same(f".alias other {alias}\n.alias it other\n{use}", plain)


def test_a_name_may_have_dollar_signs() -> None:
    assert symbols(".fvec light$pos[2]\n.bool $on\nmov r0, light$pos[1]\nifu $on\nnop\nnop\n.end") == {
        "light$pos": ("c0", 2), "$on": ("b0", 1),
    }  # fmt: skip


# -- what the assembler chooses ---------------------------------------------------------------------------------------
def test_uniforms_come_from_below_and_constants_from_above() -> None:
    text = """
        .fvec scaler
        .fvec projection[4], modelView[4]
        .ivec rounds, more[2]
        .bool on, lit[3]
        .constf ones(1, 1.5, -1, .5)
        .constf twos(2.0, 2, 2e0, 2)
        .consti ten(10, 0, 1, 255)
        .constfa table[]
        .constfa (1, 2, 3, 4)
        .constfa (5, 6, 7, 8)
        .end
        .constfa filled[3]
        .constfa (9, 9, 9, 9)
        .end
        end
    """
    program = assemble(text)
    assert {one.name: (one.register, one.count, one.use) for one in program.symbols} == {
        "scaler": ("c0", 1, Use.UNIFORM), "projection": ("c1", 4, Use.UNIFORM), "modelView": ("c5", 4, Use.UNIFORM),
        "rounds": ("i0", 1, Use.UNIFORM), "more": ("i1", 2, Use.UNIFORM), "on": ("b0", 1, Use.UNIFORM),
        "lit": ("b1", 3, Use.UNIFORM), "ones": ("c95", 1, Use.CONSTANT), "twos": ("c94", 1, Use.CONSTANT),
        "ten": ("i3", 1, Use.CONSTANT), "table": ("c92", 2, Use.CONSTANT), "filled": ("c89", 3, Use.CONSTANT),
    }  # fmt: skip
    zero = (0.0, 0.0, 0.0, 0.0)
    assert program.constants == {
        95: (1, 1.5, -1, 0.5), 94: (2, 2, 2, 2), 92: (1, 2, 3, 4), 93: (5, 6, 7, 8), 89: (9, 9, 9, 9), 90: zero,
        91: zero,
    }  # fmt: skip
    assert program.integers == {3: (10, 0, 1, 255)}
    assert Symbol("projection", "c1", Use.UNIFORM, 4, "", 3) in program.symbols


def test_a_constant_avoids_registers_that_have_one() -> None:
    program = assemble(
        ".constf c95, 1, 2, 3, 4\n.constf it(5, 6, 7, 8)\n.setf c93(0, 0, 0, 1)\n.constf also(9, 9, 9, 9)"
    )
    assert program.constants == {95: (1, 2, 3, 4), 94: (5, 6, 7, 8), 93: (0, 0, 0, 1), 92: (9, 9, 9, 9)}


def test_values_of_uniforms() -> None:
    program = assemble(
        ".fvec light[2]\n.ivec n\n.bool on, off, yes\n.setf light[1](1, 2, 3, 4)\n.seti n(3, 0, -1, 0x10)\n"
        ".setb on true\n.setb off off\n.setb yes, 1\n.setb b9 on\nend"
    )
    assert program.constants == {1: (1, 2, 3, 4)} and program.integers == {0: (3, 0, 255, 16)}
    assert program.booleans == {0: True, 1: False, 2: True, 9: True}


def test_inputs() -> None:
    text = ".in position\n.in special v15\n.in color\nadd r0, color, color\nmov r1, special\nend"
    assert symbols(text) == {"position": ("v0", 1), "special": ("v15", 1), "color": ("v1", 1)}
    same(text, "add r0, v1, v1\nmov r1, v15\nend")


def test_outputs() -> None:
    text = ".out outpos position\n.out outclr color.rgb\n.out outtex texcoord0.xy\n.out - texcoord0w outtex.p\n"
    assert semantics(text) == {
        0: ["position.x", "position.y", "position.z", "position.w"], 1: ["color.r", "color.g", "color.b", ""],
        2: ["texcoord0.u", "texcoord0.v", "texcoord0.w", ""],
    }  # fmt: skip
    assert assemble(text).declared == ((0, "position", 15), (1, "color", 7), (2, "texcoord0", 3), (2, "texcoord0w", 4))
    assert symbols(text) == {"outpos": ("o0", 1), "outclr": ("o1", 1), "outtex": ("o2", 1)}
    same(text + "mov outtex, v0\nmov outclr.r, v0", "mov o2, v0\nmov o1.x, v0")


@pytest.mark.parametrize(
    ("words", "row"),
    [
        ("n nquat", ["quaternion.x", "quaternion.y", "quaternion.z", "quaternion.w"]),
        ("n normalquat", ["quaternion.x", "quaternion.y", "quaternion.z", "quaternion.w"]),
        ("n pos", ["position.x", "position.y", "position.z", "position.w"]),
        ("n clr", ["color.r", "color.g", "color.b", "color.a"]),
        ("n tcoord0", ["texcoord0.u", "texcoord0.v", "", ""]),
        ("n tcoord0w", ["texcoord0.w", "", "", ""]),
        ("n tcoord1.zw", ["", "", "texcoord1.u", "texcoord1.v"]),
        ("n tcoord2", ["texcoord2.u", "texcoord2.v", "", ""]),
        ("n view", ["view.x", "view.y", "view.z", ""]),
        ("n dummy", ["", "", "", ""]),
        ("n view o0.xyz", ["view.x", "view.y", "view.z", ""]),
        ("- view o0", ["view.x", "view.y", "view.z", ""]),
    ],
)
def test_each_semantic(words: str, row: list[str]) -> None:
    assert semantics(f".out {words}") == {0: row}


def test_outputs_that_are_named_do_not_take_used_registers() -> None:
    assert symbols(".out first position o0\n.out - color o1\n.out third view\nend") == {
        "first": ("o0", 1), "third": ("o2", 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "mode", "array", "vertices", "first"),
    [
        ("point c7", "point", 0, 0, "c7"),
        ("variable c48 3", "variable", 0, 3, "c48"),
        ("subdivision c48, 4", "variable", 0, 4, "c48"),
        ("fixed c24 c2 4", "fixed", 2, 4, "c24"),
        ("particle c24 c0 4", "fixed", 0, 4, "c24"),
    ],
)
def test_geometry_programs(words: str, mode: str, array: int, vertices: int, first: str) -> None:
    program = assemble(f".gsh {words}\n.fvec uniform\nend")
    assert program.kind == "geometry" and program.geometry is not None
    assert (program.geometry.mode, program.geometry.array, program.geometry.vertices) == (mode, array, vertices)
    assert program.symbols[0].register == first


def test_older_geometry_programs() -> None:
    assert assemble(".gsh\nend").kind == "geometry" and assemble("setemit 0\nemit\nend").kind == "geometry"
    assert assemble("nop\nend").kind == "vertex" and assemble(".gsh\nend").geometry is None


def test_the_last_boolean_is_the_hardwares_in_a_geometry_program() -> None:
    assemble(".bool all[16]\nend")
    with pytest.raises(ShaderError, match="needs 16 boolean uniforms, and 15 are left"):
        assemble(".gsh point c0\n.bool all[16]\nend")


# -- blocks -----------------------------------------------------------------------------------------------------------
def test_blocks() -> None:
    same(
        ".proc main\nifu b0\nmov r0, v0\nmov r1, v0\n.else\nifc cmp.x\nmov r0, v0\nmov r1, v0\n.end\nnop\n.end\n"
        "for i0\nadd r0, r0, r1\nbreakc cmp.y\nnop\n.end\ncall sub\nend\n.end\n.proc sub\nadd r0, r0, r0\n.end",
        "main:\nifu b0\nmov r0, v0\nmov r1, v0\nelse\nifc cmp.x\nmov r0, v0\nmov r1, v0\nendif\nnop\nendif\n"
        "loop i0\nadd r0, r0, r1\nbreakc cmp.y\nnop\nendloop\ncall sub\nend\n.proc sub\nadd r0, r0, r0\n.endproc",
    )


def test_where_nops_are_added() -> None:
    text = ".proc main\nifu b0\ncall sub\n.end\nend\n.end\n.proc sub\n.end\n.proc last\njmpu b0, main\n.end"
    program = assemble(text)
    names = [OPCODES[word >> 26].name for word in program.code]
    assert names == ["IFU", "CALL", "NOP", "END", "NOP", "JMPU", "NOP"]
    assert program.padding == {2, 4, 6}


def test_an_entry_point() -> None:
    text = "nop\n.proc first\nnop\nend\n.end\n.proc second\nend\n.end\n"
    assert assemble(text).entry == 0
    assert assemble(".entry second\n" + text).entry == 3
    assert assemble(text.replace("second", "main")).entry == 3
    assert assemble("nop\nhere:\nnop\nend\n.entry here").entry == 1


def test_what_a_program_computes() -> None:
    program = assemble("""
        ; sums of an array, by a loop with an index
        .fvec table[4], scale
        .constf zero(0.0, 0.0, 0.0, 0.0)
        .alias twice scale.y
        .in inpos
        .out outpos position
        .proc main
            mov r0, zero
            for i1
                add r0, table[lcnt], r0
            .end
            mul outpos, twice, r0
            end
        .end
    """)
    uniforms = {0: (1, 2, 3, 4), 1: (10, 20, 30, 40), 2: (100, 0, 0, 0), 3: (7, 7, 7, 7), 4: (0, 2, 0, 0)}
    unit = Program(program.code, program.descriptors, program.entry)
    integers = [(0, 0, 0, 0), (2, 0, 1, 0), (0, 0, 0, 0), (0, 0, 0, 0)]
    vertex = np.zeros((1, 16, 4), np.float32)
    found = unit.run(vertex, uniforms=uniforms | program.constants, int_uniforms=integers)
    assert found[0, 0].tolist() == [222, 44, 66, 88]


def test_unused_operands_share_descriptors_with_others() -> None:
    program = assemble("mov r0, r1.x\nrcp r0, r2.x\nadd r0, r1.x, r2.wzyx")
    assert [word & 0x7F for word in program.code] == [0, 0, 0]
    assert descriptor(program.descriptors[0], "sel2") == 0b11_10_01_00


# -- mistakes ---------------------------------------------------------------------------------------------------------
MISTAKES = [
    (".alias", 1, "takes 2 words"),
    (".alias it", 1, "takes 2 words"),
    (".alias r0 c1", 8, "r0 is a register"),
    (".alias 0x c1", 8, "'0x' is no name"),
    (".alias it x1", 11, "'x1' is not a valid register"),
    (".alias it c0[a0]", 14, "'a0' is no index"),
    (".alias it b0.x", 11, "b0 has no components"),
    (".alias it -c0", 11, "a sign has no meaning"),
    (".fvec", 1, "a name is missing"),
    (".fvec 4x", 7, "'4x' is no name"),
    (".fvec it[]", 7, "'it\\[\\]' is no name"),
    (".fvec it[0]", 10, "an array of 0"),
    (".fvec it[97]", 10, "an array of 97"),
    (".fvec it[90], also[7]", 15, "also needs 7 float uniforms, and 6 are left"),
    (".fvec it, it", 11, "it is defined already in line 2"),
    (".ivec it[5]", 7, "needs 5 integer uniforms, and 4 are left"),
    (".bool it[17]", 7, "needs 17 boolean uniforms, and 16 are left"),
    (".constf it", 1, "takes 5 words, not 1"),
    (".constf it(1, 2, 3)", 12, "takes four numbers, not 3"),
    (".constf it(1, 2, 3, four)", 21, "'four' is not a number"),
    (".constf it(1, 2, 3, 1_0)", 21, "'1_0' is not a number"),
    (".constf c8(1, 2, 3, 4)", 9, "c8 is a register"),
    (".constf (1, 2, 3, 4)", 9, "'' is no name"),
    (".consti it(1, 2, 3, 1.5)", 21, "'1.5' is no whole number"),
    (".consti it(1, 2, 3, 256)", 21, "256 does not fit the 8 bits"),
    (".consti it 1 2", 1, "takes a name and four numbers"),
    (".constfa it", 1, "takes a name and a size"),
    (".constfa (1, 2, 3, 4)", 1, "outside of an array"),
    (".in", 1, "takes 1 or 2 words, not 0"),
    (".in it r14", 8, "'r14' is not a valid register"),
    (".in v3", 5, "v3 is a register"),
    (".out it", 1, "takes 2 or 3 words, not 1"),
    (".out it place", 9, "no semantic place"),
    (".out it color.k", 15, "'k' is no write mask"),
    (".out it color r0", 15, "'r0' is not a valid register"),
    (".out it color.x o0", 15, "components stand at the register"),
    (".out - color", 6, "needs a name or a register"),
    (".entry", 1, "takes 1 words, not 0"),
    (".entry nowhere", 8, "no procedure nowhere"),
    (".nodvle it", 1, "takes 0 words, not 1"),
    (".gsh quad c0", 6, "no mode 'quad'"),
    (".gsh point", 6, "point takes 1 words, not 0"),
    (".gsh variable c0", 6, "variable takes 2 words, not 1"),
    (".gsh fixed c0 c1 many", 18, "'many' is not a number of vertices"),
    (".gsh fixed c0 c1 0", 18, "'0' is not a number of vertices"),
    (".gsh point r0", 12, "'r0' is not a valid register"),
    (".setf c8 1 2 3 4", 1, "takes a name and four numbers"),
    (".setf it(1, 2, 3, 4)", 7, "'it' is not a valid register"),
    (".seti c0(1, 2, 3, 4)", 7, "'c0' is not a valid register"),
    (".setb b0", 1, "takes 2 words, not 1"),
    (".setb b0 maybe", 10, "'maybe' is no boolean"),
    (".setb b16 on", 7, "there is no register b16"),
    (".end", 1, ".end without"),
    (".else", 1, ".else without"),
    (".end now", 6, ".end takes no operands"),
    (".fvek it", 1, "no directive .fvek"),
    ("mov r0, r1[a0.z]", 12, "'a0.z' is no index"),
    ("mov r0, c0[a0+a1]", 12, "'a0\\+a1' is no index"),
    ("mov r0, c0[1-a0]", 12, "'1-a0' is no index"),
    ("mov r0, c0[96]", 12, "there is no register c96"),
    ("mov r0[-1], v0", 8, "there is no register r-1"),
    ("mov r0[a0], v0", 8, "'a0' is no index"),
    ("mov -r0, v0", 5, "a sign has no meaning"),
    ("mov r0, r1.xyzwx", 12, "'xyzwx' is no swizzle"),
    ("mov r0, r1.", 9, "'r1.' is no source operand"),
    ("mov r0.e, r1", 8, "'e' is no write mask"),
    ("mova a2, r0", 6, "mova cannot write a2"),
    ("mova r0, r0", 6, "mova cannot write r0"),
    ("ifu !b0", 5, "ifu cannot negate"),
    ("ifc cmp.x ^ cmp.y", 5, "is no condition"),
    ("ifc cmp.x && cmp.x", 5, "is no condition"),
    ("for b0", 5, "'b0' is not a valid register"),
    ("setemit 1, wild", 12, "no flag wild"),
    ("setemit 4", 9, "vertex 4 is not in"),
    ("callc cmp.x", 1, "callc takes 2 or 3 operands, not 1"),
    ("mov r0, r1, r2", 1, "mov takes 2 operands, not 3"),
    ("mov r0, , r2", 1, "mov takes 2 operands"),
    ("muv r0, r1", 1, "no instruction 'muv'.*Did you mean m"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), MISTAKES)
def test_each_mistake_has_its_place(text: str, column: int, message: str) -> None:
    """One error for it, with line and column; what surrounds it is not reported too."""
    blocks = {"ifu": ".end", "ifc": ".end", "for": ".end", ".constfa it": ".end"}
    closer = next((end for start, end in blocks.items() if text.startswith(start)), "nop")
    whole = f"nop\n{text}\n{closer}\nend\n"
    with pytest.raises(ShaderError, match=message) as caught:
        assemble(whole)
    assert (caught.value.line, caught.value.column) == (2, column)
    (one,) = problems(whole)
    assert (one.line, one.column, one.message) == (2, column, caught.value.message)


def test_uses_of_a_name_whose_definition_is_wrong_are_not_reported() -> None:
    text = ".fvec good, it[200], fine\n.out that place\n.proc main\nmov that, it\nmov that.x, good\nmov r0, fine\n"
    text += "end\n.end"
    assert [(one.line, one.column) for one in problems(text)] == [(1, 16), (2, 11)]
    text = ".proc twice two\nnop\n.end\n.proc main\ncall twice\nend\n.end"
    assert [(one.line, one.column) for one in problems(text)] == [(1, 1)]


def test_all_mistakes_of_a_text_are_found_in_one_run() -> None:
    lines = [text for text, _, _ in MISTAKES if text.split()[0] in ("mov", "mova", "setemit", ".setb", ".in", ".out")]
    found = problems("\n".join([*lines, "end"]))
    assert [one.line for one in found] == list(range(1, len(lines) + 1)) and len(lines) > 20


def test_blocks_that_are_open_or_crossed() -> None:
    (one,) = problems(".proc main\nifu b0\nnop\nend\n.end\n")
    assert (one.line, one.column, one.message) == (1, 1, ".proc has no end")
    (one,) = problems(".proc main\nloop i0\nnop\nnop\nendif\nendloop\nend\n.end")
    assert (one.line, one.message) == (5, "endif without ifu or ifc; loop in line 2 is open")
    (one,) = problems("ifc cmp.x\nnop\nnop\n.else\nnop\nnop\n.else\nnop\n.end\nend")
    assert (one.line, one.message) == (7, "ifc has its .else already")
    (one,) = problems(".constfa it[1]\n.constfa (1, 2, 3, 4)\n.constfa (1, 2, 3, 4)\n.end")
    assert (one.line, one.message) == (3, "it has 1 elements already")
    (one,) = problems(".constfa it[]\nmov r0, r1\n.constfa (1, 2, 3, 4)\n.end")
    assert (one.line, one.message) == (2, "an instruction in an array of constants")
    (one,) = problems(".constfa it[]\n.end")
    assert (one.line, one.message) == (2, "it has no element")


def test_what_is_defined_twice() -> None:
    for text, line, message in (
        (".fvec it\n.constf it(1, 2, 3, 4)", 2, "it is defined already in line 1"),
        (".in it\n.out it color", 2, "it is defined already in line 1"),
        (".alias it c0\n.consti it(1, 2, 3, 4)", 2, "it is defined already in line 1"),
        (".proc it\nnop\n.end\n.proc it\nnop\n.end", 4, ".proc it is defined already"),
        (".entry it\n.entry it\nit: end", 2, "the entry point is it already"),
        (".fvec u\n.gsh point c0", 2, ".gsh stands before the names of uniforms"),
    ):
        (one,) = [one for one in problems(text + "\nend") if not one.warning]
        assert (one.line, one.message) == (line, message)
    assert problems(".alias it c0\n.alias it c1\nmov r0, it\nend") == []


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("mov r0, r4[a0]", 1, "does nothing for r4"),
        (".fvec it[4]\nmov r0, it[4]", 2, "it has 4 registers; 4 is not in 0..3"),
        ("mova a0, r0\nmova a1, r1", 2, "two mova in a row"),
        ("add r0, v0, v1", 1, "two different v registers"),
        ("mad r0, v0, c0, v1", 1, "two different v registers"),
    ],
)
def test_what_a_console_does_not_do(text: str, line: int, message: str) -> None:
    (one,) = problems(text + "\nend")
    assert one.warning and one.line == line and message in one.message
    assert message in assemble(text).warnings[0]


# -- a forgotten end --------------------------------------------------------------------------------------------------
ENDLESS = {
    ".proc main\nmov r0, v0\n.end": 2,
    ".entry go\n.proc go\nmov r0, v0\n.end\n.proc main\nend\n.end": 3,
    "main:\nmov r0, v0\n.proc sub\nnop\n.end": 2,
    ".proc main\nifu b0\nend\nnop\n.else\nnop\nnop\n.end\n.end": 7,
    ".proc main\ncall sub\n.end\n.proc sub\nnop\n.end": 2,
    ".proc main\ncallc cmp.x, sub\nnop\n.end\n.proc sub\nend\n.end": 3,
    ".proc main\nfor i0\nmov r0, v0\nnop\n.end\n.end": 4,
    ".proc main\njmpu b0, over\nend\nover:\nnop\n.end": 5,
}
"""Texts whose end is missing, and the line of the last instruction."""
ENDING = [
    ".proc main\nmov r0, v0\nend\n.end",
    ".proc main\nifu b0\nend\nnop\n.else\nend\nnop\n.end\n.end",
    ".proc main\ncall sub\n.end\n.proc sub\nend\n.end",
    ".proc main\nagain:\njmpu b0, again\njmpu !b0, again\nend\n.end",
    ".proc main\njmpu b0, sub\nend\n.end\n.proc sub\nend\n.end",
    ".proc main\nfor i0\nnop\nbreakc cmp.x\nnop\n.end\nend\n.end",
    ".proc main\nfor i0\nend\nnop\n.end\n.end",  # a loop runs at least once
    "main:\nnop\nend\n.proc sub\nnop\n.end",
    "mov r0, v0",  # no program, only a part of one
]


@pytest.mark.parametrize(("text", "line"), ENDLESS.items())
def test_a_forgotten_end_is_a_warning(text: str, line: int) -> None:
    (one,) = problems(text)
    assert one.warning and one.line == line and "there is no end" in one.message and one.column == 1
    assert any("there is no end" in warning for warning in assemble(text).warnings)


@pytest.mark.parametrize("text", ENDING)
def test_a_program_with_an_end_has_no_warning(text: str) -> None:
    assert problems(text) == [] and assemble(text).warnings == ()


def test_a_text_with_mistakes_is_not_said_to_lack_an_end() -> None:
    (one,) = problems(".proc main\nmov r0, v0\nendd\n.end")
    assert one.line == 3 and not one.warning


def test_long_texts_are_read_quickly() -> None:
    names = "\n".join(f".alias n{n} c{n % 96}.xyz" for n in range(20000))
    assert len(assemble(names + "\nmov r0, n19999\nend").symbols) == 20000
    assert [one.line for one in problems("mov r0, r" + "9" * 5000 + "\nmov r0, c0[" + "9" * 5000 + "]\nend")] == [1, 2]


def test_any_text_is_assembled_or_has_a_mistake() -> None:
    """Never another exception; what `problems` finds is what `assemble` refuses."""
    source = random.Random(34)
    lines = [text for text, _, _ in MISTAKES] + [row for text in [*ENDLESS, *ENDING] for row in text.split("\n")]
    pieces = [".", "[", "]", "(", "-", "!", "&&", "c95", "a0", "lcnt", ".xyzw", ".end", "$", ";", ":", "@3", "0x"]
    assembled = 0
    for _ in range(1500):
        text = "\n".join(source.choice([*ENDING]).split("\n") + source.choices(lines, k=source.randint(0, 2)))
        for _ in range(source.randint(0, 2)):
            at = source.randrange(len(text) + 1)
            text = text[:at] + source.choice(pieces) + text[at + source.randint(0, 3) :]
        wrong = [one for one in problems(text) if not one.warning or one.elsewhere]
        try:
            assemble(text)
        except ShaderError as error:
            assert wrong and error.line <= len(text.splitlines())
        else:
            assert not wrong
            assembled += 1
    assert 200 < assembled < 1300


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nop\n" * 70_000, "70000 lines; 65536 are the most"),
        ("nop ; " + "x" * 5000 + "\nend", "the line has 5006 letters; 4096 are the most"),
        ("\n".join(f".proc p{n}" for n in range(100)), "64 blocks are open"),
    ],
)
def test_a_text_has_limits(text: str, says: str) -> None:
    assert any(says in one.message for one in problems(text))
