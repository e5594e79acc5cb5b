"""The replay under the usual values, of which replays under others use what they can.

A choice is read only in frames where something touches it (`Inventory.touching`). So a replay under another value of it
begins with the first such frame, from the state that the usual replay had there. Where the next frames do not touch
it, and the whole state is that of the usual replay again, those frames are not replayed: their pictures are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver.base import Driver, DriverState
from pocketgpu.capture.driver.checkpoints import Checkpoints, Position
from pocketgpu.inspect.doubts.found import Work
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

Pixels: TypeAlias = NDArray[np.uint8]
Screens: TypeAlias = Mapping[str, Pixels]
"""The pictures of a frame by the name of their screen."""
Pictures: TypeAlias = Mapping[int, Screens]
"""Pictures by the number of their frame."""
BUDGET: Final = 256 << 20
"""Bytes of all states that are kept of the usual replay."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replay under other values. pictures: of the frames that were looked at. frames: numbers of those that ran; the
    others are as usual."""

    pictures: Pictures
    frames: frozenset[int]


class UsualReplay:
    """A capture under the usual values: pictures, and states to continue from.

    pictures: of the wanted frames. work: how much of them the replays under other values had to do.
    """

    def __init__(
        self, capture: Capture, wanted: range, threads: int, given: Mapping[str, str],
        touching: Sequence[Collection[int]], budget: int = BUDGET,
    ) -> None:  # fmt: skip
        """wanted: the frames to look at. given: values instead of defaults. touching: sets of frames that replays will
        be asked for; they say of which frames the states are needed. budget: bytes that these may take together."""
        self._wanted, self._given = wanted, dict(given)
        self._end = wanted[-1] + 1 if wanted else 0
        self._usual: Driver[Any] = capture.driver(threads, given)
        self._states: Checkpoints[DriverState] = Checkpoints(self._usual.checkpoint(), budget)
        self._draws: list[int] = []
        self.work = Work()
        places = self._places(touching)
        pictures: dict[int, Screens] = {}
        for number in range(self._end):
            if number in places:
                self._states.add(Position(number), 0.0, self._usual.checkpoint())
            self._draws.append(self._play(self._usual, pictures))
        self.pictures: Pictures = pictures

    def _places(self, touching: Sequence[Collection[int]]) -> frozenset[int]:
        """The frames before which a replay may begin or may be as usual again; the start needs no other state."""
        found: set[int] = set()
        for frames in touching:
            for number in range(min(frames, default=self._end), self._end):
                # Also before a frame that is touched again: a replay that is as usual goes there.
                if number not in frames or number - 1 not in frames:
                    found.add(number)
        return frozenset(found - {0})

    def _play(self, driver: Driver[Any], pictures: dict[int, Screens]) -> int:
        """Play the next frame, and keep its pictures if they are wanted; returns its number of draws."""
        number = driver.frame
        draws = driver.play_frame().counts["draws"]
        if number in self._wanted:
            pictures[number] = {name: screen.array for name, screen in driver.shown(number).items()}
        driver.machine.events.drain()
        return draws

    def leave_out(self, replays: int) -> None:
        """Count replays that need not be made, as nothing touches their choices."""
        self.work += Work(of=replays * self._end, draws_of=replays * sum(self._draws))

    def under(self, values: Mapping[str, str], touching: Collection[int]) -> Replayed:
        """Replay under other values. touching: the frames in which something may depend on one of those choices.

        :raises PocketGPUError: as the replay does.
        """
        touched = sorted(frame for frame in touching if frame < self._end)
        self.work += Work(of=self._end, draws_of=sum(self._draws))
        if not touched:
            return Replayed(self.pictures, frozenset())
        driver = self._usual.under(self._given | dict(values))
        self._return_to(driver, touched[0])
        pictures, ran = dict(self.pictures), set()
        while driver.frame < self._end:
            number = driver.frame
            if number not in touching and self._is_usual(driver):
                later = next((frame for frame in touched if frame > number), None)
                if later is None:
                    break
                if self._states.before(Position(later)).position.frame > number:
                    self._return_to(driver, later)
                    continue
            self.work += Work(frames=1, draws=self._draws[number])
            self._play(driver, pictures)
            ran.add(number)
        return Replayed(pictures, frozenset(ran))

    def _return_to(self, driver: Driver[Any], frame: int) -> None:
        """Take the last kept state of the usual replay at or before a frame."""
        driver.restore(self._states.before(Position(frame)).state)

    def _is_usual(self, driver: Driver[Any]) -> bool:
        """Whether a replay has the state that the usual one had at this place, if that was kept."""
        kept = self._states.before(Position(driver.frame))
        return kept.position.frame == driver.frame and driver.checkpoint().same(kept.state)


__all__ = ["Pictures", "Pixels", "Replayed", "Screens", "UsualReplay"]
