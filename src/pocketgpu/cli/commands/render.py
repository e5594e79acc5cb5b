"""`pocketgpu render`: renders a capture to PNG files or an animation, or compares its pictures with goldens."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import beside, terminal
from pocketgpu.cli.parts.lists import PlacedFile, list_option, memory_option, registers_option, render_list
from pocketgpu.cli.parts.options import (
    FrameSpan,
    MemoryRange,
    debug_option,
    expect_options,
    force_option,
    json_option,
    parse_frame_span,
    parsed,
    set_option,
    threads_option,
)
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import (
    Shown,
    describe_frame,
    frames_of,
    make_folder,
    median,
    no_picture_hint,
    open_capture,
    replay,
    write_file,
    write_screens,
)
from pocketgpu.errors import NoPictureError, PocketGPUError, UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.cli.parts.animation import Animation
    from pocketgpu.cli.parts.expect import Expected

LAYOUTS = ("top", "bottom", "stereo", "both")


@click.command()
@click.argument("capture", type=click.Path(), metavar="[CAPTURE]", required=False)
@list_option
@memory_option
@registers_option
@click.option("--out", metavar="DIR", help="Folder for the pictures; created if needed.")
@click.option(
    "--frames",
    metavar="A-B",
    callback=parsed(parse_frame_span),
    help="Only these frames, both included, counted from 0.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    help="One picture a frame: a screen, both eyes side by side, or both screens.",
)
@click.option("--animate", metavar="FILE", help="All frames in one .gif or animated .png; 'both' if no --layout.")
@click.option("--fps", type=click.IntRange(1, 1000), metavar="N", help="Frames a second of the animation.  [60]")
@expect_options
@threads_option
@set_option
@force_option()
@json_option
@debug_option
@click.pass_obj
def render(
    outcome: Outcome,
    capture: str | None,
    list_: MemoryRange | None,
    memory: tuple[PlacedFile, ...],
    registers: tuple[PlacedFile, ...],
    out: str | None,
    frames: FrameSpan | None,
    layout: str | None,
    animate: str | None,
    fps: int | None,
    expect: str | None,
    tolerance: int | None,
    junit: str | None,
    report: str | None,
    threads: int,
    choices: dict[str, str],
    forced: tuple[str, ...],
) -> None:
    """Render a capture into PNG files.

    Each frame gives one file for each screen: f0.top.png, f0.bottom.png, f1.top.png and so on; with --layout one file
    for each frame: f0.stereo.png. At least one of --out, --animate and --expect is needed.

    CAPTURE is a recording of a 3DS (.ctf, or .gx.json with its .mem.bin beside it) or of a Switch (.mxcap.zip), or
    a .pgc of either, plain or compressed with xz, zstd or gzip. A second picture for the right eye is written as
    f0.top-right.png where the recording shows one. A Switch has one screen: f0.screen.png.

    With --list and --memory there is no capture: the command list runs on memory dumps, and each colour buffer that it
    draws to becomes target0.png and so on, in memory order; those of a screen's size are rotated upright. Addresses
    are physical, or those that programs use.

    With --expect, pictures are compared with those of the same name in a folder that --out has filled: frames that
    have one there, or those of --frames. The exit code is 1 if a picture differs or is missing.
    """
    if list_ is not None or memory or registers:
        others = {"CAPTURE": capture, "--frames": frames, "--layout": layout, "--animate": animate, "--fps": fps}
        others |= {"--expect": expect, "--tolerance": tolerance, "--junit": junit, "--report": report}
        if list_ is None or not memory or out is None:
            raise click.UsageError("Memory dumps need --list ADDRESS:SIZE, --memory FILE@ADDRESS and --out DIR.")
        if given := [name for name, value in [*others.items(), ("--force", forced or None)] if value is not None]:
            raise click.UsageError(f"{given[0]} does not go with --list: there is one list and no frame.")
        render_list(outcome, list_, memory, registers, out, threads, choices)
        return
    if capture is None:
        raise click.UsageError("Missing argument 'CAPTURE'.")
    if out is None and animate is None and expect is None:
        raise click.UsageError("There is no output: give --out DIR, --animate FILE or --expect DIR.")
    if fps is not None and animate is None:
        raise click.UsageError("--fps is for animations: give --animate FILE as well.")
    if expect is None:
        if given := [
            name
            for name, value in (("--tolerance", tolerance), ("--junit", junit), ("--report", report))
            if value is not None
        ]:
            raise click.UsageError(f"{given[0]} is for comparing: give --expect DIR as well.")
        render_capture(
            outcome, capture, out, frames, threads, choices, layout=layout, animate=animate, fps=fps, forced=forced
        )
        outcome.show = lambda: terminal.say(summary(outcome, capture, out))
        return
    if out is not None and os.path.realpath(out) == os.path.realpath(expect):
        raise click.UsageError("--out would overwrite the goldens of --expect: name two folders.")
    expected = _goldens(expect, tolerance or 0, frames, layout)
    span = frames if frames or out or animate else expected.span
    try:
        render_capture(
            outcome, capture, out, span, threads, choices, layout=layout, animate=animate, fps=fps, expected=expected,
            forced=forced,
        )  # fmt: skip
    except PocketGPUError as error:
        expected.stop(capture, error)
        raise
    finally:
        outcome.extra["expect"] = expected.to_dict()
        expected.write(junit, report, capture)
    outcome.show = lambda: terminal.say("\n".join([summary(outcome, capture, out), *expected.summary(report)]))
    if expected.failed:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _goldens(folder: str, tolerance: int, frames: FrameSpan | None, layout: str | None) -> Expected:
    from pocketgpu.cli.parts.expect import Expected  # most runs compare nothing

    return Expected(folder, tolerance, frames, layout)


class _Writer:
    """Writes the pictures of a frame while the next one is replayed. directory, digests: see `write_screens`. frames:
    gets the description of each frame whose pictures are written."""

    def __init__(self, directory: str | None, digests: bool, frames: list[dict[str, Any]]) -> None:
        self.pictures = 0
        self._directory, self._digests = directory, digests
        self._frames, self._entry = frames, dict[str, Any]()
        self._files: beside.Beside[None] | None = None

    def write(self, index: int, screens: dict[str, Shown], entry: dict[str, Any]) -> None:
        """Begin with a frame; `entry` gets what `write_screens` returns. Raises what the frame before has raised."""
        self.finish()
        self.pictures += len(screens)
        self._entry = entry

        def work() -> None:
            entry["screens"] = write_screens(index, screens, self._directory, self._digests)

        self._files = beside.Beside(work)

    def finish(self) -> None:
        """Wait until all is written."""
        if self._files is not None:
            self._files.result()
            self._files = None
            self._frames.append(self._entry)


def render_capture(
    outcome: Outcome,
    path: str,
    out: str | None,
    span: FrameSpan | None,
    threads: int,
    choices: Mapping[str, str],
    *,
    layout: str | None = None,
    animate: str | None = None,
    fps: int | None = None,
    expected: Expected | None = None,
    forced: Sequence[str] = (),
) -> None:
    """Render the frames of `span` into the folder `out` and the file `animate`, note each in `outcome`, and compare
    them with `expected`.

    Raises NoPictureError if no frame shows anything on any screen.
    """
    driver = beside.Loading.driver(path)
    film = _film_for(animate, fps) if animate else None
    capture = open_capture(path, span)
    driver.wait()
    wanted = frames_of(capture, span, outcome)
    if layout is not None and len(capture.provider.screens) == 1:
        raise UsageError("this recording is of a console with one screen", location="--layout", hint="Leave it out.")
    if out is not None:
        make_folder(out)
    outcome.add_events(capture.warnings)
    writer = _Writer(out, outcome.json, outcome.frames)
    try:
        for frame in replay(capture, wanted, threads, choices, forced):
            entry = describe_frame(frame)
            screens: dict[str, Shown] = dict(frame.screens)
            if film is not None:
                _add(film, screens, layout or "both")
            if layout is not None:
                screens = _composed(screens, layout)
            writer.write(frame.index, screens, entry)
            if expected is not None and expected.wants(frame.index):
                entry["expected"] = expected.check(path, frame.index, screens, frame.milliseconds / 1000.0)
            outcome.add_events(frame.warnings)
    finally:
        writer.finish()
    if expected is not None:
        expected.finish(path, capture.frame_count)
    if not writer.pictures:
        reason, hint = no_picture_hint(capture)
        raise NoPictureError(reason, location=path, hint=hint)
    if film is not None and animate is not None:
        data = film.finish()
        write_file(animate, data, "--animate")
        width, height = film.size
        outcome.extra["animation"] = {
            "file": animate,
            "width": width,
            "height": height,
            "frames": film.count,
            "fps": film.fps,
            "bytes": len(data),
        }


def _film_for(animate: str, fps: int | None) -> Animation:
    from pocketgpu.cli.parts import animation  # most runs make files of single pictures

    return animation.animation_for(animate, fps or animation.SCREEN_RATE)


def _composed(screens: Mapping[str, Shown], layout: str) -> dict[str, Shown]:
    """The screens of a frame as one picture; nothing if the layout shows none of them."""
    from pocketgpu.cli.parts.animation import Composed, compose

    whole = compose(screens, layout)
    return {} if whole is None else {layout: Composed(layout, whole)}


def _add(film: Animation, screens: Mapping[str, Shown], layout: str) -> None:
    """Add a frame to a film, if its layout shows anything."""
    for shown in _composed(screens, layout).values():
        film.add(shown.array)


def summary(outcome: Outcome, capture: str, out: str | None) -> str:
    """Frames, draws, triangles, time, paths and warnings as text."""
    frames = outcome.frames
    counts = shown_counts(frames)
    titles = (*(name.replace("_", " ") for name in counts), "ms")
    columns = [("frame", False), *((title, True) for title in titles), ("", False)]
    rows = [_row(entry, counts) for entry in frames[: terminal.MAX_ROWS]]
    if len(frames) > len(rows):
        rows.append(("...", *[""] * len(titles), f"{len(frames) - len(rows)} more, all of them with --json"))
    times = [entry["milliseconds"] for entry in frames]
    footer = (
        "all" if len(frames) > 1 else "",
        *(f"{sum(entry[key] for entry in frames):,}" if len(frames) > 1 else "" for key in counts),
        f"{sum(times):.3f}" if len(frames) > 1 else "",
        "",
    )
    noun = "frame" if len(frames) == 1 else "frames"
    files = sum(len(entry["screens"]) for entry in frames)
    film = outcome.extra.get("animation")
    return "\n".join(
        [
            f"{len(frames)} {noun} of {capture}",
            "",
            terminal.format_table(columns, rows, footer if len(frames) > 1 else ()),
            "",
            f"{median(times):.3f} ms per frame (median), best {min(times):.3f} ms",
            *([f"{files} {'picture' if files == 1 else 'pictures'} in {out}"] if out is not None else []),
            *([_film(film)] if film else []),
            terminal.format_warnings(outcome.warnings),
        ]
    )


_COUNTS = ("draws", "triangles", "fragments", "clears", "copies", "blits", "uploads", "launches")


def shown_counts(frames: list[dict[str, Any]]) -> list[str]:
    """The counts with a column in the table: those of a 3DS always, those of a Switch only if not all are 0."""
    known = [name for name in _COUNTS if frames and name in frames[0]]
    if "fragments" in known:
        return known
    return [name for name in known if name == "draws" or any(frame[name] for frame in frames)]


def _row(entry: dict[str, Any], counts: list[str]) -> tuple[str, ...]:
    screens = entry["screens"].items()
    names = [os.path.basename(screen["file"]) if "file" in screen else name for name, screen in screens]
    return (
        f"f{entry['index']}",
        *(f"{entry[key]:,}" for key in counts),
        f"{entry['milliseconds']:.3f}",
        " ".join(names) or "(nothing on any screen)",
    )


def _film(film: Mapping[str, Any]) -> str:
    """A line about an animation."""
    return f"{counted(film['frames'], 'frame')} of {film['width']}x{film['height']} in {film['file']}"
