"""Comparison of two runs: of two captures, or of one capture under two settings.

Events are aligned (alignment.py), then compared in the order in which one difference causes the next: commands and
registers (structure.py), vertices (vertices.py), pixels of render targets and pictures (pixel_search.py). Each
difference names the place in both runs. `compare.diff` does all of it.
"""

from pocketgpu.inspect.diff.compare import diff
from pocketgpu.inspect.diff.report import Difference, Report

__all__ = ["Difference", "Report", "diff"]


def __dir__() -> list[str]:
    return [*__all__]
