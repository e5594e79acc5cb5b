"""A small recording of a Switch that no rule has anything to say about, with places where tests break it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pocketgpu.builder.maxwell import Grid, MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of
from pocketgpu.capture.replay import Capture
from pocketgpu.facts.maxwell.headers import TIC, TSC
from pocketgpu.maxwell.sass.isa.assembler import assemble

VERTEX = "ALD.128 R0, a[0x80]\nALD.64 R4, a[0x90]\nAST.128 a[0x70], R0\nAST.64 a[0x80], R4\nEXIT"
PIXEL = """
    IPA.PASS R5, a[0x7c], RZ
    MUFU.RCP R5, R5
    IPA R0, a[0x80], R5
    IPA R1, a[0x84], R5
    TEX R0, R0, RZ, 0x0, 2D, 0xf
    EXIT
"""
SIZE, NOWHERE = 32, 0x60_0000_0000
HEADER = {
    "COMPONENTS": 8, "R_DATA_TYPE": 2, "G_DATA_TYPE": 2, "B_DATA_TYPE": 2, "A_DATA_TYPE": 2, "X_SOURCE": 2,
    "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5, "WIDTH_MINUS_ONE": 15, "HEIGHT_MINUS_ONE": 15, "NORMALIZED_COORDS": 1,
    "TEXTURE_TYPE": 1, "HEADER_VERSION": 2, "PITCH_BITS20TO5": 2,
}  # fmt: skip
# R2:R3 is an address of the output: the thread's own word, or the first one.
ROWS = ((-0.8, -0.8, 0, 1, 0, 0), (0.8, -0.8, 0, 1, 1, 0), (0, 0.8, 0, 1, 0, 1))
OWN = """
    S2R R0, SR_CTAID.X
    S2R R1, SR_TID.X
    ISCADD R4, R0, R1, 0x5
    SHL R2, R4, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
    STG.E [R2], R4
    EXIT
"""
SHARED = "S2R R4, SR_CTAID.X\nMOV R2, c[0x0][0x0]\nMOV R3, c[0x0][0x4]\nSTG.E [R2], R4\nEXIT"


@dataclass
class Scene:
    """A textured triangle, a grid that writes numbers, and a present; tests break what they name."""

    vertex: str = VERTEX
    grid: str = OWN
    stages: tuple[str, ...] = ("vertex", "pixel")
    vertices: int | None = None
    texture_at_target: bool = False
    fence: int | None = None
    output: int | None = None
    grid_fields: dict[str, Any] = field(default_factory=dict)
    more: Callable[[MaxwellCaptureBuilder, Surface, PushBuffer], Any] = lambda capture, target, pb: None
    chained: bool = False
    before: tuple[tuple[Any, ...], ...] = ()
    """Methods with their values, written before the draw."""
    limit: int | None = None
    """Bytes of the vertex stream; None: of all vertices."""
    constants: int = 256
    """Bytes of constant buffer 0."""
    handle: int = 0
    """The handle of the texture."""
    shows: bool = True
    """Whether the target of the draw is shown, and not another surface."""
    other_cleared: bool = False
    """Whether that other surface is cleared."""
    texel: int | None = 200
    """All bytes of the texture; None if nobody writes them."""
    indices: int = 0
    """Bytes of an index buffer; 0 if the draw has no indices."""
    ends: bool = False
    """Whether the grid's output ends where its memory does."""
    rows: tuple[tuple[float, ...], ...] = ROWS
    """Vertices: position and texture coordinates."""
    written: int = 256
    """Bytes of constant buffer 0 that the processor writes."""
    inside: int | None = None
    """The vertices begin so many bytes after the target begins."""
    beyond: int | None = None
    """The texels begin so many bytes after the target begins."""
    depth_at: int | None = None
    """A depth target begins so many bytes after the target begins, and is written."""

    def capture(self) -> Capture:
        return Capture("scene", self.build().log())

    def build(self, capture: MaxwellCaptureBuilder | None = None, channel: int = 0) -> MaxwellCaptureBuilder:
        """The recording; `capture` with the scene's frame after those that it has, if it is given."""
        capture = capture or MaxwellCaptureBuilder("a test")
        beside = (self.inside, self.beyond, self.depth_at)
        room = size_of(SIZE, SIZE) + 4 * 4096 * any(one is not None for one in beside)
        target = Surface(capture.allocate(room), SIZE, SIZE)
        rows = np.array(self.rows, "<f4")
        vertices = capture.put(rows) if self.inside is None else target.address + self.inside
        if self.inside is not None:
            capture.load(vertices, rows)
        texels = target.address if self.texture_at_target else self._texture(capture)
        if self.beyond is not None:
            texels = target.address + self.beyond
            capture.load(texels, np.full((16, 16, 4), 200, np.uint8))
        place = {"ADDRESS_BITS31TO5": (texels & 0xFFFFFFFF) >> 5, "ADDRESS_BITS47TO32": texels >> 32}
        headers = capture.put(struct.pack("<8I", *TIC["PITCH"].pack({**HEADER, **place})))
        samplers = capture.put(struct.pack("<8I", *TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2})))
        handles = capture.put(struct.pack("<I", self.handle).ljust(256, b"\0")[: self.written])
        programs = {"vertex": capture.put(shader("vertex", self.vertex).image),
                    "pixel": capture.put(shader("pixel", PIXEL).image)}  # fmt: skip
        pb = PushBuffer().bind("3D").plain_state().render_target(0, target).viewport(0, 0, SIZE, SIZE)
        pb.shaders({name: programs[name] for name in self.stages}).texture_pools(headers, samplers, 0)
        for stage in ("vertex", "pixel"):
            pb.constants(stage, 0, handles, self.constants)
        place_of = vertices if self.vertices is None else capture.allocate(self.vertices)
        count = 24 * len(self.rows) if self.limit is None else self.limit
        pb.stream(0, place_of, 24, size=count).attribute(0, 0, 0, "R32_G32_B32_A32", "FLOAT")
        pb.attribute(1, 0, 16, "R32_G32", "FLOAT").clear((0, 0, 0, 1))
        for name, *values in self.before:
            if name == "SET_ZT_A":
                pb.address(name, values[0] or target.address)
            else:
                pb.method(name, *values)
        if self.depth_at is not None:
            pb.depth_target(target.address + self.depth_at, SIZE, SIZE, "Z24S8", block_height_log2=0)
            pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1)
        if self.indices:
            place_of = capture.put(np.array([0, 1, 2], "<u2"))
            pb.draw_indexed("TRIANGLES", place_of, 3)
            # The same draw again, with the limit of the test.
            pb.address("SET_INDEX_BUFFER_C", place_of + self.indices - 1)
            pb.method("BEGIN", OP="TRIANGLES").method("SET_INDEX_BUFFER_F", 0, 3).method("END", 0)
        else:
            pb.draw("TRIANGLES", len(self.rows))
        # 4 blocks of 32 threads store a word each.
        output = capture.allocate(4096) + self.ends * (4096 - 4 * 32 * 4) if self.output is None else self.output
        constants = capture.put(struct.pack("<Q", output).ljust(256, b"\0"))
        qmd = capture.allocate(256)
        grid = Grid(capture.put(assemble(self.grid).code), (4,), (32,), constants={0: (constants, 256)},
                    after=qmd if self.chained else None, **self.grid_fields)  # fmt: skip
        pb.bind("compute").launch(qmd, grid)
        self.more(capture, target, pb)
        pb.on("3D").method("INCREMENT_SYNC_POINT", INDEX=capture.syncpoint(channel), CONDITION="ROP_WRITES_DONE")
        other = Surface(capture.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        clear = PushBuffer().bind("3D").plain_state().render_target(0, other).clear((0, 0, 0, 1))
        capture.submit(*([clear] if self.other_cleared else []), pb, channel=channel)
        return capture.present(target if self.shows else other, fence=self.fence)

    def _texture(self, capture: MaxwellCaptureBuilder) -> int:
        """The address of 16x16 texels."""
        if self.texel is None:
            return capture.allocate(16 * 16 * 4)
        return capture.put(np.full((16, 16, 4), self.texel, np.uint8))


__all__ = ["NOWHERE", "SHARED", "SIZE", "VERTEX", "Scene"]
