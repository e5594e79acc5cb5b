"""A lane that is stepped through: its trace, the place in it, and how places are found by steps, lines and calls.

A place is the number of the step that comes next; the last place is the end of the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.editor.dap.debuggee.documents import Documents
from pocketgpu.editor.dap.expressions import Expression
from pocketgpu.editor.dap.expressions.values import encoded
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.calls import Calls, calls_of
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.trace import Trace

Make = Callable[[Forced], Trace]
"""Makes a trace, with words that registers are given on the way."""


class PlacedRegisters:
    """Registers and constants at a place, for expressions."""

    def __init__(self, trace: Trace, place: int) -> None:
        self._trace, self._place = trace, place

    def find(self, name: str) -> Value | None:
        trace = self._trace
        if name in trace.start or name in trace.constants:
            return trace.value_at(name, self._place)
        meant = (trace.listing.register(name) if trace.listing is not None else None) or ""
        return trace.value_at(meant, self._place) if meant in trace.start or meant in trace.constants else None


class Ways:
    """Places by number, for one trace: the calls around each, and where lines begin."""

    def __init__(self, trace: Trace, documents: Documents) -> None:
        self.trace, self.calls = trace, calls_of(trace)
        self.end = len(trace)
        self.numbers = np.fromiter((step.number for step in trace.steps), np.int64, self.end)
        self.depths = np.fromiter(map(len, self.calls), np.int64, self.end + 1)
        lines = documents.line_ids[self.numbers] if self.end else self.numbers
        new = np.ones(self.end + 1, np.bool_)
        if self.end > 1:
            same = (lines[1:] == lines[:-1]) & (self.numbers[1:] > self.numbers[:-1])
            new[1:-1] = ~same | (self.depths[1:-1] != self.depths[:-2])
        self.line_starts = new
        """Places at which another line begins, or the same one once more."""

    @cached_property
    def every(self) -> NDArray[np.bool_]:
        return np.ones(self.end + 1, np.bool_)

    def step(self, place: int, *, forward: bool, into: bool, lines: bool) -> int:
        """The place after a step: of a line or of an instruction, into calls or over them."""
        good = self.line_starts if lines else self.every
        good = good if into else good & (self.depths <= self.depths[place])
        if forward:
            later = np.flatnonzero(good[place + 1 :])
            return place + 1 + int(later[0]) if len(later) else self.end
        earlier = np.flatnonzero(good[:place])
        return int(earlier[-1]) if len(earlier) else 0

    def out(self, place: int) -> int:
        """The place after the return from a routine."""
        later = np.flatnonzero(self.depths[place + 1 :] < self.depths[place])
        return place + 1 + int(later[0]) if len(later) else self.end

    def at_call(self, place: int, depth: int) -> int:
        """The place at which the routine of a depth begins, of those around a place; 0 for the program itself."""
        calls = self.calls[place]
        return calls[depth - 1] + 1 if 0 < depth <= len(calls) else 0


class Lane:
    """A lane, which is traced when somebody looks at it.

    :param name: as editors show it.
    :param make: makes its trace.
    """

    def __init__(self, name: str, make: Make) -> None:
        self.name, self._make = name, make
        self.overrides: dict[int, Mapping[str, int]] = {}
        self.place = 0
        self.version = 0
        """Goes up with each trace."""
        self._trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        """The trace, which is made when it is first asked for.

        :raises PocketGPUError: the lane cannot be traced.
        """
        if self._trace is None:
            self._trace = self._traced({})
        return self._trace

    @property
    def is_traced(self) -> bool:
        return self._trace is not None

    def _traced(self, overrides: dict[int, Mapping[str, int]]) -> Trace:
        trace = self._make(overrides)
        if not trace.steps:
            raise UsageError(f"{self.name} runs no instruction", hint=trace.cut or None)
        return trace

    @cached_property
    def documents(self) -> Documents:
        """Texts of the program.

        :raises UsageError: the program is not known.
        """
        listing = self.trace.listing
        if listing is None:
            raise UsageError("the program of this lane is not known", location=self.name)
        return Documents(listing, self.trace.name)

    @cached_property
    def ways(self) -> Ways:
        return Ways(self.trace, self.documents)

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.trace)

    @property
    def number(self) -> int:
        """The instruction at the place; the last one at the end."""
        return self.trace[min(self.place, len(self.trace) - 1)].number

    def registers(self, place: int | None = None) -> PlacedRegisters:
        return PlacedRegisters(self.trace, self.place if place is None else place)

    # -- what-if ------------------------------------------------------------------------------------------------------
    def restart(self) -> None:
        """Back to the beginning, without what-ifs."""
        if self.overrides:
            self._replace({})
        self.place = 0

    def set(self, target: Expression, value: Expression) -> list[str]:
        """What-if: give registers other values at this place; what follows is computed again. The registers' names.

        :raises UsageError: these are no registers, or the values do not fit them.
        """
        registers = self.registers()
        names = target.names(registers)
        if not names or any(name not in self.trace.start for name in names):
            raise UsageError("only registers can be set", hint="Constants are in the configuration.")
        if self.at_end:
            raise UsageError("the program has ended: nothing follows", hint="Step back first.")
        words = words_for([self.trace.value_at(name, self.place).kind for name in names], value, registers)
        changed = {step: one for step, one in self.overrides.items() if step <= self.place}
        changed[self.place] = {**changed.get(self.place, {}), **dict(zip(names, words, strict=True))}
        self._replace(changed)
        return names

    def _replace(self, overrides: dict[int, Mapping[str, int]]) -> None:
        self._trace, self.overrides = self._traced(overrides), overrides
        self.version += 1
        self.__dict__.pop("ways", None)
        self.place = min(self.place, len(self._trace))


def words_for(kinds: list[str], value: Expression, registers: PlacedRegisters) -> list[int]:
    """Words for registers of some types.

    :raises UsageError: the value has another number of components.
    """
    found: Any = value.value(registers)
    numbers = found if isinstance(found, tuple) else (found,)
    words = value.words(registers)
    if len(words) == len(kinds) and (value.is_raw or value.names(registers)):
        return words
    if len(numbers) == 1:
        numbers = numbers * len(kinds)
    if len(numbers) != len(kinds):
        raise UsageError(f"this has {len(numbers)} components, not {len(kinds)}")
    return [encoded(number, kind) for number, kind in zip(numbers, kinds, strict=True)]


__all__ = ["Calls", "Lane", "PlacedRegisters", "Ways", "words_for"]
