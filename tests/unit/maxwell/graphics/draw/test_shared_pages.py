"""Programs and constants that a processor rewrites in place, without stamps: quick draws see them as prepared ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.small_scene import CODE, VERTICES, SmallScene

CONSTANTS = VERTICES + 0x8000
PIXEL = """
    MOV R0, c[0x1][0x0]
    MOV R1, c[0x1][0x4]
    MOV R2, {blue}
    MOV R3, c[0x1][0x4]
    EXIT
    """
FIELDS = {f"OMAP_{c}__0": 1 for c in ("RED", "GREEN", "BLUE", "ALPHA")}


class Scene(SmallScene):
    """One triangle over the whole target; its colour comes from constants and from the program itself."""

    def __init__(self, silent: bool) -> None:
        super().__init__()
        self.silent = silent
        self.gpu.drawing.tier = "specialised"  # as long as better code may come, no draw is found
        self.program(5, PIXEL.format(blue="RZ"), **FIELDS)
        corners = [(-1, -1), (3, -1), (-1, 3)]
        self.vertices(np.array([(x, y, 0.5, 1, 1, 1, 1, 1) for x, y in corners]))
        self.gpu.memory.write(CONSTANTS, np.array([0, 1], "<f4").tobytes())
        self.pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", 0x100)
        self.pb.address("SET_CONSTANT_BUFFER_SELECTOR_B", CONSTANTS)
        self.pb.method("BIND_GROUP_CONSTANT_BUFFER", 4, VALID=1, SHADER_SLOT=1)
        if silent:
            for address in (CODE, VERTICES):
                offset = self.gpu.memory.offset_of(address, 0x1_0000)
                assert offset is not None
                self.gpu.memory.share(offset, 0x1_0000)

    def store(self, address: int, data: bytes) -> None:
        """As a processor does it, or told."""
        if self.silent:
            self.gpu.memory.view(address, len(data))[:] = np.frombuffer(data, np.uint8)
            self.gpu.memory.others_wrote()
        else:
            self.gpu.memory.write(address, data)

    def pictures(self) -> list[NDArray[np.uint8]]:
        """After each rewriting, with as many draws as make a state quick."""
        found = []
        data = self.gpu.memory.read(CODE, 0x1000)
        for red, green, code in ((0, 1, None), (1, 1, None), (1, 0, None), (0, 0, 1.0), (1, 1, None)):
            self.store(CONSTANTS, np.array([red, green], "<f4").tobytes())
            if code is not None:
                self.store(CODE, data.replace(self.word("RZ"), self.word("c[0x1][0x8]")))
                self.store(CONSTANTS + 8, np.array([code], "<f4").tobytes())
            for _ in range(4):
                self.draw("triangles", 3)
                picture = self.run().copy()
            found.append(picture)
        return found

    @staticmethod
    def word(blue: str) -> bytes:
        """The instruction that makes blue."""
        from pocketgpu.maxwell.sass.isa.assembler import assemble

        return assemble(PIXEL.format(blue=blue)).code[24:32]


@pytest.mark.parametrize("single", [False, True])
def test_every_rewrite_is_seen(single: bool) -> None:
    told, silent = Scene(False), Scene(True)
    for one in (told, silent):
        one.gpu.drawing.quick.on = not single
    expected, found = told.pictures(), silent.pictures()
    colours = [picture[5, 5, :3].tolist() for picture in expected]
    assert colours == [[0, 255, 0], [255, 255, 0], [255, 0, 0], [0, 0, 255], [255, 255, 255]]
    assert [picture[5, 5, :3].tolist() for picture in found] == colours
    assert (silent.gpu.drawing.quick.made > 0) != single
