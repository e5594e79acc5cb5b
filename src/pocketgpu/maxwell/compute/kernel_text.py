"""Kernels that are no cubin: assembled from text, or bare code with its directives in a text of its own.

Both become what a cubin has, so that everything else treats them alike. `sass/isa/header.py` lists the directives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.maxwell.sass.files.elf import MAGIC, PARAMETER_BASE, Cubin, Kernel, Parameter, Section, read_cubin
from pocketgpu.maxwell.sass.isa.assembler import Assembly, KernelText, assemble_kernels
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, index_at
from pocketgpu.maxwell.sass.isa.decoder import SassError, decode_program
from pocketgpu.maxwell.sass.isa.disassembler import instruction_text
from pocketgpu.maxwell.sass.isa.header import Header
from pocketgpu.maxwell.sass.isa.instruction import Instruction
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.program.needs import Needs
from pocketgpu.maxwell.sass.program.steps import Step

ARCH = 53
UNNAMED = "code"
"""The name of a kernel without one."""
_PROGBITS = 1
_DKSH = b"DKSH"
_REGISTER = re.compile(r"\bR(\d+)\b")


def read_kernels(data: bytes, file: str = "", header: str | None = None) -> Cubin:
    """The kernels of a cubin, of a text, or of bare code.

    :param data: the file's bytes; they say which of these it is.
    :param header: directives for bare code, as text.
    :raises CaptureError: it is damaged, or neither.
    :raises SassError: text that cannot be assembled; the error has file, line and column.
    :raises UsageError: directives for a file that has its own.
    """
    text = _text(data)
    if header is not None and (data[:4] == MAGIC or text is not None):
        raise UsageError(
            "only bare code takes directives", location=file or None, hint="This file says itself what it needs."
        )
    if data[:4] == MAGIC:
        return read_cubin(data, file)
    if data[:4] == _DKSH:
        hint = "'pocketgpu shader dis' shows it; kernels come from cubins, text and bare code."
        raise CaptureError("a module of deko3d has no kernels to launch", file=file, offset=0, hint=hint)
    try:
        return _cubin(assemble_kernels(text) if text is not None else [_bare(data, file, header)], file)
    except SassError as error:
        raise _at(file, error) from None


def _at(place: str, error: SassError) -> SassError:
    """An error with the place that its own is in."""
    location = ", ".join(part for part in (place, error.location) if part)
    return SassError(error.message, location=location or None, hint=error.hint)


def _text(data: bytes) -> str | None:
    """The bytes as text, None if they are none. Code has zero bytes."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _bare(data: bytes, file: str, header: str | None) -> KernelText:
    if not data or len(data) % BUNDLE:
        raise CaptureError(
            f"{len(data)} bytes are no code: it is made of bundles of {BUNDLE}", file=file or "code",
            hint="Give a cubin, assembly text, or code as 'pocketgpu shader asm' writes it.",
        )  # fmt: skip
    try:
        told = assemble_kernels(header or "")
    except SassError as error:
        raise UsageError(error.message, location=f"header, {error.location}", hint=error.hint) from None
    if len(told) > 1 or (told and told[0].assembly.code):
        hint = "Leave them out, or launch the text itself."
        raise UsageError("directives for bare code are those of one kernel, without instructions", hint=hint)
    try:
        decode_program(data)
    except SassError as error:
        where = f"{file}, code {error.location}" if file else f"code {error.location}"
        raise CaptureError(error.message, file=file, location=where, hint=error.hint) from None
    return KernelText(told[0].header if told else Header(), Assembly(data, {}))


def _cubin(kernels: list[KernelText], file: str) -> Cubin:
    if not any(one.assembly.code for one in kernels):
        raise CaptureError("there is no instruction in it", file=file or "text", hint="A kernel ends with EXIT.")
    sections: list[Section] = []
    found: dict[str, Kernel] = {}
    for one in kernels:
        name = one.header.name or UNNAMED
        section = _section(sections, f".text.{name}", one.assembly.code)
        for bank, words in one.header.constants.items():
            _section(sections, f".nv.constant{bank}.{name}", b"".join(word.to_bytes(4, "little") for word in words))
        found[name] = _kernel(one, name, section)
    return Cubin(ARCH, tuple(sections), (), (), found)


def _section(sections: list[Section], name: str, data: bytes) -> Section:
    sections.append(Section(len(sections), name, _PROGBITS, 0, 0, len(data), 0, 0, data))
    return sections[-1]


def _kernel(one: KernelText, name: str, section: Section) -> Kernel:
    header, code, lines = one.header, one.assembly.code, one.assembly.lines
    if not code:
        raise SassError(f"kernel {name} has no instruction", hint="A kernel ends with EXIT.")
    used = Needs(_steps(one, name)).registers
    named = [_highest(instruction) for instruction in decode_program(code)]
    if header.registers is not None and max(named) >= header.registers:
        number = named.index(max(named))
        raise SassError(
            f"kernel {name} uses R{max(named)}, and .registers is {header.registers}",
            location=f"line {lines[number]}" if number < len(lines) else None,
            hint=f"Write .registers {max(named) + 1}.",
        )  # fmt: skip
    parameters = [
        Parameter(number, given.offset - PARAMETER_BASE, given.size, given.name, given.type)
        for number, given in enumerate(header.parameters)
    ]
    size = max((p.offset + p.size for p in parameters), default=0)
    return Kernel(
        name, section, code, header.registers or used, 0, tuple(parameters), PARAMETER_BASE, size, header.shared,
        header.local, lines=lines, loose=not parameters,
    )  # fmt: skip


def _highest(instruction: Instruction) -> int:
    """The number of the highest register that the text of an instruction names, -1 for none."""
    return max((int(number) for number in _REGISTER.findall(instruction_text(instruction))), default=-1)


def _steps(one: KernelText, name: str) -> Sequence[Step]:
    """The instructions as they run; errors have the line."""
    code = Code(name, one.assembly.code, 1)
    try:
        return code.flow.steps
    except SassError as error:
        index = -1 if error.address is None else index_at(error.address)
        lines = one.assembly.lines
        place = f"line {lines[index]}" if 0 <= index < len(lines) else error.location
        raise SassError(error.message, location=place, hint=error.hint) from None


__all__ = ["UNNAMED", "read_kernels"]
