"""Ranges of memory, events and passes, made by hand: what lies in them, their addresses, their text and data."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Pass, Range, Words
from pocketgpu.wording import counted, there_are


def test_ranges_are_sets_of_bytes() -> None:
    ranges = [Range(address, size) for address in range(4) for size in range(4)]
    for one in ranges:
        mine = set(range(one.address, one.address + one.size))
        assert one.end - one.address == len(mine)
        assert {n for n in range(-1, 9) if n in one} == mine and "1" not in one
        for other in ranges:
            assert one.overlaps(other) == bool(mine & set(range(other.address, other.address + other.size)))
    assert str(Range(0x20, 16)) == "0x20+0x10" and Range(0x20, 16).to_json() == {"address": "0x20", "size": 16}


def test_an_event_as_data() -> None:
    made = Words((Range(0x100, 4), Range(0x200, 8)), np.array([1, 0xABCDEF01, 3], np.uint32))
    asked: list[int] = []

    def make() -> Words:
        asked.append(1)
        return made

    draw = Event(
        3, 41, "draw", "6 vertices", draw=7, pass_=2, facts={"count": 6}, writes=(Range(0x18, 4),),
        reads=(Range(0x20, 2), Range(0x30, 1)), made_by=make,
    )  # fmt: skip
    expected = {
        "address": "f3/d7", "event": "f3/e41", "kind": "draw", "title": "6 vertices", "pass": 2, "facts": {"count": 6},
        "writes": [{"address": "0x18", "size": 4}],
        "reads": [{"address": "0x20", "size": 2}, {"address": "0x30", "size": 1}],
    }  # fmt: skip
    assert draw.to_json() == expected and not asked
    spans = [{"address": "0x00000100", "size": 4}, {"address": "0x00000200", "size": 8}]
    values = ["0x00000001", "0xabcdef01", "0x00000003"]
    assert draw.to_json(words=True) == expected | {"words": {"spans": spans, "values": values}}
    assert draw.words is made and len(asked) == 1
    assert str(made) == "3 words at 0x100+0x4, 0x200+0x8"
    assert str(Words((), made.values[:1])) == "1 word at no place in guest memory"
    assert (str(draw), str(draw.address), str(draw.by_number)) == ("6 vertices  f3/d7", "f3/d7", "f3/e41")
    fill = Event(0, 2, "fill", "fills memory")
    assert "words" not in fill.to_json(words=True) and fill.words is None and str(fill.address) == "f0/e2"


def test_a_pass_as_text() -> None:
    events = [Event(0, 0, "fill", "a"), Event(0, 1, "draw", "b", draw=0), Event(0, 2, "draw", "c", draw=1)]
    one = Pass(0, 3, "colour at 0x10", events)
    assert one.draws == events[1:] and one.address == Address(0, pass_=3)
    assert str(one) == "colour at 0x10: 2 draws, 3 events  f0/p3"
    assert str(Pass(0, 0, "", events[:1])) == "no target: 0 draws, 1 event  f0/p0"
    assert one._repr_html_().count("<li>") == 3


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "It has no draws."), (1, "It has one draw, f0/d0."), (2, "It has 2 draws, f0/d0 to f0/d1."),
     (12, "It has 12 draws, f0/d0 to f0/d11.")],
)  # fmt: skip
def test_what_there_is(number: int, text: str) -> None:
    assert there_are(number, "draw", "f0/d0") == text


def test_nouns_agree_with_their_number() -> None:
    assert [counted(n, "vertex", "vertices") for n in range(3)] == ["0 vertices", "1 vertex", "2 vertices"]
    assert [counted(n, "draw") for n in (0, 1, 5)] == ["0 draws", "1 draw", "5 draws"]
