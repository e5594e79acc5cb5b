"""The LLVM evaluator: traces a kernel once and writes LLVM IR as text.

It writes text because IR made of objects takes thirty times longer for long shaders. Variables become stack slots,
which LLVM promotes to registers; `when`, `range`, `loop` and `switch` become basic blocks.

Only the arena pointer and scalars cross a function boundary: how vectors are passed depends on CPU features.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pocketgpu.lanes import machine_code
from pocketgpu.lanes.language import Lang
from pocketgpu.lanes.primitives import Jump, Next
from pocketgpu.lanes.values import BOOL, F32, F64, I32, I64, Array, Type, Value, Var, fail, place, text_of

_SCALAR = {
    "bool": "i1",
    "i32": "i32",
    "i64": "i64",
    "f32": "float",
    "f64": "double",
    "u8": "i8",
    "i8": "i8",
    "u16": "i16",
    "i16": "i16",
}
_SUFFIX = {"bool": "i1", "i32": "i32", "i64": "i64", "f32": "f32", "f64": "f64"}
_INT = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "udiv": "udiv"}
_INT_COMPARE = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "ult": "ult"}
_FLOAT_COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_SHIFTS = {"shl": "shl", "ashr": "ashr", "lshr": "lshr"}
_CONVERT = {
    "f2i": "fptosi", "i2f": "sitofp", "bitcast": "bitcast", "sext": "sext", "zext": "zext", "trunc": "trunc",
    "fpext": "fpext", "fptrunc": "fptrunc",
}  # fmt: skip


_WEIGHTS = (
    '!0 = !{!"branch_weights", i32 2000, i32 1}',
    '!1 = !{!"branch_weights", i32 1, i32 2000}',
)


def _ty(type: Type, lanes: int) -> str:
    t = _SCALAR[type.name]
    return t if lanes == 1 else f"<{lanes} x {t}>"


def _literal(x: Any, type: Type) -> str:
    if type.kind == "float":  # LLVM spells an f32 as the bits of the f64 of the same value
        return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
    if type is BOOL:
        return "true" if x else "false"
    return str(int(x))


@lru_cache(maxsize=4096)
def _in_range(raw: str, limit: int) -> bool:
    """Whether the integers of a constant, scalar or vector, are known and all in 0..limit-1."""
    if raw == "zeroinitializer":
        return True
    return raw[0] != "%" and all(0 <= int(item.split()[-1]) < limit for item in raw.strip("<>").split(","))


def _values(result: Any) -> tuple[Value, ...]:
    return () if result is None else (result,) if isinstance(result, Value) else result


def _shape(result: Any) -> Any:
    """What two cases of a switch must have in common."""
    return type(result), [(v.type.name, v.lanes) for v in _values(result)]


class LLVMLang(Lang):
    """Traces one kernel; `text()` is the finished module with the single function `name(ptr arena, scalars...)`.

    With a dict for `origins` the trace notes there which line of the kernel made which IR value. With `fast_gather`
    it uses the gather instruction of the CPU, with `fused` its multiply-add, with `halves` its conversion to
    floats of 16 bits. register_lanes: see `Lang`.
    """

    def __init__(
        self,
        name: str,
        params: Sequence[Type],
        lanes: int,
        origins: dict[str, str] | None = None,
        fast_gather: bool = False,
        fused: bool = False,
        register_lanes: int = 8,
        halves: bool = False,
    ) -> None:
        super().__init__(lanes)
        self.register_lanes = register_lanes
        self._origins = origins
        self.fast_gather, self.fused, self.halves = fast_gather, fused, halves
        self.name, self.params = name, list(params)
        self._out: list[str] = []
        self._slots: list[str] = []
        self._declared: set[str] = set()
        self._count = 0
        self._constants: dict[Any, Any] = {}
        self._sums: dict[str, tuple[str, int]] = {}
        """Scalars of 32 bits that are another one and a constant."""
        self._labels: list[list[str]] = []  # of the blocks of the graphs being written

    def args(self) -> list[Value]:
        return [Value(self, f"%a{i}", t, 1) for i, t in enumerate(self.params)]

    def text(self) -> str:
        self.check_closed()
        signature = ", ".join(["ptr noalias %arena"] + [f"{_ty(t, 1)} %a{i}" for i, t in enumerate(self.params)])
        head = [*sorted(self._declared), f"define void @{self.name}({signature}) #0 {{", "entry:", *self._slots]
        # Vectors on the stack that cross lines of the cache, or even pages, are slow. LLVM aligns what it spills only
        # if it knows before that the stack is aligned.
        aligned = f"alignstack={4 * self.register_lanes} " if self.lanes > 1 else ""
        aligned += machine_code.in_order() if self.takes_turns else ""
        tail = ["ret void", "}", f'attributes #0 = {{ nounwind {aligned}"no-stack-arg-probe" }}', *_WEIGHTS]
        if self.hurried:
            head.insert(0, machine_code.IN_MEMORY if self.in_memory else machine_code.HURRIED)
        return "\n".join([*head, "br label %body", "body:", *self._out, *tail]) + "\n"

    # -- emission -----------------------------------------------------------------------------------------------
    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _label(self) -> str:
        self._count += 1
        return f"L{self._count}"

    def _emit(self, text: str, type: Type, lanes: int) -> Value:
        self._count += 1
        r = f"%v{self._count}"
        self._out.append(f"{r} = {text}")
        if self._origins is not None:
            self._origins[r] = text_of(place())
        return Value(self, r, type, lanes)

    def _intrinsic(self, name: str, type: Type, lanes: int, *args: Value) -> Value:
        ret = _ty(type, lanes)
        self._declared.add(f"declare {ret} @{name}({', '.join(_ty(a.type, a.lanes) for a in args)})")
        return self._emit(
            f"call {ret} @{name}({', '.join(f'{_ty(a.type, a.lanes)} {a.raw}' for a in args)})", type, lanes
        )

    # -- constants ----------------------------------------------------------------------------------------------
    def _const(self, x: Any, type: Type, lanes: int) -> Value:
        lit = _literal(x, type)
        if lanes == 1:
            return Value(self, lit, type, 1)
        item = f"{_SCALAR[type.name]} {lit}"
        return Value(
            self,
            "zeroinitializer" if x == 0 and type.kind != "float" else f"<{', '.join([item] * lanes)}>",
            type,
            lanes,
        )

    def _pattern(self, xs: list[Any], type: Type) -> Value:
        items = ", ".join(f"{_SCALAR[type.name]} {_literal(x, type)}" for x in xs)
        return Value(self, f"<{items}>" if len(xs) > 1 else _literal(xs[0], type), type, len(xs))

    def _splat(self, v: Value, lanes: int) -> Value:
        if lanes == 1:
            return v
        t, s = _ty(v.type, lanes), _ty(v.type, 1)
        if v.raw[0] != "%":
            return Value(self, f"<{', '.join([f'{s} {v.raw}'] * lanes)}>", v.type, lanes)
        one = self._emit(f"insertelement {t} poison, {s} {v.raw}, i32 0", v.type, lanes)
        return self._emit(f"shufflevector {t} {one.raw}, {t} poison, <{lanes} x i32> zeroinitializer", v.type, lanes)

    # -- arithmetic ---------------------------------------------------------------------------------------------
    def _binary(self, op: str, a: Value, b: Value) -> Value:
        t = _ty(a.type, a.lanes)
        if op in _SHIFTS:
            if not _in_range(b.raw, b.type.bits):  # a count beyond the width would be poison
                b = self._binary("and", b, self.const(b.type.bits - 1, b.type, b.lanes))
            return self._emit(f"{_SHIFTS[op]} {t} {a.raw}, {b.raw}", a.type, a.lanes)
        if op == "mul16":
            halves = f"<{2 * a.lanes} x i16>"
            x, y = (self._emit(f"bitcast {t} {v.raw} to {halves}", I32, a.lanes).raw for v in (a, b))
            product = self._emit(f"mul {halves} {x}, {y}", I32, a.lanes)
            return self._emit(f"bitcast {halves} {product.raw} to {t}", I32, a.lanes)
        word = f"f{op}" if a.type.kind == "float" else _INT[op]
        found = self._emit(f"{word} {t} {a.raw}, {b.raw}", a.type, a.lanes)
        if op == "add" and a.type is I32 and a.lanes == 1:
            self._note_sum(found.raw, a.raw, b.raw)
        return found

    def _note_sum(self, name: str, a: str, b: str) -> None:
        """Note that a scalar is a sum, if one part of it is a constant."""
        if a[0] != "%":
            a, b = b, a
        if a[0] == "%" and b[0] != "%":
            root, more = self._sums.get(a, (a, 0))
            self._sums[name] = root, self._number(more + int(b), I32)

    def _compare(self, op: str, a: Value, b: Value) -> Value:
        word = f"fcmp {_FLOAT_COMPARE[op]}" if a.type.kind == "float" else f"icmp {_INT_COMPARE[op]}"
        return self._emit(f"{word} {_ty(a.type, a.lanes)} {a.raw}, {b.raw}", BOOL, a.lanes)

    def _unary(self, op: str, a: Value) -> Value:
        if op == "neg":
            return self._emit(f"fneg {_ty(a.type, a.lanes)} {a.raw}", a.type, a.lanes)
        name = {"abs": "fabs"}.get(op, op)
        vector = "" if a.lanes == 1 else f"v{a.lanes}"
        if op in ("ctlz", "cttz"):
            t, full = _ty(a.type, a.lanes), f"llvm.{op}.{vector}{_SUFFIX[a.type.name]}"
            self._declared.add(f"declare {t} @{full}({t}, i1 immarg)")
            return self._emit(f"call {t} @{full}({t} {a.raw}, i1 false)", a.type, a.lanes)
        return self._intrinsic(f"llvm.{name}.{vector}{_SUFFIX[a.type.name]}", a.type, a.lanes, a)

    def _select(self, m: Value, a: Value, b: Value) -> Value:
        t = _ty(a.type, a.lanes)
        return self._emit(f"select {_ty(BOOL, m.lanes)} {m.raw}, {t} {a.raw}, {t} {b.raw}", a.type, a.lanes)

    def _to_half(self, a: Value) -> Value:
        kinds = [t if a.lanes == 1 else f"<{a.lanes} x {t}>" for t in ("half", "i16", "i32")]
        half = self._emit(f"fptrunc {_ty(F32, a.lanes)} {a.raw} to {kinds[0]}", F32, a.lanes)
        bits = self._emit(f"bitcast {kinds[0]} {half.raw} to {kinds[1]}", I32, a.lanes)
        return self._emit(f"zext {kinds[1]} {bits.raw} to {kinds[2]}", I32, a.lanes)

    def _convert(self, how: str, a: Value, to: Type) -> Value:
        return self._emit(f"{_CONVERT[how]} {_ty(a.type, a.lanes)} {a.raw} to {_ty(to, a.lanes)}", to, a.lanes)

    def _reduce(self, op: str, a: Value) -> Value:
        if a.lanes == 1:
            return a
        name = {"min": "smin", "max": "smax"}.get(op, op)
        return self._intrinsic(f"llvm.vector.reduce.{name}.v{a.lanes}{_SUFFIX[a.type.name]}", a.type, 1, a)

    def _fma(self, a: Value, b: Value, c: Value) -> Value:
        vector = "" if a.lanes == 1 else f"v{a.lanes}"
        return self._intrinsic(f"llvm.fma.{vector}{_SUFFIX[a.type.name]}", a.type, a.lanes, a, b, c)

    def _ballot(self, mask: Value) -> Value:
        n = mask.lanes
        bits = self._emit(f"bitcast <{n} x i1> {mask.raw} to i{n}", I32, 1)
        return bits if n == 32 else self._emit(f"zext i{n} {bits.raw} to i32", I32, 1)

    def _mask_of(self, ballot: Value) -> Value:
        if self.fast_gather:  # a CPU with registers for masks
            return self._emit(f"bitcast i32 {ballot.raw} to <32 x i1>", BOOL, 32)
        # Byte i of the vector is byte i / 8 of the ballot. For a plain cast LLVM may take out bit by bit.
        words = self._splat(ballot, 8)
        same = self._emit(f"bitcast <8 x i32> {words.raw} to <32 x i8>", BOOL, 32)
        places = ", ".join(f"i32 {i // 8}" for i in range(32))
        bytes = self._emit(f"shufflevector <32 x i8> {same.raw}, <32 x i8> poison, <32 x i32> <{places}>", BOOL, 32)
        bits = ", ".join(f"i8 {1 << (i & 7)}" for i in range(32))
        own = self._emit(f"and <32 x i8> {bytes.raw}, <{bits}>", BOOL, 32)
        return self._emit(f"icmp ne <32 x i8> {own.raw}, zeroinitializer", BOOL, 32)

    def _lane(self, a: Value, i: int) -> Value:
        return self._emit(f"extractelement {_ty(a.type, a.lanes)} {a.raw}, i32 {i}", a.type, 1)

    def _shuffle(self, a: Value, b: Value, places: list[int]) -> Value:
        t, n = _ty(a.type, a.lanes), len(places)
        mask = f"<{', '.join(f'i32 {p}' for p in places)}>"
        return self._emit(f"shufflevector {t} {a.raw}, {t} {b.raw}, <{n} x i32> {mask}", a.type, n)

    # -- memory -------------------------------------------------------------------------------------------------
    def _pointer(self, off: Value) -> str:
        more = 0
        if off.type is I32 and off.raw[0] == "%":
            # The constant part is added to the address, which instructions do themselves. A sum that overflows would be
            # outside of the arena either way.
            root, more = self._sums.get(off.raw, (off.raw, 0))
            off = self._convert("sext", Value(self, root, I32, 1), I64)
        r = self._name()
        self._out.append(f"{r} = getelementptr i8, ptr %arena, i64 {off.raw}")
        if more:
            first, r = r, self._name()
            self._out.append(f"{r} = getelementptr i8, ptr {first}, i64 {more}")
        return r

    def _widen(self, v: Value, type: Type) -> Value:
        if type.value is type:
            return v
        how = "sext" if type.signed else "zext"
        return self._emit(f"{how} {_ty(type, v.lanes)} {v.raw} to {_ty(I32, v.lanes)}", I32, v.lanes)

    def _narrow(self, v: Value, type: Type) -> Value:
        if type.value is type:
            return v
        return self._emit(f"trunc {_ty(I32, v.lanes)} {v.raw} to {_ty(type, v.lanes)}", type, v.lanes)

    def _load(self, type: Type, off: Value, lanes: int) -> Value:
        p = self._pointer(off)
        return self._widen(self._emit(f"load {_ty(type, lanes)}, ptr {p}, align {type.bytes}", type, lanes), type)

    def _load_kept(self, type: Type, off: Value, lanes: int) -> Value:
        # LLVM would make one masked store of load, select and store. AMD's processors take forty times as long for
        # that instruction. It leaves volatile loads as they are.
        p = self._pointer(off)
        text = f"load volatile {_ty(type, lanes)}, ptr {p}, align {type.bytes}"
        return self._widen(self._emit(text, type, lanes), type)

    def _store(self, type: Type, off: Value, v: Value) -> None:
        v = self._narrow(v, type)
        p = self._pointer(off)
        self._out.append(f"store {_ty(type, v.lanes)} {v.raw}, ptr {p}, align {type.bytes}")

    def _prefetch(self, off: Value) -> None:
        self._declared.add("declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)")
        self._out.append(f"call void @llvm.prefetch.p0(ptr {self._pointer(off)}, i32 0, i32 3, i32 1)")

    def _gather(self, type: Type, off: Value) -> Value:
        # The arena ends below 2 GiB: 32 bits hold any offset, and vectors of 64-bit ones cost twice the registers.
        n = off.lanes
        off = self._convert("trunc", off, I32) if off.type is I64 else off
        t, s = _ty(type, n), _ty(type, 1)
        if self.fast_gather and type.bytes == 4:
            return self._gather_instruction(type, off)
        # Else scalar loads and inserts. Offsets are taken out of the vector in pairs.
        pairs = off
        if n % 2 == 0:
            pairs = self._emit(f"bitcast {_ty(I32, n)} {off.raw} to {_ty(I64, n // 2)}", I64, n // 2)
        r = "poison"
        for i in range(n):
            if n % 2:
                place = self._convert("zext", self._lane(off, i), I64)
            else:
                both = self._half(pairs, i)
                place = self._emit(f"lshr i64 {both}, 32" if i & 1 else f"and i64 {both}, 4294967295", I64, 1)
            p = self._pointer(place)
            x = self._emit(f"load {s}, ptr {p}, align {type.bytes}", type, 1)
            r = self._emit(f"insertelement {t} {r}, {s} {x.raw}, i32 {i}", type, n).raw
        return self._widen(Value(self, r, type, n), type)

    def _gather_words(self, off: Value, count: int, base: Value) -> list[Value]:
        n = off.lanes
        if self.fast_gather or n % 8:
            return super()._gather_words(off, count, base)
        start = self._pointer(base)
        pairs = self._emit(f"bitcast {_ty(I32, n)} {off.raw} to {_ty(I64, n // 2)}", I64, n // 2)
        places = []
        for i in range(n):
            half = self._half(pairs, i)
            place = self._emit(f"lshr i64 {half}, 32" if i & 1 else f"and i64 {half}, 4294967295", I64, 1)
            places.append(self._name())
            self._out.append(f"{places[-1]} = getelementptr i8, ptr {start}, i64 {place.raw}")
        return self._words_of(places, count)

    def _gather_words_at(self, places: Value, lanes: int, count: int, base: Value) -> list[Value]:
        if self.fast_gather or lanes % 8:
            return super()._gather_words_at(places, lanes, count, base)
        start, first = self._pointer(base), self._pointer(places)
        found = []
        for i in range(lanes):
            at, place = self._name(), self._name()
            self._out.append(f"{at} = getelementptr i8, ptr {first}, i64 {I32.bytes * i}")
            # Volatile, because LLVM would load a vector and take the offsets out of it.
            word = self._convert("zext", self._emit(f"load volatile i32, ptr {at}, align {I32.bytes}", I32, 1), I64)
            self._out.append(f"{place} = getelementptr i8, ptr {start}, i64 {word.raw}")
            found.append(place)
        return self._words_of(found, count)

    def _words_of(self, places: Sequence[str], count: int) -> list[Value]:
        """1, 2 or 4 words at each of some pointers (eight, or a multiple)."""
        read = {1: self._single_words, 2: self._pairs_of_words, 4: self._fours_of_words}[count]
        parts = [read(places[i : i + 8]) for i in range(0, len(places), 8)]
        return [self._joined([part[word] for part in parts]) for word in range(count)]

    def _single_words(self, places: Sequence[str]) -> list[Value]:
        """A word at each of some pointers."""
        n, r = len(places), "poison"
        for i, pointer in enumerate(places):
            x = self._emit(f"load i32, ptr {pointer}, align 4", I32, 1)
            r = self._emit(f"insertelement {_ty(I32, n)} {r}, i32 {x.raw}, i32 {i}", I32, n).raw
        return [Value(self, r, I32, n)]

    def _pairs_of_words(self, places: Sequence[str]) -> list[Value]:
        """Two words at each of eight pointers."""

        def two(lane: int) -> Value:
            """The words of two lanes. As f64, because LLVM has the second load inserted by the instruction itself."""
            x, y = (self._emit(f"load double, ptr {place}, align 4", F64, 1).raw for place in places[lane : lane + 2])
            x = self._emit(f"insertelement <2 x double> poison, double {x}, i32 0", F64, 2).raw
            y = self._emit(f"insertelement <2 x double> {x}, double {y}, i32 1", F64, 2).raw
            return self._emit(f"bitcast <2 x double> {y} to <4 x i32>", I32, 4)

        # In this order one instruction puts each word in order.
        a, b = (self._joined([two(first), two(first + 4)]) for first in (0, 2))
        return [self._shuffle(a, b, [n + i for i in (0, 2, 8, 10, 4, 6, 12, 14)]) for n in range(2)]

    def _fours_of_words(self, places: Sequence[str]) -> list[Value]:
        """Four words at each of eight pointers."""
        one = [self._emit(f"load <4 x i32>, ptr {place}, align 4", I32, 4) for place in places]
        two = [self._shuffle(one[i], one[i + 4], list(range(8))) for i in range(4)]
        mixed = [self._shuffle(a, b, [n + i for i in (0, 8, 1, 9, 4, 12, 5, 13)]) for n in (0, 2)
                 for a, b in (two[:2], two[2:])]  # fmt: skip
        return [
            self._shuffle(mixed[2 * n], mixed[2 * n + 1], [m + i for i in (0, 1, 8, 9, 4, 5, 12, 13)])
            for n in range(2)
            for m in (0, 2)
        ]

    def _joined(self, parts: Sequence[Value]) -> Value:
        """Vectors of equal size one after the other."""
        while len(parts) > 1:
            size = range(2 * parts[0].lanes)
            parts = [self._shuffle(a, b, list(size)) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    def _half(self, pairs: Value, i: int) -> str:
        """The 64 bits that hold element i of pairs of 32-bit ones."""
        return str((pairs if pairs.lanes == 1 else self._lane(pairs, i // 2)).raw)

    def _gather_instruction(self, type: Type, off: Value) -> Value:
        n, t = off.lanes, _ty(type, off.lanes)
        p = self._name()
        self._out.append(f"{p} = getelementptr i8, ptr %arena, {_ty(I32, n)} {off.raw}")
        # The form of LLVM 20 and 21, with the alignment as an argument; later ones read it as their own.
        name = f"llvm.masked.gather.v{n}{_SUFFIX[type.name]}.v{n}p0"
        self._declared.add(f"declare {t} @{name}(<{n} x ptr>, i32 immarg, <{n} x i1>, {t})")
        everywhere = f"<{', '.join(['i1 true'] * n)}>"
        return self._emit(f"call {t} @{name}(<{n} x ptr> {p}, i32 4, <{n} x i1> {everywhere}, {t} poison)", type, n)

    def _scatter(self, type: Type, off: Value, v: Value, mask: Value | None) -> None:
        if self.fast_gather and type.bytes == 4 and off.lanes >= 16:
            self._scatter_instruction(type, off, v, mask)
            return
        wide = self._convert("sext", off, I64) if off.type is I32 else off
        v = self._narrow(v, type)
        s = _ty(type, 1)
        for i in range(off.lanes):
            after = ""
            if mask is not None:
                bit = self._lane(mask, i) if mask.lanes > 1 else mask
                then, after = self._label(), self._label()
                self._out += [f"br i1 {bit.raw}, label %{then}, label %{after}", f"{then}:"]
            x = self._emit(f"extractelement {_ty(type, off.lanes)} {v.raw}, i32 {i}", type, 1)
            p = self._pointer(self._lane(wide, i))
            self._out.append(f"store {s} {x.raw}, ptr {p}, align {type.bytes}")
            if mask is not None:
                self._out += [f"br label %{after}", f"{after}:"]

    def _atomic(self, op: str, type: Type, off: Value, v: Value) -> Value:
        p, t = self._pointer(off), _ty(type, 1)
        return self._emit(f"atomicrmw {op} ptr {p}, {t} {v.raw} seq_cst, align {type.bytes}", type, 1)

    def _scatter_instruction(self, type: Type, off: Value, v: Value, mask: Value | None) -> None:
        """The scatter instruction of the CPU, which stores in lane order as well."""
        n, t = off.lanes, _ty(type, off.lanes)
        off = self._convert("trunc", off, I32) if off.type is I64 else off
        p = self._name()
        self._out.append(f"{p} = getelementptr i8, ptr %arena, {_ty(I32, n)} {off.raw}")
        name = f"llvm.masked.scatter.v{n}{_SUFFIX[type.name]}.v{n}p0"
        self._declared.add(f"declare void @{name}({t}, <{n} x ptr>, i32 immarg, <{n} x i1>)")
        where = self.const(True, BOOL, n) if mask is None else mask
        self._out.append(f"call void @{name}({t} {v.raw}, <{n} x ptr> {p}, i32 4, <{n} x i1> {where.raw})")

    # -- variables ----------------------------------------------------------------------------------------------
    def _var(self, type: Type, lanes: int) -> Var:
        slot = self._name()
        self._slots.append(f"{slot} = alloca {_ty(type, lanes)}")
        return Var(self, slot, type, lanes)

    def _get(self, v: Var) -> Value:
        return self._emit(f"load {_ty(v.type, v.lanes)}, ptr {v.slot}", v.type, v.lanes)

    def _set(self, v: Var, x: Value) -> None:
        self._out.append(f"store {_ty(v.type, v.lanes)} {x.raw}, ptr {v.slot}")

    def _array(self, size: int, type: Type, lanes: int) -> Array:
        slot = self._name()
        t = f"[{size} x {_ty(type, lanes)}]"
        self._slots.append(f"{slot} = alloca {t}")
        self._out.append(f"store {t} zeroinitializer, ptr {slot}")
        return Array(self, slot, size, type, lanes)

    def _element(self, a: Array, i: Value) -> str:
        if i.raw[0] != "%" and not 0 <= int(i.raw) < a.size:
            raise fail(f"array index {i.raw} outside 0..{a.size - 1}")
        r = self._name()
        self._out.append(f"{r} = getelementptr [{a.size} x {_ty(a.type, a.lanes)}], ptr {a.slot}, i32 0, i32 {i.raw}")
        return r

    def _array_get(self, a: Array, i: Value) -> Value:
        p = self._element(a, i)
        return self._emit(f"load {_ty(a.type, a.lanes)}, ptr {p}", a.type, a.lanes)

    def _array_set(self, a: Array, i: Value, x: Value) -> None:
        p = self._element(a, i)
        self._out.append(f"store {_ty(x.type, x.lanes)} {x.raw}, ptr {p}")

    # -- control flow -------------------------------------------------------------------------------------------
    @staticmethod
    def _weights(first: bool | None) -> str:
        """The metadata of a branch. first: whether its first way is the usual one, None for neither."""
        return "" if first is None else f", !prof !{0 if first else 1}"

    def _when(self, c: Value, usual: bool | None) -> Iterator[None]:
        then, after = self._label(), self._label()
        self._out += [f"br i1 {c.raw}, label %{then}, label %{after}{self._weights(usual)}", f"{then}:"]
        yield
        self._out += [f"br label %{after}", f"{after}:"]

    def _loop(self, condition: Callable[[], Value]) -> Iterator[None]:
        head, body, after = self._label(), self._label(), self._label()
        self._out += [f"br label %{head}", f"{head}:"]
        c = condition()
        self._out += [f"br i1 {c.raw}, label %{body}, label %{after}", f"{body}:"]
        yield
        self._out += [f"br label %{head}", f"{after}:"]

    def _range(self, lo: Value, hi: Value, step: int) -> Iterator[Value]:
        i = self._var(I32, 1)
        self._set(i, lo)
        one = self.const(step, I32)
        if step == 1 or (hi.raw[0] != "%" and int(hi.raw) + step <= 0x7FFFFFFF):  # i + step cannot wrap
            for _ in self._loop(lambda: self._compare("lt", self._get(i), hi)):
                current = self._get(i)
                yield current
                self._set(i, self._binary("add", current, one))
            return
        more = self._var(BOOL, 1)
        self._set(more, self._compare("lt", lo, hi))
        for _ in self._loop(lambda: self._get(more)):
            current = self._get(i)
            yield current
            self._set(more, self._compare("ult", one, self._binary("sub", hi, current)))
            self._set(i, self._binary("add", current, one))

    def _switch(self, selector: Value, cases: Sequence[Callable[[], Any]], usual: int | None) -> Any:
        outer = self._out
        traced: list[tuple[str, list[str], Any]] = []
        labels: dict[Callable[[], Any], str] = {}
        for case in dict.fromkeys(cases):
            labels[case], self._out = self._label(), []
            traced.append((labels[case], self._out, case()))
        self._out = outer
        # Lanes must agree as well: under NumPy only one case runs, and its lane count would be the result's.
        first = traced[0][2]
        shape = _shape(first)
        for n, (_, _, result) in enumerate(traced):
            if _shape(result) != shape:
                raise fail(f"case 0 of a switch or branch returns {first!r}, but case {n} returns {result!r}")
        after = self._label()
        arms = " ".join(f"i32 {i}, label %{labels[case]}" for i, case in enumerate(cases[:-1]))
        weights = self._weights(None if usual is None else usual == len(cases) - 1)  # the last one comes first
        self._out.append(f"switch i32 {selector.raw}, label %{labels[cases[-1]]} [ {arms} ]{weights}")
        results = [self._var(v.type, v.lanes) for v in _values(first)]
        for label, lines, result in traced:
            self._out.append(f"{label}:")
            self._out += lines
            for var, v in zip(results, _values(result), strict=True):
                self._set(var, v)
            self._out.append(f"br label %{after}")
        self._out.append(f"{after}:")
        if first is None:
            return None
        got = tuple(self._get(v) for v in results)
        return got[0] if isinstance(first, Value) else got

    def _graph(self, blocks: Sequence[Callable[[], Next]], start: int) -> None:
        labels = [self._label() for _ in blocks]
        end = self._label()
        self._out.append(f"br label %{labels[start]}")
        self._labels.append(labels)
        for label, block in zip(labels, blocks, strict=True):
            self._out.append(f"{label}:")
            self._go(block(), [*labels, end])  # target -1 is the last one
        self._labels.pop()
        self._out.append(f"{end}:")

    def _go(self, after: Next, labels: list[str]) -> None:
        if isinstance(after, int):
            self._out.append(f"br label %{labels[after]}")
        elif isinstance(after, Jump):
            values = range(len(after.targets) - 1) if after.values is None else after.values
            arms = " ".join(f"i32 {v}, label %{labels[t]}" for v, t in zip(values, after.targets, strict=False))
            self._out.append(f"switch i32 {after.selector.raw}, label %{labels[after.targets[-1]]} [ {arms} ]")
        else:
            ways = [labels[way] if isinstance(way, int) else self._label() for way in after[1:3]]
            weights = self._weights(after[3] if len(after) == 4 else None)
            self._out.append(f"br i1 {after[0].raw}, label %{ways[0]}, label %{ways[1]}{weights}")
            for label, way in zip(ways, after[1:3], strict=True):
                if not isinstance(way, int):
                    self._out.append(f"{label}:")
                    self._go(way, labels)

    def _escape(self, c: Value, target: int, before: Callable[[], None]) -> None:
        then, after = self._label(), self._label()
        self._out += [f"br i1 {c.raw}, label %{then}, label %{after}{self._weights(False)}", f"{then}:"]
        before()
        self._out += [f"br label %{self._labels[-1][target]}", f"{after}:"]

    def _invoke(self, function: Value, args: Sequence[Value]) -> None:
        p = self._name()
        self._out.append(f"{p} = inttoptr i64 {function.raw} to ptr")
        scalars = ", ".join(["ptr %arena"] + [f"{_ty(a.type, 1)} {a.raw}" for a in args])
        self._out.append(f"call void {p}({scalars})")
