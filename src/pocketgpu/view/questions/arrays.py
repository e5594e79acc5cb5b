"""Answers of many numbers: a header in JSON, and arrays after it.

The answer has 4 bytes with the header's length, the header, and from the next multiple of 4 on the arrays,
little-endian, at the offsets that the header's `arrays` names. Pictures of few runs of equal numbers are sent as runs:
a browser takes four milliseconds for each megabyte.
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
_LEAST_RUN: Final = 5
"""Numbers of a run, in the mean, from which on runs are sent."""


class Arrays:
    """Arrays under construction: their descriptions, and their bytes one after the other."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._parts: list[NDArray[Any]] = []
        self._size = 0

    def add(self, of: str, name: str, values: NDArray[Any], runs: bool = False) -> None:
        """Put an array of (n,) or (n, components) numbers, one row for each of what `of` names. It must not change
        until the answer. runs: it is a picture, whose neighbours are often equal."""
        kind = values.dtype.kind
        data = np.ascontiguousarray(values, f"<{kind}4")
        components = values.shape[1] if values.ndim > 1 else 1
        entry = {"of": of, "name": name, "type": _TYPES[kind], "components": components, "offset": self._size}
        found = runs_of(data.reshape(-1)) if runs else None
        if found is not None:
            entry["rows"] = len(values)
            data = found
        self.found.append(entry)
        self._parts.append(data)
        self._size += data.nbytes

    def add_fields(self, of: str, rows: NDArray[Any]) -> None:
        """Put the fields of a structured array."""
        for name in rows.dtype.names or ():
            self.add(of, name, rows[name])

    def answer(self, header: Json, tagged: bool = True) -> Buffer:
        """The header and the arrays. tagged: whether it gets a tag."""
        text = json.dumps({**header, "arrays": self.found}, allow_nan=False, separators=(",", ":")).encode()
        length = len(text).to_bytes(_WORD, "little")
        parts = (memoryview(one.data).cast("B") for one in self._parts if one.size)
        data = b"".join([length, text, bytes(-len(text) % _WORD), *parts])
        tag = blake2b(data, digest_size=TAG_BYTES).hexdigest() if tagged else ""
        return Buffer(data, "application/octet-stream", tag)


def runs_of(values: NDArray[Any]) -> NDArray[np.uint32] | None:
    """The lengths of all runs of equal numbers of four bytes, and then the numbers. None: there are too many."""
    words = values.view(np.uint32)
    differs = words[1:] != words[:-1]
    count = int(np.count_nonzero(differs)) + 1
    if count * _LEAST_RUN > len(words):
        return None
    ends = np.flatnonzero(differs)
    found = np.empty((2, count), np.uint32)
    found[0] = np.diff(ends, prepend=-1, append=len(words) - 1)
    found[1, :-1], found[1, -1] = words[ends], words[-1]
    return found


__all__ = ["TAG_BYTES", "Arrays", "runs_of"]
