"""Valid noise for textures of any format: every element decodes, every float is finite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.formats import PixelLayout

_CHANNELS = {"R": 0, "G": 1, "B": 2, "A": 3, "Y": 0}
# A block with one partition, a grid of 4x4 weights of two bits and two colours of 8 bits without alpha: it decodes
# whatever its other bits are, and fits blocks of every size.
_ASTC_HEAD, _ASTC_BITS = 0x42 | 8 << 13, 17
_BC7_MODE = 0x40
_BC6H_RESERVED, _BC6H_MODE_BIT = 0x13, 0x10
_TOP_OF_EXPONENT = {32: 30, 16: 14, 11: 10, 10: 9}


def noise(random: np.random.Generator, layout: PixelLayout, types: Sequence[str], count: int) -> NDArray[np.uint8]:
    """`count` elements of a format, uint8 (count, bytes of an element). types: of red, green, blue and alpha if the
    format does not define them."""
    found = np.frombuffer(random.bytes(count * layout.bytes), np.uint8).reshape(count, -1).copy()
    if layout.compressed:
        _make_valid(found, layout.name)
        return found
    for part in layout.components:
        type = part.type or types[_CHANNELS.get(part.name[:1], 0)]
        if type not in ("float", "unorm16", "snorm16") or part.width not in _TOP_OF_EXPONENT:
            continue
        bits = [part.lo + _TOP_OF_EXPONENT[part.width]]  # without it a number is finite, and smaller than 2
        if "Z" in (part.name, part.meaning):
            bits.append(part.lo + part.width - 1)  # depths have no sign
        for bit in bits:
            found[:, bit >> 3] &= 0xFF ^ 1 << (bit & 7)
    return found


def _make_valid(blocks: NDArray[np.uint8], name: str) -> None:
    """Blocks of other compressed formats are valid with any bits."""
    if name.startswith("ASTC"):
        words = blocks.view("<u4")
        words[:, 0] = words[:, 0] >> _ASTC_BITS << _ASTC_BITS | _ASTC_HEAD
    elif name.startswith("BC7"):
        blocks[blocks[:, 0] == 0, 0] = _BC7_MODE  # no bit of the mode is set
    elif name.startswith("BC6H"):
        reserved = blocks[:, 0] & _BC6H_RESERVED == _BC6H_RESERVED
        blocks[reserved, 0] &= 0xFF ^ _BC6H_MODE_BIT
