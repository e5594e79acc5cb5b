"""Which registers of both consoles' GPUs a choice is about: `registers.tsv`, with names as shell patterns."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.choices.choice import Choice
from pocketgpu.facts.choices.evidence import table_rows


def about_register(block: str, name: str) -> tuple[Choice, ...]:
    """The choices that a register is about, in their order.

    :param block: the name of its block or class, such as "pica" or "b197".
    """
    found = {
        choice for choice, blocks, patterns in _rows()
        if block in blocks and any(fnmatchcase(name, pattern) for pattern in patterns)
    }  # fmt: skip
    return tuple(choice for choice in CHOICES.values() if choice.name in found)


def patterns() -> Iterator[tuple[str, str, str]]:
    """(choice, block, pattern) of every entry of the table."""
    for choice, blocks, wanted in _rows():
        yield from ((choice, block, pattern) for block in blocks for pattern in wanted)


@cache
def _rows() -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    rows = table_rows("registers.tsv")
    return tuple((choice, tuple(blocks.split()), tuple(names.split())) for choice, blocks, names in rows)


__all__ = ["about_register", "patterns"]
