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

Offsets (`/*0008*/`) and directives of NVIDIA's text are ignored. Three instructions share a control word in bundles of
32 bytes; the last bundle is filled with NOP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pocketgpu.displayed import line_of
from pocketgpu.facts.maxwell.sass import CONTROL, CONTROL_BITS
from pocketgpu.maxwell.sass.isa.bundles import NO_BARRIER, NOP, label_offset, offset_of
from pocketgpu.maxwell.sass.isa.decoder import SassError
from pocketgpu.maxwell.sass.isa.encoder import encode
from pocketgpu.wording import counted

_COMMENT = re.compile(r"//.*|/\*.*?\*/|\(\*.*?\*\)")
_LABEL = re.compile(r"([.$\w]+):")
_CONTROL = re.compile(
    r"\[B([-0-5]{6}):R([-0-5]):W([-0-5]):([-Y]):S(\d\d?)(?::U([0-9a-fA-F]))?(?:\s+\^(0[xX][0-9a-fA-F]+))?\]\s*"
)
_BRANCH = re.compile(r"(?<![\w`(.])([.$A-Za-z_][.$\w]*)$")
_UNKNOWN = {"stall": 15, "yield": 1, "write_barrier": NO_BARRIER, "read_barrier": NO_BARRIER, "wait": 0, "reuse": 0}
"""What an instruction without a scheduling field gets."""
_MOST_LINES = 1 << 20


@dataclass(frozen=True, slots=True)
class Assembly:
    """Assembled code: bytes in bundles of 32, and labels with their addresses."""

    code: bytes
    labels: Mapping[str, int]

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self.code), 'byte')}, {counted(len(self.labels), 'label')}")


@dataclass(frozen=True, slots=True)
class _SourceLine:
    number: int
    text: str
    control: int | None
    flip: int = 0
    first: bool = False


def assemble(source: str, base: int = 0) -> Assembly:
    """Assemble text. base: address of the first bundle.

    :raises SassError: names the line and what is wrong with it.
    """
    labels: dict[str, int] = {}
    lines = _lines(source, base, labels)
    words, controls = [], []
    for index, line in enumerate(lines):
        try:
            word, control = _assemble_line(line, base + offset_of(index), labels)
        except SassError as error:
            raise SassError(error.message, location=f"line {line.number}", hint=error.hint) from None
        words.append(word)
        controls.append(control)
    while len(words) % 3:
        words.append(NOP)
        controls.append(_pack(_UNKNOWN))
    code = bytearray()
    for at in range(0, len(words), 3):
        control = sum(one << CONTROL_BITS * k for k, one in enumerate(controls[at : at + 3]))
        code += b"".join(word.to_bytes(8, "little") for word in (control, *words[at : at + 3]))
    return Assembly(bytes(code), labels)


def _lines(source: str, base: int, labels: dict[str, int]) -> list[_SourceLine]:
    """The instructions of a source; labels are noted with the address of the instruction after them."""
    found: list[_SourceLine] = []
    rows = source.split("\n")
    if len(rows) > _MOST_LINES:
        raise SassError(f"{len(rows)} lines; {_MOST_LINES} are the most")
    for number, row in enumerate(rows, 1):
        text = _COMMENT.sub(" ", row).strip()
        while label := _LABEL.match(text):
            if label[1] in labels:
                raise SassError(f"there are two labels {label[1]!r}", location=f"line {number}")
            labels[label[1]] = base + label_offset(len(found))
            text = text[label.end() :].strip()
        if text.startswith(".") and not text.startswith(".word"):
            continue
        for part in text.split(";"):
            line = _line(number, part)
            if line is not None:
                found.append(line)
    return found


def _line(number: int, text: str) -> _SourceLine | None:
    text = text.strip()
    flip, bits, first = 0, None, False
    while text[:1] in ("{", "[") or text[-1:] == "}":
        if text[0] == "{":
            text, first = text[1:].strip(), True
        elif text[-1] == "}" and text.count("{") < text.count("}"):
            text = text[:-1].strip()
        elif control := _CONTROL.match(text):
            bits, flip = _control(control), int(control[7] or "0", 16)
            text = text[control.end() :].strip()
        else:
            break
    return _SourceLine(number, text, bits, flip, first) if text else None


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


def _assemble_line(line: _SourceLine, address: int, labels: Mapping[str, int]) -> tuple[int, int]:
    control = line.control
    if control is None:
        control = _pack({**_UNKNOWN, "stall": 0} if line.first else _UNKNOWN)
    if line.text.startswith(".word"):
        try:
            word = int(line.text[5:].strip(), 0)
        except ValueError:
            word = -1
        if not 0 <= word < 1 << 64:
            raise SassError(f"{line.text!r} is no word of 64 bits")
        return word ^ line.flip, control
    text = line.text
    if (bare := _BRANCH.search(text)) and bare[1] in labels and not text.startswith(bare[1]):
        text = f"{text[: bare.start()]}`({bare[1]})"
    try:
        encoded = encode(text, address, labels)
    except KeyError as missing:
        raise SassError(f"there is no label {missing.args[0]!r}") from None
    return encoded.word ^ line.flip, control ^ encoded.control
