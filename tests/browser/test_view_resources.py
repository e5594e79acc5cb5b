"""The panels of resources and memory with the real server and the samples of both consoles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser import browsing
from browser.browsing import SAMPLES, Served, answer, watching

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
DRAWS = {"3DS": "f0/d4", "Switch": "f1/d54"}
LOSING = {"f0/d4": "f0/d4", "f1/d54": "f0/d5"}
"""By these draws, draws that lose something because of a register."""
TABLE = "document.querySelector('pg-resources').renderRoot.querySelector('pg-table')"


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, samples: Callable[[str], Served], request: pytest.FixtureRequest
) -> Iterator[tuple[str, Any]]:
    """The address of a draw with textures, and the page at it."""
    at = DRAWS[request.param]
    with watching(browser) as watched:
        page = samples(request.param).open(watched, at)
        page.locator("pg-events .row.chosen").wait_for()
        yield at, page


def same_pixels(page: Any, path: str, values: dict[str, Any], panel: str, part: str) -> None:
    wanted = {"path": path, "values": values, "panel": panel, "part": part}
    for _ in range(100):
        if page.evaluate(browsing.DIFFERS_INSIDE, wanted) == 0:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{part} differs from {path} {values}")


def test_textures_are_the_servers(opened: tuple[str, Any]) -> None:
    at, page = opened
    page.get_by_role("tab", name="Resources").click()
    found = answer(page, "resources", at=at)
    assert found["textures"]
    for texture in found["textures"]:
        page.locator("pg-resources .item", has_text=texture["bound"]).click()
        for order in ("memory", "texels"):
            page.locator("pg-texture").get_by_role("radio", name=order, exact=True).click()
            values = {"at": at, "of": texture["name"], "part": texture["parts"][0]["name"], "order": order}
            same_pixels(page, "/api/texture", values, "pg-resources", "pg-texture")


def test_tables_are_the_servers(opened: tuple[str, Any]) -> None:
    at, page = opened
    page.get_by_role("tab", name="Resources").click()
    for table in answer(page, "resources", at=at)["tables"]:
        page.locator("pg-resources .item", has_text=table["title"]).first.click()
        rows = answer(page, "table", at=at, of=table["of"], first=0, count=2)
        page.locator("pg-table .scroll").get_by_role("row").nth(1).wait_for()
        page.wait_for_function(
            f"title => {TABLE}.table.title === title && {TABLE}.latest.state === 'idle'", arg=table["title"],
        )
        first = page.locator("pg-table [aria-rowindex='1'] [role=cell][title]")
        first.first.wait_for()
        page.wait_for_timeout(200)
        shown = [float(one) for one in first.evaluate_all("cells => cells.map(cell => cell.title)") if _number(one)]
        wanted = [float(one) for one in rows["rows"][0] if _number(str(one))]
        assert shown == pytest.approx(wanted)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_memory_is_the_servers_and_says_who_touches_it(opened: tuple[str, Any]) -> None:
    at, page = opened
    texture = answer(page, "resources", at=at)["textures"][0]
    address = int(texture["address"], 16)
    page.evaluate("address => location.hash = address", f"{at}/mem{address:#x}+0x10")
    page.get_by_role("tab", name="Memory").click()
    row = page.locator("pg-hex .row", has_text=f"0x{address:08x}")
    row.locator(".cell").first.wait_for()
    data = answer(page, "memory", at=at, address=hex(address), size=16)["data"]
    assert "".join(row.locator(".cell").all_inner_texts()) == data
    assert page.locator("pg-hex .cell.marked").count() == 16
    contacts = answer(page, "contacts", at=at, address=hex(address), size=16)
    about = page.locator("pg-memory .about")
    about.locator("dd a", has_text=contacts["written"]["address"]).first.wait_for()
    readers = [one["address"] for one in contacts["reads"]][:12]
    assert at in [one["address"] for one in contacts["reads"]]
    assert about.locator(".readers a").all_inner_texts() == readers
    known = answer(page, "memory-formats", at=at)
    page.get_by_role("radio", name="picture", exact=True).click()
    values = {"at": at, "address": hex(address), "width": 256, "height": 256, "format": known["first"][0],
              "layout": known["first"][1]}  # fmt: skip
    same_pixels(page, "/api/memory-picture", values, "pg-memory", "pg-memory-picture")
    page.get_by_role("radio", name="bytes", exact=True).click()


def test_a_register_of_an_answer_leads_to_its_word(opened: tuple[str, Any]) -> None:
    draw, page = opened
    at = LOSING[draw]
    page.evaluate("address => location.hash = address", at)
    links = answer(page, "why", at=at)["links"]
    link = next(one for one in links if "register" in one)
    word = answer(page, "register-word", at=link["at"], register=link["register"])["word"]
    page.wait_for_function("at => document.querySelector('pg-why').answer?.address === at", arg=at)
    page.get_by_role("button", name="Unfold all").click()
    page.locator("pg-why a.ref", has_text=link["register"]).first.click()
    marked = page.locator("pg-words .row.marked")
    marked.wait_for()
    assert int(word["address"], 16) == int(marked.locator(".address").inner_text(), 16)
