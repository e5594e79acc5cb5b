"""Scenes whose pictures depend on a doubtful choice."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble

PROGRAM = assemble("""
    .out o0 position
    .out o1 color
    main:
        mov o0, v0
        mov o1, v1
        end
""")
WIDTH, HEIGHT = 240, 400
TRIANGLE = [[-0.8, -0.8], [0.8, -0.8], [0.0, 0.8]]
SCREEN = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]


def stencil_through_depth_write(frames: int = 1) -> bytes:
    """A triangle goes into the stencil, and a colour over the screen goes where it is. DEPTHBUFFER_WRITE allows the
    depth and not the stencil, as a port of OpenGL for this console has it: whether the stencil is written is
    `test.stencil_write`."""
    capture = CaptureBuilder()
    target = capture.allocate(WIDTH * HEIGHT * 4, region="VRAM")
    depth = capture.allocate(WIDTH * HEIGHT * 4, region="VRAM")
    corners = [[x, y, -0.5, 1, 0.5, 0] for x, y in (*TRIANGLE, *SCREEN)]
    vertices = capture.put(np.array(corners, np.float32))
    for _ in range(frames):
        commands = CommandList().plain_state().render_target(target, WIDTH, HEIGHT, depth=depth)
        commands.write("DEPTHBUFFER_WRITE", depth=True, stencil=False)
        commands.shader(PROGRAM)
        commands.attributes(Buffer(vertices, [("f32", 3), ("f32", 3)]))
        commands.depth(None, write=False, colors="")
        commands.write("STENCIL_TEST", enable=True, function="always", reference=1, input_mask=255, write_mask=255)
        commands.write("STENCIL_OP", fail="replace", z_fail="replace", z_pass="replace")
        commands.draw_arrays(3)
        commands.depth(None, write=False)
        commands.write("STENCIL_TEST", enable=True, function="equal", reference=1, input_mask=255, write_mask=255)
        commands.write("STENCIL_OP", fail="keep", z_fail="keep", z_pass="keep")
        commands.draw_arrays(3, first=3).end_drawing()
        capture.clear(target, WIDTH, HEIGHT, 0x203040FF).clear(depth, WIDTH, HEIGHT, 0, format="D24S8")
        capture.submit(commands).present("top", target).end_frame()
    return capture.tobytes()


def stencil_now_and_then(kinds: str, clears: set[int]) -> bytes:
    """A frame for each letter: a colour goes over the screen where the stencil is set.

    A triangle goes into the stencil first: with "t" as a program should do it; with "s" DEPTHBUFFER_WRITE allows the
    depth and not the stencil, so that `test.stencil_write` decides; with "-" nothing does. Frames in `clears`, and the
    first one, begin with a stencil that is clear; in the others it is as the frame before left it.
    """
    capture = CaptureBuilder()
    target = capture.allocate(WIDTH * HEIGHT * 4, region="VRAM")
    depth = capture.allocate(WIDTH * HEIGHT * 4, region="VRAM")
    corners = [[x, y, -0.5, 1, 0.5, 0] for x, y in (*TRIANGLE, *SCREEN)]
    vertices = capture.put(np.array(corners, np.float32))
    for number, kind in enumerate(kinds):
        commands = CommandList().plain_state().render_target(target, WIDTH, HEIGHT, depth=depth)
        commands.shader(PROGRAM)
        commands.attributes(Buffer(vertices, [("f32", 3), ("f32", 3)]))
        if kind != "-":
            commands.depth(None, write=False, colors="")
            commands.write("DEPTHBUFFER_WRITE", depth=kind == "s", stencil=kind == "t")
            commands.write("STENCIL_TEST", enable=True, function="always", reference=1, input_mask=255, write_mask=255)
            commands.write("STENCIL_OP", fail="replace", z_fail="replace", z_pass="replace")
            commands.draw_arrays(3)
        commands.depth(None, write=False)
        commands.write("DEPTHBUFFER_WRITE", depth=False, stencil=False)
        commands.write("STENCIL_TEST", enable=True, function="equal", reference=1, input_mask=255, write_mask=0)
        commands.write("STENCIL_OP", fail="keep", z_fail="keep", z_pass="keep")
        commands.draw_arrays(3, first=3).end_drawing()
        capture.clear(target, WIDTH, HEIGHT, 0x203040FF)
        if number == 0 or number in clears:
            capture.clear(depth, WIDTH, HEIGHT, 0, format="D24S8")
        capture.submit(commands).present("top", target).end_frame()
    return capture.tobytes()
