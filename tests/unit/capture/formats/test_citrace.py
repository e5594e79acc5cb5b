"""CiTrace recordings: what the reader makes of good files, of the two generations of recorders, and of bad files.

A fake machine stands in for the real one, so that these tests say something about files only. The expectations come
from the format's description and from small files laid out by hand here, not from what the writer happens to produce.
"""

from __future__ import annotations

import gzip
import itertools
import lzma
import random
import re
import struct
import tracemalloc
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu import capture as captures
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.capture.formats import container
from pocketgpu.capture.formats.citrace import parse
from pocketgpu.capture.formats.citrace_write import Load, RecordedEvent, Write, encode_citrace, write_citrace
from pocketgpu.capture.formats.n3ds_trace import SECTIONS, InitialState, LoadRun, NarrowWrite, WriteRun
from pocketgpu.errors import CaptureError, GuestMemoryError, NoPictureError, PocketGPUError, UsageError
from pocketgpu.events import EventLog

VRAM, AXI, FCRAM = 0x18000000, 0x1FF80000, 0x20000000
PACKINGS = ["xz", "zstd", "gzip"]
PSC0_CONTROL, PDC0_FORMAT = 0x1040001C, 0x10400470


class FakeStats:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.draws = self.triangles = self.fragments = 0
        self.seconds = {"loads": 0.0}


class FakeMachine:
    """Keeps what it is told: registers by address, memory bytes by address, and the order of the calls."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.events = EventLog()
        self.stats = FakeStats()
        self.calls: list[tuple[Any, ...]] = []
        self.registers: dict[int, int] = {}
        self.bytes: dict[int, int] = {}
        self.initial: dict[str, Any] = {}
        self.vblanks = 0
        self.scans = 0
        sizes = {VRAM: 6 << 20, AXI: 512 << 10, FCRAM: options.get("fcram", 128 << 20)}
        self.memory = types.SimpleNamespace(
            regions=[(types.SimpleNamespace(base=base, size=size), 0) for base, size in sizes.items()]
        )

    def load_initial(self, **initial: Any) -> None:
        self.initial = initial

    def load_memory(self, pa: int, data: Any) -> None:
        size = len(data)
        if not any(r.base <= pa and pa + size <= r.base + r.size for r, _ in self.memory.regions):
            raise GuestMemoryError(pa, size)
        self.calls.append(("load", pa, bytes(data)))
        self.stats.seconds["loads"] += 0.001

    def write_registers(self, addresses: Any, values: Any) -> None:
        assert addresses.dtype == values.dtype == np.uint32 and addresses.shape == values.shape
        self.calls.append(("write", list(zip(addresses.tolist(), values.tolist(), strict=True))))
        self.registers.update(zip(addresses.tolist(), values.tolist(), strict=True))
        self.stats.draws += 1

    def read_register(self, pa: int) -> int:
        return self.registers.get(pa, 0)

    def step_vblank(self) -> None:
        self.calls.append(("vblank",))
        self.vblanks += 1

    def finish(self) -> None:
        self.calls.append(("finish",))

    @property
    def screens(self) -> dict[str, Any]:
        self.scans += 1
        return {"top": ("picture", self.vblanks)}


@pytest.fixture
def fake_n3ds(monkeypatch: pytest.MonkeyPatch) -> list[FakeMachine]:
    """Puts the fake where drivers look for the machine; gives the list of machines made."""
    made: list[FakeMachine] = []

    def make(**options: Any) -> FakeMachine:
        made.append(FakeMachine(**options))
        return made[-1]

    monkeypatch.setattr("pocketgpu.capture.driver.n3ds.N3DS", make)
    return made


def header(stream: tuple[int, int], sections: dict[int, tuple[int, int]] | None = None, size: int = 100) -> bytes:
    pairs = [(sections or {}).get(number, (0, 0)) for number in range(10)]
    return struct.pack("<4sII", b"CiTr", 1, size) + struct.pack("<22I", *itertools.chain(*pairs), *stream)


def element(*fields: int) -> bytes:
    return struct.pack("<5I", *fields, *[0] * (5 - len(fields)))


def by_hand(*elements: bytes, body: bytes = b"") -> bytes:
    """A file with no sections: header, `body` at byte 100, stream."""
    return header((100 + len(body), len(elements))) + body + b"".join(elements)


def failure(data: bytes) -> CaptureError:
    with pytest.raises(CaptureError) as caught:
        parse(data, file="x.ctf")
    assert caught.value.file == "x.ctf" and caught.value.hint and "x.ctf" in str(caught.value)
    return caught.value


def warning_ids(data: bytes) -> list[str]:
    return [event.id for event in parse(data).warnings]


SMALL: list[list[RecordedEvent]] = [
    [Load(FCRAM, b"abcdefgh"), Write(PSC0_CONTROL, 1), Write(PDC0_FORMAT, 0x80341), Load(VRAM, b"abcdefgh")],
    [Write(PSC0_CONTROL, 0xD3), Load(FCRAM + 8, b"xyz")],
    [],
]


def test_a_state_has_sections_that_exist() -> None:
    with pytest.raises(TypeError, match="no such section: lcds"):
        InitialState.of(lcds=[1])


def random_state(seed: int) -> InitialState:
    source = np.random.default_rng(seed)
    return InitialState.of(
        **{name: source.integers(0, 1 << 24, count, dtype=np.uint32) for name, (_, count) in SECTIONS.items()}
    )


# Good files


def test_new_form_laid_out_by_hand() -> None:
    data = by_hand(
        element(0xE2, 100, 6, FCRAM, 7),
        element(0xE3, PSC0_CONTROL, 0xDEADBEEF),
        element(0xE3, PDC0_FORMAT, 0xD3),
        element(0xE1, 9, 9, 9, 9),
        element(0xE1),
        body=b"memory",
    )
    trace = parse(data)
    assert not trace.classic and trace.frame_count == 2
    load, writes = trace.runs(0)
    assert isinstance(load, LoadRun) and isinstance(writes, WriteRun)
    assert (load.element, load.address, bytes(load.data), load.file_offset) == (0, FCRAM, b"memory", 100)
    assert writes.element == 1
    assert writes.addresses.tolist() == [PSC0_CONTROL, PDC0_FORMAT] and writes.values.tolist() == [0xDEADBEEF, 0xD3]
    assert trace.runs(1) == []
    with pytest.raises(IndexError):
        trace.runs(2)


def test_classic_form_laid_out_by_hand() -> None:
    data = by_hand(
        element(0xE3, 0x10400000, 0xD3, 0x11111111, 0xFFFFFFFF),
        element(0xE3, 0x10400004, 0xD4, 0x22222222, 0x33333333),
        element(0xE3, 0x10400005, 0xD1, 0xFFFFFF44, 0xFFFFFFFF),
        element(0xE3, 0x1040000A, 0xD2, 0xFFFF5555, 0xFFFFFFFF),
        element(0xE3, 0x1040000C, 0xD4, 1, 2),
        element(0xE1),
    )
    trace = parse(data)
    assert trace.classic
    first, byte, half, last = trace.runs(0)
    assert isinstance(first, WriteRun) and isinstance(last, WriteRun)
    assert first.addresses.tolist() == [0x10400000, 0x10400004, 0x10400008]
    assert first.values.tolist() == [0x11111111, 0x22222222, 0x33333333]
    assert byte == NarrowWrite(2, 0x10400005, 0x44, 8)
    assert half == NarrowWrite(3, 0x1040000A, 0x5555, 16)
    assert last.addresses.tolist() == [0x1040000C, 0x10400010] and last.values.tolist() == [1, 2]
    machine = FakeMachine()
    list(N3DSDriver(trace, machine).frames(range(1)))
    assert machine.registers == {
        0x10400000: 0x11111111,
        0x10400004: 0x22224422,
        0x10400008: 0x55553333,
        0x1040000C: 1,
        0x10400010: 2,
    }


def test_one_write_without_a_width_code_makes_the_file_new() -> None:
    writes = [element(0xE3, PSC0_CONTROL, 0xD3), element(0xE3, PSC0_CONTROL, 0xD2)]
    assert parse(by_hand(*writes, element(0xE1))).classic
    assert not parse(by_hand(*writes, element(0xE3, PSC0_CONTROL, 5), element(0xE1))).classic
    assert not parse(by_hand(element(0xE1))).classic


@pytest.mark.parametrize("classic", [False, True])
def test_round_trip(classic: bool) -> None:
    state = random_state(1)
    data = encode_citrace(SMALL, state, classic=classic)
    assert data.count(b"abcdefgh") == 1, "loads of the same bytes share them"
    trace = parse(data)
    assert trace.classic is classic and trace.frame_count == 3
    for name in SECTIONS:
        assert np.array_equal(getattr(trace.initial, name), getattr(state, name)), name
    assert trace.initial.vs_uniforms.shape == (96, 4) and trace.initial.default_attributes.shape == (16, 4)
    machine = FakeMachine()
    frames = list(N3DSDriver(trace, machine).frames(range(3)))
    assert machine.calls == [
        ("load", FCRAM, b"abcdefgh"),
        ("write", [(PSC0_CONTROL, 1), (PDC0_FORMAT, 0x80341)]),
        ("load", VRAM, b"abcdefgh"),
        ("vblank",),
        ("finish",),
        ("write", [(PSC0_CONTROL, 0xD3)]),
        ("load", FCRAM + 8, b"xyz"),
        ("vblank",),
        ("finish",),
        ("vblank",),
        ("finish",),
    ]
    assert set(machine.initial) == set(SECTIONS)
    assert [frame.draws for frame in frames] == [1, 1, 0]
    assert [frame.phases["loads"] for frame in frames] == pytest.approx([2.0, 1.0, 0.0])


def test_classic_widths_round_trip() -> None:
    writes = [
        Write(0x10400001, 0xAB, 8),
        Write(0x10400002, 0xCDEF, 16),
        Write(0x10400008, 2**64 - 2, 64),
        Write(0x10400010, 3),
    ]
    trace = parse(encode_citrace([writes], classic=True))
    machine = FakeMachine()
    list(N3DSDriver(trace, machine).frames(range(1)))
    assert machine.registers == {
        0x10400000: 0xCDEFAB00,
        0x10400008: 0xFFFFFFFE,
        0x1040000C: 0xFFFFFFFF,
        0x10400010: 3,
    }


def test_sections_larger_than_the_hardware_are_cut_and_shorter_ones_filled() -> None:
    long = struct.pack("<6I", 1, 2, 3, 0x44000004, 5, 6) + bytes(4 * (4 * 64 - 6)) + b"\xff" * 16
    at = 100 + len(long)
    body = long + struct.pack("<2I", 7, 8)
    sections = {3: (100, 4 * 64 + 4), 2: (at, 2)}
    trace = parse(header((0, 0), sections) + body)
    assert trace.initial.default_attributes.shape == (16, 4)
    assert trace.initial.default_attributes[:2].tolist() == [[1, 2, 3, 4], [5, 6, 0, 0]], "only 24 bits are floats"
    assert trace.initial.pica.shape == (768,) and trace.initial.pica[:3].tolist() == [7, 8, 0]


def test_sections_and_stream_need_no_alignment() -> None:
    data = header((103 + 4, 1), {0: (103, 1)}) + b"pad" + struct.pack("<I", 77) + element(0xE1)
    trace = parse(data)
    assert trace.frame_count == 1 and trace.initial.external[0] == 77


def test_long_runs_cost_one_call_each() -> None:
    writes = [Write(0x10400000 + 4 * (i % 1024), i) for i in range(50_000)]
    machine = FakeMachine()
    list(N3DSDriver(parse(encode_citrace([writes])), machine).frames(range(1)))
    assert [call[0] for call in machine.calls] == ["write", "vblank", "finish"]
    assert machine.calls[0][1][-1] == (writes[-1].address, 49_999)


def test_real_recordings(shared_dir: Path) -> None:
    recordings = shared_dir / "captures" / "3ds"
    index = (recordings / "INDEX.md").read_text(encoding="utf-8")
    table = [re.split(r"\s*(?<!\\)\|\s*", line.strip("| ")) for line in index.splitlines() if line.startswith("|")]
    expected = {row[0]: int(row[3]) for row in table if len(row) > 3 and row[3].isdigit()}
    assert len(expected) >= 20
    for name, frames in expected.items():
        capture = captures.open(recordings / f"{name}.ctf.xz")
        assert capture.frame_count == frames, name
        assert capture.warnings == [] and not capture.trace.classic, name
        pica = capture.trace.initial.pica
        assert (pica[0x20], pica[0x245]) == (0x12345678, 1), name
        machine = FakeMachine()
        assert len(list(N3DSDriver(capture.trace, machine).frames(range(frames)))) == frames
        assert len(machine.events) == 0, name
        shown = [address for call in machine.calls if call[0] == "write" for address, _ in call[1]]
        assert all(0x10202000 <= address < 0x10402000 for address in shown), name


# What the file lacks


def test_missing_sections_are_one_warning() -> None:
    events = parse(encode_citrace(SMALL, random_state(2), leave_out=("gs_uniforms", "lcd"))).warnings
    assert [event.id for event in events] == ["capture.missing-section"]
    assert "LCD registers" in events[0].message and "geometry shader float uniforms" in events[0].message


def test_zeros_are_not_missing() -> None:
    assert warning_ids(encode_citrace(SMALL)) == []


def test_old_recorders_are_named_once() -> None:
    assert warning_ids(encode_citrace(SMALL, classic=True)) == ["capture.missing-lut"]
    flat = InitialState.of(vs_uniforms=np.tile(np.array([1, 2, 3, 0], np.uint32), 96))
    events = parse(encode_citrace(SMALL, flat)).warnings
    assert [event.id for event in events] == ["capture.missing-lut"] and "W components" in events[0].message
    whole = InitialState.of(vs_uniforms=np.tile(np.array([1, 2, 3, 4], np.uint32), 96))
    assert warning_ids(encode_citrace(SMALL, whole)) == []


def test_events_after_the_last_marker_are_told_and_left_out() -> None:
    data = encode_citrace([[Write(PSC0_CONTROL, 1)]], tail=[Write(PSC0_CONTROL, 2), Write(PSC0_CONTROL, 3)])
    trace = parse(data)
    (event,) = trace.warnings
    assert (event.id, event.at) == ("capture.unfinished-frame", "f1") and event.message.startswith("2 elements")
    machine = FakeMachine()
    list(N3DSDriver(trace, machine).frames(range(1)))
    assert machine.registers == {PSC0_CONTROL: 1}


# Bad files


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param(b"", 0, id="empty"),
        pytest.param(b"CiT", 3, id="cut in the magic"),
        pytest.param(b"ciTr" + bytes(200), 0, id="magic"),
        pytest.param(header((0, 0))[:99], 99, id="cut in the header"),
        pytest.param(b"CiTr" + struct.pack("<I", 2) + header((0, 0))[8:], 4, id="version"),
        pytest.param(header((0, 0), size=96), 8, id="header size too small"),
        pytest.param(header((0, 0), size=101), 8, id="header size past the end"),
        pytest.param(header((0, 0), {4: (100, 1)}), 12 + 8 * 4, id="section starts at the end"),
        pytest.param(header((0, 0), {9: (100, 2)}) + bytes(7), 107, id="section cut"),
        pytest.param(header((0, 0), {0: (99, 1)}) + bytes(8), 12, id="section in the header"),
        pytest.param(header((0, 0), {1: (0xFFFFFFFF, 0xFFFFFFFF)}), 20, id="section far away"),
        pytest.param(header((0, 0), {1: (104, 0xFFFFFFFF)}) + bytes(8), 108, id="section of 16 GiB"),
        pytest.param(header((100, 1)), 92, id="stream starts at the end"),
        pytest.param(header((96, 1)) + bytes(20), 92, id="stream in the header"),
        pytest.param(by_hand(element(0xE1), element(0xE1))[:-1], 139, id="stream cut"),
        pytest.param(header((100, 0xFFFFFFFF)) + element(0xE1), 120, id="stream of 80 GiB"),
        pytest.param(by_hand(element(0xE1), element(0xE0)), 120, id="element type"),
        pytest.param(by_hand(element(0xE1), element(0xE3), element(0xE4)), 140, id="later element type"),
        pytest.param(by_hand(element(0xE1), element(0xE2, 130, 11, FCRAM)), 124, id="load cut"),
        pytest.param(by_hand(element(0xE2, 0xFFFFFFFF, 0xFFFFFFFF, FCRAM)), 104, id="load far away"),
        pytest.param(by_hand(element(0xE1), element(0xE3, 0x10400002, 5)), 124, id="odd address"),
        pytest.param(by_hand(element(0xE3, 0x10400002, 0xD3, 5)), 104, id="odd address, classic"),
        pytest.param(by_hand(element(0xE3, 0x10400002, 0xD4, 5)), 104, id="odd address of 64 bits"),
        pytest.param(by_hand(element(0xE3, 0x10400001, 0xD1), element(0xE3, 0x10400001, 0xD2)), 124, id="odd half"),
        pytest.param(
            by_hand(*[element(0xE3, 0x10400000, 0xD3, 5)] * 2, element(0xE3, 0x10400000, 0xD5, 5)), 148, id="width"
        ),
        pytest.param(
            by_hand(*[element(0xE3, 0x10400000, 5)] * 2, element(0xE3, 0x10400000, 5, 0, 1)), 152, id="new form, junk"
        ),
    ],
)
def test_malformed_files_name_the_byte(data: bytes, offset: int) -> None:
    assert failure(data).offset == offset


def test_loads_of_nothing_may_stand_anywhere() -> None:
    trace = parse(by_hand(element(0xE2, 0xFFFFFFFF, 0, 0xFFFFFFFF), element(0xE1)))
    machine = FakeMachine()
    list(N3DSDriver(trace, machine).frames(range(1)))
    assert machine.calls == [("vblank",), ("finish",)] and len(machine.events) == 0


def test_too_many_elements_are_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocketgpu.capture.formats.citrace._MOST_ELEMENTS", 2)
    assert parse(by_hand(*[element(0xE1)] * 2)).frame_count == 2
    assert failure(by_hand(*[element(0xE1)] * 3)).offset == 96


def test_many_loads_of_one_large_range_do_not_fill_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocketgpu.capture.formats.citrace._MOST_COPIED", 1 << 20)
    body = bytes(1 << 20)
    loads = [element(0xE2, 100 + i, (1 << 20) - i, FCRAM) for i in range(64)]
    trace = parse(by_hand(*loads, element(0xE1), body=body))
    tracemalloc.start()
    runs = trace.runs(0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20 and [len(run.data) for run in runs if isinstance(run, LoadRun)][:2] == [
        1 << 20,
        (1 << 20) - 1,
    ]


def test_mutated_files_only_ever_give_typed_errors(tmp_path: Path, fake_n3ds: list[FakeMachine]) -> None:
    source = random.Random(20240917)
    originals = [
        encode_citrace(SMALL, leave_out=[name for name in SECTIONS if name != "pica"]),
        encode_citrace(SMALL, classic=True, leave_out=list(SECTIONS)),
    ]
    path = tmp_path / "x.ctf"
    outcomes = {"rendered": 0, "refused": 0}
    for number in range(600):
        data = bytearray(originals[number % 2])
        plain_end = struct.unpack_from("<I", data, 92)[0]
        for _ in range(source.randint(1, 4)):
            # Header and stream, where the numbers are; sections hold nothing that is trusted.
            low, high = source.choice([(0, 100), (plain_end, len(data))])
            at = source.randrange(low, high)
            data[at] = source.choice([0, 1, 0x7F, 0x80, 0xFF, 0xE2, 0xD4, source.randrange(256)])
        if source.random() < 0.2:
            del data[source.randrange(len(data)) :]
        if source.random() < 0.3:
            data = bytearray(container.pack(bytes(data), source.choice(PACKINGS)))
            data[source.randrange(len(data))] ^= 1 << source.randrange(8)
        path.write_bytes(data)
        try:
            frames = list(captures.open(path).render())
            assert frames and fake_n3ds[-1].vblanks == len(frames)
            outcomes["rendered"] += 1
        except PocketGPUError as error:
            assert str(error)
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 50, outcomes


# Packed files


@pytest.mark.parametrize("ending", ["", ".xz", ".zst", ".gz"])
def test_packed_recordings(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x.ctf{ending}"
    write_citrace(path, SMALL)
    packed = path.read_bytes()
    assert container.packing(packed) == {"": "", ".xz": "xz", ".zst": "zstd", ".gz": "gzip"}[ending]
    other_name = tmp_path / "no-ending"
    other_name.write_bytes(packed)
    assert captures.open(path).frame_count == captures.open(other_name).frame_count == 3


@pytest.mark.parametrize("packing", PACKINGS)
def test_cut_and_damaged_packings(packing: str) -> None:
    plain = random.Random(5).randbytes(300_000)
    packed = container.pack(plain, packing)
    assert container.unpack(packed) == plain
    for length in (7, 100, 200_000, len(packed) - 1):
        with pytest.raises(CaptureError, match="cut short") as cut:
            container.unpack(packed[:length], file="x.ctf.p")
        assert (cut.value.file, cut.value.offset) == ("x.ctf.p", length)
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0x10
    with pytest.raises(CaptureError) as broken:
        container.unpack(bytes(damaged), file="x.ctf.p")
    assert broken.value.offset is not None and broken.value.offset <= len(packed)


@pytest.mark.parametrize("packing", PACKINGS)
def test_several_streams_in_one_file(packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = container.pack(b"CiTr" * 1000, packing), container.pack(b"more", packing)
    assert container.unpack(first + second + bytes(8)) == b"CiTr" * 1000 + b"more"
    with pytest.raises(CaptureError) as junk:
        container.unpack(first + b"junk after the end")
    assert junk.value.offset is not None and junk.value.offset <= len(first) + 19
    monkeypatch.setattr(container, "_PARTS", 3)
    assert container.unpack(second * 3) == b"more" * 3
    with pytest.raises(CaptureError, match="streams"):
        container.unpack(second * 4)


@pytest.mark.parametrize("packing", PACKINGS)
def test_small_files_that_unpack_to_much_are_stopped_early(packing: str) -> None:
    zeros = bytes(96 << 20)
    bomb = lzma.compress(zeros, preset=0) if packing == "xz" else container.pack(zeros, packing)
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    with pytest.raises(CaptureError, match="more than"):
        container.unpack(bomb, limit=1 << 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 72 << 20
    exact = container.pack(bytes(4096), packing)
    assert len(container.unpack(exact, limit=4096)) == 4096
    with pytest.raises(CaptureError):
        container.unpack(exact, limit=4095)
    with pytest.raises(CaptureError):
        container.unpack(exact * 3, limit=3 * 4096 - 1)


def test_plain_files_have_the_same_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.ctf"
    path.write_bytes(bytes(100))
    assert len(container.read(path, limit=100)) == 100
    with pytest.raises(CaptureError, match="more than 99 bytes"):
        container.read(path, limit=99)


def test_files_that_cannot_be_read_or_are_something_else(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be read"):
        captures.open(tmp_path / "missing.ctf")
    with pytest.raises(CaptureError, match="cannot be read"):
        captures.open(tmp_path)
    with pytest.raises(CaptureError, match="cannot be read"):
        captures.open("nul\0byte.ctf")
    for content in (b"", b"Rar!\x1a\7\0 an archive", gzip.compress(b""), b"CiX"):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(CaptureError) as caught:
            captures.open(tmp_path / "x")
        assert caught.value.offset == 0


# Replaying


def test_render_hands_its_options_to_the_machine(tmp_path: Path, fake_n3ds: list[FakeMachine]) -> None:
    write_citrace(tmp_path / "x.ctf", SMALL)
    capture = captures.open(tmp_path / "x.ctf")
    list(capture.render(threads=2, switches={"a": "b"}, evaluator="numpy"))
    given = {"fcram": 128 << 20, "threads": 2, "switches": {"a": "b"}, "evaluator": "numpy", "tier": "auto"}
    assert fake_n3ds[0].options == {**given, "timing": "instant", "model": None}
    write_citrace(tmp_path / "new.ctf", [[Load(0x28000000 - 2, b"four")]])
    list(captures.open(tmp_path / "new.ctf").render())
    assert fake_n3ds[1].options["fcram"] == 256 << 20 and len(fake_n3ds[1].events) == 0


def test_selected_frames_stand_on_all_before_them(tmp_path: Path, fake_n3ds: list[FakeMachine]) -> None:
    write_citrace(tmp_path / "x.ctf", [[Write(PSC0_CONTROL, 0x100 + n)] for n in range(6)])
    capture = captures.open(tmp_path / "x.ctf")
    seen = [(frame.index, frame.machine.registers[PSC0_CONTROL]) for frame in capture.render(range(1, 5, 2))]
    assert seen == [(1, 0x101), (3, 0x103)]
    assert fake_n3ds[0].vblanks == 4, "frames after the last one asked for are not run"
    assert [frame.index for frame in capture.render(range(4, 0, -2))] == [2, 4]
    assert list(capture.render(range(0))) == []
    for wrong in (range(6, 7), range(0, 7), range(-1, 2)):
        with pytest.raises(NoPictureError, match="frames 0 to 5"):
            capture.render(wrong)


def test_a_capture_without_frames_opens_but_has_no_pictures(tmp_path: Path, fake_n3ds: list[FakeMachine]) -> None:
    write_citrace(tmp_path / "x.ctf", [], tail=[Write(PSC0_CONTROL, 1)])
    capture = captures.open(tmp_path / "x.ctf")
    assert capture.frame_count == 0 and [event.id for event in capture.warnings] == ["capture.unfinished-frame"]
    with pytest.raises(NoPictureError):
        capture.render()
    assert fake_n3ds == []


def test_pictures_are_scanned_out_late_and_stay_with_their_frame(tmp_path: Path, fake_n3ds: list[FakeMachine]) -> None:
    write_citrace(tmp_path / "x.ctf", SMALL)
    frames = captures.open(tmp_path / "x.ctf").render()
    first = next(frames)
    assert fake_n3ds[0].scans == 0
    second = next(frames)
    assert first.top == ("picture", 1) and second.top == ("picture", 2) and first.top == ("picture", 1)
    assert fake_n3ds[0].scans == 2
    assert second.top_right is None
    with pytest.raises(NoPictureError, match="bottom"):
        _ = second.bottom


def test_unmapped_loads_are_events_and_the_replay_goes_on() -> None:
    frames: list[list[RecordedEvent]] = [
        [Write(PSC0_CONTROL, 1), Load(0x30000000, b"nowhere"), Load(0xFFFFFFFC, b"wraps around")],
        [Load(FCRAM - 2, b"abcd"), Load(0x28000000 - 3, b"inside"), Load(FCRAM, b"last")],
    ]
    machine = FakeMachine()
    first, second = N3DSDriver(parse(encode_citrace(frames)), machine).frames(range(2))
    assert [(event.id, event.kind, event.at) for event in first.warnings] == [
        ("capture.unmapped-load", "warning", "f0/e1"),
        ("capture.unmapped-load", "warning", "f0/e2"),
    ]
    # Neighbouring regions both get their part; what hangs over the end of memory is told.
    loads = [call[1:] for call in machine.calls if call[0] == "load"]
    assert loads == [(FCRAM - 2, b"ab"), (FCRAM, b"cd"), (0x28000000 - 3, b"ins"), (FCRAM, b"last")]
    assert [(event.id, event.at) for event in second.warnings] == [("capture.unmapped-load", "f1/e1")]
    assert second.warnings[0].message.startswith("3 of the 6 bytes")


def test_events_of_frames_passed_over_are_not_lost() -> None:
    machine = FakeMachine()
    (frame,) = N3DSDriver(parse(encode_citrace([[Load(0, b"x")], []])), machine).frames(range(1, 2))
    assert [event.at for event in frame.warnings] == ["f0/e0"]


# The writer


def test_the_writer_refuses_what_a_form_cannot_say() -> None:
    with pytest.raises(UsageError, match="8 bits"):
        encode_citrace([[Write(PSC0_CONTROL, 1, 8)]])
    with pytest.raises(UsageError, match="width code"):
        encode_citrace([[Write(PSC0_CONTROL, 0xD1), Write(PSC0_CONTROL, 0xD4)]])
    for wrong in (Write(PSC0_CONTROL, 1 << 32), Write(PSC0_CONTROL, -1), Write(PSC0_CONTROL, 0, 24)):
        with pytest.raises(UsageError):
            encode_citrace([[wrong]], classic=True)
    with pytest.raises(UsageError):
        encode_citrace([], leave_out=["vs_cod"])
