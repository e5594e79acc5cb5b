"""Drivers of both consoles: frames, steps, positions, seeking."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

from pocketgpu.capture.driver.checkpoints import BUDGET, INTERVAL, Checkpoint, Checkpoints, Kept, Position
from pocketgpu.displayed import line_of, picture_html, table_html, title_html
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.events import Event, EventLog
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted, one_of

if TYPE_CHECKING:
    from pocketgpu.forced import ForcedWord
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.observer import Observed
    from pocketgpu.pica.n3ds import N3DS
    from pocketgpu.pictures import Screen

RESTORING = 0.006
"""Approximate seconds for restoring a checkpoint."""


class Machine(Protocol):
    """The common interface of both consoles' machines."""

    @property
    def events(self) -> EventLog: ...
    def checkpoint(self) -> Any: ...
    def restore(self, checkpoint: Any, /) -> None: ...
    def reset(self) -> None: ...
    def finish(self) -> None: ...
    def force(self, words: Sequence[ForcedWord], /) -> None: ...
    def under(self, switches: Mapping[str, str], /) -> Self: ...


M = TypeVar("M", bound=Machine)


@dataclass(frozen=True)
class Measure:
    """What is measured in replays of a console: phases, and a count for the speed (key: its name in JSON; title: for
    display)."""

    phases: tuple[str, ...]
    count: str
    key: str
    title: str


@dataclass(frozen=True)
class Played:
    """Measurements of a frame. counts: by name; milliseconds: from its first event to its end, all GPU work done;
    seconds: the same time by phase."""

    milliseconds: float
    counts: Mapping[str, int]
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class ProgramView:
    """What a program that submits a capture sees. pictures: on the screens at the end of the last frame.
    interrupts: how often it was told the end of each unit, by name. registers: words that it read at the end, by
    physical address. hung: names of what was started and did not end, in order; a unit on a 3DS, a channel on a Switch.
    errors: what the system software refused or reported, in order: result codes, or a channel with its error's code."""

    pictures: Mapping[str, Screen]
    interrupts: Mapping[str, int]
    registers: Mapping[int, int]
    hung: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class DriverState:
    """A driver's state: the machine's checkpoint, the driver's own state, and its player's position."""

    machine: Any
    own: Any
    mark: Any = None

    def same(self, other: DriverState) -> bool:
        """Whether another state of the same replay is the same, so that what comes next is."""
        return bool(self.own == other.own and self.machine.same(other.machine))

    def bytes_beside(self, other: Kept) -> int:
        """Bytes of this state that are not shared with another."""
        assert isinstance(other, DriverState)
        return int(self.machine.bytes_beside(other.machine))


class Frame:
    """One replayed frame.

    index: its number in the capture. draws, triangles, fragments: as counted by the machine; counts: these by name, and
    the console's other counts. milliseconds: from the first event to the marker, all GPU work done; phases: the same
    time by name of the phase, in milliseconds. warnings: the machine's events since the last yielded frame, including
    those of skipped frames. machine: the machine after this frame; it moves on when the next frame is requested.
    """

    def __init__(self, index: int, driver: Driver[Any], played: Played) -> None:
        self.index = index
        self.machine: N3DS | GM20B = driver.machine
        self.counts = dict(played.counts)
        self.draws = self.counts["draws"]
        self.triangles = self.counts.get("triangles", 0)
        self.fragments = self.counts.get("fragments", 0)
        self.milliseconds = played.milliseconds
        self.phases = {name: 1000.0 * duration for name, duration in played.seconds.items()}
        self.warnings: list[Event] = driver.machine.events.drain()
        self._driver = driver
        self._screens: dict[str, Screen] | None = None
        self._left = False

    def leave(self, pictures: bool) -> None:
        """The machine is about to move on: keep its current pictures, or drop them."""
        if pictures:
            _ = self.screens
        self._left = True

    @property
    def screens(self) -> dict[str, Screen]:
        """The pictures that the console shows, by name: on a 3DS "top", "bottom" and, if the right eye has a different
        one, "top-right"; on a Switch "screen". Read at first use, and kept when the replay continues."""
        if self._screens is None:
            if self._left:
                hint = "Read the pictures of a frame before you request the next one, or render with pictures=True."
                raise NoPictureError("the machine has moved on without", location=f"f{self.index}", hint=hint)
            self._screens = self._driver.shown(self.index)
            self.warnings += self._driver.machine.events.drain()
        return self._screens

    def _screen(self, name: str) -> Screen:
        screen = self.screens.get(name)
        if screen is None:
            shown = ", ".join(self.screens) or "none"
            raise NoPictureError(f"no picture on screen '{name}'", location=f"f{self.index}", hint=f"Shown: {shown}.")
        return screen

    @property
    def top(self) -> Screen:
        """The upper screen (left eye). Raises NoPictureError if it shows nothing."""
        return self._screen("top")

    @property
    def bottom(self) -> Screen:
        """The lower screen. Raises NoPictureError if it shows nothing."""
        return self._screen("bottom")

    @property
    def top_right(self) -> Screen | None:
        """The upper screen's picture for the right eye; None if both eyes have the same."""
        return self.screens.get("top-right")

    def __str__(self) -> str:
        words = {name.replace("_", " "): count for name, count in self.counts.items() if count}
        counts = ", ".join(counted(count, one_of(name), name) for name, count in words.items())
        return f"{self.index}: {counts or 'nothing done'}, {self.milliseconds:.3f} ms"

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def _pictures(self) -> dict[str, Screen]:
        """The pictures, if they can still be read."""
        return {} if self._left and self._screens is None else self.screens

    def _repr_png_(self) -> bytes | None:
        """The picture of the main screen, if it shows something."""
        return next((screen._repr_png_() for screen in self._pictures().values()), None)

    def _repr_html_(self) -> str:
        """Counts, times and warnings, and the pictures."""
        rows: list[tuple[str, object]] = list(self.counts.items())
        rows += [("milliseconds", f"{self.milliseconds:.3f}")]
        rows += [("warning", f"{event.at} {event.message}") for event in self.warnings]
        pictures = [title_html(name) + picture_html(one._repr_png_()) for name, one in self._pictures().items()]
        return title_html(f"Frame {self}") + "".join(pictures) + table_html((), rows)


class Driver(ABC, Generic[M]):
    """A capture, and the machine that replays it. Get one with `drive`.

    machine: in the start state of the capture when the driver is made. frame: how many frames are finished.
    """

    screens: ClassVar[tuple[str, ...]]
    """Names of the console's screens, the main one first."""
    measure: ClassVar[Measure]
    nothing_shown: ClassVar[str]
    """Why frames may show nothing, for people."""

    def __init__(self, trace: Any, machine: M) -> None:
        """trace: the parsed capture. machine: one that was just reset."""
        self.trace = trace
        self.machine, self.frame_count = machine, int(trace.frame_count)
        self.frame = 0
        self._begin()

    @staticmethod
    @abstractmethod
    def make_machine(
        trace: Any, threads: int = 1, choices: Mapping[str, str] | None = None, evaluator: str = "llvm",
        *, timed: bool = False, new_model: bool = False,
    ) -> M:
        """A machine for a parsed capture: its model, with as much memory as it needs.

        timed: its units take time. new_model: of the console's newer model, even if the capture does not need it.

        :raises UsageError: no machine of this console is like that.
        """  # fmt: skip

    @staticmethod
    @abstractmethod
    def memory_hint(machine: M) -> str:
        """Where a machine has memory now, for people who asked for bytes elsewhere."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.frame} of {self.frame_count} frames are over>"

    @abstractmethod
    def _begin(self) -> None:
        """Set a machine that was just reset to the start state of the capture."""

    def under(self, choices: Mapping[str, str]) -> Driver[M]:
        """A driver of the same capture with other choices that takes over this one's memory. It must `restore` a state
        of this one first, and this one must not be used any more."""
        return type(self)(self.trace, self.machine.under(choices))

    def begin(self) -> None:
        """Return to the start: the machine is reset."""
        self.machine.reset()
        self.frame = 0
        self._begin()

    # -- frames -------------------------------------------------------------------------------------------------------
    @abstractmethod
    def play_frame(self) -> Played:
        """Play the current frame to its end."""

    @abstractmethod
    def steps(self) -> Iterator[int]:
        """Play the current frame in steps: for a 3DS, consecutive register writes, a load, or a GX command; for a
        Switch, a submission with what comes before it. Yields the number of each step after it; after the last one the
        frame ends. When all frames are finished, these are the steps after the last frame, if there are any."""

    def play_on(self) -> None:
        """Play the current frame; once all are finished, what comes after the last of them."""
        if self.frame < self.frame_count:
            self.play_frame()
        else:
            for _ in self.steps():
                pass

    def play_rest(self) -> None:
        """Play all remaining frames, and what comes after the last of them."""
        while self.frame < self.frame_count:
            self.play_frame()
        for _ in self.steps():
            pass

    @abstractmethod
    def play_as_program(self, registers: Sequence[int] = ()) -> ProgramView:
        """Play what is left as a program submits it, not as the record of what did happen: the system software checks
        commands and may refuse them, and unit after unit is waited for. registers: physical addresses that are read
        right after the last event, while what that started may still run.

        :raises UsageError: programs of this console cannot read registers.
        """

    @abstractmethod
    def shown(self, frame: int) -> dict[str, Screen]:
        """The pictures after a frame, from current memory."""

    def frames(self, wanted: range | None = None, pictures: bool = True) -> Iterator[Frame]:
        """Play up to the last of the frames in `wanted` (ascending; None: all), and yield those.

        The caller may keep a frame while the machine moves on: with `pictures` it keeps its own pictures.
        """
        wanted = range(self.frame_count) if wanted is None else wanted
        while wanted and self.frame <= wanted[-1]:
            index = self.frame
            played = self.play_frame()
            if index in wanted:
                frame = Frame(index, self, played)
                yield frame
                frame.leave(pictures)

    # -- checkpoints --------------------------------------------------------------------------------------------------
    @abstractmethod
    def _save(self) -> Any:
        """The driver's state besides the machine, as a value that does not change later."""

    @abstractmethod
    def _restore(self, kept: Any) -> None:
        """Restore a state from `_save`."""

    def checkpoint(self) -> DriverState:
        """The state of the replay, for `restore`."""
        return DriverState(self.machine.checkpoint(), (self.frame, self._save()))

    def restore(self, state: DriverState) -> None:
        """Restore a state of this replay.

        :raises UsageError: it is of another machine.
        """
        self.machine.restore(state.machine)
        self.frame, own = state.own
        self._restore(own)


def named_ranges(ranges: Iterable[tuple[str, int, int]], most: int = 8) -> str:
    """Names, first and last addresses in words; no more than `most` of them. ranges: name, start, end."""
    shown = [f"{name} {start:#010x} to {end - 1:#010x}" for name, start, end in ranges]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


D = TypeVar("D", bound=Driver[Any])


class Player(ABC, Generic[D]):
    """A replay with random access: after any event, forwards and backwards.

    Events are counted in the same way in every replay. budget: bytes that checkpoints may keep.
    """

    interval: ClassVar[float] = INTERVAL
    """Seconds of replay between two checkpoints, while there is room for all."""

    def __init__(self, driver: D, budget: int = BUDGET) -> None:
        self.driver = driver
        self.checkpoints = Checkpoints(self._taken(), budget, self.interval)
        self.diverged = False
        """Whether the machine was changed from outside, so that the replay can only continue from a checkpoint."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.position.events} events of frame {self.position.frame} are over>"

    # -- different for each console -----------------------------------------------------------------------------------
    @property
    @abstractmethod
    def position(self) -> Position:
        """The current position."""

    @abstractmethod
    def _run(self, position: Position) -> None:
        """Continue from the current position to another one, or to the end of the capture."""

    @abstractmethod
    def _seconds(self, position: Position) -> float:
        """Seconds of replay until a position that was reached before."""

    @abstractmethod
    def _mark(self) -> Any:
        """The player's own state at its position, as a value that does not change later."""

    @abstractmethod
    def _came_back(self, position: Position, mark: Any) -> None:
        """The driver was restored to a position, where `_mark` returned `mark`."""

    @property
    def resumable(self) -> bool:
        """Whether the machine can continue from its position."""
        return True

    def proper(self, position: Position) -> Position:
        """The canonical form of a position that can be written in several ways."""
        return position

    # -- seeking ------------------------------------------------------------------------------------------------------
    def go(self, position: Position) -> None:
        """Go to a position, on the shortest way; positions beyond the end lead to the end of the last frame."""
        position = self.proper(position)
        if position == self.position and not self.diverged:
            return
        kept = self.checkpoints.before(position)
        leads_on = not self.diverged and self.resumable and self.position <= position
        if not leads_on or (
            kept.position > self.position and kept.seconds - self._seconds(self.position) > RESTORING
        ):  # fmt: skip
            self._bring_back(kept)
        self._run(position)

    def play_to(self, position: Position, *observers: Any) -> None:
        """Play forwards to a position: every event happens, no checkpoint is restored instead. observers: added to the
        machine meanwhile; if one raises, the replay can only continue from a checkpoint.

        :raises UsageError: the position is in the past, or the replay cannot continue from here: call `go` first.
        """
        position = self.proper(position)
        if self.diverged or not self.resumable or position < self.position:
            raise UsageError(f"the replay cannot continue from {self.position} to {position}")
        machine = cast("Observed[Any]", self.driver.machine)
        try:
            with ExitStack() as stack:
                for one in observers:
                    stack.enter_context(machine.observed(one))
                self._run(position)
        except BaseException:
            self.diverged = bool(observers)
            raise

    def _bring_back(self, kept: Checkpoint[DriverState]) -> None:
        self.driver.restore(kept.state)
        self._came_back(kept.position, kept.state.mark)
        self.diverged = False

    def _taken(self) -> DriverState:
        return replace(self.driver.checkpoint(), mark=self._mark())

    def _keep(self, seconds: float) -> None:
        """Keep a checkpoint of the current state; seconds: of replay until now."""
        started = perf_counter()
        state = self._taken()
        self.checkpoints.add(self.position, seconds, state, perf_counter() - started)


__all__ = ["Driver", "DriverState", "Frame", "Machine", "Measure", "Played", "Player", "Position", "ProgramView"]
