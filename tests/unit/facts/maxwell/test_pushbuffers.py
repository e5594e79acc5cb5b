"""GPFIFO entries and packet headers are packed by the fields of their table."""

from __future__ import annotations

import pytest

from pocketgpu.facts.maxwell.pushbuffers import (
    ENTRY,
    FORMS,
    HEADER,
    MOST_DATA,
    MOST_WORDS,
    pack_entry,
    pack_header,
    segment_of,
)


def test_an_entry_is_packed_as_hardware_has_it() -> None:
    packed = pack_entry(0x12_3456_789C, 0x155, "LEVEL=SUBROUTINE", "SYNC=WAIT")
    assert packed == 0x12_3456_789C | 1 << 41 | 0x155 << 42 | 1 << 63
    assert segment_of(packed) == (0x12_3456_789C, 0x155)
    assert segment_of(packed | ENTRY["FETCH"].mask | ENTRY["PRIV"].mask) == (0x12_3456_789C, 0x155)


@pytest.mark.parametrize("words", [0, 1, MOST_WORDS])
def test_an_entry_keeps_its_length(words: int) -> None:
    assert segment_of(pack_entry(0xFF_FFFF_FFFC, words)) == (0xFF_FFFF_FFFC, words)


@pytest.mark.parametrize(("address", "words"), [(1 << 40, 1), (0x1000, MOST_WORDS + 1), (0x1000, -1)])
def test_what_does_not_fit_an_entry_is_an_error(address: int, words: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        pack_entry(address, words)


def test_a_header_is_packed_as_hardware_has_it() -> None:
    assert pack_header(FORMS.ONE_INC, 3, 0xABC, 0x155) == 5 << 29 | 0x155 << 16 | 3 << 13 | 0xABC
    assert pack_header(FORMS.IMMD_DATA_METHOD, 7, 0xFFF, MOST_DATA) == 4 << 29 | 0x1FFF << 16 | 7 << 13 | 0xFFF
    assert HEADER["IMMD_DATA"].raw(pack_header(FORMS.IMMD_DATA_METHOD, 7, 0xFFF, 9)) == 9


@pytest.mark.parametrize("wrong", [(8, 0, 0, 0), (1, 8, 0, 0), (1, 0, 0x1000, 0), (1, 0, 0, MOST_DATA + 1)])
def test_what_does_not_fit_a_header_is_an_error(wrong: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        pack_header(*wrong)
