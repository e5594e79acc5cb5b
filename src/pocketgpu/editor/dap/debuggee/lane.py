"""A lane that is stepped through: its trace, the place in it, and how places are found by steps, lines and calls.

A place is the number of the step that comes next; the last place is the end of the trace.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.editor.dap.debuggee.documents import Documents
from pocketgpu.editor.dap.debuggee.memory import LaneMemory
from pocketgpu.editor.dap.expressions import Expression
from pocketgpu.editor.dap.expressions.nodes import Typed
from pocketgpu.editor.dap.expressions.values import encoded
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.calls import Calls, calls_of
from pocketgpu.inspect.stepping.company import Range
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.memory_words import WORD, memory_word
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.trace import Trace

Make = Callable[[Forced, Mapping[int, Forced], "Sequence[Range] | None"], Trace]
"""Makes a trace: with words that registers are given on the way, with those of other lanes, by their number, and with
ranges of memory that are kept; None: without memory."""
SINGLE = ("f32", "i32", "u32")
"""Types of expressions whose values are one word each."""


class Time(Protocol):
    """Where the lanes of a session stand (`group.py`)."""

    working: Callable[[str], AbstractContextManager[None]]

    def place(self, lane: Lane) -> int: ...
    def tick(self, lane: Lane) -> int: ...
    def overrides_now(self) -> dict[int, dict[int, Mapping[str, int]]]: ...
    def replace(self, lane: Lane, overrides: Mapping[int, Forced]) -> None: ...
    def others(self, lane: Lane) -> Mapping[int, Forced]: ...
    def traced(self, lane: Lane) -> None: ...


class PlacedRegisters:
    """Registers, constants and words of memory at a place, for expressions. now: at the lane's time; else when the lane
    comes to the place."""

    def __init__(self, lane: Lane, place: int, now: bool) -> None:
        self._lane, self._trace, self._place, self._now = lane, lane.trace, place, now

    def find(self, name: str) -> Value | None:
        trace = self._trace
        if name in trace.start or name in trace.constants:
            return trace.value_at(name, self._place)
        meant = (trace.listing.register(name) if trace.listing is not None else None) or ""
        if meant in trace.start or meant in trace.constants:
            return trace.value_at(meant, self._place)
        word = memory_word(name)
        if word is None:
            return None
        tick = self._lane.time.tick(self._lane) if self._now else trace.tick(self._place)
        data, _ = self._lane.memory.read(*word, WORD, tick)
        return Value((name,), int.from_bytes(data, "little")) if len(data) == WORD else None


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
        self.name, self.make = name, make
        self.number = 0
        """Among the lanes of the session."""
        self.overrides: dict[int, Mapping[str, int]] = {}
        self.version = 0
        """Goes up with each trace."""
        self._trace: Trace | None = None
        self._time: Time | None = None

    def join(self, time: Time, number: int) -> None:
        """Become one of the lanes of a session."""
        self._time, self.number = time, number

    @property
    def time(self) -> Time:
        assert self._time is not None
        return self._time

    @property
    def trace(self) -> Trace:
        """The trace, which is made when it is first asked for.

        :raises PocketGPUError: the lane cannot be traced.
        """
        if self._trace is None:
            with self.time.working(f"tracing {self.name}"):
                trace = self.make(self.overrides, self.time.others(self), None)
            if not trace.steps:
                raise UsageError(f"{self.name} runs no instruction", hint=trace.cut or None)
            self._trace = trace
            self.time.traced(self)
            gc.freeze()  # else the collector looks at all of it again and again, in the middle of steps
        return self._trace

    @property
    def is_traced(self) -> bool:
        return self._trace is not None

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

    @cached_property
    def memory(self) -> LaneMemory:
        """Memory as this lane sees it."""
        return LaneMemory(self)

    @property
    def place(self) -> int:
        """The number of the step that comes next."""
        return self.time.place(self)

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.trace)

    @property
    def instruction(self) -> int:
        """The instruction at the place; the last one at the end."""
        return self.trace[min(self.place, len(self.trace) - 1)].number

    def registers(self, place: int | None = None) -> PlacedRegisters:
        return PlacedRegisters(self, self.place if place is None else place, place is None)

    # -- what-if ------------------------------------------------------------------------------------------------------
    @property
    def state(self) -> tuple[Trace | None, dict[int, Mapping[str, int]], dict[str, Any]]:
        """The trace and all that was made of it, to bring it back."""
        return self._trace, self.overrides, {name: self.__dict__[name] for name in _MADE if name in self.__dict__}

    @state.setter
    def state(self, kept: tuple[Trace | None, dict[int, Mapping[str, int]], dict[str, Any]]) -> None:
        self._trace, self.overrides, made = kept
        self._forget_made()
        self.__dict__.update(made)

    def begin_again(self, overrides: dict[int, Mapping[str, int]]) -> None:
        """Make the trace once more when it is asked for, with other what-ifs."""
        self._trace, self.overrides = None, overrides
        self._forget_made()

    def _forget_made(self) -> None:
        self.version += 1
        for name in _MADE:
            self.__dict__.pop(name, None)

    def set(self, target: Expression, value: Expression) -> list[str]:
        """What-if: give registers or words of memory other values at this place; what follows is computed again.

        Returns their names.

        :raises UsageError: nothing there can be set, or the values do not fit.
        """
        registers = self.registers()
        names = target.names(registers)
        found = [registers.find(name) for name in names]
        if not names or None in found:
            raise UsageError("only registers, constants and words of memory can be set")
        wanted = target.kind if isinstance(target, Typed) and target.kind in SINGLE else ""
        kinds = [wanted or one.kind for one in found if one is not None]
        self.force(dict(zip(names, words_for(kinds, value, registers), strict=True)))
        return names

    def force(self, words: Mapping[str, int]) -> None:
        """Give registers, constants or words of memory other words at this place.

        :raises UsageError: one of them cannot be set.
        """
        if self.at_end:
            raise UsageError("the program has ended: nothing follows", hint="Step back first.")
        changed = self.time.overrides_now()
        own = changed.setdefault(self.number, {})
        own[self.place] = {**own.get(self.place, {}), **words}
        self.time.replace(self, changed)


_MADE = ("ways", "memory")
"""What is made of a trace."""


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
