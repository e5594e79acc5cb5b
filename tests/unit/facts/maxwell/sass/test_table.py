"""The table of Maxwell instructions agrees with itself: no row hides another, no field lies in the fixed bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pocketgpu.facts.maxwell.sass import CONTROL, CONTROL_BITS, ENUMS, FORMS, SPECIAL_REGISTERS, Bits
from pocketgpu.maxwell.sass.isa import reference
from pocketgpu.maxwell.sass.isa.decoder import REFUSED, find_form, match


def test_every_form_is_found_by_its_own_bits() -> None:
    r = random.Random(1)
    for form in FORMS.values():
        for _ in range(20):
            word = r.getrandbits(64) & ~form.mask | form.value & form.mask
            found = find_form(word)
            # A row with more fixed bits may take it, never one with fewer.
            assert found is form or found is None or found.mask.bit_count() >= form.mask.bit_count(), form.name
        assert any(find_form(r.getrandbits(64) & ~form.mask | form.value & form.mask) is form for _ in range(2000)), (
            form.name
        )


def test_no_two_rows_are_equally_specific_for_a_word() -> None:
    forms = list(FORMS.values())
    for index, one in enumerate(forms):
        for other in forms[index + 1 :]:
            common = one.mask & other.mask
            if (one.value ^ other.value) & common == 0 and not one.exceptions and not other.exceptions:
                assert one.mask != other.mask, (one.name, other.name)


def test_fields_lie_in_the_word_or_its_scheduling_bits() -> None:
    for form in FORMS.values():
        assert form.name.split(".")[0] == form.op
        for name, bits in form.fields.items():
            assert bits.mask >> (64 + CONTROL_BITS) == 0, (form.name, name)
        roles = [one.role for one in form.operands]
        assert len(set(roles)) == len(roles), form.name


def test_bits_are_read_and_written_in_pieces() -> None:
    bits = Bits.parse("56,38:20")
    assert bits.width == 20 and str(bits) == "56,38:20"
    assert bits.get(1 << 56 | 0x123 << 20) == 0x80123
    assert bits.put(0x80123) == 1 << 56 | 0x123 << 20
    words = np.array([bits.put(n) for n in (0, 1, 0xFFFFF, 0x5A5A5)], np.uint64)
    assert bits.get(words).tolist() == [0, 1, 0xFFFFF, 0x5A5A5]


def test_enumerations_name_their_values() -> None:
    rounding = ENUMS["rounding"]
    assert [(m.value, m.name, m.text) for m in rounding.members(2)] == [
        (0, "RN", ""), (1, "RM", "RM"), (2, "RP", "RP"), (3, "RZ", "RZ"),
    ]  # fmt: skip
    assert ENUMS["ld_size"].member(7) == ENUMS["ld_size"].listed[7]
    assert ENUMS["ld_size"].listed[7].text == "U.128"  # type: ignore[union-attr]
    assert ENUMS["fchk"].member(3).text == "INVALIDCHKMODE3"  # type: ignore[union-attr]
    assert ENUMS["swap"].refused(2) == (3,)


def test_control_fields_fill_their_bits() -> None:
    assert sum(((1 << f.width) - 1) << f.lo for f in CONTROL.values()) == (1 << CONTROL_BITS) - 1
    assert SPECIAL_REGISTERS[0x21] == "SR_TID.X" and SPECIAL_REGISTERS[0x25] == "SR_CTAID.X"


def test_a_batch_is_matched_as_single_words_are() -> None:
    r = random.Random(2)
    words = [r.getrandbits(64) for _ in range(5000)]
    rows = match(np.array(words, np.uint64))
    forms = [find_form(word) for word in words]
    assert rows.tolist() == [REFUSED if form is None else form.index for form in forms]
    assert 0.5 < (rows != REFUSED).mean() < 0.95


@pytest.mark.parametrize("name", ["FFMA.C", "IPA", "LOP3.R", "TEXS.1"])
def test_reference_shows_every_field(name: str) -> None:
    form = FORMS[name]
    text = "\n".join(reference.lines(form))
    for field in form.fields:
        assert f" {field} " in text + " ", field
    assert reference.syntax(form).startswith(form.op)
