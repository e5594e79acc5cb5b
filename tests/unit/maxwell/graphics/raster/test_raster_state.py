"""Registers as words of set-up and raster."""

from __future__ import annotations

import numpy as np
from support.raster_side import RASTER_NAMES, registers

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.primitives.layout import input_offset, plane_offset
from pocketgpu.maxwell.graphics.programs.headers import FLAT, LINEAR, PERSPECTIVE, layout_of
from pocketgpu.maxwell.graphics.raster.raster_state import RasterEncoder, left_out, limit, pixel_inputs
from pocketgpu.maxwell.graphics.records import MAP_WORDS, PIXEL_INPUT, RASTER, VIEWPORT, VIEWPORT_COUNT

MAP = layout_of([0x64, 0x68, *range(0x6C, 0x380, 4)]).read


def words_of(state: State, encoder: RasterEncoder | None = None) -> tuple[np.ndarray, np.ndarray]:
    raster = np.zeros(RASTER.size // 4, np.int32)
    viewports = np.zeros(VIEWPORT.size // 4 * VIEWPORT_COUNT, np.int32)
    (encoder or RasterEncoder({})).encode(state, MAP, raster, viewports)
    return raster, viewports


def test_nothing_but_the_named_methods_counts() -> None:
    rng = np.random.default_rng(1)
    mine = np.zeros(1 << 14, bool)
    for name in RASTER_NAMES:
        method = B197[name]
        mine[[method.word + n * method.stride for n in range(method.count or 1)]] = True
    for _ in range(20):
        a, b = (rng.integers(0, 1 << 32, 1 << 14, np.uint64).astype(np.uint32) for _ in range(2))
        b[mine] = a[mine]
        one, other = State(B197, a), State(B197, b)
        for x, y in zip(words_of(one), words_of(other), strict=True):
            np.testing.assert_array_equal(x, y)
        inputs = dict.fromkeys(range(0x280, 0x3A0, 4), PERSPECTIVE)
        np.testing.assert_array_equal(pixel_inputs(one, inputs, MAP).table, pixel_inputs(other, inputs, MAP).table)


def test_places_are_left_alone() -> None:
    rng = np.random.default_rng(2)
    state = State(B197, rng.integers(0, 1 << 32, 1 << 14, np.uint64).astype(np.uint32))
    raster, viewports = words_of(state)
    again = np.full_like(raster, 77)
    RasterEncoder({}).encode(state, MAP, again, np.full_like(viewports, 77))
    sizes = dict(zip(RASTER.offsets, np.diff([*RASTER.offsets.values(), RASTER.size]) // 4, strict=True))
    places = ("VERTICES", "PRIMITIVES", "VIEWPORTS", "INPUTS", "INPUT_GROUPS", "DEPTH_WANTED", "TEST", "WRITE",
              "OUTPUT", "EARLY", "PROGRAM", "ALPHAS", "UNSEEN", "COLUMN_BITS")  # fmt: skip
    for name, at in RASTER.offsets.items():
        part = slice(at // 4, at // 4 + sizes[name])
        np.testing.assert_array_equal(again[part], 77 if name in places else raster[part], err_msg=name)


def test_what_is_known_depends_on_all_that_is_read() -> None:
    """What an encoder kept from before is what a new one makes."""
    rng, encoder = np.random.default_rng(3), RasterEncoder({})
    state = State(B197, rng.integers(0, 1 << 32, 1 << 14, np.uint64).astype(np.uint32))
    for name in RASTER_NAMES:
        method = B197[name]
        for n in range(method.count or 1):
            state.registers[method.word + n * method.stride] ^= np.uint32(rng.integers(0, 1 << 32))
            for a, b in zip(words_of(state, encoder), words_of(state), strict=True):
                np.testing.assert_array_equal(a, b, err_msg=name)


def test_encoders_keep_nothing_for_each_other() -> None:
    """Two machines with other choices, in turns: each record is what a new encoder of that machine makes."""
    state = State(B197, np.zeros(1 << 14, np.uint32))
    for name, word in (("SET_WINDOW_CLIP_ENABLE", 1), ("SET_WINDOW_CLIP_HORIZONTAL", 9 << 16)):
        state.registers[B197[name].word] = word
    chosen = [{"raster.window_clip_end": end} for end in ("inclusive", "exclusive")]
    encoders = [RasterEncoder(choices) for choices in chosen]
    for _ in range(2):
        found = [words_of(state, encoder)[0] for encoder in encoders]
        for choices, record in zip(chosen, found, strict=True):
            np.testing.assert_array_equal(record, words_of(state, RasterEncoder(choices))[0])
        assert (found[0] != found[1]).any()


def test_inputs_of_a_pixel_program() -> None:
    inputs = {0x70: FLAT, 0x7C: FLAT, 0x80: PERSPECTIVE, 0x84: LINEAR, 0x280: PERSPECTIVE, 0x3FC: FLAT}
    found = pixel_inputs(registers(), inputs, MAP)
    assert found.groups == 1 and len(found.map) == MAP_WORDS
    table = {name: found.table[at // 4 : at // 4 + 8] for name, at in PIXEL_INPUT.offsets.items()}
    assert table["FRONT"][:3].tolist() == [MAP[0x80 >> 2], MAP[0x84 >> 2], MAP[0x280 >> 2]]
    assert table["BACK"][:3].tolist() == [MAP[0x80 >> 2], MAP[0x84 >> 2], MAP[0x2A0 >> 2]]
    assert table["LINEAR"].view(np.float32)[:3].tolist() == [0.0, 1.0, 0.0]

    def at(address):
        return found.map[address >> 2]

    assert [at(a) for a in (0x80, 0x84, 0x280)] == [input_offset(n) for n in range(3)]
    assert at(0x70) == plane_offset("X") and at(0x3FC) == plane_offset("FRONT") and at(0x90) == plane_offset("ZERO")


def test_targets_limit_viewports() -> None:
    _, viewports = words_of(registers())
    limit(viewports, 40, 100)
    assert viewports[VIEWPORT.RIGHT // 4] == 39 and viewports[VIEWPORT.BOTTOM // 4] == 47


def test_what_raster_leaves_out_is_told() -> None:
    assert left_out(registers()) == ()
    assert left_out(registers(SET_TIR=1)) == ("SET_TIR: samples of raster are those of the targets",)


def test_switches() -> None:
    def read(choices: dict[str, str], **values: object) -> tuple[float, int, float]:
        raster = np.zeros(RASTER.size // 4, np.int32)
        viewports = np.zeros(VIEWPORT.size // 4 * VIEWPORT_COUNT, np.int32)
        RasterEncoder(choices).encode(registers(**values), MAP, raster, viewports)
        scale = viewports[VIEWPORT.SCALE // 4 + 1 : VIEWPORT.SCALE // 4 + 2].view(np.float32)[0]
        step = raster[RASTER.OFFSET_STEP // 4 : RASTER.OFFSET_STEP // 4 + 1].view(np.float32)[0]
        return float(scale), int(raster[RASTER.WINDOWS // 4 + 2]), float(step)

    values = {
        "SET_WINDOW_ORIGIN": 1, "SET_WINDOW_CLIP_ENABLE": 1, "SET_WINDOW_CLIP_HORIZONTAL": 9 << 16,
        "SET_ZT_FORMAT": 0x13,
    }  # fmt: skip
    assert read({}, **values) == (-24.0, 8, 2.0**-16)
    assert read({"raster.lower_left": "mirror"}, **values) == (24.0, 8, 2.0**-16)
    assert read({"raster.lower_left": "mirror"}, **values | {"SET_WINDOW_ORIGIN": 0}) == (-24.0, 8, 2.0**-16)
    assert read({"raster.window_clip_end": "inclusive"}, **values) == (-24.0, 9, 2.0**-16)
    control = {"raster.offset_step": "control"}
    assert read(control, **values) == (-24.0, 8, 2.0**-24)
    assert read(control, SET_DEPTH_BIAS_CONTROL=1, **values) == (-24.0, 8, 2.0**-16)
