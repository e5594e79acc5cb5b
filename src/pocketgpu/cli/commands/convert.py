"""`pocketgpu convert`: writes any capture as a `.pgc`, with digests of its pictures."""

from __future__ import annotations

import os

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, json_option, set_option, threads_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

PACKINGS = ("smallest", "zstd", "lzma", "stored")


@click.command()
@capture_argument
@click.argument("out", type=click.Path(), metavar="OUT.pgc")
@click.option("--no-pictures", is_flag=True, help="Do not replay: leave out digests of pictures.")
@click.option(
    "--packing",
    type=click.Choice(PACKINGS),
    default=PACKINGS[0],
    show_default=True,
    help="How sections are packed; zstd is quick, smallest tries all.",
)
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def convert(
    outcome: Outcome, capture: str, out: str, no_pictures: bool, packing: str, threads: int, choices: dict[str, str]
) -> None:
    """Write a capture as a .pgc.

    CAPTURE is a recording of any kind that 'render' takes. A .pgc is packed again. The capture is replayed, with --set
    if given, and the file gets digests of the pictures that it shows.
    """
    from pocketgpu.capture import pgc

    check_name(out)
    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    contents = pgc.write(out, opened, pictures=not no_pictures, threads=threads, switches=choices, packing=packing)
    before, after = opened.file_bytes, os.path.getsize(out)
    outcome.extra |= {"file": out, "bytes": after, "bytes_before": before, "frame_count": len(contents.frames)}
    noun = "frame" if len(contents.frames) == 1 else "frames"
    files = f" in {counted(len(opened.files), 'file')}" if len(opened.files) > 1 else ""
    outcome.show = lambda: terminal.say(
        f"{out}: {len(contents.frames)} {noun}, {counted(after, 'byte', form=',')} ({before:,} before{files})\n"
        f"{terminal.format_warnings(outcome.warnings)}"
    )


def check_name(out: str) -> None:
    """Refuse a name of another kind, as the file is always a .pgc."""
    if not out.lower().endswith(".pgc"):
        raise UsageError("the capture that is written is a .pgc", location=out, hint="Let its name end in .pgc.")
