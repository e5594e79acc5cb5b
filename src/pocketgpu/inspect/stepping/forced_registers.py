"""What-if: words that registers, and words of memory, are given right before a step, while a trace is made."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.memory_words import memory_word

Forced = Mapping[int, Mapping[str, int]]
"""Words by step and register, or name of a word of memory (`memory_words`)."""


def last_forced(forced: Forced, register: str, first: int, last: int) -> int | None:
    """What a register was given last before one of the steps first to last; None if it was not."""
    steps = [step for step, words in forced.items() if first <= step <= last and register in words]
    return forced[max(steps)][register] if steps else None


def check_forced(forced: Forced, names: Collection[str], memory: bool = False) -> None:
    """Refuse words that cannot be given. memory: whether words of memory can be.

    :raises UsageError: there is no such register, or the word has more than 32 bits.
    """
    for words in forced.values():
        for name, word in words.items():
            if name not in names and not (memory and memory_word(name) is not None):
                raise UsageError(f"there is no register {name!r} to be set")
            if not 0 <= word < 1 << 32:
                raise UsageError(f"{word:#x} is no word of 32 bits", location=name)


__all__ = ["Forced", "check_forced", "last_forced"]
