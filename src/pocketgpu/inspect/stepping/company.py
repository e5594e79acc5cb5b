"""What is recorded, and changed, together with a lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.late_dataclass import dataclass

Range = tuple[int, int]
"""Address and bytes of global memory."""


@dataclass(frozen=True)
class Company:
    """A lane that is traced, among those of its warp or quad, and the memory that is kept with its trace.

    near: the lane that is traced, counted from the one that was named: 1 is the next one. forced: what-ifs of other
    lanes, by their number, which is counted in the same way. keep: global memory that is kept, besides arrays of a
    kernel; None: no memory is kept.
    """

    near: int = 0
    forced: Mapping[int, Forced] = field(default_factory=dict)
    keep: Sequence[Range] | None = None


ALONE = Company()

__all__ = ["ALONE", "Company", "Range"]
