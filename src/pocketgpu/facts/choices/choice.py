"""The type of a named choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice. alternatives: the values besides `default`. sources: the sources of each value."""

    WHAT_IF: ClassVar[str] = "what-if"
    """The source of a value that is there to see what it would look like."""

    name: str
    default: str
    alternatives: tuple[str, ...]
    doc: str
    sources: Mapping[str, str]

    @property
    def values(self) -> tuple[str, ...]:
        """All values, the default first."""
        return (self.default, *self.alternatives)

    @property
    def what_if(self) -> bool:
        """Whether nobody doubts the default: the others show what it would look like."""
        return all(self.sources[value] == self.WHAT_IF for value in self.alternatives)


def named(name: str, doc: str, /, **sources: str) -> Choice:
    """A choice whose first value is the default; underscores in value names stand for hyphens."""
    by_value = {value.lstrip("_").replace("_", "-"): source for value, source in sources.items()}
    default, *others = by_value
    return Choice(name, default, tuple(others), doc, by_value)
