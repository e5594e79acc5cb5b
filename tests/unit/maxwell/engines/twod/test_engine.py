"""Blits against a model that places every pixel with exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from numpy.typing import NDArray
from support.engine_host import Bench
from support.slow_surfaces import Slow, SlowMemory

from pocketgpu.facts.maxwell.formats import TWOD as FORMATS
from pocketgpu.maxwell.engines.twod.engine import TwoD

VA = 0x5_0000_0000
HALF = 0x40000
SIZE = 2 * HALF
EVALUATORS = ("llvm", "numpy")
ONE = 1 << 32


def noise(size: int = SIZE) -> bytes:
    return np.random.default_rng(5).integers(0, 256, size, np.uint8).tobytes()


def bench(evaluator: str = "llvm", **choices: str) -> Bench:
    made = Bench(TwoD, evaluator, **choices)
    made.map(VA, noise())
    return made


def surface(b: Bench, side: str, name: str, shape: Slow, layer: int = 0) -> None:
    layout = FORMATS.named(name)
    pitch = shape.pitch is not None
    values = {
        "FORMAT": layout.code,
        "MEMORY_LAYOUT": int(pitch),
        "BLOCK_SIZE": shape.block_height << 4 | shape.block_depth << 8,
        "PITCH": shape.pitch or 0,
        "WIDTH": shape.width // layout.bytes,
        "HEIGHT": shape.height,
    }
    b(**{f"SET_{side}_{part}": value for part, value in values.items()})
    if side == "DST":
        b(SET_DST_LAYER=layer)
    b.address(f"SET_{side}_OFFSET_UPPER", shape.va)


def blit(
    b: Bench,
    rectangle: tuple[int, int, int, int],
    origin: tuple[float, float] = (0, 0),
    steps: tuple[float, float] = (1, 1),
    corner: bool = False,
    bilinear: bool = False,
    operation: int = 3,
) -> None:
    base = "SET_PIXELS_FROM_MEMORY_"
    values = dict(zip(("DST_X0", "DST_Y0", "DST_WIDTH", "DST_HEIGHT"), rectangle, strict=True))
    values["SAMPLE_MODE"] = int(corner) | int(bilinear) << 4
    for name, value in (("DU_DX", steps[0]), ("DV_DY", steps[1]), ("SRC_X0", origin[0]), ("SRC_Y0", origin[1])):
        fixed = round(value * ONE)
        values[f"{name}_FRAC"], values[f"{name}_INT"] = fixed & 0xFFFFFFFF, fixed >> 32
    last = values.pop("SRC_Y0_INT")
    b(SET_OPERATION=operation, **{base + name: value for name, value in values.items()})
    b(PIXELS_FROM_MEMORY_SRC_Y0_INT=last)


def axis(
    count: int, origin: float, step: float, corner: bool, bilinear: bool, size: int
) -> list[tuple[int, int, float]]:
    """(pixel, next pixel, weight) for each target pixel."""
    found = []
    for i in range(count):
        at = (
            Fraction(origin)
            + i * Fraction(step)
            + (0 if corner else Fraction(1, 2))
            - (Fraction(1, 2) if bilinear else 0)
        )
        first = floor(at)
        pick = lambda n: min(max(n, 0), size - 1)  # noqa: E731
        found.append((pick(first), pick(first + 1 if bilinear else first), float(at - first) if bilinear else 0.0))
    return found


def decode(raw: NDArray[np.uint8], name: str) -> NDArray[np.float64]:
    """(..., bytes) to (..., 4) for the formats of eight bits and those that the tests use."""
    layout = FORMATS.named(name)
    value = sum(raw[..., i].astype(np.int64) << 8 * i for i in range(layout.bytes))
    out = np.zeros((*raw.shape[:-1], 4))
    out[..., 3] = 1
    for c in layout.components:
        if c.name == "X":
            continue
        v = (value >> c.lo & (1 << c.width) - 1) / ((1 << c.width) - 1)
        if c.type == "srgb":
            v = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
        for i in (0, 1, 2) if c.name == "Y" else ("RGBA".index(c.name),):
            out[..., i] = v
    return out


def encode(colour: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Component values before rounding, in units of their last place: (..., components)."""
    columns = []
    for c in FORMATS.named(name).components:
        v = np.clip(colour[..., 0 if c.name == "Y" else "RGBA".index(c.name)], 0, 1)
        if c.type == "srgb":
            v = np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)
        columns.append(v * ((1 << c.width) - 1))
    return np.stack(columns, -1)


def components(raw: NDArray[np.uint8], name: str) -> NDArray[np.int64]:
    layout = FORMATS.named(name)
    value = sum(raw[..., i].astype(np.int64) << 8 * i for i in range(layout.bytes))
    return np.stack([value >> c.lo & (1 << c.width) - 1 for c in layout.components], -1)


TILED = Slow(VA, 4 * 50, 40, block_height=1)
PITCH = Slow(VA, 4 * 50, 40, pitch=4 * 52)


def moved(shape: Slow) -> Slow:
    return Slow(shape.va + HALF, *list(shape.__dict__.values())[1:])


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("source", [TILED, PITCH], ids=["tiled", "pitch"])
@pytest.mark.parametrize("target", [TILED, PITCH], ids=["tiled", "pitch"])
@pytest.mark.parametrize("flip", [False, True])
def test_plain_blits_move_words(evaluator: str, source: Slow, target: Slow, flip: bool) -> None:
    """Equal formats without scaling: the same bytes elsewhere, upside down with a negative step; clipped twice."""
    target = moved(target)
    b = bench(evaluator)
    surface(b, "SRC", "A8B8G8R8", source)
    surface(b, "DST", "A8B8G8R8", target)
    b(SET_CLIP_X0=7, SET_CLIP_Y0=4, SET_CLIP_WIDTH=30, SET_CLIP_HEIGHT=33, SET_CLIP_ENABLE=1)
    blit(b, (5, 6, 60, 30), (3, 35 if flip else 2), (1, -1 if flip else 1))
    model = SlowMemory(VA, noise())
    for y in range(6, 36):
        line = 35 - (y - 6) if flip else y - 6 + 2
        for x in range(7, 37):
            pixel = model[source.places(4 * (x - 5 + 3), line, 4, 1)]
            model[target.places(4 * x, y, 4, 1)] = pixel
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    assert b.host.stats.blits == 1
    assert b.host.log[0].rectangle == (7, 6, 30, 30)
    assert not list(b.host.events)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("corner", [False, True])
@pytest.mark.parametrize("bilinear", [False, True])
@pytest.mark.parametrize(
    ("origin", "steps"),
    [
        ((0, 0), (0.5, 0.75)),
        ((0.5, 0.5), (2, 2)),
        ((30.25, 38.5), (-1.25, -0.625)),
        ((-3, 45), (1, 1)),
        ((2.25, 3), (0, 0)),
    ],
    ids=["enlarge", "halve", "turn", "outside", "still"],
)
def test_scaling(
    evaluator: str, corner: bool, bilinear: bool, origin: tuple[float, float], steps: tuple[float, float]
) -> None:
    """Positions, filters and edges, for both origins."""
    source, target = TILED, moved(Slow(VA, 4 * 37, 29, block_height=0))
    b = bench(evaluator)
    surface(b, "SRC", "A8B8G8R8", source)
    surface(b, "DST", "A8B8G8R8", target)
    blit(b, (0, 0, 37, 29), origin, steps, corner, bilinear)
    pixels = decode(SlowMemory(VA, noise())[source.places(0, 0, 200, 40)].reshape(40, 50, 4), "A8B8G8R8")
    across = axis(37, origin[0], steps[0], corner, bilinear, 50)
    down = axis(29, origin[1], steps[1], corner, bilinear, 40)
    wanted = np.zeros((29, 37, 4))
    for j, (y0, y1, wy) in enumerate(down):
        for i, (x0, x1, wx) in enumerate(across):
            top = pixels[y0, x0] * (1 - wx) + pixels[y0, x1] * wx
            bottom = pixels[y1, x0] * (1 - wx) + pixels[y1, x1] * wx
            wanted[j, i] = top * (1 - wy) + bottom * wy
    got = SlowMemory(VA, b.memory.read(VA, SIZE))[target.places(0, 0, 148, 29)].reshape(29, 37, 4)
    assert (np.abs(got - wanted * 255) <= 0.501).all()
    model = SlowMemory(VA, noise())
    model[target.places(0, 0, 148, 29)] = got.reshape(29, 148)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()  # and nothing else


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("source_name", ["A8R8G8B8", "A8BL8GL8RL8", "R5G6B5", "A2B10G10R10", "Y8", "A8", "G8R8"])
@pytest.mark.parametrize("target_name", ["A8B8G8R8", "A8RL8GL8BL8", "A1R5G5B5", "R16_G16_B16_A16", "Y8", "A8"])
def test_conversion(evaluator: str, source_name: str, target_name: str) -> None:
    """Formats go through red, green, blue and alpha; sRGB through linear light."""
    sizes = FORMATS.named(source_name).bytes, FORMATS.named(target_name).bytes
    source, target = Slow(VA, sizes[0] * 40, 12, pitch=sizes[0] * 40), Slow(VA + HALF, sizes[1] * 40, 12)
    b = bench(evaluator)
    surface(b, "SRC", source_name, source)
    surface(b, "DST", target_name, target)
    blit(b, (0, 0, 40, 12))
    memory = SlowMemory(VA, b.memory.read(VA, SIZE))
    colours = decode(memory[source.places(0, 0, sizes[0] * 40, 12)].reshape(12, 40, sizes[0]), source_name)
    got = components(memory[target.places(0, 0, sizes[1] * 40, 12)].reshape(12, 40, sizes[1]), target_name)
    wanted = encode(colours, target_name)
    if source_name == target_name:
        assert np.array_equal(got, np.rint(wanted))
    assert (np.abs(got - wanted) <= 0.51).all()


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_resolve(evaluator: str) -> None:
    """Four samples to a pixel: deko3d's CENTER 0.5 and Mesa's CORNER 1.0 both give the mean, and Mesa's flip turns it
    upside down."""
    samples, target = Slow(VA, 4 * 64, 40, block_height=2), Slow(VA + HALF, 4 * 32, 20, block_height=1)
    pictures = []
    for corner, origin, steps in ((False, (0.5, 0.5), (2, 2)), (True, (1, 1), (2, 2)), (True, (1, 39), (2, -2))):
        b = bench(evaluator)
        surface(b, "SRC", "A8BL8GL8RL8", samples)
        surface(b, "DST", "A8BL8GL8RL8", target)
        blit(b, (0, 0, 32, 20), origin, steps, corner, True)
        pictures.append(SlowMemory(VA, b.memory.read(VA, SIZE))[target.places(0, 0, 128, 20)].reshape(20, 32, 4))
    assert np.array_equal(pictures[0], pictures[1])
    assert np.array_equal(pictures[0], pictures[2][::-1])
    light = decode(SlowMemory(VA, noise())[samples.places(0, 0, 256, 40)].reshape(40, 64, 4), "A8BL8GL8RL8")
    mean = light.reshape(20, 2, 32, 2, 4).mean(axis=(1, 3))
    assert (np.abs(pictures[0] - encode(mean, "A8BL8GL8RL8")) <= 0.51).all()


def test_a_pitch_source_runs_on() -> None:
    """Beyond the end of a line the address goes on, by default."""
    shape = Slow(VA, 4 * 8, 6, pitch=4 * 8)
    memory = np.frombuffer(noise(), np.uint8)
    for choice in ("next-line", "clamp"):
        b = bench(twod__pitch_overrun=choice)
        surface(b, "SRC", "A8B8G8R8", shape)
        surface(b, "DST", "A8B8G8R8", Slow(VA + HALF, 64, 4, pitch=64))
        blit(b, (0, 0, 12, 2))
        line = memory[:48] if choice == "next-line" else np.concatenate([memory[:32], *[memory[28:32]] * 4])
        assert b.memory.read(VA + HALF, 48) == line.tobytes()


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    "rop", [0x00, 0xFF, 0x88, 0xEE, 0x66, 0x33, 0x55, 0xCC, 0x11, 0xDD, 0xF0, 0xC3, 0x2D, 0x81, 0x7E, 0x12, 0xE1, 0x48]
)
def test_raster_operations(evaluator: str, rop: int) -> None:
    """SET_ROP: every bit by source and target. Halves that are not equal ask for a pattern, whose bits are ones."""
    shape = Slow(VA, 64, 4, pitch=64)
    b = bench(evaluator)
    surface(b, "SRC", "A8B8G8R8", shape)
    surface(b, "DST", "A8B8G8R8", moved(shape))
    b(SET_ROP=rop)
    blit(b, (0, 0, 16, 4), operation=4)
    data = np.frombuffer(noise(), np.uint8)
    s, d = data[:256], data[HALF : HALF + 256]
    wanted = np.zeros(256, np.uint8)
    for case in range(4):
        if rop >> 4 >> case & 1:
            wanted |= (s if case & 2 else ~s) & (d if case & 1 else ~d)
    assert b.memory.read(VA + HALF, 256) == wanted.tobytes()
    assert b.host.ids() == (["twod.pattern"] if rop >> 4 != rop & 15 else [])


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("operation", [0, 2, 5, 6])
def test_factors(evaluator: str, operation: int) -> None:
    """Operations with BETA1 and BETA4, and those that ask the source's alpha."""
    shape = Slow(VA, 4 * 16, 4, pitch=64)
    b = bench(evaluator)
    source = np.frombuffer(noise(256), np.uint8).copy().reshape(4, 16, 4)
    source[::2, :, 3] = 0
    b.memory.write(VA, source.tobytes())
    surface(b, "SRC", "A8B8G8R8", shape)
    surface(b, "DST", "A8B8G8R8", moved(shape))
    b(SET_BETA1=0x40000000, SET_BETA4=0x80FF4020)
    blit(b, (0, 0, 16, 4), operation=operation)
    old = np.frombuffer(noise(), np.uint8)[HALF : HALF + 256].reshape(4, 16, 4) / 255
    s, beta = source / 255, np.array([0xFF, 0x40, 0x20, 0x80]) / 255
    covered = s[..., 3:] * beta[3]
    wanted = {0: s, 2: (s + old) / 2, 5: s * beta, 6: s * beta + old * (1 - covered)}[operation]
    if operation in (0, 2):
        wanted = np.where(source[..., 3:] == 0, old, wanted)
    got = np.frombuffer(b.memory.read(VA + HALF, 256), np.uint8).reshape(4, 16, 4)
    assert (np.abs(got - np.clip(wanted, 0, 1) * 255) <= 0.51).all()


def test_weights_of_eight_bits() -> None:
    """The choice cuts weights off after eight bits."""
    source = bytes([0] * 4 + [255] * 4)
    for choice, wanted in (("exact", 0.3), ("8-bits", 76 / 256)):
        b = Bench(TwoD, twod__weights=choice)
        b.map(VA, 0x1000)
        b.memory.write(VA, source)
        surface(b, "SRC", "A8B8G8R8", Slow(VA, 8, 1, pitch=32))
        surface(b, "DST", "R16_G16_B16_A16", Slow(VA + 0x800, 8, 1, pitch=32))
        blit(b, (0, 0, 1, 1), (0.3, 0), (1, 1), bilinear=True)
        red = int.from_bytes(b.memory.read(VA + 0x800, 2), "little")
        assert abs(red - wanted * 65535) < 1


def test_rectangles_outside() -> None:
    """Targets left of and above the surface, larger than it, and clipped to nothing."""
    b = bench()
    surface(b, "SRC", "A8B8G8R8", TILED)
    surface(b, "DST", "A8B8G8R8", moved(PITCH))
    blit(b, (-5, -3, 1000, 1000))
    model = SlowMemory(VA, noise())
    target = moved(PITCH)
    for y in range(40):
        for x in range(50):
            pixel = model[TILED.places(4 * min(x + 5, 49), min(y + 3, 39), 4, 1)]
            model[target.places(4 * x, y, 4, 1)] = pixel
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    blit(b, (60, 0, 10, 10))
    b(SET_CLIP_WIDTH=0, SET_CLIP_ENABLE=1)
    blit(b, (0, 0, 10, 10))
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    assert not list(b.host.events)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_layers_and_depth_blocks(evaluator: str) -> None:
    """SET_DST_LAYER is a slice inside the surface's depth blocks."""
    target = Slow(VA + HALF, 4 * 20, 20, block_height=1, block_depth=1, depth=4)
    b = bench(evaluator)
    surface(b, "SRC", "A8B8G8R8", TILED)
    surface(b, "DST", "A8B8G8R8", target, layer=3)
    blit(b, (0, 0, 20, 20), (0.25, 0.25), (0.5, 0.5))
    data = SlowMemory(VA, b.memory.read(VA, SIZE))
    source = SlowMemory(VA, noise())
    for y in range(20):
        for x in range(20):
            px, py = floor(0.75 + x * 0.5), floor(0.75 + y * 0.5)
            assert np.array_equal(data[target.places(4 * x, y, 4, 1, 3)], source[TILED.places(4 * px, py, 4, 1)])


def test_conditional_rendering() -> None:
    b = bench()
    surface(b, "SRC", "A8B8G8R8", TILED)
    surface(b, "DST", "A8B8G8R8", moved(TILED))
    b(SET_RENDER_ENABLE_OVERRIDE=2)
    blit(b, (0, 0, 10, 10))
    assert b.memory.read(VA, SIZE) == noise() and b.host.stats.blits == 0
    b(SET_RENDER_ENABLE_C=0, SET_RENDER_ENABLE_OVERRIDE=1)
    blit(b, (0, 0, 10, 10))
    assert b.memory.read(VA, SIZE) != noise()


@pytest.mark.parametrize("scaled", [False, True])
def test_holes(scaled: bool) -> None:
    """What is not mapped reads as black and is told."""
    b = Bench(TwoD)
    b.map(VA, b"\xff" * 0x1000)
    b.map(VA + HALF, 0x2000)
    surface(b, "SRC", "A8B8G8R8", Slow(VA, 0x400, 8, pitch=0x400))
    surface(b, "DST", "A8B8G8R8", Slow(VA + HALF, 0x400, 8, pitch=0x400))
    blit(b, (0, 0, 256, 8), steps=(1, 0.5) if scaled else (1, 1), corner=True)
    wanted = b"\xff" * (0x2000 if scaled else 0x1000)
    assert b.memory.read(VA + HALF, 0x2000) == wanted.ljust(0x2000, b"\0")
    assert b.host.ids() == ([] if scaled else ["memory.unmapped"])


def test_faults() -> None:
    """Unknown formats and operations, sizes beyond any surface, wild steps: events, and nothing is written."""
    b = bench()
    surface(b, "SRC", "A8B8G8R8", TILED)
    surface(b, "DST", "A8B8G8R8", moved(TILED))
    b(SET_SRC_FORMAT=0x12)
    blit(b, (0, 0, 10, 10))
    b(SET_SRC_FORMAT=FORMATS.named("Y1_8X8").code)
    blit(b, (0, 0, 10, 10))
    b(SET_SRC_FORMAT=FORMATS.named("A8B8G8R8").code)
    blit(b, (0, 0, 10, 10), operation=7)
    b(SET_DST_MEMORY_LAYOUT=1, SET_DST_WIDTH=0xFFFFFFFF, SET_DST_HEIGHT=0xFFFFFFFF)
    blit(b, (0, 0, -1, -1))
    b(SET_DST_MEMORY_LAYOUT=0, SET_DST_WIDTH=50, SET_DST_HEIGHT=0x7FFFFFFF, SET_DST_BLOCK_SIZE=0xFFF)
    b(SET_DST_LAYER=0xFFFFFFFF)
    blit(b, (0, 0, 10, 10))
    assert b.memory.read(VA, SIZE) == noise()
    assert b.host.ids() == ["twod.format", "twod.format", "twod.operation", "twod.size", "engine.range"]
    assert b.host.stats.blits == 0
    surface(b, "SRC", "A8B8G8R8", PITCH)
    surface(b, "DST", "A8B8G8R8", moved(TILED))
    blit(b, (-0x7FFFFFFF, 0, 0x7FFFFFFF + 40, 10), (1e9, -1e9), (-2e9, 2e9), bilinear=True)
    assert "engine.range" in b.host.ids()


def test_what_no_driver_uses_is_told() -> None:
    b = bench()
    b(SET_COLOR_KEY_ENABLE=1)
    surface(b, "SRC", "A8B8G8R8", TILED)
    surface(b, "DST", "A8B8G8R8", moved(TILED))
    blit(b, (0, 0, 2, 2))
    b(PIXELS_FROM_CPU_DATA=1, RENDER_SOLID_PRIM_POINT_X_Y=1, RENDER_SOLID_PRIM_POINT_Y__7=1)
    assert b.host.ids() == ["twod.color_key", *["twod.unused"] * 3]
