"""Shadow textures and drawing shadow maps, against scalar models written down again from the documents.

Sources: 3dbrew GPU/Internal Registers; arithmetic of a public simulator (fragment operations in shadow mode).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

TEXTURE0 = 3
FAR = 0xFFFFFF
FLAT, CUBE = 2, 4
PRIMARY = 0
MAP = 0x18100000


def texel(depth: int, intensity: int) -> int:
    """The little-endian word of a shadow texel: bytes 0-2 are the depth, highest first, byte 3 the intensity."""
    return int.from_bytes(int(depth).to_bytes(3, "big") + bytes([int(intensity)]), "little")


def f16(value: float) -> int:
    return int(struct.unpack("<H", struct.pack("<e", value))[0])


def depth_units(z: float) -> int:
    return int(np.float32(min(z, 1.0)) * np.float32(FAR))


def lit(word: int, z: float, bias: int = 0, equal: bool = True, clamp: bool = True) -> int:
    """One comparison: the intensity, or 0."""
    depth = depth_units(z) - 2 * bias
    depth = max(depth, 0) if clamp else depth & 0xFFFFFFFF
    stored = int.from_bytes(int(word).to_bytes(4, "little")[:3], "big")
    return word >> 24 if (stored >= depth if equal else stored > depth) else 0


def wrapped(c: int, size: int, mode: int) -> int | None:
    """A texel coordinate inside, or None for the border."""
    inside = 0 <= c < size
    mirror = lambda: min(c % (2 * size), 2 * size - 1 - c % (2 * size))  # noqa: E731
    return {0: min(max(c, 0), size - 1), 1: c if inside else None, 2: c % size, 3: mirror()}[mode]


def use(
    gpu: Any, texels: np.ndarray, kind: int = FLAT, orthographic: bool = True, bias: int = 0,
    wrap: tuple[int, int] = (0, 0), border: int = 0, format: int = 0, param: int = 0,
) -> None:  # fmt: skip
    """Texture unit 0 is a shadow map, and shown as it is."""
    gpu.texture(0, texels.astype(np.uint32), wrap=wrap, border=border)
    gpu.set(
        TEXUNIT0_PARAM=wrap[0] << 12 | wrap[1] << 8 | kind << 28 | 1 << 20 | param,
        TEXUNIT0_SHADOW=int(orthographic) | bias << 1, TEXUNIT_CONFIG=1, TEXUNIT0_TYPE=format,
    )  # fmt: skip
    gpu.stage(0, sources=(TEXTURE0,) * 3)


def square(w: float, scale: float = 1.0, start: float = 0.0) -> list[tuple[float, ...]]:
    """Texture coordinates 0 of a full quad; u and v go from `start` over a span of `scale`."""
    ends = (start, start + scale)
    return [(u, v, w, 1) for v in ends for u in ends]


def near_map(rng: np.random.Generator, depth: int, size: int = 16) -> np.ndarray:
    """Texels with depths close to one and any intensity."""
    depths = (depth + rng.integers(-2, 3, (size, size))).clip(0, FAR)
    return np.vectorize(texel)(depths, rng.integers(0, 256, (size, size)))


def run_both(make_gpu: Callable[..., Any], scene: Callable[[Any], None], **options: Any) -> list[Any]:
    """A scene under both evaluators, which must leave the same colour buffer and report nothing; the machines."""
    machines = []
    for evaluator in ("llvm", "numpy"):
        gpu = make_gpu(evaluator=evaluator, **options)
        scene(gpu)
        gpu.run()
        assert not gpu.ids
        machines.append(gpu)
    np.testing.assert_array_equal(machines[0].color_words(), machines[1].color_words())
    return machines


# -- lookups ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [0.0, 0.125, 0.3, 0.75, 1.0, 1.5])
@pytest.mark.parametrize("bias", [0, 1, 0x400000])
def test_a_lookup_compares_with_the_texel(make_gpu: Callable[..., Any], z: float, bias: int) -> None:
    z = float(np.float32(z))
    texels = near_map(np.random.default_rng(bias), max(depth_units(z) - 2 * bias, 0))
    gpu = make_gpu(evaluator="numpy")
    use(gpu, texels, bias=bias)
    gpu.quad(uv0=square(z))
    gpu.run()
    expected = np.vectorize(lambda word: lit(word, z, bias))(texels.astype(object)).astype(int)
    np.testing.assert_array_equal(gpu.pixels(), np.repeat(expected[..., None], 4, axis=2))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("wrap", [(0, 0), (1, 2), (2, 3), (3, 1)])
def test_wrap_modes_and_border_colour(make_gpu: Callable[..., Any], seed: int, wrap: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    z, border = 0.5, int(rng.integers(1 << 32))
    texels = near_map(rng, depth_units(z), 8)

    def scene(gpu: Any) -> None:
        use(gpu, texels, wrap=wrap, border=border)
        gpu.quad(uv0=square(z, 2.0, -0.5))

    got = run_both(make_gpu, scene)[0].pixels()[..., 0]
    # The register has R in its low byte, texel words have it in the top one.
    outside = int.from_bytes(border.to_bytes(4, "little"), "big")
    for row in range(16):
        for column in range(16):
            x, y = (wrapped(c - 4, 8, mode) for c, mode in zip((column, row), wrap, strict=True))
            word = outside if x is None or y is None else int(texels[y, x])
            assert got[row, column] == lit(word, z)


@pytest.mark.parametrize("orthographic", [True, False])
@pytest.mark.parametrize("wrap", [(0, 0), (1, 2), (2, 3), (3, 1)])
def test_machine_code_looks_up_what_the_model_does(
    make_gpu: Callable[..., Any], wrap: tuple[int, int], orthographic: bool
) -> None:
    """Columns and rows of their own, inside the map and around it; depths that change from row to row."""
    rng = np.random.default_rng(wrap[0])
    bias, border = 3, int(rng.integers(1 << 32))
    depths = rng.integers(depth_units(0.25), depth_units(0.75), (8, 8))
    texels = np.vectorize(texel)(depths, rng.integers(0, 256, (8, 8)))
    gpu = make_gpu()
    use(gpu, texels, orthographic=orthographic, bias=bias, wrap=wrap, border=border)
    u, across, v, up = (-0.5, 2.0, -0.75, 2.0) if orthographic else (-0.24, 0.76, -0.31, 0.83)
    gpu.quad(uv0=[(u + x * across, v + y * up, 0.25 + 0.5 * y, 1) for y in (0, 1) for x in (0, 1)])
    gpu.run()
    got = gpu.pixels()[..., 0]
    outside = int.from_bytes(border.to_bytes(4, "little"), "big")
    compared = 0
    for row, column in np.ndindex(16, 16):
        s, t = (column + 0.5) / 16, (row + 0.5) / 16
        z = 0.25 + 0.5 * t
        places = [8 * (u + s * across), 8 * (v + t * up)]
        if not orthographic:
            places = [place / z for place in places]
        if all(abs(place - round(place)) > 1e-3 for place in places):
            x, y = (wrapped(int(np.floor(place)), 8, mode) for place, mode in zip(places, wrap, strict=True))
            word = outside if x is None or y is None else int(texels[y, x])
            assert got[row, column] in {lit(word, z + small, bias) for small in (-1e-6, 1e-6)}, (row, column)
            compared += 1
    assert compared > 200 and len(np.unique(got)) > 10


@pytest.mark.parametrize("orthographic", [True, False])
def test_perspective_divides_the_coordinates_but_not_the_depth(
    make_gpu: Callable[..., Any], orthographic: bool
) -> None:
    rng = np.random.default_rng(7)
    z = 0.25
    texels = near_map(rng, depth_units(z))

    def scene(gpu: Any) -> None:
        use(gpu, texels, orthographic=orthographic)
        gpu.quad(uv0=square(z, 1.0 if orthographic else z))

    expected = np.vectorize(lambda word: lit(word, z))(texels.astype(object)).astype(int)
    np.testing.assert_array_equal(run_both(make_gpu, scene)[0].pixels()[..., 2], expected)


def test_depth_is_interpolated_with_perspective(make_gpu: Callable[..., Any]) -> None:
    # w of the position goes from 1 to 4 across, the third texture coordinate from 0.2 to 0.8.
    texels = np.full((8, 8), texel(depth_units(0.5), 200))
    position = [(-1, -1, -0.5, 1), (4, -4, -0.5, 4), (-1, 1, -0.5, 1), (4, 4, -0.5, 4)]
    uv = [(0.5, 0.5, 0.2, 1), (0.5, 0.5, 0.8, 1)] * 2

    def scene(gpu: Any) -> None:
        use(gpu, texels)
        gpu.draw(position, uv0=uv, mode=1)

    got = run_both(make_gpu, scene)[0].pixels()[8, :, 0]
    t = (np.arange(16) + 0.5) / 16
    z = (0.2 * (1 - t) + 0.8 * t / 4) / ((1 - t) + t / 4)
    assert (got == np.where(z <= 0.5, 200, 0)).all()
    assert 0 < (got == 200).sum() < 16


def test_negative_depth_counts_by_its_size(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(evaluator="numpy")
    use(gpu, np.full((8, 8), texel(depth_units(0.5), 99)))
    gpu.quad((-1, -1, 0, 1), uv0=square(-0.4))
    gpu.quad((0, -1, 1, 1), uv0=square(-0.6))
    gpu.run()
    assert (gpu.pixels()[:, :8] == 99).all() and (gpu.pixels()[:, 8:] == 0).all()


@pytest.mark.parametrize("value", ["lit", "dark"])
def test_equality_is_a_switch(make_gpu: Callable[..., Any], value: str) -> None:
    z, texels = 0.5, near_map(np.random.default_rng(3), depth_units(0.5))

    def scene(gpu: Any) -> None:
        use(gpu, texels)
        gpu.quad(uv0=square(z))

    got = run_both(make_gpu, scene, texture__shadow_equal=value)[0].pixels()[..., 0]
    expected = np.vectorize(lambda word: lit(word, z, equal=value == "lit"))(texels.astype(object)).astype(int)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("value", "expected"), [("clamp", 77), ("wrap", 0)])
def test_bias_below_zero_is_a_switch(make_gpu: Callable[..., Any], value: str, expected: int) -> None:
    def scene(gpu: Any) -> None:
        use(gpu, np.full((8, 8), texel(1000, 77)), bias=100)
        gpu.quad(uv0=square(0.00001))

    assert depth_units(0.00001) < 200
    assert (run_both(make_gpu, scene, texture__shadow_bias=value)[0].pixels() == expected).all()


def test_linear_filter_mixes_comparisons(make_gpu: Callable[..., Any]) -> None:
    # Intensities 255 left, 0 right (too near); samples between texel centres of an 8x8 map, and outside of it.
    texels = np.full((8, 8), texel(FAR, 255))
    texels[:, 4:] = texel(10, 255)

    def scene(gpu: Any) -> None:
        use(gpu, texels)
        gpu.quad(uv0=square(0.5))

    got = run_both(make_gpu, scene, texture__shadow_filter="linear")[0].pixels()[..., 0]
    assert (got[:, :7] == 255).all()
    middle = got[1:-1]  # rows that no texel outside of the map shares in
    assert (np.abs(middle[:, 7] - 191) <= 1).all() and (np.abs(middle[:, 8] - 64) <= 1).all()
    assert (middle[:, 9:15] == 0).all() and (np.abs(middle[:, 15] - 64) <= 1).all()
    assert (got[0, 9:15] == 64).all()  # a quarter of what it sees lies below the map: lit


def test_format_and_level_fields_do_not_matter(make_gpu: Callable[..., Any]) -> None:
    texels = near_map(np.random.default_rng(11), depth_units(0.5))
    results = []
    for format, param in ((0, 0), (0xC, 0x01000006)):
        gpu = make_gpu(evaluator="numpy")
        use(gpu, texels, format=format, param=param)
        gpu.write(0x84, 0x00070000)  # many levels
        gpu.quad(uv0=square(0.5))
        gpu.run()
        results.append(gpu.pixels())
        assert not gpu.ids
    np.testing.assert_array_equal(*results)


FACES = {  # direction -> face; the other two components are small
    (1, 0, 0): 0, (-1, 0, 0): 1, (0, 1, 0): 2, (0, -1, 0): 3, (0, 0, 1): 4, (0, 0, -1): 5,
}  # fmt: skip


def test_cube_maps_compare_with_the_longest_component(make_gpu: Callable[..., Any]) -> None:
    faces = [np.full((8, 8), texel(depth_units(0.5), 10 + face)) for face in range(6)]

    def scene(gpu: Any) -> None:
        use(gpu, faces[0], kind=CUBE, orthographic=False)
        addresses = [0x21000000 + 0x1000 * face for face in range(6)]
        for face, address in enumerate(addresses):
            gpu.put(address, 4, faces[face].astype(np.uint32))
        for face in range(1, 6):
            gpu.write(0x85 + face, addresses[face] >> 3 & 0x3FFFFF)
        for i, direction in enumerate(FACES):
            left = -1 + i / 4
            for j, size in enumerate((0.48, 0.52)):
                x, y, z = (c * size for c in direction)
                box = (left, -1 + j, left + 0.25, j)
                gpu.quad(box, uv0=[(x + a, y + a, z + a, 1) for a in (0.01, 0.01, 0.01, 0.01)])

    got = run_both(make_gpu, scene)[0].pixels()[..., 0]
    for i, face in enumerate(FACES.values()):
        sign = -1 if face % 2 else 1
        for j, size in enumerate((0.48, 0.52)):
            reached = abs(sign * size + 0.01)
            part = got[8 * j : 8 * j + 8, 2 * i : 2 * i + 2]
            assert (part == (10 + face if reached <= 0.5 else 0)).all(), (face, size)


# -- drawing shadow maps ----------------------------------------------------------------------------------------------


class Model:
    """A shadow map drawn one fragment after the other."""

    def __init__(self, words: np.ndarray, constant: float, linear: float) -> None:
        self.words, self.constant, self.linear = words.astype(object), np.float32(constant), np.float32(linear)

    def fragment(self, x: int, y: int, depth: int, intensity: int) -> None:
        raw = int(self.words[y, x]).to_bytes(4, "little")
        stored, old = int.from_bytes(raw[:3], "big"), raw[3]
        if depth >= stored:
            return
        if intensity == 0:
            self.words[y, x] = texel(depth, old)
            return
        with np.errstate(all="ignore"):
            softness = self.constant + self.linear * (np.float32(depth) / np.float32(stored))
            soft = np.float32(intensity) / softness
        soft = 0 if np.isnan(soft) else int(min(max(soft, np.float32(0)), np.float32(255)))
        self.words[y, x] = texel(stored, min(soft, old))


def shadow_mode(gpu: Any, constant: float = 1.0, linear: float = 0.0) -> None:
    gpu.set(COLOR_OPERATION=0x00E40003, FRAGOP_SHADOW=f16(constant) | f16(linear) << 16)


@pytest.mark.parametrize("seed", range(8))
def test_random_quads_equal_the_model(make_gpu: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = np.vectorize(texel)(rng.integers(0, FAR + 1, (16, 16)), rng.integers(0, 256, (16, 16)))
    start[::2] = 0xFFFFFFFF
    constant, linear = (float(np.float16(v)) for v in rng.uniform(-0.5, 2.0, 2))
    draws = []
    for _ in range(6):
        x0, y0 = (int(v) for v in rng.integers(0, 12, 2))
        x1, y1 = (int(rng.integers(v + 1, 17)) for v in (x0, y0))
        draws.append((x0, y0, x1, y1, int(rng.integers(0, 257)) / 256, int(rng.integers(256)) * int(rng.integers(2))))
    model = Model(start, constant, linear)
    for x0, y0, x1, y1, depth, green in draws:
        for y in range(y0, y1):
            for x in range(x0, x1):
                model.fragment(x, y, depth_units(depth), green)

    def scene(gpu: Any) -> None:
        gpu.put_color(start.astype(np.uint32))
        shadow_mode(gpu, constant, linear)
        # None of these has a say in this mode.
        gpu.set(FRAGOP_ALPHA_TEST=1, DEPTH_COLOR_MASK=1, STENCIL_TEST=1)
        for x0, y0, x1, y1, depth, green in draws:
            box = (x0 / 8 - 1, y0 / 8 - 1, x1 / 8 - 1, y1 / 8 - 1)
            gpu.quad(box, z=-depth, color=(0.3, green / 255, 0.7, 0.0))

    machines = run_both(make_gpu, scene)
    np.testing.assert_array_equal(machines[0].color_words().astype(object), model.words)
    assert (machines[0].depth_words() == 0).all()


def test_nothing_is_drawn_without_colour_writes(make_gpu: Callable[..., Any]) -> None:
    def scene(gpu: Any) -> None:
        gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
        shadow_mode(gpu)
        gpu.set(COLORBUFFER_WRITE=0)
        gpu.quad(color=(0, 0, 0, 1))

    assert (run_both(make_gpu, scene)[0].color_words() == 0xFFFFFFFF).all()


@pytest.mark.parametrize("format", range(5))
def test_a_map_has_32_bits_whatever_the_colour_format_says(make_gpu: Callable[..., Any], format: int) -> None:
    gpu = make_gpu(evaluator="numpy")
    gpu.put_color(np.full((16, 16), 0xFFFFFFFF, np.uint32))
    gpu.set(COLORBUFFER_FORMAT=format << 16)
    shadow_mode(gpu)
    gpu.quad(z=-0.5, color=(0, 0, 0, 1))
    gpu.run()
    assert (gpu.color_words() == texel(depth_units(0.5), 255)).all()


def test_a_map_at_the_end_of_memory_is_left_out(make_gpu: Callable[..., Any]) -> None:
    # With 16 bits a pixel it would fit; shadow maps need 32.
    gpu = make_gpu()
    gpu.set(COLORBUFFER_FORMAT=3 << 16, COLORBUFFER_LOC=(0x18600000 - 512) >> 3)
    shadow_mode(gpu)
    gpu.quad()
    gpu.run()
    assert "draw.left-out" in gpu.ids


def test_a_map_drawn_in_one_list_is_seen_by_its_next_draw(make_gpu: Callable[..., Any]) -> None:
    def scene(gpu: Any) -> None:
        # A map of which the left half is covered at depth 0.25, then looked at from 0.5.
        gpu.memory.write(MAP, b"\xff" * 1024)
        gpu.set(COLORBUFFER_LOC=MAP >> 3)
        shadow_mode(gpu)
        gpu.quad((-1, -1, 0, 1), z=-0.25, color=(0, 0, 0, 1))
        gpu.quad((-1, 0, 1, 1), z=-0.125, color=(0, 40 / 255, 0, 1))
        gpu.set(COLOR_OPERATION=0x00E40000, COLORBUFFER_LOC=0x18000000 >> 3)
        gpu.write(0x81, 0, 16 << 16 | 16, FLAT << 28, 0, MAP >> 3, each=True)
        gpu.set(TEXUNIT0_SHADOW=1, TEXUNIT_CONFIG=1, TEXUNIT0_TYPE=0)
        gpu.stage(0, sources=(TEXTURE0,) * 3)
        gpu.quad(uv0=square(0.5))

    got = run_both(make_gpu, scene)[0].pixels()[..., 0]
    assert (got[:, :8] == 0).all()
    assert (got[:8, 8:] == 255).all() and (got[8:, 8:] == 40).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_draw_the_same_map(make_gpu: Callable[..., Any], threads: int) -> None:
    results = []
    for count in (1, threads):
        gpu = make_gpu(64, 128, threads=count)
        gpu.put_color(np.full((128, 64), 0xFFFFFFFF, np.uint32))
        shadow_mode(gpu, 0.25, 0.5)
        for i in range(6):
            corners = [(-1, -1, -0.1 * i, 1), (1, -1 + 0.2 * i, -0.9 + 0.1 * i, 1), (-1 + 0.1 * i, 1, -0.5, 1)]
            gpu.draw(corners, color=(0, i * 0.1 * (i % 2), 0, 1))
        gpu.run()
        results.append(gpu.color_words())
    np.testing.assert_array_equal(*results)
