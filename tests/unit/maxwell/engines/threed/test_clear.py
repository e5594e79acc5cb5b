"""Clears against a model that looks at every byte."""

from __future__ import annotations

import numpy as np
import pytest
from support.engine_host import Bench
from support.slow_formats import encode, word_of
from support.slow_surfaces import Slow, SlowMemory

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH
from pocketgpu.maxwell.engines.threed.engine import ThreeD

VA = 0x5_0000_0000
SIZE = 0x80000
CLEAR = B197["CLEAR_SURFACE"]
EVALUATORS = ("llvm", "numpy")


def noise(size: int = SIZE) -> bytes:
    return np.random.default_rng(7).integers(0, 256, size, np.uint8).tobytes()


def bench(evaluator: str = "llvm", **choices: str) -> Bench:
    made = Bench(ThreeD, evaluator, **choices)
    made.map(VA, noise())
    return made


def target(b: Bench, name: str, surface: Slow, slot: int = 0, layers: int = 1, deep: bool = False) -> None:
    """Set up a colour target; surface.width is bytes."""
    code = COLOR_TARGET.named(name).code
    size = COLOR_TARGET[code].bytes
    b.address("SET_COLOR_TARGET_A", surface.va, slot)
    pitch = surface.pitch is not None
    values = {
        "WIDTH": surface.pitch if pitch else surface.width // size,
        "HEIGHT": surface.height,
        "FORMAT": code,
        "MEMORY": B197["SET_COLOR_TARGET_MEMORY"].encode(
            BLOCK_HEIGHT=surface.block_height,
            BLOCK_DEPTH=surface.block_depth,
            LAYOUT=int(pitch),
            THIRD_DIMENSION_CONTROL=int(deep),
        ),
        "THIRD_DIMENSION": layers,
        "ARRAY_PITCH": surface.size // 4,
        "LAYER": 0,
    }
    b(**{f"SET_COLOR_TARGET_{part}__{slot}": value for part, value in values.items()})


def clip(b: Bench, width: int, height: int, x: int = 0, y: int = 0) -> None:
    b(
        SET_SURFACE_CLIP_HORIZONTAL=width << 16 | x,
        SET_SURFACE_CLIP_VERTICAL=height << 16 | y,
        SET_COLOR_CLEAR_VALUE__0=0.25,
        SET_COLOR_CLEAR_VALUE__1=0.5,
        SET_COLOR_CLEAR_VALUE__2=0.75,
        SET_COLOR_CLEAR_VALUE__3=1.0,
    )


def float_word(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


RGBA = CLEAR.encode(R_ENABLE=1, G_ENABLE=1, B_ENABLE=1, A_ENABLE=1)
PIXEL = bytes([64, 128, 191, 255])  # 0.25, 0.5, 0.75, 1 in eight bits, halves up


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    ("surface", "rectangle"),
    [
        (Slow(VA + 0x200, 4 * 100, 60, block_height=2), (0, 0, 100, 60)),
        (Slow(VA + 0x400, 4 * 70, 45, block_height=0), (3, 5, 33, 30)),
        (Slow(VA, 4 * 64, 64, block_height=4), (16, 8, 48, 40)),
        (Slow(VA + 0x80, 4 * 50, 20, pitch=224), (1, 2, 50, 19)),
        (Slow(VA, 4 * 16, 8, pitch=64), (0, 0, 16, 8)),
    ],
    ids=["whole", "odd", "aligned", "pitch", "pitch-whole"],
)
def test_colour(evaluator: str, surface: Slow, rectangle: tuple[int, int, int, int]) -> None:
    """Exactly the pixels of the rectangle become the clear value, in both layouts."""
    b = bench(evaluator)
    target(b, "A8B8G8R8", surface)
    left, top, right, bottom = rectangle
    clip(b, right - left, bottom - top, left, top)
    b(CLEAR_SURFACE=RGBA)
    model = SlowMemory(VA, noise())
    places = surface.places(4 * left, top, 4 * (right - left), bottom - top)
    model[places] = np.resize(np.frombuffer(PIXEL, np.uint8), places.shape)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    assert not list(b.host.events)
    assert b.host.stats.clears == 1
    record = b.host.log[0]
    assert (record.rectangle, record.format, record.address, record.slot) == (rectangle, "A8B8G8R8", surface.va, 0)


@pytest.mark.parametrize("name", ["A8B8G8R8", "RU32_GU32", "RU32_GU32_BU32_AU32"])
@pytest.mark.parametrize("pitch", [None, 16 * 21 + 32])
def test_pixels_of_any_size_repeat(name: str, pitch: int | None) -> None:
    """Pixels of 4, 8 and 16 bytes in both layouts, in lines that are no multiple of what is written at once."""
    b = bench()
    size = COLOR_TARGET[COLOR_TARGET.named(name).code].bytes
    surface = Slow(VA + 0x200, size * 21, 19, pitch=pitch, block_height=1)
    target(b, name, surface)
    clip(b, 17, 13, 3, 4)
    words = [0x01234567, 0x89ABCDEF, 0x0F1E2D3C, 0x4B5A6978]
    words = words if size > 4 else [float_word(v) for v in (0.25, 0.5, 0.75, 1)]
    b(**{f"SET_COLOR_CLEAR_VALUE__{i}": word for i, word in enumerate(words)}, CLEAR_SURFACE=RGBA)
    model = SlowMemory(VA, noise())
    places = surface.places(size * 3, 4, size * 17, 13)
    pixel = np.array(words[: size // 4], "<u4").view(np.uint8) if size > 4 else np.frombuffer(PIXEL, np.uint8)
    model[places] = np.resize(pixel, places.shape)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_channels_are_the_only_mask(evaluator: str) -> None:
    """R and A alone change; SET_CT_WRITE does not count."""
    b = bench(evaluator)
    surface = Slow(VA, 4 * 40, 24, block_height=1)
    target(b, "A8B8G8R8", surface)
    clip(b, 40, 24)
    b(SET_CT_WRITE__0=0, CLEAR_SURFACE=CLEAR.encode(R_ENABLE=1, A_ENABLE=1))
    model = SlowMemory(VA, noise())
    for channel in (0, 3):
        places = surface.places(0, 0, 160, 24)[:, channel::4]
        model[places] = np.full(places.shape, PIXEL[channel], np.uint8)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    assert b.host.log[0].channels == "ra"


def test_the_rectangle_is_cut_by_what_the_control_names() -> None:
    """Clear rectangle, scissor 0 and viewport clip 0 count only if asked for; the surface clip always."""
    surface = Slow(VA, 4 * 64, 64, block_height=2)
    wanted = {
        0: (0, 0, 60, 50),
        0x10: (10, 12, 60, 40),
        0x100: (5, 6, 30, 50),
        0x1000: (8, 9, 28, 29),
        0x1110: (10, 12, 28, 29),
    }
    for control, rectangle in wanted.items():
        b = bench()
        target(b, "A8B8G8R8", surface)
        clip(b, 60, 50)
        b(
            SET_CLEAR_RECT_HORIZONTAL=70 << 16 | 10,
            SET_CLEAR_RECT_VERTICAL=40 << 16 | 12,
            SET_SCISSOR_ENABLE=1,
            SET_SCISSOR_HORIZONTAL=30 << 16 | 5,
            SET_SCISSOR_VERTICAL=90 << 16 | 6,
            SET_VIEWPORT_CLIP_HORIZONTAL=20 << 16 | 8,
            SET_VIEWPORT_CLIP_VERTICAL=20 << 16 | 9,
            SET_CLEAR_SURFACE_CONTROL=control,
            CLEAR_SURFACE=RGBA,
        )
        left, top, right, bottom = rectangle
        model = SlowMemory(VA, noise())
        places = surface.places(4 * left, top, 4 * (right - left), bottom - top)
        model[places] = np.resize(np.frombuffer(PIXEL, np.uint8), places.shape)
        assert b.memory.read(VA, SIZE) == model.bytes.tobytes(), hex(control)
    b(SET_SCISSOR_ENABLE=0, SET_CLEAR_SURFACE_CONTROL=0x100, CLEAR_SURFACE=RGBA)
    assert b.host.log[-1].rectangle == (0, 0, 60, 50)


@pytest.mark.parametrize("deep", [False, True])
def test_layers(deep: bool) -> None:
    """RT_ARRAY_INDEX counts from SET_COLOR_TARGET_LAYER: by the array pitch, or by slices of a 3D target."""
    surface = Slow(VA, 4 * 20, 20, block_height=1, block_depth=2 if deep else 0, depth=8 if deep else 1)
    b = bench()
    target(b, "A8B8G8R8", surface, layers=8, deep=deep)
    clip(b, 20, 20)
    b(SET_COLOR_TARGET_LAYER=2, CLEAR_SURFACE=RGBA | CLEAR.encode(RT_ARRAY_INDEX=3))
    model = SlowMemory(VA, noise())
    places = surface.places(0, 0, 80, 20, 5) if deep else surface.places(0, 0, 80, 20) + 5 * surface.size
    model[places] = np.resize(np.frombuffer(PIXEL, np.uint8), places.shape)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()


def test_slot_and_samples() -> None:
    """MRT_SELECT names the slot, whatever SET_CT_SELECT says; a pixel of a 2x2 target has four samples."""
    b = bench()
    surface = Slow(VA, 4 * 80, 48, block_height=1)
    target(b, "A8B8G8R8", surface, slot=5)
    clip(b, 30, 20, 5, 2)
    b(SET_CT_SELECT=0x1, SET_ANTI_ALIAS=2, CLEAR_SURFACE=RGBA | CLEAR.encode(MRT_SELECT=5))
    model = SlowMemory(VA, noise())
    places = surface.places(4 * 10, 4, 4 * 60, 40)
    model[places] = np.resize(np.frombuffer(PIXEL, np.uint8), places.shape)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    b(CLEAR_SURFACE=RGBA | CLEAR.encode(MRT_SELECT=9))
    assert b.host.ids() == ["clear.target"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", ["Z16", "Z24S8", "X8Z24", "S8Z24", "S8", "ZF32", "ZF32_X24S8"])
@pytest.mark.parametrize(("depth", "stencil", "mask"), [(1, 1, None), (1, 0, None), (0, 1, None), (0, 1, 0x3C)])
def test_depth_and_stencil(evaluator: str, name: str, depth: int, stencil: int, mask: int | None) -> None:
    """Each part alone leaves the other's bits, and the stencil mask counts only if asked for; the record names the
    parts that the format has."""
    layout = DEPTH.named(name)
    b = bench(evaluator)
    surface = Slow(VA, layout.bytes * 40, 20, block_height=1)
    b.address("SET_ZT_A", VA)
    b(
        SET_ZT_FORMAT=layout.code,
        SET_ZT_BLOCK_SIZE=1 << 4,
        SET_ZT_SIZE_A=40,
        SET_ZT_SIZE_B=20,
        SET_ZT_SELECT=1,
        SET_Z_CLEAR_VALUE=0.3,
        SET_STENCIL_CLEAR_VALUE=0xA5,
        SET_STENCIL_MASK=0xFF if mask is None else mask,
        SET_CLEAR_SURFACE_CONTROL=int(mask is not None),
    )
    clip(b, 38, 18, 1, 1)
    b(CLEAR_SURFACE=CLEAR.encode(Z_ENABLE=depth, STENCIL_ENABLE=stencil))
    model = SlowMemory(VA, noise())
    places = surface.places(layout.bytes, 1, 38 * layout.bytes, 18).reshape(18, 38, layout.bytes)
    old = model[places].astype(object)
    value = sum(old[..., i] << 8 * i for i in range(layout.bytes))
    for c in layout.components:
        full = (1 << c.width) - 1
        if c.name == "Z" and depth:
            new = int(np.float32(0.3).view(np.uint32)) if c.type == "float" else int(np.float32(0.3) * full + 0.5)
            if c.width > 16 and c.type != "float":
                new = int(float(np.float32(0.3)) * full + 0.5)
            value = value & ~(full << c.lo) | new << c.lo
        if c.name == "S" and stencil:
            m = full if mask is None else mask
            value = value & ~(m << c.lo) | (0xA5 & m) << c.lo
    for i in range(layout.bytes):
        model[places[..., i]] = (value >> 8 * i & 0xFF).astype(np.uint8)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    parts = {c.name for c in layout.components}
    assert b.host.log[0].channels == "z" * ("Z" in parts and depth) + "s" * ("S" in parts and stencil)


def test_no_depth_target() -> None:
    """SET_ZT_SELECT 0 means that there is none."""
    b = bench()
    b.address("SET_ZT_A", VA)
    b(SET_ZT_FORMAT=0x14, SET_ZT_SIZE_A=40, SET_ZT_SIZE_B=20)
    clip(b, 40, 20)
    b(CLEAR_SURFACE=CLEAR.encode(Z_ENABLE=1, STENCIL_ENABLE=1))
    assert b.memory.read(VA, SIZE) == noise()


@pytest.mark.parametrize("code", [code for code in COLOR_TARGET if code])
def test_every_format(code: int) -> None:
    """One pixel of each format, component by component: rounded, clamped, and in sRGB where the format is."""
    layout = COLOR_TARGET[code]
    b = bench()
    surface = Slow(VA, layout.bytes * 4, 4)
    target(b, layout.name, surface)
    clip(b, 4, 4)
    values = (0.25, 0.5, 1.75, 0.75)
    words = [int(np.float32(v).view(np.uint32)) for v in values]
    integers = any(c.type in ("uint", "sint") for c in layout.components)
    if integers:
        words = [5, 0xFFFF_FFF0, 0x7FFF_FFFF, 77]
    b(**{f"SET_COLOR_CLEAR_VALUE__{i}": word for i, word in enumerate(words)})
    b(SET_SRGB_WRITE=1, CLEAR_SURFACE=RGBA)
    got = int.from_bytes(b.memory.read(VA, layout.bytes), "little")
    for c in layout.components:
        bits = got >> c.lo & (1 << c.width) - 1
        top = (1 << c.width) - 1
        if c.name == "X":
            assert bits == (top if c.type == "one" else 0), c
            continue
        i = "RGBA".index(c.name)
        v = values[i]
        if c.type == "uint":
            wanted = min(words[i], top)
        elif c.type == "sint":
            signed = words[i] - (words[i] >> 31 << 32)
            wanted = max(-(top + 1) // 2, min(signed, top >> 1)) & top
        elif c.type == "float":
            wanted = {
                32: words[i],
                16: int(np.float16(v).view(np.uint16)),
                11: int(np.float16(v).view(np.uint16)) >> 4,
                10: int(np.float16(v).view(np.uint16)) >> 5,
            }[c.width]
        elif c.type == "snorm":
            wanted = int(min(v, 1.0) * (top >> 1) + 0.5)
        else:
            v = min(v, 1.0)
            if c.type == "srgb":
                v = 1.055 * v ** (1 / 2.4) - 0.055
            wanted = int(v * top + 0.5)
        assert bits == wanted, c


def test_srgb_only_if_switched_on() -> None:
    """SET_SRGB_WRITE 0 stores the linear value in an sRGB format."""
    b = bench()
    target(b, "A8BL8GL8RL8", Slow(VA, 16, 4))
    clip(b, 4, 4)
    b(SET_SRGB_WRITE=0, CLEAR_SURFACE=RGBA)
    assert b.memory.read(VA, 4) == PIXEL
    b(SET_SRGB_WRITE=1, CLEAR_SURFACE=RGBA)
    assert b.memory.read(VA, 4) == bytes([137, 188, 225, 255])


@pytest.mark.parametrize("value", [float("nan"), -1.5, -0.5, -0.0, 0.5, 1e9, 65520.0, 2.0**-21, float("inf")])
@pytest.mark.parametrize("name", ["RN8", "R8", "A8BL8GL8RL8", "BF10GF11RF11", "RF16", "R16", "R32"])
def test_rounding_is_exact(name: str, value: float) -> None:
    """A clear value becomes the nearest code, halves away from zero; NaN is 0 but in floats."""
    layout = COLOR_TARGET.named(name)
    b = bench()
    target(b, name, Slow(VA, layout.bytes * 4, 4))
    clip(b, 4, 4)
    word = word_of(value)
    b(**{f"SET_COLOR_CLEAR_VALUE__{i}": word for i in range(4)}, SET_SRGB_WRITE=1, CLEAR_SURFACE=RGBA)
    wanted = sum(encode(c, word, True) << c.lo for c in layout.components)
    assert int.from_bytes(b.memory.read(VA, layout.bytes), "little") == wanted


def test_conditional_rendering() -> None:
    """A clear that is not to be rendered neither writes nor counts."""
    b = bench()
    target(b, "A8B8G8R8", Slow(VA, 64, 8))
    clip(b, 16, 8)
    b(SET_RENDER_ENABLE_C=0, CLEAR_SURFACE=RGBA)
    assert b.memory.read(VA, SIZE) == noise()
    assert b.host.stats.clears == 0 and not b.host.log
    b(SET_RENDER_ENABLE_C=1, CLEAR_SURFACE=RGBA)
    assert b.memory.read(VA, 4) == PIXEL


def test_raster_disabled_is_a_switch() -> None:
    """By default a clear does not ask whether the rasteriser is on."""
    for choice, changed in (("clear", True), ("nothing", False)):
        b = bench(clear__raster_disabled=choice)
        target(b, "A8B8G8R8", Slow(VA, 64, 8))
        clip(b, 16, 8)
        b(SET_RASTER_ENABLE=0, CLEAR_SURFACE=RGBA)
        assert (b.memory.read(VA, SIZE) != noise()) == changed


def test_unknown_format_is_a_fault() -> None:
    b = bench()
    target(b, "A8B8G8R8", Slow(VA, 64, 8))
    clip(b, 16, 8)
    b(SET_COLOR_TARGET_FORMAT=0x01, CLEAR_SURFACE=RGBA)
    assert b.host.ids() == ["clear.format"]
    assert b.memory.read(VA, SIZE) == noise()


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_holes(evaluator: str) -> None:
    """A target that is only partly mapped, in pages that lie anywhere: what is mapped is cleared, the rest is told."""
    b = Bench(ThreeD, evaluator)
    surface = Slow(VA, 4 * 64, 64, block_height=1)  # 16 KiB
    backing = b.memory.allocate(0x4000)
    for page, place in ((0, 0x3000), (1, 0), (3, 0x1000)):
        b.memory.map(VA + 0x1000 * page, 0x1000, backing, place)
    target(b, "A8B8G8R8", surface)
    clip(b, 64, 64)
    b(CLEAR_SURFACE=RGBA)
    for page in (0, 1, 3):
        assert b.memory.read(VA + 0x1000 * page, 0x1000) == PIXEL * 0x400
    assert b.host.ids() == ["memory.unmapped"]
    assert b.memory.arena[backing.offset + 0x2000 : backing.offset + 0x3000].max() == 0


def test_hostile_sizes() -> None:
    """Targets that no memory holds are faults, not failures."""
    b = bench()
    target(b, "RF32_GF32_BF32_AF32", Slow(VA, 64, 8))
    for width, height, memory in ((0xFFFFFFF, 0x1FFFF, 0xFFF), (0xFFFFFFF, 0x1FFFF, 0x1000), (0, 0, 0xFFFF)):
        b(SET_COLOR_TARGET_WIDTH=width, SET_COLOR_TARGET_HEIGHT=height, SET_COLOR_TARGET_MEMORY=memory)
        clip(b, 0xFFFF, 0xFFFF)
        b(SET_ANTI_ALIAS=6, CLEAR_SURFACE=RGBA | CLEAR.encode(RT_ARRAY_INDEX=0xFFFF))
    assert all(event.kind in ("fault", "warning") for event in b.host.events)
