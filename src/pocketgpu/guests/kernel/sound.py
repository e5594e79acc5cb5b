"""What the sound models of both consoles share: queues of sounds, and a clock of frames, in emulated time.

    queue.add([sound])
    rest = queue.play(240, listener)  # 240 samples pass; those that found nothing to play are left

Nothing is mixed and nothing is heard. What a program can see of it is: how far a sound is, and when it has ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Generic, Protocol, TypeVar

from pocketgpu.guests.kernel.timeline import Due, Timeline

MOST_QUEUED: Final = 256


class Sound(Protocol):
    """Samples that are to be played."""

    @property
    def samples(self) -> int:
        """How many, of each channel."""
        ...

    @property
    def loops(self) -> bool:
        """Whether it begins again at its end, forever."""
        ...


S = TypeVar("S", bound=Sound)
T = TypeVar("T", bound=Sound, contravariant=True)


class Listener(Protocol[T]):
    """Who is told what happens in a queue."""

    def begun(self, sound: T) -> None:
        """A sound is played from now on."""
        ...

    def repeated(self, sound: T) -> None:
        """It has come to its end, and begins again."""
        ...

    def ended(self, sound: T) -> None:
        """It has come to its end."""
        ...


class SoundQueue(Generic[S]):
    """Sounds one after the other. waiting: those that have not begun. now: the one that is played; None for none.
    position: samples of it that were played."""

    def __init__(self) -> None:
        self.waiting: deque[S] = deque()
        self.now: S | None = None
        self.position: float = 0

    def __repr__(self) -> str:
        return f"<SoundQueue: {self.position:g} samples of {self.now}, {len(self.waiting)} waiting>"

    def __len__(self) -> int:
        return len(self.waiting) + (self.now is not None)

    def add(self, sounds: Iterable[S]) -> None:
        """More to play. A program that adds far more than it plays loses the rest."""
        for one in sounds:
            if len(self.waiting) < MOST_QUEUED:
                self.waiting.append(one)

    def clear(self) -> None:
        """Forget all sounds."""
        self.waiting.clear()
        self.now, self.position = None, 0

    def play(self, samples: float, listener: Listener[S]) -> float | None:
        """Let samples pass.

        :returns: how many found nothing to play; None while something is played.
        """
        rest = samples
        while True:
            if self.now is None:
                if not self.waiting:
                    self.position = 0
                    return rest
                self.now, self.position = self.waiting.popleft(), 0
                listener.begun(self.now)
            now, left = self.now, self.now.samples - self.position
            if rest < left:
                self.position += rest
                return None
            rest -= max(left, 0)
            if now.loops and now.samples > 0:
                self.position = rest % now.samples
                listener.repeated(now)
                return None
            self.now = None
            listener.ended(now)


class FrameClock:
    """Calls `frame` every `ticks` while it runs."""

    def __init__(self, time: Timeline, ticks: int, frame: Callable[[], None]) -> None:
        self.time, self.ticks, self.frame = time, ticks, frame
        self._due: Due | None = None

    def __repr__(self) -> str:
        return f"<FrameClock: every {self.ticks} ticks, {'running' if self.running else 'stopped'}>"

    @property
    def running(self) -> bool:
        """Whether a next frame comes."""
        return self._due is not None

    def start(self) -> None:
        """Begin; the first frame is over after its time."""
        self.stop()
        self._due = self.time.after(self.ticks, self._passed)

    def stop(self) -> None:
        """No further frames."""
        if self._due is not None:
            self._due.cancelled = True
            self._due = None

    def _passed(self, tick: int) -> None:
        self._due = self.time.at(tick + self.ticks, self._passed)
        self.frame()
