"""Decoding command streams: each word of a capture or dump with its register, what it changes and what it sets off.

    decoded = pocketgpu.inspect.decode.decode("scene.pgc")
    decoded.rows["draw"]                              # structured array, a row a word: see `ROW`
    print("\\n".join(decoded.lines()))                 # the listing; `parse_listing` has the words back
    lines = decoded.json_lines(decoded.select(["f1/d0..d3"], ["TEXENV*"]))
    decode_words(words, kind="pica", base=0x20000000)   # no capture: a list, a pushbuffer, GX commands

`pica_kernel` and `maxwell_kernel` are the machines' own parsers, made to tell of each word; `n3ds` and `choice` find
the words of a capture, `listing` and `jsonl` write what was found.
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
