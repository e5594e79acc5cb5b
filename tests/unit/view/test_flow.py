"""How draws make their colours, for both consoles' samples: stages, what they read, the values of a pixel."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.colour_flow import FlowInput, FlowPart, FlowStage, FlowValue, eight_bits, floats
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions import state
from pocketgpu.view.questions.parameters import Parameters

DATA = Path(__file__).resolve().parents[3] / "src" / "pocketgpu" / "data"
SAMPLES = {"sample.ctf.xz": "f0/d11/px160,140", "sample_switch.mxcap.zip": "f0/d16/px200,120"}


@pytest.fixture(scope="module", params=list(SAMPLES))
def sample(request: pytest.FixtureRequest) -> tuple[Inspection, str]:
    """An inspection, and a pixel of one of its draws."""
    return pocketgpu.debug(DATA / request.param), SAMPLES[request.param]


def by_name(stages: list[FlowStage]) -> dict[str, FlowStage]:
    found = {one.name: one for one in stages}
    assert len(found) == len(stages)
    return found


def test_every_input_comes_from_a_stage_before(sample: tuple[Inspection, str]) -> None:
    run, pixel = sample
    for at in (pixel, pixel.rpartition("/")[0]):
        stages, seen = run.colour_flow(at), set()
        for stage in stages:
            for part in stage.parts:
                for one in part.inputs:
                    assert not one.stage or one.stage in seen, (stage.name, one)
            seen.add(stage.name)
        assert stages[-1].name == "blending" and stages[0].program is not None


def test_a_pixel_has_the_values_of_its_fragment(sample: tuple[Inspection, str]) -> None:
    run, pixel = sample
    fragment = run.why(pixel).fragments[-1]
    blend = fragment.stage("blend")
    assert blend is not None
    last = run.colour_flow(pixel)[-1]
    shown = eight_bits if isinstance(blend.values["result"][0], int) else floats
    assert last.output == shown(blend.values["result"])
    assert last.parts[0].inputs[0].value == shown(blend.values["source"])
    without = run.colour_flow(pixel.rpartition("/")[0])
    assert [one.name for one in without] == [one.name for one in run.colour_flow(pixel)]
    assert all(part.output is None for one in without for part in one.parts)


def test_its_programs_can_be_stepped_through(sample: tuple[Inspection, str]) -> None:
    run, pixel = sample
    programs = [one.program for one in run.colour_flow(pixel) if one.program is not None]
    assert programs and all(len(run.trace(one)) for one in programs)


def test_the_request_has_the_same(sample: tuple[Inspection, str]) -> None:
    run, pixel = sample
    question = state.ASKED["flow"].read(Parameters({"at": pixel}))
    assert question(run) == {"stages": [one.to_json() for one in run.colour_flow(pixel)]}
    with pytest.raises(UsageError, match="only draws"):
        run.colour_flow("f0/e0")
    with pytest.raises(UsageError):
        run.colour_flow("f0/d999")


def test_combiners_have_the_operands_of_why() -> None:
    run = pocketgpu.debug(DATA / "sample.ctf.xz")
    pixel = SAMPLES["sample.ctf.xz"]
    stages, fragment = by_name(run.colour_flow(pixel)), run.why(pixel).fragments[-1]
    for number in range(6):
        values = fragment.stage(f"combiner {number}").values  # type: ignore[union-attr]
        stage = stages[f"combiner {number}"]
        assert stage.idle == values["idle"] and stage.output == eight_bits(values["result"])
        for part in stage.parts:
            wanted = values[part.name]
            assert part.operation == wanted["operation"] and len(part.inputs) == len(wanted["operands"])
            for one, operand in zip(part.inputs, wanted["operands"], strict=True):
                value = operand["value"]
                assert one.operand == operand["operand"] and one.name.startswith(operand["source"])
                assert one.value == eight_bits(value if isinstance(value, list) else [value])
    texture = fragment.stage("texture 0")
    assert texture is not None and stages["texture 0"].output == eight_bits(texture.values["color"])
    assert stages["combiner 1"].parts[0].inputs[0].stage == "combiner 0"


def test_values_as_text_and_data() -> None:
    assert eight_bits([73, 69, 97, 255]) == FlowValue("73, 69, 97, 255", "#494561")
    assert eight_bits([255]) == FlowValue("255", "")
    assert floats([0.5, 2.0, -1.0]) == FlowValue("0.5, 2, -1", "#80ff00")
    assert floats([float("nan"), 0.0, float("inf")]).color == "#0000ff"
    read = FlowInput("texture 0", "1 - rgb", "texture 0", FlowValue("1"))
    part = FlowPart("rgb", "add", (read,), "x2", FlowValue("2"))
    stage = FlowStage("combiner 0", (part,), None, ("kept",))
    assert str(stage) == "combiner 0: rgb add(texture 0.1 - rgb 1) x2 = 2; kept"
    assert str(FlowStage("texture 0", (), FlowValue("1"))) == "texture 0 = 1"
    assert stage.to_json()["parts"][0]["inputs"][0] == {
        "name": "texture 0", "operand": "1 - rgb", "stage": "texture 0", "value": {"text": "1", "color": ""},
    }  # fmt: skip
