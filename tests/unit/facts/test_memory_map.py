"""The map of physical addresses, against the table of 3dbrew's page "Memory layout"."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pocketgpu.facts import memory_map
from pocketgpu.facts.external import EXTERNAL, HOLES, LCD, MIRRORS, USER_OFFSET
from pocketgpu.facts.pica import PICA

ENDS = {
    "VRAM": (0x18000000, 0x18600000), "DSP": (0x1FF00000, 0x1FF80000), "AXI_WRAM": (0x1FF80000, 0x20000000),
    "FCRAM": (0x20000000, 0x28000000),
}  # fmt: skip


def test_regions_are_those_of_the_table() -> None:
    assert {region.name: (region.base, region.end) for region in memory_map.MEMORY} == ENDS
    assert memory_map.FCRAM_NEW_SIZE == 0x10000000
    starts = [region.base for region in (*memory_map.IO_RANGES, *memory_map.MEMORY)]
    assert starts == sorted(starts) and not any(region.memory for region in memory_map.IO_RANGES)
    for block, name in ((EXTERNAL, "GPU"), (LCD, "LCD"), (PICA, "PICA")):
        (place,) = (region for region in memory_map.IO_RANGES if region.name == name)
        assert all(place.contains(register.address, 4) for register in block)
    assert min(register.address for register in EXTERNAL) + USER_OFFSET >> 12 == 0x1EF00


@pytest.mark.parametrize("name", ENDS)
def test_an_access_has_to_be_inside_of_one_region(name: str) -> None:
    base, end = ENDS[name]
    region = next(region for region in memory_map.MEMORY if region.name == name)
    for address, size in ((base, 1), (base, end - base), (end - 4, 4), (end - 1, 1)):
        assert memory_map.find(address, size) is region and region.contains(address, size)
    for address, size in ((base, end - base + 1), (end - 4, 5), (base - 1, 2), (base - 1, 1), (end, 1)):
        assert memory_map.find(address, size) is not region and not region.contains(address, size)
    for place in (base, end):
        assert memory_map.find(place - 1, 2) is None, "nor may it lie in two"


def test_the_new_model_has_more() -> None:
    last = 0x30000000 - 4
    assert memory_map.find(last, 4) is None and memory_map.find(0x28000000) is None
    assert memory_map.find(last, 4, memory_map.FCRAM_NEW_SIZE) is memory_map.FCRAM
    assert memory_map.find(last, 5, memory_map.FCRAM_NEW_SIZE) is None
    assert memory_map.find(0x18600000, 1, memory_map.FCRAM_NEW_SIZE) is None, "only FCRAM grows"


def test_no_register_lies_where_there_is_none() -> None:
    """Holes and repeated areas share nothing with each other or with registers, and a copy leads to its home."""
    areas = sorted((*HOLES, *MIRRORS), key=lambda area: area.start)
    assert all(a.end <= b.start for a, b in pairwise(areas))
    assert not any(area.start <= register.offset < area.end for register in EXTERNAL for area in areas)
    for area in MIRRORS:
        assert area.home + area.period == area.start and (area.end - area.start) % area.period == 0
    # What lies between: registers, and the 3D core from 0x1000 on.
    edges = [0, *(edge for area in areas for edge in (area.start, area.end))]
    between = [(low, high) for low, high in zip(edges[::2], edges[1::2], strict=False) if low < high]
    assert between == [(0, 0x100), (0x400, 0x600), (0xC00, 0xD00), (0x1000, 0x2000)]
