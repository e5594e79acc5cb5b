"""`pocketgpu macro`: files in, files out, recordings, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pocketgpu.cli import main

SOURCE = """
    parm r2 maddr r1
    parm r3
again:
    mov r2, r2 - 1
    bnz r2, again
    exit send r3
    nop
"""
WORDS = [0x00000A51, 0x00000301, 0xFFFFD211, 0xFFFFD017, 0x000018C1, 0x00000011]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "fill.mme"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def out(capsys: Any, *arguments: object) -> str:
    assert main(["macro", *map(str, arguments)]) == 0
    return str(capsys.readouterr().out)


def said(capsys: Any, *arguments: object, code: int = 0) -> dict[str, Any]:
    assert main(["macro", *map(str, arguments), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_text_to_words_and_back(source: Path, tmp_path: Path, capsys: Any) -> None:
    printed = out(capsys, "asm", source)
    assert [int(line, 16) for line in printed.split()] == WORDS
    assert said(capsys, "asm", source)["words"] == WORDS
    for name in ("fill.bin", "fill.hex"):
        assert out(capsys, "asm", source, "--out", tmp_path / name).startswith("6 words in ")
        text = out(capsys, "dis", tmp_path / name)
        again = tmp_path / f"{name}.mme"
        again.write_text(text, encoding="utf-8")
        assert said(capsys, "asm", again)["words"] == WORDS
    assert (tmp_path / "fill.bin").read_bytes() == b"".join(word.to_bytes(4, "little") for word in WORDS)


@pytest.mark.parametrize("form", ["mme", "bin", "hex"])
def test_running(source: Path, tmp_path: Path, capsys: Any, form: str) -> None:
    program = source if form == "mme" else tmp_path / f"fill.{form}"
    if form != "mme":
        out(capsys, "asm", source, "-o", program)
    found = said(capsys, "run", program, "0x1680", "3", "0x1111")["run"]
    assert [(send["method"], send["value"]) for send in found["sends"]] == [(m, 0x1111) for m in (0x680, 0x681, 0x682)]
    assert found["sends"][0]["name"] == "SET_CT_WRITE(0)"
    assert (found["ended"], found["steps"], found["sent"]) == ("exit", 12, 3)
    assert found["registers"][1:4] == [0x1680, 0, 0x1111]


def test_running_as_text(source: Path, capsys: Any) -> None:
    lines = out(capsys, "run", source, "0x1680", "1", "7", "8").splitlines()
    assert lines[0].split() == ["0x680", "0x00000007", "SET_CT_WRITE(0)"]
    assert lines[1] == "ended after 6 instructions"
    assert lines[-1] == "parameters not taken: 1"


def test_macros_that_do_not_end_are_findings(source: Path, capsys: Any) -> None:
    assert said(capsys, "run", source, "0", "1", code=1)["run"]["ended"] == "parameter"
    assert said(capsys, "run", source, "0", "5000", "1", "--steps", "100", code=1)["run"]["ended"] == "budget"


def test_state_that_the_macro_reads(tmp_path: Path, capsys: Any) -> None:
    program = tmp_path / "read.mme"
    program.write_text("mov r2, read(0x206)\nexit mov r3, read(@SET_ZT_SIZE_C)\nnop")
    found = said(capsys, "run", program, "--state", "0x206=5", "--state", "SET_ZT_SIZE_C=-1")["run"]
    assert found["registers"][2:4] == [5, 0xFFFFFFFF]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["asm", "missing.mme"], 3),
        (["asm", "bad.mme"], 2),
        (["dis", "odd.bin"], 3),
        (["dis", "empty.bin"], 3),
        (["dis", "bad.mme"], 3),
        (["dis", "bytes.mme"], 3),
        (["dis", "fill.mme", "--macro", "1"], 2),
        (["run", "fill.mme", "x"], 2),
        (["run", "fill.mme", "0x100000000"], 2),
        (["run", "fill.mme", "--state", "5"], 2),
        (["run", "fill.mme", "--state", "0x1000=5"], 2),
        (["run", "fill.mme", "--state", "NO_METHOD=5"], 2),
        (["dis", "missing.mxcap.zip"], 3),
    ],
)
def test_mistakes(
    source: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.mme").write_text("nop\nwhat r1\n")
    Path("odd.bin").write_bytes(b"123")
    Path("empty.bin").write_bytes(b"")
    Path("bytes.mme").write_bytes(b"\xff\xfe")
    assert main(["macro", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == "" and "Traceback" not in captured.err and captured.err.startswith("error:")


def test_macros_of_a_recording_come_back_word_for_word(shared_dir: Path, tmp_path: Path, capsys: Any) -> None:
    folder = shared_dir / "captures" / "switch"
    recording = folder / "deko_basic_320x180.mxcap.zip"
    if not recording.is_file():
        pytest.skip("the recordings of the Switch are missing")
    macros = said(capsys, "dis", recording)["macros"]
    assert len(macros) == 14 and sum(len(macro["words"]) for macro in macros) >= 181
    for macro in macros:
        again = tmp_path / "again.mme"
        again.write_text(macro["text"], encoding="utf-8")
        assert said(capsys, "asm", again)["words"] == macro["words"]
        assert ".word" not in macro["text"]
    assert out(capsys, "dis", recording, "--macro", "5").strip() == macros[5]["text"].strip()
    assert main(["macro", "dis", str(recording), "--macro", "99"]) == 2
