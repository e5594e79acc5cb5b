"""GPFIFO entries and the headers of pushbuffer packets: encoded and decoded by the fields of their table.

Source: NVIDIA's headers for A06F (entries) and B06F (headers), through `headers.GPFIFO`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.headers import GPFIFO

ENTRY: Final = GPFIFO["ENTRY"]
HEADER: Final = GPFIFO["HEADER"]
FORMS: Final = HEADER["SEC_OP"].values
"""Forms of headers, bits 31 to 29."""
TERTIARY: Final = HEADER["TERT_OP"].values
"""Meaning of a header of one of the older forms."""
MOST_DATA: Final = (1 << HEADER["COUNT"].width) - 1
"""Maximum of data words after one header; also the largest value in an immediate header."""
MOST_WORDS: Final = (1 << ENTRY["LENGTH"].width) - 1
"""Maximum of words in a segment."""
HOST_WORDS: Final = 0x40
"""Methods below this word belong to the host, on any subchannel."""

_GET, _GET_HI, _LENGTH = (ENTRY[name] for name in ("GET", "GET_HI", "LENGTH"))  # GET has the address's own position
_FORM, _SUBCHANNEL, _ADDRESS, _COUNT = (HEADER[name] for name in ("SEC_OP", "SUBCHANNEL", "ADDRESS", "COUNT"))


def pack_entry(address: int, words: int, *flags: str) -> int:
    """A GPFIFO entry for `words` words at a GPU address. flags: "FIELD=SYMBOL" for each field that is not 0.

    The address is a multiple of 4. Raises ValueError for values that do not fit.
    """
    packed = _GET_HI.encode(address >> 32, _LENGTH.encode(words)) | address & _GET.mask
    for flag in flags:
        name, _, symbol = flag.partition("=")
        packed = ENTRY[name].encode(ENTRY[name].values.number(symbol), packed)
    return packed


def segment_of(entry: int) -> tuple[int, int]:
    """GPU address and words of a GPFIFO entry's segment; 0 words: it is a control entry."""
    return _GET_HI.raw(entry) << 32 | entry & _GET.mask, _LENGTH.raw(entry)


def pack_header(form: int, subchannel: int, word: int, count: int) -> int:
    """A header of one of the newer forms. word: of the method; count: data words, or the immediate value.

    Raises ValueError for values that do not fit.
    """
    packed = _SUBCHANNEL.encode(subchannel, _FORM.encode(form))
    return _COUNT.encode(count, _ADDRESS.encode(word, packed))


def header_columns(words: NDArray[np.uint32], *names: str) -> list[NDArray[np.int64]]:
    """Fields of all headers of an array."""
    wide = words.astype(np.int64)
    return [wide >> HEADER[name].lo & (1 << HEADER[name].width) - 1 for name in names]
