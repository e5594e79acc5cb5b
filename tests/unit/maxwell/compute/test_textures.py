"""Textures of grids launched from pushbuffers: pools and the bank of handles from registers, texels from memory."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from pocketgpu.builder.maxwell import Grid, PushBuffer
from pocketgpu.facts.maxwell.headers import TIC, TSC
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.sass.isa.assembler import assemble

BUFFER, CODE, OUT, QMD, BANK, HEADERS, SAMPLERS, TEXELS = (0x5_0000_0000 + i * 0x10_0000 for i in range(8))
# Each thread reads texel (thread, 0) and stores its first component.
PROGRAM = """
    S2R R0, SR_TID.X
    I2F.F32.U32 R8, R0
    FADD R8, R8, 0.5
    MOV32I R9, 0x3f000000
    TEX R4, R8, RZ, 0x3, 2D, 0x1
    SHL R2, R0, 0x2
    IADD R2.CC, R2, c[0x0][0x0]
    IADD.X R3, RZ, c[0x0][0x4]
    STG.E [R2], R4
    EXIT
"""
HEADER = {
    "HEADER_VERSION": 2, "COMPONENTS": 0x0F, **{f"{c}_DATA_TYPE": 7 for c in "RGBA"}, "X_SOURCE": 2, "Y_SOURCE": 2,
    "Z_SOURCE": 2, "W_SOURCE": 2, "ADDRESS_BITS31TO5": TEXELS >> 5 & 0x7FFFFFF, "ADDRESS_BITS47TO32": TEXELS >> 32,
    "PITCH_BITS20TO5": 128 >> 5, "WIDTH_MINUS_ONE": 31, "HEIGHT_MINUS_ONE": 0, "TEXTURE_TYPE": 1,
}  # fmt: skip
SAMPLER = {"MAG_FILTER": 1, "MIN_FILTER": 1, "MIP_FILTER": 1, "ADDRESS_U": 2, "ADDRESS_V": 2}


def words(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_a_grid_samples_what_memory_has_at_its_launch(evaluator: str) -> None:
    gpu = GM20B(evaluator=evaluator)
    for address in (BUFFER, CODE, OUT, QMD, BANK, HEADERS, SAMPLERS, TEXELS):
        gpu.map(address, 0x1_0000)
    memory = gpu.memory
    memory.write(CODE, assemble(PROGRAM).code)
    memory.write(HEADERS + 32 * 5, words(TIC["PITCH"].pack(HEADER)))
    memory.write(SAMPLERS + 32 * 2, words(TSC.pack(SAMPLER)))
    memory.write(TEXELS, np.arange(32, dtype="<f4").tobytes())
    # Handles are in bank 2: the fourth word is header 5 and sampler 2.
    memory.write(BANK, struct.pack("<2Q", OUT, OUT + 128))
    memory.write(BANK + 0x100, words([0, 0, 0, 5 | 2 << 20]))
    pb = PushBuffer().bind("compute")
    for name, address, last in (("HEADER", HEADERS, 5), ("SAMPLER", SAMPLERS, 2)):
        for letter, value in (("A", address >> 32), ("B", address & 0xFFFFFFFF), ("C", last)):
            pb.method(f"SET_TEX_{name}_POOL_{letter}", value)
    pb.method("SET_BINDLESS_TEXTURE", 2)
    grids = [Grid(CODE, (1,), (32,), constants={0: (at, 256), 2: (BANK + 0x100, 256)}) for at in (BANK, BANK + 8)]
    pb.launch(QMD, grids[0]).inline(TEXELS + 4, struct.pack("<f", 70.0)).launch(QMD, grids[1])
    memory.write(BUFFER, pb.tobytes())
    gpu.submit([BUFFER | len(pb) << 42])
    gpu.finish()
    assert [event.message for event in gpu.events] == []
    found = np.frombuffer(memory.read(OUT, 256), "<f4")
    assert found[:32].tolist() == list(range(32))
    assert found[32:].tolist() == [0.0, 70.0, *range(2, 32)]
