"""Gas: its registers, table and triggers are documented; its arithmetic is a guess, held only to what it says itself.

Sources: 3dbrew GPU/Internal Registers (GPUREG_GAS_*); a driver library for the form of the table.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.pica import PICA
from pocketgpu.pica.core.layout import BANK_INDEX, BANKS

TEXTURE0 = 3
SHADE = 7
NEVER, ALWAYS, GREATER, LESS = range(4)
DENSITY = {"gas__hypothesis": "density"}


def f16(value: float) -> int:
    return int(struct.unpack("<H", struct.pack("<e", value))[0])


def table(gpu: Any) -> np.ndarray:
    return gpu.n3ds.bank("gas_lut")  # type: ignore[no-any-return]


# -- registers and table ----------------------------------------------------------------------------------------------


def test_table_has_sixteen_words_behind_one_port(gpu: Any) -> None:
    assert BANKS[BANK_INDEX["gas_lut"]].words == 16
    gpu.set(GAS_LUT_INDEX=0)
    gpu.write("GAS_LUT_DATA", *range(100, 116))
    gpu.run()
    assert table(gpu).tolist() == list(range(100, 116))


def test_table_index_moves_on_and_wraps(gpu: Any) -> None:
    gpu.set(GAS_LUT_INDEX=15)
    gpu.write("GAS_LUT_DATA", 7, 8)
    gpu.run()
    assert (table(gpu)[15], table(gpu)[0]) == (7, 8)
    assert gpu.peek("GAS_LUT_INDEX") & 15 == 1


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("GAS_ATTENUATION", 0xE4), ("GAS_ACCMAX", 0xE5), ("GAS_LIGHT_XY", 0x120), ("GAS_LIGHT_Z", 0x121),
        ("GAS_LIGHT_Z_COLOR", 0x122), ("GAS_LUT_INDEX", 0x123), ("GAS_LUT_DATA", 0x124),
        ("GAS_ACCMAX_FEEDBACK", 0x125), ("GAS_DELTAZ_DEPTH", 0x126),
    ],
)  # fmt: skip
def test_registers_store_what_is_written(gpu: Any, name: str, number: int) -> None:
    assert PICA[name].offset == number
    if name not in ("GAS_LUT_INDEX", "GAS_LUT_DATA"):
        gpu.write(name, 0x01A55A81)
        gpu.run()
        assert gpu.peek(0x10401000 + 4 * number) == 0x01A55A81


# -- the default ------------------------------------------------------------------------------------------------------


def test_shaded_gas_is_transparent_black_and_reported(gpu: Any) -> None:
    gpu.put_color(np.full((16, 16), 0x11223344, np.uint32))
    gpu.set(TEXENV_UPDATE_BUFFER=SHADE)
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0).all()
    assert gpu.ids == {"pica.gas"}


def test_accumulated_gas_leaves_the_buffer_and_is_reported(gpu: Any) -> None:
    gpu.put_color(np.full((16, 16), 0x11223344, np.uint32))
    gpu.set(COLOR_OPERATION=0x00E40001)
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0x11223344).all()
    assert gpu.ids == {"pica.gas"}


# -- the guess --------------------------------------------------------------------------------------------------------


def both(make_gpu: Callable[..., Any], scene: Callable[[Any], None]) -> Any:
    """A scene under both evaluators with the guess; they must agree."""
    machines = []
    for evaluator in ("llvm", "numpy"):
        gpu = make_gpu(evaluator=evaluator, **DENSITY)
        scene(gpu)
        gpu.run()
        assert gpu.ids == {"pica.gas"}
        machines.append(gpu)
    np.testing.assert_array_equal(machines[0].color_words(), machines[1].color_words())
    return machines[0]


def accumulate(gpu: Any, kind: int = ALWAYS, delta: int = 256) -> None:
    gpu.set(COLOR_OPERATION=0x00E40001, GAS_DELTAZ_DEPTH=delta | kind << 24)


def test_densities_add_up_and_stop(make_gpu: Callable[..., Any]) -> None:
    def scene(gpu: Any) -> None:
        words = np.full((16, 16), 0x00050003, np.uint32)
        words[0] = 0xFFFFFFF0
        gpu.put_color(words)
        accumulate(gpu)
        for red in (100, 20):
            gpu.quad(color=(red / 255, 1, 1, 1))

    words = both(make_gpu, scene).color_words()
    assert (words[1:] == (120 + 5) << 16 | 120 + 3).all()
    assert (words[0] == 0xFFFFFFFF).all()


@pytest.mark.parametrize(
    ("kind", "stored", "expected"),
    [(NEVER, 0.25, 0), (ALWAYS, 0.25, 200), (GREATER, 0.25, 100), (GREATER, 0.75, 0), (LESS, 0.75, 100)],
)
def test_depth_density_grows_with_the_distance(
    make_gpu: Callable[..., Any], kind: int, stored: float, expected: int
) -> None:
    def scene(gpu: Any) -> None:
        gpu.put_depth(np.full((16, 16), int(stored * 0xFFFFFF), np.uint32))
        accumulate(gpu, kind, 512)
        gpu.set(DEPTH_COLOR_MASK=1 | 3 << 4)  # the depth test, with "not equal"
        gpu.quad(z=-0.5, color=(200 / 255, 0, 0, 1))

    words = both(make_gpu, scene).color_words()
    assert (words & 0xFFFF == 200).all()
    assert np.abs((words >> 16).astype(int) - expected).max() <= 1


def shade(gpu: Any, density: int, depth_density: int = 0, choice: int = 0, lut_input: int = 0) -> None:
    """Show gas of given sums, with a table from dark red to full blue."""
    gpu.texture(0, np.full((8, 8), depth_density << 16 | density, np.uint32))
    gpu.set(
        TEXUNIT_CONFIG=1, TEXUNIT0_TYPE=0, TEXENV_UPDATE_BUFFER=SHADE | choice << 3, GAS_ACCMAX=f16(1 / 1024),
        GAS_ATTENUATION=f16(1.0), GAS_LIGHT_Z_COLOR=lut_input << 8, GAS_LUT_INDEX=0,
    )  # fmt: skip
    # Differences in 1/127, sign in the top bit; then colours.
    steps = [0x80 | 8 | 16 << 16] * 8
    gpu.write("GAS_LUT_DATA", *steps, *[128 - 16 * i | 32 * i << 16 for i in range(8)])
    gpu.quad()


def test_colours_follow_density(make_gpu: Callable[..., Any]) -> None:
    found = [both(make_gpu, lambda gpu, d=d: shade(gpu, d)).pixels()[0, 0] for d in (0, 64, 512, 2000)]
    expected = [(128, 0, 0, 0), (120, 0, 16, 15), (64, 0, 128, 127), (0, 0, 255, 255)]
    assert np.abs(np.array(found) - expected).max() <= 1


def gas_color(density: int, words: list[int], f: dict[str, float], by_light: bool) -> list[float]:
    """The colour of a sum, as the guess describes it; table: eight differences, eight colours."""
    x = min(density * f["accmax"], 1.0)

    def brightness(part: str) -> float:
        low, high, attenuation = (f[f"{part}.{name}"] for name in ("minimum", "maximum", "attenuation"))
        return high + (low - high) * min(x * attenuation, 1.0)

    light = brightness("xy") + brightness("z") * f["direction"]
    position = 8 * (min(max(light, 0.0), 1.0) if by_light else x)
    entry = min(int(position), 7)
    channels = []
    for shift in (0, 8, 16):
        change, start = words[entry] >> shift & 0xFF, words[8 + entry] >> shift & 0xFF
        slope = (change & 0x7F) / 127 * 255 * (-1 if change & 0x80 else 1)
        channels.append(min(max(start + (position - entry) * slope, 0.0), 255.0))
    return [*channels, min(x * f["attenuation"], 1.0) * 255]


@pytest.mark.parametrize("by_light", [False, True])
def test_colours_are_those_of_the_guess(make_gpu: Callable[..., Any], rng: Any, by_light: bool) -> None:
    """Any sums, tables and lights against plain numbers."""
    for _ in range(4):
        gpu = make_gpu(**DENSITY)
        densities = np.append(0, np.sort(rng.integers(0, 3000, 255))).reshape(16, 16)
        lights = [{name: int(rng.integers(256)) for name in ("minimum", "maximum", "attenuation")} for _ in range(2)]
        direction, words = int(rng.integers(256)), rng.integers(0, 1 << 24, 16).tolist()
        gpu.texture(0, densities.astype(np.uint32))
        gpu.set(
            TEXUNIT_CONFIG=1, TEXUNIT0_TYPE=0, TEXENV_UPDATE_BUFFER=SHADE, GAS_ACCMAX=f16(1 / 2048),
            GAS_ATTENUATION=f16(1.5), GAS_LIGHT_XY=lights[0], GAS_LIGHT_Z=lights[1],
            GAS_LIGHT_Z_COLOR=by_light << 8 | direction, GAS_LUT_INDEX=0,
        )  # fmt: skip
        gpu.write("GAS_LUT_DATA", *words)
        gpu.span(0, 1, 0, 1)
        gpu.run()
        f = {"accmax": 1 / 2048, "attenuation": 1.5, "direction": direction / 255}
        for name, light in zip(("xy", "z"), lights, strict=True):
            f |= {f"{name}.{part}": value / 255 for part, value in light.items()}
        got = gpu.pixels().reshape(-1, 4)
        expected = np.array([gas_color(int(d), words, f, by_light) for d in densities.ravel()])
        assert (np.abs(got - np.floor(expected)) <= 1).all()


def test_either_sum_can_be_shown(make_gpu: Callable[..., Any]) -> None:
    found = [both(make_gpu, lambda gpu, c=c: shade(gpu, 0, 512, c)).pixels()[0, 0, 3] for c in (0, 1)]
    assert found == [0, 127]


def test_table_can_be_looked_up_by_light(make_gpu: Callable[..., Any]) -> None:
    def scene(gpu: Any) -> None:
        gpu.set(GAS_LIGHT_XY=128 | 128 << 8, GAS_LIGHT_Z=0)
        shade(gpu, 1024, lut_input=1)

    pixel = both(make_gpu, scene).pixels()[0, 0]
    assert pixel[3] == 255 and abs(pixel[2] - 128) <= 1
