"""`pocketgpu run`: runs a program without its console, and shows, records or compares what it draws."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import (
    debug_option,
    expect_options,
    json_option,
    parse_frame_span,
    set_option,
    threads_option,
)
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import Shown, make_directory, median, write_screens
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.events import Event
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.cli.parts.expect import Expected
    from pocketgpu.guests import App
    from pocketgpu.guests.kernel.kernel import End

EXIT = "EXIT"
"""The value of --until for the end of the program."""
ALL = "all"
PICTURES = (ALL, "presented", "last")


@click.command()
@click.argument("program", type=click.Path(), metavar="PROGRAM")
@click.option("--frames", type=click.IntRange(1, 1_000_000), metavar="N", help="Run for N frames.  [600]")
@click.option("--presents", type=click.IntRange(1, 1_000_000), metavar="N", help="Run until N pictures were shown.")
@click.option("--until", metavar="TEXT", help=f"Run until the program prints TEXT; {EXIT}: until it ends.")
@click.option("--out", metavar="DIR", help="Folder for the pictures; created if needed.")
@click.option(
    "--pictures", default=ALL, show_default=True, metavar="WHICH",
    help="Which frames --out writes: all, presented, last, or A-B.",
)  # fmt: skip
@click.option("--record", metavar="FILE", help="Write all that the GPU was given as a .pgc capture.")
@expect_options
@click.option("--sd", metavar="DIR", help="A folder that the program finds as its memory card.")
@click.option("--sd-write", is_flag=True, help="Let the program change the files of --sd.")
@click.option("--input", "script", metavar="FILE", help="Play an input script: keys, touch and so on, frame by frame.")
@click.option("--press", multiple=True, metavar="KEYS@FRAMES", help="Hold keys: A@30-32, UP+B@40; may be repeated.")
@click.option("--text", is_flag=True, help="Show what the program has printed, its screens' text too.")
@click.option(
    "--font", metavar="FILE", help="The system's font: for a 3DS a dump or a .bcfnt, for a Switch a .ttf or .otf."
)
@click.option("--elf", "symbols", metavar="FILE", help="The ELF of a .3dsx or .nro, for names.  [the .elf beside it]")
@click.option("--arg", "arguments", multiple=True, metavar="TEXT", help="An argument for the program; may be repeated.")
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def run(outcome: Outcome, /, program: str, **given: Any) -> None:
    """Run a program without its console: pictures, text, and a capture.

    PROGRAM is homebrew: a .3dsx file for the 3DS, a .nro for the Switch, or an .elf or .axf for one of them. Time is
    emulated: every run gives the same pictures, text and capture.

    A frame is a VBlank; a second has 60 of them, 59.83 on a 3DS. A run ends after --frames, when --presents or --until
    is reached, when the program ends, and after 600 frames at the latest if there is no --frames. Each frame gives one
    file for each screen: f0.top.png, f0.bottom.png, f1.top.png and so on; the screen of a Switch is f0.screen.png.

    The exit code is 1 if the program fails, if --presents or --until is not reached, and if a picture is not as
    --expect wants it.
    """
    from pocketgpu import guests

    options = Options(**given)
    options.check()
    wanted, expected = _Wanted(options.pictures), options.expected()
    limit = options.limit(expected)
    app = guests.run(
        program, sd=options.sd, writable=options.sd_write, font=options.font, threads=options.threads,
        switches=options.choices, record=options.record is not None, symbols=options.symbols,
        arguments=options.arguments,
    )  # fmt: skip
    outcome.extra["program"] = program
    _player(app, options.script, options.press)
    goal = _goal(app, options.presents, options.until)
    directory = make_directory(options.out) if options.out else None
    try:
        _play(outcome, app, limit or guests.LIMIT, goal, wanted, directory, expected)
        if expected is not None:
            if app.end is not None and not app.end.well:
                expected.fail(program, f"the program ended: {app.end.why}: {app.end.text}", str(app.end))
            expected.finish(program, len(outcome.frames))
    except PocketGPUError as error:
        if expected is not None:
            expected.stop(program, error)
        raise
    finally:
        if expected is not None:
            outcome.extra["expect"] = expected.to_dict()
            expected.write(options.junit, options.report, program, "run")
    reached = goal is None or goal()
    if limit is None and goal is None and app.end is None:
        message = f"the run ended after {guests.LIMIT} frames; --frames or --until says when it shall end"
        outcome.add_events([Event("warning", "guest.limit", message, at=f"f{app.frame_count - 1}")])
    if options.out and not any("file" in one for frame in outcome.frames for one in frame["screens"].values()):
        message = f"no picture was written: {_nothing(app, options)}"
        outcome.add_events([Event("warning", "guest.no-picture", message, at=f"f{max(app.frame_count - 1, 0)}")])
    _note(outcome, app, reached if goal is not None else None)
    if options.record is not None:
        _record(outcome, app, options.record)
    lines = _lines(outcome, app, options, reached)
    if expected is not None:
        lines += expected.summary(options.report)
    outcome.show = lambda: terminal.say("\n".join([*lines, terminal.format_warnings(outcome.warnings)]))
    failed = expected is not None and expected.failed
    if failed or not reached or (app.end is not None and not app.end.well):
        raise click.exceptions.Exit(ExitCode.FINDINGS)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command, by the names that Click gives them."""

    frames: int | None
    presents: int | None
    until: str | None
    out: str | None
    pictures: str
    record: str | None
    expect: str | None
    tolerance: int | None
    junit: str | None
    report: str | None
    sd: str | None
    sd_write: bool
    script: str | None
    press: tuple[str, ...]
    text: bool
    font: str | None
    symbols: str | None
    arguments: tuple[str, ...]
    threads: int
    choices: dict[str, str]

    def check(self) -> None:
        """Raises UsageError for options that do not go together."""
        from pocketgpu.cli.commands.convert import check_name

        if self.sd_write and self.sd is None:
            raise click.UsageError("--sd-write is for the folder of --sd: give that as well.")
        if self.record is not None:
            check_name(self.record)
        given = (("--tolerance", self.tolerance), ("--junit", self.junit), ("--report", self.report))
        alone = [name for name, value in given if value is not None]
        if self.until == "":
            raise click.UsageError("--until has no text to wait for; write EXIT for the end of the program.")
        if self.pictures != ALL and self.out is None:
            raise click.UsageError("--pictures is for what --out writes: give --out DIR as well.")
        if self.expect is None and alone:
            raise click.UsageError(f"{alone[0]} is for comparing: give --expect DIR as well.")
        if self.expect and self.out and os.path.realpath(self.out) == os.path.realpath(self.expect):
            raise click.UsageError("--out would overwrite the goldens of --expect: name two folders.")

    def expected(self) -> Expected | None:
        """The goldens of --expect."""
        if self.expect is None:
            return None
        from pocketgpu.cli.parts.expect import Expected

        return Expected(self.expect, self.tolerance or 0)

    def limit(self, expected: Expected | None) -> int | None:
        """The most frames: those of --frames, or up to the last golden; None if nothing says so."""
        last = expected.span.last if expected is not None else None
        if self.frames is None and self.until is None and self.presents is None and last is not None:
            return last + 1
        return self.frames


def _player(app: App, script: str | None, press: tuple[str, ...]) -> None:
    """Do what the options say a player does."""
    from pocketgpu.guests.input.script import Script, parse_press

    if script is not None:
        app.play(Path(script))
    if press:
        app.play(Script(tuple(parse_press(one, app.console.controls) for one in press)))


class _Wanted:
    """Which frames are written. Raises UsageError for text that is none of them."""

    def __init__(self, text: str) -> None:
        self.text, self.span = text, None
        if text not in PICTURES:
            try:
                self.span = parse_frame_span(text)
            except ValueError:
                raise UsageError(
                    f"{text!r} does not say which frames", location="--pictures",
                    hint=f"Write {', '.join(PICTURES)}, or frames such as 30-59.",
                ) from None  # fmt: skip

    @property
    def last_only(self) -> bool:
        """Whether only the last frame is written, which is known when the run is over."""
        return self.text == "last"

    def __call__(self, index: int, present: int | None, last: bool) -> bool:
        if self.span is not None:
            return self.span.first <= index and (self.span.last is None or index <= self.span.last)
        return self.text == ALL or (last if self.text == "last" else present is not None)


def _goal(app: App, presents: int | None, until: str | None) -> Callable[[], bool] | None:
    """Whether the run has got where it shall get; None if there is no such place."""
    goals: list[Callable[[], bool]] = []
    if presents is not None:
        goals.append(lambda: app.present_count >= presents)
    if until == EXIT:
        goals.append(lambda: app.end is not None and app.end.well)
    elif until is not None:
        goals.append(lambda: until in app.text)
    return (lambda: all(goal() for goal in goals)) if goals else None


def _play(
    outcome: Outcome, app: App, limit: int, goal: Callable[[], bool] | None, wanted: _Wanted, directory: Path | None,
    expected: Expected | None,
) -> None:  # fmt: skip
    """Run frame by frame; each finished frame is an entry of the outcome."""
    progress = terminal.Progress()
    kept: Mapping[str, Shown] = {}
    try:
        while app.frame_count < limit and not (goal is not None and goal()):
            started = perf_counter()
            index = app.frame_count
            going = app.frames(1)
            if app.frame_count == index:
                break
            seconds = perf_counter() - started
            last = not going or app.frame_count == limit or (goal is not None and goal())
            present = app.console.presented
            entry: dict[str, Any] = {"index": index, "present": present, "screens": {}, **app.console.counts}
            entry["milliseconds"] = round(1000.0 * seconds, 4)
            writes = directory is not None and wanted(index, present, last)
            if writes or last:
                entry["screens"] = write_screens(
                    index, app.screens, directory if writes else None, outcome.json
                )
            elif wanted.last_only and directory is not None:
                kept = app.screens  # the program may end before the next frame
            if expected is not None and expected.wants(index):
                entry["expected"] = expected.check(app.program.name, index, app.screens, seconds)
            outcome.frames.append(entry)
            progress.show(f"frame {app.frame_count} of {limit}")
            if not going:
                break
        if kept and app.end is not None and not outcome.frames[-1]["screens"]:
            outcome.frames[-1]["screens"] = write_screens(
                outcome.frames[-1]["index"], kept, directory, outcome.json
            )
        outcome.add_events(app.console.events)
    finally:
        terminal.clear_progress()


def _nothing(app: App, options: Options) -> str:
    """Why no picture was written."""
    if not app.frame_count:
        return "the program ended before its first frame"
    if not app.screens:
        return "the program has shown nothing"
    frames = counted(app.frame_count, "frame")
    return f"the run has {frames}, and none is of those that --pictures {options.pictures} names"


def _note(outcome: Outcome, app: App, reached: bool | None) -> None:
    """The run as JSON data. reached: whether it got where --until and --presents say; None if they say nothing."""
    end = app.end
    outcome.extra |= {
        "frame_count": app.frame_count,
        "presents": app.present_count,
        "reached": reached,
        "end": None if end is None else _end(end),
        "text": app.debug_text,
    }
    if outcome.json:
        outcome.extra["console_text"] = dict(app.console_text)


def _end(end: End) -> dict[str, Any]:
    """How the program ended, as JSON data."""
    registers = end.registers
    return {
        "why": end.why,
        "text": end.text,
        "well": end.well,
        "details": list(end.details),
        "thread": end.thread,
        "registers": None if registers is None else {
            **{name: f"{value:#x}" for name, value in zip(registers.names, registers.values, strict=True)},
            registers.flags_name: f"{registers.flags:#x}",
        },
        "trace": [
            {
                "address": f"{one.place.address:#x}", "function": one.place.name, "source": one.place.source,
                "found": one.found.value, "sure": one.sure,
            }
            for one in end.trace
        ],
    }  # fmt: skip


def _record(outcome: Outcome, app: App, path: str) -> None:
    from pocketgpu.capture import pgc

    contents = app.contents()
    size = pgc.save(path, contents, "zstd")
    outcome.extra["record"] = {"file": path, "bytes": size, "frames": len(contents.frames)}


def _screen(name: str) -> str:
    """What a screen is called: "top screen", or "screen" if there is only one."""
    return name if name.endswith("screen") else f"{name} screen"


def _lines(outcome: Outcome, app: App, options: Options, reached: bool) -> list[str]:
    """The run for people."""
    frames, presents, until, out = outcome.frames, options.presents, options.until, options.out
    state = "it still runs" if app.end is None else f"it ended: {app.end.why}"
    count = f"{counted(app.frame_count, 'frame')}, {counted(app.present_count, 'present')}"
    lines = [f"{app.program.name}: {count}; {state}"]
    if app.end is not None and not app.end.well:
        lines += ["", *str(app.end).splitlines(), ""]
    if not reached:
        missed = [f"{presents} presents" if presents is not None and app.present_count < presents else ""]
        missed += [("its end" if until == EXIT else f"the text {until!r}") if until is not None else ""]
        lines.append(f"not reached: {' and '.join(one for one in missed if one)}")
    if options.text:
        shown = [f"{_screen(name)}:\n{text}" for name, text in app.console_text.items() if text]
        printed = [app.debug_text.rstrip("\n")] if app.debug_text else []
        lines += ["", "\n\n".join([*printed, *shown]) or "(nothing was printed)", ""]
    if frames:
        times = [entry["milliseconds"] for entry in frames]
        draws = sum(entry.get("draws", 0) for entry in frames)
        lines.append(
            f"{counted(draws, 'draw', form=',')}; {median(times):.3f} ms per frame (median), "
            f"best {min(times):.3f} ms"
        )
    if out is not None:
        files = sum("file" in screen for entry in frames for screen in entry["screens"].values())
        lines.append(f"{counted(files, 'picture')} in {out}")
    if found := outcome.extra.get("record"):
        size = counted(found["bytes"], "byte", form=",")
        lines.append(f"{found['file']}: {counted(found['frames'], 'frame')}, {size}")
    return lines


__all__ = ["run"]
