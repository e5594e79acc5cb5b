"""What instructions of the Switch's shaders read and write, and as which type: registers have no type of their own.

`maxwell/sass/program/registers.py` finds the registers. This module finds the type of their values, from the table of
operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.program import registers
from pocketgpu.maxwell.sass.program.registers import FLAGS_BIT, PREDICATE_BIT
from pocketgpu.maxwell.sass.program.steps import OperandSource, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS

FLAGS = ("CC.carry", "CC.overflow", "CC.sign", "CC.zero")
PREDICATES = tuple(f"P{n}" for n in range(PT))

LETTERS = {"i": "i32", "f": "f32", "s": "f32", "d": "f64", "w": "bits", "p": "bool"}
"""Types by letter of `Operation.dest` and `Operation.sources`; d and w can be pairs."""
FORMATS = {0: "bits", 1: "f16x2", 2: "f32", 3: "f64"}
"""Types of the float formats that conversions name."""
WIDE_INTEGERS = (3, 7)
"""Integer formats of conversions that have 64 bits."""
HALVES = {"HADD2", "HMUL2", "HFMA2", "HSET2", "HSETP2"}
ONE_FLOAT = 1
"""The swizzle of a source, and the form of a result, that is one f32 instead of two halves."""
BITS = {
    "BFE", "BFI", "CSET", "DSET", "FCMP", "FSET", "HSET2", "LOP", "LOP3", "MOV", "P2R", "PRMT", "PSET", "R2P", "SEL",
    "SHF", "SHL", "SHR",
}  # fmt: skip
"""Operations whose registers are patterns of bits, where a letter says "i"."""
HALF_FUNCTIONS = (6, 7)
"""Functions of MUFU that read and write the upper word of an f64."""
FLOAT_RESULTS = {"IPA"}
"""Instructions outside of the table of operations with float results."""

FLOW = {"BRA", "BRX", "JMX", "CAL", "RET", "EXIT", "SYNC", "BRK", "CONT", "LONGJMP", "KIL"}
"""Control-flow instructions: their guard decides whether they act."""


@dataclass(frozen=True, slots=True)
class OperandPlace:
    """Registers, or a constant, that an instruction names.

    file: "R", "P", "CC" or "c" (a constant bank). n: number of the first register, or of the bank. count: words of 32
    bits. offset: of a constant, in bytes.
    """

    file: str
    n: int
    kind: str
    count: int = 1
    offset: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the registers."""
        if self.file == "R":
            return tuple(f"R{self.n + i}" for i in range(self.count))
        if self.file == "c":
            return tuple(f"c[{self.n:#x}][{self.offset + 4 * i:#x}]" for i in range(self.count))
        return (PREDICATES if self.file == "P" else FLAGS)[self.n : self.n + 1]


@dataclass(frozen=True, slots=True)
class OperandPlan:
    """What an instruction reads and can write, each once."""

    reads: tuple[OperandPlace, ...]
    writes: tuple[OperandPlace, ...]


def plan_of(step: Step) -> OperandPlan:
    """The plan of an instruction."""
    reads, writes = [], []
    if step.op in OPERATIONS:
        reads = list(dict.fromkeys(_sources(step)))
        writes = list(dict.fromkeys(_results(step)))
    reads += _rest(registers.reads(step), reads, "bits")
    writes += _rest(registers.writes(step), writes, "f32" if step.op in FLOAT_RESULTS else "bits")
    return OperandPlan(tuple(reads), tuple(writes))


def _rest(wanted: int, known: list[OperandPlace], kind: str) -> Iterator[OperandPlace]:
    """Registers of a set (as in `flow`) that are not among `known`."""
    for place in known:
        if place.file == "R":
            wanted &= ~(((1 << place.count) - 1) << place.n)
        elif place.file == "P":
            wanted &= ~(1 << (PREDICATE_BIT + place.n))
        elif place.file == "CC":
            wanted &= ~(1 << FLAGS_BIT)
    while wanted:
        bit = (wanted & -wanted).bit_length() - 1
        wanted &= wanted - 1
        if bit < PREDICATE_BIT:
            yield OperandPlace("R", bit, kind)
        elif bit < FLAGS_BIT:
            yield OperandPlace("P", bit - PREDICATE_BIT, "bool")
        else:
            yield from (OperandPlace("CC", n, "bool") for n in range(len(FLAGS)))


def _sources(step: Step) -> Iterator[OperandPlace]:
    operation = OPERATIONS[step.op]
    for n, (source, letter) in enumerate(zip(step.sources, operation.sources, strict=False)):
        yield from _source(source, _source_kind(step, n, letter))


def _source_kind(step: Step, n: int, letter: str) -> str:
    mods = step.mods
    if step.op in ("F2F", "F2I"):
        return FORMATS[mods["from"]]
    if step.op == "I2F":
        return "i64" if mods["from"] in WIDE_INTEGERS else "i32"
    if step.op in HALVES:
        return "f32" if mods.get(f"swizzle_{'abc'[n]}" if n < 3 else "") == ONE_FLOAT else "f16x2"
    if step.op == "MUFU" and mods["fn"] in HALF_FUNCTIONS:
        return "bits"
    return "bits" if letter == "i" and step.op in BITS else LETTERS[letter]


def _source(source: OperandSource, kind: str) -> Iterator[OperandPlace]:
    count = 2 if kind in ("f64", "i64") else 1
    if source.kind == "reg" and source.n != RZ:
        yield OperandPlace("R", source.n, kind, min(count, RZ - source.n))
    elif source.kind == "const":
        yield OperandPlace("c", source.n, kind, count, source.offset)


def _results(step: Step) -> Iterator[OperandPlace]:
    numbers = iter(step.results)
    for letter in OPERATIONS[step.op].dest:
        if letter == "p":
            n = next(numbers, PT)
            if n != PT:
                yield OperandPlace("P", n, "bool")
        elif step.dest != RZ:
            kind = _result_kind(step, letter)
            yield OperandPlace("R", step.dest, kind, min(2 if kind in ("f64", "i64") else 1, RZ - step.dest))
    if step.cc or step.op == "R2P":
        yield from (OperandPlace("CC", n, "bool") for n in range(len(FLAGS)))


def _result_kind(step: Step, letter: str) -> str:
    mods = step.mods
    if step.op in ("F2F", "I2F"):
        return FORMATS[mods["to"]]
    if step.op == "F2I":
        return "i64" if mods["to"] in WIDE_INTEGERS else "i32"
    if step.op in HALVES - BITS:
        return "f32" if mods.get("out") == ONE_FLOAT else "f16x2"
    if step.op == "MUFU":
        return "bits" if mods["fn"] in HALF_FUNCTIONS else "f32"
    if step.op in ("FSET", "DSET") and mods.get("bf"):
        return "f32"
    return "bits" if letter == "i" and step.op in BITS else LETTERS[letter]


__all__ = ["FLAGS", "FLOW", "PREDICATES", "OperandPlace", "OperandPlan", "plan_of"]
