"""What draws of the Switch work with, as arrays and texts; and what became of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.switch_inspect import look_into

from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.switch import cover_count
from pocketgpu.inspect.switch.inspection import SwitchInspection


@pytest.fixture(scope="module")
def cube(shared_dir: Path) -> SwitchInspection:
    found = debug(str(shared_dir / "captures" / "switch" / "gl_textured_cube_320x180.mxcap.zip"))
    assert isinstance(found, SwitchInspection)
    return found


def test_programs_and_buffers(cube: SwitchInspection) -> None:
    moment = cube.seek("f1/d0")
    vertex, pixel = moment.programs.values()
    assert vertex.unit == "vertex B" and "ALD" in vertex.text
    assert "TEXS" in pixel.text and 0x80 in pixel.inputs
    assert moment.event is not None
    assert f"{pixel.address:#x}" in str(moment.event.facts["programs"])
    for one in moment.buffers:
        assert one.data == moment.read(one.address, one.size) and len(one.words) == one.size // 4


def test_textures_as_pictures(cube: SwitchInspection) -> None:
    (texture,) = cube.seek("f1/d0").textures.values()
    assert texture.header is not None and (texture.header.width, texture.header.height) == (256, 256)
    array = texture.array()
    assert array.shape == (256, 256, 4) and array.max() <= 1.0 and array.std() > 0
    shown = np.asarray(texture.image)
    assert np.abs(shown - array[..., :3] * 255).max() < 1


def test_vertices_in_and_out(cube: SwitchInspection) -> None:
    moment = cube.seek("f1/d0")
    inputs, outputs = moment.vertices.inputs, moment.vertices.outputs
    assert len(inputs) == 36 and moment.vertices.numbers.tolist() == list(range(36))
    assert np.abs(inputs["a0"][:, :3]).max() == 0.5  # a cube
    assert len(outputs) == 36 and (outputs["position"][:, 3] > 0).all()
    # Equal inputs come out equal.
    _, first = np.unique(inputs[["a0", "a1", "a2"]], return_inverse=True)
    for n in range(36):
        assert np.array_equal(outputs["position"][n], outputs["position"][list(first).index(first[n])])
    # Nothing is left different by looking.
    assert np.array_equal(
        cube.seek("f1").screens["screen"].array, next(cube.capture.render(range(1, 2))).screens["screen"].array
    )


def test_other_moments_have_no_draw(cube: SwitchInspection) -> None:
    for ask in ("draw", "programs", "textures", "vertices"):
        with pytest.raises(UsageError):
            getattr(cube.seek("f0/e0"), ask)


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        ("culling", ["the side that is culled (OGL_SET_CULL"]),
        ("cut_off", ["SET_SCISSOR_HORIZONTAL", "SET_WINDOW_CLIP_ENABLE"]),
        ("depth_functions", ["SET_DEPTH_FUNC"]),
        ("clipping", ["beyond the far plane: z is ", "(SET_VIEWPORT_CLIP_CONTROL)", "(SET_USER_CLIP_ENABLE)"]),
    ],
)
def test_what_became_of_draws_that_left_nothing(scene: str, words: list[str]) -> None:
    run = look_into(scene)
    texts = []
    for draw in run.draws(0):
        found = run.why(draw.address)
        assert isinstance(found, Funnel)
        json.dumps(found.to_json())
        assert found.stages[0].passed == draw.facts["count"] and len(found.conclusion) <= 3
        if found.because.startswith("nothing"):
            texts.append(str(found))
        else:
            assert any(stage.passed for stage in found.stages if "changed" in stage.name)
    for word in words:
        assert any(word in text for text in texts), word


def test_the_funnel_counts_what_the_machine_counts() -> None:
    run = look_into("depth_functions")
    for draw in run.draws(0)[:6]:
        found = run.why(draw.address)
        left = {stage.name: stage.passed for stage in found.stages}
        passing = left.get("samples that pass all tests")
        if passing is not None:
            assert left["samples of colour target 0 that changed"] <= passing <= left["pixels that shapes cover"]


def test_a_funnel_that_did_not_count_all_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    run = look_into("depth_functions")
    draw = run.draws(0)[0].address
    assert run.why(draw).proved
    monkeypatch.setattr(cover_count, "MOST_PIXELS", 4)
    found = run.why(draw)
    assert "pixels that shapes cover, at least" in [stage.name for stage in found.stages]
    assert not found.proved and found.to_json()["proved"] is False and "NOT proved" in str(found)
