"""The type of a named choice."""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice.

    alternatives: the values besides `default`. meanings: what each value means, or "" where its name says it all.
    what_if: nobody doubts the default; the other values show what it would look like.
    """

    name: str
    default: str
    alternatives: tuple[str, ...]
    doc: str
    meanings: Mapping[str, str]
    what_if: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """All values, the default first."""
        return (self.default, *self.alternatives)


def named(name: str, doc: str, /, **meanings: str) -> Choice:
    """A choice whose first value is the default; underscores in value names stand for hyphens."""
    by_value = {value.lstrip("_").replace("_", "-"): meaning for value, meaning in meanings.items()}
    default, *others = by_value
    return Choice(name, default, tuple(others), doc, by_value)


def what_if(name: str, doc: str, /, **meanings: str) -> Choice:
    """The same for a choice whose default nobody doubts."""
    one = named(name, doc, **meanings)
    return Choice(one.name, one.default, one.alternatives, one.doc, one.meanings, what_if=True)
