"""The description of `.pgc` for Kaitai Struct: what it finds in files is what the package reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.kaitai import Reader, parse_yaml
from support.pgc_scenes import scene_3ds, scene_switch

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc import sections
from pocketgpu.capture.formats.pgc.contents import Contents, Event, Load, Map, Present, Store, Submit, Writes

ROOT = Path(__file__).resolve().parents[4]
DESCRIPTION = parse_yaml((ROOT / "docs" / "formats" / "pgc.ksy").read_text(encoding="utf-8"))


def records_of(data: bytes) -> list[Any]:
    """All records of a file, sections unpacked first."""
    found = []
    for section in Reader(DESCRIPTION, data).root.sections:
        if section.kind == F.RECORDS:
            found += section.stored.records
    return found


class Blocks:
    """Bytes of pieces, blocks counted from the newest as the format says."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []

    def join(self, data: Any) -> bytes:
        parts = []
        for piece in data.pieces:
            if not piece.back.value:
                self.blocks.append(piece.block)
            parts.append(self.blocks[-max(piece.back.value, 1)])
        return b"".join(parts)


def check(contents: Contents, data: bytes) -> None:
    """Compare a file's records, as the description reads them, with the contents that the package reads."""
    records, blocks = records_of(data), Blocks()
    names = {number: label for number, label in DESCRIPTION["enums"]["record_type"].items()}
    events: list[Event] = [event for frame in contents.frames for event in frame.events] + list(contents.tail)
    frames = iter(contents.frames)
    shown: dict[int, bytes] = {}
    read = iter(events)
    for record in records:
        body, name = record.body, names[record.type]
        if name in ("about", "coverage", "state", "translate", "syncpoint"):
            continue
        if name == "frame":
            pictures = {p.screen: p.digest if p.form == F.DIGEST else shown[p.screen] for p in body.pictures}
            assert pictures == (next(frames).pictures or {})
            shown = pictures
            continue
        event = next(read)
        assert type(event).__name__.lower() in (name.removesuffix("_part"), "narrow")
        if isinstance(event, Load):
            assert (body.address, blocks.join(body.data)) == (event.address, b"".join(event.pieces))
        elif isinstance(event, Map):
            offset = body.offset.value if name == "map_part" else 0
            assert (body.address.value, body.len.value, offset) == (event.gpu_va, event.size, event.offset)
        elif isinstance(event, Writes):
            assert [(w.address, w.value) for w in body.writes] == list(zip(event.addresses, event.values, strict=True))
        elif isinstance(event, Store):
            assert (body.handle.value if body.place else None, body.offset.value) == (event.handle, event.offset)
            assert (body.address.value, blocks.join(body.data)) == (event.gpu_va, b"".join(event.pieces))
        elif isinstance(event, Submit):
            assert (body.channel.value, body.entries) == (event.channel, event.entries.tolist())
        elif isinstance(event, Present):
            part = (body.left.value, body.top.value) if name == "present_part" else (0, 0)
            assert part == (event.left, event.top)
            body = body.surface if name == "present_part" else body
            assert (body.width.value, body.height.value, body.format) == (event.width, event.height, event.format)
            fence = (body.syncpoint.value, body.syncpoint_value.value) if body.has_fence else None
            assert (body.stride.value, body.transform, fence) == (event.stride, event.transform, event.fence)
    assert next(read, None) is None and next(frames, None) is None
    about = [r.body for r in records if names[r.type] == "about"]
    assert {entry.key.text: entry.value.text for entry in about} == contents.about
    states = [r.body for r in records if names[r.type] == "state"]
    assert [(s.item, s.channel.value, s.class_id.value, s.first.value, s.words) for s in states] == [
        (s.item, s.channel, s.class_id, s.first, s.words.tolist()) for s in contents.state
    ]
    assert [r.body.bits.value for r in records if names[r.type] == "coverage"] == [contents.coverage]


@pytest.mark.parametrize("scene", [scene_3ds, scene_switch])
def test_every_record(scene: Any) -> None:
    contents = scene()
    data = pgc.encode(contents, "stored")
    check(pgc.parse(data), data)
    kinds = {record.type for record in records_of(data)}
    mine = {F.ABOUT, F.COVERAGE, F.STATE, F.FRAME}
    both = {F.LOAD, F.WRITES, F.WRITE8, F.WRITE16, F.GX, F.SWAP, F.TRANSLATE}
    switch = {F.MAP, F.MAP_PART, F.UNMAP, F.STORE, F.SUBMIT, F.SYNCPOINT, F.PRESENT, F.PRESENT_PART}
    assert kinds - mine == (both if scene is scene_3ds else switch)


@pytest.mark.parametrize("name", ["sample.ctf.xz", "sample_switch.mxcap.zip"])
def test_the_samples(name: str) -> None:
    contents = pgc.contents_of(pocketgpu.open(ROOT / "src" / "pocketgpu" / "data" / name).trace)
    data = pgc.encode(contents, "stored")
    check(pgc.parse(data), data)


def test_packed_sections_and_the_end() -> None:
    data = pgc.encode(scene_3ds(), "lzma")
    root = Reader(DESCRIPTION, data).root
    packed, end = root.sections
    assert packed.codec == F.CODECS.index("lzma") and packed.kind == F.RECORDS
    assert sections.unpack(packed.codec, packed.packed, packed.len_plain) == sections.scan(data).sections[0].plain
    assert (end.end.num_frames, end.end.num_record_sections) == (3, 1)
    assert root.header.digest_size == 8


def test_the_interpreter_refuses_what_does_not_fit() -> None:
    data = pgc.encode(scene_3ds(), "stored")
    for wrong in (b"x" + data[1:], data[:-1], data[:16] + b"\x07" + data[17:], data[:26] + b"\x7e" + data[27:]):
        with pytest.raises(ValueError):
            Reader(DESCRIPTION, wrong)
