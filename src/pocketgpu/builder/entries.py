"""The words of command lists: layout, padding and end of entries.

Source: 3dbrew GPU/Internal Registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.values import FieldValue, encode_register, register_of
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.list_entry import ALL_BYTES, ID, MOST_PARAMETERS, header_word
from pocketgpu.facts.pica import FINALIZE_VALUE, LIST_ALIGNMENT, PICA, START_LIST
from pocketgpu.wording import counted

Words: TypeAlias = NDArray[np.uint32]


class Entries:
    """Command-list words under construction."""

    def __init__(self) -> None:
        self._words: list[int] = []
        self._finalized = False

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self._words), 'word')}, {'finished' if self._finalized else 'open'}")

    # -- entries ----------------------------------------------------------------------------------------------------
    def write(self, register: str | int, word: int = 0, /, *, byte_mask: int = ALL_BYTES, **fields: FieldValue) -> Self:
        """Write a register: `word` with the named fields set. byte_mask: the bytes that are written (bit 0: lowest).

        Field values are natural ones: True, 0.5 for floats, addresses in bytes, counts without "minus one", names of
        enumerations as in the tables ("triangle strip").
        """
        return self.write_fields(register, fields, word, byte_mask=byte_mask)

    def write_fields(
        self, register: str | int, fields: Mapping[str, FieldValue], word: int = 0, *, byte_mask: int = ALL_BYTES
    ) -> Self:
        """The same with the fields in a mapping."""
        target = register_of(PICA, register)
        return self.write_word(target.offset, encode_register(target, fields, word), byte_mask=byte_mask)

    def write_word(self, register: str | int, word: int, *, byte_mask: int = ALL_BYTES) -> Self:
        """Write a whole register word."""
        return self.write_words(register, [word], byte_mask=byte_mask)

    def write_words(
        self, register: str | int, words: Iterable[int], *, consecutive: bool = True, byte_mask: int = ALL_BYTES
    ) -> Self:
        """Write words to registers from `register` on, or (consecutive False) all to `register`, in order."""
        number = register_of(PICA, register).offset
        values = [int(word) & 0xFFFFFFFF for word in words]
        if not 0 <= byte_mask <= ALL_BYTES:
            raise UsageError(f"byte_mask has four bits, not {byte_mask:#x}")
        if consecutive and number + len(values) > len(PICA):
            raise UsageError(f"{counted(len(values), 'word')} from {number:#05x} on end after the last register")
        return self._add(number, values, consecutive, byte_mask)

    def write_id(self, id: int, word: int, *, byte_mask: int = ALL_BYTES) -> Self:
        """Write a word to any id that an entry can name, also to one that is no register."""
        if not 0 <= id < 1 << ID.width or not 0 <= byte_mask <= ALL_BYTES:
            raise UsageError(f"id {id:#x} with byte_mask {byte_mask:#x}: they have 16 and four bits")
        return self._add(id, [int(word) & 0xFFFFFFFF], False, byte_mask)

    def _add(self, number: int, values: list[int], consecutive: bool, byte_mask: int) -> Self:
        """Entries of as many parameters as one can have."""
        self._must_be_open()
        for start in range(0, len(values), MOST_PARAMETERS):
            part = values[start : start + MOST_PARAMETERS]
            id = number + (start if consecutive else 0)
            header = header_word(id, len(part), consecutive and len(part) > 1, byte_mask)
            self._words += [part[0], header, *part[1:]]
            if len(part) % 2 == 0:  # entries are whole pairs of words
                self._words.append(0)
        return self

    def fifo(self, register: str | int, words: Iterable[int]) -> Self:
        """Send words through a data port."""
        return self.write_words(register, words, consecutive=False)

    def _must_be_open(self) -> None:
        if self._finalized:
            raise UsageError("the command list is finished; nothing can be added")

    # -- the end ----------------------------------------------------------------------------------------------------
    def jump(self, address: int, size: int, channel: int = 0) -> Self:
        """Continue with another list of `size` bytes at physical `address` (both multiples of 16); ends this list."""
        if channel not in (0, 1):
            raise UsageError(f"channel is 0 or 1, not {channel}")
        if address % LIST_ALIGNMENT or size % LIST_ALIGNMENT:
            raise UsageError("list addresses and sizes are multiples of 16 bytes")
        self.write(f"CMDBUF_SIZE{channel}", size=size).write(f"CMDBUF_ADDR{channel}", address=address)
        if len(self._words) % 4 == 0:  # the jump must be the last entry within the rounded size
            self.write(f"CMDBUF_ADDR{channel}", address=address)
        self.write_word(f"CMDBUF_JUMP{channel}", START_LIST)
        self._finalized = True
        return self

    def finalize(self) -> Self:
        """End the list with the request for its interrupt, padded to a multiple of 16 bytes. A second call does
        nothing."""
        if not self._finalized:
            self.write_word("FINALIZE", FINALIZE_VALUE)
            if len(self._words) % 4:
                self.write_word("FINALIZE", FINALIZE_VALUE)
            self._finalized = True
        return self

    @property
    def words(self) -> Words:
        """The words so far."""
        return np.array(self._words, np.uint32)

    def tobytes(self) -> bytes:
        """The bytes so far."""
        return self.words.astype("<u4").tobytes()

    def __len__(self) -> int:
        """Words so far."""
        return len(self._words)
