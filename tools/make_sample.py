"""Makes the sample that ships with the package: a jewel over a lake at dusk, and its textures on the lower screen.

    python tools/make_sample.py [FILE]

Everything in it is computed here; the same input gives the same bytes. Pictures are in sample_art.py.
"""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

import sample_art as art  # noqa: E402

from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble  # noqa: E402
from pocketgpu.builder.matrices import UPRIGHT, orthographic, perspective, rotation, scaling, translation  # noqa: E402

FRAMES = 6
HORIZON = 112
"""Line of the upper screen where the lake ends, from below."""
HEIGHT = 0.97
"""Of the jewel over the lake."""
Array = NDArray[Any]

PROGRAM = assemble(
    """
    ; One program with two entries. v0 position, v1 normal (s8), v2 texture coordinate, v3 colour (u8).
    .alias clip c0          ; 4 rows: model to clip space
    .alias turn c4          ; 3 rows: model to world, for normals
    .alias light c7         ; direction to the light
    .alias half c8          ; between light and eye
    .alias tint c9          ; colour of lit surfaces
    .alias shadow c10       ; what unlit ones have
    .alias scroll c11       ; added to texture coordinates
    .constf c20, 0.0078740157, 0.0039215686, 0.0, 0.5
    .constf c21, 0.35, 1.0, 0.0, 0.0
    .alias k c20
    .out o0 position
    .out o1 color
    .out o2.xy texcoord0
    .out o2.zw texcoord1

    main:
        call place
        mul o1, k.y, v3
        end

    lit:
        call place
        mul r0.xyz, k.x, v1
        dp3 r1.x, turn[0], r0
        dp3 r1.y, turn[1], r0
        dp3 r1.z, turn[2], r0
        dp3 r2.x, r1, r1
        rsq r2.x, r2.x
        mul r1.xyz, r1, r2.x        ; unit normal
        dp3 r3.x, light, r1
        dp3 r3.y, half, r1
        max r3.xy, k.z, r3          ; nothing is lit from behind
        mul r3.y, r3.y, r3.y        ; highlight: the 16th power
        mul r3.y, r3.y, r3.y
        mul r3.y, r3.y, r3.y
        mul r3.y, r3.y, r3.y
        mov r4, shadow
        mad r4.xyz, tint, r3.x, r4
        mul r5, k.y, v3
        mul o1.xyz, r4, r5
        mov o1.w, r3.y              ; the combiners add it as white
        mov r6, c21
        mad r6.xy, r6.x, v0, r1     ; surroundings: by normal, and a little by place
        mov r7, k
        mad o2.zw, r6.xyxy, k.w, r7.w
        end

    .proc place
        dp4 o0.x, clip[0], v0
        dp4 o0.y, clip[1], v0
        dp4 o0.z, clip[2], v0
        dp4 o0.w, clip[3], v0
        add o2.xy, scroll, v2
        nop
    .endproc
    """
)

VERTEX = np.dtype([("at", "<f4", 3), ("normal", "i1", 4), ("uv", "<f4", 2), ("color", "u1", 4)])


class Mesh:
    """Triangles under construction."""

    def __init__(self) -> None:
        self.vertices: list[tuple[Any, ...]] = []

    def quad(
        self, corners: Any, colors: Any, uv: Any = ((0, 0), (1, 0), (1, 1), (0, 1)), normal: Any = (0, 0, 1)
    ) -> None:
        """Four corners counter-clockwise; one colour, or one for each corner."""
        rows = np.array(colors, float).reshape(-1, 4)
        rows = np.broadcast_to(rows, (4, 4)) if len(rows) == 1 else rows
        for i in (0, 1, 2, 0, 2, 3):
            self.vertex(corners[i], rows[i], uv[i], normal)

    def vertex(self, at: Any, color: Any, uv: Any = (0, 0), normal: Any = (0, 0, 1)) -> None:
        n = np.array(normal, float)
        n = np.round(127 * n / max(1e-9, math.sqrt(float(n @ n)))).astype(int)
        at3 = (*at, 0.0)[:3]
        self.vertices.append((at3, (*n, 0), uv, tuple(np.clip(np.round(color), 0, 255).astype(int))))

    def rectangle(self, x: float, y: float, width: float, height: float, colors: Any, **more: Any) -> None:
        """A rectangle from its lower left corner."""
        self.quad([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colors, **more)

    def array(self) -> Array:
        return np.array(self.vertices, VERTEX)


class Scene:
    """What all frames share: meshes and textures in memory, render targets. shrink: divides all sizes in pixels."""

    def __init__(self, capture: CaptureBuilder, shrink: int = 1) -> None:
        self.capture, self.shrink = capture, shrink
        self.color = {"top": 0, "bottom": 0}
        for name, width in (("top", 400), ("bottom", 320)):
            self.color[name] = capture.allocate(240 * width * 4, region="VRAM")
        self.depth = capture.allocate(240 * 400 * 4, region="VRAM")
        self.textures: dict[str, tuple[int, int, int, str]] = {}
        for name, pixels, format in art.textures():
            height, width = pixels.shape[:2]
            self.textures[name] = capture.put_texture(pixels, format), width, height, format
        self.meshes: dict[str, tuple[int, int]] = {}
        for name, mesh in (
            ("sky", sky()), ("moon", moon()), ("land", land()), ("lake", lake()), ("jewel", jewel()), ("cube", cube()),
            ("panel", panel()),
        ):  # fmt: skip
            self.put(name, mesh)

    def put(self, name: str, mesh: Mesh) -> None:
        array = mesh.array()
        self.meshes[name] = self.capture.put(array), len(array)

    def list(self, screen: str, width: int) -> CommandList:
        """A new list that draws to a screen's target."""
        cl = CommandList().plain_state()
        cl.render_target(self.color[screen], 240 // self.shrink, width // self.shrink, depth=self.depth)
        return cl.shader(PROGRAM).uniforms(11, [0, 0, 0, 0])

    def draw(self, cl: CommandList, mesh: str, matrix: Array, entry: str = "main", model: Array | None = None) -> None:
        address, count = self.meshes[mesh]
        cl.attributes(Buffer(address, [("f32", 3), ("s8", 4), ("f32", 2), ("u8", 4)]))
        cl.uniforms(0, UPRIGHT @ matrix)
        if model is not None:
            cl.uniforms(4, model[:3])
        cl.entry(PROGRAM, entry)
        cl.draw_arrays(count)

    def bind(self, cl: CommandList, unit: int, name: str, **how: Any) -> None:
        address, width, height, format = self.textures[name]
        cl.texture(unit, address, width, height, format, **how)


# -- meshes -----------------------------------------------------------------------------------------------------------
SKY = [(0, (255, 170, 96)), (0.12, (246, 118, 105)), (0.32, (150, 66, 128)), (0.62, (60, 36, 104)), (1.0, (17, 16, 52))]


def sky() -> Mesh:
    mesh = Mesh()
    height = 240 - HORIZON
    for (y0, c0), (y1, c1) in pairwise(SKY):
        low, high = (*c0, 255), (*c1, 255)
        mesh.rectangle(0, HORIZON + y0 * height, 400, (y1 - y0) * height, [low, low, high, high])
    return mesh


def moon() -> Mesh:
    mesh = Mesh()
    mesh.rectangle(286, 156, 60, 60, (255, 238, 214, 255))
    return mesh


def land() -> Mesh:
    """Two ranges of hills, and what the lake shows of them."""
    mesh = Mesh()
    for seed, base, height, near, far in (
        (3, 12, 34, (92, 48, 104), (150, 74, 118)),
        (8, 3, 22, (36, 24, 66), (74, 40, 92)),
    ):
        ridge = HORIZON + base + height * art.ridge(seed, 81)
        for i in range(80):
            x0, x1 = 5 * i, 5 * i + 5
            y0, y1 = ridge[i], ridge[i + 1]
            low, high = (*far, 255), (*near, 255)
            mesh.quad([(x0, HORIZON), (x1, HORIZON), (x1, y1), (x0, y0)], [low, low, high, high])
            m0, m1 = HORIZON - 0.8 * (y0 - HORIZON), HORIZON - 0.8 * (y1 - HORIZON)
            mesh.quad([(x0, m0), (x1, m1), (x1, HORIZON), (x0, HORIZON)], [high, high, low, low])
    return mesh


def lake() -> Mesh:
    """Strips of water; alpha is how much of the ripples is seen, which fades with distance."""
    mesh = Mesh()
    edges = [7.0, 3.0, 1.0, -1.0, -4.0, -9.0, -20.0, -60.0]
    for z0, z1 in pairwise(edges):
        shades = []
        for z in (z0, z1):
            t = min(1.0, (7.0 - z) / 50.0) ** 0.6
            color = np.array([30, 26, 78]) * (1 - t) + np.array([226, 116, 108]) * t
            shades.append((*color, 88 * max(0.0, 1 - (7.0 - z) / 40.0)))
        width = 14 + 1.2 * (7 - z1)
        corners = [(-width, 0, z0), (width, 0, z0), (width, 0, z1), (-width, 0, z1)]
        uv = [(0.18 * x, 0.35 * z) for x, _, z in corners]
        mesh.quad(corners, [shades[0], shades[0], shades[1], shades[1]], uv)
    return mesh


def jewel() -> Mesh:
    """A cut stone: table, crown, girdle and pavilion, each facet with one normal."""
    mesh = Mesh()

    def ring(radius: float, y: float, shift: float) -> list[Array]:
        angles = [(i + shift) * math.pi / 4 for i in range(8)]
        return [np.array([radius * math.sin(a), y, radius * math.cos(a)]) for a in angles]

    table, top, bottom = ring(0.62, 0.52, 0.0), ring(1.08, 0.16, 0.5), ring(1.08, 0.04, 0.5)
    centre, point = np.array([0, 0.52, 0]), np.array([0, -1.12, 0])

    def facet(*corners: Array) -> None:
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        for i in range(1, len(corners) - 1):
            for corner in (corners[0], corners[i], corners[i + 1]):
                uv = 0.5 + 0.45 * corner[0] + 0.2 * corner[2], 0.5 + 0.45 * corner[1]
                mesh.vertex(corner, (255, 255, 255, 255), uv, normal)

    for i in range(8):
        j = (i + 1) % 8
        facet(centre, table[i], table[j])
        facet(table[i], top[i], table[j])
        facet(table[j], top[i], top[j])
        facet(top[i], bottom[i], bottom[j], top[j])
        facet(bottom[i], point, bottom[j])
    return mesh


def cube() -> Mesh:
    """A cube whose four sides show their picture upright."""
    mesh = Mesh()
    for axis in range(3):
        for sign in (1.0, -1.0):
            n = np.roll([sign, 0, 0], axis)
            up = np.array([0, 1.0, 0]) if axis != 1 else np.array([0, 0, -sign])
            right = np.cross(up, n)
            corners = [n - right - up, n + right - up, n + right + up, n - right + up]
            mesh.quad(corners, (255, 255, 255, 255), normal=n)
    return mesh


CELLS = [(40 + 96 * (i % 3), 104 - 84 * (i // 3)) for i in range(6)]


def panel() -> Mesh:
    """The lower screen without its cubes: background, name, labels."""
    mesh = Mesh()
    low, high = (26, 20, 58, 255), (58, 34, 98, 255)
    mesh.rectangle(0, 0, 320, 240, [low, low, high, high])

    def name_color(x: float, y: float) -> tuple[float, ...]:
        t = (x - 25) / 270
        return (255 * (1 - t) + 96 * t, 176 * (1 - t) + 208 * t, 112 * (1 - t) + 255 * t, 255)

    def dark(x: float, y: float) -> tuple[float, ...]:
        return (12, 8, 30, 255)

    def pale(x: float, y: float) -> tuple[float, ...]:
        return (214, 196, 232, 255)

    for dx, dy, color in ((2, -2, dark), (0, 0, name_color)):
        for x, y, w, h in art.text_runs("POCKETGPU", 25 + dx, 188 + dy, 5):
            corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
            mesh.quad(corners, [color(*corner) for corner in corners])
    for label, (x, y) in zip(art.FORMATS, CELLS, strict=True):
        mesh.rectangle(
            x - 24, y - 6, 88, 76, [(30, 22, 66, 255), (30, 22, 66, 255), (74, 44, 116, 255), (74, 44, 116, 255)]
        )
        left = x + 20 - 6 * len(label)
        for rx, ry, w, h in art.text_runs(label, left, y - 2, 2):
            mesh.rectangle(rx, ry, w, h, pale(rx, ry))
    return mesh


def sparks(frame: int, count: int = 44) -> Mesh:
    """Glowing dust on a tilted orbit around the jewel."""
    mesh = Mesh()
    random = np.random.default_rng(5)
    centre = np.array([0, HEIGHT, 0])
    for i in range(count):
        angle = 2 * math.pi * (i / count) + 0.16 * frame + random.normal() * 0.05
        radius = 1.75 + 0.25 * random.normal()
        place = np.array([radius * math.cos(angle), HEIGHT + 0.2 * random.normal(), radius * math.sin(angle)])
        place = rotation((0, 0, 1), 0.32)[:3, :3] @ (place - centre) + centre
        size = 0.05 + 0.07 * random.random() * (1 + 0.3 * math.sin(frame + i))
        glow = 120 + 110 * (0.5 + 0.5 * math.sin(1.3 * i + 0.9 * frame))
        warm = random.random()
        color = (255, 190 + 50 * warm, 140 + 115 * (1 - warm), glow)
        x, y, z = place
        corners = [(x - size, y - size, z), (x + size, y - size, z), (x + size, y + size, z), (x - size, y + size, z)]
        mesh.quad(corners, color)
    return mesh


def stars(frame: int, count: int = 70) -> Mesh:
    mesh = Mesh()
    random = np.random.default_rng(11)
    for i in range(count):
        x, y = 400 * random.random(), 160 + 80 * random.random() ** 0.8
        size = 1.6 + 2.4 * random.random() ** 3
        bright = (0.35 + 0.65 * random.random()) * (0.75 + 0.25 * math.sin(2.1 * i + 0.8 * frame)) * (y - 140) / 100
        if math.hypot(x - 316, y - 186) > 30:
            mesh.rectangle(x - size, y - size, 2 * size, 2 * size, (255, 244, 230, 255 * bright))
    return mesh


def glints(frame: int, count: int = 90) -> Mesh:
    """Moonlight on the lake, in a path that widens toward the eye."""
    mesh = Mesh()
    random = np.random.default_rng(23)
    for i in range(count):
        near = random.random() ** 1.4
        x, y = 316 + random.normal() * (5 + 20 * near), HORIZON - 3 - near * (HORIZON - 8)
        width, height = 3 + 13 * near * (0.4 + random.random()), 0.8 + 1.6 * near
        light = 190 * max(0.0, math.sin(2.6 * i + 1.05 * frame)) * (1 - 0.55 * near)
        mesh.rectangle(x - width, y - height, 2 * width, 2 * height, (255, 222, 190, light))
    return mesh


# -- frames -----------------------------------------------------------------------------------------------------------
def top_screen(scene: Scene, frame: int) -> CommandList:
    cl = scene.list("top", 400)
    flat = orthographic(0, 400, 0, 240)
    scene.draw(cl, "sky", flat)
    sprites(scene, cl, "stars", flat)
    scene.bind(cl, 0, "moon", wrap="clamp to edge")
    cl.combiner(0, ("modulate", "texture 0", "vertex color"), ("replace", "texture 0"))
    cl.blend("source alpha", "1 - source alpha")
    scene.draw(cl, "moon", flat)
    cl.no_textures().combiner(0).blend()
    scene.draw(cl, "land", flat)

    shift = translation(0, 2 * HORIZON / 240 - 1, 0)
    camera = shift @ perspective(math.radians(42), 400 / 240, 0.5, 80) @ translation(0, -0.6, -5.8)
    spin = rotation((1, 0, 0), 0.30) @ rotation((0, 1, 0), 0.1 + frame * math.pi / 4 / FRAMES)
    cl.uniforms(7, [[0.55, 0.55, 0.63, 0], [0.30, 0.34, 0.89, 0], [0.76, 0.74, 0.80, 0], [0.34, 0.30, 0.50, 1]])

    # What the lake mirrors: the jewel upside down, below the horizon only.
    cl.scissor(0, 0, HORIZON // scene.shrink - 1, 399)
    jewel_state(scene, cl)
    cl.write("FACECULLING_CONFIG", mode="front (counter-clockwise)")
    model = translation(0, HEIGHT, 0) @ spin @ scaling(0.82, 0.82, 0.82)
    scene.draw(cl, "jewel", camera @ scaling(1, -1, 1) @ model, "lit", model)

    # The lake: ripples around grey, faded by distance, on the colour of the water.
    cl.write("FACECULLING_CONFIG").no_textures()
    scene.bind(cl, 0, "ripples")
    cl.combiner(0, ("interpolate", "texture 0", "constant", ("vertex color", "alpha")), color=(128, 128, 128, 150))
    cl.combiner(1, ("add signed", "previous stage", "vertex color"), ("replace", "constant"), color=(0, 0, 0, 176))
    cl.combiner(2)
    cl.blend("source alpha", "1 - source alpha").depth("greater", write=False)
    cl.uniforms(11, [0.02 * frame, 0.09 * frame, 0, 0])
    scene.draw(cl, "lake", camera)
    cl.uniforms(11, [0, 0, 0, 0]).scissor(mode="off")
    sprites(scene, cl, "glints", flat)

    jewel_state(scene, cl)
    cl.write("FACECULLING_CONFIG", mode="back (clockwise)")
    scene.draw(cl, "jewel", camera @ model, "lit", model)

    cl.write("FACECULLING_CONFIG")
    sprites(scene, cl, "sparks", camera, "greater")
    return cl.end_drawing()


def sprites(scene: Scene, cl: CommandList, mesh: str, matrix: Array, function: str | None = None) -> None:
    """Glowing dots, added to what is there."""
    cl.no_textures()
    scene.bind(cl, 0, "glow", wrap="clamp to edge")
    cl.combiner(0, ("replace", "vertex color"), ("modulate", "texture 0", "vertex color")).combiner(1).combiner(2)
    cl.blend("source alpha", "one").depth(function, write=False)
    scene.draw(cl, mesh, matrix)


def jewel_state(scene: Scene, cl: CommandList) -> None:
    """Stone: texture times light, plus its surroundings, plus highlights."""
    scene.bind(cl, 0, "stone", wrap="mirrored repeat")
    scene.bind(cl, 1, "surroundings", wrap="clamp to edge")
    cl.combiner(0, ("modulate", "texture 0", "vertex color"), ("replace", "constant"), color=(0, 0, 0, 255))
    cl.combiner(1, ("multiply then add", "texture 1", "constant", "previous stage"), color=(150, 140, 160, 255))
    highlight: Any = ("multiply then add", ("vertex color", "alpha"), "constant", "previous stage")
    cl.combiner(2, highlight, color=(150, 140, 130, 255))
    cl.blend().depth("greater", write=True)


def bottom_screen(scene: Scene, frame: int) -> CommandList:
    cl = scene.list("bottom", 320)
    scene.draw(cl, "panel", orthographic(0, 320, 0, 240))
    cl.depth("greater", write=True).write("FACECULLING_CONFIG", mode="back (clockwise)")
    cl.uniforms(7, [[-0.3, 0.6, 0.74, 0], [-0.16, 0.32, 0.93, 0], [0.75, 0.75, 0.75, 0], [0.34, 0.34, 0.4, 1]])
    view = perspective(math.radians(34), 1.0, 1, 20) @ translation(0, 0, -6.5)
    for i, name in enumerate(art.FORMATS):
        x, y = CELLS[i]
        cl.viewport(*(v // scene.shrink for v in (y + 11, 320 - (x + 20) - 32, 64, 64)))
        model = rotation((1, 0, 0), 0.5) @ rotation((0, 1, 0), 0.5 + 0.35 * i + frame * math.pi / 2 / FRAMES)
        scene.bind(cl, 0, name, wrap="clamp to edge")
        cl.combiner(0, ("modulate", "texture 0", "vertex color"), ("replace", "constant"), color=(0, 0, 0, 255))
        cl.combiner(1, ("add", "previous stage", ("vertex color", "alpha")))
        scene.draw(cl, "cube", view @ model, "lit", model)
    return cl.end_drawing()


def build(frames: int = FRAMES, shrink: int = 1, screens: tuple[str, ...] = ("top", "bottom")) -> CaptureBuilder:
    """The whole sample; shrunken ones (for slow evaluators) have fewer sprites, and draw without showing it."""
    capture = CaptureBuilder()
    scene = Scene(capture, shrink)
    for frame in range(frames):
        scene.put("sparks", sparks(frame, 44 // shrink))
        scene.put("stars", stars(frame, 70 // shrink))
        scene.put("glints", glints(frame, 90 // shrink))
        for screen, width, draw in (("top", 400, top_screen), ("bottom", 320, bottom_screen)):
            if screen not in screens:
                continue
            color = scene.color[screen]
            capture.clear(color, 240, width, 0x000000FF)
            capture.clear(scene.depth, 240, width, 0, format="D24S8")
            capture.submit(draw(scene, frame))
            if shrink == 1:
                capture.present(screen, color)
        capture.end_frame()
    return capture


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src" / "pocketgpu" / "data" / "sample.ctf.xz"
    build().save(path)
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
