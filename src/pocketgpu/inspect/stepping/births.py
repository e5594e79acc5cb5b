"""Where NaNs and infinities first appear in a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.stepping.register_values import FORMATS, Value
from pocketgpu.inspect.stepping.step import Step
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Birth(Displayed):
    """A NaN or infinity that appeared.

    value: the new value, with the register and component that it was written to. inputs: what it was computed from.
    computed: whether `step` computed it from finite numbers; if not, it came from outside (an input, a constant,
    memory), and `step` read it.
    """

    step: Step
    value: Value
    inputs: tuple[Value, ...]
    computed: bool

    def __str__(self) -> str:
        where = f"step {self.step.index} at {self.step.address:#06x}, {self.step.text}"
        if not self.computed:
            return f"{self.value.name} was read as {self.value.shown}: {where}"
        made = ", ".join(f"{one.name} = {one.shown}" for one in self.inputs)
        return f"{self.value.name} became {self.value.shown}: {where}" + f" of {made}" * bool(made)

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step.index, "address": f"{self.step.address:#x}", "text": self.step.text,
            "value": self.value.to_json(), "inputs": [one.to_json() for one in self.inputs], "computed": self.computed,
        }  # fmt: skip


def births(steps: Sequence[Step], special: Callable[[Value], bool]) -> Iterator[Birth]:
    """All special values that do not result from other special values, in order.

    A register without a type (of a Switch) counts when an instruction reads it as a float. Copies of values that were
    reported are not reported again.
    """
    reported: set[str] = set()  # registers with a special value that was reported
    for step in steps:
        strange = [value for value in step.reads if value.kind in FORMATS and special(value)]
        for value in strange:
            if not reported & set(value.names):
                reported.update(value.names)
                yield Birth(step, value, (), False)
        known = {name: bits for value in step.reads for name, bits in value.words.items() if name in reported}
        for change in step.writes:
            inputs = step.reads if change.of is None else tuple(step.reads[i] for i in change.of)
            floats = [value for value in inputs if value.kind in FORMATS]
            if change.kind in FORMATS:
                is_special = special(change.after)
                if is_special and not any(special(value) for value in floats):
                    yield Birth(step, change.after, inputs, True)
            else:
                is_special = any(word in known.values() for word in change.after.words.values())
            if is_special:
                reported.update(change.names)
            else:
                reported.difference_update(change.names)


__all__ = ["Birth", "births"]
