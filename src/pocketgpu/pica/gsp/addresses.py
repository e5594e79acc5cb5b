"""Virtual addresses of programs as the GPU's physical ones.

GX commands and framebuffer entries carry what the program sees; registers want what the GPU sees. Which is which
depends on the program, so the table can be replaced (a GX log brings its own).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pocketgpu.errors import UsageError
from pocketgpu.facts.gsp import VIRT_TO_PHYS, AddressRange

_END = 1 << 32


class AddressMap:
    """A list of ranges; of several that hold an address the first one counts.

    :raises UsageError: a range is empty or leaves the 32-bit address space.
    """

    def __init__(self, ranges: Iterable[AddressRange | tuple[int, int, int]] = VIRT_TO_PHYS) -> None:
        self.ranges = tuple(r if isinstance(r, AddressRange) else AddressRange(*r) for r in ranges)
        for r in self.ranges:
            if r.size <= 0 or min(r.virt, r.phys) < 0 or max(r.virt, r.phys) + r.size > _END:
                raise UsageError(
                    f"no range of addresses: virtual {r.virt:#x}, physical {r.phys:#x}, {r.size:#x} bytes",
                    hint="Each needs a size above 0 and must end within 32 bits.",
                )

    def __iter__(self) -> Iterator[AddressRange]:
        return iter(self.ranges)

    def translate(self, virt: int, size: int = 1) -> int | None:
        """Physical address of `size` bytes from virtual address `virt`; None unless one range holds all of them.

        An empty range (size 0) may also begin where a range ends.
        """
        for r in self.ranges:
            start = virt - r.virt
            if start >= 0 and start + size <= r.size:
                return r.phys + start
        return None

    def virtual(self, phys: int) -> int | None:
        """A virtual address of a physical one; None where there is none."""
        for r in self.ranges:
            if 0 <= phys - r.phys < r.size:
                return r.virt + phys - r.phys
        return None
