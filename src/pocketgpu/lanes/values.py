"""The values of lane code, their types, and their operators. What an operation means is in `language`.

A `Value` never changes. What changes inside loops and branches is a `Var` or an `Array`: the Python of a traced kernel
runs once, while its machine code runs a loop many times.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pocketgpu.lanes.language import Lang


class LaneError(TypeError):
    """A kernel uses something that the language does not allow; the message holds its file, line and source text."""


class Type:
    """A value or memory type. `value` is the type a load gives: narrow integers widen to I32."""

    __slots__ = ("bits", "bytes", "is_int", "kind", "name", "signed", "value")

    def __init__(self, name: str, kind: str, bits: int, signed: bool = True, value: Type | None = None) -> None:
        self.name, self.kind, self.bits, self.signed = name, kind, bits, signed
        self.bytes, self.is_int, self.value = bits // 8, kind == "int", value or self

    def __repr__(self) -> str:
        return self.name


I32 = Type("i32", "int", 32)
BOOL = Type("bool", "bool", 1, value=I32)
I64 = Type("i64", "int", 64)
F32 = Type("f32", "float", 32)
F64 = Type("f64", "float", 64)
U8 = Type("u8", "memory", 8, signed=False, value=I32)
I8 = Type("i8", "memory", 8, value=I32)
U16 = Type("u16", "memory", 16, signed=False, value=I32)
I16 = Type("i16", "memory", 16, value=I32)

Operand = Any  # a Value, or a Python number that takes the other operand's type


Line = tuple[str, int]
"""A line of source: file and number."""
_HERE = __name__.rpartition(".")[0] + "."


def place() -> Line:
    """The innermost line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def text_of(line: Line) -> str:
    """A line as "file:line: source text"."""
    file, number = line
    return f"{file}:{number}: {linecache.getline(file, number).strip()}"


def fail(message: str) -> LaneError:
    """A LaneError that names the innermost line outside this package."""
    return LaneError(f"{message}\n  in {text_of(place())}")


class Value:
    """One value of a kernel: `type`, `lanes` (1 for a scalar) and the evaluator's own `raw` form."""

    __slots__ = ("k", "lanes", "raw", "type")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy numbers on the left must defer to our operators

    def __init__(self, k: Lang, raw: Any, type: Type, lanes: int) -> None:
        self.k, self.raw, self.type, self.lanes = k, raw, type, lanes

    def __repr__(self) -> str:
        return f"<{self.lanes} x {self.type}>" if self.lanes > 1 else f"<{self.type}>"

    def __bool__(self) -> bool:
        raise fail("a lane value has no Python truth: use k.select for lanes, k.when or k.branch for scalars")

    def __add__(self, o: Operand) -> Value:
        return self.k.binary("add", self, o)

    def __radd__(self, o: Operand) -> Value:
        return self.k.binary("add", o, self)

    def __sub__(self, o: Operand) -> Value:
        return self.k.binary("sub", self, o)

    def __rsub__(self, o: Operand) -> Value:
        return self.k.binary("sub", o, self)

    def __mul__(self, o: Operand) -> Value:
        return self.k.binary("mul", self, o)

    def __rmul__(self, o: Operand) -> Value:
        return self.k.binary("mul", o, self)

    def __truediv__(self, o: Operand) -> Value:
        return self.k.binary("div", self, o)

    def __rtruediv__(self, o: Operand) -> Value:
        return self.k.binary("div", o, self)

    def __and__(self, o: Operand) -> Value:
        return self.k.binary("and", self, o)

    def __rand__(self, o: Operand) -> Value:
        return self.k.binary("and", o, self)

    def __or__(self, o: Operand) -> Value:
        return self.k.binary("or", self, o)

    def __ror__(self, o: Operand) -> Value:
        return self.k.binary("or", o, self)

    def __xor__(self, o: Operand) -> Value:
        return self.k.binary("xor", self, o)

    def __rxor__(self, o: Operand) -> Value:
        return self.k.binary("xor", o, self)

    def __lshift__(self, o: Operand) -> Value:
        return self.k.binary("shl", self, o)

    def __rlshift__(self, o: Operand) -> Value:
        return self.k.binary("shl", o, self)

    def __rshift__(self, o: Operand) -> Value:
        """Arithmetic shift: the sign bit is repeated. See `lsr` for the logical one."""
        return self.k.binary("ashr", self, o)

    def __rrshift__(self, o: Operand) -> Value:
        return self.k.binary("ashr", o, self)

    def lsr(self, o: Operand) -> Value:
        """Logical shift right: zeros come in at the top."""
        return self.k.binary("lshr", self, o)

    def __invert__(self) -> Value:
        return self.k.binary("xor", self, True if self.type is BOOL else -1)

    def __neg__(self) -> Value:
        return self.k.neg(self)

    def __eq__(self, o: Operand) -> Value:  # type: ignore[override]
        return self.k.compare("eq", self, o)

    def __ne__(self, o: Operand) -> Value:  # type: ignore[override]
        return self.k.compare("ne", self, o)

    def __lt__(self, o: Operand) -> Value:
        return self.k.compare("lt", self, o)

    def __le__(self, o: Operand) -> Value:
        return self.k.compare("le", self, o)

    def __gt__(self, o: Operand) -> Value:
        return self.k.compare("gt", self, o)

    def __ge__(self, o: Operand) -> Value:
        return self.k.compare("ge", self, o)

    def below(self, o: Operand) -> Value:
        """Unsigned less-than of integers."""
        return self.k.compare("ult", self, o)

    def bits(self, lo: int, width: int, signed: bool = False) -> Value:
        """The field of `width` bits at bit `lo` of an I32, zero- or sign-extended."""
        if self.type is not I32 or lo < 0 or width < 1 or lo + width > 32:
            raise fail(f"no {width} bits at bit {lo} of {self!r}")
        if signed:
            return (self << (32 - lo - width)) >> (32 - width)
        top = self.lsr(lo) if lo else self
        return top if lo + width == 32 else top & ((1 << width) - 1)


class Var:
    """A variable that code inside loops and branches may change: read `v.value`, assign `v.value = ...`."""

    __slots__ = ("k", "lanes", "slot", "type")

    def __init__(self, k: Lang, slot: Any, type: Type, lanes: int) -> None:
        self.k, self.slot, self.type, self.lanes = k, slot, type, lanes

    @property
    def value(self) -> Value:
        return self.k._get(self)

    @value.setter
    def value(self, new: Operand) -> None:
        self.k._set(self, self.k.fit(new, self.type, self.lanes))


class Array:
    """A small array of values, private to one run of the kernel.

    A static index is checked while tracing. A scalar i32 index is checked by the NumPy evaluator only: keeping it in
    range is the kernel's duty, because machine code would access memory after the array.
    """

    __slots__ = ("k", "lanes", "size", "slot", "type")

    def __init__(self, k: Lang, slot: Any, size: int, type: Type, lanes: int) -> None:
        self.k, self.slot, self.size, self.type, self.lanes = k, slot, size, type, lanes

    def _index(self, i: int | Value) -> Value:
        if not isinstance(i, Value):
            if not 0 <= i < self.size:
                raise fail(f"array index {i} outside 0..{self.size - 1}")
            return self.k.const(i, I32)
        if i.lanes != 1 or i.type is not I32:
            raise fail(f"an array index must be a scalar i32, not {i!r}")
        return i

    def __getitem__(self, i: int | Value) -> Value:
        return self.k._array_get(self, self._index(i))

    def __setitem__(self, i: int | Value, new: Operand) -> None:
        self.k._array_set(self, self._index(i), self.k.fit(new, self.type, self.lanes))
