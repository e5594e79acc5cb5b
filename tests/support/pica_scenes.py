"""Small captures of a 3DS with known vertices, textures and registers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble

PROGRAM = assemble("""
    .out o0 position
    .out o1 color
    .out o2 texcoord0
    main:
        add o0, c0, v0
        mov o1, v1
        mov o2, v2
        end
""")
WIDTH, HEIGHT = 64, 32
TYPE = np.dtype([("position", "<f4", 3), ("color", "u1", 4), ("texcoord", "<i2", 2)])
Step = Callable[[CaptureBuilder, CommandList], Any]


def corners() -> np.ndarray:
    """Four corners of a square; their colours are 0 to 3 in each channel."""
    found = np.zeros(4, TYPE)
    found["position"] = [[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [0.5, 0.5, -0.5], [-0.5, 0.5, -0.5]]
    found["color"] = np.arange(4)[:, None]
    found["texcoord"] = [[0, 0], [1, 0], [1, 1], [0, 1]]
    return found


def texels(size: int = 16) -> np.ndarray:
    """A picture whose red is the column, green the row from the top."""
    y, x = np.mgrid[:size, :size]
    return np.stack([x, y, np.full_like(x, 7), np.full_like(x, 255)], axis=-1).astype(np.uint8)


class Scene:
    """Two draws to a target of 64x32: a square by indices, then two of its corners and a third as a triangle."""

    def __init__(
        self, *, vertices: np.ndarray | None = None, picture: np.ndarray | None = None, blend: int = 0x11,
        constant: int = 0x22, between: Step | None = None, uniform: float = 0.0, frames: int = 1, moved: int = 0,
        spoil: bool = False,
    ) -> None:  # fmt: skip
        """spoil: after each frame the processor writes other vertices, indices and texels."""
        self.capture = capture = CaptureBuilder()
        capture.allocate(moved)
        vertices = corners() if vertices is None else vertices
        self.vertices = capture.put(vertices)
        self.indices = capture.put(np.array([0, 1, 2, 2, 3, 0], np.uint16))
        self.texture = capture.put_texture(texels() if picture is None else picture)
        self.target = capture.allocate(WIDTH * HEIGHT * 4, region="VRAM")
        for _ in range(frames):
            capture.clear(self.target, WIDTH, HEIGHT, 0x203040FF)
            cl = self.commands(uniform)
            cl.write("TEXENV1_COLOR", r=constant)
            cl.draw_elements(6, self.indices)
            if between is not None:
                between(capture, cl)
            cl.write("BLEND_COLOR", r=blend)
            cl.draw_arrays(3, first=1).end_drawing()
            capture.submit(cl)
            framebuffer = capture.allocate(400 * 240 * 3)
            capture.show("top", framebuffer)
            capture.end_frame()
            if spoil:
                half = vertices.copy()
                half["position"] *= 0.5
                capture.load(self.vertices, half)
                capture.load(self.indices, np.array([3, 2, 1, 1, 0, 3], np.uint16))
                capture.load(self.texture, np.full(16 * 16 * 4, 99, np.uint8))

    def commands(self, uniform: float = 0.0) -> CommandList:
        """The state that both draws share."""
        cl = CommandList().plain_state().render_target(self.target, WIDTH, HEIGHT)
        cl.viewport(0, 0, WIDTH, HEIGHT)
        cl.shader(PROGRAM).uniforms(0, [[0.0, 0.0, 0.0, uniform]])
        cl.attributes(Buffer(self.vertices, [("f32", 3), ("u8", 4), ("s16", 2)]))
        return cl.texture(0, self.texture, 16, 16).combiner(0, rgb=("replace", "texture 0"))

    def save(self, path: Path) -> str:
        self.capture.save(str(path))
        return str(path)
