"""Scenes of the 3DS's 3D core: the values of each choice can be told apart, in the picture and in memory, and what is
looked at has the colour that the scene's text says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from pocketgpu.builder import capture
from pocketgpu.capture.formats.n3ds_trace import InitialState
from pocketgpu.facts.choices import CHOICES, core
from pocketgpu.facts.pica import PICA
from pocketgpu.probe import NO_SCENE, SCENES, Observation, Scene, observe, scene_of
from pocketgpu.probe.scenes.n3ds.canvas import (
    BACKGROUND,
    BLACK,
    BLUE,
    DARK,
    LEFT,
    LIGHT,
    ORANGE,
    RIGHT,
    Box,
    Color,
    grid,
    row,
)

WHITE = (255, 255, 255, 255)
NAMES = [choice.name for choice in core.choices()]
Seen = list[tuple[Box, Color]]
CASES: dict[str, dict[str, Seen]] = {}


def case(name: str, *values: Seen) -> None:
    """The colours of some boxes for each value of a choice, the default first."""
    CASES[name] = dict(zip(CHOICES[name].values, values, strict=True))


def right(name: str, left: Color, *colors: Color) -> None:
    """A choice whose values only differ in the right square; the left one never changes."""
    case(name, *([(LEFT, left), (RIGHT, color)] for color in colors))


right("list.high_ids", BLUE, BLUE, ORANGE)
right("list.private_ids", BLUE, BLUE, ORANGE)
right("list.fifo_mask", ORANGE, ORANGE, BLUE)
right("list.jump_value", DARK, ORANGE, BLUE)
right("draw.trigger_value", ORANGE, ORANGE, DARK)
right("vertex.alignment", ORANGE, ORANGE, LIGHT, BLUE)
right("vertex.repeated_attribute", ORANGE, ORANGE, BLUE)
right("vertex.fixed_and_loaded", ORANGE, ORANGE, BLUE)
right("vertex.immediate_inputs", ORANGE, BLUE, ORANGE)
right("shader.precision", ORANGE, ORANGE, BLUE)
right("shader.reciprocal_zero", ORANGE, ORANGE, BLUE)
right("shader.max_infinity", ORANGE, ORANGE, BLUE)
right("shader.litp_nan", ORANGE, ORANGE, BLUE)
right("shader.nested_loop_counter", ORANGE, ORANGE, BLUE)
right("shader.loop_ends", ORANGE, LIGHT, ORANGE)
right("shader.stacks", ORANGE, BLUE, ORANGE)
right("shader.end", BLUE, BLUE, ORANGE)
right("geometry.bool15", BLUE, ORANGE, BLUE)
right("geometry.winding", ORANGE, ORANGE, BLUE)
right("geometry.output_banks", ORANGE, ORANGE, BLUE)
right("geometry.emit_buffers", ORANGE, ORANGE, DARK)
right("clip.depth_range", ORANGE, DARK, ORANGE)
right("depth.bits", ORANGE, BLUE, ORANGE)
right("texture.levels", BLUE, ORANGE, BLUE)
right("texture.expand", ORANGE, ORANGE, BLUE)
right("texture.null_address", ORANGE, ORANGE, BLUE)
right("texture.nearest", BLUE, ORANGE, BLUE)
right("texture.shadow_equal", ORANGE, ORANGE, BLUE)
right("texture.shadow_bias", ORANGE, ORANGE, BLUE)
right("lighting.off_bits", ORANGE, BLUE, ORANGE)
right("lighting.fresnel", ORANGE, BLUE, ORANGE)
right("lighting.color_bits", ORANGE, ORANGE, BLUE)
right("combiner.arithmetic", ORANGE, BLUE, ORANGE)
right("combiner.vertex_color", ORANGE, ORANGE, BLUE)
right("combiner.add_signed", ORANGE, BLUE, ORANGE)
right("combiner.add_multiply", ORANGE, BLUE, ORANGE)
right("combiner.scale_3", DARK, DARK, WHITE)
right("combiner.first_buffer", ORANGE, BLACK, ORANGE)
right("combiner.buffer_delay", ORANGE, BLUE, ORANGE)
right("fog.arithmetic", ORANGE, BLUE, ORANGE)
right("test.order", ORANGE, DARK, ORANGE)
right("test.stencil_write", ORANGE, ORANGE, DARK)
right("test.untested_depth_write", BLUE, BLUE, ORANGE)
right("blend.min_max", BLACK, BLACK, BLUE)
right("blend.factor_15", ORANGE, ORANGE, (245, 88, 4, 255))

ENDED = {"masked-bytes": "1010", "any-byte": "1011", "convention": "1000", "any-value": "1111", "end-of-list": "0000"}
case("list.end_match", *(
    [(box, BLUE if ended == "1" else ORANGE) for box, ended in zip(row(4), ENDED[value], strict=True)]
    for value in CHOICES["list.end_match"].values
))  # fmt: skip
case("vertex.fixed_index", [(LEFT, BLUE), (RIGHT, ORANGE)], [(LEFT, ORANGE), (RIGHT, LIGHT)])
UPPER_RIGHT = RIGHT.part(1, 2, 0, 2)
LOWER_LEFT = RIGHT.part(0, 2, 1, 2)
case(
    "vertex.immediate_strip",
    [(UPPER_RIGHT, ORANGE), (LOWER_LEFT, ORANGE)],
    [(UPPER_RIGHT, BACKGROUND), (LOWER_LEFT, ORANGE)],
)
case("viewport.offset_sign", [(LEFT, ORANGE), (RIGHT, DARK)], [(LEFT, DARK), (RIGHT, ORANGE)])
case("raster.cull_0_3", *(
    [one for front, back in grid(2, 2) for one in ((front, BLUE), (back, color))] for color in (ORANGE, DARK)
))  # fmt: skip
case("test.stencil_operands", [(LEFT, BLUE), (RIGHT, DARK)], [(LEFT, DARK), (RIGHT, BLUE)])
FOUR = [(LEFT.part(n % 2, 2, n // 2, 2), color) for n, color in enumerate((WHITE, ORANGE, BLACK, BLUE))]
case("combiner.first_previous", *([*FOUR, (RIGHT, color)] for color in (WHITE, ORANGE, BLACK, BLUE)))
case("gas.hypothesis", [(RIGHT, BLACK)], [(RIGHT, (218, 144, 58, 255)), (RIGHT.part(0, 10), (94, 122, 163, 255))])
# Strips of the texture's columns are four for each copy; rows are wrap codes 4 to 7.
STRIP = [[Box(20 + 30 * x, 60 * y + 8, 50 + 30 * x, 60 * y + 52) for x in range(12)] for y in range(4)]
HUES = {"b": BLUE, "d": DARK, "k": BLACK, "o": ORANGE, "w": LIGHT}
OWN = ("bdkobdkooooo", "bdkobdkowwww", "bdkobdkobdko", "bdkobdkobdko")
AS_0_3 = ("bbbbbdkooooo", "wwwwbdkowwww", "bdkobdkobdko", "okdbbdkookdb")
case("texture.wrap_4_7", *(
    [(STRIP[y][x], HUES[hue]) for y, text in enumerate(rows) for x, hue in enumerate(text)] for rows in (OWN, AS_0_3)
))  # fmt: skip


def pixel(square: Box, column: int, row: int) -> Box:
    """A pixel of a square."""
    x, y = square.left + column, square.top + row
    return Box(x, y, x + 1, y + 1)


# Where four fields of the chequered texture meet (20 pixels are a texel), and where half of the shadow map ends.
CORNERS = [pixel(square, 40, 40) for square in (LEFT, RIGHT)]
MIXED = (141, 131, 124, 255)
case("texture.filter", *(
    [*zip(CORNERS, colors, strict=True)] for colors in ((BLUE, MIXED), (BLUE, BLUE), (MIXED, MIXED))
))  # fmt: skip
case("texture.shadow_filter", *([(pixel(RIGHT, 79, 80), color)] for color in (ORANGE, (143, 131, 121, 255))))
# Entries of the table are 40 pixels wide; the nearest one is that of 255/256 of the place.
case(
    "lighting.lut",
    [(pixel(RIGHT, 0, 80), (3, 1, 0, 255)), (pixel(RIGHT, 40, 80), (246, 148, 31, 255))],
    [(pixel(RIGHT, 0, 80), ORANGE), (pixel(RIGHT, 40, 80), BLACK)],
)


@cache
def seen(name: str) -> Mapping[str, Observation]:
    """What each value of a choice leaves."""
    scene = SCENES[name]
    return {value: observe(scene.made, {name: value}) for value in CHOICES[name].values}


def at(picture: np.ndarray, box: Box) -> tuple[int, ...]:
    return tuple(int(channel) for channel in picture[box.middle])


def test_every_choice_of_the_core_has_a_scene_or_a_reason() -> None:
    assert not [name for name in NAMES if scene_of(name) is None and not NO_SCENE.get(name)]
    assert not [name for name in NAMES if scene_of(name) is not None and name in NO_SCENE]
    assert set(CASES) == {name for name in NAMES if scene_of(name) is not None}


@pytest.mark.parametrize("name", CASES)
def test_values_can_be_told_apart(name: str) -> None:
    observations = seen(name)
    values = list(observations)
    for i, value in enumerate(values):
        for other in values[i + 1 :]:
            found = observations[value].differences(observations[other])
            assert "picture top" in found and any(part.startswith("memory") for part in found), (value, other)


@pytest.mark.parametrize("name", CASES)
def test_colours_are_those_of_the_text(name: str) -> None:
    for value, boxes in CASES[name].items():
        picture = seen(name)[value].pictures["top"]
        assert [at(picture, box) for box, _ in boxes] == [color[:3] for _, color in boxes], value


@pytest.mark.parametrize("name", CASES)
def test_expected_colours_tell_the_values_apart(name: str) -> None:
    """Otherwise two values could be exchanged."""
    pictures = {value: seen(name)[value].pictures["top"] for value in CASES[name]}
    for value, boxes in CASES[name].items():
        for other, picture in pictures.items():
            assert other == value or any(at(picture, box) != color[:3] for box, color in boxes), (value, other)


@pytest.mark.parametrize("name", CASES)
def test_the_text_names_every_value(name: str) -> None:
    for value in CHOICES[name].values:
        assert f"({value})" in SCENES[name].doc, value


# -- what a scene may rely on ------------------------------------------------------------------------------------------
FIRST_OF_LISTS = PICA["FACECULLING_CONFIG"].offset


def left_by_others(flipped: int) -> InitialState:
    """The start state after a program that has left any numbers in the registers that a list can write, in the uniforms
    and in the memories of both shader units. flipped: the bits of registers to invert."""
    random = np.random.default_rng(1)
    start = capture.start_state()
    pica = start.pica.copy()
    for register in PICA:
        held = register.access == "rw" and register.known and not register.trigger
        if held and FIRST_OF_LISTS <= register.offset < len(pica):
            pica[register.offset] = (random.integers(0, 1 << 32) ^ flipped) & register.writable
    banks = ("default_attributes", "vs_code", "vs_opdescs", "vs_uniforms", "gs_code", "gs_opdescs", "gs_uniforms")
    sizes = {name: np.size(getattr(start, name)) for name in banks}
    numbers = {name: random.integers(0, 1 << (24 if "code" not in name else 32), sizes[name]) for name in banks}
    return InitialState.of(external=start.external, lcd=start.lcd, pica=pica, **numbers)


@pytest.mark.parametrize("flipped", [0, 0xFFFFFFFF])
@pytest.mark.parametrize("name", CASES)
def test_what_other_programs_left_changes_nothing(name: str, flipped: int, monkeypatch: pytest.MonkeyPatch) -> None:
    state = left_by_others(flipped)
    monkeypatch.setattr(capture, "start_state", lambda: state)
    made = Scene.made.func(SCENES[name])  # type: ignore[attr-defined]  # made again
    assert not observe(made, {}).differences(seen(name)[CHOICES[name].default])


@pytest.mark.parametrize("name", ["list.high_ids", "shader.precision", "texture.expand"])
def test_numpy_gives_the_same(name: str) -> None:
    """A small sample, since the other evaluator takes seconds for a picture."""
    value = CHOICES[name].alternatives[0]
    assert not observe(SCENES[name].made, {name: value}, "numpy").differences(seen(name)[value])
