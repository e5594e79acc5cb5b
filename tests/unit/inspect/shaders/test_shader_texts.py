"""The text of a program: found among texts, compared word for word, with its lines, labels and names."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.shaders.likeness import Code, Text, compared, meaning, meanings
from pocketgpu.inspect.shaders.shader_texts import MOST_TEXTS, ShaderTexts, beside
from pocketgpu.inspect.shaders.traces import Run, trace_file
from pocketgpu.pica.shader.assembler import Assembly, assemble, assemble_all
from pocketgpu.pica.shader.disassembler import disassemble
from pocketgpu.pica.shader.shbin import read_shbin, shbin_of, write_shbin

VERTEX = """; lights
.fvec projection[4]
.constf half(0.5, 0.25, 1, 2)
.alias quarter half.y
.in inpos
.out outpos position
.proc main
    mov r0, inpos
    ifu b0
        mul r0.xyz, quarter, r0
    .end
    call shade
    end
.end
.proc shade
    dp4 outpos.x, projection[0], r0
    rcp outpos.y, r0.y
    mov outpos.zw, projection[1]
.end
"""
GEOMETRY = ".gsh point c0\n.proc gmain\nsetemit 0\nmov o0, v0\nemit\nend\n.end\n.entry gmain\n"
OTHER = ".proc main\nmov o0, v1\nmov o1, v2\nend\n.end\n"


def program(*texts: str) -> list[Assembly]:
    return assemble_all([(f"{n}.pica", text) for n, text in enumerate(texts)])


def files(folder: Path, **texts: str) -> list[str]:
    paths = []
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        path.write_text(text)
        paths.append(str(path))
    return paths


# -- words ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mov r0.x, r1.xyzw", "mov r0.x, r1.x"),
        ("mov r0.yz, r1.xyzw", "mov r0.yz, r1.wyzx"),
        ("rcp r0.y, r1.y", "rcp r0.y, r1.yzwx"),
        ("dp3 r0, r1.xyzw, r2", "dp3 r0, r1.xyzx, r2.xyzz"),
        ("cmp r0.xy, lt, ge, r1.zw", "cmp r0.xyzw, lt, ge, r1.zwxx"),
        ("mova a0.x, r0.xyzw", "mova a0.x, r0.xxxx"),
        ("dst r0.x, r1, r2", "dst r0.x, -r1.wwww, r2.zzzz"),
        ("litp r0.z, r1", "litp r0.z, r1.xzzw"),
        ("jmpc cmp.x, 5", "jmpc cmp.x, 9"),
    ],
)  # fmt: skip
def test_words_that_do_the_same(first: str, second: str) -> None:
    found = [meanings(one.code, one.descriptors)[0] for one in (assemble(first), assemble(second))]
    if first.startswith("dst"):  # a sign is a difference, though nothing is read
        assert found[0] != found[1]
        return
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mov r0.x, r1.x", "mov r0.x, r1.y"),
        ("mov r0.x, r1.x", "mov r0.y, r1.x"),
        ("mov r0, r1", "mov r0, r2"),
        ("mov r0, r1", "mov r2, r1"),
        ("mov r0, r1", "mov r0, -r1"),
        ("mov r0, c1", "mov r0, c1[a0.x]"),
        ("cmp r0, lt, ge, r1", "cmp r0, lt, gt, r1"),
        ("mad r0, r1, c2, r3", "mad r0, r1, r3, c2"),
        ("jmpu b1, 0", "jmpu !b1, 0"),
        ("jmpc cmp.x, 0", "jmpc cmp.y, 0"),
        ("setemit 1", "setemit 1, prim"),
        ("loop i0, 5", "loop i1, 5"),
        ("dp3 r0, r1.xyz, r2", "dp3 r0, r1.xyx, r2"),
        (".word 1", ".word 2"),
    ],
)
def test_words_that_do_something_else(first: str, second: str) -> None:
    found = [meanings(one.code, one.descriptors)[0] for one in (assemble(first), assemble(second))]
    assert found[0] != found[1]


def test_meanings_of_any_words() -> None:
    source = random.Random(5)
    for _ in range(2000):
        word, table = source.getrandbits(32), [source.getrandbits(32) for _ in range(source.randrange(129))]
        assert meaning(word, table) == meaning(word, list(table))


def test_nops_at_the_ends_of_blocks_make_no_difference() -> None:
    ours = assemble("ifu b0\nmov r0, v0\n.end\ncall sub\nend\n.proc sub\nmov r1, v0\n.end")
    theirs = assemble(
        "ifu b0, 2, 2\nmov r0, v0\ncall 4, 6\nend\nmov r1, v0\nnop\nnop"  # none in the block, one in the procedure
    )
    text = Text(ours.code, ours.descriptors, ours.padding)
    found = compared(text, Code(theirs.code, theirs.descriptors), 0)
    assert found.first is None and found.matched == {0: 0, 1: 1, 3: 2, 4: 3, 5: 4}
    other = assemble("ifu b0, 2, 2\nmov r0, v0\ncall 3, 5\nend\nmov r1, v0\nnop")
    assert compared(text, Code(other.code, other.descriptors), 0).first == (3, 2)  # it calls something else


# -- texts ------------------------------------------------------------------------------------------------------------
def test_a_text_is_found_among_others(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    paths = files(tmp_path, other_v_pica=OTHER, light_v_pica=VERTEX, bad_v_pica="muv")
    texts = ShaderTexts(paths)
    found = texts.of(made.code, made.descriptors, made.entry)
    assert found is not None and found.note == ""
    assert found.places == {at: (paths[1], line) for at, line in enumerate([8, 9, 10, 11, 12, 13, 16, 17, 18])}
    assert found.labels == {0: "main", 6: "shade"}
    assert (found.register("projection[2].y"), found.register("quarter.x")) == ("c2.y", "c95.y")
    assert (found.register("outpos"), found.register("c8[2]"), found.register("nothing")) == ("o0", "c10", None)
    assert found.register("projection[96]") is None and found.register("c8") is None
    assert found.names_in("dp4 o0.x, c1, r0") == "outpos, projection[1]"
    assert texts.problems == [f"{paths[2]}, line 1, column 1: no instruction 'muv'"]


def test_a_text_may_be_a_part_of_the_code(tmp_path: Path) -> None:
    vertex, geometry = program(VERTEX, GEOMETRY)
    paths = files(tmp_path, light_v_pica=VERTEX, light_g_pica=GEOMETRY)
    for chosen, entry in ((paths, vertex.entry), (paths[:1], vertex.entry), (paths[1:], geometry.entry)):
        found = ShaderTexts(chosen).of(vertex.code, vertex.descriptors, entry)
        assert found is not None and found.note == "" and found.places[entry][0] in chosen
    both = ShaderTexts(paths).of(vertex.code, vertex.descriptors, geometry.entry)
    assert both is not None and both.labels[geometry.entry] == "gmain" and both.register("projection") is None
    other = ShaderTexts(paths[1:]).of(vertex.code, vertex.descriptors, vertex.entry)
    assert other is not None and other.note and vertex.entry not in other.places
    # A text that has a mistake in the program itself is named, although another one agrees with the rest of the code.
    wrong = files(tmp_path, wrong_v_pica=VERTEX.replace("mov r0, inpos", "mov r1, inpos"))
    found = ShaderTexts([*wrong, *paths[1:]]).of(vertex.code, vertex.descriptors, vertex.entry)
    assert found is not None and "wrong.v.pica, line 8: word 0" in found.note
    again = ShaderTexts(paths).of([*vertex.code, *([0] * 500)], vertex.descriptors, vertex.entry)
    assert again is not None and again.note == "" and again.register("projection") == "c0"


def test_a_program_that_is_in_none_of_the_texts(tmp_path: Path) -> None:
    late = ".entry last\n.proc first\nmov r1, v0\nmov r2, v0\nmov r3, v0\n.end\n.proc last\nmov o1, v0\nend\n.end\n"
    first, _ = program(".proc main\nmov o0, v0\nmov o1, v0\nmov o2, v0\nend\n.end\n", late)
    (path,) = files(tmp_path, late_pica=late)
    found = ShaderTexts([path]).of(first.code, first.descriptors, first.entry)
    assert found is not None and found.note == "the program that begins at 0x000 is in none of the texts"
    assert found.labels == {4: "first", 7: "last"} and found.places[7] == (path, 8)


def test_the_first_difference_is_told(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    (path,) = files(tmp_path, light_v_pica=VERTEX.replace("rcp outpos.y", "rsq outpos.y"))
    found = ShaderTexts([path]).of(made.code, made.descriptors, made.entry)
    assert found is not None
    assert found.note == (
        f"the program is not that of {path}, line 17: word 7 is 'rsq o0.y, r0.y' there, "
        "and here 'rcp o0.y, r0.y' at 0x007"
    )
    assert set(found.places) == {0, 1, 2, 3, 4, 5, 6, 8} and found.places[8] == (path, 18)


def test_a_text_of_something_else_gives_no_lines(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    (path,) = files(tmp_path, other_v_pica=OTHER)
    found = ShaderTexts([path]).of(made.code, made.descriptors, made.entry)
    assert found is not None and not found.places and not found.labels
    assert f"{path}, line 2: word 0 is 'mov o0, v1' there, and here 'mov r0, v0' at 0x000" in found.note


def test_an_instruction_more_moves_the_rest(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    more = VERTEX.replace("    mov r0, inpos\n", "    mov r0, inpos\n    mov r1, inpos\n")
    (path,) = files(tmp_path, light_v_pica=more)
    found = ShaderTexts([path]).of(made.code, made.descriptors, made.entry)
    assert found is not None and "line 9: word 1 is 'mov r1, v0'" in found.note
    assert found.places[0] == (path, 8) and found.places[6] == (path, 17)


def test_texts_that_cannot_be_read(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    binary = tmp_path / "b.pica"
    binary.write_bytes(b"\xff\xfe\x00")
    paths = [str(tmp_path / "missing.v.pica"), str(binary), *files(tmp_path, wrong_pica="mov r0")]
    found = ShaderTexts(paths).of(made.code, made.descriptors, made.entry)
    assert found is not None and not found.places and found.note.count(";") == 2
    for path in paths:
        assert path in found.note
    assert ShaderTexts([]).of(made.code, made.descriptors, 0) is None
    with pytest.raises(UsageError, match=f"{MOST_TEXTS} are the most"):
        ShaderTexts(["x"] * (MOST_TEXTS + 1))


def test_a_shbin_gives_names(tmp_path: Path) -> None:
    made = program(VERTEX)
    path = tmp_path / "light.shbin"
    path.write_bytes(write_shbin(shbin_of(made)))
    found = ShaderTexts([str(path)]).of(made[0].code, made[0].descriptors, made[0].entry)
    assert found is not None and not found.places and found.labels[6] == "shade"
    assert found.register("projection[3]") == "c3" and found.register("position.x") == "o0.x"
    assert found.register("quarter") is None  # a file has no aliases


def test_texts_beside_a_file(tmp_path: Path) -> None:
    shader = str(tmp_path / "light.shbin")
    assert beside(shader) == []
    paths = files(tmp_path, light_v_pica=VERTEX, light_g_pica=GEOMETRY)
    assert beside(shader) == paths
    (tmp_path / "light.shlist").write_text("light.g.pica\n\nlight.v.pica\nmissing.pica\n")
    assert beside(shader) == paths[::-1]


def test_a_shbin_is_stepped_by_the_lines_of_its_text(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    shader = tmp_path / "light.shbin"
    shader.write_bytes(write_shbin(shbin_of([made])))
    plain, _ = trace_file(Run(str(shader), values=("inpos=1,2,3", "projection[0]=1,1,1,1", "b0=1")))
    assert [one.line for one in plain] == [None] * len(plain)
    assert plain.listing is not None and plain.listing.label(6) == "shade" and plain.listing.note == ""
    (path,) = files(tmp_path, light_v_pica=VERTEX)
    trace, _ = trace_file(Run(str(shader), values=("inpos=1,2,3", "projection[0]=1,1,1,1", "b0=1")))
    assert [one.line for one in trace] == [8, 9, 10, 11, 12, 16, 17, 18, 13]
    assert trace.at(-1).vector("o0")[:2] == (0.25 * 6 + 1, 2.0)
    assert trace.listing is not None and trace.listing.source(0).file == path  # type: ignore[union-attr]
    assert trace.listing.names(6) == "outpos, projection[0]"
    assert [one.happened for one in plain] == [one.happened for one in trace]
    elsewhere = tmp_path / "texts"
    elsewhere.mkdir()
    (other,) = files(elsewhere, any_pica=VERTEX.replace("quarter, r0", "half, r0"))
    trace, _ = trace_file(Run(str(shader), texts=(other,)))
    assert trace.listing is not None and f"{other}, line 10" in trace.listing.note


# -- recordings -------------------------------------------------------------------------------------------------------
def test_programs_of_recordings_are_those_of_their_listings(shared_dir: Path, tmp_path: Path) -> None:
    """The usual listing is a text with other operand descriptors: it is the program, word for word."""
    seen = 0
    for path in sorted((shared_dir / "captures" / "3ds").glob("*.ctf.xz")):
        run = pocketgpu.debug(str(path))
        if not run.events(0) or not any(event.draw is not None for event in run.events(0)):
            continue
        for one in run.seek("f0/d0").programs.values():
            text = tmp_path / f"{path.name}.{one.unit}.pica"
            text.write_text(one.text)
            code = [*map(int, one.words)]
            found = ShaderTexts([str(text)]).of(code, [*map(int, one.descriptors)], one.entry)
            assert found is not None and found.note == "", (path.name, found and found.note)
            assert set(found.places) == set(range(len(code)))
            rows = one.text.splitlines()
            assert all(rows[line - 1].startswith("    ") for _, line in found.places.values())
            seen += 1
    assert seen > 15


def test_a_draw_of_the_sample_has_the_lines_of_a_text(sample_path: Path, tmp_path: Path) -> None:
    run = pocketgpu.debug(str(sample_path))
    plain = run.trace("f0/d5/v3")
    one = run.seek("f0/d5").programs["vertex"]
    text = tmp_path / "sample.v.pica"
    text.write_text("; the sample's program\n.fvec upright[4]\n" + one.text)
    run.use_texts([str(text)])
    trace = run.trace("f0/d5/v3")
    rows = text.read_text().splitlines()
    assert len(trace) == len(plain) and trace.listing is not None and trace.listing.note == ""
    for step in trace:
        assert step.line is not None and rows[step.line - 1].split()[0] == step.text.split()[0]
    assert trace.listing.register("upright[1].x") == "c1.x"
    with pytest.raises(UsageError, match="not made of such texts"):
        pocketgpu.debug(str(sample_path.parent / "sample_switch.mxcap.zip")).use_texts([str(text)])


def test_a_listing_of_a_shbin_has_its_labels(tmp_path: Path) -> None:
    (made,) = program(VERTEX)
    shader = read_shbin(write_shbin(shbin_of([made])))
    labels = {**shader.executables[0].labels, 3: "not a name", 4: "main", 99: "beyond", 5: "shade"}
    text = disassemble(shader.code, shader.descriptors, entry=0, labels=labels)
    assert "call shade, l009" in text and text.count("shade:") == 1 and "not a name" not in text
    again = assemble(text)
    assert disassemble(again.code, again.descriptors, entry=0, labels=labels) == text
