"""Figures of the site's notebooks in a browser: drawn from data in the page, in its colours, at any width."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
from browser.browsing import Browser, missing, watching
from support.house import ROOT

import pocketgpu
from pocketgpu.notebook import plots

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
go = pytest.importorskip("plotly.graph_objects")
DOCS = ROOT / "docs"
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ --color-foreground-primary: #111111; --color-background-border: #dddddd;
        --color-background-secondary: #f0f0f0; margin: 0; }}
body[data-theme="dark"] {{ --color-foreground-primary: #eeeeee; --color-background-border: #333333;
        --color-background-secondary: #202020; }}
</style><link rel="stylesheet" href="notebooks.css"><body data-theme="light">{figures}
<script src="plotly.min.js"></script><script src="figures.js"></script>"""
READ = """() => [...document.querySelectorAll('.plotly-figure')].map(one => ({
  text: getComputedStyle(one.querySelector('.ytick text')).fill, width: one.querySelector('.main-svg').clientWidth,
  height: one.clientHeight, ground: one.layout.plot_bgcolor, grid: one.layout.yaxis.gridcolor,
  titles: [...one.querySelectorAll('.gtitle')].map(title => title.textContent),
  bars: one.querySelectorAll('.bars .point').length, links: one.querySelectorAll('a[href*=example]').length,
}))"""


def test_figures_have_the_colours_of_their_page(browser: Browser, tmp_path: Path) -> None:
    html = runpy.run_path(str(DOCS / "extensions" / "plotly_figures.py"))["figure_html"]
    run = pocketgpu.debug(ROOT / "src/pocketgpu/data/sample.ctf.xz")
    hostile = plots.timeline(run, 0)
    hostile.update_layout(title_text="</script><script>alert(1)</script>")
    figures: list[Any] = [plots.costs(run, 0), plots.overdraw(run, "f0/d3", "draw"), hostile]
    page = PAGE.format(figures="".join(html(json.loads(one.to_json())) for one in figures))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    for path in (*(DOCS / "static").iterdir(), Path(go.__file__).parents[1] / "package_data" / "plotly.min.js"):
        shutil.copy(path, tmp_path)
    asked: list[str] = []
    with watching(browser) as watched:
        watched.spoil()  # a file has another origin
        shown = watched.page
        shown.on("request", lambda request: asked.append(request.url))
        shown.set_viewport_size({"width": 400, "height": 700})
        shown.goto((tmp_path / "page.html").as_uri())
        shown.locator("html[data-figures='3']").wait_for()
        light = shown.evaluate(READ)
        assert {one["text"] for one in light} == {"rgb(17, 17, 17)"} and {one["width"] for one in light} == {400}
        assert {(one["ground"], one["grid"]) for one in light} == {("#f0f0f0", "#dddddd")}
        assert [one["height"] for one in light] == [one.layout.height for one in figures]
        assert light[0]["bars"] == 3 * 16 and light[2]["titles"] == ["</script><script>alert(1)</script>"]
        shown.evaluate("document.body.dataset.theme = 'dark'")
        shown.wait_for_function(f"({READ})().every(one => one.text === 'rgb(238, 238, 238)')")
        assert {(one["ground"], one["grid"]) for one in shown.evaluate(READ)} == {("#202020", "#333333")}
        shown.set_viewport_size({"width": 1000, "height": 700})
        shown.wait_for_function(f"({READ})().every(one => one.width === 1000)")
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked

