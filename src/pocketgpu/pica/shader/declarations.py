"""What directives declare: names of registers, constants, outputs, the entry point, the kind of program.

Uniforms get registers from the lowest number on, constants from the highest number down. Vertex programs that are
assembled together share their uniforms by name; constants, outputs and names belong to one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field

from pocketgpu.facts.pica import BOOLEAN_UNIFORMS, FLOAT_UNIFORMS
from pocketgpu.facts.shader_isa import SEMANTICS, components
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.directives import BOOLEANS, GEOMETRY_MODES, SEMANTIC_NAMES
from pocketgpu.pica.shader.names import IDENTIFIER, Names, is_register
from pocketgpu.pica.shader.pieces import Piece, Reading, ShaderError, split_pieces
from pocketgpu.pica.shader.symbols import REGISTERS, Use

UNUSED = 0x1F
_VECTOR = re.compile(r"([^\s(]*)\s*\(([^()]*)\)")
_ARRAY = re.compile(rf"({IDENTIFIER})\s*(?:\[\s*(\d{{0,9}})\s*\])?")
_NUMBER = re.compile(r"[+-]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)", re.IGNORECASE)
_STEMS = {"normalquat": "quaternion", "texcoord0w": "texcoord0.w"}
"""Names of semantics in the tables of registers, where they differ."""
Vector = tuple[float, float, float, float]
Octets = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class GeometryInput:
    """How a geometry program gets its vertices. mode: "point", "variable" or "fixed". array: the float uniform at which
    vertices begin. vertices: of a fixed primitive, or those of a variable one that have all attributes."""

    mode: str = "point"
    array: int = 0
    vertices: int = 0


class Uniforms:
    """Registers that are given to uniforms, by name; of one program, or shared."""

    def __init__(self, first: int = 0, ends: dict[str, int] | None = None) -> None:
        self.by_name: dict[str, tuple[str, int, int]] = {}
        """File, first register and number of registers of each name."""
        self.ends = ends or {}
        self._next = {"c": first, "i": 0, "b": 0}

    def end(self, file: str) -> int:
        """The number after the last register that names can have."""
        return self.ends.get(file, REGISTERS[file][0])

    def next(self, file: str) -> int:
        return self._next[file]

    def add(self, name: str, file: str, count: int) -> int:
        first = self._next[file]
        self._next[file] = first + count
        self.by_name[name] = (file, first, count)
        return first


@dataclass(slots=True)
class Unit:
    """A text while it is read."""

    number: int
    file: str
    names: Names
    uniforms: Uniforms
    labels: dict[str, int] = field(default_factory=dict)
    outputs: dict[int, list[int]] = field(default_factory=dict)
    declared: list[tuple[int, str, int]] = field(default_factory=list)
    """Register, kind and mask of each output."""
    constants: dict[int, Vector] = field(default_factory=dict)
    booleans: dict[int, bool] = field(default_factory=dict)
    integers: dict[int, Octets] = field(default_factory=dict)
    inputs: set[int] = field(default_factory=set)
    is_geometry: bool = False
    geometry: GeometryInput | None = None
    entry: Piece | None = None
    entry_line: int = 0
    exported: bool = True
    start: int = 0
    reserved: dict[str, int] = field(default_factory=dict)
    """By file: the lowest register that a constant without a register of its own has."""
    elements: list[Vector] = field(default_factory=list)
    """Of the array of constants that is open."""


def semantic_codes(kind: str) -> list[int]:
    """The numbers of SH_OUTMAP of the components of a kind of output."""
    stem = _STEMS.get(kind, kind)
    codes = [i for i, name in enumerate(SEMANTICS) if name == stem or name.startswith(stem + ".")]
    return codes[:2] if kind == "texcoord0" else codes  # the third coordinate is a kind of its own


class Declarations:
    """Handles the directives that declare something; `unit` is the text that is read."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.unit = Unit(0, "", Names(reading), Uniforms())
        self.handlers: dict[str, Callable[[Piece], None]] = {
            ".alias": self.alias, ".bool": lambda rest: self.uniforms("b", rest), ".constf": self.constf,
            ".consti": self.consti, ".entry": self.entry, ".fvec": lambda rest: self.uniforms("c", rest),
            ".gsh": self.gsh, ".in": self.input, ".ivec": lambda rest: self.uniforms("i", rest),
            ".nodvle": self.nodvle, ".out": self.output, ".setb": self.setb, ".setf": self.setf, ".seti": self.seti,
        }  # fmt: skip

    def words(self, directive: str, rest: Piece, *counts: int) -> list[Piece]:
        """The words after a directive.

        :raises ShaderError: there are more or fewer.
        """
        found = [rest.part(one.start(), one.end()) for one in re.finditer(r"[^\s,]+", rest)]
        if len(found) not in counts:
            wanted = " or ".join(map(str, counts))
            raise self.reading.error(f"{directive} takes {wanted} words, not {len(found)}")
        return found

    # -- values -------------------------------------------------------------------------------------------------------
    def vector(self, directive: str, rest: Piece) -> tuple[Piece, list[Piece]]:
        """The name and the four numbers of "name(x, y, z, w)".

        :raises ShaderError: it is written otherwise.
        """
        match = _VECTOR.fullmatch(rest)
        if match is None:
            raise self.reading.error(f"{directive} takes a name and four numbers", hint="Such as name(0, 1, 2, 0.5).")
        values = split_pieces(match[2], rest.column + match.start(2))
        if len(values) != len("xyzw"):
            self.reading.at(rest.part(match.start(2)))
            raise self.reading.error(f"{directive} takes four numbers, not {len(values)}")
        return rest.part(0, match.end(1)), values

    def floats(self, values: list[Piece]) -> Vector:
        found = []
        for value in values:
            self.reading.at(value)
            if not _NUMBER.fullmatch(value):
                raise self.reading.error(f"{value!r} is not a number")
            found.append(float(value))
        return (found[0], found[1], found[2], found[3])

    def octets(self, values: list[Piece]) -> Octets:
        found = []
        for value in values:
            self.reading.at(value)
            if not re.fullmatch(r"[+-]?(?:\d{1,9}|0[xX][0-9a-fA-F]{1,8})", value):
                raise self.reading.error(f"{value!r} is no whole number")
            number = int(value, 16 if "x" in value.lower() else 10)
            if not -128 <= number <= 255:
                raise self.reading.error(f"{value} does not fit the 8 bits of an integer uniform's component")
            found.append(number & 0xFF)
        return (found[0], found[1], found[2], found[3])

    # -- registers that are chosen ------------------------------------------------------------------------------------
    def uniforms(self, file: str, rest: Piece) -> None:
        """.fvec, .ivec, .bool: each name that is right is defined, also if another one is not."""
        if not rest:
            raise self.reading.error("a name is missing", hint="Such as name or name[4].")
        problem = None
        for one in split_pieces(rest, rest.column):
            try:
                self._uniform(file, one)
            except ShaderError as error:
                match = re.match(IDENTIFIER, one)
                self.unit.names.broken |= {match[0]} if match else set()
                problem = problem or error
        if problem is not None:
            raise problem

    def _uniform(self, file: str, text: Piece) -> None:
        name, count = self.array(text)
        unit = self.unit
        shared = unit.uniforms.by_name.get(name)
        if shared is not None and name not in unit.names.symbols:
            if (shared[0], shared[2]) != (file, count):
                what = f"{shared[2]} {REGISTERS[shared[0]][1]}s"
                raise self.reading.error(f"another text declares {name} as {what}")
            first = shared[1]
        else:
            unit.names.check(name)
            if name in unit.names.symbols:
                unit.names.define(name, Use.UNIFORM, f"{file}0")  # says that it is defined already
            first, end = unit.uniforms.next(file), min(unit.uniforms.end(file), self._lowest(file))
            if first + count > end:
                left = max(end - first, 0)
                raise self.reading.error(f"{name} needs {count} {REGISTERS[file][1]}s, and {left} are left")
            unit.uniforms.add(name, file, count)
        unit.names.define(name, Use.UNIFORM, f"{file}{first}", count=count)

    def _lowest(self, file: str) -> int:
        return self.unit.reserved.get(file, REGISTERS[file][0])

    def array(self, text: Piece) -> tuple[Piece, int]:
        """Name and size of "name" or "name[4]".

        :raises ShaderError: it is written otherwise.
        """
        self.reading.at(text)
        match = _ARRAY.fullmatch(text)
        if match is None or match[2] == "":
            raise self.reading.error(f"{text!r} is no name", hint="Such as name or name[4].")
        if match[2] is not None and not 1 <= int(match[2]) <= FLOAT_UNIFORMS:
            self.reading.at(text, match.start(2))
            raise self.reading.error(f"an array of {match[2]} registers is not possible")
        return text.part(0, match.end(1)), int(match[2] or 1)

    def reserve(self, file: str, count: int, name: str) -> int:
        """The first of registers for constants, the highest that are free.

        :raises ShaderError: there are not as many.
        """
        unit = self.unit
        given = set(unit.constants if file == "c" else unit.integers)
        first = self._lowest(file) - count
        while first >= 0 and any(first + n in given for n in range(count)):
            first -= 1
        if first < unit.uniforms.next(file):
            raise self.reading.error(f"no {REGISTERS[file][1]} is left for {name}")
        unit.reserved[file] = first
        return first

    # -- constants ----------------------------------------------------------------------------------------------------
    def constf(self, rest: Piece) -> None:
        if "(" in rest:
            name, values = self.vector(".constf", rest)
            self.named_constants(name, [self.floats(values)])
            return
        register, *numbers = self.words(".constf", rest, 5)
        file = self.unit.names.register(register, "c")
        self.unit.constants[file[1]] = self.floats(numbers)

    def named_constants(self, name: Piece, vectors: list[Vector], *, is_array: bool = False) -> None:
        unit = self.unit
        self.reading.at(name)
        unit.names.check(name)
        if name in unit.names.symbols:
            unit.names.define(name, Use.CONSTANT, "c0")  # says that it is defined already
        first = self.reserve("c", len(vectors), name)
        unit.names.define(name, Use.CONSTANT, f"c{first}", count=len(vectors) if is_array else 1)
        unit.constants |= {first + n: vector for n, vector in enumerate(vectors)}

    def consti(self, rest: Piece) -> None:
        name, values = self.vector(".consti", rest)
        octets = self.octets(values)
        self.unit.names.check(name)
        if name in self.unit.names.symbols:
            self.unit.names.define(name, Use.CONSTANT, "i0")
        first = self.reserve("i", 1, name)
        self.unit.names.define(name, Use.CONSTANT, f"i{first}")
        self.unit.integers[first] = octets

    def setf(self, rest: Piece) -> None:
        register, values = self.vector(".setf", rest)
        number = self.unit.names.register(register, "c")[1]
        self.unit.constants[number] = self.floats(values)

    def seti(self, rest: Piece) -> None:
        register, values = self.vector(".seti", rest)
        number = self.unit.names.register(register, "i")[1]
        self.unit.integers[number] = self.octets(values)

    def setb(self, rest: Piece) -> None:
        register, value = self.words(".setb", rest, 2)
        number = self.unit.names.register(register, "b")[1]
        self.reading.at(value)
        if value not in BOOLEANS:
            raise self.reading.error(f"{value!r} is no boolean", hint=f"Known are {', '.join(BOOLEANS)}.")
        self.unit.booleans[number] = BOOLEANS[value]

    # -- names, inputs, outputs ---------------------------------------------------------------------------------------
    def alias(self, rest: Piece) -> None:
        match = re.match(r"(\S+?)[\s,]+(\S.*)", rest)
        if match is None:
            raise self.reading.error(f".alias takes 2 words, not {len(rest.split())}")
        names = self.unit.names
        found = names.read(rest.part(match.start(2)), "vrcobi")
        letters = "".join("xyzw"[one] for one in found.letters)
        if letters and found.file in "bi":
            raise self.reading.error(f"{found.register} has no components here")
        names.define(rest.part(0, match.end(1)), Use.ALIAS, found.register, letters=letters)

    def input(self, rest: Piece) -> None:
        name, *place = self.words(".in", rest, 1, 2)
        unit = self.unit
        number = unit.names.register(place[0], "v")[1] if place else self._free(unit.inputs, "v")
        unit.names.define(name, Use.INPUT, f"v{number}")
        unit.inputs.add(number)

    def _free(self, used: set[int], file: str) -> int:
        count, what = REGISTERS[file]
        number = next((one for one in range(count) if one not in used), None)
        if number is None:
            raise self.reading.error(f"all {count} {what} registers are used")
        return number

    def output(self, rest: Piece) -> None:
        """All forms of .out; one that names a register first is this assembler's own."""
        name, meaning, *place = self.words(".out", rest, 2, 3)
        stem = name.partition(".")[0]
        if not place and (is_register(stem) or "." in name or "[" in name):
            _, number, mask = self.unit.names.target(name, "o")
            kind = self._semantic(meaning)
            self.wire(number, mask, kind, whole=True)
            return
        word, dot, letters = meaning.partition(".")
        kind = self._semantic(meaning.part(0, len(word)))
        names = self.unit.names
        if place:
            _, number, mask = names.target(place[0], "o")
            if dot:
                self.reading.at(meaning, len(word) + 1)
                raise self.reading.error("components stand at the register if there is one")
        elif name == "-":
            self.reading.at(name)
            raise self.reading.error(".out needs a name or a register", hint="Such as .out - texcoord0w o1.z.")
        else:
            number = self._free({one for one, _, _ in self.unit.declared}, "o")
            mask = 15
            if dot:
                text = Piece.of(f"o{number}.{letters}", meaning.column + len(word) - len(f"o{number}"))
                mask = names.target(text, "o")[2]
        if name != "-":
            names.define(name, Use.OUTPUT, f"o{number}")
        self.wire(number, mask, kind)

    def _semantic(self, word: Piece) -> str:
        self.reading.at(word)
        if word not in SEMANTIC_NAMES:
            known = sorted(set(SEMANTIC_NAMES.values()))
            raise self.reading.error(f"no semantic {word}", hint=f"Known are {', '.join(known)}.")
        return SEMANTIC_NAMES[word]

    def wire(self, number: int, mask: int, kind: str, *, whole: bool = False) -> None:
        """Give components of an output register their semantics.

        whole: the third texture coordinate may bring the first two along, which is a form of this assembler.
        """
        codes = semantic_codes(kind)
        if kind == "texcoord0w" and whole:
            # The third coordinate alone, or with the first two.
            parts = {1: "w", 3: "uvw", 4: "uvw"}.get(mask.bit_count())
            if parts is None:
                hint = "Give it one component for w, or three for u, v and w."
                raise self.reading.error("texcoord0w does not fit two components", hint=hint)
            codes = [SEMANTICS.index(f"texcoord0.{part}") for part in parts]
        semantics = self.unit.outputs.setdefault(number, [UNUSED] * 4)
        for place, code in zip(components(mask), codes, strict=False):
            semantics[place] = code
        places = components(mask)
        if kind == "texcoord0w" and whole and len(places) > 1:
            self.unit.declared.append((number, "texcoord0", sum(1 << place for place in places[:2])))
            places = places[2:3]
        self.unit.declared.append((number, kind, sum(1 << place for place in places)))

    # -- the program --------------------------------------------------------------------------------------------------
    def entry(self, rest: Piece) -> None:
        (name,) = self.words(".entry", rest, 1)
        if self.unit.entry is not None:
            raise self.reading.error(f"the entry point is {self.unit.entry} already")
        self.unit.entry, self.unit.entry_line = name, self.reading.line

    def nodvle(self, rest: Piece) -> None:
        self.words(".nodvle", rest, 0)
        self.unit.exported = False

    def gsh(self, rest: Piece) -> None:
        words = self.words(".gsh", rest, *range(5))
        unit = self.unit
        unit.is_geometry = True
        if not words:
            return
        kind, *more = words
        self.reading.at(kind)
        if kind not in GEOMETRY_MODES:
            raise self.reading.error(f"no mode {kind!r}", hint=f"Known are {', '.join(GEOMETRY_MODES)}.")
        meaning = GEOMETRY_MODES[kind]
        wanted = {"point": 1, "variable": 2, "fixed": 3}[meaning]
        if len(more) != wanted:
            raise self.reading.error(f".gsh {kind} takes {wanted} words, not {len(more)}")
        if any(one.use is Use.UNIFORM for one in unit.names.symbols.values()):
            raise self.reading.error(".gsh stands before the names of uniforms", hint="It says where they begin.")
        first = unit.names.register(more[0], "c")[1]
        array = unit.names.register(more[1], "c")[1] if meaning == "fixed" else 0
        vertices = 0
        if meaning != "point":
            self.reading.at(more[-1])
            if not re.fullmatch(r"\d{1,3}", more[-1]) or not 1 <= int(more[-1]) <= 255:
                raise self.reading.error(f"{more[-1]!r} is not a number of vertices")
            vertices = int(more[-1])
        unit.geometry = GeometryInput(meaning, array, vertices)
        # The hardware writes the last boolean after each run.
        unit.uniforms = Uniforms(first, {"b": BOOLEAN_UNIFORMS - 1})


__all__ = ["UNUSED", "Declarations", "GeometryInput", "Uniforms", "Unit", "Vector", "semantic_codes"]
