"""Random programs of tests/fuzz, always the same ones."""

from __future__ import annotations

from support.fuzz import load


def test_random_programs() -> None:
    counts = load("sass_programs").run(250, seed=1, specialised=16, numpy=6)
    assert (counts["cases"], counts["specialised"], counts["numpy"]) == (250, 16, 6)
    # They must go on reaching what they are about.
    assert counts["both"] >= 3 and counts["faults"] >= 50 and counts["wild hung"] >= 25
    assert counts["woven hung"] <= 4 and counts["steps"] >= 20_000
