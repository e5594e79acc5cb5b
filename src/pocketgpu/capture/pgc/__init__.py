"""Tools for our own captures, `.pgc`: all that a frame needs, and its expected pictures. See docs/formats/pgc.md.

`write` converts any capture, `pocketgpu.open` reads a `.pgc`. `check` replays a capture and compares; `repair` keeps
the intact part of a damaged file, `minimise` what some frames or one draw need, `redact` removes textures.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pocketgpu.capture.formats.first_bytes import of_pgc as looks_like
from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.capture.formats.pgc.decoder import Rescue, parse, rescue
from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.capture.formats.pgc.traces import PgcLog, PgcTrace, trace_of
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.capture.pgc.verify import FrameCheck, check, with_pictures

if TYPE_CHECKING:
    from pocketgpu.capture.replay import Capture

__all__ = [
    "Contents",
    "FrameCheck",
    "PgcLog",
    "PgcTrace",
    "Rescue",
    "check",
    "contents_of",
    "encode",
    "looks_like",
    "parse",
    "rescue",
    "trace_of",
    "with_pictures",
    "write",
]


def write(
    path: str | os.PathLike[str],
    capture: Capture,
    *,
    pictures: bool = True,
    threads: int = 1,
    switches: Mapping[str, str] | None = None,
    packing: str = "smallest",
) -> Contents:
    """Write any capture as a `.pgc`; returns the written contents.

    pictures: replay it and store the digests of all pictures; otherwise, only existing ones are kept. threads, choices:
    as for `Capture.render`. packing: "stored", "zstd", "lzma", or "smallest" of them for each section.

    Raises UsageError if the file cannot be written.
    """
    contents = contents_of(capture.trace)
    if pictures:
        contents = with_pictures(contents, capture, threads=threads, switches=switches)
    save(path, contents, packing)
    return contents


def save(path: str | os.PathLike[str], contents: Contents, packing: str = "smallest") -> int:
    """Write contents to a file, completely or not at all; returns its bytes. Raises UsageError if that fails."""
    from pocketgpu.errors import UsageError

    name = os.fspath(path)
    data = encode(contents, packing)
    partial = f"{name}.{os.getpid()}.part"
    try:
        with open(partial, "wb") as stream:
            stream.write(data)
        os.replace(partial, name)
    except OSError as error:
        if os.path.exists(partial):
            os.unlink(partial)
        raise UsageError(f"the capture cannot be written: {error.strerror or error}", location=name) from None
    return len(data)


def __dir__() -> list[str]:
    return [*__all__, *(name for name in ("minimise", "redact") if name in globals())]
