"""A small scene of the Switch made by the builder: a triangle, a grid of threads, a picture; tests change one thing."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pocketgpu.builder.maxwell import Grid, MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of
from pocketgpu.capture import Capture
from pocketgpu.facts.maxwell.headers import TIC, TSC
from pocketgpu.inspect.switch.inspection import SwitchInspection
from pocketgpu.maxwell.sass.isa.assembler import assemble

SIZE = 32
VERTEX = "ALD.128 R0, a[0x80]\nALD.64 R4, a[0x90]\nAST.128 a[0x70], R0\nAST.64 a[0x80], R4\nEXIT"
TEXTURED = """
    IPA.PASS R5, a[0x7c], RZ
    MUFU.RCP R5, R5
    IPA R0, a[0x80], R5
    IPA R1, a[0x84], R5
    TEX R0, R0, RZ, 0x0, 2D, 0xf
    EXIT
"""
COUNTING = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    ISCADD R4, R0, R1, 0x5
    SHL R2, R4, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
    STG.E [R2], R4
    EXIT
"""
HEADER = {
    "COMPONENTS": 8, "R_DATA_TYPE": 2, "G_DATA_TYPE": 2, "B_DATA_TYPE": 2, "A_DATA_TYPE": 2, "X_SOURCE": 2,
    "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5, "WIDTH_MINUS_ONE": 15, "HEIGHT_MINUS_ONE": 15, "NORMALIZED_COORDS": 1,
    "TEXTURE_TYPE": 1, "HEADER_VERSION": 2, "PITCH_BITS20TO5": 2,
}  # fmt: skip
CORNERS = ((-0.8, -0.8, 0, 1, 0, 0), (0.8, -0.8, 0, 1, 1, 0), (0, 0.8, 0, 1, 0, 1))
"""Position and texture coordinates of the vertices."""


@dataclass(frozen=True)
class Scene:
    """A textured triangle on black, twice, and a grid that writes numbers; all of it in `frames` pictures.

    corners: rows of position and texture coordinates. methods: written before the second draw; before: before the
    first. words: for constant buffer 1 of the pixel program, in the pushbuffer. extra: draws between the two. spoil:
    after each picture the processor writes other vertices, indices and texels.
    """

    corners: tuple[tuple[float, ...], ...] = CORNERS
    texel: int = 200
    methods: tuple[tuple[str, int | float], ...] = ()
    before: tuple[tuple[str, int | float], ...] = ()
    words: tuple[int, ...] = ()
    indices: tuple[int, ...] = ()
    extra: int = 0
    frames: int = 1
    pixel: str = TEXTURED
    clear: tuple[float, float, float, float] = (0, 0, 0, 1)
    spoil: bool = False

    def but(self, **choices: Any) -> Scene:
        """The same with other choices."""
        return replace(self, **choices)

    def capture(self) -> Capture:
        builder = self.builder()
        return Capture("scene", builder.log())

    def builder(self) -> MaxwellCaptureBuilder:
        """What makes the capture."""
        builder = MaxwellCaptureBuilder("a test")
        target = Surface(builder.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        vertices = builder.put(np.array(self.corners, "<f4"))
        indices = builder.put(np.array(self.indices or (0,), "<u2"))
        texels = builder.put(np.full((16, 16, 4), self.texel, np.uint8))
        place = {"ADDRESS_BITS31TO5": (texels & 0xFFFFFFFF) >> 5, "ADDRESS_BITS47TO32": texels >> 32}
        headers = builder.put(struct.pack("<8I", *TIC["PITCH"].pack({**HEADER, **place})))
        samplers = builder.put(struct.pack("<8I", *TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})))
        handles, spare = builder.put(bytes(256)), builder.put(bytes(256))
        programs = {"vertex": builder.put(shader("vertex", VERTEX).image),
                    "pixel": builder.put(shader("pixel", self.pixel).image)}  # fmt: skip
        output = builder.allocate(4096)
        constants = builder.put(struct.pack("<Q", output).ljust(256, b"\0"))
        code = builder.put(assemble(COUNTING).code)
        for _ in range(self.frames):
            pb = PushBuffer().bind("3D").plain_state().render_target(0, target).viewport(0, 0, SIZE, SIZE)
            pb.shaders(programs).texture_pools(headers, samplers, 0)
            for stage in ("vertex", "pixel"):
                pb.constants(stage, 0, handles, 256)
            pb.stream(0, vertices, 24, size=24 * len(self.corners))
            pb.attribute(0, 0, 0, "R32_G32_B32_A32", "FLOAT").attribute(1, 0, 16, "R32_G32", "FLOAT")
            for name, value in self.before:
                pb.method(name, value)
            pb.clear(self.clear).draw("TRIANGLES", 3)
            for _ in range(self.extra):
                pb.draw("POINTS", 2)
            for name, value in self.methods:
                pb.method(name, value)
            if self.words:
                pb.constants("pixel", 1, spare, 256)
                pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 0)  # bound last, so these words go there
                for word in self.words:
                    pb.method("LOAD_CONSTANT_BUFFER(0)", word)
            if self.indices:
                pb.draw_indexed("TRIANGLES", indices, len(self.indices))
            else:
                pb.draw("TRIANGLES", len(self.corners) // 3 * 3)
            qmd = builder.allocate(256)
            pb.bind("compute").launch(qmd, Grid(code, (4,), (32,), constants={0: (constants, 256)}))
            pb.on("3D").method("INCREMENT_SYNC_POINT", INDEX=builder.syncpoint(), CONDITION="ROP_WRITES_DONE")
            builder.submit(pb).present(target)
            if self.spoil:
                builder.load(vertices, np.array(self.corners, "<f4") * np.float32(0.5))
                builder.load(indices, np.array(self.indices[::-1] or (0,), "<u2"))
                builder.load(texels, np.full((16, 16, 4), 255 - self.texel, np.uint8))
        return builder

    def save(self, path: Path) -> str:
        """The capture as a file."""
        self.builder().save(path)
        return str(path)

    def look(self, **settings: Any) -> SwitchInspection:
        """The scene, looked into."""
        return SwitchInspection(self.capture(), **settings)
