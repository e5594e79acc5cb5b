"""The table of instructions as text for people: how each form is written, and where its fields are."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.maxwell.sass import ENUMS, FORMS, Form, Modifier, OperandField

_SHOWN = {
    "R": "R0", "P": "P0", "I": "0x1", "U": "0x1", "N": "1", "F": "1.0", "D": "1.0", "H": "1.0", "C": "c[0x0][0x0]",
    "CS": "c[0x0] [0x0]", "K": "c[0x0][R0+0x0]", "M": "[R0+0x0]", "A": "a[R0+0x0]", "T": "label", "RX": "R0 0x0",
    "S": "SR_TID.X", "V": "R0, R1", "B": "{0}", "Q": "PPPPPPPP",
}  # fmt: skip


def syntax(form: Form) -> str:
    """How a form is written, with what may be left out in brackets."""
    text = form.op + "".join(_modifier(one) for one in form.modifiers)
    operands = []
    for field in form.operands:
        shown = _operand(field)
        operands.append(f"[{shown}]" if field.attribute("opt") else shown)
    return f"{text} {', '.join(operands)}".rstrip()


def _modifier(one: Modifier) -> str:
    if one.bits is None:
        return f".{one.name}"
    if not one.printed:
        return ""
    if one.enum is None:
        return f"[.{one.name.upper()}]"
    return f".{one.name}"


def _operand(field: OperandField) -> str:
    if field.kind == "L":
        return field.literal
    if field.kind == "X":
        return field.role
    signs = "".join(sign for sign, name in (("!", "not"), ("-", "neg"), ("~", "inv")) if field.attribute(name))
    core = f"{field.role}:{_SHOWN[field.kind]}"
    core = f"|{core}|" if field.attribute("abs") else core
    tail = "".join(f"[.{name}]" for name in ("part", "cc") if field.attribute(name))
    return (f"[{signs}]" if signs else "") + core + tail


def fields(form: Form) -> Iterator[tuple[str, str, str]]:
    """(name, bits, what it can be) of each field of a form; bits from 64 up are of the control word."""
    enums = {one.name: one.enum.name for one in form.modifiers if one.enum is not None}
    for operand in form.operands:
        if operand.enum is not None:
            enums[operand.role] = operand.enum.name
        enums |= {f"{operand.role}.{one.name}": one.enum for one in operand.attributes if one.enum is not None}
    for name, bits in form.fields.items():
        yield name, str(bits), enums.get(name, "")


def members(enum: str) -> str:
    """Values of an enumeration in one line; values that mean nothing are left out."""
    known = (member for member in ENUMS[enum].listed if member is not None)
    return ", ".join(f"{m.value} {m.name}" for m in known if not m.name.startswith(("INVALID", "???")))


def forms(op: str | None = None) -> list[Form]:
    """All forms, or those of a mnemonic."""
    return [form for form in FORMS.values() if op is None or form.op == op]


def lines(form: Form) -> Iterator[str]:
    """The description of a form."""
    yield f"{form.name:14} {form.value & form.mask:016x} & {form.mask:016x}"
    yield f"    {'@P0 ' if form.guarded else ''}{syntax(form)}"
    for name, bits, enum in fields(form):
        yield f"    {name:12} {bits:14} {members(enum) if enum else ''}".rstrip()
