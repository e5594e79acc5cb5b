"""Random programs: both evaluators must leave the same bytes.

A program is data, made from a seed before any evaluator sees it: nested lists of statements over typed values. Each
statement names its operands by their place in the list of values alive at that point. Several programs share one
kernel, because starting the compiler costs more than compiling a few statements.

Which NaN an arithmetic operation gives is outside the contract. So wherever a program turns a float into bits, or
stores one, it replaces every NaN by one fixed pattern; all else is compared bit for bit.

POCKETGPU_RANDOM_KERNELS=N runs N kernels instead of the usual number; POCKETGPU_RANDOM_SEED moves their seeds.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from pocketgpu.lanes import BOOL, F32, I8, I16, I32, I64, U8, U16, Array, Lang, Type, Value, Var, kernel

KERNELS = int(os.environ.get("POCKETGPU_RANDOM_KERNELS", "24"))
FIRST_SEED = int(os.environ.get("POCKETGPU_RANDOM_SEED", "1")) * 1_000_003
PROGRAMS = 10  # in one kernel
LANES = (4, 8, 16, 32)
MEMORY, MEMORY_BYTES = 0x2000, 0x4000  # one program's own memory; filled with random bytes
NAN = 0x7FC00000

Statement = tuple[Any, ...]
Kind = tuple[Type, bool]  # (type, whether it has lanes)

VALUE_TYPES = (I32, I64, F32, BOOL)
MEMORY_TYPES = (I32, I64, F32, U8, I8, U16, I16)
EDGES: dict[str, list[Any]] = {
    "i32": [0, 1, -1, 2, 7, 31, 32, 33, 255, -128, 0x7FFFFFFF, -0x80000000, 0xFFFFFFFF, 0x12345678, -33],
    "i64": [0, 1, -1, 63, 64, 65, -64, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 0x123456789ABCDEF],
    "f32": [0.0, -0.0, 1.0, -1.5, 0.1, 1e-45, -1e-40, 1e30, -3.4e38, 1e39, 16777217.0, float("inf"), float("-inf"),
            float("nan"), 2.5, 255.0, 2147483648.0],
    "bool": [True, False],
}  # fmt: skip
BINARY = {
    "i32": ("add", "sub", "mul", "and", "or", "xor", "shl", "ashr", "lshr", "min", "max", "udiv"),
    "i64": ("add", "sub", "mul", "and", "or", "xor", "shl", "ashr", "lshr", "min", "max", "udiv"),
    "f32": ("add", "sub", "mul", "div", "min", "max", "add", "mul"),
    "bool": ("and", "or", "xor"),
}
UNARY = {
    "i32": ("neg", "not", "abs", "to_f32", "bits_f32", "to_i64", "to_u64", "field", "splat", "lane", "shuffle",
            "reduce"),
    "i64": ("neg", "not", "abs", "low32", "splat", "lane", "shuffle"),
    "f32": ("neg", "abs", "floor", "sqrt", "to_i32", "bits_i32", "splat", "lane", "shuffle", "clamp"),
    "bool": ("not", "to_f32", "splat", "lane", "shuffle", "any", "all"),
}  # fmt: skip


class Writer:
    """Writes one program. `alive` are the kinds of the values in reach; what a block makes goes away with it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.alive: list[Kind] = []
        self.variables: list[Kind] = []
        self.arrays: list[Kind] = []
        self.left = self.random.randint(14, 34)
        self.depth = 0

    def program(self) -> list[Statement]:
        first = [(type, lanes) for type in (I32, F32, I64, I16) for lanes in (False, True)]
        body = [self.new("load", *kind, self.offset()) for kind in first]
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.choice(VALUE_TYPES), self.random.random() < 0.6
            body.append(("var", kind, self.operand(kind)))
            self.variables.append(kind)
        if self.random.random() < 0.6:
            kind = self.random.choice(VALUE_TYPES), self.random.random() < 0.6
            body.append(("array", kind))
            self.arrays.append(kind)
        body += self.block()
        while self.left > 0:
            body += self.block()
        # What the program shows for itself. Not every value: one that is only an operand may be optimised harder.
        body += [("show", i) for i in range(len(self.alive)) if self.random.random() < 0.6]
        body += [("show variable", i) for i in range(len(self.variables))]
        body += [("show array", i) for i in range(len(self.arrays))]
        return body

    # -- operands -----------------------------------------------------------------------------------------------
    def new(self, word: str, type: Type, lanes: bool, *rest: Any) -> Statement:
        """A statement that makes a value."""
        self.alive.append((type.value if type is not BOOL else BOOL, lanes))
        return (word, type, lanes, *rest)

    def offset(self) -> int:
        return 8 * self.random.randrange(MEMORY_BYTES // 8 - 32)

    def number(self, type: Type) -> Any:
        if type.is_int and self.random.random() < 0.3:
            return self.random.getrandbits(type.bits)
        return self.random.choice(EDGES[type.name])

    def find(self, type: Type, lanes: bool | None) -> int | None:
        """A value of this type; with `lanes` None a scalar or lanes. Mostly a recent one."""
        fits = [i for i, (t, n) in enumerate(self.alive) if t is type and lanes in (None, n)]
        if not fits:
            return None
        return fits[-1 - min(int(self.random.expovariate(0.25)), len(fits) - 1)]

    def operand(self, kind: Kind, besides: int | None = None) -> Any:
        """("value", i) or ("number", x) that fits exactly this kind (a scalar fits lanes)."""
        type, lanes = kind
        i = self.find(type, None if lanes else False) if self.random.random() < 0.85 else None
        if i is not None and i == besides:
            i = self.find(type, None if lanes else False)  # the same value twice is rarely interesting
        return ("number", self.number(type)) if i is None else ("value", i)

    # -- statements ---------------------------------------------------------------------------------------------
    def block(self) -> list[Statement]:
        """Some statements. Their values stay alive: whoever opens a scope forgets them when it ends."""
        lines = []
        for _ in range(self.random.randint(2, 6)):
            self.left -= 1
            choice = self.random.random()
            if choice < 0.30:
                lines.append(self.binary())
            elif choice < 0.50:
                lines.append(self.unary())
            elif choice < 0.58:
                lines.append(self.compare())
            elif choice < 0.66:
                lines.append(self.select())
            elif choice < 0.80:
                lines.append(self.memory())
            elif choice < 0.88:
                lines.append(self.variable())
            elif self.depth < 3 and self.left > 0:
                lines.append(self.control())
        return lines

    def pair(self, type: Type) -> tuple[Any, Any, bool] | None:
        i = self.find(type, None)
        if i is None:
            return None
        lanes = self.random.random() < 0.5 or self.alive[i][1]
        a, b = ("value", i), self.operand((type, lanes), i)
        made = self.alive[i][1] or (b[0] == "value" and self.alive[b[1]][1])
        return (a, b, made) if self.random.random() < 0.5 else (b, a, made)

    def binary(self) -> Statement:
        type = self.random.choice((I32, I32, F32, F32, I64, BOOL))
        operands = self.pair(type)
        if operands is None:
            return self.constant(type)
        a, b, lanes = operands
        return self.new("binary", type, lanes, self.random.choice(BINARY[type.name]), a, b)

    def constant(self, type: Type) -> Statement:
        if self.random.random() < 0.5:
            return self.new("pattern", type, True, [self.number(type) for _ in range(self.random.randint(1, 5))])
        return self.new("constant", type, self.random.random() < 0.5, self.number(type))

    def compare(self) -> Statement:
        type = self.random.choice(VALUE_TYPES)
        operands = self.pair(type)
        if operands is None:
            return self.constant(BOOL)
        words = ("eq", "ne") if type is BOOL else ("eq", "ne", "lt", "le", "gt", "ge")
        a, b, lanes = operands
        return self.new("compare", BOOL, lanes, self.random.choice((*words, "ult") if type.is_int else words), a, b)

    def select(self) -> Statement:
        type, mask = self.random.choice(VALUE_TYPES), self.find(BOOL, None)
        operands = self.pair(type)
        if operands is None or mask is None:
            return self.compare()
        a, b, lanes = operands
        return self.new("select", type, lanes or self.alive[mask][1], mask, a, b)

    def unary(self) -> Statement:
        type = self.random.choice(VALUE_TYPES)
        i = self.find(type, None)
        if i is None:
            return self.constant(type)
        lanes, words = self.alive[i][1], UNARY[type.name]
        word = self.random.choice(words if lanes else [w for w in words if w != "shuffle"])
        out = {"to_f32": F32, "bits_f32": F32, "to_i64": I64, "to_u64": I64, "low32": I32, "to_i32": I32,
               "bits_i32": I32, "any": BOOL, "all": BOOL}.get(word, type)  # fmt: skip
        lanes = {"splat": True, "lane": False, "reduce": False, "any": False, "all": False}.get(word, lanes)
        extra: Any = None
        if word == "field":
            width = self.random.randint(1, 32)
            extra = self.random.randint(0, 32 - width), width, self.random.random() < 0.5
        elif word == "lane":
            extra = self.random.randrange(4)
        elif word == "shuffle":
            extra = [self.random.randrange(4) for _ in range(self.random.randint(2, 5))]
        elif word == "reduce":
            extra = self.random.choice(("min", "max", "add"))
        elif word in ("to_i32", "clamp"):
            lo, hi = sorted(self.random.choice((0, 255, -128, 127, -2147483648, 2147483520, 65535)) for _ in "ab")
            extra = lo, hi
        return self.new("unary", out, lanes, word, i, extra)

    def memory(self) -> Statement:
        """Loads and stores at offsets that are computed and then held inside the program's memory."""
        type, lanes = self.random.choice(MEMORY_TYPES), self.random.random() < 0.6
        word = self.random.choice(("load", "load at", "gather", "gather", "store", "store", "scatter", "scatter"))
        if word == "load":
            return self.new("load", type, lanes, self.offset())
        index, mask = self.operand((I32, word in ("gather", "scatter"))), None
        if self.random.random() < 0.6:
            mask = self.find(BOOL, None if word in ("gather", "scatter", "store") else False)
        if word == "load at":
            return self.new("load at", type, lanes, index)
        if word == "gather":
            return self.new("gather", type, True, index, mask)
        return (word, type, lanes, index, self.operand((type.value, lanes or word == "scatter")), mask)

    def variable(self) -> Statement:
        if self.arrays and self.random.random() < 0.5:
            i = self.random.randrange(len(self.arrays))
            type, lanes = self.arrays[i]
            index = self.operand((I32, False))
            if self.random.random() < 0.5:
                return self.new("array get", type, lanes, i, index)
            return ("array set", i, index, self.operand((type, lanes)))
        i = self.random.randrange(len(self.variables))
        type, lanes = self.variables[i]
        if self.random.random() < 0.4:
            return self.new("get", type, lanes, i)
        return ("set", i, self.operand((type, lanes)))

    # -- control ------------------------------------------------------------------------------------------------
    def scope(self, *given: Kind) -> list[Statement]:
        mark = len(self.alive)
        self.alive += given
        lines = self.block() + self.outlive(mark)
        del self.alive[mark:]
        return lines

    def outlive(self, mark: int) -> list[Statement]:
        """Put some values that were made since `mark` where the end of their scope does not take them away."""
        made = [i for i in range(mark, len(self.alive)) if self.random.random() < 0.7]
        lines: list[Statement] = []
        for i in made[-4:]:
            type, lanes = self.alive[i]
            fits = [j for j, (t, n) in enumerate(self.variables) if t is type and (n or not lanes)]
            if fits and self.random.random() < 0.6:
                lines.append(("set", self.random.choice(fits), ("value", i)))
            elif type is not BOOL:
                lines.append(("store", type, lanes, self.operand((I32, False)), ("value", i), None))
        return lines

    def control(self) -> Statement:
        self.depth += 1
        word = self.random.choice(("when", "when", "range", "loop", "branch", "switch"))
        condition = self.operand((BOOL, False))
        statement: Statement
        if word == "when":
            statement = ("when", condition, self.scope())
        elif word == "range":
            lo, step, hi = self.random.randint(-3, 3), self.random.choice((1, 1, 2, 5)), self.operand((I32, False))
            statement = ("range", lo, hi, step, self.scope((I32, False)))  # the counter is alive inside
        elif word == "loop":
            self.variables.append((BOOL, False))  # reachable inside, and afterwards with what the last round left
            statement = ("loop", len(self.variables) - 1, condition, self.random.randint(1, 4), self.scope())
            del self.variables[-1]
        else:
            count = self.random.randint(0, 3)
            kinds = [(self.random.choice(VALUE_TYPES), self.random.random() < 0.5) for _ in range(count)]
            selector = condition if word == "branch" else self.operand((I32, False))
            cases = []
            for _ in range(2 if word == "branch" else self.random.randint(1, 4)):
                mark = len(self.alive)
                lines = self.block() + self.outlive(mark)
                cases.append((lines, [self.operand(kind) for kind in kinds]))
                del self.alive[mark:]
            self.alive += kinds
            statement = (word, selector, kinds, cases)
        self.depth -= 1
        return statement


class Runner:
    """Says one program in the words of the language, under whichever evaluator `k` is."""

    def __init__(self, k: Lang, base: int) -> None:
        self.k, self.base = k, base
        self.values: list[Value] = []
        self.variables: list[Var] = []
        self.arrays: list[Array] = []
        self.shown = 0

    def operand(self, o: Any) -> Any:
        return self.values[o[1]] if o[0] == "value" else o[1]

    def exact(self, o: Any, kind: Kind) -> Value:
        type, lanes = kind
        return self.k.fit(self.operand(o), type, self.k.lanes if lanes else 1)

    def bits(self, v: Value) -> Value:
        """The bits of a float with one NaN for all."""
        return self.k.select(v == v, self.k.bits_i32(v), NAN)

    def place(self, o: Any, type: Type, lanes: bool) -> Value:
        """A byte offset inside the program's memory, aligned, with room for 32 elements after it."""
        limit = MEMORY_BYTES // 2 - 1 & ~(type.bytes - 1)
        return (self.exact(o, (I32, lanes)) & limit) + self.base

    def run(self, lines: list[Statement]) -> None:
        for line in lines:
            getattr(self, "do_" + line[0].replace(" ", "_"))(*line[1:])

    def scope(self, lines: list[Statement]) -> None:
        mark = len(self.values)
        self.run(lines)
        del self.values[mark:]

    def do_constant(self, type: Type, lanes: bool, x: Any) -> None:
        self.values.append(self.k.const(x, type, self.k.lanes if lanes else 1))

    def do_pattern(self, type: Type, lanes: bool, xs: list[Any]) -> None:
        self.values.append(self.k.pattern(xs, type))

    def do_binary(self, type: Type, lanes: bool, word: str, a: Any, b: Any) -> None:
        x, y, k = self.operand(a), self.operand(b), self.k
        special = {"min": k.min, "max": k.max, "udiv": k.udiv}.get(word)
        self.values.append(special(x, y) if special else k.binary(word, x, y))

    def do_compare(self, type: Type, lanes: bool, word: str, a: Any, b: Any) -> None:
        self.values.append(self.k.compare(word, self.operand(a), self.operand(b)))

    def do_select(self, type: Type, lanes: bool, mask: int, a: Any, b: Any) -> None:
        self.values.append(self.k.select(self.values[mask], self.operand(a), self.operand(b)))

    def do_unary(self, type: Type, lanes: bool, word: str, i: int, extra: Any) -> None:
        k, v = self.k, self.values[i]
        words: dict[str, Any] = {
            "neg": lambda: -v, "not": lambda: ~v, "abs": lambda: k.abs(v), "to_f32": lambda: k.to_f32(v),
            "bits_f32": lambda: k.bits_f32(v),
            "to_i64": lambda: k.to_i64(v), "to_u64": lambda: k.to_i64(v, signed=False),
            "field": lambda: v.bits(*extra), "splat": lambda: k.splat(v), "lane": lambda: k.lane(v, extra),
            "shuffle": lambda: k.shuffle(v, [extra[j % len(extra)] ^ j & ~3 for j in range(k.lanes)]),
            "reduce": lambda: k.reduce(extra, v), "low32": lambda: k.low32(v), "floor": lambda: k.floor(v),
            "sqrt": lambda: k.sqrt(v), "to_i32": lambda: k.to_i32(v, *extra), "bits_i32": lambda: self.bits(v),
            "clamp": lambda: k.clamp(v, *extra), "any": lambda: k.any(v), "all": lambda: k.all(v),
        }  # fmt: skip
        self.values.append(words[word]())

    def do_load(self, type: Type, lanes: bool, offset: int) -> None:
        self.values.append(self.k.load(type, self.base + offset, self.k.lanes if lanes else 1))

    def do_load_at(self, type: Type, lanes: bool, index: Any) -> None:
        self.values.append(self.k.load(type, self.place(index, type, False), self.k.lanes if lanes else 1))

    def do_gather(self, type: Type, lanes: bool, index: Any, mask: int | None) -> None:
        chosen = None if mask is None else self.values[mask]
        self.values.append(self.k.gather(type, self.place(index, type, True), chosen))

    def do_store(self, type: Type, lanes: bool, index: Any, what: Any, mask: int | None) -> None:
        v = self.exact(what, (type.value, lanes))
        place, chosen = self.place(index, type, False), None if mask is None else self.values[mask]
        self.k.store(*((I32, place, self.bits(v)) if type is F32 else (type, place, v)), chosen)

    def do_scatter(self, type: Type, lanes: bool, index: Any, what: Any, mask: int | None) -> None:
        v = self.exact(what, (type.value, True))
        place, chosen = self.place(index, type, True), None if mask is None else self.values[mask]
        self.k.scatter(*((I32, place, self.bits(v)) if type is F32 else (type, place, v)), chosen)

    def do_var(self, kind: Kind, first: Any) -> None:
        self.variables.append(self.k.var(self.operand(first), kind[0], self.k.lanes if kind[1] else 1))

    def do_get(self, type: Type, lanes: bool, i: int) -> None:
        self.values.append(self.variables[i].value)

    def do_set(self, i: int, what: Any) -> None:
        self.variables[i].value = self.operand(what)

    def do_array(self, kind: Kind) -> None:
        self.arrays.append(self.k.array(4, kind[0], self.k.lanes if kind[1] else 1))

    def do_array_get(self, type: Type, lanes: bool, i: int, index: Any) -> None:
        self.values.append(self.arrays[i][self.exact(index, (I32, False)) & 3])

    def do_array_set(self, i: int, index: Any, what: Any) -> None:
        self.arrays[i][self.exact(index, (I32, False)) & 3] = self.operand(what)

    def do_when(self, condition: Any, lines: list[Statement]) -> None:
        for _ in self.k.when(self.exact(condition, (BOOL, False))):
            self.scope(lines)

    def do_range(self, lo: int, hi: Any, step: int, lines: list[Statement]) -> None:
        mark = len(self.values)
        for i in self.k.range(lo, (self.exact(hi, (I32, False)) & 7) - 3, step):
            self.values.append(i)
            self.run(lines)
            del self.values[mark:]

    def do_loop(self, place: int, condition: Any, limit: int, lines: list[Statement]) -> None:
        go, rounds = self.k.var(self.exact(condition, (BOOL, False))), self.k.var(0)
        self.variables.insert(place, go)
        for _ in self.k.loop(lambda: go.value & (rounds.value < limit)):
            rounds.value = rounds.value + 1
            self.scope(lines)
        del self.variables[place]

    def case(self, lines: list[Statement], results: list[Any], kinds: list[Kind]) -> Any:
        mark = len(self.values)
        self.run(lines)
        made = tuple(self.exact(o, kind) for o, kind in zip(results, kinds, strict=True))
        del self.values[mark:]
        return None if not made else made[0] if len(made) == 1 else made

    def do_branch(self, condition: Any, kinds: list[Kind], cases: list[Any]) -> None:
        bodies = [lambda c=c: self.case(*c, kinds) for c in cases]  # type: ignore[misc]
        self.keep(self.k.branch(self.exact(condition, (BOOL, False)), *bodies))

    def do_switch(self, selector: Any, kinds: list[Kind], cases: list[Any]) -> None:
        bodies = [lambda c=c: self.case(*c, kinds) for c in cases]  # type: ignore[misc]
        self.keep(self.k.switch(self.exact(selector, (I32, False)) & 7, bodies))

    def keep(self, results: Any) -> None:
        self.values += () if results is None else (results,) if isinstance(results, Value) else results

    def show(self, v: Value) -> None:
        if v.type is BOOL:
            v = self.k.select(v, 1, 0)
        elif v.type is F32:
            v = self.bits(v)
        self.k.store(v.type, self.base + MEMORY_BYTES + 256 * self.shown, v)
        self.shown += 1

    def do_show(self, i: int) -> None:
        self.show(self.values[i])

    def do_show_variable(self, i: int) -> None:
        self.show(self.variables[i].value)

    def do_show_array(self, i: int) -> None:
        for j in range(4):
            self.show(self.arrays[i][j])


SHOWN = 0x6000  # bytes for what a program shows
STRIDE = MEMORY_BYTES + SHOWN


@pytest.mark.parametrize("number", range(KERNELS))
def test_random_programs(both: Any, number: int) -> None:
    first, lanes = FIRST_SEED + number * PROGRAMS, LANES[number % len(LANES)]
    programs = [Writer(first + i).program() for i in range(PROGRAMS)]

    @kernel(lanes=lanes)
    def mixed(k: Lang) -> None:
        for i, body in enumerate(programs):
            runner = Runner(k, MEMORY + STRIDE * i)
            runner.run(body)
            if 256 * runner.shown > SHOWN:
                raise ValueError(f"program {first + i} shows {runner.shown} values")

    try:
        both.run(mixed)
    except AssertionError as error:
        where = int(str(error).split("0x", 1)[1].split(":")[0], 16)
        i, offset = divmod(where - MEMORY, STRIDE)
        shown = f"value {(offset - MEMORY_BYTES) // 256} shown" if offset >= MEMORY_BYTES else f"memory {offset:#x}"
        listing = "\n".join(map(repr, programs[i]))
        raise AssertionError(f"{lanes} lanes, seed {first + i}, first at {shown}:\n{error}\n{listing}") from None


def test_the_seeds_reach_every_word() -> None:
    """The programs of a usual run use each operation and each kind of control flow."""
    used: set[str] = set()

    def walk(x: Any) -> None:
        if isinstance(x, str):
            used.add(x)
        elif isinstance(x, list | tuple):
            for y in x:
                walk(y)

    for seed in range(1_000_003, 1_000_003 + 240):
        walk(Writer(seed).program())
    words = {w for table in (BINARY, UNARY) for row in table.values() for w in row}
    statements = {name[3:].replace("_", " ") for name in dir(Runner) if name.startswith("do_")}
    assert words | statements <= used
