"""Drawings with links become parts of their page; other pictures stay pictures."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

nodes = pytest.importorskip("docutils.nodes")
utils = pytest.importorskip("docutils.utils")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def show() -> Any:
    return runpy.run_path(str(ROOT / "docs" / "extensions" / "linked_drawings.py"))["show"]


def page(*pictures: str) -> Any:
    document = utils.new_document("a page")
    for name in pictures:
        document += nodes.paragraph("", "", nodes.image(uri=name))
    return document


def test_a_drawing_with_links_is_put_into_the_page(show: Any) -> None:
    pictures = ("images/guides/black-screen.svg", "images/data-3ds.svg", "images/demo.png", "images/none.svg")
    found = page(*pictures)
    show(SimpleNamespace(builder=SimpleNamespace(format="html"), srcdir=ROOT / "docs"), found, "a")
    (drawing,) = found.findall(nodes.raw)
    assert drawing.astext().startswith("<svg") and 'href="#is-anything-drawn"' in drawing.astext()
    assert [one["uri"] for one in found.findall(nodes.image)] == list(pictures[1:])


def test_other_formats_keep_the_picture(show: Any) -> None:
    found = page("images/guides/black-screen.svg")
    show(SimpleNamespace(builder=SimpleNamespace(format="latex"), srcdir=ROOT / "docs"), found, "a")
    assert len(list(found.findall(nodes.image))) == 1
