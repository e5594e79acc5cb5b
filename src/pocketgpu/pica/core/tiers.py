"""Two tiers of code for what a guest programs: general code that draws anything, and specialised code that is faster.

Nobody waits for specialised code while general code is at hand. Both give the same bits, so it does not matter when the
one takes over.
"""

from __future__ import annotations

from typing import Any

from pocketgpu.lanes import Engine, Kernel

TIERS = ("auto", "general", "specialised")
# Machine code is never unloaded; a guest that makes up more states than this has had its share. Programs have dozens.
MAX_SPECIALISED = 1000
# Without any general code at hand, so many specialisations are made on the spot: making general code takes as long.
ON_THE_SPOT = 6
# How many specialisations of a kernel have been asked for in this process, and how many were made on the spot.
_made: dict[Kernel, int] = {}
_on_the_spot: dict[Kernel, int] = {}


Code = tuple[Kernel, dict[str, Any]]
"""A kernel with its static values."""


def choose_tier(engine: Engine, special: Code, general: Code, covered: bool, tier: str, asked: bool) -> bool:
    """Whether to take general code for now (and have the special code made meanwhile).

    covered: general code can do it at all. tier: "auto", or the one that must be used. asked: the special code has been
    asked for before.
    """
    if tier != "auto" or not covered or engine.evaluator == "numpy":
        return covered and tier == "general"
    kernel, static = special
    if engine.loaded(kernel, **static):
        return False
    if _made.get(kernel, 0) >= MAX_SPECIALISED:
        return True
    if not asked:
        _made[kernel] = _made.get(kernel, 0) + 1
    if not engine.loaded(general[0], **general[1]):
        if engine.has(kernel, **static):
            return False  # from the disk, at once
        spots = _on_the_spot.get(kernel, 0)
        if spots < ON_THE_SPOT and not engine.has(general[0], **general[1]):
            # Neither is there. The special one is made sooner; the general one will serve new states later on.
            if not spots:
                engine.later(general[0], **general[1])
            _on_the_spot[kernel] = spots + 1
            return False
    if not asked:
        engine.later(kernel, **static)
    return True


class Tiered:
    """One piece of code in two tiers: `handle` gives what is at hand, for good once it is the special one."""

    def __init__(self, engine: Engine, special: Code, general: Code, covered: bool = True) -> None:
        self._engine, self._special, self._general, self._covered = engine, special, general, covered
        self._asked = False
        self._final: int | None = None

    def handle(self, tier: str) -> int:
        """The handle to run now."""
        if self._final is not None:
            return self._final
        if choose_tier(self._engine, self._special, self._general, self._covered, tier, self._asked):
            self._asked = True
            found = self._engine.handle(self._general[0], **self._general[1])
            if tier == "general":
                self._final = found
            return found
        self._final = self._engine.handle(self._special[0], **self._special[1])
        return self._final
