"""Memory fill (PSC0, PSC1): a pattern of two, three or four bytes over a range.

Source: 3dbrew GPU/External Registers, "Memory Fill"; the end of a 24-bit fill is a choice (fill.tail_24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from pocketgpu.facts.pica_enums import FILL_WIDTH
from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.engines.work import Work
from pocketgpu.pica.memory.guest import GuestMemory

BYTES = FILL_WIDTH.in_order({"BITS_16": 2, "BITS_24": 3, "BITS_32": 4, "BITS_24_3": 3})
"""Bytes of the pattern, by PSCn_CONTROL.width."""
_STEP = 96  # bytes written per step: a multiple of every pattern and of eight words
# Limit of cached fills; far more than programs use.
_MAX_PLANS = 4096


@kernel(8, target=I64, steps=I32, word0=I32, word1=I32, word2=I32)
def fill_steps(k: Lang, target: Value, steps: Value, word0: Value, word1: Value, word2: Value) -> None:
    """Write the 12 bytes of three words repeatedly: `steps` times 96 bytes from `target` (a multiple of 4)."""
    words = [k.splat(w) for w in (word0, word1, word2)]
    turn = [i % 3 for i in range(24)]
    vectors = []
    for v in range(3):
        lanes = turn[8 * v : 8 * v + 8]
        pick = lambda n, lanes=lanes: k.pattern_of([int(i == n) for i in lanes]) == 1
        vectors.append(k.select(pick(0), words[0], k.select(pick(1), words[1], words[2])))
    for i in k.range(0, steps):
        at = k.to_i64(i * _STEP) + target
        for v, vector in enumerate(vectors):
            k.store(I32, at + 32 * v, vector)


@dataclass(frozen=True)
class _FillPlan:
    """A fill as native code runs it, and the bytes after its last whole step; or the reason why nothing is filled."""

    problem: str | None = None
    arguments: tuple[int, ...] = ()
    written: tuple[int, int] = (0, 0)
    rest: np.ndarray | None = None
    tail: np.ndarray | None = None


class MemoryFill:
    """Runs fills. Each fill is prepared once, because programs clear the same buffers every frame."""

    def __init__(self, memory: GuestMemory, engine: Engine, choices: Mapping[str, str]) -> None:
        self.memory, self._engine = memory, engine
        self._whole_groups = choices["fill.tail_24"] == "whole-groups"
        self._plans: dict[tuple[int, int, int, int], _FillPlan] = {}

    @cached_property
    def _steps(self) -> Callable[..., None]:
        return self._engine.get(fill_steps)

    def run(self, start: int, end: int, value: int, width: int) -> str | None:
        """Fill physical [start, end) with the pattern width PSCn_CONTROL.width; returns why nothing was filled, or
        None.

        The phase of the pattern starts at `start`; the low byte of `value` comes first.
        """
        key = (start, end, value, width)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._plan(*key)
            self.memory.populate(*plan.written)
        if plan.arguments:
            self._steps(*plan.arguments)
            if plan.rest is not None:
                plan.rest[:] = plan.tail
            self.memory.touch(*plan.written)
        return plan.problem

    def repeated(self, start: int, end: int, value: int, width: int) -> Work | None:
        """A fill that ran, if it is nothing but one native call."""
        plan = self._plans[start, end, value, width]
        if not plan.arguments or plan.rest is not None:
            return None
        place, *numbers = plan.arguments
        return Work(self._engine.handle(fill_steps), (place,), tuple(numbers), plan.written, 0, plan.written[1])

    def _plan(self, start: int, end: int, value: int, width: int) -> _FillPlan:
        size = end - start
        if size <= 0 or start == 0:
            return _FillPlan()
        step = BYTES[width]
        size += -size % 3 if step == 3 and self._whole_groups else 0
        offset = self.memory.offset_of(start, size)
        if offset is None:
            return _FillPlan(f"memory fill of {start:#010x}..{end:#010x} leaves memory")
        pattern = (value & ((1 << (8 * step)) - 1)).to_bytes(step, "little") * (12 // step)
        steps = size // _STEP
        rest = tail = None
        if size % _STEP:
            rest = self.memory.arena[offset + steps * _STEP : offset + size]
            tail = np.resize(np.frombuffer(pattern, np.uint8), len(rest))
        words = np.frombuffer(pattern, "<i4").tolist()
        return _FillPlan(None, (offset, steps, *words), (offset, size), rest, tail)
