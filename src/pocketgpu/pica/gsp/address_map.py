"""Virtual addresses of programs, translated to the GPU's physical addresses.

GX commands and framebuffer entries contain virtual addresses; registers take physical ones. The mapping depends on the
program, so the table can be replaced (a GX log has its own).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.errors import UsageError
from pocketgpu.facts.gsp import VIRT_TO_PHYS, AddressRange

_END = 1 << 32


class AddressMap:
    """A list of ranges; if several contain an address the first one counts.

    :raises UsageError: a range is empty or ends outside the 32-bit address space.
    """

    def __init__(self, ranges: Iterable[AddressRange | tuple[int, int, int]] = VIRT_TO_PHYS) -> None:
        self.ranges = tuple(r if isinstance(r, AddressRange) else AddressRange(*r) for r in ranges)
        for r in self.ranges:
            if r.size <= 0 or min(r.virt, r.phys) < 0 or max(r.virt, r.phys) + r.size > _END:
                raise UsageError(
                    f"not a valid address range: virtual {r.virt:#x}, physical {r.phys:#x}, {r.size:#x} bytes",
                    hint="Each needs a size above 0 and must end within 32 bits.",
                )

    def __iter__(self) -> Iterator[AddressRange]:
        return iter(self.ranges)

    def translate(self, virt: int, size: int = 1) -> int | None:
        """Physical address of `size` bytes from virtual address `virt`; None unless one range contains all of them.

        An empty range (size 0) may also begin at the end of a range.
        """
        for r in self.ranges:
            start = virt - r.virt
            if start >= 0 and start + size <= r.size:
                return r.phys + start
        return None

    def virtual(self, phys: int) -> int | None:
        """A virtual address of a physical one; None if it is not mapped."""
        for r in self.ranges:
            if 0 <= phys - r.phys < r.size:
                return r.virt + phys - r.phys
        return None
