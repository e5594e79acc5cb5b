"""Ten scenes, each broken in one way: the first lines of `why` or of the rules' findings name what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.strict_scenes import CORNERS, HEIGHT, PROGRAM, WIDTH, Scene

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.inspect.rules.checker import check

MATRIX = np.eye(4)
MATRIX[0, 0] = np.nan
CENTRE = "f0/px200,120"


@dataclass
class Broken:
    """A scene, and words that stand in the first three lines: of `why` for the draw, of `why` for a pixel of the
    screen, and of the findings. Empty: nothing is asked of it."""

    name: str
    scene: Callable[[], Scene]
    draw: tuple[str, ...] = ()
    pixel: tuple[str, ...] = ()
    rules: tuple[str, ...] = field(default=())


def edited(*calls: tuple[str, dict[str, Any]]) -> Callable[[], Scene]:
    def edit(scene: Scene, cl: Any) -> None:
        for name, fields in calls:
            cl.write(name, **fields)

    return lambda: Scene(edit=edit)


def stride(size: int) -> Callable[[], Scene]:
    return lambda: Scene(edit=lambda scene, cl: cl.write("ATTRIBBUFFER0_CONFIG2", stride=size, count=3))


def turned() -> Scene:
    return Scene(corners=CORNERS[::-1], edit=lambda scene, cl: cl.write("FACECULLING_CONFIG", mode="back (clockwise)"))


def wrong_target() -> Scene:
    def allocate(scene: Scene, capture: Any) -> None:
        scene.draw_to = capture.allocate(4 * WIDTH * HEIGHT, region="VRAM")

    return Scene(before=allocate)


SCENES = [
    Broken(
        "wrong cull mode",
        edited(("FACECULLING_CONFIG", {"mode": "front (counter-clockwise)"})),
        draw=("run counter-clockwise", "FACECULLING_CONFIG drops front"),
        pixel=("FACECULLING_CONFIG drops front",),
        rules=("draw.culled", "FACECULLING_CONFIG"),
    ),
    Broken(
        "swapped winding",
        turned,
        draw=("corners run clockwise", "FACECULLING_CONFIG drops back"),
        pixel=("corners run clockwise",),
        rules=("draw.culled", "corners run clockwise"),
    ),
    Broken(
        "depth test inverted",
        edited(("DEPTH_COLOR_MASK", {"depth_test": True, "depth_function": "less", "red": True, "depth_write": True})),
        draw=("depth test: their depth is 0.5, the buffer has 0", "DEPTH_COLOR_MASK.depth_function less"),
        pixel=("rejected by the depth test", "less", "DEPTH_COLOR_MASK"),
    ),
    Broken(
        "alpha test eats all",
        lambda: Scene(alpha=0.2),
        draw=("alpha test: alpha is 51, FRAGOP_ALPHA_TEST.reference is 128", "FRAGOP_ALPHA_TEST.function greater"),
        pixel=("rejected by the alpha test", "51 greater 128", "FRAGOP_ALPHA_TEST"),
    ),
    Broken(
        "texture unit disabled",
        edited(("TEXUNIT_CONFIG", {"constant_one": True})),
        draw=("TEXUNIT_CONFIG.unit0_enable",),
        rules=("texture.unit-off", "TEXUNIT_CONFIG.unit0_enable"),
    ),
    Broken(
        "viewport outside",
        lambda: Scene(edit=lambda scene, cl: cl.viewport(300, 0, WIDTH, HEIGHT)),
        draw=("outside of the target of 240x400: the viewport is 240x400 at 300, 0", "VIEWPORT_XY"),
        pixel=("VIEWPORT_XY",),
        rules=("viewport.outside", "VIEWPORT_XY"),
    ),
    Broken(
        "NaN in the matrix",
        lambda: Scene(matrix=MATRIX),
        draw=("3 of 3 have NaN in their position: uniform c0.x is NaN",),
        pixel=("uniform c0.x is NaN",),
        rules=("uniform.nan", "c0.x"),
    ),
    Broken(
        "NaN in all of the matrix",
        lambda: Scene(matrix=np.full((4, 4), np.nan)),
        draw=("3 of 3 have NaN in their position: uniforms c0.xyzw, c1.xyzw, c2.xyzw, c3.xyzw are NaN",),
        pixel=("uniforms c0.xyzw, c1.xyzw",),
        rules=("uniform.nan", "uniform c2.xyzw, which the vertex program reads, is NaN"),
    ),
    Broken(
        "stride too small",
        stride(28),
        draw=("ATTRIBBUFFER0_CONFIG2.stride is 28",),
        rules=("vertex.stride", "ATTRIBBUFFER0_CONFIG2.stride is 28", "36 bytes"),
    ),
    Broken("stride too large", stride(64), rules=("memory.two-uses", "vertex buffer 0")),
    Broken(
        "missing end",
        lambda: Scene(program=PROGRAM.replace("        end\n", "")),
        draw=("no END",),
        rules=("shader.no-end", "no END", "instruction 0x005"),
    ),
    Broken(
        "wrong render target",
        wrong_target,
        pixel=("no draw goes there", "0x180bb800", "COLORBUFFER_LOC"),
        rules=("target.unused", "0x180bb800", "COLORBUFFER_LOC", "0x18000000"),
    ),
]  # fmt: skip


def first_lines(text: str) -> str:
    return "\n".join(text.splitlines()[:3])


@pytest.mark.parametrize("broken", SCENES, ids=lambda broken: broken.name)
def test_the_first_lines_name_the_cause(broken: Broken, tmp_path: Path) -> None:
    path = str(tmp_path / "scene.ctf.xz")
    broken.scene().build().save(path)
    capture = pocketgpu.open(path)
    run = pocketgpu.debug(capture)
    for place, wanted in (("f0/d0", broken.draw), (CENTRE, broken.pixel)):
        if wanted:
            text = first_lines(str(run.why(place)))
            for words in wanted:
                assert words in text, f"{place}: {text}"
    if broken.rules:
        text = "\n".join(str(finding) for finding in check(capture).findings[:3])
        for words in broken.rules:
            assert words in text, text


def test_a_capture_of_our_own_says_the_same(tmp_path: Path) -> None:
    recording, own = (str(tmp_path / name) for name in ("scene.ctf", "scene.pgc"))
    wrong_target().build().save(recording)
    assert main(["convert", recording, own]) == 0
    of_both = [check(pocketgpu.open(path)).findings for path in (recording, own)]
    assert of_both[0] and of_both[0] == of_both[1]
    assert "no draw goes there" in first_lines(str(pocketgpu.debug(own).why(CENTRE)))


def test_the_scene_is_sound_where_it_is_not_broken(tmp_path: Path) -> None:
    path = str(tmp_path / "scene.ctf.xz")
    Scene().build().save(path)
    capture = pocketgpu.open(path)
    assert check(capture).findings == ()
    run = pocketgpu.debug(capture)
    assert "changed a colour" in first_lines(str(run.why("f0/d0")))
    assert "draw 0" in first_lines(str(run.why(CENTRE)))
