"""Graphs of blocks, ballots, bit counts, scatters with a mask and atomic steps: the same on both evaluators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import I32, I64, Engine, Jump, LaneError, Lang, Value, kernel, machine_code
from pocketgpu.lanes.target import Target, making_for

OUT = 4096


@kernel(lanes=32)
def collatz(k: Lang) -> None:
    """Steps of 27 to 1, and how often each block ran."""
    n, steps, visits = k.var(27), k.var(0), [k.var(0) for _ in range(4)]

    def count(i: int) -> None:
        visits[i].value = visits[i].value + 1

    def test() -> Any:
        count(0)
        return (n.value == 1, 3, Jump(n.value & 1, (1, 2)))

    def halve() -> Any:
        count(1)
        n.value = n.value >> 1
        steps.value = steps.value + 1
        return 0

    def triple() -> Any:
        count(2)
        n.value = n.value * 3 + 1
        steps.value = steps.value + 1
        return Jump(n.value, (1, 0), (82,))

    def end() -> Any:
        count(3)
        return -1

    k.graph([test, halve, triple, end])
    k.store(I32, OUT, steps.value)
    for i, v in enumerate(visits):
        k.store(I32, OUT + 4 + 4 * i, v.value)


@kernel(lanes=32)
def bits(k: Lang) -> None:
    x = k.load(I32, OUT, 32)
    k.store(I32, OUT + 128, k.ballot(x < 0))
    for n, lanes in enumerate((8, 16)):
        k.store(I32, OUT + 132 + 4 * n, k.ballot(k.load(I32, OUT, lanes) < 0))
    k.store(I32, OUT + 256, k.select(k.mask_of(k.load(I32, OUT)), k.splat(1), 0))
    for n, f in enumerate((k.popcount, k.leading_zeros, k.trailing_zeros)):
        k.store(I32, OUT + 384 + 128 * n, f(x))
        wide = f((k.to_i64(x) << 16) ^ 5)
        k.store(I64, OUT + 768 + 256 * n, wide)
    k.scatter(I32, (k.iota() & 7) * 4 + (OUT + 2048), x, (k.iota() & 3) != 1)


@kernel(lanes=32)
def steps(k: Lang) -> None:
    for n, (op, type) in enumerate(
        (op, t) for op in ("add", "and", "or", "xor", "min", "max", "umin", "umax", "xchg") for t in (I32, I64)
    ):
        at = OUT + 16 * n
        v = k.i32(-5) if type is I32 else k.i64(-5)
        k.store(type, at + 8, k.atomic(op, type, at, v))


def run(body: Any, evaluator: str) -> np.ndarray:
    arena = np.zeros(16384, np.uint8)
    data = np.random.default_rng(2).integers(0, 1 << 32, 1024, np.uint32, endpoint=False)
    data[3] = 0
    arena[OUT : OUT + 4096] = data.view(np.uint8)
    Engine(arena, evaluator).get(body)()
    return arena[OUT:].view(np.uint32)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_graph(evaluator: str) -> None:
    out = run(collatz, evaluator)[:5].tolist()
    # The one triple that gives 82 goes on at the halving block without the test between.
    assert out == [111, 111, 70, 41, 1]


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_bits(evaluator: str) -> None:
    before = np.random.default_rng(2).integers(0, 1 << 32, 1024, np.uint32, endpoint=False)[:32]
    before[3] = 0
    out = run(bits, evaluator)
    assert out[32] == sum(int(x >> 31) << i for i, x in enumerate(before.tolist()))
    assert out[33:35].tolist() == [out[32] & 0xFF, out[32] & 0xFFFF]
    assert out[64:96].tolist() == [int(before[0]) >> i & 1 for i in range(32)]
    assert out[96:128].tolist() == [x.bit_count() for x in before.tolist()]
    assert out[128:160].tolist() == [32 - x.bit_length() for x in before.tolist()]
    assert out[160:192].tolist() == [(x & -x).bit_length() - 1 if x else 32 for x in before.tolist()]
    # Lane order: a later lane wins; lanes 1, 5, 9... take no part.
    assert out[512:520].tolist()[2:4] == before[[26, 27]].tolist()


def test_evaluators_agree() -> None:
    for body in (collatz, bits, steps):
        assert (run(body, "llvm") == run(body, "numpy")).all(), body


@kernel(lanes=32)
def escaping(k: Lang) -> None:
    """Count up; from 5 on leave in the middle of the block, and at 8 for good."""
    k.hurry()
    n, early, late = k.var(0), k.var(0), k.var(0)

    def count() -> Any:
        n.value = n.value + 1
        k.escape(n.value >= 5, 1, lambda: setattr(early, "value", early.value + n.value))
        late.value = late.value + 1
        return (n.value == 100, -1, 0, False)

    def left() -> Any:
        return (n.value == 8, -1, 0, False)

    k.graph([count, left])
    for i, v in enumerate((n, early, late)):
        k.store(I32, OUT + 4 * i, v.value)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_escape_from_a_block(evaluator: str) -> None:
    assert run(escaping, evaluator)[:3].tolist() == [8, 5 + 6 + 7 + 8, 4]


def test_mistakes_are_told() -> None:
    @kernel(lanes=32)
    def lost(k: Lang) -> None:
        k.graph([lambda: 7])

    with pytest.raises(LaneError, match="goes on to 7"):
        Engine(np.zeros(8192, np.uint8), "llvm").get(lost)

    @kernel(lanes=32, n=I32)
    def inside(k: Lang, n: Value) -> None:
        def block() -> int:
            for _ in k.when(n > 1):
                k.escape(n > 2, 0)
            return -1

        k.graph([block])

    with pytest.raises(LaneError, match="not what is open inside"):
        Engine(np.zeros(8192, np.uint8), "llvm").get(inside)


@kernel(lanes=16, rounds=I32)
def two_chains(k: Lang, rounds: Value) -> None:
    """Two sums that wait for themselves."""
    k.take_turns()
    one, other = k.var(k.iota()), k.var(k.iota() + 5)
    for _ in k.range(0, rounds):
        one.value = one.value * 3 + 1
        other.value = other.value * 5 + one.value
    k.store(I32, OUT, one.value)
    k.store(I32, OUT + 64, other.value)


def test_chains_that_take_turns() -> None:
    """Only the order of instructions depends on it, and only where code is made for a level."""
    found = []
    for evaluator in ("llvm", "numpy"):
        arena = np.zeros(1 << 16, np.uint8)
        Engine(arena, evaluator).get(two_chains)(7)
        found.append(arena.tobytes())
    assert found[0] == found[1] and any(found[0])
    for target, tuned in ((Target.of_level("x86-64-v3"), True), (Target("generic", "", "", 8, True, False), False)):
        with making_for(target):
            assert ("tune-cpu" in two_chains.trace(16, {})) is tuned


@kernel(lanes=16, rounds=I32)
def long_way(k: Lang, rounds: Value, *, in_memory: bool) -> None:
    """A graph with variables of all kinds, made quickly."""
    k.hurry(in_memory=in_memory)
    count, total, odd = k.var(0), k.var(k.i64(1)), k.var(k.iota() < 0)

    def step() -> int:
        count.value = count.value + 1
        total.value = total.value * 3 + k.to_i64(count.value)
        odd.value = odd.value ^ ((k.iota() & count.value) != 0)
        return 1

    k.graph([step, lambda: (count.value < rounds, 0, -1)])
    k.store(I64, OUT, total.value)
    k.store(I32, OUT + 64, k.select(odd.value, 1, 0))


def test_variables_that_stay_in_memory() -> None:
    """The results are the same, and the text says how it is to be compiled."""
    found = []
    for evaluator, in_memory in (("llvm", False), ("llvm", True), ("numpy", True)):
        arena = np.zeros(1 << 16, np.uint8)
        Engine(arena, evaluator).get(long_way, in_memory=in_memory)(9)
        found.append(arena.tobytes())
    assert found[0] == found[1] == found[2] and any(found[0])
    heads = [long_way.trace(16, {"in_memory": in_memory}).splitlines()[0] for in_memory in (False, True)]
    assert heads == [machine_code.HURRIED, machine_code.IN_MEMORY]
    for level, other in (("x86-64-v4", True), ("x86-64-v3", False)):
        with making_for(Target.of_level(level)):
            ways = [machine_code.compile_object(long_way.trace(16, {"in_memory": way})) for way in (False, True)]
        assert (len(ways[0]) < len(ways[1])) is other  # each use of a variable is an access of memory
