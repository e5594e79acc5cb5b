"""`pocketgpu render --list`: pictures from memory dumps instead of a capture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import MemoryRange, parse_memory_range, parsed
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import make_directory, write_file
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.whole_files import read
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture.dumps import Dump

_PACKINGS = (".xz", ".zst", ".gz")
_LARGEST = 1 << 32
"""Most bytes of a dump: the address space."""


@dataclass(frozen=True)
class PlacedFile:
    """A file and the address that its first byte belongs to."""

    path: str
    address: int


def parse_placed_file(text: str) -> PlacedFile:
    """`vram.bin@0x18000000`: a file and an address, decimal or with 0x. ValueError if not."""
    path, at, number = text.rpartition("@")
    if not path or not at or not re.fullmatch("0x[0-9a-f]{1,8}|[0-9]{1,10}", number.strip(), re.IGNORECASE):
        raise ValueError(f"{text!r} is no file with an address. Write FILE@ADDRESS such as vram.bin@0x18000000.")
    address = int(number, 16 if number.strip()[:2].lower() == "0x" else 10)
    if address >= 1 << 32:
        raise ValueError(f"{text!r} is past the 32-bit address space.")
    return PlacedFile(path, address)


def _parse_placed_files(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[PlacedFile, ...]:
    try:
        return tuple(parse_placed_file(text) for text in values)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx=ctx, param=param) from error


list_option = click.option(
    "--list",
    "list_",
    metavar="ADDRESS:SIZE",
    callback=parsed(parse_memory_range),
    help="Run this command list from --memory dumps instead of a capture.",
)
memory_option = click.option(
    "--memory",
    multiple=True,
    metavar="FILE@ADDRESS",
    callback=_parse_placed_files,
    help="Memory for --list, and the address of its first byte; may be repeated. A dash is the standard input.",
)
registers_option = click.option(
    "--registers",
    multiple=True,
    metavar="FILE@ADDRESS",
    callback=_parse_placed_files,
    help="Registers for --list to start with, as words: core.bin@0x10401000.",
)


def _load(files: Sequence[PlacedFile]) -> list[Dump]:
    """Read dumps; they are unpacked only by their names, because raw memory may begin with anything."""
    from pocketgpu.capture.dumps import Dump
    from pocketgpu.capture.formats import container
    from pocketgpu.errors import CaptureError

    dumps = []
    for file in files:
        packed = file.path.lower().endswith(_PACKINGS)
        data = container.read(file.path) if packed else read(file.path, _LARGEST)
        if not data:
            raise CaptureError("the dump is empty", file=file.path)
        dumps.append(Dump(file.address, data, file.path))
    return dumps


def render_list(
    outcome: Outcome,
    list_: MemoryRange,
    memory: Sequence[PlacedFile],
    registers: Sequence[PlacedFile],
    out: str,
    threads: int,
    choices: Mapping[str, str],
) -> None:
    """Run a list and write each colour buffer that it drew to as target0.png, target1.png, ... into `out`."""
    import hashlib

    from pocketgpu.capture.dumps import run_list
    from pocketgpu.pictures import to_png

    if sum(file.path == "-" for file in (*memory, *registers)) > 1:
        raise UsageError("the standard input can be one dump only", location="--memory", hint="Name files for others.")
    memory_dumps, register_dumps = _load(memory), _load(registers)
    run = run_list(list_.address, list_.size, memory_dumps, register_dumps, threads, dict(choices))
    directory = make_directory(out)
    targets: list[dict[str, Any]] = []
    for number, target in enumerate(run.targets):
        # Alpha is left out: many programs never use it, and their pictures would be invisible.
        array = target.picture(run.machine.memory)[..., :3]
        path = directory / f"target{number}.png"
        write_file(path, to_png(array))
        targets.append(
            {
                "file": str(path),
                "address": target.address,
                "width": int(array.shape[1]),
                "height": int(array.shape[0]),
                "format": target.format.name,
                "turned": target.turned,
                "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
            }
        )
    stats = run.machine.stats
    outcome.add_events(run.machine.events)
    outcome.extra["list"] = {
        "address": list_.address,
        "size": list_.size,
        "interrupt": run.fired,
        "draws": int(stats.draws),
        "triangles": int(stats.triangles),
        "fragments": int(stats.fragments),
        "milliseconds": round(run.milliseconds, 4),
    }
    outcome.extra["targets"] = targets
    outcome.show = lambda: terminal.say(_summary(outcome))


def _summary(outcome: Outcome) -> str:
    done, targets = outcome.extra["list"], outcome.extra["targets"]
    columns = [("target", False), ("address", False), ("format", False), ("size", True), ("", False)]
    rows = [
        (
            t["file"],
            f"{t['address']:#010x}",
            t["format"],
            f"{t['width']}x{t['height']}",
            "upright" if t["turned"] else "",
        )
        for t in targets[: terminal.MAX_ROWS]
    ]
    more = len(targets) - len(rows)
    return "\n".join(
        [
            f"list of {counted(done['size'], 'byte')} at {done['address']:#010x}: "
            f"{counted(done['draws'], 'draw', form=',')}, "
            f"{counted(done['triangles'], 'triangle', form=',')}, "
            f"{counted(done['fragments'], 'fragment', form=',')}, {done['milliseconds']:.3f} ms",
            "",
            terminal.format_table(columns, rows) + (f"\n... {more} more, all of them with --json" if more > 0 else ""),
            "",
            terminal.format_warnings(outcome.warnings),
        ]
    )
