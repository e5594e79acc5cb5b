"""Traces of the 3DS's shader unit: they end as every other run does, and stay on the ways of the control flow graph."""

from __future__ import annotations

import json
import lzma
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fuzz import load

from pocketgpu.builder import assemble
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.inspect.stepping import Trace, trace_primitive, trace_vertex
from pocketgpu.inspect.stepping.n3ds import NAMES
from pocketgpu.pica.shader import Outputs, Program
from pocketgpu.pica.shader.flow import flow_of

fuzz = load("shader")
MOST = 250


def program(text: str, **options: Any) -> Program:
    words = assemble(text)
    return Program(words.code, words.descriptors, words.entry, **options)


def vertex(**registers: Any) -> np.ndarray[Any, Any]:
    inputs = np.zeros((16, 4), np.float32)
    for name, values in registers.items():
        inputs[int(name[1:]), : len(values)] = values
    return inputs


def holds_to(trace: Trace, fast: Outputs) -> None:
    """The trace's own result and its last registers are those of a fast run of the same vertex."""
    assert trace.result is not None
    assert fuzz.difference(trace.result, fast) == ""
    assert trace.hung == bool(fast.hung[0])
    if trace.hung:
        return
    end = trace.end
    outputs = np.array([end.word(name) for name in NAMES[128:192]], np.uint32).view(np.float32).reshape(16, 4)
    outputs[np.isnan(outputs)] = np.nan
    assert (outputs.view(np.uint32) == fast[0].view(np.uint32)).all()
    assert [end["a0.x"], end["a0.y"], end["aL"]] == fast.address[0].tolist()
    assert [end["cmp.x"], end["cmp.y"]] == fast.conditions[0].tolist()
    emitted = [step.emitted for step in trace if step.emitted is not None]
    assert len(emitted) == fast.emit.count[0]
    for one, wanted, state in zip(emitted, fast.emit.vertices[0], fast.emit.states[0], strict=False):
        given = np.array(one.outputs, np.uint32).view(np.float32).reshape(16, 4)
        given[np.isnan(given)] = np.nan
        assert (given.view(np.uint32) == wanted.view(np.uint32)).all()
        assert one.slot << 2 | one.primitive << 1 | one.winding == state


def on_the_graph(trace: Trace, code: tuple[int, ...], descriptors: tuple[int, ...], entry: int) -> int:
    """Every step lies in a block or follows an edge; how many steps were looked at."""
    padded = (*code, *[0x22 << 26] * (512 - len(code)))
    try:
        blocks = flow_of(padded, descriptors, entry)
    except CaptureError:
        return 0
    edges = {(block.last, blocks[edge.to].first) for block in blocks for edge in block.edges}
    inside = {(a, a + 1) for block in blocks for a in range(block.first, block.last)}
    for one, two in zip(trace.steps, trace.steps[1:], strict=False):
        pair = (one.address, two.address)
        assert pair in inside or pair in edges, (pair, str(one), str(two))
        assert one.to == two.address
    return len(trace)


def test_random_programs_end_as_they_do_elsewhere_and_stay_on_the_graph() -> None:
    whole = looked = 0
    for number in range(120):
        case = fuzz.make(7, number)
        inputs = {**case.run, "inputs": case.run["inputs"][:1]}
        trace = trace_vertex(case.program(), **inputs, most=MOST)
        fast = case.program().run(**inputs)
        if trace.cut and not trace.hung:
            assert len(trace) == MOST and trace.result is None
        elif len(trace):
            holds_to(trace, fast)
            whole += 1
        if not case.choices and len(case.code) <= 512:
            looked += on_the_graph(trace, tuple(case.code), tuple(case.descriptors), case.entry)
    assert whole > 90 and looked > 500


def test_the_cases_of_other_simulators_end_as_they_do_elsewhere(shared_dir: Path) -> None:
    path = shared_dir / "shader-cases" / "cases.json.xz"
    if not path.is_file():
        pytest.skip(f"no shader cases at {path}")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        cases = list(json.load(file))
    for case in cases[::4]:
        inputs = np.zeros((1, 16, 4), np.float32)
        for i, vector in enumerate(case["inputs"]):
            inputs[0, i] = [float(x) for x in vector]
        uniforms = {int(i): [float(x) for x in vector] for i, vector in case["uniforms"].items()}
        one = Program(case["program"], case["swizzle"], case["entry_point"])
        start = case["initial"]
        rest = (inputs, uniforms, case["bool_uniforms"], case["int_uniforms"], start["cond"], start["addr"])
        trace = trace_vertex(one, *rest)
        holds_to(trace, one.run(*rest))
        on_the_graph(trace, tuple(case["program"]), one.descriptors, case["entry_point"])


LOOP = "rsq r1.x, -v0.x\nmov r2, v0\nloop i1\nadd r2, c0[aL], r2\nmul r3, r1.x, r2\nendloop\nmov o0, r3\nend\n"
INTEGERS = [(0, 0, 0, 0), (2, 1, 1, 0), (0, 0, 0, 0), (0, 0, 0, 0)]


def test_registers_can_be_looked_at_forward_and_back() -> None:
    uniforms = {n: (n, 2 * n, 0, 0) for n in range(8)}
    trace = trace_vertex(program(LOOP), vertex(v0=(4, 1, 0, 1)), uniforms, int_uniforms=INTEGERS)
    assert [step.address for step in trace] == [0, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6]
    assert trace.hits == {0: 1, 1: 1, 2: 1, 3: 3, 4: 3, 5: 1, 6: 1}
    assert trace.at(3).vector("r2") == (4, 1, 0, 1) and trace.at(4).vector("r2") == (5, 3, 0, 1)
    assert trace.at(0).vector("r2") == (0, 0, 0, 0) and trace.at(-1).vector("r2") == (10, 13, 0, 1)
    assert [trace.at(n)["loop"] for n in range(11)] == [0, 0, 0, 2, 2, 1, 1, 0, 0, 0, 0]
    assert [step.index for step in trace.where("r2")] == [1, 3, 5, 7] and trace.writer("r2.x", 7) is trace[5]
    assert trace.writer("r2", 1) is None
    assert [(value.name, value.number) for value in trace[3].reads][:3] == [("c1.x", 1), ("c1.y", 2), ("c1.z", 0)]
    with pytest.raises(UsageError, match="no step 12"):
        trace.at(12)
    with pytest.raises(UsageError, match="no register 'r16'"):
        trace.end["r16"]


def test_the_first_nan_is_found_where_it_was_made() -> None:
    trace = trace_vertex(program(LOOP), vertex(v0=(4, 1, 0, 1)), int_uniforms=INTEGERS)
    birth = trace.first_nan
    assert birth is not None and birth.step.index == 0 and birth.value.names == ("r1.x",)
    assert [(one.name, one.number) for one in birth.inputs] == [("v0.x", 4)]
    assert len([one for one in trace.nans if one.computed]) == 1, "what follows from it is no news"
    data = json.loads(json.dumps(trace.to_json(0, 0), allow_nan=False))
    assert data["first_nan"]["value"] == {
        "register": "r1.x",
        "kind": "f32",
        "hex": data["first_nan"]["value"]["hex"],
        "float": None,
    }
    assert int(data["first_nan"]["value"]["hex"], 16) & 0x7F800000 == 0x7F800000
    assert (
        data["steps_in_all"] == 11 and len(data["steps"]) == 1 and data["steps"][0]["reads"][0]["hex"] == "0x40800000"
    )


def test_nans_of_other_components_do_not_hide_one() -> None:
    text = "mul r0.xy, c0, v0\nadd r1.xy, r0, c1\nend"
    trace = trace_vertex(program(text), vertex(v0=(math.nan, 1)), {0: (1, math.inf, 0, 0), 1: (0, -math.inf, 0, 0)})
    assert [(birth.value.name, birth.computed, birth.step.index) for birth in trace.nans] == [
        ("v0.x", False, 0), ("r1.y", True, 1),
    ]  # fmt: skip
    assert trace.first_infinite is None and [one.value.name for one in trace.infinities] == ["c0.y", "c1.y"]
    reciprocal = trace_vertex(program("rcp r0, v0.x\nend"), vertex())
    assert reciprocal.first_infinite is not None and reciprocal.first_infinite.value.number == math.inf
    assert trace_vertex(program("mul r0, c0, v0\nend"), vertex(v0=(0,)), {0: (math.inf,) * 4}).first_nan is None


def test_a_program_without_end_hangs_and_a_long_one_is_cut() -> None:
    endless = program("here:\njmpu !b0, here\nend")
    trace = trace_vertex(endless, vertex(), most=20)
    assert len(trace) == 20 and not trace.hung and trace.cut.startswith("20 steps are kept") and trace.result is None
    assert {step.flow for step in trace} == {"taken"}
    lost = trace_vertex(program("mov o0, v0\nbreak\nend"), vertex())
    assert lost.hung and lost.cut == "BREAK where there is no loop to leave" and lost.result.hung.all()
    assert "hangs" in lost[-1].happened


def test_a_primitive_emits_vertices() -> None:
    text = (
        "mov o0, v0\nsetemit 0\nemit\nmov o0, v2\nsetemit 1\nemit\nmov o0, v4\nsetemit 2, prim inv\nemit\nend"
    )  # fmt: skip
    corners = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    trace = trace_primitive(program(text), corners)
    emitted = [step.emitted for step in trace if step.emitted is not None]
    assert [(one.number, one.slot, one.primitive, one.winding) for one in emitted] == [
        (0, 0, False, False), (1, 1, False, False), (2, 2, True, True),
    ]  # fmt: skip
    positions = [np.array(one.outputs[:4], np.uint32).view(np.float32).tolist() for one in emitted]
    assert positions == corners[:, 0].tolist()
    assert "vertex 2 into slot 2, a primitive, turned" in trace.text()
    # The register has the slot above two bits: a primitive ends, its winding is turned.
    after = [trace.at(step.index + 1)["setemit"] for step in trace if step.text.startswith("setemit")]
    assert after == [0 << 2, 1 << 2, 2 << 2 | 3] and trace.at(0)["setemit"] == 0 and trace.end["setemit"] == 11
    with pytest.raises(UsageError, match="shape"):
        trace_primitive(program(text), np.zeros((3, 8, 4)))


def test_it_reads_well() -> None:
    trace = trace_vertex(
        program("mul r0.xy, c1, v0\ncmp c1, gt, lt, v0\nmov o0, r0\nend"), vertex(v0=(2, 0.5)), {1: (1, 4, 0, 0)}
    )
    lines = trace.text().splitlines()
    assert lines[0] == "vertex program, one vertex: 4 steps"
    assert lines[1] == "    0  0x0000  mul r0.xy, c1, v0  [c1.xy 1 4, v0.xy 2 0.5]  -> r0.xy 2 2"
    assert lines[2].endswith("-> cmp.xy false false")
    assert trace._repr_html_().count("<tr>") == 5 and "mul r0.xy" in trace._repr_html_()
    with pytest.raises(UsageError, match="at least one step"):
        trace_vertex(program("end"), vertex(), most=0)
    with pytest.raises(UsageError, match="one is watched"):
        trace_vertex(program("end"), np.zeros((2, 16, 4)))
