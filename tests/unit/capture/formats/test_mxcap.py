"""Channel logs: what a good one becomes, where a bad one is said to be bad, and how its replay keeps the memory."""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats import mxcap
from pocketgpu.capture.formats.mxcap import ChannelLog, Present
from pocketgpu.errors import CaptureError, NoPictureError
from pocketgpu.maxwell.display.present import to_picture

VA = 0x5_0000_0000


def document(**changes: Any) -> dict[str, Any]:
    """A small valid document: one mapping, one run of memory, one submission that is shown."""
    return {
        "format": "maxwell-capture",
        "version": 1,
        "gpu": "GM20B",
        "mappings": [
            {"gpu_va": VA, "size": 8192, "kind": "pitch", "handle": 3, "from_submission": 0, "until_submission": -1}
        ],
        "memory": [
            {"gpu_va": VA + 64, "size": 8, "file": "mem/0.bin", "kind": "pitch", "flags": {"handle": 3, "offset": 64}}
        ],
        "submissions": [
            {
                "channel": 5,
                "gpfifo": [{"gpu_va": VA + 64, "words": 2, "flags": ["not_main"], "raw": VA + 64 | 1 << 41 | 2 << 42}],
                "memory_updates": [0],
            }
        ],
        "presents": [
            {
                "after_submission": 0, "gpu_va": VA, "width": 16, "height": 8, "format": "RGBA8_UNORM",
                "layout": "block_linear", "block_height_log2": 0, "stride_bytes": 64, "size": 512, "handle": 3,
                "offset": 0, "transform": 0, "fence": {"syncpt_id": 8, "value": 65},
            }
        ],
        "events": [{"before_submission": 0, "op": "alloc_gpfifo", "channel": 5, "syncpt_id": 8, "syncpt_value": 64}],
        "meta": {"source": "here"},
        **changes,
    }  # fmt: skip


def archive(document: Any, files: dict[str, bytes] | None = None) -> bytes:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("capture.json", data)
        for name, content in ({"mem/0.bin": bytes(8)} if files is None else files).items():
            packed.writestr(name, content)
    return output.getvalue()


def parse(changed: Any, files: dict[str, bytes] | None = None) -> ChannelLog:
    return mxcap.parse(archive(changed, files), file="a.mxcap.zip")


def at(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The document with the value at a path such as "memory.0.flags.handle"; "-" takes the member away."""
    spot: Any = document
    *way, last = path.split(".")
    for part in way:
        spot = spot[int(part)] if isinstance(spot, list) else spot[part]
    if value == "-":
        del spot[last]
    elif isinstance(spot, list):
        spot[int(last)] = value
    else:
        spot[last] = value
    return document


# -- good logs


def test_a_log_is_read_whole() -> None:
    log = parse(document(), {"mem/0.bin": b"12345678"})
    assert log.frame_count == 1 and log.warnings == () and log.source == "here"
    assert log.syncpoints == {8: 64} and log.handles == {3: 8192}
    (mapping,) = log.mappings
    assert (mapping.gpu_va, mapping.size, mapping.handle, mapping.start, mapping.end) == (VA, 8192, 3, 0, 1)
    (chunk,) = log.chunks
    assert (chunk.gpu_va, chunk.handle, chunk.offset, chunk.data) == (VA + 64, 3, 64, b"12345678")
    (submission,) = log.submissions
    assert submission.channel == 5 and submission.updates == (0,)
    assert submission.entries.tolist() == [VA + 64 | 1 << 41 | 2 << 42] and submission.entries.dtype == np.uint64
    (present,) = log.presents
    assert (present.after, present.size, present.stride, present.fence) == (0, 512, 64, (8, 65))
    assert list(log.submissions_of(0)) == [0] and list(log.tail) == []


def test_what_may_be_left_out() -> None:
    short = document()
    for path in ("mappings.0.from_submission", "mappings.0.until_submission", "mappings.0.kind", "memory.0.flags"):
        at(short, path, "-")
    for path in ("submissions.0.channel", "submissions.0.gpfifo.0.raw", "events", "meta"):
        at(short, path, "-")
    for name in ("layout", "block_height_log2", "stride_bytes", "size", "handle", "offset", "transform", "fence"):
        at(short, f"presents.0.{name}", "-")
    short["presents"][0]["height"] = 64
    log = parse(short)
    assert log.submissions[0].entries.tolist() == [VA + 64 | 1 << 41 | 2 << 42]
    assert log.chunks[0].handle is None and log.presents[0].handle is None and log.presents[0].fence is None
    assert log.presents[0].size == 64 * 128  # blocks of 16 GOBs


def test_mappings_are_of_whole_pages() -> None:
    log = parse(at(document(), "mappings.0.size", 5000))
    assert log.mappings[0].size == 8192 and log.handles == {3: 8192}


def test_frames_take_the_submissions_since_the_last_present() -> None:
    long = document(submissions=[document()["submissions"][0]] * 6)
    long["presents"] = [{**long["presents"][0], "after_submission": after} for after in (-1, 1, 1, 3)]
    log = parse(long)
    assert [list(log.submissions_of(n)) for n in range(4)] == [[], [0, 1], [], [2, 3]]
    assert list(log.tail) == [4, 5]


def test_a_raw_entry_counts_against_its_description() -> None:
    odd = at(document(), "submissions.0.gpfifo.0.words", 9)
    log = parse(at(odd, "submissions.0.gpfifo.0.gpu_va", VA))
    assert log.submissions[0].entries.tolist() == [VA + 64 | 1 << 41 | 2 << 42]
    assert [warning.id for warning in log.warnings] == ["capture.entry-differs"] * 2
    assert log.warnings[0].at == "submissions[0].gpfifo[0]"


@pytest.mark.parametrize("packed", [bytes, lzma.compress])
def test_contents_decide_not_names(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "odd.ctf"
    path.write_bytes(packed(archive(document())))
    capture = pocketgpu.open(path)
    assert isinstance(capture.trace, ChannelLog) and capture.console == "Switch" and capture.frame_count == 1


# -- bad logs


@pytest.mark.parametrize(
    ("path", "value", "place", "message"),
    [
        ("format", "citrace", "format", "unknown format 'citrace'"), ("format", 7, "format", "unknown format no text"),
        ("version", 2, "version", "unknown version 2"), ("version", True, "version", "unknown version"),
        ("gpu", "GV100", "gpu", "unknown gpu 'GV100'"), ("presents", "-", "the document", "'presents' is missing"),
        ("mappings", {}, "mappings", "expected a list"), ("mappings.0", 4, "mappings[0]", "expected an object"),
        ("mappings.0.gpu_va", VA + 1, "mappings[0]", "are no pages"),
        ("mappings.0.size", 0, "mappings[0]", "are no pages"),
        ("mappings.0.size", 1 << 40, "mappings[0]", "leave the 40-bit"),
        ("mappings.0.gpu_va", 1 << 40, "mappings[0].gpu_va", "out of range"),
        ("mappings.0.handle", -1, "mappings[0].handle", "-1 is out of range"),
        ("mappings.0.kind", 3, "mappings[0].kind", "expected text"),
        ("mappings.0.kind", "striped", "mappings[0].kind", "no page kind 'striped'"),
        ("mappings.0.from_submission", 2, "mappings[0]", "from submission 2 to 1"),
        ("mappings.0.until_submission", 2, "mappings[0]", "to 2 of 1"),
        ("mappings.0.until_submission", -2, "mappings[0].until_submission", "-2 is out of range"),
        ("memory.0.file", "mem/9.bin", "memory[0].file", "lacks the file 'mem/9.bin'"),
        ("memory.0.file", "../../etc/passwd", "memory[0].file", "lacks the file '../../etc/passwd'"),
        ("memory.0.file", "capture.json", "memory[0].file", "no memory"),
        ("memory.0.file", 1, "memory[0].file", "text"),
        ("memory.0.size", 9, "memory[0]", "8 bytes instead of 9"),
        ("memory.0.flags", [], "memory[0].flags", "expected an object"),
        ("memory.0.flags.offset", 8190, "memory[0]", "bytes 8190 to 8198 of memory 3, which has 8192"),
        ("submissions.0", None, "submissions[0]", "found null"),
        ("submissions.0.channel", 256, "submissions[0].channel", "256 is out of range"),
        ("submissions.0.gpfifo", "-", "submissions[0]", "'gpfifo' is missing"),
        ("submissions.0.gpfifo.0.raw", 1 << 64, "submissions[0].gpfifo[0].raw", "a huge number"),
        ("submissions.0.memory_updates.0", 1, "submissions[0].memory_updates[0]", "1 is out of range"),
        ("submissions.0.memory_updates.0", True, "submissions[0].memory_updates[0]", "true or false"),
        ("presents.0.after_submission", 1, "presents[0].after_submission", "1 is out of range"),
        ("presents.0.after_submission", -2, "presents[0].after_submission", "-2 is out of range"),
        ("presents.0.width", 0, "presents[0]", "0 by 8 pixels"),
        ("presents.0.width", 1e3, "presents[0].width", "fraction"),
        ("presents.0.height", 1 << 20, "presents[0].height", "out of range"),
        ("presents.0.format", "NV12", "presents[0].format", "unknown format 'NV12'"),
        ("presents.0.layout", "tiled", "presents[0].layout", "unknown layout 'tiled'"),
        ("presents.0.block_height_log2", 6, "presents[0].block_height_log2", "6 is out of range"),
        ("presents.0.stride_bytes", 60, "presents[0].stride_bytes", "rows of 64 bytes"),
        ("presents.0.offset", 7681, "presents[0]", "512 bytes from 0x1e01 of memory 3"),
        ("presents.0.transform", 8, "presents[0].transform", "8 is out of range"),
        ("presents.0.fence", {"syncpt_id": 1}, "presents[0].fence", "'value' is missing"),
        ("events", {}, "events", "expected a list"),
        ("events.0.syncpt_id", "x", "events[0].syncpt_id", "found text"), ("meta", 4, "meta", "expected an object"),
    ],
)  # fmt: skip
def test_bad_documents(path: str, value: Any, place: str, message: str) -> None:
    with pytest.raises(CaptureError) as caught:
        parse(at(document(), path, value))
    assert caught.value.location == f"a.mxcap.zip, capture.json, {place}", str(caught.value)
    assert message in caught.value.message, caught.value.message
    assert caught.value.hint


def test_presents_are_in_order() -> None:
    shown = document(submissions=[document()["submissions"][0]] * 2)
    shown["presents"] = [{**shown["presents"][0], "after_submission": after} for after in (1, 0)]
    with pytest.raises(CaptureError, match="comes after submission 0, the one before it after 1"):
        parse(shown)


def test_an_entry_without_raw_is_checked() -> None:
    entry = at(document(), "submissions.0.gpfifo.0.raw", "-")
    for path, value in (("gpu_va", VA + 2), ("gpu_va", 1 << 40), ("words", 1 << 21), ("flags", 3)):
        with pytest.raises(CaptureError) as caught:
            parse(at(json.loads(json.dumps(entry)), f"submissions.0.gpfifo.0.{path}", value))
        assert f"submissions[0].gpfifo[0].{path}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[1]", "expected an object"),
    ],
)
def test_documents_that_are_no_json(text: bytes, message: str) -> None:
    with pytest.raises(CaptureError, match=message) as caught:
        parse(text)
    assert str(caught.value.location).startswith("a.mxcap.zip, capture.json")


# -- hostile archives


def test_archives_that_are_none() -> None:
    good = archive(document())
    for bad in (good[:-30], good[:40], b"PK\x03\x04", good[:60] + bytes(40) + good[100:]):
        with pytest.raises(CaptureError) as caught:
            mxcap.parse(bad, file="a.mxcap.zip")
        assert caught.value.file == "a.mxcap.zip" and caught.value.hint


def test_an_archive_without_a_document() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as packed:
        packed.writestr("other.json", "{}")
    with pytest.raises(CaptureError, match="lacks that file") as caught:
        mxcap.parse(output.getvalue(), file="a.zip")
    assert caught.value.location == "a.zip, file 'capture.json'"


def test_a_bomb_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxcap, "FILES_LIMIT", 1 << 20)
    with pytest.raises(CaptureError, match="more than 1,048,576 bytes"):
        parse(document(), {"mem/0.bin": bytes((1 << 20) + 1)})
    # Two files together count, too.
    both = document()
    both["memory"] = [{"gpu_va": VA, "size": 600_000, "file": name} for name in ("a", "b")]
    with pytest.raises(CaptureError, match="more than 448,576 bytes"):
        parse(both, {"a": bytes(600_000), "b": bytes(600_000)})


def test_an_archive_that_lies_about_sizes() -> None:
    """The directory says 8 bytes, the data unpacks to many."""
    packed = bytearray(archive(document(), {"mem/0.bin": bytes(100_000)}))
    changed = bytes(packed).replace(struct.pack("<I", 100_000), struct.pack("<I", 8))
    assert changed != bytes(packed)
    with pytest.raises(CaptureError, match=r"cannot be unpacked|instead of") as caught:
        mxcap.parse(changed, file="a.zip")
    assert "'mem/0.bin'" in str(caught.value)


def test_a_document_of_a_silly_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxcap, "DOCUMENT_LIMIT", 500)
    with pytest.raises(CaptureError, match="more than 500 bytes"):
        parse(document())


def test_encrypted_and_oddly_packed_files() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_BZIP2) as packed:
        packed.writestr("capture.json", "{}")
    with pytest.raises(CaptureError, match="unusual way"):
        mxcap.parse(output.getvalue())
    plain = bytearray(archive(document()))
    directory = plain.index(b"PK\x01\x02")
    plain[directory + 8] |= 1
    with pytest.raises(CaptureError, match="encrypted"):
        mxcap.parse(bytes(plain))


def test_names_that_appear_twice(recwarn: pytest.WarningsRecorder) -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as packed, pytest.warns(UserWarning):
        packed.writestr("capture.json", "{}")
        packed.writestr("capture.json", "[]")
    with pytest.raises(CaptureError, match="two files of that name"):
        mxcap.parse(output.getvalue())


def test_too_many_files_are_counted_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxcap, "ENTRIES_LIMIT", 2)
    parse(document())
    with pytest.raises(CaptureError, match="more than 2 files"):
        parse(document(), {"mem/0.bin": bytes(8), "a": b"", "b": b""})


def test_memory_and_addresses_of_mappings_are_bounded() -> None:
    """Each bound alone refuses a page too much and takes what just fits. Memory counts once for each handle."""
    whole = {"gpu_va": VA, "size": mxcap.MEMORY_LIMIT, "handle": 3}
    page = {"gpu_va": VA, "size": mxcap.PAGE, "handle": 4}
    most = mxcap.MAPPED_LIMIT // mxcap.MEMORY_LIMIT
    assert parse(document(mappings=[whole] * most)).handles == {3: mxcap.MEMORY_LIMIT}
    with pytest.raises(CaptureError, match="1,073,745,920 bytes of memory and 1,073,745,920 of addresses"):
        parse(document(mappings=[whole, page]))
    with pytest.raises(CaptureError, match="1,073,741,824 bytes of memory and 68,719,480,832 of addresses"):
        parse(document(mappings=[whole] * most + [{**page, "handle": 3}]))


def test_updates_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxcap, "UPDATES_LIMIT", 100)
    with pytest.raises(CaptureError, match="more than 100 bytes"):
        parse(at(document(), "submissions.0.memory_updates", [0] * 13))


# -- replay


def write_word(address: int, value: int) -> PushBuffer:
    """Work that changes one word, by the host alone."""
    return PushBuffer().semaphore_release(address, value)


def saved(builder: MaxwellCaptureBuilder, tmp_path: Path) -> pocketgpu.Capture:
    path = tmp_path / "made.mxcap.zip"
    builder.save(path)
    return pocketgpu.open(path)


def test_frames_show_memory_as_it_was_then(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder()
    surface = Surface(made.allocate(4096), 4, 2, pitch=256)
    pixels = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4)
    for row in range(2):
        made.load(surface.address + 256 * row, pixels[row])
    made.submit(write_word(surface.address, 0xFF030201)).present(surface)
    made.submit(write_word(surface.address + 4, 0x00060504)).present(surface)
    first, second = saved(made, tmp_path).render()
    assert set(first.screens) == {"screen"} and first.warnings == [] and first.counts["methods"] == 4
    expected = pixels[..., :3].copy()
    expected[0, 0] = 1, 2, 3
    assert (first.screens["screen"].array == expected).all()
    expected[0, 1] = 4, 5, 6
    assert (second.screens["screen"].array == expected).all()
    with pytest.raises(NoPictureError, match="Shown: screen"):
        _ = first.top


def test_mappings_of_one_handle_show_the_same_bytes_and_end(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder()
    surface = Surface(made.allocate(4096), 4, 1, pitch=256)
    other = made.alias(surface.address)
    made.submit(write_word(other, 0x00030201)).present(surface)
    made.unmap(other)
    made.submit(write_word(other + 4, 0x00FFFFFF)).present(surface)
    first, second = saved(made, tmp_path).render()
    assert first.screens["screen"].array[0].tolist() == [[1, 2, 3]] + [[0, 0, 0]] * 3
    assert (second.screens["screen"].array == first.screens["screen"].array).all()
    assert [event.kind for event in second.warnings] == ["fault"]  # the second write went where nothing was mapped


def test_memory_keeps_its_bytes_while_it_is_not_mapped(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder()
    address = made.put(b"\x0a\x0b\x0c\x0d")
    made.submit(PushBuffer().raw([0]))
    made.unmap(address).submit(PushBuffer().raw([0]))
    log = made.log()
    # The same handle comes back at another place.
    again = made.document()
    again["mappings"].append({**again["mappings"][0], "gpu_va": VA << 1, "from_submission": 2, "until_submission": -1})
    again["submissions"].append(again["submissions"][0] | {"memory_updates": []})
    log = mxcap.parse(archive(again, dict(made.files())))
    driver = drive(log)
    machine, steps = driver.machine, driver.steps()
    next(steps)
    assert machine.memory.read(address, 4) == b"\x0a\x0b\x0c\x0d"
    next(steps)
    assert machine.memory.mapping_at(address) is None
    next(steps)
    assert machine.memory.read(VA << 1, 4) == b"\x0a\x0b\x0c\x0d"


def test_a_fence_that_is_not_reached_is_told(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder()
    surface = Surface(made.allocate(4096), 4, 1, pitch=256)
    for fence in (1, 3):
        made.submit(PushBuffer().syncpoint_increment(made.syncpoint())).present(surface, fence=fence)
    first, second = saved(made, tmp_path).render()
    assert first.warnings == []
    assert [(event.id, event.at) for event in second.warnings] == [("present.fence", "f1")]


def test_a_surface_that_is_not_mapped_shows_nothing(tmp_path: Path) -> None:
    nowhere = at(at(document(), "presents.0.gpu_va", VA + (1 << 20)), "presents.0.handle", "-")
    (tmp_path / "a.zip").write_bytes(archive(nowhere))
    (frame,) = pocketgpu.open(tmp_path / "a.zip").render()
    assert frame.screens == {} and "present.unmapped" in [event.id for event in frame.warnings]


def test_a_load_to_nowhere_is_told(tmp_path: Path) -> None:
    nowhere = at(at(document(), "memory.0.gpu_va", VA + (1 << 20)), "memory.0.flags", {})
    (tmp_path / "a.zip").write_bytes(archive(nowhere))
    (frame,) = pocketgpu.open(tmp_path / "a.zip").render()
    assert ("capture.unmapped-load", "s0") in [(event.id, event.at) for event in frame.warnings]


def test_mappings_that_the_machine_refuses_name_their_place(tmp_path: Path) -> None:
    # Each in an address range of its own: the page tables are used up.
    far = document()
    far["mappings"] += [{"gpu_va": n << 26, "size": 4096, "handle": 3} for n in range(1, 12_000)]
    (tmp_path / "a.zip").write_bytes(archive(far))
    with pytest.raises(CaptureError, match=r"a\.zip, mappings\[\d+\]"):
        list(pocketgpu.open(tmp_path / "a.zip").render())


def test_one_machine_replays_again_from_power_on(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder()
    surface = Surface(made.allocate(size_of(16, 8, block_height_log2=0)), 16, 8, block_height_log2=0)
    made.submit(write_word(surface.address, 0x00030201)).present(surface)
    made.submit(write_word(surface.address, 0x00060504)).present(surface)
    capture = saved(made, tmp_path)
    machine = capture.machine()
    runs = [[frame.screens["screen"].array for frame in capture.render(machine=machine)] for _ in range(2)]
    assert all((one == two).all() for one, two in zip(*runs, strict=True))
    assert runs[0][0][0, 0].tolist() == [1, 2, 3] and runs[0][1][0, 0].tolist() == [4, 5, 6]


# -- pictures


def shown(format: str, rows: list[list[int]], width: int, height: int, transform: int = 0) -> Any:
    """The picture of a pitch surface made of these bytes."""
    stride = len(rows[0])
    present = Present(0, 0, None, 0, width, height, format, False, 0, stride, stride * height, transform, None)
    return to_picture(bytes(byte for row in rows for byte in row), present).tolist()


def test_formats_of_surfaces() -> None:
    assert shown("RGBA8_UNORM", [[1, 2, 3, 4]], 1, 1) == [[[1, 2, 3]]]
    assert shown("RGBA8_SRGB", [[1, 2, 3, 4]], 1, 1) == [[[1, 2, 3]]]  # bytes as they are
    assert shown("BGRX8_UNORM", [[1, 2, 3, 4]], 1, 1) == [[[3, 2, 1]]]
    # Red is on top: 31, 32, 1.
    assert shown("RGB565_UNORM", [[0b000_00001, 0b11111_100]], 1, 1) == [[[255, 130, 8]]]


def test_transforms_of_presents() -> None:
    rows = [[1, 0, 0, 0, 2, 0, 0, 0], [3, 0, 0, 0, 4, 0, 0, 0]]

    def reds(transform: int) -> list[list[int]]:
        return [[pixel[0] for pixel in row] for row in shown("RGBA8_UNORM", rows, 2, 2, transform)]

    assert reds(0) == [[1, 2], [3, 4]]
    assert reds(1) == [[2, 1], [4, 3]]
    assert reds(2) == [[3, 4], [1, 2]]
    assert reds(4) == [[3, 1], [4, 2]]  # a quarter to the right


def test_block_linear_surfaces_are_taken_apart() -> None:
    """Byte (x, y) of a GOB is at x5 y2 y1 x4 y0 x3..x0."""
    data = bytearray(512)
    for pixel, (x, y) in enumerate(((4, 0), (0, 1), (8, 0), (0, 7)), 1):
        place = (4 * x >> 5 & 1) << 8 | (y >> 1) << 6 | (4 * x >> 4 & 1) << 5 | (y & 1) << 4 | 4 * x & 15
        data[place] = pixel
    present = Present(0, 0, None, 0, 16, 8, "RGBA8_UNORM", True, 0, 64, 512, 0, None)
    picture = to_picture(bytes(data), present)
    assert [int(picture[y, x, 0]) for x, y in ((4, 0), (0, 1), (8, 0), (0, 7))] == [1, 2, 3, 4]
    assert picture.shape == (8, 16, 3)
