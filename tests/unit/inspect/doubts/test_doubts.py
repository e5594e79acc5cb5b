"""Which choices decide what captures show: replays, agreement with given pictures, the matrix, the command."""

from __future__ import annotations

import ast
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.doubtful_scenes import stencil_through_depth_write

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.facts.choices.told import sources
from pocketgpu.inspect.doubts import CaptureDoubts, DoubtMatrix, doubts
from pocketgpu.inspect.doubts.agreement import MOST_PAIRS, Distance, best, compared, distance, exact_agreement
from pocketgpu.inspect.doubts.found import Agreement, Parting, PhotoAgreement, Work
from pocketgpu.inspect.doubts.page import page
from pocketgpu.inspect.doubts.replays import touched
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.n3ds.inventory import doubts as of_3ds
from pocketgpu.inspect.switch.inventory import doubts as of_switch

STENCIL, ANY = "test.stencil_write", "any"
DEFAULT = CHOICES[STENCIL].default
(OTHER,) = CHOICES[STENCIL].alternatives


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("doubts") / "stencil.ctf"
    path.write_bytes(stencil_through_depth_write(2))
    return path


def picture_of(pictures: list[Any], frame: int, screen: str) -> Any:
    return pictures[frame] if screen == "top" else None


def pictures(path: Path, **switches: str) -> list[Any]:
    return [frame.top.array for frame in pocketgpu.open(path).render(switches=switches)]


@pytest.fixture(scope="module")
def found(scene: Path) -> CaptureDoubts:
    return doubts(pocketgpu.open(scene))


def test_where_pictures_part_is_counted_and_named(scene: Path, found: CaptureDoubts) -> None:
    """The count and the first pixel are those of two renderings."""
    usual, others = pictures(scene), pictures(scene, **{STENCIL: OTHER})
    differ = [(a != b).any(axis=-1) for a, b in zip(usual, others, strict=True)]
    y, x = np.argwhere(differ[0])[0]
    parting = found.parting(STENCIL, OTHER)
    first = Address(0, screen="top", pixel=(int(x), int(y)))
    assert parting == Parting(STENCIL, OTHER, sum(int(np.count_nonzero(one)) for one in differ), 2, first)
    assert 30_000 < parting.pixels < 400 * 240 * 2
    assert [one.pixels for one in found.partings] == sorted((one.pixels for one in found.partings), reverse=True)
    assert found.partings[0].pixels == parting.pixels, "the most pixels first"
    assert (found.frames, found.of, found.console, found.failed) == (2, 2, "3DS", {})


def test_choices_that_the_capture_does_not_touch_are_left_out(scene: Path, found: CaptureDoubts) -> None:
    named = {doubt.choice for doubt in pocketgpu.inspect.capture_info.examine(pocketgpu.open(scene)).doubts}
    assert STENCIL in named and named - {"texture.filter"} <= set(found.choices)
    assert "lighting.lut" not in found.choices and "texture.filter" not in found.choices
    assert {*found.choices, "texture.filter"} == set(touched(pocketgpu.open(scene)))
    for choice in found.choices:
        assert [value for name, value in found.tried if name == choice] == list(CHOICES[choice].alternatives)


def test_named_choices_frames_and_another_default(scene: Path) -> None:
    capture = pocketgpu.open(scene)
    shown = []
    one = doubts(capture, [STENCIL], range(1, 2), switches={STENCIL: OTHER}, progress=lambda *what: shown.append(what))
    assert one.tried == ((STENCIL, DEFAULT),) and shown == [(f"{STENCIL}={DEFAULT}", 0, 1)]
    assert one.frames == 1 and str(one.partings[0].first).startswith("f1/top/px")
    filtered = doubts(capture, ["texture.filter"])
    assert doubts(capture, ["texture.fraction"]).tried == (), "a choice of the other console"
    assert filtered.partings == () and "no picture depends on any of them" in str(filtered)


def test_a_group_of_choices(scene: Path) -> None:
    found = doubts(pocketgpu.open(scene), ["combiner", "combiner.vertex_color"], range(1))
    assert found.choices == tuple(name for name in OF_CONSOLE["3DS"] if name.startswith("combiner."))
    assert len(found.choices) > 1


def test_the_first_lines_of_an_answer_are_short(scene: Path) -> None:
    """Except for the path, which is as long as it is."""
    capture = pocketgpu.open(scene)
    found = doubts(capture)
    lines = str(found).replace(capture.path, "scene.ctf.xz").splitlines()
    assert len(lines[1]) <= 80 and lines[1] == f"  {found.work}"
    assert lines[0] == f"scene.ctf.xz: 2 frames, {len(found.choices)} choices tried"


def test_the_words_of_work() -> None:
    assert str(Work(48, 206, 9, 1300)) == "48 frame replays (9 draws); 158 more (1,291 draws) were not needed"
    assert str(Work(1, 2, 1, 2)) == "1 frame replay (1 draw); 1 more (1 draw) was not needed"
    assert str(Work(6, 6, 12, 12)) == "6 frame replays (12 draws)"


@pytest.mark.parametrize("taken", [None, "copies", "photos"])
def test_pictures_are_taken_for_what_they_look_like_or_what_is_said(scene: Path, taken: str | None) -> None:
    """Pictures of another emulator whose colours are a bit off everywhere: no copies, and it says so."""
    off = [np.clip(one[..., :3].astype(int) * 9 // 10 + 5, 0, 255).astype(np.uint8) for one in pictures(scene)]
    found = doubts(pocketgpu.open(scene), [STENCIL], expected=partial(picture_of, off), taken=taken).agreement
    if taken == "copies":
        assert isinstance(found, Agreement) and not found.told
        assert "none can be told, as 100 % of the pixels differ" in str(found)
        return
    assert isinstance(found, PhotoAgreement)
    if taken is None:
        assert found.copies_wrong == 2 * 400 * 240 == found.to_json()["copies_wrong"]
        assert "no copies under any value (the closest: 192,000 pixels wrong), so they were taken" in str(found)
    else:
        assert found.copies_wrong is None and "copies" not in str(found) and "copies_wrong" not in found.to_json()


@pytest.mark.parametrize("names", [["test.nothing"], ["nothing"], [""]])
def test_a_choice_that_is_not_there(scene: Path, names: list[str]) -> None:
    with pytest.raises(UsageError, match="no choice"):
        doubts(pocketgpu.open(scene), names)


def test_the_values_that_agree_best_with_pictures(scene: Path) -> None:
    """A picture under another value of one choice, and under other values of two. Colours are only seen where the
    stencil is written, so both other values are asked for from a default under which it is not."""
    capture, usual = pocketgpu.open(scene), {STENCIL: OTHER}
    colours = "combiner.vertex_color"
    for wanted in ({STENCIL: DEFAULT}, {STENCIL: DEFAULT, colours: "truncate"}, {}):
        golden = pictures(scene, **usual | wanted)
        expected = partial(picture_of, golden)
        found = doubts(capture, [STENCIL, colours], expected=expected, switches=usual)
        assert isinstance(found.agreement, Agreement)
        assert found.agreement.wrong == 0 and found.agreement.pixels == 2 * 400 * 240
        assert found.agreement.values == wanted and (found.agreement.usual > 0) == bool(wanted)
        if not wanted:
            assert "no other value agrees better: 0 of 192,000 pixels wrong" in str(found)


def test_steps_of_agreement_stop_where_nothing_helps() -> None:
    """A value that makes it worse is not taken; two that help are, the better one first; then all are tried again."""
    gains, asked = {"a": 3, "b": 5, "c": -1, "d": 0}, []

    def replay(values: dict[str, str]) -> Distance:
        asked.append(tuple(values))
        left = 10 - sum(gains[name] for name in values) - 2 * ({"b", "d"} <= values.keys())
        return Distance(left, left)

    trials = [(name, "x") for name in gains]
    known = {(name, "x"): replay({name: "x"}) for name in "abc"}
    values, closest = best(Distance(10, 10), trials, known, replay)
    assert (values, closest) == ({"b": "x", "a": "x", "d": "x"}, Distance(0, 0))
    assert list(values) == ["b", "a", "d"] and ("b", "d") in asked


@pytest.mark.parametrize("first", [0, 3])
def test_two_that_only_help_together_are_found(first: int) -> None:
    """Alone each of them makes it worse; a value that helps by itself may come before them."""

    def replay(values: dict[str, str]) -> Distance:
        left = 10 - first * ("a" in values) + sum(name in values for name in "bcd")
        left -= 2 + (10 - first) if {"b", "d"} <= values.keys() else 0
        return Distance(left, left)

    trials = [(name, "x") for name in "abcd"]
    known = {trial: replay(dict([trial])) for trial in trials}
    values, closest = best(Distance(10, 10), trials, known, replay)
    assert closest == Distance(0, 0) and {"b", "d"} <= values.keys() and ("a" in values) == (first > 0)


def test_pairs_are_limited() -> None:
    trials = [(f"c{number}", "x") for number in range(40)]
    asked: list[dict[str, str]] = []

    def replay(values: dict[str, str]) -> Distance:
        asked.append(values)
        return Distance(9, 9)

    values, closest = best(Distance(8, 8), trials, {trial: Distance(9, 9) for trial in trials}, replay)
    assert values == {} and closest == Distance(8, 8) and len(asked) == MOST_PAIRS


def test_pictures_that_cannot_be_compared(scene: Path) -> None:
    """Noise tells nothing; pictures of another shape, and of no frame that is looked at, are refused."""
    capture = pocketgpu.open(scene)
    noise = np.random.default_rng(4).integers(0, 256, (2, 240, 400, 3), np.uint8)
    found = doubts(capture, [STENCIL], expected=partial(picture_of, list(noise)))
    assert isinstance(found.agreement, PhotoAgreement) and not found.agreement.told and found.agreement.values == {}
    assert "none can be told: they are too far from every picture" in str(found.agreement)
    assert all(one.wrong is None for one in found.partings)
    with pytest.raises(UsageError, match="the expected picture is 200x240, the screen 400x240"):
        doubts(capture, [STENCIL], expected=partial(picture_of, list(noise[:, :, ::2])))
    with pytest.raises(UsageError, match="taken for 'copies' or 'photos', not 'paintings'"):
        doubts(capture, [STENCIL], expected=partial(picture_of, list(noise)), taken="paintings")
    with pytest.raises(UsageError, match="no expected picture is of a frame"):
        doubts(capture, [STENCIL], expected=lambda frame, screen: None)


def test_a_combination_that_fails_is_left_out() -> None:
    known = {("a", "x"): Distance(5, 5), ("b", "x"): Distance(6, 6)}
    values, closest = best(Distance(8, 8), [*known], known, lambda values: None)
    assert values == {"a": "x"} and closest.wrong == 5


def test_copies_tell_nothing_if_most_pixels_are_wrong() -> None:
    told = exact_agreement({"a": "x"}, Distance(9, 5), Distance(20, 9), 10)
    assert told.told and told.values == {"a": "x"} and told.to_json()["kind"] == "exact"
    none = exact_agreement({"a": "x"}, Distance(9, 6), Distance(20, 9), 10)
    assert not none.told and none.values == {} and "none can be told, as 60 % of the pixels differ" in str(none)


def test_distances_count_pixels_and_channels() -> None:
    black, grey = np.zeros((4, 4, 3), np.uint8), np.full((4, 4, 4), 2, np.uint8)
    grey[0, 0, :3] = 0
    shown = {3: {"top": black, "bottom": black}}
    expected = partial(picture_of, {3: grey})
    assert distance(shown, expected) == Distance(2 * 3 * 15, 15) and compared(shown, expected) == 16
    small = {3: {"top": black[:2]}}
    assert distance(small, expected) == Distance(16 * 765, 16), "another size is wrong as a whole"
    assert distance(shown, lambda frame, screen: None) == Distance(0, 0)


def test_the_matrix_of_several_captures(scene: Path, found: CaptureDoubts, sample_path: Path) -> None:
    other = doubts(pocketgpu.open(sample_path), [STENCIL, "list.end_match"], range(1))
    matrix = DoubtMatrix([found, other])
    assert (STENCIL, OTHER) in matrix.rows
    assert matrix.cell((STENCIL, OTHER), found) == found.partings[0].pixels
    assert matrix.cell((STENCIL, OTHER), other) == 0, "tried, and no picture changed"
    assert matrix.cell(("lighting.lut", "nearest"), found) is None, "not touched"
    assert "list.end_match" in matrix.silent() and STENCIL not in matrix.silent()
    data = matrix.to_json()
    assert {"choice": STENCIL, "value": OTHER, "pixels": [found.partings[0].pixels, 0]} in data["rows"]
    html = page(matrix)
    assert f"<h2>{STENCIL}</h2>" in html and sources(CHOICES[STENCIL])[OTHER] in html
    assert f"{found.partings[0].pixels:,}" in html and "<script" not in html


def test_every_choice_is_seen_by_a_rule_or_said_to_be_unseen() -> None:
    """A choice that neither names would never be tried."""
    for console, module in (("3DS", of_3ds), ("Switch", of_switch)):
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "Doubt"]
        ruled = {
            node.value for call in calls for node in ast.walk(call)
            if isinstance(node, ast.Constant) and node.value in CHOICES
        }  # fmt: skip
        assert ruled | module.UNSEEN == set(OF_CONSOLE[console])
        assert not ruled & module.UNSEEN


def test_what_ifs_are_no_doubts() -> None:
    names = [name for console in OF_CONSOLE.values() for name in console]
    assert [name for name in names if CHOICES[name].what_if] == ["texture.filter"]


def test_the_command(scene: Path, found: CaptureDoubts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goldens, html = tmp_path / "goldens", tmp_path / "doubts.html"
    assert main(["render", str(scene), "--out", str(goldens), "--set", f"{STENCIL}={OTHER}"]) == 0
    capsys.readouterr()
    line = ["doubts", str(scene), "--choice", STENCIL, "--choice", "list.end_match", "--expect", str(goldens)]
    assert main([*line, "--html", str(html)]) == 0
    text = capsys.readouterr().out
    assert str(found.parting(STENCIL, OTHER)) in text and "4 choices" not in text
    assert f"best: {STENCIL}={OTHER}: 0 of " in text and "1 choice tried without any effect" in text
    assert "Best agreement" in html.read_text(encoding="utf-8")
    assert main([*line, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["captures"][0]["agreement"]["values"] == {STENCIL: OTHER}
    assert data["captures"][0]["partings"][0]["wrong"] == 0
    assert data["matrix"]["silent"] == ["list.end_match"]


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--choice", "test.stencils"], 2, "there is no choice 'test.stencils'"),
        (["--expect", "nowhere"], 2, "there is no such folder"),
        (["--expect", "."], 2, "the folder has no pictures"),
        (["{scene}", "--expect", "nowhere"], 2, "--expect has the pictures of one capture"),
        (["--frames", "9"], 4, "there is no frame 9"),
        (["--choice", "texture.fraction"], 2, "texture.fraction is no choice of a 3DS"),
        (["--choice", "guest"], 2, "guest is no choice of a 3DS"),
        (["--as", "photos"], 2, "--as says what the pictures of --expect are"),
    ],
)
def test_mistakes(scene: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, says: str) -> None:
    assert main(["doubts", str(scene), *(word.format(scene=scene) for word in more)]) == code
    assert says in capsys.readouterr().err
