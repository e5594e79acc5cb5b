"""Finds the text that a program of the 3DS was assembled from, among texts that somebody names or that lie beside it.

    texts = ShaderTexts(["phong.v.pica", "sprites.v.pica"])
    texts.of(code, descriptors, entry)      # a ProgramText: lines, labels, names
    beside("build/phong.shbin")             # ["build/phong.v.pica"]

Texts are assembled together, as picasso does, and each by itself. What agrees best with the program, word for word, is
its text. A `.shbin` is a text without lines: it has labels and names of uniforms.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from pocketgpu import whole_files
from pocketgpu.errors import CaptureError, PocketGPUError, UsageError
from pocketgpu.inspect.shaders.likeness import Agreement, Code, Text, compared
from pocketgpu.inspect.stepping.program_text import ProgramText
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.assembler import MOST_TEXTS, Assembly, assemble_all
from pocketgpu.pica.shader.disassembler import instruction_text
from pocketgpu.pica.shader.shbin import Executable, read_shbin

_LIMIT: Final = 4 << 20
"""Bytes of a text that is read."""
_LEAST_LIKE: Final = 0.5
"""The part of a text's words that must agree, so that it is the text of a program at all."""
_SHIFTS: Final = 8
"""By how many words the entry point may be moved, through NOPs before it."""
ENDINGS: Final = (".v.pica", ".g.pica", ".pica")
_LIST: Final = ".shlist"


@dataclass(frozen=True)
class _Program:
    """One program of an assembled text or of a file. places: file and line of each word; () without lines."""

    text: Text
    places: tuple[tuple[str, int], ...]
    entry: int
    known: ProgramText
    what: str


@dataclass(frozen=True)
class _Found:
    program: _Program
    agreement: Agreement
    begins: bool
    """Whether the program begins where the text's does."""

    @property
    def order(self) -> tuple[bool, bool, int, float, bool]:
        """Better ones are greater: those that begin with the program, without a difference, then with more that
        agrees."""
        size = max(len(self.program.text.code), 1)
        count = len(self.agreement.matched)
        same = self.agreement.first is None
        return self.begins and same, self.begins or same, count, count / size, bool(self.program.places)

    @property
    def is_like(self) -> bool:
        return len(self.agreement.matched) >= _LEAST_LIKE * len(self.program.text.code)


class ShaderTexts:
    """Texts by their paths, which are read and assembled when the first program asks.

    :raises UsageError: there are too many.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        if len(paths) > MOST_TEXTS:
            raise UsageError(f"{len(paths)} texts", location="texts", hint=f"{MOST_TEXTS} are the most.")
        self.paths = tuple(paths)
        self._known: dict[tuple[int, int, int], ProgramText | None] = {}

    @cached_property
    def _read(self) -> tuple[list[_Program], list[str]]:
        """Programs, and why texts have none."""
        found: list[_Program] = []
        wrong: list[str] = []
        texts: list[tuple[str, str]] = []
        for path in self.paths:
            try:
                data = whole_files.read(path, _LIMIT)
                if data[:4] == b"DVLB":
                    found += _of_file(data, path)
                else:
                    texts.append((path, _decoded(data, path)))
            except PocketGPUError as error:
                wrong.append(_line(error))
        groups = [texts] if len(texts) > 1 else []
        for group in [*groups, *([one] for one in texts)]:
            try:
                found += _of_texts(group)
            except PocketGPUError as error:
                if len(group) == 1 or not groups:
                    wrong.append(_line(error))
        return found, wrong

    @property
    def problems(self) -> list[str]:
        """Why texts cannot be used, a line each."""
        return list(self._read[1])

    def of(self, code: Sequence[int], descriptors: Sequence[int], entry: int) -> ProgramText | None:
        """See `ProgramTexts.of`. One that is not like the program has nothing but a `note`."""
        key = hash(tuple(code)), hash(tuple(descriptors)), entry
        if key not in self._known:
            self._known[key] = self._of(code, descriptors, entry)
        return self._known[key]

    def _of(self, code: Sequence[int], descriptors: Sequence[int], entry: int) -> ProgramText | None:
        programs, wrong = self._read
        if not programs:
            return ProgramText(note="; ".join(wrong)) if wrong else None
        other = Code(code, descriptors)
        best = max((_compared(one, other, at, entry) for one in programs for at in _offsets(one, entry)), key=_order)
        if best.agreement.first is not None:
            note = _difference(best, code, descriptors)
            if not best.is_like:
                return ProgramText(note="; ".join([note, *wrong]))
        elif entry not in best.agreement.matched.values():
            note = f"the program that begins at {entry:#05x} is in none of the texts"
        else:
            note = ""
        return _moved(best, note)


def _order(found: _Found) -> tuple[bool, bool, int, float, bool]:
    return found.order


def _compared(program: _Program, code: Code, offset: int, entry: int) -> _Found:
    agreement = compared(program.text, code, offset)
    return _Found(program, agreement, entry in (offset + program.entry, agreement.matched.get(program.entry)))


def _offsets(program: _Program, entry: int) -> Iterator[int]:
    """Where the text's first word may be in the code."""
    plain = entry - program.entry
    tried = dict.fromkeys([0, plain, *(plain + n * sign for n in range(1, _SHIFTS + 1) for sign in (1, -1))])
    return (one for one in tried if one >= 0)


def _moved(found: _Found, note: str) -> ProgramText:
    """What is known of the text, at the addresses of the code."""
    program, matched = found.program, found.agreement.matched
    ends = {**matched, len(program.text.code): found.agreement.covered}
    places = {to: program.places[at] for at, to in matched.items() if program.places and program.places[at][1]}
    labels = {ends[at]: name for at, name in program.known.labels.items() if at in ends}
    return ProgramText(places, labels, program.known.symbols, note, program.known.texts)


def _difference(found: _Found, code: Sequence[int], descriptors: Sequence[int]) -> str:
    """A line about the first word that differs."""
    assert found.agreement.first is not None
    at, to = found.agreement.first
    program = found.program
    ours = instruction_text(program.text.code[at], program.text.descriptors)
    theirs = instruction_text(code[to], descriptors) if to < len(code) else "nothing"
    place = f"{program.places[at][0]}, line {program.places[at][1]}" if program.places else program.what
    return f"the program is not that of {place}: word {at} is {ours!r} there, and here {theirs!r} at {to:#05x}"


def _of_texts(texts: Sequence[tuple[str, str]]) -> list[_Program]:
    made = assemble_all(texts)
    places = _places(made, [name for name, _ in texts])
    text = Text(made[0].code, made[0].descriptors, made[0].padding)
    rows = {name: source.splitlines() for name, source in texts}
    return [
        _Program(text, places, one.entry, ProgramText({}, _labels(one), one.symbols, "", rows), name)
        for one, (name, _) in zip(made, texts, strict=True) if one.exported
    ]  # fmt: skip


def _places(made: Sequence[Assembly], names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """File and line of each word."""
    found: list[tuple[str, int]] = [("", 0)] * len(made[0].code)
    for one, name in zip(made, names, strict=True):
        for address, line in enumerate(one.lines):
            if line:
                found[address] = name, line
    return tuple(found)


def _labels(one: Assembly) -> dict[int, str]:
    """Labels by address; of several at one, the first."""
    found: dict[int, str] = {}
    for name, address in one.labels.items():
        found.setdefault(address, name)
    return found


def text_of_assembly(one: Assembly, file: str, source: str) -> ProgramText:
    """What a text itself says of the program that was assembled of it."""
    places = {address: (file, line) for address, line in enumerate(one.lines) if line}
    return ProgramText(places, _labels(one), one.symbols, "", {file: source.splitlines()})


def text_of_executable(one: Executable) -> ProgramText:
    """What the tables of a `.shbin` say."""
    return ProgramText({}, one.names, one.symbols)


def merged(text: ProgramText | None, tables: ProgramText) -> ProgramText:
    """What a text says, and what only the tables of the file say."""
    if text is None:
        return tables
    known = {one.name for one in text.symbols}
    symbols = (*text.symbols, *(one for one in tables.symbols if one.name not in known))
    return ProgramText(text.places, {**tables.labels, **text.labels}, symbols, text.note, text.texts)


def _of_file(data: bytes, path: str) -> list[_Program]:
    shader = read_shbin(data, path)
    text = Text(shader.code, shader.descriptors, frozenset())
    return [_Program(text, (), one.entry, text_of_executable(one), path) for one in shader.executables]


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaptureError("this is no text", file=path, offset=error.start) from None


def _line(error: PocketGPUError) -> str:
    return f"{error.location}: {error.message}" if error.location else error.message


def beside(path: str) -> list[str]:
    """Texts that lie beside a `.shbin` under its name: `phong.v.pica`, `phong.g.pica` or `phong.pica`, or those that
    `phong.shlist` names, separated by blanks, in the order in which they are assembled."""
    stem = path[: -len(".shbin")] if path.endswith(".shbin") else os.path.splitext(path)[0]
    listed = stem + _LIST
    if os.path.isfile(listed):
        try:
            names = _decoded(whole_files.read(listed, _LIMIT), listed).split()
        except PocketGPUError:
            return []
        # A list that somebody sent must not name any file of this computer.
        inside = [name for name in names[:MOST_TEXTS] if "\0" not in name and not os.path.isabs(name)]
        paths = [os.path.join(os.path.dirname(listed), name) for name in inside]
        return [one for one in paths if os.path.isfile(one)]
    return [stem + ending for ending in ENDINGS if os.path.isfile(stem + ending)]


__all__ = ["ShaderTexts", "beside", "merged", "text_of_assembly", "text_of_executable"]
