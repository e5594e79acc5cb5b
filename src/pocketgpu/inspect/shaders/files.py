"""Files with shader code of either console, opened by their contents.

    module = open_shader(data, "kernel.cubin")
    for program in module.programs:
        program.text(), program.info(), program.graph()

Kinds: "cubin", "dksh", "sass" (text of kernels) and "maxwell" (raw) for the Switch, "shbin" and "pica" (raw) for the
3DS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from pocketgpu.control_flow import Block, dot
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.facts.shader_isa import OPDESC_FIELDS
from pocketgpu.inspect.stepping.program_text import ProgramText
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.compute.kernel_text import read_kernels
from pocketgpu.maxwell.sass import Program, decode_program
from pocketgpu.maxwell.sass.files.dksh import DkshProgram, read_dksh
from pocketgpu.maxwell.sass.files.elf import Cubin, IndirectBranch, Kernel, Section, read_cubin
from pocketgpu.maxwell.sass.isa.decoder import SassError
from pocketgpu.maxwell.sass.isa.disassembler import instruction_text
from pocketgpu.maxwell.sass.isa.header import header_of, not_in_text
from pocketgpu.maxwell.sass.isa.listing import Labels, Part, control_text, listing
from pocketgpu.maxwell.sass.program.graph import blocks_of
from pocketgpu.pica.shader.disassembler import disassemble
from pocketgpu.pica.shader.disassembler import instruction_text as pica_text
from pocketgpu.pica.shader.flow import flow_of
from pocketgpu.pica.shader.shbin import Executable, Shbin, read_shbin, register_of
from pocketgpu.wording import counted

KINDS = ("cubin", "dksh", "sass", "maxwell", "shbin", "pica")
_MAGIC = {b"\x7fELF": "cubin", b"DKSH": "dksh", b"DVLB": "shbin"}
_SASS = re.compile(rb"^[ \t]*\.(?:kernel|section\s+\.text\.)\s*\S", re.MULTILINE)
"""A directive that begins a kernel."""


@dataclass
class ShaderProgram:
    """A program of a file. facts: its properties in the file, ready for JSON. data: other data by name."""

    name: str
    console: str
    text: Callable[[bool], str]
    facts: dict[str, Any]
    code: bytes
    maxwell: Program | None = None
    indirect: tuple[IndirectBranch, ...] = ()
    words: tuple[int, ...] = ()
    descriptors: tuple[int, ...] = ()
    entry: int = 0
    data: Mapping[str, bytes] = field(default_factory=dict)
    executable: Executable | None = None

    def instructions(self) -> list[dict[str, Any]]:
        """Every instruction of a Maxwell program as plain data.

        :raises UsageError: it is no Maxwell program.
        """
        if self.maxwell is None:
            raise UsageError(f"{self.name} is no Maxwell program")
        return [
            {
                "address": one.address,
                "word": f"{one.word:#018x}",
                "text": instruction_text(one).strip(),
                "op": one.op,
                "form": one.form,
                "guard": {"predicate": one.guard.n, "negated": one.guard.negated},
                "modifiers": one.modifiers,
                "operands": [
                    {"role": role, "kind": type(operand).__name__.lower(), **_plain(operand)}
                    for role, operand in one.roles.items()
                ],
                "control": control_text(one.control) if one.control is not None else None,
            }
            for one in self.maxwell
        ]

    def blocks(self) -> list[Block]:
        """Basic blocks and the edges between them; `first` and `last` count instructions.

        :raises CaptureError: the program of the 3DS has more paths than can be followed.
        """
        if self.maxwell is None:
            return flow_of(self.words, self.descriptors, self.entry)
        return blocks_of(self.maxwell, {branch.address: branch.targets for branch in self.indirect})

    def graph(self) -> str:
        """Control flow in the language of graphviz. For a program of the 3DS, only what is reachable from its entry.

        :raises CaptureError: the program of the 3DS has more paths than can be followed.
        """
        blocks = self.blocks()
        lines = [[f"{self._address(n):04x}  {self._line(n)}" for n in range(b.first, b.last + 1)] for b in blocks]
        return dot(self.name, blocks, lines, [f"{self._address(b.first):#06x}" for b in blocks])

    def _address(self, number: int) -> int:
        """The address as in listings: bytes for Maxwell, instructions for the 3DS."""
        return number if self.maxwell is None else self.maxwell[number].address

    def _line(self, number: int) -> str:
        if self.maxwell is None:
            return pica_text(self.words[number], self.descriptors, "{:#06x}".format)
        return instruction_text(self.maxwell[number]).strip()


def _plain(operand: object) -> dict[str, Any]:
    names = getattr(type(operand), "__slots__", ())
    return {name: _number(getattr(operand, name)) for name in names}


def _number(value: Any) -> Any:
    """The value as JSON can hold it, which has no infinities and NaNs."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


@dataclass
class ShaderModule:
    """All programs of a file, and the file's own properties."""

    kind: str
    programs: list[ShaderProgram]
    facts: dict[str, Any] = field(default_factory=dict)


def kind_of(data: bytes) -> str | None:
    """The kind of a file by its first bytes, or by a directive that begins a kernel; None if nothing identifies it."""
    found = _MAGIC.get(data[:4])
    return "sass" if found is None and b"\0" not in data and _SASS.search(data) else found


def open_shader(data: bytes, file: str = "", kind: str | None = None, descriptors: bytes | None = None) -> ShaderModule:
    """All programs of a file. kind: one of KINDS, if the file does not identify itself. descriptors: operand
    descriptors for bare words of the 3DS, 32 bits each.

    :raises CaptureError: the file is damaged, or its kind is not known.
    """
    found = kind or kind_of(data)
    if found is None:
        raise CaptureError(
            "the kind of code is not known", file=file, offset=0,
            hint="--kind maxwell or --kind pica for bare words; "
            "for a recording 'pocketgpu state CAPTURE f0/d0 --shaders'.",
        )  # fmt: skip
    if found not in KINDS:
        raise UsageError(f"there is no kind {found!r}", hint=f"There are {', '.join(KINDS)}.")
    try:
        if found == "pica":
            return _pica(data, file, descriptors)
        if found == "sass":
            return _programs(read_kernels(data, file), found)
        return _OPEN[found](data, file)
    except SassError as error:
        if found == "sass":
            raise
        raise CaptureError(error.message, location=f"{file}, code {error.location}", hint=error.hint) from None


# -- the Switch -------------------------------------------------------------------------------------------------------
def _cubin(data: bytes, file: str) -> ShaderModule:
    return _programs(read_cubin(data, file), "cubin")


def _programs(cubin: Cubin, kind: str) -> ShaderModule:
    by_section = {kernel.section.index: kernel for kernel in cubin.kernels.values()}
    texts = [(section, by_section.get(section.index)) for section in cubin.texts]
    parts = [_part(cubin, section, kernel) for section, kernel in texts]
    labels = Labels(parts)
    programs = [
        ShaderProgram(
            part.name,
            "switch",
            _lister(parts, index, labels, _directives(cubin, kernel)),
            {"kernel": kernel is not None, **(_kernel_facts(kernel, part.program) if kernel is not None else {})},
            section.data,
            part.program,
            tuple(part.indirect),
        )
        for index, (part, (section, kernel)) in enumerate(zip(parts, texts, strict=True))
    ]
    sections = [{"name": s.name, "type": s.type, "size": s.size} for s in cubin.sections if s.name]
    return ShaderModule(kind, programs, {"arch": f"sm_{cubin.arch}", "sections": sections})


def _part(cubin: Cubin, section: Section, kernel: Kernel | None) -> Part:
    name = section.name.removeprefix(".text.")
    try:
        program = decode_program(section.data)
    except SassError as error:
        raise SassError(f"{name}: {error.message}", location=error.location, hint=error.hint) from None
    relocations = {one.offset: one.symbol.name for one in cubin.relocations if one.section == section.index}
    functions = kernel.functions if kernel is not None else ()
    return Part(name, program, functions, kernel.indirect if kernel is not None else (), relocations)


def _directives(cubin: Cubin, kernel: Kernel | None) -> list[str]:
    """What a launch of the kernel's text needs to know."""
    if kernel is None:
        return []
    missing = not_in_text(cubin)
    return [*header_of(cubin, kernel).text(), *([f"// not in this text: {missing}"] if missing else [])]


def _lister(parts: list[Part], index: int, labels: Labels, directives: Sequence[str] = ()) -> Callable[[bool], str]:
    name = parts[index].name

    def text(control: bool) -> str:
        head = [f".section .text.{name}", *(directives if control else ())]
        lines = [*(f"{' ' * 8}{line}" for line in head), f"{name}:"]
        return "\n".join([*lines, *listing(parts, index, labels, control=control)])

    return text


def _kernel_facts(kernel: Kernel, program: Program) -> dict[str, Any]:
    return {
        "instructions": len(program),
        "registers": kernel.registers,
        "barriers": kernel.barriers,
        "shared_bytes": kernel.shared_size,
        "local_bytes": kernel.local_size,
        "parameter_base": kernel.parameter_base,
        "parameter_bytes": kernel.parameter_size,
        "parameters": [{"offset": p.offset, "size": p.size} for p in kernel.parameters],
        "functions": [s.name for s in kernel.functions if s.binding != 1],
        "exits": list(kernel.exits),
        "max_threads": list(kernel.max_threads) if kernel.max_threads else None,
        "block": list(kernel.block) if kernel.block else None,
    }


def _bare(name: str, code: bytes, base: int = 0) -> tuple[list[Part], Labels]:
    parts = [Part(name, decode_program(code, base))]
    return parts, Labels(parts)


def _dksh(data: bytes, file: str) -> ShaderModule:
    programs = []
    for one in read_dksh(data, file):
        name = f"{one.stage}{one.index}"
        parts, labels = _bare(name, one.code)
        facts = _dksh_facts(one, parts[0].program)
        extra = {"header": one.header, "constants": one.constants}
        lister = _lister(parts, 0, labels)
        programs.append(ShaderProgram(name, "switch", lister, facts, one.code, parts[0].program, data=extra))
    return ShaderModule("dksh", programs)


def _dksh_facts(one: DkshProgram, program: Program) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "stage": one.stage,
        "entry": one.entry,
        "instructions": len(program),
        "registers": one.registers,
        "constant_bytes": len(one.constants),
        "scratch_bytes": one.scratch,
    }
    if one.stage == "compute":
        facts |= {"block": list(one.block), "shared_bytes": one.shared_size, "local_bytes": one.local_size}
        facts["barriers"] = one.barriers
    return facts


def _maxwell(data: bytes, file: str) -> ShaderModule:
    if not data:
        raise CaptureError("the file is empty", file=file, offset=0)
    parts, labels = _bare("code", data)
    program = parts[0].program
    facts = {"instructions": len(program)}
    return ShaderModule("maxwell", [ShaderProgram("code", "switch", _lister(parts, 0, labels), facts, data, program)])


# -- the 3DS ----------------------------------------------------------------------------------------------------------
def _shbin(data: bytes, file: str) -> ShaderModule:
    shader = read_shbin(data, file)
    programs = [_pica_program(f"{one.type}{n}", shader, one) for n, one in enumerate(shader.executables)]
    return ShaderModule("shbin", programs, {"words": len(shader.code), "descriptors": len(shader.descriptors)})


def _pica_program(name: str, shader: Shbin, one: Executable) -> ShaderProgram:
    facts = {
        "type": one.type,
        "instructions": len(shader.code),
        "entry": one.entry,
        "end": one.end,
        "outputs": [{"register": f"o{reg}", "kind": kind, "mask": mask} for reg, kind, mask in one.outputs],
        "constants": {
            name: list(value) if isinstance(value, tuple) else value for name, value in one.constants.items()
        },
        "uniforms": [
            {"name": name, "first": first, "last": last, "register": _register(first)}
            for name, first, last in one.uniforms
        ],
        "labels": {label: place for place, label in sorted(one.names.items())},
    }
    if one.geometry is not None:
        facts["geometry"] = {"mode": one.geometry.mode, "array": one.geometry.array, "vertices": one.geometry.vertices}
    return _pica_code(name, shader.code, shader.descriptors, one.entry, facts, one)


def _register(number: int) -> str | None:
    """The register of an entry in the table of uniforms."""
    found = register_of(number)
    return None if found is None else f"{found[0]}{found[1]}"


def _pica_code(
    name: str, code: tuple[int, ...], descriptors: tuple[int, ...], entry: int, facts: dict[str, Any],
    executable: Executable | None = None,
) -> ShaderProgram:  # fmt: skip
    labels = executable.names if executable is not None else {}
    named = ProgramText(symbols=executable.symbols if executable is not None else ())
    raw = b"".join(word.to_bytes(4, "little") for word in code)
    return ShaderProgram(
        name,
        "3ds",
        lambda control: _listing(
            disassemble(code, descriptors, entry=entry, exact=control, labels=labels), None if control else named
        ),
        facts,
        raw,
        words=code,
        descriptors=descriptors,
        entry=entry,
        executable=executable,
    )


def _listing(text: str, named: ProgramText | None) -> str:
    """A text, perhaps with what its registers are called."""
    lines = []
    for line in text.splitlines():
        names = "" if named is None or line.lstrip().startswith(".") else named.names_in(line)
        lines.append(f"{line}  ; {names}" if names else line)
    return "\n".join(lines)


_PLAIN = sum(value << OPDESC_FIELDS[name][0] for name, value in
             (("mask", 15), ("sel1", 0x1B), ("sel2", 0x1B), ("sel3", 0x1B)))  # fmt: skip
"""The operand descriptor that does not change operands."""


def _pica(data: bytes, file: str, descriptors: bytes | None) -> ShaderModule:
    """Open bare words. Without operand descriptors, all operands are shown as used whole."""
    words = _pica_words(data, file)
    if len(words) > 4096:
        raise CaptureError(
            f"{counted(len(words), 'instruction')}; a shader unit holds 4096", file=file, offset=4 * 4096
        )
    extras = _pica_words(descriptors, "operand descriptors")[:128] if descriptors is not None else (_PLAIN,) * 128
    return ShaderModule("pica", [_pica_code("code", words, extras, 0, {"instructions": len(words)})])


def _pica_words(data: bytes, file: str) -> tuple[int, ...]:
    if len(data) % 4 or not data:
        raise CaptureError(f"{len(data)} bytes are no 32-bit words", file=file, offset=len(data) & ~3)
    return tuple(int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))


_OPEN: dict[str, Callable[[bytes, str], ShaderModule]] = {
    "cubin": _cubin,
    "dksh": _dksh,
    "maxwell": _maxwell,
    "shbin": _shbin,
}
