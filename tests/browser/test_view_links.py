"""Links of the panels, and places that a panel has nothing to say about, with the real server and both samples."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browser import browsing
from browser.browsing import AT_REST, SAMPLES, TEXT, Served, watching

import pocketgpu

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
REGISTERS = {"3DS": "DEPTH_COLOR_MASK", "Switch": "SET_DEPTH_FUNC"}


@pytest.mark.parametrize("console", list(SAMPLES))
def test_registers_lead_to_words_and_other_places_are_no_errors(
    browser: Any, samples: Callable[[str], Served], console: str
) -> None:
    run = pocketgpu.debug(browsing.sample(console))
    draw, other = str(run.draws(0)[5].address), next(str(one.address) for one in run.events(0)[5:] if one.draw is None)
    register = REGISTERS[console]
    with watching(browser) as watched:
        page = samples(console).open(watched, draw)

        def front(title: str) -> None:
            page.get_by_role("tab", name=title, exact=True).click()

        def select(address: str) -> None:
            page.evaluate("address => location.hash = address", address)
            page.wait_for_function(AT_REST)

        # All registers, with their values; the name of one leads to the word that set it, and back leads back.
        state = page.locator("pg-state")
        state.get_by_label("Compare with", exact=True).select_option("nothing")
        every = run.seek(draw).every_register()
        state.locator(".dim", has_text=f"{len(every)} registers").wait_for()
        state.get_by_placeholder("Filter registers").fill(register)
        row = state.locator(".row.register", has=page.get_by_text(register, exact=True))
        value = next(one.new for one in every if one.register == register)
        assert row.locator(".new").inner_text() == f"{value:#010x}"
        row.get_by_role("link").click()
        word = run.word_of(register, draw)
        assert word is not None and word.address is not None
        page.locator("pg-words .row.marked", has_text=f"{word.address:x}").wait_for()
        assert page.evaluate("location.hash.slice(1)") == str(word.event)
        assert page.evaluate("history.state.detail.word.line") == word.line
        page.go_back()
        page.wait_for_function("draw => location.hash === '#' + draw", arg=draw)
        front("State")
        state.get_by_label("Compare with", exact=True).select_option("previous")

        # A vertex has no reason of its own: its draw's is told.
        select(f"{draw}/v1")
        page.locator("pg-why .note", has_text=f"all of {draw}").wait_for()
        assert page.locator("pg-why .because").inner_text().split() == run.why(draw).because.split()

        # Other events have no mesh, wireframe or stages; nothing of that is an error.
        page.get_by_label("wireframe").check()
        state.get_by_role("radio", name="Flow").click()
        front("Mesh")
        select(other)
        page.locator("pg-mesh .note", has_text="Only draws have a mesh").wait_for()
        page.locator("pg-state .note", has_text="Select a draw").wait_for()
        front("Picture")
        page.wait_for_function(AT_REST)
        assert page.locator(".problem").all_inner_texts() == []
        event = run.event(other)
        assert event.title.split()[0] in page.evaluate(TEXT, "pg-why")

        # Memory of a frame begins where something is.
        select("f0")
        front("Memory")
        page.locator("pg-hex .row .cell", has_text=re.compile("^[0-9a-f]{2}$")).first.wait_for()
