"""Makes the sample of the Switch's GPU that ships with the package: an island with a lighthouse, at dusk.

    python tools/make_switch_sample.py [FILE]

A frame has two passes. The first draws the island upside down into a smaller target. The second draws it again, and a
sea that reads the first target as a texture. Then come the beams of the lamp and some fireflies, which are added to
what is there, and text. A macro draws the fireflies' instances, as drivers do. Meshes and textures are in
lighthouse_art.py, programs in lighthouse_programs.py. Everything is computed; the same input gives the same bytes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

import lighthouse_art as art  # noqa: E402
import lighthouse_programs as code  # noqa: E402

from pocketgpu import Texture  # noqa: E402
from pocketgpu.builder.matrices import rotation, scaling, translation  # noqa: E402
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of  # noqa: E402
from pocketgpu.builder.values import encode_register  # noqa: E402
from pocketgpu.facts.maxwell import B197  # noqa: E402
from pocketgpu.maxwell.mme.assembler import assemble  # noqa: E402

Array = NDArray[Any]
WIDTH, HEIGHT = 1280, 720
MIRROR = 400, 225
"""Size of the first pass's target."""
FRAMES = 12
FIREFLIES = 36
NEAR, FAR = 0.4, 900.0
TEXTURES: Final = ("ground", "stripes", "planks", "wall", "needles", "sky", "waves", "letters", "mirror")
"""Headers and samplers of the pools have these numbers, from 1 on."""
LAMP = (3.2, 10.25, -0.5)
FOG = (0.62, 0.47, 0.47)
HOUSE = -1.2, 2.6
BASE = 3.2
"""Height of the rock that the lighthouse stands on, in metres."""
POOL_ENTRY = 32
"""Bytes of a texture header, and of a sampler."""

INSTANCES: Final = 0
"""Number of the macro that draws instances."""
MACRO: Final = assemble("""
    ; r1 = instances; parameters: vertices, BEGIN's word for the first instance, and for the others
    parm r2
    parm r3
    parm r4
next:
    maddr @BEGIN
    send r3
    maddr @DRAW_VERTEX_ARRAY
    send r2
    maddr @END
    send 0
    mov r1, r1 - 1
    bnz r1, next
    mov r3, r4
    exit
    nop
""")

GLYPHS = {
    "A": "01110 10001 10001 11111 10001 10001 10001", "B": "11110 10001 10001 11110 10001 10001 11110",
    "C": "01110 10001 10000 10000 10000 10001 01110", "E": "11111 10000 10000 11110 10000 10000 11111",
    "F": "11111 10000 10000 11110 10000 10000 10000", "G": "01110 10001 10000 10111 10001 10001 01110",
    "K": "10001 10010 10100 11000 10100 10010 10001", "M": "10001 11011 10101 10101 10001 10001 10001",
    "O": "01110 10001 10001 10001 10001 10001 01110", "P": "11110 10001 10001 11110 10000 10000 10000",
    "R": "11110 10001 10001 11110 10100 10010 10001", "T": "11111 00100 00100 00100 00100 00100 00100",
    "U": "10001 10001 10001 10001 10001 10001 01110", "0": "01110 10001 10011 10101 11001 10001 01110",
    "1": "00100 01100 00100 00100 00100 00100 01110", "2": "01110 10001 00001 00110 01000 10000 11111",
    "3": "11110 00001 00001 01110 00001 00001 11110", "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110", "6": "00111 01000 10000 11110 10001 10001 01110",
    "7": "11111 00001 00010 00100 01000 01000 01000", "8": "01110 10001 10001 01110 10001 10001 01110",
    "9": "01110 10001 10001 01111 00001 00010 11100",
}  # fmt: skip
CELL, ROW = 32, 8
"""Pixels of a letter's cell in its texture, and letters of a row."""


def letters() -> Array:
    """The letters' texture: one channel, 1 where a letter is."""
    down = -(-len(GLYPHS) // ROW)
    picture = np.zeros((down * CELL, ROW * CELL), np.uint8)
    for n, bits in enumerate(GLYPHS.values()):
        dots = np.array([[bit == "1" for bit in line] for line in bits.split()]).repeat(4, 0).repeat(4, 1)
        y, x = n // ROW * CELL + 2, n % ROW * CELL + 6
        picture[y : y + 28, x : x + 20] = dots * np.uint8(255)
    return picture


def perspective(fov: float, aspect: float) -> Array:
    """A camera that looks along -z; depth is 0 at NEAR and 1 at FAR."""
    f, k = 1 / np.tan(fov / 2), FAR / (NEAR - FAR)
    return np.array([[f / aspect, 0, 0, 0], [0, f, 0, 0], [0, 0, k, NEAR * k], [0, 0, -1, 0]])


def look(eye: Any, at: Any) -> Array:
    """World to camera."""
    back = np.subtract(eye, at) / np.linalg.norm(np.subtract(eye, at))
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    turn = np.eye(4)
    turn[:3, :3] = right, np.cross(back, right), back
    return turn @ translation(*(-float(v) for v in eye))


def camera(number: int) -> tuple[Array, Array]:
    """Place of the eye, and world to clip space."""
    turn = 0.35 + 0.05 * number
    eye = np.array([32 * np.sin(turn), 5.0 - 0.05 * number, 32 * np.cos(turn)])
    return eye, perspective(0.70, WIDTH / HEIGHT) @ look(eye, (0.4, 6.9, 0))


@dataclass(frozen=True)
class Stored:
    """A mesh in memory. size: of its unit in metres."""

    vertices: int
    nbytes: int
    indices: int
    count: int
    size: float


@dataclass(frozen=True)
class Thing:
    """Something to draw: mesh, texture, and its place in the world."""

    mesh: str
    texture: str
    place: Array


class Island:
    """The recording in the making."""

    def __init__(self) -> None:
        self.capture = capture = MaxwellCaptureBuilder("pocketgpu: a lighthouse at dusk")
        size = size_of(WIDTH, HEIGHT)
        images = capture.alias(capture.allocate(2 * size), kind="generic_16bx2")
        self.targets = [Surface(images + i * size, WIDTH, HEIGHT) for i in range(2)]
        self.mirror = Surface(capture.allocate(size_of(*MIRROR), kind="generic_16bx2"), *MIRROR)
        self.depth = capture.allocate(size, kind="generic_16bx2")
        self.programs = {name: capture.put(one.image) for name, one in code.programs().items()}
        self.meshes = {
            name: self.store(make(), colors=name == "beam")
            for name, make in (
                ("island", art.island), ("lighthouse", art.lighthouse), ("lamp", art.lamp), ("cottage", art.cottage),
                ("roof", art.roof), ("trees", art.trees), ("boat", art.boat), ("sea", art.sea), ("dome", art.dome),
                ("beam", art.beam),
            )
        }  # fmt: skip
        self.headers, self.samplers = (capture.allocate(POOL_ENTRY * (len(TEXTURES) + 1)) for _ in range(2))
        self.textures()
        self.handles = {}
        for name in TEXTURES:
            number = TEXTURES.index(name) + 1
            self.handles[name] = number | number << 20
        self.tables = capture.allocate(1 << 16)
        self.used = 0
        self.fireflies, self.corners, self.text = self.instances()

    # -- memory -----------------------------------------------------------------------------------------------------
    def store(self, mesh: art.Mesh, *, colors: bool = False) -> Stored:
        size, vertices, indices = mesh.packed(colors=colors)
        return Stored(
            self.capture.put(vertices), vertices.nbytes, self.capture.put(indices), len(indices), size
        )  # fmt: skip

    def textures(self) -> None:
        """Texels, headers and samplers. The last texture is the first pass's target."""
        common: dict[str, Any] = {"numbers": "unorm", "normalized": True, "filter": "linear"}
        for number, name in enumerate(TEXTURES, 1):
            if name == "mirror":
                image = Texture(np.zeros((*MIRROR[::-1], 4), np.uint8), address="clamp", **common)
                address = self.mirror.address
            else:
                made = letters() if name == "letters" else getattr(art, name)()
                mipped = name not in ("letters", "sky")
                image = Texture(
                    art.mips(made) if mipped else made, address="wrap", mip_filter="nearest" if mipped else "none",
                    **common,
                )  # fmt: skip
                address = self.capture.allocate(image.nbytes, kind="generic_16bx2")
                self.capture.load(address, image.tobytes())
            self.capture.load(self.headers + POOL_ENTRY * number, np.array(image.header(address), "<u4"))
            self.capture.load(self.samplers + POOL_ENTRY * number, np.array(image.sampler(), "<u4"))

    def instances(self) -> tuple[int, int, int]:
        """Addresses of the fireflies (place and phase, colour and size), of a square's corners, and of text."""
        random = np.random.default_rng(12)
        out = np.zeros((FIREFLIES, 8), "<f4")
        angle, radius = random.uniform(0, 2 * np.pi, FIREFLIES), random.uniform(2, 9.5, FIREFLIES)
        out[:, 0], out[:, 2] = radius * np.cos(angle) - 0.5, radius * np.sin(angle) + 1.5
        out[:, 1] = np.maximum(art.heights(out[:, 0], out[:, 2]), 0) + random.uniform(0.35, 1.5, FIREFLIES)
        out[:, 3] = random.random(FIREFLIES)
        out[:, 4:7] = np.where(random.random((FIREFLIES, 1)) < 0.7, (1.0, 0.85, 0.35), (0.55, 1.0, 0.5))
        out[:, 7] = random.uniform(0.10, 0.22, FIREFLIES)
        out = np.round(out, 4)
        square = np.array([(-1, -1, 0, 1), (1, -1, 0, 1), (-1, 1, 0, 1), (1, 1, 0, 1)], "<f4")
        return self.capture.put(out), self.capture.put(square), self.capture.allocate(1 << 14)

    def constants(self, pb: PushBuffer, stage: str, slot: int, values: Any) -> None:
        """Put numbers into a fresh piece of the table, in the pushbuffer, and bind it."""
        # Rounded, as the last bits of a sine differ between processors.
        data = np.round(np.asarray(values), 5)
        words = data.astype("<u4") if data.dtype.kind in "iu" else data.astype("<f4").view("<u4")
        size = -(-words.nbytes // 256) * 256
        address = self.tables + self.used
        self.used = (self.used + size) % (1 << 16)
        pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", size).address("SET_CONSTANT_BUFFER_SELECTOR_B", address)
        pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 0)
        for at in range(0, words.size, 16):
            pb.method("LOAD_CONSTANT_BUFFER", 0, *(int(word) for word in words.reshape(-1)[at : at + 16]))
        pb.constants(stage, slot, address, size)

    # -- what is to be seen -----------------------------------------------------------------------------------------
    def things(self, t: float) -> list[Thing]:
        """All meshes in the light of the sun; t: turns since the start."""
        rock = translation(3.2, BASE, -0.5)
        swim = translation(7.6, 0.05 * np.sin(4 * np.pi * t), 7.2)
        swim = swim @ rotation((0, 1, 0), 0.5 + 0.05 * np.sin(2 * np.pi * t))
        swim = swim @ rotation((1, 0, 0), 0.06 * np.sin(4 * np.pi * t + 1))
        x, z = HOUSE
        house = translation(x, float(art.heights(np.array(x), np.array(z))) + 0.1, z) @ rotation((0, 1, 0), 0.45)
        return [
            Thing("lighthouse", "stripes", rock), Thing("cottage", "wall", house), Thing("roof", "planks", house),
            Thing("boat", "planks", swim), Thing("trees", "needles", np.eye(4)), Thing("island", "ground", np.eye(4)),
        ]  # fmt: skip

    # -- draws ------------------------------------------------------------------------------------------------------
    def mesh(self, pb: PushBuffer, name: str, clip: Array, place: Array | None = None) -> None:
        """Draw a mesh with the programs that are set."""
        mesh = self.meshes[name]
        model = (np.eye(4) if place is None else place) @ scaling(mesh.size, mesh.size, mesh.size)
        # Normals turn as the mesh does; its size does not matter to them.
        self.constants(pb, "vertex", 0, np.concatenate([(clip @ model).reshape(-1), model[:3].reshape(-1)]))
        pb.stream(0, mesh.vertices, art.VERTEX.itemsize, size=mesh.nbytes)
        pb.draw_indexed("TRIANGLES", mesh.indices, mesh.count)

    def vertex_format(self, pb: PushBuffer) -> None:
        pb.attribute(0, 0, 0, "R16_G16_B16_A16", "SNORM").attribute(1, 0, 8, "A8B8G8R8", "SNORM")
        pb.attribute(2, 0, 12, "R16_G16", "FLOAT")

    def use(self, pb: PushBuffer, vertex: str, pixel: str, *textures: str) -> None:
        """Programs, and the textures that the pixel program numbers from 0 on."""
        pb.shaders({"vertex": self.programs[vertex], "pixel": self.programs[pixel]})
        if textures:
            self.constants(pb, "pixel", code.HANDLES, np.array([self.handles[name] for name in textures], np.uint32))

    def surroundings(self, pb: PushBuffer, eye: Array, t: float, width: int, height: int) -> None:
        """What all draws of a pass share."""
        sun = np.array([-0.9, 0.35, 0.35])
        table = np.zeros((9, 4))
        table[:6, :3] = eye, sun / np.linalg.norm(sun), (1.35, 0.85, 0.55), (0.50, 0.48, 0.62), (0.16, 0.17, 0.24), FOG
        table[6] = 1 / width, 1 / height, width / height, 0
        table[7] = t, t, 0, 0.011
        table[8, :3] = 0.08, 0.17, 0.24
        for stage in ("vertex", "pixel"):
            self.constants(pb, stage, 1, table)

    def begin(self, pb: PushBuffer, target: Surface, *, mirrored: bool) -> None:
        """Targets, viewport and state of a pass."""
        pb.render_target(0, target).viewport(0, 0, target.width, target.height)
        pb.depth_target(self.depth, target.width, target.height)
        pb.clear((*FOG, 1)).clear_depth(1.0)
        pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", V="OGL_LEQUAL")
        pb.method("SET_BLEND", 0, 0).method("OGL_SET_CULL", 1).method("OGL_SET_CULL_FACE", V="BACK")
        pb.method("OGL_SET_FRONT_FACE", V="CW" if mirrored else "CCW")
        self.vertex_format(pb)

    def solid(self, pb: PushBuffer, clip: Array, eye: Array, t: float, *, mirrored: bool) -> None:
        """The island with everything on it, then the sky where nothing else is."""
        mirror = scaling(1, -1, 1) if mirrored else np.eye(4)
        for texture in dict.fromkeys(thing.texture for thing in self.things(t)):
            self.use(pb, "near", "mirrored" if mirrored else "lit", texture)
            for thing in self.things(t):
                if thing.texture == texture:
                    self.mesh(pb, thing.mesh, clip @ mirror, thing.place)
        pb.method("OGL_SET_CULL", 0)
        if not mirrored:
            self.use(pb, "mesh", "water", "waves", "mirror")
            self.mesh(pb, "sea", clip)
        self.use(pb, "mesh", "sky", "sky")
        self.mesh(pb, "lamp", clip @ mirror, translation(3.2, BASE, -0.5))
        far = scaling(600, 600, 600)
        self.mesh(pb, "dome", clip @ translation(*(float(v) for v in (eye[0], 0, eye[2]))) @ mirror @ far)

    def lights(self, pb: PushBuffer, clip: Array, t: float) -> None:
        """What is added to the picture: the lamp's beams, and fireflies, one instance each."""
        pb.method("SET_BLEND", 0, 1).method("SET_DEPTH_WRITE", 0)
        for part in ("COLOR", "ALPHA"):
            pb.method(f"SET_BLEND_{part}_OP", V="OGL_FUNC_ADD")
            pb.method(f"SET_BLEND_{part}_SOURCE_COEFF", V="OGL_ONE").method(f"SET_BLEND_{part}_DEST_COEFF", V="OGL_ONE")
        self.use(pb, "flat", "glow")
        self.mesh(pb, "beam", clip @ translation(*LAMP) @ rotation((0, 1, 0), 2 * np.pi * t + 0.3))
        self.use(pb, "particle", "glow")
        self.constants(pb, "vertex", 0, clip)
        pb.stream(0, self.corners, 16, size=64).stream(1, self.fireflies, 32, size=32 * FIREFLIES, divisor=1)
        for number, (stream, offset) in enumerate(((0, 0), (1, 0), (1, 16))):
            pb.attribute(number, stream, offset, "R32_G32_B32_A32")
        first, later = (
            encode_register(B197["BEGIN"], {"OP": "TRIANGLE_STRIP", "INSTANCE_ID": which})
            for which in ("FIRST", "SUBSEQUENT")
        )
        pb.method("SET_VERTEX_ARRAY_START", 0).call_macro(INSTANCES, FIREFLIES, 4, first, later)

    def write(self, pb: PushBuffer, number: int) -> None:
        """Text in pixels: the name, and the number of the frame."""
        rows: list[Array] = []
        for text, x, y, size, color in (
            ("POCKETGPU", 48, 40, 64, (1, 0.93, 0.78, 1)), ("GM20B", 52, 104, 32, (1, 0.93, 0.78, 0.75)),
            (f"FRAME {number:02}", WIDTH - 260, HEIGHT - 56, 32, (1, 0.93, 0.78, 0.75)),
        ):  # fmt: skip
            for n, letter in enumerate(text):
                if letter == " ":
                    continue
                at = list(GLYPHS).index(letter)
                u, v = at % ROW * CELL, at // ROW * CELL
                corners = [(0, 0), (0, 1), (1, 1), (0, 0), (1, 1), (1, 0)]
                left = x + n * size * 0.78
                rows += [
                    np.array([left + size * a, y + size * b, 0, 1, *color, (u + CELL * a) / (ROW * CELL),
                              (v + CELL * b) / (CELL * -(-len(GLYPHS) // ROW)), 0, 0])
                    for a, b in corners
                ]  # fmt: skip
        data = np.array(rows, "<f4")
        pb.on("inline-to-memory").inline(self.text, data).on("3D")
        pb.method("SET_BLEND_COLOR_SOURCE_COEFF", V="OGL_SRC_ALPHA")
        pb.method("SET_BLEND_COLOR_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA").method("SET_DEPTH_TEST", 0)
        self.use(pb, "flat", "letters", "letters")
        pixels = np.array([[2 / WIDTH, 0, 0, -1], [0, -2 / HEIGHT, 0, 1], [0, 0, 1, 0.5], [0, 0, 0, 1.0]])
        self.constants(pb, "vertex", 0, pixels)
        pb.stream(0, self.text, 48, size=data.nbytes)
        for attribute in range(3):
            pb.attribute(attribute, 0, 16 * attribute, "R32_G32_B32_A32")
        pb.draw("TRIANGLES", len(data))

    def set_up(self) -> PushBuffer:
        """What the channel needs once."""
        pb = PushBuffer()
        for name in ("3D", "compute", "inline-to-memory", "2D", "DMA copy"):
            pb.bind(name)
        return pb.on("3D").upload_macro(INSTANCES, MACRO, 0).plain_state().texture_pools(
            self.headers, self.samplers, len(TEXTURES), slot=code.HANDLES
        )  # fmt: skip

    def frame(self, number: int) -> PushBuffer:
        """All of one picture."""
        pb, t = PushBuffer().on("3D"), number / FRAMES
        target = self.targets[number % 2]
        eye, clip = camera(number)
        self.begin(pb, self.mirror, mirrored=True)
        self.surroundings(pb, eye, t, *MIRROR)
        self.solid(pb, clip, eye, t, mirrored=True)
        pb.method("WAIT_FOR_IDLE", 0).method("INVALIDATE_TEXTURE_DATA_CACHE", 0)
        self.begin(pb, target, mirrored=False)
        self.surroundings(pb, eye, t, WIDTH, HEIGHT)
        self.solid(pb, clip, eye, t, mirrored=False)
        self.lights(pb, clip, t)
        self.write(pb, number)
        index = self.capture.syncpoint()
        return pb.method("INCREMENT_SYNC_POINT", INDEX=index, CONDITION="ROP_WRITES_DONE")


def build() -> MaxwellCaptureBuilder:
    """The recording."""
    island = Island()
    capture = island.capture
    capture.submit(island.set_up())
    for number in range(FRAMES):
        capture.submit(island.frame(number))
        capture.present(island.targets[number % 2], fence=number + 1)
    return capture


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src" / "pocketgpu" / "data" / "sample_switch.mxcap.zip"
    build().save(path)
    print(f"{path}: {path.stat().st_size:,} bytes, {FRAMES} frames")
