"""Scopes and variables at a place: registers by what they are for, constants, memory accesses, the instruction.

A variable with parts has a reference; references are good until the lane moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, TypeAlias

from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.expressions.nodes import COMPONENTS
from pocketgpu.editor.dap.expressions.values import decoded, shown
from pocketgpu.editor.dap.protocol.messages import Json
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.late_dataclass import dataclass

MOST_ACCESSES: Final = 200
"""Memory accesses that are shown, the last ones."""
MOST_REFERENCES: Final = 1 << 16
FORMS: Final = ("f32", "f16x2", "i32", "u32")
"""How a word is shown besides its digits."""


Parts: TypeAlias = Callable[[bool], "list[Variable]"]
"""Makes the variables that something has; with hexadecimal digits or without."""


@dataclass(frozen=True)
class Variable:
    """A variable. expression: what it is called in expressions, "" for what is none. parts: what is in it."""

    name: str
    value: str
    kind: str = ""
    expression: str = ""
    parts: Parts | None = None
    settable: bool = False


class References:
    """Numbers by which editors ask for the parts of scopes and variables."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[Parts, Lane]] = {}
        self._next = 1

    def forget(self) -> None:
        """They are no longer good; their numbers are not used again soon."""
        self._parts.clear()
        if self._next > MOST_REFERENCES:
            self._next = 1

    def add(self, parts: Parts, lane: Lane) -> int:
        if len(self._parts) >= MOST_REFERENCES:
            self._parts.clear()
        self._parts[self._next] = parts, lane
        self._next += 1
        return self._next - 1

    def parts(self, reference: int, hexadecimal: bool) -> tuple[list[Variable], Lane]:
        """The parts, and the lane that has them.

        :raises UsageError: the reference is not good.
        """
        if reference not in self._parts:
            raise UsageError("this reference is not good any more", location="variablesReference")
        parts, lane = self._parts[reference]
        return parts(hexadecimal), lane

    def to_json(self, one: Variable, lane: Lane) -> Json:
        found: Json = {
            "name": one.name, "value": one.value,
            "variablesReference": 0 if one.parts is None else self.add(one.parts, lane),
        }  # fmt: skip
        if one.kind:
            found["type"] = one.kind
        if one.expression:
            found["evaluateName"] = one.expression
        if not one.settable:
            found["presentationHint"] = {"attributes": ["readOnly"]}
        return found


def text_of(value: Value, hexadecimal: bool) -> str:
    """A value as an editor shows it: the digits of the word too, where they are not the value itself."""
    if hexadecimal or value.kind == "bits":
        return value.hex
    return value.shown


def forms_of(value: Value) -> list[Variable]:
    """The word of a register in several forms."""
    word, name = value.bits & 0xFFFFFFFF, value.name
    rows = [Variable(form, shown(decoded([word], form)), form, f"{name} as {form}") for form in FORMS]
    return [Variable("hex", value.hex, "bits", f"{name} as bits"), *rows]


def variables_of(values: Iterable[Value], hexadecimal: bool, settable: bool) -> list[Variable]:
    """Registers as variables, components of one vector together."""
    vectors: dict[str, list[Value]] = {}
    for value in values:
        stem, _, letter = value.name.rpartition(".")
        vectors.setdefault(stem if len(letter) == 1 and letter in COMPONENTS and stem else value.name, []).append(value)
    found = []
    for name, parts in vectors.items():
        if len(parts) == 1:
            found.append(_single(parts[0].name, parts[0], hexadecimal, settable))
        else:
            text = "(" + ", ".join(text_of(one, hexadecimal) for one in parts) + ")"
            kind = f"{parts[0].kind} x {len(parts)}"
            found.append(Variable(name, text, kind, name, _components(parts, settable), settable))
    return found


def _single(name: str, value: Value, hexadecimal: bool, settable: bool) -> Variable:
    parts = None if value.kind == "bool" else lambda _: forms_of(value)
    return Variable(name, text_of(value, hexadecimal), value.kind, value.name, parts, settable)


def _components(parts: list[Value], settable: bool) -> Parts:
    return lambda hexadecimal: [_single(one.name[-1], one, hexadecimal, settable) for one in parts]


def scopes_of(lane: Lane) -> list[tuple[str, Parts]]:
    """Name and contents of each scope at the lane's place."""
    trace, place = lane.trace, lane.place

    def registers(names: tuple[str, ...], hexadecimal: bool) -> list[Variable]:
        return variables_of((trace.value_at(name, place) for name in names), hexadecimal, not lane.at_end)

    found: list[tuple[str, Parts]] = []
    if not lane.at_end:
        found.append(("this instruction", partial(_instruction, lane, place)))
    found += [(group.name, partial(registers, group.registers)) for group in trace.groups]
    named = trace.listing.variables if trace.listing is not None else {}
    if named:
        found.append(("names", partial(_names, lane, place, named)))
    if trace.constants:
        found.append(("constants", lambda hexadecimal: variables_of(trace.constants.values(), hexadecimal, False)))
    if any(step.accesses for step in trace.steps):
        found.append(("memory accesses", lambda hexadecimal: _accesses(lane, place)))
    if lane.overrides:
        found.append(("what-if", partial(_overrides, lane)))
    return found


def _names(lane: Lane, place: int, named: Mapping[str, tuple[str, ...]], hexadecimal: bool) -> list[Variable]:
    """Names of the source text with their values; arrays have elements."""
    found = []
    for name, registers in named.items():
        if len(registers) == 1:
            found += _one_name(lane, place, name, hexadecimal)
        else:
            parts = partial(_array_rows, lane, place, name, len(registers))
            found.append(Variable(name, f"{registers[0]} to {registers[-1]}", "", "", parts))
    return found


def _array_rows(lane: Lane, place: int, name: str, count: int, hexadecimal: bool) -> list[Variable]:
    rows = (_one_name(lane, place, f"{name}[{n}]", hexadecimal, f"[{n}]") for n in range(count))
    return [one for row in rows for one in row]


def _one_name(lane: Lane, place: int, name: str, hexadecimal: bool, shown_as: str = "") -> list[Variable]:
    """The variable that a name stands for; none for a register without a value."""
    registers = lane.registers(place)
    whole = registers.find(name)
    parts = [registers.find(f"{name}.{letter}") for letter in COMPONENTS] if whole is None else [whole]
    values = [one for one in parts if one is not None]
    if not values:
        return []
    text = ", ".join(text_of(one, hexadecimal) for one in values)
    kind = values[0].kind if len(values) == 1 else f"{values[0].kind} x {len(values)}"
    settable = not lane.at_end and values[0].name in lane.trace.start
    return [
        Variable(shown_as or name, text if len(values) == 1 else f"({text})", kind, name,
                 lambda hexadecimal: variables_of(values, hexadecimal, settable), settable)
    ]  # fmt: skip


def _instruction(lane: Lane, place: int, hexadecimal: bool) -> list[Variable]:
    """What the next instruction reads, and what it will do."""
    step = lane.trace[place]
    found = [Variable("text", step.text)]
    for value in step.reads:
        name = value.name if len(value.names) == 1 else ""
        found.append(Variable(f"reads {value.name}", text_of(value, hexadecimal), value.kind, name))
    for value in (one.after for one in step.writes):
        found.append(Variable(f"will write {value.name}", text_of(value, hexadecimal), value.kind))
    if step.skipped or step.flow:
        found.append(Variable("flow", "skipped: its guard is false" if step.skipped else step.flow))
    found += [Variable("access", str(one)) for one in step.accesses]
    found += [Variable("note", note) for note in step.notes]
    if step.emitted is not None:
        found.append(Variable("emits", str(step.emitted)))
    if step.lanes is not None:
        found.append(Variable("lanes", f"{step.lanes:#010x}"))
    return found


def _accesses(lane: Lane, place: int) -> list[Variable]:
    found: list[Variable] = []
    for step in reversed(lane.trace.steps[:place]):
        found += [Variable(f"step {step.index}", str(one)) for one in step.accesses]
        if len(found) >= MOST_ACCESSES:
            return [*found, Variable("...", f"earlier ones than the last {len(found)} are left out")]
    return found


def _overrides(lane: Lane, hexadecimal: bool) -> list[Variable]:
    trace = lane.trace
    return [
        Variable(f"{name} before step {step}", text_of(trace.value_at(name, step), hexadecimal))
        for step, words in sorted(lane.overrides.items()) for name in words
    ]  # fmt: skip


__all__ = ["References", "Variable", "forms_of", "scopes_of", "text_of", "variables_of"]
