"""Random programs of tests/fuzz, one in a hundred of them, always the same ones."""

from __future__ import annotations

from support.fuzz import load


def test_random_programs() -> None:
    counts = load("sass_programs").run(1000, 25, seed=1, numpy=25)
    assert counts["cases"] == 1000 and counts["specialised"] == 25 and counts["numpy"] == 25
    # They must go on reaching what they are about.
    assert counts["hung"] >= 100 and counts["faults"] >= 300 and counts["steps"] >= 50_000
