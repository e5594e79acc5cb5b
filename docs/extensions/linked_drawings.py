"""Drawings with links: an SVG file that a page shows becomes a part of the page, as pictures have no links.

Pages write it as a picture, so that it is to be seen in other readers of Markdown, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes

_LINK = '<a href="#'


def show(app: Any, doctree: Any, name: str) -> None:
    """Put the drawings of a page into it."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir) / image.get("uri", "")
        if path.suffix == ".svg" and path.is_file() and _LINK in (text := path.read_text(encoding="utf-8")):
            image.replace_self(nodes.raw("", text, format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
