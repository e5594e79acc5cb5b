"""GX logs: what a good one becomes, and where a bad one is said to be bad."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import pocketgpu
from pocketgpu.capture.formats import documents, gxlog
from pocketgpu.capture.formats.gxlog import GxLog
from pocketgpu.capture.formats.n3ds_trace import GxRun, LoadRun, WriteRun
from pocketgpu.errors import CaptureError, NoPictureError

FILL = [0x01000102, 0x1F000000, 0x00332211, 0x1F000000 + 240 * 400 * 3, 0, 0, 0, 0x101]
SWAP: dict[str, Any] = {
    "type": "swap", "screen": 0, "info": [0, 0x1F000000, 0x1F000000, 720, 0x341, 0, 0],
    "registers": [[0x10400468, 0x18000000], [0x10400494, 0x18000000], [0x10400490, 720], [0x10400470, 0x80341],
                  [0x10400478, 0]],
}  # fmt: skip
LOAD = {"type": "memory", "phys": 0x20000100, "offset": 2, "size": 5}
FRAME = {"type": "frame"}
MEMORY = b"..hello.."


def log(*events: Any, **changes: Any) -> dict[str, Any]:
    ranges = [{"virt": 0x1F000000, "phys": 0x18000000, "size": 0x600000}]
    return {"version": 1, "virt_to_phys": ranges, "events": list(events), **changes}


def parse(document: Any, memory: bytes = MEMORY) -> GxLog:
    return gxlog.parse(json.dumps(document).encode(), memory, file="a.gx.json")


def gx(*words: int) -> dict[str, Any]:
    return {"type": "gx", "words": list(words)}


# -- good logs


def test_events_become_runs() -> None:
    trace = parse(log(SWAP, gx(*FILL), LOAD, FRAME, FRAME, LOAD, FRAME))
    assert trace.frame_count == 3 and trace.warnings == ()
    swap, command, load = trace.runs(0)
    assert isinstance(swap, WriteRun) and isinstance(command, GxRun) and isinstance(load, LoadRun)
    assert list(zip(swap.addresses.tolist(), swap.values.tolist(), strict=True)) == [
        tuple(pair) for pair in SWAP["registers"]
    ]
    assert swap.addresses.dtype == swap.values.dtype == np.uint32
    assert (command.element, command.words) == (1, tuple(FILL))
    assert (load.element, load.address, bytes(load.data), load.file_offset) == (2, 0x20000100, b"hello", 2)
    assert trace.runs(1) == []
    assert [run.element for run in trace.runs(2)] == [0]
    for frame in (-1, 3):
        with pytest.raises(IndexError):
            trace.runs(frame)


def test_a_log_becomes_pictures(tmp_path: Path) -> None:
    (tmp_path / "scene.gx.json").write_text(json.dumps(log(SWAP, gx(*FILL), FRAME)))
    capture = pocketgpu.open(tmp_path / "scene.gx.json")  # without loads no memory file is needed
    assert capture.frame_count == 1 and not capture.warnings
    (frame,) = capture.render()
    assert (frame.top.array == np.array([0x33, 0x22, 0x11], np.uint8)).all()
    assert frame.phases["fill"] > 0 and not frame.warnings
    with pytest.raises(NoPictureError, match="no frame 1"):
        capture.render(frames=range(2))


def test_framebuffers_without_registers_follow_from_their_entries() -> None:
    swap = {name: value for name, value in SWAP.items() if name != "registers"}
    trace = parse(log(swap, FRAME))
    (run,) = trace.runs(0)
    assert isinstance(run, WriteRun)
    assert list(zip(run.addresses.tolist(), run.values.tolist(), strict=True)) == [
        tuple(pair) for pair in SWAP["registers"]
    ]
    lost = parse(log({**swap, "info": [0, 0x1000, 0, 720, 0x341, 0, 0]}, FRAME))
    assert [event.id for event in lost.warnings] == ["capture.swap-unmapped"]
    (run,) = lost.runs(0)
    assert isinstance(run, WriteRun) and len(run.addresses) == 0


def test_registers_that_differ_from_their_entry_count_and_are_told_of() -> None:
    odd = {**SWAP, "registers": [[0x10400468, 0x18000010]]}
    trace = parse(log(odd, odd, FRAME, odd, FRAME))
    (warning,) = trace.warnings
    assert (warning.id, warning.count, warning.at) == ("capture.swap-differs", 3, "events[0]")
    run = trace.runs(0)[0]
    assert isinstance(run, WriteRun) and run.values.tolist() == [0x18000010]


def test_commands_that_the_program_got_away_with_run(tmp_path: Path) -> None:
    odd_size = [0x01000104, 0x1F000000, 0x1F001000, 1004, 0, 0, 8, 0]
    nowhere = [0x01000104, 0x00001000, 0x1F001000, 64, 0, 0, 8, 0]
    (tmp_path / "a.gx.json").write_text(json.dumps(log(gx(*FILL), gx(*odd_size), FRAME, LOAD, gx(*nowhere), FRAME)))
    (tmp_path / "a.mem.bin").write_bytes(MEMORY)
    first, second = pocketgpu.open(tmp_path / "a.gx.json").render()
    assert not first.warnings
    assert [(event.id, event.at) for event in second.warnings] == [("gsp.refused", "f1/e1")]
    assert second.machine.memory.read(0x18001000, 6) == bytes.fromhex("112233112233")
    assert second.machine.memory.read(0x20000100, 5) == b"hello"


def test_what_follows_the_last_frame_is_left_out() -> None:
    trace = parse(log(FRAME, LOAD, SWAP))
    (warning,) = trace.warnings
    assert (warning.id, warning.at) == ("capture.unfinished-frame", "f1") and "2 events" in warning.message
    assert parse(log()).frame_count == 0 and parse(log(LOAD)).frame_count == 0


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (LOAD, False), ({**LOAD, "phys": 0x28000000}, True), ({**LOAD, "phys": 0x27FFFFFE}, True),
        ({**LOAD, "phys": 0x28000000, "size": 0}, False), ({**LOAD, "phys": 0x30000000}, False),
        (gx(1, 0x3A000000, 16, 0, 0, 0, 0, 0), True), (gx(1, 0x37000000, 16, 0, 0, 0, 0, 0), False),
        (gx(9, 0x3A000000, 16, 0, 0, 0, 0, 0), False), (gx(2, 0, 0x3A000000, 0, 0, 0, 0, 0), False),
        ({**SWAP, "registers": [[0x10400468, 0x29000000]]}, True),
    ],
)  # fmt: skip
def test_big_memory_is_noticed(event: Any, expected: bool) -> None:
    ranges = [{"virt": 0x30000000, "phys": 0x20000000, "size": 0x10000000}]
    assert parse(log(event, FRAME, virt_to_phys=ranges)).needs_new_model is expected


# -- files

PACK = {"": lambda data: data, ".xz": lzma.compress, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("memory_packing", PACK)
def test_both_files_may_be_packed(tmp_path: Path, packing: str, memory_packing: str) -> None:
    data = json.dumps(log(LOAD, FRAME)).encode()
    path = tmp_path / f"my.scene.gx.json{packing}"
    path.write_bytes(PACK[packing](data))
    (tmp_path / f"my.scene.mem.bin{memory_packing}").write_bytes(PACK[memory_packing](MEMORY))
    capture = pocketgpu.open(path)
    assert isinstance(capture.trace, GxLog)
    (load,) = capture.trace.runs(0)
    assert isinstance(load, LoadRun) and bytes(load.data) == b"hello"


def test_names(tmp_path: Path) -> None:
    for name in ("a.gx.json", "a.json", "a", "a.gx.json.xz", "A.GX.JSON.XZ"):
        assert gxlog.memory_path(tmp_path / name).name == f"{name[0]}.mem.bin"
    (tmp_path / "a.mem.bin.gz").write_bytes(b"")
    assert gxlog.memory_path(tmp_path / "a.gx.json").name == "a.mem.bin.gz"
    (tmp_path / "a.mem.bin.xz").write_bytes(b"")
    assert gxlog.memory_path(tmp_path / "a.gx.json.xz").name == "a.mem.bin.xz"


def test_contents_decide_not_names(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf \r\n\t" + json.dumps(log(FRAME)).encode()
    (tmp_path / "odd.ctf").write_bytes(data)
    assert isinstance(pocketgpu.open(tmp_path / "odd.ctf").trace, GxLog)
    (tmp_path / "odd.gx.json").write_bytes(b"[1]")
    with pytest.raises(CaptureError, match=r"no capture of a kind known.*GX logs"):
        pocketgpu.open(tmp_path / "odd.gx.json")


def test_a_missing_memory_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.gx.json").write_text(json.dumps(log(LOAD, FRAME)))
    with pytest.raises(CaptureError, match=r"memory file of the log is missing.*a\.mem\.bin"):
        pocketgpu.open(tmp_path / "a.gx.json")
    (tmp_path / "a.mem.bin.xz").write_bytes(b"\xfd7zXZ\x00 broken")
    with pytest.raises(CaptureError, match=r"a\.mem\.bin\.xz"):
        pocketgpu.open(tmp_path / "a.gx.json")


# -- bad logs


def bad(document: Any, place: str, message: str) -> None:
    with pytest.raises(CaptureError) as caught:
        parse(document)
    assert caught.value.location == f"a.gx.json, {place}", str(caught.value)
    assert message in caught.value.message, caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"version": 2}, "version", "unknown version 2"), ({"version": "1"}, "version", "unknown version text"),
        ({"version": True}, "version", "unknown version"), ({"version": 10**40}, "version", "unknown version a number"),
        ({"events": {}}, "events", "expected a list, found an object"),
        ({"virt_to_phys": None}, "virt_to_phys", "found null"),
        ({"virt_to_phys": [5]}, "virt_to_phys[0]", "expected an object, found a number"),
        ({"virt_to_phys": [{"virt": 0, "phys": 0}]}, "virt_to_phys[0]", "'size' is missing"),
        ({"virt_to_phys": [{"virt": 0, "phys": 0, "size": 0}]}, "virt_to_phys[0]", "no range"),
        ({"virt_to_phys": [{"virt": 0, "phys": 4, "size": 1 << 32}]}, "virt_to_phys[0]", "no range"),
        ({"virt_to_phys": [{"virt": -1, "phys": 4, "size": 4}]}, "virt_to_phys[0].virt", "-1 is out of range"),
        ({"virt_to_phys": [{"virt": 0.5, "phys": 4, "size": 4}]}, "virt_to_phys[0].virt", "found a fraction"),
    ],
)  # fmt: skip
def test_bad_headers(changes: dict[str, Any], place: str, message: str) -> None:
    bad(log(FRAME, **changes), place, message)


@pytest.mark.parametrize("name", ["version", "virt_to_phys", "events"])
def test_missing_parts(name: str) -> None:
    document = log(FRAME)
    del document[name]
    bad(document, "the document", f"'{name}' is missing")


@pytest.mark.parametrize(
    ("event", "place", "message"),
    [
        (7, "", "expected an object, found a number"), ({}, "", "'type' is missing"),
        ({"type": "draw"}, ".type", "unknown type of event 'draw'"), ({"type": ["gx"]}, ".type", "a list"),
        ({"type": "x" * 999}, ".type", "unknown type"),
        ({"type": "memory", "phys": 0, "size": 1}, "", "'offset' is missing"),
        ({**LOAD, "size": 8}, "", "bytes 2 to 10"), ({**LOAD, "offset": 1 << 40}, "", "which has 9"),
        ({**LOAD, "offset": -1}, ".offset", "-1 is out of range"), ({**LOAD, "phys": 1 << 32}, ".phys", "out of range"),
        ({**LOAD, "phys": 0xFFFFFFFC}, "", "leave the 32-bit address space"),
        ({**LOAD, "size": True}, ".size", "true or"),
        ({**LOAD, "size": 10**50}, ".size", "a huge number is out of range"),
        (gx(*FILL[:7]), ".words", "7 words instead of 8"), (gx(*FILL, 1), ".words", "9 words"),
        (gx(), ".words", "0 words"),
        (gx(*FILL[:7], 1 << 32), ".words[7]", "4294967296 is out of range"), ({"type": "gx"}, "", "'words' is missing"),
        ({"type": "gx", "words": "12345678"}, ".words", "expected a list, found text"),
        ({"type": "gx", "words": [1, 2, None, 4, 5, 6, 7, 8]}, ".words[2]", "found null"),
        ({**SWAP, "screen": 2}, ".screen", "2 is out of range"), ({**SWAP, "info": [0] * 6}, ".info", "6 words"),
        ({**SWAP, "registers": [[0x10400468]]}, ".registers[0]", "1 word instead of 2"),
        ({**SWAP, "registers": [[0, 0], [0x10400469, 0]]}, ".registers[1]", "no multiple of 4"),
        ({**SWAP, "registers": {}}, ".registers", "expected a list"),
    ],
)  # fmt: skip
def test_bad_events(event: Any, place: str, message: str) -> None:
    bad(log(FRAME, LOAD, event, FRAME), f"events[2]{place}", message)


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        (b'{"version": 1,', 14, "not valid JSON"), (b'{"version": 1}}', 14, "not valid JSON"),
        (b'{"\xc3\xa4": 1, x', 10, "not valid JSON"), (b'{"a": "\xff"}', 7, "not UTF-8"),
        (b'{"a": 1' + b"\x00}", 7, "not valid JSON"), (b'\xef\xbb\xbf{"a": 1,', 11, "not valid JSON"),
    ],
)  # fmt: skip
def test_bad_json_is_named_by_its_byte(data: bytes, offset: int, message: str) -> None:
    with pytest.raises(CaptureError, match=message) as caught:
        gxlog.parse(data, b"", file="a.gx.json")
    assert caught.value.offset == offset
    assert caught.value.location == f"a.gx.json, byte {offset:#x}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": ' + b"[" * 200_000, "nests"), (b'{"a": ' + b"7" * 10_000 + b"}", "too many digits"),
        (b'{"a": NaN}', "NaN"), (b'{"a": -Infinity}', "-Infinity"),
    ],
)  # fmt: skip
def test_json_that_only_python_would_take(data: bytes, message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        gxlog.parse(data, b"")


def test_a_log_of_a_silly_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LIMIT", 100)
    with pytest.raises(CaptureError, match="more than 100 bytes"):
        parse(log(*[FRAME] * 20))


def test_loads_of_one_large_range_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gxlog, "_MOST_COPIED", 9)
    (first, second) = parse(log(LOAD, LOAD, FRAME)).runs(0)
    assert isinstance(first, LoadRun) and isinstance(second, LoadRun)
    assert isinstance(first.data, memoryview) and bytes(second.data) == b"hello"


def test_warnings_are_bounded() -> None:
    swaps = [{"type": "swap", "screen": 0, "info": [0, 0x1000 + 4 * n, 0, 720, 0x341, 0, 0]} for n in range(300)]
    assert len(parse(log(*swaps, FRAME)).warnings) == 100
