"""Two tiers of code for guest state: general code that draws anything, and specialised code that is faster.

Draws never wait for specialised code while general code is available. Both give the same bits, so the time of the
change has no effect on results.
"""

from __future__ import annotations

from typing import Any

from pocketgpu.lanes import Engine, Kernel

TIERS = ("auto", "general", "specialised")
# Machine code is never unloaded, so specialisations are limited. Programs have dozens of states.
MAX_SPECIALISED = 1000
# Without compiled general code, this many specialisations are compiled immediately, because general code takes as long.
ON_THE_SPOT = 6
# For each kernel: specialisations requested in this process, and those compiled immediately.
_made: dict[Kernel, int] = {}
_on_the_spot: dict[Kernel, int] = {}


Code = tuple[Kernel, dict[str, Any]]
"""A kernel with its static values."""


def choose_tier(engine: Engine, special: Code, general: Code, covered: bool, tier: str, asked: bool) -> bool:
    """Whether to use general code for now (the special code is then compiled in the background).

    covered: general code supports the state. tier: "auto", or the tier that must be used. asked: the special code has
    been requested before.
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
            return False  # from the disk, which is fast
        spots = _on_the_spot.get(kernel, 0)
        if spots < ON_THE_SPOT and not engine.has(general[0], **general[1]):
            # Neither is compiled. The special one compiles faster; the general one will be needed for new states.
            if not spots:
                engine.later(general[0], **general[1])
            _on_the_spot[kernel] = spots + 1
            return False
    if not asked:
        engine.later(kernel, **static)
    return True


class Tiered:
    """One piece of code in two tiers: `handle` gives the available one, and keeps the special one once it is
    compiled."""

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
