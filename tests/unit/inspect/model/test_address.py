"""Addresses of places in the run of a capture."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import SCREENS, Address, split
from pocketgpu.inspect.model.event import Event, Range

NUMBERS = st.integers(0, 999_999_999)
PAIRS, TRIPLES = st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS, NUMBERS)


@st.composite
def addresses(draw: st.DrawFn) -> Address:
    def maybe(strategy: st.SearchStrategy[object]) -> object:
        return draw(st.none() | strategy)

    where = draw(st.sampled_from(["draw", "event", "pass_", "screen", ""]))
    places = (
        {"screen": draw(st.sampled_from(SCREENS))} if where == "screen" else {where: draw(NUMBERS)} if where else {}
    )
    return Address(
        draw(NUMBERS), **places, pixel=maybe(PAIRS), vertex=maybe(NUMBERS), primitive=maybe(NUMBERS),
        block=maybe(TRIPLES), thread=maybe(TRIPLES), step=maybe(NUMBERS),
    )  # fmt: skip


@given(addresses())
def test_text_and_back(address: Address) -> None:
    assert Address.parse(str(address)) == address
    assert Address.parse(f"a file#b.pgc#{address}") == address


def test_what_people_write() -> None:
    assert Address.parse("f3/d17") == Address(3, draw=17)
    assert Address.parse("f1/px200,120") == Address(1, pixel=(200, 120))
    assert Address.parse("f1/top-right/px1,2") == Address(1, screen="top-right", pixel=(1, 2))
    assert Address.parse("f1/e9/b0,1,0/t3,0,0/s12") == Address(1, event=9, block=(0, 1, 0), thread=(3, 0, 0), step=12)
    assert str(Address(1, draw=17, pixel=(8, 9)).at(pixel=None, primitive=3)) == "f1/d17/t3"
    assert Address.parse("f1/d17/t3/px8,9").place == Address(1, draw=17)
    assert split("x/y.pgc#f1") == ("x/y.pgc", "f1") and split("f1") == (None, "f1")


def test_memory_after_an_event() -> None:
    address = Address.parse("f1/d17/mem0x18000000+0x40")
    assert address == Address(1, draw=17, memory=(0x18000000, 0x40))
    assert str(address) == "f1/d17/mem0x18000000+0x40"
    assert str(address.place) == "f1/d17"
    assert str(Address.parse("f1/MEM0X1F+0x1")) == "f1/mem0x1f"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no part of an address"), ("d3", "begins with a frame"), ("f1/f2", "begins with a frame"),
        ("f1/d2/d3", "two parts of the kind"), ("f1/d2/e3", "more than one thing"), ("f1/px3", "has 1 number"),
        ("f1/b1,2", "has 2 numbers"), ("f1/d1,2", "has 2 numbers"), ("f1/x4", "no part"), ("f1/", "no part"),
        ("f-1", "no part"), ("f1/middle/px1,1", "no part"), ("f9999999999", "no part"), ("top/px1,1", "no part"),
        ("f1/mem0x1/mem0x2", "two parts of the kind"), ("f1/mem12", "no part"), ("mem0x1", "no part"),
        ("f1/mem0x12345678901", "no part"), ("f1/mem0x1+4", "no part"),
    ],
)  # fmt: skip
def test_what_is_none_says_why(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Address.parse(text)


def test_events_and_ranges() -> None:
    event = Event(3, 412, "draw", "a draw", draw=17)
    assert str(event) == "a draw  f3/d17" and str(event.by_number) == "f3/e412"
    assert str(Event(3, 412, "fill", "a fill").address) == "f3/e412"
    some = Range(0x100, 0x10)
    assert some.overlaps(Range(0x10F, 1)) and not some.overlaps(Range(0x110, 4)) and not some.overlaps(Range(0x104, 0))
    assert 0x10F in some and 0x110 not in some and str(some) == "0x100+0x10"
