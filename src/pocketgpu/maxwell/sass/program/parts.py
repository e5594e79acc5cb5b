"""Where the code of a long program is cut: each part of it is made as a kernel of its own.

LLVM takes 1 to 2 ms for a plain instruction of 32 lanes. So the code of a program of 1000 instructions would take two
seconds; parts are made one beside the other, and none takes long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import MOST_PARTS

LONGEST = 500
"""Plain instructions of the longest program that is one piece."""
PART = 400
"""Plain instructions of the longest part, unless there would be too many parts."""
_AIMED_AT = 2 * MOST_PARTS // 3
"""So many parts at most are aimed at: as cuts move out of loops, there can be half as many again."""
_PLAIN = 1
_HEAVY = {
    **dict.fromkeys(("HADD2", "HFMA2", "HMUL2"), 24),
    **dict.fromkeys(("DADD", "DFMA", "DMUL", "VABSDIFF4"), 16),
    **dict.fromkeys(("F2F", "F2I", "I2F"), 6),
}
"""Instructions whose code is long: how many plain ones take as long to make. Measured with AVX2, where the ratio is
larger than with AVX-512."""


def cost_of(step: Step) -> int:
    """What the code of an instruction costs, in plain instructions."""
    return _HEAVY.get(step.op, _PLAIN)


def cuts_of(steps: Sequence[Step], reached: Iterable[int], loops: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The first instruction of each part; none for a program that is one piece.

    reached: the instructions that control can reach. loops: first and last instruction of each loop. A cut inside a
    loop costs something each time around, so that the last place inside of the fewest loops is taken.
    """
    order = sorted(reached)
    costs = list(accumulate((cost_of(steps[index]) for index in order), initial=0))
    if costs[-1] <= LONGEST:
        return ()
    size = -(-costs[-1] // min(-(-costs[-1] // PART), _AIMED_AT))
    longest = max(PART, size)
    inside = lambda place: sum(first < order[place] <= last for first, last in loops)
    cuts, begin = [order[0]], 0
    while costs[-1] - costs[begin] > longest:
        nearest, furthest = (bisect_right(costs, costs[begin] + far) - 1 for far in (3 * size // 4, size))
        places = range(max(nearest, begin + 1), max(furthest, begin + 1) + 1)
        begin = min(places, key=lambda place: (inside(place), -place))
        cuts.append(order[begin])
    return tuple(cuts)


__all__ = ["cost_of", "cuts_of"]
