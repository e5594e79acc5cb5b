"""Calls of the recorder one by one: what they write, what they refuse, and what a failure leaves."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc import decoder, sections
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import Gx, Map, Narrow, Present, Submit, Swap, Unmap, Writes
from pocketgpu.errors import CaptureError
from pocketgpu.facts.gsp import AddressRange

from .conftest import BAD_CALL, HERE, IO, N3DS, NO_MEMORY, OK, RECORDER, SWITCH, Recorder, Surface, build

Open = Callable[..., Recorder]


def parse(recorder: Recorder) -> pgc.Contents:
    return pgc.parse(bytes(recorder.data))


def shown(**fields: Any) -> Surface:
    given = {"gpu_address": 0x5000, "width": 64, "height": 32, "format": 2, "stride": 256}
    return Surface(**{**given, **fields})


# -- what is written --------------------------------------------------------------------------------------------------
def test_an_empty_recording_is_a_file(recorder: Open) -> None:
    recording = recorder(N3DS)
    assert recording.close() == OK
    assert parse(recording).frames == []


def test_register_writes(recorder: Open) -> None:
    recording = recorder(N3DS)
    for number in range(5):
        assert recording.write(0x10400010 + 4 * number, 0x80000000 + number) == OK
    assert recording.write_narrow(0x10400471, 0xAB, 8) == OK
    assert recording.write_narrow(0x10400472, 0xABCD, 16) == OK
    assert recording.write(0x104018F0, 1) == OK
    assert recording.end_frame() == OK
    assert recording.end_frame() == OK
    recording.close()
    first, second = parse(recording).frames
    run, byte, half, last = first.events
    assert isinstance(run, Writes) and run.addresses.tolist() == [0x10400010 + 4 * number for number in range(5)]
    assert run.values.tolist() == [0x80000000 + number for number in range(5)]
    assert (byte, half) == (Narrow(0x10400471, 0xAB, 8), Narrow(0x10400472, 0xABCD, 16))
    assert isinstance(last, Writes) and last.addresses.tolist() == [0x104018F0]
    assert second.events == ()


def test_gx_commands_and_framebuffers(recorder: Open) -> None:
    recording = recorder(N3DS)
    assert recording.translate(0x30000000, 0x20000000, 0x8000000) == OK
    words, entry = [1, 0x30000000, 16, 0, 0, 0, 0, 1], [1, 0x1F000000, 0x1F010000, 720, 0x341, 1, 0]
    assert recording.gx(words) == OK
    assert recording.swap(1, entry) == OK
    assert recording.end_frame() == OK
    recording.close()
    found = parse(recording)
    assert [(r.virt, r.phys, r.size) for r in found.ranges] == [(0x30000000, 0x20000000, 0x8000000)]
    assert isinstance(found.ranges[0], AddressRange)
    command, swap = found.frames[0].events
    assert command == Gx(tuple(words))
    assert isinstance(swap, Swap) and (swap.screen, swap.info) == (1, tuple(entry))


def test_the_state_at_the_start_and_what_it_covers(recorder: Open) -> None:
    recording = recorder(N3DS)
    sizes = {0: 1024, 1: 1024, 2: 768, 3: 64, 4: 512, 5: 128, 7: 4096, 8: 128, 15: 384, 10: 6144, 13: 16}
    for item, count in sizes.items():
        words = [0xA0000000 + 0x10000 * item + word for word in range(count)]
        assert recording.state(item, 0, words, count) == OK
    assert recording.state(2, 700, [5, 6], 2) == OK
    assert recording.covers(0x0400) == OK
    assert recording.end_frame() == OK
    recording.close()
    found = parse(recording)
    assert [(state.item, state.first, len(state.words)) for state in found.state] == [
        *((item, 0, count) for item, count in sizes.items()),
        (2, 700, 2),
    ]
    for state in found.state[:-1]:
        assert state.words.tolist() == [0xA0000000 + 0x10000 * state.item + word for word in range(len(state.words))]
    # Registers, fixed attributes, the geometry unit, lighting tables, gas, VRAM; of the vertex unit a part is missing.
    assert found.coverage == 0b0110_0110_1111 & ~(1 << 4) | 1 << 9


def test_a_switch_recording(recorder: Open) -> None:
    recording = recorder(SWITCH)
    assert recording.syncpoint(9, 41) == OK
    assert recording.channel_state(65, 3, 0xB197, 0x200, [1, 2, 3], 3) == OK
    assert recording.covers(0x20FFF) == OK
    for number in range(100):  # more than there is room for at first
        assert recording.map(0x100000 * (number + 1), 0x2000, number, 0xFE) == OK
    assert recording.unmap(0x300000) == OK
    assert recording.map(0x300000, 0x1000, 500, 0) == OK
    assert recording.unmap(0x300000) == OK
    entries = (recorder_entries := [1 << 42 | 0x100000, (1 << 64) - 1])
    assert recording.submit(3, words64(entries), 2) == OK
    assert recording.present(shown(has_fence=1, fence_syncpoint=9, fence_value=42, transform=5)) == OK
    assert recording.present(shown(has_handle=1, handle=70, offset=256, block_linear=1, block_height_log2=3)) == OK
    assert recording.close() == OK
    found = parse(recording)
    assert found.syncpoints == {9: 41} and found.coverage == 0x2001F
    (state,) = found.state
    assert (state.item, state.channel, state.class_id, state.first) == (65, 3, 0xB197, 0x200)
    first, second = found.frames
    assert first.events[:100] == tuple(Map(n, 0x100000 * (n + 1), 0x2000, n, 0xFE) for n in range(100))
    assert first.events[100:103] == (Unmap(2), Map(100, 0x300000, 0x1000, 500, 0), Unmap(100))
    submit, present = first.events[103:]
    assert isinstance(submit, Submit) and submit.channel == 3 and submit.entries.tolist() == recorder_entries
    assert present == Present(0x5000, None, 0, 64, 32, 2, False, 0, 256, 5, (9, 42))
    assert second.events == (Present(0x5000, 70, 256, 64, 32, 2, True, 3, 256, 0, None),)


def words64(values: list[int]) -> Any:
    import ctypes

    return (ctypes.c_uint64 * len(values))(*values)


def test_notes_are_text_whatever_they_were(recorder: Open) -> None:
    recording = recorder(N3DS, name="Wörld 世界 🎮".encode())
    for key, value in ((b"bad", b"a\xff\xc0\x80b\xe4\xb8"), (b"high", b"\xed\xa0\x80\xf4\x90\x80\x80"), (b"", b"")):
        assert recording.about(key, value) == OK
    assert recording.about(b"long", b"x" * 70000) == BAD_CALL
    recording.close()
    again = recorder(N3DS, name="Wörld 世界 🎮".encode())
    for key, value in ((b"bad", b"a\xff\xc0\x80b\xe4\xb8"), (b"high", b"\xed\xa0\x80\xf4\x90\x80\x80"), (b"", b"")):
        assert again.about(key, value) == OK
    again.end_frame()
    again.close()
    about = {"recorder": "Wörld 世界 🎮", "bad": "a???b??", "high": "???????", "": ""}
    assert parse(again).about == about


def test_large_frames_take_several_sections(recorder: Open) -> None:
    recording = recorder(N3DS)
    for number in range(530_000):
        recording.write(0x10400010, number)
    recording.end_frame()
    recording.close()
    found = parse(recording)
    values = [value for event in found.frames[0].events for value in event.values.tolist()]
    assert values == list(range(530_000))


# -- what is refused --------------------------------------------------------------------------------------------------
ENTRY = [0] * 7
REFUSED: list[tuple[int, str, tuple[Any, ...]]] = [
    (N3DS, "write", (0x10400011, 0)),
    (N3DS, "write_narrow", (0x10400011, 0, 16)),
    (N3DS, "write_narrow", (0x10400010, 0, 32)),
    (N3DS, "write_narrow", (0x10400010, 256, 8)),
    (N3DS, "swap", (2, ENTRY)),
    (N3DS, "memory", (0x20000000, None, 16)),
    (N3DS, "state", (16, 0, [0], 1)),
    (N3DS, "state", (40, 0, [0], 0)),
    (N3DS, "state", (65, 0, [0], 1)),
    (N3DS, "state", (2, 768, [0], 1)),
    (N3DS, "state", (2, 0xFFFFFFFF, [0, 0], 2)),
    (N3DS, "state", (2, 0, None, 1)),
    (N3DS, "translate", (0, 0, 0)),
    (N3DS, "translate", (0xFFFFF000, 0, 0x1001)),
    (N3DS, "about", (None, b"x")),
    (N3DS, "map", (0x1000, 0x1000, 1, 0)),
    (N3DS, "present", (shown(),)),
    (N3DS, "submit", (0, None, 0)),
    (N3DS, "syncpoint", (0, 0)),
    (N3DS, "channel_state", (65, 0, 0xB197, 0, [0], 1)),
    (N3DS, "handle_memory", (1, 0, b"x", 1)),
    (N3DS, "handle_gpu_wrote", (1, 0, b"x", 1)),
    (SWITCH, "write", (0x10400010, 0)),
    (SWITCH, "write_narrow", (0x10400010, 0, 8)),
    (SWITCH, "gx", ([0] * 8,)),
    (SWITCH, "swap", (0, ENTRY)),
    (SWITCH, "memory", (0, b"x", 1)),
    (SWITCH, "gpu_wrote", (0, b"x", 1)),
    (SWITCH, "end_frame", ()),
    (SWITCH, "state", (2, 0, [0], 1)),
    (SWITCH, "translate", (0, 0, 1)),
    (SWITCH, "channel_state", (2, 0, 0, 0, [0], 1)),
    (SWITCH, "channel_state", (65, 256, 0xB197, 0, [0], 1)),
    (SWITCH, "channel_state", (65, 0, 0x10000, 0, [0], 1)),
    (SWITCH, "map", (0x1001, 0x1000, 1, 0)),
    (SWITCH, "map", (0x1000, 0, 1, 0)),
    (SWITCH, "map", (0x1000, 0x800, 1, 0)),
    (SWITCH, "map", (1 << 40, 0x1000, 1, 0)),
    (SWITCH, "map", ((1 << 40) - 0x1000, 0x2000, 1, 0)),
    (SWITCH, "map", (0x1000, 0x1000, 1, 256)),
    (SWITCH, "unmap", (0x1000,)),
    (SWITCH, "submit", (256, None, 0)),
    (SWITCH, "submit", (0, None, 1)),
    (SWITCH, "handle_memory", (1, 1 << 40, b"x", 1)),
    (SWITCH, "handle_memory", (1, (1 << 64) - 1, b"x", 1)),
    (SWITCH, "present", (None,)),
    *((SWITCH, "present", (shown(**{name: value}),)) for name, value in (
        ("width", 0), ("width", 16385), ("height", 0), ("format", 9), ("format", -1), ("block_height_log2", 6),
        ("stride", 1 << 20), ("transform", 8), ("gpu_address", 1 << 40), ("offset", 1 << 40),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("console", "call", "arguments"), REFUSED)
def test_calls_that_make_no_sense_end_the_recording(
    recorder: Open, console: int, call: str, arguments: tuple[Any, ...]
) -> None:
    recording = recorder(console)
    assert getattr(recording, call)(*arguments) == BAD_CALL
    # From here on nothing is done and everything says why.
    assert recording.get_status() == BAD_CALL
    assert recording.about(b"key", b"value") == BAD_CALL
    assert recording.write(0x10400010, 0) == BAD_CALL and recording.submit(0, None, 0) == BAD_CALL
    assert recording.close() == BAD_CALL
    assert parse(recording).frames == []


@pytest.mark.parametrize(
    ("console", "call", "arguments"),
    [
        (N3DS, "about", (b"a", b"b")),
        (N3DS, "covers", (1,)),
        (N3DS, "state", (0, 0, [0], 1)),
        (N3DS, "translate", (0, 0, 1)),
        (SWITCH, "syncpoint", (0, 0)),
        (SWITCH, "channel_state", (65, 0, 0xB197, 0, [0], 1)),
    ],
)
def test_what_belongs_to_the_start_comes_first(
    recorder: Open, console: int, call: str, arguments: tuple[Any, ...]
) -> None:
    recording = recorder(console)
    if console == N3DS:
        assert recording.write(0x10400010, 0) == OK
    else:
        assert recording.map(0x1000, 0x1000, 1, 0) == OK
    assert getattr(recording, call)(*arguments) == BAD_CALL
    recording.close()


def test_no_recorder_is_no_crash(library: Any) -> None:
    calls = [
        ("close", ()), ("get_status", ()), ("about", (b"", b"")), ("covers", (0,)), ("state", (0, 0, None, 0)),
        ("channel_state", (65, 0, 0, 0, None, 0)), ("translate", (0, 0, 0)), ("syncpoint", (0, 0)),
        ("memory", (0, b"", 0)), ("gpu_wrote", (0, b"", 0)), ("write", (0, 0)), ("write_narrow", (0, 0, 8)),
        ("gx", (None,)), ("swap", (0, None)), ("end_frame", ()), ("map", (0, 0, 0, 0)), ("unmap", (0,)),
        ("handle_memory", (0, 0, b"", 0)), ("handle_gpu_wrote", (0, 0, b"", 0)), ("submit", (0, None, 0)),
        ("present", (None,)),
    ]  # fmt: skip
    header = (RECORDER / "pocketgpu_recorder.h").read_text()
    assert all(f"pgr_{name}(" in header for name, _ in calls)
    for name, arguments in calls:
        assert getattr(library, f"pgr_{name}")(None, *arguments) == NO_MEMORY


def test_a_console_that_does_not_exist(recorder: Open) -> None:
    recording = recorder(3)
    assert recording.close() == BAD_CALL and not recording.data


def test_every_status_has_a_sentence(library: Any) -> None:
    texts = [library.pgr_status_text(status) for status in range(5)]
    assert len(set(texts)) == 5 and library.pgr_status_text(99) == b"unknown"


# -- failures ---------------------------------------------------------------------------------------------------------
def scene(recording: Recorder) -> list[int]:
    """Records three frames; the bytes of the file after each."""
    ends = []
    for number in range(3):
        recording.memory(0x20000000, bytes([number + 1]) * 5000, 5000)
        recording.write(0x104018F0, 1)
        recording.end_frame()
        ends.append(len(recording.data))
    return ends


def test_a_crash_leaves_all_frames_before_it(recorder: Open) -> None:
    recording = recorder(N3DS)
    ends = scene(recording)
    recording.memory(0x20000000, b"unfinished", 10)
    crashed = bytes(recording.data)
    with pytest.raises(CaptureError):
        pgc.parse(crashed)
    assert len(pgc.rescue(crashed).contents.frames) == 3
    assert len(pgc.rescue(crashed[: ends[1]]).contents.frames) == 2
    # What follows the last frame is left out when all goes well.
    assert recording.close() == OK
    found = parse(recording)
    assert len(found.frames) == 3 and not found.tail


def test_a_full_disk_is_told_and_leaves_frames_that_were_whole(recorder: Open) -> None:
    complete = recorder(N3DS)
    ends = scene(complete)
    assert complete.close() == OK
    near = {end + shift for end in (*ends, len(complete.data) - 9) for shift in range(-9, 9)}
    for limit in sorted(near | set(range(16, len(complete.data), 97))):
        recording = recorder(N3DS, limit=limit)
        scene(recording)
        assert recording.close() == IO
        # The last four bytes of a section are its own check; the frame before them has been whole already.
        assert len(pgc.rescue(bytes(recording.data)).contents.frames) == sum(limit >= end - 4 for end in ends)


@pytest.fixture(scope="module")
def failures(sanitizers: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("failures") / "failures", HERE / "failures.c", *sanitizers)


def test_memory_can_run_out_at_any_moment(failures: Path) -> None:
    done = subprocess.run([failures, "memory"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 20  # moments


def test_a_recording_ends_where_the_format_does(failures: Path, tmp_path: Path) -> None:
    """With the last frame that fits, and an end section that counts it."""
    path = tmp_path / "long.pgc"
    for kind in ("events", "stored"):
        done = subprocess.run([failures, kind, path], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        found = sections.scan(path.read_bytes(), "")
        assert found.damage is None
        assert found.frames == int(done.stdout) == (4 if kind == "events" else 2)


@pytest.mark.parametrize("console", [N3DS, SWITCH])
def test_the_memories_of_the_gpu_are_those_of_the_reader(recorder: Open, console: int) -> None:
    """Each number that has a memory, and its last word."""
    items = F.STATE_ITEMS["3DS" if console == N3DS else "Switch"]
    accepted = {}
    for number in range(256):
        for words in sorted({1, *(item.words for item in items.values())}, reverse=True):
            recording = recorder(console)
            given = (number, 0, 0xB197) if console == SWITCH else (number,)
            call = recording.channel_state if console == SWITCH else recording.state
            status = call(*given, 0, [0] * words, words)
            recording.close()
            if status == OK:
                accepted[number] = words
                break
    assert accepted == {number: item.words for number, item in items.items()}


def test_the_limits_are_those_of_the_reader() -> None:
    header = (RECORDER / "pocketgpu_recorder.h").read_text()
    defined = dict(re.findall(r"#define (PGR_\w+) +\(?(?:UINT64_C\()?(\w+\)? *(?:<< *\d+)?)", header))

    def value(name: str) -> int:
        number, _, shift = defined[name].replace("u", "").replace(")", "").partition("<<")
        return int(number, 0) << int(shift or 0)

    assert value("PGR__LARGEST") == F.SECTION_LIMIT and value("PGR__LONGEST") == F.STREAM_LIMIT
    assert value("PGR__PIECE") <= F.BLOCK_LIMIT and value("PGR__MOST_STORED") == F.STORED_LIMIT
    assert value("PGR__MOST_EVENTS") == decoder._MOST_EVENTS
    assert value("PGR__DIGEST") in F.DIGEST_SIZES and value("PGR_FORMAT_VERSION") == F.VERSION
