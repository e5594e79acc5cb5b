"""Instructions on textures and surfaces: which register is which operand, on both evaluators and both executors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.slow_atomics import CAS, EXCH, combined

from pocketgpu import Surface, Texture
from pocketgpu.events import EventLog
from pocketgpu.maxwell.compute.raw_module import Device
from pocketgpu.maxwell.sass import decode_program
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code

FIRST_HANDLE = 0x54  # word of constant bank 0: c[0x0][0x150]
device_of = lru_cache(Device)


class Gpu:
    """Programs of 32 threads: R0 is the thread, R1 its float; eight words from R40 on are what `run` returns."""

    def __init__(self, evaluator: str, tier: str) -> None:
        self.device, self.tier = device_of(evaluator), tier
        self.events = self.device.launcher.events = EventLog()

    def run(self, text: str, *images: Texture | Surface, count: int = 4) -> NDArray[np.uint32]:
        """Words (count, 32) that the program leaves in R40 and following."""
        device = self.device
        size = 32 * 32
        mapping = device.allocate(size)
        head = """
    S2R R0, SR_TID.X
    I2F.F32.U32 R1, R0
    SHL R2, R0, 0x5
    IADD R2.CC, R2, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
"""
        tail = "".join(f"    STG.E [R2+{4 * n:#x}], R{40 + n}\n" for n in range(count)) + "    EXIT\n"
        bank = bytearray(0x200)
        bank[0x140:0x148] = mapping.address.to_bytes(8, "little")
        for n, image in enumerate(images):
            at = 4 * (FIRST_HANDLE + n)
            bank[at : at + 4] = image.handle(device).to_bytes(4, "little")
        code = Code("test", assemble(head + text + tail).code, 64)
        device.memory.view(mapping.address, size)[:] = 0
        device.launcher.launch(code, (1,), (32,), {0: bytes(bank)}, tier=self.tier)
        for image in images:
            if isinstance(image, Surface):
                image.take_back(device)
        found = np.frombuffer(device.memory.read(mapping.address, size), "<u4").reshape(32, 8).T[:count].copy()
        device.release(mapping)
        return found

    def floats(self, text: str, *images: Texture | Surface, count: int = 4) -> NDArray[np.float32]:
        return self.run(text, *images, count=count).view(np.float32)


@pytest.fixture(params=["llvm specialised", "llvm interpreter", "numpy specialised", "numpy interpreter"])
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    yield Gpu(*request.param.split())


def numbered(*shape: int) -> NDArray[np.float32]:
    """Texels that tell where they are: digits by hundreds, x last; channels add quarters."""
    axes = np.indices(shape)
    place = sum(100.0 ** (len(shape) - 1 - n) * axis for n, axis in enumerate(axes))
    return (place[..., None] + np.arange(4) * 0.25).astype(np.float32)


THREADS = np.arange(32)
X, Y = THREADS & 7, THREADS >> 3
# R8 and R9 are the float coordinates of the middle of texel (X, Y), R10 and R11 the numbers.
PLACE = """
    LOP.AND R10, R0, 0x7
    SHR.U32 R11, R0, 0x3
    I2F.F32.U32 R8, R10
    I2F.F32.U32 R9, R11
    FADD R8, R8, 0.5
    FADD R9, R9, 0.5
"""
FLAT, LAYERED, VOLUME = numbered(4, 8), numbered(3, 4, 8), numbered(3, 4, 8)


def test_tex(gpu: Gpu) -> None:
    out = gpu.floats(PLACE + "    TEX R40, R8, RZ, 0x54, 2D, 0xf\n", Texture(FLAT))
    np.testing.assert_array_equal(out.T, FLAT[Y, X])
    # A mask packs its components.
    out = gpu.floats(PLACE + "    MOV32I R42, 0x7\n    TEX R40, R8, RZ, 0x54, 2D, 0xa\n", Texture(FLAT), count=3)
    np.testing.assert_array_equal(out[:2].T, FLAT[Y, X][:, [1, 3]])
    assert (out[2].view(np.uint32) == 7).all()


def test_tex_takes_the_layer_first_and_the_rest_from_the_second_operand(gpu: Gpu) -> None:
    levels = [LAYERED, LAYERED[:, ::2, ::2] + 10000.0]
    texture = Texture(levels, "2d_array", mip_filter="nearest", normalized=True)
    # R12: layer, u, v; R16: level of detail, offsets (+1, -1).
    text = (
        PLACE
        + """
    MOV32I R12, 0x2
    FMUL R13, R8, 0.125
    FMUL R14, R9, 0.25
    MOV32I R16, 0x0
    MOV32I R17, 0xf1
    TEX.LL.AOFFI R40, R12, R16, 0x54, ARRAY_2D, 0xf
"""
    )
    out = gpu.floats(text, texture)
    np.testing.assert_array_equal(out.T, LAYERED[2, np.maximum(Y - 1, 0), np.minimum(X + 1, 7)])
    out = gpu.floats(text.replace("R16, 0x0", "R16, 0x3f800000").replace("0xf1", "0x0"), texture)
    np.testing.assert_array_equal(out.T, levels[1][2, Y // 2, X // 2])


def test_tex_with_a_handle_in_a_register(gpu: Gpu) -> None:
    textures = Texture(FLAT), Texture(FLAT + 5000)
    text = (
        PLACE
        + """
    LOP.AND R16, R0, 0x1
    ISETP.EQ.AND P0, PT, R16, RZ, PT
    MOV R20, c[0x0][0x154]
    @P0 MOV R20, c[0x0][0x150]
    MOV32I R21, 0x43c80000
    TEX.B.DC R40, R8, R20, 0x0, 2D, 0x1
    TEX.B R41, R8, R20, 0x0, 2D, 0x1
"""
    )
    deeper = [Texture(t.arrays[0], compare="less") for t in textures]
    out = gpu.floats(text, *deeper, count=2)
    want = FLAT[Y, X, 0] + 5000 * (THREADS & 1)
    np.testing.assert_array_equal(out[1], want)
    np.testing.assert_array_equal(out[0], (want > 400).astype(np.float32))


def test_a_volume_and_a_cube(gpu: Gpu) -> None:
    text = PLACE + "    MOV32I R10, 0x40200000\n    TEX R40, R8, RZ, 0x54, 3D, 0xf\n"
    np.testing.assert_array_equal(gpu.floats(text, Texture(VOLUME, "3d")).T, VOLUME[2, Y, X])
    cube = Texture(numbered(6, 1, 1), "cube", normalized=True)
    text = "    MOV R8, RZ\n    MOV32I R9, 0xbf800000\n    MOV R10, RZ\n    TEXS R42, R40, R8, R10, 0x54, CUBE, RGBA\n"
    np.testing.assert_array_equal(gpu.floats(text, cube).T, np.tile(numbered(6, 1, 1)[3, 0, 0], (32, 1)))


@pytest.mark.parametrize(
    ("text", "kind", "want"),
    [
        ("TEXS.LZ R42, R40, R8, RZ, 0x54, 1D, RGBA", "1d", lambda t: t[X]),
        ("TEXS R42, R40, R8, R9, 0x54, 2D, RGBA", "2d", lambda t: t[Y, X]),
        ("TEXS.LZ R42, R40, R8, R9, 0x54, 2D, RGBA", "2d", lambda t: t[Y, X]),
        ("TEXS.LL R42, R40, R8, RZ, 0x54, 2D, RGBA", "2d", lambda t: t[Y, X]),
        ("TEXS R42, R40, R12, R9, 0x54, ARRAY_2D, RGBA", "2d_array", lambda t: t[2, Y, X]),
        ("TEXS.LZ R42, R40, R12, R9, 0x54, ARRAY_2D, RGBA", "2d_array", lambda t: t[2, Y, X]),
        ("TEXS R42, R40, R8, R14, 0x54, 3D, RGBA", "3d", lambda t: t[1, Y, X]),
        ("TEXS.LZ R42, R40, R8, R14, 0x54, 3D, RGBA", "3d", lambda t: t[1, Y, X]),
        ("TLDS.LZ R42, R40, R10, RZ, 0x54, 1D, RGBA", "1d", lambda t: t[X]),
        ("TLDS.LL R42, R40, R10, RZ, 0x54, 1D, RGBA", "1d", lambda t: t[X]),
        ("TLDS.LZ R42, R40, R10, R11, 0x54, 2D, RGBA", "2d", lambda t: t[Y, X]),
        ("TLDS.LL R42, R40, R10, RZ, 0x54, 2D, RGBA", "2d", lambda t: t[Y, X]),
        ("TLDS.LZ R42, R40, R10, R15, 0x54, 3D, RGBA", "3d", lambda t: t[1, Y, X]),
        ("TLDS.LZ R42, R40, R15, R10, 0x54, ARRAY_2D, RGBA", "2d_array", lambda t: t[1, Y, X]),
        ("TLD.LZ R40, R10, RZ, 0x54, 2D, 0xf", "2d", lambda t: t[Y, X]),
        ("TLD.LL R40, R10, RZ, 0x54, 2D, 0xf", "2d", lambda t: t[Y, X]),
    ],
)
def test_short_forms_and_fetches(gpu: Gpu, text: str, kind: str, want: Any) -> None:
    data = {"1d": numbered(8), "2d": FLAT, "3d": VOLUME, "2d_array": LAYERED}[kind]
    place = PLACE + "    MOV32I R12, 0x2\n    MOV R13, R8\n    MOV32I R14, 0x3fc00000\n    MOV32I R15, 0x1\n"
    out = gpu.floats(place + "    " + text + "\n", Texture(data, kind))
    np.testing.assert_array_equal(out.T, want(data))


def test_fetches_with_offsets(gpu: Gpu) -> None:
    text = PLACE + "    MOV32I R16, 0x1f\n    TLDS.LZ.AOFFI R42, R40, R10, R16, 0x54, 2D, RGBA\n"
    padded = np.zeros((6, 9, 4), np.float32)
    padded[1:5, 1:9] = FLAT  # one more on each side; x moves by -1, y by 1
    np.testing.assert_array_equal(gpu.floats(text, Texture(FLAT)).T, padded[Y + 2, X])


def test_halves(gpu: Gpu) -> None:
    small = (FLAT / 8).astype(np.float32)
    out = gpu.run(PLACE + "    TEXS.F16 R41, R40, R8, R9, 0x54, 2D, RGBA\n", Texture(small), count=2)
    np.testing.assert_array_equal(out.T.copy().view(np.float16), small[Y, X].astype(np.float16))


def test_gathers(gpu: Gpu) -> None:
    # At the corner between four texels.
    corner = PLACE + "    FADD R8, R8, 0.5\n    FADD R9, R9, 0.5\n"
    x1, y1 = np.minimum(X + 1, 7), np.minimum(Y + 1, 3)
    out = gpu.floats(corner + "    TLD4.G R40, R8, RZ, 0x54, 2D, 0xf\n", Texture(FLAT))
    np.testing.assert_array_equal(out, [FLAT[y1, X, 1], FLAT[y1, x1, 1], FLAT[Y, x1, 1], FLAT[Y, X, 1]])
    out = gpu.floats(corner + "    TLD4S.A R42, R40, R8, R9, 0x54\n", Texture(FLAT))
    np.testing.assert_array_equal(out, [FLAT[y1, X, 3], FLAT[y1, x1, 3], FLAT[Y, x1, 3], FLAT[Y, X, 3]])
    text = corner + "    MOV32I R16, 0x3f01\n    TLD4S.R.AOFFI R42, R40, R8, R16, 0x54\n"
    out = gpu.floats(text, Texture(FLAT))
    np.testing.assert_array_equal(out[3], FLAT[np.maximum(Y - 1, 0), x1, 0])
    text = corner + "    MOV32I R16, 0x01\n    MOV32I R17, 0x3f000000\n    TLD4.R.PTP R40, R8, R16, 0x54, 2D, 0xf\n"
    out = gpu.floats(text, Texture(FLAT))
    np.testing.assert_array_equal(out[0], FLAT[Y, x1, 0])
    np.testing.assert_array_equal(out[3], FLAT[np.maximum(Y - 1, 0), X, 0])


def test_gradients(gpu: Gpu) -> None:
    levels = [np.full((8 >> n, 32 >> n, 1), float(n), np.float32) for n in range(4)]
    texture = Texture(levels, mip_filter="nearest", normalized=True)
    for n, level in ((0, 3.0), (1, 3.0), (2, 1.0), (3, 1.0)):
        text = "".join(f"    MOV32I R{16 + i}, {0x3E800000 if i == n else 0:#x}\n" for i in range(4))
        text += "    MOV R8, RZ\n    MOV R9, RZ\n    TXD R40, R8, R16, 0x54, 2D, 0x1\n"
        assert (gpu.floats(text, texture, count=1) == level).all()


def test_queries(gpu: Gpu) -> None:
    levels = [np.zeros((5, 16 >> n, 32 >> n, 1), np.float32) for n in range(3)]
    text = "    MOV32I R8, 0x1\n    TXQ R40, R8, TEX_HEADER_DIMENSION, 0x54, 0xf\n"
    assert gpu.run(text, Texture(levels, "2d_array"))[:, 0].tolist() == [16, 8, 5, 3]
    text = "    MOV R8, c[0x0][0x150]\n    MOV R9, RZ\n    TXQ.B R40, R8, TEX_HEADER_DIMENSION, 0x0, 0xf\n"
    assert gpu.run(text, Texture(np.zeros((12, 4, 4), np.float32), "cube_array"))[:, 0].tolist() == [4, 4, 2, 1]


def test_raw_surfaces(gpu: Gpu) -> None:
    data = np.arange(256, dtype=np.uint32).reshape(8, 32)
    surface = Surface(data.copy())
    # x in bytes; y is thread / 8, and what is right of the surface is left alone.
    text = PLACE + "    SHL R12, R10, 0x2\n    MOV R13, R11\n    SULD.D.BA.2D.IGN R40, [R12], 0x54\n"
    text += "    IADD32I R20, R40, 0x1000\n    SUST.D.BA.2D.IGN [R12], R20, 0x54\n"
    text += "    IADD32I R12, R12, 0x70\n    SULD.D.BA.2D.IGN R41, [R12], 0x54\n"
    text += "    SULD.D.BA.2D R42, [R12], 0x54\n"
    out = gpu.run(text, surface, count=3)
    np.testing.assert_array_equal(out[0], data[Y, X])
    np.testing.assert_array_equal(out[1], np.where(X < 4, data[Y, np.minimum(X + 28, 31)], 0))
    np.testing.assert_array_equal(out[2], data[Y, np.minimum(X + 28, 31)])
    want = data.copy()
    want[Y, X] += 0x1000
    np.testing.assert_array_equal(surface.arrays[0], want)
    assert list(gpu.events) == []


def test_places_outside_that_trap(gpu: Gpu) -> None:
    surface = Surface(np.arange(8, dtype=np.uint32), "1d")
    out = gpu.run("    SHL R8, R0, 0x2\n    SULD.D.BA.1D.TRAP R40, [R8], 0x54\n", surface, count=1)
    assert out[0].tolist() == [*range(8), *[0] * 24]
    assert [event.kind for event in gpu.events] == ["fault"]
    assert "thread (8, 0, 0)" in next(iter(gpu.events)).message


@pytest.mark.parametrize("kind", ["1d", "1d_array", "2d", "2d_array", "3d", "buffer"])
def test_dimensions_of_surfaces(gpu: Gpu, kind: str) -> None:
    shape = {"1d": (8,), "1d_array": (4, 8), "2d": (4, 8), "2d_array": (3, 4, 8), "3d": (3, 4, 8), "buffer": (8,)}[kind]
    name = {"buffer": "1D_BUFFER", "1d_array": "1D_ARRAY", "2d_array": "2D_ARRAY"}.get(kind, kind.upper())
    data = np.random.default_rng(1).integers(0, 1 << 32, shape).astype(np.uint32)
    surface = Surface(data.copy(), kind)
    text = (
        PLACE
        + f"    SHL R12, R10, 0x2\n    MOV R13, R11\n    MOV32I R14, 0x1\n    SULD.D.BA.{name}.IGN R40, [R12], 0x54\n"
    )
    out = gpu.run(text, surface, count=1)[0]
    want = {1: lambda: data[X], 2: lambda: data[Y, X], 3: lambda: data[1, Y, X]}[len(shape)]()
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [(np.uint8, "unorm"), (np.int8, "snorm"), (np.uint16, "uint"), (np.int16, "sint"), (np.float16, "float"),
     (np.uint16, "unorm"), (np.float32, "float"), (np.uint32, "uint")],
)  # fmt: skip
def test_formatted_surfaces(gpu: Gpu, dtype: Any, numbers: str) -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=(4, 8, 4)) if dtype in (np.float16, np.float32) else None
    info = None if values is not None else np.iinfo(dtype)
    data = values.astype(dtype) if values is not None else rng.integers(info.min, info.max + 1, (4, 8, 4)).astype(dtype)
    source, target = Surface(data.copy(), numbers=numbers), Surface(np.zeros_like(data), numbers=numbers)
    text = PLACE + "    SULD.P.2D.RGBA R40, [R10], 0x54\n".replace(".RGBA", "") + "    SUST.P.2D [R10], R40, 0x55\n"
    out = gpu.run(text, source, target)
    texels = data[Y, X]
    if numbers in ("uint", "sint"):
        np.testing.assert_array_equal(out.view(np.int32).T, texels.astype(np.int64).astype(np.int32))
    else:
        most = {np.uint8: 255.0, np.int8: 127.0, np.uint16: 65535.0}.get(dtype, 1.0)
        want = np.maximum(texels.astype(np.float32) / np.float32(most), -1.0 if numbers != "float" else -np.inf)
        np.testing.assert_array_equal(out.view(np.float32).T, want)
    stored = np.maximum(data, -127) if dtype is np.int8 else data
    np.testing.assert_array_equal(target.arrays[0], stored)


def test_stores_give_the_nearest_value_that_a_format_has(gpu: Gpu) -> None:
    target = Surface(np.zeros((4, 8, 4), np.uint8), numbers="unorm")
    values = [2.0, -1.0, 0.5, float("nan")]
    text = PLACE + "".join(f"    MOV32I R{40 + n}, {np.float32(v).view(np.uint32):#x}\n" for n, v in enumerate(values))
    gpu.run(text + "    SUST.P.2D [R10], R40, 0x54\n", target)
    assert (target.arrays[0] == [255, 0, 128, 0]).all()


def test_atomic_operations_on_surfaces(gpu: Gpu) -> None:
    surface = Surface(np.zeros((2, 4), np.uint32))
    text = """
    LOP.AND R10, R0, 0x3
    SHL R10, R10, 0x2
    MOV R11, RZ
    MOV32I R16, 0x1
    SUATOM.D.BA.2D.ADD.IGN R40, [R10], R16, 0x54
    MOV32I R11, 0x1
    SURED.D.BA.2D.MAX.IGN [R10], R0, 0x54
"""
    out = gpu.run(text, surface, count=1)[0]
    np.testing.assert_array_equal(out, THREADS // 4)
    np.testing.assert_array_equal(surface.arrays[0], [[8] * 4, [28, 29, 30, 31]])


def number(words: NDArray[np.uint32]) -> int:
    """Words as one number, the lowest first."""
    return int.from_bytes(words.tobytes(), "little")


WHOLE = "ADD MIN MAX INC DEC AND OR XOR EXCH"


@pytest.mark.parametrize("gpu", ["llvm specialised", "llvm interpreter"], indirect=True)
@pytest.mark.parametrize(
    ("numbers", "operations"),
    [
        ("uint", [(op, "U32") for op in f"{WHOLE} CAS".split()]),
        ("sint", [(op, "S32") for op in f"{WHOLE} CAS".split()]),
        ("float", [("ADD", "F32"), (EXCH, "U32"), (CAS, "U32")]),  # bits are exchanged as they are
        ("", [(op, kind) for kind in ("U32", "S32", "U64", "S64") for op in WHOLE.split()]
             + [("ADD", "F32.FTZ.RN"), ("ADD", "F16x2.FTZ.RN"), (CAS, "U32"), (CAS, "U64")]),
    ],
    ids=["uint", "sint", "float", "raw"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["SUATOM", "SURED"])
def test_all_atomic_operations_on_surfaces(
    gpu: Gpu, name: str, numbers: str, operations: list[tuple[str, str]]
) -> None:
    """Each operation has a row of 8 cells; threads share them. .P takes the type from the format, .D says it itself."""
    operations = [(op, kind) for op, kind in operations if name == "SUATOM" or op not in (EXCH, CAS)]
    rng, rows = np.random.default_rng(9), len(operations)
    pool = np.array([0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3F800000, 0xC0000000, 0x3C00BC00, 12345], np.uint32)
    cells, data = pool[rng.integers(0, len(pool), (rows, 16))], pool[rng.integers(0, len(pool), (rows, 32, 4))]
    for n, (op, kind) in enumerate(operations):
        if op == CAS:  # some find what they look for
            words = 2 if "64" in kind else 1
            data[n, ::2, :words] = cells[n].reshape(8, 2)[np.arange(0, 32, 2) % 8, :words]
    dtype = {"sint": np.int32, "float": np.float32}.get(numbers, np.uint32)
    target = Surface((cells[:, ::2] if numbers else cells).copy().view(dtype), numbers=numbers or "uint")
    operands, results = Surface(data.reshape(rows, 128).copy()), Surface(np.zeros((rows, 64), np.uint32))
    text = "    SHL R12, R0, 0x4\n    SHL R28, R0, 0x3\n    LOP.AND R20, R0, 0x7\n"
    text += "" if numbers else "    SHL R20, R20, 0x3\n"
    for n, (op, kind) in enumerate(operations):
        text += "".join(f"    MOV32I R{y}, {n:#x}\n" for y in (13, 21, 29))
        text += "    SULD.D.BA.2D.128.IGN R16, [R12], 0x55\n    MOV R24, RZ\n    MOV R25, RZ\n"
        suffix = "" if numbers or kind == "U32" else f".{kind}"
        into = "" if name == "SURED" else "R24, "
        text += f"    {name}.{'P' if numbers else 'D.BA'}.2D.{op}{suffix}.IGN {into}[R20], R16, 0x54\n"
        text += "    SUST.D.BA.2D.64.IGN [R28], R24, 0x56\n"
    gpu.run(text, target, operands, results)
    assert not list(gpu.events)
    found = target.arrays[0].view(np.uint32)
    for n, (op, kind) in enumerate(operations):
        step = 2 if "64" in kind else 1
        wanted = [number(pair[:step]) for pair in cells[n].reshape(8, 2)]
        for lane in range(32):
            old, words = wanted[lane & 7], data[n, lane]
            wanted[lane & 7] = combined(op, kind, old, number(words[:step]), number(words[step : 2 * step]))
            got = number(results.arrays[0][n, 2 * lane : 2 * lane + step])
            assert got == (0 if name == "SURED" else old), f"{op} {kind}, lane {lane}"
        left = found[n].reshape(8, -1)
        assert [number(words[:step]) for words in left] == wanted, f"{op} {kind}"
        assert (left[:, step:] == cells[n].reshape(8, 2)[:, step : left.shape[1]]).all(), f"{op} {kind}"


def test_bad_handles_are_faults_with_a_reason(gpu: Gpu) -> None:
    out = gpu.run(PLACE + "    MOV32I R40, 0x7\n    TEX R40, R8, RZ, 0x60, 2D, 0xf\n")
    assert (out == 0).all()
    messages = [(event.kind, event.message) for event in gpu.events]
    assert len(messages) == 1 and messages[0][0] == "fault"
    assert "(TEX): no texture has the handle 0x0" in messages[0][1] and "thread (0, 0, 0)" in messages[0][1]


def test_an_indirect_jump_to_an_instruction_on_textures(gpu: Gpu) -> None:
    """Nobody can tell from the program that control goes there."""
    text = """
    MOV32I R8, 0x3fc00000
    MOV32I R9, 0x3fc00000
    MOV R20, c[0x0][0x160]
    JMX R20 0x0
    EXIT
    EXIT
hidden:
    TEX R40, R8, RZ, 0x54, 2D, 0xf
"""
    texture = Texture(FLAT)
    device = gpu.device
    mapping = device.allocate(4096)
    tail = "    MOV R2, c[0x0][0x140]\n    MOV R3, c[0x0][0x144]\n    STG.E [R2], R40\n    EXIT\n"
    program = assemble(text + tail)
    bank = bytearray(0x200)
    bank[0x140:0x148] = mapping.address.to_bytes(8, "little")
    bank[0x150:0x154] = texture.handle(device).to_bytes(4, "little")
    where = next(i.address for i in decode_program(program.code) if i.op == "TEX")
    bank[0x160:0x164] = where.to_bytes(4, "little")
    device.memory.write(mapping.address, bytes(4))
    device.launcher.launch(Code("test", program.code, 64), (1,), (32,), {0: bytes(bank)}, tier=gpu.tier)
    found = np.frombuffer(device.memory.read(mapping.address, 4), "<f4")[0]
    assert found == FLAT[1, 1, 0] == 101 and not [e for e in gpu.events if "hang" in e.kind]
    device.release(mapping)


def test_threads_of_the_host_ask_for_textures_at_once() -> None:
    device = device_of("llvm", 3)
    texture = Texture(FLAT)
    mapping = device.allocate(1 << 16)
    text = """
    S2R R0, SR_CTAID.X
    SHL R2, R0, 0x2
    IADD R2.CC, R2, c[0x0][0x140]
    IADD.X R3, RZ, c[0x0][0x144]
    LOP.AND R8, R0, 0x7
    I2F.F32.U32 R8, R8
    TEX R40, R8, RZ, 0x54, 2D, 0x1
    STG.E [R2], R40
    EXIT
"""
    bank = bytearray(0x200)
    bank[0x140:0x148] = mapping.address.to_bytes(8, "little")
    bank[0x150:0x154] = texture.handle(device).to_bytes(4, "little")
    code = Code("test", assemble(text).code, 64)
    for tier in ("interpreter", "specialised") * 4:
        device.memory.view(mapping.address, 1 << 14)[:] = 0xFF
        device.launcher.launch(code, (4096,), (1,), {0: bytes(bank)}, tier=tier)
        found = np.frombuffer(device.memory.read(mapping.address, 1 << 14), "<f4")
        np.testing.assert_array_equal(found, FLAT[0, np.arange(4096) % 8, 0])
    device.release(mapping)
