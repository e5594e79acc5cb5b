"""An index of a recording: plain data in the cache, under a digest of all that it depends on.

It depends on the bytes of the recording, the chosen behaviour and the package's own source. An index is never needed:
where one is missing, damaged, too large or not as expected, the recording is replayed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pocketgpu.digests import blake2b
from pocketgpu.lanes import object_cache, recipes

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

MOST_PACKED = 2 << 20
"""Most bytes of a part of an index, as it is stored."""
MOST_PLAIN = 64 << 20
"""The same, unpacked."""
_LEVEL = 1
"""How hard zlib tries: packing is part of the first question's time."""
_NAME = b"index 1\0"


class Index:
    """The index of a recording. Each part has a name and is read and written as a whole."""

    def __init__(self, stand: bytes) -> None:
        """stand: a digest of everything that the index depends on."""
        self._stand = stand

    def read(self, part: str) -> Any:
        """The value of a part; None if there is none."""
        packed = object_cache.read(self._key(part), object_cache.INDEX)
        if packed is None:
            return None
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(packed, MOST_PLAIN)
            return None if not unpacker.eof else json.loads(data)
        except (zlib.error, ValueError, RecursionError):
            return None

    def write(self, part: str, value: Any) -> None:
        """Keep the value of a part, if it is not too large. value: for JSON."""
        data = json.dumps(value, separators=(",", ":")).encode()
        if len(data) > MOST_PLAIN:
            return
        packed = zlib.compress(data, _LEVEL)
        if len(packed) <= MOST_PACKED:
            object_cache.write(self._key(part), packed, object_cache.INDEX)

    def _key(self, part: str) -> str:
        return blake2b(self._stand + part.encode(), digest_size=20).hexdigest()


def index_of(capture: Capture, choices: Mapping[str, str]) -> Index | None:
    """The index of a capture that was read from files; None for others, and without a cache."""
    digest, source = capture.digest, None
    if digest is not None and object_cache.folder() is not None:
        source = recipes.source()
    if digest is None or source is None:
        return None
    return Index(_NAME + source + digest + repr(sorted(choices.items())).encode() + b"\0")


__all__ = ["Index", "index_of"]
