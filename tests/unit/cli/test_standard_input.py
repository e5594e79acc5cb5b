"""A dash in place of a file is the standard input: of captures, dumps, texts and shaders."""

from __future__ import annotations

import io
import json
import lzma
import sys
from pathlib import Path

import pytest
from support.fuzz import load

from pocketgpu.builder import CommandList, assemble
from pocketgpu.cli import main

SOURCES = Path(__file__).resolve().parent / "sources"
SCENES = Path(__file__).resolve().parents[1] / "promises" / "data"
CAPTURE = (SCENES / "scene_3ds.pgc").read_bytes()


def said(
    line: str, data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code = main(line.split())
    found = capsys.readouterr()
    return code, found.out + found.err


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("info -", CAPTURE),
        ("info -", lzma.compress(CAPTURE)),
        ("why - f1/d0", CAPTURE),
        ("events - f0", (SCENES / "scene_switch.pgc").read_bytes()),
        ("check -", CAPTURE),
        ("decode - --as pica", bytes.fromhex("0f000f00400f0f00")),
        ("macro asm -", (SOURCES / "macro.mme").read_bytes()),
        ("shader asm -", (SOURCES / "kernel.sass").read_bytes()),
        ("shader info -", load("sass").shbin()),
        ("shader run - v0=1", load("sass").shbin()),
    ],
)
def test_a_dash_is_the_standard_input(
    line: str, data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    code, text = said(line, data, monkeypatch, capsys)
    named = said(line.replace(" -", f" {file}", 1), b"", monkeypatch, capsys)[1]
    assert (code, text) == (0, named.replace(str(file), "-"))


def test_sizes_of_what_came_through_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(f"convert - {tmp_path / 'a.pgc'} --json", CAPTURE, monkeypatch, capsys)
    assert code == 0 and json.loads(text)["bytes_before"] == len(CAPTURE)
    image = f"image - --format RGBA8 --layout linear --size 4x4 --out {tmp_path / 'a.png'}"
    assert said(image, bytes(64), monkeypatch, capsys)[0] == 0 and (tmp_path / "a.png").is_file()


def test_nothing_on_the_standard_input_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said("info -", b"", monkeypatch, capsys)
    assert code == 3 and "the file is empty" in text


def test_a_kernel_and_an_argument_come_through_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cubin = load("sass").cubin()
    (tmp_path / "k.cubin").write_bytes(cubin)
    (tmp_path / "data").write_bytes(bytes(range(256)))
    out = tmp_path / "out"
    lines = (("-", f"in:{tmp_path / 'data'}", cubin), (str(tmp_path / "k.cubin"), "in:-", b"abcd"))
    for module, argument, data in lines:
        code, text = said(f"launch {module} --arg {argument}>{out} --json", data, monkeypatch, capsys)
        assert code in (0, 1) and json.loads(text)["kernel"], text
    assert out.read_bytes() == b"abcd"


def test_a_dump_comes_through_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = CommandList().plain_state().render_target(0x18000000, 64, 64)
    words.shader(assemble(".out o0 position \n mov o0, c0 \n end")).draw_arrays(3).end_drawing()
    data = words.finalize().tobytes()
    (tmp_path / "list.bin").write_bytes(data)
    lines = []
    for file in (tmp_path / "list.bin", "-"):
        line = f"render --list 0x20000000:{len(data)} --memory {file}@0x20000000 --out {tmp_path} --json"
        code, text = said(line, data, monkeypatch, capsys)
        assert code == 0, text
        lines.append([one["sha256"] for one in json.loads(text)["targets"]])
    assert lines[0] == lines[1] and lines[0]
    code, text = said(line + " --registers -@0x10401000", data, monkeypatch, capsys)
    assert code == 2 and "one dump only" in text
