"""Registers that differ: found by a plain comparison of words and of bits, and what a line says of them."""

from __future__ import annotations

import random

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.changes import MOST_FIELDS, MOST_WORDS, Change, change, changes_between, lines_of


def test_differences_of_two_sets_of_registers() -> None:
    """A register that only one side has counts as 0 on the other. The order is that of the new side."""
    names = ["COLOR_OPERATION", "BLEND_FUNC", "DEPTH_COLOR_MASK", "nothing has this name", "LOGIC_OP"]
    r = random.Random(1)
    for _ in range(40):
        old, new = ({n: r.getrandbits(2) for n in r.sample(names, r.randrange(6))} for _ in range(2))
        found = changes_between(old, new)
        wanted = [n for n in [*new, *(n for n in old if n not in new)] if old.get(n, 0) != new.get(n, 0)]
        told = [(one.register, one.old, one.new) for one in found]
        assert told == [(n, old.get(n, 0), new.get(n, 0)) for n in wanted]


def test_fields_that_differ_are_those_whose_bits_differ() -> None:
    r = random.Random(2)
    registers = [one for one in PICA.registers if one.fields]
    for register in r.sample(registers, 30):
        old = r.getrandbits(32)
        for new in (old, old ^ 1 << r.randrange(32), r.getrandbits(32)):
            bits = {n for n in range(32) if (old ^ new) >> n & 1}
            wanted = [
                (one.name, one.text(old), one.text(new)) for one in register.fields
                if not one.view and bits & {n for n in range(32) if one.mask >> n & 1}
            ]  # fmt: skip
            assert list(change("X", old, new, register).fields) == wanted
    assert change("X", 0, 1).fields == ()


def test_a_change_in_a_line() -> None:
    fields = tuple((f"f{n}", "0", str(n)) for n in range(MOST_FIELDS + 1))
    start = "X 0x00000001 -> 0x0000000a"
    assert str(Change("X", 1, 10)) == start
    shown = ", ".join(f"f{n} 0 -> {n}" for n in range(MOST_FIELDS))
    assert str(Change("X", 1, 10, fields[:MOST_FIELDS])) == f"{start} ({shown})"
    assert str(Change("X", 1, 10, fields)) == f"{start} ({shown}, 1 more)"
    assert str(Change("program", 5, 5, (("text", "a", "b"),))) == "program a -> b"
    assert str(Change("X", 5, 5)) == "X 0x00000005 -> 0x00000005"
    assert Change("X", 1, 10, fields[:1]).to_json() == {
        "register": "X", "old": "0x00000001", "new": "0x0000000a",
        "fields": [{"name": "f0", "old": "0", "new": "0"}],
    }  # fmt: skip


def test_long_tables_are_cut() -> None:
    """Each table for itself; registers are never cut."""
    registers = [Change(f"R{n}", 0, 1) for n in range(2 * MOST_WORDS)]
    short, long = ([Change(f"{t}{n}", 0, 1, table=t) for n in range(count)] for t, count in (("s", 8), ("l", 10)))
    assert MOST_WORDS == 8
    assert list(lines_of([*registers, *short])) == [str(one) for one in [*registers, *short]]
    mixed = [one for pair in zip(short, long[:8], strict=True) for one in pair]
    lines = list(lines_of([*mixed, *long[8:], *registers]))
    cut = "l: 2 words more; --json has them all"
    assert lines == [*map(str, mixed), cut, *map(str, registers)]
