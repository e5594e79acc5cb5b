"""Maxwell assembly to code. It takes what the disassembler writes, and what people write.

    // comments, /* also these */
    start:
        [B------:R-:W0:-:S02] S2R R0, SR_TID.X ;      // the scheduling field may be left out
        @P0 BRA `(start) ;                            // so may the semicolon; labels may stand bare
        { IADD R1, R0, 0x1 ;                          // braces: a pair that issues together
          LDG.E R2, [R4]  }
        .word 0x50b0000000070f00                      // any 64 bits in the place of an instruction

The scheduling field has the barriers to wait for, the read barrier and the write barrier to signal, Y to yield, and the
stall cycles. `:U3` may follow for operands to reuse that the text does not show, and `^0x..` for bits of the word that
the text does not determine. An instruction without a scheduling field stalls for 15 cycles and uses no barriers: that
is enough for a model, but a real GPU needs barriers for loads and other work of unknown length.

Offsets (`/*0008*/`) and directives of NVIDIA's text are ignored; `header.py` describes those that say what a launch
needs, with names for parameters. Three instructions share a control word in bundles of 32 bytes; the last bundle is
filled with NOP.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from pocketgpu.collected import Collected, Enough
from pocketgpu.displayed import line_of
from pocketgpu.facts.maxwell.sass import CONTROL, CONTROL_BITS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.bundles import NO_BARRIER, NOP, label_offset, offset_of
from pocketgpu.maxwell.sass.isa.decoder import SassError
from pocketgpu.maxwell.sass.isa.encoder import encode, wrong_place
from pocketgpu.maxwell.sass.isa.header import Header, Word, kernel_name, words_of
from pocketgpu.wording import counted

_COMMENT = re.compile(r"//.*|/\*.*?\*/|\(\*.*?\*\)")
_LABEL = re.compile(r"\s*([.$\w]+):")
_CONTROL = re.compile(
    r"\[B([-0-5]{6}):R([-0-5]):W([-0-5]):([-Y]):S(\d\d?)(?::U([0-9a-fA-F]))?(?:\s+\^(0[xX][0-9a-fA-F]+))?\]\s*"
)
_BRANCH = re.compile(r"(?<![\w`(.])([.$A-Za-z_][.$\w]*)$")
_UNKNOWN = {"stall": 15, "yield": 1, "write_barrier": NO_BARRIER, "read_barrier": NO_BARRIER, "wait": 0, "reuse": 0}
"""What an instruction without a scheduling field gets."""
_MOST_LINES = 1 << 20


@dataclass(frozen=True, slots=True)
class Assembly:
    """Assembled code: bytes in bundles of 32, labels with their addresses, and the line of each instruction."""

    code: bytes
    labels: Mapping[str, int]
    lines: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self.code), 'byte')}, {counted(len(self.labels), 'label')}")


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel that was written as text: what its directives say, and its code."""

    header: Header
    assembly: Assembly

    def __repr__(self) -> str:
        return line_of(self, f"{self.header.name or 'code'}, {counted(len(self.assembly.code), 'byte')}")


@dataclass(frozen=True, slots=True)
class _SourceLine:
    number: int
    column: int
    text: str
    control: int | None
    flip: int = 0
    first: bool = False


@dataclass
class _Source:
    """The lines of a kernel, or of a text without kernels: its directives, instructions and labels."""

    header: Header
    lines: list[_SourceLine] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def assemble(source: str, base: int = 0) -> Assembly:
    """Assemble text. base: address of the first bundle. All kernels of the text become one piece of code.

    :raises SassError: names line and column, and what is wrong there.
    """
    one = _Source(Header())
    for number, text in _rows(source):
        rest = _without_labels(one, number, text, base)
        if not rest.lstrip().startswith(".") or rest.lstrip().startswith(".word"):
            _add(one, number, rest)
        elif kernel_name(words := words_of(rest, number)) is None:
            one.header.take(words, strict=False)
    return _assembled(one, base)


def assemble_kernels(source: str) -> list[KernelText]:
    """The kernels of a text; one without a name if no directive begins one. A kernel can be directives only.

    :raises SassError: names line and column, and what is wrong there.
    """
    found = _kernels(source, Collected(SassError))
    told = [one for one in found if one.lines or one.header.name or one.header.text()]
    return [KernelText(one.header, _assembled(one, 0)) for one in told]


def problems(source: str, most: int = 100, stop: Callable[[], bool] | None = None) -> list[SassError]:
    """What is wrong with a text, in the order of its lines: up to `most` errors. stop: says when nobody waits."""
    errors = Collected(SassError, most, stop)
    with contextlib.suppress(SassError, Enough), errors:
        for one in _kernels(source, errors):
            for index, line in enumerate(one.lines):
                with errors:
                    _assemble_at(one, line, offset_of(index))
    return sorted(errors.found, key=lambda error: (error.line, error.column))


def _kernels(source: str, errors: Collected[SassError]) -> list[_Source]:
    """The lines of a text, by kernel."""
    found = [_Source(Header())]
    names: dict[str, int] = {}
    skipped = False  # a section of something else than code
    for number, text in _rows(source):
        with errors:
            words = words_of(text, number)
            name = kernel_name(words) if words else None
            if name is not None:
                skipped = not name
                if not skipped:
                    _begin(found, names, name, words)
            elif not skipped:
                rest = _without_labels(found[-1], number, text, 0)
                words = words_of(rest, number)
                if words and words[0].text.startswith(".") and words[0].text != ".word":
                    found[-1].header.take(words)
                else:
                    _add(found[-1], number, rest)
    return found


def _begin(found: list[_Source], names: dict[str, int], name: str, words: list[Word]) -> None:
    """Begin a kernel."""
    if name in names:
        raise words[1].error(f"there are two kernels {name!r}", f"The first one is in line {names[name]}.")
    names[name] = words[0].line
    before = found[-1]
    if not before.header.name and before.lines:
        first = before.lines[0]
        where = first.number, first.column
        raise SassError("an instruction before the first kernel", place=where, hint="Write .kernel NAME above it.")
    if before.header.name:
        found.append(_Source(Header(name)))
    else:
        before.header.name = name  # directives above the first kernel are its own


def _assembled(source: _Source, base: int) -> Assembly:
    words, controls = [], []
    for index, line in enumerate(source.lines):
        word, control = _assemble_at(source, line, base + offset_of(index))
        words.append(word)
        controls.append(control)
    while len(words) % 3:
        words.append(NOP)
        controls.append(_pack(_UNKNOWN))
    code = bytearray()
    for at in range(0, len(words), 3):
        control = sum(one << CONTROL_BITS * k for k, one in enumerate(controls[at : at + 3]))
        code += b"".join(word.to_bytes(8, "little") for word in (control, *words[at : at + 3]))
    return Assembly(bytes(code), source.labels, tuple(line.number for line in source.lines))


def _assemble_at(source: _Source, line: _SourceLine, address: int) -> tuple[int, int]:
    """Word and scheduling bits of an instruction. An error without a place gets that of the instruction."""
    try:
        return _assemble_line(line, address, source.labels, source.header)
    except SassError as error:
        place = (error.line, error.column) if error.line else (line.number, line.column)
        raise SassError(error.message, place=place, hint=error.hint) from None


def _rows(source: str) -> Iterable[tuple[int, str]]:
    """The lines of a text by number, with blanks in the place of comments."""
    rows = source.split("\n")
    if len(rows) > _MOST_LINES:
        raise SassError(f"{len(rows)} lines; {_MOST_LINES} are the most")
    for number, row in enumerate(rows, 1):
        yield number, _COMMENT.sub(lambda found: " " * len(found[0]), row).rstrip()


def _without_labels(source: _Source, number: int, text: str, base: int) -> str:
    """A line with blanks in the place of its labels, which get the address of the instruction after them."""
    while label := _LABEL.match(text):
        if label[1] in source.labels:
            where = number, label.start(1) + 1
            raise SassError(f"there are two labels {label[1]!r}", place=where, hint="Give one another name.")
        source.labels[label[1]] = base + label_offset(len(source.lines))
        text = " " * label.end() + text[label.end() :]
    return text


def _add(source: _Source, number: int, text: str) -> None:
    """Add the instructions of a line."""
    column = 1
    for part in text.split(";"):
        line = _line(number, column, part)
        if line is not None:
            source.lines.append(line)
        column += len(part) + 1


def _line(number: int, column: int, text: str) -> _SourceLine | None:
    flip, bits, first = 0, None, False

    def cut(count: int = 0) -> None:
        """Leave out characters and the blanks after them."""
        nonlocal text, column
        rest = text[count:].lstrip()
        column += len(text) - len(rest)
        text = rest

    cut()
    text = text.rstrip()
    while text[:1] in ("{", "[") or text[-1:] == "}":
        if text[0] == "{":
            cut(1)
            first = True
        elif text[-1] == "}" and text.count("{") < text.count("}"):
            text = text[:-1].rstrip()
        elif control := _CONTROL.match(text):
            bits, flip = _control(control), int(control[7] or "0", 16)
            cut(control.end())
        else:
            break
    return _SourceLine(number, column, text, bits, flip, first) if text else None


def _control(found: re.Match[str]) -> int:
    wait = sum(1 << int(digit) for digit in found[1] if digit != "-")
    barriers = [NO_BARRIER if text == "-" else int(text) for text in (found[3], found[2])]
    stall = int(found[5])
    values = {
        "stall": stall & 15,
        "yield": int(found[4] == "-"),
        "write_barrier": barriers[0],
        "read_barrier": barriers[1],
        "wait": wait,
        "reuse": int(found[6] or "0", 16),
    }
    return _pack(values)


def _pack(values: Mapping[str, int]) -> int:
    word = 0
    for name, value in values.items():
        word |= value << CONTROL[name].lo
    return word


def _assemble_line(line: _SourceLine, address: int, labels: Mapping[str, int], header: Header) -> tuple[int, int]:
    control = line.control
    if control is None:
        control = _pack({**_UNKNOWN, "stall": 0} if line.first else _UNKNOWN)
    if line.text.startswith(".word"):
        try:
            word = int(line.text[5:].strip(), 0)
        except ValueError:
            word = -1
        if not 0 <= word < 1 << 64:
            raise SassError(f"{line.text!r} is no word of 64 bits", hint="Write .word 0x50b0000000070f00.")
        return word ^ line.flip, control
    text = header.resolve(line.text, line.number, line.column)
    if (bare := _BRANCH.search(text)) and bare[1] in labels and not text.startswith(bare[1]):
        text = f"{text[: bare.start()]}`({bare[1]})"
    try:
        encoded = encode(text, address, labels)
    except KeyError as missing:
        name = str(missing.args[0])
        where = line.number, line.column + max(line.text.find(name), 0)
        raise SassError(f"there is no label {name!r}", place=where, hint=f"Write '{name}:' somewhere.") from None
    except SassError as error:
        column = line.column + (wrong_place(line.text) if text == line.text else 0)
        raise SassError(error.message, place=(line.number, column), hint=error.hint) from None
    return encoded.word ^ line.flip, control ^ encoded.control


__all__ = ["Assembly", "KernelText", "assemble", "assemble_kernels", "problems"]
