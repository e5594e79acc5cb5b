"""A city at night on the Switch's GPU, pixel for pixel: macros, copies, blits, inline data and two channels.

The pictures are in goldens/city; `--update-goldens` rewrites them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from golden_files import digest

import pocketgpu
from pocketgpu.capture.formats import mxcap
from pocketgpu.cli import main
from pocketgpu.inspect.switch.inventory.capture_info import examine
from pocketgpu.pytest_plugin import AssertFrame, Render

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "pictures" / "city.mxcap.zip"
GOLDENS = Path(__file__).with_name("goldens") / "city"
FRAMES = 4


@pytest.fixture(scope="module")
def make_sample() -> Iterator[ModuleType]:
    """tools/make_city.py, which is no package."""
    path = list(sys.path)
    spec = importlib.util.spec_from_file_location("make_city", ROOT / "tools" / "make_city.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


def screens(**options: Any) -> dict[str, np.ndarray]:
    """Pixels by name ("f0.screen") of all frames; fails on any warning."""
    pictures = {}
    for frame in pocketgpu.open(SAMPLE).render(**options):
        assert frame.warnings == []
        for name, screen in frame.screens.items():
            pictures[f"f{frame.index}.{name}"] = screen.array
    return pictures


@pytest.fixture(scope="module")
def pictures() -> dict[str, np.ndarray]:
    return screens()


@pytest.mark.parametrize("frame", range(FRAMES))
def test_the_sample_gives_its_golden_pictures(frame: int, pocketgpu_render: Render, assert_frame: AssertFrame) -> None:
    picture = pocketgpu_render(SAMPLE, frame)
    assert picture.warnings == ()
    assert_frame(picture, GOLDENS / f"f{frame}.screen.png")


def test_there_is_a_golden_for_each_picture_and_no_other() -> None:
    """The command that compares whole folders says so."""
    assert main(["render", str(SAMPLE), "--expect", str(GOLDENS), "--frames", "0-"]) == 0
    assert len(list(GOLDENS.iterdir())) == FRAMES


def test_two_threads_leave_the_same(pictures: dict[str, np.ndarray]) -> None:
    again = screens(threads=2)
    assert {name: digest(pixels) for name, pixels in again.items()} == {n: digest(p) for n, p in pictures.items()}


def test_what_the_pictures_show(pictures: dict[str, np.ndarray], make_sample: ModuleType) -> None:
    """Parts of the picture follow from what the tool says, without the engines that made them."""
    horizon = make_sample.HORIZON
    sky = np.round(make_sample.sky_colors() * 255).astype(np.int16)
    assert len(pictures) == make_sample.FRAMES
    for name, picture in pictures.items():
        assert picture.shape == (make_sample.HEIGHT, make_sample.WIDTH, 3)
        # Most of each band of the sky is plain: stars are few.
        for row in (0, 5, 17, 101):
            most = np.median(picture[row], axis=0)
            assert np.abs(most - sky[row // make_sample.BAND]).max() <= 1
        number = int(name[1])
        left, top = 96 + 24 * number, make_sample.MOON_TOP
        moon = picture[top : top + make_sample.MOON, left : left + make_sample.MOON]
        assert (moon == make_sample.moon()[..., :3]).all()
        # The sign, in the middle of its pixels, where the filter mixes nothing.
        sign = make_sample.sign()[..., [2, 1, 0]]
        board = picture[118 : 118 + 3 * sign.shape[0], 360 : 360 + 3 * sign.shape[1]]
        assert np.abs(board[1::3, 1::3].astype(int) - sign).max() <= 1
        # The tram is doubled; the water begins with the quay.
        tram = picture[horizon - 24 : horizon - 4, 40 + 130 * number :][:, :68]
        assert (tram == np.repeat(np.repeat(make_sample.tram()[..., :3], 2, 0), 2, 1)).all()
        assert np.abs(picture[horizon, 100].astype(int) - picture[horizon - 1, 100]).max() <= 2
    moved = [digest(pixels) for pixels in pictures.values()]
    assert len(set(moved)) == len(moved)


def test_the_macros_make_the_stars(pictures: dict[str, np.ndarray], make_sample: ModuleType) -> None:
    """The same random numbers in Python give the places of the stars."""
    seed, stars = 0x9E3779B9, []
    for _ in range(260):
        seed ^= seed << 13 & 0xFFFFFFFF
        seed ^= seed >> 17
        seed ^= seed << 5 & 0xFFFFFFFF
        stars.append((seed >> 3 & 0x3FF, seed >> 17 & 0xFF))
    seen = [(x, y) for x, y in stars if x < make_sample.WIDTH and y < make_sample.MOON_TOP]
    expected = np.round(np.array([0.75, 0.78, 0.9]) * 255)
    assert len(seen) > 10
    for x, y in seen:
        assert np.abs(pictures["f0.screen"][y, x] - expected).max() <= 1


def test_the_tool_makes_the_shipped_file(make_sample: ModuleType) -> None:
    """But for the last bits of sines and squares of other processors."""
    made, shipped = mxcap.parse(make_sample.build().tobytes()), mxcap.parse(SAMPLE.read_bytes())
    assert (made.mappings, made.presents) == (shipped.mappings, shipped.presents)
    assert [s.entries.tolist() for s in made.submissions] == [s.entries.tolist() for s in shipped.submissions]
    for one, two in zip(made.chunks, shipped.chunks, strict=True):
        assert (one.gpu_va, len(one.data)) == (two.gpu_va, len(two.data))
        differing = np.count_nonzero(np.frombuffer(one.data, np.uint8) != np.frombuffer(two.data, np.uint8))
        assert differing <= len(one.data) // 1000
    assert SAMPLE.stat().st_size < 100_000


def test_info_tells_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = examine(mxcap.parse(SAMPLE.read_bytes()))
    assert found.unknown == {} and found.open_words == 0 and found.events == []
    totals = found.totals()
    assert json.loads(json.dumps(found.to_dict()))["totals"] == totals
    assert totals["copies"] == 2 and totals["uploads"] == 2 and totals["blits"] == 16 and totals["clears"] > 4000
    assert found.macros.keys() == {0, 1, 2}
    assert main(["info", str(SAMPLE)]) == 0
    text = capsys.readouterr().out
    for part in ("channel log, 4 frames", "b197 3D", "every method is known", "report.release_size", "bilinear"):
        assert part in text


def test_bench_and_dump_serve_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", str(SAMPLE), "--repeat", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["frames"][0]["phases"]) == ["loads", "parse", "effects", "launches", "draws", "other"]
    assert document["all"]["mword_per_second"] > 0 and document["all"]["words"] > 1000
    log = mxcap.parse(SAMPLE.read_bytes())
    out = tmp_path / "target.bin"
    place = f"{log.presents[0].gpu_va:#x}:64"
    assert main(["dump", str(SAMPLE), "--at", "f0", "--memory", place, "--out", str(out)]) == 0
    assert len(out.read_bytes()) == 64 and out.read_bytes()[3] == 255
    assert main(["dump", str(SAMPLE), "--at", "f0", "--memory", "0x1000:4", "--out", str(out)]) == 2
    assert "Mapped after this frame" in capsys.readouterr().err


def test_layouts_are_for_two_screens_and_animations_for_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(SAMPLE), "--out", str(tmp_path), "--layout", "top"]) == 2
    assert "one screen" in capsys.readouterr().err
    film = tmp_path / "city.png"
    assert main(["render", str(SAMPLE), "--animate", str(film), "--frames", "0-1"]) == 0
    assert "2 frames of 640x360" in capsys.readouterr().out and film.stat().st_size > 5000
