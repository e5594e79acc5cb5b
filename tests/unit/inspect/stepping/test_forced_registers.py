"""What-if in traces, calls around steps, and what is read that nobody wrote, on both consoles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.fuzz import load

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping import Trace, trace_thread, trace_vertex
from pocketgpu.inspect.stepping.calls import calls_of
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.strange import outside, unwritten
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.assembler import assemble

ONE = 0x3F800000
DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"


def vertex(overrides: Forced | None = None) -> Trace:
    text = "main: mov r0, v0\ncall twice\nmova a0.x, r1\ncmp c0, eq, eq, r0\nmov o0, r0\nend\n"
    words = assemble(text + ".proc twice\nadd r0, r0, r0\nnop\n.endproc\n")
    inputs = np.ones((16, 4), np.float32)
    uniforms = {0: (2.0, 2.0, 2.0, 2.0)}
    program = Program(words.code, words.descriptors, words.entry)
    return trace_vertex(program, inputs, uniforms, overrides=overrides, lines=words.lines, file="text")


def thread(tmp_path: Path, overrides: Forced | None = None) -> Trace:
    path = tmp_path / "k.cubin"
    text = "MOV R2, c[0x0][0x140]\nMOV R3, c[0x0][0x144]\nIADD R0, R0, 0x1\n@P0 IADD R0, R0, 0x10\nSTG.E [R2], R0\nEXIT"
    path.write_bytes(load("sass").cubin(text))
    out = np.zeros(32, np.uint32)
    function = pocketgpu.RawModule(path).get_function("k")
    trace = trace_thread(function, (1,), (32,), (out,), at=((0,), (5,)), overrides=overrides)
    assert out[0] == trace.end.word("R0") or overrides
    return trace


def test_a_vertex_goes_on_with_other_values() -> None:
    plain = vertex()
    assert plain.end.vector("o0") == (2, 2, 2, 2) and bool(plain.end["cmp.x"])
    changed = vertex({2: {"r0.x": 0x40400000}, 5: {"a0.x": 0xFFFFFFFE, "cmp.y": 1}})
    assert [str(one) for one in changed.steps[:2]] == [str(one) for one in plain.steps[:2]]
    assert changed.end.vector("o0") == (6, 2, 2, 2) and not changed.end["cmp.x"]
    assert changed.at(2)["r0.x"] == 3 and changed.at(1)["r0.x"] == 1, "before step 2, not before step 1"
    for place in range(len(changed) + 1):
        registers = changed.at(place)
        assert [changed.value_at(name, place).bits for name in registers] == [registers.word(n) for n in registers]
    assert changed.at(5)["a0.x"] == -2 and changed.at(5)["cmp.y"]
    assert changed.constants["c0.x"].number == 2 and changed.value_at("c0.y", 0).number == 2
    assert [one.line for one in changed] == [1, 2, 8, 9, 3, 4, 5, 6]
    assert changed.listing is not None and changed.listing.source(0) is not None


def test_a_thread_goes_on_with_other_values(tmp_path: Path) -> None:
    plain = thread(tmp_path)
    changed = thread(tmp_path, {2: {"R0": 6}, 3: {"P0": 1}})
    assert plain.end.word("R0") == 1 and changed.end.word("R0") == 6 + 1 + 0x10
    assert changed.at(2).word("R0") == 6 and changed.at(1).word("R0") == 0
    assert changed[3].skipped is False and plain[3].skipped is True
    assert [changed.value_at("P0", place).bits for place in (2, 3, 4)] == [0, 1, 1]
    assert changed[4].accesses[0].words == (0x17,)


def test_registers_that_are_not_there(tmp_path: Path) -> None:
    for overrides in ({0: {"r99.x": 0}}, {0: {"loop": 1}}, {0: {"r0.x": 1 << 32}}):
        with pytest.raises(UsageError):
            vertex(overrides)
    with pytest.raises(UsageError):
        thread(tmp_path, {0: {"R250": 0}})
    with pytest.raises(UsageError):
        vertex().value_at("R0", 0)


@pytest.mark.parametrize("name", ("sample.ctf.xz", "sample_switch.mxcap.zip"))
def test_in_a_capture(name: str) -> None:
    run = pocketgpu.debug(DATA / name)
    plain = run.trace("f0/d5/v3")
    changed = next(change for step in plain for change in step.writes if change.kind == "f32")
    step = next(step.index for step in plain if changed in step.writes)
    other = run.trace("f0/d5/v3", None, {step + 1: {changed.names[0]: 0x7FC00000}})
    assert other.value_at(changed.names[0], step + 1).bits == 0x7FC00000
    assert run.trace("f0/d5/v3").to_json() == plain.to_json(), "the capture is as it was"
    assert [str(one) for one in run.lanes_at("f0/d5/v3")] == ["f0/d5/v3"]


def test_calls() -> None:
    assert calls_of(vertex()) == [(), (), (1,), (1,), (), (), (), (), ()]


def test_what_nobody_wrote(tmp_path: Path) -> None:
    assert [(step.index, what) for step, what in unwritten(vertex())] == [(4, "r1.x")]
    assert "R0" in [what for _, what in unwritten(thread(tmp_path))]
    assert [*unwritten(vertex({0: {"r1.x": ONE, "r1.y": ONE}}))] == []


def test_what_is_outside(tmp_path: Path) -> None:
    changed = thread(tmp_path, {4: {"R3": 0x77}})
    ((step, text),) = outside(changed, stores=True)
    assert step.index == 4 and "0x77" in text and [*outside(changed, stores=False)] == []
