"""Decoding compressed textures: the codec of each format, its kernel, and arrays of blocks to arrays of colours.

Decoders work on many blocks at once, one in each lane, with the same results on both evaluators. Texels have one of two
forms (`sink`): "unorm8" for formats whose texels have 8 bits by definition (BC7, ETC2), otherwise "float".
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
from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.textures import astc, bc, bc6h, bc7, etc2
from pocketgpu.maxwell.textures.sink import TEXEL_BYTES, TexelSink

MAX_LANES: Final = 64
"""After the last block of a row of texels there must be room for this many blocks, less one."""
SCRATCH_BYTES: Final = 4 * MAX_LANES * astc.SCRATCH_CELLS
"""Arena bytes that a decoder may use while it runs."""
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
    if name.startswith(_ASTC) and layout.block in astc.BLOCKS:
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


def _decode(k: Lang, name: str, words: list[Value], sink: TexelSink, **more: Any) -> None:
    signed = more["signed"]
    if name == "ASTC":
        astc.decode(k, words, sink, more["scratch"], more["block"], more["srgb"])
    elif name in ("BC6H_SF16", "BC6H_UF16"):
        bc6h.decode(k, words, sink, signed=name == "BC6H_SF16")
    elif name == "DXN1":
        bc.decode_bc4(k, words, sink, signed[0])
    elif name in ("EAC", "EACX2"):
        etc2.decode_eac(k, words, sink, signed)
    elif name == "DXN2":
        bc.decode_bc5(k, words, sink, signed)
    elif name == "ETC2_RGB_PTA":
        etc2.decode_rgb(k, words, sink, punch_through=True)
    else:
        {
            "DXT1": bc.decode_bc1, "DXT23": bc.decode_bc2, "DXT45": bc.decode_bc3, "BC7U": bc7.decode,
            "ETC2_RGB": etc2.decode_rgb, "ETC2_RGBA": etc2.decode_rgba,
        }[name](k, words, sink)  # fmt: skip


@kernel(source=I64, target=I64, scratch=I64, columns=I32, rows=I32, pitch=I64)
def decode_blocks(
    k: Lang, source: Value, target: Value, scratch: Value, columns: Value, rows: Value, pitch: Value,
    *, name: str, block_bytes: int, block: tuple[int, int], form: str, signed: tuple[bool, ...], srgb: bool,
) -> None:  # fmt: skip
    """Decode rows of blocks at `source`, without gaps, to rows of texels at `target`, `pitch` bytes apart.

    `scratch`: SCRATCH_BYTES bytes. A row of texels needs room for MAX_LANES - 1 more blocks. See `Codec.static`.
    """
    k.hurry()  # a third of the time to make it, and as fast
    size = TEXEL_BYTES[form]
    for row in k.range(0, rows):
        line = target + pitch * k.to_i64(row * block[1])
        blocks = source + k.to_i64(row) * k.to_i64(columns * block_bytes)
        for first in k.range(0, columns, k.lanes):
            lane = k.iota() + first
            place = k.to_i64(lane * block_bytes) + blocks
            words = [k.gather(I32, place + at, lane < columns) for at in range(0, block_bytes, 4)]
            sink = TexelSink(k, line + k.to_i64(first * (block[0] * size)), pitch, block[0], form)
            _decode(k, name, words, sink, block=block, signed=signed, srgb=srgb, scratch=scratch)


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
