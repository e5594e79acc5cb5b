"""Traces that are made by hand: registers at each step, who wrote what, where NaNs begin, and all of it as data."""

from __future__ import annotations

import math
import random
import struct

import pytest

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.register_values import Value, grouped
from pocketgpu.inspect.stepping.step import Access, Change, Emitted, Step
from pocketgpu.inspect.stepping.trace import COPY_EVERY, Trace


def word(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


ONE, TWO, NAN, INFINITE = word(1), word(2), word(math.nan), word(math.inf)


def reading(name: str, bits: int, kind: str = "f32") -> Value:
    return Value((name,), bits, kind)


def change(name: str, old: int, new: int, kind: str = "f32", of: tuple[int, ...] | None = None) -> Change:
    return Change((name,), kind, old, new, of)


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "name", "hexadecimal", "shown", "more"),
    [
        (Value(("r0.x",), ONE, "f32"), "r0.x", "0x3f800000", "1", {"float": 1.0}),
        (Value(("R1",), NAN, "f32"), "R1", "0x7fc00000", "nan", {"float": None}),
        (Value(("R1",), 0xFF800000, "f32"), "R1", "0xff800000", "-inf", {"float": None}),
        (Value(("R1",), 0xC0003C00, "f16x2"), "R1", "0xc0003c00", "1|-2", {"float": [1.0, -2.0]}),
        (Value(("R1",), 0x7C003C00, "f16x2"), "R1", "0x7c003c00", "1|inf", {"float": [1.0, None]}),
        (Value(("R2", "R3"), 0x4000000000000000, "f64"), "R2:R3", "0x4000000000000000", "2", {"float": 2.0}),
        (Value(("R1",), 0xFFFFFFFF, "i32"), "R1", "0xffffffff", "-1", {"value": -1}),
        (Value(("R1",), 0x7FFFFFFF, "i32"), "R1", "0x7fffffff", "2147483647", {"value": 2147483647}),
        (Value(("R2", "R3"), 1 << 63, "i64"), "R2:R3", f"0x8{'0' * 15}", str(-(1 << 63)), {"value": -(1 << 63)}),
        (Value(("P0",), 1, "bool"), "P0", "0x00000001", "true", {"value": True}),
        (Value(("P0",), 0, "bool"), "P0", "0x00000000", "false", {"value": False}),
        (Value(("R1",), 5), "R1", "0x00000005", "0x00000005", {}),
    ],
    ids=str,
)
def test_values_of_registers(value: Value, name: str, hexadecimal: str, shown: str, more: dict[str, object]) -> None:
    assert (value.name, value.hex, value.shown) == (name, hexadecimal, shown)
    assert value.to_json() == {"register": name, "kind": value.kind, "hex": hexadecimal, **more}
    assert value.is_nan == ("nan" in shown) and value.is_infinite == ("inf" in shown)
    assert sum(part << 32 * n for n, part in enumerate(value.words.values())) == value.bits
    assert tuple(value.words) == value.names


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], ""),
        ([("R1", "5")], "R1 5"),
        ([("v0.x", "1"), ("v0.y", "2"), ("v0.w", "3")], "v0.xyw 1 2 3"),
        ([("v0.x", "1"), ("v1.y", "2")], "v0.x 1, v1.y 2"),
        ([("v0.x", "1"), ("v0.x", "1")], "v0.x 1, v0.x 1"),
        ([("R0", "1"), ("R0", "2")], "R0 1, R0 2"),
        ([("SR_TID.X", "1"), ("a.position", "2"), ("a.position", "3")], "SR_TID.X 1, a.position 2, a.position 3"),
    ],
)
def test_components_of_a_register_are_shown_together(values: list[tuple[str, str]], text: str) -> None:
    assert grouped(values) == text


# -- one step ---------------------------------------------------------------------------------------------------------

LOAD = Access("load", "global", 0x1234, 8, (1, 0xFFFFFFFF))
VERTEX = Emitted(3, 2, True, False, tuple(range(64)))
PLAIN = {"index": 7, "address": "0x10", "number": 4, "text": "NOP", "reads": [], "writes": [], "to": None}


def step(**more: object) -> Step:
    return Step(7, 4, 0x10, "NOP", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "text", "data"),
    [
        ({}, "", {}),
        ({"to": 0x18}, "", {"to": "0x18"}),
        ({"flow": "taken"}, "  -> taken", {"flow": "taken"}),
        ({"skipped": True, "flow": "waits"}, "  -> skipped", {"skipped": True, "flow": "waits"}),
        ({"lanes": 5}, "", {"lanes": "0x00000005"}),
        ({"notes": ("a fault", "another")}, "  -> a fault; another", {"notes": ["a fault", "another"]}),
        ({"reads": (reading("r0.x", ONE), reading("r0.y", TWO))}, "  [r0.xy 1 2]", None),
        ({"writes": (change("r1.x", ONE, TWO),), "notes": ("odd",)}, "  -> r1.x 2; odd", None),
        (
            {"accesses": (LOAD, Access("store", "shared", 0, 4))},
            "  -> load 8 bytes of global memory at 0x1234: 0x00000001 0xffffffff; "
            "store 4 bytes of shared memory at 0x0",
            None,
        ),
        ({"emitted": VERTEX}, "  -> vertex 3 into slot 2, a primitive", None),
        ({"emitted": Emitted(0, 1, False, True, ())}, "  -> vertex 0 into slot 1, turned", None),
    ],
    ids=str,
)
def test_a_step_as_text_and_data(more: dict[str, object], text: str, data: dict[str, object] | None) -> None:
    one = step(**more)
    assert str(one) == f"    7  0x0010  NOP{text}"
    if data is not None:
        assert one.to_json() == PLAIN | data


def test_parts_of_a_step_as_data() -> None:
    written = change("r1.x", ONE, 5, "i32")
    found = step(reads=(reading("r0.x", ONE),), writes=(written,), accesses=(LOAD,), emitted=VERTEX).to_json()
    assert found["reads"] == [{"register": "r0.x", "kind": "f32", "hex": "0x3f800000", "float": 1.0}]
    assert found["writes"] == [{
        "register": "r1.x", "kind": "i32", "old": {"hex": "0x3f800000", "value": ONE},
        "new": {"hex": "0x00000005", "value": 5},
    }]  # fmt: skip
    assert found["accesses"] == [{
        "kind": "load", "space": "global", "address": "0x1234", "bytes": 8, "words": ["0x00000001", "0xffffffff"],
    }]  # fmt: skip
    assert found["emitted"] == {
        "number": 3, "slot": 2, "primitive": True, "winding": False, "outputs": [f"{n:#010x}" for n in range(64)],
    }  # fmt: skip


# -- many steps -------------------------------------------------------------------------------------------------------


def counting(count: int) -> Trace:
    """Random writes of four registers; some steps write none, some two."""
    r = random.Random(count)
    words = {name: 0 for name in ("r0.x", "r0.y", "r1.x", "r10.x")}
    start, steps = dict(words), []
    for index in range(count):
        writes = []
        for name in r.sample([*words], r.choice((0, 1, 2))):
            new = r.getrandbits(32)
            writes.append(change(name, words[name], new, "bits"))
            words[name] = new
        steps.append(Step(index, index % 5, 8 * (index % 5), "MOV", writes=tuple(writes)))
    return Trace("3ds", "main", "vertex 0", start, {"r0.x": "f32"}, steps)


@pytest.mark.parametrize("count", [1, COPY_EVERY - 1, COPY_EVERY, 2 * COPY_EVERY + 1])
def test_registers_are_those_that_the_steps_left(count: int) -> None:
    trace = counting(count)
    words = dict(trace.start)
    for index in range(count + 1):
        found = trace.at(index)
        assert {name: found.word(name) for name in found} == words
        assert trace.at(index - count - 1).word("r0.y") == words["r0.y"]
        for name in ("r0.x", "r0", "r1", "r2"):
            mine = [one for one in trace.steps[:index] if any(_is_of(w.names[0], name) for w in one.writes)]
            assert trace.writer(name, index) is (mine[-1] if mine else None)
        if index < count:
            words.update({one.names[0]: one.new for one in trace[index].writes})
    assert {name: trace.end.word(name) for name in trace.end} == words
    for beyond in (count + 1, -count - 2):
        with pytest.raises(UsageError, match="no step"):
            trace.at(beyond)
    assert trace.hits == {8 * n: len(range(n, count, 5)) for n in range(min(count, 5))}


def _is_of(name: str, register: str) -> bool:
    return name == register or name.split(".")[0] == register


def test_parts_of_a_trace() -> None:
    trace = counting(6)
    lines = [str(one) for one in trace]
    assert trace.text() == "\n".join(["main, vertex 0: 6 steps", *lines]) == str(trace)
    assert trace.text(2, 3).splitlines()[1:] == lines[2:4] and trace.text(4).splitlines()[1:] == lines[4:]
    assert trace.text(-3, 0).splitlines()[1:] == lines[:1]
    found = trace.to_json(2, 3)
    assert found["steps"] == [one.to_json() for one in trace.steps[2:4]] and found["steps_in_all"] == 6
    assert found["registers_before"] == trace.at(2).to_json()
    assert found["hits"] == {"0x0": 2, "0x8": 1, "0x10": 1, "0x18": 1, "0x20": 1}
    assert trace.to_json(9)["registers_before"] == trace.end.to_json()
    assert (found["cut"], found["address"], found["hung"], found["first_nan"]) == (None, None, False, None)
    cut = Trace("3ds", "main", "vertex 0", {}, {}, trace.steps[:1], cut="enough", address="f0/d0/v0")
    assert cut.title == "main, vertex 0: 1 step, cut: enough  f0/d0/v0"
    assert (cut.to_json()["cut"], cut.to_json()["address"]) == ("enough", "f0/d0/v0")


def test_registers_by_name() -> None:
    found = Trace("3ds", "main", "vertex 0", {"r0.x": ONE, "r0.y": 7, "b0": 1}, {"r0.x": "f32", "b0": "bool"}).at(0)
    assert (found["r0.x"], found["r0.y"], found["b0"], found.float("r0.x")) == (1.0, 7, True, 1.0)
    assert "r0.x" in found and "r0" not in found and len(found) == 3
    with pytest.raises(UsageError) as error:
        found.word("r0")
    assert error.value.hint == "Such as r0.x, r0.y."


# -- NaNs and infinities ----------------------------------------------------------------------------------------------


def story(*steps: tuple[list[Value], list[Change]]) -> Trace:
    made = [
        Step(n, n, n, "ADD", reads=tuple(reads), writes=tuple(writes)) for n, (reads, writes) in enumerate(steps)
    ]  # fmt: skip
    return Trace("switch", "main", "thread 0", {}, {}, made)


def told(trace: Trace) -> list[tuple[int, str, bool]]:
    return [(one.step.index, one.value.name, one.computed) for one in trace.nans]


def test_a_nan_is_told_where_it_is_computed_and_not_where_it_goes() -> None:
    trace = story(
        ([reading("a", ONE), reading("b", TWO)], [change("c", 0, ONE)]),
        ([reading("a", INFINITE), reading("b", INFINITE)], [change("c", ONE, NAN)]),
        ([reading("c", NAN), reading("a", ONE)], [change("d", 0, NAN)]),
        ([reading("d", NAN)], [change("e", 0, NAN)]),
    )
    assert told(trace) == [(1, "c", True)]
    first = trace.first_nan
    assert first is not None and first.step is trace[1]
    assert str(first) == "c became nan: step 1 at 0x0001, ADD of a = inf, b = inf"
    assert first.to_json() == {
        "step": 1, "address": "0x1", "text": "ADD", "value": first.value.to_json(),
        "inputs": [one.to_json() for one in trace[1].reads], "computed": True,
    }  # fmt: skip
    # The infinities that it is made of came from outside; each register is told once.
    assert [(one.value.name, one.computed) for one in trace.infinities] == [("a", False), ("b", False)]
    assert trace.first_infinite is None


def test_a_nan_from_outside_is_read_once_until_its_register_changes() -> None:
    trace = story(
        ([reading("a", NAN)], [change("b", 0, NAN)]),
        ([reading("a", NAN)], [change("b", NAN, NAN)]),
        ([reading("c", ONE)], [change("a", NAN, ONE), change("b", NAN, ONE)]),
        ([reading("a", NAN)], []),
    )
    assert told(trace) == [(0, "a", False), (3, "a", False)]
    assert trace.first_nan is None and len(trace.to_json()["nans_from_outside"]) == 2
    assert str(trace.nans[0]) == "a was read as nan: step 0 at 0x0000, ADD"


def test_only_the_inputs_of_a_result_count() -> None:
    """The instruction has two results; the second does not depend on the NaN."""
    trace = story(
        ([reading("a", NAN), reading("b", ONE)], [change("c", 0, NAN, of=(0,)), change("d", 0, NAN, of=(1,))]),
    )
    assert told(trace) == [(0, "a", False), (0, "d", True)]


def test_words_without_a_type_are_nan_when_something_reads_them_as_floats() -> None:
    moved = ([reading("a", NAN, "bits")], [change("b", 0, NAN, "bits")])
    assert told(story(moved)) == []
    assert told(story(moved, ([reading("b", NAN)], []))) == [(1, "b", False)]
    # A copy of a NaN that was told is not told again; other words in its place are.
    copied = ([reading("a", NAN)], []), ([reading("a", NAN, "bits")], [change("b", 0, NAN, "bits")])
    assert told(story(*copied, ([reading("b", NAN)], []))) == [(0, "a", False)]
    over = ([reading("c", ONE, "bits")], [change("b", NAN, ONE, "bits")])
    assert told(story(*copied, over, ([reading("b", NAN)], []))) == [(0, "a", False), (3, "b", False)]
    assert told(story(([reading("a", NAN, "i32")], [change("b", 0, NAN, "i32")]))) == []


def test_an_infinity_is_told_where_it_is_computed() -> None:
    trace = story(
        ([reading("a", ONE)], [change("b", 0, INFINITE)]),
        ([reading("b", INFINITE)], [change("c", 0, INFINITE)]),
        ([reading("d", NAN)], [change("e", 0, INFINITE)]),
    )
    assert [(one.step.index, one.value.name, one.computed) for one in trace.infinities] == [(0, "b", True)]
    assert trace.first_infinite is trace.infinities[0]
