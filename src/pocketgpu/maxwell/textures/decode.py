"""The kernel that decodes blocks of compressed textures.

Decoders work on many blocks at once, one in each lane, with the same results on both evaluators.
"""

from __future__ import annotations

from typing import Any

from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.textures import astc, bc, bc6h, bc7, etc2
from pocketgpu.maxwell.textures.sink import TexelSink
from pocketgpu.maxwell.textures.sizes import TEXEL_BYTES


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
