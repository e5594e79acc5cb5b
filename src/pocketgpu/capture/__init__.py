"""Captures: files with the GPU commands of a program, and their replay.

    for frame in pocketgpu.capture.open("scene.ctf.xz").render():
        frame.top.image.save(f"{frame.index}.png")

One module reads one format; `container` unpacks compressed files first.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from pocketgpu.capture.formats import container, first_bytes
from pocketgpu.capture.replay import Capture, Frame
from pocketgpu.digests import blake2b
from pocketgpu.errors import CaptureError

if TYPE_CHECKING:
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.capture.formats.n3ds_trace import N3DSTrace

# `open` is not in `__all__`, because a star import would hide the built-in function.
__all__ = ["Capture", "Frame"]


def open(path: str | os.PathLike[str]) -> Capture:
    """Open the capture at `path`: a CiTrace recording (`.ctf`) or a GX log (`.gx.json`, with its `.mem.bin` in the same
    folder) of a 3DS program, a channel log (`.mxcap.zip`) of a Switch program, or a `.pgc` of either; each file plain
    or packed with xz, zstd or gzip.

    "-" is the standard input. The first bytes of a file decide its format, not its name.

    Raises CaptureError, with the offset (in the unpacked bytes) where there is one, for a file that cannot be read, is
    damaged, or is no capture.
    """
    name = os.fspath(path)
    packed = container.read_packed(path)
    data = container.unpack(packed, file=name)
    if not data:
        raise CaptureError("the file is empty", file=name, offset=0, hint="Record it again, or copy it again.")
    capture = Capture(name, _parsed(name, data))
    capture.packed_bytes = len(packed)
    capture.digest = _digest(packed, capture)
    return capture


def of_bytes(data: bytes, name: str = "") -> Capture:
    """A capture of the bytes of a file, unpacked. name: for messages.

    :raises CaptureError: as for `open`.
    """
    made = Capture(name, _parsed(name, data))
    made.packed_bytes = len(data)
    made.digest = _digest(data, made)
    return made


def _digest(packed: bytes, capture: Capture) -> bytes:
    """A digest of what was read: of the file, and of the memory file of a GX log."""
    digest = blake2b(packed, digest_size=20)
    if capture.trace.other_files:
        digest.update(capture.trace.other_bytes)
    return digest.digest()


def _parsed(name: str, data: bytes) -> N3DSTrace | ChannelLog:
    """What is in a file. Readers are imported here: most programs open files of one format."""
    if first_bytes.of_pgc(data):
        from pocketgpu.capture.formats.pgc.decoder import parse as parse_pgc
        from pocketgpu.capture.formats.pgc.traces import trace_of

        return trace_of(parse_pgc(data, file=name), name)
    if first_bytes.of_zip(data):
        from pocketgpu.capture.formats import mxcap

        return mxcap.parse(data, file=name)
    if first_bytes.of_json(data):
        from pocketgpu.capture.formats import gxlog

        return gxlog.read(name, data)
    if first_bytes.of_citrace(data):
        from pocketgpu.capture.formats import citrace

        return citrace.parse(data, file=name)
    if first_bytes.of_program(data):
        raise CaptureError(
            "the file is a program, not a capture", file=name, offset=0,
            hint="pocketgpu.run runs it; so does 'pocketgpu run'.",
        )  # fmt: skip
    raise CaptureError(
        "the file is no capture of a kind known here",
        file=name,
        offset=0,
        hint="CiTrace recordings (.ctf), GX logs (.gx.json), channel logs (.mxcap.zip) and .pgc files are.",
    )


def __getattr__(name: str) -> Any:
    """`pocketgpu.capture.pgc`, which imports this package and is loaded at first use."""
    if name == "pgc":
        return importlib.import_module("pocketgpu.capture.pgc")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "open", "pgc"]
