"""A mistake in a kernel is a LaneError that names the line of the kernel, the same under both evaluators."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import BOOL, F32, I32, I64, U8, U16, Engine, Kernel, LaneError, Lang, Type, Value, kernel

Body = Callable[[Lang, Value, Value], Any]

# Each body gets a scalar i32 `n` and lanes `v` of i32; the pattern is what the message must say.
MISTAKES: dict[str, tuple[Body, str]] = {
    "truth of a value": (lambda k, n, v: 1 if n else 2, "no Python truth"),
    "chained comparison": (lambda k, n, v: 0 < n < 5, "no Python truth"),
    "membership": (lambda k, n, v: n in [5], "no Python truth"),
    "types mixed": (lambda k, n, v: n + k.f32(1.0), r"add of <i32> and <f32>: convert"),
    "widths mixed": (lambda k, n, v: n + k.i64(1), r"add of <i32> and <i64>"),
    "float number with i32": (lambda k, n, v: n * 1.5, r"mul of <i32> and the Python float 1.5"),
    "float number on the left": (lambda k, n, v: 1.5 - n, r"sub of the Python float 1.5 and <i32>"),
    "numpy float": (lambda k, n, v: n * np.float32(1.5), "integer constant"),
    "division of integers": (lambda k, n, v: n / 2, "div is not defined for i32"),
    "shift of floats": (lambda k, n, v: k.f32(1.0) << 2, "shl is not defined for f32"),
    "sum of bools": (lambda k, n, v: (n > 1) + (n > 2), "add is not defined for bool"),
    "order of bools": (lambda k, n, v: (n > 1) < (n > 2), "lt is not defined for bool"),
    "unsigned order of floats": (lambda k, n, v: k.f32(1.0).below(2.0), "ult is not defined for f32"),
    "unguarded division": (lambda k, n, v: k.binary("udiv", n, n), "udiv is not defined"),
    "negated bool": (lambda k, n, v: -(n > 1), "neg needs f32 or i32 or i64, got <bool>"),
    "udiv of floats": (lambda k, n, v: k.udiv(k.f32(1.0), 2.0), "udiv is not defined for f32"),
    "lane counts": (lambda k, n, v: v + k.load(I32, 4096, 4), "<8 x i32> and <4 x i32>: lane counts differ"),
    "operation on None": (lambda k, n, v: n + None, "None is no integer constant"),
    "floor of a number": (lambda k, n, v: k.floor(1.5), "floor needs f32, got 1.5"),
    "sqrt of an integer": (lambda k, n, v: k.sqrt(n), "sqrt needs f32, got <i32>"),
    "two numbers": (lambda k, n, v: k.min(1, 2), "min needs at least one lane value"),
    "select without a mask": (lambda k, n, v: k.select(n, 1, 2), "select needs a bool mask, got <i32>"),
    "select of two kinds": (lambda k, n, v: k.select(n > 1, n, 2.5), "Python float"),
    "select of bool and number": (lambda k, n, v: k.select(n > 1, True, 2), "2 is no bool constant"),
    "select mask of other lanes": (lambda k, n, v: k.select(k.load(I32, 4096, 4) > 0, v, 0), "does not fit"),
    "bounds of to_i32": (lambda k, n, v: k.to_i32(k.f32(0.0), 0, 2147483647), "do not fit i32"),
    "bounds crossed": (lambda k, n, v: k.to_i32(k.f32(0.0), 5, 4), "do not fit i32"),
    "bounds NaN": (lambda k, n, v: k.to_i32(k.f32(0.0), float("nan"), 4), "do not fit i32"),
    "to_i32 of an integer": (lambda k, n, v: k.to_i32(n, 0, 1), "to_i32 needs f32"),
    "to_f32 of i64": (lambda k, n, v: k.to_f32(k.i64(1)), "to_f32 needs i32 or bool"),
    "bits_f32": (lambda k, n, v: k.bits_f32(k.f32(1.0)), "bits_f32 needs i32"),
    "bits_i32": (lambda k, n, v: k.bits_i32(n), "bits_i32 needs f32"),
    "to_i64": (lambda k, n, v: k.to_i64(k.i64(1)), "to_i64 needs i32"),
    "low32": (lambda k, n, v: k.low32(n), "low32 needs i64"),
    "bit field too wide": (lambda k, n, v: n.bits(30, 3), "no 3 bits at bit 30 of <i32>"),
    "empty bit field": (lambda k, n, v: n.bits(3, 0), "no 0 bits"),
    "bit field of i64": (lambda k, n, v: k.i64(1).bits(0, 8), "of <i64>"),
    "any of integers": (lambda k, n, v: k.any(v), "any needs bool, got <8 x i32>"),
    "all of integers": (lambda k, n, v: k.all(v), "all needs bool"),
    "reduce of floats": (lambda k, n, v: k.reduce("add", k.to_f32(v)), "reduce needs i32, got <8 x f32>"),
    "reduce by product": (lambda k, n, v: k.reduce("mul", v), "reduce knows min, max and add"),
    "lane out of range": (lambda k, n, v: k.lane(v, 8), "lane 8 of <8 x i32>"),
    "lane from the end": (lambda k, n, v: k.lane(v, -1), "lane -1"),
    "shuffle of scalars": (lambda k, n, v: k.shuffle(n, [0, 0]), "shuffle of <i32> and <i32>"),
    "shuffle of two types": (lambda k, n, v: k.shuffle(v, [0, 1], k.to_f32(v)), "shuffle of <8 x i32> and <8 x f32>"),
    "shuffle beyond both": (lambda k, n, v: k.shuffle(v, [0, 16], v), r"places \[0, 16\] outside 0\.\.15"),
    "shuffle from the end": (lambda k, n, v: k.shuffle(v, [0, -1]), "outside 0"),
    "shuffle of nothing": (lambda k, n, v: k.shuffle(v, []), "outside 0"),
    "constant of a memory type": (lambda k, n, v: k.const(1, U8), "no constant of type u8"),
    "integer constant from a float": (lambda k, n, v: k.i32(1.5), "1.5 is no integer constant"),
    "bool constant": (lambda k, n, v: k.const(7, BOOL), "7 is no bool constant"),
    "float constant from text": (lambda k, n, v: k.f32("x"), "no float constant"),
    "constant from a value": (lambda k, n, v: k.const(n, F32), "<i32> is no constant of type f32"),
    "empty pattern": (lambda k, n, v: k.pattern([]), "empty pattern"),
    "pattern of floats": (lambda k, n, v: k.pattern([1.5]), "1.5 is no integer constant"),
    "lanes into a scalar": (lambda k, n, v: k.var(v, lanes=4), "does not fit into 4"),
    "load at lanes": (lambda k, n, v: k.load(I32, v), "take scalar offsets, not <8 x i32>"),
    "gather at a scalar": (lambda k, n, v: k.gather(I32, n), "take lane offsets, not <i32>"),
    "float offset": (lambda k, n, v: k.load(I32, k.f32(0.0)), "an offset is an integer"),
    "bool in memory": (lambda k, n, v: k.load(BOOL, 4096), "memory holds no bools"),
    "store of another type": (lambda k, n, v: k.store(F32, 4096, n), "expected f32, got <i32>"),
    "float into bytes": (lambda k, n, v: k.store(U8, 4096, 0.5), "0.5 is no integer constant"),
    "store mask": (lambda k, n, v: k.store(I32, 4096, v, v), "needs a bool mask"),
    "store mask of other lanes": (lambda k, n, v: k.store(I32, 4096, v, k.load(I32, 4096, 4) > 0), "does not fit"),
    "gather mask": (lambda k, n, v: k.gather(I32, v * 4, v), "needs a bool mask"),
    "scatter mask": (lambda k, n, v: k.scatter(I32, v * 4, v, v), "expected bool, got <8 x i32>"),
    "scatter mask of other lanes": (lambda k, n, v: k.scatter(I32, v, v, k.load(I32, 4096, 4) > 0), "does not fit"),
    "when with lanes": (lambda k, n, v: list(k.when(v > 1)), "got <8 x bool>; use k.any"),
    "when with a number": (lambda k, n, v: list(k.when(n)), "when needs a scalar condition"),
    "branch with lanes": (lambda k, n, v: k.branch(v > 1, lambda: n, lambda: n), "branch needs a scalar condition"),
    "loop with lanes": (lambda k, n, v: list(k.loop(lambda: v > 1)), "loop needs a scalar condition"),
    "range of lanes": (lambda k, n, v: list(k.range(0, v)), "does not fit into 1"),
    "range in i64": (lambda k, n, v: list(k.range(0, k.i64(5))), "expected i32, got <i64>"),
    "range downwards": (lambda k, n, v: list(k.range(5, 0, -1)), "counts up by a constant, not by -1"),
    "range standing still": (lambda k, n, v: list(k.range(0, 5, 0)), "counts up"),
    "range by a value": (lambda k, n, v: list(k.range(0, 5, n)), "counts up by a constant, not by <i32>"),
    "switch on lanes": (lambda k, n, v: k.switch(v, [lambda: None]), "switch needs a scalar i32 selector"),
    "switch on i64": (lambda k, n, v: k.switch(k.i64(1), [lambda: None]), "switch needs a scalar i32 selector"),
    "switch without cases": (lambda k, n, v: k.switch(n, []), "without cases"),
    "case that returns a number": (lambda k, n, v: k.switch(n, [lambda: 5]), "a case returns a value"),
    "variable of another type": (lambda k, n, v: k.var(n, F32), "expected f32, got <i32>"),
    "variable of a memory type": (lambda k, n, v: k.var(1, U16), "no constant of type u16"),
    "lanes into a scalar variable": (lambda k, n, v: setattr(k.var(n), "value", v), "does not fit into 1 lanes"),
    "float into an integer variable": (lambda k, n, v: setattr(k.var(n), "value", 2.5), "2.5 is no integer constant"),
    "array index": (lambda k, n, v: k.array(4)[4], r"array index 4 outside 0\.\.3"),
    "negative array index": (lambda k, n, v: k.array(4)[-1], "array index -1"),
    "constant array index": (lambda k, n, v: k.array(4)[k.i32(4)], "array index 4 outside"),
    "array index of lanes": (lambda k, n, v: k.array(8)[v], "must be a scalar i32, not <8 x i32>"),
    "array of a memory type": (lambda k, n, v: k.array(4, U8), "no array of 4 x 8 u8"),
    "array too large": (lambda k, n, v: k.array(4096), "belong into the arena"),
    "empty array": (lambda k, n, v: k.array(0), "no array of 0"),
    "invoke of an i32": (lambda k, n, v: k.invoke(n), "invoke needs a scalar i64 handle, got <i32>"),
    "invoke with lanes": (lambda k, n, v: k.invoke(k.i64(1), v), "invoke passes scalar"),
    "invoke with a bool": (lambda k, n, v: k.invoke(k.i64(1), n > 0), "invoke passes scalar"),
    "invoke with a number": (lambda k, n, v: k.invoke(k.i64(1), 5), "invoke passes scalar"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_name_their_line(engine: Engine, mistake: str) -> None:
    body, message = MISTAKES[mistake]

    @kernel(lanes=8, n=I32)
    def wrong(k: Lang, n: Value) -> None:
        v = k.iota()
        body(k, n, v)

    with pytest.raises(LaneError, match=message) as caught:
        engine.get(wrong)(1)
    text = str(caught.value)
    found = re.search(r"\n  in (.*):(\d+): (.*)", text)
    assert found, text
    assert found[1] == __file__
    assert f'"{mistake}": (' in found[3]


# -- control flow that is left early ----------------------------------------------------------------------------------


def leave_when(k: Lang, n: Value) -> None:
    for _ in k.when(n > 0):  # left
        break


def leave_range(k: Lang, n: Value) -> None:
    for i in k.range(0, n):  # left
        k.store(I32, 4096, i)
        break


def leave_loop(k: Lang, n: Value) -> None:
    for _ in k.loop(lambda: n > 0):  # left
        return


def leave_inner(k: Lang, n: Value) -> None:
    for _ in k.range(0, n):
        for _ in k.when(n > 0):  # left
            break


def leave_outer(k: Lang, n: Value) -> None:
    for _ in k.range(0, n):  # left
        for _ in k.when(n > 0):
            pass
        break
    for _ in k.range(0, n):
        pass


def leave_case(k: Lang, n: Value) -> None:
    def case() -> Any:
        for _ in k.when(n > 0):  # left
            return n
        return n

    k.switch(n, [case, case])


def leave_by_exception(k: Lang, n: Value) -> None:
    try:
        for _ in k.when(n > 0):  # left
            raise KeyError
    except KeyError:
        pass


EARLY = [leave_when, leave_range, leave_loop, leave_inner, leave_outer, leave_case, leave_by_exception]


@pytest.mark.parametrize("body", EARLY)
def test_leaving_control_flow_is_noticed(engine: Engine, body: Callable[..., None]) -> None:
    """Machine code cannot honour a break: both evaluators refuse it, and show where the construct begins."""
    with pytest.raises(LaneError, match="left early: do not break") as caught:
        engine.get(kernel(lanes=8, n=I32)(body))(1)
    assert "# left" in str(caught.value)
    assert __file__ in str(caught.value)


def test_leaving_a_python_decision_is_fine(engine: Engine) -> None:
    """`when` with a Python bool is decided while tracing, so Python may leave it; `continue` ends one body."""

    @kernel(lanes=8, n=I32)
    def early(k: Lang, n: Value) -> None:
        for _ in k.when(True):
            break
        count = k.var(0)
        for _ in k.range(0, n):
            count.value = count.value + 1
            continue
        k.store(I32, 4096, count.value)

    engine.get(early)(5)
    assert engine._arena[4096] == 5


# -- what only one evaluator can see ----------------------------------------------------------------------------------


def test_a_value_used_outside_of_its_branch() -> None:
    """While tracing, the Python variable exists; in machine code its value does not. LLVM's refusal is translated."""

    @kernel(n=I32)
    def leak(k: Lang, n: Value) -> None:
        for _ in k.when(n > 3):
            inner = n + 77  # made inside
        k.store(I32, 4096, inner)

    with pytest.raises(LaneError, match="LLVM refuses kernel leak") as caught:
        Engine(np.zeros(8192, np.uint8)).get(leak)
    assert "carry it in a k.var" in str(caught.value)
    assert "inner = n + 77  # made inside" in str(caught.value)


def test_a_loop_counter_used_after_its_loop() -> None:
    @kernel(n=I32)
    def leak(k: Lang, n: Value) -> None:
        for i in k.range(0, n, 3):  # the counter
            k.store(I32, 4096, i)
        k.store(I32, 4096, i)

    with pytest.raises(LaneError, match="LLVM refuses kernel leak") as caught:
        Engine(np.zeros(8192, np.uint8)).get(leak)
    assert "# the counter" in str(caught.value)


CASES: list[tuple[Body, Body, str]] = [
    (lambda k, n, v: n, lambda k, n, v: v, "case 0 .* returns <i32>, but case 1 returns <8 x i32>"),
    (lambda k, n, v: n, lambda k, n, v: k.f32(1.0), "returns <i32>, but case 1 returns <f32>"),
    (lambda k, n, v: n, lambda k, n, v: None, "returns <i32>, but case 1 returns None"),
    (lambda k, n, v: None, lambda k, n, v: n, "returns None, but case 1 returns <i32>"),
    (lambda k, n, v: (n, n), lambda k, n, v: (n,), r"returns \(<i32>, <i32>\)"),
    (lambda k, n, v: n, lambda k, n, v: (n,), r"returns <i32>, but case 1 returns \(<i32>,\)"),
    (lambda k, n, v: (), lambda k, n, v: None, r"returns \(\), but case 1 returns None"),
]


@pytest.mark.parametrize(("first", "second", "message"), CASES)
def test_cases_must_return_the_same_kind(first: Body, second: Body, message: str) -> None:
    """Only tracing sees all cases; the NumPy evaluator runs one."""

    @kernel(lanes=8, n=I32)
    def unlike(k: Lang, n: Value) -> None:
        v = k.iota()
        k.switch(n, [lambda: first(k, n, v), lambda: second(k, n, v)])  # here

    with pytest.raises(LaneError, match=message) as caught:
        Engine(np.zeros(8192, np.uint8)).get(unlike)
    assert "# here" in str(caught.value)


ORACLE: dict[str, tuple[Body, str]] = {
    "array": (lambda k, n, v: k.array(4)[n], "array index 9999 outside"),
    "misaligned": (lambda k, n, v: k.load(I32, n), "unaligned i32 access at 9999"),
    "misaligned lanes": (lambda k, n, v: k.gather(U16, v), "unaligned u16 access"),
    "before": (lambda k, n, v: k.load(U8, -n), "u8 access outside the arena"),
    "past the end": (lambda k, n, v: k.load(U8, n), "u8 access outside the arena at 9999"),
    "across the end": (lambda k, n, v: k.load(I64, 8192 - 8 * 7, 8), "i64 access outside the arena"),
    "store across the end": (lambda k, n, v: k.store(I32, 8192 - 4 * 7, v), "i32 access outside the arena"),
    "lanes": (lambda k, n, v: k.scatter(U8, v + 8190, v), "u8 access outside the arena"),
}


@pytest.mark.parametrize("mistake", ORACLE)
def test_the_oracle_watches_memory(mistake: str) -> None:
    """Machine code trusts the kernel; the NumPy evaluator checks each access and names its line."""
    body, message = ORACLE[mistake]

    @kernel(lanes=8, n=I32)
    def stray(k: Lang, n: Value) -> None:
        body(k, n, k.iota())

    with pytest.raises(LaneError, match=message) as caught:
        Engine(np.zeros(8192, np.uint8), "numpy").get(stray)(9999)
    assert f'"{mistake}": (' in str(caught.value)


def test_the_oracle_ignores_masked_lanes() -> None:
    @kernel(lanes=8)
    def stray(k: Lang) -> None:
        v = k.iota()
        k.scatter(I32, v * 4 + 8180, v, v < 2)
        k.store(I32, 4096, k.gather(I32, v * -4 + 4, v < 2))

    arena = np.zeros(8192, np.uint8)
    Engine(arena, "numpy").get(stray)()
    assert arena[8180:8188].view(np.int32).tolist() == [0, 1]


# -- kernels and engines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", [BOOL, U8, U16], ids=str)
def test_parameters_are_plain_scalars(type: Type) -> None:
    with pytest.raises(LaneError, match=f"parameter p of kernel f must be i32, i64 or f32, not {type}"):

        @kernel(p=type)
        def f(k: Lang, p: Value) -> None: ...


def test_lane_counts_are_positive() -> None:
    with pytest.raises(LaneError, match="cannot have 0 lanes"):
        Kernel(lambda k: None, {}, 0)


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2, 3)])
def test_argument_counts_are_checked(engine: Engine, arguments: tuple[int, ...]) -> None:
    @kernel(a=I32, b=I32)
    def two(k: Lang, a: Value, b: Value) -> None:
        k.store(I32, 4096, a + b)

    run = engine.get(two)
    with pytest.raises(TypeError, match=r"<kernel two\(a: i32, b: i32\)> called with \d arguments"):
        run(*arguments)


def test_engines_check_their_arena() -> None:
    with pytest.raises(ValueError, match="evaluator must be"):
        Engine(np.zeros(8192, np.uint8), "gpu")
    frozen = np.zeros(8192, np.uint8)
    frozen.flags.writeable = False
    for arena in (np.zeros(8192, np.int32), np.zeros((64, 64), np.uint8), np.zeros(8192, np.uint8)[::2], frozen):
        with pytest.raises(ValueError, match="flat, writable uint8"):
            Engine(arena)
    for arena in (np.zeros(8192, np.uint8)[4:-4], np.zeros(8191, np.uint8)):
        with pytest.raises(ValueError, match="multiple of 8"):
            Engine(arena)
