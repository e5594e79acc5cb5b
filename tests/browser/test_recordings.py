"""Every panel on a recording of other people's programs, one of each console: it shows what Python says.

A page is opened once for each console, with a changed run beside it, and goes from panel to panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from browser.browsing import AT_REST, DIFFERS, SAMPLES, TEXT, answer, click_pixel, served, watching

import pocketgpu
from pocketgpu.inspect.diff.comparison import Comparison
from pocketgpu.inspect.frames.frame_graph import frame_graph
from pocketgpu.inspect.frames.timeline import tracks
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.rules.marks import marks_of

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
RECORDINGS = {
    "3DS": ("3ds/normal_mapping.ctf.xz", "f1/d1", "DEPTH_COLOR_MASK.red=no@f1/d1"),
    "Switch": ("switch/ex04_textured_cube_320x180.mxcap.zip", "f1/d0", "SET_CT_WRITE(0).R_ENABLE=FALSE@f1/d0"),
}
"""A recording, a draw of it, and what differs in the run beside it."""
SHOWN = """at => {
    const [why, picture] = ["pg-why", "pg-picture"].map(name => document.querySelector(name));
    return location.hash === "#" + at && (!why || why.answer?.address === at)
        && (!picture || (at.startsWith(picture.place) && picture.present))
        && [why?.latest, picture?.latest, picture?.picture].every(one => !one || one.state === "idle");
}"""
"""Whether the panels of reasons and pictures, if they are to be seen, have answers about an address."""
PANELS = ("events", "picture", "why", "state", "shader", "words", "mesh", "resources", "memory", "graph", "notes",
          "timeline", "whatif", "compare")  # fmt: skip


@dataclass
class Opened:
    """The page about a recording, what Python says of it, and the draw that is selected."""

    console: str
    path: Path
    run: Inspection
    page: Any
    at: str
    force: str

    def select(self, address: str) -> None:
        self.page.evaluate("address => location.hash = address", address)
        self.page.wait_for_function(SHOWN, arg=address)

    def front(self, title: str) -> None:
        self.page.get_by_role("tab", name=title, exact=True).click()

    def wait(self, script: str, value: Any = None) -> None:
        self.page.wait_for_function(script, arg=value)


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, request: pytest.FixtureRequest, shared_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    name, at, force = RECORDINGS[request.param]
    path = shared_dir / "captures" / name
    notes = str(tmp_path_factory.mktemp("notes"))
    with served(str(path), "--notes", notes, "--force", force) as link, watching(browser) as watched:
        page = watched.open(f"{link}#{at}")
        found = Opened(request.param, path, pocketgpu.debug(path), page, at, force)
        found.wait(SHOWN, at)
        yield found


def test_events_have_findings_and_costs(opened: Opened) -> None:
    run, page, at = opened.run, opened.page, opened.at
    event = run.event(at)
    page.locator("header", has_text=f"{opened.console} · {run.frame_count} frames").wait_for()
    chosen = page.locator("pg-events .row.chosen")
    assert event.title in chosen.get_attribute("title")
    marks = marks_of(run, event.frame)
    page.locator("pg-events .foot", has_text=f"{len(marks)} finding").wait_for()
    mine = [mark for mark in marks if mark.place == event.address]
    assert page.locator("pg-events .findings li").count() == len(mine)
    costs = run.costs(event.frame)
    for name in ("fragments", "vertices", "primitives"):
        page.get_by_label("Cost beside the events").select_option(name)
        chosen.locator(".cost").wait_for()
        wanted = getattr(costs, name)[costs.events.tolist().index(event.number)]
        assert f"{wanted:,} {name}" in chosen.locator(".cost").get_attribute("title")
    page.get_by_label("Cost beside the events").select_option("")


def test_pictures_are_the_machines_bytes(opened: Opened) -> None:
    run, page, at = opened.run, opened.page, opened.at
    opened.front("Picture")
    pictures = run.seek(at).pictures
    for name in pictures:
        page.get_by_role("radio", name=name, exact=True).click()
        opened.wait("name => { const p = document.querySelector('pg-picture');"
                    " return p.present?.info.name === name && p.picture.state === 'idle'; }", name)  # fmt: skip
        opened.wait(f"values => ({DIFFERS})(values).then(found => found === 0)", {"at": at, "of": name})
    served_bytes = answer(page, "picture", at=at, of="target")
    assert served_bytes == pictures["target"].pixels.tobytes()


def test_overdraw_wireframe_and_difference(opened: Opened) -> None:
    run, page, at = opened.run, opened.page, opened.at
    opened.front("Picture")
    page.get_by_role("radio", name="target", exact=True).click()
    overlays = "document.querySelector('pg-picture').overlays"
    page.get_by_label("Overdraw", exact=True).select_option("draw")
    opened.wait(f"() => {overlays}.overdraw?.over === 'draw'")
    assert page.evaluate(f"() => Array.from({overlays}.overdraw.counts)") == run.overdraw(at).counts.ravel().tolist()
    page.get_by_label("Overdraw", exact=True).select_option("")
    page.get_by_label("wireframe").check()
    count = len(run.seek(at).vertices.triangles)
    opened.wait(f"count => {overlays}.wireframe?.verdicts.length === count", count)
    page.get_by_label("wireframe").uncheck()
    page.get_by_role("radio", name="difference").first.click()
    event = run.event(at)
    earlier = str(run.events(event.frame)[event.number - 1].address)
    before, after = run.picture_before(at, "target"), run.seek(at).pictures["target"]
    assert before.title == after.title
    same = run.seek(earlier).pictures.get("target")
    if same is not None and same.title == after.title:
        assert (same.pixels == before.pixels).all()
    differing = int((before.pixels != after.pixels).any(axis=-1).sum())
    page.locator("pg-picture .changed", has_text=f"{differing:,} pixels differ").wait_for()
    page.get_by_role("radio", name="after").first.click()


def test_a_click_says_what_why_says(opened: Opened) -> None:
    run, page, at = opened.run, opened.page, opened.at
    opened.select(at)
    opened.front("Picture")
    page.get_by_role("radio", name="target", exact=True).click()
    opened.wait("() => document.querySelector('pg-picture').present.info.name === 'target'")
    counts = run.overdraw(at).counts
    y, x = divmod(int(counts.argmax()), counts.shape[1])
    click_pixel(page, x, y)
    opened.wait("() => location.hash.includes('/px')")
    address = page.evaluate("location.hash.slice(1)")
    opened.wait(SHOWN, address)
    wanted = run.why(address)
    assert page.locator("pg-why .because").inner_text().split() == wanted.because.split()
    shown = page.locator("pg-why .conclusion li").all_inner_texts()
    assert [line.split() for line in shown] == [line.split() for line in wanted.conclusion]
    page.get_by_role("button", name="Unfold all").click()
    said = "".join(page.evaluate(TEXT, "pg-why").split())  # links part words
    for line in str(wanted).splitlines():
        assert "".join(line.lstrip("| ").split()) in said


def test_the_flow_has_the_values_of_the_pixel(opened: Opened) -> None:
    address = opened.page.evaluate("location.hash.slice(1)")
    if "/px" not in address:
        pytest.skip("the click on a pixel was left out")
    stages = opened.run.colour_flow(address)
    panel = opened.page.locator("pg-state")
    panel.get_by_role("radio", name="Flow").click()
    panel.get_by_label("all stages").check()
    shown = opened.page.locator("pg-draw-flow .stage")
    shown.nth(len(stages) - 1).wait_for()
    for number, stage in enumerate(stages):
        text = shown.nth(number).inner_text()
        assert text.startswith(stage.name)
        assert all(part.output is None or part.output.text in text for part in stage.parts)
    panel.get_by_role("radio", name="Registers").click()


def test_state_and_words(opened: Opened) -> None:
    page, at = opened.page, opened.at
    opened.select(at)
    state = answer(page, "state", at=at, since="previous")
    page.locator("pg-state .dim", has_text=f"{len(state['changes'])} changed").wait_for()
    assert page.locator("pg-state th").all_inner_texts() == [one["name"] for one in state["summary"]]
    opened.front("Words")
    words = [line for line in answer(page, "words", at=at)["lines"] if "word" in line]
    total = answer(page, "stream_open")["rows"]
    first_row, end = opened.run.stream.range_of(opened.run.event(at))
    page.get_by_label("this event only").check()
    page.locator("pg-words .count", has_text=f"{end - first_row} of {total:,} rows").wait_for()
    named = next(line for line in words if "address" in line and "register" in line)
    assert named["register"]["name"] in page.locator("pg-words .row", has_text=named["address"]).first.inner_text()
    page.get_by_label("this event only").uncheck()
    page.get_by_placeholder("Find words").fill("no such register")
    page.locator("pg-words .hits", has_text="no hits").wait_for()
    page.get_by_placeholder("Find words").fill("")


def test_the_shader_steps_as_the_trace(opened: Opened) -> None:
    run, page = opened.run, opened.page
    address = f"{opened.at}/v2"
    wanted = run.trace(address)
    opened.front("Shader")
    page.evaluate("address => location.hash = address", f"{address}/s0")
    page.locator("pg-shader .steps", has_text=f"of {len(wanted)}").wait_for()
    page.locator("pg-shader .row[aria-current=step]", has_text=wanted[0].text).wait_for()
    page.get_by_role("button", name="Step (n, →)").click()
    page.locator("pg-shader .row[aria-current=step]", has_text=wanted[1].text).wait_for()
    opened.wait("at => location.hash === '#' + at", f"{address}/s1")
    opened.front("Why")


def test_the_mesh_has_the_triangles_and_their_verdicts(opened: Opened) -> None:
    opened.select(opened.at)
    opened.front("Mesh")
    opened.wait("at => document.querySelector('pg-mesh')?.mesh?.address === at", opened.at)
    vertices = opened.run.seek(opened.at).vertices
    found = opened.page.evaluate("(({vertices, triangles, fates}) => [vertices.count, triangles.count, fates])"
                                 "(document.querySelector('pg-mesh').mesh)")  # fmt: skip
    assert found[:2] == [len(vertices), len(vertices.triangles)] and vertices.fates is not None
    counts: dict[str, int] = {}
    for fate in found[2]:
        counts[fate["verdict"]] = counts.get(fate["verdict"], 0) + fate["count"]
    assert counts == vertices.fates.counts()
    opened.wait("() => document.querySelector('pg-mesh').view.scene")


def test_resources_and_memory(opened: Opened) -> None:
    page, at = opened.page, opened.at
    opened.select(at)
    opened.front("Resources")
    found = answer(page, "resources", at=at)
    page.locator("pg-resources .item").nth(len(found["textures"]) + len(found["tables"]) - 1).wait_for()
    texture = found["textures"][0]
    page.locator("pg-resources .item", has_text=texture["bound"]).first.click()
    values = {"at": at, "of": texture["name"], "part": texture["parts"][0]["name"], "order": "texels"}
    opened.wait(f"values => ({browsing.DIFFERS_INSIDE})(values).then(found => found === 0)",
                {"path": "/api/texture", "values": values, "panel": "pg-resources", "part": "pg-texture"})  # fmt: skip
    address = int(texture["address"], 16)
    opened.front("Memory")
    page.evaluate("address => location.hash = address", f"{at}/mem{address:#x}+0x10")
    row = page.locator("pg-hex .row", has_text=f"{address:08x}")
    row.locator(".cell").first.wait_for()
    wanted = answer(page, "memory", at=at, address=hex(address), size=16)["data"]
    assert "".join(row.locator(".cell").all_inner_texts()) == wanted
    contacts = answer(page, "contacts", at=at, address=hex(address), size=16)
    page.locator("pg-memory .about a", has_text=contacts["written"]["address"]).first.wait_for()
    opened.select(at)


def test_graph_and_timeline(opened: Opened) -> None:
    run, page = opened.run, opened.page
    frame = run.event(opened.at).frame
    opened.front("Frame graph")
    wanted = frame_graph(run, frame)
    page.locator("pg-graph .node").nth(len(wanted.nodes) - 1).wait_for()
    assert page.locator("pg-graph path.edge").count() == len(wanted.edges)
    assert page.locator("pg-graph .node.here").count() >= 1
    opened.front("Timeline")
    opened.wait("frame => { const panel = document.querySelector('pg-timeline');"
                " return panel?.frame === frame && panel.latest.state === 'idle'; }", frame)  # fmt: skip
    assert page.locator("pg-timeline .names div").all_inner_texts() == ["passes", *tracks(run, frame)]


def test_the_run_beside_it_and_what_if(opened: Opened) -> None:
    page, force = opened.page, opened.force
    frame = opened.run.event(opened.at).frame
    both = Comparison(pocketgpu.debug(opened.path), pocketgpu.debug(opened.path, overrides=[force])).frame(frame)
    opened.front("Compare")
    differing = sum(one.verdict != "equal" for one in both.rows)
    assert differing
    page.locator("pg-compare .count", has_text=f"{differing} of {len(both.rows)} events differ").wait_for()
    register = both.first("register")
    assert register is not None
    page.locator("pg-compare table tr", has_text="register").locator(f"text={register.text}").wait_for()
    opened.front("What if")
    choices = answer(page, "choices")["choices"]
    names = page.locator("pg-whatif .scroll select")
    names.nth(len(choices) - 1).wait_for()
    assert names.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))") == [
        one["name"] for one in choices
    ]


def test_notes(opened: Opened) -> None:
    page = opened.page
    opened.select(opened.at)
    page.get_by_role("button", name="Bookmark", exact=True).click()
    opened.front("Notes")
    page.locator("pg-notes li > a", has_text=opened.at).wait_for()
    assert [one["address"] for one in answer(page, "notes")["notes"]] == [opened.at]
    opened.front("Events")


@pytest.mark.parametrize("place", ["frame", "draw"])
def test_no_panel_is_stuck_or_has_an_error(opened: Opened, place: str) -> None:
    """Each panel comes to rest, also about a whole frame."""
    page = opened.page
    opened.select(opened.at if place == "draw" else opened.at.partition("/")[0])
    titles = page.locator(".dv-tab .tab-title").all_inner_texts()
    assert len(titles) == len(PANELS)
    for title in titles:
        opened.front(title)
        opened.wait(AT_REST)
        assert page.locator(".problem").all_inner_texts() == [], title
