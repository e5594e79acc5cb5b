"""The canvas of scenes of the 3DS: the builder's, with what shows the effect of a choice.

A scene draws with `fill` where a colour is all that counts. Where a value of a program is to be seen, the program gives
it as a texture coordinate, and `palette` makes a colour of it: no rounding of colours takes part then.
"""

from __future__ import annotations

from typing import Any, Final

from pocketgpu.builder import Assembly, CommandList
from pocketgpu.builder.canvas import (
    BACKGROUND,
    BLACK,
    BLUE,
    DARK,
    HEIGHT,
    LEFT,
    LIGHT,
    ORANGE,
    ORDER,
    PLAIN,
    RIGHT,
    SCREEN,
    WIDTH,
    Box,
    Canvas,
    Color,
    clip,
    grid,
    row,
)  # fmt: skip
from pocketgpu.builder.command_list import Operand
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.probe.model.scene import Made, Watch

VALUE: Final = """
    .out o0 position
    .out o1.xy texcoord0
"""
"""The outputs of a program that shows a value as a colour of `palette`: o1.x is the value."""

class SceneCanvas(Canvas):
    """A canvas whose recording is a scene.

        canvas = SceneCanvas()
        canvas.fill(LEFT, ORANGE)
        canvas.list.blend("source alpha", "one")
        canvas.fill(RIGHT, BLUE)
        return canvas.made()
    """

    def made(self, *memory: tuple[int, int], target: bool = True, **watch: Any) -> Made:
        """The scene: everything is drawn and shown, in one frame. memory: ranges to look at besides the target; watch:
        what else `Watch` takes."""
        self.capture.submit(self.list.end_drawing())
        return self.shown(*memory, target=target, **watch)

    def shown(self, *memory: tuple[int, int], target: bool = True, timed: bool = False, **watch: Any) -> Made:
        """The same without the last list, for a scene that submits its lists itself."""
        self.capture.present("top", self.target).end_frame()
        own = ((self.target, WIDTH * HEIGHT * BY_NAME["RGBA8"].bits // 8),) if target else ()
        return Made(self.capture.tobytes(), Watch(memory=(*own, *memory), **watch), timed)

    def by_vertex(self, zero: Color, one: Color) -> CommandList:
        """Draw in one of two colours from here on: the first where the vertex colour is 0, the second where it is 1."""
        return self.by_source("vertex color", zero, one)

    def by_source(self, source: Operand, zero: Color, one: Color, stage: int = 1) -> CommandList:
        """The same for another combiner source, as seen by a stage after the first one."""
        ways = ("interpolate", "constant", "combiner buffer", source)
        self.list.write_fields("TEXENV_BUFFER_COLOR", dict(zip("rgba", zero, strict=True)))
        return self.list.combiner(stage, ways, ("replace", "constant"), color=one)

    def by_red(self, most: int, zero: Color, one: Color) -> CommandList:
        """Draw in one of two colours by what the first combiner stage gives: the second where red is more than `most`,
        if only by 1. Takes all later stages."""
        red = ("previous stage", "red")
        self.list.combiner(1, ("subtract", red, "constant"), color=(most,) * 4, scale_rgb=4)
        for stage in (2, 3, 4):  # 1 becomes 4, 16, 64, and full
            self.list.combiner(stage, scale_rgb=4)
        return self.by_source("previous stage", zero, one, stage=5)

    def program(self, text: str, outputs: str = VALUE) -> Assembly:
        """Draw with another vertex program from here on: its instructions after `mov o0, v0`."""
        return self.shader(f"{outputs}\nmov o0, v0\n{text}\nend\n")


__all__ = [
    "BACKGROUND", "BLACK", "BLUE", "DARK", "HEIGHT", "LEFT", "LIGHT", "ORANGE", "ORDER", "PLAIN", "RIGHT", "SCREEN",
    "VALUE", "WIDTH", "Box", "Color", "SceneCanvas", "clip", "grid", "row",
]  # fmt: skip
