"""Scenes of the Switch's choices: each value makes another picture, the one that the scene's text says."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pocketgpu import capture
from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.capture.driver.switch import SCREEN
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.facts.maxwell import pushbuffers
from pocketgpu.probe import NO_SCENE, SCENES, Observation, observe
from pocketgpu.probe.scenes.switch.canvas import BLUE, CLASSES, DARK, LEFT, ORANGE, RIGHT, Color, Rectangle, SceneCanvas

BLACK = (0, 0, 0)
FAR_ORANGE, FAR_BLUE = (255, 153, 0), (0, 153, 255)
YELLOW, DEEP_BLUE = (236, 236, 48), (24, 32, 224)
HERE = "here"
"""In the middle of a square."""
PLACES = {
    HERE: (0.5, 0.5), "left": (0.25, 0.5), "right": (0.75, 0.5), "upper": (0.5, 0.25), "lower": (0.5, 0.75),
    "corner": (0.2, 0.2), "end": (0.99, 0.99), "beyond": (1.03, 0.5), "below": (0.5, 1.05),
    "bar": (0.5, 1.12),
}  # fmt: skip
"""Places in a square, as parts of its width and height."""

Look = dict[str, tuple[Color, Color]]
"""Colours of the left and the right square, by place."""
EXPECTED: dict[str, dict[str, Look]] = {
    "channel.deadlock": {"continue": {HERE: (ORANGE, ORANGE)}, "stop": {HERE: (ORANGE, DARK)}},
    "channel.unbound": {"convention": {HERE: (ORANGE, ORANGE)}, "ignore": {HERE: (ORANGE, BLACK)}},
    "channel.acquire_geq": {"circular": {HERE: (ORANGE, ORANGE)}, "unsigned": {HERE: (ORANGE, BLUE)}},
    "channel.syncpoint_index": {"8-bits": {HERE: (ORANGE, BLUE)}, "12-bits": {HERE: (ORANGE, ORANGE)}},
    "channel.illegal_header": {
        "skip": {HERE: (ORANGE, ORANGE), "bar": (BLUE, BLUE)},
        "end-segment": {HERE: (ORANGE, DARK), "bar": (BLUE, BLUE)},
    },
    "memory.block_depth_base": {
        "reduce": {"left": (BLUE, BLUE), "right": (ORANGE, ORANGE)},
        "keep": {"left": (BLUE, BLUE), "right": (ORANGE, BLUE)},
    },
    "mme.reads": {"state": {HERE: (ORANGE, ORANGE)}, "shadow": {HERE: (ORANGE, BLUE)}},
    "mme.shadow_exempt": {"low-words": {HERE: (BLUE, ORANGE)}, "none": {HERE: (ORANGE, DARK)}},
    "mme.wide_shift": {"modulo": {HERE: (ORANGE, ORANGE)}, "zero": {HERE: (ORANGE, DARK)}},
    "mme.instruction_ram": {"8192": {HERE: (ORANGE, ORANGE)}, "2048": {HERE: (ORANGE, DARK)}},
    "inline.pitch_origin": {"ignore": {"corner": (ORANGE, DARK)}, "add": {"corner": (BLUE, ORANGE)}},
    "notify.write": {"now": {HERE: (ORANGE, BLACK)}, "never": {HERE: (ORANGE, ORANGE)}},
    "dma.layer": {"slice": {HERE: (BLUE, ORANGE)}, "ignore": {HERE: (BLUE, BLUE)}},
    "report.release_size": {"structure": {HERE: (BLUE, BLACK)}, "one-word": {HERE: (BLUE, ORANGE)}},
    "clear.raster_disabled": {"clear": {HERE: (ORANGE, ORANGE)}, "nothing": {HERE: (ORANGE, DARK)}},
    "twod.pitch_overrun": {
        "next-line": {"left": (BLUE, ORANGE), "right": (ORANGE, BLUE)},
        "clamp": {"left": (BLUE, ORANGE), "right": (ORANGE, ORANGE)},
    },
    "twod.weights": {"exact": {HERE: (FAR_ORANGE, FAR_ORANGE)}, "8-bits": {HERE: (FAR_ORANGE, FAR_BLUE)}},
    "twod.and_operations": {
        "alpha": {"left": (ORANGE, ORANGE), "right": (ORANGE, DARK)},
        "plain": {"left": (ORANGE, ORANGE), "right": (ORANGE, ORANGE)},
    },
    "draw.zero_frequency": {"constant": {HERE: (BLUE, BLUE)}, "per-vertex": {HERE: (BLUE, ORANGE)}},
    "draw.array_base_vertex": {"ignore": {HERE: (BLUE, BLUE)}, "add": {HERE: (BLUE, ORANGE)}},
    "draw.quad_diagonal": {"first": {HERE: (ORANGE, ORANGE)}, "second": {HERE: (ORANGE, (2, 114, 176))}},
    "tessellation.winding": {"v-down": {HERE: (ORANGE, ORANGE)}, "v-up": {HERE: (ORANGE, BLUE)}},
    "geometry.skip_mask": {"program": {HERE: (ORANGE, BLUE)}, "vertex": {HERE: (BLUE, ORANGE)}},
    "texture.fraction": {"round": {HERE: (FAR_ORANGE, FAR_ORANGE)}, "truncate": {HERE: (FAR_ORANGE, FAR_BLUE)}},
    "texture.gradient_order": {"interleaved": {HERE: (ORANGE, ORANGE)}, "pairs": {HERE: (ORANGE, BLUE)}},
    "texture.fetch_outside": {
        "zero": {"corner": (ORANGE, ORANGE), "end": (ORANGE, BLACK)},
        "clamp": {"corner": (ORANGE, ORANGE), "end": (ORANGE, ORANGE)},
    },
    "texture.anisotropy": {"sampler": {HERE: (BLUE, BLUE)}, "least": {HERE: (BLUE, ORANGE)}},
    "raster.lower_left": {
        "nothing": {"upper": (ORANGE, ORANGE), "lower": (BLUE, BLUE)},
        "mirror": {"upper": (ORANGE, BLUE), "lower": (BLUE, ORANGE)},
    },
    "raster.window_clip_end": {
        "exclusive": {HERE: (ORANGE, ORANGE), "beyond": (DARK, DARK)},
        "inclusive": {HERE: (ORANGE, ORANGE), "beyond": (DARK, ORANGE), "below": (DARK, ORANGE)},
    },
    "raster.offset_step": {"format": {HERE: (ORANGE, ORANGE)}, "control": {HERE: (ORANGE, BLUE)}},
    "raster.window_offset": {
        "shapes": {"upper": (ORANGE, BLUE), "lower": (BLUE, ORANGE)},
        "ignore": {"upper": (ORANGE, ORANGE), "lower": (BLUE, BLUE)},
    },
    "output.blend_index": {"target": {HERE: (YELLOW, YELLOW)}, "output": {HERE: (YELLOW, DEEP_BLUE)}},
    "output.alpha_equation": {"flag": {HERE: (BLUE, ORANGE)}, "always": {HERE: (BLUE, BLUE)}},
    "output.depth_bounds": {"first": {HERE: (ORANGE, BLUE)}, "depth": {HERE: (ORANGE, ORANGE)}},
}  # fmt: skip
_ZOOMED = ((40, 40, 100, 100), (180, 40, 100, 100))
SQUARES: dict[str, tuple[Rectangle, Rectangle]] = {"raster.window_clip_end": _ZOOMED}
"""Where the squares are, if they are not in the usual places."""
ODD = {
    "channel.deadlock": {"channel.deadlock"}, "channel.illegal_header": {"channel.illegal_header"},
}  # fmt: skip
"""Events of scenes with the default; they are what the scene is about."""
MOST_DIFFERENT = 1000
"""Pixels that differ at least, so that anybody sees it."""
BY_NUMPY = ("mme.reads", "twod.and_operations", "raster.window_clip_end")
DIRT = 0x6_0000_0000


def pixel(picture: np.ndarray, square: Rectangle, place: str) -> Color:
    x, y, width, height = square
    across, down = PLACES[place]
    red, green, blue = picture[y + int(down * height), x + int(across * width)].tolist()
    return red, green, blue


def test_every_choice_has_a_scene() -> None:
    assert set(OF_CONSOLE["Switch"]) == set(EXPECTED)
    assert set(EXPECTED) <= SCENES.keys() and not EXPECTED.keys() & NO_SCENE.keys()
    for choice, values in EXPECTED.items():
        assert tuple(values) == CHOICES[choice].values
        assert SCENES[choice].doc and all(f"({value})" in SCENES[choice].doc for value in values)


@pytest.mark.parametrize("choice", EXPECTED)
def test_values_differ_as_the_text_says(choice: str) -> None:
    made = SCENES[choice].made
    found: dict[str, Observation] = {value: observe(made, {choice: value}) for value in EXPECTED[choice]}
    squares = SQUARES.get(choice, (LEFT, RIGHT))
    for value, look in EXPECTED[choice].items():
        picture = found[value].pictures[SCREEN]
        for place, colors in look.items():
            assert tuple(pixel(picture, square, place) for square in squares) == colors, (value, place)
    first, second = found.values()
    target = next(iter(made.watch.memory))
    assert {f"picture {SCREEN}", f"memory {target[0]:#x}"} <= set(first.differences(second))
    assert (first.pictures[SCREEN] != second.pictures[SCREEN]).any(axis=-1).sum() >= MOST_DIFFERENT


def play(data: bytes, dirt: PushBuffer | None = None) -> tuple[np.ndarray, set[str]]:
    """The picture of a scene with the default, and events; perhaps after other commands in the same channel."""
    driver = capture.of_bytes(data).driver()
    machine = driver.machine
    if dirt is not None:
        words = dirt.words
        machine.map(DIRT, words.nbytes + 0xFFF & ~0xFFF)
        machine.memory.write(DIRT, words.tobytes())
        machine.submit([pushbuffers.pack_entry(DIRT, len(words))], channel=driver.channel_of(0))
        machine.events.drain()
    driver.play_rest()
    return driver.shown(0)[SCREEN].array, {event.id for event in machine.events}


@pytest.mark.parametrize("choice", EXPECTED)
def test_a_scene_shows_one_choice_only(choice: str) -> None:
    """What the other choices are makes no difference, so that a console can be asked about each alone."""
    others = {name: CHOICES[name].alternatives[0] for name in EXPECTED if name != choice}
    made, other = SCENES[choice].made, CHOICES[choice].alternatives[0]
    assert observe(made, {**others, choice: other}).differences(observe(made, {choice: other})) == ()


_LEFT = ("SET_FALCON", "SET_REPORT_SEMAPHORE_D", "SET_MME_SHADOW_RAM")
"""Methods that do something, besides setting a register."""


def dirt(seed: int) -> PushBuffer:
    """Registers of all classes, with any values."""
    values, pb = random.Random(seed), PushBuffer()
    for name in CLASSES:
        pb.bind(name)
        for method in pb.block:
            sets = method.name.startswith(("SET_", "OGL_SET_", "PITCH", "LINE", "OFFSET"))
            if sets and not method.name.startswith(_LEFT):
                for n in range(method.count):
                    word = method(n).word if method.stride else method.word
                    pb.packet("inc", word, [values.choice((1, 0xFFFFFFFF, values.getrandbits(32)))])
    return pb


@pytest.mark.parametrize("choice", [name for name in EXPECTED if name != "channel.unbound"])
def test_a_scene_needs_no_state_of_others(choice: str) -> None:
    """On a console it runs after other programs. Nothing odd happens with the default either."""
    data = SCENES[choice].made.data
    clean, events = play(data)
    assert events == ODD.get(choice, set())
    picture, events = play(data, dirt(sum(choice.encode())))
    assert np.array_equal(picture, clean) and events == ODD.get(choice, set())


def test_dirt_is_found() -> None:
    """A scene that writes no state looks different after other programs."""
    canvas = SceneCanvas(bound=False)
    canvas.pb.plain_state()
    data = canvas.draw_to(canvas.target).clear().square(LEFT, ORANGE).made().data
    clean, _ = play(data)
    assert pixel(clean, LEFT, HERE) == ORANGE
    assert not any(np.array_equal(play(data, dirt(seed))[0], clean) for seed in range(3))


@pytest.mark.parametrize("choice", BY_NUMPY)
def test_both_evaluators_show_the_same(choice: str) -> None:
    made = SCENES[choice].made
    value = CHOICES[choice].alternatives[0]
    assert observe(made, {choice: value}, "numpy").differences(observe(made, {choice: value})) == ()


def test_scenes_are_small() -> None:
    for choice in EXPECTED:
        log = capture.of_bytes(SCENES[choice].made.data).trace
        assert len(log.presents) == 1 and sum(one.size for one in log.mappings) <= 4 << 20
        assert len(SCENES[choice].made.data) < 1 << 14
