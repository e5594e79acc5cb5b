"""`pocketgpu demo`: renders the sample that comes with the package, and suggests further commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from pocketgpu.cli.commands.render import render_capture, summary
from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option, set_option, threads_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import CaptureError
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True)
class Sample:
    """file: in the folder of data. next: a command to try; {sample}: the file, {again}: a folder."""

    file: str
    next: str


SAMPLES = {
    "3ds": Sample("sample.ctf.xz", "render {sample} --out {again} --set texture.filter=nearest"),
    "switch": Sample("sample_switch.mxcap.zip", "info {sample}"),
}


@click.command()
@click.option(
    "--console", type=click.Choice(list(SAMPLES)), default="3ds", show_default=True, help="Whose sample to render."
)
@click.option("--out", default="build/demo", show_default=True, metavar="DIR", help="Folder for the pictures.")
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def demo(outcome: Outcome, console: str, out: str, threads: int, choices: dict[str, str]) -> None:
    """Render a sample that comes with the program."""
    from importlib import resources

    source = resources.files("pocketgpu") / "data" / SAMPLES[console].file
    with resources.as_file(source) as path:
        if not path.is_file():
            raise CaptureError(
                "the sample is missing from this installation", file=str(path), hint="Install pocketgpu again."
            )
        render_capture(outcome, str(path), out, None, threads, choices)
        shown = _shortest(path)
    outcome.show = lambda: terminal.say(_report(outcome, shown, out, SAMPLES[console].next))


def _report(outcome: Outcome, sample: str, out: str, next_one: str) -> str:
    pictures = [screen["file"] for entry in outcome.frames for screen in entry["screens"].values()]
    program = _program()
    again = Path(out).parent / "nearest"
    return "\n".join(
        [
            summary(outcome, sample, out),
            "",
            "look at",
            *(f"  {path}" for path in pictures[: terminal.MAX_ROWS]),
            "",
            "try next",
            f"  {program} {next_one.format(sample=sample, again=again)}",
            f"  {program} bench {sample}",
            f"  {program} switches",
            f"  {program} --help",
            "",
            "look at it in the browser (extra 'view'), event by event, pixel by pixel",
            f"  {program} view {sample}",
        ]
    )


def _program() -> str:
    """How this program was started, so that the suggested lines can be pasted into the same shell."""
    import shutil

    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{_shortest(Path(sys.executable))} -m pocketgpu"
    found = shutil.which(started.stem)
    if found and Path(found).resolve() == started.resolve():
        return started.stem
    return _shortest(started)


def _shortest(path: Path) -> str:
    """The path relative to the current folder if that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return min(str(path), relative, key=len)
