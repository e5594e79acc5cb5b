"""The sidebar of a page has all pages beside it and above it, and not those of all other branches: these would be in
every page of the site again, and were the larger part of a page of a choice."""

from __future__ import annotations

from typing import Any

BEFORE_THEME = 100
"""Furo makes its sidebar when Sphinx's usual handlers run, at 500."""


def collapse(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the theme a `toctree` that leaves out branches without the page."""
    whole = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def setup(app: Any) -> dict[str, bool]:
    """The extension of Sphinx."""
    app.connect("html-page-context", collapse, priority=BEFORE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
