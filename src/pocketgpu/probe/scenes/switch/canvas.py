"""The canvas of scenes of the Switch: the builder's, with all state written, as other programs ran before.

    canvas = SceneCanvas()
    canvas.fill(LEFT, BLUE)                 # a clear
    canvas.square(RIGHT, ORANGE)            # a draw
    return canvas.made()

Where values show as a left and a right half, the left one is the reference, which no value changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from pocketgpu.builder.maxwell.canvas import (
    BLUE,
    CLASSES,
    DARK,
    HEIGHT,
    IMAGE,
    LEFT,
    LIGHT,
    ORANGE,
    RIGHT,
    TEXTURED,
    VALUES,
    WIDTH,
    Color,
    MaxwellCanvas,
    Rectangle,
    corners,
    floats,
    pixels,
)  # fmt: skip
from pocketgpu.probe.model.scene import Made, Watch
from pocketgpu.probe.scenes.switch.state import empty_caches, whole_state

_FAR = 2000.0
FAR_APART: Final = ((-_FAR, 0.6, 1 + _FAR, 1.0), (_FAR, 0.6, 1 - _FAR, 1.0))
"""Two colours so far apart that their mean is light blue, and a mix with 1/1000 more of the second one is orange."""


class SceneCanvas(MaxwellCanvas):
    """A canvas whose recording is a scene."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="pocketgpu probe", **options)

    def set_state(self, classes: Sequence[str] = CLASSES) -> Self:
        """Write all state of some classes."""
        empty_caches(whole_state(self.pb, classes))
        return self.draw_to(self.target)

    def made(self, *memory: tuple[int, int], channel: int = 0) -> Made:
        """Submit the rest and show the target. memory: further (address, bytes) to look at."""
        if len(self.pb):
            self.wait().submit(channel)
        self.capture.present(self.target)
        return Made(self.capture.tobytes(), Watch(memory=((self.target.address, self.target.size), *memory)))


__all__ = [
    "BLUE", "CLASSES", "DARK", "FAR_APART", "HEIGHT", "IMAGE", "LEFT", "LIGHT", "ORANGE", "RIGHT", "TEXTURED", "VALUES",
    "WIDTH", "Color", "Rectangle", "SceneCanvas", "corners", "floats", "pixels",
]  # fmt: skip
