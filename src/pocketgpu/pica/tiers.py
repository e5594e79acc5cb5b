"""Two tiers of code for what a guest programs: general code that draws anything, and specialised code that is faster.

Nobody waits for specialised code while general code is at hand. Both give the same bits, so it does not matter when the
one takes over.
"""

from __future__ import annotations

from typing import Any

from ..lanes import Engine, Kernel

TIERS = ("auto", "general", "specialised")
# Machine code is never unloaded; a guest that makes up more states than this has had its share. Programs have dozens.
MAX_SPECIALISED = 1000
# Without any general code at hand, so many specialisations are made on the spot: making general code takes as long.
ON_THE_SPOT = 6
# How many specialisations of a kernel have been asked for in this process, and how many were made on the spot.
_made: dict[Kernel, int] = {}
_on_the_spot: dict[Kernel, int] = {}


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
    if _made.get(kernel, 0) >= MAX_SPECIALISED:
        return True
    if not asked:
        _made[kernel] = _made.get(kernel, 0) + 1
    if not engine.loaded(kernel, **general):
        if engine.has(kernel, **special):
            return False  # from the disk, at once
        spots = _on_the_spot.get(kernel, 0)
        if spots < ON_THE_SPOT and not engine.has(kernel, **general):
            # Neither is there. The special one is made sooner; the general one will serve new states later on.
            if not spots:
                engine.later(kernel, **general)
            _on_the_spot[kernel] = spots + 1
            return False
    if not asked:
        engine.later(kernel, **special)
    return True
