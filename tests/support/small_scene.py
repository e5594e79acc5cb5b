"""A 3D scene of 32 x 32 pixels on a whole machine: programs out of assembly, a stream of vertices, one target."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, VERTEX
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.programs.programs import STAGES
from pocketgpu.maxwell.sass.isa.assembler import assemble

from .stage_case import header

SIZE = 32
COMMANDS, CODE, VERTICES, TARGET, FEEDBACK, INDICES = (0x5_0000_0000 + i * 0x10_0000 for i in range(6))
POSITION = {f"OMAP_POSITION_{c}": 1 for c in "XYZW"}
COLOUR = {f"GENERIC_OMAP_{c}__0": 1 for c in "XYZW"}
VERTEX_CODE = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
    """
"""Hands on position and colour, which are attributes 0 and 1."""
VERTEX_FIELDS = {
    **POSITION, **COLOUR, **{f"GENERIC_IMAP_{c}__{n}": 1 for c in "XYZW" for n in range(2)},
}  # fmt: skip
PIXEL_CODE = """
    IPA.CONSTANT R0, a[0x80], RZ
    IPA.CONSTANT R1, a[0x84], RZ
    IPA.CONSTANT R2, a[0x88], RZ
    IPA.CONSTANT R3, a[0x8c], RZ
    EXIT
    """
"""The colour of the provoking vertex."""
PIXEL_FIELDS = {
    **{f"OMAP_{c}__0": 1 for c in ("RED", "GREEN", "BLUE", "ALPHA")},
    **{f"GENERIC_IMAP_{c}__0": 1 for c in "XYZW"},
}  # fmt: skip


class SmallScene:
    """Positions are in clip space, with y up; the picture's row 0 is the upper one."""

    def __init__(self, evaluator: str = "llvm", threads: int = 1, **choices: str) -> None:
        self.gpu = GM20B(threads=threads, evaluator=evaluator, switches=choices)
        for address in (COMMANDS, CODE, VERTICES, TARGET, FEEDBACK, INDICES):
            self.gpu.map(address, 0x1_0000)
        self.pb = PushBuffer().bind("3d")
        self._code_at = CODE
        self._state()
        self.program(1, VERTEX_CODE, **VERTEX_FIELDS)
        self.program(5, PIXEL_CODE, **PIXEL_FIELDS)

    def _state(self) -> None:
        pb = self.pb
        pb.address("SET_COLOR_TARGET_A", 0, TARGET)
        pb.method("SET_COLOR_TARGET_WIDTH", 0, 4 * SIZE).method("SET_COLOR_TARGET_HEIGHT", 0, SIZE)
        pb.method("SET_COLOR_TARGET_FORMAT", 0, COLOR_TARGET.named("A8B8G8R8").code)
        pb.method("SET_COLOR_TARGET_MEMORY", 0, 1 << 12).method("SET_COLOR_TARGET_THIRD_DIMENSION", 0, 1)
        pb.method("SET_CT_SELECT", 1).method("SET_CT_WRITE", 0, 0x1111)
        pb.method("SET_SURFACE_CLIP_HORIZONTAL", SIZE << 16).method("SET_SURFACE_CLIP_VERTICAL", SIZE << 16)
        half = struct.unpack("<I", struct.pack("<f", SIZE / 2))[0]
        pb.method("SET_VIEWPORT_SCALE_OFFSET", 1)
        for name, value in (("SCALE_X", half), ("OFFSET_X", half), ("SCALE_Y", half ^ 1 << 31), ("OFFSET_Y", half)):
            pb.method(f"SET_VIEWPORT_{name}", 0, value)
        pb.method("SET_VIEWPORT_SCALE_Z", 0, 0x3F000000).method("SET_VIEWPORT_OFFSET_Z", 0, 0x3F000000)
        pb.method("SET_VIEWPORT_CLIP_HORIZONTAL", 0, SIZE << 16).method("SET_VIEWPORT_CLIP_VERTICAL", 0, SIZE << 16)
        pb.method("SET_VIEWPORT_CLIP_MIN_Z", 0, 0).method("SET_VIEWPORT_CLIP_MAX_Z", 0, 0x3F800000)
        pb.method("SET_RASTER_ENABLE", 1).address("SET_PROGRAM_REGION_A", CODE)
        pb.method("SET_PROVOKING_VERTEX", 1)
        for number in range(16):
            active = number < 2
            fields = {"COMPONENT_BIT_WIDTHS": VERTEX.named("R32_G32_B32_A32").code, "OFFSET": 16 * number * active}
            pb.method("SET_VERTEX_ATTRIBUTE_A", number, SOURCE=not active, NUMERICAL_TYPE=7, **fields)
        pb.method("SET_VERTEX_STREAM_A_FORMAT", 0, 1 << 12 | 32)
        pb.address("SET_VERTEX_STREAM_A_LOCATION_A", 0, VERTICES)
        pb.address("SET_VERTEX_STREAM_LIMIT_A_A", 0, VERTICES + 0xFFFF)

    def program(self, pipeline: int, code: str, **fields: Any) -> None:
        """Put a program into memory and turn its stage on."""
        stage = STAGES[pipeline]
        data = header(stage, **fields) + assemble(code).code
        # Code begins at a multiple of 128 bytes, after the header of 80.
        at = (self._code_at + 0x50 + 127 & -128) - 0x50
        self.gpu.memory.write(at, data)
        self._code_at = at + len(data) + 256
        self.pb.method("SET_PIPELINE_SHADER", pipeline, pipeline << 4 | 1)
        self.pb.method("SET_PIPELINE_PROGRAM", pipeline, at - CODE)
        self.pb.method("SET_PIPELINE_REGISTER_COUNT", pipeline, 64)

    def vertices(self, rows: NDArray[Any]) -> None:
        """Vertices of 8 floats: position and colour."""
        self.gpu.memory.write(VERTICES, np.asarray(rows, "<f4").tobytes())

    def feedback(self, buffer: int, stride: int, layout: list[int], stream: int = 0, at: int = FEEDBACK) -> None:
        """A buffer of 16 KiB for transform feedback. layout: addresses of attributes."""
        pb = self.pb
        pb.method("SET_STREAM_OUTPUT", 1).method("SET_STREAM_OUT_BUFFER_ENABLE", buffer, 1)
        pb.address("SET_STREAM_OUT_BUFFER_ADDRESS_A", buffer, at).method("SET_STREAM_OUT_BUFFER_SIZE", buffer, 0x4000)
        pb.method("SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", buffer, 0)
        pb.method("SET_STREAM_OUT_CONTROL_STREAM", buffer, stream)
        pb.method("SET_STREAM_OUT_CONTROL_COMPONENT_COUNT", buffer, len(layout))
        pb.method("SET_STREAM_OUT_CONTROL_STRIDE", buffer, stride)
        entries = [a // 4 for a in layout] + [0] * (-len(layout) % 4)
        for i, word in enumerate(np.array(entries, np.uint8).view("<u4").tolist()):
            pb.method("SET_STREAM_OUT_LAYOUT_SELECT", 32 * buffer + i, word)

    def draw(self, topology: str, count: int, first: int = 0) -> None:
        """Draw vertices without indices."""
        self.pb.method("SET_VERTEX_ARRAY_START", first).method("BEGIN", OP=topology)
        self.pb.method("DRAW_VERTEX_ARRAY", count).method("END", 0)

    def run(self) -> NDArray[np.uint8]:
        """Run all that was asked for since the last call; the picture, (32, 32, 4)."""
        words = self.pb.words
        self.gpu.memory.write(COMMANDS, words.tobytes())
        self.gpu.submit([COMMANDS | len(words) << 42])
        self.gpu.finish()
        self.pb = PushBuffer().bind("3d")
        data = self.gpu.memory.read(TARGET, 4 * SIZE * SIZE)
        return np.frombuffer(data, np.uint8).reshape(SIZE, SIZE, 4)
