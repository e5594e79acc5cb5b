"""Programs as captures: run for some frames, recorded, and kept in the cache folder for the next question.

    capture = opened("app.3dsx", frames=61)   # a capture of f0 to f60
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.opening import package

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

USUAL_FRAMES: Final = 60
"""Frames that are recorded for a question that names none; others are rounded up to a multiple of it, so that questions
about neighbours share a recording."""
_MOST: Final = 4
"""A program that presents less than once in so many frames is not waited for."""


def opened(
    path: str | os.PathLike[str], frames: int | None = None, *, switches: Mapping[str, str] | None = None
) -> Capture:
    """A capture of a program's first frames: as many as asked for or somewhat more, fewer if it ends before.

    The memory card has the program only; `run` takes a folder for it, input and more.

    :raises CaptureError: the file cannot be read, or is no program.
    :raises NoPictureError: the program ended before its first frame.
    :raises UsageError: the extra "guest" is missing.
    """
    from pocketgpu.capture import Capture
    from pocketgpu.capture.formats.pgc.decoder import parse
    from pocketgpu.capture.formats.pgc.encoder import encode
    from pocketgpu.capture.formats.pgc.traces import trace_of
    from pocketgpu.errors import NoPictureError
    from pocketgpu.guests import run
    from pocketgpu.lanes import object_cache

    count = -(-max(1, frames or USUAL_FRAMES) // USUAL_FRAMES) * USUAL_FRAMES
    name = os.fspath(path)
    key = _key(name, count, switches)
    data = object_cache.read(key) if key else None
    if data is None:
        with run(path, switches=switches, record=True) as app:
            app.frames(count)
            # A recording of a Switch has a frame for each present, and a program may present less often than it could.
            while app.end is None and len(app.contents().frames) < count and app.frame_count < _MOST * count:
                app.frames(USUAL_FRAMES)
            if not app.frame_count and app.end is not None:
                why = "" if app.end.well else f": {app.end.text}"
                raise NoPictureError(
                    f"the program ended before its first frame ({app.end.why}{why})", location=name,
                    hint="'pocketgpu run' shows how it ended, and takes arguments, input and files.",
                )  # fmt: skip
            data = encode(app.contents(), "zstd")
        if key:
            object_cache.write(key, data)
    return Capture(name, trace_of(parse(data, file=name), name))


def _key(path: str, frames: int, switches: Mapping[str, str] | None) -> str | None:
    """The recording's name in the cache; None if there cannot be one."""
    from pocketgpu.lanes import recipes

    source = recipes.source()
    program = b""
    try:
        for one in dict.fromkeys((path, os.fspath(package(Path(path))))):
            with open(one, "rb") as file:
                program += hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return None
    if source is None:
        return None
    rest = repr((os.path.basename(path), frames, sorted((switches or {}).items())))
    return hashlib.blake2b(source + program + rest.encode(), digest_size=20).hexdigest()
