"""The panel that steps through a shader, with the real server and the samples of both consoles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser import browsing
from browser.browsing import SAMPLES, Served, watching

import pocketgpu
from pocketgpu.inspect.model.inspection import Inspection

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, samples: Callable[[str], Served], request: pytest.FixtureRequest
) -> Iterator[tuple[Inspection, Any]]:
    """An inspection of a sample, and the page of the server with the same sample."""
    with watching(browser) as watched:
        page = samples(request.param).open(watched, "f0/d5")
        page.get_by_role("tab", name="Shader").click()
        yield pocketgpu.debug(browsing.sample(request.param)), page


def step_through(page: Any, address: str) -> None:
    page.evaluate("address => location.hash = address", address)
    page.wait_for_function(
        """address => { const {tracing} = document.querySelector("pg-shader");
                        const run = address.replace(/\\/s\\d+$/, "");
                        return tracing?.trace.address === run && tracing.answer?.step === tracing.step; }""",
        arg=address,
    )


def test_the_listing_and_the_steps_are_those_of_the_trace(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    wanted = run.trace("f0/d5/v3")
    for number in (0, 4, len(wanted) - 1):
        step_through(page, f"f0/d5/v3/s{number}")
        step = wanted[number]
        row = page.locator("pg-shader .row[aria-current=step]", has_text=step.text)
        row.wait_for()
        assert f"{step.address:#06x}" in row.inner_text() and f"×{wanted.hits[step.address]}" in row.inner_text()
        assert page.locator("pg-shader .instruction").inner_text().split() == f"{step.address:#06x} {step.text}".split()
        shown = page.locator("pg-shader .facts .new").all_inner_texts()
        assert [one.strip() for one in shown] == [one.after.shown for one in step.writes]
    page.get_by_role("radio", name="Steps").click()
    current = page.locator("pg-shader .row[aria-current=step]", has_text=wanted[-1].text)
    current.wait_for()
    assert wanted[-1].happened in current.inner_text()
    page.get_by_role("radio", name="Listing").click()


def test_the_registers_are_those_of_the_trace(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    wanted = run.trace("f0/d5/v3")
    step_through(page, f"f0/d5/v3/s{len(wanted)}")
    page.locator("pg-shader .facts", has_text="The end").wait_for()
    registers = wanted.end
    shown = page.locator("pg-shader .values").evaluate(
        """box => [...box.querySelectorAll(".value")].map(one => [one.title.split(":")[0], one.textContent.trim()])"""
    )
    assert {name: text for name, text in shown} == {name: registers.value(name).shown for name in wanted.touched}


def test_a_register_leads_to_its_writer(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    wanted = run.trace("f0/d5/v3")
    step_through(page, f"f0/d5/v3/s{len(wanted)}")
    last = next(step for step in reversed(wanted.steps) if step.writes)
    name = last.writes[-1].names[0]
    page.locator(f'pg-shader button.value[title^="{name}:"]').click()
    page.wait_for_function("step => document.querySelector('pg-shader').tracing.answer.step === step", arg=last.index)


def test_the_graph_has_the_blocks_of_the_program(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    wanted = run.trace("f0/d5/v3")
    step_through(page, "f0/d5/v3/s0")
    page.get_by_role("radio", name="Graph").click()
    blocks, total = wanted.visits.blocks()
    assert len(blocks) == total
    page.locator("pg-shader-graph .bar", has_text=f"{total} block").wait_for()
    here = next(number for number, one in enumerate(blocks) if one.first <= wanted[0].number <= one.last)
    graph = page.locator("pg-shader-graph")
    assert graph.locator(".block").count() == total
    assert graph.locator(".block.ran").count() == sum(one.count > 0 for one in blocks)
    assert "here" in graph.locator(".block").nth(here).get_attribute("class")
    page.get_by_role("radio", name="Listing").click()


def test_a_pixel_leads_to_its_program(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    answer = run.why("f0/px200,120")
    assert len(answer.programs) >= 3
    page.evaluate("location.hash = 'f0/px200,120'")
    page.locator("pg-shader").get_by_role("link", name=str(answer.programs[0].address), exact=True).click()
    wanted = run.trace(answer.programs[0].address)
    page.locator("pg-shader .steps", has_text=f"of {len(wanted)}").wait_for()
    # For a pixel of a draw, the vertices of its primitive are offered.
    pixel = next(touch.pixel for touch in reversed(answer.way) if touch.pixel is not None)
    primitive = run.primitive(pixel)
    assert primitive is not None and len(primitive.corners) == 3
    page.evaluate("address => location.hash = address", str(pixel))
    vertex = str(primitive.corners[1].address)
    page.locator("pg-shader").get_by_role("link", name=vertex, exact=True).click()
    wanted = run.trace(vertex)
    page.locator("pg-shader .steps", has_text=f"of {len(wanted)}").wait_for()


def test_what_cannot_be_traced_is_said(opened: tuple[Inspection, Any]) -> None:
    _, page = opened
    page.evaluate("location.hash = 'f0/d5/v99999999'")
    page.locator("pg-shader .problem", has_text="the draw has").wait_for()
    step_through(page, "f0/d5/v0")
    assert page.locator("pg-shader .problem").count() == 0
