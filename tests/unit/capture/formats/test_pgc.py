"""`.pgc` files: what is written is read, and what is cut or hit is told, with all whole frames before it kept."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.pgc_scenes import same_event, same_frames, scene_3ds, scene_switch

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc import sections
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Load, Map, Narrow, Present, Store
from pocketgpu.capture.formats.pgc.encoder import varint
from pocketgpu.cli import main
from pocketgpu.errors import CaptureError

SCENES = {"3DS": scene_3ds, "Switch": scene_switch}


def file_of(records: bytes, console: str = "3DS", frames: int = 0) -> bytes:
    """A file of records as they are."""
    return sections.build(sections.Header(console, 8), [records], frames, "stored")


@pytest.mark.parametrize("console", SCENES)
@pytest.mark.parametrize("packing", ["stored", "zstd", "lzma", "smallest"])
def test_what_is_written_is_read(console: str, packing: str) -> None:
    contents = SCENES[console]()
    contents.tail = (contents.frames[0].events[3],)
    data = pgc.encode(contents, packing)
    assert pgc.looks_like(data)
    read = pgc.parse(data)
    assert same_frames(read.frames, contents.frames)
    assert len(read.tail) == 1 and same_event(read.tail[0], contents.tail[0])
    for name in ("console", "digest_size", "check_size", "about", "coverage", "ranges", "syncpoints"):
        assert getattr(read, name) == getattr(contents, name), name
    for a, b in zip(read.state, contents.state, strict=True):
        assert (a.item, a.first, a.channel, a.class_id) == (b.item, b.first, b.channel, b.class_id)
        assert a.words.tolist() == b.words.tolist()
    assert pgc.encode(read, packing) == pgc.encode(contents, packing), "writing again gives the same bytes"


def test_equal_blocks_stand_in_the_file_once() -> None:
    block = bytes(range(256)) * 16
    contents = Contents("3DS")
    contents.frames = [FrameContents((Load(0x20000000 + 4096 * n, (block,)),)) for n in range(50)]
    assert len(pgc.encode(contents, "stored")) < len(block) + 50 * 32
    # Large memory of which a little changes is cut, so that the rest is known.
    large = bytearray(1 << 20)
    frames = []
    for n in range(8):
        large[n * 100_000] = 1
        frames.append(FrameContents((Load(0x20001000, (bytes(large),)),)))
    data = pgc.encode(Contents("3DS", frames=frames), "stored")
    assert len(data) < 12 * (64 << 10)
    assert same_frames(pgc.parse(data).frames, frames)


def test_a_long_capture_has_several_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocketgpu.capture.formats.pgc.encoder.SECTION_TARGET", 1000)
    contents = scene_3ds(12)
    data = pgc.encode(contents)
    found = sections.scan(data)
    assert len(found.sections) == 3 and found.damage is None and found.frames == 12
    assert same_frames(pgc.parse(data).frames, contents.frames)
    # A frame may go on in the next section.
    second = found.sections[1].offset
    rescued = pgc.rescue(data[: second + 20])
    assert same_frames(rescued.contents.frames, contents.frames[: len(rescued.contents.frames)])
    assert 0 < len(rescued.contents.frames) < 12


# Damage


def frame_ends(contents: Contents) -> list[int]:
    """Bytes of the stream of records up to the end of each frame."""
    ends = []
    for n in range(1, len(contents.frames) + 1):
        part = Contents(**{name: getattr(contents, name) for name in Contents.__dataclass_fields__})
        part.frames, part.tail = contents.frames[:n], ()
        ends.append(sum(len(s.plain) for s in sections.scan(pgc.encode(part, "stored")).sections))
    return ends


def whole_before(data: bytes, damage: int, ends: list[int]) -> int:
    """How many frames come out of what stands before byte `damage`, unpacked by other means than the package's."""
    section = 16 + sections.SECTION_HEAD
    codec, packed = data[17], data[section : max(damage, section)]
    end = section + int.from_bytes(data[18:22], "little")
    packed = packed[: end - section]
    if codec == 0:
        plain = len(packed)
    elif codec == 1:
        import zstandard

        plain = len(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    else:
        import lzma

        plain = len(lzma.LZMADecompressor(format=lzma.FORMAT_ALONE).decompress(packed))
    return sum(place <= plain for place in ends)


@pytest.mark.parametrize("console", SCENES)
@pytest.mark.parametrize("packing", ["stored", "zstd", "lzma"])
def test_cut_at_every_byte(console: str, packing: str) -> None:
    contents = SCENES[console]()
    data, ends = pgc.encode(contents, packing), frame_ends(contents)
    kept = set()
    for size in range(len(data)):
        with pytest.raises(CaptureError) as caught:
            pgc.parse(data[:size], file="small.pgc")
        assert caught.value.offset is not None and 0 <= caught.value.offset <= size
        assert "small.pgc" in str(caught.value)
        if size < F.HEADER_SIZE:
            continue
        rescued = pgc.rescue(data[:size])
        count = len(rescued.contents.frames)
        assert rescued.damage is not None and count == whole_before(data, size, ends)
        assert same_frames(rescued.contents.frames, contents.frames[:count])
        kept.add(count)
    assert kept == {0, 1, 2, 3}, "a block of packed data holds no more than a frame"


@pytest.mark.parametrize("console", SCENES)
@pytest.mark.parametrize("packing", ["stored", "zstd", "lzma"])
@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x40])
def test_every_byte_hit(console: str, packing: str, mask: int) -> None:
    contents = SCENES[console]()
    data, ends = pgc.encode(contents, packing), frame_ends(contents)
    for place in range(len(data)):
        hit = bytearray(data)
        hit[place] ^= mask
        with pytest.raises(CaptureError) as caught:
            pgc.parse(bytes(hit), file="small.pgc")
        assert caught.value.offset is not None and 0 <= caught.value.offset <= len(data)
        if place < F.HEADER_SIZE:
            continue
        rescued = pgc.rescue(bytes(hit))
        count = len(rescued.contents.frames)
        assert count >= whole_before(data, place, ends)
        assert same_frames(rescued.contents.frames, contents.frames[:count])


def test_a_repaired_file_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contents = scene_3ds()
    data = pgc.encode(contents, "stored")
    (tmp_path / "cut.pgc").write_bytes(data[: 16 + 10 + frame_ends(contents)[1] + 5])
    cut, whole = str(tmp_path / "cut.pgc"), str(tmp_path / "whole.pgc")
    assert main(["info", cut]) == 3
    assert "capture repair" in capsys.readouterr().err
    assert main(["capture", "repair", cut, whole]) == 0
    assert "2 frames kept" in capsys.readouterr().out
    assert same_frames(pgc.parse((tmp_path / "whole.pgc").read_bytes()).frames, contents.frames[:2])
    # Nothing to keep: told, and nothing written.
    (tmp_path / "cut.pgc").write_bytes(data[:100])
    assert main(["capture", "repair", cut, str(tmp_path / "none.pgc")]) == 3
    assert "no frame is whole" in capsys.readouterr().err and not (tmp_path / "none.pgc").exists()
    # A file without damage stays as it is.
    (tmp_path / "good.pgc").write_bytes(data)
    assert main(["capture", "repair", str(tmp_path / "good.pgc"), whole]) == 0
    assert "nothing is damaged" in capsys.readouterr().out
    assert same_frames(pgc.parse((tmp_path / "whole.pgc").read_bytes()).frames, contents.frames)


# Files that are whole and wrong


def load(address: int, *pieces: bytes) -> bytes:
    return b"\x10" + struct.pack("<I", address) + varint(len(pieces)) + b"".join(pieces)


WRONG: dict[str, tuple[str, bytes, str]] = {
    "unknown record": ("3DS", b"\x7f", "no record of type 0x7f"),
    "the other console's record": ("3DS", b"\x21\x00", "no record of type 0x21"),
    "cut record": ("3DS", b"\x14" + bytes(31), "needs 32 bytes"),
    "block that is not there": ("3DS", load(0x20000000, varint(1)), "block 1 from the end"),
    "load past the end of memory": (
        "3DS",
        load(0xFFFFFFFE, varint(0) + varint(4) + b"abcd"),
        "leave the address space",
    ),
    "huge count of writes": ("3DS", b"\x11" + varint((1 << 28) - 1), "bytes where"),
    "count out of range": ("3DS", b"\x11" + varint(1 << 40), "count of writes"),
    "odd register": ("3DS", b"\x11\x01" + struct.pack("<II", 0x10400011, 0), "multiple of 4"),
    "odd halfword": ("3DS", b"\x13" + struct.pack("<IH", 0x10400011, 0), "odd address"),
    "endless number": ("3DS", b"\x02" + b"\xff" * 11, "more than ten bytes"),
    "state past its memory": ("3DS", b"\x03\x00\x00\x00" + varint(1024) + b"\x01" + bytes(4), "count of words"),
    "unknown state": ("3DS", b"\x03\x40\x00\x00\x00\x00", "no state 64"),
    "state after events": ("3DS", b"\x14" + bytes(32) + b"\x02\x00", "before all events"),
    "screen 3": ("3DS", b"\x0f\x01\x03\x00", "a screen"),
    "picture as before": ("3DS", b"\x0f\x01\x00\x00", "where there was none"),
    "wrong check": ("3DS", b"\x0f\x00abcd", "check of a frame"),
    "empty range": ("3DS", b"\x16" + bytes(8) + b"\x00", "no range"),
    "mapping of no pages": ("Switch", b"\x20\x00" + varint(64) + varint(4096) + b"\x00\x00", "no pages"),
    "mapping twice": ("Switch", 2 * (b"\x20\x00" + varint(4096) * 2 + b"\x00\x00"), "there already"),
    "no such mapping": ("Switch", b"\x21\x05", "no mapping 5"),
    "mapping after a store": (
        "Switch",
        b"\x22\x00\x00\x00" + varint(4096) + b"\x00" + b"\x20\x00" + varint(4096) * 2 + b"\x00\x00",
        "after a store",
    ),
    "frame without a present": ("Switch", b"\x0f\x00" + struct.pack("<I", zlib.crc32(b"\x0f\x00")), "PRESENT"),
    "surface of no pixels": ("Switch", b"\x25\x00\x00\x00\x00\x00\x08", "0 by 8 pixels"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_records_are_told(name: str) -> None:
    console, records, message = WRONG[name]
    with pytest.raises(CaptureError, match="a section") as caught:
        pgc.parse(file_of(records, console), file="wrong.pgc")
    assert message in str(caught.value) and caught.value.offset == 16


@pytest.mark.parametrize("console", SCENES)
def test_no_records_whatever_end_in_a_traceback(console: str) -> None:
    """Records that were changed at random, in sections whose checksums are right again."""
    random = np.random.default_rng(9)
    plain = sections.scan(pgc.encode(SCENES[console](), "stored")).sections[0].plain
    read = 0
    for _ in range(1500):
        hit = bytearray(plain)
        for _ in range(random.integers(1, 4)):
            place = int(random.integers(len(hit)))
            if random.random() < 0.3:
                hit[place : place + int(random.integers(1, 9))] = random.bytes(int(random.integers(0, 9)))
            else:
                hit[place] = int(random.integers(256))
        data = file_of(bytes(hit), console, 3)
        try:
            pgc.trace_of(pgc.parse(data, file="a.pgc"), "a.pgc")
            read += 1
        except CaptureError as error:
            assert error.message and error.file == "a.pgc"
        rescued = pgc.rescue(data).contents
        assert same_frames(pgc.parse(pgc.encode(rescued, "stored")).frames, rescued.frames)
    assert read < 1000, "checks of frames find most of it"


def test_blocks_used_many_times_have_a_bound() -> None:
    block = varint(0) + varint(1 << 20) + bytes(1 << 20)
    many = load(0x20000000, block) + load(0x20000000, *[varint(1)] * 3000) * 6
    with pytest.raises(CaptureError, match="store more than"):
        pgc.parse(file_of(many))


GIB, PAGE, VA = 1 << 30, 1 << 12, 0x5_0000_0000


def shown(gpu_va: int, handle: int | None = None, offset: int = 0) -> Present:
    """A surface of 508 bytes: two rows of 448 bytes, of which the last one ends after 15 pixels."""
    return Present(gpu_va, handle, offset, 15, 2, 0, False, 0, 448, 0, None)


SMALL = (Map(0, VA, PAGE, 7, 0), Store(7, PAGE - 96, VA, (bytes(90), bytes(6))), shown(VA, 7, PAGE - 508))


@pytest.mark.parametrize(
    ("fits", "too_much", "message"),
    [
        ([Map(0, VA, GIB, 1, 0)], Map(1, VA, PAGE, 2, 0), "1,073,745,920 bytes of memory and 1,073,745,920 of"),
        (
            [Map(n, VA, GIB, 1, 0) for n in range(64)], Map(64, VA, PAGE, 1, 0),
            "1,073,741,824 bytes of memory and 68,719,480,832 of",
        ),
        (SMALL, Store(7, PAGE, VA, (b"1",)), "a store reaches byte 4097 of memory 7, which has 4096"),
        (SMALL, shown(VA, 7, PAGE - 507), "a present reaches byte 4097 of memory 7, which has 4096"),
        ([shown((1 << 40) - 508)], shown((1 << 40) - 507), "508 bytes at 0xfffffffe05 leaves the 40-bit address space"),
    ],
    ids=["memory", "addresses", "store", "present", "present by address"],
)  # fmt: skip
def test_what_a_log_may_ask_for_is_bounded(fits: Sequence[Event], too_much: Event, message: str) -> None:
    """Each bound alone refuses what is one page or byte too much, and takes what just fits."""
    frames = [FrameContents(tuple(fits)), FrameContents((too_much,))]
    assert pgc.trace_of(Contents("Switch", frames=frames[:1])).console == "Switch"
    with pytest.raises(CaptureError, match=message):
        pgc.trace_of(Contents("Switch", frames=frames))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda head: head[:8] + b"\x02" + head[9:], "version 2"),
        (lambda head: head[:9] + b"\x03" + head[10:], "console 3"),
        (lambda head: head[:10] + b"\x07" + head[11:], "digests of 7"),
        (lambda head: head[:11] + b"\x03", "3 bytes of a check"),
    ],
)
def test_headers_of_tomorrow(change: Callable[[bytes], bytes], message: str) -> None:
    data = pgc.encode(scene_3ds())
    head = change(data[:12])
    with pytest.raises(CaptureError, match=message):
        pgc.parse(head + struct.pack("<I", zlib.crc32(head)) + data[16:])


@pytest.mark.parametrize("codec", [1, 2])
def test_a_section_that_unpacks_to_more_than_it_says(codec: int) -> None:
    plain = bytes(8 << 20)
    number, packed = sections.pack(plain, ("zstd", "lzma")[codec - 1])
    assert number == codec and len(packed) < 1 << 16
    with pytest.raises(ValueError, match="does not hold"):
        sections.unpack(codec, packed, 4096)


def test_more_or_fewer_frames_than_the_end_says() -> None:
    data = pgc.encode(scene_3ds())
    end = bytearray(data[-22:])
    end[10] += 1
    end[-4:] = struct.pack("<I", zlib.crc32(end[:-4]))
    with pytest.raises(CaptureError, match="should have 4 frames and has 3"):
        pgc.parse(data[:-22] + bytes(end))
    assert len(pgc.rescue(data[:-22] + bytes(end)).contents.frames) == 3


def test_missing_coverage_and_loose_ends_are_told(tmp_path: Path) -> None:
    contents = scene_3ds(1)
    contents.coverage = 0b111
    contents.tail = (Narrow(0x10202000, 1, 8),)
    (tmp_path / "a.pgc").write_bytes(pgc.encode(contents))
    capture = pocketgpu.open(tmp_path / "a.pgc")
    assert (capture.console, capture.frame_count) == ("3DS", 1)
    found = {warning.id: warning.message for warning in capture.warnings}
    assert set(found) == {"capture.not-covered", "capture.memory-not-covered", "capture.unfinished-frame"}
    assert "lighting tables" in found["capture.not-covered"] and "external" not in found["capture.not-covered"]


def test_what_a_switch_program_does_to_end_is_nothing_to_warn_of(shared_dir: Path, tmp_path: Path) -> None:
    """A channel log does not warn of it, so what was made of it does not either."""
    log = pocketgpu.open(shared_dir / "captures" / "switch" / "ex03_cube_320x180.mxcap.zip")
    contents = pgc.write(tmp_path / "a.pgc", log, pictures=False)
    assert contents.tail and not log.warnings
    assert not pocketgpu.open(tmp_path / "a.pgc").warnings
