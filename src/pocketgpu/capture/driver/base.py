"""What drivers of both consoles have in common: frames, steps, positions, going there and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast

from pocketgpu.capture.driver.checkpoints import BUDGET, INTERVAL, Checkpoint, Checkpoints, Kept, Position
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.events import Event, EventLog

if TYPE_CHECKING:
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.observer import Observed
    from pocketgpu.pica.display.screens import Screen
    from pocketgpu.pica.n3ds import N3DS

RESTORING = 0.006
"""Seconds that going back to a checkpoint takes, about."""


class Machine(Protocol):
    """What machines of both consoles can do."""

    @property
    def events(self) -> EventLog: ...
    def checkpoint(self) -> Any: ...
    def restore(self, checkpoint: Any, /) -> None: ...
    def reset(self) -> None: ...
    def finish(self) -> None: ...


M = TypeVar("M", bound=Machine)


@dataclass(frozen=True)
class Measure:
    """What replays of a console are measured by: phases, and a count that the speed is told in (key: its name in JSON;
    title: for people)."""

    phases: tuple[str, ...]
    count: str
    key: str
    title: str


@dataclass(frozen=True)
class Played:
    """How a frame went. counts: by name; milliseconds: from its first event to its end, all GPU work done; seconds: the
    same time by phase."""

    milliseconds: float
    counts: Mapping[str, int]
    seconds: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class State:
    """A driver's state: the machine's checkpoint, what the driver itself knows, and what its player does."""

    machine: Any
    own: Any
    mark: Any = None

    def bytes_beside(self, other: Kept) -> int:
        """How many bytes it keeps that another does not share."""
        assert isinstance(other, State)
        return int(self.machine.bytes_beside(other.machine))


class Frame:
    """One replayed frame.

    index: its number in the capture. draws, triangles, fragments: how many the machine counted; counts: these by
    name, and whatever else the console counts. milliseconds: from the first event to the marker, all GPU work done;
    phases: the same time by name of the phase, in milliseconds.
    warnings: the machine's events since the frame yielded before, those of frames passed over included.
    machine: as it stands after this frame; it moves on when the next frame is asked for.
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
        """The machine is about to move on: keep the pictures that it shows now, or do without."""
        if pictures:
            _ = self.screens
        self._left = True

    @property
    def screens(self) -> dict[str, Screen]:
        """The pictures that the console shows, by name: on a 3DS "top", "bottom" and, where the right eye sees another
        one, "top-right"; on a Switch "screen". Read when first asked for, and kept when the replay goes on."""
        if self._screens is None:
            if self._left:
                hint = "Look at a frame before you ask for the next one, or render with pictures=True."
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
        """The upper screen's picture for the right eye; None if both eyes see the same."""
        return self.screens.get("top-right")

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"<Frame {self.index}: {counts}, {self.milliseconds:.3f} ms>"


class Driver(ABC, Generic[M]):
    """A capture, and the machine that replays it. Get one with `drive`.

    machine: it stands where the capture begins when the driver is made. frame: how many frames are over.
    """

    screens: ClassVar[tuple[str, ...]]
    """Names of what the console shows, the first one first."""
    measure: ClassVar[Measure]
    nothing_shown: ClassVar[str]
    """Why frames may show nothing, for people."""

    def __init__(self, trace: Any, machine: M) -> None:
        """trace: the parsed capture. machine: one that was just switched on."""
        self.machine, self.frame_count = machine, int(trace.frame_count)
        self.frame = 0
        self._begin()

    @staticmethod
    @abstractmethod
    def make_machine(
        trace: Any, threads: int = 1, choices: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> M:
        """A machine for a parsed capture: the model that it is of, with as much memory as it needs."""

    @staticmethod
    @abstractmethod
    def memory_hint(machine: M) -> str:
        """Where a machine has memory now, for people who asked for bytes elsewhere."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.frame} of {self.frame_count} frames are over>"

    @abstractmethod
    def _begin(self) -> None:
        """Put a machine that was just switched on into the state that the capture starts with."""

    def begin(self) -> None:
        """Be at the beginning again: the machine is switched off and on."""
        self.machine.reset()
        self.frame = 0
        self._begin()

    # -- frames -------------------------------------------------------------------------------------------------------
    @abstractmethod
    def play_frame(self) -> Played:
        """Play the frame at hand to its end."""

    @abstractmethod
    def steps(self) -> Iterator[int]:
        """Play the frame at hand in steps: of a 3DS, register writes in a row, a load, or a GX command; of a Switch, a
        submission with what comes before it. Gives the number of each step when it is over; after the last one the
        frame ends. When all frames are over, these are the steps after the last frame, if there are any."""

    def play_rest(self) -> None:
        """Play all frames that are left, and what comes after the last of them."""
        while self.frame < self.frame_count:
            self.play_frame()
        for _ in self.steps():
            pass

    @abstractmethod
    def shown(self, frame: int) -> dict[str, Screen]:
        """What is shown after a frame, as memory is now."""

    def frames(self, wanted: range | None = None, pictures: bool = True) -> Iterator[Frame]:
        """Play up to the last of the frames in `wanted` (rising; None: all), and yield those.

        The caller may keep a frame while the machine moves on: its pictures are those of that moment, if `pictures`.
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
        """What the driver knows beside the machine, as a value that stays as it is."""

    @abstractmethod
    def _restore(self, kept: Any) -> None:
        """Know what `_save` gave."""

    def checkpoint(self) -> State:
        """The state of the replay, to be brought back by `restore`."""
        return State(self.machine.checkpoint(), (self.frame, self._save()))

    def restore(self, state: State) -> None:
        """Bring back a state of this replay.

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
    """A replay that can be anywhere: after any event, forwards and backwards.

    Events are counted in the same way in every replay. budget: bytes that checkpoints may keep.
    """

    interval: ClassVar[float] = INTERVAL
    """Seconds of replay between two checkpoints, as long as there is room for all."""

    def __init__(self, driver: D, budget: int = BUDGET) -> None:
        self.driver = driver
        self.checkpoints = Checkpoints(self._taken(), budget, self.interval)
        self.spoilt = False
        """Whether somebody has changed the machine, so that only a checkpoint leads on."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.position.events} events of frame {self.position.frame} are over>"

    # -- what consoles do in their way --------------------------------------------------------------------------------
    @property
    @abstractmethod
    def position(self) -> Position:
        """Where the machine is."""

    @abstractmethod
    def _run(self, position: Position) -> None:
        """Go on, from where the machine is, until a position or the end of the capture."""

    @abstractmethod
    def _seconds(self, position: Position) -> float:
        """Seconds of replay that are over at a position that was reached before."""

    @abstractmethod
    def _mark(self) -> Any:
        """What the player knows of its position, as a value that stays as it is."""

    @abstractmethod
    def _came_back(self, position: Position, mark: Any) -> None:
        """The driver was brought back to a position, where `_mark` gave `mark`."""

    @property
    def resumable(self) -> bool:
        """Whether the machine can go on from where it is."""
        return True

    def proper(self, position: Position) -> Position:
        """A position as this player counts; one that has other names is named in one way."""
        return position

    # -- going --------------------------------------------------------------------------------------------------------
    def go(self, position: Position) -> None:
        """Be at a position, on the shortest way. Who asks for more than there is ends after the last frame."""
        position = self.proper(position)
        if position == self.position and not self.spoilt:
            return
        kept = self.checkpoints.before(position)
        leads_on = not self.spoilt and self.resumable and self.position <= position
        if not leads_on or (
            kept.position > self.position and kept.seconds - self._seconds(self.position) > RESTORING
        ):  # fmt: skip
            self._bring_back(kept)
        self._run(position)

    def play_to(self, position: Position, *observers: Any) -> None:
        """Be at a position that is ahead, and let all up to there happen: no checkpoint is brought instead.
        observers: who look on meanwhile; the replay is spoilt if any raises.

        :raises UsageError: the position is behind, or nothing leads on from here: `go` somewhere first.
        """
        position = self.proper(position)
        if self.spoilt or not self.resumable or position < self.position:
            raise UsageError(f"nothing leads on from {self.position} to {position}")
        machine = cast("Observed[Any]", self.driver.machine)
        try:
            with ExitStack() as stack:
                for one in observers:
                    stack.enter_context(machine.observed(one))
                self._run(position)
        except BaseException:
            self.spoilt = bool(observers)
            raise

    def _bring_back(self, kept: Checkpoint[State]) -> None:
        self.driver.restore(kept.state)
        self._came_back(kept.position, kept.state.mark)
        self.spoilt = False

    def _taken(self) -> State:
        return replace(self.driver.checkpoint(), mark=self._mark())

    def _keep(self, seconds: float) -> None:
        """Keep a checkpoint of now; seconds: of replay, that are over."""
        self.checkpoints.add(self.position, seconds, self._taken())


__all__ = ["Driver", "Frame", "Machine", "Measure", "Played", "Player", "Position", "State"]
