"""What lies on the viewer's desk: the inspections that its questions are about, by side.

    with desk_of(capture, choices) as desk:
        desk.side("a").why("f1/px8,9")

Side "a" is the capture of the command line. Others are put there later: a second capture, or the same one with other
choices. All belong to the machine's thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.view.live.live_run import LiveRun

MAIN: Final = "a"
"""The side that questions are about which name none."""


class Desk:
    """Inspections by side. What is put down is closed when another takes its place, and at the end."""

    def __init__(self) -> None:
        self._sides: dict[str, tuple[Inspection, ExitStack]] = {}
        self.live: LiveRun | None = None
        """The program that runs, if one is open."""

    def __repr__(self) -> str:
        return line_of(self, ", ".join(f"{name}: {run}" for name, (run, _) in self._sides.items()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in [*self._sides]:
            self.take_away(name)

    @property
    def sides(self) -> list[str]:
        """The names of sides that have something."""
        return [*self._sides]

    def side(self, name: str) -> Inspection:
        """The inspection of a side.

        :raises UsageError: nothing is there.
        """
        if name not in self._sides:
            raise UsageError(
                f"there is no side '{name}'", location="side", hint=f"There are: {', '.join(self._sides)}."
            )
        return self._sides[name][0]

    def put(self, name: str, opened: AbstractContextManager[Inspection]) -> Inspection:
        """Put an inspection on a side, in place of what is there. It is entered now."""
        with ExitStack() as stack:
            run = stack.enter_context(opened)
            self.take_away(name)
            self._sides[name] = run, stack.pop_all()
        return run

    def take_away(self, name: str) -> None:
        """Close what is on a side, if anything is."""
        found = self._sides.pop(name, None)
        if found is not None:
            found[1].close()


@contextmanager
def opened(capture: Capture, choices: Mapping[str, str]) -> Iterator[Inspection]:
    """The inspection of a capture, with what earlier runs have found out. What this one finds is kept at the end."""
    from pocketgpu.inspect.index.events import IndexedEvents, remembered
    from pocketgpu.inspect.index.notes import noted
    from pocketgpu.inspect.index.store import index_of
    from pocketgpu.inspect.inspection import debug

    with ExitStack() as stack:

        def replayed() -> Inspection:
            found = debug(capture, choices)
            stack.enter_context(remembered(found, capture, choices))
            stack.enter_context(noted(found, capture, choices))
            return found

        run = IndexedEvents(capture, index_of(capture, choices), replayed)
        yield run
        run.keep()


@contextmanager
def desk_of(*sides: tuple[str, AbstractContextManager[Inspection]]) -> Iterator[Desk]:
    """A desk with something on some sides."""
    with Desk() as desk:
        for name, one in sides:
            desk.put(name, one)
        yield desk


__all__ = ["MAIN", "Desk", "desk_of", "opened"]
