"""Programs as text, in the layout of NVIDIA's disassembler: offsets, labels, braces around pairs that issue together.

    labels = Labels(parts)             # numbers labels over all sections of a file, as NVIDIA's tool does
    listing(parts, 0, labels)          # the lines of the first section

With control fields the text is complete: the assembler makes the same bytes of it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from pocketgpu.facts.maxwell.sass import CONTROL
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.files.elf import IndirectBranch, Symbol
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, WORD, Control, label_offset
from pocketgpu.maxwell.sass.isa.disassembler import bare_text, guard_text
from pocketgpu.maxwell.sass.isa.encoder import encode
from pocketgpu.maxwell.sass.isa.instruction import Instruction, Program
from pocketgpu.maxwell.sass.isa.operand import Imm


@dataclass
class Part:
    """One section of code with what is known of it. relocations: symbols that a linker puts at addresses."""

    name: str
    program: Program
    functions: Sequence[Symbol] = ()
    indirect: Sequence[IndirectBranch] = ()
    relocations: Mapping[int, str] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.program.base + self.program.size


def _instruction_at(address: int) -> int:
    """Where execution goes on at an address: after the control word if there is one."""
    return address + WORD if address % BUNDLE == 0 else address


class Labels:
    """Names of code addresses in all parts of a file.

    NVIDIA's disassembler counts through the file: first what branches name, in the order they come; then each
    instruction that leaves through the stack of branches or a register, and where it can go; then ends of functions.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.names: list[dict[int, str]] = [{} for _ in parts]
        self.functions: list[dict[int, str]] = [
            {_instruction_at(part.program.base + s.value): s.name for s in part.functions if s.binding != 1}
            for part in parts
        ]
        self.count = 0
        for index, part in enumerate(parts):
            for instruction in part.program:
                target = instruction.target
                if target is not None and part.program.base <= target <= part.end:
                    self._see(index, target, _instruction_at(target) in self.functions[index])
        for index, part in enumerate(parts):
            for branch in part.indirect:
                self._new(index, branch.address)
                for target in branch.targets:
                    self._new(index, target)
        for index, part in enumerate(parts):
            for symbol in part.functions:
                self._see(index, part.program.base + symbol.value + symbol.size)

    def _see(self, index: int, address: int, named: bool = False) -> None:
        """A name for an address that has none."""
        if address not in self.names[index] and not named:
            self._new(index, address)

    def _new(self, index: int, address: int) -> None:
        """The next number; the address keeps the first it got."""
        self.names[index].setdefault(address, f".L_x_{self.count}")
        self.count += 1

    def name(self, index: int, address: int) -> str | None:
        """What an address of a part is called."""
        return self.functions[index].get(_instruction_at(address)) or self.names[index].get(address)


def control_text(control: Control) -> str:
    """The scheduling field: barriers to wait for, read and write barrier to signal, yield, stall; operands to keep."""
    wait = "".join(str(n) if control.wait_mask >> n & 1 else "-" for n in range(6))
    read = "-" if control.read_barrier is None else str(control.read_barrier)
    write = "-" if control.write_barrier is None else str(control.write_barrier)
    text = f"B{wait}:R{read}:W{write}:{'-' if control.yield_ else 'Y'}:S{control.stall:02d}"
    return text


def exact_text(instruction: Instruction, text: str, labels: Mapping[str, int]) -> str:
    """The scheduling field in brackets, with all that the text of the instruction does not say: `U` and the bits for
    operands to keep, `^` and the bits of the word that differ from what the text gives. labels: where the assembler
    will find names."""
    control = instruction.control or Control.of(0)
    encoded = encode(text, instruction.address, labels)
    shown = encoded.control_mask >> CONTROL["reuse"].lo
    stored = encoded.control >> CONTROL["reuse"].lo
    kept = control.reuse ^ stored & shown
    different = encoded.word ^ instruction.word
    extra = (f":U{kept:x}" if kept else "") + (f" ^{different:#x}" if different else "")
    return f"[{control_text(control)}{extra}]"


def listing(parts: Sequence[Part], index: int, labels: Labels, *, control: bool = False) -> Iterator[str]:
    """Lines of a part. control: with scheduling fields, without which the text does not say everything."""
    part = parts[index]
    program, names, functions = part.program, labels.names[index], labels.functions[index]
    branches = {branch.address: branch for branch in part.indirect}
    padding = _padding(program)
    lines: list[tuple[str, str, str]] = []
    heads = _heads(program, names, functions)
    places = {name: program.base + label_offset(number) for number, found in heads.items() for name in found}

    def named(target: int) -> str:
        known = labels.name(index, target)
        return f"`({known})" if known in places else f"{target:#x}"

    second = False
    for number, instruction in enumerate(program):
        lines += [("", f"{name}:", "") for name in heads.get(number, ())]
        pair = _pairs(program, number, second)
        text = _relocated(instruction, bare_text(instruction, named), part.relocations.get(instruction.address))
        guard = guard_text(instruction)
        exact = exact_text(instruction, f"{guard} {text}".strip(), places) + " " if control else ""
        start = f"        /*{instruction.address:04x}*/ {exact}{'':8}{'{' if pair else '':1}{guard:>8} {text}"
        tail = "         }" if second else ";" if number >= padding else " ;"
        lines.append((start, tail, _targets(branches.get(instruction.address), labels, index)))
        second = pair
    width = max((len(start) for start, _, _ in lines), default=0) + 2
    for start, tail, comment in lines:
        if comment and start:
            yield f"{start.ljust(width)}{comment}{'        }' if tail.endswith('}') else ';'}"
        else:
            yield start + tail
    yield from (f"{name}:" for name in heads.get(len(program), ()))


def _pairs(program: Program, number: int, second: bool) -> bool:
    """Whether an instruction issues together with the next one."""
    control = program[number].control
    return not second and number + 1 < len(program) and control is not None and control.dual


def _heads(program: Program, names: Mapping[int, str], functions: Mapping[int, str]) -> dict[int, list[str]]:
    """Labels by the number of the instruction that follows them. Labels of a pair come before the pair.

    A place has one label, unless a branch names another one.
    """
    heads: dict[int, list[str]] = {}
    wanted = {names.get(instruction.target) for instruction in program if instruction.target is not None}
    first, second = 0, False
    for number, instruction in enumerate(program):
        first = first if second else number
        second = _pairs(program, number, second)
        address = instruction.address
        own = [address - WORD, address] if address % BUNDLE == WORD else [address]
        # A function has its name instead, unless a label is that of the control word.
        found = [names[place] for place in own if place in names and place not in functions]
        here = heads.setdefault(first, [])
        for name in found:
            if not here or name in wanted:
                here.append(name)
        if address in functions:
            here.append(functions[address])
    if (end := program.base + program.size) in names:
        heads.setdefault(len(program), []).append(names[end])
    return heads


def _padding(program: Program) -> int:
    """Number of the first of the NOPs that fill up the last bundles."""
    number = len(program)
    while number and program[number - 1].op == "NOP":
        number -= 1
    return number


def _relocated(instruction: Instruction, text: str, symbol: str | None) -> str:
    """The text with a symbol in the place of the number that the linker overwrites."""
    number = instruction.get("b")
    if symbol is None or not isinstance(number, Imm) or number.is_float:
        return text
    return text.replace(f" {number.value:#x}", f" `({symbol})", 1)


def _targets(branch: IndirectBranch | None, labels: Labels, index: int) -> str:
    if branch is None:
        return ""
    if not branch.targets:
        return '(*"INDIRECT_CALL"*)'
    names = (labels.name(index, target) or f"{target:#x}" for target in branch.targets)
    return f'(*"BRANCH_TARGETS {",".join(names)}"*)'
