"""The panels of resources and memory in a browser, with made-up answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import browsing
from browser.browsing import Watched, listed, opaque
from browser.fake_resources import ROWS, SIDE, byte_at, memory_picture, texture
from browser.fake_server import Fake
from browser.fake_stream import DRAW

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
PIXELS = """panel => {
    const view = document.querySelector(panel[0])?.renderRoot.querySelector(panel[1])?.view;
    const canvas = view?.renderRoot.querySelector(".source");
    if (!canvas) return [];  // it comes
    return Array.from(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data);
}"""


@pytest.fixture
def page(watched: Watched, fake: Fake) -> Iterator[Any]:
    """The page at draw 2. Nothing may break, and no markup of a capture may become a part of it."""
    found = watched.open(fake.url + "#f0/d2")
    # What is asked last is there: nothing that the page does by itself comes between the steps of a test.
    found.wait_for_function("() => document.querySelector('pg-why').answer && !document.querySelector('pg-app').busy")
    found.wait_for_timeout(500)
    yield found
    assert found.locator("img").count() == 0


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def at(page: Any) -> str:
    found: str = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    return found


def shows(page: Any, panel: str, part: str, wanted: list[int]) -> None:
    """Wait until a canvas has exactly these bytes."""
    same = f"([panel, wanted]) => String(({PIXELS})(panel)) === wanted"
    page.wait_for_function(same, arg=[[panel, part], listed(wanted)])


# -- resources --------------------------------------------------------------------------------------------------------
def test_a_texture_in_both_orders_and_at_all_levels(page: Any) -> None:
    tab(page, "Resources")
    page.locator("pg-resources .item[aria-selected=true]", has_text="unit 0").wait_for()
    shows(page, "pg-resources", "pg-texture", opaque(texture("unit0", "texels")))
    page.get_by_role("radio", name="memory", exact=True).click()
    shows(page, "pg-resources", "pg-texture", opaque(texture("unit0", "memory")))
    page.get_by_label("Level, layer or slice").select_option("unit0.level1")
    shows(page, "pg-resources", "pg-texture", opaque(texture("unit0.level1", "memory")))


def test_channels_of_a_texture(page: Any) -> None:
    tab(page, "Resources")
    data = texture("unit0", "texels")
    shows(page, "pg-resources", "pg-texture", opaque(data))
    page.locator("pg-texture").get_by_role("radio", name="G", exact=True).click()
    green = [data[n // 4 * 4 + 1] if n % 4 < 3 else 255 for n in range(len(data))]
    shows(page, "pg-resources", "pg-texture", green)


def test_a_texel_leads_to_its_memory(page: Any) -> None:
    tab(page, "Resources")
    shows(page, "pg-resources", "pg-texture", opaque(texture("unit0", "texels")))
    canvas = page.locator("pg-texture pg-canvas")
    canvas.focus()
    # From the middle to the upper left of it, by keys.
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    x, y = SIDE // 2 - 3, SIDE // 2
    link = page.locator("pg-texture .texel a")
    address = 0x20001000 + 4 * (y * SIDE + x)
    assert link.inner_text() == f"0x{address:x}"
    link.click()
    page.locator("pg-memory .about", has_text=f"0x{address:x}+0x4").wait_for()
    assert at(page) == f"f0/d2/mem0x{address:x}+0x4"
    page.go_back()
    assert at(page) == "f0/d2"


def test_a_long_table_is_read_as_it_is_scrolled(page: Any, fake: Fake) -> None:
    tab(page, "Resources")
    page.locator("pg-resources .item", has_text="buffer 0").click()
    page.locator("pg-table .row", has_text="0x20010008").wait_for()
    assert page.locator("pg-table .row").count() < 200
    page.locator("pg-table .scroll").evaluate("box => box.scrollTop = box.scrollHeight")
    last = page.locator("pg-table .row", has_text=f"0x{0x20010000 + 8 * (ROWS - 1):x}")
    last.wait_for()
    assert last.locator("[role=cell]").all_inner_texts()[1:] == [str(ROWS - 1), str((ROWS - 1) / 2)]
    counts = [int(path.split("count=")[1].split("&")[0]) for path in fake.asked if path.startswith("/api/table")]
    assert counts
    assert max(counts) <= 1000


def test_names_of_uniforms(page: Any) -> None:
    tab(page, "Resources")
    page.locator("pg-resources .item", has_text="vertex uniforms").click()
    row = page.locator("pg-table .row", has_text="c1 <img")
    row.wait_for()
    assert row.locator("[role=rowheader]").inner_text() == "1"


def test_resources_by_keys_and_by_filter(page: Any) -> None:
    tab(page, "Resources")
    page.locator("pg-resources .item[aria-selected=true]").wait_for()
    page.locator("pg-resources .list").focus()
    page.keyboard.press("End")
    page.locator("pg-resources .item[aria-selected=true]", has_text="vertex uniforms").wait_for()
    page.keyboard.press("ArrowUp")
    page.locator("pg-resources .item[aria-selected=true]", has_text="buffer 0").wait_for()
    page.get_by_placeholder("Filter resources").fill("unit")
    assert page.locator("pg-resources .item").count() == 2
    page.locator("pg-resources .item", has_text="unit 1").click()
    page.locator("pg-texture .facts", has_text="no header").wait_for()


def test_what_has_no_resources(page: Any) -> None:
    tab(page, "Resources")
    page.evaluate("location.hash = 'f0/e0'")
    page.locator("pg-resources .note", has_text="only draws have textures <img").wait_for()
    page.evaluate("location.hash = 'f0'")
    page.locator("pg-resources .note", has_text="Select a draw").wait_for()


# -- links of answers -------------------------------------------------------------------------------------------------
def test_an_answer_leads_to_a_texel(page: Any) -> None:
    tab(page, "Resources")
    # A level that was chosen by hand gives way to that of the link.
    level = page.get_by_label("Level, layer or slice")
    for name in ("unit0.level1", "unit0"):
        level.select_option(name)
    page.get_by_role("button", name="Unfold all").click()
    page.locator("pg-why a.ref", has_text="unit0.level1 3,2").click()
    shows(page, "pg-resources", "pg-texture", opaque(texture("unit0.level1", "texels")))
    page.locator("pg-texture .texel", has_text="3,2 1 2 3 4").wait_for()
    page.locator("pg-texture .texel", has_text="value 0.5  2  nan  0.8125").wait_for()
    assert level.input_value() == "unit0.level1"
    texture_view = "document.querySelector('pg-resources').renderRoot.querySelector('pg-texture')"
    page.wait_for_function(f"() => String({texture_view}.view.mark) === '3,2'")
    assert at(page) == "f0/d2"


def test_an_answer_leads_to_the_word_of_a_register(page: Any) -> None:
    page.get_by_role("button", name="Unfold all").click()
    page.locator("pg-why a.ref", has_text="TEXENV0_SOURCE").click()
    marked = page.locator("pg-words .row.marked")
    marked.wait_for()
    assert f"0x{0x20000000 + 4 * (2 * DRAW + 4321):08x}" in marked.inner_text()
    inside = """row => {
        const box = row.closest('.scroll').getBoundingClientRect(), one = row.getBoundingClientRect();
        return one.top >= box.top && one.bottom <= box.bottom;
    }"""
    assert marked.evaluate(inside)
    page.locator("pg-why a.ref", has_text="UNWRITTEN").click()
    page.locator("pg-why .note", has_text="No word of the capture up to f0/d2 writes UNWRITTEN.").wait_for()


def test_an_answer_about_a_pixel_stays_when_a_texel_is_shown(page: Any) -> None:
    page.evaluate("location.hash = 'f0/d4/px3,3'")
    page.locator("pg-why .because", has_text="about f0/d4/px3,3").wait_for()
    page.get_by_role("button", name="Unfold all").click()
    page.locator("pg-why a.ref", has_text="unit0.level1 3,2").click()
    page.locator("pg-texture .texel", has_text="3,2 1 2 3 4").wait_for()
    assert at(page) == "f0/d4/px3,3"


# -- memory -----------------------------------------------------------------------------------------------------------
def memory(page: Any, address: str) -> None:
    """Go to an address by hand."""
    tab(page, "Memory")
    page.locator("pg-memory .ranges a").first.wait_for()
    field = page.get_by_label("Address of memory")
    field.fill(address)
    field.press("Enter")


def marked(page: Any, address: int, size: int) -> None:
    """Wait until these bytes are marked, and no others, with their values."""
    wanted = [f"{at:x}: {byte_at(at):02x}" for at in range(address, address + size)]
    cells = """box => [...box.querySelectorAll(".cell.marked")].map(
        one => `${(+one.dataset.at).toString(16)}: ${one.innerText}`)"""
    for _ in range(100):
        found = page.locator("pg-hex .scroll").evaluate(cells)
        if found == wanted:
            return
        page.wait_for_timeout(100)
    assert found == wanted


def row_text(page: Any, address: int) -> str:
    row = page.locator("pg-hex .row", has_text=f"0x{address:08x}")
    row.locator(".cell").first.wait_for()
    return " ".join(row.locator(".cell").all_inner_texts())


def test_the_memory_of_an_event_is_shown_first(page: Any) -> None:
    tab(page, "Memory")
    assert row_text(page, 0x18000000) == " ".join(f"{byte_at(0x18000000 + n):02x}" for n in range(16))
    assert page.locator("pg-memory .ranges a").all_inner_texts() == ["0x18000000+0x1000", "0x18010000+0x40"]


def test_words_and_floats(page: Any) -> None:
    memory(page, "0x18000400")
    data = bytes(byte_at(0x18000400 + n) for n in range(16))
    page.get_by_role("radio", name="u32", exact=True).click()
    words = (int.from_bytes(data[n : n + 4], "little") for n in (0, 4, 8, 12))
    assert row_text(page, 0x18000400) == " ".join(f"{word:08x}" for word in words)
    page.get_by_role("radio", name="u16", exact=True).click()
    assert row_text(page, 0x18000400).split()[1] == f"{int.from_bytes(data[2:4], 'little'):04x}"


def test_an_address_far_away_and_where_no_memory_is(page: Any, fake: Fake) -> None:
    memory(page, "180f3456+20")
    assert at(page) == "f0/d2/mem0x180f3456+0x20"
    assert row_text(page, 0x180F3450) == " ".join(f"{byte_at(0x180F3450 + n):02x}" for n in range(16))
    assert page.locator("pg-hex .cell.marked").count() == 0x20
    memory(page, "0x20000000")
    assert set(row_text(page, 0x20000000).split()) == {"··"}
    sizes = [int(path.split("size=")[1].split("&")[0]) for path in fake.asked if path.startswith("/api/memory?")]
    assert sizes
    assert max(sizes) <= 1 << 16
    memory(page, "here")
    page.locator("pg-memory .note", has_text="is no address of memory").wait_for()


def test_a_range_is_marked_by_pointer_and_by_keys(page: Any) -> None:
    memory(page, "0x18000000")
    row_text(page, 0x18000000)
    cells = page.locator("pg-hex .row", has_text="0x18000000").locator(".cell")
    cells.nth(2).click()
    page.wait_for_function("() => decodeURIComponent(location.hash) === '#f0/d2/mem0x18000002'")
    cells.nth(5).click(modifiers=["Shift"])
    page.wait_for_function("() => decodeURIComponent(location.hash) === '#f0/d2/mem0x18000002+0x4'")
    page.locator("pg-hex .scroll").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function("() => decodeURIComponent(location.hash) === '#f0/d2/mem0x18000002+0x5'")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => decodeURIComponent(location.hash) === '#f0/d2/mem0x18000012'")
    page.locator("pg-memory .about", has_text=f"u8 {byte_at(0x18000012)}").wait_for()


def test_who_wrote_and_who_reads(page: Any) -> None:
    memory(page, "0x18000010+0x8")
    about = page.locator("pg-memory .about")
    about.locator("dd a", has_text="f0/d1").wait_for()
    about.locator("dd a", has_text="f0/d5").wait_for()
    assert about.locator(".readers a").count() == 12
    about.get_by_role("button", name="8 more").click()
    assert about.locator(".readers a").count() == 20
    assert "and 7 more" in about.locator(".readers").inner_text()
    page.get_by_label("only draws that changed them").check()
    about.locator("dd", has_text="nothing until the end of f3").wait_for()
    about.locator("dd a", has_text="f0/d0").click()
    page.wait_for_function("() => decodeURIComponent(location.hash) === '#f0/d0/mem0x18000010+0x8'")


def test_memory_as_a_picture(page: Any) -> None:
    memory(page, "0x18000040")
    page.get_by_role("radio", name="picture", exact=True).click()
    query = {"address": "18000040", "format": "RGBA8", "layout": "tiled", "width": "256", "height": "256"}
    shows(page, "pg-memory", "pg-memory-picture", opaque(memory_picture(query)))
    for name, value in (("width", "24"), ("height", "10")):
        page.get_by_label(name, exact=True).fill(value)
        page.get_by_label(name, exact=True).press("Enter")
    page.get_by_label("Format").select_option("I8")
    page.get_by_label("Layout", exact=True).select_option("linear")
    query |= {"format": "I8", "layout": "linear", "width": "24", "height": "10"}
    shows(page, "pg-memory", "pg-memory-picture", opaque(memory_picture(query)))


def test_a_link_to_memory_opens_at_it(page: Any, fake: Fake) -> None:
    page.goto(fake.url + "#f0/d3/mem0x18000123+0x2")
    page.reload()
    tab(page, "Memory")
    marked(page, 0x18000123, 2)
    page.locator("pg-why .because", has_text="about f0/d3").wait_for()
