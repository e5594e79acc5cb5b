"""The random programs of tests/fuzz, one in a hundred of them, always the same ones."""

from __future__ import annotations

import pytest
from support.fuzz import load

pytest.importorskip("unicorn", reason="needs the extra 'guest'")


def test_headers_with_one_byte_changed() -> None:
    """Every 17th of the systematic cases."""
    guests = load("guests")
    counts = guests.run(guests.systematic() // 17, seed=1, step=17)
    assert counts["byte"] == counts["cases"] >= 400
    assert counts["refused"] >= 25 and counts["read"] >= 300 and counts["run"] >= 5


def test_damaged_and_hostile_programs() -> None:
    guests = load("guests")
    counts = guests.run(600, seed=1, first=guests.systematic())
    assert counts["cases"] == 600
    for name, least in {"damaged": 350, "made": 60, "code": 15, "debug": 5, "refused": 150, "read": 200, "run": 20,
                        "lines": 5, "end: fault": 12}.items():  # fmt: skip
        assert counts[name] >= least, (name, counts[name])


def test_headers_of_the_switch_with_one_byte_changed() -> None:
    """Every 17th of the systematic cases."""
    guests = load("guests_switch")
    counts = guests.run(guests.systematic() // 17, seed=1, step=17)
    assert counts["byte"] == counts["cases"] >= 400
    assert counts["refused"] >= 25 and counts["read"] >= 300 and counts["run"] >= 5


def test_damaged_and_hostile_programs_of_the_switch() -> None:
    guests = load("guests_switch")
    counts = guests.run(600, seed=1, first=guests.systematic())
    assert counts["cases"] == 600
    for name, least in {"damaged": 350, "made": 60, "code": 15, "debug": 5, "refused": 150, "read": 200, "run": 20,
                        "lines": 5, "end: fault": 12}.items():  # fmt: skip
        assert counts[name] >= least, (name, counts[name])
