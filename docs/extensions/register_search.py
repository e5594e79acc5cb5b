"""The search of the site finds registers by each of their names and addresses (reference_pages/search.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reference_pages import search

SCRIPTS = (search.SCRIPT, "register_search.js")
"""In the order in which the page of results loads them."""


def add_scripts(app: Any, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    """Only the page of results loads the index."""
    if pagename == "search":
        for name in SCRIPTS:
            app.add_js_file(name, loading_method="defer")


def write_index(app: Any, exception: Exception | None) -> None:
    """Put the index beside the other static files."""
    if exception is None and app.builder.format == "html":
        path = Path(app.outdir) / "_static" / search.SCRIPT
        path.write_text(search.script(), encoding="utf-8", newline="\n")


def setup(app: Any) -> dict[str, bool]:
    """The extension of Sphinx."""
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
