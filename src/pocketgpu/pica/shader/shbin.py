"""Compiled shaders of the 3DS (`.shbin`): one program, and executables with entry points in it.

Source: 3dbrew SHBIN.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pocketgpu.displayed import line_of
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.facts.dialect.registers import decode_float, encode_float
from pocketgpu.facts.shader_isa import OPCODES as _OPCODES
from pocketgpu.facts.shader_isa import TEMPORARIES, opcode_number
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.shader.assembler import Assembly
from pocketgpu.pica.shader.declarations import UNUSED, GeometryInput, semantic_codes
from pocketgpu.pica.shader.names import COMPONENTS
from pocketgpu.pica.shader.symbols import REGISTERS, Symbol, Use
from pocketgpu.wording import counted

MAGIC = b"DVLB"
TYPES = ("vertex", "geometry")
OUTPUTS = {
    0: "position", 1: "normalquat", 2: "color", 3: "texcoord0", 4: "texcoord0w", 5: "texcoord1", 6: "texcoord2",
    8: "view", 9: "dummy",
}  # fmt: skip
"""Kinds of outputs, with the names of homebrew assemblers."""
UNIFORM_REGISTERS = {"v": 0x00, "c": 0x10, "i": 0x70, "b": 0x78}
"""Numbers of registers in the table of uniforms: that of the first one of each file."""
GEOMETRY_MODES = ("point", "variable", "fixed")
"""How a geometry program gets its vertices, by number."""
_PROGRAM = struct.Struct("<4s6I")
_EXECUTABLE = struct.Struct("<4sHBBIIHHBBBBIIIIIIIIII")
_VERSION = 0x1002
_MOST_NAME = 64
_NAME = re.compile(rf"[A-Za-z_$][\w$.]{{0,{_MOST_NAME - 1}}}", re.ASCII)
"""A name of a register or an address that can be shown; a file may have anything in their place."""
_MOST_WORDS, _MOST_ROWS, _MOST_EXECUTABLES = 4096, 4096, 64
"""Limits of what a file can make this computer do: its tables may lie on top of each other."""
_UNKNOWN_SIZE = 0xFFFFFFFF
"""Size of a label that is no procedure."""
_BOOL, _INTEGER, _FLOAT = range(3)


@dataclass(frozen=True)
class Executable:
    """One shader of a file. entry, end: word addresses in the code. outputs: (register, kind, mask). constants: by name
    of register ("b0", "i0", "c0"). uniforms: (name, first register, last register), by the numbers of
    UNIFORM_REGISTERS. labels: names of addresses. sizes: words of the procedures among them. geometry: how it gets its
    vertices, if it is a geometry program. merges: it takes semantics of outputs over from the vertex program. inputs:
    mask of the input registers that it reads."""

    type: str
    entry: int
    end: int
    outputs: tuple[tuple[int, str, int], ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    uniforms: tuple[tuple[str, int, int], ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    geometry: GeometryInput | None = None
    merges: bool = False
    inputs: int = 0

    @property
    def names(self) -> dict[int, str]:
        """Labels that can be shown, by address."""
        return {place: name for place, name in self.labels.items() if _NAME.fullmatch(name)}

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Names of registers: uniforms and inputs by the table of uniforms, outputs by their kinds. Names that nobody
        could write in a text are left out."""
        found = []
        for name, first, last in self.uniforms:
            place = register_of(first)
            if _NAME.fullmatch(name) and place is not None:
                use = Use.INPUT if place[0] == "v" else Use.UNIFORM
                count = min(last - first, REGISTERS[place[0]][0] - 1 - place[1]) + 1
                found.append(Symbol(name, f"{place[0]}{place[1]}", use, max(count, 1)))
        seen: set[int] = set()
        for register, kind, mask in self.outputs:
            letters = "".join(letter for place, letter in enumerate(COMPONENTS) if mask >> place & 1)
            letters = (letters + letters[-1:] * len(COMPONENTS))[: len(COMPONENTS)] if register in seen else ""
            if register < REGISTERS["o"][0] and all(one.name != kind for one in found):
                found.append(Symbol(kind, f"o{register}", Use.OUTPUT, 1, letters))
            seen.add(register)
        return tuple(found)


@dataclass(frozen=True, repr=False)
class Shbin:
    """Code and operand descriptors, and the executables that share them."""

    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    executables: tuple[Executable, ...]

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self.code), 'word')}, {counted(len(self.executables), 'executable')}")

    def assembly(self, number: int = 0) -> Assembly:
        """An executable as the assembler would have made it, for builders: `cl.shader(read_shbin(data).assembly())`.

        :raises UsageError: there is no such executable.
        """
        if not 0 <= number < len(self.executables):
            raise UsageError(f"there is no executable {number}", hint=f"The file has {len(self.executables)}.")
        one = self.executables[number]
        values: dict[str, dict[int, Any]] = {"c": {}, "i": {}, "b": {}}
        for name, value in one.constants.items():
            values[name[0]][int(name[1:])] = value
        return Assembly(
            self.code, self.descriptors, {name: place for place, name in one.labels.items()},
            semantics_of(one.outputs), values["c"], (), (), values["b"], values["i"], one.outputs, one.symbols,
            {one.labels[place]: size for place, size in one.sizes.items()}, one.type, one.geometry, one.entry,
        )  # fmt: skip


def register_of(number: int) -> tuple[str, int] | None:
    """File and number of a register in the table of uniforms; None if there is no such one."""
    for file, first in UNIFORM_REGISTERS.items():
        if first <= number < first + REGISTERS[file][0]:
            return file, number - first
    return None


class _Bytes:
    def __init__(self, data: bytes, file: str) -> None:
        self.data, self.file = data, file

    def error(self, message: str, offset: int) -> CaptureError:
        return CaptureError(message, file=self.file or "shbin", offset=offset)

    def unpack(self, layout: struct.Struct, offset: int) -> tuple[Any, ...]:
        if offset + layout.size > len(self.data):
            raise self.error(f"the file ends at {len(self.data):#x}", offset)
        return layout.unpack_from(self.data, offset)

    def table(self, layout: str, offset: int, count: int) -> list[tuple[int, ...]]:
        row = struct.Struct(layout)
        if count > _MOST_ROWS:
            raise self.error(f"{count} entries; {_MOST_ROWS} are the most", offset)
        if offset + count * row.size > len(self.data):
            raise self.error(f"{count} entries of {row.size} bytes do not fit the file", offset)
        return [row.unpack_from(self.data, offset + n * row.size) for n in range(count)]

    def text(self, offset: int, end: int) -> str:
        end = min(end, offset + _MOST_NAME + 1)
        stop = self.data.find(b"\0", offset, end)
        return self.data[offset : stop if stop >= 0 else end].decode("utf-8", "replace")


def read_shbin(data: bytes, file: str = "") -> Shbin:
    """A file from its bytes.

    :raises CaptureError: it is not such a file, or damaged; with the byte offset of the problem.
    """
    source = _Bytes(data, file)
    if data[:4] != MAGIC:
        raise source.error("this is not a compiled shader of the 3DS", 0)
    (count,) = source.unpack(struct.Struct("<I"), 4)
    if count > _MOST_EXECUTABLES:
        raise source.error(f"{count} executables; {_MOST_EXECUTABLES} are the most", 4)
    offsets = [row[0] for row in source.table("<I", 8, count)]
    start = 8 + 4 * count
    magic, _, code, words, extras, extra_count, _ = source.unpack(_PROGRAM, start)
    if magic != b"DVLP":
        raise source.error("no program follows the header", start)
    if words > _MOST_WORDS:
        raise source.error(f"{words} instructions; a shader unit holds {_MOST_WORDS}", start + 12)
    instructions = tuple(row[0] for row in source.table("<I", start + code, words))
    descriptors = tuple(row[0] for row in source.table("<II", start + extras, extra_count))
    return Shbin(instructions, descriptors, tuple(_executable(source, offset, words) for offset in offsets))


def _executable(source: _Bytes, at: int, words: int) -> Executable:
    (magic, _, kind, merges, entry, end, inputs, _, mode, array, main, whole, constants, constant_count, labels,
     label_count, outputs, output_count, uniforms, uniform_count, symbols,
     symbol_size) = source.unpack(_EXECUTABLE, at)  # fmt: skip
    if magic != b"DVLE":
        raise source.error("an executable is missing", at)
    if kind >= len(TYPES) or entry > words:
        raise source.error(f"an executable of type {kind} begins at instruction {entry} of {words}", at)
    names, last = at + symbols, min(at + symbols + symbol_size, len(source.data))
    values: dict[str, object] = {}
    for what, register, *vector in source.table("<HH4I", at + constants, constant_count):
        if what == _BOOL:
            values[f"b{register}"] = bool(vector[0])
        elif what == _INTEGER:
            values[f"i{register}"] = tuple(vector[0] >> shift & 0xFF for shift in (0, 8, 16, 24))
        elif what == _FLOAT:
            values[f"c{register}"] = tuple(decode_float(word & 0xFFFFFF, "f24") for word in vector)
    geometry = None
    if TYPES[kind] == "geometry" and mode < len(GEOMETRY_MODES):
        name = GEOMETRY_MODES[mode]
        geometry = GeometryInput(name, array if name == "fixed" else 0, {"variable": main, "fixed": whole}.get(name, 0))
    rows = source.table("<4I", at + labels, label_count)
    return Executable(
        TYPES[kind],
        entry,
        end,
        tuple((reg, OUTPUTS.get(what, str(what)), mask & 15)
              for what, reg, mask, _ in source.table("<4H", at + outputs, output_count)),
        values,
        tuple((source.text(names + name, last), first, final)
              for name, first, final in source.table("<IHH", at + uniforms, uniform_count)),
        {place: source.text(names + name, last) for _, place, _, name in rows},
        {place: size for _, place, size, _ in rows if size != _UNKNOWN_SIZE},
        geometry,
        bool(merges),
        inputs,
    )  # fmt: skip


def write_shbin(shader: Shbin) -> bytes:
    """Bytes of a file, with constants, outputs, labels and names of uniforms."""
    program = _PROGRAM.size
    code = struct.pack(f"<{len(shader.code)}I", *shader.code)
    extras = b"".join(struct.pack("<II", word, 0) for word in shader.descriptors)
    end = program + len(code) + len(extras)
    body = _PROGRAM.pack(
        b"DVLP", _VERSION, program, len(shader.code), program + len(code), len(shader.descriptors), end
    )
    body += code + extras
    start = 8 + 4 * len(shader.executables)
    offsets, tables = [], b""
    for one in shader.executables:
        offsets.append(start + len(body) + len(tables))
        tables += _executable_bytes(one)
    return MAGIC + struct.pack(f"<I{len(offsets)}I", len(offsets), *offsets) + body + tables


class _Names:
    """The table of names of an executable."""

    def __init__(self) -> None:
        self.data = b""

    def add(self, name: str) -> int:
        at = len(self.data)
        self.data += name.encode() + b"\0"
        return at


def _executable_bytes(one: Executable) -> bytes:
    kinds = {name: number for number, name in OUTPUTS.items()}
    number_of = lambda kind: kinds[kind] if kind in kinds else int(kind)
    names = _Names()
    tables = [
        b"".join(_constant(name, value) for name, value in one.constants.items()),
        b"".join(
            struct.pack("<4I", number, place, one.sizes.get(place, _UNKNOWN_SIZE), names.add(name))
            for number, (place, name) in enumerate(sorted(one.labels.items()))
        ),
        b"".join(struct.pack("<4H", number_of(kind), register, mask, 0) for register, kind, mask in one.outputs),
        b"".join(struct.pack("<IHH", names.add(name), first, last) for name, first, last in one.uniforms),
    ]
    names.data += bytes(-len(names.data) % 4)
    tables.append(names.data)
    counts = (len(one.constants), len(one.labels), len(one.outputs), len(one.uniforms), len(names.data))
    places, at = [], _EXECUTABLE.size
    for table, count in zip(tables, counts, strict=True):
        places += [at, count]
        at += len(table)
    mode, array, main, whole = 0, 0, 0, 0
    if one.geometry is not None:
        mode = GEOMETRY_MODES.index(one.geometry.mode)
        array = one.geometry.array
        main = one.geometry.vertices if one.geometry.mode == "variable" else 0
        whole = one.geometry.vertices if one.geometry.mode == "fixed" else 0
    written = 0
    for register, _, _ in one.outputs:
        written |= 1 << register
    return _EXECUTABLE.pack(
        b"DVLE", _VERSION, TYPES.index(one.type), int(one.merges), one.entry, one.end, one.inputs, written, mode, array,
        main, whole, *places,
    ) + b"".join(tables)  # fmt: skip


def shbin_of(made: Sequence[Assembly]) -> Shbin:
    """A file of texts that were assembled together: an executable for each one that is a program."""
    return Shbin(made[0].code, made[0].descriptors, tuple(executable_of(one) for one in made if one.exported))


def executable_of(one: Assembly) -> Executable:
    """An executable of an assembled text, with its names. Names of uniforms that begin with _ are not shown to
    programs; a dollar sign in one stands for a point."""
    uniforms = []
    for symbol in one.symbols:
        if symbol.use in (Use.UNIFORM, Use.INPUT) and not symbol.name.startswith("_"):
            first = UNIFORM_REGISTERS[symbol.file] + symbol.first
            uniforms.append((symbol.name.replace("$", "."), first, first + symbol.count - 1))
    labels: dict[int, str] = {}
    for name, address in one.labels.items():
        labels.setdefault(address, name)
    sizes = {one.labels[name]: size for name, size in one.sizes.items() if labels.get(one.labels[name]) == name}
    end = one.start + sizes[one.start] if one.start in sizes else len(one.code)
    merges = one.kind == "geometry" and any(kind == "dummy" for _, kind, _ in one.declared)
    geometry = (one.geometry or GeometryInput()) if one.kind == "geometry" else None
    return Executable(
        one.kind, one.start, end, one.declared, constants_of(one), tuple(uniforms), labels, sizes, geometry, merges,
        _inputs(one),
    )  # fmt: skip


def constants_of(one: Assembly) -> dict[str, object]:
    """Values that a text gives to uniforms, by register."""
    found: dict[str, object] = {f"c{number}": value for number, value in sorted(one.constants.items())}
    found |= {f"i{number}": value for number, value in sorted(one.integers.items())}
    return found | {f"b{number}": value for number, value in sorted(one.booleans.items())}


def _inputs(one: Assembly) -> int:
    """The mask of the input registers that a text's instructions read, and of those that it names."""
    mask = 0
    for symbol in one.symbols:
        mask |= (symbol.use is Use.INPUT) << symbol.first
    for word, line in zip(one.code, one.lines, strict=True):
        op = _OPCODES.get(opcode_number(word))
        if op is not None and line:
            for number in (op.format.get(word, f"src{n}") for n in range(1, op.sources + 1)):
                mask |= 1 << number if number < TEMPORARIES else 0
    return mask


def semantics_of(outputs: Sequence[tuple[int, str, int]]) -> dict[int, tuple[int, int, int, int]]:
    """Semantics of the x, y, z and w of output registers, as numbers of SH_OUTMAP, from (register, kind, mask)."""
    found: dict[int, list[int]] = {}
    for register, kind, mask in outputs:
        row = found.setdefault(register, [UNUSED] * len(COMPONENTS))
        places = [place for place in range(len(COMPONENTS)) if mask >> place & 1]
        for place, code in zip(places, semantic_codes(kind), strict=False):
            row[place] = code
    return {register: (row[0], row[1], row[2], row[3]) for register, row in found.items()}


def _constant(name: str, value: object) -> bytes:
    register = int(name[1:])
    if name[0] == "c" and isinstance(value, Sequence):
        words = [encode_float(float(number), "f24") for number in value]
        return struct.pack("<HH4I", _FLOAT, register, *words)
    if name[0] == "i" and isinstance(value, Sequence):
        octets = sum((int(octet) & 0xFF) << shift for octet, shift in zip(value, (0, 8, 16, 24), strict=True))
        return struct.pack("<HH4I", _INTEGER, register, octets, 0, 0, 0)
    if name[0] == "b":
        return struct.pack("<HH4I", _BOOL, register, int(bool(value)), 0, 0, 0)
    raise UsageError(f"a file holds no constant {name}")


__all__ = [
    "Executable", "Shbin", "constants_of", "executable_of", "read_shbin", "register_of", "semantics_of", "shbin_of",
    "write_shbin",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__]
