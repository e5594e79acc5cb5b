"""Instruction limits, so that programs end: per vertex, and over all vertices of a submission.

The console has no such limits: an endless program hangs it. Both limits are far more than programs need, so a program
that is stopped here would hang on the console too, or run for minutes.
"""

from __future__ import annotations

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.pica.core.layout import CONTROL

# Instructions that one vertex may run; a program with more counts as a hang.
INSTRUCTION_LIMIT = 1 << 16
# Instructions of all vertices of one submission: as many as in hundreds of frames.
SUBMISSION_LIMIT = 1 << 32
# Reasons in HANG, one bit each.
ENDLESS, BREAK_OUTSIDE = 1, 2
_LOW = 16  # bits of the count in the low word


def settle(k: Lang, control: int, stuck: Value, steps: Value | None, inside: Value) -> None:
    """Count the instructions of these vertices; set HANG to the reasons if a vertex is stuck or the total is too large.

    The sum is over vertices: it does not depend on how many lanes the machine has.
    """
    if steps is not None:
        low, high = control + CONTROL.SHADER_STEPS_LOW, control + CONTROL.SHADER_STEPS
        total = k.load(I32, low) + k.reduce("add", k.select(inside, k.splat(steps), 0))
        units = k.load(I32, high) + total.lsr(_LOW)
        k.store(I32, low, total & ((1 << _LOW) - 1))
        k.store(I32, high, units)
        for _ in k.when(units > SUBMISSION_LIMIT >> _LOW):
            k.store(I32, control + CONTROL.HANG, ENDLESS)
    for _ in k.when(k.any(stuck & inside)):
        # A vertex that is stuck below the limit reached a BREAK without a loop.
        over = stuck & inside & (steps > INSTRUCTION_LIMIT if steps is not None else k.iota() < 0)
        lost = stuck & inside & ~over
        reasons = k.select(k.any(over), ENDLESS, 0) | k.select(k.any(lost), BREAK_OUTSIDE, 0)
        k.store(I32, control + CONTROL.HANG, k.load(I32, control + CONTROL.HANG) | reasons)
