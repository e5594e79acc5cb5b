"""Compares an assembled text with the code of a file or a capture, word for word.

Words agree if they do the same. Assemblers may number operand descriptors differently, fill what an instruction does
not look at with anything, and put other numbers of NOPs at the ends of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from pocketgpu.facts.shader_isa import (
    COMPONENT_MASKS,
    F1C,
    F2,
    F3,
    OPCODES,
    Opcode,
    components,
    descriptor,
    opcode_number,
    selected,
)
from pocketgpu.inspect.stepping.n3ds import OWN_TERMS, TERMS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.arithmetic import OPERATIONS, operation_name
from pocketgpu.pica.shader.disassembler import condition_text, targets

MOST_SEARCHED: Final = 1 << 20
"""Words of the text times words of the code up to which agreeing parts are searched after a difference."""
_EACH: Final = ("CMP", "MOVA")
"""Instructions that look at the components that they write, and have no operation."""
_ADDRESS_COMPONENTS: Final = 2

Meaning = tuple[Any, ...]
"""What a word does, apart from addresses."""
_NOP: Final[Meaning] = ("NOP",)


@dataclass(frozen=True)
class Agreement:
    """matched: addresses in the code by addresses in the text. covered: the text ends at this address of the code.
    first: the first word of the text that differs, and the address where the code has something else; None if all
    agree."""

    matched: dict[int, int]
    covered: int
    first: tuple[int, int] | None


def meanings(code: Sequence[int], descriptors: Sequence[int]) -> list[Meaning]:
    """What each word does."""
    return [meaning(word, descriptors) for word in code]


def meaning(word: int, descriptors: Sequence[int]) -> Meaning:
    """What a word does, apart from the addresses in it."""
    op = OPCODES.get(opcode_number(word))
    if op is None:
        return ("word", word)
    if op.format in (F2, F3):
        return (op.name, condition_text(word))
    if not op.sources:
        return (op.name, *(op.format.get(word, name) for name in op.format.fields if name != "op"))
    number = op.format.get(word, "desc")
    if number >= len(descriptors):
        return ("word", word)
    return (op.name, *_operands(op, word, descriptors[number]))


def _operands(op: Opcode, word: int, desc: int) -> Iterator[Any]:
    get = op.format.get
    mask = descriptor(desc, "mask")
    written = [0, 1] if op.format is F1C else components(mask)
    if op.name == "MOVA":
        written = [one for one in written if one < _ADDRESS_COMPONENTS]
    if op.format is F1C:
        yield get(word, "cmpx")
        yield get(word, "cmpy")
    else:
        yield sum(1 << COMPONENT_MASKS[one][0] for one in written)
        yield None if op.name == "MOVA" else get(word, "dst")
    wanted = {term for one in written for term in _terms(op, one)}
    if op.name == "LITP":
        wanted |= {(0, 0), (0, 3)}
    if op.format.wide:
        yield get(word, "idx")
    for source in range(op.sources):
        places = sorted(place for number, place in wanted if number == source)
        letters = selected(descriptor(desc, f"sel{source + 1}"))
        yield get(word, f"src{source + 1}"), descriptor(desc, f"neg{source + 1}")
        yield tuple((place, letters[place]) for place in places)


def _terms(op: Opcode, component: int) -> Sequence[tuple[int, int]]:
    if op.name in _EACH:
        return TERMS["each"](component)
    name = operation_name(op)
    return (OWN_TERMS.get(name) or TERMS[OPERATIONS[name].spreads or "each"])(component)


class Text:
    """An assembled text. padding: addresses of the NOPs that the assembler added."""

    def __init__(self, code: Sequence[int], descriptors: Sequence[int], padding: frozenset[int]) -> None:
        self.code, self.descriptors, self.padding = code, descriptors, padding
        self.meanings = meanings(code, descriptors)


class Code:
    """The code of a file or a capture."""

    def __init__(self, code: Sequence[int], descriptors: Sequence[int]) -> None:
        # Memory of a unit after its program is zero.
        last = next((at for at in range(len(code) - 1, -1, -1) if code[at]), -1)
        self.code = code = code[: last + 1]
        self.meanings = meanings(code, descriptors)

    def same_place(self, one: int, other: int) -> bool:
        """Whether two addresses are the same, or only NOPs are between them."""
        if one < 0:
            return False
        first, last = sorted((one, other))
        return all(found == _NOP for found in self.meanings[first:last]) and last <= len(self.meanings)


def compared(text: Text, code: Code, offset: int) -> Agreement:
    """Compare a text with code that has the text's first word at `offset`."""
    where: dict[int, int] = {}
    matched: dict[int, int] = {}
    at, to, end = 0, offset, len(text.code)
    first = None
    while at < end:
        where[at] = to
        if to < len(code.code) and text.meanings[at] == code.meanings[to]:
            matched[at] = to
            at, to = at + 1, to + 1
        elif at in text.padding:
            at += 1
        elif to < len(code.code) and code.meanings[to] == _NOP and to + 1 < len(code.code):
            to += 1
        else:
            first = at, to
            break
    where[end] = to
    if first is None:
        for at, to in matched.items():
            wanted = [where.get(target, -1) for target in targets(text.code[at])]
            if not all(map(code.same_place, wanted, targets(code.code[to]))):
                first = min(first or (at, to), (at, to))
    if first is not None:
        matched = {at: to for at, to in matched.items() if at < first[0]}
        matched |= _after(text, code, first)
    return Agreement(matched, to, first)


def _after(text: Text, code: Code, first: tuple[int, int]) -> dict[int, int]:
    """What agrees after a difference."""
    at, to = first
    ours, theirs = text.meanings[at:], code.meanings[to:]
    if len(ours) * len(theirs) > MOST_SEARCHED:
        return {}
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    found = {at + block.a + n: to + block.b + n for block in blocks for n in range(block.size)}
    return {one: other for one, other in found.items() if (one, other) != first}


__all__ = ["Agreement", "Code", "Text", "compared", "meaning", "meanings"]
