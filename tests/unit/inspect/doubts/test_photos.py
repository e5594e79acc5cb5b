"""Photos of a screen: those of scenes under each value are judged right, and those of something else tell nothing."""

from __future__ import annotations

import io
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageFilter
from support.doubtful_scenes import stencil_through_depth_write

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.facts.choices import CHOICES
from pocketgpu.inspect.doubts import CaptureDoubts, PhotoAgreement, doubts
from pocketgpu.inspect.doubts.expected import Expected
from pocketgpu.inspect.doubts.photos import CLEAR, Photo, Photos, blur, curves, fitted, pooled, spread

Pixels = NDArray[np.uint8]

STENCIL = "test.stencil_write"
(OTHER,) = CHOICES[STENCIL].alternatives
LEVELS = "lighting.lut"
"""A choice that changes a good part of a lit scene."""


def photo_of(picture: Pixels, seed: int) -> Pixels:
    """As a camera may see it: larger, blurred, with another gain, offset and gamma, noise, and as a JPEG file."""
    chance = np.random.default_rng(seed)
    scale = float(chance.choice([1.0, 2.0, 2.5, 3.0]))
    image = Image.fromarray(np.ascontiguousarray(picture[..., :3]))
    image = image.resize((int(image.width * scale), int(image.height * scale)), Image.Resampling.BILINEAR)
    image = image.filter(ImageFilter.GaussianBlur(float(chance.choice([0.0, 0.4, 0.8])) * scale))
    levels = np.arange(256) / 255
    levels = 255 * (chance.uniform(0.6, 0.95) * levels ** chance.uniform(0.7, 1.5) + chance.uniform(0, 0.05))
    noisy = levels[np.asarray(image)]
    noisy += chance.normal(0, chance.uniform(0.5, 4), noisy.shape)
    shot = np.clip(np.rint(noisy, out=noisy), 0, 255, out=noisy).astype(np.uint8)
    if quality := int(chance.choice([0, 85, 95])):
        file = io.BytesIO()
        Image.fromarray(shot).save(file, "JPEG", quality=quality)
        shot = np.asarray(Image.open(file))
    return shot


def answer(path: Path, photo: Pixels, names: list[str], **switches: str) -> CaptureDoubts:
    """The doubts of the first frame, with a photo of its upper screen."""

    def wanted(frame: int, screen: str) -> Pixels | None:
        return photo if screen == "top" else None

    return doubts(pocketgpu.open(path), names, range(1), expected=wanted, switches=switches)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photos") / "stencil.ctf"
    path.write_bytes(stencil_through_depth_write(1))
    return path


@cache
def top(path: Path, **switches: str) -> Pixels:
    (frame,) = pocketgpu.open(path).render(frames=range(1), switches=switches)
    shown: Pixels = frame.top.array
    shown.flags.writeable = False
    return shown


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("value", CHOICES[STENCIL].values)
def test_photos_of_each_value_are_judged_right(scene: Path, value: str, seed: int) -> None:
    """Colours that are off by one level cannot be told, and are not: the curve of a photo takes that up."""
    names = [STENCIL, "combiner.vertex_color"]
    found = answer(scene, photo_of(top(scene, **{STENCIL: value}), seed), names).agreement
    assert isinstance(found, PhotoAgreement) and found.told, str(found)
    assert found.values == ({} if value == CHOICES[STENCIL].default else {STENCIL: value})
    assert found.errors >= CLEAR and 0 < found.noise < 8
    assert ((STENCIL, OTHER) in found.refuted) == (not found.values), "the other may be refuted, too"
    assert all(choice == "combiner.vertex_color" for choice, _ in found.unclear)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("value", CHOICES[LEVELS].values)
def test_photos_of_a_lit_scene(shared_dir: Path, value: str, seed: int) -> None:
    """Never the wrong value; and the right one unless the photo is too poor."""
    path = shared_dir / "captures" / "3ds" / "fragment_light.ctf.xz"
    found = answer(path, photo_of(top(path, **{LEVELS: value}), 100 + seed), [LEVELS]).agreement
    assert isinstance(found, PhotoAgreement)
    assert found.told, str(found)
    assert found.values == ({} if value == CHOICES[LEVELS].default else {LEVELS: value})


def something_else(seed: int, like: Pixels) -> Pixels:
    """Waves, blocks, noise, or the picture turned: nothing that the scene shows."""
    chance = np.random.default_rng(seed)
    height, width = like.shape[:2]
    y, x = np.mgrid[:height, :width]
    kind = seed % 5
    if kind == 0:
        waves = [np.sin(x * a + y * b + c) for a, b, c in chance.uniform(-0.1, 0.1, (3, 3))]
        return ((np.stack(waves, axis=-1) + 1) * 127).astype(np.uint8)
    if kind == 1:
        return np.kron(chance.integers(0, 256, (height // 20, width // 20, 3)), np.ones((20, 20, 1))).astype(np.uint8)
    if kind == 2:
        return chance.integers(0, 256, like.shape).astype(np.uint8)
    if kind == 3:
        return np.repeat((255 * x / width)[..., None], 3, axis=2).astype(np.uint8)
    return np.ascontiguousarray(np.roll(like, (height // 3, width // 4), axis=(0, 1)))


@pytest.mark.parametrize("seed", range(20))
def test_photos_of_something_else_tell_nothing(scene: Path, seed: int) -> None:
    shown = CHOICES[STENCIL].values["any" not in CHOICES[STENCIL].default]
    lit = top(scene, **{STENCIL: shown})
    found = answer(scene, photo_of(something_else(seed, lit), seed), [STENCIL, "combiner.vertex_color"]).agreement
    assert isinstance(found, PhotoAgreement) and not found.told and found.values == {}, str(found)
    assert found.why and found.refuted == () and found.to_json()["told"] is False


def test_values_that_hardly_differ_are_not_told(scene: Path) -> None:
    """One level in a whole area is nothing that a photo can show."""
    found = answer(scene, photo_of(top(scene), 1), ["combiner.vertex_color"]).agreement
    assert isinstance(found, PhotoAgreement) and not found.told
    assert "no two pictures are 8 standard errors apart" in found.why or "standard errors from" in found.why
    assert "none can be told" in str(found)


def test_a_larger_copy_is_no_photo(scene: Path) -> None:
    """Three pixels for one: after scaling it is exact."""
    large = np.kron(top(scene, **{STENCIL: OTHER})[..., :3], np.ones((3, 3, 1), np.uint8))
    found = answer(scene, large, [STENCIL])
    assert found.agreement is not None and found.agreement.to_json()["kind"] == "exact"
    assert found.agreement.values == {STENCIL: OTHER} and found.partings[0].wrong == 0


def rectangles(right: int = 0) -> Pixels:
    """A picture with some edges, that many pixels further right."""
    chance = np.random.default_rng(5)
    picture = np.full((240, 400, 3), (30, 40, 60), np.uint8)
    for _ in range(60):
        x, y, w, h = chance.integers((5, 5, 4, 4), (380, 220, 60, 40))
        picture[y : y + h, x + right : x + right + w] = chance.integers(0, 256, 3)
    return picture


def shot(picture: Pixels, down: int, right: int, seed: int = 1) -> Pixels:
    """A photo in the size of the screen that is cut some pixels off; what is beyond the screen is black."""
    reach = abs(down) + abs(right)
    around = np.pad(picture[..., :3], ((reach, reach), (reach, reach), (0, 0)))
    height, width = picture.shape[:2]
    cut = around[reach + down :, reach + right :][:height, :width]
    noisy = 255 * (cut / 255) ** 0.85 * 0.9 + 8 + np.random.default_rng(seed).normal(0, 4, cut.shape)
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("right", [-2, -1, 0, 1, 2])
def test_a_photo_that_is_cut_some_pixels_off_does_not_tell_a_shift(right: int) -> None:
    """Another value shows the same picture a pixel further right; so does a photo that is cut a pixel too far left."""
    usual, other, trial = {0: {"top": rectangles()}}, {0: {"top": rectangles(1)}}, ("raster.offset", "other")
    expected = Expected(usual, lambda number, name: shot(rectangles(), 0, right), "scene")
    assert expected.add(trial, other) > 0
    found = expected.agreement([trial], lambda values: other)
    assert isinstance(found, PhotoAgreement) and not found.told, str(found)
    assert found.values == {} and found.unclear == (trial,) and found.refuted == ()


@pytest.mark.parametrize(("down", "right"), [(0, 3), (-4, 0)])
def test_a_photo_that_is_cut_too_far_off_tells_nothing(scene: Path, down: int, right: int) -> None:
    found = answer(scene, shot(top(scene), down, right), [STENCIL]).agreement
    assert isinstance(found, PhotoAgreement) and not found.told and found.refuted == ()
    assert "cut them to the screen" in str(found).replace("\n", " ") or "too far from every picture" in found.why


@pytest.mark.parametrize(("down", "right"), [(0, 1), (2, -2), (-1, 0)])
@pytest.mark.parametrize("value", CHOICES[STENCIL].values)
def test_a_photo_that_is_cut_some_pixels_off_tells_the_rest(scene: Path, value: str, down: int, right: int) -> None:
    found = answer(scene, shot(top(scene, **{STENCIL: value}), down, right), [STENCIL]).agreement
    assert isinstance(found, PhotoAgreement) and found.told, str(found)
    assert found.values == ({} if value == CHOICES[STENCIL].default else {STENCIL: value})


def test_small_screens_have_no_borders() -> None:
    """There would be nothing left to compare."""
    picture = np.random.default_rng(3).integers(0, 256, (2, 6, 3)).astype(np.uint8)
    photo = Photo(picture)
    photo.focus(picture)
    assert photo.fit(picture).model.shape == (2, 6, 3) and photo.fit(picture).off < 1


def test_the_command_reads_photos(scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "doubts.html"
    Image.fromarray(photo_of(top(scene), 3)).save(tmp_path / "f0.top.jpg", quality=95)
    line = ["doubts", str(scene), "--choice", STENCIL, "--expect", str(tmp_path), "--html", str(page)]
    assert main(line) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "best: by photos with a noise of" in text and f"refuted: {STENCIL}={OTHER}" in text
    assert "by photos with a noise of" in page.read_text(encoding="utf-8")


# -- parts ------------------------------------------------------------------------------------------------------------


def test_photos_get_the_size_of_the_screen() -> None:
    photo = np.zeros((480, 800, 4), np.uint8)
    small = fitted(photo, (240, 400))
    assert small is not None and small.shape == (240, 400, 3)
    assert fitted(photo[:, :700], (240, 400)) is None and fitted(photo, (480, 800)) is not None
    large = fitted(photo, (960, 1600))
    assert large is not None and large.shape == (960, 1600, 3)


def test_curves_rise() -> None:
    """A picture that a photo shows reversed is not taken up by a curve; one with another contrast is, exactly."""
    ramp = np.tile(np.arange(256, dtype=np.float32), (8, 1))
    photo = np.stack([40 + 0.5 * ramp, 255 - ramp], axis=-1)
    found = curves(np.stack([ramp, ramp], axis=-1), photo)
    assert np.abs(found - photo)[..., 0].max() < 0.01
    assert np.all(np.diff(found[0, :, 1]) >= 0.09)
    assert pooled(np.array([1.0, 3.0, 2.0, 4.0]), np.array([1, 1, 3, 1])).tolist() == [1.0, 2.25, 2.25, 4.0]


def nearest_place(photo: Pixels, picture: Pixels) -> tuple[int, int]:
    """Where the means of each level of the picture say most of the photo; of equal places the nearest one."""
    cut = photo[3:-3, 3:-3]
    every = max(1, cut.size // 150_000)

    def explained(shift: tuple[int, int]) -> float:
        moved = np.roll(picture, (-shift[0], -shift[1]), axis=(0, 1))[3:-3, 3:-3]
        found = 0.0
        for channel in range(3):
            one, other = moved[::every, :, channel].ravel(), cut[::every, :, channel].ravel()
            sums = np.bincount(one, weights=other, minlength=256)
            found += float((sums**2 / np.maximum(np.bincount(one, minlength=256), 1)).sum())
        return found

    places = product(range(-3, 4), range(-3, 4))
    return max(sorted(places, key=lambda one: (abs(one[0]) + abs(one[1]), one)), key=explained)


@pytest.mark.parametrize("size", [(240, 400), (720, 1280), (100, 30)])
@pytest.mark.parametrize("busy", [False, True])
def test_the_place_is_that_of_a_slow_search(size: tuple[int, int], busy: bool) -> None:
    """A picture with large areas of one colour, or with none; large ones are looked at in some rows only."""
    picture = np.full((*size, 3), (30, 40, 60), np.uint8)
    picture[size[0] // 3 : size[0] // 2, size[1] // 4 : size[1] // 2] = 200
    if busy:
        picture = np.random.default_rng(7).integers(0, 256, picture.shape).astype(np.uint8)
    for down, right in ((0, 0), (2, -1), (-3, 3)):
        photo = np.roll(picture, (-down, -right), axis=(0, 1)) // 2
        found = Photo(photo).fit(picture).shift
        assert found == nearest_place(photo, picture)
        assert found[1] == right and (found[0] == down or size == (720, 1280))


def test_blur_keeps_the_sum_and_finds_itself() -> None:
    picture = np.zeros((64, 64, 3), np.float32)
    picture[20:40, 30:34] = 200
    assert blur(picture, 0.0) is picture and abs(float(blur(picture, 1.2).sum() / picture.sum()) - 1) < 1e-4
    photo = Photo(np.rint(blur(picture, 1.2)).astype(np.uint8))
    photo.focus(picture.astype(np.uint8))
    assert photo.sigma == 1.2


def test_noise_that_reaches_far_counts_less() -> None:
    chance = np.random.default_rng(2)
    fine: Any = chance.normal(0, 1, (240, 400, 3)).astype(np.float32)
    coarse = np.kron(chance.normal(0, 1, (60, 100, 3)), np.ones((4, 4, 1))).astype(np.float32)
    assert spread(fine) < 1.3 and 12 < spread(coarse) < 20


def test_the_amount_is_1_for_what_is_shown_and_0_for_the_other() -> None:
    chance = np.random.default_rng(5)
    one = np.full((240, 400, 3), 60, np.uint8)
    one[:, 200:] = 160
    two = one.copy()
    two[100:140, 300:340] = 60
    photo = np.clip(one + chance.normal(0, 3, one.shape), 0, 255).astype(np.uint8)
    photos = Photos({0: {"top": one}}, lambda frame, screen: photo)
    shown, other = photos.fit({0: {"top": one}}), photos.fit({0: {"top": two}})
    found, reverse = photos.told(shown, other), photos.told(other, shown)
    assert found.clear and abs(found.amount - 1) < 0.05 and not reverse.clear and abs(reverse.amount) < 0.2
    assert photos.are_of(shown) and 2.5 < photos.noise(shown) < 3.5
