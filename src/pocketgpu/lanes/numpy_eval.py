"""The NumPy evaluator: runs a kernel as it is written, one array operation for each word. It is the oracle.

Its lane count is high (64 by default), so that Python's cost is shared by many lanes; no kernel depends on it.
Memory is the arena itself, seen through one view for each element type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pocketgpu.lanes.language import OPERATIONS, Lang
from pocketgpu.lanes.primitives import Jump, Next
from pocketgpu.lanes.values import BOOL, F32, F64, I32, I64, Array, Operand, Type, Value, Var, fail

_DTYPES: dict[str, Any] = {
    "bool": np.bool_, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64,
    "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16,
}  # fmt: skip
_TYPES: dict[str, Type] = {"int32": I32, "float32": F32, "float64": F64}
_UNSIGNED: dict[str, Any] = {"i32": np.uint32, "i64": np.uint64}
_BINARY: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
# NumPy's functions take 20 times as long for two scalars as Python's operators do; the results are the same. Floats
# keep the functions, whose NaNs do not depend on whether they are alone.
_OPERATORS: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
_BY_TYPE: dict[str, dict[str, Any]] = {
    type.name: {op: (_BINARY if type.kind == "float" else _OPERATORS)[op] for op in names if op in _BINARY}
    for type in (BOOL, I32, I64, F32, F64)
    for names in [OPERATIONS[type.kind]]
}
for _type in (I32, I64):
    _BY_TYPE[_type.name] |= {
        "shl": lambda x, y, most=_type.bits - 1: x << (y & most),
        "ashr": lambda x, y, most=_type.bits - 1: x >> (y & most),
    }
_COMPARE: dict[str, Any] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_CONSTANTS: dict[tuple[Any, str], Any] = {}
"""NumPy's numbers for Python's, by type: for whole ones, and for floats in types of floats, but not for -0.0."""
_PATTERNS: dict[tuple[Any, ...], Any] = {}
"""Arrays of whole numbers, by type. Nobody writes into them."""
_MOST_CONSTANTS, _MOST_PATTERNS = 1 << 14, 1 << 10
_UNARY: dict[str, Any] = {"neg": np.negative, "floor": np.floor, "sqrt": np.sqrt, "abs": np.abs}
_REDUCE = {"or": "any", "and": "all", "min": "min", "max": "max"}
"""Methods of arrays and of NumPy's scalars."""


def _all_lanes(v: Value) -> Any:
    """An array with an element for each lane: a scalar that stands for many lanes is repeated."""
    return v.raw if v.raw.shape == (v.lanes,) else np.broadcast_to(v.raw, (v.lanes,))


def _below_highest(x: Any, bits: int) -> Any:
    """All bits above the highest set one."""
    shift = 1
    while shift < bits:
        x = x | np.right_shift(x, x.dtype.type(shift))
        shift *= 2
    return ~x


# For each operation a value whose number of set bits is the answer.
_COUNTS: dict[str, Any] = {
    "ctpop": lambda x, bits: x, "ctlz": _below_highest, "cttz": lambda x, bits: ~x & (x - x.dtype.type(1)),
}  # fmt: skip



def _is_minus(x: float) -> bool:
    return math.copysign(1.0, x) < 0


_class_of = operator.attrgetter("__class__")
_NOTHING: Iterator[None] = iter(())


class ArenaViews:
    """The arena as one flat array for each element type."""

    def __init__(self, arena: np.ndarray[Any, Any]) -> None:
        self.views = {name: arena.view(dtype) for name, dtype in _DTYPES.items() if name != "bool"}


class _Escape(Exception):
    """Control goes from the middle of a block to another block."""

    def __init__(self, target: int) -> None:
        super().__init__(target)
        self.target = target


class NumpyLang(Lang):
    """`functions` maps the handles of `invoke` to Python callables; `on_probe` receives named intermediate values."""

    numpy = True

    def __init__(
        self,
        views: ArenaViews,
        lanes: int,
        functions: dict[int, Callable[..., None]],
        on_probe: Callable[[str, Value], None] | None = None,
    ) -> None:
        super().__init__(lanes)
        self._views, self._functions, self._on_probe = views.views, functions, on_probe

    def const(self, x: float | int | bool, type: Type, lanes: int = 1) -> Value:
        if x.__class__ is not int and (x.__class__ is not float or type.kind != "float" or (not x and _is_minus(x))):
            return super().const(x, type, lanes)  # -0.0 has the key of 0.0
        raw = _CONSTANTS.get((x, type.name))  # kernels ask for the same ones again and again
        if raw is None:
            raw = super().const(x, type, lanes).raw
            if len(_CONSTANTS) < _MOST_CONSTANTS:
                _CONSTANTS[x, type.name] = raw
        return Value(self, raw, type, lanes)

    def pattern(self, xs: Sequence[int] | Sequence[float], type: Type = I32) -> Value:
        """As in every evaluator, but an array of whole numbers is made once."""
        if not type.is_int or set(map(_class_of, xs)) != {int}:
            return super().pattern(xs, type)
        return self._kept_pattern((type.name, self.lanes, *xs), super().pattern, xs, type)

    def pattern_of(self, xs: Sequence[int] | Sequence[float], type: Type = I32) -> Value:
        """See `pattern`."""
        if not type.is_int or set(map(_class_of, xs)) != {int}:
            return super().pattern_of(xs, type)
        return self._kept_pattern((type.name, 0, *xs), super().pattern_of, xs, type)

    def _kept_pattern(self, key: tuple[Any, ...], make: Callable[..., Value], xs: Sequence[float], type: Type) -> Value:
        raw = _PATTERNS.get(key)
        if raw is None:
            raw = make(xs, type).raw
            if raw.ndim and len(_PATTERNS) < _MOST_PATTERNS:
                raw.flags.writeable = False
                _PATTERNS[key] = raw
        return Value(self, raw, type, len(raw) if raw.ndim else 1)

    def binary(self, op: str, a: Operand, b: Operand) -> Value:
        """As in every evaluator; the usual cases are decided here, as most time of a long run goes into them."""
        if a.__class__ is Value:
            type = a.type
            function = _BY_TYPE[type.name].get(op)
            if function is not None:
                if b.__class__ is Value:
                    if b.type is type:
                        if b.lanes in (a.lanes, 1):
                            return Value(self, function(a.raw, b.raw), type, a.lanes)
                        if a.lanes == 1:
                            return Value(self, function(a.raw, b.raw), type, b.lanes)
                elif b.__class__ is int or b.__class__ is bool:
                    raw = _CONSTANTS.get((b, type.name))
                    if raw is None:
                        raw = self.const(b, type).raw
                    return Value(self, function(a.raw, raw), type, a.lanes)
                elif b.__class__ is float and type.kind == "float":
                    raw = self.const(b, type).raw
                    return Value(self, function(a.raw, raw), type, a.lanes)
        return super().binary(op, a, b)

    def compare(self, op: str, a: Operand, b: Operand) -> Value:
        """As in every evaluator; see `binary`."""
        if b.__class__ is int and a.__class__ is Value:
            b = self.const(b, a.type, a.lanes)
        if a.__class__ is Value and b.__class__ is Value and a.type is b.type and a.type is not BOOL:
            function = _COMPARE.get(op)
            if function is not None and (a.lanes == b.lanes or b.lanes == 1):
                return Value(self, function(a.raw, b.raw), BOOL, a.lanes)
        return super().compare(op, a, b)

    def min(self, a: Operand, b: Operand) -> Value:
        a, b = self._pair("min", a, b)
        return self._select(self.compare("lt", a, b), a, b)

    def max(self, a: Operand, b: Operand) -> Value:
        a, b = self._pair("max", a, b)
        return self._select(self.compare("gt", a, b), a, b)

    def _const(self, x: Any, type: Type, lanes: int) -> Value:
        return Value(self, _DTYPES[type.name](x), type, lanes)

    def _pattern(self, xs: list[Any], type: Type) -> Value:
        if len(xs) == 1:  # a scalar is never an array: it may index, count and decide
            return self._const(xs[0], type, 1)
        return Value(self, np.array(xs, _DTYPES[type.name]), type, len(xs))

    def _splat(self, v: Value, lanes: int) -> Value:
        return Value(self, v.raw, v.type, lanes)  # NumPy broadcasts; only the declared lane count changes

    def _binary(self, op: str, a: Value, b: Value) -> Value:
        x, y = a.raw, b.raw
        if op in _BINARY:
            r = _BINARY[op](x, y)
        elif op == "shl":
            r = x << (y & (a.type.bits - 1))
        elif op == "ashr":
            r = x >> (y & (a.type.bits - 1))
        elif op == "lshr" and not x.ndim and not y.ndim:
            whole = (int(x) & (1 << a.type.bits) - 1) >> (int(y) & a.type.bits - 1)
            r = _DTYPES[a.type.name](whole - (whole >> a.type.bits - 1 << a.type.bits))
        elif op == "mul16":
            low = (x * y) & 0xFFFF
            r = low | (np.right_shift(x, 16) * np.right_shift(y, 16)) << 16
        else:  # lshr, udiv
            u, s = _UNSIGNED[a.type.name], _DTYPES[a.type.name]
            x, y = x.view(u), y.view(u)
            r = (np.right_shift(x, y & u(a.type.bits - 1)) if op == "lshr" else np.floor_divide(x, y)).view(s)
        return Value(self, r, a.type, a.lanes)

    def _compare(self, op: str, a: Value, b: Value) -> Value:
        if op == "ult":
            u = _UNSIGNED[a.type.name]
            return Value(self, np.less(a.raw.view(u), b.raw.view(u)), BOOL, a.lanes)
        return Value(self, _COMPARE[op](a.raw, b.raw), BOOL, a.lanes)

    def _unary(self, op: str, a: Value) -> Value:
        if op in _COUNTS:
            u = _UNSIGNED[a.type.name]
            r = np.bitwise_count(_COUNTS[op](a.raw.view(u), a.type.bits))
            return Value(self, r.astype(_DTYPES[a.type.name]), a.type, a.lanes)
        return Value(self, _UNARY[op](a.raw), a.type, a.lanes)

    def _fma(self, a: Value, b: Value, c: Value) -> Value:
        raise AssertionError("NumPy has no fused multiply-add")

    def _to_half(self, a: Value) -> Value:
        raise AssertionError("NumPy converts to floats of 16 bits with integers")

    def select(self, mask: Value | bool, a: Operand, b: Operand) -> Value:
        """As in every evaluator; see `binary`."""
        if mask.__class__ is Value and mask.type is BOOL:
            if b.__class__ is int and a.__class__ is Value:
                b = self.const(b, a.type, a.lanes)
            if (
                a.__class__ is Value and b.__class__ is Value and a.type is b.type
                and a.lanes == b.lanes and mask.lanes in (a.lanes, 1)
            ):  # fmt: skip
                return self._select(mask, a, b)
        return super().select(mask, a, b)

    def _select(self, m: Value, a: Value, b: Value) -> Value:
        if m.raw.ndim == 0:
            return Value(self, a.raw if m.raw else b.raw, a.type, a.lanes)
        return Value(self, np.where(m.raw, a.raw, b.raw), a.type, a.lanes)

    def _convert(self, how: str, a: Value, to: Type) -> Value:
        if how == "bitcast":
            r = a.raw.view(_DTYPES[to.name])
        elif how == "zext":
            r = a.raw.view(np.uint32).astype(np.int64)
        else:  # f2i truncates like the cast does; the others are plain
            r = a.raw.astype(_DTYPES[to.name])
        return Value(self, r, to, a.lanes)

    def _reduce(self, op: str, a: Value) -> Value:
        if op == "add":
            total = int(np.sum(np.broadcast_to(a.raw, (a.lanes,)), dtype=np.int64)) & 0xFFFFFFFF
            r = np.uint32(total).view(np.int32)
        else:
            r = getattr(a.raw, _REDUCE[op])() if a.raw.ndim else a.raw
        return Value(self, r, a.type, 1)

    def _ballot(self, mask: Value) -> Value:
        bits = np.packbits(np.broadcast_to(mask.raw, (mask.lanes,)), bitorder="little")
        return Value(self, np.frombuffer(bits.tobytes().ljust(4, b"\0"), np.int32)[0], I32, 1)

    def _mask_of(self, ballot: Value) -> Value:
        octets = np.array([ballot.raw], np.int32).view(np.uint8)
        return Value(self, np.unpackbits(octets, bitorder="little").astype(np.bool_), BOOL, 32)

    def _lane(self, a: Value, i: int) -> Value:
        return Value(self, a.raw if a.raw.ndim == 0 else a.raw[i], a.type, 1)

    def _shuffle(self, a: Value, b: Value, places: list[int]) -> Value:
        both = np.concatenate([_all_lanes(a), _all_lanes(b)])
        return Value(self, both[places], a.type, len(places))

    # -- memory -------------------------------------------------------------------------------------------------
    def _element(self, type: Type, offsets: Any, count: int = 1) -> Any:
        """Element numbers of byte offsets, each the first of `count` elements that must lie inside the arena."""
        if not offsets.size:
            return offsets
        low, high = (offsets.min(), offsets.max()) if offsets.ndim else (offsets, offsets)
        if (offsets & (type.bytes - 1)).any():
            raise fail(f"unaligned {type} access at {offsets!r}")
        if low < 0 or high // type.bytes > len(self._views[type.name]) - count:
            raise fail(f"{type} access outside the arena at {offsets!r}")
        return offsets // type.bytes

    def _first(self, type: Type, offset: int, count: int) -> int:
        """The element number of a byte offset, the first of `count` elements that must lie inside the arena."""
        i, odd = divmod(offset, type.bits >> 3)
        if odd or i < 0 or i > len(self._views[type.name]) - count:
            self._element(type, np.int64(offset), count)  # raises
        return i

    def _load(self, type: Type, off: Value, lanes: int) -> Value:
        i, view = self._first(type, int(off.raw), lanes), self._views[type.name]
        r = view[i : i + lanes].copy() if lanes > 1 else view[i]
        if type.value is not type:
            r = r.astype(_DTYPES[type.value.name])
        return Value(self, r, type.value, lanes)

    def _store(self, type: Type, off: Value, v: Value) -> None:
        i, view = self._first(type, int(off.raw), v.lanes), self._views[type.name]
        view[i : i + v.lanes] = v.raw if v.type is type else v.raw.astype(_DTYPES[type.name])

    def _prefetch(self, off: Value) -> None:
        """Only machine code has something to do."""

    def _gather(self, type: Type, off: Value) -> Value:
        found = self._views[type.name][self._element(type, _all_lanes(off))]
        return Value(self, found.astype(_DTYPES[type.value.name], copy=False), type.value, off.lanes)

    def _scatter(self, type: Type, off: Value, v: Value, mask: Value | None) -> None:
        raw, o = _all_lanes(v), _all_lanes(off)
        if v.type is not type:
            raw = raw.astype(_DTYPES[type.name])
        if mask is not None:
            keep = _all_lanes(mask)
            raw, o = raw[keep], o[keep]
        self._views[type.name][self._element(type, o)] = raw

    def _atomic(self, op: str, type: Type, off: Value, v: Value) -> Value:
        old = self._load(type, off, 1)
        if op == "xchg":
            new = v
        elif op in ("add", "and", "or", "xor"):
            new = self._binary(op, old, v)
        else:
            less = self._compare("ult" if op[0] == "u" else "lt", old, v)
            new = self._select(less, *((old, v) if op.endswith("min") else (v, old)))
        self._store(type, off, new)
        return old

    # -- variables ----------------------------------------------------------------------------------------------
    def _var(self, type: Type, lanes: int) -> Var:
        return Var(self, [None], type, lanes)

    def _get(self, v: Var) -> Value:
        return Value(self, v.slot[0], v.type, v.lanes)

    def _set(self, v: Var, x: Value) -> None:
        v.slot[0] = x.raw

    def _array(self, size: int, type: Type, lanes: int) -> Array:
        return Array(self, [_DTYPES[type.name](0)] * size, size, type, lanes)

    def _bounded(self, a: Array, i: Value) -> int:
        n = int(i.raw)
        if not 0 <= n < a.size:
            raise fail(f"array index {n} outside 0..{a.size - 1}")
        return n

    def _array_get(self, a: Array, i: Value) -> Value:
        return Value(self, a.slot[self._bounded(a, i)], a.type, a.lanes)

    def _array_set(self, a: Array, i: Value, x: Value) -> None:
        a.slot[self._bounded(a, i)] = x.raw

    # -- control flow -------------------------------------------------------------------------------------------
    def when(self, c: Value | bool, usual: bool | None = None) -> Iterator[None]:
        """As in every evaluator. What does not run opens nothing."""
        if c.__class__ is Value and c.type is BOOL and c.lanes == 1 and not c.raw:
            return _NOTHING
        return super().when(c, usual)

    def branch(
        self, c: Value | bool, then: Callable[[], Any], otherwise: Callable[[], Any], usual: bool | None = None
    ) -> Any:
        """As in every evaluator, without a number between the condition and the way."""
        if isinstance(c, bool):
            return then() if c else otherwise()
        return self._case(then if self._scalar_condition("branch", c).raw else otherwise)

    def switch(self, selector: Value | int, cases: Sequence[Callable[[], Any]]) -> Any:
        """As in every evaluator; see `branch`."""
        if selector.__class__ is Value and selector.lanes == 1 and selector.type is I32 and cases:
            i = int(selector.raw)
            return self._case(cases[i if 0 <= i < len(cases) else -1])
        return super().switch(selector, cases)

    def _when(self, c: Value, usual: bool | None) -> Iterator[None]:
        if c.raw:
            yield

    def _range(self, lo: Value, hi: Value, step: int) -> Iterator[Value]:
        for i in range(int(lo.raw), int(hi.raw), step):
            yield Value(self, np.int32(i), I32, 1)

    def _loop(self, condition: Callable[[], Value]) -> Iterator[None]:
        while condition().raw:
            yield

    def _switch(self, selector: Value, cases: Sequence[Callable[[], Any]], usual: int | None) -> Any:
        i = int(selector.raw)
        return cases[i if 0 <= i < len(cases) else -1]()

    def _graph(self, blocks: Sequence[Callable[[], Next]], start: int) -> None:
        at = start
        while at >= 0:
            try:
                after = blocks[at]()
            except _Escape as escape:
                after = escape.target
            while not isinstance(after, int):
                if isinstance(after, Jump):
                    i, targets = int(after.selector.raw), after.targets
                    if after.values is not None:
                        i = after.values.index(i) if i in after.values else -1
                    after = targets[i if 0 <= i < len(targets) else -1]
                else:
                    after = after[1] if after[0].raw else after[2]
            at = after

    def _escape(self, c: Value, target: int, before: Callable[[], None]) -> None:
        if c.raw:
            before()
            raise _Escape(target)

    def _invoke(self, function: Value, args: Sequence[Value]) -> None:
        self._functions[int(function.raw)](*(a.raw for a in args))

    def probe(self, name: str, value: Value) -> None:
        if self._on_probe is not None:
            self._on_probe(name, value)


class ArrayLang(NumpyLang):
    """Runs lane code on whole arrays, outside of any kernel: each element is a lane.

    :param count: elements of the arrays.
    :param memory: what gathers read, uint8 of a multiple of 8 bytes; it does not change.
    """

    def __init__(self, count: int, memory: np.ndarray[Any, Any] | None = None) -> None:
        # A single lane would be a scalar: there are at least two, of which the first `count` are used.
        super().__init__(ArenaViews(np.zeros(8, np.uint8) if memory is None else memory), max(count, 2), {})
        self._count = count

    def from_array(self, array: np.ndarray[Any, Any]) -> Value:
        """A flat array of int32, float32 or float64 as a value."""
        return Value(self, np.resize(array, 2) if self._count < 2 else array, _TYPES[array.dtype.name], self.lanes)

    def to_array(self, value: Value) -> np.ndarray[Any, Any]:
        """A value as an array; a scalar is repeated. It may share memory with others."""
        return np.broadcast_to(value.raw, (self.lanes,))[: self._count]
