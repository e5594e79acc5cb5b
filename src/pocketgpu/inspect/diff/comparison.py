"""Two runs side by side, frame by frame: a frame is compared when it is asked for.

    both = Comparison(pocketgpu.debug("a.pgc"), pocketgpu.debug("b.pgc"))
    frame = both.frame(1)
    for row in frame.rows:
        print(row.a, row.b, row.verdict)
    print(frame.first("register"), frame.first("pixel"))

`compare.diff` makes a report of all frames with the same parts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.inspect.diff.alignment import Pair
from pocketgpu.inspect.diff.compare import same_console, sides_of
from pocketgpu.inspect.diff.pixel_search import PixelSearch, pictures_of
from pocketgpu.inspect.diff.report import Difference, PictureDifference
from pocketgpu.inspect.diff.sides import Sides
from pocketgpu.inspect.diff.structure import Structure
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.inspection import Inspection, as_address
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

VERDICTS: Final = ("equal", "commands", "state", "only a", "only b")
"""What may be said of a row: nothing differs; words, memory or facts do; registers do, though no word of this event
says so; or one run has no such event."""
MOST_FRAMES: Final = 16
"""Frames whose comparison is kept."""


@dataclass(frozen=True)
class Row:
    """Two events that are aligned, or one that has no counterpart. verdict: one of VERDICTS."""

    a: Event | None
    b: Event | None
    verdict: str


class FrameComparison:
    """A frame of two runs. What takes long is found when it is read.

    sides: gives the `Sides` of both runs; those with which the frame was compared may be gone.
    differences: of events, memory, command words and registers, where they begin, in order.
    """

    def __init__(
        self, sides: Callable[[], Sides], number: int, events: tuple[Sequence[Event], Sequence[Event]],
        pairs: Sequence[Pair], differences: list[Difference], differing: Sequence[bool],
    ) -> None:  # fmt: skip
        self.number, self.differences = number, differences
        self._sides, self._events, self._pairs, self._differing = sides, events, pairs, differing

    @cached_property
    def rows(self) -> list[Row]:
        """All events of the frame, aligned."""
        said = {one.a for one in self.differences if one.level in ("command", "memory", "register")}
        found = []
        for (i, j), differing in zip(self._pairs, self._differing, strict=True):
            a = None if i is None else self._events[0][i]
            b = None if j is None else self._events[1][j]
            if a is None or b is None:
                verdict = "only b" if a is None else "only a"
            elif a.address in said or a.by_number in said:
                verdict = "commands"
            else:
                # Only draws read registers that an earlier word has set.
                verdict = "state" if differing and a.draw is not None else "equal"
            found.append(Row(a, b, verdict))
        return found

    @cached_property
    def pixel(self) -> Difference | None:
        """The first pixel of a render target that differs; found by bisection, with several seeks."""
        suspects = {one.a for one in self.differences if one.a is not None}
        return PixelSearch(self._sides(), *self._events, self._pairs).first(self.number, suspects)

    @cached_property
    def vertex(self) -> tuple[Difference | None, str]:
        """The first vertex with other outputs, and what could not be compared. Both runs play the frame once."""
        return self._sides().vertex(*self._events, self._pairs)

    @cached_property
    def pictures(self) -> list[PictureDifference]:
        """Screens that differ at the end of the frame."""
        sides = self._sides()
        return pictures_of(sides.a, sides.b, self.number)

    def first(self, level: str) -> Difference | None:
        """The first difference of a level (`report.LEVELS`); None if there is none."""
        if level == "vertex":
            return self.vertex[0]
        if level == "pixel":
            return self.pixel
        if level == "picture":
            return next(iter(self.pictures), None)
        return next((one for one in self.differences if one.level == level), None)

    @property
    def same(self) -> bool:
        """Whether commands, state and pictures agree; pixels of targets and vertices are not looked at."""
        return not self.differences and not self.pictures

    def counterpart(self, place: Address) -> Address | None:
        """The place of B that goes with a place of A in this frame; None if B has no such event. Pixels, vertices and
        what else is inside an event keep their numbers."""
        if not place.names_event:
            return None if place.pass_ is not None else place
        event = self._sides().a.event(place)
        other = next((row.b for row in self.rows if row.a is not None and row.a.number == event.number), None)
        if other is None:
            return None
        return _moved(place, other)


class Comparison:
    """Two runs, of two captures or of one with two settings.

    :raises UsageError: they are of different consoles.
    """

    def __init__(self, a: Inspection, b: Inspection) -> None:
        same_console(a.capture, b.capture)
        self._runs = a.whole, b.whole
        self._sides: Sides | None = None
        self._next = 0
        self._kept: OrderedDict[int, FrameComparison] = OrderedDict()

    @property
    def frame_count(self) -> int:
        """How many frames both have."""
        return min(one.frame_count for one in self._runs)

    def frame(self, number: int) -> FrameComparison:
        """A frame, compared.

        :raises UsageError: one of the runs has no such frame.
        """
        if not 0 <= number < self.frame_count:
            count = [counted(one.frame_count, "frame") for one in self._runs]
            raise UsageError(f"there is nothing to compare: A has {count[0]}, B has {count[1]}", location=f"f{number}")
        found = self._kept.get(number)
        if found is None:
            found = self._kept[number] = self._compared(number)
            if len(self._kept) > MOST_FRAMES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(number)
        return found

    def unlike(self, start: int, most: int) -> tuple[int | None, int]:
        """The first frame from `start` on that differs, None if there is none among the next `most`; and the frame to
        go on with."""
        end = min(start + most, self.frame_count)
        for number in range(start, end):
            if not self.frame(number).same:
                return number, number + 1
        return None, end

    def counterpart(self, place: Address | str) -> Address | None:
        """The place of B that goes with a place of A (`FrameComparison.counterpart`)."""
        address = as_address(place)
        return self.frame(address.frame).counterpart(address)

    def _compared(self, number: int) -> FrameComparison:
        sides = self._of(number)
        events = sides.a.events(number), sides.b.events(number)
        # Every frame is compared by itself: what differs in it does not depend on which frames were looked at before.
        sides.forget()
        structure = Structure(sides)
        pairs, differences = structure.frame(*events)
        return FrameComparison(self._current, number, events, pairs, differences, structure.differing)

    def _current(self) -> Sides:
        if self._sides is None:
            self._sides = sides_of(*self._runs)
        return self._sides

    def _of(self, number: int) -> Sides:
        """The `Sides` of both runs, for a frame. They only go forward through the frames, so an earlier frame needs new
        ones."""
        if number < self._next:
            self._sides = None
        self._next = number + 1
        return self._current()


def _moved(place: Address, to: Event) -> Address:
    """The same place inside another event."""
    parts = str(place).split("/")
    base = str(to.address if place.draw is not None else to.by_number)
    return Address.parse("/".join([base, *parts[2:]]))


__all__ = ["VERDICTS", "Comparison", "FrameComparison", "Row"]
