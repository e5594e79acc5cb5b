"""Keys of ABOUT records in the files of a probe, and lists of numbers in their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

SENT: Final = "probe"
VERSION: Final = "1"
CHOICE: Final = "probe.choice"
MEMORY: Final = "probe.memory"
REGISTER: Final = "probe.register"
INTERRUPTS: Final = "probe.interrupts"
MAIN: Final = "probe.main"
RELOCATE: Final = "probe.relocate"
LOOK: Final = "probe.look"
LOOK_TEXT: Final = "probe.look.text"

ANSWER: Final = "probe.answer"
DIGEST: Final = "probe.sent"
CONSOLE: Final = "probe.console"
MODEL: Final = "probe.model"
PROGRAM: Final = "probe.program"
END: Final = "probe.end"
HUNG: Final = "probe.hung"
ERRORS: Final = "probe.errors"
MOVED: Final = "probe.moved"
SEEN: Final = "probe.seen"

FINISHED: Final = "finished"
STOPPED: Final = "stopped: too many units that hang"
"""The end of a file after which the program went no further; what there was by then was read."""
NO_ANSWER: Final = "no answer"
REFUSED: Final = "refused: "

OURS: Final = "pocketgpu "
"""How the text of a console begins if our own machine ran the program."""

_SEPARATOR: Final = re.compile(r"[ ,]+")
_HEX: Final = re.compile(r"[0-9A-Fa-f]{1,16}")


def numbers(text: str) -> list[int]:
    """The hexadecimal numbers of a list. Raises ValueError for anything else in it."""
    parts = [part for part in _SEPARATOR.split(text) if part]
    for part in parts:
        if not _HEX.fullmatch(part):
            raise ValueError(f"{part[:40]!r} is no hexadecimal number")
    return [int(part, 16) for part in parts]


def pairs(text: str) -> list[tuple[int, int]]:
    """The pairs of a list of numbers. Raises ValueError for an odd count."""
    found = numbers(text)
    if len(found) % 2:
        raise ValueError("a list of pairs has an odd number of numbers")
    return list(zip(found[::2], found[1::2], strict=True))


def counts(text: str) -> dict[str, int]:
    """Names with decimal counts: "PSC0 1, PPF 2". Raises ValueError for anything else."""
    parts = [part for part in _SEPARATOR.split(text) if part]
    if len(parts) % 2 or not all(part.isdecimal() and len(part) < 10 for part in parts[1::2]):
        raise ValueError(f"{text[:40]!r} is no list of names and counts")
    return {name: int(count) for name, count in zip(parts[::2], parts[1::2], strict=True)}


def listed(rows: Iterable[Sequence[int]]) -> str:
    """Rows of numbers as a list in hexadecimal digits."""
    return ", ".join(" ".join(f"{number:X}" for number in row) for row in rows)
