"""Shader modules of deko3d (`.dksh`): control data, then code and constants.

Source: the format as deko3d and its compiler publish it. A graphics program has a shader header of 0x50 bytes in front
of its code, a compute program has none.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import field

from pocketgpu.errors import CaptureError
from pocketgpu.late_dataclass import dataclass

MAGIC = b"DKSH"
STAGES = ("vertex", "fragment", "geometry", "tess_ctrl", "tess_eval", "compute")
SHADER_HEADER = 0x50
_HEADER = struct.Struct("<4sIIIII")
_PROGRAM = struct.Struct("<6I36s4x")
_COMPUTE = struct.Struct("<3I5I4x")
_MOST_PROGRAMS = 4096


@dataclass(frozen=True, slots=True)
class DkshProgram:
    """A program of a module.

    stage: its name. entry: byte in the module's code where it begins. code: its instructions. header: the 0x50 bytes
    in front, empty for compute. constants: what constant buffer 1 holds. block, shared_size, local_size, barriers: of
    a compute program, else zeros. scratch: bytes of local memory a warp needs.
    """

    index: int
    stage: str
    entry: int
    code: bytes = field(repr=False)
    header: bytes = field(repr=False)
    registers: int
    constants: bytes = field(repr=False)
    scratch: int
    block: tuple[int, int, int] = (0, 0, 0)
    shared_size: int = 0
    local_size: int = 0
    barriers: int = 0


def read_dksh(data: bytes, file: str = "") -> tuple[DkshProgram, ...]:
    """All programs of a module.

    :raises CaptureError: it is not such a module, or it is damaged; the error names the byte.
    """

    def error(message: str, offset: int) -> CaptureError:
        return CaptureError(message, file=file or "dksh", offset=offset)

    if data[:4] != MAGIC:
        raise error("this is no deko3d shader module", 0)
    if len(data) < _HEADER.size:
        raise error("the file ends inside its header", len(data))
    _, header_size, control_size, code_size, programs, count = _HEADER.unpack_from(data)
    if header_size < _HEADER.size or control_size < header_size or control_size + code_size > len(data):
        raise error(f"{control_size} bytes of control data and {code_size} of code in {len(data)} bytes", 4)
    if count > _MOST_PROGRAMS or programs + count * _PROGRAM.size > control_size:
        raise error(f"{count} programs at {programs:#x} do not fit the control data", 16)
    code = data[control_size : control_size + code_size]
    found: list[DkshProgram] = []
    for index in range(count):
        place = programs + index * _PROGRAM.size
        kind, entry, registers, constants, constants_size, scratch, rest = _PROGRAM.unpack_from(data, place)
        if kind >= len(STAGES):
            raise error(f"program {index} is of unknown stage {kind}", place)
        stage = STAGES[kind]
        before = 0 if stage == "compute" else SHADER_HEADER
        if entry >= code_size or entry < before:
            raise error(f"program {index} begins at {entry:#x} of {code_size:#x} bytes of code", place + 4)
        if constants + constants_size > code_size:
            raise error(f"the constants of program {index} end after the code", place + 12)
        found.append(
            DkshProgram(
                index,
                stage,
                entry,
                b"",
                code[entry - before : entry],
                registers,
                code[constants : constants + constants_size],
                scratch,
                *(_compute(rest) if stage == "compute" else ()),
            )
        )
    ends = list(_ends(found, data, programs, code_size))
    return tuple(_with_code(one, code[one.entry : end]) for one, end in zip(found, ends, strict=True))


def _compute(rest: bytes) -> tuple[tuple[int, int, int], int, int, int]:
    x, y, z, shared, local, negative, _, barriers = _COMPUTE.unpack(rest)
    return (x, y, z), shared, local + negative, barriers


def _ends(found: list[DkshProgram], data: bytes, programs: int, code_size: int) -> Iterator[int]:
    """Where the code of each program ends at the latest: at the next program, or at constants."""
    starts = {code_size}
    for one in found:
        _, _, _, constants, size, _, _ = _PROGRAM.unpack_from(data, programs + one.index * _PROGRAM.size)
        starts |= {one.entry - len(one.header)} | ({constants} if size else set())
    for one in found:
        yield min(start for start in starts if start > one.entry)


def _with_code(program: DkshProgram, code: bytes) -> DkshProgram:
    """The program with its code, without the zeros that fill up the section."""
    end = len(code.rstrip(b"\0")) + 31 & ~31
    values = {name: getattr(program, name) for name in DkshProgram.__slots__}
    return DkshProgram(**{**values, "code": code[: min(end, len(code) & ~31)]})
