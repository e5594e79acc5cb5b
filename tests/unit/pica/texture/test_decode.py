"""All decoders of textures give the same words, in both evaluators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.formats import TEXTURE_FORMATS
from pocketgpu.lanes import Engine
from pocketgpu.pica.texture.decode import decode_blocks, decode_texture, decode_tiles, decoder

_SOURCE, _TARGET = 0x10000, 0x40000
_AREA = 0x80000


def decoded(kernel: Any, data: np.ndarray, width: int, height: int, evaluator: str, **static: Any) -> np.ndarray:
    arena = np.zeros(_AREA, np.uint8)
    arena[_SOURCE : _SOURCE + len(data)] = data
    Engine(arena, evaluator).get(kernel, **static)(_SOURCE, _TARGET, width, height)
    end = _TARGET + 4 * width * height
    assert not arena[end:].any() and not arena[_SOURCE + len(data) : _TARGET].any(), "written outside of the rows"
    return arena[_TARGET:end].view(np.uint32).reshape(height, width)


@pytest.mark.parametrize("format", TEXTURE_FORMATS)
@pytest.mark.parametrize(("width", "height"), [(8, 8), (64, 16), (128, 8), (192, 24)])
def test_quick_decoders_agree_with_the_plain_one(rng: Any, format: int, width: int, height: int) -> None:
    data = rng.integers(0, 256, TEXTURE_FORMATS[format].size(width, height), np.uint8)
    expected = decoded(decode_texture, data, width, height, "llvm", format=format)
    kernel, static = decoder(format, width, height, ())
    for evaluator in ("llvm", "numpy"):
        assert (decoded(kernel, data, width, height, evaluator, **static) == expected).all()


def test_the_quickest_decoder_is_chosen() -> None:
    etc1 = next(number for number, format in TEXTURE_FORMATS.items() if format.name == "ETC1")
    assert decoder(0, 64, 8, ())[0] is decode_tiles
    assert decoder(etc1, 64, 8, ())[0] is decode_blocks
    assert decoder(etc1, 32, 8, ())[0] is decode_texture  # too narrow for a row of blocks
    assert decoder(0, 12, 8, ())[0] is decode_texture  # a part of a tile
