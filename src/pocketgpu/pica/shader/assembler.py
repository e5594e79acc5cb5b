"""An assembler for the PICA200's shader units: shader text to words.

It reads the language of picasso, the assembler of homebrew, and a few forms of its own. The operands of each opcode
come from facts/shader_isa.py, the directives from directives.py.

    .fvec projection[4]             ; uniforms; projection[1] is the second register
    .constf half(0.5, 0.5, 0.5, 1)  ; a constant of the program
    .out outpos position            ; semantic of an output register
    .out outtex texcoord0.xy
    .in inpos                       ; an input
    .alias light r8.xyz             ; a name for a register, perhaps for some components
    .proc main                      ; the program starts here, or at .entry, else at its first word
        dp4 outpos.x, projection[0], inpos
        mad r0.xyz, -half.x, inpos, r2  ; negation, swizzles, write masks
        mova a0, r0.y
        mov r1, projection[a0+1]    ; also a1 and lcnt, or a0.x, a0.y and aL
        cmp half, lt, ge, r0        ; sets cmp.x and cmp.y
        ifc cmp.x && !cmp.y         ; ifu b0; jmpc, breakc and callc take conditions too
            call lit
        .else
            nop
        .end
        for i0                      ; up to .end
            add r1, c32[lcnt], r1
        .end
        end
    .end
    .proc lit                       ; for call, callu and callc
        mul r0, light, r0
    .end

Forms of this assembler: `loop` up to `endloop`, `else` and `endif`, `.endproc`, `.constf c8, 0.5, 1.0, 0.0, 2.0`,
`.out o2.zw texcoord1`, comments after `//`. Flow instructions also take the addresses (labels or numbers) that blocks
would compute: `jmpu !b0, there`, `call start, stop`, `ifu b0, otherwise, after`, `loop i0, after`. `.word N` inserts
any word, `.desc N, WORD` sets operand descriptor N, and `@N` after an instruction makes it use that descriptor.

Source: 3dbrew GPU/Shader Instruction Set; the manual of picasso.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from pocketgpu.collected import Collected, Enough
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.declarations import GeometryInput, Unit
from pocketgpu.pica.shader.missing_end import entry_remarks
from pocketgpu.pica.shader.names import COMPONENTS
from pocketgpu.pica.shader.pieces import NewWord, ShaderError
from pocketgpu.pica.shader.sharing import DESCRIPTORS, placed, share_descriptors
from pocketgpu.pica.shader.statements import Statements
from pocketgpu.pica.shader.symbols import Symbol
from pocketgpu.wording import counted

_LARGEST = 4096
"""Words of the larger of the two kinds of programs."""
MOST_TEXTS = 64
"""Texts that are assembled together."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """An assembled program.

    code, descriptors: words. labels: name to address. outputs: output register to the semantics of its x, y, z, w
    (numbers of SH_OUTMAP, 0x1F unused), from `.out`. constants: float uniform to (x, y, z, w). warnings: code that
    works in simulators but not on a console. lines: the line of the text of each word, 0 for words of other texts.
    booleans, integers: values of boolean and integer uniforms. declared: register, kind and mask (bit 0 is x) of each
    output, as a `.shbin` has them. symbols: names of registers. sizes: words of each procedure. kind: "vertex" or
    "geometry". geometry: how a geometry program gets its vertices, if the text says so. start: address of the entry
    point. exported: it is a program, not only procedures for others. padding: addresses of the NOPs that the assembler
    put at the ends of blocks.
    """

    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    labels: Mapping[str, int]
    outputs: Mapping[int, tuple[int, int, int, int]]
    constants: Mapping[int, tuple[float, float, float, float]]
    warnings: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    booleans: Mapping[int, bool] = field(default_factory=dict)
    integers: Mapping[int, tuple[int, int, int, int]] = field(default_factory=dict)
    declared: tuple[tuple[int, str, int], ...] = ()
    symbols: tuple[Symbol, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    kind: str = "vertex"
    geometry: GeometryInput | None = None
    start: int = 0
    exported: bool = True
    padding: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        size = f"{counted(len(self.code), 'word')}, {counted(len(self.descriptors), 'descriptor')}"
        return line_of(self, f"{size}, entry {self.entry:#05x}")

    @property
    def entry(self) -> int:
        """Address of the entry point: of the name in `.entry`, of `main`, or else of the text's first word."""
        return self.start


def problems(source: str, most: int = 100, stop: Callable[[], bool] | None = None) -> list[ShaderError]:
    """What is wrong with a text, in the order of its lines: up to `most` errors. stop: says when nobody waits.

    A procedure that is missing is a warning: it may be in another text.
    """
    found = problems_of([("", source)], most, stop)
    for one in found:
        one.warning |= one.elsewhere
    return found


def problems_of(
    texts: Sequence[tuple[str, str]], most: int = 100, stop: Callable[[], bool] | None = None
) -> list[ShaderError]:
    """What is wrong with texts (name, text) that are assembled together."""
    errors = Collected(ShaderError, most, stop)
    assembler = _Assembler(_LARGEST, errors)
    with contextlib.suppress(ShaderError, Enough), errors:
        assembler.run(texts)
    order = {name: number for number, (name, _) in enumerate(texts)}
    found = {
        (one.file, one.line, one.column, one.message): one
        for one in (*errors.found, *assembler.reading.warnings) if not one.follows
    }  # fmt: skip
    return sorted([*found.values()][:most], key=lambda error: (order.get(error.file, 0), error.line, error.column))


def assemble(source: str, *, words: int = 512) -> Assembly:
    """Assemble shader text. words: room in the unit's memory (512 for vertex programs, 4096 for geometry programs).

    :raises ShaderError: with the line and the problem.
    """
    return assemble_all([("", source)], words=words)[0]


def assemble_all(texts: Sequence[tuple[str, str]], *, words: int = _LARGEST) -> list[Assembly]:
    """Assemble texts (name, text) into one code: a program for each. They share procedures; vertex programs also share
    uniforms of the same name. words: room in the unit's memory.

    :raises ShaderError: with the text, the line and the problem.
    :raises UsageError: there are too many texts.
    """
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise UsageError(f"{len(texts)} texts to assemble", hint=f"1 to {MOST_TEXTS} go together.")
    return _Assembler(words, Collected(ShaderError)).run(texts)


class _Assembler(Statements):
    """Reads all texts, then fills in what needs all of them: addresses, operand descriptors."""

    def __init__(self, words: int, errors: Collected[ShaderError]) -> None:
        super().__init__(errors)
        self.limit = words

    def run(self, texts: Sequence[tuple[str, str]]) -> list[Assembly]:
        for number, (file, source) in enumerate(texts):
            self.read_text(number, file, source)
        reading, files = self.reading, [name for name, _ in texts]
        descriptors = share_descriptors(reading, self.errors, self.items, self.given, files)
        code = tuple(self._finish(item, files) for item in self.items)
        if len(code) > self.limit:
            first = self.items[self.limit]
            reading.file, reading.line, reading.column = files[first.text], first.line, first.column
            with self.errors:
                raise reading.error(f"the program has {len(code)} words; {self.limit} fit")
        starts = [self._start(unit) for unit in self.units]
        regions = list(self.procs.values())
        for unit, start in zip(self.units, starts, strict=True):
            # In a text with mistakes, the end may be in one of those lines.
            if unit.exported and not self.errors.found and (unit.entry is not None or "main" in unit.labels):
                entry_remarks(reading, files, self.items, code, start, regions)
        warnings = tuple(f"line {one.line}: {one.message}" for one in reading.warnings)
        return [
            self._made(unit, start, code, descriptors, warnings) for unit, start in zip(self.units, starts, strict=True)
        ]

    def _finish(self, item: NewWord, files: Sequence[str]) -> int:
        reading = self.reading
        reading.file, reading.line, reading.column = files[item.text], item.line, item.column
        word = item.word
        if item.format is not None:
            for name, target in item.targets:
                with self.errors:
                    word |= placed(reading, item.format, name, target())
        return word

    def _start(self, unit: Unit) -> int:
        """Address of a text's entry point."""
        name = unit.entry
        if name is None:
            return unit.labels.get("main", self.procs.get("main", (unit.start, 0))[0])
        self.reading.file, self.reading.line = unit.file, unit.entry_line
        with self.errors:
            return self.entry_of(unit, name)
        return unit.start

    def _made(
        self, unit: Unit, start: int, code: tuple[int, ...], descriptors: tuple[int, ...], warnings: tuple[str, ...]
    ) -> Assembly:
        foreign = {name: place[0] for name, place in self.procs.items() if name not in unit.labels}
        own = [item.text == unit.number for item in self.items]
        return Assembly(
            code, descriptors, unit.labels | foreign,
            {register: (s[0], s[1], s[2], s[3]) for register, s in sorted(unit.outputs.items())},
            unit.constants, warnings,
            tuple(item.line if mine else 0 for item, mine in zip(self.items, own, strict=True)),
            unit.booleans, unit.integers, tuple(unit.declared), tuple(unit.names.symbols.values()),
            {name: end - begin for name, (begin, end) in self.procs.items()},
            "geometry" if unit.is_geometry else "vertex", unit.geometry, start, unit.exported,
            frozenset(address for address, item in enumerate(self.items) if item.padding),
        )  # fmt: skip


__all__ = [
    "COMPONENTS", "DESCRIPTORS", "MOST_TEXTS", "Assembly", "ShaderError", "assemble", "assemble_all", "problems",
    "problems_of",
]  # fmt: skip


def __dir__() -> list[str]:
    return ["Assembly", "ShaderError", "assemble", "assemble_all", "problems"]
