"""Which code draws: special code once it is compiled, general code until then; special code has a limit."""

from __future__ import annotations

from typing import Any

import pytest

from pocketgpu.pica.core.tiers import MAX_SPECIALISED, ON_THE_SPOT, choose_tier


class Compiler:
    """An engine that compiles nothing. ready, stored: what is loaded and what is on the disk; asked: jobs for later."""

    def __init__(self, *ready: str, stored: tuple[str, ...] = (), evaluator: str = "llvm") -> None:
        self.ready, self.stored, self.evaluator = ready, stored, evaluator
        self.asked: list[str] = []

    def loaded(self, kernel: object, name: str) -> bool:
        return name in self.ready

    def has(self, kernel: object, name: str) -> bool:
        return name in (*self.ready, *self.stored)

    def later(self, kernel: object, name: str) -> None:
        self.asked.append(name)


def choose(
    engine: Compiler, kernel: object, name: str = "special", *, covered: bool = True, tier: str = "auto",
    asked: bool = False,
) -> bool:  # fmt: skip
    """Whether general code is to draw."""
    some: Any = (kernel, {"name": name})
    general: Any = (kernel, {"name": "general"})
    used: Any = engine
    return choose_tier(used, some, general, covered, tier, asked)


@pytest.mark.parametrize("covered", [False, True])
@pytest.mark.parametrize("tier", ["special", "general"])
def test_a_tier_that_was_asked_for(covered: bool, tier: str) -> None:
    engine = Compiler("special", "general")
    assert choose(engine, object(), covered=covered, tier=tier) == (covered and tier == "general")
    assert engine.asked == []


def test_states_that_only_special_code_can_draw() -> None:
    assert not choose(Compiler("general"), object(), covered=False)
    assert not choose(Compiler("general", evaluator="numpy"), object())


def test_general_code_until_special_code_is_there() -> None:
    kernel, engine = object(), Compiler("general")
    assert choose(engine, kernel) and engine.asked == ["special"]
    assert choose(engine, kernel, asked=True) and engine.asked == ["special"], "it is compiled once"
    engine.ready = ("general", "special")
    assert not choose(engine, kernel, asked=True)


def test_what_is_on_the_disk_is_used() -> None:
    engine = Compiler(stored=("special", "general"))
    assert not choose(engine, object()) and engine.asked == []
    engine = Compiler(stored=("general",))
    assert choose(engine, object()) and engine.asked == ["special"]


def test_the_first_states_are_compiled_on_the_spot() -> None:
    """General code takes longest to compile: it is begun with the first state, and the first ones do not wait."""
    kernel, engine = object(), Compiler()
    assert [choose(engine, kernel, f"{n}") for n in range(ON_THE_SPOT + 2)] == [False] * ON_THE_SPOT + [True] * 2
    assert engine.asked == ["general", f"{ON_THE_SPOT}", f"{ON_THE_SPOT + 1}"]


def test_there_is_a_limit_to_special_code() -> None:
    kernel, engine = object(), Compiler("general")
    names = [str(n) for n in range(MAX_SPECIALISED + 3)]
    assert all(choose(engine, kernel, name) for name in names) and engine.asked == names[:MAX_SPECIALISED]
    engine.ready = ("general", "0")
    assert not choose(engine, kernel, "0", asked=True), "what was made is still used"
