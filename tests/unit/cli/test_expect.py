"""`pocketgpu render --expect`: exit codes, JUnit, JSON and the report, on recordings of one colour a screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from support.plain_scenes import plain_scene

from pocketgpu.cli import main
from pocketgpu.cli.parts.junit import Case, junit

Told = tuple[int, dict[str, Any], dict[str, str | None]]
"""Exit code, what --json says, and what is wrong with each case of the JUnit file."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three frames in scene.ctf and goldens of the first two."""
    monkeypatch.chdir(tmp_path)
    plain_scene("scene.ctf", [0x112233, 0x445566, 0x778899])
    assert main(["render", "scene.ctf", "--out", "goldens", "--frames", "0-1"]) == 0
    return tmp_path


@pytest.fixture
def expect(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def run(*words: str, capture: str = "scene.ctf") -> Told:
        capsys.readouterr()
        code = main(["render", capture, "--expect", "goldens", "--junit", "out.xml", *words, "--json"])
        text = capsys.readouterr().out
        cases: dict[str, str | None] = {}
        if Path("out.xml").exists():
            root = ElementTree.parse("out.xml").getroot()
            for case in root.iter("testcase"):
                wrong = [child.get("message") for child in case if child.tag in ("failure", "error")]
                cases[str(case.get("name"))] = wrong[0] if wrong else None
            assert root.get("tests") == str(len(cases))
            failed = int(root.get("failures", "")) + int(root.get("errors", ""))
            assert failed == sum(wrong is not None for wrong in cases.values())
        return code, json.loads(text), cases

    return run


def repaint(name: str, pixel: tuple[int, int], step: int) -> None:
    """Change one pixel of a golden by a step in one channel."""
    path = Path("goldens", name)
    pixels = np.array(Image.open(path))
    pixels[pixel][1] += step
    Image.fromarray(pixels).save(path)


def test_what_is_right_passes_and_only_what_is_expected_is_rendered(expect: Callable[..., Told]) -> None:
    code, told, cases = expect("--report", "report")
    assert code == 0 and cases == {"f0.bottom": None, "f0.top": None, "f1.bottom": None, "f1.top": None}
    assert len(told["frames"]) == 2 and told["expect"]["compared"] == 4 and told["expect"]["failed"] == 0
    assert told["frames"][1]["expected"]["top"]["same"] and not Path("report").exists()
    # Pictures of all frames may be made in the same run.
    code, told, cases = expect("--out", "pictures")
    assert code == 0 and len(told["frames"]) == 3 and len(cases) == 4 and Path("pictures/f2.top.png").exists()


def test_one_pixel_that_is_off_by_one_fails(expect: Callable[..., Told]) -> None:
    repaint("f1.top.png", (17, 30), 1)
    code, told, cases = expect("--report", "report")
    wrong = "f1.top is not its golden: 1 of 96000 pixels differ, by 1 at most, between (30, 17) and (30, 17)"
    assert code == 1 and {name for name, text in cases.items() if text} == {"f1.top"} and cases["f1.top"] == wrong
    assert told["expect"]["failures"] == [{"name": "f1.top", "message": wrong}]
    assert told["frames"][1]["expected"]["top"] | {"file": ""} == {
        "file": "",
        "same": False,
        "differing": 1,
        "largest": 1,
    }
    text = Path("out.xml").read_text("utf-8")
    (attachment,) = (line for line in text.splitlines() if "ATTACHMENT" in line)
    assert "[[ATTACHMENT|report" in attachment and Path("report/index.html").exists()
    candidate = np.array(Image.open("report/candidates/f1.top.png"))
    assert (candidate == np.array([0x44, 0x55, 0x66])).all() and candidate.shape == (240, 400, 3)
    assert expect("--tolerance", "1")[0] == 0
    # As the report says: candidates over goldens, and all is well.
    Path("report/candidates/f1.top.png").replace("goldens/f1.top.png")
    assert expect("--report", "report")[0] == 0 and not Path("report/index.html").exists()


def test_goldens_and_pictures_must_be_the_same_set(expect: Callable[..., Told]) -> None:
    Path("goldens/f0.top.png").unlink()
    Path("goldens/f9.top.png").write_bytes(Path("goldens/f1.top.png").read_bytes())
    Path("goldens/f1.top-right.png").write_bytes(Path("goldens/f1.top.png").read_bytes())
    Path("goldens/f1.bottom.png").write_text("no picture")
    Path("goldens/notes.png").write_text("of no frame: left alone")
    Path("goldens/f0.both.png").write_text("of a layout: left alone")
    code, _, cases = expect("--report", "report")
    assert code == 1
    assert cases == {
        "f0.top": "f0.top has no golden in goldens",
        "f0.bottom": None,
        "f1.bottom": "f1.bottom has no golden to compare with: this is no picture, or a damaged one "
        f"(at {Path('goldens/f1.bottom.png')})",
        "f1.top": None,
        "f1.top-right": "f1.top-right shows nothing, and there is a golden",
        "f9.top": "f9.top is missing: the capture has 3 frames, f0 to f2",
    }
    assert sorted(path.name for path in Path("report/candidates").iterdir()) == ["f0.top.png", "f1.bottom.png"]


def test_chosen_frames_need_goldens_and_others_do_not(expect: Callable[..., Told]) -> None:
    repaint("f0.top.png", (0, 0), 9)
    assert expect("--frames", "1")[0] == 0
    code, _, cases = expect("--frames", "2")
    assert code == 1 and cases["f2.top"] == "f2.top has no golden in goldens"


def test_layouts_have_goldens_of_their_own(expect: Callable[..., Told]) -> None:
    assert main(["render", "scene.ctf", "--out", "goldens", "--layout", "both", "--frames", "2"]) == 0
    code, _, cases = expect("--layout", "both")
    assert (code, cases) == (0, {"f2.both": None})
    assert expect()[0] == 0


def test_what_cannot_be_rendered_is_an_error_in_the_results(expect: Callable[..., Told]) -> None:
    data = Path("scene.ctf").read_bytes()
    Path("cut.ctf").write_bytes(data[:100])
    code, told, cases = expect(capture="cut.ctf")
    assert code == 3 and told["error"]["code"] == 3
    assert list(cases) == ["render"] and cases["render"] == told["error"]["message"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--expect", "nowhere"], "nowhere"),
        (["--expect", "."], "no goldens"),
        (["--out", "o", "--junit", "out.xml"], "--expect"),
        (["--out", "o", "--tolerance", "1"], "--expect"),
        (["--expect", "goldens", "--out", "./goldens/../goldens"], "overwrite"),
        (["--expect", "goldens", "--tolerance", "256"], "--tolerance"),
        (["--expect", "goldens", "--junit", "goldens"], "cannot write"),
        (["--expect", "goldens", "--junit", "nowhere/out.xml"], "another place with --junit"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    words: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in (folder / "goldens").iterdir()}
    assert main(["render", "scene.ctf", *words]) == 2
    assert says in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in (folder / "goldens").iterdir()}


def test_people_are_told_which(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["render", "scene.ctf", "--expect", "goldens"]) == 0
    assert "4 pictures compared with goldens: all the same" in capsys.readouterr().out
    repaint("f0.top.png", (0, 0), 9)
    assert main(["render", "scene.ctf", "--expect", "goldens", "--report", "r"]) == 1
    out = capsys.readouterr().out
    assert "1 not as expected" in out and "f0.top is not its golden" in out and str(Path("r/index.html")) in out


def test_results_are_xml_whatever_the_names() -> None:
    data = junit("a<b", [Case("x\x00\x1b&", "n\ud800", 0.25, 'wrong "<"', "long\nand \x07", attachment="a&b.png")])
    root = ElementTree.fromstring(data)
    case = next(root.iter("testcase"))
    assert (case.get("classname"), case.get("name"), case.get("time")) == ("x??&", "n?", "0.250000")
    failure = case.find("failure")
    assert failure is not None and failure.get("message") == 'wrong "<"' and failure.text == "long\nand ?"
    assert case.findtext("system-out") == "[[ATTACHMENT|a&b.png]]" and next(root.iter("testsuite")).get("name") == "a<b"
