"""Programs come to an end: instructions are counted per vertex, and over all vertices of a submission.

The console has no such limits: a program that does not end hangs it. Both limits lie far beyond what programs do, so
that what is stopped here would have been a hang, or minutes of nothing, on the console as well.
"""

from __future__ import annotations

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.pica.core.layout import CONTROL

# Instructions that one vertex may run; beyond it the program is taken to hang.
INSTRUCTION_LIMIT = 1 << 16
# Instructions of all vertices of one submission: hundreds of frames' worth.
SUBMISSION_LIMIT = 1 << 32
# Reasons in HANG, one bit each.
ENDLESS, BREAK_OUTSIDE = 1, 2
_LOW = 16  # bits of the count that a word of its own holds


def settle(k: Lang, control: int, stuck: Value, steps: Value | None, inside: Value) -> None:
    """Count what the vertices at hand have run; set HANG to the reasons if one is stuck, or all together ran too much.

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
        # Who is stuck without having run too much came to a BREAK that has no loop to leave.
        over = stuck & inside & (steps > INSTRUCTION_LIMIT if steps is not None else k.iota() < 0)
        lost = stuck & inside & ~over
        reasons = k.select(k.any(over), ENDLESS, 0) | k.select(k.any(lost), BREAK_OUTSIDE, 0)
        k.store(I32, control + CONTROL.HANG, k.load(I32, control + CONTROL.HANG) | reasons)
