"""The stages of a draw of the 3DS: what the combiner buffer holds, and fog, against values of the machine."""

from __future__ import annotations

from typing import Any

import pytest
from support.strict_scenes import Scene

import pocketgpu
from pocketgpu.inspect.model.colour_flow import FlowInput, FlowStage, eight_bits
from pocketgpu.inspect.model.inspection import Inspection

BUFFER = [10, 20, 30, 40]
PIXEL = "f0/d0/px100,100"


def edit(scene: Any, cl: Any) -> None:
    """Stages 1 to 3 read the buffer, which takes the results of stages 0 (colour) and 1 (alpha)."""
    cl.write("TEXENV_UPDATE_BUFFER", rgb0=True, alpha1=True, fog_mode="fog")
    cl.write("TEXENV_BUFFER_COLOR", **dict(zip("rgba", BUFFER, strict=True)))
    cl.write("FOG_COLOR", r=1, g=2, b=3)
    for stage in (1, 2, 3):
        cl.combiner(stage, ("modulate", "previous stage", "combiner buffer"), ("add", "combiner buffer", "constant"),
                    color=(0, 0, 0, 200))  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Inspection:
    return pocketgpu.debug(Scene(edit=edit).capture())


def buffer_of(stages: list[FlowStage], stage: int, part: int) -> FlowInput:
    found = next(one for one in stages if one.name == f"combiner {stage}")
    return next(one for one in found.parts[part].inputs if one.name.startswith("combiner buffer"))


def test_the_buffer_holds_what_the_machine_read(run: Inspection) -> None:
    stages = run.colour_flow(PIXEL)
    outputs = {one.name: one for one in stages}
    for stage in (1, 2, 3):
        for part in (0, 1):
            read = buffer_of(stages, stage, part)
            if read.stage:
                assert read.value == outputs[read.stage].parts[part].output
            else:
                wanted = BUFFER[:3] if part == 0 else BUFFER[3:]
                assert read.value == eight_bits(wanted) and str(BUFFER)[1:-1] in read.name
    assert [buffer_of(stages, stage, 0).stage for stage in (1, 2, 3)] == ["", "combiner 0", "combiner 0"]
    assert [buffer_of(stages, stage, 1).stage for stage in (1, 2, 3)] == ["", "", "combiner 1"]
    assert outputs["combiner 0"].notes == ("its rgb goes to the buffer",)
    assert outputs["combiner 1"].notes == ("its alpha goes to the buffer",)


def test_fog_comes_after_the_last_stage(run: Inspection) -> None:
    stages = run.colour_flow(PIXEL)
    assert [one.name for one in stages[-3:]] == ["combiner 5", "fog", "blending"]
    fog, blending = stages[-2:]
    assert fog.parts[0].inputs[0].stage == "combiner 5" and blending.parts[0].inputs[0].stage == "fog"
    assert fog.parts[0].inputs[1].value == eight_bits([1, 2, 3])
    assert fog.output is not None and fog.notes[0].startswith("keeps")
    assert [one.name for one in run.colour_flow("f0/d0")] == [one.name for one in stages]


def test_a_pixel_that_the_draw_does_not_cover_has_no_values(run: Inspection) -> None:
    assert all(one.output is None for one in run.colour_flow("f0/d0/px0,0") if one.name.startswith("combiner"))
