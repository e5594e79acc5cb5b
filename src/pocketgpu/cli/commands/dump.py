"""`pocketgpu dump`: bytes of guest memory as they are after a frame."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import (
    FrameSpan,
    MemoryRange,
    capture_argument,
    debug_option,
    json_option,
    parse_frame_address,
    parse_memory_range,
    parsed,
    set_option,
    threads_option,
)
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import describe_frame, frames_of, open_capture, replay, write_file
from pocketgpu.errors import GuestMemoryError, UsageError
from pocketgpu.wording import counted


@click.command()
@capture_argument
@click.option(
    "--at",
    required=True,
    metavar="fN",
    callback=parsed(parse_frame_address),
    help="The frame after which memory is read: f3.",
)
@click.option(
    "--memory",
    required=True,
    metavar="ADDRESS:SIZE",
    callback=parsed(parse_memory_range),
    help="Address and bytes: 0x18000000:4096. Physical on a 3DS, as the GPU sees it on a Switch.",
)
@click.option("--out", required=True, metavar="FILE", help="File for the bytes; - writes them to stdout.")
@threads_option
@set_option
@json_option
@debug_option
@click.pass_obj
def dump(
    outcome: Outcome, capture: str, at: int, memory: MemoryRange, out: str, threads: int, choices: dict[str, str]
) -> None:
    """Write guest memory after a frame to a file."""
    import hashlib

    if out == "-" and outcome.json:
        raise UsageError("--out - and --json both want stdout", hint="Give --out the name of a file.")
    opened = open_capture(capture, at)
    wanted = frames_of(opened, FrameSpan(at, at))
    outcome.add_events(opened.warnings)
    data = b""
    for frame in replay(opened, wanted, threads, choices):
        frame.machine.finish()
        try:
            data = frame.machine.memory.read(memory.address, memory.size)
        except GuestMemoryError as error:
            raise UsageError(
                f"no guest memory holds {counted(memory.size, 'byte')} there",
                location=f"--memory {memory.address:#010x}:{memory.size}",
                hint=opened.provider.memory_hint(frame.machine),
            ) from error
        outcome.frames.append(describe_frame(frame))
        outcome.add_events(frame.warnings)
    digest = hashlib.sha256(data).hexdigest()
    outcome.extra["memory"] = {
        "at": f"f{at}",
        "address": memory.address,
        "size": memory.size,
        "file": out,
        "sha256": digest,
    }
    if out == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    write_file(Path(out), data)
    outcome.show = lambda: terminal.say(
        f"{counted(memory.size, 'byte')} from {memory.address:#010x} after f{at} in {out}\n"
        f"sha256 {digest}\n{terminal.format_warnings(outcome.warnings)}"
    )
