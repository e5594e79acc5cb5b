"""Two tiers of code for what a guest programs: general code that draws anything, and specialised code that is faster.

Nobody waits for specialised code while general code is at hand. Both give the same bits, so it does not matter when the
one takes over.
"""

from __future__ import annotations

from typing import Any

from ..lanes import Engine, Kernel

# Kernels whose general code has been asked for in this process.
_on_the_way: set[Kernel] = set()
TIERS = ("auto", "general", "specialised")


def choose_tier(
    engine: Engine, kernel: Kernel, special: dict[str, Any], general: dict[str, Any], covered: bool, tier: str,
    asked: bool,
) -> bool:  # fmt: skip
    """Whether to take the general specialisation of a kernel for now (and have the special one made meanwhile).

    covered: general code can do it at all. tier: "auto", or the one that must be used. asked: the special one has been
    asked for before.
    """
    if tier != "auto" or not covered or engine.evaluator == "numpy":
        return covered and tier == "general"
    if engine.loaded(kernel, **special):
        return False
    if not engine.loaded(kernel, **general):
        if engine.has(kernel, **special):
            return False  # from the disk, at once
        if not engine.has(kernel, **general):
            # Neither is there. The special one is made sooner; the general one will be ready for the next new state.
            engine.later(kernel, **general)
            return False
    if not asked:
        engine.later(kernel, **special)
    return True


__all__ = ["TIERS", "choose_tier"]
