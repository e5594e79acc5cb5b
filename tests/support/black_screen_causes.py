"""A scene for each cause of a black screen that the guide docs/guides/black-screen.md leads to.

Those of `black_screens.py` are among them. The scenes of a console are frames of one recording; the pages' examples and
the test of the guide use the same ones. A cause is the heading of the guide where its remedy is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from support import black_screens
from support.black_screens import BLACK, NOWHERE
from support.strict_scenes import HEIGHT, WIDTH, Scene
from support.strict_scenes_switch import ROWS, SIZE, VERTEX
from support.strict_scenes_switch import Scene as SwitchScene

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of

BEHIND = np.array(((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 1, 0)))
"""A matrix that gives w the value of z, which is negative."""
OUTSIDE = ((4.0, 4.0), (5.0, 4.0), (4.0, 5.0))
LOOP = "    here:\n        jmpu !b0, here\n        end\n"

FRONT = "The wrong side is culled"
DEPTH = "The depth test rejects it"
STENCIL = "The stencil test rejects it"
ALPHA = "The alpha test rejects it"
BLENDING = "Blending keeps what was there"
TEXTURE = "Nobody wrote the texture"
VERTICES = "Nobody wrote the vertices"
UNIFORM = "A uniform or a constant is missing"
ELSEWHERE = "Another buffer is shown"
NO_TRANSFER = "Nothing brings the picture to the screen"
COLOUR = "The colour itself is black"
OUT = "The position is outside of the view"
NAN = "A position is NaN"
NO_DRAW = "No draw was sent"
NO_VERTICES = "The draw has no vertices"
ENDLESS = "The shader does not end"
MASK = "The colour is masked"
SCISSOR = "The scissor cuts it away"
SCREEN = "The screen is off"
OVER = "Something is drawn over it"
RASTER = "Raster is off"
FAILS = "The program fails"
NEVER_SHOWN = "The program never shows a picture"


# -- 3DS ---------------------------------------------------------------------------------------------------------------
def _black(**changes: Any) -> Scene:
    return Scene(clear=BLACK, **changes)


def _draws_elsewhere(scene: Scene, capture: CaptureBuilder) -> None:
    scene.draw_to = capture.allocate(4 * WIDTH * HEIGHT, region="VRAM")


def _shows_without_transfer(scene: Scene, capture: CaptureBuilder) -> None:
    capture.show("top", capture.allocate(3 * WIDTH * HEIGHT, region="VRAM"))


def _clears_before_it_shows(scene: Scene, capture: CaptureBuilder) -> None:
    capture.clear(scene.target, WIDTH, HEIGHT, BLACK).present("top", scene.target)


def _vertices_from_nowhere(scene: Scene, cl: CommandList) -> None:
    cl.attributes(Buffer(NOWHERE, [("f32", 3), ("f32", 4), ("f32", 2)]))


def _never(scene: Scene, cl: CommandList) -> None:
    cl.write("STENCIL_TEST", enable=True, function="never")


N3DS: dict[str, tuple[str, Scene]] = {
    "depth is cleared to the near end": (DEPTH, _black(depth_clear=0xFFFFFF)),
    "the wrong side is culled": (FRONT, black_screens.N3DS["the wrong side is culled"]),
    "blending keeps the target": (BLENDING, black_screens.N3DS["blending keeps the target"]),
    "the texture is somewhere else": (TEXTURE, black_screens.N3DS["the texture is somewhere else"]),
    "the screen shows another buffer": (ELSEWHERE, black_screens.N3DS["the screen shows another buffer"]),
    "uniforms were never written": (UNIFORM, black_screens.N3DS["uniforms were never written"]),
    "a combiner's constant has no colour": (COLOUR, black_screens.N3DS["a combiner's constant has no colour"]),
    "positions are beyond the far plane": (OUT, black_screens.N3DS["positions are beyond the far plane"]),
    "nothing is drawn": (NO_DRAW, _black(draw=lambda scene, cl: None)),
    "nothing is transferred": (NO_TRANSFER, _black(present=_shows_without_transfer)),
    "the transfer reads another buffer": (ELSEWHERE, _black(before=_draws_elsewhere)),
    "the target is cleared after the draw": (OVER, _black(present=_clears_before_it_shows)),
    "all channels are masked": (MASK, _black(edit=lambda scene, cl: cl.depth("greater", colors=""))),
    "the scissor keeps a corner": (SCISSOR, _black(edit=lambda scene, cl: cl.scissor(0, 0, 8, 8))),
    "the stencil test never passes": (STENCIL, _black(edit=_never)),
    "alpha is too small": (ALPHA, _black(alpha=0.25)),
    "the matrix has NaN": (NAN, _black(matrix=np.full((4, 4), np.nan))),
    "the eye looks the other way": (OUT, _black(matrix=BEHIND)),
    "the triangle is beside the view": (OUT, _black(corners=OUTSIDE)),
    "a draw of no vertices": (NO_VERTICES, _black(draw=lambda scene, cl: cl.draw_arrays(0))),
    "nobody wrote the vertices": (VERTICES, _black(edit=_vertices_from_nowhere)),
    "the program does not end": (ENDLESS, _black(program=Scene().program.replace("        end\n", LOOP))),
    # The last ones leave the screen off.
    "the LCD shows a colour": (SCREEN, _black(after=lambda scene, capture: capture.write("TOP_FILL", enable=True))),
    "the controller is off": (
        SCREEN,
        _black(before=lambda scene, capture: capture.write("TOP_FILL"),
               after=lambda scene, capture: capture.write("PDC0_CONTROL", enable=False)),
    ),
}  # fmt: skip
"""What is broken -> the cause, and the scene."""


# -- Switch ------------------------------------------------------------------------------------------------------------
@dataclass
class ClearOnly:
    """A frame without a draw."""

    def build(self, capture: MaxwellCaptureBuilder, channel: int = 0) -> MaxwellCaptureBuilder:
        target = Surface(capture.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        pb = PushBuffer().bind("3D").plain_state().render_target(0, target).clear((0, 0, 0, 1))
        return capture.submit(pb, channel=channel).present(target)


def _methods(*before: tuple[object, ...]) -> SwitchScene:
    return SwitchScene(before=before)


def _clears(capture: MaxwellCaptureBuilder, target: Surface, pb: PushBuffer) -> None:
    pb.on("3D").clear((0, 0, 0, 1))


_CORNER = (("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 1 << 16), ("SET_SCISSOR_VERTICAL(0)", 1 << 16))
_AFTER_TARGET = size_of(SIZE, SIZE)
"""Where a depth target begins that does not overlap the colour target."""
_NEVER = (("SET_STENCIL_TEST", 1), ("SET_STENCIL_FUNC", 0x200))
_ENDLESS = "here:\n" + VERTEX.replace("EXIT", "BRA here\nEXIT")

SWITCH: dict[str, tuple[str, SwitchScene | ClearOnly]] = {
    "the alpha test compares with too much": (
        ALPHA, black_screens.SWITCH["the alpha test compares with too much"]
    ),
    "the wrong side is culled": (FRONT, black_screens.SWITCH["the wrong side is culled"]),
    "blending keeps the target": (BLENDING, black_screens.SWITCH["blending keeps the target"]),
    "nobody wrote the texture": (TEXTURE, black_screens.SWITCH["nobody wrote the texture"]),
    "another surface is shown": (ELSEWHERE, black_screens.SWITCH["another surface is shown"]),
    "a constant buffer is not bound": (UNIFORM, black_screens.SWITCH["a constant buffer is not bound"]),
    "positions are beyond the far plane": (OUT, black_screens.SWITCH["positions are beyond the far plane"]),
    "raster is off": (RASTER, black_screens.SWITCH["raster is off"]),
    "nothing is drawn": (NO_DRAW, ClearOnly()),
    "nobody wrote the surface that is shown": (ELSEWHERE, SwitchScene(shows=False)),
    "the target is cleared after the draw": (OVER, SwitchScene(more=_clears)),
    "all channels are masked": (MASK, _methods(("SET_CT_WRITE(0)", 0))),
    "the scissor keeps a corner": (SCISSOR, _methods(*_CORNER)),
    "no depth is less": (DEPTH, SwitchScene(depth_at=_AFTER_TARGET, before=(("SET_DEPTH_FUNC", 0x201),))),
    "the stencil test never passes": (STENCIL, SwitchScene(depth_at=_AFTER_TARGET, before=_NEVER)),
    "all texels are black": (COLOUR, SwitchScene(texel=0)),
    "a position is NaN": (NAN, SwitchScene(rows=tuple((float("nan"), *row[1:]) for row in ROWS))),
    "the eye looks the other way": (OUT, SwitchScene(rows=tuple((*row[:3], -1.0, *row[4:]) for row in ROWS))),
    "the triangle is beside the view": (OUT, SwitchScene(rows=tuple((row[0] + 4, *row[1:]) for row in ROWS))),
    "nobody wrote the vertices": (VERTICES, SwitchScene(vertices=4096)),
    "the program does not end": (ENDLESS, SwitchScene(vertex=_ENDLESS)),
}  # fmt: skip


def save_n3ds(path: Path, names: Iterable[str] = N3DS) -> None:
    """Write the recording of the 3DS; its frames are in the order of the names."""
    capture, target, depth = CaptureBuilder(), 0, 0
    for name in names:
        _, scene = N3DS[name]
        scene.target, scene.depth = target, depth  # the same for all, as there is little memory for targets
        scene.build(capture)
        target, depth = scene.target, scene.depth
    capture.save(path)


def save_switch(path: Path, names: Iterable[str] = SWITCH) -> None:
    """Write the recording of the Switch; its frames are in the order of the names."""
    recording = MaxwellCaptureBuilder("a test")
    for channel, name in enumerate(names):
        SWITCH[name][1].build(recording, channel)  # a channel of its own has the state of power-on
    recording.save(path)


__all__ = ["FAILS", "N3DS", "NEVER_SHOWN", "SWITCH", "save_n3ds", "save_switch"]
