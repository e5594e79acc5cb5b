"""Headers of list entries, by the picture in 3dbrew's page: id, byte mask, further parameters, consecutive."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.facts.list_entry import ALL_BYTES, MOST_PARAMETERS, header_columns, header_of, header_word, length_of


def by_hand(id: int, mask: int, extra: int, step: int) -> int:
    return id | mask << 16 | extra << 20 | step << 31


CASES = [(0, 0, 0, 0), (0xFFFF, 15, 255, 1), (0x2CC, 15, 254, 0), (0x10, 1, 1, 1), (0x8000, 8, 128, 0)]


@pytest.mark.parametrize("fields", CASES)
def test_fields_are_where_the_page_has_them(fields: tuple[int, int, int, int]) -> None:
    word = by_hand(*fields)
    assert header_of(word) == fields == header_of(word | 7 << 28), "three bits mean nothing"
    id, mask, extra, step = fields
    assert header_word(id, extra + 1, bool(step), mask) == word
    assert length_of(word) == 2 * ((2 + extra + 1) // 2)


def test_columns_are_fields_of_many_words() -> None:
    words = np.array([by_hand(*fields) for fields in CASES], np.uint32)
    assert list(zip(*(column.tolist() for column in header_columns(words)), strict=True)) == CASES


def test_limits() -> None:
    assert (ALL_BYTES, MOST_PARAMETERS) == (15, 256)
    assert header_word(1, 256, False) == by_hand(1, 15, 255, 0)
    for arguments in ((1, 257, False), (1, 0, False), (0x10000, 1, False), (1, 1, False, 16)):
        with pytest.raises(ValueError):
            header_word(*arguments)
