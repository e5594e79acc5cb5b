"""Frames side by side and one after another: exact pixels in animated PNGs, right times in both kinds of file."""

from __future__ import annotations

import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

import pocketgpu.capture
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.cli import main
from pocketgpu.cli.parts.animation import AnimatedGif, AnimatedPng, Animation, Pixels, compose
from pocketgpu.errors import NoPictureError
from pocketgpu.pictures import Screen


def noise(seed: int, width: int = 400, height: int = 240) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def few_colors(seed: int, width: int = 40, height: int = 24) -> Pixels:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (200, 3), dtype=np.uint8)[rng.integers(0, 200, (height, width))]


def frames_of(data: bytes) -> list[Pixels]:
    with Image.open(io.BytesIO(data)) as picture:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(picture)]


def durations_of(data: bytes) -> list[float]:
    with Image.open(io.BytesIO(data)) as picture:
        return [frame.info["duration"] for frame in ImageSequence.Iterator(picture)]


def film(kind: type[Animation], fps: int, frames: list[Pixels]) -> bytes:
    animation = kind(fps)
    for frame in frames:
        animation.add(frame)
    assert animation.count == len(frames)
    return animation.finish()


# files


@pytest.mark.parametrize("kind", [AnimatedPng, AnimatedGif])
def test_frames_come_back_as_they_went_in(kind: type[Animation]) -> None:
    first = few_colors(1)
    small_change = first.copy()
    small_change[3:5, 30:33] = 255 - small_change[3:5, 30:33]
    frames = [first, small_change, few_colors(2), first]
    again = frames_of(film(kind, 10, frames))
    assert len(again) == 4
    for got, expected in zip(again, frames, strict=True):
        assert np.array_equal(got, expected)


def test_an_animated_png_is_exact_with_any_number_of_colours() -> None:
    frames = [noise(seed, 64, 32) for seed in range(3)]
    assert all(np.array_equal(a, b) for a, b in zip(frames_of(film(AnimatedPng, 60, frames)), frames, strict=True))


def test_a_gif_of_many_colours_comes_close() -> None:
    y, x = np.mgrid[0:64, 0:64]
    picture = np.stack([4 * x, 4 * y, 2 * (x + y)], axis=-1).astype(np.uint8)
    (again,) = frames_of(film(AnimatedGif, 60, [picture]))
    assert np.abs(again.astype(int) - picture).mean() < 8


def test_the_time_of_a_frame_is_exact_in_a_png_and_right_in_sum_in_a_gif() -> None:
    frames = [few_colors(seed) for seed in range(6)]
    for fps in (60, 30, 7, 1):
        assert durations_of(film(AnimatedPng, fps, frames)) == pytest.approx([1000 / fps] * 6)
    assert durations_of(film(AnimatedGif, 30, frames)) == [30, 40, 30, 30, 40, 30]
    assert durations_of(film(AnimatedGif, 60, frames)) == [20] * 6  # what viewers still play at the asked-for speed
    assert sum(durations_of(film(AnimatedGif, 7, frames))) == pytest.approx(6000 / 7, abs=5)


def test_frames_that_repeat_are_stored_once_and_shown_longer() -> None:
    a, b = few_colors(1), few_colors(2)
    data = film(AnimatedPng, 60, [a, a, a, b, b])
    assert len(frames_of(data)) == 2
    assert durations_of(data) == pytest.approx([50, 100 / 3])
    long = AnimatedPng(60)
    for _ in range(5):
        long.add(a)
    box, parts, _ = long._frames[0]
    long._frames[0] = (box, parts, 60 * 70_000 + 1)  # twenty hours: more than the file's fractions hold
    (duration,) = durations_of(long.finish())
    assert duration == pytest.approx(65_535_000, rel=1e-3)


def test_the_numbering_of_png_chunks() -> None:
    data = film(AnimatedPng, 60, [noise(0, 16, 8), noise(1, 16, 8), noise(2, 16, 8)])
    at, kinds, numbers = 8, [], []
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        kinds.append(kind.decode())
        if kind in (b"fcTL", b"fdAT"):
            numbers.append(struct.unpack_from(">I", data, at + 8)[0])
        at += 12 + size
    assert kinds == ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND"]
    assert numbers == list(range(len(numbers)))


def test_a_frame_of_another_size_is_centred() -> None:
    wide = noise(1, 12, 6)
    first, second, third = frames_of(film(AnimatedPng, 10, [few_colors(0, 8, 8), wide, few_colors(0, 4, 2)]))
    assert first.shape == second.shape == third.shape == (8, 8, 3)
    assert np.array_equal(second[1:7], wide[:, 2:10]) and not second[0].any() and not second[7].any()
    assert np.array_equal(third[3:5, 2:6], few_colors(0, 4, 2))


def test_nothing_to_animate() -> None:
    with pytest.raises(NoPictureError):
        AnimatedPng(60).finish()


# layouts


def test_layouts() -> None:
    left, right, bottom = noise(1), noise(2), noise(3, 320)
    screens = {"top": Screen("top", left), "bottom": Screen("bottom", bottom)}
    assert compose(screens, "top") is not None and np.array_equal(compose(screens, "top"), left)
    assert np.array_equal(compose(screens, "bottom"), bottom)
    both = compose(screens, "both")
    assert both is not None and both.shape == (480, 400, 3)
    assert np.array_equal(both[:240], left) and np.array_equal(both[240:, 40:360], bottom)
    assert not both[240:, :40].any() and not both[240:, 360:].any()
    assert np.array_equal(compose(screens, "stereo"), np.hstack([left, left]))
    screens["top-right"] = Screen("top-right", right)
    assert np.array_equal(compose(screens, "stereo"), np.hstack([left, right]))
    wide = compose({**screens, "top": Screen("top", noise(4, 800))}, "both")
    assert wide is not None and wide.shape == (480, 800, 3) and np.array_equal(wide[240:, 240:560], bottom)
    assert np.array_equal(compose({"bottom": screens["bottom"]}, "both"), bottom)
    for layout in ("top", "stereo"):
        assert compose({"bottom": screens["bottom"]}, layout) is None
    assert compose({}, "both") is None


# the command


@dataclass
class FakeFrame:
    index: int
    screens: dict[str, Screen]
    draws: int = 1
    triangles: int = 2
    fragments: int = 3
    milliseconds: float = 1.0
    warnings: list[Any] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {"draws": self.draws, "triangles": self.triangles, "fragments": self.fragments}


@dataclass
class FakeCapture:
    make: Callable[[int], dict[str, Screen]]
    path: str = "x.ctf"
    console: str = "3DS"
    frame_count: int = 3
    warnings: list[Any] = field(default_factory=list)
    provider = N3DSDriver

    def render(self, frames: range, threads: int = 1, switches: Any = None) -> Iterator[FakeFrame]:
        for index in frames:
            yield FakeFrame(index, self.make(index))


def screens(index: int) -> dict[str, Screen]:
    return {"top": Screen("top", noise(index)), "bottom": Screen("bottom", noise(50 + index, 320))}


@pytest.fixture
def capture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeCapture:
    fake = FakeCapture(screens)
    monkeypatch.setattr(pocketgpu.capture, "open", lambda path: fake)
    monkeypatch.chdir(tmp_path)
    return fake


def test_render_animates_without_a_folder(capture: FakeCapture, capsys: Any) -> None:
    assert main(["render", "x.ctf", "--animate", "out.png", "--layout", "top", "--fps", "12", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    data = Path("out.png").read_bytes()
    assert document["animation"] == {
        "file": "out.png", "width": 400, "height": 240, "frames": 3, "fps": 12, "bytes": len(data),
    }  # fmt: skip
    assert [list(frame["screens"]) for frame in document["frames"]] == [["top"]] * 3
    assert "file" not in document["frames"][0]["screens"]["top"]
    assert document["frames"][1]["screens"]["top"]["sha256"] == hashlib.sha256(noise(1).tobytes()).hexdigest()
    assert [path.name for path in Path().iterdir()] == ["out.png"]
    for index, frame in enumerate(frames_of(data)):
        assert np.array_equal(frame, noise(index))


def test_render_animates_both_screens_beside_the_pictures(capture: FakeCapture, capsys: Any) -> None:
    assert main(["render", "x.ctf", "--animate", "out.gif", "--out", "o", "--frames", "1-2"]) == 0
    assert "2 frames of 400x480 in out.gif" in capsys.readouterr().out
    assert sorted(path.name for path in Path("o").iterdir()) == [
        "f1.bottom.png", "f1.top.png", "f2.bottom.png", "f2.top.png",
    ]  # fmt: skip
    assert len(frames_of(Path("out.gif").read_bytes())) == 2


def test_a_layout_gives_one_picture_a_frame(capture: FakeCapture, capsys: Any) -> None:
    assert main(["render", "x.ctf", "--out", "o", "--layout", "stereo", "--frames", "0", "--json"]) == 0
    (frame,) = json.loads(capsys.readouterr().out)["frames"]
    expected = np.hstack([noise(0), noise(0)])
    entry = frame["screens"]["stereo"]
    assert (entry["width"], entry["height"]) == (800, 240)
    assert entry["sha256"] == hashlib.sha256(expected.tobytes()).hexdigest()
    with Image.open(Path("o") / "f0.stereo.png") as picture:
        assert np.array_equal(np.asarray(picture), expected)
    assert len(list(Path("o").iterdir())) == 1


def test_a_layout_that_nothing_is_shown_in(capture: FakeCapture) -> None:
    capture.make = lambda index: {"bottom": Screen("bottom", noise(index, 320))}
    assert main(["render", "x.ctf", "--out", "o", "--layout", "stereo"]) == 4
    assert main(["render", "x.ctf", "--animate", "out.gif", "--layout", "top"]) == 4
    assert not Path("out.gif").exists()


def test_frames_without_a_picture_are_left_out_of_the_animation(capture: FakeCapture, capsys: Any) -> None:
    capture.make = lambda index: {} if index == 1 else screens(index)
    assert main(["render", "x.ctf", "--animate", "out.png", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["animation"]["frames"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--animate", "out.avi"], "a .gif or an animated .png"),
        (["--out", "o", "--fps", "3"], "--fps is for animations"),
        (["--animate", "out.gif", "--fps", "0"], "--fps"),
        (["--animate", "out.gif", "--layout", "left"], "--layout"),
        ([], "--animate"),
        (["--animate", "missing/out.gif"], "cannot write the file"),
    ],
)
def test_mistakes(words: list[str], said: str, capture: FakeCapture, capsys: Any) -> None:
    assert main(["render", "x.ctf", *words]) == 2
    assert said in capsys.readouterr().err


def test_times_of_the_gif_never_fall_behind() -> None:
    for fps in (1, 24, 50, 59, 60, 1000):
        animation = AnimatedGif(fps)
        for seed in range(9):
            animation.add(few_colors(seed))
        total = sum(durations_of(animation.finish()))
        assert total >= 1000 * Fraction(9, fps) - 5 and total >= 9 * 20
