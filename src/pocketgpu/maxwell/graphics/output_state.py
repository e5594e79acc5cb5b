"""What the registers say about tests and writes at the end of the pipeline: `OutputState`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TestKey:
    """What shapes the code of `output.test`."""


@dataclass(frozen=True)
class WriteKey:
    """What shapes the code of `output.write`."""
