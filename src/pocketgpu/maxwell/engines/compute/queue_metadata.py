"""Queue metadata (QMD): the 256 bytes in memory that describe a launch: program, sizes and buffers.

Source: class header clb1c0.h for the methods, and the header of QMDs 0.6 and 1.7 for the fields. Drivers write 1.7 or
no version at all, with the same fields at the same places.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B1C0
from pocketgpu.facts.maxwell.headers import QMD, BitStructure, as_number
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.engines.common.snapshots import RegisterSnapshot
from pocketgpu.maxwell.engines.common.state import State

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.launch.code import Code
    from pocketgpu.maxwell.sass.launch.launcher import Result

QMD_BYTES = 256
CONSTANT_SLOTS = 8
VERSIONS = {(0, 6): "00_06", (1, 7): "01_07"}


def version_of(number: int) -> tuple[int, int]:
    """(major, minor) of a QMD given as one number."""
    layout = QMD["01_07"]
    return layout["QMD_MAJOR_VERSION"].raw(number), layout["QMD_VERSION"].raw(number)


@cache
def _bits(layout: str, name: str, index: int | None) -> tuple[int, int] | None:
    """Lowest bit and (shifted down) mask of a field, None if that version has none of the name."""
    if name not in QMD[layout]:
        return None
    found = QMD[layout][name] if index is None else QMD[layout][name](index)
    return found.lo, found.mask >> found.lo


@dataclass(eq=False)
class Launch:
    """One launch. address: of the QMD, `qmd` its 64 words.

    code: the program at the time of the launch. result: the outcome. Both are None if nothing was run.
    """

    place: str
    address: int
    qmd: NDArray[np.uint32]
    snapshot: RegisterSnapshot
    code: Code | None = None
    result: Result | None = None

    @cached_property
    def number(self) -> int:
        """The QMD as one number, for reading its fields."""
        return as_number(self.qmd)

    @cached_property
    def version(self) -> tuple[int, int]:
        """(major, minor) from the QMD."""
        return version_of(self.number)

    @cached_property
    def _layout(self) -> str:
        return VERSIONS.get(self.version, "01_07")

    @property
    def structure(self) -> BitStructure:
        """The layout of this QMD's version."""
        return QMD[self._layout]

    def field(self, name: str, index: int | None = None) -> int:
        """A field of the QMD by its official name. Raises KeyError if its version has none of the name."""
        bits = _bits(self._layout, name, index)
        if bits is None:
            raise KeyError(f"QMD {self._layout} has no field {name!r}")
        return self.number >> bits[0] & bits[1]

    def flag(self, name: str) -> bool:
        """A bit that only some versions have, False in the others."""
        bits = _bits(self._layout, name, None)
        return bits is not None and bool(self.number >> bits[0] & bits[1])

    @cached_property
    def state(self) -> State:
        """The registers of the class at the time of the launch."""
        return State(B1C0, self.snapshot.registers)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Thread groups in x, y, z."""
        width, height, depth = (self.field(f"CTA_RASTER_{n}") for n in ("WIDTH", "HEIGHT", "DEPTH"))
        return width, height, depth

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a group in x, y, z."""
        x, y, z = (self.field(f"CTA_THREAD_DIMENSION{n}") for n in range(3))
        return x, y, z

    @property
    def program(self) -> int:
        """GPU address of the first instruction."""
        return (self.state.address("SET_PROGRAM_REGION_A") + self.field("PROGRAM_OFFSET")) & 0xFF_FFFF_FFFF

    @property
    def constants(self) -> tuple[Binding | None, ...]:
        """The eight constant buffers; None where the QMD has none."""
        return tuple(
            Binding(
                self.field("CONSTANT_BUFFER_ADDR_UPPER", i) << 32 | self.field("CONSTANT_BUFFER_ADDR_LOWER", i),
                self.field("CONSTANT_BUFFER_SIZE", i),
            )
            if self.field("CONSTANT_BUFFER_VALID", i)
            else None
            for i in range(CONSTANT_SLOTS)
        )

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a group."""
        return self.field("SHARED_MEMORY_SIZE")

    @property
    def local_bytes(self) -> tuple[int, int]:
        """Local memory of a thread: bytes from address 0 up, and bytes up to the end of the window."""
        return self.field("SHADER_LOCAL_MEMORY_LOW_SIZE"), self.field("SHADER_LOCAL_MEMORY_HIGH_SIZE")

    @property
    def register_count(self) -> int:
        """Registers of a thread."""
        return self.field("REGISTER_COUNT")

    @property
    def dependent(self) -> int | None:
        """GPU address of the QMD that is launched after this grid, None if there is none."""
        if not self.flag("DEPENDENT_QMD_SCHEDULE_ENABLE"):
            return None
        return self.structure["DEPENDENT_QMD_POINTER"].bytes(self.number)


__all__ = ["CONSTANT_SLOTS", "QMD_BYTES", "VERSIONS", "Launch", "version_of"]
