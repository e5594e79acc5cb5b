"""A trace: the steps of one lane of a program from its beginning, with registers at each step and queries."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from pocketgpu.displayed import Displayed, line_of, table_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.births import Birth, births
from pocketgpu.inspect.stepping.forced_registers import Forced, last_forced
from pocketgpu.inspect.stepping.groups import RegisterGroup
from pocketgpu.inspect.stepping.listing import ProgramListing
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.schedule import Schedule
from pocketgpu.inspect.stepping.step import Step
from pocketgpu.inspect.stepping.trace_memory import TraceMemory
from pocketgpu.inspect.stepping.visits import Visits
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

COPY_EVERY = 64
"""How many steps are between copies of all registers; `at` starts from a copy."""


class Registers:
    """All registers at one moment, by name: `registers["r0.x"]` is a number, `registers.word("r0.x")` its 32 bits."""

    def __init__(self, words: Mapping[str, int], kinds: Mapping[str, str]) -> None:
        self._words, self._kinds = words, kinds

    def value(self, name: str) -> Value:
        """A register as a Value.

        :raises UsageError: there is no register of the name.
        """
        if name not in self._words:
            near = ", ".join([one for one in self._words if one.startswith(name)][:4]) or ", ".join([*self._words][:4])
            raise UsageError(f"there is no register {name!r}", hint=f"Such as {near}.")
        return Value((name,), self._words[name], self._kinds.get(name, "bits"))

    def word(self, name: str) -> int:
        """The 32 bits of a register."""
        return self.value(name).bits

    def float(self, name: str) -> float:
        """The 32 bits of a register as a float."""
        number: float = struct.unpack("<f", self.word(name).to_bytes(4, "little"))[0]
        return number

    def vector(self, name: str) -> tuple[Any, ...]:
        """x, y, z, w of a register of a 3DS, such as "r0"."""
        return tuple(self[f"{name}.{component}"] for component in "xyzw")

    def __getitem__(self, name: str) -> Any:
        return self.value(name).number

    def __contains__(self, name: object) -> bool:
        return name in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __repr__(self) -> str:
        names = [*self._words]
        return line_of(self, f"{counted(len(names), 'word')}: {names[0]} to {names[-1]}" if names else "none")

    def __str__(self) -> str:
        return "\n".join(f"{name} = {self.value(name).shown}" for name in self)

    def _repr_html_(self) -> str:
        rows = ((one.name, f"{one.bits:#010x}", one.shown) for one in map(self.value, self))
        return table_html(("register", "word", "value"), rows, len(self))

    def to_json(self) -> list[dict[str, Any]]:
        return [self.value(name).to_json() for name in self]


@dataclass(eq=False, repr=False)
class Trace(Displayed):
    """The steps of one lane.

    console: "3ds" or "switch". name: of the program. lane: which vertex, primitive or thread, as text. start: words of
    all registers before the first step; kinds: their types (values.KINDS; "bits" if not given). cut: why the trace ends
    before the program; "" if it has the whole program. hung: the program would not end. result: the result of the
    program, where the console's tracer documents one. address: of the vertex, primitive or thread in a capture, or "".
    listing: the program; None if it is not known. overrides: words that registers were given right before a step, by
    step and register. groups: the registers by what they are for. uniforms: constants that were set for the run.
    schedule: what the warp ran; None where lanes run one by one. memory: of the run, if it was to be kept.
    """

    console: str
    name: str
    lane: str
    start: Mapping[str, int]
    kinds: Mapping[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    cut: str = ""
    hung: bool = False
    result: Any = None
    address: str = ""
    listing: ProgramListing | None = None
    overrides: Forced = field(default_factory=dict)
    groups: tuple[RegisterGroup, ...] = ()
    uniforms: Mapping[str, Value] = field(default_factory=dict)
    schedule: Schedule | None = None
    memory: TraceMemory | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> Step:
        return self.steps[index]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    # -- time ---------------------------------------------------------------------------------------------------------
    def tick(self, place: int) -> int:
        """When the lane stands before a step, in instructions of its warp, or of itself where lanes run one by one."""
        return place if self.schedule is None else self.schedule.tick(self.schedule.lane, place)

    # -- registers ----------------------------------------------------------------------------------------------------
    @cached_property
    def _copies(self) -> list[dict[str, int]]:
        words = dict(self.start)
        words.update(self._forced(0))
        copies = [dict(words)]
        for step in self.steps:
            self._apply(words, step)
            if (step.index + 1) % COPY_EVERY == 0:
                copies.append(dict(words))
        return copies

    def at(self, step: int) -> Registers:
        """All registers before a step; step `len(trace)` means the end. Negative numbers count from the end.

        :raises UsageError: there is no such step.
        """
        index = step + len(self.steps) + 1 if step < 0 else step
        if not 0 <= index <= len(self.steps):
            raise UsageError(f"there is no step {step}", hint=f"The trace has steps 0 to {len(self.steps)}.")
        words = dict(self._copies[index // COPY_EVERY])
        for one in self.steps[index // COPY_EVERY * COPY_EVERY : index]:
            self._apply(words, one)
        return Registers(words, self.kinds)

    def _apply(self, words: dict[str, int], step: Step) -> None:
        """From the registers before a step to those before the next one."""
        for change in step.writes:
            words.update(change.after.words)
        words.update(self._forced(step.index + 1))

    def _forced(self, step: int) -> dict[str, int]:
        """The words that registers were given right before a step."""
        return {name: word for name, word in self.overrides.get(step, {}).items() if name in self.start}

    def value_at(self, register: str, step: int) -> Value:
        """A register before a step, or a constant, as what it was last written as; quick, without all registers.

        :raises UsageError: there is no such register.
        """
        origin = self.origin(register, step)
        if self.overrides:
            return self._value_since(register, origin, step)
        found = self._values.get((register, origin))
        if found is None:
            found = self._values[register, origin] = self._value_since(register, origin, step)
        return found

    @cached_property
    def _values(self) -> dict[tuple[str, int | None], Value]:
        """Registers by the step that wrote them: who steps asks for all of them at each place, and few have changed."""
        return {}

    def _value_since(self, register: str, origin: int | None, step: int) -> Value:
        """A register before a step. origin: the step that wrote it last."""
        if register not in self.start:
            found = self.constants.get(register)
            if found is None:
                return Registers(self.start, self.kinds).value(register)
            forced = last_forced(self.overrides, register, 0, step)
            return found if forced is None else Value((register,), forced, found.kind)
        kind, word, since = self.kinds.get(register, "bits"), self.start[register], -1
        if origin is not None:
            change = next(one for one in reversed(self.steps[origin].writes) if register in one.names)
            word, since = change.after.words[register], origin
            kind = change.kind if len(change.names) == 1 else "bits"
        forced = last_forced(self.overrides, register, since + 1, step)
        return Value((register,), word if forced is None else forced, kind)

    @cached_property
    def constants(self) -> dict[str, Value]:
        """The constants that were set for the run, and those that steps read."""
        found = dict(self.uniforms)
        for step in self.steps:
            for value in step.reads:
                if value.names[0] not in self.start and value.names[0] not in found:
                    single = len(value.names) == 1
                    found |= {name: Value((name,), word, value.kind if single else "bits")
                              for name, word in value.words.items()}  # fmt: skip
        return found

    @property
    def end(self) -> Registers:
        """All registers after the last step."""
        return self.at(len(self.steps))

    def where(self, register: str) -> list[Step]:
        """The steps that wrote a register ("R5", "r0.x"), or any component of one ("r0")."""
        wanted = f"{register}."
        return [
            step for step in self.steps
            if any(name == register or name.startswith(wanted) for one in step.writes for name in one.names)
        ]  # fmt: skip

    def writer(self, register: str, before: int) -> Step | None:
        """The last step before step `before` that wrote a register; None if it still has its first value."""
        written = self.where(register)
        found = bisect_right([step.index for step in written], before - 1)
        return written[found - 1] if found else None

    @cached_property
    def _writes(self) -> dict[str, list[int]]:
        """The steps that wrote each register, in order."""
        found: dict[str, list[int]] = {}
        for step in self.steps:
            for change in step.writes:
                for name in change.names:
                    found.setdefault(name, []).append(step.index)
        return found

    def origin(self, register: str, before: int) -> int | None:
        """Like `writer`, for one register ("R5", "r0.x"): the index of the step; quick for all registers at a step."""
        written = self._writes.get(register)
        found = bisect_right(written, before - 1) if written else 0
        return written[found - 1] if written and found else None

    @cached_property
    def touched(self) -> frozenset[str]:
        """The registers that some step reads or writes."""
        read = {name for step in self.steps for value in step.reads for name in value.names}
        return frozenset(name for name in self.start if name in read or name in self._writes)

    # -- queries ------------------------------------------------------------------------------------------------------
    @cached_property
    def visits(self) -> Visits:
        """Which instructions and blocks ran, how often and when.

        :raises UsageError: the trace has no listing.
        """
        if self.listing is None:
            raise UsageError("the program of this trace is not known", location=self.address or None)
        return Visits(self.listing, np.fromiter((step.number for step in self.steps), np.int64, len(self.steps)))

    @cached_property
    def hits(self) -> Counter[int]:
        """How often the instruction at each address ran in this lane, including runs with a false guard."""
        return Counter(step.address for step in self.steps)

    @cached_property
    def nans(self) -> list[Birth]:
        """Every NaN that does not result from another NaN: computed here, or read from outside."""
        return list(births(self.steps, lambda value: value.is_nan))

    @cached_property
    def infinities(self) -> list[Birth]:
        """Every infinity that does not result from another infinity or a NaN."""
        found = births(self.steps, lambda value: value.is_infinite or value.is_nan)
        return [birth for birth in found if birth.value.is_infinite]

    @property
    def first_nan(self) -> Birth | None:
        """The first NaN that was computed from operands without a NaN; None if there is none."""
        return next((birth for birth in self.nans if birth.computed), None)

    @property
    def first_infinite(self) -> Birth | None:
        """The first infinity that was computed from finite numbers; None if there is none."""
        return next((birth for birth in self.infinities if birth.computed), None)

    # -- as text and data ---------------------------------------------------------------------------------------------
    @property
    def title(self) -> str:
        cut = f", cut: {self.cut}" if self.cut else ""
        text = f"{self.name}, {self.lane}: {counted(len(self.steps), 'step')}{cut}"
        return f"{text}  {self.address}" if self.address else text

    def part(self, first: int = 0, last: int | None = None) -> Sequence[Step]:
        """Steps first to last, both included."""
        return self.steps[max(first, 0) : None if last is None else last + 1]

    def text(self, first: int = 0, last: int | None = None) -> str:
        """A line for each of the steps first to last, both included."""
        return "\n".join([self.title, *(str(step) for step in self.part(first, last))])

    def __str__(self) -> str:
        return self.text()

    def to_json(self, first: int = 0, last: int | None = None) -> dict[str, Any]:
        """Everything as plain data: words as digits, floats also as numbers, null where JSON has none."""
        part = self.part(first, last)
        begin = part[0].index if part else min(max(first, 0), len(self.steps))
        nan, infinite = self.first_nan, self.first_infinite
        return {
            "console": self.console,
            "program": self.name,
            "lane": self.lane,
            "address": self.address or None,
            "steps_in_all": len(self.steps),
            "cut": self.cut or None,
            "hung": self.hung,
            "registers_before": self.at(begin).to_json(),
            "steps": [step.to_json() for step in part],
            "hits": {f"{address:#x}": count for address, count in sorted(self.hits.items())},
            "first_nan": nan.to_json() if nan is not None else None,
            "first_infinite": infinite.to_json() if infinite is not None else None,
            "nans_from_outside": [birth.to_json() for birth in self.nans if not birth.computed],
        }

    def _repr_html_(self) -> str:
        head = ("step", "address", "instruction", "read", "written")
        rows = ((one.index, f"{one.address:#06x}", one.text, one.read_text, one.happened) for one in self.steps)
        return title_html(self.title) + table_html(head, rows, len(self.steps))


__all__ = ["Registers", "Trace"]
