"""Requests `live/...`: a program that runs for the page. Without one they are refused.

Whenever the program stands, its recording is put on the desk as the main side, so that all other requests are about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import UsageError
from pocketgpu.view.questions.asking import AskedOfDesk, DeskQuestion, Download, Json
from pocketgpu.view.questions.desk import MAIN, Desk, desk_of, opened
from pocketgpu.view.questions.parameters import Parameters

if TYPE_CHECKING:
    from pocketgpu.guests import App
    from pocketgpu.view.live.live_run import LiveRun
    from pocketgpu.view.questions.working import Working

_RESERVED: Final = ("tab", "panel", "turn", "side")
"""Parameters that are no controls."""
_SUFFIX: Final = ".pgc"


@contextmanager
def live_desk(
    start: Callable[[], App], choices: Mapping[str, str], working: Working | None = None
) -> Iterator[Desk]:  # fmt: skip
    """A desk with a program that stands before its first frame. working: what saving a recording reports to."""
    from pocketgpu.view.live.live_run import LiveRun

    with desk_of() as desk:
        desk.working = working or desk.working
        desk.live = LiveRun(start, choices)
        _look(desk)
        yield desk


def work(desk: Desk) -> float | None:
    """What the machine's thread does while no question waits: run the program."""
    run = desk.live
    if run is None:
        return None
    wait = run.advance()
    if wait is None:
        _look(desk)
    return wait


def _look(desk: Desk) -> None:
    """Put the recording of a program that stands on the desk, if it is not there."""
    from pocketgpu.view.live.live_run import RUNNING

    run = desk.live
    if run is not None and run.state != RUNNING:
        capture = run.capture()
        if capture is not None:
            desk.put(MAIN, opened(capture, run.choices))


def _run_of(desk: Desk) -> LiveRun:
    if desk.live is None:
        raise UsageError("no program is open here", hint="'pocketgpu view app.3dsx' opens one.")
    return desk.live


def _asked(do: Callable[[Parameters], Callable[[LiveRun], None]], slow: bool = False) -> AskedOfDesk:
    """A request that does something and answers with the state after it."""

    def read(given: Parameters) -> DeskQuestion:
        doing = do(given)

        def question(desk: Desk) -> Json:
            run = _run_of(desk)
            doing(run)
            _look(desk)
            return run.status()

        return question

    return AskedOfDesk(read, slow, acts=True)


def _state(given: Parameters) -> DeskQuestion:
    def question(desk: Desk) -> Json:
        run = _run_of(desk)
        return {**run.status(), "controls": run.controls(), "text": run.text, "events": [*run.events]}

    return question


def _step(given: Parameters) -> Callable[[LiveRun], None]:
    frames = given.number("frames", 1)
    return lambda run: run.step(frames)


def _back(given: Parameters) -> Callable[[LiveRun], None]:
    frames = given.number("frames", 1)
    return lambda run: run.back(frames)


def _input(given: Parameters) -> Callable[[LiveRun], None]:
    held = {name: given.text(name) for name in given.names if name not in _RESERVED}
    return lambda run: run.hold(held)


def _do(given: Parameters) -> Callable[[LiveRun], None]:
    what, text = given.text("what"), given.text("text") if "text" in given.names else None
    return lambda run: run.do(what, text)


def _mark(given: Parameters) -> Callable[[LiveRun], None]:
    frame = given.number("from", -1)

    def mark(run: LiveRun) -> None:
        if frame > run.frame:
            raise UsageError(f"frame {frame} has not come yet", location="from", hint=f"There are {run.frame}.")
        run.mark(frame if frame >= 0 else None)

    return mark


def _record(given: Parameters) -> DeskQuestion:
    """A file with the program's frames from `from` on. Memory and registers before them are in it. It takes long, and
    can be given up."""
    first = given.number("from", 0)

    def question(desk: Desk) -> Download:
        from pocketgpu.capture.formats.pgc.encoder import encode

        run = _run_of(desk)
        with desk.working.begun():
            contents = run.contents(first, desk.working.tell)
        last = max(first, run.frame - 1)
        _look(desk)
        name = f"{run.app.program.name} f{first}-f{last}{_SUFFIX}"
        return Download(encode(contents, "zstd"), "application/octet-stream", name)

    return question


ASKED: Final = {
    "live": AskedOfDesk(_state),
    "live/run": _asked(lambda given: lambda run: run.resume()),
    "live/pause": _asked(lambda given: lambda run: run.stand()),
    "live/step": _asked(_step),
    "live/back": _asked(_back),
    "live/restart": _asked(lambda given: lambda run: run.restart()),
    "live/input": _asked(_input),
    "live/do": _asked(_do),
    "live/mark": _asked(_mark),
    "live/record": AskedOfDesk(_record, slow=True),
}
