"""Messages between a worker and its child process, over pipes.

A message is a JSON object and some blocks of bytes: the length of the JSON text and the number of blocks as two
little-endian words of 32 bits, the length of each block as one of 64 bits, then the text and the blocks.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

_HEAD: Final = struct.Struct("<II")
_LENGTH: Final = struct.Struct("<Q")
Message = tuple[dict[str, Any], list[bytes]]


def write(stream: IO[bytes], data: Mapping[str, Any], blocks: Sequence[bytes] = ()) -> None:
    """Write one message and flush it."""
    text = json.dumps(data).encode()
    head = _HEAD.pack(len(text), len(blocks)) + b"".join(_LENGTH.pack(len(block)) for block in blocks)
    stream.write(head + text)
    for block in blocks:
        stream.write(block)
    stream.flush()


def read(stream: IO[bytes]) -> Message | None:
    """The next message; None at the end of the stream, and where the other side ended in the middle of a message."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    text_size, count = _HEAD.unpack(head)
    lengths = stream.read(count * _LENGTH.size)
    if len(lengths) < count * _LENGTH.size:
        return None
    sizes = [size for (size,) in _LENGTH.iter_unpack(lengths)]
    text = stream.read(text_size)
    blocks = [stream.read(size) for size in sizes]
    if len(text) < text_size or any(len(block) < size for block, size in zip(blocks, sizes, strict=True)):
        return None
    found: dict[str, Any] = json.loads(text)
    return found, blocks


__all__ = ["Message", "read", "write"]


def __dir__() -> list[str]:
    return [*__all__]
