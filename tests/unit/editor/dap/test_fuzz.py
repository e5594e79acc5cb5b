"""A part of the fuzzer of the debug adapter."""

from __future__ import annotations

from support.fuzz import load


def test_messages_that_no_editor_sends() -> None:
    counts = load("dap").run(2000, 3)
    assert counts["cases"] == 2000 and counts["good"] > 500 and counts["refused"] > 500 and counts["skipped"] > 10
