"""The check of the built site finds what it says: missing pages and places, other hosts, the pages to look at."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

CHECK = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "check_site.py"))


def site(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_html", ".html").replace("_css", ".css")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


GOOD = """<link rel="stylesheet" href="a.css"><link rel="canonical" href="https://example.org/index.html">
<h1 id="top"><a name="old"></a></h1><a href="https://example.org">out</a><a href="#top">up</a><a href="#old">up</a>
<a href="b/other.html#a%20place">b</a><a href="b/">b</a><a href="mailto:a@b.c">m</a><img src="data:image/png;base64,">
<img src="one.html" srcset="one.html 1x, b/other.html 2x">"""


def test_a_site_without_mistakes(tmp_path: Path) -> None:
    folder = site(
        tmp_path, index_html=GOOD, one_html="", b__other_html='<p id="a place"><a href="../index.html#top">',
        b__index_html="", a_css='p {background: url("one.html") url(data:image/png;base64,x)}',
    )  # fmt: skip
    assert list(CHECK["broken"](folder)) == []
    assert CHECK["size_of"](folder) == sum(path.stat().st_size for path in tmp_path.rglob("*.*"))


@pytest.mark.parametrize(
    "page, wrong",
    [
        ('<a href="no.html">', "no.html is not there"),
        ('<a href="one.html#no">', "one.html#no has no such place"),
        ('<a href="#no">', "#no has no such place"),
        ('<img src="no.png">', "no.png is not there"),
        ('<img srcset="one.html, no.png 2x">', "no.png is not there"),
        ('<script src="https://example.org/a.js"></script>', "https://example.org/a.js is loaded from another host"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "//example.org/a.css is loaded from another host"),
        ('<img src="http://example.org/a.png">', "http://example.org/a.png is loaded from another host"),
        ('<p style="background: url(https://example.org/a.png)">', "https://example.org/a.png is loaded"),
        ('<iframe src="https://example.org"></iframe>', "https://example.org is loaded from another host"),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, page: str, wrong: str) -> None:
    (found,) = CHECK["broken"](site(tmp_path, index_html=page, one_html=""))
    assert found.startswith("index.html: ") and wrong in found


def test_style_sheets_of_other_hosts_are_found(tmp_path: Path) -> None:
    folder = site(tmp_path, a_css="@import 'https://example.org/a.css'; p {background: url(no.png)}")
    assert list(CHECK["broken"](folder)) == [
        "a.css: https://example.org/a.css is loaded from another host", "a.css: no.png is not there",
    ]  # fmt: skip


def test_pages_of_all_folders_are_looked_at(tmp_path: Path) -> None:
    names = ["index_html", "search_html", "a__1_html", "a__2_html", "a__3_html", "b__1_html"]
    folder = site(tmp_path, **{name: "x" * at for at, name in enumerate(names)}, a__4_html="x" * 2_000_000)
    assert CHECK["chosen"](folder, 4) == ["index.html", "search.html", "a/2.html", "b/1.html"]
    assert CHECK["chosen"](folder, 99)[4:] == ["a/3.html", "a/1.html"], "pages that are too large are left out"
