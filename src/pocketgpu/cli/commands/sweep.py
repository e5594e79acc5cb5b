"""`pocketgpu sweep`: one kind of work on any number of captures, on all cores or a cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import (
    FrameSpan,
    debug_option,
    json_option,
    parse_frame_span,
    parsed,
    set_option,
)
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.sweep_progress import SweepProgress
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pocketgpu.sweeps.baseline.comparison import Comparison
    from pocketgpu.sweeps.model.rows import Row
    from pocketgpu.sweeps.results.store import Store
    from pocketgpu.sweeps.sweep import Sweep

REPORT: Final = "report"
"""The folder of the report in that of the results."""
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _parse_bytes(text: str) -> int:
    """`2G`, `512M` or a number of bytes. ValueError if not."""
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)(i?B)?", text.strip(), re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise ValueError(f"{text!r} is no size. Write 2G or 512M.")
    return int(found[1]) * _UNITS[found[2].upper()]


def _parse_states(text: str) -> tuple[str, ...]:
    """`timeout,memory`, or `all` for every end but done. ValueError if not."""
    from pocketgpu.sweeps.model.rows import STATES

    ends = STATES[1:]
    found = ends if text == "all" else tuple(text.split(","))
    if unknown := [one for one in found if one not in ends]:
        raise ValueError(f"{unknown[0]!r} is no end of a capture. There are {', '.join(ends)}, and all.")
    return found


@click.command()
@click.argument("patterns", nargs=-1, required=True, metavar="PATTERN...")
@click.option(
    "--do", "what", required=True, metavar="WORK",
    help="render, check, bench, info, doubts or verify; or diff=FOLDER: compare with the captures there.",
)  # fmt: skip
@click.option("--out", required=True, metavar="DIR", help="Folder for the results; created if needed.")
@click.option("--resume", is_flag=True, help="Go on with the results in the folder.")
@click.option(
    "--retry", metavar="STATES", callback=parsed(_parse_states),
    help="With --resume: run captures again that came to these ends, such as timeout,memory; or all.",
)  # fmt: skip
@click.option("--baseline", metavar="DIR", help="Results of an earlier sweep: show what changed since.")
@click.option(
    "--workers", type=click.IntRange(1, 4096), metavar="N", help="Worker processes of this computer.  [its cores]"
)
@click.option("--scheduler", metavar="ADDRESS", help="Use the Dask cluster there, such as tcp://host:8786.")
@click.option(
    "--patience", type=click.FloatRange(min=0), metavar="S",
    help="With --scheduler: seconds to wait while it has no worker.  [no limit]",
)  # fmt: skip
@click.option("--ship", is_flag=True, help="Send captures to workers that do not see their folder.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=300.0, show_default=True, metavar="S",
    help="Seconds that a capture may take.",
)  # fmt: skip
@click.option(
    "--memory", default="2G", show_default=True, metavar="SIZE", callback=parsed(_parse_bytes),
    help="Memory that a capture may take.",
)  # fmt: skip
@click.option(
    "--frames", metavar="A-B", callback=parsed(parse_frame_span), help="For render: only these frames of each capture."
)
@click.option(
    "--repeat", type=click.IntRange(1, 10_000), default=5, show_default=True, metavar="N", help="For bench: passes."
)
@click.option("--report/--no-report", default=True, help="Write a page about the results into DIR/report.  [report]")
@set_option
@json_option
@debug_option
@click.pass_obj
def sweep(
    outcome: Outcome, patterns: tuple[str, ...], what: str, out: str, resume: bool, baseline: str | None,
    workers: int | None, scheduler: str | None, patience: float | None, ship: bool, timeout: float, memory: int,
    frames: FrameSpan | None, repeat: int, report: bool, choices: dict[str, str], retry: tuple[str, ...] | None,
) -> None:  # fmt: skip
    """Do one kind of work on any number of captures.

    PATTERN is a capture, a folder, a glob such as 'captures/**/*.pgc', @FILE for a list with a pattern in each line, or
    - for such a list from the standard input. Programs count as captures: they run for 60 frames.

    Each capture runs in a child process of a worker. One that crashes, hangs or takes too much memory is a row that
    says so; the others go on. Results are stored as they come: rows.jsonl, times.jsonl and pictures; results.parquet,
    times.parquet and report/index.html at the end. After Ctrl-C or a crash --resume goes on; with --retry it also runs
    captures again that have a row.

    The exit code is 1 if a capture failed, or if a rule or a comparison found an error. With --baseline it is 1 if
    pictures or findings changed, or a capture came to a worse end.
    """
    from pathlib import Path

    from pocketgpu.sweeps.baseline.compare import check_fits
    from pocketgpu.sweeps.model.task import What
    from pocketgpu.sweeps.results.store import Store
    from pocketgpu.sweeps.sweep import sweep as begin

    span = None if frames is None else (frames.first, frames.last)
    work = What.parse(what, switches=dict(choices), frames=span, repeat=repeat)
    if span is not None and work.work != "render":
        raise click.UsageError("--frames is for --do render.")
    if retry and not resume:
        raise click.UsageError("--retry is for --resume.")
    if patience is not None and scheduler is None:
        raise click.UsageError("--patience is for --scheduler.")
    before = None if baseline is None else Store.read(Path(baseline))
    if before is not None:
        check_fits(work, before)  # before hours of work
    found = begin(
        patterns, work, out=out, resume=resume, scheduler=scheduler, workers=workers, timeout=timeout, memory=memory,
        ship=ship, retry=retry or (), patience=patience,
    )  # fmt: skip
    todo = {one.name for one in found.todo}
    kept = [row for row in found.rows if row.capture not in todo]
    progress = SweepProgress(len(found), len(kept))
    try:
        with progress:
            for row in found:
                progress.add(row, found.dashboard)
    except KeyboardInterrupt:
        rows = len(found.rows)
        terminal.print_note(f"{rows} of {counted(len(found), 'capture')} are in {out}; --resume goes on")
        raise
    found.finish()
    outcome.extra |= _described(found, out)
    lines = [_summary(found, out), *_kept(kept)]
    comparison = None if before is None else _compared(found, before)
    if comparison is not None:
        outcome.extra["comparison"] = comparison.to_json()
        lines += ["", str(comparison), ""]
    if report:
        outcome.extra["report"] = page = str(_reported(found, comparison))
        lines.append(f"report: {page}")
    failed = any(row.failed for row in found.rows) if comparison is None else comparison.failed
    outcome.show = lambda: terminal.say("\n".join(lines))
    if failed:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _kept(rows: Sequence[Row]) -> Iterator[str]:
    """What an earlier run could not do, and this one did not try."""
    from pocketgpu.sweeps.model.rows import UNLUCKY

    states = _states([row for row in rows if row.state in UNLUCKY])
    if states:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        yield f"not run again: {counts} (--resume --retry {','.join(sorted(states))} runs them)"


def _compared(found: Sweep, before: Store) -> Comparison:
    """What changed since an earlier sweep."""
    from pocketgpu.sweeps.baseline.compare import compare

    progress = terminal.Progress()
    try:
        return compare(found.store, before, lambda done, count: progress.show(f"comparing {done} of {count}"))
    finally:
        terminal.clear_progress()


def _reported(found: Sweep, comparison: Comparison | None) -> Path:
    """Write the report; returns its page."""
    from pocketgpu.sweeps.report.report import write_report

    progress = terminal.Progress()
    try:
        return write_report(
            found.store.folder / REPORT, found.store, comparison,
            progress=lambda done, count: progress.show(f"report: {done} of {count}"),
        )  # fmt: skip
    finally:
        terminal.clear_progress()


def _described(found: Sweep, out: str) -> dict[str, Any]:
    """The JSON of the whole sweep; its rows are in the folder."""
    return {
        "out": out, "work": found.what.work, "captures": len(found), "states": _states(found.rows),
        "failed": [{"capture": row.capture, "state": row.state, "message": row.message} for row in found.rows
                   if row.failed],
    }  # fmt: skip


def _states(rows: Sequence[Row]) -> dict[str, int]:
    states: dict[str, int] = {}
    for row in rows:
        states[row.state] = states.get(row.state, 0) + 1
    return states


def _summary(found: Sweep, out: str) -> str:
    """How many captures came to which end, and the first that failed."""
    rows = found.rows
    counts = ", ".join(f"{count} {state}" for state, count in sorted(_states(rows).items()))
    lines = [f"{counted(len(rows), 'capture')}: {counts}"]
    wrong = [row for row in rows if row.failed]
    lines += [f"  {row}" for row in wrong[: terminal.MAX_ROWS]]
    if len(wrong) > terminal.MAX_ROWS:
        lines.append(f"  ... {len(wrong) - terminal.MAX_ROWS} more in {out}/rows.jsonl")
    return "\n".join([*lines, f"results: {out}"])
