"""Two runs held against each other: captures, or one capture under two settings.

Events are aligned (alignment.py), then looked at in the order in which a difference would arise: commands and
registers (structure.py), vertices (vertices.py), pixels of render targets and pictures (pixel_search.py). Each
difference names the place in both runs. `compare.diff` puts it together.
"""

from pocketgpu.inspect.diff.compare import diff
from pocketgpu.inspect.diff.report import Difference, Report

__all__ = ["Difference", "Report", "diff"]
