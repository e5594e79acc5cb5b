"""What spoils a frame: planted bugs are named in the first three lines, and sound recordings accuse nobody.

Each bug is one change of a scene that has nothing wrong: nine that the homebrew developers of a trial made, and more.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.strict_scenes import Scene
from support.strict_scenes_switch import SIZE
from support.strict_scenes_switch import Scene as SwitchScene

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList
from pocketgpu.capture.replay import Capture
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.causes import FrameCauses
from pocketgpu.inspect.rules.causes import WEIGHTS
from pocketgpu.inspect.rules.registry import RULES

Made = Callable[[], Capture]


def edited(change: Callable[[Scene, CommandList], Any], **more: Any) -> Made:
    """The scene of a 3DS with one change before its draw."""
    return lambda: Scene(edit=change, **more).capture()


def shown(stride: int) -> Made:
    """The upper screen steps through the picture by another stride than the transfer wrote."""

    def after(scene: Scene, capture: CaptureBuilder) -> None:
        capture.write("PDC0_STRIDE", stride=stride)

    return lambda: Scene(after=after).capture()


def on_switch(*methods: tuple[Any, ...], **more: Any) -> Made:
    return lambda: SwitchScene(before=methods, **more).capture()


def uploaded(format: str) -> Made:
    """A texture that a display transfer tiles as RGBA8, and that the draw reads in a format."""

    def before(scene: Scene, capture: CaptureBuilder) -> None:
        linear = capture.put(np.full((64, 64, 4), 200, np.uint8))
        scene.texels = capture.allocate(64 * 64 * 4)
        capture.transfer(linear, scene.texels, 64, 64, output_format="RGBA8", linear_to_tiled=True)

    def edit(scene: Scene, cl: CommandList) -> None:
        cl.texture(0, scene.texels, 64, 64, format=format, filter="linear")

    return lambda: Scene(before=before, edit=edit).capture()


NO_MATRIX = "main:\n        dp4 o0.x, c40, v0"
BUGS: dict[str, tuple[Made, str]] = {
    "3ds, depth function never": (
        edited(lambda scene, cl: cl.depth("never")), "DEPTH_COLOR_MASK.depth_function never"
    ),
    "3ds, alpha function never": (
        edited(lambda scene, cl: cl.write("FRAGOP_ALPHA_TEST", enable=True, function="never")),
        "FRAGOP_ALPHA_TEST.function never",
    ),
    "3ds, scissor away": (edited(lambda scene, cl: cl.scissor(300, 10, 310, 20)), "the scissor keeps 300, 10"),
    "3ds, scissor of corner and size": (edited(lambda scene, cl: cl.scissor(100, 100, 50, 50)), "the scissor keeps"),
    "3ds, culling of all": (
        edited(lambda scene, cl: cl.write("FACECULLING_CONFIG", mode="front (counter-clockwise)")),
        "is culled: its corners run",
    ),
    "3ds, uniforms unset": (
        lambda: Scene(program=Scene().program.replace("main:\n        dp4 o0.x, c0, v0", NO_MATRIX)).capture(),
        "reads uniform c40 at instruction 0x000 (dp4 o0.x, c40, v0), and nothing ever wrote there",
    ),
    "3ds, uniform NaN": (lambda: Scene(matrix=np.eye(4) * np.nan).capture(), "which the vertex program reads, is NaN"),
    "3ds, stride of the screen": (shown(512), "steps 512 bytes from line to line"),
    "3ds, format of a texture": (uploaded("RGBA4"), "is read as RGBA4 (TEXUNIT0_TYPE), and was written as RGBA8"),
    "3ds, texture unit off": (
        edited(lambda scene, cl: cl.write("TEXUNIT_CONFIG", unit0_enable=False)), "reads texture unit 0, which"
    ),
    "3ds, viewport of no area": (
        edited(lambda scene, cl: cl.write("VIEWPORT_WIDTH", value=0.0)), "has no area (VIEWPORT_WIDTH"
    ),
    "switch, empty scissor": (
        on_switch(("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 0)), "SET_SCISSOR_HORIZONTAL(0)"
    ),
    "switch, front faces culled": (
        on_switch(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x404), ("OGL_SET_FRONT_FACE", 0x901)),
        "OGL_SET_CULL_FACE FRONT",
    ),
    "switch, both faces culled": (
        on_switch(("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", 0x408)), "OGL_SET_CULL_FACE",
    ),
    "switch, constants not bound": (
        lambda: SwitchScene(vertex=SwitchScene().vertex.replace("EXIT", "MOV R9, c[0x3][0x10]\nAST a[0x98], R9\nEXIT"))
        .capture(), "the vertex program reads constant buffer 3, and nothing is bound there",
    ),
    "switch, depth function never": (
        on_switch(
            ("SET_ZT_FORMAT", 0x15), ("SET_ZT_SELECT", 1), ("SET_ZT_SIZE_A", SIZE, SIZE, 1), ("SET_DEPTH_TEST", 1),
            ("SET_DEPTH_FUNC", 0x200), ("SET_ZT_A", 0x5_7000_0000),
        ), "SET_DEPTH_FUNC",
    ),
    "switch, raster off": (on_switch(("SET_RASTER_ENABLE", 0)), "SET_RASTER_ENABLE"),
    "switch, texture that is no texture": (lambda: SwitchScene(handle=5).capture(), "texture"),
    "switch, vertices are NaN": (
        lambda: SwitchScene(rows=((float("nan"), 0, 0, 1, 0, 0), *SwitchScene().rows[1:])).capture(),
        "has NaN or infinity in its positions",
    ),
    "switch, a constant is unset": (
        lambda: SwitchScene(vertex="MOV R9, c[0x0][0x10]\n" + SwitchScene().vertex, written=16).capture(),
        "reads c[0x0][0x10] at instruction 0 (MOV), and nothing wrote these bytes",
    ),
    "switch, stride too small": (
        on_switch(("SET_VERTEX_STREAM_A_FORMAT(0)", 1 << 12 | 20)), "SET_VERTEX_STREAM_A_FORMAT(0)",
    ),
    "switch, the target overwrites the vertices": (
        lambda: SwitchScene(inside=0).capture(), "attribute 0 of stream 0 at",
    ),
    "switch, stream too short": (lambda: SwitchScene(limit=40).capture(), "stream"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_named_in_the_first_three_lines(bug: str) -> None:
    made, words = BUGS[bug]
    found = pocketgpu.debug(made()).why("f0")
    assert isinstance(found, FrameCauses) and found.causes
    assert any(words in line for line in str(found).splitlines()[:3]), str(found)
    proof = found.causes[0]
    assert proof.at.startswith("f0") and proof.at in proof.more


@pytest.mark.parametrize("scene", [Scene, SwitchScene])
def test_the_sound_scene_accuses_nobody(scene: Callable[[], Any]) -> None:
    found = pocketgpu.debug(scene().capture()).why("f0")
    assert not found.causes and "nothing found that spoils the picture; 1 draw" in str(found)
    assert found.to_json()["causes"] == [] and found.to_json()["schema"] == "pocketgpu.causes/1"


def test_sound_recordings_accuse_nobody(shared_dir: Path, sample_path: Path) -> None:
    looked = 0
    found_paths = [*shared_dir.glob("captures/3ds/*.ctf.xz"), *shared_dir.glob("captures/switch/*.mxcap*")]
    for path in (*sorted(found_paths), sample_path):
        run = pocketgpu.debug(path)
        if run.frame_count:
            found = run.why(f"f{run.frame_count - 1}")
            assert not found.causes, (path.name, str(found))
            looked += 1
    assert looked > 30


def test_only_the_frame_that_is_asked_about_counts() -> None:
    """A bug in frame 1 does not spoil frame 0; memory that frame 0 wrote is written in frame 1."""

    def edit(scene: Scene, cl: CommandList) -> None:
        made.append(None)
        if len(made) == 2:
            cl.depth("never")

    made: list[None] = []
    run = pocketgpu.debug(Scene(edit=edit, frames=3).capture())
    assert [len(run.why(f"f{frame}").causes) for frame in range(3)] == [0, 1, 0]
    assert run.why("f1").causes[0].at == "f1/d0"
    with pytest.raises(UsageError, match="no frame 3"):
        run.why("f3")


def test_every_weight_is_of_a_rule_and_in_its_range() -> None:
    ids = {one.id for one in RULES}
    assert set(WEIGHTS) <= ids and all(1 <= weight <= 100 for weight in WEIGHTS.values())


def test_the_command(sample_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(sample_path), "f1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["why"]
    assert found["schema"] == "pocketgpu.causes/1" and found["causes"] == [] and found["draws"] == 16
