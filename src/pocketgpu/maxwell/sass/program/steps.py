"""Instructions as executors take them: which semantics, modifiers as numbers, sources and results.

Forms that mean the same operation become the same step here: FADD32I is an FADD, LOP32I a LOP. Everything is read
through the table's own field names, so that nothing here knows a bit of an instruction word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pocketgpu.facts.maxwell.sass import ENUMS
from pocketgpu.maxwell.sampling.calls import TextureCall, texture_call
from pocketgpu.maxwell.sass.isa.instruction import Instruction, Program
from pocketgpu.maxwell.sass.isa.operand import (
    PT,
    RZ,
    Attr,
    Const,
    Imm,
    Indirect,
    Label,
    Mem,
    Name,
    Operand,
    Pred,
    Reg,
    Special,
    Swap,
)
from pocketgpu.maxwell.sass.semantics import OPERATIONS

ALWAYS = next(member.value for member in ENUMS["cc_operand"].listed if member is not None and member.name == "T")
"""The test of the condition code that is always true."""
WHOLE_QUAD = 15
"""The mask of a MOV that is for all four lanes of each quad."""


@dataclass(frozen=True)
class Source:
    """Where an operand comes from: kind "reg", "imm" or "const".

    n: register, or bank of the constant; offset: bytes into the bank; bits: of an immediate (64 for doubles).
    """

    kind: str
    n: int = RZ
    offset: int = 0
    bits: int = 0
    negated: bool = False
    absolute: bool = False


ZERO = Source("reg", RZ)


@dataclass(frozen=True)
class Predicate:
    n: int = PT
    negated: bool = False


@dataclass(frozen=True)
class Step:
    """One instruction. `op` names a semantics of OPERATIONS, or a memory, warp or flow instruction.

    target: number of the instruction that it names, None if none or outside of the program. offset: of an address.
    texture: what an instruction on textures or surfaces hands to a kernel; its op is "TEX".
    """

    index: int
    address: int
    op: str
    mods: Mapping[str, int] = field(default_factory=dict)
    dest: int = RZ
    results: tuple[int, ...] = ()
    sources: tuple[Source, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    guard: Predicate = Predicate()
    test: int = ALWAYS
    cc: bool = False
    target: int | None = None
    target_address: int | None = None
    indirect: Indirect | Const | None = None
    base: int = RZ
    offset: int = 0
    name: str = ""
    texture: TextureCall | None = None

    @property
    def guarded(self) -> bool:
        """Whether the guard can be false."""
        return self.guard.n != PT or self.guard.negated


_SAME = {
    "FADD32I": "FADD", "FMUL32I": "FMUL", "FFMA32I": "FFMA", "IADD32I": "IADD", "LOP32I": "LOP", "IMUL32I": "IMUL",
    "IMAD32I": "IMAD", "ISCADD32I": "ISCADD", "MOV32I": "MOV", "HADD2_32I": "HADD2", "HMUL2_32I": "HMUL2",
    "HFMA2_32I": "HFMA2", "JMP": "BRA", "JCAL": "CAL", "LDG": "LD", "STG": "ST",
}  # fmt: skip
_RENAMED = {
    "type": "signed", "fmz": "ftz", "merge": "out", "cc_test": "test",
}  # fmt: skip


_VIDEO = ("VADD", "VABSDIFF", "VMNMX", "VSHL", "VSHR", "VMAD", "VSET", "VSETP")


class _Reader:
    """One instruction, field by field."""

    def __init__(self, instruction: Instruction) -> None:
        self.instruction, self.row = instruction, instruction.row
        self.roles = instruction.roles

    def raw(self, name: str) -> int:
        """A field as the number it is in the word; 0 if the form has none of the name."""
        bits = self.row.fields.get(name)
        return 0 if bits is None else int(bits.get(self.instruction.word))

    def has(self, text: str) -> bool:
        """Whether a piece of text is always there (".HI")."""
        return any(one.bits is None and one.name in (text, text[1:]) for one in self.row.modifiers)

    def source(self, role: str) -> Source:
        found = self.roles.get(role)
        return ZERO if found is None else self._source(found)

    @staticmethod
    def _source(found: Operand) -> Source:
        if isinstance(found, Reg):
            return Source("reg", found.n, negated=found.negated or found.inverted, absolute=found.absolute)
        if isinstance(found, Imm):
            signs = found.negated or found.inverted
            return Source("imm", bits=found.bits & (1 << 64) - 1, negated=signs, absolute=found.absolute)
        if isinstance(found, Const):
            signs = found.negated or found.inverted
            return Source("const", found.bank, offset=found.offset, negated=signs, absolute=found.absolute)
        raise TypeError(f"{found!r} is no source")

    def predicate(self, role: str) -> Predicate:
        found = self.roles.get(role)
        return Predicate(found.n, found.negated) if isinstance(found, Pred) else Predicate()

    def result(self, role: str) -> int:
        found = self.roles.get(role)
        return found.n if isinstance(found, Pred) else PT

    @property
    def form(self) -> str:
        return self.instruction.form

    def register(self, role: str) -> int:
        found = self.roles.get("addr" if role == "base" else role)
        if isinstance(found, Mem):
            return RZ if found.register is None else found.register
        return found.n if isinstance(found, Reg) else RZ

    def number(self, role: str) -> int | None:
        """The value of an immediate operand, None if there is none."""
        found = self.roles.get(role)
        return found.bits if isinstance(found, Imm) else None


def _mods(r: _Reader, names: Mapping[str, str]) -> dict[str, int]:
    """All modifiers as numbers; names: what some are called here."""
    mods = {}
    for one in r.row.modifiers:
        if one.bits is not None:
            raw = r.raw(one.name)
            mods[names.get(one.name, one.name)] = raw ^ int(one.inverted)
    return mods


def _halves(r: _Reader, mods: dict[str, int]) -> tuple[Source, ...]:
    """Sources of an operation on pairs of halves; two halves in the instruction are one word."""
    sources = []
    for role in "abc":
        if role == "b" and "bh" in r.roles:
            high, low = r.roles["bh"], r.roles["bl"]
            assert isinstance(high, Imm) and isinstance(low, Imm)
            sources.append(Source("imm", bits=(high.bits & 0xFFFF) << 16 | low.bits & 0xFFFF))
        elif role in r.roles:
            sources.append(r.source(role))
            # A constant has no swizzle: it is an f32 for both halves.
            plain = f"{role}.part" not in r.row.fields
            mods[f"swizzle_{role}"] = 1 if plain else r.raw(f"{role}.part")
    return tuple(sources)


def _arithmetic(r: _Reader, op: str) -> tuple[dict[str, int], list[Source], list[Predicate]]:
    """(modifiers, sources, predicates) of an operation of the table of semantics."""
    mods, roles = _mods(r, _RENAMED), r.roles
    sources = [r.source(role) for role in "abc" if role in roles and not isinstance(roles[role], Pred)]
    predicates = [r.predicate("s")] if "s" in roles else []
    if op in ("IADD", "ISCADD") and r.has(".PO"):
        sources = [Source(s.kind, s.n, s.offset, s.bits, True) for s in sources]
    if op == "ISCADD":
        sources.append(r.source("shift"))
    elif op == "IADD3":
        mods |= {f"part_{role}": r.raw(f"{role}.part") for role in "abc"}
    elif op == "LEA":
        mods["hi"] = int(r.has(".HI"))
        sources = [r.source("a"), r.source("b"), r.source("c"), r.source("shift")]
    elif op == "XMAD":
        types = mods.pop("types")
        mods |= {"signed_a": types & 1, "signed_b": types >> 1}
        mods |= {"half_a": r.raw("a.part"), "half_b": r.raw("b.part")}
    elif op == "IMADSP":
        mods |= {f"kind_{role}": mods.pop(f"type_{role}") for role in "abc"}
        # The third one's two lower bits say twice whether it has a sign.
        mods["kind_c"] = mods["kind_c"] >> 2 << 1 | bool(mods["kind_c"] & 3)
    elif op in ("IMAD", "IMUL"):
        types = mods.pop("types")
        mods |= {"signed_a": types & 1, "signed_b": types >> 1}
        if r.has(".PO"):
            sources = [replace(s, negated=i != 1) for i, s in enumerate(sources)]
    elif op == "LOP3":
        lut = roles["lut"]
        assert isinstance(lut, Imm)
        mods["table"] = lut.bits & 0xFF
    elif op == "SHR":
        mods["x"] = int(mods["x"] >= 2)
    elif op == "SHF":
        mods["right"] = int(r.has(".R"))
        mods["hi"] = mods.pop("x") & 1
        mods["type"] = mods.pop("signed")
    elif op == "MOV":
        mask = roles.get("mask")
        mods["mask"] = mask.bits if isinstance(mask, Imm) else WHOLE_QUAD
    elif op in ("I2I", "I2F"):
        mods["part"] = r.raw("b.part")
    elif op in ("F2I", "F2F"):
        # An immediate half is one number, whatever half is asked for.
        mods["half"] = 0 if isinstance(roles["b"], Imm) else r.raw("b.part")
    elif op == "MUFU" or op == "RRO":
        mods["fn"] = mods.pop("op")
    elif op == "FSWZADD":
        sources.append(Source("imm", bits=r.raw("mask")))
    elif op in ("HADD2", "HMUL2", "HFMA2", "HSET2", "HSETP2"):
        sources = list(_halves(r, mods))
        if OPERATIONS[op].dest == "i" and op != "HSET2":
            sources.append(Source("reg", r.register("d")))
    elif op in _VIDEO:
        if op == "VADD" and r.has(".PO"):
            sources = [Source(s.kind, s.n, s.offset, s.bits, i < 2) for i, s in enumerate(sources)]
        if op == "VMAD" and r.has(".PO"):
            sources = [Source(s.kind, s.n, s.offset, s.bits, i != 1) for i, s in enumerate(sources)]
        b = roles["b"]
        if isinstance(b, Imm):
            # A number of 16 bits: as a half with sign or without, the lower one.
            minus = bool(r.raw("b.minus"))
            mods["type_b"] = 12 if mods.get("type_b", 0) and op not in ("VSHL", "VSHR") else 4
            sources[1] = Source("imm", bits=b.bits & 0xFFFF, negated=minus or sources[1].negated)
        elif op in ("VSHL", "VSHR"):
            mods["type_b"] &= 7
    elif op == "VABSDIFF4":
        mods |= {"select_a": r.raw("a.part"), "select_b": r.raw("b.part") if "b.part" in r.row.fields else 4}
        b = roles["b"]
        if isinstance(b, Imm):
            sources[1] = Source("imm", bits=(b.bits & 0xFF) * 0x01010101)
    elif op in ("PSETP", "PSET"):
        predicates = [r.predicate("a"), r.predicate("b"), r.predicate("s")]
        sources = []
    elif op in ("P2R", "R2P"):
        name = "from" if op == "P2R" else "to"
        mods["cc"] = r.raw(name)
        mods["byte"] = mods.get("byte", r.raw("a.part"))
        predicates = [Predicate(n) for n in range(7)]
    return mods, sources, predicates


_RESULTS: dict[str, Callable[[_Reader], tuple[int, ...]]] = {
    "R2P": lambda r: tuple(range(7)),
}


def _results(r: _Reader, op: str) -> tuple[int, ...]:
    """Predicates that an operation writes, in the order of its results."""
    if op in _RESULTS:
        return _RESULTS[op](r)
    count = OPERATIONS[op].dest.count("p")
    return tuple(r.result(role) for role in ("p", "q")[:count])


def _common(r: _Reader, index: int, op: str) -> Step:
    """What every step has."""
    i = r.instruction
    return Step(index, i.address, op, guard=Predicate(i.guard.n, i.guard.negated))


def _rest(r: _Reader, step: Step, program: Program) -> Step:
    """A step of memory, warp or flow."""
    roles, mods = r.roles, _mods(r, {})
    values: dict[str, object] = {"mods": mods, "dest": r.register("d")}
    sources = []
    for role in ("a", "b", "c"):
        if role in roles and isinstance(roles[role], Reg | Imm | Const) and step.op != "LDC":
            sources.append(r.source(role))
    address = roles.get("addr")
    if isinstance(address, Mem):
        values["base"] = RZ if address.register is None else address.register
        values["offset"] = address.offset
    data = roles.get("data")
    if isinstance(data, Reg):
        sources.append(Source("reg", data.n))
    elif isinstance(data, Swap):
        sources += [Source("reg", data.compare), Source("reg", data.store)]
        mods["cas"] = 1
    if step.op == "BAR":
        mods["kind"] = 0 if r.has(".SYNC") else 1 if r.has(".ARV") else 2 + mods.get("mode", 0)
    elif step.op == "B2R":
        mods["result"] = int(r.has(".RESULT"))
    test = roles.get("cc")
    if isinstance(test, Name):
        values["test"] = test.value
    target = roles.get("target")
    if isinstance(target, Label):
        values["target"], values["target_address"] = program.index_of(target.target), target.target
    elif isinstance(target, Imm):
        values["target"], values["target_address"] = program.index_of(target.bits), target.bits
    elif isinstance(target, Indirect | Const):
        values["indirect"] = target
    if step.op == "LDC":
        found = roles["b"]
        assert isinstance(found, Const)
        values |= {"base": RZ if found.register is None else found.register, "offset": found.offset}
        mods["bank"] = found.bank
    for role in ("sr", "barrier", "count", "mask", "handle", "query", "dim"):
        found_role = roles.get(role)
        if isinstance(found_role, Special):
            mods[role] = found_role.n
        elif isinstance(found_role, Imm):
            mods[role] = found_role.bits
        elif isinstance(found_role, Name):
            mods[role] = found_role.value
        elif isinstance(found_role, Reg):
            sources.append(Source("reg", found_role.n))
            mods[f"{role}_register"] = 1
    if "s" in roles:
        values["predicates"] = (r.predicate("s"),)
    if "p" in roles:
        values["results"] = (r.result("p"),)
    values["sources"] = tuple(sources)
    return Step(
        step.index, step.address, step.op, guard=step.guard, **values  # type: ignore[arg-type]
    )  # fmt: skip


_STAGE_SOURCES = {
    "ALD": "c", "AST": ("c", "data"), "IPA": "bc", "AL2P": "a", "OUT": "ab", "ISBERD": "", "PIXLD": "",
}  # fmt: skip
"""Instructions of stages of graphics with the roles of their sources."""


def _stage_step(r: _Reader, step: Step) -> Step:
    """A step that reads or writes attributes, or asks about pixels."""
    mods = {name: r.raw(name) for name in ("op", "sample", "sat", "size", "o", "mode")} | {"p": int(r.has(".P"))}
    address = r.roles.get("addr")
    base, offset = RZ, r.roles.get("offset")
    at = int(offset.value) if isinstance(offset, Imm) else 0
    if isinstance(address, Attr | Mem):
        base, at = RZ if address.register is None else address.register, address.offset
    sources = tuple(r.source(role) for role in _STAGE_SOURCES[step.op])
    results = (r.result("p"),) if step.op in ("AL2P", "PIXLD") else ()
    return replace(step, mods=mods, dest=r.register("d"), results=results, sources=sources, base=base, offset=at)


def step_of(program: Program, index: int) -> Step:
    """Instruction number `index` of a program; its name is NVIDIA's."""
    return replace(_step_of(program, index), name=program[index].op)


def _step_of(program: Program, index: int) -> Step:
    r = _Reader(program[index])
    op = _SAME.get(r.instruction.op, r.instruction.op)
    step = _common(r, index, op)
    texture = texture_call(op, r)
    if texture is not None:
        results = (r.result("p"),) if "p" in r.roles else ()
        return replace(step, op="TEX", results=results, texture=texture)
    if op in _STAGE_SOURCES:
        return _stage_step(r, step)
    if op not in OPERATIONS:
        name = r.instruction.op
        step = _rest(r, step, program)
        if name in ("LDG", "STG"):
            step.mods["space"] = 1  # type: ignore[index]
        return step
    mods, sources, predicates = _arithmetic(r, op)
    known = OPERATIONS[op].mods
    return Step(
        index,
        step.address,
        op,
        {name: value for name, value in mods.items() if name in known},
        r.register("d"),
        _results(r, op),
        tuple(sources),
        tuple(predicates),
        step.guard,
        cc=bool(r.raw("d.cc")),
    )
