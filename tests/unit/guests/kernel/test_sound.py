"""Queues of sounds, and the clock of frames."""

from __future__ import annotations

from dataclasses import dataclass

from pocketgpu.guests.kernel.sound import MOST_QUEUED, FrameClock, SoundQueue
from pocketgpu.guests.kernel.timeline import Timeline


@dataclass
class Piece:
    name: str
    samples: int
    loops: bool = False


class Heard:
    """What a queue has told."""

    def __init__(self, *pieces: Piece) -> None:
        self.told: list[str] = []
        self.queue: SoundQueue[Piece] = SoundQueue()
        self.queue.add(pieces)

    def play(self, samples: float) -> tuple[float | None, float]:
        return self.queue.play(samples, self), self.queue.position

    def begun(self, sound: Piece) -> None:
        self.told.append(f"{sound.name}+")

    def repeated(self, sound: Piece) -> None:
        self.told.append(f"{sound.name}*")

    def ended(self, sound: Piece) -> None:
        self.told.append(f"{sound.name}-")


def test_sounds_follow_each_other() -> None:
    heard = Heard(Piece("a", 100), Piece("b", 50), Piece("c", 10))
    assert heard.play(40) == (None, 40) and heard.told == ["a+"] and len(heard.queue) == 3
    assert heard.play(60) == (None, 0) and heard.told == ["a+", "a-", "b+"]
    assert heard.play(55) == (None, 5) and heard.told[3:] == ["b-", "c+"]
    assert heard.play(7.5) == (2.5, 0) and heard.told[5:] == ["c-"] and len(heard.queue) == 0
    assert heard.play(3) == (3, 0)


def test_a_loop_goes_on_and_an_empty_one_does_not() -> None:
    heard = Heard(Piece("empty", 0, loops=True), Piece("loop", 100, loops=True), Piece("never", 1))
    assert heard.play(0) == (None, 0) and heard.told == ["empty+", "empty-", "loop+"]
    assert heard.play(250) == (None, 50) and heard.play(50) == (None, 0) and heard.told[3:] == ["loop*", "loop*"]
    heard.queue.clear()
    assert heard.play(1) == (1, 0)


def test_a_queue_has_an_end() -> None:
    heard = Heard(*[Piece("x", 1)] * (MOST_QUEUED + 5))
    assert len(heard.queue) == MOST_QUEUED and heard.play(1000) == (1000 - MOST_QUEUED, 0)


def test_frames_come_at_steady_ticks() -> None:
    time, ticks = Timeline(1000), list[int]()
    clock = FrameClock(time, 10, lambda: ticks.append(time.now))

    def run_to(tick: int) -> None:
        while (following := time.next) is not None and following <= tick:
            time.skip()
            due = time.take_due()
            assert due is not None
            due.action(due.tick)

    time.pass_ticks(3)
    clock.start()
    run_to(40)
    assert ticks == [13, 23, 33] and clock.running
    clock.start()
    run_to(50)
    assert ticks[3:] == [43]
    clock.stop()
    clock.stop()
    run_to(1000)
    assert ticks[4:] == [] and not clock.running
