"""Scenes of the 3DS outside of its 3D core: fills, transfers, displays, the system software, and kernels.

Each scene runs once with each value of its choice. All that a value makes of it differs from what every other makes,
and a table says what each value has to give, so that values cannot be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.choices import CHOICES, guests, outside_core
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.probe import NO_SCENE, SCENES, Observation, observe, scene_of
from pocketgpu.probe.scenes.n3ds.canvas import BACKGROUND, BLACK, BLUE, DARK, LEFT, LIGHT, ORANGE, RIGHT

OURS = [choice.name for choice in outside_core.choices()]
WITH_SCENE = [name for name in OURS if name in SCENES]
Sees = Callable[[Observation], Any]
GREEN, WHITE = (0x20, 0xF0, 0x20), (255, 255, 255)


@cache
def seen(choice: str, value: str) -> Observation:
    scene = scene_of(choice)
    assert scene is not None
    return observe(scene.made, {choice: value})


# -- which ones --------------------------------------------------------------------------------------------------------
def test_every_choice_has_a_scene_or_a_reason() -> None:
    names = {*OURS, *(choice.name for choice in guests.choices())}
    assert {name for name in names if name not in SCENES} == {name for name in names if name in NO_SCENE}
    assert [name for name in OURS if name in NO_SCENE] == ["gsp.swap_clients", "gsp.relay_limit", "gsp.read_size"]
    for name in names & NO_SCENE.keys():
        reason, _, command = NO_SCENE[name].partition("pocketgpu run PROGRAM --set ")
        shown, _, value = command.partition("=")
        assert reason.startswith("It is about") and shown == name and value in CHOICES[name].alternatives


# -- what differs ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("choice", WITH_SCENE)
def test_values_are_told_apart(choice: str) -> None:
    scene = SCENES[choice]
    watch = scene.made.watch
    for one, other in combinations(CHOICES[choice].values, 2):
        parts = seen(choice, one).differences(seen(choice, other))
        pictures = [part for part in parts if part.startswith("picture")]
        assert bool(pictures) == watch.pictures, (one, other)
        assert (len(parts) == len(pictures)) == watch.by_eye, (one, other)
    for value in CHOICES[choice].values:
        assert f"({value})" in scene.doc


def right(observed: Observation, screen: str = "top") -> tuple[int, ...]:
    """The colour in the middle of the right band."""
    return tuple(observed.pictures[screen][RIGHT.middle].tolist())


def at(column: int, row: int = 120, screen: str = "top") -> Sees:
    return lambda observed: tuple(observed.pictures[screen][row, column].tolist())


def stripes(observed: Observation) -> int:
    """How many there are across the right band."""
    row = observed.pictures["top"][120, RIGHT.left - 1 : RIGHT.right + 1]
    orange = (row == ORANGE[:3]).all(axis=1)
    return int((orange[1:] & ~orange[:-1]).sum())


def field(register: str, name: str) -> Sees:
    block = PICA if register in PICA else EXTERNAL
    return lambda observed: block[register][name].raw(observed.registers[block[register].address])


def told(unit: str) -> Sees:
    return lambda observed: observed.interrupts.get(unit, 0)


def both(*parts: Sees) -> Sees:
    return lambda observed: tuple(part(observed) for part in parts)


def rgb(*colors: tuple[int, ...]) -> Any:
    return colors[0][:3] if len(colors) == 1 else tuple(color[:3] for color in colors)


GREY, LIGHT_GREY = (DARK[0],) * 3, (LIGHT[0],) * 3
EXPECTED: dict[str, tuple[Sees, dict[str, Any]]] = {
    "fill.tail_24": (right, {"stop": GREY, "whole-groups": LIGHT_GREY}),
    "fill.null_start": (field("PSC0_CONTROL", "finished"), {"finish": 1, "ignore": 0}),
    "external.status": (
        both(field("STATUS", "psc0"), field("STATUS", "psc1"), field("PSC0_CONTROL", "start")),
        {"interrupt": (0, 0, 1), "busy": (1, 0, 1), "busy-exchanged": (0, 1, 1)},
    ),
    "external.hardware_id": (field("HARDWARE_ID", "new_model"), {"model": 1, "constant": 0}),
    "external.core_reads": (field("CMDBUF_JUMP0", "value"), {"stall": 0, "at-once": 1}),
    "vram.power_off": (both(at(100), at(300)), {"lose": rgb(BLUE, BLACK), "keep": rgb(BLUE, ORANGE)}),
    # The first light part begins where a tile of the second line of tiles is.
    "transfer.uncropped_stride": (at(RIGHT.left + 8, 239), {"output": rgb(LIGHT), "input": rgb(ORANGE)}),
    "transfer.no_tiling": (
        both(at(RIGHT.left + 40, 160), at(RIGHT.right - 40, 160)),
        {"tiled": rgb(ORANGE, BLUE), "raw": rgb(BLUE, ORANGE)},
    ),
    "transfer.both_tiling_flags": (
        both(right, told("PPF")), {"linear": (rgb(ORANGE), 1), "hang": (rgb(BACKGROUND), 0)}
    ),
    "transfer.flip_crop": (
        both(at(LEFT.right + 4), at(LEFT.right + 84)),
        {"skew": rgb(BACKGROUND, ORANGE), "plain": rgb(ORANGE, BACKGROUND)},
    ),
    "transfer.zero_size": (told("PPF"), {"finish": 1, "ignore": 0}),
    "transfer.contract": (right, {"shift": rgb(BLACK), "scale": WHITE}),
    "transfer.odd_formats": (
        both(right, told("PPF")), {"convert": (rgb(ORANGE), 1), "hang": (rgb(BACKGROUND), 0)}
    ),
    # After four transfers that hang the program goes no further, so nothing is shown.
    "transfer.small": (both(right, told("PPF")), {"convert": ((255, 153, 34), 30), "hang": ((0, 0, 0), 0)}),
    "transfer.average_bits": (right, {"8": WHITE, "native": rgb(BLACK)}),
    "transfer.linear_scale": (right, {"neighbours": rgb(DARK), "as-tiled": rgb(BLACK), "refuse": rgb(BLUE)}),
    "transfer.block32": (
        both(at(RIGHT.left + 20, 60), at(RIGHT.left + 20, 100)),
        {"morton": rgb(ORANGE, BLUE), "tiles": rgb(ORANGE, ORANGE)},
    ),
    "texture_copy.units": (stripes, {"16-byte": 4, "byte": 64}),
    "texture_copy.zero_width": (
        both(right, told("PPF")), {"hang": (rgb(BACKGROUND), 0), "no-gap": (rgb(ORANGE), 1)}
    ),
    "display.expand": (right, {"replicate": rgb(ORANGE), "scale": rgb(BLUE)}),
    "display.formats_5_7": (right, {"rgba4": (0x22, 0, 0xFF), "doubled": GREEN}),
    "display.latch": (
        both(at(100), at(300), field("PDC0_SELECT", "current")),
        {"position": (*rgb(BLUE, ORANGE), 1), "vblank": (*rgb(BLUE, BLUE), 0)},
    ),
    "display.select_read": (
        both(right, field("PDC0_SELECT", "next")), {"stored": (rgb(ORANGE), 1), "zero": (rgb(BLUE), 0)}
    ),
    "display.sync_bits": (
        both(right, field("PDC0_POLARITY", "v4")), {"polarity": (rgb(ORANGE), 1), "disable": (rgb(BLUE), 0)}
    ),
    "display.vstart": (
        both(at(100), at(120)),
        {"window": rgb(BLUE, BLUE), "wiki": rgb(BACKGROUND, ORANGE)},
    ),
    "display.interleave": (
        both(at(100), at(300), at(300, screen="top-right")),
        {"halves": rgb(BLUE, BLUE, BLUE), "skip": rgb(BLUE, ORANGE, ORANGE)},
    ),
    "display.dma_size_3": (
        both(at(100), at(100, screen="bottom")),
        {"show": rgb(BLUE, ORANGE), "black": rgb(BLUE, BLACK), "always-black": rgb(BLACK, BLACK)},
    ),
    "display.stride_unit": (
        both(field("PDC0_STRIDE", "stride"), at(350, 60)), {"16": (960, rgb(BLUE)), "8": (968, rgb(BLUE))}
    ),
    "gsp.alignment": (
        both(right, told("PSC0")), {"check": (rgb(BACKGROUND), 2), "ignore": (rgb(ORANGE), 3)}
    ),
    "gsp.untranslatable": (
        both(right, told("PSC1")), {"refuse": (rgb(BACKGROUND), 0), "zero": (rgb(ORANGE), 1)}
    ),
    "gsp.double_fill": (both(told("PSC0"), told("PSC1")), {"both": (3, 1), "first": (3, 0)}),
    "gsp.swap_time": (right, {"vblank": rgb(ORANGE), "transfer": rgb(BLUE)}),
}


@pytest.mark.parametrize("choice", WITH_SCENE)
def test_each_value_does_what_it_says(choice: str) -> None:
    sees, values = EXPECTED[choice]
    found = {value: sees(seen(choice, value)) for value in CHOICES[choice].values}
    assert found == values
    results = list(values.values())
    assert all(one != other for one, other in combinations(results, 2))


# -- how they are made -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("choice", WITH_SCENE)
def test_scenes_are_small_and_show_what_never_changes(choice: str) -> None:
    scene = SCENES[choice]
    assert len(scene.made.data) < 1 << 18
    assert "  " not in scene.doc and len(scene.doc) < 400
    if scene.made.watch.pictures:
        assert all(observed.pictures["top"].shape == (240, 400, 3) for observed in map_values(choice))


def map_values(choice: str) -> list[Observation]:
    return [seen(choice, value) for value in CHOICES[choice].values]


@pytest.mark.parametrize("choice", ["gsp.alignment", "transfer.block32", "display.expand"])
def test_both_evaluators_see_the_same(choice: str) -> None:
    scene, value = SCENES[choice], CHOICES[choice].alternatives[0]
    observed = observe(scene.made, {choice: value}, "numpy")
    assert observed.differences(seen(choice, value)) == ()
    assert observed.interrupts == seen(choice, value).interrupts


def test_scenes_depend_on_no_other_choice() -> None:
    """A sample: what a scene leaves does not change with choices of other units, as far as they do not end it."""
    others = {"transfer.contract": "scale", "display.dma_size_3": "black", "fill.tail_24": "whole-groups"}
    for choice in ("transfer.no_tiling", "gsp.untranslatable", "texture_copy.units"):
        default = CHOICES[choice].default
        changed = observe(SCENES[choice].made, {**others, choice: default})
        assert changed.differences(seen(choice, default)) == ()
        assert np.array_equal(changed.pictures["top"], seen(choice, default).pictures["top"])
