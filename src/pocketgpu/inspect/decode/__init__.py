"""Decoding of command streams: each word of a capture or dump with its register, its value and its effects.

    decoded = pocketgpu.inspect.decode.decode("scene.pgc")
    decoded.rows["draw"]                              # structured array, one row for each word: see `ROW`
    print("\\n".join(decoded.lines()))                 # the listing; `parse_listing` returns its words
    lines = decoded.json_lines(decoded.select(["f1/d0..d3"], ["TEXENV*"]))
    decode_words(words, kind="pica", base=0x20000000)   # without a capture: a list, a pushbuffer, GX commands

`pica_kernel` and `maxwell_kernel` are the machines' own parsers, extended to write a row for each word. `n3ds` and
`switch` find the words of a capture, `listing` and `jsonl` write the output.
"""

from __future__ import annotations

from pocketgpu.inspect.decode.api import Decoded, decode, decode_file, decode_words, stream_of
from pocketgpu.inspect.decode.listing import Listed, parse_listing
from pocketgpu.inspect.decode.rows import BLOCKS, EFFECTS, ROW, WHAT
from pocketgpu.inspect.decode.stream import KINDS, SEGMENT, Stream

__all__ = [
    "BLOCKS",
    "EFFECTS",
    "KINDS",
    "ROW",
    "SEGMENT",
    "WHAT",
    "Decoded",
    "Listed",
    "Stream",
    "decode",
    "decode_file",
    "decode_words",
    "parse_listing",
    "stream_of",
]


def __dir__() -> list[str]:
    return [*__all__]
