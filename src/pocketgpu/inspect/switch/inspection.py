"""The inspection of a Switch recording: its events, moments and pixels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture import Capture
from pocketgpu.capture.driver import drive, log_of_switch
from pocketgpu.capture.driver.switch import SwitchPlayer
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event, Pass, Range
from pocketgpu.inspect.model.inspection import FrameAnswer, Inspection, as_address, draw_of, of_frame, refuse_unshown
from pocketgpu.inspect.switch.recorder import Recorder, TickTrace
from pocketgpu.maxwell.host.layout import CLASS_FILES

if TYPE_CHECKING:
    from pocketgpu.forced import ForcedWord
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written
    from pocketgpu.in_steps import InSteps
    from pocketgpu.inspect.model.colour_flow import FlowStage
    from pocketgpu.inspect.model.costs import Costs
    from pocketgpu.inspect.model.forcing import Forcing
    from pocketgpu.inspect.model.overdraw import Over, Overdraw
    from pocketgpu.inspect.model.references import RegisterWord
    from pocketgpu.inspect.model.steppable import Steppable
    from pocketgpu.inspect.model.touching import Bytes
    from pocketgpu.inspect.model.vertices import Primitive
    from pocketgpu.inspect.model.why import Fragment
    from pocketgpu.inspect.stepping.company import Company
    from pocketgpu.inspect.stepping.forced_registers import Forced
    from pocketgpu.inspect.stepping.trace import Trace as Steps
    from pocketgpu.inspect.stream.command_stream import CommandStream
    from pocketgpu.inspect.switch.answers import PixelAnswers
    from pocketgpu.inspect.switch.moments import SwitchMoment


class SwitchInspection(Inspection):
    """The inspection of a Switch recording. A frame is replayed when something of it is first read.

    choices, evaluator: as for `pocketgpu.GM20B`. forced: as for `drive`.

    :raises UsageError: the capture is of another console, or there is no such choice.
    """

    def __init__(
        self, capture: Capture, choices: Mapping[str, str] | None = None, evaluator: str = "llvm",
        frames: FrameAnswer | None = None, forced: Sequence[ForcedWord] = (),
    ) -> None:  # fmt: skip
        self.capture, self.frames = capture, frames
        self.log = log_of_switch(capture)
        self.choices, self.evaluator, self.forced = choices or {}, evaluator, tuple(forced)
        self.recorder = Recorder(self.log)
        driver = drive(self.log, switches=choices, evaluator=evaluator, forced=self.forced)
        self.player = SwitchPlayer(driver, self.recorder.note, drawing=self.recorder.drawing)
        self.recorder.machine = self.player.machine
        self.recorder.backings = lambda: driver.backings

    most_traced = 1 << 17

    @cached_property
    def _pixels(self) -> PixelAnswers:
        from pocketgpu.inspect.switch.answers import PixelAnswers  # NumPy's side of drawing, which few questions need

        return PixelAnswers(self)

    # -- events -------------------------------------------------------------------------------------------------------
    def _frame(self, frame: int) -> None:
        """Replay until the events of a frame are there."""
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise self.missing_frame(frame)
        self.player.finish_frame(frame)

    def events(self, frame: int) -> Sequence[Event]:
        """The events of a frame, in order; `facts` of engines' events have the registers that changed.

        :raises UsageError: there is no such frame.
        """
        self._frame(frame)
        return self.recorder.events[frame]

    def event(self, place: Address | str) -> Event:
        """See `Inspection`. The frame is replayed no further than to the event."""
        address = as_address(place)
        frame, found = address.frame, None
        if address.names_event and 0 <= frame < self.frame_count + self.has_rest:
            if frame:
                self._frame(frame - 1)
            found, missing = self._recorded(address)
            while found is None and self.player.finished <= frame and self.player.hear(missing):
                found, missing = self._recorded(address)
        return super().event(address) if found is None else found

    def _recorded(self, address: Address) -> tuple[Event | None, int]:
        """The event that an address names, if it was recorded; how many events must come, at least, until it is."""
        events = self.recorder.events[address.frame] if address.frame < len(self.recorder.events) else []
        if address.draw is not None:
            events = [event for event in events if event.draw is not None]
        number = address.draw if address.draw is not None else address.event
        assert number is not None
        missing = number + 1 - len(events)
        return (events[number] if missing <= 0 else None), missing

    def draw_before(self, place: Address | str) -> Address | None:
        address = as_address(place)
        if not address.names_event:
            return super().draw_before(address)
        event = self.event(address)
        before = self.recorder.events[event.frame][: event.number]
        found = next((one.address for one in reversed(before) if one.draw is not None), None)
        if found is None and event.frame:
            return super().draw_before(Address(event.frame - 1))
        return found

    def passes(self, frame: int) -> Sequence[Pass]:
        """The same events, in groups of consecutive events with the same targets.

        :raises UsageError: there is no such frame.
        """
        self._frame(frame)
        return self.recorder.passes[frame].found

    def unit(self, event: Event) -> str:
        from pocketgpu.inspect.switch.units import unit_of

        return unit_of(event)

    def tick_of(self, place: Address | str) -> int:
        """How many events of the whole run are over right after an event, or at the end of a frame.

        :raises UsageError: there is no such event.
        """
        address = as_address(place)
        if not address.names_event:
            events = self.events(address.frame)
            if address.pass_ is None:
                return self.recorder.first[address.frame] + len(events)
            return self.recorder.tick_of(self.pass_of(address).events[-1])
        return self.recorder.tick_of(self.event(address))

    def registers(self, tick: int, class_id: int = B197.class_id, channel: int = 0) -> NDArray[np.uint32]:
        """Registers of a class after the first `tick` events of the run: 0x1000 words.

        :raises UsageError: there is no such class.
        """
        if class_id not in CLASS_FILES:
            known = ", ".join(f"{number:#06x}" for number in CLASS_FILES)
            raise UsageError(f"there is no class {class_id:#x}", hint=f"There are: {known}.")
        if channel not in self.recorder.power_on and self.recorder.events:
            self._frame(len(self.recorder.events) - 1)  # its first event comes later in the frame
        return self.recorder.registers(tick, CLASS_FILES.index(class_id), channel)

    # -- moments ------------------------------------------------------------------------------------------------------
    def seek(self, place: Address | str) -> SwitchMoment:
        """The machine right after an event ("f1/d17", "f1/e412"), a pass ("f1/p2") or a frame ("f1").

        :raises UsageError: there is no such event.
        """
        from pocketgpu.inspect.switch.moments import SwitchMoment

        address = as_address(place)
        tick = self.tick_of(address)
        self.player.go(self.player.at(tick))
        event = self.recorder.traces[tick - 1].event if tick else None
        if event is not None and address.names_event:
            address = event.address
        return SwitchMoment(self, address, event, tick)

    def who_wrote(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        """The last event that wrote, or may have written, any of these bytes. `address` is a GPU address as mapped at
        `before`.

        Writes to the same bytes at another address are found, too. Stores of launches and of programs of draws are
        known only by pages of 4096 bytes. So are words for constant buffers, which belong to the event after them.
        Semaphores of the host are not found.

        :raises UsageError: there is no such event.
        """
        return next((trace.event for _, trace, _ in self._writers(address, size, before)), None)

    def who_changed(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        """Like `who_wrote`, but an event that only may have written the bytes counts only if it did. Clears, blits and
        copies are decided by their rectangles; draws, launches and words for constant buffers by whether the bytes
        in memory differ before and after them.

        :raises UsageError: there is no such event.
        """
        from pocketgpu.inspect.switch.touches import Finder

        finder = Finder(self.recorder)
        for tick, trace, spots in self._writers(address, size, before):
            compared = trace.event.kind in ("draw", "launch") or "constant_words" in trace.event.facts
            if not compared and finder.touches(tick, spots):
                return trace.event
            if self._bytes(tick - 1, spots) != self._bytes(tick, spots):
                return trace.event
        return None

    def bytes_at(self, address: int, size: int = 1, at: Address | str | None = None) -> Bytes:
        """See `Inspection`. Bytes that are mapped at several addresses are found at all of them. Where nothing is
        mapped yet, the bytes are those that events touch at this address later."""
        from pocketgpu.inspect.model.touching import BytesAt
        from pocketgpu.inspect.switch.touches import BytesInArena

        if at is None:
            frames = self.frame_count + self.has_rest
            tick = self.tick_of(f"f{frames - 1}") if frames else 0
        else:
            tick = self.tick_of(at)
        self.player.go(self.player.at(tick))
        spots = [(at, length) for at, length in self.player.machine.memory.spans(address, size) if at is not None]
        return BytesInArena(self.recorder, spots) if spots else BytesAt(Range(address, size))

    def _writers(
        self, address: int, size: int, before: Address | str | None
    ) -> Iterator[tuple[int, TickTrace, list[tuple[int, int]]]]:  # fmt: skip
        """Ticks that wrote, or may have written, bytes, the last one first; with arena ranges of the bytes."""
        if before is None:
            frames = self.frame_count + self.has_rest
            last = self.tick_of(f"f{frames - 1}") if frames else 0
        else:
            last = self.recorder.tick_of(self.event(before)) - 1
        self.player.go(self.player.at(last))
        spots = [(at, length) for at, length in self.player.machine.memory.spans(address, size) if at is not None]
        for tick in range(last, 0, -1):
            trace = self.recorder.traces[tick - 1]
            if any(at < start + length and start < at + count for at, count in spots for start, length in trace.writes):
                yield tick, trace, spots

    def _bytes(self, tick: int, spots: list[tuple[int, int]]) -> list[bytes]:
        """Bytes of the arena after the first `tick` events."""
        self.player.go(self.player.at(tick))
        arena = self.player.machine.memory.arena
        return [arena[at : at + size].tobytes() for at, size in spots]

    # -- notes --------------------------------------------------------------------------------------------------------
    def notes(self) -> Any:
        """Of draws that were looked at: [tick, left, top, right, bottom] of their shapes; [tick, 1 or 0]: whether
        these cover a pixel."""
        reached = [[tick, *box] for tick, box in self.recorder.reached.items()]
        return reached + [[tick, int(covers)] for tick, covers in self.recorder.covering.items()]

    def use_notes(self, notes: Any) -> None:
        rows = notes if isinstance(notes, list) else ()
        if all(isinstance(row, list) and len(row) in (2, 5) and all(type(n) is int for n in row) for row in rows):
            self.recorder.reached |= {row[0]: (row[1], row[2], row[3], row[4]) for row in rows if len(row) == 5}
            self.recorder.covering |= {row[0]: bool(row[1]) for row in rows if len(row) == 2}

    # -- answers ------------------------------------------------------------------------------------------------------
    def trace(
        self, place: Address | str, most: int | None = None, overrides: Forced | None = None,
        company: Company | None = None,
    ) -> Steps:  # fmt: skip
        """The steps of a program: of a vertex ("f1/d17/v5") in the first vertex program, of the last fragment on a
        pixel of a draw's target ("f1/d17/px8,9"), of a thread of a launch ("f0/e9/b0,0,0/t3,0,0").

        most: steps that are kept. company: another lane of the warp or quad, and what is changed and kept with it.

        :raises UsageError: there is no such vertex, fragment or thread, or the address names something else.
        """
        from pocketgpu.inspect.stepping.company import ALONE
        from pocketgpu.inspect.switch.stepping import trace_of

        return trace_of(self, as_address(place), most, overrides, company or ALONE)

    def lanes_at(self, place: Address | str) -> list[Address]:
        from pocketgpu.inspect.switch.stepping import lanes_at

        return lanes_at(self, as_address(place).at(step=None))

    def _programs_of(self, place: Address) -> list[Steppable]:
        from pocketgpu.inspect.switch.stepping import programs_at

        return programs_at(self, place)

    def _primitive_of(self, event: Event, number: int) -> Primitive:
        from pocketgpu.inspect.switch.vertices import primitive_of

        return primitive_of(self, event, number)

    def _colour_flow(self, address: Address, fragment: Fragment | None) -> list[FlowStage]:
        from pocketgpu.inspect.switch.summary import colour_flow

        return colour_flow(self.seek(address.place), address, fragment)

    @property
    def forcing(self) -> Forcing:
        from pocketgpu.inspect.forcing.switch import SwitchForcing

        return SwitchForcing(self)

    def streaming(self) -> InSteps[CommandStream]:
        from pocketgpu.inspect.stream.command_stream import opening
        from pocketgpu.inspect.stream.switch import SwitchEventRows

        return opening(self.capture, self.choices, self.evaluator, SwitchEventRows(), self.events)

    def word_of(self, register: str, place: Address | str) -> RegisterWord | None:
        from pocketgpu.inspect.decode.last_write import word_of
        from pocketgpu.inspect.stream.last_write import word_after

        draw = self.draw_of_word(place)
        if draw is None:
            return word_after(self, register, as_address(place).place)
        return word_of(self.capture, register, draw)

    def stored_by(self, app: App, event: Event, answer: Answer | None = None) -> Written | None:
        from pocketgpu.inspect.switch.queued import stored_by

        return stored_by(app, self.log, event, answer)

    def overdraw(self, place: Address | str, over: Over = "draw") -> Overdraw:
        from pocketgpu.inspect.switch.overdraw import overdraw

        return overdraw(self, as_address(place).place, over)

    def costs(self, frame: int) -> Costs:
        from pocketgpu.inspect.switch.overdraw import costs

        return costs(self, frame)

    def why(self, place: Address | str, every: bool = False) -> Answer:
        """Why a pixel has its colour: of the picture ("f1/px200,120"), or of a draw's first target right after the
        draw ("f1/d17/px8,9", y as in the viewport). For a thread ("f0/e9/b0,1,0/t3,0,0"), what it did. For a
        draw ("f1/d17") or one of its primitives ("f1/d17/t5"), how much of it passed each stage;
        for a frame ("f1"), what spoils its picture. every: also count pixels of huge shapes.

        :raises UsageError: there is no such pixel, thread, draw or primitive.
        """
        address = as_address(place)
        refuse_unshown(self, address)
        if address.block is not None or address.thread is not None:
            from pocketgpu.inspect.switch.threads import thread_why

            return thread_why(self, self._pixels.watch, address)
        if address.pixel is None:
            whole = of_frame(self, address)
            if whole is not None:
                return whole
            from pocketgpu.inspect.switch.funnel import draw_why

            return draw_why(self, self._pixels.watch, draw_of(self, address), every)
        if address.names_event:
            return self._pixels.of_draw(address)
        return self._pixels.shown(address)
