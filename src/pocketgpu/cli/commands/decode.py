"""`pocketgpu decode`: the command words of a recording or dump with their registers, values and effects."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts.options import capture_argument, debug_option, json_lines_option, parsed, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.wording import there_are

if TYPE_CHECKING:
    from pocketgpu.inspect.decode import Decoded

_TOGETHER = 1024
"""How many lines are written at once."""


def _number(text: str) -> int:
    """A number, decimal or with 0x. ValueError if it is not one."""
    match = re.fullmatch(r"(0x[0-9a-f]{1,16})|([0-9]{1,19})", text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is not a number. Write it decimal or with 0x.")
    return int(match[1], 16) if match[1] else int(match[2])


@click.command()
@capture_argument
@click.argument("places", nargs=-1, metavar="[PLACE...]")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["pica", "pushbuffer", "gx"]),
    help="The file is no recording but raw words: of a command list (3DS), a pushbuffer (Switch), or GX commands.",
)
@click.option("--base", metavar="ADDRESS", callback=parsed(_number), help="With --as: address of the first word.")
@click.option("--offset", metavar="BYTES", callback=parsed(_number), help="With --as: where in the file words begin.")
@click.option("--size", metavar="BYTES", callback=parsed(_number), help="With --as: how many bytes there are of them.")
@click.option("--big-endian", is_flag=True, help="With --as: the first byte of a word is its highest.")
@click.option("--strict", is_flag=True, help="With --as: parse every word as the machine does; nothing is garbage.")
@click.option("--no-garbage", is_flag=True, help="With --as: leave out garbage.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME",
    help="Only writes of these registers: 'TEXENV*', 0x040, 'TEXUNIT*.width', TEXUNIT0_DIM.width=64; may be repeated.",
)
@click.option("--changed", is_flag=True, help="Only writes that make a register differ from the last draw.")
@click.option("--words", is_flag=True, help="A line for each word.")
@click.option("--macros", is_flag=True, help="Also list the methods that macros issue (Switch).")
@click.option("--no-header", is_flag=True, help="With --json: no line before the words that names the schema.")
@set_option
@json_lines_option
@debug_option
@click.pass_obj
def decode(
    outcome: Outcome,
    capture: str,
    places: tuple[str, ...],
    kind: str | None,
    base: int | None,
    offset: int | None,
    size: int | None,
    big_endian: bool,
    strict: bool,
    no_garbage: bool,
    filters: tuple[str, ...],
    changed: bool,
    words: bool,
    macros: bool,
    no_header: bool,
    choices: dict[str, str],
) -> None:
    """List the command words of a recording or dump.

    CAPTURE is a recording or, with --as, any file with command words; words that are no valid commands are marked as
    garbage. PLACE is a frame (f1), a draw with all words that belong to it (f1/d17), or a range (f1/d3..d9, f0..f2);
    without one everything is listed.

    A line has the address of its words, the words, "*" if the register now differs from its value at the last draw, the
    register with its value and fields, its effects [in brackets], and the draw that it belongs to.
    """
    if kind is None:
        given = {"--base": base, "--offset": offset, "--size": size, "--big-endian": big_endian, "--strict": strict}
        for name, value in given.items():
            if value not in (None, False):
                raise UsageError(f"{name} is for raw words", location=name, hint="Say what they are with --as.")
    if no_header and not outcome.json:
        raise UsageError("--no-header is for JSON lines", location="--no-header", hint="Add --json.")
    decoded = _decoded(capture, kind, base or 0, offset or 0, size, big_endian, strict, macros, choices)
    chosen = places or filters or changed or no_garbage
    mask = decoded.select(places, filters, changed, no_garbage) if chosen else None
    if places and not decoded.select(places).any():
        raise UsageError(
            "no word belongs to this place",
            location=" ".join(places),
            hint=f"{there_are(decoded.stream.frame_count, 'frame', 'f0')} Draws: {_draws(decoded)}",
        )
    _write(decoded.json_lines(mask, not no_header) if outcome.json else decoded.lines(mask, single=words))


def _decoded(
    capture: str,
    kind: str | None,
    base: int,
    offset: int,
    size: int | None,
    big_endian: bool,
    strict: bool,
    macros: bool,
    choices: dict[str, str],
) -> Decoded:
    from pocketgpu.cli.parts.replay import open_capture
    from pocketgpu.inspect.decode import decode as decode_capture
    from pocketgpu.inspect.decode import decode_file

    if kind is not None:
        return decode_file(capture, kind, base, offset, size, big_endian, not strict, macros, choices)
    try:
        opened = open_capture(capture)
    except CaptureError as error:
        if error.offset == 0:
            error.hint = f"{error.hint or ''} Raw words need --as pica, --as pushbuffer or --as gx.".strip()
        raise
    return decode_capture(opened, macros, choices)


def _draws(decoded: Decoded) -> str:
    """The last draw of each of the first frames that have some."""
    last: dict[int, int] = {}
    fired = decoded.rows[decoded.rows["draw"] >= 0]
    for frame, draw in zip(fired["frame"].tolist(), fired["draw"].tolist(), strict=True):
        last[frame] = draw
    shown = [f"up to f{frame}/d{draw}" for frame, draw in last.items() if frame >= 0]
    return ", ".join(shown[:4]) + (" and so on." if len(shown) > 4 else ".") if shown else "none."


def _write(lines: Iterable[str]) -> None:
    """Write lines to stdout, many at a time; they are not kept, because there may be millions."""
    rest: Iterator[str] = iter(lines)
    while some := list(islice(rest, _TOGETHER)):
        sys.stdout.write("\n".join(some) + "\n")
