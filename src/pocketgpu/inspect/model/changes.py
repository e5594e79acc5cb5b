"""Registers, and their fields, that differ between two moments or two captures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

MOST_FIELDS = 6
"""Most fields that one line of text names."""
MOST_WORDS = 8
"""Most words of one table that a text names."""


@dataclass(frozen=True, slots=True, repr=False)
class Change(Displayed):
    """A register with its old and new word. fields: (name, old value, new value) as text, only those that differ; empty
    where no source describes the bits. table: the name of the memory ("vs_uniforms"…) if the word is in a memory that
    FIFO registers fill, else ""."""

    register: str
    old: int
    new: int
    fields: tuple[tuple[str, str, str], ...] = ()
    table: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "register": self.register, "old": f"{self.old:#010x}", "new": f"{self.new:#010x}",
            "fields": [{"name": name, "old": old, "new": new} for name, old, new in self.fields],
        }  # fmt: skip

    def __str__(self) -> str:
        if self.old == self.new and self.fields:  # a difference that is no register word
            return f"{self.register} {self.fields[0][1]} -> {self.fields[0][2]}"
        text = f"{self.register} {self.old:#010x} -> {self.new:#010x}"
        if not self.fields:
            return text
        parts = [f"{name} {old} -> {new}" for name, old, new in self.fields[:MOST_FIELDS]]
        parts += [f"{len(self.fields) - MOST_FIELDS} more"] if len(self.fields) > MOST_FIELDS else []
        return f"{text} ({', '.join(parts)})"


def change(name: str, old: int, new: int, register: Register | None = None) -> Change:
    """The change of one register. register: its description, if there is one."""
    parts = []
    for field in register.fields if register is not None else ():
        if not field.view and (old ^ new) & field.mask:
            parts.append((field.name, field.text(old), field.text(new)))
    return Change(name, old, new, tuple(parts))


def in_full(name: str, old: int, new: int, register: Register | None = None) -> Change:
    """A register with all its fields, whether they differ or not."""
    fields = [field for field in (register.fields if register is not None else ()) if not field.view]
    return Change(name, old, new, tuple((one.name, one.text(old), one.text(new)) for one in fields))


def changes_between(
    old: Mapping[str, int], new: Mapping[str, int], lookup: Callable[[str], Register | None] | None = None
) -> list[Change]:
    """All registers whose words differ, in the order of `new`. A register that is missing on one side counts as 0.
    lookup: finds a register by its name; None: among those of the 3DS."""
    if lookup is None:
        from pocketgpu.facts.lookup import register_named  # tables that questions about a Switch do not need

        lookup = register_named
    names = dict.fromkeys([*new, *old])
    pairs = ((name, old.get(name, 0), new.get(name, 0)) for name in names)
    return [change(name, a, b, lookup(name)) for name, a, b in pairs if a != b]


def lines_of(changes: Sequence[Change]) -> Iterator[str]:
    """One line for each change; for a table with many changes, the first ones and how many more there are."""
    counts = Counter(one.table for one in changes if one.table)
    seen: Counter[str] = Counter()
    for one in changes:
        seen[one.table] += 1
        if not one.table or seen[one.table] <= MOST_WORDS:
            yield str(one)
        elif seen[one.table] == MOST_WORDS + 1:
            yield f"{one.table}: {counted(counts[one.table] - MOST_WORDS, 'word')} more; --json has them all"
