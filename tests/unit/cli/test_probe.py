"""`pocketgpu probe` as its users see it: from the folder to the verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.capture.pgc import parse
from pocketgpu.cli import main
from pocketgpu.probe.evidence import COLUMNS
from pocketgpu.probe.files import keys
from pocketgpu.probe.making import FOLDER

DATA = Path(__file__).resolve().parents[1] / "probe" / "data"
CHOICES = ("test.stencil_write", "blend.factor_15")


def as_of_a_console(path: Path, console: str = "3DS, kernel 2.57.0, a test") -> None:
    """Change an answer of our own machine to one of a console."""
    contents = parse(path.read_bytes())
    path.write_bytes(encode(replace(contents, about={**contents.about, keys.CONSOLE: console})))


def test_the_whole_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Made, run by our own machine with another value, judged, and written as evidence."""
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    folder, evidence = tmp_path / FOLDER, tmp_path / "evidence.tsv"
    asked = [word for name in CHOICES for word in ("--choice", name)]
    assert main(["probe", "make", str(tmp_path), *asked]) == 0
    assert "2 tests (" in capsys.readouterr().out
    assert "probe read" in (folder / "README.txt").read_text()
    program = [str(folder / "probe.3dsx"), "--sd", str(tmp_path), "--sd-write", "--until", "the end"]
    assert main(["run", *program, "--set", "blend.factor_15=source"]) == 0
    capsys.readouterr()
    for path in folder.glob("*.answer.pgc"):
        as_of_a_console(path)
    assert main(["probe", "read", str(folder), "--evidence", str(evidence)]) == 0
    text = capsys.readouterr().out
    assert "blend.factor_15 = source\n" in text
    assert "test.stencil_write = " in text and "(the default)" in text
    assert "2 answers: 2 tell the value, 0 do not" in text
    assert max(map(len, text.replace(str(evidence), "").splitlines())) <= 80
    rows = [line.split("\t") for line in evidence.read_text().splitlines()]
    assert tuple(rows[0]) == COLUMNS and len(rows) == 3
    row = dict(zip(COLUMNS, next(row for row in rows if row[0] == "blend.factor_15"), strict=True))
    assert (row["value"], row["kind"], row["who"]) == ("source", "measured", "console")
    as_of_a_console(folder / "blend.factor_15.answer.pgc", "pocketgpu 1.2.3, emulating a 3DS")
    assert main(["probe", "read", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "from: pocketgpu itself, not a console (pocketgpu 1.2.3, emulating a 3DS)" in text
    assert text.index("blend.factor_15 = ") < text.index("from: 3DS, kernel") < text.index("test.stencil_write = ")
    evidence.unlink()
    assert main(["probe", "read", str(folder), "--evidence", str(evidence)]) == 2
    assert "they are no evidence" in capsys.readouterr().err and not evidence.exists()
    assert row["where"].startswith("3DS, kernel ")


def test_what_cannot_be_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--choice", "guest.exceptions"], "no part in it"),
        (["--choice", "nonsense"], "there is no choice 'nonsense'"),
        (["--choice", "test.stencil_wrte"], "Did you mean test.stencil_write?"),
        (["--choice", "mme.reads"], "is no choice of a 3DS, but of a Switch"),
        (["--choice", "mme.reads"], "Use --console switch."),
        (["--choice", "texture.filter"], "what-if"),
        ([str(tmp_path / "nothere.pgc")], "nothing can be asked"),
    ):
        assert main(["probe", "make", str(tmp_path), *words]) == 2
        assert message in capsys.readouterr().err
    recording = Path(__file__).resolve().parents[1] / "promises" / "data" / "scene_3ds.pgc"
    for words, message in (
        ([str(recording), "--most", "4096"], "bytes of main memory"),
        ([str(recording), "--console", "switch"], "Use --console 3ds."),
    ):
        assert main(["probe", "make", str(tmp_path / "card"), *words]) == 2
        error = capsys.readouterr().err
        assert message in error and "scene_3ds.pgc" in error
    assert not (tmp_path / "card").exists(), "nothing can be asked"
    words = ["probe", "make", str(tmp_path / "card"), str(recording), str(tmp_path / "nothere.pgc"), "--json"]
    words.append(str(recording))
    assert main(words) == 1
    made, missing, again = json.loads(capsys.readouterr().out)["files"]
    assert made["name"] == "scene_3ds" and made["bytes"] and not made["reason"]
    assert missing["place"] == str(tmp_path / "nothere.pgc") and missing["reason"]
    assert again["name"] == "scene_3ds-2" and (tmp_path / "card" / FOLDER / "scene_3ds-2.pgc").exists()


def test_a_folder_is_added_to_and_is_for_one_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "make", str(tmp_path), "--choice", "test.order"]) == 0
    assert "from before" not in capsys.readouterr().out
    assert main(["probe", "make", str(tmp_path), "--choice", "blend.factor_15"]) == 0
    text = capsys.readouterr().out
    assert "1 test (" in text and "also in it from before: test.order" in text
    assert main(["probe", "make", str(tmp_path), "--console", "switch", "--choice", "mme.reads"]) == 2
    assert "the folder is for a 3DS" in capsys.readouterr().err
    assert "for a 3DS" in (tmp_path / FOLDER / "README.txt").read_text()
    assert not (tmp_path / FOLDER / "probe.nro").exists()


def test_what_the_folder_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each console: where it tells what runs, and what a person is asked."""
    for console, choice, said in (
        ("3ds", "test.order", ("lower screen", "A, B, X or Y", "a minute")),
        ("switch", "mme.reads", ("the screen tells",)),
    ):
        assert main(["probe", "make", str(tmp_path / console), "--console", console, "--choice", choice]) == 0
        text = (tmp_path / console / FOLDER / "README.txt").read_text()
        for words in (*said, "START", "doubts", "--expect shown", "where you got pocketgpu from"):
            assert words in text
        assert max(map(len, text.splitlines())) <= 88


def test_answers_that_say_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a refused file, of a capture, of another version of the scene."""
    assert main(["probe", "read", str(DATA), "--json"]) == 0
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    silent = {Path(one["file"]).name.removesuffix(".answer.pgc"): one["silent"] for one in verdicts}
    assert silent == {
        "refused": "refused: the file is cut", "capture": "it is a picture of a recording",
        "old": silent["old"],
    }  # fmt: skip
    assert "another version of the scene" in silent["old"] and "run them on the console again" in silent["old"]
    assert main(["probe", "read", str(tmp_path)]) == 2
    assert "there are no answers" in capsys.readouterr().err
    (tmp_path / "x.answer.pgc").write_bytes(b"x")
    assert main(["probe", "read", str(tmp_path)]) == 3
    assert "x.answer.pgc: unreadable: " in capsys.readouterr().out
