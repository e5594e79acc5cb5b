"""Texts that are assembled together, and the `.shbin` that they become: its bytes by the public layout, and back."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.facts.dialect.registers import encode_float
from pocketgpu.pica.shader.assembler import MOST_TEXTS, Assembly, ShaderError, assemble_all, problems_of
from pocketgpu.pica.shader.shbin import Executable, Shbin, read_shbin, register_of, shbin_of, write_shbin
from pocketgpu.pica.shader.symbols import Symbol, Use

VERTEX = """
.fvec projection[4], _hidden
.fvec light$dir
.ivec rounds
.bool lit[2]
.constf half(0.5, 0.25, 1, 2)
.consti three(3, 0, 1, 0)
.setb lit[1] true
.in inpos
.in intex v3
.out outpos position
.out outtex texcoord0.xy
.out - texcoord0w outtex.z
.proc main
    dp4 outpos.x, projection[0], inpos
    mov outpos.yzw, v5
    call shared
    end
.end
"""
SHARED = """
.nodvle
.fvec light$dir
.proc shared
    mul r0, light$dir, r0
.end
"""
GEOMETRY = """
.gsh variable c20 3
.fvec projection[4]
.constf half(0.5, 0.5, 0.5, 0.5)
.out outpos position
.out outval dummy
.entry gmain
.proc gmain
    setemit 2, prim inv
    mul outpos, projection[3], v0
again:
    mov outval, half
    emit
    call shared
    end
.end
"""
TEXTS = [("a.v.pica", VERTEX), ("shared.pica", SHARED), ("a.g.pica", GEOMETRY)]


@pytest.fixture(scope="module")
def made() -> list[Assembly]:
    return assemble_all(TEXTS)


@pytest.fixture(scope="module")
def data(made: list[Assembly]) -> bytes:
    return write_shbin(shbin_of(made))


def names(one: Assembly) -> dict[str, str]:
    return {symbol.name: symbol.register for symbol in one.symbols}


# -- texts together ---------------------------------------------------------------------------------------------------
def test_vertex_programs_share_uniforms_and_procedures(made: list[Assembly]) -> None:
    vertex, shared, geometry = made
    assert vertex.code == shared.code == geometry.code and vertex.labels["shared"] == 4 == geometry.labels["shared"]
    assert names(vertex)["light$dir"] == names(shared)["light$dir"] == "c5"
    # A geometry program has uniforms of its own, and every program constants of its own.
    assert names(geometry)["projection"] == "c20" and names(vertex)["half"] == names(geometry)["half"] == "c95"
    assert vertex.constants != geometry.constants
    assert [one.exported for one in made] == [True, False, True]
    assert [(one.kind, one.entry) for one in made] == [("vertex", 0), ("vertex", 0), ("geometry", 5)]
    assert vertex.lines == (15, 16, 17, 18, 0, 0, 0, 0, 0, 0, 0) and shared.lines[4] == 5 and geometry.lines[-1] == 15


def test_another_order_gives_other_registers_to_new_uniforms() -> None:
    first, second = assemble_all([("a", ".fvec it\nend"), ("b", ".fvec other, it[1]\nmov r0, it\nend")])
    assert names(first) == {"it": "c0"} and names(second) == {"other": "c1", "it": "c0"}
    with pytest.raises(ShaderError, match="another text declares it as 1 float uniforms") as caught:
        assemble_all([("a", ".fvec it\nend"), ("b", "nop\n.fvec it[2]\nend")])
    assert str(caught.value.location) == "b, line 2, column 7"


def test_mistakes_name_their_text() -> None:
    found = problems_of([("b", "end\nmuv r0\n.proc p\nnop\n.end"), ("a", "mov r0\ncall p\ncall q\n.proc p\nnop\n.end")])
    assert [one.location for one in found] == [
        "b, line 2, column 1", "a, line 1, column 1", "a, line 3, column 6", "a, line 4, column 7",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="0 texts"):
        assemble_all([])
    with pytest.raises(UsageError, match=f"{MOST_TEXTS + 1} texts"):
        assemble_all([("a", "end")] * (MOST_TEXTS + 1))


def test_a_text_without_an_entry_uses_the_main_of_another() -> None:
    texts = [("a", "nop\n.proc main\nend\n.end"), ("b", ".out it color\n.proc other\nnop\nend\n.end")]
    assert [one.entry for one in assemble_all(texts)] == [1, 1]


# -- the file ---------------------------------------------------------------------------------------------------------
def test_the_bytes_are_where_the_public_layout_has_them(made: list[Assembly], data: bytes) -> None:
    """Read here by offsets of 3dbrew's page, without the reader."""

    def word(at: int) -> int:
        return int(struct.unpack_from("<I", data, at)[0])

    def half(at: int) -> int:
        return int(struct.unpack_from("<H", data, at)[0])

    assert data[:4] == b"DVLB" and word(4) == 2
    program = 8 + 4 * 2
    assert data[program : program + 4] == b"DVLP" and half(program + 4) == 0x1002
    code, descriptors = program + word(program + 8), program + word(program + 0x10)
    assert word(program + 0xC) == len(made[0].code) and word(program + 0x14) == len(made[0].descriptors)
    assert [word(code + 4 * n) for n in range(len(made[0].code))] == [*made[0].code]
    assert [word(descriptors + 8 * n) for n in range(len(made[0].descriptors))] == [*made[0].descriptors]
    vertex, geometry = word(8), word(12)
    for at in (vertex, geometry):
        assert data[at : at + 4] == b"DVLE" and half(at + 4) == 0x1002
    assert (data[vertex + 6], data[geometry + 6]) == (0, 1)  # the kind of program
    assert (data[vertex + 7], data[geometry + 7]) == (0, 1)  # a dummy output of a geometry program: outputs are merged
    assert (word(vertex + 8), word(vertex + 12)) == (0, 4) and (word(geometry + 8), word(geometry + 12)) == (5, 11)
    assert half(vertex + 0x10) == 1 << 0 | 1 << 3 | 1 << 5 and half(vertex + 0x12) == 0b11
    assert data[vertex + 0x14 : vertex + 0x18] == bytes(4)
    assert data[geometry + 0x14 : geometry + 0x18] == bytes((1, 0, 3, 0))  # variable, 3 whole vertices
    constants = vertex + word(vertex + 0x18)
    rows = [struct.unpack_from("<HH4I", data, constants + 20 * n) for n in range(word(vertex + 0x1C))]
    assert rows == [
        (2, 95, *(encode_float(one, "f24") for one in (0.5, 0.25, 1.0, 2.0))),
        (1, 3, 0x00_01_00_03, 0, 0, 0),
        (0, 1, 1, 0, 0, 0),
    ]
    symbols = vertex + word(vertex + 0x38)
    assert word(vertex + 0x3C) % 4 == 0 and symbols + word(vertex + 0x3C) == geometry

    def name(offset: int) -> str:
        return data[symbols + offset : data.index(b"\0", symbols + offset)].decode()

    labels = vertex + word(vertex + 0x20)
    rows = [struct.unpack_from("<4I", data, labels + 16 * n) for n in range(word(vertex + 0x24))]
    assert [(place, size, name(at)) for _, place, size, at in rows] == [
        (0, 4, "main"), (4, 1, "shared"), (5, 6, "gmain"),
    ]  # fmt: skip
    outputs = vertex + word(vertex + 0x28)
    rows = [struct.unpack_from("<4H", data, outputs + 8 * n) for n in range(word(vertex + 0x2C))]
    assert rows == [(0, 0, 15, 0), (3, 1, 3, 0), (4, 1, 4, 0)]
    uniforms = vertex + word(vertex + 0x30)
    rows = [struct.unpack_from("<IHH", data, uniforms + 8 * n) for n in range(word(vertex + 0x34))]
    assert [(name(at), first, last) for at, first, last in rows] == [
        ("projection", 0x10, 0x13), ("light.dir", 0x15, 0x15), ("rounds", 0x70, 0x70), ("lit", 0x78, 0x79),
        ("inpos", 0, 0), ("intex", 3, 3),
    ]  # fmt: skip


def test_a_file_is_read_back(made: list[Assembly], data: bytes) -> None:
    shader = read_shbin(data)
    assert shader == shbin_of(made) and write_shbin(shader) == data
    vertex, geometry = shader.executables
    assert geometry.merges and geometry.geometry is not None and geometry.geometry.vertices == 3
    assert geometry.labels[7] == "again" and 7 not in geometry.sizes
    assert Symbol("projection", "c0", Use.UNIFORM, 4) in vertex.symbols
    assert Symbol("texcoord0", "o1", Use.OUTPUT) in vertex.symbols
    assert Symbol("texcoord0w", "o1", Use.OUTPUT, 1, "zzzz") in vertex.symbols
    assert Symbol("inpos", "v0", Use.INPUT) in vertex.symbols


def test_every_mode_of_geometry_programs_is_kept() -> None:
    for words, header in (
        ("point c0", (0, 0, 0, 0)), ("variable c9 4", (1, 0, 4, 0)), ("fixed c48 c7 5", (2, 7, 0, 5)),
        ("", (0, 0, 0, 0)),
    ):  # fmt: skip
        data = write_shbin(shbin_of(assemble_all([("g", f".gsh {words}\nend")])))
        at = struct.unpack_from("<I", data, 8)[0]
        assert tuple(data[at + 0x14 : at + 0x18]) == header
        (one,) = read_shbin(data).executables
        assert one.geometry is not None and one.geometry.mode == (words.split() or ["point"])[0]


def test_an_executable_is_an_assembly_again(made: list[Assembly], data: bytes) -> None:
    again = read_shbin(data).assembly(0)
    assert (again.code, again.descriptors, again.entry, again.outputs) == (
        made[0].code, made[0].descriptors, made[0].entry, made[0].outputs,
    )  # fmt: skip
    assert again.constants == made[0].constants and again.integers == made[0].integers
    assert again.booleans == made[0].booleans and again.kind == "vertex"
    with pytest.raises(UsageError, match="no executable 2"):
        read_shbin(data).assembly(2)


def test_registers_of_the_table_of_uniforms() -> None:
    assert [register_of(n) for n in (0, 15, 0x10, 0x6F, 0x70, 0x73, 0x74, 0x78, 0x87, 0x88, 0xFFFF)] == [
        ("v", 0), ("v", 15), ("c", 0), ("c", 95), ("i", 0), ("i", 3), None, ("b", 0), ("b", 15), None, None,
    ]  # fmt: skip


def test_damaged_files_end_in_errors(data: bytes) -> None:
    for size in range(0, len(data), 7):
        try:
            for one in read_shbin(data[:size]).executables:
                assert one.symbols is not None
        except CaptureError:
            continue
    for at in range(8, len(data), 3):
        changed = data[:at] + b"\xff\xff\xff\x7f" + data[at + 4 :]
        try:
            shader = read_shbin(changed)
        except CaptureError:
            continue
        for number, one in enumerate(shader.executables):
            assert all(0 < symbol.count <= 96 for symbol in one.symbols)
            shader.assembly(number)


def test_names_that_nobody_could_write_are_not_shown() -> None:
    bad = ("a b", "x\nend", "\x1b[31m", "", "1x", "x" * 65, "caf\u00e9")
    one = Executable("vertex", 0, 1, (), {}, tuple((name, 0x10, 0x10) for name in (*bad, "light.dir")))
    file = Shbin((0x88000000,), (), (replace(one, labels=dict(enumerate([*bad, "fine"]))),))
    (again,) = read_shbin(write_shbin(file)).executables
    assert [symbol.name for symbol in again.symbols] == ["light.dir"] and [*again.names.values()] == ["fine"]
    assert len(again.labels) == len(bad) + 1


def test_an_empty_file_has_no_programs() -> None:
    assert read_shbin(write_shbin(Shbin((), (), ()))) == Shbin((), (), ())


def test_tables_of_a_file_have_limits(data: bytes) -> None:
    """Tables may lie on top of each other, so that a small file could name anything any number of times."""
    many = b"DVLB" + struct.pack("<I", 1000) + data[8:] * 20
    with pytest.raises(CaptureError, match="1000 executables; 64 are the most"):
        read_shbin(many)
    (first,) = struct.unpack_from("<I", data, 8)
    labels = data.index(b"DVLE", first) + 0x24
    rows = bytearray(data + bytes(16 * 5000))
    struct.pack_into("<I", rows, labels, 5000)
    with pytest.raises(CaptureError, match="5000 entries; 4096 are the most"):
        read_shbin(bytes(rows))


def test_an_output_of_an_unknown_kind_is_kept(made: list[Assembly]) -> None:
    file = shbin_of(made)
    one = replace(file.executables[0], outputs=((0, "position", 15), (1, "77", 3)))
    again = read_shbin(write_shbin(replace(file, executables=(one, *file.executables[1:]))))
    assert again.executables[0].outputs == one.outputs
