"""The header of a command list entry, decoded by n3ds/structures.tsv.

A list consists of entries: a parameter, a header, further parameters, and a word of padding if their number is odd, so
that each entry is a multiple of two words. Source: 3dbrew GPU/Internal Registers.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.n3ds.structures import LIST_ENTRY

ID: Final = LIST_ENTRY["id"]
BYTE_MASK: Final = LIST_ENTRY["byte_mask"]
EXTRA: Final = LIST_ENTRY["extra"]
CONSECUTIVE: Final = LIST_ENTRY["consecutive"]
UNUSED: Final = LIST_ENTRY["unused"]

MOST_PARAMETERS: Final = 1 << EXTRA.width
"""Maximum of parameters in an entry: the first one and as many more as the header can count."""
ALL_BYTES: Final = (1 << BYTE_MASK.width) - 1
"""The byte mask that writes whole registers."""


class Header(NamedTuple):
    """A header's fields. step: 1 if each further parameter goes to the next register, 0 if all go to the same."""

    id: int
    byte_mask: int
    extra: int
    step: int


_SHAPES: Final = tuple((field.lo, (1 << field.width) - 1) for field in (ID, BYTE_MASK, EXTRA, CONSECUTIVE))


def header_of(word: int) -> Header:
    """The fields of a header."""
    (id_, ids), (mask, masks), (extra, extras), (step, steps) = _SHAPES
    return Header(word >> id_ & ids, word >> mask & masks, word >> extra & extras, word >> step & steps)


def header_columns(words: NDArray[np.uint32]) -> tuple[NDArray[np.int64], ...]:
    """The same for each word of an array: ids, byte masks, extra parameters, steps."""
    wide = words.astype(np.int64)
    return tuple(wide >> lo & mask for lo, mask in _SHAPES)


def header_word(id: int, parameters: int, consecutive: bool, byte_mask: int = ALL_BYTES) -> int:
    """The header of an entry with this number of parameters. Raises ValueError for values that do not fit."""
    values = {"id": id, "byte_mask": byte_mask, "extra": parameters - 1, "consecutive": consecutive}
    return LIST_ENTRY.pack(values)[0]


def length_of(header: int) -> int:
    """Words of an entry, including its header, first parameter and padding."""
    extra = header >> _SHAPES[2][0] & _SHAPES[2][1]
    return 2 + extra + (extra & 1)
