"""Report semaphores, counters, time stamps, conditional rendering, notifications."""

from __future__ import annotations

import struct

import pytest
from support.engine_host import Bench

from pocketgpu.facts.maxwell import B1C0, B197
from pocketgpu.maxwell.engines.compute.launch import Compute
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.gm20b import GM20B

VA = 0x5_0000_0000
AT = VA + 0x200
REPORT = B197["SET_REPORT_SEMAPHORE_D"]
REPORTS = {name: number for number, name in (REPORT["REPORT"].enum or {}).items()}
CLEARS = {name: number for number, name in (B197["CLEAR_REPORT_VALUE"]["TYPE"].enum or {}).items()}
OLD = bytes(range(64))


def bench(engine: type = ThreeD, **choices: str) -> Bench:
    b = Bench(engine, **choices)
    b.map(VA, 0x10000)
    b.memory.write(AT, OLD)
    b.address("SET_REPORT_SEMAPHORE_A", AT)
    b(SET_REPORT_SEMAPHORE_C=0xC0FFEE)
    return b


@pytest.mark.parametrize("engine", [ThreeD, Compute])
def test_release(engine: type) -> None:
    """STRUCTURE_SIZE decides: one word leaves its neighbours, four are payload, 0 and a time stamp."""
    b = bench(engine)
    b(SET_REPORT_SEMAPHORE_D=1 << 28)
    assert b.memory.read(AT, 64) == struct.pack("<I", 0xC0FFEE) + OLD[4:]
    b.host.ticks = 0x123456789A
    b(SET_REPORT_SEMAPHORE_D=0)
    assert b.memory.read(AT, 64) == struct.pack("<QQ", 0xC0FFEE, 0x123456789A) + OLD[16:]
    assert b.host.stats.semaphores == 2
    assert [(r.operation, r.address, r.value) for r in b.host.log] == [("release", AT, 0xC0FFEE)] * 2


def test_size_of_a_release_is_a_switch() -> None:
    b = bench(report__release_size="one-word")
    b(SET_REPORT_SEMAPHORE_D=0)
    assert b.memory.read(AT, 64) == struct.pack("<I", 0xC0FFEE) + OLD[4:]


@pytest.mark.parametrize("engine", [ThreeD, Compute])
@pytest.mark.parametrize(
    ("op", "signed", "old", "payload", "new"),
    [
        (0, 0, 7, 5, 12),
        (1, 1, 7, 0xFFFFFFFF, 0xFFFFFFFF),
        (1, 0, 7, 0xFFFFFFFF, 7),
        (2, 0, 7, 9, 9),
        (3, 0, 9, 9, 0),
        (4, 0, 0, 9, 9),
        (5, 0, 12, 10, 8),
        (6, 0, 12, 10, 14),
        (7, 0, 12, 10, 6),
    ],
)
def test_reduction(engine: type, op: int, signed: int, old: int, payload: int, new: int) -> None:
    b = bench(engine)
    b.memory.write(AT, struct.pack("<I", old))
    method = (B197 if engine is ThreeD else B1C0)["SET_REPORT_SEMAPHORE_D"]
    b(SET_REPORT_SEMAPHORE_C=payload)
    b(SET_REPORT_SEMAPHORE_D=method.encode(REDUCTION_ENABLE=1, REDUCTION_OP=op, REDUCTION_FORMAT=signed))
    assert b.memory.read(AT, 8) == struct.pack("<I", new) + OLD[4:8]


def test_acquire_waits() -> None:
    """The channel waits for equality, or for a value that is as large."""
    b = bench()
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=1))
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=1, COMPARISON=1))
    assert b.host.waits == [(AT, 0xC0FFEE, "equal"), (AT, 0xC0FFEE, "geq")]
    assert b.memory.read(AT, 64) == OLD


def test_trap_and_awaken() -> None:
    b = bench()
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=3))
    assert b.host.interrupts == ["notify"] and b.memory.read(AT, 64) == OLD
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=0, AWAKEN_ENABLE=1))
    assert b.host.interrupts == ["notify"] * 2
    c = bench(Compute)
    c(SET_REPORT_SEMAPHORE_D=1)
    assert c.host.ids() == ["report.operation"]


def draw(b: Bench, topology: int, count: int) -> None:
    b(BEGIN=topology, DRAW_VERTEX_ARRAY=count, END=0)


def report(b: Bench, name: str, **bits: int) -> tuple[int, int]:
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=2, REPORT=REPORTS[name], **bits))
    value, time = struct.unpack("<QQ", b.memory.read(AT, 16))
    return value, time


def test_counters_of_vertices_and_primitives() -> None:
    """They count draws while they are switched on, and CLEAR_REPORT_VALUE has numbers of its own."""
    b = bench()
    draw(b, 4, 9)
    b(SET_STATISTICS_COUNTER=0b11)
    draw(b, 4, 9)
    draw(b, 5, 7)
    assert report(b, "DA_VERTICES_GENERATED") == (16, b.host.ticks)
    assert report(b, "DA_PRIMITIVES_GENERATED")[0] == 8
    b(SET_STATISTICS_COUNTER=0b01)
    draw(b, 7, 8)
    assert report(b, "DA_VERTICES_GENERATED")[0] == 24
    assert report(b, "DA_PRIMITIVES_GENERATED")[0] == 8
    b(CLEAR_REPORT_VALUE=CLEARS["DA_PRIMITIVES_GENERATED"])
    assert report(b, "DA_PRIMITIVES_GENERATED")[0] == 0
    assert report(b, "DA_VERTICES_GENERATED")[0] == 24
    assert CLEARS["DA_VERTICES_GENERATED"] != REPORTS["DA_VERTICES_GENERATED"]
    b(CLEAR_REPORT_VALUE=CLEARS["DA_VERTICES_GENERATED"])
    assert report(b, "DA_VERTICES_GENERATED")[0] == 0


def test_restarted_strips_are_counted() -> None:
    b = bench()
    b.memory.write(VA, bytes([0, 1, 2, 3, 255, 4, 5, 6, 255, 255, 7]))
    b.address("SET_INDEX_BUFFER_A", VA)
    b.address("SET_INDEX_BUFFER_C", VA + 0xFF)
    b(SET_STATISTICS_COUNTER=0b11, SET_DA_PRIMITIVE_RESTART=1, SET_DA_PRIMITIVE_RESTART_INDEX=255)
    b(BEGIN=5, DRAW_INDEX_BUFFER=11, END=0)
    assert report(b, "DA_VERTICES_GENERATED")[0] == 8
    assert report(b, "DA_PRIMITIVES_GENERATED")[0] == 3


def test_large_counters() -> None:
    """64 bits; the short report shows 32 of them, one word either half."""
    b = bench()
    counters = b.engine.counters
    b(SET_ZPASS_PIXEL_COUNT=1)
    counters.add("ZPASS_PIXEL_CNT64", 0x5_0000_0007)
    b(SET_ZPASS_PIXEL_COUNT=0)
    counters.add("ZPASS_PIXEL_CNT64", 100)
    assert report(b, "ZPASS_PIXEL_CNT64")[0] == 0x5_0000_0007
    assert report(b, "ZPASS_PIXEL_CNT")[0] == 7
    b.memory.write(AT, OLD)
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=2, REPORT=0x15, STRUCTURE_SIZE=1, REPORT_DWORD_NUMBER=1))
    assert b.memory.read(AT, 64) == struct.pack("<I", 5) + OLD[4:]
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=0, REPORT=0x15))
    assert struct.unpack("<Q", b.memory.read(AT, 8))[0] == 0x5_0000_0007
    b(CLEAR_REPORT_VALUE=CLEARS["ZPASS_PIXEL_CNT"])
    assert report(b, "ZPASS_PIXEL_CNT64")[0] == 0


def test_streams() -> None:
    """SUB_REPORT chooses the stream, or the buffer whose write pointer is asked for."""
    b = bench()
    b(SET_STATISTICS_COUNTER=0xFFFF)
    b.engine.counters.add("STREAMING_PRIMITIVES_NEEDED", 9, 2)
    b.engine.counters.add("STREAMING_PRIMITIVES_SUCCEEDED", 4, 2)
    assert report(b, "STREAMING_PRIMITIVES_NEEDED", SUB_REPORT=2)[0] == 9
    assert report(b, "STREAMING_PRIMITIVES_NEEDED", SUB_REPORT=1)[0] == 0
    assert report(b, "STREAMING_PRIMITIVES_NEEDED_MINUS_SUCCEEDED", SUB_REPORT=2)[0] == 5
    assert report(b, "TOTAL_STREAMING_PRIMITIVES_NEEDED_MINUS_SUCCEEDED")[0] == 5
    b(SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER__3=0x140)
    assert report(b, "STREAMING_BYTE_COUNT", SUB_REPORT=3)[0] == 0x140


def test_every_report_and_clear_is_known() -> None:
    """No number of either list is an event; others are."""
    b = bench()
    for name in REPORTS:
        report(b, name)
    for number in CLEARS.values():
        b(CLEAR_REPORT_VALUE=number)
    assert not list(b.host.events)
    b(SET_REPORT_SEMAPHORE_D=REPORT.encode(OPERATION=2, REPORT=0x17), CLEAR_REPORT_VALUE=9)
    assert b.host.ids() == ["report.unknown", "report.unknown"]


def test_unmapped() -> None:
    b = bench()
    b.address("SET_REPORT_SEMAPHORE_A", VA + 0x10000)
    b(SET_REPORT_SEMAPHORE_D=0)
    assert b.host.ids() == ["memory.unmapped"]


@pytest.mark.parametrize(
    ("mode", "first", "second", "drawn"),
    [
        (0, 1, 1, False),
        (1, 0, 0, True),
        (2, 0, 5, False),
        (2, 1 << 40, 0, True),
        (3, 9, 9, True),
        (3, 9, 1 << 32 | 9, False),
        (4, 9, 9, False),
        (4, 9, 8, True),
    ],
)
def test_conditional_rendering(mode: int, first: int, second: int, drawn: bool) -> None:
    """Modes of SET_RENDER_ENABLE, its override, and the global condition beside it."""
    b = bench()
    b.memory.write(VA, struct.pack("<QQQQ", first, 1, second, 2))
    b.address("SET_RENDER_ENABLE_A", VA)
    b(SET_RENDER_ENABLE_C=mode)
    draw(b, 0, 1)
    assert b.host.stats.draws == drawn
    b(SET_RENDER_ENABLE_OVERRIDE=1)
    draw(b, 0, 1)
    assert b.host.stats.draws == drawn + 1
    b(SET_RENDER_ENABLE_OVERRIDE=2)
    draw(b, 0, 1)
    assert b.host.stats.draws == drawn + 1
    b(SET_RENDER_ENABLE_OVERRIDE=0, SET_GLOBAL_RENDER_ENABLE_C=0)
    draw(b, 0, 1)
    assert b.host.stats.draws == drawn + 1


def test_work_counts_at_power_on() -> None:
    """Nobody need enable rendering first."""
    b = Bench(ThreeD)
    assert b.registers[B197["SET_RENDER_ENABLE_C"].word] == 1
    draw(b, 0, 1)
    assert b.host.stats.draws == 1


def test_the_shadow_begins_as_the_registers_do() -> None:
    """A replay before anything was tracked brings back what power-on set, not zero (which would mean never)."""
    gpu = GM20B()
    gpu.map(VA, 0x1000)
    word = B197["SET_RENDER_ENABLE_C"].word
    immediate = [(B197["SET_MME_SHADOW_RAM_CONTROL"].word, 3), (word, 0)]
    words = struct.pack("<2I", *(4 << 29 | value << 16 | at for at, value in immediate))
    gpu.memory.write(VA, words)
    gpu.submit([VA | 2 << 42])
    gpu.finish()
    assert gpu.registers(0xB197)[word] == 1


def test_notify() -> None:
    """16 bytes with a time in nanoseconds; WRITE_THEN_AWAKEN raises an interrupt, too."""
    for engine in (ThreeD, Compute):
        b = bench(engine)
        b.address("SET_NOTIFY_A", AT)
        b.host.ticks = 384 * 1000
        b(NOTIFY=0)
        assert b.memory.read(AT, 16) == struct.pack("<QQ", 625 * 1000, 0) and not b.host.interrupts
        b(NOTIFY=1)
        assert b.host.interrupts == ["notify"]
    b = bench(notify__write="never")
    b.address("SET_NOTIFY_A", AT)
    b(NOTIFY=0)
    assert b.memory.read(AT, 64) == OLD


def test_syncpoints_and_what_does_nothing() -> None:
    """INCREMENT_SYNC_POINT counts; waits, flushes and invalidations change no memory and are no events."""
    b = bench()
    b(INCREMENT_SYNC_POINT=1 << 20 | 37)
    assert b.host.syncpoints[37] == 1 and b.host.stats.syncpoint_increments == 1
    quiet = (
        "WAIT_FOR_IDLE", "PIPE_NOP", "NO_OPERATION", "INVALIDATE_SHADER_CACHES", "INVALIDATE_SAMPLER_CACHE",
        "INVALIDATE_TEXTURE_HEADER_CACHE", "INVALIDATE_TEXTURE_DATA_CACHE", "INVALIDATE_TEXTURE_DATA_CACHE_NO_WFI",
        "STORE_ZCULL", "LOAD_ZCULL", "CLEAR_ZCULL_REGION", "INVALIDATE_ZCULL", "DECOMPRESS_SURFACE",
        "DECOMPRESS_ZETA_SURFACE", "FLUSH_PENDING_WRITES", "SET_SPARE00",
    )  # fmt: skip
    before = b.memory.read(VA, 0x10000)
    b(**dict.fromkeys(quiet, 1))
    assert b.memory.read(VA, 0x10000) == before
    assert not list(b.host.events) and not b.host.log
    for name in quiet:
        assert b.registers[B197[name].word] == 1
