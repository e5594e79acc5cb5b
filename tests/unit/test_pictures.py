"""PNG files of arrays: what Pillow reads of them is the array."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pocketgpu.errors import UsageError
from pocketgpu.pictures import animate, beside, thinned, to_png


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7, 4), (5, 1, 3), (240, 400, 3), (33, 65, 4)])
def test_pillow_reads_the_same_pixels(shape: tuple[int, int, int]) -> None:
    array = np.random.default_rng(sum(shape)).integers(0, 256, shape, np.uint8)
    for pixels in (array, array[::-1], np.zeros_like(array)):
        read = Image.open(BytesIO(to_png(pixels)))
        assert read.mode == ("RGB" if shape[2] == 3 else "RGBA")
        assert (np.asarray(read) == pixels).all()


def test_thinned_pictures_keep_a_pixel_of_each_side() -> None:
    pixels = np.arange(9 * 7, dtype=np.uint8).reshape(9, 7, 1)
    assert thinned(pixels, 1) is not pixels and np.array_equal(thinned(pixels, 1), pixels)
    assert thinned(pixels, 3)[..., 0].tolist() == [[8, 11], [29, 32], [50, 53]]
    assert thinned(pixels[:, :1], 4)[..., 0].tolist() == [[14], [42]]
    assert thinned(pixels[:1], 9).shape == (1, 1, 1)


def test_pictures_stand_beside_each_other_under_labels() -> None:
    one, two = Image.new("RGB", (4, 3), (255, 0, 0)), Image.new("RGBA", (2, 5), (0, 255, 0, 255))
    sheet = beside([one, two, one], ["a", "b", "c"], columns=2, scale=2, gap=8)
    assert sheet.size == (2 * (8 + 8) + 8, 2 * (20 + 10 + 8) + 8)
    assert [sheet.getpixel((x, y)) for x, y in ((8, 28), (24, 28), (8, 66))] == [(255, 0, 0), (0, 255, 0), (255, 0, 0)]
    assert beside([one]).size == (20, 19)
    for wrong in (([], []), ([one], ["a", "b"])):
        with pytest.raises(UsageError):
            beside(*wrong)
    for option, message in (({"columns": -1}, "-1 columns"), ({"gap": -9}, "-9 pixels"), ({"scale": 0}, "scale of 0")):
        with pytest.raises(UsageError, match=message):
            beside([one], **option)


@pytest.mark.parametrize("suffix", ["png", "gif", "webp"])
def test_animations_have_their_pictures(suffix: str, tmp_path: Path) -> None:
    colors = [(255, 0, 0), (0, 0, 255)]
    animate([Image.new("RGB", (4, 3), color) for color in colors], tmp_path / f"a.{suffix}", milliseconds=50, scale=2)
    with Image.open(tmp_path / f"a.{suffix}") as read:
        assert read.n_frames == 2 and read.size == (8, 6)
        for number, color in enumerate(colors):
            read.seek(number)
            assert read.convert("RGB").getpixel((0, 0)) == color


def test_what_is_no_animation_is_refused(tmp_path: Path) -> None:
    one, other = Image.new("RGB", (4, 3)), Image.new("RGB", (4, 4))
    for images, name, options, message in (
        ([], "a.gif", {}, "at least one picture"),
        ([one, other], "a.webp", {}, "one size"),
        ([one], "a.jpg", {}, "Suffixes are .png"),
        ([one], "a", {}, "Suffixes are .png"),
        ([one], "a.png", {"scale": 0}, "scale of 0"),
    ):
        with pytest.raises(UsageError, match=message):
            animate(images, tmp_path / name, **options)
    assert not list(tmp_path.iterdir())
    animate([one, one], tmp_path / "A.WEBP")
    with Image.open(tmp_path / "A.WEBP") as read:
        assert read.format == "WEBP" and read.size == (4, 3)
