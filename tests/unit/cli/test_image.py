"""Dumps become pictures and pictures dumps; the ETC1 encoder finds good blocks."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from pocketgpu.cli import main
from pocketgpu.facts import formats
from pocketgpu.inspect.pictures.images import OTHER_NAMES, format_named
from pocketgpu.pica.memory import surface


def error_db(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """Peak signal to noise ratio of two pictures, in decibels."""
    error = np.mean((a.astype(float) - b) ** 2)
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))


def through_etc(pixels: NDArray[np.uint8], format: formats.PixelFormat) -> NDArray[np.uint8]:
    height, width = pixels.shape[:2]
    data = surface.encode(pixels, format, "tiled")
    assert len(data) == surface.byte_size(format, width, height, "tiled")
    return surface.decode(data, format, width, height, "tiled")


# the encoder


def test_flat_colours_that_etc_can_hold_come_back_exactly() -> None:
    # Five bits a channel and the smallest modifier: 8 * n + n / 4 + 2.
    levels = np.array([(c << 3 | c >> 2) + 2 for c in range(31)], np.uint8)
    pixels = np.full((32, 64, 4), 255, np.uint8)
    colors = np.random.default_rng(5).choice(levels, (8, 16))
    pixels[..., :3] = np.kron(colors, np.ones((4, 4), np.uint8))[..., None]
    assert np.array_equal(through_etc(pixels, formats.ETC1), pixels)


def test_two_colours_a_block_choose_the_right_split() -> None:
    rng = np.random.default_rng(6)
    colors = rng.choice(np.arange(0, 16) * 17, (8, 8, 2, 3)).astype(np.uint8)
    pixels = np.full((32, 32, 4), 255, np.uint8)
    for by in range(8):
        for bx in range(8):
            block = pixels[4 * by : 4 * by + 4, 4 * bx : 4 * bx + 4, :3]
            if (bx + by) % 2:
                block[:, :2], block[:, 2:] = colors[by, bx]
            else:
                block[:2], block[2:] = colors[by, bx]
    # The smallest modifiers are +-2, so no flat colour of four bits is exact; but no texel is off by more.
    assert np.abs(through_etc(pixels, formats.ETC1)[..., :3].astype(int) - pixels[..., :3]).max() <= 2


def test_pictures_come_close() -> None:
    y, x = np.mgrid[0:64, 0:64]
    smooth = np.stack([4 * x, 4 * y, 2 * (x + y), 255 - 4 * x], axis=-1).astype(np.uint8)
    decoded = through_etc(smooth, formats.ETC1A4)
    assert error_db(decoded[..., :3], smooth[..., :3]) > 36
    assert np.abs(decoded[..., 3].astype(int) - smooth[..., 3]).max() <= 8
    grey = (np.random.default_rng(1).integers(0, 256, (64, 64, 1)) * np.ones(4)).astype(np.uint8)
    assert error_db(through_etc(grey, formats.ETC1)[..., :3], grey[..., :3]) > 20


def test_each_block_is_at_least_as_good_as_its_mean_colour() -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (32, 32, 4)).astype(np.uint8)
    decoded = through_etc(pixels, formats.ETC1)

    def blocks(array: NDArray[np.uint8]) -> NDArray[Any]:
        return array[..., :3].astype(int).reshape(8, 4, 8, 4, 3)

    mean = blocks(pixels).mean(axis=(1, 3), keepdims=True)
    flat = ((blocks(pixels) - mean) ** 2).sum(axis=(1, 3, 4))
    ours = ((blocks(pixels) - blocks(decoded)) ** 2).sum(axis=(1, 3, 4))
    assert (ours < flat).all()


def test_compressing_again_keeps_most_of_a_real_texture(shared_dir: Path) -> None:
    import pocketgpu
    from pocketgpu.capture.formats.citrace import Trace
    from pocketgpu.capture.formats.n3ds_trace import LoadRun

    trace = pocketgpu.open(shared_dir / "captures" / "3ds" / "textured_cube.ctf.xz").trace
    assert isinstance(trace, Trace)
    data = next(bytes(run.data) for run in trace.runs(0) if isinstance(run, LoadRun) and len(run.data) == 4096)
    pixels = surface.decode(data, formats.ETC1A4, 64, 64, "tiled")
    again = through_etc(pixels, formats.ETC1A4)
    assert np.array_equal(again[..., 3], pixels[..., 3])
    assert (again == pixels).all(axis=2).mean() > 0.9 and error_db(again, pixels) > 42


def test_alpha_of_all_steps_survives() -> None:
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[..., 3] = np.arange(64).reshape(8, 8) % 16 * 17
    assert np.array_equal(through_etc(pixels, formats.ETC1A4)[..., 3], pixels[..., 3])


def test_the_encoder_repeats_itself() -> None:
    pixels = np.random.default_rng(9).integers(0, 256, (72, 64, 4)).astype(np.uint8)
    once = surface.encode(pixels, formats.ETC1, "tiled")
    # 288 blocks; the same blocks in another order give the same bytes, so no block knows of its neighbours.
    swapped = np.concatenate([pixels[64:], pixels[:64]])
    twice = surface.encode(swapped, formats.ETC1, "tiled")
    assert once == twice[256:] + twice[:256]


# the command


@pytest.mark.parametrize(
    "name", ["RGBA8", "RGB8", "RGB5A1", "RGB565", "RGBA4", "IA8", "HILO8", "I8", "A8", "IA44", "I4", "A4"]
)
@pytest.mark.parametrize("layout", ["tiled", "linear"])
def test_there_and_back_gives_the_same_bytes(name: str, layout: str, tmp_path: Path) -> None:
    size = surface.byte_size(formats.BY_NAME[name], 16, 8, "tiled")
    data = random.Random(name).randbytes(size)
    dump, png, back = tmp_path / "a.bin", tmp_path / "a.png", tmp_path / "b.bin"
    dump.write_bytes(b"some bytes before" + data + b"after")
    options = ["--format", name.lower(), "--layout", layout]
    for turn in ([], ["--flip"], ["--upright"], ["--flip", "--upright"]):
        assert main(["image", str(dump), *options, *turn, "--size", "16x8", "--offset", "17", "--out", str(png)]) == 0
        with Image.open(png) as picture:
            assert picture.size == ((8, 16) if "--upright" in turn else (16, 8))
            assert picture.mode == ("RGBA" if formats.BY_NAME[name].has_alpha else "RGB")
        assert main(["image", str(png), *options, *turn, "--out", str(back)]) == 0
        assert back.read_bytes() == data


def test_upright_and_flip_put_the_first_pixel_where_they_say(tmp_path: Path) -> None:
    dump, png = tmp_path / "a.bin", tmp_path / "a.png"
    dump.write_bytes(b"\x01\x02\x03" + bytes(3 * 7))  # blue 1, green 2, red 3 comes first in memory
    words = ["image", str(dump), "--format", "RGB8", "--layout", "linear", "--size", "4x2", "--out", str(png)]
    for turn, place in (([], (0, 0)), (["--flip"], (0, 1)), (["--upright"], (0, 3))):
        assert main([*words, *turn]) == 0
        with Image.open(png) as picture:
            assert picture.getpixel(place) == (3, 2, 1), turn


def test_a_real_texture_by_the_words_of_the_documentation(tmp_path: Path, capsys: Any) -> None:
    data = random.Random(4).randbytes(4096)
    (tmp_path / "dump.bin").write_bytes(data)
    words = ["--format", "ETC1A4", "--layout", "tiled", "--size", "64x64", "--out", str(tmp_path / "x.png"), "--json"]
    assert main(["image", str(tmp_path / "dump.bin"), *words]) == 0
    entry = json.loads(capsys.readouterr().out)["image"]
    assert (entry["format"], entry["width"], entry["height"]) == ("ETC1A4", 64, 64)
    with Image.open(tmp_path / "x.png") as picture:
        assert np.array_equal(np.asarray(picture), surface.decode(data, formats.ETC1A4, 64, 64, "tiled"))
    words = ["--format", "ETC1A4", "--size", "64x64", "--out", str(tmp_path / "back.bin")]  # the size that it has
    assert main(["image", str(tmp_path / "x.png"), *words]) == 0
    assert len((tmp_path / "back.bin").read_bytes()) == 4096


def test_depth_is_shown_as_sixteen_bits(tmp_path: Path) -> None:
    values = np.arange(64, dtype="<u2") * 1000
    (tmp_path / "d.bin").write_bytes(values.tobytes())
    words = ["image", str(tmp_path / "d.bin"), "--format", "D16", "--layout", "linear", "--size", "8x8"]
    assert main([*words, "--out", str(tmp_path / "d.png")]) == 0
    with Image.open(tmp_path / "d.png") as picture:
        assert np.array_equal(np.asarray(picture).ravel(), values)
    (tmp_path / "d.bin").write_bytes(np.full(64, 0xAB123456, "<u4").tobytes())
    words = ["image", str(tmp_path / "d.bin"), "--format", "D24S8", "--size", "8x8", "--out", str(tmp_path / "d.png")]
    assert main(words) == 0
    with Image.open(tmp_path / "d.png") as picture:
        assert set(np.asarray(picture).ravel().tolist()) == {0x1234}


def test_colour_becomes_luminance_by_weight(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), (0, 255, 0)).save(tmp_path / "g.png")
    assert main(["image", str(tmp_path / "g.png"), "--format", "L8", "--out", str(tmp_path / "g.bin")]) == 0
    assert set((tmp_path / "g.bin").read_bytes()) == {150}  # 0.587 of full


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["a.bin", "--format", "ETC9", "--out", "x.png"], 2, "There are RGBA8"),
        (["a.bin", "--format", "RGB8", "--out", "x.png"], 2, "Give --size"),
        (["a.bin", "--format", "RGB8", "--size", "0x8", "--out", "x.png"], 2, "not a size"),
        (["a.bin", "--format", "RGB8", "--size", "64", "--out", "x.png"], 2, "not a size"),
        (["a.bin", "--format", "RGB8", "--size", "8x8", "--offset", "x", "--out", "x.png"], 2, "not a number of bytes"),
        (["a.bin", "--format", "RGB8", "--size", "16x8", "--out", "x.png"], 3, "takes 384 bytes from byte 0"),
        (
            ["a.bin", "--format", "RGB8", "--size", "8x8", "--offset", "999999999", "--out", "x.png"],
            3,
            "ends too early",
        ),
        (["a.bin", "--format", "RGB8", "--size", "99999x99999", "--out", "x.png"], 2, "no surface has"),
        (["a.bin", "--format", "ETC1", "--layout", "linear", "--size", "8x8", "--out", "x.png"], 2, "only in tiled"),
        (["none.bin", "--format", "RGB8", "--size", "8x8", "--out", "x.png"], 3, "cannot read the file"),
        (["a.bin", "--format", "RGB8", "--size", "8x8", "--out", "x.bin"], 3, "no picture"),
        (["p.png", "--format", "D24S8", "--out", "x.bin"], 2, "not made from a picture"),
        (["p.png", "--format", "ETC1", "--out", "x.bin"], 2, "multiples of 8"),
        (["p.png", "--format", "RGB8", "--layout", "linear", "--size", "8x8", "--out", "x.bin"], 2, "12x9 pixels"),
        (["p.png", "--format", "RGB8", "--offset", "3", "--out", "x.bin"], 2, "has no offset"),
        (["p.png", "--format", "RGB8", "--layout", "linear", "--out", "no/folder/x.bin"], 2, "cannot write"),
    ],
)
def test_mistakes(
    words: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.bin").write_bytes(bytes(192))
    Image.new("RGB", (12, 9)).save("p.png")
    assert main(["image", *words]) == code
    printed = capsys.readouterr()
    assert said in printed.err and printed.out == "" and not Path("x.png").exists() and not Path("x.bin").exists()


def test_other_names_of_formats() -> None:
    assert {format_named(name).name for name in OTHER_NAMES} <= set(formats.BY_NAME)
    assert format_named("rgba5551") is formats.RGB5A1 and format_named(" la8 ") is formats.IA8
