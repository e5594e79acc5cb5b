"""A small scene of a 3DS that no rule has anything to say about, with places where tests break it.

A textured triangle is drawn with a depth and an alpha test into a target of the upper screen, and shown. Small as it is
it has every part that a rule looks at: a matrix in uniforms, a texture, fills, a list, a transfer, both screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pocketgpu.builder import Assembly, Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.capture.formats.citrace import parse
from pocketgpu.capture.replay import Capture

WIDTH, HEIGHT = 240, 400
PROGRAM = """
    .out o0 position
    .out o1 color
    .out o2.xy texcoord0
    main:
        dp4 o0.x, c0, v0
        dp4 o0.y, c1, v0
        dp4 o0.z, c2, v0
        dp4 o0.w, c3, v0
        mov o1, v1
        mov o2.xy, v2
        end
"""
CORNERS = ((-0.8, -0.8), (0.8, -0.8), (0.0, 0.8))
"""Counter-clockwise with y up, which is the front."""
Edit = Callable[["Scene", CommandList], Any]
Work = Callable[["Scene", CaptureBuilder], Any]


@dataclass
class Scene:
    """What tests may change before `build`. draw: draws, where it is not the usual way; edit: what the list says right
    before; late: right after; before, after: what the capture does before the list and after the picture was shown;
    present: how it is shown."""

    program: str = PROGRAM
    assembly: Assembly | None = None
    corners: Sequence[tuple[float, float]] = CORNERS
    matrix: Any = field(default_factory=lambda: np.eye(4))
    z: float = -0.5
    alpha: float = 1.0
    clear: int = 0x203040FF
    depth_clear: int = 0
    draw_to: int | None = None
    edit: Edit = lambda scene, cl: None
    late: Edit = lambda scene, cl: None
    draw: Edit = lambda scene, cl: cl.draw_arrays(3)
    before: Work = lambda scene, capture: None
    present: Work = lambda scene, capture: capture.present("top", scene.target)
    after: Work = lambda scene, capture: None
    frames: int = 1
    target: int = 0
    depth: int = 0
    vertices: int = 0
    texels: int = 0
    indices: int = 0
    fresh: bool = False
    """Whether vertices are after all else that is written, so that reads past them find nothing."""

    def build(self, capture: CaptureBuilder | None = None) -> CaptureBuilder:
        """The recording; `capture` with the scene's frames after those that it has, if it is given."""
        capture = capture or CaptureBuilder()
        self.target = self.target or capture.allocate(4 * WIDTH * HEIGHT, region="VRAM")
        self.depth = self.depth or capture.allocate(4 * WIDTH * HEIGHT, region="VRAM")
        rows = [(x, y, self.z, 1, 1, 1, self.alpha, (x + 1) / 2, (y + 1) / 2) for x, y in self.corners]
        data = np.array(rows, np.float32)
        self.vertices = capture.put(data)
        texture = np.full((16, 16, 4), 255, np.uint8)
        texture[::2, ::2, :3] = 64
        self.texels = capture.put_texture(texture)
        bottom = capture.allocate(240 * 320 * 3)
        capture.fill(bottom, bottom + 240 * 320 * 3, 0, width=24).show("bottom", bottom)
        if self.fresh:
            capture.allocate(4096)
            self.vertices = capture.put(data)
            capture.allocate(4096)
        for _ in range(self.frames):
            self._frame(capture)
        return capture

    def _frame(self, capture: CaptureBuilder) -> None:
        capture.clear(self.target, WIDTH, HEIGHT, self.clear)
        capture.clear(self.depth, WIDTH, HEIGHT, self.depth_clear, format="D24S8")
        self.before(self, capture)
        capture.submit(self.list())
        self.present(self, capture)
        self.after(self, capture)
        capture.end_frame()

    def list(self) -> CommandList:
        """The command list."""
        cl = CommandList().plain_state()
        target = self.target if self.draw_to is None else self.draw_to
        cl.render_target(target, WIDTH, HEIGHT, depth=self.depth)
        cl.shader(self.assembly or assemble(self.program)).uniforms(0, self.matrix)
        cl.texture(0, self.texels, 16, 16, filter="linear")
        cl.combiner(0, ("modulate", "texture 0", "vertex color"), ("modulate", "texture 0", "vertex color"))
        cl.depth("greater").write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=128)
        cl.attributes(Buffer(self.vertices, [("f32", 3), ("f32", 4), ("f32", 2)]))
        self.edit(self, cl)
        self.draw(self, cl)
        self.late(self, cl)
        return cl.end_drawing()

    def capture(self, name: str = "scene") -> Capture:
        """The recording, opened."""
        return Capture(name, parse(self.build().tobytes()))


__all__ = ["HEIGHT", "PROGRAM", "WIDTH", "Scene"]
