"""The desk: the inspections that the viewer's questions are about, by side.

    with desk_of(capture, choices) as desk:
        desk.side("a").why("f1/px8,9")

Side "a" is the capture of the command line. On side "b" is what it is compared with: a second capture, or the same one
with other choices or registers. All belong to the machine's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.late_dataclass import dataclass
from pocketgpu.view.questions.working import Working

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.view.live.live_run import LiveRun

MAIN: Final = "a"
"""The side of questions that name none."""
OTHER: Final = "b"
"""The side with what the main one is compared with."""
T = TypeVar("T")


@dataclass(frozen=True)
class Beside:
    """What may be put on the other side. title: for people. opens: opens it, whenever it is called."""

    title: str
    opens: Callable[[], AbstractContextManager[Inspection]]


class Desk:
    """Inspections by side. An inspection is closed when another takes its place, and at the end."""

    def __init__(self) -> None:
        self._sides: dict[str, tuple[Inspection, ExitStack]] = {}
        self._titles: dict[str, str] = {}
        self._between: dict[object, Any] = {}
        self.beside: Beside | None = None
        """What is on the other side at first: the second capture of the command line; None without one."""
        self.live: LiveRun | None = None
        """The program that runs, if one is open."""
        self.working = Working()
        """What questions that take long report to."""

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

    def title(self, name: str) -> str:
        """The title of a side, for people: as `put` got it, or the name of its file."""
        return self._titles.get(name) or PurePath(str(self.side(name).capture.path)).name

    def between(self, make: Callable[[Inspection, Inspection], T]) -> T:
        """What `make` makes of the two sides. It is kept until a side changes.

        :raises UsageError: there is only one side.
        """
        if make not in self._between:
            self._between[make] = make(self.side(MAIN), self.side(OTHER))
        found: T = self._between[make]
        return found

    def kept(self, name: str, make: Callable[[Inspection], T]) -> T:
        """What `make` makes of a side. It is kept until a side changes.

        :raises UsageError: nothing is there.
        """
        key = name, make
        if key not in self._between:
            self._between[key] = make(self.side(name))
        found: T = self._between[key]
        return found

    def put(self, name: str, opened: AbstractContextManager[Inspection], title: str = "") -> Inspection:
        """Put an inspection on a side, in place of what is there. It is entered now. title: see `title`."""
        with ExitStack() as stack:
            run = stack.enter_context(opened)
            self.take_away(name)
            self._sides[name] = run, stack.pop_all()
            self._titles[name] = title
        return run

    def take_away(self, name: str) -> None:
        """Close what is on a side, if anything is."""
        self._between.clear()
        found = self._sides.pop(name, None)
        if found is not None:
            found[1].close()


def beside(capture: Capture, choices: Mapping[str, str], overrides: Sequence[str] = ()) -> Beside:
    """A capture for the other side. Its title names choices and overrides."""
    chosen = [f"{name}={value}" for name, value in choices.items()]
    title = " ".join([PurePath(str(capture.path)).name, *chosen, *overrides])
    return Beside(title, lambda: opened(capture, choices, overrides))


@contextmanager
def opened(
    capture: Capture, choices: Mapping[str, str], overrides: Sequence[str] = (), texts: Sequence[str] = ()
) -> Iterator[Inspection]:
    """The inspection of a capture, with what the index has of earlier runs. What this one finds out is added to the
    index at the end. With overrides (as in `debug`) the index is left alone. texts: see `Inspection.use_texts`."""
    from pocketgpu.inspect.index.events import IndexedEvents, remembered
    from pocketgpu.inspect.index.notes import noted
    from pocketgpu.inspect.index.store import index_of
    from pocketgpu.inspect.inspection import debug

    if overrides:
        yield debug(capture, choices, overrides=overrides)
        return
    with ExitStack() as stack:

        def replayed() -> Inspection:
            found = debug(capture, choices)
            if texts:
                found.use_texts(texts)
            stack.enter_context(remembered(found, capture, choices))
            stack.enter_context(noted(found, capture, choices))
            return found

        run = IndexedEvents(capture, index_of(capture, choices), replayed)
        yield run
        run.keep()


@contextmanager
def desk_of(*sides: tuple[str, AbstractContextManager[Inspection]], other: Beside | None = None) -> Iterator[Desk]:
    """A desk with inspections on some sides. other: what the main one is compared with, if anything."""
    with Desk() as desk:
        for name, one in sides:
            desk.put(name, one)
        desk.beside = other
        if other is not None:
            desk.put(OTHER, other.opens(), other.title)
        yield desk


__all__ = ["MAIN", "OTHER", "Beside", "Desk", "beside", "desk_of", "opened"]
