"""`pocketgpu doubts`: replays captures under every doubtful choice that they touch, and shows where pictures part."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from textwrap import fill, indent
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.doubt_workers import Question, doubts_of
from pocketgpu.cli.parts.options import (
    FrameSpan,
    debug_option,
    json_option,
    parse_frame_span,
    parsed,
    set_option,
    threads_option,
)
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import frames_of, open_capture, write_file
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pocketgpu.inspect.doubts import CaptureDoubts, DoubtMatrix
    from pocketgpu.inspect.doubts.agreement import Wanted
    from pocketgpu.inspect.doubts.usual import Pixels

_SUFFIXES = (".png", ".jpg", ".jpeg")
_SILENT_WIDTH = 76
"""Letters of a line of choices without effect."""


@click.command()
@click.argument("captures", nargs=-1, required=True, metavar="CAPTURES...")
@click.option(
    "--choice", "names", multiple=True, metavar="NAME", shell_complete=complete.choice_names,
    help="Try this choice only, or this group; may be repeated.",
)  # fmt: skip
@click.option(
    "--frames", metavar="A-B", callback=parsed(parse_frame_span),
    help="Look at these frames, both included.  [the first 60]",
)  # fmt: skip
@click.option(
    "--expect", metavar="DIR",
    help="Pictures or photos f0.top.png and so on: which values agree best with them (one capture).",
)
@click.option(
    "--as", "taken", type=click.Choice(("copies", "photos")),
    help="What --expect has.  [photos where most pixels differ]",
)  # fmt: skip
@click.option("--html", metavar="FILE", help="Write the matrix as an HTML page, too.")
@click.option(
    "--workers", type=click.IntRange(1, 256), metavar="N",
    help="Processes that replay several captures.  [one for each core]",
)  # fmt: skip
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def doubts(
    outcome: Outcome,
    captures: tuple[str, ...],
    names: tuple[str, ...],
    frames: FrameSpan | None,
    expect: str | None,
    taken: str | None,
    html: str | None,
    workers: int | None,
    threads: int,
    choices: Mapping[str, str],
) -> None:
    """Show which doubtful choices decide what captures show.

    Each capture is replayed with every value of the choices that it touches. Shown is where its pictures differ from
    those under the defaults, and by how many pixels. 'pocketgpu switches NAME' says what a choice is about.

    Frames that do not depend on a choice are not replayed for it.
    """
    from pocketgpu.inspect.doubts import DoubtMatrix
    from pocketgpu.lanes.background import processors

    if expect is not None and len(captures) > 1:
        raise UsageError("--expect has the pictures of one capture", location=expect, hint="Give one capture.")
    if taken is not None and expect is None:
        raise UsageError("--as says what the pictures of --expect are", location="--as", hint="Give --expect, too.")
    expected = None if expect is None else _pictures_in(expect)
    progress, question = terminal.Progress(), Question(names, frames, threads, choices)
    workers = workers or processors()
    try:
        if len(captures) > 1 and workers > 1:
            progress.show(f"{counted(len(captures), 'capture')}, {counted(workers, 'worker')}")
            tell = partial(_show_count, progress, len(captures))
            found = doubts_of(captures, question, workers, outcome, tell)
        else:
            found = [_found(path, question, expected, taken, outcome, progress) for path in captures]
    finally:
        terminal.clear_progress()
    _check_asked(names, found)
    matrix = DoubtMatrix(found)
    outcome.extra["captures"] = [one.to_json() for one in found]
    outcome.extra["matrix"] = matrix.to_json()
    if html is not None:
        from pocketgpu.inspect.doubts.page import page

        write_file(Path(html), page(matrix).encode(), "--html")
    outcome.show = lambda: terminal.say(_text(matrix))


def _check_asked(names: tuple[str, ...], found: list[CaptureDoubts]) -> None:
    """:raises UsageError: a choice was asked for that none of these captures can have."""
    from pocketgpu.facts.choices import OF_CONSOLE

    tried = {choice for one in found for choice in one.choices}
    for name in names:
        if any(choice == name or choice.startswith(f"{name}.") for choice in tried):
            continue
        consoles = sorted({one.console for one in found})
        others = [
            console for console, own in OF_CONSOLE.items() if any(f"{one}.".startswith(f"{name}.") for one in own)
        ]  # fmt: skip
        hint = f"It is one of a {others[0]}." if others else "Only programs that run here depend on it."
        raise UsageError(f"{name} is no choice of a {' or a '.join(consoles)}", location="--choice", hint=hint)


def _found(
    path: str, question: Question, expected: Wanted | None, taken: str | None, outcome: Outcome,
    progress: terminal.Progress,
) -> CaptureDoubts:  # fmt: skip
    """The doubts of one capture, in this process."""
    from pocketgpu.inspect.doubts import doubts as replayed

    opened = open_capture(path, question.frames)
    outcome.add_events(opened.warnings)
    span = None if question.frames is None else frames_of(opened, question.frames, outcome)
    tell = partial(_show, progress, Path(path).name)
    return replayed(opened, question.names or None, span, question.threads, expected, question.choices, tell, taken)


def _show_count(progress: terminal.Progress, count: int, done: int) -> None:
    progress.show(f"{done} of {counted(count, 'capture')}")


def _show(progress: terminal.Progress, name: str, what: str, number: int, count: int) -> None:
    progress.show(f"{name}: {number + 1} of {count}, {what}")


def _pictures_in(folder: str) -> Wanted:
    """The pictures of a folder: those of `pocketgpu render --out`, or photos that are cut to the screen."""
    from pocketgpu.inspect.pictures.comparing import read_picture

    if not Path(folder).is_dir():
        raise UsageError("there is no such folder", location=folder, hint="'pocketgpu render --out' makes one.")
    if not any(path.suffix.lower() in _SUFFIXES for path in Path(folder).glob("f*")):
        raise UsageError(
            "the folder has no pictures: f0.top.png and so on", location=folder,
            hint="'pocketgpu render --out' names them in this way.",
        )  # fmt: skip
    known: dict[tuple[int, str], Pixels | None] = {}

    def expected(frame: int, screen: str) -> Pixels | None:
        if (frame, screen) not in known:
            paths = (Path(folder, f"f{frame}.{screen}{suffix}") for suffix in _SUFFIXES)
            found = next((path for path in paths if path.is_file()), None)
            known[frame, screen] = None if found is None else read_picture(found)
        return known[frame, screen]

    return expected


def _text(matrix: DoubtMatrix) -> str:
    blocks = [str(capture) for capture in matrix.captures]
    if len(matrix.captures) > 1:
        blocks.append(f"All {len(matrix.captures)} captures:\n{indent(str(matrix), '  ')}")
    if silent := matrix.silent():
        names = fill(", ".join(silent), _SILENT_WIDTH, initial_indent="  ", subsequent_indent="  ")
        blocks.append(f"{counted(len(silent), 'choice')} tried without any effect:\n{names}")
    return "\n\n".join(blocks)
