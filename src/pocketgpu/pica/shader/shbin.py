"""Compiled shaders of the 3DS (`.shbin`): one program, and executables with entry points in it.

Source: 3dbrew SHBIN.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.facts.dialect.registers import decode_float, encode_float
from pocketgpu.late_dataclass import dataclass

MAGIC = b"DVLB"
TYPES = ("vertex", "geometry")
OUTPUTS = {
    0: "position", 1: "normalquat", 2: "color", 3: "texcoord0", 4: "texcoord0w", 5: "texcoord1", 6: "texcoord2",
    8: "view", 9: "dummy",
}  # fmt: skip
"""Kinds of outputs, with the names of homebrew assemblers."""
_SEMANTICS = {
    **{n: (0, n) for n in range(4)}, **{4 + n: (1, n) for n in range(4)}, **{8 + n: (2, n) for n in range(4)},
    12: (3, 0), 13: (3, 1), 14: (5, 0), 15: (5, 1), 16: (4, 0), **{18 + n: (8, n) for n in range(3)}, 22: (6, 0),
    23: (6, 1),
}  # fmt: skip
"""The semantic of an output component (as in SH_OUTMAP), to its kind of output and the component of that."""
_PROGRAM = struct.Struct("<4s6I")
_EXECUTABLE = struct.Struct("<4sHBBIIHHBBHIIIIIIIIII")
_MOST_WORDS = 4096
_BOOL, _INTEGER, _FLOAT = range(3)


@dataclass(frozen=True)
class Executable:
    """One shader of a file. entry, end: word addresses in the code. outputs: (register, kind, mask). constants: by name
    of register ("b0", "i0", "c0"). uniforms: (name, first register, last register)."""

    type: str
    entry: int
    end: int
    outputs: tuple[tuple[int, str, int], ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    uniforms: tuple[tuple[str, int, int], ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Shbin:
    """Code and operand descriptors, and the executables that share them."""

    code: tuple[int, ...]
    descriptors: tuple[int, ...]
    executables: tuple[Executable, ...]


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
        if count * row.size > len(self.data) or offset + count * row.size > len(self.data):
            raise self.error(f"{count} entries of {row.size} bytes do not fit the file", offset)
        return [row.unpack_from(self.data, offset + n * row.size) for n in range(count)]

    def text(self, offset: int, end: int) -> str:
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
    (magic, _, kind, _, entry, end, _, _, _, _, _, constants, constant_count, labels, label_count, outputs,
     output_count, uniforms, uniform_count, symbols, symbol_size) = source.unpack(_EXECUTABLE, at)  # fmt: skip
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
    return Executable(
        TYPES[kind],
        entry,
        end,
        tuple((reg, OUTPUTS.get(what, str(what)), mask & 15)
              for what, reg, mask, _ in source.table("<4H", at + outputs, output_count)),
        values,
        tuple((source.text(names + name, last), first, final)
              for name, first, final in source.table("<IHH", at + uniforms, uniform_count)),
        {place: source.text(names + name, last)
         for _, place, _, name in source.table("<4I", at + labels, label_count)},
    )  # fmt: skip


def write_shbin(shader: Shbin) -> bytes:
    """Bytes of a file, without names of uniforms and labels."""
    kinds = {name: number for number, name in OUTPUTS.items()}
    program = struct.calcsize("<7I")
    code = struct.pack(f"<{len(shader.code)}I", *shader.code)
    extras = b"".join(struct.pack("<II", word, 0) for word in shader.descriptors)
    body = _PROGRAM.pack(b"DVLP", 0x1002, program, len(shader.code), program + len(code), len(shader.descriptors), 0)
    body += code + extras
    start = 8 + 4 * len(shader.executables)
    offsets, tables = [], b""
    for one in shader.executables:
        offsets.append(start + len(body) + len(tables))
        outputs = b"".join(struct.pack("<4H", kinds[kind], register, mask, 0) for register, kind, mask in one.outputs)
        constants = b"".join(_constant(name, value) for name, value in one.constants.items())
        size = _EXECUTABLE.size
        places = (size, len(one.constants), size, 0, size + len(constants), len(one.outputs), size, 0, size, 0)
        head = (b"DVLE", 0x1002, TYPES.index(one.type), 0, one.entry, one.end, 0, 0, 0, 0, 0)
        tables += _EXECUTABLE.pack(*head, *places) + constants + outputs
    return MAGIC + struct.pack(f"<I{len(offsets)}I", len(offsets), *offsets) + body + tables


def outputs_of(semantics: Mapping[int, Sequence[int]]) -> tuple[tuple[int, str, int], ...]:
    """Outputs of a file from the semantics of the components x, y, z, w of output registers, as the assembler has
    them."""
    found: dict[tuple[int, int], int] = {}
    for register, components in semantics.items():
        for place, meaning in enumerate(components):
            if meaning in _SEMANTICS:
                kind, _ = _SEMANTICS[meaning]
                found[register, kind] = found.get((register, kind), 0) | 1 << place
    return tuple((register, OUTPUTS[kind], mask) for (register, kind), mask in sorted(found.items()))


def _constant(name: str, value: object) -> bytes:
    register = int(name[1:])
    if name[0] == "c" and isinstance(value, Sequence):
        words = [encode_float(float(number), "f24") for number in value]
        return struct.pack("<HH4I", _FLOAT, register, *words)
    raise UsageError(f"a file holds no constant {name}")
