"""Runs held against each other: a register, a vertex, a texel, a draw more, one capture under two settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.pica_scenes import Scene, corners, texels

import pocketgpu
from pocketgpu.capture import Capture
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.diff import Report, diff
from pocketgpu.inspect.diff.alignment import align
from pocketgpu.inspect.diff.compare import sides_of
from pocketgpu.inspect.diff.pixel_search import PixelSearch
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.changes import change, lines_of
from pocketgpu.inspect.model.event import Event, Pass, Range, Words
from pocketgpu.inspect.model.inspection import Inspection, as_address
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.n3ds.command_words import registers_of

Save = Callable[..., str]


@pytest.fixture(scope="module")
def save(tmp_path_factory: pytest.TempPathFactory) -> Save:
    folder = tmp_path_factory.mktemp("scenes")
    count = iter(range(1000))
    return lambda **choices: Scene(**choices).save(folder / f"{next(count)}.ctf.xz")


@pytest.fixture(scope="module")
def plain(save: Save) -> str:
    return save()


def report(a: str, b: str, **settings: Any) -> Report:
    return diff(pocketgpu.debug(a), debug(b, **settings))


# -- alignment --------------------------------------------------------------------------------------------------------
def letters(text: str) -> list[tuple[str, str]]:
    """Keys of events: the strict one is the letter, the other whether it is upper case."""
    return [(letter, str(letter.isupper())) for letter in text]


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        ("abc", "abc", "aa bb cc"),
        ("abc", "abxc", "aa bb -x cc"),
        ("abxc", "abc", "aa bb x- cc"),
        ("aBc", "aDc", "aa BD cc"),
        ("aBc", "axDyc", "aa -x BD -y cc"),
        ("", "ab", "-a -b"),
        ("ab", "", "a- b-"),
        ("abcdef", "xabcdey", "-x aa bb cc dd ee fy"),
        ("AbAbAb", "AbAbAbAb", "AA bb AA bb AA bb -A -b"),
    ],
)
def test_alignment(a: str, b: str, pairs: str) -> None:
    found = align(letters(a), letters(b))
    assert " ".join((a[i] if i is not None else "-") + (b[j] if j is not None else "-") for i, j in found) == pairs


def test_alignment_of_many_like_events() -> None:
    a, b = [("x", "x")] * 3000, [("x", "x")] * 1500 + [("y", "x")] + [("x", "x")] * 1500
    found = align(a, b)
    assert len(found) == 3001 and found[1500] == (None, 1500) and found[-1] == (2999, 3000)


# -- registers, vertices, texels, draws -------------------------------------------------------------------------------
def test_the_same_twice(plain: str, save: Save) -> None:
    for other in (plain, save()):
        found = report(plain, other)
        assert found.same and found.first is None and found.frames == 1
        assert str(found) == "no difference in 9 events of 1 frame"


def test_one_register_is_one_line(plain: str, save: Save) -> None:
    found = report(plain, save(constant=0x23))
    assert str(found) == "TEXENV1_COLOR 0x00000022 -> 0x00000023 (r 34 -> 35)  f0/d0"
    (one,) = found.all
    assert one.level == "register" and one.a == one.b == Address(0, draw=0)
    assert one.detail["change"]["fields"] == [{"name": "r", "old": "34", "new": "35"}]
    command = one.detail["command"]
    assert command["register"] == "TEXENV1_COLOR" and (command["a"], command["b"]) == ("0x00000022", "0x00000023")
    assert pocketgpu.debug(plain).seek("f0").read(int(command["a_memory"], 16), 4) == b"\x22\0\0\0"
    # State stays: later draws and frames have it as well, and it is told once.
    found = report(save(frames=3), save(frames=3, constant=0x23))
    assert len(str(found).splitlines()) == 1 and found.frames == 3


def test_a_register_that_shows(plain: str, save: Save) -> None:
    found = report(plain, save(between=lambda capture, cl: cl.write("BLEND_FUNC", src_rgb="zero")))
    (one,) = found.structure
    assert one.detail["change"]["register"] == "BLEND_FUNC" and str(one.a) == "f0/d1" and found.vertex is None
    assert found.pixel is not None and str(found.pixel.a).startswith("f0/d1/px")
    assert len(str(found).splitlines()) == 1


def test_one_vertex(plain: str, save: Save) -> None:
    moved = corners()
    moved["position"][2, 0] = 0.25
    other = save(vertices=moved)
    found = report(plain, other)
    assert [one.level for one in found.structure] == ["memory"]
    assert found.structure[0].detail["bytes"] == 2
    assert found.structure[0].text.startswith("memory at 0x20000028 0x3f000000 -> 0x3e800000")
    vertex = found.vertex
    assert vertex is not None and str(vertex.a) == "f0/d0/v2" and vertex.detail["output"] == "position"
    assert vertex.detail["a_value"] == [0.5, 0.5, -0.5, 1] and vertex.detail["b_value"] == [0.25, 0.5, -0.5, 1]
    assert vertex.detail["a_number"] == 2 and vertex.detail["same_inputs"] is False and vertex.detail["vertices"] == 2
    check_pixel(found, plain, other)


def check_pixel(found: Report, *paths: str) -> None:
    """The pixel that a report names has the colours that it says, in both captures."""
    pixel = found.pixel
    assert pixel is not None
    for path, place, value in zip(
        paths, (pixel.a, pixel.b), (pixel.detail["a_value"], pixel.detail["b_value"]), strict=True
    ):
        why = pocketgpu.debug(path).why(place)
        assert "#" + bytes(why.color).hex() == value


def test_one_texel(plain: str, save: Save) -> None:
    picture = texels()
    picture[3, 5] = (200, 1, 2, 255)
    other = save(picture=picture)
    found = report(plain, other)
    assert [one.level for one in found.structure] == ["memory"] and found.vertex is None
    assert found.structure[0].detail["b_word"] == "0xc80102ff"
    check_pixel(found, plain, other)
    assert found.to_json()["first"]["pixel"]["a"] == str(found.pixel.a)  # type: ignore[union-attr]


def test_one_uniform(plain: str, save: Save) -> None:
    found = report(plain, save(uniform=0.5))
    assert [one.text for one in found.structure] == ["vertex c0.w 0x00000000 -> 0x3f000000 (value 0 -> 0.5)"]
    assert found.vertex is not None and found.vertex.detail["same_inputs"] is True


def test_an_inserted_draw_shifts_nothing(plain: str, save: Save) -> None:
    def insert(capture: Any, cl: Any) -> None:
        cl.draw_arrays(3, first=0)

    longer = save(between=insert)
    for paths, place in (((plain, longer), "A -, B f0/d1"), ((longer, plain), "A f0/d1, B -")):
        found = report(*paths)
        assert [one.level for one in found.structure] == ["events"]
        assert found.structure[0].places == place
        assert found.structure[0].text.startswith(f"only in {'B' if paths[0] == plain else 'A'}: draw 1: 3 vertices")
    # A register that differs after the inserted draw is found at its own draw of each side.
    found = report(plain, save(between=insert, blend=0x12))
    assert [one.places for one in found.structure] == ["A -, B f0/d1", "A f0/d1, B f0/d2"]
    assert "BLEND_COLOR 0x00000011 -> 0x00000012" in found.structure[1].text


def test_memory_that_is_laid_out_otherwise(plain: str, save: Save) -> None:
    found = report(plain, save(moved=4096))
    assert {one.level for one in found.structure} == {"register"} and found.pixel is None and found.vertex is None
    names = [one.detail["change"]["register"] for one in found.structure]
    assert names[:5] == ["load address"] * 3 + ["TEXUNIT0_ADDR", "ATTRIBBUFFERS_LOC"]


def test_writes_that_no_draw_sees(plain: str, tmp_path: Path) -> None:
    scene = Scene()
    scene.capture.submit(scene.commands().write("TEXENV1_COLOR", r=1)).end_frame()
    other = Scene()
    other.capture.submit(other.commands().write("TEXENV1_COLOR", r=2)).end_frame()
    found = report(scene.save(tmp_path / "a.ctf.xz"), other.save(tmp_path / "b.ctf.xz"))
    (one,) = found.structure
    assert one.level == "command" and "(TEXENV1_COLOR)" in one.text and one.a is not None and one.a.frame == 1


def test_fills_and_frames(plain: str, save: Save, tmp_path: Path) -> None:
    scene, other = Scene(), Scene()
    for one, value in ((scene, 1), (other, 2)):
        one.capture.clear(one.target, 64, 32, value).end_frame()
    found = report(scene.save(tmp_path / "a.ctf.xz"), other.save(tmp_path / "b.ctf.xz"))
    (one,) = found.structure
    assert one.text == "value 0x00000001 -> 0x00000002" and str(one.a) == "f1/e0"
    assert found.pixel is not None and found.pixel.a == one.a and found.pixel.detail["bytes"] == 64 * 32
    found = report(plain, save(frames=2))
    assert found.structure[0].text == "1 frame, not 2" and found.structure[0].places == "A -, B f1"


def test_vertices_of_immediate_draws(save: Save) -> None:
    def immediate(x: float) -> str:
        points = [
            [[x, 0.5, -0.5], [1, 1, 1], [0, 0]],
            [[0, 0, -0.5], [1, 1, 1], [1, 0]],
            [[0.5, 0, -0.5], [1, 1, 1], [0, 1]],
        ]
        padded = [[[*part, *(0, 0, 0, 1)[len(part) :]] for part in point] for point in points]
        return save(between=lambda capture, cl: cl.draw_immediate(padded))

    found = report(immediate(0.0), immediate(0.25))
    (one,) = found.structure
    assert one.level == "command" and str(one.a) == "f0/d1"
    assert found.vertex is not None and str(found.vertex.a) == "f0/d1/v0"


# -- settings ---------------------------------------------------------------------------------------------------------
def test_one_capture_under_two_switches(shared_dir: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(shared_dir / "captures" / "3ds" / "textured_cube_rgb565.ctf.xz")
    assert main(["diff", path, "--switch-b", "texture.expand=scale", "--out", str(tmp_path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["diff"]
    assert found["structure"] == [] and found["first"]["vertex"] is None
    assert found["first"]["pixel"]["a"].startswith("f0/d0/px")
    picture = found["first"]["picture"]
    assert picture["largest"] == 1 and picture["differing"] > 1000
    with Image.open(picture["file"]) as sheet:
        assert sheet.width >= 3 * 400 and sheet.height >= 240
    assert main(["diff", path, "--switch-b", "shader.precision=f24", "--frame", "1"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("vertex 0 position [") and "f1/d0/v0" in text and len(text.splitlines()) == 1


def test_two_evaluators_agree(plain: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", plain, "--evaluator-b", "numpy"]) == 0
    assert capsys.readouterr().out == "no difference in 9 events of 1 frame\n"


def test_recordings_are_like_themselves_and_unlike_each_other(shared_dir: Path) -> None:
    folder = shared_dir / "captures" / "3ds"
    files = sorted(folder.glob("*.ctf.xz"))
    for file in files:
        run = pocketgpu.debug(str(file))
        assert diff(run, pocketgpu.debug(str(file)), range(1)).same, file
    found = report(str(folder / "textured_cube.ctf.xz"), str(folder / "textured_cube_rgb565.ctf.xz"))
    names = [one.detail["change"]["register"] for one in found.structure if "change" in one.detail]
    assert "TEXUNIT0_TYPE" in names and found.pictures[0].detail["differing"] > 1000


# -- bisection --------------------------------------------------------------------------------------------------------
def test_pixels_are_found_by_bisection(tmp_path: Path) -> None:
    """Of 200 draws the 140th differs; that takes some ten looks."""

    def scene(path: Path, wrong: int | None) -> str:
        def more(capture: Any, cl: Any) -> None:
            for n in range(200):
                if n == wrong:
                    cl.write("DEPTH_COLOR_MASK", red=False, green=False, blue=False, alpha=False)
                cl.viewport(n % 64, n // 8, 8, 8).draw_arrays(4, primitive="triangle fan")
                cl.depth(None, write=False)

        return Scene(between=more).save(path)

    a, b = (pocketgpu.debug(scene(tmp_path / f"{name}.ctf.xz", wrong)) for name, wrong in (("a", None), ("b", 140)))
    mine, others = a.events(0), b.events(0)
    pixels = PixelSearch(sides_of(a, b), mine, others, list(zip(range(len(mine)), range(len(others)), strict=True)))
    found = pixels.first(0)
    assert found is not None and str(found.a).startswith("f0/d141/px") and pixels.probes <= 10


# -- other consoles ---------------------------------------------------------------------------------------------------
class _OtherMoment(Moment):
    def __init__(self, run: _Other, address: Address) -> None:
        self.run, self.address, self.event = run, address, None if address.event is None else run.event(address)

    def registers(self) -> dict[str, int]:
        return {"A": 1, "B": self.run.value}

    def read(self, address: int, size: int) -> bytes:
        return bytes([self.run.value] * size)

    def mapped(self, address: int, size: int) -> list[Range]:
        return [Range(address, size)]

    @property
    def target(self) -> Any:
        return np.full((2, 3, 4), self.run.value, np.uint8)

    @property
    def screens(self) -> dict[str, Any]:
        return {"screen": np.full((4, 4, 4), self.run.value, np.uint8)}


class _Other(Inspection):
    """What any console's inspection has, and no more."""

    def __init__(self, capture: Capture, value: int) -> None:
        self.capture, self.value = capture, value
        writes = (Range(0x1000, 24),)
        words = Words((Range(0x2000, 8),), np.array([5, value], np.uint32))
        self._events = [Event(0, 0, "draw", "draw 0", 0, facts={"target": "t"}, writes=writes, made_by=words)]

    @property
    def frame_count(self) -> int:
        return 1

    def events(self, frame: int) -> Sequence[Event]:
        return self._events

    def passes(self, frame: int) -> Sequence[Pass]:
        return []

    def seek(self, place: Address | str) -> Moment:
        return _OtherMoment(self, as_address(place))

    def word_of(self, register: str, place: Any) -> None:
        raise NotImplementedError

    def stored_by(self, app: Any, event: Event, answer: Any = None) -> None:
        raise NotImplementedError

    def why(self, place: Address | str) -> Any:
        raise NotImplementedError


def test_what_any_inspection_tells_is_enough(plain: str) -> None:
    capture = pocketgpu.open(plain)
    found = diff(_Other(capture, 7), _Other(capture, 9))
    (one,) = found.structure
    assert one.text == "B 0x00000007 -> 0x00000009" and one.detail["command"]["word"] == 1
    assert one.detail["command"]["a_memory"] == "0x00002004"
    assert found.pixel is not None and found.pixel.text == "(0, 0) of the target #07070707 -> #09090909"
    assert found.pictures[0].detail["differing"] == 16 and found.vertex is None
    assert "vertices are not compared" in found.notes[0]
    assert diff(_Other(capture, 7), _Other(capture, 7)).same


# -- the command, and small things ------------------------------------------------------------------------------------
def test_the_command(plain: str, save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    other = save(constant=0x23)
    assert main(["diff", plain, other]) == 1
    assert capsys.readouterr().out == "TEXENV1_COLOR 0x00000022 -> 0x00000023 (r 34 -> 35)  f0/d0\n"
    assert main(["diff", plain, other, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["diff"]
    assert found["schema"] == "pocketgpu.diff/1" and not found["same"] and found["a"] == plain and found["b"] == other
    assert found["first"]["register"]["a"] == "f0/d0" and found["first"]["events"] is None


def test_the_command_refuses(plain: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "none.ctf").write_bytes(b"nothing")
    switch = Path(pocketgpu.__file__).parent / "data" / "sample_switch.mxcap.zip"
    for arguments, code in (
        ([plain, str(tmp_path / "none.ctf")], 3),
        ([str(tmp_path / "missing.ctf")], 3),
        ([plain, "--switch-b", "no.such=thing"], 2),
        ([plain], 2),
        ([plain, plain, "--frame", "4"], 4),
        ([plain, "--frame", "x"], 2),
        ([], 2),
    ):
        assert main(["diff", *arguments]) == code, arguments
        assert "error:" in capsys.readouterr().err
    with pytest.raises(UsageError, match="one capture is of a 3DS, the other of a Switch"):
        diff(pocketgpu.debug(plain), _Other(pocketgpu.open(str(switch)), 1))


def test_words_of_entries() -> None:
    words = np.array([1, 0x000F0100, 2, 0x803F0200, 3, 4, 5, 0, 6, 0x000F0104], np.uint32)
    assert registers_of(words).tolist() == [0x100, -1, 0x200, -1, 0x201, 0x202, 0x203, -1, 0x104, -1]
    assert registers_of(words[:5]).tolist() == [0x100, -1, 0x200, -1, 0x201]  # cut short
    assert registers_of(words[:0]).tolist() == []


def test_lines_of_tables_are_cut() -> None:
    changes = [change("X", 1, 2), *(change(f"c{n}", 0, n + 1) for n in range(3))]
    assert list(lines_of(changes)) == [str(one) for one in changes]
