"""Which files and folders of the tree the build of the site makes: tests of pages leave them alone."""

from __future__ import annotations

from pathlib import Path

from support.house import ROOT

MADE = (ROOT / "docs/way", ROOT / "docs/gallery", ROOT / "docs/figures.md")
"""What is made outside of folders that are called "generated"."""


def is_made(path: Path) -> bool:
    """Whether a path is one of these, or in one."""
    return "generated" in path.parts or any(path == one or one in path.parents for one in MADE)
