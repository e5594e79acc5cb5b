"""Why the channel's parser stops, and what changes it."""

from __future__ import annotations

(
    RUNNING, ENDED, EFFECT, UNKNOWN, STAGED, STAGE_FULL, ODD_STOP, MACRO_BUDGET, DEFERRED_FULL, DRAW, DRAWN, RESUME
) = range(12)  # fmt: skip
"""Why a run of the parser ended. DRAW is never final: a draw comes next. DRAWN: quick draws were made, and Python must
process them; RESUME: the parser continues with the last one."""

ODD = {
    name: 1 << bit
    for bit, name in enumerate(
        (
            "missing_parameter", "leftover_parameter", "branch_in_slot", "instruction", "macro_method", "macro_call",
            "ram_overflow", "header", "inline_data", "constant",
        )
    )
}  # fmt: skip
"""Errors that hardware would report; the parser stops at the first of each kind in a submission."""

PARSE_CHOICES = ("mme.reads", "mme.wide_shift", "channel.illegal_header")
"""Choices with two values that change the compiled parser."""
