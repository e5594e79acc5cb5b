"""What commands print, whole: each text is kept in `texts/`, so that no line of an answer changes unnoticed.

The texts are of two small recordings. They say what is printed, not that it is true: other tests hold answers to the
truth. When a text should change, write them again and read the difference:

    python tests/unit/cli/test_texts.py             # or only some: ... test_texts.py state-3ds diff
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.packing import packed_well

from pocketgpu.cli import main

TEXTS = Path(__file__).resolve().parent / "texts"
SOURCES = Path(__file__).resolve().parent / "sources"
SCENES = Path(__file__).resolve().parents[1] / "promises" / "data"

# Name of the text -> commands. Recordings are in the folder where they run; OUT is a new folder,
# SOURCES that of programs.
CASES: dict[str, tuple[str, ...]] = {
    "info": ("info scene_3ds.pgc", "info scene_switch.pgc"),
    "info.json": ("info scene_3ds.pgc --json", "info scene_switch.pgc --json"),
    "events": (
        "events scene_3ds.pgc f1", "events scene_3ds.pgc f0 --draws", "events scene_switch.pgc f1",
        "events scene_switch.pgc f0 --draws", "events scene_switch.pgc f9",
    ),
    "events.json": ("events scene_3ds.pgc f0 --json", "events scene_switch.pgc f0 --json"),
    "why-3ds-pixels": (
        "why scene_3ds.pgc f1/px200,120", "why scene_3ds.pgc f0/px200,160", "why scene_3ds.pgc f1/px1,1",
        "why scene_3ds.pgc f0/px399,239", "why scene_3ds.pgc f0/px400,239", "why scene_3ds.pgc f1/px200,120/bottom",
    ),
    "why-3ds-parts": (
        "why scene_3ds.pgc f1/d0", "why scene_3ds.pgc f1/d1", "why scene_3ds.pgc f1/d1/t0",
        "why scene_3ds.pgc f1/d0/v2", "why scene_3ds.pgc f1/d7", "why scene_3ds.pgc f1",
    ),
    "why-3ds.json": ("why scene_3ds.pgc f1/px200,120 --json", "why scene_3ds.pgc f1/d1 --json"),
    "why-switch-pixels": (
        "why scene_switch.pgc f1/px16,20", "why scene_switch.pgc f0/px16,31", "why scene_switch.pgc f0/px0,0",
        "why scene_switch.pgc f0/px999,0",
    ),
    "why-switch-parts": (
        "why scene_switch.pgc f1/d0", "why scene_switch.pgc f1/d1", "why scene_switch.pgc f1/d0/t0",
        "why scene_switch.pgc f1/d0/v1", "why scene_switch.pgc f1/d9",
    ),
    "why-switch.json": ("why scene_switch.pgc f1/px16,20 --json", "why scene_switch.pgc f1/d0 --json"),
    "check": ("check scene_3ds.pgc", "check scene_switch.pgc", "check scene_3ds.pgc --notes", "check --list"),
    "check.json": ("check scene_3ds.pgc --json", "check scene_switch.pgc --json"),
    "diff": (
        "diff scene_3ds.pgc scene_3ds.pgc", "diff scene_3ds.pgc scene_3ds.pgc --switch-b texture.filter=nearest",
        "diff scene_switch.pgc scene_switch.pgc", "diff scene_3ds.pgc scene_switch.pgc",
        "diff scene_3ds.pgc scene_3ds.pgc --switch-b texture.filter=nearest --json",
    ),
    "state-3ds": (
        "state scene_3ds.pgc f1/d1", "state scene_3ds.pgc f1/d0 --against f1/d1", "state scene_3ds.pgc f1/d0 --shaders",
    ),
    "state-switch": (
        "state scene_switch.pgc f1/d1", "state scene_switch.pgc f1/d1 --against f0/d1",
        "state scene_switch.pgc f1/d0 --shaders",
    ),
    "state-files": (
        "state scene_3ds.pgc f1/d0 --textures OUT/t --mesh OUT/m.obj --vertices OUT/v.npz --target OUT/t.png",
        "state scene_switch.pgc f1/d0 --textures OUT/t --mesh OUT/m.obj --vertices OUT/v.npz --target OUT/t.png",
    ),
    "who": (
        "who scene_3ds.pgc 0x18000000", "who scene_3ds.pgc 0x20000000 --size 64 --before f1/d0",
        "who scene_3ds.pgc 0x1000",
        "who scene_switch.pgc 0x500000000", "who scene_switch.pgc 0x500000000 --before f1/d0",
    ),
    "decode-3ds": ("decode scene_3ds.pgc f0", "decode scene_3ds.pgc f1 --changed"),
    "decode-switch": (
        "decode scene_switch.pgc f0", "decode scene_switch.pgc f1 --changed"),
    "regs": (
        "regs 0x41", "regs blend", "regs 0x1c0", "regs b197 blend", "regs SET_BLEND", "regs nothing_has_this_name",
        "regs 0x10400400", "regs b197 0x358 --json",
    ),
    "regs-words": (
        "regs tsc 0x00024249 0x00d00222 0x00000fff 0 0x3f000000 0x3f800000 0 0x3f800000", "regs tic.pitch",
        "regs tic 0x58d2492e 0x80000000 0x00030005 0x02000002 0x80ff000f 0x0000000f 0 0",
        "regs gpfifo 0x00001001 0x80001400", "regs 0x1041f00f", "regs b197 0x20010d80", "regs 0x000f0110",
        "regs tsc 0", "regs tsc zero",
    ),
    "shaders-3ds": (
        "shader asm SOURCES/vertex.asm -o OUT/v.shbin", "shader info OUT/v.shbin", "shader dis OUT/v.shbin",
        "shader graph OUT/v.shbin", "shader run OUT/v.shbin v0=4 v1=1,2", "shader step OUT/v.shbin v0=-4 v1=1,2 b1=1",
        "shader step OUT/v.shbin v0=4 --nan", "shader step OUT/v.shbin v0=4 --from 1 --to 2",
    ),
    "shaders-switch": (
        "shader asm SOURCES/kernel.sass -o OUT/k.bin", "shader info OUT/k.bin --kind maxwell",
        "shader dis OUT/k.bin --kind maxwell --control", "shader graph OUT/k.bin --kind maxwell",
        "shader dis OUT/k.bin", "launch SOURCES/vertex.asm", "launch OUT/k.bin --header SOURCES/kernel.sass",
    ),
    "macros": (
        "macro asm SOURCES/macro.mme --out OUT/m.bin", "macro dis OUT/m.bin", "macro run SOURCES/macro.mme 0x1680 3 7",
        "macro run OUT/m.bin 0x1680 3 7 --json",
    ),
    "images": (
        "shader asm SOURCES/kernel.sass -o OUT/k.bin",
        "image OUT/k.bin --format RGBA8 --layout linear --size 4x3 --offset 8 --out OUT/k.png",
        "image OUT/k.png --format RGB565 --layout linear --size 4x3 --out OUT/l.bin",
        "image OUT/k.png --format RGB565 --out OUT/t.bin", "image OUT/l.bin --format RGB8 --size 4x3 --out OUT/l.png",
        "image OUT/l.bin --format I8 --layout linear --size 4x3 --out OUT/l.png --json",
    ),
    "timing": ("timing", "timing --init top-wide", "timing --init bottom --json"),
    "switches": ("switches",),
    "replays": (
        "render scene_3ds.pgc --out OUT/a", "render scene_switch.pgc --out OUT/b --frames 1",
        "capture verify scene_3ds.pgc",
        "capture verify scene_switch.pgc", "convert scene_3ds.pgc OUT/c.pgc",
        "capture minimise scene_3ds.pgc OUT/d.pgc",
        "capture minimise scene_switch.pgc OUT/e.pgc --keep f0/d1", "capture redact scene_3ds.pgc OUT/f.pgc",
        "capture redact scene_switch.pgc OUT/g.pgc", "capture repair scene_3ds.pgc OUT/h.pgc",
        "dump scene_3ds.pgc --at f1 --memory 0x18000000:64 --out OUT/i",
        "dump scene_switch.pgc --at f0 --memory 0x500000000:64 --out OUT/j",
    ),
    "errors": (
        "", "nothing", "info", "info missing.pgc", "info SOURCE", "render scene_3ds.pgc", "why scene_3ds.pgc px1",
        "why scene_3ds.pgc f0/e9999", "state scene_3ds.pgc f0/d9", "render scene_3ds.pgc --out OUT/k --frames 3-1",
        "render scene_3ds.pgc --out OUT/k --set texture.filter=purple",
        "render scene_3ds.pgc --out OUT/k --set nothing=1",
        "dump scene_3ds.pgc --at f0 --memory 0:4 --out OUT/l", "decode scene_3ds.pgc f9", "diff scene_3ds.pgc",
    ),
}  # fmt: skip

# Durations, also those in the last column of a table of frames, whose width they decide; sizes of files, which
# compressors decide.
_VARYING = (
    (re.compile(r"\b\d+(\.\d+)? (ms|s)\b"), "TIME"),
    (re.compile(r"^((?:f\d+|all) .*?) +[\d,]+\.\d{3}\b", re.MULTILINE), r"\1   TIME"),
    (re.compile(r"^(frame .*?) +ms$", re.MULTILINE), r"\1   ms"),
    (re.compile(r"^(.*\bOUT/\w+\.pgc.*?)[\d,]+ bytes(?! are)(?: \([\d,]+ before\))?", re.MULTILINE), r"\1SIZE"),
)


def said(command: str, out: Path) -> str:
    """A command line, its exit code, and what it prints, without what varies from run to run."""
    names = {"OUT": str(out), "SOURCES": str(SOURCES), "SOURCE": __file__}
    words = [re.sub("|".join(names), lambda name: names[name[0]], word) for word in shlex.split(command)]
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        code = main(words)
    text = f"$ pocketgpu {command}\n-- exit code {code}\n{printed.getvalue()}"
    if errors.getvalue():
        text += f"-- standard error\n{errors.getvalue()}"
    text = text.replace(str(out), "OUT").replace(str(SOURCES), "SOURCES").replace(__file__, "SOURCE")
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return "\n".join([*(line.rstrip() for line in text.splitlines()), ""])


def texts(name: str, out: Path) -> str:
    """What the commands of a case print, then the files that they have written."""
    printed = [said(command, out) for command in CASES[name]]
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return "\n".join([*printed, *(f"OUT/{file}" for file in files), ""])


@pytest.fixture
def at_the_scenes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(SCENES)
    monkeypatch.setenv("COLUMNS", "80")
    yield


LONG = ("why-3ds-parts",)
"""Cases that take seconds; the quick tests leave them out."""


@pytest.mark.parametrize("name", [name for name in CASES if name not in LONG])
def test_a_command_prints_what_it_printed(name: str, tmp_path: Path, at_the_scenes: None) -> None:
    with packed_well():  # texts tell which file is larger
        assert texts(name, tmp_path) == (TEXTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LONG)
def test_commands_that_take_long_print_what_they_printed(name: str, tmp_path: Path, at_the_scenes: None) -> None:
    with packed_well():
        assert texts(name, tmp_path) == (TEXTS / f"{name}.txt").read_text(encoding="utf-8")


def test_each_text_has_its_commands() -> None:
    assert sorted(path.stem for path in TEXTS.glob("*.txt")) == sorted(CASES)


ONE = re.compile(r"(?<![\w.,:#/+()-])1 (\w+s)\b(?! or findings)")
"""A 1 before a word that ends with s, but for the exit code of "1 differences or findings"."""
NO_PLURALS = {"has", "is", "was", "covers", "writes", "class", "pass", "address", "this", "less"}


def test_one_thing_is_not_told_in_the_plural() -> None:
    wrong = [
        f"{path.stem}: {line.strip()}"
        for path in sorted(TEXTS.glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if any(word not in NO_PLURALS for word in ONE.findall(line))
    ]
    assert wrong == []
    assert ONE.findall("1 draws, 11 draws, 2.1 pixels, f0/d1 covers, 1 bytes") == ["draws", "bytes"]


def write(names: Iterable[str]) -> None:
    """Write texts again."""
    os.chdir(SCENES)
    os.environ["COLUMNS"] = "80"
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            (TEXTS / f"{name}.txt").write_text(texts(name, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:] or CASES)
