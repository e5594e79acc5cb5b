"""`pocketgpu diff`: the first divergence of two captures, or of one under two settings, and its consequences."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import (
    FrameSpan,
    choices_of,
    debug_option,
    force_option,
    json_option,
    parse_frame_span,
    parsed,
)
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import frames_of, make_directory, open_capture, write_file
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.inspect.diff import Report
    from pocketgpu.inspect.diff.report import PictureDifference

EVALUATORS = ("llvm", "numpy")


@click.command()
@click.argument("a", type=click.Path(), metavar="A")
@click.argument("b", type=click.Path(), metavar="[B]", required=False)
@click.option(
    "--frame", "frames", metavar="N-M", callback=parsed(parse_frame_span),
    help="Compare these frames only, both included: 0-4 or 3.",
)  # fmt: skip
@click.option(
    "--switch-a",
    "choice_a",
    multiple=True,
    metavar="NAME=VALUE",
    callback=choices_of,
    shell_complete=complete.choices,
    help="A choice for A; may be repeated.",
)
@click.option(
    "--switch-b",
    "choice_b",
    multiple=True,
    metavar="NAME=VALUE",
    callback=choices_of,
    shell_complete=complete.choices,
    help="A choice for B; may be repeated.",
)
@force_option("--force-b", "In B, have")
@click.option("--evaluator-a", type=click.Choice(EVALUATORS), default="llvm", show_default=True, help="What runs A.")
@click.option("--evaluator-b", type=click.Choice(EVALUATORS), default="llvm", show_default=True, help="What runs B.")
@click.option("--out", metavar="DIR", help="Write pictures that differ side by side, with their difference.")
@json_option
@debug_option
@click.pass_obj
def diff(
    outcome: Outcome, a: str, b: str | None, frames: FrameSpan | None, choice_a: dict[str, str],
    choice_b: dict[str, str], forced: tuple[str, ...], evaluator_a: str, evaluator_b: str, out: str | None,
) -> None:  # fmt: skip
    """Show where two captures differ, or one capture under two settings.

    Events are aligned by what they do, so that an inserted draw shifts nothing. The report has events that only one
    capture has, memory, command words and registers that differ (A's value -> B's), the first vertex and the first
    pixel of a render target that differ, and pictures. Without B, A is run twice: give the two runs different choices
    or evaluators. The exit code is 1 if anything differs.
    """
    from pocketgpu.inspect.diff import diff as compare
    from pocketgpu.inspect.inspection import debug

    first = open_capture(a, frames)
    if b is None and not forced and (choice_a, evaluator_a) == (choice_b, evaluator_b):
        raise UsageError(
            "there is nothing to compare with", location=a,
            hint="Give a second capture, or --switch-b NAME=VALUE to run this one under two settings.",
        )  # fmt: skip
    second = first if b is None else open_capture(b, frames)
    for capture in (first, second):
        outcome.add_events(capture.warnings)
    wanted = None if frames is None else frames_of(first, frames, outcome)
    progress = terminal.Progress()
    runs = debug(first, choice_a, evaluator_a), debug(second, choice_b, evaluator_b, forced)
    try:
        report = compare(*runs, wanted, names=(a, b or a), progress=lambda frame: progress.show(f"frame {frame}"))
    finally:
        terminal.clear_progress()
    files = _write(report, make_directory(out)) if out is not None else []
    outcome.extra["diff"] = {**report.to_json(), "files": files}
    outcome.show = lambda: terminal.say("\n".join([*report.lines(), *(f"written: {file}" for file in files)]))
    if not report.same:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _write(report: Report, directory: Path) -> list[str]:
    """Sheets of the pictures that differ: both, and the difference where there are two."""
    from pocketgpu.inspect.pictures.comparing import to_png

    files = []
    for one in report.pictures:
        if one.a is None or not any(picture is not None for picture in one.pictures):  # beyond those that are kept
            continue
        path = directory / f"f{one.a.frame}.{one.screen}.png"
        data = to_png(_sheet(one))
        write_file(path, data)
        files.append(str(path))
        one.detail["file"], one.detail["sha256"] = str(path), hashlib.sha256(data).hexdigest()
    return files


def _sheet(one: PictureDifference) -> Any:
    from pocketgpu.inspect.pictures.comparing import difference, sheet

    first, second = one.pictures
    shown = [(name, picture) for name, picture in (("A", first), ("B", second)) if picture is not None]
    if first is not None and second is not None:
        shown.append(("difference", difference(second, first)))
    return sheet(shown)
