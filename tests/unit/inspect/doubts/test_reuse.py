"""Replays under other values use what they can of the usual one, and show the same as a replay from the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.doubtful_scenes import stencil_now_and_then

import pocketgpu
from pocketgpu.capture import Capture
from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.inspect.doubts import doubts
from pocketgpu.inspect.doubts.replays import touched
from pocketgpu.inspect.doubts.usual import UsualReplay
from pocketgpu.pica.core.layout import CONTROL
from pocketgpu.probe import SCENES
from pocketgpu.probe.scenes.n3ds.canvas import DARK as N3DS_DARK
from pocketgpu.probe.scenes.n3ds.canvas import LEFT as N3DS_LEFT
from pocketgpu.probe.scenes.n3ds.canvas import ORANGE as N3DS_ORANGE
from pocketgpu.probe.scenes.n3ds.canvas import RIGHT as N3DS_RIGHT
from pocketgpu.probe.scenes.n3ds.canvas import SceneCanvas as N3dsCanvas
from pocketgpu.probe.scenes.switch.canvas import CLASSES, ORANGE, SceneCanvas

STENCIL = "test.stencil_write"
(OTHER,) = CHOICES[STENCIL].alternatives


def whole(capture: Capture, count: int, values: Mapping[str, str]) -> Any:
    """Digests of all pictures of a replay from the start, or its error."""
    try:
        frames = capture.render(frames=range(count), switches=values)
        return {frame.index: {name: one.array.tobytes() for name, one in frame.screens.items()} for frame in frames}
    except PocketGPUError as error:
        return str(error)


def reused(usual: UsualReplay, values: Mapping[str, str], touching: Any) -> Any:
    try:
        pictures = usual.under(values, touching).pictures
    except PocketGPUError as error:
        return str(error)
    return {number: {name: one.tobytes() for name, one in screens.items()} for number, screens in pictures.items()}


def check_all(capture: Capture, count: int, names: list[str]) -> UsualReplay:
    """Every value of some choices: the same pictures as from the start."""
    touching = touched(capture, count)
    usual = UsualReplay(capture, range(count), 1, {}, [touching.get(name, ()) for name in names])
    assert {number: {name: one.tobytes() for name, one in screens.items()}
            for number, screens in usual.pictures.items()} == whole(capture, count, {})  # fmt: skip
    for name in names:
        for value in CHOICES[name].alternatives:
            values = {name: value}
            assert reused(usual, values, touching.get(name, ())) == whole(capture, count, values), (name, value)
    return usual


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """Frames 1 and 4 of 7 have the disputed case; frame 2 clears the stencil, frame 5 does not."""
    path = tmp_path_factory.mktemp("reuse") / "stencil.ctf"
    path.write_bytes(stencil_now_and_then("-s--s--", clears={2}))
    return pocketgpu.open(path)


def test_frames_before_and_after_the_disputed_ones_are_not_replayed(scene: Capture) -> None:
    touching = touched(scene)
    assert touching[STENCIL] == {1, 4}
    usual = UsualReplay(scene, range(7), 1, {}, [touching[STENCIL]])
    found = usual.under({STENCIL: OTHER}, touching[STENCIL])
    # Frame 2 makes the state usual again, so frame 3 is not replayed; after frame 4 nothing does.
    assert found.frames == {1, 2, 4, 5, 6}
    assert (usual.work.frames, usual.work.of) == (5, 7) and usual.work.draws < usual.work.draws_of
    assert reused(usual, {STENCIL: OTHER}, touching[STENCIL]) == whole(scene, 7, {STENCIL: OTHER})
    parted = [number for number in range(7) if found.pictures[number] is not usual.pictures[number]]
    assert parted == [1, 2, 4, 5, 6], "pictures of frames that were not replayed are the usual ones"


@pytest.mark.parametrize("budget", [0, 1 << 20])
def test_with_room_for_few_states_replays_begin_earlier(scene: Capture, budget: int) -> None:
    touching = touched(scene)[STENCIL]
    usual = UsualReplay(scene, range(7), 1, {}, [touching], budget)
    assert reused(usual, {STENCIL: OTHER}, touching) == whole(scene, 7, {STENCIL: OTHER})
    assert usual.work.frames >= 5


def test_a_choice_that_nothing_touches_takes_no_replay(scene: Capture) -> None:
    found = doubts(scene, ["lighting.lut", "display.latch"])
    assert found.tried and found.partings == () and found.work.frames == 0 and found.work.of == 7 * len(found.tried)
    assert found.to_json()["replayed"]["frames"] == 0
    assert f"0 frame replays (0 draws); {found.work.of} more" in str(found)


def test_wrong_sets_of_frames_would_be_noticed(scene: Capture) -> None:
    """The property that these tests check does not hold by itself: without frame 1, frames 1 and 2 are wrong."""
    usual = UsualReplay(scene, range(7), 1, {}, [{4}])
    assert reused(usual, {STENCIL: OTHER}, {4}) != whole(scene, 7, {STENCIL: OTHER})


@pytest.mark.parametrize("seed", range(3))
def test_random_scenes_are_as_from_the_start(seed: int, tmp_path: Path) -> None:
    chance = np.random.default_rng(seed)
    count = 6
    kinds = "".join(chance.choice(["-", "s", "t"], count))
    path = tmp_path / "scene.ctf"
    path.write_bytes(stencil_now_and_then(kinds, clears={n for n in range(count) if chance.random() < 0.5}))
    check_all(pocketgpu.open(path), count, [STENCIL, "test.untested_depth_write", "depth.bits", "list.jump_value"])


def test_the_first_stage_reads_the_vertex_colour_as_the_previous_one(scene: Capture) -> None:
    """No source of the scene is called so; its colours depend on how they become 8 bits all the same."""
    assert "combiner.vertex_color" in touched(scene)
    usual = check_all(scene, 7, ["combiner.vertex_color", "combiner.first_previous"])
    assert usual.work.frames


@pytest.mark.parametrize("name", [*SCENES] or ["test.stencil_write"])
def test_scenes_of_choices_are_as_from_the_start(name: str) -> None:
    """A scene shows what its choice does, so rules that overlook it are noticed here."""
    made = SCENES[name].made.data if name in SCENES else stencil_now_and_then("s", set())
    capture = pocketgpu.capture.of_bytes(made)
    if capture.frame_count:
        check_all(capture, capture.frame_count, [name])


def test_a_channel_that_was_made_before_the_disputed_frame() -> None:
    """Frame 0 makes the channel and binds all but the 3D class; methods of the unbound subchannel come in frame 1. A
    replay that begins there must not keep what the usual choice did when the channel was made."""
    canvas = SceneCanvas(bound=False)
    for name in CLASSES[1:]:
        canvas.pb.bind(name)
    canvas.submit()
    canvas.capture.present(canvas.target)
    canvas.set_state(CLASSES[:1]).clear(ORANGE).wait().submit()
    capture = pocketgpu.capture.of_bytes(canvas.made().data)
    assert touched(capture)["channel.unbound"] == {1}
    usual = check_all(capture, 2, ["channel.unbound"])
    assert (usual.work.frames, usual.work.of) == (1, 2)
    (parting,) = doubts(capture, ["channel.unbound"]).partings
    assert (parting.value, parting.frames) == ("ignore", 1)


def test_what_is_touched_depends_on_the_given_values() -> None:
    """Only under another value of `list.jump_value` a list goes on in another one, which has the disputed factor."""
    canvas = N3dsCanvas()
    canvas.fill(N3DS_RIGHT, N3DS_ORANGE)
    other = canvas.list.end_drawing().finalize().tobytes()
    address = canvas.capture.put(other)
    canvas.new_list()
    canvas.fill(N3DS_LEFT, N3DS_DARK)
    canvas.list.write("CMDBUF_SIZE1", size=len(other)).write("CMDBUF_ADDR1", address=address)
    canvas.list.write_word("CMDBUF_JUMP1", 0)
    canvas.list.write("BLEND_FUNC", src_rgb=15, src_alpha=15)
    canvas.fill(N3DS_RIGHT, N3DS_ORANGE)
    canvas.fill(N3DS_LEFT, N3DS_ORANGE)
    capture = pocketgpu.capture.of_bytes(canvas.made().data)
    given, disputed = {"list.jump_value": "non-zero"}, "blend.factor_15"
    assert not touched(capture).get(disputed) and touched(capture, switches=given)[disputed]
    found = doubts(capture, [disputed], switches=given)
    for value in CHOICES[disputed].alternatives:
        parting = found.parting(disputed, value)
        same = whole(capture, found.frames, given) == whole(capture, found.frames, given | {disputed: value})
        assert (parting is None) == same, value
    assert found.partings
    assert disputed in doubts(capture, switches=given).choices


def test_every_value_on_the_sample_of_the_3ds(sample_path: Path) -> None:
    names = ["list.end_match", "texture.expand", "lighting.lut", "display.expand", "gsp.alignment"]
    usual = check_all(pocketgpu.open(sample_path), 3, names)
    assert 0 < usual.work.frames < usual.work.of


def test_every_value_on_the_sample_of_the_switch(sample_path: Path) -> None:
    path = sample_path.with_name("sample_switch.mxcap.zip")
    usual = check_all(pocketgpu.open(path), 3, [*OF_CONSOLE["Switch"]][:20])
    assert 0 < usual.work.frames < usual.work.of


def test_textures_of_draws_touch_how_coordinates_are_rounded(shared_dir: Path) -> None:
    """No record says what programs of draws sample, so every draw may."""
    capture = pocketgpu.open(shared_dir / "captures" / "switch" / "ex04_textured_cube_320x180.mxcap.zip")
    found = doubts(capture, ["texture.fraction"], range(1))
    assert found.work.frames == 1 and [one.choice for one in found.partings] == ["texture.fraction"]


def test_how_shaders_ran_makes_no_other_state(scene: Capture) -> None:
    """A program runs by general code until its own is compiled, and only general code counts its steps."""
    driver = scene.driver()
    driver.play_frame()
    kept = driver.checkpoint().machine
    control = min(kept.areas)
    for name, same in (("SHADER_STEPS", True), ("SHADER_STEPS_LOW", True), ("NAN_PRODUCTS", False)):
        changed = kept.areas[control].copy()
        changed[getattr(CONTROL, name)] ^= 1
        assert kept.same(replace(kept, areas=kept.areas | {control: changed})) is same, name
