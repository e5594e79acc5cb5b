"""Doubts of several captures by worker processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from pocketgpu.cli.parts.options import FrameSpan
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import frames_of, open_capture
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.events import Event
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.inspect.doubts import CaptureDoubts


@dataclass(frozen=True)
class Question:
    """What is asked of each capture: choices to try (none: those that it touches), frames, values for all replays."""

    names: tuple[str, ...]
    frames: FrameSpan | None
    threads: int
    choices: Mapping[str, str]


@dataclass(frozen=True)
class _Answer:
    """found, or what went wrong (the parts of a PocketGPUError, which may not survive the way between processes)."""

    found: CaptureDoubts | None
    events: list[Event]
    error: tuple[type[PocketGPUError], str, str | None, str | None] | None = None


def doubts_of(
    paths: Sequence[str], question: Question, workers: int, outcome: Outcome, tell: Callable[[int], None]
) -> list[CaptureDoubts]:
    """The doubts of captures, in their order. tell: called with how many are done.

    :raises PocketGPUError: what the first capture that cannot be replayed raises.
    """
    answers: dict[int, _Answer] = {}
    # The cores are for the workers: each is one process that compiles what it needs itself.
    with ProcessPoolExecutor(min(workers, len(paths)), multiprocessing.get_context("spawn")) as pool:
        asked: dict[Future[_Answer], int] = {
            pool.submit(_ask, paths[number], question): number for number in _mixed(len(paths))
        }
        try:
            for done in as_completed(asked):
                answer = answers[asked[done]] = done.result()
                if answer.error is not None:
                    kind, message, location, hint = answer.error
                    failure = kind.__new__(kind)
                    PocketGPUError.__init__(failure, message, location=location, hint=hint)
                    raise failure
                tell(len(answers))
        except BrokenProcessPool as error:
            raise UsageError(
                "a worker process ended before it had an answer", hint="Try --workers 1, or fewer captures at a time."
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    found = []
    for number in range(len(paths)):
        outcome.add_events(answers[number].events)
        one = answers[number].found
        assert one is not None
        found.append(one)
    return found


def _mixed(count: int) -> list[int]:
    """Numbers from both ends in turn: neighbours are often of one kind, and two workers would compile the same code."""
    return [number // 2 if number % 2 == 0 else count - 1 - number // 2 for number in range(count)]


class _Heard(Outcome):
    """Keeps events as they come, for the process that asked."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def add_events(self, events: Iterable[Event]) -> None:
        self.events += events


def _ask(path: str, question: Question) -> _Answer:
    """In a worker: replay one capture."""
    from pocketgpu.inspect.doubts import doubts

    outcome = _Heard()
    try:
        opened = open_capture(path, question.frames)
        outcome.add_events(opened.warnings)
        span = None if question.frames is None else frames_of(opened, question.frames, outcome)
        found = doubts(opened, question.names or None, span, question.threads, None, question.choices)
    except PocketGPUError as error:
        return _Answer(None, outcome.events, (type(error), error.message, error.location, error.hint))
    return _Answer(found, outcome.events)


__all__ = ["Question", "doubts_of"]
