"""The history of a pixel, made by hand: which touch decides, the way back through copies, its text and its data."""

from __future__ import annotations

from typing import Any

import pytest

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.stage import Loss, Stage
from pocketgpu.inspect.model.why import MOST_NAMES, PROGRAM, Fragment, History, Shown, Touch, Why, deciding

PLACE = Range(0x18000010, 4)


def event(number: int, draw: int | None = None) -> Event:
    return Event(1, number, "draw" if draw is not None else "copy", f"event {number}", draw=draw)


def fragment(written: bool, **more: Any) -> Fragment:
    return Fragment(3, "is written" if written else "fails", written, ["00"], ["ff" if written else "00"], **more)


def touch(number: int, before: str = "00", after: str = "00", **more: Any) -> Touch:
    return Touch(event(number), f"touch {number}", before=[before], after=[after], **more)


FAILED, WRITTEN, CHANGED, COPY = (
    touch(1, fragments=[fragment(False)]), touch(2, fragments=[fragment(True), fragment(False)]),
    touch(3, after="11", fragments=[fragment(False)]), touch(4),
)  # fmt: skip


@pytest.mark.parametrize(
    ("touches", "decides"),
    [
        ([], None), ([FAILED], FAILED), ([WRITTEN, FAILED], WRITTEN), ([CHANGED, FAILED, FAILED], CHANGED),
        ([WRITTEN, COPY, FAILED], COPY), ([FAILED, WRITTEN, CHANGED], CHANGED), ([COPY, WRITTEN], WRITTEN),
    ],
)  # fmt: skip
def test_the_last_touch_that_wrote_decides(touches: list[Touch], decides: Touch | None) -> None:
    """A copy counts as one that may have changed the bytes. Where nothing wrote, the last touch decides."""
    assert deciding(touches) is decides
    assert Why(Address(1), touches=touches).last is decides


def test_the_writer_is_the_last_fragment_that_wrote() -> None:
    first, second, third = fragment(True), fragment(True), fragment(False)
    assert touch(1, fragments=[first, second, third]).writer is second
    assert touch(1, fragments=[third]).writer is None and touch(1).writer is None


def test_the_way_leads_through_first_sources() -> None:
    drawn = touch(0, after="22", fragments=[fragment(True)])
    other = touch(1, after="33")
    copied = touch(2, after="22", sources=[History(PLACE, touches=[drawn, FAILED]), History(PLACE, touches=[other])])
    shown = touch(3, after="22", sources=[History(PLACE, touches=[copied])])
    found = Why(Address(1), touches=[other, shown])
    assert found.way == [shown, copied, drawn] and found.last is drawn
    assert list(found.all_touches()) == [other, drawn, FAILED, other, copied, shown]
    assert found.fragments == [drawn.fragments[0], FAILED.fragments[0]]
    empty = touch(5, sources=[History(PLACE)])
    assert Why(Address(1), touches=[empty]).way == [empty] and Why(Address(1)).last is None


@pytest.mark.parametrize(
    ("one", "lines"),
    [
        (Fragment(3, "fails", False, ["00"], ["00"]), ["primitive 3: fails"]),
        (Fragment(3, "wins", True, ["00"], ["ff"], front=True), ["primitive 3 (front): wins  (00 to ff)"]),
        (Fragment(3, "wins", True, ["00"], ["00"], front=False), ["primitive 3 (back): wins"]),
        (Fragment(0, "no", False, [], [], samples=[]), ["primitive 0 (samples none): no"]),
        (
            Fragment(0, "yes", True, ["a"] * 9, ["b"] * 8, front=True, samples=[0, 2]),
            [f"primitive 0 (front, samples 0, 2): yes  ({' '.join('a' * 8)} and 1 more to {' '.join('b' * 8)})"],
        ),
    ],
)
def test_a_fragment_in_a_line(one: Fragment, lines: list[str]) -> None:
    assert list(one.lines()) == lines and str(one) == lines[0]


def test_instructions_are_shown_of_fragments_that_wrote() -> None:
    stages = [Stage(PROGRAM, text=["MOV"]), Stage("depth test", text=["passes", "writes"])]
    for written, shown in ((True, ["  MOV", "  passes", "  writes"]), (False, ["  passes", "  writes"])):
        one = fragment(written, stages=stages)
        assert list(one.lines())[1:] == shown
        assert one.stage("depth test") is stages[1] and one.stage("blending") is None


def test_a_touch_in_lines() -> None:
    copied = Touch(
        event(4), "copies it", before=["00"], after=["ff"], value_before="black", value_after="white",
        sources=[History(PLACE, "a buffer", 5, 6, [FAILED]), History(PLACE)], depth_from=event(2, draw=0),
    )  # fmt: skip
    assert str(copied).splitlines() == [
        "(5, 6) at 0x18000010+0x4:", "  | f1/e1  touch 1", "  |   primitive 3: fails", "at 0x18000010+0x4:",
        "f1/e4  copies it", "  black -> white", "  depth was last written by f1/d0",
    ]  # fmt: skip
    stays = Touch(event(4), "copies it", before=["ff"], after=["ff"], value_before="white", value_after="white")
    assert list(stays.lines()) == ["f1/e4  copies it", "  stays white"]


def test_an_answer_as_text() -> None:
    misses = [Address(1, draw=n) for n in range(MOST_NAMES)]
    found = Why(
        Address(1, draw=2).at(pixel=(5, 6)), "a draw", ["it is red", "because"], (255, 0, 16), ["ff0010"], PLACE,
        Shown("top", 5, 6, PLACE), [FAILED], misses,
    )  # fmt: skip
    names = ", ".join(f"f1/d{n}" for n in range(MOST_NAMES))
    assert str(found).splitlines() == [
        "it is red", "because", "", "top screen (5, 6) shows memory 0x18000010+0x4",
        "pixel at 0x18000010+0x4, ff0010 at last; what happened to it:", "f1/e1  touch 1", "  primitive 3: fails",
        f"no primitive of {names} covers it",
    ]  # fmt: skip
    found.misses.append(Address(2))
    assert str(found).endswith(f"{names} and 1 more covers it")
    found.touches.clear()
    assert "ff0010 at last; no event of the capture touched it" in str(found)
    assert found.hex == "#ff0010" and f"background:{found.hex}" in found._repr_html_()
    empty = Why(Address(1))
    assert empty.hex is None and not empty.text().strip() and "span" not in empty._repr_html_()


def test_an_answer_as_data() -> None:
    found = Why(Address(1), "a draw", ["it is red"], (1, 2, 3, 4), ["04030201"], PLACE, overlapping=Address(0, draw=3))
    place = {"memory": "0x18000010", "size": 4}
    assert found.to_json() == {
        "schema": "pocketgpu.why/2", "address": "f1", "because": "a draw", "conclusion": ["it is red"],
        "proved": True, "color": [1, 2, 3, 4], "hex": "#01020304", "screen": None,
        "pixel": place | {"value": ["04030201"]}, "overlapping": "f0/d3", "missing": "", "misses": [], "events": [],
    }  # fmt: skip
    drawn = Touch(
        event(5, draw=2), "draws it", "a target", 1, 2, fragments=[fragment(True, passed=[0])],
        sources=[History(PLACE, "a buffer", 3, 4, [COPY])], depth_from=event(2), proved=False,
    )  # fmt: skip
    more = Why(Address(1), shown=Shown("screen", 1, 2, None, "it is off"), touches=[drawn], misses=[Address(1, draw=0)])
    data = more.to_json()
    assert (data["color"], data["hex"], data["pixel"], data["overlapping"]) == (None, None, None, None)
    assert data["screen"] == {"name": "screen", "x": 1, "y": 2, "reason": "it is off", "memory": None}
    assert str(more.shown) == "screen (1, 2) shows nothing: it is off" and data["misses"] == ["f1/d0"]
    (written,) = data["events"]
    assert (written["event"], written["number"], written["depth_from"]) == ("f1/d2", "f1/e5", "f1/e2")
    assert written["fragments"] == [{
        "primitive": 3, "front": None, "samples": [0], "passed": [0], "fate": "is written", "written": True,
        "before": ["00"], "after": ["ff"], "proved": True, "stages": [], "vertices": [],
    }]  # fmt: skip
    (source,) = written["sources"]
    assert source["pixel"] == place and source["events"] == [COPY.to_json()] and COPY.to_json()["depth_from"] is None


def test_a_stage_counts() -> None:
    lost = Loss(2, "are culled", "SOME_REGISTER")
    stage = Stage("triangles", 1234, 1232, [lost, Loss(0, "are odd")])
    assert str(stage) == "triangles: 1,232 of 1,234" and str(lost) == "2 are culled (SOME_REGISTER)"
    assert str(Loss(1, "is odd")) == "1 is odd"
    assert stage.to_json()["lost"][0] == {"count": 2, "reason": "are culled", "register": "SOME_REGISTER"}
    stops = [Stage("a", came, passed).stops_all for came, passed in ((0, 0), (1, 0), (1, 1), (2, 1), (0, 1))]
    assert stops == [False, True, False, False, False]
