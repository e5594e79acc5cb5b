"""`pocketgpu run`: pictures, text, captures, comparisons, ends and mistakes; commands that take a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pocketgpu.cli import main
from pocketgpu.guests.n3ds.font import system_font

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[2] / "guests" / "n3ds"
SHOWN = str(PROGRAMS / "framebuffers.elf")


def output(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_pictures_text_and_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shots, record = tmp_path / "shots", tmp_path / "run.pgc"
    code, out, _ = output(capsys, "run", SHOWN, "--out", str(shots), "--record", str(record), "--text")
    assert code == 0
    assert out.startswith("framebuffers.elf: 10 frames, 5 presents; it ended: exit\n\nshown 0\nshown 1\n")
    assert len(list(shots.glob("f*.top.png"))) == len(list(shots.glob("f*.bottom.png"))) == 10
    assert output(capsys, "capture", "verify", str(record))[0] == 0
    replayed = tmp_path / "replayed"
    assert output(capsys, "render", str(record), "--out", str(replayed))[0] == 0
    for picture in shots.iterdir():
        assert (replayed / picture.name).read_bytes() == picture.read_bytes()


def test_what_ends_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    for words, frames, reached, code in (
        (("--frames", "3"), 3, True, 0), (("--presents", "2"), 3, True, 0), (("--until", "shown 2"), 7, True, 0),
        (("--until", "EXIT"), 10, True, 0), (("--until", "nothing like that"), 10, False, 1),
        (("--presents", "9", "--frames", "4"), 4, False, 1), (("--until", "EXIT", "--frames", "4"), 4, False, 1),
    ):  # fmt: skip
        done, out, _ = output(capsys, "run", SHOWN, "--json", *words)
        found = json.loads(out)
        assert (done, found["reached"]) == (code, reached if words[0] != "--frames" else None), words
        assert found["frame_count"] == frames and len(found["frames"]) == found["frame_count"], words
        assert (found["end"] is None) == (found["frame_count"] < 10)
    text = output(capsys, "run", SHOWN, "--until", "nope", "--presents", "7")[1]
    assert "not reached: 7 presents and the text 'nope'" in text


def test_which_pictures_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for which, frames in (("last", {4}), ("presented", {0, 2, 4}), ("1-2", {1, 2}), ("all", set(range(5)))):
        folder = tmp_path / which
        code, out, _ = output(
            capsys, "run", SHOWN, "--frames", "5", "--out", str(folder), "--pictures", which, "--json"
        )
        written = {int(one.name[1:].split(".")[0]) for one in folder.iterdir()}
        assert (code, written) == (0, frames), which
        presents = [entry["present"] for entry in json.loads(out)["frames"]]
        assert presents == [0, None, 1, None, 2]
    code, _, err = output(capsys, "run", SHOWN, "--out", str(tmp_path), "--pictures", "some")
    assert code == 2 and "'some' does not say which frames" in err


def test_pictures_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    goldens, report = tmp_path / "goldens", tmp_path / "report"
    assert output(capsys, "run", SHOWN, "--frames", "3", "--out", str(goldens), "--pictures", "last")[0] == 0
    code, out, _ = output(capsys, "run", SHOWN, "--expect", str(goldens))
    assert code == 0 and "2 pictures compared" in out and ": 3 frames" in out
    picture = Image.open(goldens / "f2.top.png").convert("RGB")
    picture.putpixel((10, 10), (1, 2, 3))
    picture.save(goldens / "f2.top.png")
    code, out, _ = output(capsys, "run", SHOWN, "--expect", str(goldens), "--report", str(report))
    assert code == 1 and "f2.top is not its golden" in out and (report / "index.html").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "absent.3dsx"), 3, "cannot be read"), (("run", __file__), 3, "not a program"),
        (("run", SHOWN, "--sd-write"), 2, "--sd-write is for"), (("run", SHOWN, "--record", "x.zip"), 2, ".pgc"),
        (("run", SHOWN, "--report", "x"), 2, "--expect"), (("run", SHOWN, "--frames", "0"), 2, "--frames"),
        (("run", SHOWN, "--sd", "absent"), 2, "absent"),
        (("run", SHOWN, "--until", ""), 2, "no text"), (("run", SHOWN, "--pictures", "last"), 2, "--out"),
        (("run", SHOWN, "--press", "A@x"), 2, "A@30-32"), (("run", SHOWN, "--sd", __file__), 2, "that is a file"),
        (("why", str(PROGRAMS / "faults.3dsx"), "f0"), 4, "ended before its first frame"),
    ],
)  # fmt: skip
def test_mistakes(words: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    done, _, err = output(capsys, *words)
    assert done == code and message in err and "Traceback" not in err


def test_a_fault_is_shown_with_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faults = Path(SHOWN).parent / "faults.3dsx"
    code, out, _ = output(capsys, "run", str(faults), "--frames", "5")
    assert code == 1 and "The program ended: fault: write to no memory at 0x00000004, thread 1\n" in out
    assert "It was in store (faults.c:" in out and "1 0" in out and "main+0x" in out
    alone = tmp_path / "alone.3dsx"
    alone.write_bytes(faults.read_bytes())
    assert "(no function)" in output(capsys, "run", str(alone), "--frames", "5")[1]
    elf = str(faults.with_suffix(".elf"))
    code, out, _ = output(capsys, "run", str(alone), "--frames", "5", "--elf", elf, "--json")
    end = json.loads(out)["end"]
    assert code == 1 and end["trace"][0]["function"] == "store" and end["trace"][0]["sure"] is True
    assert output(capsys, "run", str(alone), "--elf", "absent.elf")[0] == 3


def test_a_fault_is_a_failure_beside_the_goldens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goldens, junit = tmp_path / "goldens", tmp_path / "results.xml"
    assert output(capsys, "run", SHOWN, "--frames", "1", "--out", str(goldens))[0] == 0
    words = ("--expect", str(goldens), "--junit", str(junit), "--report", str(tmp_path / "report"))
    code, out, _ = output(capsys, "run", str(PROGRAMS / "faults.3dsx"), *words)
    assert code == 1 and "f0.top is missing: there is no frame" in out and "report:" not in out
    assert "write to no memory at 0x00000004" in junit.read_text() and "faults.c:10" in junit.read_text()


def test_no_picture_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, reason in (
        ((str(PROGRAMS / "objects.elf"),), "ended before its first frame"),
        ((SHOWN, "--frames", "2", "--pictures", "7-9"), "none is of those that --pictures 7-9 names"),
    ):
        code, out, _ = output(capsys, "run", *words, "--out", str(tmp_path / "out"))
        assert code == 0 and "guest.no-picture" in out and reason in " ".join(out.split())


def test_commands_take_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in (
        (("why", SHOWN, "f4/px200,120"), "is #7b8252"), (("events", SHOWN, "f4"), "frame 4"),
        (("state", SHOWN, "f4"), "end of frame  f4"), (("info", SHOWN), "10 frames"),
        (("render", SHOWN, "--frames", "4", "--out", str(tmp_path)), "1 frame"), (("check", SHOWN), ""),
    ):  # fmt: skip
        code, out, err = output(capsys, *words)
        assert code in (0, 1) and expected in out, (words, err)


def test_another_system_font(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(PROGRAMS / "text.elf")
    for name, content, message in (("none.bcfnt", None, "cannot be read"), ("text.txt", b"hello", "not a font of a")):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        code, _, err = output(capsys, "run", text, "--font", str(path))
        assert code == 3 and message in err, name
    path = tmp_path / "own.bcfnt"
    path.write_bytes(system_font())
    assert "mapped 00000000" in output(capsys, "run", text, "--font", str(path), "--text")[1]
