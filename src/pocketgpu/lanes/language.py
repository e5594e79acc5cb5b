"""The words of lane code: types, values, variables, memory and control flow, shared by both evaluators.

Everything that a kernel calls is checked here. So a mistake gives the same error under NumPy and under LLVM, and the
error names the line of the kernel. What an operation *does* is left to the evaluator (`primitives.py`).

Rules that make both evaluators agree bit for bit, except for the bits of NaN results:

* 32-bit and 64-bit integers wrap; shift counts are taken modulo the width.
* Floats are IEEE binary32 and binary64 in round-to-nearest, never contracted or reordered; constants round the same
  way. `fma` rounds once, on every host.
* Which NaN an arithmetic result is (its sign and payload) is open: CPUs differ. Moving, selecting, negating and
  reinterpreting a value keep its bits.
* `min`/`max` are a compare and a select, so operand order decides about NaN and signed zero: `max(a, b)` is
  `a if a > b else b`.
* Float to integer conversion takes bounds: the value is clamped to them, then truncated; NaN gives the lower bound.
* Control flow depends on scalars only; lanes differ through masks and `select`.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from pocketgpu.lanes import fused
from pocketgpu.lanes.primitives import Jump, Next, Primitives
from pocketgpu.lanes.values import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    Array,
    LaneError,
    Line,
    Operand,
    Type,
    Value,
    Var,
    fail,
    place,
    text_of,
)

_ARRAY_BYTES = 1 << 16  # arrays live on the stack, and a thread's stack can be as small as 512 KiB
OPERATIONS = {
    "float": ("add", "sub", "mul", "div"),
    "int": ("add", "sub", "mul", "and", "or", "xor", "shl", "ashr", "lshr"),
    "bool": ("and", "or", "xor"),
}
ATOMICS = ("add", "and", "or", "xor", "min", "max", "umin", "umax", "xchg")


class Lang(Primitives):
    """The operations of a kernel. `k.lanes` is the number of lanes; offsets are bytes from the start of the arena."""

    lanes: int
    numpy = False
    register_lanes: int
    """Lanes of 32 bits that a register of the host holds. A kernel with more lanes may take them in parts of so many,
    whose values stay in registers. NumPy takes all lanes at once."""
    fused = False
    """Whether the host has a fused multiply-add; `fma` computes it with integers where it has none."""
    halves = False
    """Whether the host converts to floats of 16 bits; without that there is no `to_half`."""

    def __init__(self, lanes: int) -> None:
        self.lanes = self.register_lanes = lanes
        self._open: list[tuple[str, Line]] = []  # (kind, place) of the control flow being written
        self._graphs: list[tuple[int, int]] = []  # (constructs open in a block, blocks) of the graphs being written

    # -- constants and coercion ---------------------------------------------------------------------------------
    def const(self, x: float | int | bool, type: Type, lanes: int = 1) -> Value:
        """A constant of `type`; integers wrap into it, floats round to the nearest f32 (infinity beyond its range)."""
        return self._const(self._number(x, type), type, lanes)

    def _number(self, x: Any, type: Type) -> Any:
        """`x` as a Python number that `type` holds exactly."""
        if type.is_int:
            try:
                x = operator.index(x) & ((1 << type.bits) - 1)
            except TypeError:
                raise fail(f"{x!r} is no integer constant") from None
            return x - ((x >> (type.bits - 1)) << type.bits)
        if isinstance(x, Value) or type not in (F32, F64, BOOL):
            raise fail(f"{x!r} is no constant of type {type}")
        if type is BOOL:
            if x not in (0, 1):
                raise fail(f"{x!r} is no bool constant")
            return bool(x)
        try:
            x = float(x)
            if type is F64:
                return x
            return struct.unpack("<f", struct.pack("<f", x))[0]
        except OverflowError:  # beyond f32, or an integer beyond even f64
            return float("inf") if x > 0 else float("-inf")
        except (TypeError, ValueError):
            raise fail(f"{x!r} is no float constant") from None

    def i32(self, x: int) -> Value:
        return self.const(x, I32)

    def i64(self, x: int) -> Value:
        return self.const(x, I64)

    def f32(self, x: float) -> Value:
        return self.const(x, F32)

    def pattern(self, xs: Sequence[int] | Sequence[float], type: Type = I32) -> Value:
        """A lane vector with these constants, one for each lane (repeated when there are more lanes)."""
        if not len(xs):
            raise fail("an empty pattern")
        return self.pattern_of([xs[i % len(xs)] for i in range(self.lanes)], type)

    def pattern_of(self, xs: Sequence[int] | Sequence[float], type: Type = I32) -> Value:
        """A vector of exactly these constants, whatever the kernel's lane count."""
        if not len(xs):
            raise fail("an empty pattern")
        return self._pattern([self._number(x, type) for x in xs], type)

    def iota(self) -> Value:
        """The lane numbers 0, 1, 2, ..."""
        return self._pattern(list(range(self.lanes)), I32)

    def splat(self, v: Operand, lanes: int | None = None, type: Type = I32) -> Value:
        """A scalar repeated over all lanes."""
        return self.fit(v, v.type if isinstance(v, Value) else type, lanes or self.lanes)

    def fit(self, v: Operand, type: Type, lanes: int) -> Value:
        """`v` as a value of exactly this type and lane count (numbers become constants, scalars are repeated)."""
        if not isinstance(v, Value):
            return self.const(v, type, lanes)
        if v.type is not type:
            raise fail(f"expected {type}, got {v!r}")
        if v.lanes == lanes:
            return v
        if v.lanes != 1:
            raise fail(f"{v!r} does not fit into {lanes} lanes")
        return self._splat(v, lanes)

    def _pair(self, what: str, a: Operand, b: Operand) -> tuple[Value, Value]:
        if not isinstance(b, Value):
            if not isinstance(a, Value):
                raise fail(f"{what} needs at least one lane value")
            if isinstance(b, float) and a.type.kind != "float":
                raise fail(f"{what} of {a!r} and the Python float {b}")
            return a, self.const(b, a.type, a.lanes)
        if not isinstance(a, Value):
            if isinstance(a, float) and b.type.kind != "float":
                raise fail(f"{what} of the Python float {a} and {b!r}")
            return self.const(a, b.type, b.lanes), b
        if a.type is not b.type:
            raise fail(f"{what} of {a!r} and {b!r}: convert one of them first")
        n = max(a.lanes, b.lanes)
        if a.lanes not in (1, n) or b.lanes not in (1, n):
            raise fail(f"{what} of {a!r} and {b!r}: lane counts differ")
        return (a if a.lanes == n else self._splat(a, n)), (b if b.lanes == n else self._splat(b, n))

    # -- arithmetic ---------------------------------------------------------------------------------------------
    def binary(self, op: str, a: Operand, b: Operand) -> Value:
        a, b = self._pair(op, a, b)
        if op not in OPERATIONS[a.type.kind]:
            raise fail(f"{op} is not defined for {a.type}")
        return self._binary(op, a, b)

    def compare(self, op: str, a: Operand, b: Operand) -> Value:
        a, b = self._pair(op, a, b)
        if (a.type is BOOL and op not in ("eq", "ne")) or (op == "ult" and not a.type.is_int):
            raise fail(f"{op} is not defined for {a.type}")
        return self._compare(op, a, b)

    def _need(self, what: str, x: Operand, *types: Type) -> Value:
        if not isinstance(x, Value) or x.type not in types:
            raise fail(f"{what} needs {' or '.join(map(str, types))}, got {x!r}")
        return x

    def neg(self, a: Value) -> Value:
        a = self._need("neg", a, F32, F64, I32, I64)
        return self._unary("neg", a) if not a.type.is_int else self.binary("sub", 0, a)

    def floor(self, a: Value) -> Value:
        return self._unary("floor", self._need("floor", a, F32, F64))

    def sqrt(self, a: Value) -> Value:
        """Correctly rounded square root; NaN for negative input."""
        return self._unary("sqrt", self._need("sqrt", a, F32, F64))

    def abs(self, a: Value) -> Value:
        a = self._need("abs", a, F32, F64, I32, I64)
        return self._unary("abs", a) if not a.type.is_int else self.max(a, -a)

    def fma(self, a: Operand, b: Operand, c: Operand) -> Value:
        """a * b + c, rounded once."""
        a, b = self._pair("fma", a, b)
        a, c = self._pair("fma", a, c)
        a, b = self._pair("fma", a, b)
        if a.type.kind != "float":
            raise fail(f"fma is not defined for {a.type}")
        if self.fused:
            return self._fma(a, b, c)
        return fused.fma32(self, a, b, c) if a.type is F32 else fused.fma64(self, a, b, c)

    def to_half(self, a: Value) -> Value:
        """The bits of the nearest float of 16 bits, as an i32. Only if there are `halves`; NaNs may be any."""
        return self._to_half(self._need("to_half", a, F32))

    def popcount(self, a: Value) -> Value:
        """How many bits of an integer are set."""
        return self._unary("ctpop", self._need("popcount", a, I32, I64))

    def leading_zeros(self, a: Value) -> Value:
        """Zero bits above the highest set one; the width for 0."""
        return self._unary("ctlz", self._need("leading_zeros", a, I32, I64))

    def trailing_zeros(self, a: Value) -> Value:
        """Zero bits below the lowest set one; the width for 0."""
        return self._unary("cttz", self._need("trailing_zeros", a, I32, I64))

    def udiv(self, a: Operand, b: Operand) -> Value:
        """Unsigned quotient; 0 where the divisor is 0."""
        a, b = self._pair("udiv", a, b)
        if not a.type.is_int:
            raise fail(f"udiv is not defined for {a.type}")
        zero = b == 0
        return self.select(zero, 0, self._binary("udiv", a, self.select(zero, 1, b)))

    def mul_halves(self, a: Operand, b: Operand) -> Value:
        """A word of two products modulo 65536: of the lower 16 bits of both, and of their upper 16 bits."""
        a, b = self._pair("mul_halves", a, b)
        if a.type is not I32:
            raise fail(f"mul_halves is not defined for {a.type}")
        return self._binary("mul16", a, b)

    def select(self, mask: Value | bool, a: Operand, b: Operand) -> Value:
        """`a` where the mask is true, else `b`. With a Python bool and two values this is decided while tracing."""
        if isinstance(mask, bool) and isinstance(a, Value) and isinstance(b, Value) and a.type is b.type:
            n = max(a.lanes, b.lanes)
            return self.fit(a if mask else b, a.type, n)
        if not isinstance(mask, Value) or mask.type is not BOOL:
            raise fail(f"select needs a bool mask, got {mask!r}")
        if not isinstance(a, Value) and not isinstance(b, Value):
            t = BOOL if isinstance(a, bool) else F32 if isinstance(a, float) or isinstance(b, float) else I32
            a = self.const(a, t)
        a, b = self._pair("select", a, b)
        n = max(a.lanes, mask.lanes)
        mask, a, b = self.fit(mask, BOOL, n), self.fit(a, a.type, n), self.fit(b, b.type, n)
        return self._select(mask, a, b)

    def min(self, a: Operand, b: Operand) -> Value:
        a, b = self._pair("min", a, b)
        return self.select(a < b, a, b)

    def max(self, a: Operand, b: Operand) -> Value:
        a, b = self._pair("max", a, b)
        return self.select(a > b, a, b)

    def clamp(self, x: Value, lo: Operand, hi: Operand) -> Value:
        """Between `lo` and `hi`; NaN becomes `lo`."""
        return self.min(self.max(x, lo), hi)

    # -- conversions --------------------------------------------------------------------------------------------
    def to_i32(self, x: Value, lo: float, hi: float) -> Value:
        """Truncate toward zero after clamping to [lo, hi]; NaN gives `lo`. The bounds must be exact in i32."""
        x = self._need("to_i32", x, F32)
        if not (-2147483648 <= lo <= hi <= 2147483520):
            raise fail(f"bounds {lo}..{hi} do not fit i32")
        return self._convert("f2i", self.clamp(x, float(lo), float(hi)), I32)

    def to_f32(self, x: Value) -> Value:
        """A signed i32 or an f64 (or bool: 0.0 / 1.0) to the nearest f32."""
        x = self._need("to_f32", x, I32, F64, BOOL)
        if x.type is F64:
            return self._convert("fptrunc", x, F32)
        return self.select(x, 1.0, 0.0) if x.type is BOOL else self._convert("i2f", x, F32)

    def bits_f32(self, x: Value) -> Value:
        """The f32 with these 32 bits."""
        return self._convert("bitcast", self._need("bits_f32", x, I32), F32)

    def bits_i32(self, x: Value) -> Value:
        """The 32 bits of an f32."""
        return self._convert("bitcast", self._need("bits_i32", x, F32), I32)

    def to_f64(self, x: Value) -> Value:
        """A signed integer to the nearest f64, or an f32, which fits."""
        x = self._need("to_f64", x, F32, I32, I64)
        return self._convert("fpext" if x.type is F32 else "i2f", x, F64)

    def bits_f64(self, x: Value) -> Value:
        """The f64 with these 64 bits."""
        return self._convert("bitcast", self._need("bits_f64", x, I64), F64)

    def bits_i64(self, x: Value) -> Value:
        """The 64 bits of an f64."""
        return self._convert("bitcast", self._need("bits_i64", x, F64), I64)

    def to_i64(self, x: Value, signed: bool = True) -> Value:
        return self._convert("sext" if signed else "zext", self._need("to_i64", x, I32), I64)

    def low32(self, x: Value) -> Value:
        return self._convert("trunc", self._need("low32", x, I64), I32)

    # -- across lanes -------------------------------------------------------------------------------------------
    def any(self, mask: Value) -> Value:
        return self._reduce("or", self._need("any", mask, BOOL))

    def all(self, mask: Value) -> Value:
        return self._reduce("and", self._need("all", mask, BOOL))

    def reduce(self, op: str, v: Value) -> Value:
        """Scalar minimum ("min"), maximum ("max") or sum ("add") of an i32 over the lanes."""
        if op not in ("min", "max", "add"):
            raise fail(f"reduce knows min, max and add, not {op!r}")
        return self._reduce(op, self._need("reduce", v, I32))

    def ballot(self, mask: Value) -> Value:
        """The mask of 8, 16 or 32 lanes as the bits of an i32, lane 0 lowest."""
        mask = self._need("ballot", mask, BOOL)
        if mask.lanes not in (8, 16, 32):
            raise fail(f"a ballot is of 8, 16 or 32 lanes, not of {mask!r}")
        return self._ballot(mask)

    def mask_of(self, ballot: Value) -> Value:
        """The mask of 32 lanes that has this ballot."""
        ballot = self._need("mask_of", ballot, I32)
        if ballot.lanes != 1:
            raise fail(f"a ballot is a scalar, not {ballot!r}")
        return self._mask_of(ballot)

    def lane(self, v: Value, i: int) -> Value:
        """Lane `i` as a scalar (a scalar is the same in every lane)."""
        if not 0 <= i < max(v.lanes, self.lanes):
            raise fail(f"lane {i} of {v!r}")
        return v if v.lanes == 1 else self._lane(v, i)

    def shuffle(self, a: Value, places: Sequence[int], b: Value | None = None) -> Value:
        """The lanes `places` of `a` (of `a` followed by `b`) as a vector; the places are known while tracing."""
        a, b = self._pair("shuffle", a, a if b is None else b)
        if a.lanes == 1:
            raise fail(f"shuffle of {a!r} and {b!r}")
        if not len(places) or any(not 0 <= p < 2 * a.lanes for p in places):
            raise fail(f"shuffle places {list(places)} outside 0..{2 * a.lanes - 1}")
        if len(places) == 1:
            return self._lane(a if places[0] < a.lanes else b, places[0] % a.lanes)
        return self._shuffle(a, b, list(places))

    # -- memory -------------------------------------------------------------------------------------------------
    def _offset(self, type: Type, o: Operand, lanes: bool) -> Value:
        if type.kind == "bool":
            raise fail("memory holds no bools: store a select of numbers")
        v = o if isinstance(o, Value) else self.const(o, I64)
        if not v.type.is_int:
            raise fail(f"an offset is an integer, not {v!r}")
        if (v.lanes > 1) != lanes:
            words = "gather and scatter take lane" if lanes else "load and store take scalar"
            raise fail(f"{words} offsets, not {v!r}")
        return v

    def load(self, type: Type, offset: Operand, lanes: int = 1) -> Value:
        """`lanes` consecutive elements of memory type `type` from byte `offset` (a multiple of the element size)."""
        return self._load(type, self._offset(type, offset, False), lanes)

    def store(self, type: Type, offset: Operand, v: Operand, mask: Value | None = None) -> None:
        """Store consecutive elements. With a mask the other elements are written back as they were."""
        off = self._offset(type, offset, False)
        n = v.lanes if isinstance(v, Value) else 1
        if mask is not None:
            n = max(n, mask.lanes)
        v = self.fit(v, type.value, n)
        if mask is not None:
            v = self.select(mask, v, self._load_kept(type, off, n))
        self._store(type, off, v)

    def _load_kept(self, type: Type, off: Value, lanes: int) -> Value:
        """What a masked store writes back."""
        return self._load(type, off, lanes)

    def prefetch(self, offset: Value) -> None:
        """Ask for the cache line of an offset, which may be any: it will be loaded or stored soon."""
        self._prefetch(self._offset(I32, offset, False))

    def gather(self, type: Type, offsets: Value, mask: Value | None = None) -> Value:
        """One element for each lane; lanes outside the mask read offset 0, which the arena keeps zero."""
        off = self._offset(type, offsets, True)
        if mask is not None:
            off = self.select(mask, off, 0)
        return self._gather(type, off)

    def gather_words(self, offsets: Value, count: int, base: Operand = 0) -> list[Value]:
        """`count` (2 or 4) consecutive words for each lane, from offset `base` (a scalar) + `offsets` on: a vector for
        each word. Costs hardly more than gathering one word."""
        off, first = self._offset(I32, offsets, True), self._offset(I32, base, False)
        if off.type is not I32 or count not in (2, 4):
            raise fail(f"no gather of {count} words at {off!r}")
        return self._gather_words(off, count, self.low32(first) if first.type is I64 else first)

    def gather_words_at(self, places: Value, lanes: int, count: int, base: Operand = 0) -> list[Value]:
        """`gather_words` of 1, 2 or 4 words, with offsets that were stored from `places` on, best a while ago: then
        nothing waits for a vector that has them."""
        return self._gather_words_at(self._offset(I32, places, False), lanes, count, self.fit(base, I32, 1))

    def _gather_words_at(self, places: Value, lanes: int, count: int, base: Value) -> list[Value]:
        off = self._load(I32, places, lanes)
        return self._gather_words(off, count, base) if count > 1 else [self._gather(I32, self.binary("add", off, base))]

    def _gather_words(self, off: Value, count: int, base: Value) -> list[Value]:
        """Each word by itself."""
        return [self._gather(I32, self.binary("add", off, self.binary("add", base, 4 * n))) for n in range(count)]

    def scatter(self, type: Type, offsets: Value, v: Operand, mask: Value | None = None) -> None:
        """Store one element for each lane of the mask, in lane order (a later lane wins)."""
        off = self._offset(type, offsets, True)
        if mask is not None:
            mask = self.fit(mask, BOOL, off.lanes)
        self._scatter(type, off, self.fit(v, type.value, off.lanes), mask)

    def atomic(self, op: str, type: Type, offset: Operand, v: Operand) -> Value:
        """Replace a scalar of memory by `op` of it and `v` in one step, whatever other threads do; returns the old one.

        op: one of ATOMICS ("xchg" takes `v` itself); type: I32 or I64.
        """
        if op not in ATOMICS or type not in (I32, I64):
            raise fail(f"there is no atomic {op} of {type}")
        return self._atomic(op, type, self._offset(type, offset, False), self.fit(v, type, 1))

    # -- variables ----------------------------------------------------------------------------------------------
    def var(self, init: Operand, type: Type | None = None, lanes: int | None = None) -> Var:
        """A variable with the first value `init`. type, lanes: those of `init` by default; a number has one lane."""
        if type is None:
            if isinstance(init, Value):
                type = init.type
            else:
                type = BOOL if isinstance(init, bool) else F32 if isinstance(init, float) else I32
        first = self.fit(init, type, lanes or (init.lanes if isinstance(init, Value) else 1))
        v = self._var(type, first.lanes)
        self._set(v, first)
        return v

    def array(self, size: int, type: Type = I32, lanes: int | None = None) -> Array:
        """`size` zeroed elements of `lanes` lanes each (default: the kernel's lane count)."""
        lanes = lanes or self.lanes
        if type.kind == "memory" or not 0 < size * lanes * max(type.bytes, 1) <= _ARRAY_BYTES:
            raise fail(f"no array of {size} x {lanes} {type}: larger tables belong into the arena")
        return self._array(size, type, lanes)

    # -- control flow: Python `for` over these, because both evaluators can honour a `for` -------------------------
    def _scalar_condition(self, what: str, c: Value) -> Value:
        if not isinstance(c, Value) or c.type is not BOOL or c.lanes != 1:
            raise fail(f"{what} needs a scalar condition, got {c!r}; use k.any or k.all on a mask")
        return c

    def _enter(self, what: str) -> None:
        self._open.append((what, place()))

    def _leave(self, depth: int) -> None:
        self.check_closed(depth)
        self._open.pop()

    def check_closed(self, depth: int = 0) -> None:
        """Check that only `depth` constructs are open: whatever was opened later must have run to its end."""
        if len(self._open) != depth:
            what, where = self._open[-1]
            left = f"k.{what} was left early: do not break, return or raise out of its body"
            raise LaneError(f"{left}\n  in {text_of(where)}")

    def when(self, c: Value | bool, usual: bool | None = None) -> Iterator[None]:
        """`for _ in k.when(c):` runs the body if the scalar condition holds (a Python bool decides while tracing).

        usual: see `branch`.
        """
        if isinstance(c, bool):
            if c:
                yield
            return
        self._enter("when")
        depth = len(self._open)
        yield from self._when(self._scalar_condition("when", c), usual)
        self._leave(depth)

    def range(self, lo: Operand, hi: Operand, step: int = 1) -> Iterator[Value]:
        """`for i in k.range(lo, hi, step):` with an i32 scalar `i`. Bounds are read once; the step is a number > 0."""
        if not isinstance(step, int) or not 0 < step < 1 << 31:
            raise fail(f"a range counts up by a constant, not by {step!r}")
        self._enter("range")
        depth = len(self._open)
        yield from self._range(self.fit(lo, I32, 1), self.fit(hi, I32, 1), step)
        self._leave(depth)

    def loop(self, condition: Callable[[], Value]) -> Iterator[None]:
        """`for _ in k.loop(lambda: c):` repeats the body while the freshly computed scalar condition holds."""
        self._enter("loop")
        depth = len(self._open)
        yield from self._loop(lambda: self._scalar_condition("loop", condition()))
        self._leave(depth)

    def branch(
        self, c: Value | bool, then: Callable[[], Any], otherwise: Callable[[], Any], usual: bool | None = None
    ) -> Any:
        """Run one of two functions; what they return (a value or a tuple of values) is the result.

        usual: what the condition nearly always is; the other way may become slower for it.
        """
        if isinstance(c, bool):
            return then() if c else otherwise()
        c = self._scalar_condition("branch", c)
        cases = [partial(self._case, case) for case in (otherwise, then)]
        return self._switch(self.select(c, 1, 0), cases, usual)

    def switch(self, selector: Value | int, cases: Sequence[Callable[[], Any]]) -> Any:
        """Run `cases[selector]`; the last case also serves every selector outside the list.

        A Python int chooses while tracing (specialised code); a scalar i32 chooses at run time (general code).
        Cases return a value, a tuple of values, or nothing: all cases the same count, types and lanes. A function that
        is there several times is one piece of code.
        """
        if isinstance(selector, int):
            return cases[selector if 0 <= selector < len(cases) else -1]()
        if selector.lanes != 1 or selector.type is not I32:
            raise fail(f"switch needs a scalar i32 selector, got {selector!r}")
        if not cases:
            raise fail("a switch without cases")
        distinct = {case: partial(self._case, case) for case in cases}
        return self._switch(selector, [distinct[case] for case in cases], None)

    def graph(self, blocks: Sequence[Callable[[], Next]], start: int = 0) -> None:
        """Run blocks of code, beginning with blocks[start], until one returns -1.

        A block is a function that returns the next block: see `Next`. Values of one block do not exist in the others:
        carry them in a k.var.
        """
        if not 0 <= start < len(blocks):
            raise fail(f"no block {start} among {len(blocks)}")
        self._enter("graph")
        depth = len(self._open)
        self._graphs.append((depth, len(blocks)))
        self._graph([partial(self._block, block, len(blocks), depth) for block in blocks], start)
        self._graphs.pop()
        self._leave(depth)

    def escape(self, c: Value, target: int, before: Callable[[], None] | None = None) -> None:
        """Leave a block of a graph in its middle if a scalar condition holds, which should be rare.

        target: the block to continue with. before: runs first, for example to set variables.
        """
        c = self._scalar_condition("escape", c)
        depth, count = self._graphs[-1] if self._graphs else (-1, 0)
        if len(self._open) != depth:
            raise fail("k.escape leaves a block of a graph, not what is open inside of it")
        if not 0 <= target < count:
            raise fail(f"no block {target} among {count}")
        self._escape(c, target, before or (lambda: None))

    def _block(self, block: Callable[[], Next], count: int, depth: int) -> Next:
        after = block()
        self.check_closed(depth)
        self._check_next(after, count)
        return after

    def _check_next(self, after: Any, count: int) -> None:
        if isinstance(after, tuple):
            self._scalar_condition("graph", after[0])
            for way in after[1:3]:
                self._check_next(way, count)
            return
        targets = after.targets if isinstance(after, Jump) else (after,)
        if not targets or any(not isinstance(t, int) or not -1 <= t < count for t in targets):
            raise fail(f"a block goes on to {after!r}, with {count} blocks")
        if isinstance(after, Jump) and after.values is not None and len(after.values) != len(targets) - 1:
            raise fail(f"a jump has a value for each target but the last, not {len(after.values)} for {len(targets)}")
        if isinstance(after, Jump) and (after.selector.lanes != 1 or after.selector.type is not I32):
            raise fail(f"a jump needs a scalar i32 selector, got {after.selector!r}")

    def _case(self, case: Callable[[], Any]) -> Any:
        depth = len(self._open)
        result = case()
        self.check_closed(depth)
        values = result if isinstance(result, tuple | list) else () if result is None else (result,)
        if not all(isinstance(v, Value) for v in values):
            raise fail(f"a case returns a value, a tuple of values or nothing, not {result!r}")
        return tuple(result) if isinstance(result, list) else result

    def invoke(self, function: Value, *args: Value) -> None:
        """Call another kernel through its run-time handle (an i64 from `Engine.handle`); arguments are scalars."""
        if not isinstance(function, Value) or function.type is not I64 or function.lanes != 1:
            raise fail(f"invoke needs a scalar i64 handle, got {function!r}")
        for a in args:
            if not isinstance(a, Value) or a.type is BOOL or a.lanes != 1:
                raise fail(f"invoke passes scalar i32, i64 and f32 values, not {a!r}")
        self._invoke(function, args)

    def probe(self, name: str, value: Value) -> None:
        """Name an intermediate value for observers. Machine code ignores it."""
