"""The search of the site in a browser: a register is the first result by each of its names and addresses."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from browser.browsing import Browser, missing, watching
from support.site import DOCS, site_module

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
# What Sphinx's page of results has of it. The index may have no text that a page could run.
PAGE = """<!doctype html><html data-content_root="../"><meta charset="utf-8">
<script defer src="register_index.js"></script><script defer src="register_search.js"></script>
<body><h1>Search</h1><div id="search-results"></div>"""
FIRST = "query => findRegisters(query).slice(0, 1).map(hit => [hit.name, hit.kind.what, hit.page])"
# Of Sphinx's script: words without a stem, and what makes a stem of another.
RESULTS = """<!doctype html><meta charset="utf-8"><script>
const stopwords = new Set(["a", "from", "an"]);
class Stemmer { stemWord(word) { return word.replace(/(ing|s)$/, ""); } }
</script><script src="search_scorer.js"></script>"""
SCORES = """results => Object.fromEntries(results.map(([page, title, score, kind]) =>
  [page, Scorer.score([page, title, "", null, score, page + ".md", kind])]))"""
UPDATE = ["TEXENV_UPDATE_BUFFER", "3DS core register", "pica-combiners"]
BLEND = ["SET_BLEND", "Switch method of class B197 (3D)", "switch-b197-blending"]
SIZES = """() => [...document.querySelectorAll('.bits')].map(one => {
  const [high, low] = [...one.querySelectorAll('table')].map(part => part.getBoundingClientRect());
  return {beside: Math.abs(high.top - low.top) < 2, width: Math.max(high.right, low.right)};
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of results, the index and the script."""
    made = tmp_path_factory.mktemp("search")
    (made / "page.html").write_text(PAGE, encoding="utf-8")
    (made / "register_index.js").write_text(site_module("reference_pages.search").script(), encoding="utf-8")
    (made / "results.html").write_text(RESULTS, encoding="utf-8")
    for name in ("register_search.js", "registers.css", "search_scorer.js"):
        shutil.copy(DOCS / "static" / name, made)
    return made


@pytest.fixture
def shown(browser: Browser, folder: Path) -> Iterator[Any]:
    """The page, before it is opened."""
    with watching(browser) as watched:
        watched.spoil()  # a file has another origin
        yield watched.page


def test_a_register_is_found_by_any_name_and_address(shown: Any, folder: Path) -> None:
    shown.goto((folder / "page.html").as_uri())
    wanted = {
        "TEXENV_UPDATE_BUFFER": UPDATE, "GPUREG_TEXENV_UPDATE_BUFFER": UPDATE, "texenv_update_buffer ": UPDATE,
        "0x0E0": UPDATE, "0e0": UPDATE, "0x10401380": UPDATE, "0x10401383": UPDATE, "0x1040_1380": UPDATE,
        "0x1EF01380": UPDATE, "1ef01380": UPDATE, "TEXENV_UPDATE": UPDATE,
        "SET_BLEND": BLEND, "NVB197_SET_BLEND": BLEND, "b197.set_blend": BLEND,
        "0x1EF00C10": ["PPF_FLAGS", "3DS external register", "external"],
        "0x10202204": ["TOP_FILL", "3DS LCD register", "lcd"],
        "FFMA": ["FFMA", "Switch shader instruction", "switch-sass-float"],
        "MADI": ["MADI", "3DS shader instruction", "pica-shader-instructions"],
        "TIC BL": ["TIC BL", "structure", "switch-textures"],
        "QMD": ["QMD 00_06", "structure", "switch-launches"],
    }  # fmt: skip
    for name in ("SET_COLOR_TARGET_A", "SET_COLOR_TARGET_A(3)", "NVB197_SET_COLOR_TARGET_A[3]", "RenderTarget3Addr"):
        wanted[name] = ["SET_COLOR_TARGET_A", BLEND[1], "switch-b197-targets"]
    for query, first in wanted.items():
        assert shown.evaluate(FIRST, query) == [first], query
    for query in ("no such register", "", "0xFFFFFFFF", "1"):
        assert shown.evaluate(FIRST, query) == [], query


def test_an_address_finds_all_that_have_it(shown: Any, folder: Path) -> None:
    """0x230 is an id of the 3DS, a word of class B197 inside of an array, and a byte of other methods."""
    shown.goto((folder / "page.html").as_uri())
    found = shown.evaluate("findRegisters('0x230').map(hit => [hit.kind.class || '3ds', hit.name, hit.rank])")
    assert found[0][:2] == ["b197", "SET_COLOR_TARGET_A"] and [rank for _, _, rank in found] == [1, 1, 2, 2, 2]
    names = {tuple(one[:2]) for one in found}
    assert ("b197", "SET_COLOR_TARGET_A") in names and ("902d", "SET_SRC_PITCH") not in names
    assert all(("b197", name) not in names for name in ("SET_COLOR_TARGET_B", "SET_COLOR_TARGET_WIDTH"))
    assert ("902d", "SET_SRC_FORMAT") in names, "byte 0x230 is word 0x08c"


def test_results_have_links_to_the_sections(shown: Any, folder: Path) -> None:
    shown.goto(f"{(folder / 'page.html').as_uri()}?q={quote('TEXUNIT')}")
    shown.locator("#register-hits").wait_for()
    assert shown.evaluate("document.getElementById('register-hits').nextElementSibling.id") == "search-results"
    links = shown.evaluate("[...document.querySelectorAll('#register-hits a')].map(one => one.getAttribute('href'))")
    assert len(links) == 12
    assert links[0] == "../reference/generated/pica-textures.html#register-texunit0-dim"
    assert "more have such a name." in shown.locator("#register-hits").inner_text()
    first = shown.locator("#register-hits li").first.inner_text()
    assert first == "TEXUNIT0_DIM: 3DS core register, id 0x082, physical 0x10401208, for programs 0x1EF01208"


def test_what_is_asked_for_is_never_run(shown: Any, folder: Path) -> None:
    query = quote("<img src=x onerror=alert(1)> FINALIZE")
    shown.goto(f"{(folder / 'page.html').as_uri()}?q={query}")
    assert shown.locator("#register-hits, img").count() == 0


def test_guides_come_before_lists(shown: Any, folder: Path) -> None:
    """All of these have a heading "Recordings" or such, for which Sphinx gives 15 points, or the words, for 5."""
    shown.goto(f"{(folder / 'results.html').as_uri()}?q={quote('record emulators')}")
    found = [
        ("reference/generated/choices/blend-min-max", "blend.min_max", 15, "text"),
        ("reference/generated/schemas", "Schemas of answers", 15, "text"),
        ("guides/sweeps", "Thousands of captures", 5, "text"),
        ("guides/recordings", "How to get a recording", 15, "text"),
        ("guides/recorder", "Recording from an emulator", 15, "text"),
        ("changelog", "Recording", 5, "text"),
        ("install", "Install", 5, "text"),
    ]
    scores = shown.evaluate(SCORES, found)
    order = ["guides/recorder", "guides/recordings", "guides/sweeps", "install", "reference/generated/schemas"]
    assert sorted(scores, key=lambda page: -scores[page])[:5] == order
    assert max(scores, key=lambda page: -scores[page]) == found[0][0]
    titles = [("reference/generated/choices/fog-arithmetic", "fog.arithmetic", 16, "title")]
    assert shown.evaluate(SCORES, titles) == {titles[0][0]: 16}, "what is asked for by its title"


def test_sphinx_gets_values_for_all_that_it_counts(shown: Any, folder: Path) -> None:
    """A script of one's own replaces all of them."""
    shown.goto((folder / "results.html").as_uri())
    assert shown.evaluate("Object.keys(Scorer).sort()") == [
        "objNameMatch", "objPartialMatch", "objPrio", "objPrioDefault", "partialTerm", "partialTitle", "score", "term",
        "title",
    ]  # fmt: skip


def test_nothing_says_that_no_page_matches_below_registers(shown: Any, folder: Path) -> None:
    shown.goto(f"{(folder / 'page.html').as_uri()}?q=00E0")
    shown.locator("#register-hits").wait_for()
    for links, said in (("", "No text of a page has these words."), ("<li>a page</li>", "as Sphinx says")):
        shown.reload()
        shown.locator("#register-hits").wait_for()
        shown.evaluate(
            """links => {
              const results = document.getElementById("search-results");
              results.innerHTML = `<p class="search-summary"></p><ul class="search">${links}</ul>`;
              results.querySelector(".search-summary").innerText = "as Sphinx says";
            }""",
            links,
        )
        assert shown.locator(".search-summary").inner_text() == said


def test_drawings_of_bits_fit_narrow_pages(shown: Any, folder: Path) -> None:
    bits = site_module("reference_pages.bits")
    drawing = bits.drawing([bits.Part(8, 16, "A_LONG_NAME_OF_A_FIELD"), bits.Part(3, 1, "ANOTHER_LONG_NAME")])
    head = '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="registers.css">'
    (folder / "bits.html").write_text(f"{head}<body style='margin:0'>{drawing}", encoding="utf-8")
    for width, beside in ((400, False), (1000, True)):
        shown.set_viewport_size({"width": width, "height": 600})
        shown.goto((folder / "bits.html").as_uri())
        (size,) = shown.evaluate(SIZES)
        assert size["beside"] is beside and size["width"] <= width
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        visible = shown.evaluate("getComputedStyle(document.querySelector('.r span')).visibility")
        assert visible == ("hidden" if beside else "visible"), "the name is there once, or in both parts"
