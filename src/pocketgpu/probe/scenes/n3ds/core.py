"""Scenes of the tests of a pixel."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made, Watch

_WIDTH, _HEIGHT = 240, 400


@scene("test.stencil_write")
def _() -> Made:
    """A triangle goes into the stencil, and a colour goes where the stencil is set, while DEPTHBUFFER_WRITE allows
    the depth and not the stencil: the triangle is missing (stencil), or there (any)."""
    program = assemble(".out o0 position\n.out o1 color\nmov o0, v0\nmov o1, v1\nend\n")
    capture = CaptureBuilder()
    target = capture.allocate(_WIDTH * _HEIGHT * 4, region="VRAM")
    depth = capture.allocate(_WIDTH * _HEIGHT * 4, region="VRAM")
    triangle, screen = [[-0.8, -0.8], [0.8, -0.8], [0.0, 0.8]], [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]
    vertices = capture.put(np.array([[x, y, -0.5, 1, 0.5, 0] for x, y in (*triangle, *screen)], np.float32))
    commands = CommandList().plain_state().render_target(target, _WIDTH, _HEIGHT, depth=depth)
    commands.write("DEPTHBUFFER_WRITE", depth=True, stencil=False)
    commands.shader(program).attributes(Buffer(vertices, [("f32", 3), ("f32", 3)]))
    commands.depth(None, write=False, colors="")
    commands.write("STENCIL_TEST", enable=True, function="always", reference=1, input_mask=255, write_mask=255)
    commands.write("STENCIL_OP", fail="replace", z_fail="replace", z_pass="replace")
    commands.draw_arrays(3)
    commands.depth(None, write=False)
    commands.write("STENCIL_TEST", enable=True, function="equal", reference=1, input_mask=255, write_mask=255)
    commands.write("STENCIL_OP", fail="keep", z_fail="keep", z_pass="keep")
    commands.draw_arrays(3, first=3).end_drawing()
    capture.clear(target, _WIDTH, _HEIGHT, 0x203040FF).clear(depth, _WIDTH, _HEIGHT, 0, format="D24S8")
    capture.submit(commands).present("top", target).end_frame()
    return Made(capture.tobytes(), Watch(memory=((target, _WIDTH * _HEIGHT * 4),)))
