"""Instructions of shader text: mnemonic and operands become a word with its operand descriptor."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

from pocketgpu.facts.shader_isa import (
    COMPARE_NAMES,
    COMPONENT_MASKS,
    F1C,
    F2,
    F3,
    F4,
    LAST_SLOT,
    OPCODE_AT,
    OPCODES,
    OPDESC_FIELDS,
    TEMPORARIES,
    UNIFORMS,
    Opcode,
)
from pocketgpu.pica.shader.declarations import Uniforms, Unit
from pocketgpu.pica.shader.directives import OPENERS
from pocketgpu.pica.shader.names import ADDRESSES, COMPONENTS, SETS, Names
from pocketgpu.pica.shader.pieces import NewWord, Operand, Piece, Reading
from pocketgpu.pica.shader.sharing import placed

# The result is the same with the sources exchanged, so a uniform may be on either side.
_COMMUTATIVE = frozenset({"ADD", "MUL", "DP3", "DP4"})
MNEMONICS: dict[str, tuple[int, Opcode]] = {}
"""Opcode number and opcode of each instruction, by its name in capitals."""
for _number in sorted(OPCODES, reverse=True):
    MNEMONICS[OPCODES[_number].name] = (_number, OPCODES[_number])
_CONDITIONS = {"or": 0, "and": 1, "x": 2, "y": 3}
_TERM = r"(!?)\s*cmp\.([xy])"
_CONDITION = re.compile(rf"{_TERM}(?:\s*(\|\|?|&&?)\s*{_TERM})?")
FLAGS = {"prim": "primitive", "primitive": "primitive", "inv": "winding", "invert": "winding"}
"""Flags of SETEMIT, with the fields that they set."""
_COUNTS = {
    "breakc": (1,), "jmpc": (2,), "jmpu": (2,), "loop": (1, 2), "ifc": (1, 3), "ifu": (1, 3), "call": (1, 2),
}  # fmt: skip
"""How many operands flow instructions have; the others have 2 or 3."""
_BASES = {"v": 0, "r": TEMPORARIES, "c": UNIFORMS}
_ADDRESS_MASK = {letter: 1 << COMPONENT_MASKS[place][0] for place, letter in enumerate("xy")}


class Instructions:
    """Encodes instructions into `items`."""

    def __init__(self) -> None:
        self.reading = Reading()
        self.items: list[NewWord] = []
        self.procs: dict[str, tuple[int, int]] = {}
        """First address of each procedure, and the one after its last."""
        self.unit = Unit(0, "", Names(self.reading), Uniforms())
        self.begins = 0
        """The column of the statement that is read."""

    def add(self, item: NewWord) -> None:
        item.text, item.begins = self.unit.number, self.begins
        self.items.append(item)

    def new(self, code: int, op: Opcode, **fields: int) -> NewWord:
        width = op.format.fields.get("op", (OPCODE_AT, 6))[1]
        reading = self.reading
        item = NewWord(reading.line, reading.column, op.format, code >> (6 - width) << (32 - width), flow=op.flow)
        for name, value in fields.items():
            item.word |= placed(reading, op.format, name, value)
        self.add(item)
        return item

    def encode(self, name: Piece, operands: Sequence[Piece]) -> NewWord | None:
        """Add the word of an instruction. It comes back if it opens a block.

        :raises ShaderError: there is no such instruction, or an operand does not fit it.
        """
        reading, column = self.reading, self.reading.column
        plain = OPENERS.get(name, name).upper()
        if plain not in MNEMONICS or name != name.lower():
            known = [one.lower() for one in (*MNEMONICS, *OPENERS)]
            close = difflib.get_close_matches(name.lower(), known, 1)
            raise reading.error(f"no instruction {str(name)!r}", hint=f"Did you mean {close[0]}?" if close else None)
        code, op = MNEMONICS[plain]
        if op.format in (F2, F3):
            return self.flow(name, code, op, operands)
        if op.format is F4:
            self.setemit(code, operands)
        elif op.sources:
            self.arithmetic(code, op, operands)
        else:
            self.expect(name, operands, 0)
            self.add(NewWord(reading.line, column, op.format, code << OPCODE_AT, flow=op.flow))
        return None

    def expect(self, name: str, operands: Sequence[str], *counts: int) -> None:
        if len(operands) not in counts or "" in operands:
            wanted = " or ".join(str(count) for count in counts)
            raise self.reading.error(f"{name} takes {wanted} operands, not {len([o for o in operands if o])}")

    # -- numbers and addresses ----------------------------------------------------------------------------------------
    def integer(self, text: str, what: str, limit: int) -> int:
        self.reading.at(text)
        try:
            value = int(text, 0)
        except ValueError:
            raise self.reading.error(f"{str(text)!r} is no {what}") from None
        if not 0 <= value < limit:
            raise self.reading.error(f"{what} {text} is not in 0..{limit - 1}")
        return value

    def address(self, text: Piece) -> Callable[[], int]:
        """An address that is resolved later: a label or a number."""
        if re.fullmatch(r"\d\w*", text):
            number = self.integer(text, "address", 1 << 16)
            return lambda: number
        unit = self.unit

        def look() -> int:
            self.reading.at(text)
            found = unit.labels.get(text)
            if found is None and text in self.procs:
                found = self.procs[text][0]
            if found is None:
                close = difflib.get_close_matches(text, {*unit.labels, *self.procs}, 1)
                hint = f"Did you mean {close[0]}?" if close else None
                raise self.reading.error(f"no label {text}", hint=hint, follows=text in unit.names.broken)
            return found

        return look

    def procedure(self, name: Piece) -> Callable[[], tuple[int, int]]:
        """First address and end of a procedure, resolved later."""
        unit = self.unit

        def look() -> tuple[int, int]:
            self.reading.at(name)
            if name not in self.procs:
                close = difflib.get_close_matches(name, self.procs, 1)
                hint = f"Did you mean {close[0]}?" if close else "It may be in a text that is assembled with this one."
                follows = name in unit.names.broken
                raise self.reading.error(f"no .proc {name}", hint=hint, follows=follows, elsewhere=not close)
            return self.procs[name]

        return look

    # -- arithmetic ---------------------------------------------------------------------------------------------------
    def arithmetic(self, code: int, op: Opcode, operands: Sequence[Piece]) -> None:
        reading, start = self.reading, self.reading.column
        name = op.name
        compare = op.format is F1C
        self.expect(name.lower(), operands, 4 if compare else 1 + op.sources)
        fields: dict[str, int] = {}
        mask, care = 0, 0
        if compare:
            for key, word in (("cmpx", operands[1]), ("cmpy", operands[2])):
                reading.at(word)
                if word.upper() not in COMPARE_NAMES:
                    names = ", ".join(dict.fromkeys(n.lower() for n in COMPARE_NAMES))
                    raise reading.error(f"{str(word)!r} is no comparison", hint=f"Known are {names}.")
                fields[key] = COMPARE_NAMES.index(word.upper())
            texts = [operands[0], operands[3]]
        elif name == "MOVA":
            mask, care = self.addresses(operands[0]), sum(_ADDRESS_MASK.values())
            texts = [*operands[1:]]
            self.two_movas(code, start)
        else:
            file, number, mask = self.unit.names.target(operands[0])
            fields["dst"] = number + (TEMPORARIES if file == "r" else 0)
            care, texts = 15, [*operands[1:]]
        sources = [self.source(text) for text in texts]
        if sum(source.wide for source in sources) > 1:
            raise reading.error("only one source may be a uniform or indexed", hint="Move one to a temporary register.")
        code, op, sources = arranged(code, op, sources)
        descriptor = mask
        for i, source in enumerate(sources, 1):
            wide = op.format.wide == f"src{i}"
            if source.wide and not wide:
                raise reading.error(
                    f"source {i} of {op.name.lower()} can be neither a uniform nor indexed",
                    hint="Move it to a temporary register first.",
                )
            fields[f"src{i}"] = source.number
            if wide:
                fields["idx"] = source.index
            for key, value in ((f"neg{i}", source.negate), (f"sel{i}", source.selector)):
                lo, width = OPDESC_FIELDS[key]
                descriptor |= value << lo
                care |= ((1 << width) - 1) << lo
        if len({s.number for s in sources if s.number < TEMPORARIES}) > 1:
            reading.warn("consoles cannot read two different v registers at once")
        item = self.new(code, op, **fields)
        item.descriptor, item.care = descriptor, care

    def source(self, text: Piece) -> Operand:
        place = self.unit.names.read(text, "vrc", indexed=True, negated=True)
        if place.index and place.file != "c":
            self.reading.warn(f"an index register does nothing for {place.register}: only for float uniforms")
        return Operand(place.number + _BASES[place.file], int(place.negative), place.selector, place.index)

    def addresses(self, text: Piece) -> int:
        """The mask of what MOVA writes."""
        self.reading.at(text)
        name, _, letters = text.partition(".")
        written = letters if letters and name == "a0" else ADDRESSES.get(text, "")
        if letters == "none":
            return 0
        written = written.translate(str.maketrans(SETS[1] + SETS[2], COMPONENTS * 2))
        if not written or set(written) - set(_ADDRESS_MASK):
            hint = "It writes a0, a1 or both with a01; also written a0.x, a0.y or a0.xy."
            raise self.reading.error(f"mova cannot write {text}", hint=hint)
        return sum(_ADDRESS_MASK[letter] for letter in set(written))

    def two_movas(self, code: int, column: int) -> None:
        last = self.items[-1] if self.items else None
        if last is not None and last.word >> OPCODE_AT == code and last.format is OPCODES[code].format:
            self.reading.column = column
            hint = "Write both with one mova a01, or a nop between."
            self.reading.warn("consoles hang at two mova in a row", hint=hint)

    # -- flow ---------------------------------------------------------------------------------------------------------
    def condition(self, text: Piece) -> dict[str, int]:
        self.reading.at(text)
        match = _CONDITION.fullmatch(text)
        if not match or match[2] == match[5]:
            hint = "Such as !cmp.y, cmp.x && !cmp.y, cmp.x || cmp.y."
            raise self.reading.error(f"{str(text)!r} is no condition", hint=hint)
        fields = {f"ref{match[2]}": int(not match[1])}
        kind = match[2]
        if match[5]:
            fields[f"ref{match[5]}"] = int(not match[4])
            kind = "or" if match[3][0] == "|" else "and"
        return {"cond": _CONDITIONS[kind], **fields}

    def flow(self, name: str, code: int, op: Opcode, operands: Sequence[Piece]) -> NewWord | None:
        plain = op.name.lower()
        self.expect(name, operands, *_COUNTS.get(plain, (2, 3)))
        fields: dict[str, int] = {}
        head = operands[0]
        if plain == "loop":
            fields["int"] = self.unit.names.register(head, "i")[1]
        elif op.format is F3:
            negated = head.startswith("!")
            if negated and plain != "jmpu":
                self.reading.at(head)
                raise self.reading.error(f"{name} cannot negate its boolean", hint="Exchange the two branches.")
            fields["bool"] = self.unit.names.register(head.part(int(negated)), "b")[1]
            if negated:
                fields["num"] = 1
        elif plain != "call":
            fields |= self.condition(head)
        targets = operands if plain == "call" else operands[1:]
        item = self.new(code, op, **fields)
        if plain in ("ifu", "ifc", "loop") and not targets:
            return item
        if plain == "breakc":
            return None
        if len(targets) == 1 and plain.startswith("call"):
            place = self.procedure(targets[0])
            item.targets += [("dst", lambda: place()[0]), ("num", lambda: place()[1] - place()[0])]
            return None
        where = [self.address(text) for text in targets]
        if len(targets) == 2:
            item.targets += [("dst", where[0]), ("num", lambda: where[1]() - where[0]())]
        else:
            item.targets.append(("dst", (lambda: where[0]() - 1) if plain == "loop" else where[0]))
        return None

    def setemit(self, code: int, operands: Sequence[Piece]) -> None:
        self.expect("setemit", operands, 1, 2)
        self.unit.is_geometry = True
        fields = {"vertex": self.integer(operands[0], "vertex", LAST_SLOT + 1)}
        for flag in operands[1].split() if len(operands) == 2 else ():
            if flag not in FLAGS:
                self.reading.at(operands[1], operands[1].index(flag))
                raise self.reading.error(f"no flag {flag} of setemit", hint=f"Flags are {', '.join(FLAGS)}.")
            fields[FLAGS[flag]] = 1
        self.new(code, OPCODES[code], **fields)


def arranged(code: int, op: Opcode, sources: list[Operand]) -> tuple[int, Opcode, list[Operand]]:
    """Choose the form of an instruction, or exchange sources, so that a uniform is in a valid operand."""
    if op.name == "MAD" and sources[2].wide and not sources[1].wide:
        code, op = MNEMONICS["MADI"]
    if op.name == "MAD" and sources[0].wide and not sources[1].wide:
        sources = [sources[1], sources[0], sources[2]]
    if len(sources) == 2 and sources[1].wide and not sources[0].wide:
        if op.name in _COMMUTATIVE:
            sources = sources[::-1]
        elif op.name + "I" in MNEMONICS:
            code, op = MNEMONICS[op.name + "I"]
    return code, op, sources


__all__ = ["FLAGS", "MNEMONICS", "Instructions", "arranged"]
