"""What both consoles do for a running program: VBlanks, a player's input, pictures, text.

A console derives from `Console`. It makes kernel and services, and says in `vblank` what its own parts do at a VBlank.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeVar

from pocketgpu.events import Event, EventLog
from pocketgpu.facts.console_font import ConsoleFont
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.input.controls import ANSWERING, Controls
from pocketgpu.guests.input.player import Actions, Player
from pocketgpu.guests.input.script import Statement
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.program import Program
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pictures import ShownArray

if TYPE_CHECKING:
    from pocketgpu.capture.formats.pgc.contents import Contents
    from pocketgpu.guests.text.consoles import ConsoleText


class Counted(Protocol):
    """Counts of what a GPU did."""

    def reset(self) -> None:
        """Set all counts to zero."""
        ...


class GuestMachine(Protocol):
    """The GPU of a console."""

    @property
    def choices(self) -> Mapping[str, str]:
        """Named choices and their values."""
        ...

    @property
    def events(self) -> EventLog:
        """What it has to tell."""
        ...

    @property
    def stats(self) -> Counted:
        """Counts since the last VBlank."""
        ...


class Recorder(Protocol):
    """Who follows a console and can say what its GPU was given."""

    @property
    def stored_bytes(self) -> int:
        """Bytes that the processor has written, as the capture keeps them."""
        ...

    def contents(self, about: Mapping[str, str]) -> Contents:
        """The capture so far. about: key and value of notes."""
        ...

    def stop(self) -> None:
        """Follow no longer."""
        ...


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a program is to be run. font: a file of a font for the console's system, if one was named. threads: of
    drawing. switches: choices and their values."""

    font: str | os.PathLike[str] | None = None
    threads: int = 1
    switches: Mapping[str, str] | None = None


_MOST_AFTER_END: Final = 64
"""VBlanks after the end of a program."""


@dataclass
class Vblank:
    """What one VBlank did. number: from 1. presents: what was newly shown, by screen. frame: the number of this
    present, from 0; None if nothing was presented. counts: draws and so on since the VBlank before."""

    fixed_state: ClassVar = True  # once its VBlank is over

    number: int
    tick: int
    presents: Mapping[str, object] = field(default_factory=dict)
    frame: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Inputs:
    """What a player does: see `Console`."""

    statements: tuple[Statement, ...]
    held: Mapping[int, Any]
    answers: Sequence[str | None]
    closes_at: int | None


M = TypeVar("M", bound=GuestMachine)
K = TypeVar("K", bound=Kernel)
I = TypeVar("I")  # noqa: E741  what a player does at a VBlank


class Console(Generic[M, K, I]):
    """A console with a program in it.

    machine: its GPU. card: the files that the program finds. player: who plays scripts. held: input at a VBlank, by its
    number, instead of the player's. input: of the last VBlank. answers: what the player answers to the keyboard and
    the like. vblanks: those that were, or the last of them if `most_vblanks` says how many. present_count: how often
    the program showed something new.

    Classes of consoles set `screen_names`, `screen_sizes` (pixels of the displays, by screen), `touch_screen` (the one
    that is touched), `vblank_ticks` (from one VBlank to the next), `counted` (counts of the GPU that a frame tells),
    `controls`, and `console_font` of programs that print.
    """

    outside_state = frozenset({"_reader"})
    screen_names: ClassVar[tuple[str, ...]]
    screen_sizes: ClassVar[Mapping[str, tuple[int, int]]]
    touch_screen: ClassVar[str]
    vblank_ticks: ClassVar[int]
    counted: ClassVar[tuple[str, ...]]
    controls: ClassVar[Controls]
    console_font: ClassVar[ConsoleFont]

    def __init__(self, machine: M, kernel: K, card: Files, rest: I, answers: Answers) -> None:
        self.machine, self.kernel, self.card = machine, kernel, card
        self.player = Player(self.controls)
        self.held: dict[int, I] = {}
        self.input = rest
        self.answers = answers.given
        answers.later = self._answers_later
        self.closes_at: int | None = None
        self.vblanks: list[Vblank] = []
        self.most_vblanks: int | None = None
        self._vblank_count = 0
        self.present_count = 0
        self._reader: ConsoleText | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.frame_count} frames, {self.present_count} presents>"

    def _answers_later(self) -> bool:
        """Whether the script answers a keyboard that waits now."""
        return any(one.control in ANSWERING and one.first >= self.frame_count for one in self.player.statements)

    # -- what a console adds ----------------------------------------------------------------------------------------
    def input_of(self, actions: Actions) -> I:
        """A frame's actions as the console's services have them."""
        raise NotImplementedError

    def do_once(self, control: str, values: Sequence[float | str]) -> None:
        """Something that happens once: a button of the console, an answer."""
        raise NotImplementedError

    def take_input(self) -> None:
        """Give `input` to the program."""
        raise NotImplementedError

    def take_presents(self) -> Mapping[str, object]:
        """What the program has newly shown since the last VBlank, by screen."""
        raise NotImplementedError

    def number_present(self, shown: Mapping[str, object]) -> tuple[int, int]:
        """The number of the present that a VBlank shows, and how many there were with it."""
        return self.present_count, self.present_count + 1

    def ask_to_close(self) -> None:
        """Tell the program that it shall end."""
        raise NotImplementedError

    def recorder(self) -> Recorder:
        """A recorder from here on; call it while `settled`."""
        raise NotImplementedError

    @property
    def settled(self) -> bool:
        """Whether the GPU has nothing left to do, so that a recording may begin."""
        raise NotImplementedError

    @property
    def frames_begun(self) -> int:
        """Frames that a recording from the start would have by now: `recorded_frame` is one of them, or the next."""
        return self.frame_count

    @property
    def screens(self) -> Mapping[str, ShownArray]:
        """The pictures of the screens that show something."""
        raise NotImplementedError

    # -- time -------------------------------------------------------------------------------------------------------
    def vblank(self, tick: int) -> None:
        """One VBlank: input, then what was presented. Consoles call it when it is due."""
        self._vblank_count += 1
        one = Vblank(self._vblank_count, tick)
        if self.most_vblanks is not None and len(self.vblanks) >= 2 * self.most_vblanks:
            del self.vblanks[: -self.most_vblanks]
        self.vblanks.append(one)
        self.input = self.held.get(one.number) or self._played(one.number - 1)
        self.take_input()
        if self.closes_at == one.number:
            self.ask_to_close()
        one.presents = self.take_presents()
        if one.presents:
            one.frame, self.present_count = self.number_present(one.presents)
        stats = self.machine.stats
        one.counts = {name: int(getattr(stats, name)) for name in self.counted}
        stats.reset()

    def _played(self, frame: int) -> I:
        """What the player holds in a frame, after what happens once."""
        actions = self.player.at(frame)
        for control, values in actions.once:
            self.do_once(control, values)
        return self.input_of(actions)

    @property
    def has_new(self) -> bool:
        """Whether a program that has ended left something that only the next VBlank will count."""
        return False

    def after_end(self) -> None:
        """The program has ended: what it showed since the last VBlank is shown by some more."""
        for _ in range(_MOST_AFTER_END):
            if not self.has_new:
                break
            self.vblank(self.kernel.time.now)

    # -- for an App -------------------------------------------------------------------------------------------------
    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        return self._vblank_count

    @property
    def frame_seconds(self) -> float:
        """How long a frame is on the console."""
        return self.vblank_ticks / self.kernel.time.hertz

    @property
    def presented(self) -> int | None:
        """The number of the present that the last VBlank took; None if it took none."""
        return self.vblanks[-1].frame if self.vblanks else None

    @property
    def recorded_frame(self) -> int:
        """The frame of a recording that the screens show; -1 if there is none yet."""
        return self.frame_count - 1

    @property
    def counts(self) -> Mapping[str, int]:
        """What the GPU did between the last two VBlanks."""
        return self.vblanks[-1].counts if self.vblanks else dict.fromkeys(self.counted, 0)

    @property
    def events(self) -> list[Event]:
        """What the machine and the kernel have to tell since they were asked the last time."""
        return [*self.machine.events.drain(), *self.kernel.events.drain()]

    @property
    def inputs(self) -> Inputs:
        """What the player does, in all frames; it can be set at another console of the same kind."""
        return Inputs(self.player.statements, dict(self.held), tuple(self.answers), self.closes_at)

    @inputs.setter
    def inputs(self, value: Inputs) -> None:
        self.held, self.closes_at = dict(value.held), value.closes_at
        self.answers[:] = value.answers
        self.player = Player(self.controls)
        self.play(value.statements)

    @property
    def file_changes(self) -> int:
        """How often the program has changed files of the host, or was about to."""
        return self.card.changes

    @property
    def text(self) -> str:
        """What the program has printed for a debugger."""
        return self.kernel.text.decode("utf-8", "backslashreplace")

    def console_text(self, program: Program) -> Mapping[str, str]:
        """What a program shows on its text consoles, by screen."""
        if self._reader is None:
            from pocketgpu.guests.text.consoles import ConsoleText

            self._reader = ConsoleText([one.data for one in program.segments], self.console_font)
        return self._reader.of(self.screens)

    def play(self, statements: Iterable[Statement]) -> None:
        """Do what a script says, beside what is done already."""
        self.player.add(statements)

    def hold(self, statement: Statement) -> None:
        """Do what a statement says, which may prolong the one before: see `Player.hold`."""
        self.player.hold(statement)

    def close(self) -> None:
        """Ask the program to end, at the next VBlank."""
        self.closes_at = self.frame_count + 1
