"""Memory fill: patterns, ranges and control bits of the two PSC units.

Source: 3dbrew GPU/External Registers ("Memory Fill"), GBATEK (granularity, flags).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

VRAM, FCRAM, FCRAM_END = 0x18000000, 0x20000000, 0x28000000
BACKGROUND = bytes(range(1, 251)) * 3


def fill(gpu: Any, start: int, end: int, value: int, control: int = 0x201, unit: int = 0) -> dict[str, int]:
    """Run a fill; the interrupts it raised."""
    gpu.n3ds.take_interrupts()
    gpu.poke(f"PSC{unit}_START", start >> 3)
    gpu.poke(f"PSC{unit}_END", end >> 3)
    gpu.poke(f"PSC{unit}_VALUE", value)
    gpu.poke(f"PSC{unit}_CONTROL", control)
    return gpu.n3ds.take_interrupts()


PATTERNS = [
    (0, 0xAABB3344, "4433"), (1, 0xFF112233, "332211"), (2, 0x11223344, "44332211"), (3, 0xFF112233, "332211"),
]  # fmt: skip


@pytest.mark.parametrize(("width", "value", "pattern"), PATTERNS)
@pytest.mark.parametrize("size", [16, 32, 48, 64, 96, 4080, 4096, 4112, 20000 - 20000 % 16])
@pytest.mark.parametrize("unit", [0, 1])
def test_pattern_is_little_endian_and_starts_at_the_start(
    gpu: Any, width: int, value: int, pattern: str, size: int, unit: int
) -> None:
    at = VRAM + 16 * 7
    gpu.memory.write(at - 16, b"\x5a" * (size + 32))
    assert fill(gpu, at, at + size, value, width << 8 | 1, unit) == {f"PSC{unit}": 1}
    expected = (bytes.fromhex(pattern) * size)[:size]
    assert gpu.memory.read(at - 16, size + 32) == b"\x5a" * 16 + expected + b"\x5a" * 16


def test_documents_example(gpu: Any) -> None:
    gpu.poke(0x10400010, 0x03000000)
    gpu.poke(0x10400014, 0x03001000)
    gpu.poke(0x10400018, 0x00112233)
    gpu.poke(0x1040001C, 0x00000101)
    assert gpu.memory.read(VRAM, 0x8000) == (b"\x33\x22\x11" * 0x3000)[:0x8000]
    assert gpu.memory.read(VRAM + 0x8000, 16) == bytes(16)
    assert gpu.peek("PSC0_CONTROL") == 0x102


def test_ends_may_be_given_to_sixteen_bytes(gpu: Any) -> None:
    # Bit 0 of the address registers is not writable.
    gpu.memory.write(VRAM, BACKGROUND)
    fill(gpu, VRAM + 24, VRAM + 72, 0)
    assert (gpu.peek("PSC0_START"), gpu.peek("PSC0_END")) == (VRAM + 16 >> 3, VRAM + 64 >> 3)
    assert gpu.memory.read(VRAM, 80) == BACKGROUND[:16] + bytes(48) + BACKGROUND[64:80]


def test_24_bit_fill_stops_exactly_at_the_end(gpu: Any) -> None:
    gpu.memory.write(FCRAM, b"\x5a" * 64)
    fill(gpu, FCRAM, FCRAM + 32, 0x112233, 0x101)  # 32 = 10 * 3 + 2
    assert gpu.memory.read(FCRAM, 34) == b"\x33\x22\x11" * 10 + b"\x33\x22" + b"\x5a\x5a"


def test_24_bit_fill_may_be_told_to_write_whole_groups(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(fill__tail_24="whole-groups")
    fill(gpu, FCRAM, FCRAM + 32, 0x112233, 0x101)
    assert gpu.memory.read(FCRAM, 34) == b"\x33\x22\x11" * 11 + b"\0"


def test_finished_flag_is_cleared_by_writing_0_and_kept_by_writing_1(gpu: Any) -> None:
    fill(gpu, FCRAM, FCRAM + 16, 1)
    assert gpu.peek("PSC0_CONTROL") == 0x202
    gpu.poke("PSC0_CONTROL", 0x202)
    assert gpu.peek("PSC0_CONTROL") == 0x202
    gpu.poke("PSC0_CONTROL", 0x200)
    assert gpu.peek("PSC0_CONTROL") == 0x200
    gpu.poke("PSC0_CONTROL", 0x002)
    assert gpu.peek("PSC0_CONTROL") == 0  # a program cannot set it


def test_control_keeps_its_other_writable_bits(gpu: Any) -> None:
    gpu.poke("PSC1_CONTROL", 0xFFFFFFFE)
    assert gpu.peek("PSC1_CONTROL") == 0x001F0300


def test_nothing_happens_without_the_start_bit(gpu: Any) -> None:
    assert fill(gpu, FCRAM, FCRAM + 16, 0xFFFFFFFF, 0x200) == {}
    assert gpu.memory.read(FCRAM, 16) == bytes(16)


def test_status_mirrors_the_finished_flags(gpu: Any) -> None:
    units = lambda: gpu.peek("STATUS") >> 26 & 3  # noqa: E731
    assert units() == 0
    fill(gpu, FCRAM, FCRAM + 16, 1, unit=1)
    assert units() == 2
    fill(gpu, FCRAM, FCRAM + 16, 1, unit=0)
    assert units() == 3
    gpu.poke("PSC1_CONTROL", 0)
    assert units() == 1


def test_units_are_independent(gpu: Any) -> None:
    """Drivers fill colour and depth with one command: PSC0 alone, PSC1 alone, or both."""
    for unit, value in ((0, 0x11111111), (1, 0x22222222)):
        gpu.poke(f"PSC{unit}_START", FCRAM + 0x1000 * unit >> 3)
        gpu.poke(f"PSC{unit}_END", FCRAM + 0x1000 * unit + 32 >> 3)
        gpu.poke(f"PSC{unit}_VALUE", value)
    gpu.poke("PSC1_CONTROL", 0x201)
    assert gpu.memory.read(FCRAM, 32) + gpu.memory.read(FCRAM + 0x1000, 32) == bytes(32) + b"\x22" * 32
    assert gpu.n3ds.take_interrupts() == {"PSC1": 1}
    gpu.poke("PSC0_CONTROL", 0x201)
    gpu.poke("PSC1_CONTROL", 0x201)
    assert gpu.memory.read(FCRAM, 32) == b"\x11" * 32
    assert gpu.n3ds.take_interrupts() == {"PSC0": 1, "PSC1": 1}


@pytest.mark.parametrize("end", [FCRAM, FCRAM - 16, VRAM, 0])
def test_empty_range_finishes_at_once(gpu: Any, end: int) -> None:
    gpu.memory.write(FCRAM, BACKGROUND)
    assert fill(gpu, FCRAM, end, 0xFFFFFFFF) == {"PSC0": 1}
    assert gpu.memory.read(FCRAM, len(BACKGROUND)) == BACKGROUND
    assert gpu.peek("PSC0_CONTROL") == 0x202
    assert not gpu.ids


def test_start_0_finishes_without_an_interrupt(gpu: Any) -> None:
    assert fill(gpu, 0, FCRAM + 64, 0xFFFFFFFF) == {}
    assert gpu.peek("PSC0_CONTROL") == 0x202
    assert gpu.memory.read(FCRAM, 64) == bytes(64)


def test_start_0_may_be_told_to_do_nothing(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(fill__null_start="ignore")
    assert fill(gpu, 0, FCRAM + 64, 0xFFFFFFFF) == {}
    assert gpu.peek("PSC0_CONTROL") & 2 == 0


@pytest.mark.parametrize(
    ("start", "end"),
    [(0x10000000, 0x10001000), (VRAM - 16, VRAM + 16), (VRAM + 0x600000 - 16, VRAM + 0x600010), (FCRAM_END - 16,
     FCRAM_END + 16),
     (FCRAM, 0x7FFFFFF0), (VRAM, FCRAM + 16), (0xFFFFFF00, 0xFFFFFFF0), (16, 32)],
)  # fmt: skip
def test_range_outside_memory_is_reported_and_writes_nothing(gpu: Any, start: int, end: int) -> None:
    edges = [VRAM, VRAM + 0x600000 - 16, FCRAM, FCRAM_END - 16]
    versions = gpu.memory.page_versions.copy()
    assert fill(gpu, start, end, 0xFFFFFFFF) == {"PSC0": 1}
    assert [gpu.memory.read(edge, 16) for edge in edges] == [bytes(16)] * 4
    assert gpu.ids == {"fill.unmapped"}
    assert (gpu.memory.page_versions == versions).all()


@pytest.mark.parametrize(("base", "size"), [(VRAM, 0x600000), (0x1FF00000, 0x80000), (0x1FF80000, 0x80000)])
def test_whole_regions_can_be_filled(gpu: Any, base: int, size: int) -> None:
    gpu.memory.write(FCRAM, b"\x5a" * 16)
    fill(gpu, base, base + size, 0x112233, 0x101)
    assert gpu.memory.read(base, size) == (b"\x33\x22\x11" * (size // 3 + 1))[:size]
    assert gpu.memory.read(FCRAM, 16) == b"\x5a" * 16
    assert not gpu.ids


def test_fill_changes_the_pages_it_touches_and_no_others(gpu: Any) -> None:
    before = gpu.memory.page_versions.copy()
    fill(gpu, FCRAM + 0x1FF0, FCRAM + 0x2010, 7)
    changed = [page << 12 for page in (gpu.memory.page_versions != before).nonzero()[0].tolist()]
    assert [gpu.memory.address_of(at) for at in changed] == [FCRAM + 0x1000, FCRAM + 0x2000]
