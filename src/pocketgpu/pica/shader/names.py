"""Registers in shader text: `-projection[lcnt+2].wzyx`, aliases with components, indices, masks and swizzles.

Components are x y z w, or r g b a, or s t p q. A name may stand for some components of a register; components after it
choose among those: with `.alias swapped c0.wyxz`, `swapped.xxww` is `c0.wwzz`.
"""

from __future__ import annotations

import difflib
import re

from pocketgpu.facts.shader_isa import COMPONENT_MASKS, COMPONENT_SELECTORS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.pieces import Piece, Reading
from pocketgpu.pica.shader.symbols import REGISTERS, Symbol, Use

COMPONENTS = "xyzw"
SETS = (COMPONENTS, "rgba", "stpq")
_COMPONENT = {letter: place for letters in SETS for place, letter in enumerate(letters)}
IDENTIFIER = r"[A-Za-z_$][\w$]*"
INDICES = {"a0": 1, "a0.x": 1, "a1": 2, "a0.y": 2, "a2": 3, "lcnt": 3, "aL": 3}
"""Index registers in brackets, with their number in an instruction."""
ADDRESSES = {"a0": "x", "a1": "y", "a01": "xy"}
"""What MOVA can write, and the components of the address register that it is."""
_OPERAND = re.compile(r"(-?)\s*([\w$]+)\s*(?:\[([^\]]*)\])?\s*(?:\.\s*(\w+))?")
_TERM = r"(?:0[xX][0-9a-fA-F]{1,8}|\d{1,9}|[A-Za-z_]\w*(?:\.\w+)?)"
_INDEX = re.compile(rf"\s*[+-]?\s*{_TERM}(?:\s*[+-]\s*{_TERM})*\s*")
_NO_REGISTER = "is not a valid register here"


@dataclass(frozen=True, slots=True)
class Place:
    """A register in a text. letters: the components that were asked for, filled to four; empty for all as they are.
    index: number of an index register, 0 without one."""

    file: str
    number: int
    letters: tuple[int, ...] = ()
    index: int = 0
    count: int = 1
    negative: bool = False

    @property
    def register(self) -> str:
        return f"{self.file}{self.number}"

    @property
    def components(self) -> tuple[int, ...]:
        return self.letters or (0, 1, 2, 3)

    @property
    def selector(self) -> int:
        return sum(component << lo for component, (lo, _) in zip(self.components, COMPONENT_SELECTORS, strict=True))

    @property
    def mask(self) -> int:
        """Write mask: the components that are used."""
        return sum(1 << COMPONENT_MASKS[component][0] for component in set(self.components))


def is_register(name: str) -> bool:
    """Whether a name is that of a register itself, such as c12, also of one that is not there."""
    return re.fullmatch(r"[vrocbi]\d+", name) is not None or name in INDICES or name in ADDRESSES


class Names:
    """The names of one text."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.symbols: dict[str, Symbol] = {}
        self.broken: set[str] = set()
        """Names whose definitions had mistakes, so that their uses are not reported too."""

    def define(self, name: str, use: Use, register: str, *, count: int = 1, letters: str = "") -> None:
        """Give a register a name. An alias may be defined again.

        :raises ShaderError: it is no name, or has a meaning already.
        """
        reading = self._reading
        reading.at(name)
        self.check(name)
        known = self.symbols.get(name)
        if known is not None and not (use is Use.ALIAS and known.use is Use.ALIAS):
            where = f" in line {known.line}" if known.line else ""
            raise reading.error(f"{name} is defined already{where}")
        self.symbols[name] = Symbol(name, register, use, count, letters, reading.line)

    def check(self, name: str) -> None:
        """Whether a text can be a name.

        :raises ShaderError: it cannot.
        """
        if is_register(name):
            raise self._reading.error(f"{name} is a register", hint="Choose another name.")
        if not re.fullmatch(IDENTIFIER, name):
            hint = "Letters, digits, _ and $, and no digit first."
            raise self._reading.error(f"{name!r} is no name", hint=hint)

    # -- registers ----------------------------------------------------------------------------------------------------
    def read(self, text: Piece, files: str, *, indexed: bool = False, negated: bool = False) -> Place:
        """The register that a text names. files: letters of the files that are valid. indexed, negated: it may have an
        index register, or a sign.

        :raises ShaderError: it names none.
        """
        reading = self._reading
        reading.at(text)
        match = _OPERAND.fullmatch(text)
        if not match:
            what = "source operand" if negated else "register"
            raise reading.error(f"{text!r} is no {what}", hint="Such as r0.xyz, c8[2] or a name.")
        if match[1] and not negated:
            raise reading.error("a sign has no meaning here")
        reading.at(text, match.start(2))
        file, number, base, count = self._known(match[2], files)
        index = 0
        if match[3] is not None:
            reading.at(text, match.start(3))
            offset, index = self._index(match[3], indexed)
            number += offset
            self.limit(f"{file}{number}", file, number)
            if count > 1 and not index and not 0 <= offset < count:
                reading.warn(f"{match[2]} has {count} registers; {match[3].strip()} is not in 0..{count - 1}")
        letters: tuple[int, ...] = ()
        if match[4] is not None:
            reading.at(text, match.start(4))
            letters = self._letters(match[4], files)
        if base:
            letters = tuple(base[one] for one in letters) if letters else base
        reading.at(text)
        return Place(file, number, letters, index, count, bool(match[1]))

    def register(self, text: Piece, files: str) -> tuple[str, int]:
        """File and number of a register without components.

        :raises ShaderError: it names none.
        """
        found = self.read(text, files)
        if found.letters and "." in text:
            raise self._reading.error(f"components of {text.partition('.')[0]} have no meaning here")
        return found.file, found.number

    def _known(self, name: str, files: str) -> tuple[str, int, tuple[int, ...], int]:
        """File, number, components and count of a name."""
        reading = self._reading
        symbol = self.symbols.get(name)
        plain = symbol.register if symbol is not None else name
        match = re.fullmatch(r"([a-z])(\d{1,9})", plain)
        if not match or match[1] not in files:
            follows = name in self.broken
            close = [] if match else difflib.get_close_matches(name, self.symbols, 1)
            expected = " or ".join(f"{one}0-{one}{REGISTERS[one][0] - 1}" for one in files)
            hint = f"Did you mean {close[0]}?" if close else f"Expected {expected}."
            raise reading.error(f"{name!r} {_NO_REGISTER}", hint=hint, follows=follows)
        self.limit(plain, match[1], int(match[2]))
        letters = tuple(COMPONENTS.index(one) for one in symbol.letters) if symbol is not None else ()
        return match[1], int(match[2]), letters, symbol.count if symbol is not None else 1

    def limit(self, name: str, file: str, number: int) -> None:
        """Whether a register is there.

        :raises ShaderError: it is not.
        """
        last = REGISTERS[file][0] - 1
        if not 0 <= number <= last:
            raise self._reading.error(f"there is no register {name}: {file} goes from 0 to {last}")

    def _index(self, text: str, indexed: bool) -> tuple[int, int]:
        """The sum of the numbers in brackets, and the index register there."""
        reading = self._reading
        hint = "A number, or a0, a1 or lcnt, perhaps + number." if indexed else "A number."
        if not _INDEX.fullmatch(text):
            raise reading.error(f"{text!r} is no index", hint=hint)
        offset = index = 0
        for sign, term in re.findall(rf"([+-]?)\s*({_TERM})", text):
            if term[0].isdigit():
                offset += int(term, 16 if term[1:2] in "xX" and term[1:] else 10) * (-1 if sign == "-" else 1)
            elif term not in INDICES or index or sign == "-" or not indexed:
                raise reading.error(f"{text!r} is no index", hint=hint)
            else:
                index = INDICES[term]
        return offset, index

    # -- components ---------------------------------------------------------------------------------------------------
    def _letters(self, letters: str, files: str) -> tuple[int, ...]:
        what, hint = ("write mask", "Letters of xyzw.") if "o" in files else ("swizzle", "One to four letters of xyzw.")
        if len(letters) > len(COMPONENTS) or any(letter not in _COMPONENT for letter in letters):
            raise self._reading.error(f"{letters!r} is no {what}", hint=hint)
        found = [_COMPONENT[letter] for letter in letters]
        return tuple(found + [found[-1]] * (len(COMPONENTS) - len(found)))

    def target(self, text: Piece, files: str = "or") -> tuple[str, int, int]:
        """File, number and write mask of a destination.

        :raises ShaderError: it is none.
        """
        if text.endswith(".none"):  # the disassembler's word for a mask of nothing
            file, number = self.register(text.part(0, len(text) - len(".none")), files)
            return file, number, 0
        found = self.read(text, files)
        return found.file, found.number, found.mask


__all__ = ["ADDRESSES", "COMPONENTS", "IDENTIFIER", "INDICES", "SETS", "Names", "Place", "is_register"]
