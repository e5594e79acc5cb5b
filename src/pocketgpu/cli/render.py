"""`pocketgpu render`: a capture becomes PNG files and a summary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pocketgpu.cli import terminal
from pocketgpu.cli.options import (
    FrameSpan,
    capture_argument,
    debug_option,
    json_option,
    parse_frame_span,
    parsed,
    set_option,
    threads_option,
)
from pocketgpu.cli.outcome import Outcome
from pocketgpu.cli.replay import describe_frame, frames_of, make_directory, open_capture, replay, write_screens
from pocketgpu.errors import NoPictureError


@click.command()
@capture_argument
@click.option("--out", required=True, metavar="DIR", help="Folder for the pictures; created if needed.")
@click.option(
    "--frames",
    metavar="A-B",
    callback=parsed(parse_frame_span),
    help="Only these frames, both included, counted from 0.",
)
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def render(
    outcome: Outcome, capture: str, out: str, frames: FrameSpan | None, threads: int, switches: dict[str, str]
) -> None:
    """Render a capture into PNG files.

    Each frame gives one file a screen: f0.top.png, f0.bottom.png, f1.top.png and so on.

    CAPTURE is a recording (.ctf), plain or compressed with xz, zstd or gzip. A second picture for the right eye is
    written as f0.top-right.png where the recording shows one.
    """
    render_capture(outcome, capture, out, frames, threads, switches)
    outcome.show = lambda: terminal.say(summary(outcome, capture, out))


def render_capture(
    outcome: Outcome, path: str, out: str, span: FrameSpan | None, threads: int, switches: Mapping[str, str]
) -> None:
    """Render the frames of `span` into the folder `out`, noting each in `outcome`.

    Raises NoPictureError if in all of them nothing was on any screen.
    """
    capture = open_capture(path)
    wanted = frames_of(capture, span)
    directory = make_directory(out)
    outcome.add_events(capture.warnings)
    pictures = 0
    for frame in replay(capture, wanted, threads, switches):
        entry = describe_frame(frame)
        entry["screens"] = write_screens(frame, directory)
        outcome.frames.append(entry)
        outcome.add_events(frame.warnings)
        pictures += len(entry["screens"])
    if not pictures:
        raise NoPictureError(
            "nothing is shown: in these frames no display controller points at an image in memory",
            location=path,
            hint="Read the memory itself with 'pocketgpu dump'.",
        )


def summary(outcome: Outcome, capture: str, out: str) -> str:
    """Frames, draws, triangles, time, paths and warnings, for reading."""
    import statistics

    frames = outcome.frames
    columns = [("frame", False), *((name, True) for name in ("draws", "triangles", "fragments", "ms")), ("", False)]
    rows = [_row(entry) for entry in frames[: terminal.MAX_ROWS]]
    if len(frames) > len(rows):
        rows.append(("...", "", "", "", "", f"{len(frames) - len(rows)} more, all of them with --json"))
    times = [entry["milliseconds"] for entry in frames]
    footer = (
        "all" if len(frames) > 1 else "",
        *(f"{sum(entry[key] for entry in frames):,}" if len(frames) > 1 else "" for key in _COUNTS),
        f"{sum(times):.3f}" if len(frames) > 1 else "",
        "",
    )
    noun = "frame" if len(frames) == 1 else "frames"
    files = sum(len(entry["screens"]) for entry in frames)
    return "\n".join(
        [
            f"{len(frames)} {noun} of {capture}",
            "",
            terminal.format_table(columns, rows, footer if len(frames) > 1 else ()),
            "",
            f"{statistics.median(times):.3f} ms per frame (median), best {min(times):.3f} ms",
            f"{files} {'picture' if files == 1 else 'pictures'} in {out}",
            terminal.format_warnings(outcome.warnings),
        ]
    )


_COUNTS = ("draws", "triangles", "fragments")


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    names = [Path(screen["file"]).name for screen in entry["screens"].values()]
    return (
        f"f{entry['index']}",
        *(f"{entry[key]:,}" for key in _COUNTS),
        f"{entry['milliseconds']:.3f}",
        " ".join(names) or "(nothing on any screen)",
    )
