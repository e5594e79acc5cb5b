"""What projects that tests make and run pytest in have in common."""

from __future__ import annotations

WITHOUT = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Options of pytest: plugins of others that tests of this project have installed and such a project does not need. To
load them takes a quarter of a run."""
