"""Scopes and variables at a place: registers by what they are for, constants, memory accesses, the instruction.

A variable with parts has a reference; references are good until the lane moves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Final, TypeAlias

import numpy as np

from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.memory import reference_of
from pocketgpu.editor.dap.expressions.nodes import COMPONENTS
from pocketgpu.editor.dap.expressions.values import decoded, shown
from pocketgpu.editor.dap.protocol.messages import Json
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.memory_words import WORD, memory_word
from pocketgpu.inspect.stepping.register_values import Value
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.trace_memory import Piece
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

MOST_ACCESSES: Final = 200
"""Memory accesses that are shown, the last ones."""
MOST_REFERENCES: Final = 1 << 16
MOST_ELEMENTS: Final = 4096
"""Elements of an array in one answer."""
_ELEMENT = re.compile(r"\[\d{1,12}\]")
FORMS: Final = ("f32", "f16x2", "i32", "u32")
"""How a word is shown besides its digits."""


Parts: TypeAlias = Callable[[bool], "list[Variable]"]
"""Makes the variables that something has; with hexadecimal digits or without."""
Elements: TypeAlias = Callable[[bool, int, int], "list[Variable]"]
"""Makes some of the elements of an array: with hexadecimal digits or without, from the first on, so many."""


@dataclass(frozen=True)
class Array:
    """Elements by number. size: how many there are."""

    size: int
    elements: Elements


@dataclass(frozen=True)
class Variable:
    """A variable.

    expression: what it is called in expressions, "" for what is none. parts: what is in it, by name; array: by number.
    reference: to its bytes in memory, and how many there are (size).
    """

    name: str
    value: str
    kind: str = ""
    expression: str = ""
    parts: Parts | None = None
    settable: bool = False
    array: Array | None = None
    reference: str = ""
    size: int = 0


Contents: TypeAlias = "Parts | Array"


class References:
    """Numbers by which editors ask for the parts of scopes and variables."""

    def __init__(self) -> None:
        self._contents: dict[int, tuple[Contents, Lane]] = {}
        self._next = 1

    def forget(self) -> None:
        """They are no longer good; their numbers are not used again soon."""
        self._contents.clear()
        if self._next > MOST_REFERENCES:
            self._next = 1

    def add(self, contents: Contents, lane: Lane) -> int:
        if len(self._contents) >= MOST_REFERENCES:
            self._contents.clear()
        self._contents[self._next] = contents, lane
        self._next += 1
        return self._next - 1

    def contents(self, reference: int) -> tuple[Contents, Lane]:
        """What a reference stands for, and the lane that has it.

        :raises UsageError: the reference is not good.
        """
        if reference not in self._contents:
            raise UsageError("this reference is not good any more", location="variablesReference")
        return self._contents[reference]

    def some(
        self, reference: int, hexadecimal: bool, which: str, first: int, count: int
    ) -> tuple[list[Variable], Lane]:  # fmt: skip
        """Some of the parts, and the lane that has them. which: "named", "indexed", or "" for both; count: 0 for all,
        of elements up to MOST_ELEMENTS.

        :raises UsageError: the reference is not good.
        """
        contents, lane = self.contents(reference)
        if isinstance(contents, Array):
            if which == "named":
                return [], lane
            left = max(contents.size - first, 0)
            wanted = min(count or left, left, MOST_ELEMENTS)
            found = contents.elements(hexadecimal, first, wanted)
            if not count and wanted < left:
                found.append(Variable("...", f"{left - wanted} more; editors that show parts of arrays get them"))
            return found, lane
        if which == "indexed":
            return [], lane
        return contents(hexadecimal)[first : first + count if count > 0 else None], lane

    def named(self, reference: int, name: str) -> tuple[Variable | None, Lane]:
        """A part by its name.

        :raises UsageError: the reference is not good.
        """
        contents, lane = self.contents(reference)
        if isinstance(contents, Array):
            number = int(name[1:-1]) if _ELEMENT.fullmatch(name) else contents.size
            found = contents.elements(False, number, 1) if number < contents.size else []
        else:
            found = contents(False)
        return next((one for one in found if one.name == name), None), lane

    def to_json(self, one: Variable, lane: Lane) -> Json:
        contents = one.array if one.array is not None else one.parts
        found: Json = {
            "name": one.name, "value": one.value,
            "variablesReference": 0 if contents is None else self.add(contents, lane),
        }  # fmt: skip
        if one.array is not None:
            found["indexedVariables"] = one.array.size
        if one.kind:
            found["type"] = one.kind
        if one.expression:
            found["evaluateName"] = one.expression
        if one.reference:
            found["memoryReference"] = one.reference
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


@lru_cache(2048)
def _vector_of(name: str) -> str:
    """The vector that a register is a component of; itself if it is none."""
    stem, _, letter = name.rpartition(".")
    return stem if len(letter) == 1 and letter in COMPONENTS and stem else name


def variables_of(values: Iterable[Value], hexadecimal: bool, settable: bool) -> list[Variable]:
    """Registers as variables, components of one vector together."""
    vectors: dict[str, list[Value]] = {}
    for value in values:
        vectors.setdefault(_vector_of(value.name), []).append(value)
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


# -- memory -----------------------------------------------------------------------------------------------------------
ELEMENTS: Final[Mapping[str, str]] = {
    "f32": "<f4", "u32": "<u4", "i32": "<i4", "f16": "<f2", "u16": "<u2", "u8": "u1", "f64": "<f8",
}
"""Types of the elements of memory, as NumPy names them."""


def memory_of(lane: Lane, hexadecimal: bool) -> list[Variable]:
    """Pieces of memory with their elements in several types."""
    found = []
    for piece in lane.memory.pieces:
        where = f"{counted(len(piece.data), 'byte')} of {piece.space} memory at {piece.address:#x}"
        name = piece.title or f"{piece.space} memory at {piece.address:#x}"
        reference = reference_of(piece.space, piece.address, lane.number)
        found.append(Variable(
            name, where, parts=partial(_types_of, lane, piece), reference=reference, size=len(piece.data),
        ))  # fmt: skip
    return found


def _types_of(lane: Lane, piece: Piece, hexadecimal: bool) -> list[Variable]:
    reference = reference_of(piece.space, piece.address, lane.number)
    return [
        Variable(
            kind, f"{counted(size, 'element')}", f"{kind} x {size}",
            array=Array(size, partial(_elements, lane, piece, kind)), reference=reference, size=len(piece.data),
        )
        for kind, code in ELEMENTS.items() if (size := len(piece.data) // np.dtype(code).itemsize)
    ]  # fmt: skip


def _elements(lane: Lane, piece: Piece, kind: str, hexadecimal: bool, first: int, count: int) -> list[Variable]:
    """Elements of a piece at the lane's time."""
    dtype = np.dtype(ELEMENTS[kind])
    size = dtype.itemsize
    start = piece.address + first * size
    data, _ = lane.memory.read(piece.space, start, count * size, lane.time.tick(lane))
    numbers = np.frombuffer(data, dtype)
    digits = np.frombuffer(data, f"<u{size}")
    found = []
    for n, (number, word) in enumerate(zip(numbers.tolist(), digits.tolist(), strict=True)):
        address = start + n * size
        name = lane.memory.name(piece.space, address) if size == WORD and address % WORD == 0 else ""
        text = f"{word:#0{2 + 2 * size}x}" if hexadecimal else shown(number)
        found.append(Variable(
            f"[{first + n}]", text, kind, f"{name} as {kind}" if name else "", settable=bool(name) and not lane.at_end,
            reference=reference_of(piece.space, address, lane.number), size=size,
        ))  # fmt: skip
    return found


@dataclass(frozen=True)
class Scope:
    """A group of variables. count: how many there are, None if that takes work. expensive: it takes long to make."""

    name: str
    contents: Parts
    count: int | None = None
    expensive: bool = False


def scopes_of(lane: Lane) -> list[Scope]:
    """Name and contents of each scope at the lane's place."""
    trace, place = lane.trace, lane.place

    def registers(names: tuple[str, ...], hexadecimal: bool) -> list[Variable]:
        return variables_of((trace.value_at(name, place) for name in names), hexadecimal, not lane.at_end)

    found: list[Scope] = []
    if not lane.at_end:
        found.append(Scope("this instruction", partial(_instruction, lane, place)))
    found += [Scope(group.name, partial(registers, group.registers)) for group in trace.groups]
    named = trace.listing.variables if trace.listing is not None else {}
    if named:
        found.append(Scope("names", partial(_names, lane, place, named)))
    if trace.constants:
        count = len({_vector_of(name) for name in trace.constants})
        found.append(Scope("constants", partial(registers, tuple(trace.constants)), count))
    found.append(Scope("memory", partial(memory_of, lane), expensive=True))
    if any(step.accesses for step in trace.steps):
        found.append(Scope("memory accesses", lambda hexadecimal: _accesses(lane, place)))
    if lane.overrides:
        found.append(Scope("what-if", partial(_overrides, lane)))
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
    settable = not lane.at_end
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
        Variable(f"{name} before step {step}", _forced_text(trace, name, step, word, hexadecimal))
        for step, words in sorted(lane.overrides.items()) for name, word in words.items()
    ]  # fmt: skip


def _forced_text(trace: Trace, name: str, step: int, word: int, hexadecimal: bool) -> str:
    if memory_word(name) is not None:
        return Value((name,), word).hex
    return text_of(trace.value_at(name, step), hexadecimal)


__all__ = ["Array", "References", "Scope", "Variable", "forms_of", "scopes_of", "text_of", "variables_of"]
