"""Why pixels of a Switch have their colour: every value that is told ends in the bytes that the machine wrote."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from support.recordings import CITY
from support.switch_inspect import SCENES, look_into

from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.model.why import Why
from pocketgpu.inspect.switch.inspection import SwitchInspection

PIXELS = 4
"""Pixels of each scene and frame that are asked for."""
SOME = [
    "stencil", "early_and_late", "blend_factors", "logic_ops", "alpha_test", "control_flow", "cut_off", "points",
    "all_stages", "format_rules", "several_targets", "layers", "samples_4x4", "texture_kinds", "images",
]  # fmt: skip
"""Scenes with something of their own to tell; all others are alike."""
RECORDINGS = [
    "deko_basic_320x180", "ex01_simple_setup_320x180", "ex02_triangle_320x180", "ex03_cube_1280x720",
    "ex03_cube_320x180", "ex04_textured_cube_1280x720", "ex04_textured_cube_320x180", "ex05_tessellation_320x180",
    "ex07_mesh_lighting_1280x720", "ex07_mesh_lighting_320x180", "ex09_compute_320x180", "gl_simple_triangle_320x180",
    "gl_textured_cube_320x180", "mesa_blend_320x180", "mesa_compute_320x180", "mesa_indexed_320x180",
    "mesa_texkinds_320x180",
]  # fmt: skip


def _proved(run: SwitchInspection, place: str) -> Why:
    found = run.why(place)
    assert found.proved, str(found)
    assert all(one.proved for one in found.fragments)
    json.dumps(found.to_json())
    text = str(found)
    assert text.splitlines()[0] == found.conclusion[0] and len(found.conclusion) <= 3
    return found


@pytest.mark.parametrize("name", SOME)
def test_random_pixels_of_the_zoo_are_proved(name: str) -> None:
    assert name in SCENES
    run = look_into(name)
    choose = random.Random(name)
    present = run.log.presents[0]
    for _ in range(PIXELS // 2):
        _proved(run, f"f0/px{choose.randrange(present.width)},{choose.randrange(present.height)}")
        draw = choose.choice(run.draws(0))
        surface = run.recorder.traces[run.tick_of(draw.address) - 1].surfaces[0][0]
        width, height = surface.width // surface.grid[0], surface.height // surface.grid[1]
        _proved(run, f"{draw.address}/px{choose.randrange(width)},{choose.randrange(height)}")


@pytest.mark.parametrize("name", RECORDINGS)
def test_random_pixels_of_recordings_are_proved(name: str, shared_dir: Path) -> None:
    run = debug(str(shared_dir / "captures" / "switch" / f"{name}.mxcap.zip"))
    assert isinstance(run, SwitchInspection)
    choose = random.Random(name)
    for frame in range(run.frame_count):
        present = run.log.presents[frame]
        for n in range(PIXELS // 2):
            # The middle is where things are.
            part = 6 if n else 2
            x = present.width // 2 + choose.randrange(-present.width // part, present.width // part)
            y = present.height // 2 + choose.randrange(-present.height // part, present.height // part)
            found = _proved(run, f"f{frame}/px{x},{y}")
            shown = run.seek(f"f{frame}").screens["screen"].array[y, x]
            assert found.color == tuple(shown.tolist())


def test_the_answer_says_which_test_failed() -> None:
    run = look_into("depth_functions")
    texts = []
    for draw in run.draws(0):
        surface = run.recorder.traces[run.tick_of(draw.address) - 1].surfaces[0][0]
        for x in range(4, surface.width, 16):
            found = run.why(f"{draw.address}/px{x},8")
            texts += [one.fate for one in found.fragments if not one.written]
        if texts:
            break
    assert any("depth test" in text and "SET_DEPTH_FUNC" in text for text in texts)


def test_registers_of_each_instruction(shared_dir: Path) -> None:
    run = debug(str(shared_dir / "captures" / "switch" / "gl_textured_cube_320x180.mxcap.zip"))
    found = run.why("f1/px160,90")
    (written,) = [one for one in found.fragments if one.written]
    last: dict[str, str] = {}
    program = written.stage("program").values
    for one in program["instructions"]:
        for name, value in one["reads"].items():
            if name in last:
                assert value == last[name], one
        if one["executed"]:
            last |= {name: after for name, (_, after) in one["writes"].items()}
    assert [last[f"R{n}"] for n in range(4)] == program["outputs"][:4]
    texture = written.stage("texture").values
    assert texture["written_by"] and "256x256" in texture["texture"]
    assert written.stage("inputs").values and written.stage("depth test").passed


def test_blits_lead_to_what_they_took(shared_dir: Path) -> None:
    run = debug(str(shared_dir / "captures" / "switch" / "ex07_mesh_lighting_320x180.mxcap.zip"))
    found = run.why("f1/screen/px160,90")
    blit = found.touches[-1]
    (source,) = blit.sources
    assert blit.event.kind == "transfer" and source.touches[-1].event.kind == "draw"
    assert "f1/d0" in found.conclusion[0] and found.conclusion[0].index("f1/e6") < found.conclusion[0].index("f1/d0")
    assert len(source.touches[-1].after) == 4  # samples
    assert found.last is source.touches[-1]
    assert run.seek("f1").read(found.place.address, found.place.size).hex() == found.value[0]
    assert "<pre>" in found._repr_html_()


def test_pixels_of_a_city_come_from_clears_and_copies() -> None:
    run = debug(str(CITY))
    assert isinstance(run, SwitchInspection)
    kinds = set()
    for place in ("f0/px60,30", "f1/px320,200", "f3/px40,300", "f3/px600,20"):
        kinds |= {step.event.kind for step in _proved(run, place).all_touches()}
    assert {"clear", "transfer"} <= kinds


def test_pixels_that_are_not_there() -> None:
    run = look_into("depth_functions")
    for place in ("f0/px9999,0", "f0/d0/px0,9999", "f0/top/px0,0", "f0", "f7/px0,0"):
        with pytest.raises(UsageError):
            run.why(place)


def test_asking_changes_nothing() -> None:
    run = look_into("blend_factors")
    memory = run.player.machine.memory

    def everything() -> list[bytes]:
        run.seek("f0")
        return [memory.arena[one.offset : one.offset + one.size].tobytes() for one in memory.backings]

    before = everything()
    for draw in run.draws(0)[:4]:
        run.why(f"{draw.address}/px5,5")
    assert everything() == before
