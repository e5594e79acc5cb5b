"""What `pytest --quick` runs, by `tests/quick.txt`: files, without some of their functions, a few cases of each.

A line of the list is a file, relative to the folder of tests, then names of test functions: `name` takes too long and
is left out, `+name` is so quick that all its cases run.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
LIST = TESTS / "quick.txt"
CASES = 2
"""How many cases of a function run: the first and the last."""


@cache
def listed() -> dict[Path, frozenset[str]]:
    """File -> names of functions in it that are left out, and those that run whole, with a +."""
    found: dict[Path, frozenset[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words:
            found[TESTS / words[0]] = frozenset(words[1:])
    return found


@cache
def files() -> frozenset[Path]:
    """Files that are looked at, those with fixtures included."""
    return frozenset({*listed(), *TESTS.rglob("conftest.py")})


def chosen(items: list[pytest.Item]) -> set[pytest.Item]:
    """The tests of a collection that run."""
    functions: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        name = getattr(item, "originalname", item.name)
        if name not in listed().get(item.path, frozenset()):
            functions[item.path, name].append(item)
    whole = {(path, name) for path, name in functions if f"+{name}" in listed().get(path, frozenset())}
    return {item for key, cases in functions.items() for item in (cases if key in whole else few(cases))}


def few(cases: list[pytest.Item]) -> list[pytest.Item]:
    """At most CASES of them, from the first to the last."""
    if len(cases) <= CASES:
        return cases
    return [cases[round(number * (len(cases) - 1) / (CASES - 1))] for number in range(CASES)]
