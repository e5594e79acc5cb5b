"""The index of the site's search: everything that has a place in the reference, with names and addresses."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.site import DOCS, site_module

from pocketgpu.facts.external import USER_OFFSET
from pocketgpu.facts.lookup import BLOCKS
from pocketgpu.facts.maxwell import B197, CLASSES
from pocketgpu.facts.pica import PICA


@pytest.fixture(scope="module")
def index() -> dict[str, Any]:
    """What the script assigns."""
    text = site_module("reference_pages.search").script()
    found = re.fullmatch(r"window\.registerIndex = (\{.*\});\n", text)
    assert found and len(text) < 120_000, "every page of results loads it"
    made: dict[str, Any] = json.loads(found[1])
    return made


def test_every_known_register_is_in_the_index(index: dict[str, Any]) -> None:
    registers = {(block.name, one.name) for block in (*BLOCKS, *CLASSES.values()) for one in block if one.known}
    names = list(site_module("reference_pages.search").kinds())
    listed = [(names[kind], name) for _, kind, name, *_ in index["entries"]]
    assert len(listed) == len(set(listed)) and registers <= set(listed)
    assert index["user"] == USER_OFFSET


def test_entries_have_what_finds_them(index: dict[str, Any]) -> None:
    by_name = {entry[2]: entry for entry in index["entries"]}
    page, kind, _, others, *place = by_name["SET_COLOR_TARGET_A"]
    target = B197["SET_COLOR_TARGET_A"]
    assert place == [target.offset, target.count, target.stride] and others == " ".join(target.aliases)
    assert index["pages"][page] == "switch-b197-targets" and index["kinds"][kind]["class"] == "b197"
    _, kind, _, others, *place = by_name["FINALIZE"]
    assert place == [PICA["FINALIZE"].offset] and others == "IRQ_REQ0", "the wiki's prefix is left out of the search"
    assert index["kinds"][kind]["base"] == PICA.base and index["kinds"][kind]["place"] == "id"


def test_entries_lead_to_anchors_of_the_pages(index: dict[str, Any], tmp_path: Path) -> None:
    pages = runpy.run_path(str(DOCS / "generate_registers.py"))["generate"](tmp_path)
    anchors = {path.stem: set(re.findall(r"^\(([\w-]+)\)=$", path.read_text("utf-8"), re.MULTILINE)) for path in pages}
    for page, kind, name, *_ in index["entries"]:
        anchor = index["kinds"][kind]["anchor"] + re.sub(r"[._ ]", "-", name).lower()
        assert anchor in anchors[index["pages"][page]], (name, anchor)


def test_only_the_page_of_results_loads_the_index(tmp_path: Path) -> None:
    extension = site_module("register_search")
    loaded: list[str] = []
    app = SimpleNamespace(
        add_js_file=lambda name, loading_method: loaded.append(name), outdir=tmp_path,
        builder=SimpleNamespace(format="html"),
    )  # fmt: skip
    extension.add_scripts(app, "guides/check", "page.html", {}, None)
    assert loaded == []
    extension.add_scripts(app, "search", "search.html", {}, None)
    assert loaded == ["register_index.js", "register_search.js"], "the index comes first"
    (tmp_path / "_static").mkdir()
    extension.write_index(app, RuntimeError("the build failed"))
    assert list((tmp_path / "_static").iterdir()) == []
    extension.write_index(app, None)
    (written,) = (tmp_path / "_static").iterdir()
    assert written.name == loaded[0] and written.read_text("utf-8") == site_module("reference_pages.search").script()


def test_the_sidebar_leaves_out_other_branches() -> None:
    asked: list[dict[str, Any]] = []
    context = {"toctree": lambda **options: asked.append(options)}
    extension = site_module("short_sidebar")
    extension.collapse(None, "a", "page.html", context, None)
    context["toctree"](collapse=False, maxdepth=-1)
    assert asked == [{"collapse": True, "maxdepth": -1}]
    without: dict[str, Any] = {}
    extension.collapse(None, "search", "search.html", without, None)
    assert without == {}
