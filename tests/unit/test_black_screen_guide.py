"""The guide about black screens leads to the cause: each made scene is followed through its questions.

The tree is read from the page, so what the page says is what is walked: what an answer must have, and where it leads.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.black_screen_causes import FAILS, N3DS, NEVER_SHOWN, SWITCH, save_n3ds, save_switch
from support.pages import STAND_INS, blocks, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guides" / "black-screen.md").read_text(encoding="utf-8")
TOOL = runpy.run_path(str(ROOT / "tools" / "draw_question_tree.py"))
TREE = {question.anchor: question for question in TOOL["questions"](PAGE)}
CAUSES = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
PIXELS = {"black.ctf": "px200,120", "black.mxcap.zip": "px16,16"}
SAVES = {"black.ctf": save_n3ds, "black.mxcap.zip": save_switch}
SCENES = [
    *(("black.ctf", number, name, cause) for number, (name, (cause, _)) in enumerate(N3DS.items())),
    *(("black.mxcap.zip", number, name, cause) for number, (name, (cause, _)) in enumerate(SWITCH.items())),
]
PROGRAMS = {"crash.elf": FAILS, "quiet.elf": NEVER_SHOWN, "app.3dsx": "Is anything drawn?"}
READ = 2
"""Lines of an answer in which the page says the words are."""


def follow(question: Any, command: str) -> Any:
    """The row of a question's table that the answer of a command leads to."""
    code, out, err = run(command)
    lines = out.splitlines()[:READ]
    assert lines, f"{command} ends with {code}: {err}"
    for row in question.answers:
        patterns = [re.escape(one).replace(re.escape("..."), ".*") for one in row.patterns]
        if not patterns or any(re.search(one, line) for one in patterns for line in lines):
            return row
    raise AssertionError(f"{question.title} has no row for: {lines}")


def walk(start: str, path: Path, frame: str = "", pixel: str = "") -> tuple[str, list[str]]:
    """The cause that the questions lead to from one of them on, and the questions that were asked."""
    asked: list[str] = []
    anchor = start
    while anchor in TREE:
        question = TREE[anchor]
        assert anchor not in asked, f"in a circle: {asked}"
        asked.append(anchor)
        words = question.command.replace("FILE", str(path)).replace("CAPTURE", str(path)).replace("px200,120", pixel)
        row = follow(question, re.sub(r"\bf0\b", frame, words))
        if not frame and row.anchor in TREE:
            return row.title, asked
        anchor = row.anchor
    return row.title, asked


@pytest.mark.parametrize(("file", "number", "name", "cause"), SCENES, ids=lambda value: str(value))
def test_the_questions_lead_to_the_cause_of_a_scene(
    tmp_path: Path, file: str, number: int, name: str, cause: str
) -> None:
    """Alone in a recording: the commands of the guide would replay all frames before it again and again."""
    SAVES[file](tmp_path / file, [name])
    found, asked = walk("is-anything-drawn", tmp_path / file, "f0", PIXELS[file])
    assert found == cause, f"{name}: by {asked}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_question_is_about_programs(tmp_path: Path, name: str) -> None:
    STAND_INS[name](tmp_path / name)
    assert walk("does-the-program-run", tmp_path / name)[0] == PROGRAMS[name]


def test_scenes_are_black(tmp_path: Path) -> None:
    for file, scenes, screen in (("black.ctf", N3DS, "top"), ("black.mxcap.zip", SWITCH, "screen")):
        SAVES[file](tmp_path / file)
        shown = tmp_path / f"{screen}s"
        assert run(f"render {tmp_path / file} --out {shown}")[0] == 0
        for number, name in enumerate(scenes):
            with Image.open(shown / f"f{number}.{screen}.png") as picture:
                assert max(high for _, high in picture.convert("RGB").getextrema()) == 0, name


def test_every_answer_and_every_cause_is_led_to() -> None:
    """By a scene of some console, so that nothing in the page is only said."""
    made = {cause for _, _, _, cause in SCENES} | {PROGRAMS[name] for name in ("crash.elf", "quiet.elf")}
    named = {row.title for question in TREE.values() for row in question.answers if row.anchor not in TREE}
    assert made == named == set(CAUSES)
    assert [question for question in TREE.values() if not question.answers] == []
    after = {row.anchor for question in TREE.values() for row in question.answers}
    assert set(list(TREE)[1:]) <= after


def test_each_cause_shows_the_answer_of_a_scene_that_has_it() -> None:
    """The commands below a heading are about frames with that mistake."""
    parts = re.split(r"^### (.*)$", PAGE, flags=re.MULTILINE)
    for cause, text in zip(parts[1::2], parts[2::2], strict=True):
        shown = [block.text for block in blocks(text) if block.kind == "console"]
        assert shown, cause
        commands = re.findall(r"^\$ pocketgpu (.*)$", "\n".join(shown), re.MULTILINE)
        for command in commands:
            file = next(word for word in command.split() if "." in word)
            if file in PROGRAMS:
                assert PROGRAMS[file] == cause
                continue
            frame = re.search(r" f(\d+)", command)
            assert frame is not None, command
            made = {number: told for name, number, _, told in SCENES if name == file}
            assert made[int(frame[1])] == cause, command


def test_the_drawing_is_that_of_the_page() -> None:
    drawing = (ROOT / "docs" / "images" / "guides" / "black-screen.svg").read_text(encoding="utf-8")
    assert drawing == TOOL["draw"](list(TREE.values())), "python tools/draw_question_tree.py"
    for question in TREE.values():
        assert f'href="#{question.anchor}"' in drawing
        for row in question.answers:
            assert f'href="#{row.anchor}"' in drawing


def test_a_walk_can_fail(tmp_path: Path) -> None:
    """Another scene's cause is not found, and an answer that no row has is an error."""
    save_n3ds(tmp_path / "black.ctf", list(N3DS)[:2])
    assert walk("is-anything-drawn", tmp_path / "black.ctf", "f1", "px200,120")[0] != "The depth test rejects it"
    last = TREE["what-became-of-the-draw"]
    with pytest.raises(AssertionError, match="has no row for"):
        follow(last, f"why {tmp_path / 'black.ctf'} f1/d0")
