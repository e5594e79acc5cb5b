"""What operations do and how long they take: a row for each mnemonic of the table of instructions."""

from __future__ import annotations

from pocketgpu.facts.maxwell.sass import FORMS
from pocketgpu.facts.maxwell.sass.operations import CLASSES, OPERATIONS


def test_each_mnemonic_has_a_meaning() -> None:
    assert OPERATIONS.keys() == {form.op for form in FORMS.values()}
    assert [name for name, one in OPERATIONS.items() if not 0 < len(one.meaning) < 100] == []
    # Each stands alone: an editor shows one of them.
    assert [name for name, one in OPERATIONS.items() if "the same" in one.meaning] == []


def test_classes_are_used_and_plausible() -> None:
    used = {one.group.name for one in OPERATIONS.values() if one.group is not None}
    assert used == CLASSES.keys()
    for one in CLASSES.values():
        assert one.cycles > 0 and one.each > 0 and one.barrier >= 0 and one.meaning
        assert ("write barrier" in one.meaning) == (one.barrier > 0 or one.name == "quarter")
    assert OPERATIONS["LDG"].group is CLASSES["global"] and OPERATIONS["IDE"].group is None
