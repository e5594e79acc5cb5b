"""minimise and redact on captures that read well but hold nonsense: a result or an error of ours, never another one."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Load, Store, Submit, Writes, bytes_of
from pocketgpu.capture.pgc.minimise import Keep, minimise
from pocketgpu.capture.pgc.redact import redact

SOURCES = ("3ds/textured_cube.ctf.xz", "3ds/hwtest_texcopy.ctf.xz", "switch/mesa_texkinds_320x180.mxcap.zip",
           "switch/mesa_blend_320x180.mxcap.zip")  # fmt: skip


def damaged(contents: Contents, chance: random.Random) -> Contents:
    """Words of memory and registers changed, events left out."""

    def word() -> bytes:
        return chance.choice((chance.randbytes(4), bytes(4), b"\xff" * 4, chance.randbytes(1) + bytes(3)))

    def event(old: Event) -> Event:
        if isinstance(old, Load | Store):
            data = bytearray(bytes_of(old.pieces))
            for _ in range(chance.choice((1, 3, 20))):
                at = chance.randrange(max(len(data) - 3, 1)) & -4
                data[at : at + 4] = word()[: len(data) - at]
            return replace(old, pieces=(bytes(data),))
        if isinstance(old, Writes):
            values = old.values.copy()
            values[chance.randrange(len(values))] = int.from_bytes(word(), "little")
            return Writes(old.addresses, values)
        return old

    frames = []
    for frame in contents.frames:
        kept = [old for old in frame.events if not isinstance(old, Store | Submit | Load) or chance.random() < 0.98]
        frames.append(FrameContents(tuple(event(old) if chance.random() < 0.5 else old for old in kept)))
    return pgc.parse(pgc.encode(replace(contents, frames=frames), "stored"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("seed", range(2))
def test_no_traceback(source: str, seed: int, shared_dir: Path) -> None:
    whole = pgc.contents_of(pocketgpu.open(shared_dir / "captures" / source).trace)
    with suppress(pocketgpu.PocketGPUError):
        contents = damaged(whole, random.Random(seed))
        for tool in (
            lambda: redact(pocketgpu.Capture("", pgc.trace_of(contents))),
            lambda: minimise(contents, Keep(0, 0, seed % 2), replays=2),
        ):
            with suppress(pocketgpu.PocketGPUError):
                tool()
