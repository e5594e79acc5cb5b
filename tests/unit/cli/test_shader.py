"""`pocketgpu shader`: text, bytes, data and graphs from files and folders, and the exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.fuzz import load

from pocketgpu.cli import main

fuzz = load("sass")
VERTEX = ".out o0 position\n.constf c8, 1.0, 0.5, 0.0, 2.0\nmain:\nmul o0, c8, v0\nend\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "small.cubin").write_bytes(fuzz.cubin())
    (tmp_path / "sub" / "small.dksh").write_bytes(fuzz.dksh())
    (tmp_path / "sub" / "small.shbin").write_bytes(fuzz.shbin())
    (tmp_path / "readme.txt").write_text("not a shader")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    assert main(["shader", *map(str, words)]) == code
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    data = json.loads(said(capsys, *words, "--json", code=code))
    assert isinstance(data, dict)
    return data


def test_dis_shows_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "dis", folder / "small.cubin")
    assert "        /*0008*/                   S2R R0, SR_TID.X ;\n" in text and "//" not in text
    assert "@P0 SYNC" in text and text.index("k:\n") < text.index("S2R")
    data = told(capsys, "dis", folder / "small.cubin")
    (program,) = data["programs"]
    first = program["instructions"][0]
    assert first["op"] == "S2R" and first["operands"][1] == {
        "role": "sr", "kind": "special", "n": 0x21, "name": "SR_TID.X",
    }  # fmt: skip


def test_dis_and_asm_give_the_bytes_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listing, out = folder / "k.sass", folder / "again.cubin"
    listing.write_text(said(capsys, "dis", folder / "small.cubin", "--control"))
    said(capsys, "asm", listing, "--into", folder / "small.cubin", "-o", out)
    assert out.read_bytes() == fuzz.cubin()
    said(capsys, "asm", listing, "-o", folder / "code.bin")
    assert (folder / "code.bin").read_bytes() == fuzz.assemble(fuzz._CODE).code
    assert "S2R" in said(capsys, "dis", folder / "code.bin", "--kind", "maxwell")
    listing.write_text("EXIT\n")
    said(capsys, "asm", listing, "--into", folder / "small.cubin", "-o", out, code=2)


def test_folders_are_read_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = told(capsys, "dis", folder, "-o", folder / "out")
    assert [Path(one["out"]).name for one in data["programs"]] == [
        "small.k.sass", "sub_small.compute0.sass", "sub_small.vertex0.sass",
    ]  # fmt: skip
    assert "mul o0, c8, v0" in (folder / "out" / "sub_small.vertex0.sass").read_text()
    empty = folder / "empty"
    empty.mkdir()
    said(capsys, "dis", empty, code=2)


def test_damaged_files_are_told_of_and_the_others_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.cubin").write_bytes(fuzz.cubin()[:200])
    data = told(capsys, "info", folder, code=3)
    assert [Path(one["file"]).name for one in data["unreadable"]] == ["bad.cubin"]
    assert [one["kind"] for one in data["files"]] == ["cubin", "dksh", "shbin"]
    assert told(capsys, "dis", folder / "bad.cubin", code=3)["error"]["code"] == 3
    assert told(capsys, "dis", folder / "readme.txt", code=3)["error"]["hint"]
    assert told(capsys, "dis", folder / "nothing", code=3)["error"]["code"] == 3


def test_info(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = told(capsys, "info", folder / "small.cubin")
    (program,) = data["files"][0]["programs"]
    assert program["registers"] == 8 and program["parameters"] == [{"offset": 0, "size": 8}]
    assert program["opcodes"]["SYNC"] == 2 and data["files"][0]["arch"] == "sm_53"
    assert "local bytes: 16" in said(capsys, "info", folder / "small.cubin")
    said(capsys, "info", folder / "small.cubin", "--kernel", "other", code=2)


def test_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "graph", folder / "small.cubin").startswith('digraph "k" {')
    said(capsys, "graph", folder / "small.cubin", "-o", folder / "k.dot")
    assert "b0 -> b2" in (folder / "k.dot").read_text()
    if shutil.which("dot") is None:
        said(capsys, "graph", folder / "small.cubin", "-o", folder / "k.svg", code=2)
    assert "mul o0, c8, v0" in said(capsys, "graph", folder / "sub" / "small.shbin")


def test_shaders_of_the_3ds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = folder / "v.asm", folder / "v.shbin"
    source.write_text(VERTEX)
    said(capsys, "asm", source, "-o", out)
    assert out.read_bytes() == fuzz.shbin()
    assert told(capsys, "asm", source, "--console", "3ds")["bytes"] == 8
    assert "mul o0, c8, v0 @0" in said(capsys, "dis", out, "--control")
    for file in (source, out):
        data = told(capsys, "run", file, "v0=2,4,6")
        assert data["run"] == {"outputs": {"o0": [2.0, 2.0, 0.0, 2.0]}, "hung": False}
    assert told(capsys, "run", out, "v0=2,4,6", "c8=3")["run"]["outputs"]["o0"] == [6.0, 0.0, 0.0, 1.0]
    for bad in ("v16=1", "x0=1", "v0", "v0=a", "v0=1,2,3,4,5"):
        said(capsys, "run", out, bad, code=2)
    said(capsys, "run", folder / "small.cubin", code=2)


def test_texts_of_the_3ds_become_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vertex, geometry, out = folder / "a.v.pica", folder / "a.g.pica", folder / "a.shbin"
    vertex.write_text(".fvec clip[4]\n.in it\n.out o position\n.proc main\ndp4 o, clip[1], it\nend\n.end\n")
    geometry.write_text(".gsh point c0\n.entry gmain\n.proc gmain\nsetemit 1\nemit\nend\n.end\n")
    said(capsys, "asm", vertex, geometry, "-o", out)
    first, second = told(capsys, "info", out)["files"][0]["programs"]
    assert (first["name"], second["name"]) == ("vertex0", "geometry1") and second["entry"] == 2
    assert first["uniforms"][0] == {"name": "clip", "first": 0x10, "last": 0x13, "register": "c0"}
    assert second["geometry"] == {"mode": "point", "array": 0, "vertices": 0} and second["labels"]["gmain"] == 2
    text = said(capsys, "dis", out, "--kernel", "vertex0")
    assert "    dp4 o0, c1, v0  ; position, clip[1], it\n" in text and "gmain:\n" in text
    assert told(capsys, "run", out, "clip[1]=1,1,1,1", "it=1,2,3")["run"]["outputs"]["o0"] == [7.0] * 4
    assert told(capsys, "asm", vertex)["console"] == "3ds"
    said(capsys, "asm", vertex, geometry, "--console", "switch", code=2)
    trace = told(capsys, "step", out, "it=1,2,3", "--text", vertex)["trace"]
    assert [one["line"] for one in trace["steps"]] == [5, 6]
    vertex.write_text(vertex.read_text().replace("clip[1]", "clip[2]"))
    assert "a.v.pica, line 5: word 0 is 'dp4 o0, c2, v0' there" in said(capsys, "step", out, "it=1,2,3")


def test_all_mistakes_of_all_texts_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = folder / "a.v.pica", folder / "b.v.pica"
    first.write_text(".fvec 4x\n.proc main\nmov r0, v0\nend\n.end\n")
    second.write_text(".nodvle\n.proc shade\nmuv r0\nadd r0, v0, v1\n.end\n")
    data = told(capsys, "asm", first, second, "-o", folder / "out.shbin", code=2)
    assert [(Path(one["file"]).name, one["line"], one["column"], one["warning"]) for one in data["problems"]] == [
        ("a.v.pica", 1, 7, False), ("b.v.pica", 3, 1, False), ("b.v.pica", 4, 13, True),
    ]  # fmt: skip
    assert data["error"]["location"] == f"{first}, line 1, column 7" and not (folder / "out.shbin").exists()
    assert main(["shader", "asm", str(first), str(second)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("error: ") == 2 and f"note: {second}, line 4, column 13: consoles cannot" in errors
    second.write_text(".proc main\nmov r0, v0\n.end\n")
    assert main(["shader", "asm", str(second)]) == 0
    assert f"note: {second}, line 2, column 1: control runs on past" in capsys.readouterr().err


def test_a_program_without_end_is_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder / "loop.asm"
    source.write_text("main:\njmpu !b0, main\nend\n")
    assert told(capsys, "run", source, code=1)["run"]["hung"] is True


def test_isa(capsys: pytest.CaptureFixture[str]) -> None:
    data = told(capsys, "isa", "mufu")
    assert [one["form"] for one in data["forms"]] == ["MUFU"]
    assert {"name": "op", "bits": "23:20", "enum": "mufu"} in data["forms"][0]["fields"]
    assert "5 RSQ" in said(capsys, "isa", "MUFU")
    assert len(said(capsys, "isa").splitlines()) > 400
    assert "FFMA" in told(capsys, "isa", "FFMAA", code=2)["error"]["hint"]


def test_text_of_kernels_is_read_like_a_file_with_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder / "k.sass"
    head = "  .kernel one\n.param out ptr\n.param n u32 // a number\n"
    source.write_text(head + "S2R R0, SR_TID.X\nEXIT\n.kernel two\nEXIT\n")
    assert "        /*0008*/                   S2R R0, SR_TID.X ;\n" in said(capsys, "dis", source)
    exact = said(capsys, "dis", source, "--control", "--kernel", "one")
    assert exact.startswith("        .section .text.one\n        .registers 1\n        .param out ptr 0x140\n")
    assert "        .param n u32 0x148\none:\n" in exact
    assert [one["name"] for one in told(capsys, "info", source)["files"][0]["programs"]] == ["one", "two"]
    assert said(capsys, "graph", source, "--kernel", "one").startswith('digraph "one" {')
    source.write_text(".kernel one\nFROB\n")
    assert told(capsys, "info", source, code=2)["error"]["location"] == f"{source}, line 2, column 1"
    plain = folder / "plain.sass"
    plain.write_text("EXIT\n")
    assert "EXIT" in said(capsys, "dis", plain, "--kind", "sass")
    said(capsys, "dis", plain, code=3)


def test_text_that_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder / "bad.sass"
    source.write_text("EXIT\nFROB R1\n")
    error = told(capsys, "asm", source, code=2)["error"]
    assert error["location"].endswith(", line 2, column 1") and "FROB" in error["message"]
    source.write_bytes(b"\xff\xfe")
    said(capsys, "asm", source, code=3)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1,2,3", "'1,2,3' sets no register"),
        ("v0=1,a", "'a' in 'v0=1,a' is not a number"),
        ("v0=1,2,3,4,5", "'v0=1,2,3,4,5' has 5 numbers; a register takes 1 to 4"),
        ("colour=1", "nothing is called 'colour' here"),
        ("v99=1", "there is no register v99"),
    ],
)
def test_values_that_set_nothing_say_why(
    value: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "plain.v.pica"
    text.write_text(".alias place v0\n.out o0 position\nmain:\n    mov o0, place\n    end\n", encoding="utf-8")
    assert main(["shader", "step", str(text), value]) == 2
    said = capsys.readouterr().err
    assert says in said
    if "called" in says:
        assert "names of the text: place" in said
