"""Programs of the Switch that send anything to its services."""

from __future__ import annotations

from support.fuzz import load


def test_random_messages() -> None:
    counts = load("switch_messages").run(2000, seed=3)
    assert counts["cases"] == 2000
    assert counts["answered"] > 1000 and counts["refused by the kernel"] > 200
