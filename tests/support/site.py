"""Modules of the site's pages, which are not part of the package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from support.house import ROOT

DOCS = ROOT / "docs"


@contextmanager
def importable() -> Iterator[None]:
    """Modules of `docs` and of its extensions can be imported."""
    folders = [str(DOCS), str(DOCS / "extensions")]
    sys.path[:0] = folders
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)


def site_module(name: str) -> Any:
    """A module of the site, such as "reference_pages.bits"."""
    with importable():
        return import_module(name)
