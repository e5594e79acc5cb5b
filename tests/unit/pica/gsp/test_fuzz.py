"""The random cases of tests/fuzz, one in a hundred of them, always the same ones."""

from __future__ import annotations

import pytest
from support.fuzz import load


def test_gx_commands_and_queue_states() -> None:
    counts = load("gsp").run(1000, seed=1)
    assert counts["cases"] == 1000
    # The cases must go on reaching what they are about.
    assert counts["ran"] >= 100 and counts["corruptions"] >= 50 and counts["calls"] >= 50
    assert sum(1 for name in counts if name.startswith("refused")) >= 5


def test_gx_logs() -> None:
    counts = load("gxlog").run(1000, seed=1)
    assert counts["cases"] == 1000
    assert counts["refused"] >= 300 and counts["parsed"] >= 100 and counts["replayed"] >= 5


def test_a_case_depends_on_its_number_alone() -> None:
    gxlog = load("gxlog")
    assert gxlog.make(1, 7) == gxlog.make(1, 7) != gxlog.make(1, 8)
    gsp = load("gsp")
    assert gsp.run(40, seed=2, first=3) == gsp.run(40, seed=2, first=3)


def test_a_failure_names_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    gxlog = load("gxlog")
    monkeypatch.setattr(gxlog, "check", lambda *_: 1 / 0)
    with pytest.raises(AssertionError, match="seed 5, case 12: ZeroDivisionError"):
        gxlog.run(1, seed=5, first=12)
    gsp = load("gsp")
    monkeypatch.setattr(gsp.Episode, "step", lambda _: 1 / 0)
    with pytest.raises(AssertionError, match="seed 5, episode 12"):
        gsp.run(1, seed=5, first=12)
