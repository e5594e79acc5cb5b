"""Figures of Plotly on the site: a page made of a notebook holds them as data, and `figures.js` draws them.

Plotly's own script is copied from the installed package, once, and only pages with a figure load it. So no page asks
another host for anything.
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MIME = "application/vnd.plotly.v1+json"
"""What notebooks call a figure."""
SCRIPTS = ("plotly.min.js", "figures.js")
"""In the order in which a page loads them."""
HEIGHT = 450
"""Of a figure that says nothing, in pixels."""


def figure_html(figure: dict[str, Any]) -> str:
    """A figure as a part of a page, which keeps its height free until it is drawn."""
    shown = {name: figure[name] for name in ("data", "layout") if name in figure}
    data = json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c")  # no text of it ends the element
    height = int(figure.get("layout", {}).get("height") or HEIGHT)
    return (
        f'<div class="plotly-figure" style="height:{height}px"><script type="application/json">{data}</script>'
        "<noscript>This figure needs JavaScript.</noscript></div>"
    )


class PlotlyFigures:
    """Renders figures for myst-nb, which finds the class by an entry point."""

    mime_priority_overrides = (("html", MIME, 1),)

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[Any] | None:
        """See `myst_nb.core.render.MimeRenderPlugin`."""
        if inline or data.mime_type != MIME:
            return None
        from docutils import nodes

        for name in SCRIPTS:
            renderer.add_js_file(name, name, {"defer": "defer"})
        return [nodes.raw(text=figure_html(data.content), format="html", classes=["output", "text_html"])]


def _copy_plotly(app: Any, exception: Exception | None) -> None:
    """Put Plotly's script beside the other static files."""
    if exception is None and app.builder.format == "html":
        found = find_spec("plotly")
        assert found is not None and found.origin is not None, "requirements/docs.txt has plotly"
        script = Path(found.origin).parent / "package_data" / SCRIPTS[0]
        shutil.copy(script, Path(app.outdir) / "_static" / SCRIPTS[0])


def setup(app: Any) -> dict[str, bool]:
    """The extension of Sphinx."""
    app.connect("build-finished", _copy_plotly)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
