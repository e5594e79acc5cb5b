"""A small assembler for the PICA200's shader units: shader text to words.

Builders and tests need readable programs instead of numbers. The language is a small relative of that of homebrew
assemblers; the operands of each opcode come from facts/shader_isa.py.

    .alias projection c0            ; a name for a register; projection[1] is c1
    .constf c8, 0.5, 1.0, 0.0, 2.0  ; a constant of the program
    .out o0 position                ; semantic of an output register; .out o2.zw texcoord1 for a part of one
    main:                           ; the program starts here, else at its first word
        dp4 o0.x, projection[0], v0
        mad r0.xyz, -c8.x, v1, r2   ; negation, swizzles, write masks
        mova a0.x, r0.y
        mov r1, c16[a0.x]           ; also a0.y and aL
        cmp c8, lt, ge, r0          ; sets cmp.x and cmp.y
        ifc cmp.x && !cmp.y         ; ifu b0; else and endif; jmpc, breakc and callc take conditions too
            call light
        endif
        loop i0                     ; up to endloop
            add r1, c32[aL], r1
        endloop
        end
    .proc light                     ; for call, callu and callc
        mul r0, r0, r0
    .endproc

Flow instructions also take the addresses (labels or numbers) that blocks would compute: `jmpu !b0, there`,
`call start, stop`, `ifu b0, otherwise, after`, `loop i0, after`. `.word N` inserts any word, `.desc N, WORD` sets
operand descriptor N, and `@N` after an instruction makes it use that descriptor.

Source: 3dbrew GPU/Shader Instruction Set.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Callable, Mapping, Sequence

from pocketgpu.collected import Collected, Enough
from pocketgpu.displayed import line_of
from pocketgpu.facts.shader_isa import (
    COMPARE_NAMES,
    COMPONENT_MASKS,
    COMPONENT_SELECTORS,
    F1C,
    F2,
    F3,
    F4,
    OPCODE_AT,
    OPCODES,
    OPDESC_FIELDS,
    SEMANTICS,
    TEMPORARIES,
    UNIFORMS,
    Format,
    Opcode,
    components,
)
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.directives import DIRECTIVES
from pocketgpu.pica.shader.pieces import NewWord, OpenBlock, Operand, Piece, ShaderError, split_pieces
from pocketgpu.wording import counted

UNUSED = 0x1F
_LARGEST = 4096
"""Words of the larger of the two kinds of programs."""
DESCRIPTORS = 128
COMPONENTS = "xyzw"
# The result is the same with the sources exchanged, so a uniform may be on either side.
_COMMUTATIVE = frozenset({"ADD", "MUL", "DP3", "DP4"})
_NAMES: dict[str, tuple[int, Opcode]] = {}
for _number in sorted(OPCODES, reverse=True):
    _NAMES[OPCODES[_number].name] = (_number, OPCODES[_number])
_CONDITIONS = {"or": 0, "and": 1, "x": 2, "y": 3}


@dataclass(frozen=True, slots=True)
class Assembly:
    """An assembled program.

    code, descriptors: words. labels: name to address. outputs: output register to the semantics of its x, y, z, w
    (numbers of SH_OUTMAP, 0x1F unused), from `.out`. constants: uniform to (x, y, z, w), from `.constf`. warnings: code
    that works in simulators but not on a console. lines: the line of the text of each word.
    """

    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    labels: Mapping[str, int]
    outputs: Mapping[int, tuple[int, int, int, int]]
    constants: Mapping[int, tuple[float, float, float, float]]
    warnings: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def __repr__(self) -> str:
        size = f"{counted(len(self.code), 'word')}, {counted(len(self.descriptors), 'descriptor')}"
        return line_of(self, f"{size}, entry {self.entry:#05x}")

    @property
    def entry(self) -> int:
        """Address of the label `main`, else 0."""
        return self.labels.get("main", 0)


def problems(source: str, most: int = 100, stop: Callable[[], bool] | None = None) -> list[ShaderError]:
    """What is wrong with a text, in the order of its lines: up to `most` errors. stop: says when nobody waits."""
    errors = Collected(ShaderError, most, stop)
    assembler = _Assembler(_LARGEST, errors)
    with contextlib.suppress(ShaderError, Enough), errors:
        assembler.run(source)
    return sorted([*errors.found, *assembler.warnings][:most], key=lambda error: (error.line, error.column))


def assemble(source: str, *, words: int = 512) -> Assembly:
    """Assemble shader text. words: room in the unit's memory (512 for vertex programs, 4096 for geometry programs).

    :raises ShaderError: with the line and the problem.
    """
    return _Assembler(words, Collected(ShaderError)).run(source)


class _Assembler:
    def __init__(self, words: int, errors: Collected[ShaderError]) -> None:
        self.limit = words
        self.errors = errors
        self.items: list[NewWord] = []
        self.labels: dict[str, int] = {}
        self.procs: dict[str, tuple[int, int]] = {}
        self.aliases: dict[str, str] = {}
        self.outputs: dict[int, list[int]] = {}
        self.constants: dict[int, tuple[float, float, float, float]] = {}
        self.given: dict[int, int] = {}
        self.blocks: list[OpenBlock] = []
        self.warnings: list[ShaderError] = []
        self.last_end = -1
        self.line = 0
        self.column = 0

    def error(self, message: str, *, hint: str | None = None) -> ShaderError:
        return ShaderError(message, self.line, column=self.column, hint=hint)

    def at(self, text: str, offset: int = 0) -> None:
        """What follows is about a piece of the line; a text without a column changes nothing."""
        if isinstance(text, Piece):
            self.column = text.column + offset

    def run(self, source: str) -> Assembly:
        for self.line, raw in enumerate(source.splitlines(), 1):
            text = Piece.of(re.split(r";|//", raw, maxsplit=1)[0], 1)
            with self.errors:
                while match := re.match(r"([A-Za-z_]\w*)\s*:\s*", text):
                    self.at(text)
                    name, text = match[1], Piece.of(text[match.end() :], text.column + match.end())
                    self.label(name)
                self.at(text)
                if text.startswith("."):
                    self.directive(text)
                elif text:
                    self.instruction(text)
        for block in self.blocks[::-1]:
            self.line, self.column = block.line, block.column
            with self.errors:
                raise self.error(f"{block.kind} has no end")
        descriptors = self.share_descriptors()
        code = [self.finish(item) for item in self.items]
        if len(code) > self.limit:
            first = self.items[self.limit]
            self.line, self.column = first.line, first.column
            with self.errors:
                raise self.error(f"the program has {len(code)} words; {self.limit} fit")
        outputs = {register: (s[0], s[1], s[2], s[3]) for register, s in sorted(self.outputs.items())}
        lines = tuple(item.line for item in self.items)
        return Assembly(tuple(code), descriptors, self.labels, outputs, self.constants, self.remarks(), lines)

    def remarks(self) -> tuple[str, ...]:
        return tuple(f"line {one.line}: {one.message}" for one in self.warnings)

    def finish(self, item: NewWord) -> int:
        self.line, self.column = item.line, item.column
        word = item.word
        if item.format is not None:
            for name, target in item.targets:
                with self.errors:
                    word |= self.place(item.format, name, target())
        return word

    def place(self, format: Format, name: str, value: int) -> int:
        lo, width = format.fields[name]
        if not 0 <= value < 1 << width:
            raise self.error(f"{value} does not fit the {width} bits of {name.upper()}")
        return value << lo

    # -- names and numbers ------------------------------------------------------------------------------------------
    def label(self, name: str) -> None:
        if name in self.labels:
            raise self.error(f"label {name} is defined already")
        self.labels[name] = len(self.items)

    def integer(self, text: str, what: str, limit: int) -> int:
        self.at(text)
        try:
            value = int(text, 0)
        except ValueError:
            raise self.error(f"{text!r} is no {what}") from None
        if not 0 <= value < limit:
            raise self.error(f"{what} {text} is not in 0..{limit - 1}")
        return value

    def address(self, text: str) -> Callable[[], int]:
        """An address that is resolved later: a label or a number."""
        if re.fullmatch(r"\d\w*", text):
            number = self.integer(text, "address", 1 << 16)
            return lambda: number

        def look() -> int:
            self.at(text)
            if text not in self.labels:
                close = difflib.get_close_matches(text, self.labels, 1)
                raise self.error(f"no label {text}", hint=f"Did you mean {close[0]}?" if close else None)
            return self.labels[text]

        return look

    def register(self, text: str, files: str) -> tuple[str, int]:
        """File and number of a register name such as c12, or of an alias."""
        self.at(text)
        name = self.aliases.get(text, text)
        match = re.fullmatch(r"([a-z])(\d+)", name)
        sizes = {"v": 16, "r": 16, "o": 16, "c": 96, "b": 16, "i": 4}
        if not match or match[1] not in files:
            expected = " or ".join(f"{f}0-{f}{sizes[f] - 1}" for f in files)
            raise self.error(f"{text!r} is not a valid register here", hint=f"Expected {expected}.")
        if int(match[2]) >= sizes[match[1]]:
            raise self.error(f"there is no register {name}: {match[1]} ends at {sizes[match[1]] - 1}")
        return match[1], int(match[2])

    def mask(self, letters: str | None) -> int:
        """Write mask from letters; bit 3 is x."""
        if letters is None:
            return 15
        if letters == "none":
            return 0
        places = [COMPONENTS.find(letter) for letter in letters]
        if -1 in places or sorted(set(places)) != places:
            raise self.error(f"{letters!r} is no write mask", hint="Letters of xyzw, each once, in that order.")
        return sum(1 << COMPONENT_MASKS[place][0] for place in places)

    def destination(self, text: str, files: str = "or") -> tuple[int, int]:
        """(register number, mask)."""
        self.at(text)
        name, _, letters = text.partition(".")
        file, number = self.register(name.strip(), files)
        self.at(text, len(name) + 1)
        return number + (TEMPORARIES if file == "r" else 0), self.mask(letters or None)

    def source(self, text: str) -> Operand:
        match = re.fullmatch(r"(-?)\s*(\w+)\s*(?:\[([^\]]*)\])?\s*(?:\.(\w+))?", text)
        self.at(text)
        if not match:
            raise self.error(f"{text!r} is no source operand")
        self.at(text, match.start(2))
        file, number = self.register(match[2], "vrc")
        index = 0
        if match[3] is not None:
            self.at(text, match.start(3))
            inner = re.fullmatch(r"(?:(a0\.x|a0\.y|aL)(?:\+(\d+))?|(\d+))", match[3].replace(" ", ""))
            if not inner:
                raise self.error(f"{match[3]!r} is no index", hint="A number, a0.x, a0.y or aL, perhaps + number.")
            index = {None: 0, "a0.x": 1, "a0.y": 2, "aL": 3}[inner[1]]
            number += int(inner[2] or inner[3] or 0)
            self.register(f"{file}{number}", file)
        letters = match[4] or COMPONENTS
        self.at(text, max(match.start(4), 0))
        if len(letters) > 4 or any(letter not in COMPONENTS for letter in letters):
            raise self.error(f"{letters!r} is no swizzle", hint="One to four letters of xyzw.")
        letters += letters[-1] * (4 - len(letters))
        selector = sum(
            COMPONENTS.index(letter) << lo for letter, (lo, _) in zip(letters, COMPONENT_SELECTORS, strict=True)
        )
        return Operand(number + {"v": 0, "r": TEMPORARIES, "c": UNIFORMS}[file], int(match[1] == "-"), selector, index)

    # -- directives -------------------------------------------------------------------------------------------------
    def directive(self, text: str) -> None:
        column = text.column if isinstance(text, Piece) else 1
        name, *words = (Piece.of(one[0], column + one.start()) for one in re.finditer(r"[^\s,]+", text))
        if name not in DIRECTIVES:
            raise self.error(f"no directive {name}", hint=f"Known are {', '.join(DIRECTIVES)}.")
        count = len(DIRECTIVES[name][0].split())
        if len(words) != count:
            raise self.error(f"{name} takes {count} words, not {len(words)}")
        handlers: dict[str, Callable[..., None]] = {
            ".alias": self.add_alias,
            ".constf": self.add_constant,
            ".out": self.add_output,
            ".proc": self.open_proc,
            ".endproc": self.close_proc,
            ".word": self.add_word,
            ".desc": self.add_descriptor,
        }
        handlers[name](*words)

    def add_word(self, word: str) -> None:
        self.items.append(NewWord(self.line, self.column, word=self.integer(word, "word", 1 << 32)))

    def add_alias(self, name: str, register: str) -> None:
        file, number = self.register(register, "vrcobi")
        self.aliases[name] = f"{file}{number}"

    def add_constant(self, register: str, *values: str) -> None:
        try:
            x, y, z, w = (float(value) for value in values)
        except ValueError as problem:
            raise self.error(str(problem)) from None
        self.constants[self.register(register, "c")[1]] = (x, y, z, w)

    def add_output(self, register: str, semantic: str) -> None:
        number, mask = self.destination(register, "o")
        codes = [i for i, name in enumerate(SEMANTICS) if name.startswith(semantic + ".")]
        if semantic == "texcoord0w":
            # The third coordinate alone, or with the first two.
            parts = {1: "w", 3: "uvw", 4: "uvw"}.get(mask.bit_count())
            if parts is None:
                hint = "Give it one component for w, or three for u, v and w."
                raise self.error("texcoord0w does not fit two components", hint=hint)
            codes = [SEMANTICS.index(f"texcoord0.{part}") for part in parts]
        elif semantic == "texcoord0":
            codes = codes[:2]
        self.at(semantic)
        if not codes:
            known = sorted({name.partition(".")[0] for name in SEMANTICS if name} | {"texcoord0w"})
            raise self.error(f"no semantic {semantic}", hint=f"Known are {', '.join(known)}.")
        semantics = self.outputs.setdefault(number, [UNUSED] * 4)
        places = components(mask)
        for place, code in zip(places, codes, strict=False):
            semantics[place] = code

    def add_descriptor(self, number: str, word: str) -> None:
        self.given[self.integer(number, "descriptor", DESCRIPTORS)] = self.integer(word, "word", 1 << 32)

    # -- blocks -----------------------------------------------------------------------------------------------------
    def open_proc(self, name: str) -> None:
        self.label(name)
        self.blocks.append(OpenBlock(".proc", self.line, self.column, len(self.items), name=name))

    def close_proc(self) -> None:
        block = self.close_block((".proc",), ".endproc", 1)
        self.procs[block.name] = (block.start, len(self.items))

    def close_block(self, kinds: tuple[str, ...], closer: str, least: int) -> OpenBlock:
        """End the innermost block, with padding. A console checks for the end of a block at its last word, which must
        not be a flow instruction; a block must not be too short or end together with another one."""
        if not self.blocks or self.blocks[-1].kind not in kinds:
            raise self.error(f"{closer} without {' or '.join(kinds)}")
        block = self.blocks.pop()
        start = block.start if block.middle < 0 else block.middle
        while len(self.items) - start < least or self.items[-1].flow or self.last_end == len(self.items):
            self.items.append(NewWord(self.line, self.column, word=_NAMES["NOP"][0] << OPCODE_AT))
        self.last_end = len(self.items)
        return block

    def otherwise(self) -> None:
        block = self.close_block(("ifu", "ifc"), "else", 2)
        block.middle = len(self.items)
        self.blocks.append(block)

    def endif(self) -> None:
        block = self.close_block(("ifu", "ifc"), "endif", 2)
        end = len(self.items)
        middle = block.middle if block.middle >= 0 else end
        assert block.item is not None
        block.item.targets += [("dst", lambda: middle), ("num", lambda: end - middle)]

    def endloop(self) -> None:
        block = self.close_block(("loop",), "endloop", 2)
        end = len(self.items)
        assert block.item is not None
        block.item.targets.append(("dst", lambda: end - 1))

    # -- instructions -----------------------------------------------------------------------------------------------
    def instruction(self, text: str) -> None:
        column = text.column if isinstance(text, Piece) else 1
        text, at, number = text.partition("@")
        name, _, rest = text.rstrip().partition(" ")
        operands = split_pieces(rest, column + len(name) + 1) if rest.strip() else []
        closers = {"else": self.otherwise, "endif": self.endif, "endloop": self.endloop}
        if name in closers:
            self.expect(name, operands, 0)
            closers[name]()
            return
        if name.upper() not in _NAMES or name != name.lower():
            close = difflib.get_close_matches(name.lower(), [n.lower() for n in _NAMES], 1)
            raise self.error(f"no instruction {name!r}", hint=f"Did you mean {close[0]}?" if close else None)
        code, op = _NAMES[name.upper()]
        if op.format in (F2, F3):
            self.flow(code, op, operands)
        elif op.format is F4:
            self.setemit(code, operands)
        elif op.sources:
            self.arithmetic(code, op, operands)
        else:
            self.expect(name, operands, 0)
            self.items.append(NewWord(self.line, column, op.format, code << OPCODE_AT, flow=op.flow))
        if at:
            piece = Piece.of(number, column + len(text) + 1)
            self.items[-1].number = self.integer(piece, "descriptor", DESCRIPTORS)

    def expect(self, name: str, operands: Sequence[str], *counts: int) -> None:
        if len(operands) not in counts or "" in operands:
            wanted = " or ".join(str(count) for count in counts)
            raise self.error(f"{name} takes {wanted} operands, not {len([o for o in operands if o])}")

    def new(self, code: int, op: Opcode, **fields: int) -> NewWord:
        width = op.format.fields.get("op", (26, 6))[1]
        item = NewWord(self.line, self.column, op.format, code >> (6 - width) << (32 - width), flow=op.flow)
        for name, value in fields.items():
            item.word |= self.place(op.format, name, value)
        self.items.append(item)
        return item

    def arithmetic(self, code: int, op: Opcode, operands: Sequence[str]) -> None:
        name = op.name
        compare = op.format is F1C
        self.expect(name.lower(), operands, 4 if compare else 1 + op.sources)
        fields: dict[str, int] = {}
        mask, care = 0, 0
        if compare:
            for key, word in (("cmpx", operands[1]), ("cmpy", operands[2])):
                self.at(word)
                if word.upper() not in COMPARE_NAMES:
                    names = ", ".join(dict.fromkeys(n.lower() for n in COMPARE_NAMES))
                    raise self.error(f"{word!r} is no comparison", hint=f"Known are {names}.")
                fields[key] = COMPARE_NAMES.index(word.upper())
            texts = [operands[0], operands[3]]
        elif name == "MOVA":
            self.at(operands[0])
            register, _, letters = operands[0].partition(".")
            mask, care = self.mask(letters or "xy"), 12
            if register != "a0" or mask & 3:
                raise self.error(f"mova cannot write {operands[0]}", hint="It writes a0.x, a0.y or a0.xy.")
            texts = [*operands[1:]]
        else:
            fields["dst"], mask = self.destination(operands[0])
            care, texts = 15, [*operands[1:]]
        sources = [self.source(text) for text in texts]
        if sum(source.wide for source in sources) > 1:
            raise self.error("only one source may be a uniform or indexed", hint="Move one to a temporary register.")
        code, op, sources = self.arrange(code, op, sources)
        descriptor = mask
        for i, source in enumerate(sources, 1):
            wide = op.format.wide == f"src{i}"
            if source.wide and not wide:
                raise self.error(
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
            text = "consoles cannot read two different v registers at once"
            self.warnings.append(ShaderError(text, self.line, column=self.column, warning=True))
        item = self.new(code, op, **fields)
        item.descriptor, item.care = descriptor, care

    @staticmethod
    def arrange(code: int, op: Opcode, sources: list[Operand]) -> tuple[int, Opcode, list[Operand]]:
        """Choose the form of an instruction, or exchange sources, so that a uniform is in a valid operand."""
        if op.name == "MAD" and sources[2].wide and not sources[1].wide:
            code, op = _NAMES["MADI"]
        if op.name == "MAD" and sources[0].wide and not sources[1].wide:
            sources = [sources[1], sources[0], sources[2]]
        if len(sources) == 2 and sources[1].wide and not sources[0].wide:
            if op.name in _COMMUTATIVE:
                sources = sources[::-1]
            elif op.name + "I" in _NAMES:
                code, op = _NAMES[op.name + "I"]
        return code, op, sources

    def condition(self, text: str) -> dict[str, int]:
        term = r"(!?)\s*cmp\.([xy])"
        self.at(text)
        match = re.fullmatch(rf"{term}(?:\s*(\|\||&&)\s*{term})?", text)
        if not match or match[2] == match[5] or (match[5] and match[2] == "y"):
            raise self.error(f"{text!r} is no condition", hint="Such as !cmp.y, cmp.x && !cmp.y, cmp.x || cmp.y.")
        fields = {f"ref{match[2]}": int(not match[1])}
        kind = match[2]
        if match[5]:
            fields[f"ref{match[5]}"] = int(not match[4])
            kind = "or" if match[3] == "||" else "and"
        return {"cond": _CONDITIONS[kind], **fields}

    def flow(self, code: int, op: Opcode, operands: Sequence[str]) -> None:
        name = op.name.lower()
        fields: dict[str, int] = {}
        head = operands[0] if operands else ""
        if name == "loop":
            fields["int"] = self.register(head, "i")[1]
        elif op.format is F3:
            negated = head.startswith("!")
            if negated and name != "jmpu":
                raise self.error(f"{name} cannot negate its boolean", hint="Exchange the two branches.")
            fields["bool"] = self.register(head.removeprefix("!").strip(), "b")[1]
            if negated:
                fields["num"] = 1
        elif name != "call":
            fields |= self.condition(head)
        targets = operands if name == "call" else operands[1:]
        item = self.new(code, op, **fields)
        where = [self.address(text) for text in targets]
        if name in ("ifu", "ifc", "loop") and not targets:
            self.blocks.append(OpenBlock(name, self.line, item.column, len(self.items), item))
        elif name == "breakc":
            self.expect(name, operands, 1)
        elif name in ("jmpc", "jmpu"):
            self.expect(name, operands, 2)
            item.targets.append(("dst", where[0]))
        elif name == "loop":
            self.expect(name, operands, 1, 2)
            item.targets.append(("dst", lambda: where[0]() - 1))
        elif len(targets) == 2:
            item.targets += [("dst", where[0]), ("num", lambda: where[1]() - where[0]())]
        else:
            self.expect(name, operands, 3 if name.startswith("if") else len(operands) - len(targets) + 1)
            item.targets += [("dst", lambda: self.proc(targets[0])[0]), ("num", lambda: self.proc_size(targets[0]))]

    def proc(self, name: str) -> tuple[int, int]:
        self.at(name)
        if name not in self.procs:
            close = difflib.get_close_matches(name, self.procs, 1)
            raise self.error(f"no .proc {name}", hint=f"Did you mean {close[0]}?" if close else None)
        return self.procs[name]

    def proc_size(self, name: str) -> int:
        start, end = self.proc(name)
        return end - start

    def setemit(self, code: int, operands: Sequence[str]) -> None:
        self.expect("setemit", operands, 1, 2)
        fields = {"vertex": self.integer(operands[0], "vertex", 4)}
        for flag in operands[1].split() if len(operands) == 2 else ():
            if flag not in ("prim", "inv"):
                raise self.error(f"no flag {flag} of setemit", hint="Flags are prim and inv.")
            fields["primitive" if flag == "prim" else "winding"] = 1
        self.new(code, OPCODES[code], **fields)

    # -- operand descriptors ----------------------------------------------------------------------------------------
    def share_descriptors(self) -> tuple[int, ...]:
        """Give each instruction a descriptor; instructions that agree in the bits they use share one. MAD goes first,
        because it can only use the first 32."""
        table: dict[int, tuple[int, int]] = {number: (word, 0xFFFFFFFF) for number, word in self.given.items()}
        wanting = [item for item in self.items if item.descriptor is not None]
        for item in sorted(wanting, key=lambda one: one.format is None or one.format.fields["desc"][1] != 5):
            self.line, self.column = item.line, item.column
            with self.errors:
                self.share(table, item)
        return tuple(table.get(number, (0, 0))[0] for number in range(max(table, default=-1) + 1))

    def share(self, table: dict[int, tuple[int, int]], item: NewWord) -> None:
        """Give one instruction a descriptor."""
        assert item.descriptor is not None and item.format is not None
        limit = 1 << item.format.fields["desc"][1]
        number = item.number if item.number is not None else self.find(table, item, limit)
        word, care = table.get(number, (0, 0))
        if (word ^ item.descriptor) & care & item.care:
            raise self.error(f"descriptor {number} is {word:#x}, which has other bits")
        table[number] = (word | (item.descriptor & item.care & ~care), care | item.care)
        item.word |= self.place(item.format, "desc", number)

    def find(self, table: dict[int, tuple[int, int]], item: NewWord, limit: int) -> int:
        assert item.descriptor is not None
        for number in range(limit):
            word, care = table.get(number, (0, 0))
            if not (word ^ item.descriptor) & care & item.care:
                return number
        raise self.error(
            f"the program needs more than {limit} operand descriptors" + (" for MAD" if limit < DESCRIPTORS else ""),
            hint="Use fewer combinations of swizzles and write masks.",
        )


__all__ = ["Assembly", "ShaderError", "assemble", "problems"]


def __dir__() -> list[str]:
    return [*__all__]
