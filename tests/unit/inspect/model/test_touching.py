"""Who writes and who reads bytes: the answers are held against the ranges of all events, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.index.events import IndexedEvents
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.inspection import Inspection

DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")


@pytest.fixture(scope="module", params=SAMPLES)
def run(request: pytest.FixtureRequest) -> Iterator[Inspection]:
    yield pocketgpu.debug(DATA / request.param)


def _events(run: Inspection) -> list[Event]:
    return [event for frame in range(run.frame_count + run.has_rest) for event in run.events(frame)]


def _some_reads(run: Inspection) -> list[tuple[Event, Range]]:
    """A read of each kind of event in the first frames, and the first and last of a draw."""
    found = {}
    for event in _events(run):
        for n, one in enumerate(event.reads):
            if one.size:
                found.setdefault((event.kind, min(n, 3)), (event, one))
    return list(found.values())


def test_all_readers_are_found(run: Inspection) -> None:
    reads = _some_reads(run)
    assert {event.kind for event, _ in reads} >= {"draw", "show"}
    for _, place in reads:
        found = run.who_reads(place.address, 4)
        wanted = [one for one in _events(run) if any(Range(place.address, 4).overlaps(part) for part in one.reads)]
        assert [str(one.by_number) for one in found] == [str(one.by_number) for one in wanted]


def test_bounds_of_the_search_are_exclusive(run: Inspection) -> None:
    event, place = next((event, one) for event in run.draws(1) for one in event.reads if one.size)
    every = run.who_reads(place.address, 4)
    at = next(n for n, one in enumerate(every) if one.by_number == event.by_number)
    assert run.who_reads(place.address, 4, since=event.address) == every[at + 1 :]
    assert run.who_reads(place.address, 4, before=event.address) == every[:at]
    with pytest.raises(UsageError):
        run.who_reads(place.address, 4, since="f0/d99999")


def test_the_next_write_comes_after_the_last(run: Inspection) -> None:
    draw = run.draws(0)[2]
    address = draw.writes[0].address
    following = run.next_write(address, 4, after=draw.address)
    assert following is not None
    assert (following.frame, following.number) > (draw.frame, draw.number)
    between = [one for one in _events(run)[_events(run).index(draw) + 1 :] if address in _union(one)]
    assert between[0].by_number == following.by_number
    before = run.who_wrote(address, 4, before=following.by_number)
    assert before is not None
    assert before.by_number == draw.by_number


def _union(event: Event) -> set[int]:
    """The addresses of the first bytes of targets that an event's writes hold."""
    return {one.address for one in event.writes} | {
        place for one in event.writes for place in (0x18000000, 0x180A8C00) if place in one
    }


def test_contacts_are_a_write_its_reads_and_the_next_write(run: Inspection) -> None:
    for event, place in _some_reads(run):
        found = run.contacts(place.address, 4, event.by_number, frames=1)
        assert found.until <= event.frame + 1
        # What an event writes it has read before.
        itself = found.written is not None and found.written.by_number == event.by_number
        assert itself != any(one.by_number == event.by_number for one in found.reads)
        if found.written is not None:
            first = found.written.frame, found.written.number
            assert first <= (event.frame, event.number)
            assert all((one.frame, one.number) > first for one in found.reads)
        if found.next is not None:
            last = found.next.frame, found.next.number
            assert last > (event.frame, event.number)
            assert all((one.frame, one.number) <= last for one in found.reads)


def test_contacts_are_bounded_and_say_what_is_left_out(run: Inspection) -> None:
    places = [one for event in run.draws(0) for one in event.reads if len(run.who_reads(one.address, 1)) > 3]
    place = places[0]
    whole = run.contacts(place.address, 1, "f0", most=1000)
    cut = run.contacts(place.address, 1, "f0", most=1)
    assert cut.reads == whole.reads[:1]
    assert cut.more == len(whole.reads) - 1
    assert cut.to_json()["more"] == cut.more


def test_a_draw_that_changed_nothing_there_does_not_count(run: Inspection) -> None:
    """The first bytes of a target are its corner, which few draws reach."""
    draw = run.draws(0)[-1]
    place = draw.writes[0]
    found = run.contacts(place.address, 4, draw.address, changed=True)
    assert found.written is not None
    wanted = run.who_changed(place.address, 4, before=f"f0/e{draw.number + 1}")
    assert wanted is not None
    assert found.written.by_number == wanted.by_number


def test_events_from_an_index_ask_the_same(run: Inspection) -> None:
    indexed = IndexedEvents(run.capture, None, lambda: run)
    draw = run.draws(0)[1]
    place = draw.reads[0]
    one_side, other_side = (
        [side.who_reads(place.address, 4), side.who_changed(place.address, 4)] for side in (indexed, run)
    )
    assert list(map(str, one_side)) == list(map(str, other_side))
    one, other = (side.contacts(place.address, 4, draw.address) for side in (indexed, run))
    assert one.to_json() == other.to_json()


class _Kept:
    """An index in memory."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = {}

    def read(self, part: str) -> Any:
        return self.parts.get(part)

    def write(self, part: str, value: Any) -> None:
        self.parts[part] = value


def test_events_that_an_earlier_run_has_listed_ask_the_same(run: Inspection) -> None:
    index: Any = _Kept()
    first = IndexedEvents(run.capture, index, lambda: run)
    first.events(run.frame_count - 1)
    first.keep()
    assert index.parts
    later = IndexedEvents(run.capture, index, lambda: pocketgpu.debug(run.capture))
    place = later.draws(1)[1].reads[0]
    for at in ("f0/d1", "f1/d1"):
        found = later.contacts(place.address, 4, at)
        assert found.to_json() == run.contacts(place.address, 4, at).to_json()
    assert list(map(str, later.who_reads(place.address))) == list(map(str, run.who_reads(place.address)))


def test_nobody_touches_bytes_that_are_no_memory(run: Inspection) -> None:
    found = run.contacts(0x10, 16, "f0")
    assert (found.written, found.next, found.reads, found.more) == (None, None, (), 0)
