"""Traces of the Switch's shaders: what they watch gives the bytes that any launch gives, and they tell what ran."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support import recordings
from support.fuzz import load
from support.kernel_cases import NAMES, Case

from pocketgpu import RawModule
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping import Trace, trace_thread, watch_launches
from pocketgpu.maxwell.compute import device
from pocketgpu.maxwell.sass.program import flow

needs_kernels = pytest.mark.skipif(not NAMES, reason=recordings.REASON)
LONG = {"mandelbrot", "sgemm", "nbody"}
"""Kernels of which the beginning is enough here."""


def traced(name: str, at: Any = ((0,), (0,)), evaluator: str = "llvm", **options: Any) -> tuple[Case, Trace, RawModule]:
    case = Case(name)
    about = case.about
    module = RawModule(case.folder / "kernel.cubin", evaluator=evaluator)
    for texture in about.get("textures", ()):
        if "symbol" in texture:
            module.bind(texture["symbol"], case.images[texture["name"]])
    kernel = module.get_function(about["kernel"])
    options = {"shared_mem": about["smem_dynamic"], "at": at, **options}
    return case, trace_thread(kernel, about["grid"], about["block"], case.arguments(), **options), module


def ways(module: RawModule, case: Case) -> set[tuple[int, int]]:
    """Pairs of instructions that can follow one another in a thread, as the flow of the program has them."""
    code = module.get_function(case.about["kernel"]).code
    program = code.flow
    stacked = {to for index in range(len(program.steps)) for to in program.comebacks(index)} | {
        step.index + 1 for step in program.steps if step.op == "BRA"
    }  # a branch lets those that do not take it go on first
    found = set()
    for index, step in enumerate(program.steps):
        found |= {(index, to) for to in program.after(index)}
        if step.op in flow.STOPS:
            found |= {(index, to) for to in stacked}
    return found


@needs_kernels
@pytest.mark.parametrize("name", NAMES)
def test_a_watched_launch_writes_what_any_launch_writes(name: str) -> None:
    plain = Case(name)
    plain.run("llvm")
    block = plain.about["block"]
    at = ((plain.about["grid"][0] - 1,), (min(block[0] - 1, 37),))
    case, trace, module = traced(name, at, most=400 if name in LONG else 1 << 16)
    for key, buffer in plain.buffers.items():
        same = case.buffers[key] == buffer
        assert same.all(), (key, np.flatnonzero(~same)[:4])
    assert not module.events and trace.steps and not trace.hung
    assert sum(trace.hits.values()) == len(trace)
    if not trace.cut:
        assert "EXIT" in trace[-1].text and trace[-1].flow == "taken"
    _explains_every_change(trace)
    if not any(op in str(trace) for op in ("BRX", "JMX", "RET")):
        known = ways(module, case)
        for one, two in zip(trace.steps, trace.steps[1:], strict=False):
            assert (one.number, two.number) in known, (str(one), str(two))


def _explains_every_change(trace: Trace) -> None:
    """What a step read is what the registers held, and what it skipped changed nothing."""
    for step in trace.steps[:200]:
        before = trace.at(step.index)
        for value in step.reads:
            for register, word in value.words.items():
                if register in before:
                    assert before.word(register) == word, str(step)
        for change in step.writes:
            assert not step.skipped, str(step)
            for register, word in change.before.words.items():
                assert before.word(register) == word, str(step)


@needs_kernels
def test_both_evaluators_give_the_same_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_devices", {})  # arrays then lie at the same addresses
    at = ((0,), (3,))
    assert traced("shfl", at)[1].to_json() == traced("shfl", at, "numpy")[1].to_json()


@pytest.fixture
def kernel() -> Iterator[Any]:
    if "reduction" not in NAMES:
        pytest.skip(recordings.REASON)
    yield RawModule(Case("reduction").folder / "kernel.cubin").get_function("reduction")


@needs_kernels
def test_barriers_and_memory_are_told_of() -> None:
    case, trace, _ = traced("reduction", ((1,), (40,)))
    waits = [step for step in trace if step.flow == "waits"]
    assert waits and all("BAR" in step.text for step in waits)
    loads = [one for step in trace for one in step.accesses if one.kind == "load" and one.space == "global"]
    given = np.frombuffer((case.folder / "a.bin").read_bytes(), np.uint32)
    assert [one.words[0] for one in loads][:5] == [int(given[n]) for n in range(256 + 40, 5000, 1024)]
    shared = [one for step in trace for one in step.accesses if one.space == "shared"]
    assert {one.kind for one in shared} >= {"load", "store"} and all(one.address < 48 << 10 for one in shared)
    data = json.loads(json.dumps(trace.to_json(0, 20), allow_nan=False))
    assert data["steps"][0]["text"].startswith("MOV R1") and data["console"] == "switch"


@needs_kernels
def test_what_is_not_there_is_refused() -> None:
    for at, text in ((((9,), (0,)), "no block 9"), (((0,), (0, 1)), "no thread 0,1"), (((), (0,)), "names no block")):
        with pytest.raises(UsageError, match=text):
            traced("reduction", at)
    with pytest.raises(UsageError, match="at least one step"):
        traced("reduction", most=0)


@needs_kernels
def test_the_first_nan_of_a_thread() -> None:
    case, trace, _ = traced("f32_arith", ((0,), (0,)))
    values = [traced("f32_arith", ((0,), (n,)))[1] for n in range(0, 32, 5)]
    for one in [trace, *values]:
        for birth in one.nans:
            if birth.computed:
                assert birth.value.is_nan and not any(value.is_nan for value in birth.inputs)
    assert case.about["kernel"] in trace.title


def test_random_programs_end_as_they_do_unwatched_and_change_only_what_they_name() -> None:
    fuzz = load("sass_programs")
    counts = watched_programs(fuzz, range(150))
    assert counts["programs"] == 150 and counts["steps"] > 2000 and counts["whole"] > 60


def watched_programs(fuzz: Any, numbers: range, seed: int = 1) -> Counter[str]:
    """Random programs, with an eye on one thread each; memory, faults and hangs are those of a plain run."""
    gpu, counts = fuzz.Gpu(), Counter[str]()
    for number in numbers:
        program = fuzz.make(seed, number)
        plain = gpu.run(program, "interpreter")
        thread = number * 7 % program.threads
        with watch_launches(gpu.launcher, ((0,), (thread,)), most=2000) as watch:
            seen = gpu.run(program, "interpreter")
        problem = fuzz.compare(plain, seen)
        assert not problem, f"seed {seed}, program {number}: {problem}"
        (trace,) = watch.traces
        listing = watch.listing
        for step in trace:
            named = {name for place in listing.plan(step.number).writes for name in place.names}
            changed = {name for one in step.writes if one.old != one.new for name in one.names}
            assert changed <= named, f"seed {seed}, program {number}: {step}"
            assert not (step.skipped and step.writes)
        _explains_every_change(trace)
        counts.update({"programs": 1, "steps": len(trace), "whole": not trace.cut and not plain.hung})
        counts["faults"] += any("fault" in note for step in trace for note in step.notes)
        counts["nan births"] += sum(birth.computed for birth in trace.nans)
    return counts
