"""The two small recordings whose `.pgc` files are kept with the promises.

Files of version 1 must be readable forever, so tests do not make the files again. This is how version 0.1.0 made them:
`python tests/support/promised_scenes.py FOLDER`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.switch_scene import Scene

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.matrices import UPRIGHT

PROGRAM = """
    .out o0 position
    .out o1 color
    .out o2 texcoord0
    main:
        dp4 o0.x, c0, v0
        dp4 o0.y, c1, v0
        dp4 o0.z, c2, v0
        dp4 o0.w, c3, v0
        mov o1, v1
        mov o2, v2
        end
"""


def scene_3ds() -> CaptureBuilder:
    """Two frames of two draws on the upper screen: a textured square, and a triangle blended over it that moves."""
    capture = CaptureBuilder()
    y, x = np.mgrid[:16, :16]
    picture = np.stack([16 * x, 16 * y, np.full_like(x, 64), np.full_like(x, 255)], axis=-1).astype(np.uint8)
    texture = capture.put_texture(picture)
    square = [[x, y, -0.5, 1, 1, 1, (x + 0.9) / 1.8, (y + 0.9) / 1.8] for x in (-0.9, 0.9) for y in (-0.9, 0.9)]
    corners = capture.put(np.array(square, np.float32))
    indices = capture.put(np.array([0, 1, 3, 3, 2, 0], np.uint16))
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    depth = capture.allocate(240 * 400 * 4, region="VRAM")
    for frame in range(2):
        at = 0.3 * frame
        places = [[-0.5 + at, -0.5, -0.6], [0.5, -0.5, -0.6], [at, 0.6, -0.6]]
        colours = [[1, 0, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1]]
        moving = capture.put(np.hstack([places, colours]).astype(np.float32))
        parts = [("f32", 3), ("f32", 3), ("f32", 2)]
        cl = CommandList().plain_state().render_target(target, 240, 400, depth=depth)
        cl.shader(assemble(PROGRAM)).uniforms(0, UPRIGHT)
        cl.texture(0, texture, 16, 16).combiner(0, rgb=("modulate", "texture 0", "vertex color"))
        cl.attributes(Buffer(corners, parts)).draw_elements(6, indices)
        cl.blend("one", "one").combiner(0, rgb=("replace", "vertex color"))
        cl.attributes(Buffer(moving, parts)).draw_arrays(3).end_drawing()
        capture.clear(target, 240, 400, 0x203040FF).submit(cl).present("top", target).end_frame()
    return capture


def scene_switch() -> Scene:
    """Two frames of two textured triangles and a grid of threads that stores numbers."""
    return Scene(frames=2, methods=(("SET_CT_WRITE(0)", 0x0111),))


def main(folder: Path) -> None:
    """Write both files."""
    import pocketgpu
    from pocketgpu.capture import Capture, pgc

    scene_3ds().save(folder / "scene.ctf.xz")
    pgc.write(folder / "scene_3ds.pgc", pocketgpu.open(folder / "scene.ctf.xz"))
    (folder / "scene.ctf.xz").unlink()
    capture: Capture = scene_switch().capture()
    pgc.write(folder / "scene_switch.pgc", capture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
