"""Random programs of tests/fuzz, always the same ones."""

from __future__ import annotations

from support.fuzz import load


def test_random_programs() -> None:
    counts = load("sass_programs").run(300, 24, seed=1, numpy=10)
    assert (counts["cases"], counts["specialised"], counts["numpy"]) == (300, 24, 10)
    # They must go on reaching what they are about.
    assert counts["both"] >= 6 and counts["faults"] >= 60 and counts["wild hung"] >= 30
    assert counts["woven hung"] <= 4 and counts["steps"] >= 25_000
