"""Base class of inspections of a capture: its events, moments and answers, the same for both consoles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event, Pass, Range, Words
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.steppable import TakesTexts
from pocketgpu.inspect.model.touching import Bytes, BytesAt, Contacts, between, contacts_of
from pocketgpu.wording import counted, there_are

if TYPE_CHECKING:
    from pocketgpu.forced import ForcedWord
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written
    from pocketgpu.in_steps import InSteps
    from pocketgpu.inspect.decode.uniforms import Uniform
    from pocketgpu.inspect.model.colour_flow import FlowStage
    from pocketgpu.inspect.model.costs import Costs
    from pocketgpu.inspect.model.forcing import Forcing
    from pocketgpu.inspect.model.overdraw import Over, Overdraw
    from pocketgpu.inspect.model.pictures import MomentPicture
    from pocketgpu.inspect.model.references import RegisterWord
    from pocketgpu.inspect.model.steppable import Steppable
    from pocketgpu.inspect.model.vertices import Primitive
    from pocketgpu.inspect.model.why import Fragment
    from pocketgpu.inspect.stepping.company import Company
    from pocketgpu.inspect.stepping.forced_registers import Forced
    from pocketgpu.inspect.stepping.trace import Trace
    from pocketgpu.inspect.stream.command_stream import CommandStream


def as_address(place: Address | str) -> Address:
    """Parse an address if it is text.

    :raises UsageError: the text is not an address.
    """
    return Address.parse(place) if isinstance(place, str) else place


FrameAnswer = Callable[["Inspection", Address], Answer]
"""Explains a frame."""


class Inspection(TakesTexts, ABC):
    """An inspection of a capture. Every address may be given as text."""

    choices: Mapping[str, str] = MappingProxyType({})
    evaluator: str = "llvm"
    forced: tuple[ForcedWord, ...] = ()
    """Behaviour that was chosen (`pocketgpu switches`), what runs the machines, and words that registers shall hold."""
    most_traced: ClassVar[int]
    """Steps that `traced` keeps: as many as take some seconds."""
    _traced: tuple[Address, Trace] | None = None
    _answered: tuple[Address, Any] | None = None
    _stream: CommandStream | None = None
    _opening_stream: InSteps[CommandStream] | None = None
    frames: FrameAnswer | None = None
    """What answers `why` about a whole frame; None: such questions are refused."""

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def __str__(self) -> str:
        return f"{self.capture.path}: {counted(self.frame_count, 'frame')}"

    @property
    def whole(self) -> Inspection:
        """The inspection with a machine: itself, unless it only passes questions on."""
        return self

    # -- events -------------------------------------------------------------------------------------------------------
    @property
    def frame_count(self) -> int:
        return self.capture.frame_count

    @property
    def has_rest(self) -> bool:
        """Whether work comes after the last frame, which no picture shows. Its address is that of a frame: f60 after
        60 frames."""
        return self.capture.has_rest

    def missing_frame(self, frame: int) -> UsageError:
        """The error about a frame that is not there."""
        count = self.frame_count
        hint = there_are(count, "frame", "f0") if count else "It shows no picture."
        if self.has_rest:
            hint += f" What comes after the last frame is f{count}."
        return UsageError(f"the capture has no frame {frame}", location=f"f{frame}", hint=hint)

    @abstractmethod
    def events(self, frame: int) -> Sequence[Event]:
        """The events of a frame, in order; with `frame_count` those after the last frame, if there are some.

        :raises UsageError: there is no such frame.
        """

    @abstractmethod
    def passes(self, frame: int) -> Sequence[Pass]:
        """The same events, in groups of consecutive events with the same render target."""

    def draws(self, frame: int) -> list[Event]:
        """The draws of a frame, in order."""
        return [event for event in self.events(frame) if event.draw is not None]

    def all_events(self) -> Iterator[Event]:
        """The events of all frames, in order."""
        for frame in range(self.frame_count):
            yield from self.events(frame)

    def event(self, place: Address | str) -> Event:
        """The event that an address names.

        :raises UsageError: the address names no event, or the frame has no event of that number.
        """
        address = as_address(place)
        events = self.events(address.frame)
        if address.draw is not None:
            draws = self.draws(address.frame)
            if address.draw < len(draws):
                return draws[address.draw]
            raise UsageError(
                f"frame {address.frame} has no draw {address.draw}", location=str(address),
                hint=there_are(len(draws), "draw", f"f{address.frame}/d0"),
            )  # fmt: skip
        if address.event is None:
            raise UsageError("this address names no event", location=str(address), hint="Such as f1/d17 or f1/e412.")
        if address.event < len(events):
            return events[address.event]
        raise UsageError(
            f"frame {address.frame} has no event {address.event}", location=str(address),
            hint=there_are(len(events), "event", f"f{address.frame}/e0"),
        )  # fmt: skip

    def pass_of(self, place: Address | str) -> Pass:
        """The pass that an address names.

        :raises UsageError: the address names no pass, or the frame has no pass of that number.
        """
        address = as_address(place)
        passes = self.passes(address.frame)
        if address.pass_ is None:
            raise UsageError("this address names no pass", location=str(address), hint="Such as f1/p2.")
        if address.pass_ < len(passes):
            return passes[address.pass_]
        raise UsageError(
            f"frame {address.frame} has no pass {address.pass_}", location=str(address),
            hint=there_are(len(passes), "pass", f"f{address.frame}/p0", "passes"),
        )  # fmt: skip

    def unit(self, event: Event) -> str:
        """The unit of the console that does an event: "PPF", "3D B197", "CPU". Where no units are known, the kind
        of the event."""
        return event.kind

    def written(self, place: Address | str) -> list[dict[str, str]]:
        """The registers that the words of a draw wrote, in order: id, name, old and new value, in hexadecimal.

        :raises UsageError: there is no such draw.
        """
        import json

        event = self.event(place)
        if event.draw is None:
            raise UsageError("only draws have words of their own", location=str(event.address))
        registers = [json.loads(line).get("register", {}) for line in self.words_of(event)]
        return [register for register in registers if "new" in register]

    @property
    def forcing(self) -> Forcing:
        """What knows which registers can have an override.

        :raises UsageError: those of this console cannot.
        """
        raise UsageError(f"registers of a {self.capture.console} cannot be forced")

    # -- the command stream -------------------------------------------------------------------------------------------
    @property
    def stream(self) -> CommandStream:
        """All words of the capture as a table. The first use replays the capture without drawing.

        :raises UsageError: it has more words than can be decoded at once.
        """
        while not self.open_stream():
            pass
        assert self._stream is not None
        return self._stream

    def open_stream(self) -> bool:
        """Do a step of what `stream` needs, if anything is left to do; returns whether it is there now. A step takes
        some milliseconds, or as long as a frame's command lists take without their draws.

        :raises UsageError: see `stream`.
        """
        if self._stream is None:
            if self._opening_stream is None:
                self._opening_stream = self.streaming()
            try:
                next(self._opening_stream)
            except StopIteration as end:
                self._stream = end.value
            except BaseException:
                self._opening_stream = None
                raise
        return self._stream is not None

    def streaming(self) -> InSteps[CommandStream]:
        """Makes `stream`, in steps."""
        raise UsageError(f"words of a {self.capture.console} cannot be listed")

    def words_of(self, event: Event) -> Iterable[str]:
        """The words of the command stream that belong to an event, each as a line of JSON (docs/formats/decode.md)."""
        extent = self.stream.range_of(event)
        return () if extent is None else self.stream.lines_at(self.stream.own(extent))

    @abstractmethod
    def word_of(self, register: str, place: Address | str) -> RegisterWord | None:
        """The word of the command stream that gave a register the value that a draw has, or that it has after another
        event, a pass or a frame. None if no word did.

        :raises UsageError: there is no such register or event.
        """

    def draw_of_word(self, place: Address | str) -> Address | None:
        """The draw whose registers `word_of` is about; None if the place is something else."""
        address = as_address(place).place
        event = self.event(address) if address.names_event else None
        return event.address if event is not None and event.draw is not None else None

    # -- moments ------------------------------------------------------------------------------------------------------
    @abstractmethod
    def seek(self, place: Address | str) -> Moment:
        """The machine right after an event; for the address of a frame, at the end of the frame.

        :raises UsageError: there is no such event.
        """

    def draw_before(self, place: Address | str) -> Address | None:
        """The last draw before an event, in its frame or an earlier one; None if there is none. For the address of a
        frame: its last draw, or that of an earlier frame."""
        address = as_address(place)
        number = self.event(address).number if address.names_event else None
        for frame in range(address.frame, -1, -1):
            draws = [one for one in self.draws(frame) if number is None or one.number < number]
            if draws:
                return draws[-1].address
            number = None
        return None

    def before(self, place: Address | str) -> Address | None:
        """The address right before an event: of the event before it, or of the frame before it; None at the start. For
        a pass: before its first event; for a frame: the frame before it."""
        address = as_address(place)
        event = first_event(self, address)
        if event is not None and event.number:
            return Address(address.frame, event=event.number - 1)
        return Address(address.frame - 1) if address.frame else None

    def picture_before(self, place: Address | str, name: str) -> MomentPicture:
        """A picture of a moment, as it was right before its event: of a render target in the layout that it has after
        the event, also where it was not bound before.

        :raises UsageError: nothing comes before, or there is no such picture of the same size.
        """
        address = as_address(place).place
        earlier = self.before(address)
        if earlier is None:
            raise UsageError("nothing comes before this", location=str(address))
        moment, then = self.seek(address), self.seek(earlier)
        found = moment.targets_at(then).get(name)
        if found is not None:
            return found
        now, old = moment.pictures.get(name), then.pictures.get(name)
        if now is None or old is None:
            raise UsageError(f'there is no picture "{name}" before this event', location=str(earlier))
        if (now.width, now.height, now.title) != (old.width, old.height, old.title):
            raise UsageError(f'"{name}" is another surface before this event: {old.title}', location=str(earlier))
        return old

    def who_wrote(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        """The last event that wrote, or may have written, any of these bytes. before: look only at events before this
        one (default: at all events of the capture)."""
        asked, found = self.bytes_at(address, size, before), None
        for event in between(self, before=None if before is None else self.event(before)):
            if asked.written_by(event):
                found = event
        return found

    def who_changed(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        """Like `who_wrote`, but a draw counts only if it changed any of the bytes; it is run to find out. Where a
        console's inspection cannot find out, the two are the same."""
        return self.who_wrote(address, size, before)

    def bytes_at(self, address: int, size: int = 1, at: Address | str | None = None) -> Bytes:
        """Bytes that events can be asked about. at: the event at which the address is meant, where memory is mapped
        (default: at the end of the capture)."""
        return BytesAt(Range(address, size))

    def who_reads(
        self, address: int, size: int = 1, since: Address | str | None = None, before: Address | str | None = None
    ) -> list[Event]:  # fmt: skip
        """The events that read, or may read, any of these bytes, in order. since, before: look only at events after
        the one and before the other (default: at all events of the capture).

        :raises UsageError: there is no such event.
        """
        first, last = (None if place is None else self.event(place) for place in (since, before))
        asked = self.bytes_at(address, size, since if since is not None else before)
        return [event for event in between(self, first, last) if asked.read_by(event)]

    def next_write(self, address: int, size: int = 1, after: Address | str | None = None) -> Event | None:
        """The first event that writes, or may write, any of these bytes. after: look only at events after this one.

        :raises UsageError: there is no such event.
        """
        asked = self.bytes_at(address, size, after)
        events = between(self, None if after is None else self.event(after))
        return next((event for event in events if asked.written_by(event)), None)

    def contacts(
        self, address: int, size: int, at: Address | str, changed: bool = False, frames: int = 1, most: int = 256
    ) -> Contacts:  # fmt: skip
        """What happens to bytes around an event, or the end of a frame: who wrote them last up to then, who writes them
        next, and who reads them between these two.

        changed: of draws up to then, only those count that changed any of the bytes; they are run to find out. frames:
        how many frames after that one are looked at. most: how many reads are listed.

        :raises UsageError: there is no such event.
        """
        address_of, place = as_address(at), Range(address, size)
        events = self.passes(address_of.frame)[address_of.pass_].events if address_of.pass_ is not None else (
            self.events(address_of.frame)
        )  # fmt: skip
        here = self.event(address_of) if address_of.names_event else events[-1] if events else None
        asked = self.bytes_at(address, size, None if here is None else here.by_number)
        written = here if here is not None and asked.written_by(here) and not changed else None
        if written is None:
            written = (self.who_changed if changed else self.who_wrote)(address, size, self._after(here))
        until = min(address_of.frame + frames, self.frame_count - 1 + self.has_rest)
        return contacts_of(self, place, here, written, until, most, asked)

    def _after(self, event: Event | None) -> Address | None:
        """The address of the event that follows another one; None at the end of the capture."""
        if event is None:
            return None
        events = self.events(event.frame)
        if event.number + 1 < len(events):
            return events[event.number + 1].by_number
        for frame in range(event.frame + 1, self.frame_count + self.has_rest):
            if self.events(frame):
                return self.events(frame)[0].by_number
        return None

    # -- answers ------------------------------------------------------------------------------------------------------
    def trace(self, place: Address | str, most: int | None = None, overrides: Forced | None = None,
              company: Company | None = None) -> Trace:  # fmt: skip
        """The steps of a program in a draw or launch (`stepping`): of a vertex, f1/d17/v5; on a 3DS of a primitive in a
        geometry program, f1/d17/t3; on a Switch of a run of a tessellation or geometry program, f1/d17/t3/tc2, te7 or
        gs0, of the last fragment on a pixel of a draw's target, f1/d17/px8,9, of a thread, f0/e9/b0,0,0/t3,0,0.

        most: steps that are kept. overrides: what-if, words for registers right before steps: {12: {"r0.x": 0}}.
        company: another lane of the warp or quad, and what is changed and kept with it (`stepping.company`).

        :raises UsageError: the address names nothing that runs a traceable program.
        """
        raise UsageError(f"programs of a {self.capture.console} cannot be traced in a capture", location=str(place))

    def lanes_at(self, place: Address | str) -> list[Address]:
        """The run that an address names and those that run with it: threads of its warp, pixels of its quad."""
        return [as_address(place).at(step=None)]

    def traced(self, place: Address | str) -> Trace:
        """Like `trace`, with up to `most_traced` steps. The trace is kept until another one is asked for, as who steps
        through it asks many small things. The address may name a step. Raises UsageError as `trace` does."""
        address = as_address(place).at(step=None)
        if self._traced is None or self._traced[0] != address:
            self._traced = None  # the memory of one long trace is enough
            self._traced = address, self.trace(address, self.most_traced)
        return self._traced[1]

    def programs_at(self, place: Address | str) -> list[Steppable]:
        """The programs that can be stepped through at a draw or launch. For one of its pixels or primitives, also the
        runs for that; for a pixel of a picture, the runs for the fragments that gave it its colour.

        :raises UsageError: there is no such place.
        """
        address = as_address(place).at(step=None)
        if address.names_event:
            primitive = self.primitive(address)
            return [*self._programs_of(address.place), *(() if primitive is None else primitive.runs)]
        return list(self.answered(address).programs) if address.pixel is not None else []

    def primitive(self, place: Address | str) -> Primitive | None:
        """The primitive of a draw that an address names, with its vertices. For a pixel of the draw, f1/d17/px8,9, that
        of the last fragment there that was written, or of the last one; None if there is none. Other places name none.

        :raises UsageError: there is no such draw, primitive or pixel.
        """
        address = as_address(place)
        if not address.names_event or self.event(address.place).draw is None:
            return None
        if address.primitive is not None:
            return self._primitive_of(self.event(address.place), address.primitive)
        if address.pixel is None:
            return None
        event = self.event(address.place)
        touches = self.answered(event.address.at(pixel=address.pixel)).touches
        return next((one.primitive for one in reversed(touches) if one.event.address == event.address), None)

    def _primitive_of(self, event: Event, number: int) -> Primitive:
        """`primitive` of a draw, by its number.

        :raises UsageError: the draw has no such primitive.
        """
        at = event.address.at(primitive=number)
        raise UsageError(f"primitives of a {self.capture.console} cannot be named", location=str(at))

    def answered(self, place: Address | str) -> Any:
        """Like `why`, without `every`. The answer is kept until another one is asked for: viewers ask several times.

        :raises UsageError: see `why`.
        """
        address = as_address(place)
        if self._answered is None or self._answered[0] != address:
            self._answered = None
            self._answered = address, self.why(address)
        return self._answered[1]

    def _programs_of(self, place: Address) -> list[Steppable]:
        """`programs_at` for the address of an event."""
        del place
        return []

    def colour_flow(self, place: Address | str) -> list[FlowStage]:
        """The stages that make the colours of a draw, in order; for a pixel of the draw, f1/d17/px8,9, with the values
        that its last fragment had.

        :raises UsageError: there is no such draw or pixel.
        """
        address = as_address(place)
        event = self.event(address.place)
        if event.draw is None:
            raise UsageError("only draws have stages that make colours", location=str(address), hint="Such as f1/d17.")
        fragment = None
        if address.pixel is not None:
            touches = [one for one in self.answered(address).all_touches() if one.event.address == event.address]
            fragment = next((one for touch in reversed(touches) for one in reversed(touch.fragments)), None)
        return self._colour_flow(address, fragment)

    def _colour_flow(self, address: Address, fragment: Fragment | None) -> list[FlowStage]:
        """`colour_flow` of a draw. fragment: on the pixel that the address names; None if there is none."""
        raise UsageError("the stages of this console are not described", location=str(address))

    def uniforms(self, event: Event) -> list[Uniform]:
        """Uniforms that the words of an event upload, each with the value that the last of these words gives it. A
        Switch has none: programs read `Moment.constants` instead."""
        return []

    @abstractmethod
    def stored_by(self, app: App, event: Event, answer: Answer | None = None) -> Written | None:
        """The stores of a program that made the words of an event, or its bytes, from a second run of the program; None
        if there are none. `queued_by` gives them with the event. answer: about a pixel, whose bytes the event stored.

        :raises UsageError: the program may find other files in a second run.
        """

    def overdraw(self, place: Address | str, over: Over = "draw") -> Overdraw:
        """How many fragments each pixel of a draw's target got, before any test: by the draw, by its pass up to it
        ("pass"), or by all draws of the frame up to it that go to the same target ("frame"). At other places: the
        last draw before.

        :raises UsageError: there is no such place, or nothing was drawn before it.
        """
        raise UsageError(f"fragments of a {self.capture.console} cannot be counted", location=str(place))

    def costs(self, frame: int) -> Costs:
        """What each draw of a frame costs: vertices, primitives and fragments. The frame is replayed once for this.

        :raises UsageError: there is no such frame.
        """
        raise UsageError(f"costs of a {self.capture.console} cannot be counted", location=f"f{frame}")

    @abstractmethod
    def why(self, place: Address | str, every: bool = False) -> Any:
        """Why a pixel has its colour, or what became of a draw; the console's `why` says what it returns.

        every: count everything in a draw, however long that takes; otherwise some of a large draw is counted.

        :raises UsageError: there is no such pixel.
        """

    # -- events of earlier runs ---------------------------------------------------------------------------------------
    takes_events: ClassVar[bool] = False
    """Whether it can use events that an earlier run of the same recording has listed."""

    @property
    def listed(self) -> int:
        """How many frames have their events listed, from the first one on."""
        return 0

    def use_events(self, frames: Sequence[tuple[list[Event], list[Pass]]]) -> None:
        """Use the events and passes of the first frames, as an earlier run has listed them."""
        del frames

    def words_listed(self, frame: int, number: int) -> Words:
        """The words of an event of a frame, which has some, from a replay."""
        words = self.events(frame)[number].words
        assert words is not None
        return words

    # -- notes --------------------------------------------------------------------------------------------------------
    def notes(self) -> Any:
        """What was found out about the recording that another run would have to find out again, as plain data for JSON.
        None if there is nothing like that."""
        return None

    def use_notes(self, notes: Any) -> None:
        """Use the notes of an earlier run of the same recording; other values are ignored. No answer depends on
        them."""
        del notes  # nothing is noted here


def first_event(run: Inspection, place: Address) -> Event | None:
    """The event of an address, of a pass the first one; None for a frame.

    :raises UsageError: there is no such event or pass.
    """
    if place.pass_ is not None:
        return run.pass_of(place).events[0]
    return run.event(place) if place.names_event else None


def refuse_unshown(run: Inspection, address: Address) -> None:
    """Refuse a pixel of a screen after the last frame.

    :raises UsageError: the address names one.
    """
    of_screen = address.pixel is not None and not address.names_event
    if run.has_rest and of_screen and address.frame == run.frame_count:
        raise UsageError(
            "no picture is shown after the last frame", location=str(address),
            hint=f"'pocketgpu events CAPTURE f{address.frame}' lists what happens there; pixels of draws can be asked.",
        )  # fmt: skip


def of_frame(run: Inspection, address: Address) -> Answer | None:
    """The answer about a frame; None if the address names something in it, or nothing answers such questions.

    :raises UsageError: there is no such frame.
    """
    if run.frames is None or address != Address(address.frame):
        return None
    run.events(address.frame)  # a missing frame is reported
    return run.frames(run, address)


def draw_of(run: Inspection, address: Address) -> Address:
    """The draw that `why` explains, for an address without a pixel.

    :raises UsageError: the address names no draw, or a part of one that `why` does not explain.
    """
    frame = f"f{address.frame}"
    if address.memory is not None:
        raise UsageError(
            "why explains pixels and draws, not memory", location=str(address),
            hint=f"'pocketgpu who CAPTURE {address.memory[0]:#x}' shows who wrote it.",
        )  # fmt: skip
    if not address.names_event:
        run.events(address.frame)  # a missing frame is reported first
        raise UsageError(
            "this address names no pixel and no draw", location=str(address),
            hint=f"Such as {frame}/px200,120 or {frame}/d0; 'pocketgpu events CAPTURE {frame}' lists draws.",
        )  # fmt: skip
    event = run.event(address)
    if event.draw is None:
        raise UsageError(
            f"this event is no draw: {event.title}", location=str(address),
            hint=f"'pocketgpu events CAPTURE {address.place}' shows it, and 'pocketgpu events CAPTURE {frame} "
            "--draws' lists draws.",
        )  # fmt: skip
    if address.vertex is not None:
        raise UsageError(
            "why explains pixels and draws, not a vertex", location=str(address),
            hint=f"'pocketgpu shader step CAPTURE {address}' shows what its program did.",
        )  # fmt: skip
    return address


__all__ = ["FrameAnswer", "Inspection", "as_address", "draw_of", "first_event", "of_frame", "refuse_unshown"]
