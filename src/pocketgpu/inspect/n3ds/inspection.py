"""The inspection of a 3DS capture: its events, moments and pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pocketgpu.capture.driver import Position, drive
from pocketgpu.capture.driver.n3ds import N3DSDriver, N3DSPlayer
from pocketgpu.capture.formats.n3ds_trace import N3DSTrace
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event, Pass, Range, Words
from pocketgpu.inspect.model.inspection import FrameAnswer, Inspection, as_address, of_frame, refuse_unshown
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.recorder import Recorder

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.forced import ForcedWord
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written
    from pocketgpu.in_steps import InSteps
    from pocketgpu.inspect.decode.uniforms import Uniform
    from pocketgpu.inspect.model.colour_flow import FlowStage
    from pocketgpu.inspect.model.costs import Costs
    from pocketgpu.inspect.model.forcing import Forcing
    from pocketgpu.inspect.model.overdraw import Over, Overdraw
    from pocketgpu.inspect.model.references import RegisterWord
    from pocketgpu.inspect.model.steppable import Steppable
    from pocketgpu.inspect.model.vertices import Primitive
    from pocketgpu.inspect.model.why import Fragment
    from pocketgpu.inspect.n3ds.moments import N3dsMoment
    from pocketgpu.inspect.n3ds.programs import Program as DrawProgram
    from pocketgpu.inspect.stepping.company import Company
    from pocketgpu.inspect.stepping.forced_registers import Forced
    from pocketgpu.inspect.stepping.trace import Trace as Steps
    from pocketgpu.inspect.stream.command_stream import CommandStream


Judge: TypeAlias = Callable[[Mapping[int, int], int, "DrawProgram | None"], list[str]]
"""Takes a draw's registers by id, its kind and its vertex program; returns lines about what is odd."""


class N3dsInspection(Inspection):
    """The inspection of a 3DS capture.

    choices, evaluator: as for `pocketgpu.N3DS`. recorder: notes the events, if it has to note more than usual.
    judge: finds what is odd about a draw's registers and program; None: nothing is reported as odd.
    forced: as for `drive`.
    """

    def __init__(
        self, capture: Capture, choices: Mapping[str, str] | None = None, evaluator: str = "llvm",
        recorder: Recorder | None = None, judge: Judge | None = None, frames: FrameAnswer | None = None,
        forced: Sequence[ForcedWord] = (),
    ) -> None:  # fmt: skip
        self.capture, self.judge, self.frames = capture, judge, frames
        self._trace = cast("N3DSTrace", capture.trace)
        self.choices, self.evaluator, self.forced = choices or {}, evaluator, tuple(forced)
        self._recorder = recorder or Recorder()
        self._known: list[tuple[list[Event], list[Pass]]] = []
        """Events and passes of the first frames, as an earlier run has listed them."""
        self.changing: dict[tuple[int, int], bool] = {}
        """For draws that were asked, by frame and number: whether a fragment changes a colour."""

    most_traced = 1 << 12

    # -- events -------------------------------------------------------------------------------------------------------
    @cached_property
    def _recording(self) -> N3DSDriver:
        driver = drive(self._trace, switches=self.choices, forced=self.forced)
        driver.machine.observe(self._recorder)
        return driver

    def _frame(self, frame: int) -> None:
        """Have the events of a frame listed."""
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise self.missing_frame(frame)
        if frame >= len(self._known):
            self._play(frame)

    def _play(self, frame: int) -> None:
        """Replay until the events of a frame are there."""
        while self._recording.frame <= min(frame, self.frame_count - 1):
            self._recording.play_frame()
            self._recording.machine.events.drain()
        if frame == self.frame_count:
            _ = self._rest

    @cached_property
    def _rest(self) -> None:
        """Plays what comes after the last frame, once."""
        for _ in self._recording.steps():
            self._recording.machine.events.drain()

    def events(self, frame: int) -> Sequence[Event]:
        self._frame(frame)
        if frame < len(self._known):
            return self._known[frame][0]
        self._recorder.settle(frame)
        return self._recorder.frames[frame].events

    def draws(self, frame: int) -> list[Event]:
        self._frame(frame)
        return super().draws(frame) if frame < len(self._known) else self._recorder.frames[frame].draws

    def passes(self, frame: int) -> Sequence[Pass]:
        self.events(frame)
        return self._known[frame][1] if frame < len(self._known) else self._recorder.frames[frame].passes

    # -- events of earlier runs ---------------------------------------------------------------------------------------
    takes_events = True

    def unit(self, event: Event) -> str:
        from pocketgpu.inspect.n3ds.units import unit_of

        return unit_of(event)

    @property
    def listed(self) -> int:
        return max(len(self._known), self._recording.frame if "_recording" in vars(self) else 0)

    def use_events(self, frames: Sequence[tuple[list[Event], list[Pass]]]) -> None:
        self._known = list(frames)

    def words_listed(self, frame: int, number: int) -> Words:
        self._play(frame)
        words = self._recorder.frames[frame].events[number].words
        assert words is not None
        return words

    # -- notes --------------------------------------------------------------------------------------------------------
    def notes(self) -> Any:
        """Of draws that were asked: [frame, number of the draw, 1 or 0], whether a fragment changes a colour."""
        return [[*draw, int(changes)] for draw, changes in self.changing.items()]

    def use_notes(self, notes: Any) -> None:
        rows = notes if isinstance(notes, list) else ()
        if all(isinstance(row, list) and len(row) == 3 and all(type(n) is int for n in row) for row in rows):
            self.changing |= {(row[0], row[1]): bool(row[2]) for row in rows}

    # -- moments ------------------------------------------------------------------------------------------------------
    @cached_property
    def player(self) -> N3DSPlayer:
        """The player that brings the machine to events."""
        return N3DSPlayer(drive(self._trace, switches=self.choices, evaluator=self.evaluator, forced=self.forced))

    def watch(self, event: Event, watcher: DrawWatcher) -> None:
        """Play the frame of an event up to that event, with a watcher of its draws."""
        self.player.go(Position(event.frame))
        self.player.play_to(Position(event.frame, event.number + 1), watcher)

    def seek(self, place: Address | str) -> N3dsMoment:
        from pocketgpu.inspect.n3ds.moments import N3dsMoment

        address = as_address(place)
        if not address.names_event:
            self._frame(address.frame)
            if address.pass_ is None:
                self.player.go(Position(address.frame + 1))
                return N3dsMoment(self, address.place, None)
            event = self.pass_of(address).events[-1]
        else:
            event = self.event(address)
        self.player.go(Position(event.frame, event.number + 1))
        return N3dsMoment(self, event.address, event)

    def who_changed(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        from pocketgpu.inspect.n3ds.writers import who_changed

        return who_changed(self, Range(address, size), None if before is None else self.event(before))

    # -- answers ------------------------------------------------------------------------------------------------------
    def trace(
        self, place: Address | str, most: int | None = None, overrides: Forced | None = None,
        company: Company | None = None,
    ) -> Steps:  # fmt: skip
        from pocketgpu.inspect.n3ds.stepping import trace_of

        keep = company is not None and company.keep is not None
        return trace_of(self, as_address(place), most, overrides, keep)

    def use_texts(self, paths: Sequence[str]) -> None:
        from pocketgpu.inspect.shaders.shader_texts import ShaderTexts

        self.texts = ShaderTexts(paths)
        self._traced = None

    def _programs_of(self, place: Address) -> list[Steppable]:
        from pocketgpu.inspect.n3ds.stepping import programs_at

        return programs_at(self, place)

    def _primitive_of(self, event: Event, number: int) -> Primitive:
        from pocketgpu.inspect.n3ds.history import primitive_of

        return primitive_of(self.player.machine, self.watch, event, number)

    def _colour_flow(self, address: Address, fragment: Fragment | None) -> list[FlowStage]:
        from pocketgpu.inspect.n3ds.colour_flow import colour_flow

        return colour_flow(self.seek(address.place), address, fragment)

    @property
    def forcing(self) -> Forcing:
        from pocketgpu.inspect.forcing.n3ds import N3dsForcing

        return N3dsForcing(self)

    def streaming(self) -> InSteps[CommandStream]:
        from pocketgpu.inspect.stream.command_stream import opening
        from pocketgpu.inspect.stream.n3ds import N3dsEventRows

        return opening(self.capture, self.choices, self.evaluator, N3dsEventRows(), self.events)

    def uniforms(self, event: Event) -> list[Uniform]:
        from pocketgpu.inspect.decode import decode_words
        from pocketgpu.inspect.decode.uniforms import uniforms_of

        if event.words is None:
            return []
        rows = decode_words(event.words.values).rows
        last = {(one.unit, one.name): one for one in uniforms_of(rows).values()}
        return list(last.values())

    def word_of(self, register: str, place: Address | str) -> RegisterWord | None:
        from pocketgpu.inspect.decode.last_write import word_of
        from pocketgpu.inspect.stream.last_write import word_after

        draw = self.draw_of_word(place)
        if draw is None:
            return word_after(self, register, as_address(place).place)
        return word_of(self.capture, register, draw)

    def stored_by(self, app: App, event: Event, answer: Answer | None = None) -> Written | None:
        from pocketgpu.inspect.n3ds.queued import stored_by

        return stored_by(app, self, event)

    def overdraw(self, place: Address | str, over: Over = "draw") -> Overdraw:
        from pocketgpu.inspect.n3ds.overdraw import overdraw

        return overdraw(self, as_address(place).place, over)

    def costs(self, frame: int) -> Costs:
        from pocketgpu.inspect.n3ds.overdraw import costs

        return costs(self, frame)

    def why(self, place: Address | str, every: bool = False) -> Any:
        from pocketgpu.inspect.n3ds.why import why

        refuse_unshown(self, as_address(place))
        return of_frame(self, as_address(place)) or why(self, as_address(place), every)
