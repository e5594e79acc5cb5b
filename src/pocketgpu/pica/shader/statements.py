"""Reads shader text line by line: labels, directives, blocks, and instructions, which become words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from pocketgpu.collected import Collected
from pocketgpu.facts.shader_isa import OPCODE_AT, number_of
from pocketgpu.pica.shader.declarations import Declarations, Uniforms, Unit
from pocketgpu.pica.shader.directives import CLOSERS, DIRECTIVES, MIDDLES, OPENERS
from pocketgpu.pica.shader.instructions import Instructions
from pocketgpu.pica.shader.names import IDENTIFIER, Names
from pocketgpu.pica.shader.pieces import NewWord, OpenBlock, Piece, ShaderError, split_pieces
from pocketgpu.pica.shader.sharing import DESCRIPTORS

_LABEL = re.compile(rf"({IDENTIFIER})\s*:\s*")
_COMMENT = re.compile(r";|//")
_NOP = number_of("NOP") << OPCODE_AT
MOST_LINES, MOST_LETTERS, MOST_OPEN = 1 << 16, 1 << 12, 64
"""The most lines of a text, letters of a line, and blocks that are open at once. A unit has room for 4096 words."""
_LEAST = {".proc": 1}
"""Words that a block has at least; 2 if it is not here."""


class Statements(Instructions):
    """The statements of texts."""

    def __init__(self, errors: Collected[ShaderError]) -> None:
        super().__init__()
        self.errors = errors
        self.units: list[Unit] = []
        self.given: dict[int, int] = {}
        """Operand descriptors that `.desc` sets."""
        self.blocks: list[OpenBlock] = []
        self.last_end = -1
        self.declarations = Declarations(self.reading)
        self.shared = Uniforms()
        self.directives: dict[str, Callable[[Piece], None]] = {
            **self.declarations.handlers, ".constfa": self.constant_array, ".desc": self.add_descriptor,
            ".else": lambda rest: self.otherwise(".else", rest), ".end": lambda rest: self.close(".end", rest),
            ".endproc": lambda rest: self.close(".endproc", rest), ".proc": self.open_proc, ".word": self.add_word,
        }  # fmt: skip

    # -- lines --------------------------------------------------------------------------------------------------------
    def read_text(self, number: int, file: str, source: str) -> None:
        """Read a text."""
        reading = self.reading
        unit = Unit(number, file, Names(reading), self.shared, start=len(self.items))
        self.unit = self.declarations.unit = unit
        self.units.append(unit)
        reading.file, self.last_end = file, -1
        rows = source.splitlines()
        if len(rows) > MOST_LINES:
            reading.line = reading.column = 0
            with self.errors:
                raise reading.error(f"{len(rows)} lines; {MOST_LINES} are the most")
            return
        for reading.line, raw in enumerate(rows, 1):
            if len(raw) > MOST_LETTERS:
                reading.column = MOST_LETTERS + 1
                with self.errors:
                    raise reading.error(f"the line has {len(raw)} letters; {MOST_LETTERS} are the most")
                continue
            text = Piece.of(_COMMENT.split(raw, maxsplit=1)[0], 1)
            with self.errors:
                while match := _LABEL.match(text):
                    reading.at(text)
                    name, text = match[1], text.part(match.end())
                    self.label(name)
                reading.at(text)
                self.begins = text.column
                if text.startswith("."):
                    self.directive(text)
                elif text:
                    self.instruction(text)
        for block in self.blocks[::-1]:
            reading.line, reading.column = block.line, block.column
            with self.errors:
                raise reading.error(f"{block.kind} has no end")
        self.blocks.clear()

    def directive(self, text: Piece) -> None:
        name, rest = _headed(text)
        if name not in DIRECTIVES:
            close = difflib.get_close_matches(name, DIRECTIVES, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Known are {', '.join(DIRECTIVES)}."
            raise self.reading.error(f"no directive {name}", hint=hint)
        try:
            self.directives[name](rest)
        except ShaderError:
            # Uses of a name whose definition is wrong are no mistakes of their own.
            match = re.match(IDENTIFIER, rest)
            self.unit.names.broken |= {match[0]} if match else set()
            raise

    # -- words, descriptors, labels -----------------------------------------------------------------------------------
    def add_word(self, rest: Piece) -> None:
        (word,) = self.declarations.words(".word", rest, 1)
        column = self.reading.column
        self.add(NewWord(self.reading.line, column, word=self.integer(word, "word", 1 << 32)))

    def add_descriptor(self, rest: Piece) -> None:
        number, word = self.declarations.words(".desc", rest, 2)
        self.given[self.integer(number, "descriptor", DESCRIPTORS)] = self.integer(word, "word", 1 << 32)

    def label(self, name: str) -> None:
        if name in self.unit.labels:
            raise self.reading.error(f"label {name} is defined already")
        self.unit.labels[name] = len(self.items)

    # -- blocks -------------------------------------------------------------------------------------------------------
    def constant_array(self, rest: Piece) -> None:
        """.constfa: the beginning of an array, or an element of it."""
        declarations, reading = self.declarations, self.reading
        inside = bool(self.blocks) and self.blocks[-1].kind == ".constfa"
        if rest.startswith("("):
            if not inside:
                raise reading.error("an element outside of an array of constants", hint="Begin with .constfa name[].")
            _, values = declarations.vector(".constfa", rest)
            block = self.blocks[-1]
            if block.middle >= 0 and len(self.unit.elements) >= block.middle:
                raise reading.error(f"{block.name} has {block.middle} elements already")
            self.unit.elements.append(declarations.floats(values))
            return
        block = OpenBlock(".constfa", reading.line, reading.column, len(self.items), broken=True)
        self.unit.elements = []
        self.blocks.append(block)
        match = re.fullmatch(rf"({IDENTIFIER})\s*\[\s*(\d{{0,9}})\s*\]", rest)
        if match is None:
            raise reading.error(".constfa takes a name and a size in brackets", hint="Such as name[] or name[4].")
        if match[2]:
            _, block.middle = declarations.array(rest)
        block.name, block.broken = rest.part(0, match.end(1)), False

    def open_proc(self, rest: Piece) -> None:
        if len(self.blocks) >= MOST_OPEN:
            raise self.reading.error(f"{MOST_OPEN} blocks are open")
        block = OpenBlock(".proc", self.reading.line, self.reading.column, len(self.items), broken=True)
        self.blocks.append(block)
        (name,) = self.declarations.words(".proc", rest, 1)
        self.reading.at(name)
        if not re.fullmatch(IDENTIFIER, name):
            raise self.reading.error(f"{name!r} is no name")
        if name in self.procs or any(one is not block and one.name == name for one in self.blocks):
            raise self.reading.error(f".proc {name} is defined already")
        self.label(name)
        block.name, block.broken = name, False

    def close(self, closer: str, rest: Piece) -> None:
        """End the innermost block."""
        self.nothing_after(closer, rest)
        if closer == ".end" and self.blocks and self.blocks[-1].kind == ".constfa":
            self._close_array(self.blocks.pop())
            return
        block = self.close_block(CLOSERS[closer], closer)
        end = len(self.items)
        if block.kind == ".proc":
            if not block.broken:
                self.procs[block.name] = (block.start, end)
        elif block.item is not None and block.kind == "loop":
            block.item.targets.append(("dst", lambda: end - 1))
        elif block.item is not None:
            middle = block.middle if block.middle >= 0 else end
            block.item.targets += [("dst", lambda: middle), ("num", lambda: end - middle)]

    def nothing_after(self, name: str, rest: Piece) -> None:
        if rest:
            self.reading.at(rest)
            raise self.reading.error(f"{name} takes no operands")

    def _close_array(self, block: OpenBlock) -> None:
        vectors = self.unit.elements
        if block.broken:
            return
        if not vectors and block.middle < 0:
            raise self.reading.error(f"{block.name} has no element")
        vectors = vectors + [(0.0, 0.0, 0.0, 0.0)] * (block.middle - len(vectors))
        here = self.reading.line
        self.reading.line = block.line
        try:
            self.declarations.named_constants(Piece.of(block.name, block.column), vectors, is_array=True)
        finally:
            self.reading.line = here

    def close_block(self, kinds: tuple[str, ...], closer: str) -> OpenBlock:
        """End the innermost block, with padding. A console checks for the end of a block at its last word, which must
        not be a flow instruction; a block must not be too short or end together with another one. END is no problem at
        the end of a procedure: nothing comes after it."""
        if not self.blocks or self.blocks[-1].kind not in kinds:
            opened = f"; {self.blocks[-1].kind} in line {self.blocks[-1].line} is open" if self.blocks else ""
            raise self.reading.error(f"{closer} without {' or '.join(kinds)}{opened}")
        block = self.blocks.pop()
        start = block.start if block.middle < 0 else block.middle
        least = _LEAST.get(block.kind, 2)
        while len(self.items) - start < least or self._needs_nop(block) or self.last_end == len(self.items):
            self.add(NewWord(self.reading.line, self.reading.column, word=_NOP, padding=True))
        self.last_end = len(self.items)
        return block

    def _needs_nop(self, block: OpenBlock) -> bool:
        last = self.items[-1]
        return last.flow and not (block.kind == ".proc" and last.word >> OPCODE_AT == number_of("END"))

    def otherwise(self, name: str, rest: Piece) -> None:
        self.nothing_after(name, rest)
        block = self.close_block(("ifu", "ifc"), name)
        if block.middle >= 0:
            self.blocks.append(block)
            raise self.reading.error(f"{block.kind} has its {name} already")
        block.middle = len(self.items)
        self.blocks.append(block)

    # -- instructions -------------------------------------------------------------------------------------------------
    def instruction(self, text: Piece) -> None:
        body, at, number = text.partition("@")
        name, rest = _headed(text.part(0, len(body)))
        opened = OPENERS.get(name)
        before = len(self.blocks), len(self.items)
        try:
            self._instruction(name, rest)
        except ShaderError:
            if opened is not None and len(self.blocks) == before[0] and "," not in rest:
                # The end of the block is no mistake of its own.
                self.blocks.append(OpenBlock(opened, self.reading.line, text.column, before[1], broken=True))
            raise
        if at and len(self.items) > before[1]:
            piece = Piece.of(number, text.column + len(body) + 1)
            self.items[-1].number = self.integer(piece, "descriptor", DESCRIPTORS)

    def _instruction(self, name: Piece, rest: Piece) -> None:
        reading = self.reading
        if name in MIDDLES:
            self.otherwise(name, rest)
            return
        if name in CLOSERS:
            self.close(name, rest)
            return
        if self.blocks and self.blocks[-1].kind == ".constfa":
            raise reading.error("an instruction in an array of constants", hint="Write .end before it.")
        operands = split_pieces(rest, rest.column) if rest else []
        opened = self.encode(name, operands)
        if opened is not None:
            self.blocks.append(OpenBlock(OPENERS[name], reading.line, opened.column, len(self.items), opened))

    def entry_of(self, unit: Unit, name: Piece) -> int:
        """The address that `.entry` names.

        :raises ShaderError: there is no such label or procedure.
        """
        self.reading.at(name)
        if name in unit.labels:
            return unit.labels[name]
        if name in self.procs:
            return self.procs[name][0]
        known = {*unit.labels, *self.procs}
        close = difflib.get_close_matches(name, known, 1)
        hint = f"Did you mean {close[0]}?" if close else None
        raise self.reading.error(f"no procedure {name}", hint=hint, follows=name in unit.names.broken)


def _headed(text: Piece) -> tuple[Piece, Piece]:
    """The first word of a statement, and the rest."""
    match = re.match(r"\S+", text)
    end = match.end() if match else 0
    # `.constfa (x, y, z, w)` and `.constf(...)`: a parenthesis ends a directive's name too.
    if text.startswith(".") and "(" in text[:end]:
        end = text.index("(")
    return text.part(0, end), text.part(end)


__all__ = ["Statements"]
