"""Filtered texture reads against a slow model, and the same bits from both evaluators."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.sampling import Bench, Model, bench, call_of

from pocketgpu import Surface, Texture, UsageError
from pocketgpu.facts.maxwell.headers import TIC
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import Call

ADDRESSES = (
    "wrap", "mirror", "clamp", "border", "clamp_gl", "mirror_once", "mirror_once_border", "mirror_once_gl",
)  # fmt: skip
BORDER = (0.25, -2.0, 3.0, 0.5)
_AXES = {"1d": 1, "2d": 2, "3d": 3, "1d_array": 1, "2d_array": 2, "cube": 2, "cube_array": 2}


def levels_of(rng: np.random.Generator, kind: str, count: int, dtype: Any, most: int = 20) -> list[NDArray[Any]]:
    """Random levels of a texture of some size."""
    width, height, depth = (int(rng.integers(1, most)) for _ in range(3))
    if kind.startswith("cube"):
        height = width
    found = []
    for n in range(count):
        shape = [max(1, side >> n) for side in (width, height, depth)][: _AXES[kind]][::-1]
        if kind.endswith("array"):
            shape.insert(0, 12 if kind.startswith("cube") else 3)
        elif kind == "cube":
            shape.insert(0, 6)
        values = rng.integers(0, 256, (*shape, 4)) if dtype is np.uint8 else rng.normal(size=(*shape, 4))
        found.append(values.astype(dtype))
    return found


def model_levels(levels: list[NDArray[Any]], kind: str) -> list[NDArray[Any]]:
    """(layers, depth, height, width, 4) in float64."""
    found = []
    for level in levels:
        values = level / 255.0 if level.dtype == np.uint8 else level.astype(np.float64)
        axes = _AXES[kind]
        layers = values.shape[0] if kind.endswith("array") or kind == "cube" else 1
        rest = list(values.shape[-1 - axes : -1])
        found.append(values.reshape(layers, *[1] * (3 - axes), *rest, 4))
    return found


def coordinates_of(rng: np.random.Generator, axes: int) -> list[NDArray[np.float32]]:
    """Near the texture and within it; some on texels' edges."""
    found = []
    for _ in range(axes):
        v = rng.uniform(-1.6, 2.6, 32)
        v[::5] = rng.integers(-2, 4, len(v[::5]))
        found.append(v.astype(np.float32))
    return found


def both(number: int, what: int, texture: Any, vectors: dict[int, Any], **more: Any) -> NDArray[np.int32]:
    """What compiled code gives, which is what the oracle gives."""
    results = []
    for evaluator in ("llvm", "numpy"):
        one = bench(evaluator)
        results.append(one.call(number, what, texture.handle(one.device), vectors, **more))
    np.testing.assert_array_equal(*results)
    return results[0]


@pytest.mark.parametrize("kind", ["1d", "2d", "3d", "1d_array", "2d_array"])
@pytest.mark.parametrize("seed", range(16))
def test_filtered_reads(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(kind), ord(kind[0])])
    axes, count = _AXES[kind], int(rng.integers(1, 4))
    dtype = (np.uint8, np.float32)[seed & 1]
    levels = levels_of(rng, kind, count, dtype)
    # Half of them without a border, so that quick reads are among them.
    known = ADDRESSES if seed & 2 else ("wrap", "mirror", "clamp", "mirror_once")
    modes = [str(mode) for mode in rng.choice(known, 3)]
    linear = bool(rng.integers(2))
    mip = str(rng.choice(["none", "nearest", "linear"]))
    bias = float(rng.integers(-512, 512)) / 256
    texture = Texture(
        levels, kind, numbers="unorm" if dtype is np.uint8 else None, filter="linear" if linear else "nearest",
        mip_filter=mip, address=modes, normalized=True, border=BORDER, lod_bias=bias, lod_range=(0.25, 2.5),
    )  # fmt: skip
    model = Model(model_levels(levels, kind), (modes[0], modes[1], modes[2]), BORDER, linear)
    xyz = coordinates_of(rng, axes)
    layers = rng.integers(0, 5, 32)
    lods = rng.uniform(-1, 4, 32).astype(np.float32)
    vectors = {**{r.V_X + n: v for n, v in enumerate(xyz)}, r.V_LAYER: layers, r.V_LOD: lods}
    got = both(r.SAMPLE, call_of(kind, lod=(Call.LOD, r.LEVEL)), texture, vectors).view(np.float32)
    many = model.levels[0].shape[0]
    for lane in range(32):
        level = min(max(float(lods[lane]) + bias, 0.25), 2.5)
        layer = min(int(layers[lane]), many - 1) if kind.endswith("array") else 0
        want = model.read(level, layer, [v[lane] for v in xyz], mip)
        np.testing.assert_allclose(got[:, lane], want, rtol=2e-6, atol=4e-6, err_msg=f"lane {lane}")


def _passed(test: Any, reference: float, texel: NDArray[Any]) -> NDArray[Any]:
    return np.full(4, float(test(reference, texel[0])))


@pytest.mark.parametrize("kind", ["2d", "3d", "2d_array"])
@pytest.mark.parametrize("compare", ["less", "greater_equal", "equal", "never", "always"])
def test_offsets_and_comparisons(kind: str, compare: str) -> None:
    rng = np.random.default_rng([len(kind), len(compare)])
    levels = [np.round(level, 1) for level in levels_of(rng, kind, 1, np.float32)]
    texture = Texture(levels, kind, filter="linear", address="mirror", normalized=True, compare=compare)
    model = Model(model_levels(levels, kind), ("mirror",) * 3, BORDER, True)
    xyz = coordinates_of(rng, _AXES[kind])
    reference = np.round(rng.normal(size=32), 1).astype(np.float32)
    moves = rng.integers(-8, 8, (3, 32))
    packed = sum((moves[n] & 15) << 4 * n for n in range(3))
    vectors = {**{r.V_X + n: v for n, v in enumerate(xyz)}, r.V_REFERENCE: reference, r.V_OFFSETS: packed}
    what = call_of(kind, lod=(Call.LOD, r.ZERO), compare=(Call.COMPARE, 1), offsets=(Call.OFFSETS, r.NIBBLES))
    got = both(r.SAMPLE, what, texture, vectors).view(np.float32)
    tests = {
        "less": np.less, "greater_equal": np.greater_equal, "equal": np.equal,
        "never": lambda a, b: False, "always": lambda a, b: True,
    }  # fmt: skip
    for lane in range(32):
        test = partial(_passed, tests[compare], float(reference[lane]))
        offsets = tuple(int(moves[n][lane]) for n in range(3))
        want = model.on_level(0, 0, [v[lane] for v in xyz], offsets, test)
        np.testing.assert_allclose(got[:, lane], want, atol=1e-6)


def test_the_level_comes_from_quads_only_where_lanes_are_pixels() -> None:
    levels = [np.full((16 >> n, 16 >> n, 4), float(n), np.float32) for n in range(5)]
    texture = Texture(levels, filter="linear", mip_filter="linear", address="wrap", normalized=True)
    lane = np.arange(32)
    x, y = (lane & 1) + (lane >> 2 & 1) * 2, (lane >> 1 & 1) + (lane >> 3) * 2
    for step, level in ((1 / 16, 0.0), (2 / 16, 1.0), (3 / 16, np.log2(3)), (8 / 16, 3.0)):
        vectors = {r.V_X: (x * step).astype(np.float32), r.V_Y: (y * step / 4).astype(np.float32)}
        what = call_of("2d", lod=(Call.LOD, r.AUTO))
        pixels = both(r.SAMPLE, what, texture, vectors, quads=True).view(np.float32)
        np.testing.assert_allclose(pixels[0], np.floor(level * 256 + 0.5) / 256, atol=1e-5)
        threads = both(r.SAMPLE, what, texture, vectors).view(np.float32)
        assert (threads == 0).all()
        biased = both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.BIAS)), texture, vectors | {r.V_LOD: 0.5}, quads=True)
        wanted = np.floor(min(level + 0.5, 4.0) * 256 + 0.5) / 256
        np.testing.assert_allclose(biased.view(np.float32)[0], wanted, atol=1e-5)


def test_gradients_are_given_coordinate_by_coordinate() -> None:
    levels = [np.full((32 >> n, 8 >> n or 1, 1), float(n), np.float32) for n in range(4)]
    texture = Texture(levels, mip_filter="nearest", normalized=True)
    zero = np.float32(0)
    # Width 8, height 32: a step of 1/4 is two texels across and eight down.
    for place, level in ((0, 1.0), (1, 1.0), (2, 3.0), (3, 3.0)):
        vectors = {r.V_GRADIENTS + n: np.float32(0.25) if n == place else zero for n in range(4)}
        got = both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.GRADIENTS)), texture, {r.V_X: zero, **vectors})
        assert (got.view(np.float32)[0] == level).all(), place


def test_anisotropic_filters_take_samples_along_the_longer_side() -> None:
    # Stripes across x: a footprint that is long in y sees one stripe sharply, an isotropic one a mean.
    stripes = np.tile(np.array([0.0, 1.0], np.float32), (64, 32)).reshape(64, 64, 1)
    levels = [stripes] + [np.full((64 >> n, 64 >> n, 1), 0.5, np.float32) for n in range(1, 7)]
    common: dict[str, Any] = {"filter": "linear", "mip_filter": "linear", "address": "wrap", "normalized": True}
    middle = np.float32(10.5 / 64)
    vectors = {r.V_X: middle, r.V_Y: np.float32(0.5), r.V_GRADIENTS: np.float32(1 / 64)}
    vectors |= {r.V_GRADIENTS + 3: np.float32(8 / 64)}
    what = call_of("2d", lod=(Call.LOD, r.GRADIENTS))
    sharp = both(r.SAMPLE, what, Texture(levels, anisotropy=8, **common), vectors).view(np.float32)[0]
    blurred = both(r.SAMPLE, what, Texture(levels, **common), vectors).view(np.float32)[0]
    np.testing.assert_allclose(sharp, 0.0, atol=1e-5)
    np.testing.assert_allclose(blurred, 0.5, atol=1e-5)


@pytest.mark.parametrize("along", ["x", "y"])
@pytest.mark.parametrize("footprint", [1, 3, 8, 9, 11, 12, 15, 16, 24, 64])
@pytest.mark.parametrize("most", [2, 4, 6, 8, 10, 12, 16])
def test_the_number_of_samples_and_the_level_of_a_footprint(most: int, footprint: int, along: str) -> None:
    """One sample for each texel along the longer side, `most` at most; the level has the footprint of one sample.

    A texture with a bright line across the longer side tells the samples from each other: their mean is counted here.
    """
    side, samples = 64, min(footprint, most)
    level = np.log2(footprint / samples)
    line = np.zeros((side, side, 1), np.float32)
    line[37] = 1.0
    pictures = [line, *(np.full((side >> n, side >> n, 1), 10.0 * n, np.float32) for n in range(1, 7))]
    if along == "x":
        pictures = [np.ascontiguousarray(picture.transpose(1, 0, 2)) for picture in pictures]
    # The footprint's centre, so that its samples at (i + 0.5) / n - 0.5 meet texels of both kinds.
    centre = 37.5 + (footprint / samples) * 0.25
    places = centre + footprint * ((np.arange(samples) + 0.5) / samples - 0.5)
    whole, part = int(level * 256 + 0.5) >> 8, (int(level * 256 + 0.5) & 255) / 256
    near = np.clip(1 - np.abs(places - 37.5), 0, 1).mean()
    means = [near, *(10.0 * n for n in range(1, 8))]
    wanted = means[whole] * (1 - part) + means[whole + 1] * part
    texture = Texture(pictures, anisotropy=most, filter="linear", mip_filter="linear", address="clamp", normalized=True)
    across, longer = (r.V_Y, r.V_X) if along == "x" else (r.V_X, r.V_Y)
    step = r.V_GRADIENTS + (0 if along == "x" else 3)
    vectors = {longer: np.float32(centre / side), across: np.float32(0.5), step: np.float32(footprint / side)}
    other = r.V_GRADIENTS + (3 if along == "x" else 0)
    vectors[other] = np.float32(1 / side)
    found = both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.GRADIENTS)), texture, vectors).view(np.float32)[0]
    np.testing.assert_allclose(found, wanted, atol=0.02)


def test_cubes_are_seamless() -> None:
    n = 8
    # A smooth function of direction: faces meet without a step, so that a filtered read is close to it everywhere.
    rng = np.random.default_rng(5)
    faces = np.zeros((6, n, n, 4), np.float32)
    t, s = np.meshgrid((np.arange(n) + 0.5) / n * 2 - 1, (np.arange(n) + 0.5) / n * 2 - 1, indexing="ij")
    one = np.ones_like(s)
    directions = [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)]
    for face, xyz in enumerate(directions):
        v = np.stack(xyz, -1) / np.sqrt(sum(c * c for c in xyz))[..., None]
        faces[face, ..., :3] = v
    texture = Texture(faces, "cube", filter="linear", normalized=True)
    for _ in range(4):
        d = rng.normal(size=(3, 32))
        d[:, ::3] = np.sign(d[:, ::3]) * (1 + rng.uniform(-0.05, 0.05, d[:, ::3].shape))  # near edges and corners
        vectors = {r.V_X + i: d[i].astype(np.float32) for i in range(3)}
        got = both(r.SAMPLE, call_of("cube", lod=(Call.LOD, r.ZERO)), texture, vectors).view(np.float32)
        want = d / np.sqrt((d * d).sum(0))
        assert np.abs(got[:3] - want).max() < 0.03


def test_faces_of_cube_arrays() -> None:
    faces = np.arange(12, dtype=np.float32).reshape(12, 1, 1, 1) * np.ones((12, 4, 4, 1), np.float32)
    texture = Texture(faces, "cube_array", normalized=True)
    axes = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    d = np.array([axes[lane % 6] for lane in range(32)], np.float32).T + np.float32(0.125)
    layers = np.arange(32) // 6 % 2
    what = call_of("cube_array", lod=(Call.LOD, r.ZERO))
    vectors = {**{r.V_X + i: d[i] for i in range(3)}, r.V_LAYER: layers}
    got = both(r.SAMPLE, what, texture, vectors).view(np.float32)[0]
    np.testing.assert_array_equal(got, layers * 6 + np.arange(32) % 6)


def _linear(c: float) -> float:
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def test_srgb_is_made_linear_before_filtering() -> None:
    texels = np.array([[[0, 255, 100, 100], [255, 0, 200, 200]]], np.uint8)
    texture = Texture(texels, numbers="unorm", srgb=True, filter="linear", normalized=True)
    got = both(
        r.SAMPLE, call_of("2d", lod=(Call.LOD, r.ZERO)), texture, {r.V_X: np.float32(0.5), r.V_Y: np.float32(0.5)}
    )
    want = [(_linear(a / 255) + _linear(b / 255)) / 2 for a, b in zip(texels[0, 0][:3], texels[0, 1][:3], strict=True)]
    np.testing.assert_allclose(got.view(np.float32)[:, 0], [*want, 150 / 255], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32])
def test_integers_are_not_filtered(dtype: Any) -> None:
    texels = np.array([[[7, 100], [250 if dtype is np.uint8 else 30000, 3]]], dtype)
    texture = Texture(texels, filter="linear")
    vectors = {r.V_X: np.tile(np.array([0.9, 1.1], np.float32), 16), r.V_Y: np.float32(0.5)}
    got = both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.ZERO)), texture, vectors)
    assert got[:, 0].tolist() == [7, 100, 0, 1]
    assert got[:, 1].tolist() == [int(texels[0, 1, 0]), 3, 0, 1]


def test_gathers_take_four_texels_in_order() -> None:
    texels = np.arange(64, dtype=np.float32).reshape(4, 4, 4)
    texture = Texture(texels, address="clamp")
    vectors = {r.V_X: np.float32(2.0), r.V_Y: np.float32(1.0)}
    for component in range(4):
        got = both(r.GATHER, call_of("2d", component=(Call.COMPONENT, component)), texture, vectors).view(np.float32)
        want = [texels[y, x, component] for x, y in ((1, 1), (2, 1), (2, 0), (1, 0))]
        assert got[:, 0].tolist() == want
    packed = (1 & 63) | (-1 & 63) << 8
    what = call_of("2d", offsets=(Call.OFFSETS, r.BYTES))
    got = both(r.GATHER, what, texture, vectors | {r.V_OFFSETS: packed}).view(np.float32)
    assert got[:, 0].tolist() == [texels[y, x, 0] for x, y in ((2, 0), (3, 0), (3, 0), (2, 0))]
    # An offset for each texel moves the upper left one.
    each = [(0, 0), (1, 0), (-1, 1), (2, 2)]
    words = [sum((v & 63) << 8 * n for n, v in enumerate([*each[i], *each[i + 1]])) for i in (0, 2)]
    what = call_of("2d", offsets=(Call.OFFSETS, r.EACH))
    got = both(r.GATHER, what, texture, vectors | {r.V_OFFSETS: words[0], r.V_SAMPLE: words[1]}).view(np.float32)
    assert got[:, 0].tolist() == [texels[y, 1 + x, 0] for x, y in each]


def test_fetches_by_number_read_zero_outside() -> None:
    rng = np.random.default_rng(3)
    levels = levels_of(rng, "2d_array", 3, np.float32)
    texture = Texture(levels, "2d_array", normalized=True)
    x, y, layer, lod = (rng.integers(-2, 20, 32) for _ in range(4))
    layer, lod = layer % 3, np.abs(lod) % 4
    vectors = {r.V_X: x, r.V_Y: y, r.V_LAYER: layer, r.V_LOD: lod}
    got = both(r.FETCH, call_of("2d_array", lod=(Call.LOD, r.LEVEL)), texture, vectors).view(np.float32)
    for lane in range(32):
        inside = lod[lane] < 3
        level = levels[min(lod[lane], 2)]
        inside = inside and 0 <= x[lane] < level.shape[2] and 0 <= y[lane] < level.shape[1]
        want = level[layer[lane], y[lane], x[lane]] if inside else np.zeros(4)
        np.testing.assert_array_equal(got[:, lane], want)


def test_each_lane_can_have_another_texture_and_bad_handles_read_zero() -> None:
    textures = [Texture(np.full((2, 2), v, np.float32)) for v in (1.0, 2.0)]
    for evaluator in ("llvm", "numpy"):
        one: Bench = bench(evaluator)
        handles = [t.handle(one.device) for t in textures] + [0x123, 0xFFFFF]
        per_lane = [handles[lane % 4] for lane in range(32)]
        got = one.call(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.ZERO)), per_lane, {r.V_X: np.float32(0.5)})
        assert got[0].view(np.float32)[:4].tolist() == [1.0, 2.0, 0.0, 0.0]
        assert one.faults == 2
        assert one.device.textures.reason(0x123) and not one.device.textures.reason(handles[0])


def test_texels_are_read_anew_when_their_memory_changes() -> None:
    one = bench("llvm")
    texture = Texture(np.full((4, 4), 1.0, np.float32))
    handle = texture.handle(one.device)

    def read() -> float:
        return float(one.call(r.SAMPLE, call_of("2d"), handle, {r.V_X: np.float32(0.5)})[0].view(np.float32)[0])

    assert read() == 1.0
    decoded = one.device.textures.copies.decoded
    assert read() == 1.0
    assert one.device.textures.copies.decoded == decoded
    texture.arrays[0][:] = 2.0
    texture.upload(one.device)
    assert read() == 2.0
    # A header that says something else, and an address that means other memory.
    slots, memory = one.device.slots, one.device.memory
    at = slots.pools.headers + 32 * (handle & 0xFFFFF)
    before = memory.read(at, 32)
    memory.write(at, np.array(TIC["BL"].pack({"X_SOURCE": 7}, before), "<u4").tobytes())
    assert read() == 1.0
    memory.write(at, before)
    assert read() == 2.0
    covering = memory.map(texture.place(one.device).mapping.address, 4096)
    assert read() == 0.0
    memory.unmap(covering)
    assert read() == 2.0


def test_wrong_descriptions_are_told() -> None:
    array = np.zeros((4, 4), np.float32)
    for wrong in (
        {"kind": "4d"}, {"filter": "cubic"}, {"address": "nowhere"}, {"compare": "maybe"}, {"anisotropy": 3},
        {"format": "NONE"}, {"numbers": "text"},
    ):  # fmt: skip
        with pytest.raises(UsageError):
            Texture(array, **wrong)
    for bad in (np.zeros((4, 4, 5), np.float32), np.zeros(3, np.float32), np.zeros((0, 4), np.float32), []):
        with pytest.raises(UsageError):
            Texture(bad)
    with pytest.raises(UsageError):
        Surface(np.zeros((4, 4), np.complex64))
    with pytest.raises(UsageError):
        Texture([array, np.zeros((3, 3), np.float32)])


def test_usual_names() -> None:
    array = np.full((4, 4, 4), 51, np.uint8)
    texture = Texture(array, format="R8G8B8A8_UNORM", address=("repeat", "clamp_to_edge"))
    got = both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.ZERO)), texture, {r.V_X: np.float32(0.5)})
    np.testing.assert_allclose(got.view(np.float32), 0.2, rtol=1e-6)
    for wrong in ("R8G8B8_UNORM", "R16G16B16A16_UNORM", "R8G8B8A8_TEXT"):
        with pytest.raises(UsageError):
            Texture(array, format=wrong)


_KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "bytes": (np.uint8, {"numbers": "unorm"}), "srgb": (np.uint8, {"numbers": "unorm", "srgb": True}),
    "halves": (np.float16, {}), "floats": (np.float32, {}),
}  # fmt: skip


@pytest.mark.parametrize(
    "filters", [("nearest", "none"), ("linear", "none"), ("linear", "nearest"), ("linear", "linear")]
)
@pytest.mark.parametrize("kind", _KINDS)
def test_reads_inside_of_a_texture_and_beside_it(kind: str, filters: tuple[str, str]) -> None:
    """Lanes are read in parts, by quicker code where all texels of a part are inside: all mixtures have the same bits
    as the oracle's, which has other parts."""
    rng = np.random.default_rng([len(kind), len(filters[0]), len(filters[1])])
    dtype, more = _KINDS[kind]
    for size, address in ((64, "wrap"), (64, "mirror"), (48, "wrap"), (48, "clamp"), (64, "mirror_once")):
        shapes = [(max(1, size >> n), max(1, size >> n), 4) for n in range(4)]
        values = [rng.integers(0, 256, s) if dtype is np.uint8 else rng.normal(size=s) for s in shapes]
        levels = [v.astype(dtype) for v in values]
        if dtype is not np.uint8:
            levels[0][3, 5], levels[0][40, 9] = -0.0, np.inf
        texture = Texture(levels, filter=filters[0], mip_filter=filters[1], address=address, normalized=True, **more)
        lane = np.arange(32)
        x, y = (lane & 1) + (lane >> 2 & 3) * 2, (lane >> 1 & 1) + (lane >> 4) * 2
        for _ in range(8):
            step, left = rng.choice((0.7, 1.0, 1.9, 3.1)), rng.choice((3.2, size - 4.5, -2.0, 5 * size + 7.3))
            at = {
                r.V_X: ((x * step + left) / size).astype(np.float32),
                r.V_Y: ((y * step + 9.4) / size).astype(np.float32),
            }
            mask = int(rng.choice((-1, 0x00FF33CC, 0x0000F000)))
            off = (mask >> lane & 1) == 0  # lanes that do not read may be anywhere
            at[r.V_X][off], at[r.V_Y][off] = rng.choice((1e30, -7e5, np.nan, 3e9)), rng.choice((-1e30, 9e4))
            both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.AUTO)), texture, at, mask=mask, quads=True)


def test_a_coordinate_that_a_target_lacks_does_not_count() -> None:
    """An earlier call for a volume or a cube leaves its third coordinate."""
    levels = [np.full((16 >> n, 16 >> n, 4), float(n), np.float32) for n in range(5)]
    texture = Texture(levels, filter="linear", mip_filter="linear", address="wrap", normalized=True)
    lane = np.arange(32)
    vectors = {r.V_X: (lane & 1) / 16, r.V_Y: (lane >> 1 & 1) / 16}
    what = call_of("2d", lod=(Call.LOD, r.AUTO))
    wanted = both(r.SAMPLE, what, texture, vectors, quads=True)
    found = both(r.SAMPLE, what, texture, vectors | {r.V_Z: (lane & 3) * 0.5}, quads=True)
    np.testing.assert_array_equal(found, wanted)
    assert (found.view(np.float32)[0] == 0).all()


def test_lanes_without_a_filter_have_their_texel() -> None:
    """Also where a filter between texels is for other lanes: a negative zero keeps its sign."""
    levels = [np.full((8, 8, 1), -0.0, np.float32), np.full((4, 4, 1), 1.0, np.float32)]
    texture = Texture(levels, filter="nearest", mip_filter="none", normalized=True)
    vectors = {r.V_X: np.float32(0.3), r.V_Y: np.float32(0.3), r.V_LOD: np.arange(32) / 8 - 1}
    got = both(r.SAMPLE, call_of("2d", lod=(Call.LOD, r.LEVEL)), texture, vectors)
    assert (got[0] == np.int32(-(1 << 31))).all()
