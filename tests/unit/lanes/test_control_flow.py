"""Branches, loops, variables, arrays and calls: what runs, how often, and what is carried from one run to the next."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import BOOL, F32, I32, I64, Engine, Lang, Value, kernel

OUT = 0x2000
SRC = Path(__file__).resolve().parents[3] / "src"


def words(both: Any, count: int, at: int = OUT) -> list[int]:
    return both.read(np.int32, at, count).tolist()


# -- when and branches ------------------------------------------------------------------------------------------------


def test_when_runs_only_if_the_condition_holds(both: Any) -> None:
    @kernel(n=I32)
    def nested(k: Lang, n: Value) -> None:
        seen = k.var(0)
        for _ in k.when(n > 0):
            seen.value = seen.value | 1
            for _ in k.when(n > 10):
                seen.value = seen.value | 2
            for _ in k.when(k.const(False, BOOL)):
                seen.value = seen.value | 4
            for _ in k.when((n & 1) == 1):
                seen.value = seen.value | 8
        for _ in k.when(True):
            seen.value = seen.value | 16
        for _ in k.when(False):
            seen.value = seen.value | 32
        k.store(I32, OUT, seen.value)

    for n, expected in ((0, 16), (-5, 16), (2, 17), (3, 25), (12, 19), (13, 27)):
        both.run(nested, n)
        assert words(both, 1) == [expected]


def test_branch_results(both: Any) -> None:
    @kernel(lanes=8, n=I32)
    def pick(k: Lang, n: Value) -> None:
        lane = k.iota()
        one = k.branch(n > 5, lambda: lane + n, lambda: lane * n)
        a, b, c = k.branch(n > 5, lambda: (n, k.f32(1.5), lane > n), lambda: [n + 1, k.to_f32(n), lane < n])
        wide = k.branch(n == 0, lambda: k.i64(1 << 40), lambda: k.to_i64(n) << 40)
        k.store(I32, OUT, one)
        k.store(I32, OUT + 32, a)
        k.store(F32, OUT + 36, b)
        k.store(I32, OUT + 64, k.select(c, 1, 0))
        k.store(I64, OUT + 96, wide)
        assert k.branch(n == 0, lambda: None, lambda: None) is None
        assert k.branch(True, lambda: "first", lambda: "second") == "first"

    for n in (0, 5, 6, 7):
        both.run(pick, n)
        lane = np.arange(8)
        assert words(both, 8) == (lane + n if n > 5 else lane * n).tolist()
        assert words(both, 1, OUT + 32) == [n if n > 5 else n + 1]
        assert both.read(np.float32, OUT + 36, 1)[0] == (1.5 if n > 5 else n)
        assert words(both, 8, OUT + 64) == ((lane > n) if n > 5 else (lane < n)).astype(int).tolist()
        assert both.read(np.int64, OUT + 96, 1)[0] == (n or 1) << 40


def test_switch_outside_its_cases_takes_the_last(both: Any) -> None:
    @kernel(n=I32, case=I32)
    def choose(k: Lang, n: Value, case: Value, *, width: int, static: int) -> None:
        count = k.var(0)

        def arm(i: int) -> Value:
            count.value = count.value + (1 << i)
            return n * (i + 1)

        arms = [lambda i=i: arm(i) for i in range(width)]  # type: ignore[misc]
        k.store(I32, OUT, k.switch(case, arms))
        k.store(I32, OUT + 4, count.value)
        k.store(I32, OUT + 8, k.switch(static, arms))
        k.store(I32, OUT + 12, k.switch(k.i32(static), arms))

    for width in (1, 2, 5):
        for case in (0, 1, 2, 4, 5, 6, 100, -1, -(1 << 31), (1 << 31) - 1):
            both.run(choose, 7, case, width=width, static=case)
            taken = case if 0 <= case < width else width - 1
            assert words(both, 4) == [7 * (taken + 1), 1 << taken, 7 * (taken + 1), 7 * (taken + 1)]


def test_switch_in_a_loop_in_a_switch(both: Any) -> None:
    @kernel(n=I32)
    def machine(k: Lang, n: Value) -> None:
        a, steps = k.var(n), k.var(0)

        def halve() -> Value:
            return a.value >> 1

        def triple() -> Value:
            return k.switch(k.select(a.value > 1000, 1, 0), [lambda: a.value * 3 + 1, lambda: a.value * 3 + 1])

        for _ in k.loop(lambda: a.value != 1):
            a.value = k.switch(a.value & 1, [halve, triple])
            steps.value = steps.value + 1
        k.store(I32, OUT, steps.value)

    for n, steps in ((1, 0), (6, 8), (27, 111)):
        both.run(machine, n)
        assert words(both, 1) == [steps]


# -- loops ------------------------------------------------------------------------------------------------------------

TOP = (1 << 31) - 1
RANGES = [(0, 0), (0, 1), (5, 5), (6, 5), (-3, 4), (0, 10), (0, 11), (TOP - 20, TOP), (TOP, TOP), (-TOP - 1, -TOP + 30),
          (TOP, -TOP - 1), (TOP - 1, TOP)]  # fmt: skip


@pytest.mark.parametrize("step", [1, 2, 7, 16, 1 << 30, TOP])
def test_range_counts_like_pythons(both: Any, step: int) -> None:
    """Also next to the largest integer, where counting on would wrap."""

    @kernel(lo=I32, hi=I32)
    def count(k: Lang, lo: Value, hi: Value) -> None:
        n, mix, last = k.var(0), k.var(0), k.var(0)
        for i in k.range(lo, hi, step):
            n.value = n.value + 1
            mix.value = mix.value * 31 + i
            last.value = i
        for j, v in enumerate((n, mix, last)):
            k.store(I32, OUT + 4 * j, v.value)

    for lo, hi in RANGES:
        both.run(count, lo, hi)
        expected = np.zeros(3, np.int32)
        with np.errstate(over="ignore"):
            for i in range(lo, hi, step):
                expected[:] = expected[0] + 1, expected[1] * np.int32(31) + np.int32(i), i
        assert words(both, 3) == expected.tolist(), (lo, hi)


def test_range_with_constant_bounds_at_the_top(both: Any) -> None:
    @kernel()
    def count(k: Lang) -> None:
        n = k.var(0)
        for lo, hi, step in ((TOP - 9, TOP, 4), (0, TOP, 1 << 30), (-TOP - 1, TOP, TOP), (TOP - 3, TOP, 1)):
            for _ in k.range(lo, hi, step):
                n.value = n.value + 1
            n.value = n.value * 10
        k.store(I32, OUT, n.value)

    both.run(count)
    assert words(both, 1) == [((3 * 10 + 2) * 10 + 3) * 100 + 30]


def test_range_reads_its_bounds_once(both: Any) -> None:
    @kernel(n=I32)
    def grow(k: Lang, n: Value) -> None:
        hi, count = k.var(n), k.var(0)
        for _ in k.range(count.value, hi.value):
            hi.value = hi.value + 5
            count.value = count.value + 1
        k.store(I32, OUT, hi.value)
        k.store(I32, OUT + 4, count.value)

    both.run(grow, 4)
    assert words(both, 2) == [24, 4]


def test_nested_loops_carry_variables_of_all_types(both: Any) -> None:
    @kernel(lanes=8, n=I32, m=I32)
    def carry(k: Lang, n: Value, m: Value) -> None:
        ints, wide = k.var(k.iota()), k.var(k.i64(1))
        real, flag, flags = k.var(0.5), k.var(False), k.var(k.iota() > 3)
        for i in k.range(0, n):
            inner = k.var(i)  # made again by each run of the body
            for j in k.range(i, m, 2):
                ints.value = ints.value * 3 + j
                inner.value = inner.value + 1
                for _ in k.loop(lambda: inner.value > 4):  # noqa: B023 - called while tracing this body
                    inner.value = inner.value - 4
                    flag.value = ~flag.value
            wide.value = wide.value * 0x10001 + k.to_i64(inner.value)
            real.value = real.value * 1.25 + k.to_f32(i)
            flags.value = flags.value ^ (ints.value < 0) ^ flag.value
        k.store(I32, OUT, ints.value)
        k.store(I64, OUT + 32, wide.value)
        k.store(F32, OUT + 40, real.value)
        k.store(I32, OUT + 44, k.select(flag.value, 1, 0))
        k.store(I32, OUT + 64, k.select(flags.value, 1, 0))

    for n, m in ((0, 9), (3, 0), (5, 9), (9, 20)):
        both.run(carry, n, m)
        ints, wide, real, flag, flags = [*range(8)], 1, np.float32(0.5), False, [i > 3 for i in range(8)]
        for i in range(n):
            inner = i
            for j in range(i, m, 2):
                ints = [(x * 3 + j + (1 << 31)) % (1 << 32) - (1 << 31) for x in ints]
                inner += 1
                while inner > 4:
                    inner -= 4
                    flag = not flag
            wide = wide * 0x10001 + inner
            real = real * np.float32(1.25) + np.float32(i)
            flags = [f ^ (x < 0) ^ flag for f, x in zip(flags, ints, strict=True)]
        assert words(both, 8) == ints
        assert both.read(np.uint64, OUT + 32, 1)[0] == wide % (1 << 64)
        assert both.read(np.float32, OUT + 40, 1)[0] == real
        assert words(both, 1, OUT + 44) == [flag]
        assert words(both, 8, OUT + 64) == flags


def test_loop_condition_is_computed_afresh(both: Any) -> None:
    @kernel(lanes=8, n=I32)
    def drain(k: Lang, n: Value) -> None:
        left, rounds = k.var(k.iota() + n), k.var(0)
        for _ in k.loop(lambda: k.any(left.value > 0) & (rounds.value < 100)):
            left.value = left.value - k.select(left.value > 0, 3, 0)
            rounds.value = rounds.value + 1
        k.store(I32, OUT, left.value)
        k.store(I32, OUT + 32, rounds.value)

    for n in (-20, 0, 5, 1000):
        both.run(drain, n)
        left, rounds = np.arange(8) + n, 0
        while (left > 0).any() and rounds < 100:
            left, rounds = left - 3 * (left > 0), rounds + 1
        assert words(both, 8) == left.tolist()
        assert words(both, 1, OUT + 32) == [rounds]


# -- variables and arrays ---------------------------------------------------------------------------------------------


def test_a_read_value_does_not_follow_its_variable(both: Any) -> None:
    @kernel(lanes=8, n=I32)
    def swap(k: Lang, n: Value) -> None:
        a, b = k.var(n), k.var(n + 1)
        x, y = a.value, b.value
        a.value, b.value = y, x
        table = k.array(2)
        old = table[0]
        table[0] = k.iota()
        k.store(I32, OUT, a.value)
        k.store(I32, OUT + 4, b.value)
        k.store(I32, OUT + 32, old)

    both.run(swap, 7)
    assert words(both, 2) == [8, 7]
    assert words(both, 8, OUT + 32) == [0] * 8


def test_variables_take_numbers_and_scalars(both: Any) -> None:
    @kernel(lanes=8, n=I32)
    def declare(k: Lang, n: Value) -> None:
        made = [k.var(3), k.var(3, lanes=8), k.var(n, lanes=8), k.var(2.5), k.var(2, F32), k.var(True), k.var(-1, I64)]
        assert [(str(v.type), v.lanes) for v in made] == [
            ("i32", 1), ("i32", 8), ("i32", 8), ("f32", 1), ("f32", 1), ("bool", 1), ("i64", 1),
        ]  # fmt: skip
        made[1].value = n
        made[6].value = 1 << 63
        k.store(I32, OUT, made[1].value)
        k.store(I64, OUT + 32, made[6].value)

    both.run(declare, 9)
    assert words(both, 8) == [9] * 8
    assert both.read(np.int64, OUT + 32, 1)[0] == -(1 << 63)


@pytest.mark.parametrize("lanes", [1, 8, 32])
def test_arrays_with_dynamic_index(both: Any, lanes: int) -> None:
    @kernel(lanes=max(lanes, 4), n=I32)
    def histogram(k: Lang, n: Value) -> None:
        ints, wide = k.array(8, I32, lanes), k.array(4, I64, lanes)
        reals, flags = k.array(3, F32, lanes), k.array(5, BOOL, lanes)
        for i in k.range(0, n):
            slot = (i * 5) & 7
            ints[slot] = ints[slot] + ints[(i + 1) & 7] + i + 1
            wide[i & 3] = wide[(i + 3) & 3] + k.to_i64(ints[0] << 8)
            reals[k.select((i & 3) == 3, 0, i & 3)] = reals[2] + 0.5
            flags[k.udiv(i, 3) & 3] = ~flags[4] ^ (ints[slot] > 9)
        for j in range(8):
            k.store(I32, OUT + 128 * j, ints[j])
        for j in range(4):
            k.store(I64, OUT + 0x800 + 256 * j, wide[j])
            k.store(I32, OUT + 0x1000 + 128 * j, k.select(flags[j], 1, 0))
        for j in range(3):
            k.store(F32, OUT + 0x1800 + 128 * j, reals[j])

    for n in (0, 1, 7, 30):
        both.run(histogram, n)
        ints, wide, reals, flags = [0] * 8, [0] * 4, [0.0] * 3, [False] * 5
        for i in range(n):
            slot = i * 5 & 7
            ints[slot] = (ints[slot] + ints[(i + 1) & 7] + i + 1) & 0xFFFFFFFF
            first = ints[0] - (ints[0] >> 31 << 32)
            wide[i & 3] = wide[(i + 3) & 3] + ((first << 8) + (1 << 31)) % (1 << 32) - (1 << 31)
            reals[0 if i & 3 == 3 else i & 3] = reals[2] + 0.5
            flags[i // 3 & 3] = (not flags[4]) ^ (ints[slot] > 9)
        for j in range(8):
            assert both.read(np.uint32, OUT + 128 * j, lanes).tolist() == [ints[j]] * lanes
        for j in range(4):
            assert both.read(np.int64, OUT + 0x800 + 256 * j, lanes).tolist() == [wide[j]] * lanes
            assert words(both, lanes, OUT + 0x1000 + 128 * j) == [flags[j]] * lanes
        for j in range(3):
            assert both.read(np.float32, OUT + 0x1800 + 128 * j, lanes).tolist() == [reals[j]] * lanes


def test_the_largest_array_starts_at_zero_each_time(both: Any) -> None:
    """Clearing this much is a call of the C library's memset, which the compiled object has to find."""

    @kernel(lanes=8, n=I32)
    def big(k: Lang, n: Value) -> None:
        table, total = k.array(2048), k.var(0)
        table[n & 2047] = k.iota()
        for i in k.range(0, 2048):
            total.value = total.value + k.reduce("add", table[i])
        k.store(I32, OUT, total.value)

    for n in (3, 2047, 1024):
        both.run(big, n)
        assert words(both, 1) == [28]


# -- specialisations and calls ----------------------------------------------------------------------------------------


def test_static_values_specialise(both: Any) -> None:
    """Values that Python finds equal are still different statics."""

    @kernel()
    def show(k: Lang, *, what: Any) -> None:
        text = f"{what!r:<12}"[:12].encode()
        for i in range(0, 12, 4):
            k.store(I32, OUT + i, int.from_bytes(text[i : i + 4], "little"))

    for what in (1, True, 1.0, "1", (2, "x"), None, 0, False):
        both.run(show, what=what)
        assert both.read(np.uint8, OUT, 12).tobytes().decode().rstrip() == repr(what)
    for engine in both.engines.values():
        assert engine.get(show, what=1) is engine.get(show, what=1)
        assert engine.get(show, what=1) is not engine.get(show, what=True)
        with pytest.raises(TypeError, match="unhashable"):
            engine.get(show, what=[1])


def test_invoke_calls_other_kernels(both: Any) -> None:
    """Through handles that are arguments, read from memory or computed; with all kinds of scalars; nested."""

    @kernel(at=I32, a=I32, b=I64, f=F32)
    def leaf(k: Lang, at: Value, a: Value, b: Value, f: Value, *, scale: int) -> None:
        k.store(I32, at, k.load(I32, at) + a * scale + k.low32(b.lsr(40)) + k.to_i32(f, -1000, 1000))

    @kernel(function=I64, at=I32, n=I32)
    def middle(k: Lang, function: Value, at: Value, n: Value) -> None:
        for i in k.range(0, n):
            k.invoke(function, at, i, k.i64(-1), k.to_f32(i) + 0.75)

    @kernel(lanes=16, table=I64, inner=I64, n=I32)
    def outer(k: Lang, table: Value, inner: Value, n: Value) -> None:
        k.invoke(inner, k.load(I64, OUT), k.i32(OUT + 64), n)
        for i in k.range(0, 2):
            k.invoke(inner, k.load(I64, k.to_i64(i * 8) + OUT), (i << 2) + (OUT + 64), n)
        for _ in k.when(n > 100):
            k.invoke(table, k.i32(OUT), n, k.i64(0), k.f32(0.0))

    both.fill(np.zeros(32, np.int32), OUT)
    for engine, arena in ((both.engines[name], both.arenas[name]) for name in both.engines):
        arena[OUT : OUT + 16].view(np.int64)[:] = engine.handle(leaf, scale=10), engine.handle(leaf, scale=1000)
        engine.get(outer)(0, engine.handle(middle), 4)
        arena[OUT : OUT + 16] = 0  # handles differ from engine to engine
    both.compare()
    part = sum(i + (1 << 24) - 1 + int(i + 0.75) - i for i in range(4))
    assert words(both, 2, OUT + 64) == [2 * (part + 60), part + 6000 + 0]


def test_handles_are_stable(both: Any) -> None:
    @kernel(n=I32)
    def body(k: Lang, n: Value, *, a: int, b: int) -> None:
        k.store(I32, OUT, n * a + b)

    for engine in both.engines.values():
        assert engine.handle(body, a=1, b=2) == engine.handle(body, a=1, b=2)
        assert engine.handle(body, a=1, b=2) != engine.handle(body, a=2, b=1)


@pytest.mark.parametrize("name", ["<lambda>", "größe", "main", "memset", "floor", "a.b"])
def test_any_name_will_do(both: Any, name: str) -> None:
    def body(k: Lang) -> None:
        k.store(F32, OUT, k.floor(k.load(F32, 0) + 2.5))

    body.__name__ = name
    both.run(kernel()(body))
    assert both.read(np.float32, OUT, 1)[0] == 2.0


# -- threads and processes --------------------------------------------------------------------------------------------


def test_many_threads_ask_for_the_same_kernels(evaluator: str) -> None:
    """One specialisation is made once; threads that compile and threads that run do not disturb each other."""
    engine = Engine(np.zeros(1 << 16, np.uint8), evaluator)
    made: list[int] = []

    @kernel(at=I32, n=I32)
    def work(k: Lang, at: Value, n: Value, *, factor: int) -> None:
        made.append(factor)
        k.store(I32, at, n * factor)

    start, got, wrong = threading.Barrier(6), [[] for _ in range(6)], []

    def ask(me: int) -> None:
        start.wait()
        for factor in range(8):
            run = engine.get(work, factor=factor)
            got[me].append(run)
            run(4096 + 4 * me, 11)
            if engine._arena[4096 + 4 * me : 4100 + 4 * me].view(np.int32)[0] != 11 * factor:
                wrong.append((me, factor))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not wrong
    assert all(g == got[0] for g in got)
    if evaluator == "llvm":
        assert sorted(made) == list(range(8))


def test_tracing_may_ask_for_other_kernels(evaluator: str) -> None:
    """A body that needs the handle of a helper while it is traced does not lock itself out."""
    engine = Engine(np.zeros(1 << 16, np.uint8), evaluator)

    @kernel(n=I32)
    def helper(k: Lang, n: Value) -> None:
        k.store(I32, 4096, n + 1)

    @kernel(n=I32)
    def caller(k: Lang, n: Value) -> None:
        k.invoke(k.i64(engine.handle(helper)), n * 2)

    engine.get(caller)(20)
    assert engine._arena[4096:4100].view(np.int32)[0] == 41


def test_a_callable_keeps_its_arena_alive() -> None:
    arena = np.zeros(1 << 16, np.uint8)

    @kernel()
    def touch(k: Lang) -> None:
        k.store(I32, 4096, 1)

    before = sys.getrefcount(arena)
    run = Engine(arena).get(touch)
    assert sys.getrefcount(arena) > before
    run()
    assert arena[4096] == 1


FORK = """
import os, signal, sys, threading
import numpy as np
from pocketgpu.lanes import *

@kernel(n=I32)
def work(k, n, *, salt):
    k.store(I32, 4096, n * salt + salt)

arena = np.zeros(1 << 16, np.uint8)
engine = Engine(arena)
stop = False

def compile_on():
    salt = 1000
    while not stop:
        engine.get(work, salt=salt)(1)
        salt += 1

thread = threading.Thread(target=compile_on)
thread.start()
codes = []
for i in range(6):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs on an inherited lock dies
        engine.get(work, salt=100 + i)(2)
        os._exit(0 if arena[4096:4100].view(np.int32)[0] == 3 * (100 + i) else 1)
    codes.append(os.waitpid(child, 0)[1])
stop = True
thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_compiles_on(tmp_path: Path) -> None:
    """A fork while another thread is compiling leaves the child with a working compiler."""
    result = subprocess.run(
        [sys.executable, "-c", FORK],
        env={**os.environ, "PYTHONPATH": str(SRC), "POCKETGPU_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout.strip() == str([0] * 6), result.stderr
