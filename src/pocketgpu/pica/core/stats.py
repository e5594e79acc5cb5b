"""Counters of a machine's work."""

from __future__ import annotations

PHASES = ("loads", "list", "vertex", "raster", "fill", "transfer")


class Stats:
    """Counts since the last `reset`; `seconds` by phase."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """All counts zero."""
        self.draws = self.triangles = self.fragments = self.vertices = 0
        self.seconds = dict.fromkeys(PHASES, 0.0)
