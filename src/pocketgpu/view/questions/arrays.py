"""Answers of many numbers: a header in JSON, and arrays after it.

The answer has 4 bytes with the header's length, the header, and from the next multiple of 4 on the arrays,
little-endian, at the offsets that the header's `arrays` names.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.digests import blake2b
from pocketgpu.view.questions.asking import Buffer, Json

TAG_BYTES: Final = 12
_TYPES: Final = {"f": "f32", "i": "i32", "u": "u32"}
_WORD: Final = 4


class Arrays:
    """Arrays under construction: their descriptions, and their bytes one after the other."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, of: str, name: str, values: NDArray[Any]) -> None:
        """Put an array of (n,) or (n, components) numbers, one row for each of what `of` names."""
        kind = values.dtype.kind
        data = np.ascontiguousarray(values, f"<{kind}4").tobytes()
        components = values.shape[1] if values.ndim > 1 else 1
        entry = {"of": of, "name": name, "type": _TYPES[kind], "components": components, "offset": self._size}
        self.found.append(entry)
        self._parts.append(data)
        self._size += len(data)

    def add_fields(self, of: str, rows: NDArray[Any]) -> None:
        """Put the fields of a structured array."""
        for name in rows.dtype.names or ():
            self.add(of, name, rows[name])

    def answer(self, header: Json, tagged: bool = True) -> Buffer:
        """The header and the arrays. tagged: whether it gets a tag."""
        text = json.dumps({**header, "arrays": self.found}, allow_nan=False, separators=(",", ":")).encode()
        length = len(text).to_bytes(_WORD, "little")
        data = b"".join([length, text, bytes(-len(text) % _WORD), *self._parts])
        tag = blake2b(data, digest_size=TAG_BYTES).hexdigest() if tagged else ""
        return Buffer(data, "application/octet-stream", tag)


__all__ = ["TAG_BYTES", "Arrays"]
