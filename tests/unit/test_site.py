"""The site's own parts: figures of notebooks as parts of a page, which load nothing from other hosts."""

from __future__ import annotations

import json
import re
import runpy
import sys
from html.parser import HTMLParser
from importlib.metadata import Distribution
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PARTS = runpy.run_path(str(DOCS / "extensions" / "plotly_figures.py"))


class Scripts(HTMLParser):
    """Tags of a page in order, and the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags[-1] == "script":
            self.scripts.append(data)


def test_a_figure_is_data_of_its_page() -> None:
    bad = "</script><script>alert(1)</script><!--"
    figure = {"data": [{"y": [1, 2], "name": bad}], "layout": {"height": 321}, "config": {"plotlyServerURL": "https://x"}}
    html = PARTS["figure_html"](figure)
    found = Scripts(html)
    assert found.tags == ["div", "script", "noscript"] and 'style="height:321px"' in html
    assert json.loads(found.scripts[0]) == {"data": figure["data"], "layout": figure["layout"]}
    assert "height:450px" in PARTS["figure_html"]({"data": []})


class Renderer:
    """Notes which scripts a page loads."""

    def __init__(self) -> None:
        self.scripts: dict[str, str] = {}

    def add_js_file(self, key: str, uri: str, options: dict[str, str]) -> None:
        assert options == {"defer": "defer"}
        self.scripts[key] = uri


def test_only_figures_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin, renderer = PARTS["PlotlyFigures"], Renderer()
    data = type("Data", (), {"mime_type": "text/html", "content": "x"})
    assert plugin.handle_mime(renderer, data, False) is None and renderer.scripts == {}
    data.mime_type = PARTS["MIME"]
    assert plugin.handle_mime(renderer, data, True) is None and renderer.scripts == {}
    nodes = SimpleNamespace(raw=lambda **options: options)  # the tests have no docutils
    monkeypatch.setitem(sys.modules, "docutils", SimpleNamespace(nodes=nodes))
    data.content = {"data": []}
    (node,) = plugin.handle_mime(renderer, data, False)
    assert node["format"] == "html" and node["text"] == PARTS["figure_html"](data.content)
    assert list(renderer.scripts) == list(PARTS["SCRIPTS"]), "Plotly comes first"


def test_the_plugin_is_found_by_its_entry_point() -> None:
    (folder,) = (DOCS / "extensions").glob("*.dist-info")
    (entry,) = Distribution.at(folder).entry_points
    assert (entry.group, entry.value) == ("myst_nb.mime_renderers", "plotly_figures:PlotlyFigures")
    assert (DOCS / "extensions" / f"{entry.module}.py").is_file() and entry.attr in PARTS


def test_no_page_asks_another_host() -> None:
    """What this project writes for its pages; those of libraries are checked where the site is built."""
    for path in (DOCS / "static").iterdir():
        assert not re.search(r"https?://|//\w+\.\w+/|@import|\bfetch\(", path.read_text(encoding="utf-8")), path
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert "nb_ipywidgets_js = {}" in conf and "widget-view+json" in conf


def test_the_site_needs_what_notebooks_need() -> None:
    """Their libraries have the versions that the tests run with, where the tests need them."""

    def pins(name: str) -> dict[str, str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        return {one.lower(): version for one, version in re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)}

    site, test = pins("docs"), pins("test")
    for name in ("plotly", "anywidget", "ipykernel", "nbclient", "nbformat", "dask", "distributed", "duckdb"):
        assert site[name] == test.get(name, site[name]), name
