"""All traces of the public kernels, and of a vertex of every public recording of the 3DS, to the end and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import recordings
from support.dap_client import Editor
from support.kernel_cases import NAMES, Case

import pocketgpu
from pocketgpu.editor.dap.debuggee.lane import Lane
from pocketgpu.editor.dap.debuggee.launching import Debuggee
from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.stepping import Trace, trace_thread

RECORDINGS = sorted(recordings.n3ds().glob("*.ctf.xz"))


def walk(editor: Editor, wanted: Trace) -> None:
    """Step to the end and back to the start; at every place all registers are those of the trace."""
    thread = editor.thread
    lane = editor.adapter.session.debuggee.main
    names = [*wanted.start]

    def check(place: int) -> None:
        assert lane.place == place
        registers = wanted.at(place)
        found = [lane.trace.value_at(name, place).bits for name in names]
        assert found == [registers.word(name) for name in names]

    for place in range(len(wanted)):
        check(place)
        if place in (0, len(wanted) // 2):
            frame = editor.frame
            assert frame["instructionPointerReference"] == f"{wanted[place].address:#x}"
        editor.ask("stepIn", threadId=thread, granularity="instruction")
    check(len(wanted))
    for place in reversed(range(len(wanted))):
        editor.ask("stepBack", threadId=thread, granularity="instruction")
        if lane.ways.depths[place] <= lane.ways.depths[place + 1]:
            check(place)
        elif lane.place != place:  # back over a call
            editor.ask("goto", threadId=thread, targetId=place + 1)
    check(0)


def begun(make: Any) -> Editor:
    """A session with a lane that no configuration names, as arguments of kernels are arrays here."""
    editor = Editor()
    editor.ask("initialize")
    session = editor.adapter.session
    session.debuggee = Debuggee([Lane("lane", lambda overrides, others, keep: make())], 0)
    session.state = "stopped"
    return editor


@pytest.mark.parametrize("name", NAMES)
def test_kernels(name: str) -> None:
    def trace() -> Trace:
        case = Case(name)
        module = pocketgpu.RawModule(case.folder / "kernel.cubin")
        for texture in case.about.get("textures", ()):
            if "symbol" in texture:
                module.bind(texture["symbol"], case.images[texture["name"]])
        function = module.get_function(case.about["kernel"])
        return trace_thread(
            function, case.about["grid"], case.about["block"], case.arguments(),
            shared_mem=case.about["smem_dynamic"], most=2000,
        )  # fmt: skip

    try:
        wanted = trace()
    except PocketGPUError as error:
        pytest.skip(f"this launch is refused here: {error.message}")
    walk(begun(lambda: wanted), wanted)  # handles of textures are others in another launch


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_vertex_of_every_recording(path: Path) -> None:
    run = pocketgpu.debug(path)
    draw = next((one for frame in range(run.frame_count) for one in run.draws(frame)), None)
    if draw is None:
        pytest.skip("nothing is drawn")
    address = f"{draw.address}/v0"
    try:
        wanted = run.trace(address)
    except PocketGPUError as error:
        pytest.skip(error.message)
    editor = Editor()
    editor.launch(capture=str(path), address=address, most=4096)
    assert np.array_equal(
        [one.address for one in wanted], [one.address for one in editor.adapter.session.debuggee.main.trace]
    )
    walk(editor, wanted)


def test_there_are_some() -> None:
    if not recordings.n3ds().is_dir():
        pytest.skip(recordings.REASON)
    assert len(RECORDINGS) > 10 and len(NAMES) > 30
