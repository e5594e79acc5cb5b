"""Which virtual addresses lead where, and which ranges no map can have."""

from __future__ import annotations

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.facts.gsp import AddressRange
from pocketgpu.pica.gsp.address_map import AddressMap

TOP = 1 << 32


@pytest.mark.parametrize(
    ("virt", "phys", "size", "valid"),
    [
        (0, 0, 1, True), (0, 0, TOP, True), (TOP - 16, 0, 16, True), (0, TOP - 16, 16, True), (0, 0, 0, False),
        (0, 0, -1, False), (-1, 0, 16, False), (0, -1, 16, False), (TOP - 16, 0, 17, False), (0, TOP - 16, 17, False),
        (0, 0, TOP + 1, False),
    ],
)  # fmt: skip
def test_a_range_has_a_size_and_ends_within_32_bits(virt: int, phys: int, size: int, valid: bool) -> None:
    if valid:
        assert [*AddressMap([(virt, phys, size)])] == [AddressRange(virt, phys, size)]
    else:
        with pytest.raises(UsageError, match="not a valid address range"):
            AddressMap([(virt, phys, size)])


def test_a_range_contains_all_of_an_access() -> None:
    found = AddressMap([(0x1000, 0x8000, 0x100), (0x1100, 0x2000, 0x10)])
    cases = [
        (0x1000, 1, 0x8000), (0x1000, 0x100, 0x8000), (0x10FF, 1, 0x80FF), (0x1100, 0x10, 0x2000), (0xFFF, 1, None),
        (0xFFF, 2, None), (0x1000, 0x101, None), (0x10FF, 2, None), (0x1110, 1, None), (0x1110, 0, 0x2010),
        (0x1100, 0, 0x8100),
    ]  # fmt: skip
    assert [found.translate(virt, size) for virt, size, _ in cases] == [phys for *_, phys in cases]


def test_the_way_back() -> None:
    found = AddressMap([(0x1000, 0x8000, 0x100), (0x4000, 0x8080, 0x100)])
    back = {0x8000: 0x1000, 0x80FF: 0x10FF, 0x8100: 0x4080, 0x817F: 0x40FF, 0x8180: None, 0x7FFF: None}
    assert {phys: found.virtual(phys) for phys in back} == back, "of two ranges the first one counts"
    assert all(found.translate(virt) == phys for phys, virt in back.items() if virt is not None)
