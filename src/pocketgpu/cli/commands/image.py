"""`pocketgpu image`: converts bytes of a texture or framebuffer to a picture, and a picture to such bytes."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option, parsed
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.facts.formats import PixelFormat
    from pocketgpu.pica.memory.surface import Layout

_PICTURE = ".png"


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,5})[xX]([0-9]{1,5})", text.strip())
    if match is None or not (int(match[1]) and int(match[2])):
        raise ValueError(f"{text!r} is not a size. Write WIDTHxHEIGHT such as 64x64.")
    return int(match[1]), int(match[2])


def _parse_format(text: str) -> PixelFormat:
    from pocketgpu.inspect.pictures.images import format_named

    return format_named(text)


def _parse_offset(text: str) -> int:
    word = text.strip().lower()
    if not re.fullmatch(r"0x[0-9a-f]{1,12}|[0-9]{1,15}", word):
        raise ValueError(f"{text!r} is not a number of bytes. Write it decimal or with 0x.")
    return int(word, 16 if word.startswith("0x") else 10)


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "--format", "format_", required=True, metavar="NAME", callback=parsed(_parse_format), help="ETC1A4, RGB565, L8, ..."
)
@click.option(
    "--layout",
    type=click.Choice(["tiled", "linear"]),
    default="tiled",
    show_default=True,
    help="How pixels follow each other in memory.",
)
@click.option(
    "--size", metavar="WxH", callback=parsed(_parse_size), help="Pixels in a row of memory, and rows; for a dump."
)
@click.option(
    "--offset",
    default="0",
    metavar="BYTES",
    callback=parsed(_parse_offset),
    help="Where in a dump the surface starts.",
)
@click.option("--flip", is_flag=True, help="The first row in memory is the lowest of the picture.")
@click.option("--upright", is_flag=True, help="Rotate a framebuffer, whose rows are the columns of the screen.")
@click.option("--out", required=True, metavar="FILE", help="A .png makes a picture; any other name makes a dump.")
@json_option
@debug_option
@click.pass_obj
def image(
    outcome: Outcome,
    file: str,
    format_: PixelFormat,
    layout: Layout,
    size: tuple[int, int] | None,
    offset: int,
    flip: bool,
    upright: bool,
    out: str,
) -> None:
    """Turn texture or framebuffer bytes into a picture, or a picture into bytes.

    The name of --out decides the direction: if it ends in .png, FILE is a dump, otherwise FILE is a picture.
    """
    import hashlib

    data = _read(file)
    turn = {"flip": flip, "upright": upright}
    if out.lower().endswith(_PICTURE):
        made, width, height = _to_png(file, data, format_, size, layout, offset, turn)
    else:
        made, width, height = _to_dump(file, data, format_, size, layout, offset, turn)
    write_file(Path(out), made)
    outcome.extra["image"] = {
        "file": out,
        "format": format_.name,
        "layout": layout,
        "width": width,
        "height": height,
        "bytes": len(made),
        "sha256": hashlib.sha256(made).hexdigest(),
    }
    outcome.show = lambda: terminal.say(
        f"{format_.name} {width}x{height}, {layout}, in {out} ({counted(len(made), 'byte')})"
    )


def _to_png(
    file: str,
    data: bytes,
    format_: PixelFormat,
    size: tuple[int, int] | None,
    layout: Layout,
    offset: int,
    turn: dict[str, bool],
) -> tuple[bytes, int, int]:
    from pocketgpu.inspect.pictures.images import to_picture
    from pocketgpu.pica.memory import surface
    from pocketgpu.pictures import png_bytes

    if size is None:
        raise UsageError("a dump does not say how large it is", location="--size", hint="Give --size such as 64x64.")
    needed = surface.byte_size(format_, *size, layout)
    if offset + needed > len(data):
        raise CaptureError(
            f"the dump ends too early: {format_.name} of {size[0]}x{size[1]} takes {counted(needed, 'byte')} from "
            f"byte {offset}",
            file=file,
            offset=len(data),
            hint="Check --format, --size and --offset.",
        )
    picture = to_picture(data[offset : offset + needed], format_, *size, layout, **turn)
    return png_bytes(picture), picture.width, picture.height


def _to_dump(
    file: str,
    data: bytes,
    format_: PixelFormat,
    size: tuple[int, int] | None,
    layout: Layout,
    offset: int,
    turn: dict[str, bool],
) -> tuple[bytes, int, int]:
    from PIL import Image

    from pocketgpu.inspect.pictures.images import from_picture

    if offset:
        raise UsageError("a picture has no offset", location="--offset", hint="It is meant for dumps.")
    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.load()
            picture: Any = opened
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise CaptureError(
            "the file is no picture", file=file, hint="To make a picture of a dump, give --out a name ending in .png."
        ) from error
    if size is not None and size != picture.size:
        raise UsageError(
            f"the picture has {picture.width}x{picture.height} pixels",
            location="--size",
            hint="Leave --size out, or resize the picture first.",
        )
    return from_picture(picture, format_, layout, **turn), picture.width, picture.height


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CaptureError(
            f"cannot read the file: {error.strerror or error}", file=file, hint="Check the path and its permissions."
        ) from error
