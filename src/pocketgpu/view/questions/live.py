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

_RESERVED: Final = ("tab", "panel", "turn", "side")
"""Parameters that are no controls."""
_SUFFIX: Final = ".pgc"


@contextmanager
def live_desk(start: Callable[[], App], choices: Mapping[str, str]) -> Iterator[Desk]:
    """A desk with a program that stands before its first frame."""
    from pocketgpu.view.live.live_run import LiveRun

    with desk_of() as desk:
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
        return {**run.status(), "controls": run.controls(), "text": run.text}

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


def _record(given: Parameters) -> DeskQuestion:
    """A file with the frames from `from` on. Memory and registers before them are in it."""
    first = given.number("from", 0)

    def question(desk: Desk) -> Download:
        from pocketgpu.capture.formats.pgc.encoder import encode
        from pocketgpu.capture.pgc.minimise import Keep, cut

        run = _run_of(desk)
        run.stand()
        _look(desk)
        contents = run.contents()
        last = len(contents.frames) - 1
        if first > last:
            have = f"It has f0 to f{last}." if last >= 0 else "It has none yet."
            raise UsageError(f"the recording has no frame {first}", location="from", hint=have)
        if first:
            contents = cut(contents, Keep(first, last), switches=run.choices)
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
    "live/record": AskedOfDesk(_record, slow=True),
}
