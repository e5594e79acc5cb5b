"""The shipped sample, pixel for pixel: pictures that this project stands for.

They are in goldens/sample; `--update-goldens` rewrites them.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from golden_files import digest

import pocketgpu
from pocketgpu.capture.formats import container
from pocketgpu.cli import main
from pocketgpu.pytest_plugin import AssertFrame, Render

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = Path(__file__).with_name("goldens") / "sample"
FRAMES = 6


@pytest.fixture(scope="module")
def make_sample() -> Iterator[ModuleType]:
    """tools/make_sample.py, which is no package."""
    path = list(sys.path)
    spec = importlib.util.spec_from_file_location("make_sample", ROOT / "tools" / "make_sample.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


def screens(path: Path, threads: int = 1) -> dict[str, np.ndarray]:
    """Pixels by name ("f0.top") of all frames; fails on any warning."""
    pictures = {}
    for frame in pocketgpu.open(str(path)).render(threads=threads):
        assert frame.warnings == []
        for name, screen in frame.screens.items():
            pictures[f"f{frame.index}.{name}"] = np.ascontiguousarray(screen.array)
    return pictures


@pytest.fixture(scope="module")
def pictures(sample_path: Path) -> dict[str, np.ndarray]:
    return screens(sample_path)


@pytest.mark.parametrize("screen", ["top", "bottom"])
@pytest.mark.parametrize("frame", range(FRAMES))
def test_the_sample_gives_its_golden_pictures(
    frame: int, screen: str, sample_path: Path, pocketgpu_render: Render, assert_frame: AssertFrame
) -> None:
    picture = pocketgpu_render(sample_path, frame, screen)
    assert picture.warnings == ()
    assert_frame(picture, GOLDENS / f"f{frame}.{screen}.png")


def test_there_is_a_golden_for_each_picture_and_no_other(sample_path: Path) -> None:
    """The command that compares whole folders says so."""
    assert main(["render", str(sample_path), "--expect", str(GOLDENS), "--frames", "0-"]) == 0
    assert len(list(GOLDENS.iterdir())) == 2 * FRAMES


def test_two_threads_draw_the_same(
    pictures: dict[str, np.ndarray], sample_path: Path, assert_frame: AssertFrame
) -> None:
    again = screens(sample_path, threads=2)
    assert again.keys() == pictures.keys()
    for name, pixels in again.items():
        assert_frame(pixels, pictures[name])


def test_the_sample_shows_something_on_both_screens_and_moves(pictures: dict[str, np.ndarray]) -> None:
    frames = len(pictures) // 2
    assert 3 <= frames <= 6
    for screen, shape in (("top", (240, 400, 3)), ("bottom", (240, 320, 3))):
        for index in range(frames):
            pixels = pictures[f"f{index}.{screen}"]
            assert pixels.shape == shape
            assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 500
        assert len({digest(pictures[f"f{index}.{screen}"]) for index in range(frames)}) == frames


def test_the_tool_makes_the_shipped_file(make_sample: ModuleType, sample_path: Path) -> None:
    """Nearly: sines of other processors may differ in their last bit, and so may the vertices made of them."""
    shipped = np.frombuffer(container.read(str(sample_path)), np.uint8)
    made = np.frombuffer(make_sample.build().tobytes(), np.uint8)
    assert len(made) == len(shipped)
    assert np.count_nonzero(made != shipped) < len(made) // 1000
    assert sample_path.stat().st_size < 200_000


def test_both_evaluators_draw_the_same_small_scene(make_sample: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "small.ctf"
    capture = make_sample.build(frames=1, shrink=8, screens=("top",))
    capture.save(path)
    memories = []
    for evaluator in ("llvm", "numpy"):
        (frame,) = pocketgpu.open(str(path)).render(evaluator=evaluator)
        assert frame.fragments > 1500 and frame.triangles > 300
        memories.append(frame.machine.memory.read(0x18000000, 240 * 400 * 4 * 3))
    assert memories[0] == memories[1]
    target = np.frombuffer(memories[0], np.uint32, 30 * 48)
    assert len(np.unique(target)) > 300
