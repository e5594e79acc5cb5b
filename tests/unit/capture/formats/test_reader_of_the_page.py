"""What docs/formats/pgc.md says is enough to read files: a reader made of nothing else finds the same."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from support.pgc_reader import Reader
from support.pgc_scenes import scene_3ds, scene_switch

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    Gx,
    Load,
    Map,
    Narrow,
    Present,
    Store,
    Submit,
    Swap,
    Unmap,
    Writes,
)

PAGE = Path(__file__).resolve().parents[4] / "docs" / "formats" / "pgc.md"
DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"


def as_record(event: Event) -> tuple[int, Any]:
    """An event as the page names its fields."""
    match event:
        case Load():
            return 0x10, (event.address, b"".join(event.pieces))
        case Writes():
            return 0x11, list(zip(event.addresses.tolist(), event.values.tolist(), strict=True))
        case Narrow():
            return 0x12 if event.width == 8 else 0x13, (event.address, event.value)
        case Gx():
            return 0x14, event.words
        case Swap():
            return 0x15, (event.screen, event.info, list(event.registers))
        case Map():
            if event.offset:
                return 0x26, (event.id, event.gpu_va, event.size, event.handle, event.offset, event.kind)
            return 0x20, (event.id, event.gpu_va, event.size, event.handle, event.kind)
        case Unmap():
            return 0x21, event.id
        case Store():
            place = (0, 0) if event.handle is None else (1, event.handle)
            return 0x22, (*place, event.offset, event.gpu_va, b"".join(event.pieces))
        case Submit():
            return 0x23, (event.channel, tuple(event.entries.tolist()))
        case Present():
            place = (0, 0) if event.handle is None else (1, event.handle)
            part = (event.left, event.top) if event.left or event.top else ()
            return 0x27 if part else 0x25, (
                event.gpu_va, *place, event.offset, event.width, event.height, event.format,
                int(event.block_linear), event.block_height_log2, event.stride, event.transform, event.fence, *part,
            )  # fmt: skip


def check(contents: Contents, data: bytes) -> None:
    reader = Reader(data)
    assert reader.console == {"3DS": 1, "Switch": 2}[contents.console]
    before = [(0x01, pair) for pair in contents.about.items()] + [(0x02, contents.coverage)]
    for state in contents.state:
        before.append((0x03, (state.item, state.channel, state.class_id, state.first, tuple(state.words.tolist()))))
    before += [(0x16, (place.virt, place.phys, place.size)) for place in contents.ranges]
    before += [(0x24, pair) for pair in contents.syncpoints.items()]
    events: list[tuple[int, Any]] = []
    for frame in contents.frames:
        events += [*map(as_record, frame.events), (0x0F, dict(frame.pictures or {}))]
    events += map(as_record, contents.tail)
    assert reader.records == before + events


@pytest.mark.parametrize("scene", [scene_3ds, scene_switch])
@pytest.mark.parametrize("packing", ["stored", "zstd", "lzma", "smallest"])
def test_every_record_in_every_packing(scene: Any, packing: str) -> None:
    check(scene(), pgc.encode(scene(), packing))


@pytest.mark.parametrize("name", ["sample.ctf.xz", "sample_switch.mxcap.zip"])
def test_digests_are_those_of_the_pictures(name: str) -> None:
    capture = pocketgpu.open(DATA / name)
    contents = pgc.with_pictures(pgc.contents_of(capture.trace), capture)
    data = pgc.encode(contents)
    check(contents, data)
    numbers = {"top": 0, "bottom": 1, "top-right": 2, "screen": 0}
    frames = [fields for kind, fields in Reader(data).records if kind == 0x0F]
    for digests, frame in zip(frames, capture.render(), strict=True):
        shown = {
            numbers[screen.name]: hashlib.sha256(screen.image.convert("RGB").tobytes()).digest()
            for screen in frame.screens.values()
        }
        assert digests == {number: whole[: len(digests[number])] for number, whole in shown.items()}


def test_the_file_that_the_page_shows(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    data = bytes.fromhex("".join(line.partition("  ")[0] for line in block.splitlines()))
    assert len(data) == 79
    reader = Reader(data)
    assert reader.records == [(0x01, ("title", "red")), (0x11, [(0x10202204, 0x010000FF)]), (0x0F, {})]
    path = tmp_path / "red.pgc"
    path.write_bytes(data)
    (frame,) = pocketgpu.open(path).render()
    assert (frame.top.array == (255, 0, 0)).all() and frame.warnings == []
