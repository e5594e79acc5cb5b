"""Traces of all public kernels, shader cases and recordings, stepped to the end and back: at each place every register
is what `pocketgpu shader step` says; for recordings, in a run of its own.

What an editor reads is compared at a few places of each trace, and the registers that this is made of at all of them.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import recordings
from support.dap_client import Editor, Refused
from support.kernel_cases import NAMES, Case

import pocketgpu
from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.launching import Debuggee
from pocketgpu.inspect.stepping import Trace, trace_thread, trace_vertex
from pocketgpu.pica.shader import Program

N3DS = sorted(recordings.n3ds().glob("*.ctf.xz"))
SWITCH = sorted(recordings.switch().glob("*.mxcap.zip"))
CASES = recordings.folder() / "shader-cases" / "cases.json.xz"
LOOKS = 7
"""Places of a trace at which what an editor reads is compared."""


def columns(trace: Trace) -> NDArray[np.uint32]:
    """A row for each place, a column for each register: the steps' writes, one after the other."""
    names = {name: n for n, name in enumerate(trace.start)}
    row = np.array([*trace.start.values()], np.uint32)
    rows = [row.copy()]
    for step in trace:
        for change in step.writes:
            for name, word in change.after.words.items():
                row[names[name]] = word
        rows.append(row.copy())
    return np.array(rows)


def seen(editor: Editor) -> dict[str, str]:
    """Digits of all registers, as an editor shows them."""
    found = {}
    scopes = editor.scopes()
    groups = {group.name for group in editor.adapter.session.debuggee.main.trace.groups}
    for name in groups & scopes.keys():
        for one in editor.variables(scopes[name], format={"hex": True}).values():
            words = str(one["value"]).strip("()").split(", ")
            stem = one["name"]
            names = [stem] if len(words) == 1 else [f"{stem}.{letter}" for letter in "xyzw"[: len(words)]]
            found |= dict(zip(names, words, strict=True))
    return found


def walk(editor: Editor, wanted: Trace) -> int:
    """Step to the end and back to the start. How many places there were."""
    thread, lane = editor.thread, editor.adapter.session.debuggee.main
    table, names, end = columns(wanted), [*wanted.start], len(wanted)
    assert [(one.number, one.text) for one in lane.trace] == [(one.number, one.text) for one in wanted]
    looked = {end * n // (LOOKS - 1) for n in range(LOOKS)}

    def row(place: int) -> NDArray[np.uint32]:
        assert lane.place == place
        registers = lane.registers()
        if place in looked:
            digits = seen(editor)
            assert digits == {name: f"{word:#010x}" for name, word in zip(names, table[place].tolist(), strict=True)}
            assert editor.frame["instructionPointerReference"] == f"{wanted[min(place, end - 1)].address:#x}"
        return np.array([registers.find(name).bits for name in names], np.uint32)  # type: ignore[union-attr]

    there = [row(0)]
    for place in range(1, end + 1):
        editor.ask("stepIn", threadId=thread, granularity="instruction")
        there.append(row(place))
    assert np.array_equal(np.array(there), table)
    back = [row(end)]
    for place in reversed(range(end)):
        editor.ask("stepBack", threadId=thread, granularity="instruction")
        if lane.place != place:  # back over a call: the steps of the routine one by one
            editor.ask("goto", threadId=thread, targetId=place + 1)
        back.append(row(place))
    assert np.array_equal(np.array(back[::-1]), table)
    return end + 1


def begun(trace: Trace) -> Editor:
    """A session with a lane that no configuration names, as arguments of kernels are arrays here. trace: of the lane; a
    second run would be the same function with the same values."""
    editor = Editor()
    editor.ask("initialize")
    session = editor.adapter.session
    session.debuggee = Debuggee([Lane("lane", lambda overrides, others, keep: trace)], 0)
    session.state = "stopped"
    return editor


@pytest.mark.parametrize("name", NAMES)
def test_kernels(name: str) -> None:
    case = Case(name)
    module = pocketgpu.RawModule(case.folder / "kernel.cubin")
    for texture in case.about.get("textures", ()):
        if "symbol" in texture:
            module.bind(texture["symbol"], case.images[texture["name"]])
    function = module.get_function(case.about["kernel"])
    trace = trace_thread(
        function, case.about["grid"], case.about["block"], case.arguments(), shared_mem=case.about["smem_dynamic"]
    )
    module.close()
    assert not trace.cut, "the whole trace"
    assert walk(begun(trace), trace) == len(trace) + 1


def test_shader_cases() -> None:
    if not CASES.is_file():
        pytest.skip(recordings.REASON)
    places = 0
    for case in json.loads(lzma.decompress(CASES.read_bytes())):
        program = Program(case["program"], case["swizzle"], case["entry_point"])
        inputs = np.zeros((16, 4), np.float32)
        for n, vector in enumerate(case["inputs"]):
            inputs[n] = [float(one) for one in vector]
        uniforms = {int(n): [float(one) for one in vector] for n, vector in case["uniforms"].items()}
        rest = case["bool_uniforms"], case["int_uniforms"], case["initial"]["cond"], case["initial"]["addr"]
        trace = trace_vertex(program, inputs, uniforms, *rest)
        places += walk(begun(trace), trace)
    assert places > 2000


def walked(path: Path, run: Any, address: str) -> bool:
    """Whether an address of a recording can be stepped through; then it was walked."""
    editor = Editor()
    try:
        editor.launch(capture=str(path), address=address, most=1 << 16)
    except Refused:
        return False
    walk(editor, run.trace(editor.adapter.session.debuggee.main.name))
    return True


@pytest.mark.parametrize("path", N3DS, ids=lambda path: path.name)
def test_a_vertex_of_every_recording_of_a_3ds(path: Path) -> None:
    """Or a primitive, where the list of indices does not say which vertices there are."""
    run = pocketgpu.debug(path)
    draw = next((one for frame in range(run.frame_count) for one in run.draws(frame)), None)
    if draw is None:
        pytest.skip("nothing is drawn")
    assert walked(path, run, f"{draw.address}/v0") or walked(path, run, f"{draw.address}/t0")


@pytest.mark.parametrize("path", SWITCH, ids=lambda path: path.name)
def test_a_vertex_a_pixel_and_a_thread_of_every_recording_of_a_switch(path: Path) -> None:
    run = pocketgpu.debug(path)
    first: dict[str, str] = {}
    for event in run.all_events():
        for one in run.programs_at(event.address):
            zeros = "".join(f"/{part.letter}{','.join('0' * len(part.limits))}" for part in one.parts)
            first.setdefault("".join(part.letter for part in one.parts), f"{one.address}{zeros}")
        if event.address.frame:
            break
    if not first:
        pytest.skip("no programs run")
    done = {letters for letters in first.keys() & {"v", "bt"} if walked(path, run, first[letters])}
    assert done == first.keys() & {"v", "bt"}
    if "px" in first:
        width, height = next(iter(run.seek("f0").screens.values())).image.size
        places = ((width * x // 8, height * y // 8) for y in (4, 3, 5, 2, 6) for x in (4, 3, 5, 2, 6))
        assert any(walked(path, run, f"f0/px{x},{y}") for x, y in places)


def test_there_are_some() -> None:
    if not recordings.n3ds().is_dir():
        pytest.skip(recordings.REASON)
    assert len(N3DS) > 10 and len(NAMES) > 30 and len(SWITCH) > 10
