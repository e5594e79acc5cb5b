"""The instruction set of macros as one table, from which interpreter, assembler and disassembler derive.

An instruction computes a result (`OPERATIONS`, with `FUNCTIONS` for the one that works on registers) and says what is
done with it (`RESULTS`), or it is a branch. Any of them may carry the exit bit.

Source: the envytools project's disassembler and simulators of this GPU agree on this. NVIDIA has published nothing
about it; its document on the MME of Turing GPUs describes another instruction set.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.facts.dialect.registers import Field
from pocketgpu.lanes import Lang, Value
from pocketgpu.late_dataclass import dataclass

REGISTERS = 8  # register 0 reads 0 and keeps nothing

FIELDS = {
    field.name: field
    for field in (
        Field("op", 0, 3),
        Field("zero", 3, 1),
        Field("result", 4, 3),
        Field("exit", 7, 1),
        Field("rd", 8, 3),
        Field("ra", 11, 3),
        Field("rb", 14, 3),
        Field("immediate", 14, 18, "sint"),
        Field("function", 17, 5),
        Field("source", 17, 5),
        Field("size", 22, 5),
        Field("target", 27, 5),
        # of a branch, where other instructions say what is done with the result
        Field("not_zero", 4, 1),
        Field("annul", 5, 1),
    )
}
"""The fields of an instruction word. `source`, `size` and `target` are bit positions and counts."""

REGISTER_FIELDS = ("rd", "ra", "rb")

# The parts of a value that sets the method address.
METHOD_ADDRESS = Field("address", 0, 12)
METHOD_STEP = Field("step", 12, 6)

Compute = Callable[[Lang, Value, Value, Value], tuple[Value, Value]]
"""(k, a, b, carry) to (result, new carry); carry is 0 or 1."""


def _sum(k: Lang, a: Value, b: Value, carry: Value) -> tuple[Value, Value]:
    """a + b + carry in unsigned 32 bits, and what is carried out of them."""
    total = k.to_i64(a, signed=False) + k.to_i64(b, signed=False) + k.to_i64(carry)
    return k.low32(total), k.low32(total.lsr(32))


@dataclass(frozen=True, slots=True)
class Function:
    """What operation 0 does with the registers Ra and Rb."""

    code: int
    name: str
    compute: Compute
    doc: str


FUNCTIONS = (
    Function(0, "add", lambda k, a, b, c: _sum(k, a, b, k.i32(0)), "Ra + Rb"),
    Function(1, "addc", lambda k, a, b, c: _sum(k, a, b, c), "Ra + Rb + carry"),
    Function(2, "sub", lambda k, a, b, c: _sum(k, a, ~b, k.i32(1)), "Ra - Rb; carry: no borrow"),
    Function(3, "subb", lambda k, a, b, c: _sum(k, a, ~b, c), "Ra - Rb - not carry; carry: no borrow"),
    Function(8, "xor", lambda k, a, b, c: (a ^ b, c), "Ra ^ Rb"),
    Function(9, "or", lambda k, a, b, c: (a | b, c), "Ra | Rb"),
    Function(10, "and", lambda k, a, b, c: (a & b, c), "Ra & Rb"),
    Function(11, "andn", lambda k, a, b, c: (a & ~b, c), "Ra & ~Rb"),
    Function(12, "nand", lambda k, a, b, c: (~(a & b), c), "~(Ra & Rb)"),
)
FUNCTION_CODES = 32
FUNCTION = {function.name: function for function in FUNCTIONS}
FUNCTION_AT = {function.code: function for function in FUNCTIONS}


def _mask(k: Lang, size: Value) -> Value:
    return (k.i32(1) << size) - 1


@dataclass(frozen=True, slots=True)
class Operation:
    """A way to compute a result. `fields`: the fields that it uses apart from `op`, `result`, `exit` and `rd`.

    compute(k, word, a, b) gives the result; operations that need more than that have none. shifts: whether it shifts by
    the lower 5 bits of Ra. forms: how it is written, with fields in braces; fields that a form leaves out are 0. The
    disassembler writes the first form that fits.
    """

    code: int
    name: str
    fields: tuple[str, ...]
    forms: tuple[str, ...]
    doc: str
    compute: Callable[[Lang, Value, Value, Value], Value] | None = None
    shifts: bool = False


def get(word: Value, name: str) -> Value:
    """A field of an instruction word, in a kernel."""
    field = FIELDS[name]
    return word.bits(field.lo, field.width, signed=field.type == "sint")


def _insert(k: Lang, word: Value, a: Value, b: Value) -> Value:
    mask, target = _mask(k, get(word, "size")), get(word, "target")
    return (a & ~(mask << target)) | ((b.lsr(get(word, "source")) & mask) << target)


OPERATIONS = (
    Operation(0, "function", ("function", "ra", "rb"), ("{function}({ra}, {rb})",), "one of FUNCTIONS of Ra and Rb"),
    Operation(
        1, "add_immediate", ("ra", "immediate"), ("{immediate}", "{ra}", "{ra} + {immediate}"),
        "Ra + immediate; carry stays",
        lambda k, word, a, b: a + get(word, "immediate"),
    ),
    Operation(
        2, "insert", ("ra", "rb", "source", "size", "target"),
        ("extract({rb}, {source}, {size})", "extract({rb}, {source}, {size}, {target})",
         "insert({ra}, {rb}, {source}, {size}, {target})"),
        "Ra, with `size` bits at `target` replaced by those of Rb at `source`", _insert,
    ),
    Operation(
        3, "extract_at", ("ra", "rb", "size", "target"),
        ("extract({rb}, {ra}, {size})", "extract({rb}, {ra}, {size}, {target})"),
        "`size` bits of Rb at position Ra, shifted left by `target`",
        lambda k, word, a, b: (b.lsr(a) & _mask(k, get(word, "size"))) << get(word, "target"), True,
    ),
    Operation(
        4, "extract_shifted", ("ra", "rb", "source", "size"), ("extract({rb}, {source}, {size}, {ra})",),
        "`size` bits of Rb at position `source`, shifted left by Ra",
        lambda k, word, a, b: (b.lsr(get(word, "source")) & _mask(k, get(word, "size"))) << a, True,
    ),
    Operation(
        5, "read", ("ra", "immediate"), ("read({immediate})", "read({ra})", "read({ra} + {immediate})"),
        "state of the class at word Ra + immediate",
    ),
    Operation(7, "branch", ("ra", "immediate", "not_zero", "annul"), (), "if Ra is (not) zero, go so many words on"),
)  # fmt: skip
OPERATION = {operation.name: operation for operation in OPERATIONS}
OPERATION_AT = {operation.code: operation for operation in OPERATIONS}
OPERATION_CODES = 8
BRANCH = OPERATION["branch"].code


@dataclass(frozen=True, slots=True)
class Result:
    """What is done with a result.

    form: how it is written, with "{rd}" for the register and "{e}" for the expression. A register 0 before a comma may
    be left out, except after "mov". fetches: whether one parameter is fetched. parameter_to_rd: whether Rd gets that
    instead of the result. sets_method: whether the result becomes method address and step. sends: what is sent to the
    method, "result", "parameter" or "step".
    """

    code: int
    form: str
    doc: str
    fetches: bool = False
    parameter_to_rd: bool = False
    sets_method: bool = False
    sends: str = ""


RESULTS = (
    Result(0, "parm {rd} drop {e}", "Rd = parameter; the result is dropped", True, True),
    Result(1, "mov {rd}, {e}", "Rd = result"),
    Result(2, "maddr {rd}, {e}", "Rd = method address = result", sets_method=True),
    Result(3, "parm {rd} send {e}", "send the result; Rd = parameter", True, True, sends="result"),
    Result(4, "send {rd}, {e}", "Rd = result; send it", sends="result"),
    Result(5, "parm {rd} maddr {e}", "method address = result; Rd = parameter", True, True, True),
    Result(6, "maddr {rd}, {e} send parm", "Rd = method address = result; send a parameter",
           fetches=True, sets_method=True, sends="parameter"),
    Result(7, "maddrsend {rd}, {e}", "Rd = method address = result; send its step", sets_method=True, sends="step"),
)  # fmt: skip


def result_mask(which: Callable[[Result], bool]) -> int:
    """A set of result codes with a property, as a bit for each."""
    return sum(1 << result.code for result in RESULTS if which(result))


NOP = 0x00000011
"""Register 0 = register 0 + 0."""

__all__ = [
    "BRANCH", "FIELDS", "FUNCTION", "FUNCTIONS", "FUNCTION_AT", "FUNCTION_CODES", "METHOD_ADDRESS",
    "METHOD_STEP", "NOP", "OPERATION", "OPERATIONS", "OPERATION_AT", "OPERATION_CODES", "REGISTERS", "RESULTS",
    "Function", "Operation", "Result", "get", "result_mask",
]  # fmt: skip
