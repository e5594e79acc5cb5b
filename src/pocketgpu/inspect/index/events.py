"""The events of a recording out of its index, without a machine; what is not there comes from a replay.

    run = listing(capture)
    for event in run.events(1):
        print(event)
    run.keep()

An inspection that needs a machine anyway can take its events from there too:

    with remembered(run, capture, choices):
        moment = run.seek("f52/d0")
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pocketgpu.inspect.index.store import Index, index_of
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import KINDS, Event, Pass, Range, Words
from pocketgpu.inspect.model.inspection import Inspection

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written
    from pocketgpu.in_steps import InSteps
    from pocketgpu.inspect.decode.uniforms import Uniform
    from pocketgpu.inspect.model.answer import Answer
    from pocketgpu.inspect.model.colour_flow import FlowStage
    from pocketgpu.inspect.model.costs import Costs
    from pocketgpu.inspect.model.forcing import Forcing
    from pocketgpu.inspect.model.moment import Moment
    from pocketgpu.inspect.model.overdraw import Over, Overdraw
    from pocketgpu.inspect.model.pictures import MomentPicture
    from pocketgpu.inspect.model.references import RegisterWord
    from pocketgpu.inspect.model.steppable import Steppable
    from pocketgpu.inspect.model.touching import Bytes, Contacts
    from pocketgpu.inspect.model.vertices import Primitive
    from pocketgpu.inspect.stepping.company import Company
    from pocketgpu.inspect.stepping.forced_registers import Forced
    from pocketgpu.inspect.stepping.trace import Trace
    from pocketgpu.inspect.stream.command_stream import CommandStream

PART = "events"
MOST_EVENTS = 20_000
"""Most events that an index keeps."""
Frame = tuple[list[Event], list[Pass]]
_LIMIT = 1 << 64


def listing(capture: Capture, choices: Mapping[str, str]) -> IndexedEvents:
    """The inspection of a capture for questions about its events. choices: as for `debug`."""

    def replayed() -> Inspection:
        from pocketgpu.inspect.inspection import debug

        return debug(capture, choices)

    return IndexedEvents(capture, index_of(capture, choices), replayed)


@contextmanager
def remembered(run: Inspection, capture: Capture, choices: Mapping[str, str]) -> Iterator[None]:
    """Give an inspection the events that earlier runs have listed, if it takes them, and keep those that it lists
    itself. Answers do not depend on it."""
    index = index_of(capture, choices) if run.takes_events else None
    if index is None:
        yield
        return
    known = _decoded(index.read(PART), run.words_listed)
    run.use_events(known)
    yield
    if run.listed > len(known):
        _keep(index, [(list(run.events(frame)), list(run.passes(frame))) for frame in range(run.listed)])


def _keep(index: Index, frames: Sequence[Frame]) -> None:
    """Keep the events of the first frames, if they are not too many."""
    if sum(len(events) for events, _ in frames) > MOST_EVENTS:
        return
    value = [_encoded(*frame) for frame in frames]
    # What JSON would change, such as tuples, is not kept: the events would not be the same.
    if json.loads(json.dumps(value)) == value:
        index.write(PART, value)


class IndexedEvents(Inspection):
    """An inspection whose events come out of an index, as far as that has them. index: None if there can be none.
    replayed: makes the inspection that has the rest: other events, words and answers."""

    def __init__(self, capture: Capture, index: Index | None, replayed: Callable[[], Inspection]) -> None:
        self.capture, self._index, self._make = capture, index, replayed
        self._frames = _decoded(None if index is None else index.read(PART), self._words)
        self._replayed = -1  # the last frame that was replayed

    @cached_property
    def _run(self) -> Inspection:
        return self._make()

    def _words(self, frame: int, number: int) -> Words:
        return self._run.words_listed(frame, number)

    @property
    def whole(self) -> Inspection:
        return self._run

    # -- events -------------------------------------------------------------------------------------------------------
    def _frame(self, frame: int) -> Frame:
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise self.missing_frame(frame)
        if frame < len(self._frames):
            return self._frames[frame]
        self._replayed = max(self._replayed, frame)
        return list(self._run.events(frame)), list(self._run.passes(frame))

    def events(self, frame: int) -> Sequence[Event]:
        return self._frame(frame)[0]

    def passes(self, frame: int) -> Sequence[Pass]:
        return self._frame(frame)[1]

    def unit(self, event: Event) -> str:
        return self._run.unit(event)

    def uniforms(self, event: Event) -> list[Uniform]:
        return self._run.uniforms(self._run.event(event.by_number))

    def keep(self) -> None:
        """Keep the events that were replayed for the next question."""
        if self._index is None or self._replayed < len(self._frames):
            return
        _keep(self._index, [self._frame(frame) for frame in range(self._replayed + 1)])

    # -- the rest -----------------------------------------------------------------------------------------------------
    def seek(self, place: Address | str) -> Moment:
        return self._run.seek(place)

    def bytes_at(self, address: int, size: int = 1, at: Address | str | None = None) -> Bytes:
        return self._run.bytes_at(address, size, at)

    # Who touches bytes is asked about events that were replayed: a Switch's are compared by what the replay has noted.
    def who_reads(
        self, address: int, size: int = 1, since: Address | str | None = None, before: Address | str | None = None
    ) -> list[Event]:  # fmt: skip
        return self._run.who_reads(address, size, since, before)

    def next_write(self, address: int, size: int = 1, after: Address | str | None = None) -> Event | None:
        return self._run.next_write(address, size, after)

    def contacts(
        self, address: int, size: int, at: Address | str, changed: bool = False, frames: int = 1, most: int = 256
    ) -> Contacts:  # fmt: skip
        return self._run.contacts(address, size, at, changed, frames, most)

    def who_wrote(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        return self._run.who_wrote(address, size, before)

    def who_changed(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        return self._run.who_changed(address, size, before)

    @property
    def forcing(self) -> Forcing:
        return self._run.forcing

    @property
    def stream(self) -> CommandStream:
        return self._run.stream

    def open_stream(self) -> bool:
        return self._run.open_stream()

    def streaming(self) -> InSteps[CommandStream]:
        return self._run.streaming()

    def words_of(self, event: Event) -> Iterable[str]:
        return self._run.words_of(event)

    def word_of(self, register: str, place: Address | str) -> RegisterWord | None:
        return self._run.word_of(register, place)

    def stored_by(self, app: App, event: Event, answer: Answer | None = None) -> Written | None:
        return self._run.stored_by(app, event, answer)

    def trace(
        self, place: Address | str, most: int | None = None, overrides: Forced | None = None,
        company: Company | None = None,
    ) -> Trace:  # fmt: skip
        return self._run.trace(place, most, overrides, company)

    def use_texts(self, paths: Sequence[str]) -> None:
        self._run.use_texts(paths)

    def lanes_at(self, place: Address | str) -> list[Address]:
        return self._run.lanes_at(place)

    def traced(self, place: Address | str) -> Trace:
        return self._run.traced(place)

    def colour_flow(self, place: Address | str) -> list[FlowStage]:
        return self._run.colour_flow(place)

    def programs_at(self, place: Address | str) -> list[Steppable]:
        return self._run.programs_at(place)

    def picture_before(self, place: Address | str, name: str) -> MomentPicture:
        return self._run.picture_before(place, name)

    def primitive(self, place: Address | str) -> Primitive | None:
        return self._run.primitive(place)

    def answered(self, place: Address | str) -> Any:
        return self._run.answered(place)

    def overdraw(self, place: Address | str, over: Over = "draw") -> Overdraw:
        return self._run.overdraw(place, over)

    def costs(self, frame: int) -> Costs:
        return self._run.costs(frame)

    def why(self, place: Address | str, every: bool = False) -> Any:
        return self._run.why(place, every)


# -- events as plain data -------------------------------------------------------------------------------------------
def _encoded(events: Sequence[Event], passes: Sequence[Pass]) -> list[Any]:
    rows = [
        [
            one.kind, one.title, one.draw, one.pass_, dict(one.facts), [[r.address, r.size] for r in one.writes],
            [[r.address, r.size] for r in one.reads], one.made_by is not None,
        ]
        for one in events
    ]  # fmt: skip
    return [rows, [[one.target, [event.number for event in one.events]] for one in passes]]


def _decoded(value: Any, words: Callable[[int, int], Words]) -> list[Frame]:
    """Frames of an index; none if anything is not as expected."""
    try:
        return [_frame_of(number, rows, groups, words) for number, (rows, groups) in enumerate(value or ())]
    except (TypeError, ValueError, LookupError, AttributeError):
        return []


def _frame_of(number: int, rows: Any, groups: Any, words: Callable[[int, int], Words]) -> Frame:
    """A frame. A value of another kind raises one of the errors above."""
    events = []
    for n, (kind, title, draw, pass_, facts, writes, reads, has_words) in enumerate(rows):
        if kind not in KINDS or not isinstance(title, str) or not isinstance(facts, dict):
            raise ValueError
        events.append(
            Event(
                number, n, kind, title, _whole(draw, or_none=True), _whole(pass_, or_none=True), facts,
                _ranges(writes), _ranges(reads), partial(words, number, n) if has_words else None,
            )
        )  # fmt: skip
    passes = []
    for n, (target, numbers) in enumerate(groups):
        if not isinstance(target, str):
            raise ValueError
        passes.append(Pass(number, n, target, [events[_whole(one)] for one in numbers]))
    return events, passes


def _ranges(rows: Any) -> tuple[Range, ...]:
    return tuple(Range(_whole(address), _whole(size)) for address, size in rows)


def _whole(value: Any, or_none: bool = False) -> Any:
    """A whole number, or None if that is allowed."""
    if not (or_none and value is None) and (type(value) is not int or not 0 <= value < _LIMIT):
        raise ValueError
    return value


__all__ = ["IndexedEvents", "listing", "remembered"]
