"""Decoding compressed textures: the codec of each format, and arrays of blocks to arrays of colours.

Texels have one of two forms (`sink`): "unorm8" for formats whose texels have 8 bits by definition (BC7, ETC2),
otherwise "float".
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SIZE, Bytes
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.lanes import Engine, late
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.textures.sizes import ASTC_BLOCKS, MAX_LANES, SCRATCH_BYTES, TEXEL_BYTES

decode_blocks = late("pocketgpu.maxwell.textures.decode", "decode_blocks")
_PIECE = 1 << 21  # bytes of texels that are decoded at a time
_SIGNED = "snorm"


@dataclass(frozen=True)
class Codec:
    """How a format is decoded. form: see above. signed, srgb: the relevant part of a texture's types and sRGB bit."""

    name: str
    bytes: int
    block: tuple[int, int] = (4, 4)
    form: str = "float"
    signed: tuple[bool, ...] = ()
    srgb: bool = False

    @property
    def static(self) -> dict[str, Any]:
        """Static values of `decode_blocks`."""
        return {
            "name": self.name, "block_bytes": self.bytes, "block": self.block, "form": self.form,
            "signed": self.signed, "srgb": self.srgb,
        }  # fmt: skip


_UNORM8 = ("BC7U", "ETC2_RGB", "ETC2_RGB_PTA", "ETC2_RGBA")
_ASTC = "ASTC_2D_"
MOST_CHANNELS: Final = 4
_CHANNELS = {"DXN1": 1, "DXN2": 2, "EAC": 1, "EACX2": 2}
_NAMES = ("DXT1", "DXT23", "DXT45", *_CHANNELS, "BC6H_SF16", "BC6H_UF16", *_UNORM8)


def codec(layout: PixelLayout, types: Sequence[str] = (), srgb: bool = False) -> Codec:
    """The codec of a compressed format.

    :param types: of red, green, ...: BC4, BC5 and EAC are signed where they are "snorm" or "snorm16".
    :raises UsageError: the format is not a compressed one.
    """
    name = layout.name
    if name.startswith(_ASTC) and layout.block in ASTC_BLOCKS:
        return Codec("ASTC", layout.bytes, layout.block, srgb=srgb)
    if name not in _NAMES:
        raise UsageError(f"{name} is not a compressed format")
    channels = _CHANNELS.get(name, 0)
    signed = tuple(type.startswith(_SIGNED) for type in (*types[:channels], *("unorm",) * channels)[:channels])
    return Codec(name, layout.bytes, form="unorm8" if name in _UNORM8 else "float", signed=signed)


def codecs() -> Iterator[Codec]:
    """The codecs of all formats that textures have, the usual ones first."""
    found: dict[Codec, None] = {}
    for layout in sorted(TEXTURE.values(), key=lambda one: one.name.startswith(_ASTC)):
        if layout.name in _NAMES:
            found |= dict.fromkeys(codec(layout, [type] * MOST_CHANNELS) for type in ("unorm", _SIGNED))
        elif layout.name.startswith(_ASTC):
            found |= dict.fromkeys(codec(layout, srgb=srgb) for srgb in (False, True))
    yield from found


# Arrays


class _Room(threading.local):
    """An arena for each thread and evaluator, large enough for a piece."""

    def __init__(self) -> None:
        self.engines: dict[str, tuple[Bytes, Engine]] = {}

    def get(self, evaluator: str) -> tuple[Bytes, Engine]:
        if evaluator not in self.engines:
            widest = MAX_LANES * 12 * 12 * 16 * 2  # a vector of the largest blocks, and room after it
            arena = np.zeros(PAGE_SIZE + SCRATCH_BYTES + 2 * _PIECE + widest + PAGE_SIZE, np.uint8)
            self.engines[evaluator] = arena, Engine(arena, evaluator)
        return self.engines[evaluator]


_room = _Room()


def texels(blocks: Bytes, layout: PixelLayout, used: Codec, evaluator: str = "llvm") -> NDArray[Any]:
    """Texels of blocks, uint8 of shape (rows, blocks, bytes of a block): (height, width, 4), with whole blocks.

    Their type is uint8 or float32, according to the codec's form. sRGB is not made linear.

    :raises UsageError: blocks have another size.
    """
    if blocks.ndim != 3 or blocks.dtype != np.uint8 or blocks.shape[2] != used.bytes:
        raise UsageError(f"blocks of {layout.name} have {used.bytes} bytes, not shape {blocks.shape}")
    rows, columns = blocks.shape[:2]
    (wide, high), size = used.block, TEXEL_BYTES[used.form]
    out = np.empty((rows * high, columns * wide, 4), np.uint8 if used.form == "unorm8" else np.float32)
    arena, engine = _room.get(evaluator)
    run = engine.get(decode_blocks, **used.static)
    scratch, source = PAGE_SIZE, PAGE_SIZE + SCRATCH_BYTES
    target = source + _PIECE
    across = max(1, min(columns, _PIECE // (high * wide * size)))
    pitch = (across + MAX_LANES - 1) * wide * size
    down = max(1, _PIECE // (pitch * high))
    for y in range(0, rows, down):
        for x in range(0, columns, across):
            piece = blocks[y : y + down, x : x + across]
            tall, broad = piece.shape[:2]
            arena[source : source + piece.size].reshape(piece.shape)[:] = piece
            run(source, target, scratch, broad, tall, pitch)
            found = arena[target : target + pitch * tall * high].view(out.dtype).reshape(tall * high, -1, 4)
            out[y * high : (y + tall) * high, x * wide : (x + broad) * wide] = found[:, : broad * wide]
    return out
