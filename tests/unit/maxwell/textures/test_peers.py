"""Compressed blocks against decoders that others wrote: random blocks, bit for bit where the formats are exact.

imagecodecs (bcdec): BC6H to half floats and BC7. texture2ddecoder: BC7 and ETC2; EAC in 8 bits. astc-encoder-py (Arm's
astcenc): ASTC. Pillow: BC1 to BC5 in 8 bits. What is known of differences:

* Arm's decoder gives NaN where we give magenta, unless it writes 8 bits; both are allowed.
* texture2ddecoder leaves colours in transparent texels of ETC2, which should be black, and gives reserved blocks of
  BC6H no alpha; so does Pillow with reserved blocks of BC7, in the other direction.
* Pillow does not extend the sign after adding differences in signed BC6H.
* BC1 to BC5 and EAC are not of 8 bits: decoders that write 8 are off by one step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from support.slow_textures import lively_blocks

from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.maxwell.formats.arrays import to_rgba8
from pocketgpu.maxwell.textures import blocks

ASTC = [layout.name for layout in TEXTURE.values() if layout.name.startswith("ASTC")]
COLUMNS, ROWS = 64, 50


def random_blocks(layout: PixelLayout, seed: int) -> NDArray[np.uint8]:
    return lively_blocks(layout, seed, ROWS * COLUMNS).reshape(ROWS, COLUMNS, layout.bytes)


def ours(layout: PixelLayout, data: NDArray[np.uint8], types: tuple[str, ...] = (), srgb: bool = False) -> Any:
    return blocks.texels(data, layout, blocks.codec(layout, types, srgb))


def size(layout: PixelLayout) -> tuple[int, int]:
    """Width and height of the texture."""
    return layout.block[0] * COLUMNS, layout.block[1] * ROWS


@pytest.mark.parametrize(("name", "theirs"), [("BC6H_UF16", "BC6HU"), ("BC6H_SF16", "BC6HS"), ("BC7U", "BC7")])
def test_bc6h_and_bc7(name: str, theirs: str) -> None:
    codecs = pytest.importorskip("imagecodecs")
    layout = TEXTURE.named(name)
    data = random_blocks(layout, 1)
    width, height = size(layout)
    shape = (height, width, 4 if name == "BC7U" else 3)
    found = codecs.bcn_decode(data.tobytes(), codecs.BCN.FORMAT[theirs], shape=shape)
    texels = ours(layout, data)
    if name == "BC7U":
        assert np.array_equal(found, texels)
    else:
        halves = texels[..., :3].astype(np.float16)
        assert np.array_equal(halves.astype(np.float32), texels[..., :3]) and (texels[..., 3] == 1).all()
        assert halves.tobytes() == found.tobytes()


def texture2d(name: str, layout: PixelLayout, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    decoders = pytest.importorskip("texture2ddecoder")
    width, height = size(layout)
    found = getattr(decoders, name)(data.tobytes(), width, height)
    return np.frombuffer(found, np.uint8).reshape(height, width, 4)[..., [2, 1, 0, 3]]


@pytest.mark.parametrize(
    ("name", "theirs"), [("BC7U", "decode_bc7"), ("ETC2_RGB", "decode_etc2"), ("ETC2_RGBA", "decode_etc2a8")]
)
def test_bc7_and_etc2(name: str, theirs: str) -> None:
    layout = TEXTURE.named(name)
    data = random_blocks(layout, 2)
    assert np.array_equal(ours(layout, data), texture2d(theirs, layout, data))


def test_etc2_with_one_bit_of_alpha() -> None:
    layout = TEXTURE.named("ETC2_RGB_PTA")
    data = random_blocks(layout, 3)
    texels, found = ours(layout, data), texture2d("decode_etc2a1", layout, data)
    assert np.array_equal(texels[..., 3], found[..., 3])
    seen = texels[..., 3] != 0
    assert 0.5 < seen.mean() < 0.95 and np.array_equal(texels[seen], found[seen])
    assert not texels[~seen].any()


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("EAC", "decode_eacr"), ("EACX2", "decode_eacrg"), ("DXN1", "decode_bc4"), ("DXN2", "decode_bc5")],
)
def test_one_and_two_channels_to_the_step(name: str, theirs: str) -> None:
    layout = TEXTURE.named(name)
    data = random_blocks(layout, 4)
    texels, found = to_rgba8(ours(layout, data)), texture2d(theirs, layout, data)
    assert np.abs(texels.astype(int) - found).max() <= 1


@pytest.mark.parametrize(
    ("name", "mode", "number", "theirs", "types"),
    [
        ("DXT1", "RGBA", 1, "DXT1", ()),
        ("DXT23", "RGBA", 2, "DXT3", ()),
        ("DXT45", "RGBA", 3, "DXT5", ()),
        ("DXN1", "L", 4, "BC4", ()),
        ("DXN2", "RGB", 5, "BC5", ()),
        ("DXN2", "RGB", 5, "BC5S", ("snorm", "snorm")),
    ],
)
def test_bc1_to_bc5_to_the_step(name: str, mode: str, number: int, theirs: str, types: tuple[str, ...]) -> None:
    layout = TEXTURE.named(name)
    data = random_blocks(layout, 5)
    found = np.asarray(Image.frombytes(mode, size(layout), data.tobytes(), "bcn", (number, theirs)))
    found = found.reshape(*found.shape[:2], -1).astype(int)
    texels = ours(layout, data, types)
    if types:  # signed bytes plus 128
        expected = texels[..., :2] * 127 + 128
        ends = data.reshape(-1, 2, 8)[..., :2].view(np.int8)
        open_case = (ends.min(2) == -128) & (ends.max(2) == -127)
        assert not open_case.any()
        assert np.abs(expected - found[..., :2]).max() < 2  # -128 is not -127 there, and fractions are cut off
    else:
        assert np.abs(to_rgba8(texels)[..., : found.shape[2]].astype(int) - found).max() <= 1


def astcenc(layout: PixelLayout, data: NDArray[np.uint8], srgb: bool, floats: bool) -> Any:
    codec = pytest.importorskip("astc_encoder")
    profile = codec.ASTCProfile.LDR_SRGB if srgb else codec.ASTCProfile.LDR
    context = codec.ASTCContext(codec.ASTCConfig(profile, *layout.block, 1, 60, codec.ASTCConfigFlags.DECOMPRESS_ONLY))
    width, height = size(layout)
    image = codec.ASTCImage(codec.ASTCType.F32 if floats else codec.ASTCType.U8, width, height, 1)
    context.decompress(data.tobytes(), image, codec.ASTCSwizzle())
    return np.frombuffer(image.data, np.float32 if floats else np.uint8).reshape(height, width, 4)


@pytest.mark.parametrize("name", ASTC)
@pytest.mark.parametrize("srgb", [False, True])
def test_astc(name: str, srgb: bool) -> None:
    layout = TEXTURE.named(name)
    data = random_blocks(layout, 6)
    texels, found = ours(layout, data, srgb=srgb), astcenc(layout, data, srgb, floats=True)
    wrong = np.isnan(found).any(2)
    assert 0.01 < wrong.mean() < 0.3
    assert (texels[wrong] == [1, 0, 1, 1]).all()
    texels, found = texels[~wrong], found[~wrong]
    if srgb:  # red, green and blue pass through half floats there
        assert np.array_equal(texels[:, 3], found[:, 3])
        codes = np.rint(texels[:, :3] * 255)
        assert np.array_equal(codes / np.float32(255), texels[:, :3])
        assert np.array_equal(codes, astcenc(layout, data, srgb, floats=False)[~wrong][:, :3])
    else:
        assert texels.tobytes() == found.tobytes()
