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
# Kernels whose general code has been asked for in this process, and how many specialisations have.
_on_the_way: set[Kernel] = set()
_made: dict[Kernel, int] = {}


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
        if kernel not in _on_the_way and not engine.has(kernel, **general):
            # Neither is there. The special one is made sooner; the general one will be ready for the next new state.
            _on_the_way.add(kernel)
            engine.later(kernel, **general)
            return False
    if not asked:
        engine.later(kernel, **special)
    return True
