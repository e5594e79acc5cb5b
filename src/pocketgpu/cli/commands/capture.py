"""`pocketgpu capture`: tools for captures: verify, repair, minimise, redact."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import click

from pocketgpu.cli.commands.convert import check_name
from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, json_option, parsed, set_option, threads_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import describe_frame, open_capture
from pocketgpu.errors import CaptureError, NoPictureError
from pocketgpu.wording import counted

_out_argument = click.argument("out", type=click.Path(), metavar="OUT.pgc")


@click.group(no_args_is_help=True)
def capture() -> None:
    """Verify, repair, minimise and redact captures.

    'verify' and 'repair' are for .pgc files; 'pocketgpu convert' makes them.
    """


@capture.command()
@capture_argument
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def verify(outcome: Outcome, capture: str, threads: int, choices: dict[str, str]) -> None:
    """Replay a .pgc and compare each frame with the digests in the file.

    Exit code 1 if a frame differs, 4 if the file has no digests.
    """
    from pocketgpu.capture import pgc

    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    progress = terminal.Progress()
    different = unknown = 0
    try:
        for number, found in enumerate(pgc.check(opened, threads=threads, switches=choices)):
            entry = describe_frame(found.frame)
            entry["screens"] = {
                name: {"expected": (found.expected or {}).get(name), "digest": digest}
                for name, digest in found.found.items()
            }
            missing = [name for name in found.expected or {} if name not in found.found]
            entry["screens"] |= {name: {"expected": (found.expected or {})[name], "digest": None} for name in missing}
            entry["same"] = None if found.expected is None else found.same
            unknown += found.expected is None
            different += found.expected is not None and not found.same
            outcome.frames.append(entry)
            outcome.add_events(found.frame.warnings)
            progress.show(f"frame {number + 1} of {opened.frame_count}")
    finally:
        terminal.clear_progress()
    if unknown == opened.frame_count:
        name = shlex.quote(capture)
        raise NoPictureError(
            "the capture has no digests of its pictures",
            location=capture,
            hint=f"This adds those of its pictures now: pocketgpu convert {name} {name}",
        )
    outcome.extra |= {"different": different, "unknown": unknown}
    outcome.show = lambda: terminal.say(_verified(outcome, capture, different, unknown))
    if different:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _verified(outcome: Outcome, capture: str, different: int, unknown: int) -> str:
    same = len(outcome.frames) - different - unknown
    parts = [f"{capture}: {same} of {_frames(len(outcome.frames))} as expected"]
    for entry in outcome.frames[: terminal.MAX_ROWS]:
        if entry["same"] is False:
            names = [name for name, screen in entry["screens"].items() if screen["expected"] != screen["digest"]]
            parts.append(f"f{entry['index']} shows something else: {', '.join(names)}")
    if unknown:
        parts.append(f"{_frames(unknown)} without a digest")
    return "\n".join((*parts, terminal.format_warnings(outcome.warnings)))


@capture.command()
@capture_argument
@_out_argument
@json_option
@debug_option
@click.pass_obj
def repair(outcome: Outcome, capture: str, out: str) -> None:
    """Keep all frames of a damaged .pgc that come before the damage."""
    from pocketgpu.capture import pgc
    from pocketgpu.capture.formats import container

    check_name(out)
    found = pgc.rescue(container.read(capture), file=capture)
    frames = len(found.contents.frames)
    if found.damage is not None and not frames:
        raise CaptureError(
            "no frame is whole before the damage",
            file=capture,
            offset=found.damage.offset,
            hint="Copy the file again, or record again.",
        )
    size = pgc.save(out, found.contents)
    damage = None
    if found.damage is not None:
        damage = {"message": found.damage.message, "offset": found.damage.offset}
    outcome.extra |= {"file": out, "bytes": size, "frame_count": frames, "damage": damage}
    text = "nothing is damaged" if found.damage is None else f"damaged: {found.damage.message}"
    if found.damage is not None and found.damage.offset is not None:
        text += f" (byte {found.damage.offset:#x})"
    outcome.show = lambda: terminal.say(
        f"{capture}: {text}\n{_frames(frames)} kept in {out}, {counted(size, 'byte', form=',')}"
    )


def _parse_keep(text: str) -> object:
    from pocketgpu.capture.pgc.minimise import parse_keep

    return parse_keep(text)


@capture.command()
@capture_argument
@_out_argument
@click.option(
    "--keep",
    metavar="f3/d17",
    callback=parsed(_parse_keep),
    help="Only a draw (f3/d17), a frame (f3) or frames (f3-f5), counted from 0.",
)
@click.option(
    "--replays",
    type=click.IntRange(1, 1 << 20),
    default=2000,
    show_default=True,
    metavar="N",
    help="The most replays to find out which memory is needed.",
)
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def minimise(
    outcome: Outcome,
    capture: str,
    out: str,
    keep: object,
    replays: int,
    threads: int,
    choices: Mapping[str, str],
) -> None:
    """Leave out the memory that no kept event needs.

    Memory is left out if a replay without it shows exactly the same bytes. A kept draw is shown as its frame would show
    it if the frame ended there: with the draws before it, without those after it.
    """
    from typing import cast

    from pocketgpu.capture import pgc
    from pocketgpu.capture.pgc.minimise import Keep
    from pocketgpu.capture.pgc.minimise import minimise as make_small

    check_name(out)
    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    progress = terminal.Progress()
    try:
        found = make_small(
            pgc.contents_of(opened.trace),
            cast("Keep | None", keep),
            threads=threads,
            switches=choices,
            replays=replays,
            progress=lambda count: progress.show(f"replay {count}"),
        )
    finally:
        terminal.clear_progress()
    before = opened.file_bytes
    size = pgc.save(out, found.contents)
    frames = len(found.contents.frames)
    outcome.extra |= {
        "file": out,
        "bytes": size,
        "bytes_before": before,
        "frame_count": frames,
        "memory_before": found.bytes_before,
        "memory_after": found.bytes_after,
        "replays": found.replays,
    }
    text = f"{out}: {_frames(frames)}, {counted(size, 'byte', form=',')} ({before:,} before)\n"
    if size > before:
        text += (
            "larger than before: it stores memory as earlier commands left it, in place of these commands\n"
            if keep is not None
            else "larger than before: it has less memory, but does not pack as well\n"
        )
    text += f"{found.bytes_after:,} of {found.bytes_before:,} bytes of memory are needed ({found.replays:,} replays)"
    outcome.show = lambda: terminal.say(text)


@capture.command()
@capture_argument
@_out_argument
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def redact(outcome: Outcome, capture: str, out: str, threads: int, choices: Mapping[str, str]) -> None:
    """Replace textures by noise of the same format and size, so that a capture may be shared.

    Memory that also holds vertices, indices or commands is not replaced. The capture then shows, and expects, the
    noise.
    """
    from pocketgpu.capture import pgc
    from pocketgpu.capture.pgc.redact import redact as make_noise

    check_name(out)
    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    found = make_noise(opened, threads=threads, switches=choices)
    size = pgc.save(out, found.contents)
    outcome.extra |= {
        "file": out,
        "bytes": size,
        "textures": found.textures,
        "bytes_replaced": found.replaced,
        "bytes_left": found.left,
        "bytes_lost": found.lost,
    }
    left = f", {found.left:,} not replaced" if found.left else ""
    if found.lost:
        left += f", {found.lost:,} could not be followed to their source and may still be there"
    outcome.show = lambda: terminal.say(
        f"{out}: {counted(found.textures, 'texture')}, {found.replaced:,} bytes are noise now{left}; "
        f"{counted(size, 'byte', form=',')}"
    )


def _frames(count: int) -> str:
    return counted(count, "frame")
