"""Words to instructions, all words of a program at once.

All words with the same top byte are compared at once with each row of the table that can match it. A word that matches
no row, or that has a field with an undefined value, is refused.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.sass import CONTROL_BITS, FORMS, Form
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, WORD, offset_of
from pocketgpu.maxwell.sass.isa.instruction import Instruction, Program
from pocketgpu.maxwell.sass.isa.operand import RZ

REFUSED = -1
"""Row number of a word that is no instruction."""


class SassError(UsageError):
    """Code that cannot be decoded, or text that cannot be assembled.

    `address`: where in the code, None for text. `line`, `column`: where in the text, from 1; 0 if it is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        address: int | None = None,
        place: tuple[int, int] = (0, 0),
        location: str | None = None,
        hint: str | None = None,
    ) -> None:
        if location is None and address is not None:
            location = f"{address:#06x}"
        if location is None and place[0]:
            location = f"line {place[0]}, column {place[1]}"
        super().__init__(message, location=location, hint=hint)
        self.address = address
        self.line, self.column = place


@cache
def _by_top_byte() -> tuple[tuple[Form, ...], ...]:
    """For each top byte the rows that can fit, those with most fixed bits first."""
    ordered = sorted(FORMS.values(), key=lambda form: (-form.mask.bit_count(), form.index))
    fits: tuple[list[Form], ...] = tuple([] for _ in range(256))
    for form in ordered:
        fixed, free = form.value & form.mask, ~form.mask >> 56 & 0xFF
        some = free
        while True:  # every value of the bits that the row leaves free, down to none of them
            fits[fixed >> 56 | some].append(form)
            if not some:
                break
            some = (some - 1) & free
    return tuple(tuple(forms) for forms in fits)


@cache
def _rows() -> tuple[Form, ...]:
    return tuple(FORMS.values())


_FEW = 256
"""Up to so many words, matching one by one is faster than matching all at once."""


def match(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int16]:
    """The row of the table of each word, REFUSED for words that are no instruction."""
    if words.size <= _FEW:
        found = [find_form(word) for word in words.reshape(-1).tolist()]
        numbers = [REFUSED if form is None else form.index for form in found]
        return np.array(numbers, np.int16).reshape(words.shape)
    rows = np.full(words.shape, REFUSED, np.int16)
    tops = (words >> np.uint64(56)).astype(np.uint8)
    for top in np.flatnonzero(np.bincount(tops)):
        places = np.nonzero(tops == top)[0]
        for form in _by_top_byte()[top]:
            if not len(places):
                break
            here = words[places]
            fits = (here & np.uint64(form.mask)) == np.uint64(form.value & form.mask)
            for bits in form.exceptions:
                fits &= bits.get(here) != RZ
            if not fits.any():
                continue
            good = places[fits]
            rows[good] = form.index
            for bits, refused in form.limits:
                bad = np.isin(bits.get(words[good]), np.array(refused, np.uint64))
                rows[good[bad]] = REFUSED
            places = places[~fits]
    return rows


def find_form(word: int) -> Form | None:
    """The row of the table that a word is of, None if it is no instruction."""
    for form in _by_top_byte()[word >> 56 & 0xFF]:
        if word & form.mask == form.value & form.mask and all(bits.get(word) != RZ for bits in form.exceptions):
            legal = all(bits.get(word) not in refused for bits, refused in form.limits)
            return form if legal else None
    return None


def decode(word: int, address: int = 0, control: int | None = None) -> Instruction:
    """One instruction. address: where it stands, for the targets of branches. control: its 21 bits of scheduling.

    :raises SassError: the word is no instruction.
    """
    form = find_form(word)
    if form is None:
        raise SassError(f"{word:#018x} is no instruction", address=address)
    return Instruction(address, word, form, control)


def split(code: bytes) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """(instruction words, 21 scheduling bits of each) of code in bundles of 32 bytes.

    A last bundle may be cut short after any of its instructions.

    :raises SassError: the size is not a multiple of 8 bytes, or the code ends after a control word.
    """
    if len(code) % WORD or len(code) % BUNDLE == WORD:
        raise SassError(f"{len(code)} bytes are no Maxwell code", hint="It comes in bundles of 32 bytes.")
    count = len(code) // WORD
    padded = np.zeros((count + 3) // 4 * 4, np.uint64)
    padded[:count] = np.frombuffer(code, "<u8")
    bundles = padded.reshape(-1, 4)
    shifts = np.arange(3, dtype=np.uint64) * np.uint64(CONTROL_BITS)
    controls = (bundles[:, :1] >> shifts) & np.uint64((1 << CONTROL_BITS) - 1)
    instructions = count - (count + 3) // 4
    return bundles[:, 1:].reshape(-1)[:instructions], controls.astype(np.uint32).reshape(-1)[:instructions]


def decode_program(code: bytes, base: int = 0) -> Program:
    """All instructions of code in bundles of 32 bytes, control words removed. base: address of its first byte.

    :raises SassError: the code has no whole bundles, or a word is no instruction (the first such is named).
    """
    words, controls = split(code)
    rows = match(words)
    bad = np.nonzero(rows == REFUSED)[0]
    if len(bad):
        first = int(bad[0])
        raise SassError(f"{int(words[first]):#018x} is no instruction", address=base + offset_of(first))
    forms = _rows()
    instructions = tuple(
        Instruction(base + offset_of(index), word, forms[row], control)
        for index, (word, row, control) in enumerate(zip(words.tolist(), rows.tolist(), controls.tolist(), strict=True))
    )
    return Program(base, len(code), instructions, words, controls, rows)
