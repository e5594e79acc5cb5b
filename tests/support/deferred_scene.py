"""A deferred scene of a Switch: a pass draws three targets of half floats and depth, another samples them for a screen.

Each frame presents once.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, shader, size_of
from pocketgpu.capture.replay import Capture
from pocketgpu.facts.maxwell.formats import TEXTURE
from pocketgpu.facts.maxwell.headers import TIC, TSC

VERTEX = "ALD.128 R0, a[0x80]\nALD.64 R4, a[0x90]\nAST.128 a[0x70], R0\nAST.64 a[0x80], R4\nEXIT"
_PLACE = """
    IPA.PASS R14, a[0x7c], RZ
    MUFU.RCP R14, R14
    IPA R12, a[0x80], R14
    IPA R13, a[0x84], R14
"""
MATERIAL = (
    _PLACE
    + """
    MOV R0, R12
    MOV R1, R13
    FMUL R2, R12, R13
    MOV32I R3, 0x3f800000
    FADD R4, R12, -R13
    FMUL R5, R12, R12
    FMUL R6, R13, R13
    MOV32I R7, 0x3f000000
    FADD R8, R12, R12
    FADD R9, R13, R13
    FMUL R10, R8, R9
    MOV32I R11, 0x40000000
    EXIT
"""
)
LIGHT = (
    _PLACE
    + """
    MOV R0, R12
    MOV R1, R13
    TEX R0, R0, RZ, 0x0, 2D, 0xf
    MOV R4, R12
    MOV R5, R13
    TEX R4, R4, RZ, 0x1, 2D, 0xf
    MOV R8, R12
    MOV R9, R13
    TEX R8, R8, RZ, 0x2, 2D, 0xf
    FFMA R0, R4, R8, R0
    FFMA R1, R5, R9, R1
    FFMA R2, R6, R10, R2
    MOV32I R3, 0x3f800000
    EXIT
"""
)
_ORDER = {"X_SOURCE": 2, "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5}
_FLOAT, _UNORM = 7, 2
CORNERS = ((-1, -1, 0, 1, 0, 1), (3, -1, 0, 1, 2, 1), (-1, 3, 0, 1, 0, -1))
"""A triangle over the screen: position and coordinates."""
INNER = ((-0.8, -0.7, 0, 1, 0, 0), (0.9, -0.6, 0.5, 1, 1, 0), (0.1, 0.8, 0.9, 1, 0, 1))


@dataclass
class DeferredScene:
    """The scene. texels: format of the three targets as colour target and as texture, and the type of components."""

    width: int = 1280
    height: int = 720
    frames: int = 2
    target: str = "RF16_GF16_BF16_AF16"
    texture: str = "R16_G16_B16_A16"
    type: int = _FLOAT
    filter: int = 1
    block_height: int = 4
    corners: tuple[tuple[float, ...], ...] = INNER
    moves: bool = True
    """Whether each frame has other vertices."""

    def capture(self) -> Capture:
        return Capture("deferred", self.builder().log())

    def builder(self) -> MaxwellCaptureBuilder:
        """What makes the capture."""
        builder = MaxwellCaptureBuilder("a deferred scene")
        size = (self.width, self.height)
        room = size_of(*size, self.target, block_height_log2=self.block_height)
        targets = [
            Surface(builder.allocate(room), *size, self.target, None, self.block_height) for _ in range(3)
        ]
        screen = Surface(builder.allocate(size_of(*size)), *size)
        depth = builder.allocate(size_of(*size))
        inner, outer = (builder.put(np.array(rows, "<f4")) for rows in (self.corners, CORNERS))
        headers = builder.put(b"".join(self._header(one) for one in targets))
        samplers = builder.put(struct.pack("<8I", *TSC.pack({"MAG_FILTER": self.filter, "MIN_FILTER": self.filter})))
        handles = builder.put(struct.pack("<3I", 0, 1, 2).ljust(256, b"\0"))
        vertex, light = (builder.put(shader(*one).image) for one in (("vertex", VERTEX), ("pixel", LIGHT)))
        material = builder.put(shader("pixel", MATERIAL, targets=("rgba",) * 3).image)
        for frame in range(self.frames):
            if self.moves:
                builder.load(inner, self._turned(frame))
            pb = PushBuffer().bind("3D").plain_state(3)
            for n, one in enumerate(targets):
                pb.render_target(n, one)
            pb.depth_target(depth, *size).viewport(0, 0, *size)
            pb.method("SET_CT_SELECT", TARGET_COUNT=3, TARGET0=0, TARGET1=1, TARGET2=2)
            pb.shaders({"vertex": vertex, "pixel": material}).texture_pools(headers, samplers, 2)
            for stage in ("vertex", "pixel"):
                pb.constants(stage, 0, handles, 256)
            pb.stream(0, inner, 24, size=24 * len(self.corners))
            pb.attribute(0, 0, 0, "R32_G32_B32_A32", "FLOAT").attribute(1, 0, 16, "R32_G32", "FLOAT")
            pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", "OGL_LESS")
            for n in range(3):
                pb.clear((0.25 * n, 0.5, 0.0, 1.0), slot=n)
            pb.clear_depth(1.0).draw("TRIANGLES", len(self.corners))
            pb.method("SET_CT_SELECT", TARGET_COUNT=1, TARGET0=0).render_target(0, screen).depth_target(None)
            pb.method("SET_DEPTH_TEST", 0)
            pb.shaders({"vertex": vertex, "pixel": light}).stream(0, outer, 24, size=72)
            pb.draw("TRIANGLES", 3)
            pb.method("INCREMENT_SYNC_POINT", INDEX=builder.syncpoint(), CONDITION="ROP_WRITES_DONE")
            builder.submit(pb).present(screen)
        return builder

    def _turned(self, frame: int) -> NDArray[np.float32]:
        """The vertices of a frame."""
        rows, angle = np.array(self.corners, "<f4"), 0.1 * frame
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], np.float32)
        rows[:, :2] = rows[:, :2] @ turn
        return rows

    def _header(self, target: Surface) -> bytes:
        fields: dict[str, Any] = {
            "HEADER_VERSION": 3, "COMPONENTS": TEXTURE.named(self.texture).code, "TEXTURE_TYPE": 1,
            "ADDRESS_BITS31TO9": target.address >> 9 & 0x7FFFFF, "ADDRESS_BITS47TO32": target.address >> 32,
            "WIDTH_MINUS_ONE": self.width - 1, "HEIGHT_MINUS_ONE": self.height - 1, "NORMALIZED_COORDS": 1,
            "GOBS_PER_BLOCK_HEIGHT": self.block_height, **{f"{c}_DATA_TYPE": self.type for c in "RGBA"}, **_ORDER,
        }  # fmt: skip
        return struct.pack("<8I", *TIC["BL"].pack(fields))
