"""Steps of arithmetic: how an instruction's modifiers and operands become those of its semantics.

An operation without a rule here takes modifiers and operands as they are. Others have a rule, a function that changes
what is different.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.operand import PT, Imm, Pred
from pocketgpu.maxwell.sass.program.step_reader import Reader
from pocketgpu.maxwell.sass.program.steps import WHOLE_QUAD, OperandSource, Predicate
from pocketgpu.maxwell.sass.semantics import OPERATIONS

_RENAMED = {"type": "signed", "fmz": "ftz", "merge": "out", "cc_test": "test"}
"""Modifiers that semantics call by another name."""
_PREDICATES = range(PT)
"""All predicates that can be written."""
_SIGNED_HALF, _HALF = 12, 4
"""Types of a video operand: the lower half of a register, with sign and without."""
_ALL_BYTES = 4
"""The selection of VABSDIFF4 that takes the bytes as they are."""


@dataclass
class Parts:
    """What a rule changes: modifiers, sources and predicates of the operation."""

    mods: dict[str, int]
    sources: list[OperandSource]
    predicates: list[Predicate]


Rule = Callable[[Reader, Parts], None]
_RULES: dict[str, Rule] = {}


def _rule(*operations: str) -> Callable[[Rule], Rule]:
    """Enter a function as the rule of operations."""

    def enter(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(operations, rule))
        return rule

    return enter


def parts_of(r: Reader, op: str) -> Parts:
    """Modifiers, sources and predicates of an operation of the table of semantics."""
    roles = r.roles
    sources = [r.source(role) for role in "abc" if role in roles and not isinstance(roles[role], Pred)]
    predicates = [r.predicate("s")] if "s" in roles else []
    parts = Parts(r.modifiers(_RENAMED), sources, predicates)
    rule = _RULES.get(op)
    if rule is not None:
        rule(r, parts)
    known = OPERATIONS[op].mods
    parts.mods = {name: value for name, value in parts.mods.items() if name in known}
    return parts


def results_of(r: Reader, op: str) -> tuple[int, ...]:
    """Predicates that an operation writes, in the order of its results."""
    if op == "R2P":
        return tuple(_PREDICATES)
    count = OPERATIONS[op].dest.count("p")
    return tuple(r.result(role) for role in ("p", "q")[:count])


def _negate(p: Parts, which: Callable[[int], bool]) -> None:
    """Have .PO negate some of the sources, and no others."""
    p.sources = [replace(source, negated=which(n), absolute=False) for n, source in enumerate(p.sources)]


# -- integers ----------------------------------------------------------------------------------------------------------
@_rule("IADD")
def _iadd(r: Reader, p: Parts) -> None:
    if r.has(".PO"):
        _negate(p, lambda n: True)


@_rule("ISCADD")
def _iscadd(r: Reader, p: Parts) -> None:
    _iadd(r, p)
    p.sources.append(r.source("shift"))


@_rule("IADD3")
def _iadd3(r: Reader, p: Parts) -> None:
    p.mods |= {f"part_{role}": r.raw(f"{role}.part") for role in "abc"}


@_rule("LEA")
def _lea(r: Reader, p: Parts) -> None:
    p.mods["hi"] = int(r.has(".HI"))
    p.sources = [r.source(role) for role in ("a", "b", "c", "shift")]


def _signs(p: Parts) -> None:
    """One field says of both factors whether they have a sign."""
    types = p.mods.pop("types")
    p.mods |= {"signed_a": types & 1, "signed_b": types >> 1}


@_rule("XMAD")
def _xmad(r: Reader, p: Parts) -> None:
    _signs(p)
    p.mods |= {"half_a": r.raw("a.part"), "half_b": r.raw("b.part")}


@_rule("IMAD", "IMUL")
def _imad(r: Reader, p: Parts) -> None:
    _signs(p)
    if r.has(".PO"):
        p.sources = [replace(source, negated=n != 1) for n, source in enumerate(p.sources)]


@_rule("IMADSP")
def _imadsp(r: Reader, p: Parts) -> None:
    p.mods |= {f"kind_{role}": p.mods.pop(f"type_{role}") for role in "abc"}
    # The two lower bits of the third one say twice whether it has a sign.
    kind = p.mods["kind_c"]
    p.mods["kind_c"] = kind >> 2 << 1 | bool(kind & 3)


# -- bits --------------------------------------------------------------------------------------------------------------
@_rule("LOP3")
def _lop3(r: Reader, p: Parts) -> None:
    p.mods["table"] = (r.number("lut") or 0) & 0xFF


@_rule("SHR")
def _shr(r: Reader, p: Parts) -> None:
    p.mods["x"] = int(p.mods["x"] >= 2)


@_rule("SHF")
def _shf(r: Reader, p: Parts) -> None:
    p.mods["right"] = int(r.has(".R"))
    p.mods["hi"] = p.mods.pop("x") & 1
    p.mods["type"] = p.mods.pop("signed")


@_rule("MOV")
def _mov(r: Reader, p: Parts) -> None:
    mask = r.number("mask")
    p.mods["mask"] = WHOLE_QUAD if mask is None else mask


@_rule("PSETP", "PSET")
def _pset(r: Reader, p: Parts) -> None:
    p.predicates, p.sources = [r.predicate(role) for role in ("a", "b", "s")], []


@_rule("P2R", "R2P")
def _p2r(r: Reader, p: Parts) -> None:
    p.mods["cc"] = r.raw("from") | r.raw("to")  # each form has one of them
    p.mods["byte"] = p.mods.get("byte", r.raw("a.part"))
    p.predicates = [Predicate(n) for n in _PREDICATES]


# -- conversions and functions -----------------------------------------------------------------------------------------
@_rule("I2I", "I2F")
def _from_integer(r: Reader, p: Parts) -> None:
    p.mods["part"] = r.raw("b.part")


@_rule("F2I", "F2F")
def _from_float(r: Reader, p: Parts) -> None:
    # An immediate half is one number, whatever half is asked for.
    p.mods["half"] = 0 if isinstance(r.roles["b"], Imm) else r.raw("b.part")


@_rule("MUFU", "RRO")
def _mufu(r: Reader, p: Parts) -> None:
    p.mods["fn"] = p.mods.pop("op")


@_rule("FSWZADD")
def _fswzadd(r: Reader, p: Parts) -> None:
    p.sources.append(OperandSource("imm", bits=r.raw("mask")))


# -- halves ------------------------------------------------------------------------------------------------------------
@_rule("HADD2", "HMUL2", "HFMA2", "HSET2", "HSETP2")
def _halves(r: Reader, p: Parts) -> None:
    """Sources are pairs of halves; two halves in the instruction are one word."""
    p.sources = []
    for role in "abc":
        if role == "b" and "bh" in r.roles:
            high, low = r.number("bh") or 0, r.number("bl") or 0
            p.sources.append(OperandSource("imm", bits=(high & 0xFFFF) << 16 | low & 0xFFFF))
        elif role in r.roles:
            p.sources.append(r.source(role))
            # A constant has no swizzle: it is an f32 for both halves.
            plain = f"{role}.part" not in r.row.fields
            p.mods[f"swizzle_{role}"] = 1 if plain else r.raw(f"{role}.part")


@_rule("HADD2", "HMUL2", "HFMA2")
def _merged_halves(r: Reader, p: Parts) -> None:
    """The result may leave a half of the destination as it is."""
    _halves(r, p)
    p.sources.append(OperandSource("reg", r.register("d")))


# -- video -------------------------------------------------------------------------------------------------------------
@_rule("VABSDIFF", "VMNMX", "VSET", "VSETP")
def _video(r: Reader, p: Parts) -> None:
    """A number in the instruction has 16 bits: it is a half, with sign or without."""
    _half_number(r, p, _SIGNED_HALF if p.mods.get("type_b", 0) else _HALF)


@_rule("VADD")
def _vadd(r: Reader, p: Parts) -> None:
    if r.has(".PO"):
        _negate(p, lambda n: n < 2)
    _video(r, p)


@_rule("VMAD")
def _vmad(r: Reader, p: Parts) -> None:
    if r.has(".PO"):
        _negate(p, lambda n: n != 1)
    _video(r, p)


@_rule("VSHL", "VSHR")
def _vshift(r: Reader, p: Parts) -> None:
    """How far to shift has no sign."""
    p.mods["type_b"] = p.mods.get("type_b", 0) & 7
    _half_number(r, p, _HALF)


def _half_number(r: Reader, p: Parts, kind: int) -> None:
    number = r.number("b")
    if number is not None:
        p.mods["type_b"] = kind
        minus = bool(r.raw("b.minus")) or p.sources[1].negated
        p.sources[1] = OperandSource("imm", bits=number & 0xFFFF, negated=minus)


@_rule("VABSDIFF4")
def _vabsdiff4(r: Reader, p: Parts) -> None:
    select_b = r.raw("b.part") if "b.part" in r.row.fields else _ALL_BYTES
    p.mods |= {"select_a": r.raw("a.part"), "select_b": select_b}
    number = r.number("b")
    if number is not None:
        p.sources[1] = OperandSource("imm", bits=(number & 0xFF) * 0x01010101)


__all__ = ["Parts", "parts_of", "results_of"]
