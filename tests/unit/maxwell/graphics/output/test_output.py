"""Tests and writes of a block of pixels against a slow model, alike in both evaluators and both tiers."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from support.output_case import CHOICES, GRIDS, TARGET_ROOM, Case, Model, Result, run
from support.output_random import COLOR_CODES, DEPTH_CODES, FUNCTIONS, distance, random_case
from support.slow_formats import encode

from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH
from pocketgpu.lanes import F32, I32, Engine, Lang, Value, kernel
from pocketgpu.maxwell.formats.components import nearest_step
from pocketgpu.maxwell.graphics.output.state import OutputState
from pocketgpu.maxwell.graphics.records import LANE_X, LANE_Y
from pocketgpu.maxwell.memory.blocklinear import Layout

FULL = 0xFFFFFFFF
GOLDEN = "8af74f3f93f78813"


def target(slot: int, code: int, **more: int) -> dict[str, int | float]:
    """Registers of a colour target of 64 x 32 samples."""
    return {
        f"SET_COLOR_TARGET_FORMAT:{slot}": code, f"SET_COLOR_TARGET_WIDTH:{slot}": 64,
        f"SET_COLOR_TARGET_HEIGHT:{slot}": 32, f"SET_COLOR_TARGET_MEMORY:{slot}": 0x20,
        f"SET_CT_WRITE:{slot}": 0x1111, "SET_CT_SELECT": slot + 1 | 0o76543210 << 4, "SET_CT_MRT_ENABLE": 1,
        **{f"SET_COLOR_TARGET_{name}:{slot}": value for name, value in more.items()},
    }  # fmt: skip


def zeta(code: int) -> dict[str, int | float]:
    """Registers of a depth target of 64 x 32 samples that is tested and written."""
    return {
        "SET_ZT_SELECT": 1, "SET_ZT_FORMAT": code, "SET_ZT_SIZE_A": 64, "SET_ZT_SIZE_B": 32,
        "SET_ZT_BLOCK_SIZE": 0x10, "SET_DEPTH_TEST": 1, "SET_DEPTH_WRITE": 1, "SET_DEPTH_FUNC": 0x203,
    }  # fmt: skip


def colours(seed: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return (np.random.default_rng(seed).random((8, 4, 32)) * 1.4 - 0.2).astype(np.float32)


def without_nan(case: Case) -> Case:
    """Which NaN arithmetic gives differs from CPU to CPU."""
    return replace(case, colours=np.nan_to_num(case.colours, nan=0.5))


def alike(a: Result, b: Result) -> bool:
    return bool((a.memory == b.memory).all()) and (a.cover, a.covered, a.passed) == (b.cover, b.covered, b.passed)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_blocks_come_out_as_the_model_has_them(first: int) -> None:
    for seed in range(first, first + 20):
        case = random_case(seed)
        expected, found = Model(case).run(), run(case, "numpy")
        assert distance(case, found.memory, expected.memory) <= 1, seed
        if found.output.tests and not found.output.early:
            assert found.cover == expected.cover, seed
            assert found.passed == expected.passed, seed
        assert alike(found, run(case, "numpy", general=True)), seed


@pytest.mark.parametrize("seed", range(500, 512))
def test_machine_code_gives_the_same_bits(seed: int) -> None:
    case = without_nan(random_case(seed))
    expected = run(case, "numpy")
    for general in (False, True):
        assert alike(run(case, "llvm", general), expected)


def test_random_blocks_do_not_change_from_one_version_to_the_next() -> None:
    digest = hashlib.sha256()
    for seed in range(200, 224):
        digest.update(run(without_nan(random_case(seed)), "numpy").memory.tobytes())
    assert digest.hexdigest()[:16] == GOLDEN


@pytest.mark.parametrize("code", COLOR_CODES)
@pytest.mark.parametrize("srgb", [0, 1])
def test_each_format_is_stored_as_a_clear_stores_it(code: int, srgb: int) -> None:
    layout = COLOR_TARGET[code]
    integer = layout.components[0].type in ("uint", "sint")
    values = colours(code)
    if integer:
        values = (
            np.random.default_rng(code).integers(-(1 << 31), 1 << 31, values.shape).astype(np.int32).view(np.float32)
        )
    case = Case({**target(0, code), "SET_SRGB_WRITE": srgb}, x=8, y=4, colours=values)
    found = run(case, "numpy").memory
    surface = Layout(64 * layout.bytes, 32, 1, 2)
    for lane in range(32):
        at = surface.offset_of((8 + LANE_X[lane]) * layout.bytes, 4 + LANE_Y[lane])
        pixel = int.from_bytes(found[at : at + layout.bytes].tobytes(), "little")
        for c in layout.components:
            code_there = pixel >> c.lo & ((1 << c.width) - 1)
            if c.name in "RGBA":
                word = int(values[0, "RGBA".index(c.name)].view(np.uint32)[lane])
                slack = 1 if c.type == "srgb" and srgb else 256 if (c.type, c.width) == ("unorm", 32) else 0
                wanted = encode(c, word, bool(srgb))
                # A clear rounds in double precision; f32 may come to the other side of a half.
                assert abs(code_there - wanted) <= max(slack, int(c.type in ("unorm", "snorm"))), (lane, c)
            elif c.type in ("zero", "one"):
                assert code_there == (c.type == "one") * ((1 << c.width) - 1)


def blendable(code: int) -> bool:
    """Whether a format is blended, and f32 holds all it does (which is not so for R32)."""
    return not any(
        c.type in ("uint", "sint") or (c.type, c.width) == ("unorm", 32) for c in COLOR_TARGET[code].components
    )


@pytest.mark.parametrize("code", [code for code in COLOR_CODES if blendable(code)])
@pytest.mark.parametrize("srgb", [0, 1])
def test_adding_nothing_changes_nothing(code: int, srgb: int) -> None:
    layout = COLOR_TARGET[code]
    memory = np.random.default_rng(code).integers(0, 256, 9 * TARGET_ROOM, dtype=np.uint8)
    for c in layout.components:
        if c.type == "float":  # finite ones, whose bits arithmetic keeps
            memory = memory & np.uint8(0x1F)
        elif c.type == "snorm":  # the least code means what the one above it does
            memory = np.where(memory == 0x80, 0x81, memory).astype(np.uint8)
    blend = {"SET_BLEND:0": 1, "SET_BLEND_COLOR_OP": 1, "SET_BLEND_COLOR_SOURCE_COEFF": 1}
    blend |= {"SET_BLEND_COLOR_DEST_COEFF": 2, "SET_SRGB_WRITE": srgb}
    fixed = sum(((1 << c.width) - 1) << c.lo for c in layout.components if c.name not in "RGBA")
    for general in (False, True):
        found = run(Case({**target(0, code), **blend}, memory=memory, colours=colours()), "numpy", general).memory
        before, after = (
            np.array(
                [int.from_bytes(p.tobytes(), "little") & ~fixed for p in m[:TARGET_ROOM].reshape(-1, layout.bytes)]
            )
            for m in (memory[: TARGET_ROOM // layout.bytes * layout.bytes], found)
        )
        assert (before == after).all()


@pytest.mark.parametrize("code", DEPTH_CODES)
@pytest.mark.parametrize("function", FUNCTIONS[:8])
def test_depth_of_each_format_against_the_model(code: int, function: int) -> None:
    rng = np.random.default_rng(function)
    far, near = ((rng.integers(0, 5, (16, 32)) / 4).astype(np.float32) for _ in range(2))
    stored = run(Case({**zeta(code), "SET_DEPTH_FUNC": 0x207}, depth=far), "numpy").memory
    # Some of the depths that come are equal to those stored.
    case = Case({**zeta(code), "SET_DEPTH_FUNC": function}, depth=near, memory=stored)
    expected, found = Model(case).run(), run(case, "numpy")
    assert (found.memory == expected.memory).all()
    if found.output.tests:
        assert (found.cover, found.passed) == (expected.cover, expected.passed)
    assert alike(found, run(case, "numpy", general=True))
    assert found.output.tests == (DEPTH[code].component("Z") is not None)


@kernel(32, depth=I32, top=F32)
def steps_of(k: Lang, depth: Value, top: Value) -> None:
    k.store(I32, depth + 4096, nearest_step(k, k.load(F32, depth, 32), top))


@pytest.mark.parametrize("bits", [16, 24])
def test_steps_of_depth_are_the_nearest_of_double_precision(bits: int) -> None:
    top = (1 << bits) - 1
    rng = np.random.default_rng(bits)
    halves = (rng.integers(0, top, 5000) + 0.5) / top
    values = np.concatenate([rng.random(5000), halves, [0.0, 1.0, -1.0, 2.0, 0.5], 2.0 ** -rng.random(3000) * 30])
    values = np.resize(values.astype(np.float32), 32 * 400)
    arena = np.zeros(1 << 14, np.uint8)
    code = Engine(arena, "llvm").get(steps_of)
    for part in values.reshape(-1, 32):
        arena[4096 : 4096 + 128] = part.view(np.uint8)
        code(4096, top)
        wanted = np.floor(np.clip(part.astype(np.float64), 0, 1) * top + 0.5)
        assert (arena[8192 : 8192 + 128].view(np.int32) == wanted).all()


def test_what_fails_early_tests_is_gone_before_the_program_and_what_it_kills_is_not_written() -> None:
    registers = {**target(0, 0xD5), **zeta(0x14), "SET_DEPTH_FUNC": 0x207, "SET_API_MANDATED_EARLY_Z": 1}
    case = Case(registers, kills=True, killed=0xF0F0F0F0, colours=np.ones((8, 4, 32), np.float32))
    found = run(case, "numpy")
    assert found.output.early
    assert found.passed == 32  # counted before the program
    assert found.cover == [0x0F0F0F0F]
    written = found.memory[:TARGET_ROOM].view(np.uint32)
    assert np.count_nonzero(written) == 16
    late = run(replace(case, registers={**registers, "SET_API_MANDATED_EARLY_Z": 0}), "numpy")
    assert not late.output.early
    assert late.passed == 16


def test_pixels_of_programs_that_hang_are_not_written() -> None:
    case = Case(target(0, 0xD5), killed=0xFFFF0000, colours=np.ones((8, 4, 32), np.float32))
    for general in (False, True):
        assert np.count_nonzero(run(case, "numpy", general).memory.view(np.uint32)) == 16


def order(registers: dict[str, int | float], **more: bool) -> tuple[bool, bool]:
    out = Case({**target(0, 0xD5), **zeta(0x14), **registers}, **more).output()  # type: ignore[arg-type]
    return out.early, out.tests


def test_tests_come_first_where_nobody_can_tell() -> None:
    assert order({}) == (True, True)
    assert order({}, kills=True) == (False, True)  # it must not leave depth
    assert order({"SET_DEPTH_WRITE": 0}, kills=True) == (True, True)
    assert order({"SET_DEPTH_WRITE": 0, "SET_ZPASS_PIXEL_COUNT": 1}, kills=True) == (False, True)
    assert order({"SET_DEPTH_TEST": 0}) == (False, False)
    assert order({"SET_DEPTH_TEST": 0}, kills=True) == (False, True)
    assert order({"SET_DEPTH_TEST": 0, "SET_ZPASS_PIXEL_COUNT": 1}) == (False, True)
    assert order({"SET_ALPHA_TEST": 1, "SET_ALPHA_FUNC": 0x207}) == (True, True)
    assert order({"SET_ALPHA_TEST": 1, "SET_ALPHA_FUNC": 0x204}) == (False, True)


def test_layers_and_slices_lie_where_the_layout_says() -> None:
    values = np.full((8, 4, 32), 1.0, np.float32)
    array = {**target(0, 0xD5, THIRD_DIMENSION=4, ARRAY_PITCH=0x3000 // 4), "SET_RT_LAYER": 1 << 16}
    for layer in range(5):
        for general in (False, True):
            found = run(Case(array, layer=layer, layered=True, colours=values), "numpy", general).memory
            touched = np.nonzero(found[:TARGET_ROOM])[0]
            assert len(touched) == (128 if layer < 4 else 0)
            assert layer == 4 or touched[0] == layer * 0x3000
    volume = target(0, 0xD5, THIRD_DIMENSION=4, MEMORY=0x10120 & ~0x20)
    surface = Layout(64 * 4, 32, 4, 0, 1)
    for layer in range(5):
        for general in (False, True):
            found = run(Case(volume, x=8, y=8, layer=layer, layered=True, colours=values), "numpy", general).memory
            touched = np.nonzero(found[:TARGET_ROOM])[0]
            assert len(touched) == (128 if layer < 4 else 0)
            assert layer == 4 or touched[0] == surface.offset_of(32, 8, layer)


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("one_layer", [0, 1])
def test_layers_of_a_depth_target(one_layer: int, general: bool) -> None:
    """Depth goes to the layer, counted from the first; if there is only one, nothing else is written."""
    for first in (0, 1):
        registers = {
            **zeta(0x0A), "SET_DEPTH_FUNC": 0x207, "SET_ZT_ARRAY_PITCH": 0x2000 // 4, "SET_ZT_LAYER": first,
            "SET_ZT_SIZE_C": one_layer << 16 | 3, "SET_RT_LAYER": 1 << 16,
        }  # fmt: skip
        for layer in range(4):
            depth = np.full((16, 32), 0.5, np.float32)
            found = run(Case(registers, layer=layer, layered=True, depth=depth), "numpy", general).memory
            touched = np.nonzero(found)[0]
            there = layer < (1 if one_layer else 3 - first)
            assert len(np.unique(touched // 4)) == (32 if there else 0)
            assert not there or (touched[0] - 8 * TARGET_ROOM) // 0x2000 == layer  # the room begins at the first one


def test_pixels_outside_of_a_target_are_left_out() -> None:
    for memory, width in ((0x10, 44), (0x1000, 44 * 4)):
        registers = target(0, 0xD5, WIDTH=width, HEIGHT=30, MEMORY=memory)
        case = Case(registers, x=40, y=28, colours=np.ones((8, 4, 32), np.float32))
        for general in (False, True):
            found = run(case, "numpy", general).memory
            assert np.count_nonzero(found.view(np.uint32)) == 4 * 2
        assert not run(replace(case, x=48), "numpy").memory.any()
        assert not run(replace(case, y=32), "numpy").memory.any()


def test_outputs_go_to_the_slots_that_ct_select_names() -> None:
    registers = {**target(0, 0xE5), **target(3, 0xE5), "SET_CT_SELECT": 2 | 3 << 4 | 0 << 7}
    values = np.zeros((8, 4, 32), np.float32)
    values[0], values[1] = 1.0, 2.0
    found = run(Case(registers, outputs=(15, 15), colours=values), "numpy").memory.view(np.float32)
    assert found[0] == 2.0
    assert found[3 * TARGET_ROOM // 4] == 1.0
    single = run(Case({**registers, "SET_CT_MRT_ENABLE": 0}, outputs=(15, 15), colours=values), "numpy").memory
    assert single.view(np.float32)[[0, 3 * TARGET_ROOM // 4]].tolist() == [1.0, 1.0]


def test_what_the_program_does_not_put_out_stays() -> None:
    registers = {**target(0, 0xD5), **target(1, 0xD5)}
    memory = np.full(9 * TARGET_ROOM, 0x55, np.uint8)
    found = run(Case(registers, outputs=(7, 0), memory=memory, colours=np.ones((8, 4, 32), np.float32)), "numpy")
    assert [target.slot for target in found.output.colours] == [0]
    assert found.memory[:4].tolist() == [255, 255, 255, 0]  # an alpha that is not written is 0


@pytest.mark.parametrize("mode", GRIDS)
def test_alpha_to_coverage_takes_as_many_samples(mode: int) -> None:
    across, down = GRIDS[mode]
    count = across * down
    values = np.zeros((8, 4, 32), np.float32)
    values[0, 3] = np.linspace(0, 1, 32)
    registers = {**target(0, 0xD5), "SET_ANTI_ALIAS": mode, "SET_ANTI_ALIAS_ALPHA_CONTROL": 1}
    found = run(Case(registers, colours=values), "numpy")
    kept = [sum(cover >> lane & 1 for cover in found.cover) for lane in range(32)]
    assert kept == [int(np.float32(a) * count + 0.5) for a in values[0, 3]]
    assert found.passed == sum(kept)
    off = {**registers, "SET_ALPHA_TO_COVERAGE_OVERRIDE": 1}  # only where primitives are multisampled
    assert run(Case(off, colours=values), "numpy").cover == [FULL] * count
    assert run(Case({**off, "SET_ANTI_ALIAS_ENABLE": 1}, colours=values), "numpy").passed == sum(kept)


@pytest.mark.parametrize("general", [False, True])
def test_infinity_times_zero_is_zero_if_a_method_says_so(general: bool) -> None:
    """An infinite output with the factor ZERO is added to a target with the factor ONE."""
    memory = np.full(9 * TARGET_ROOM // 4, 0.5, np.float32).view(np.uint8)
    blend = {
        **target(0, 0xE5), "SET_BLEND:0": 1, "SET_BLEND_COLOR_OP": 1, "SET_BLEND_COLOR_SOURCE_COEFF": 1,
        "SET_BLEND_COLOR_DEST_COEFF": 2,
    }  # fmt: skip
    for option in (0, 1):
        registers = {**blend, "SET_BLEND_FLOAT_OPTION": option}
        case = Case(registers, memory=memory, colours=np.full((8, 4, 32), np.inf, np.float32))
        found = run(case, "numpy", general).memory.view(np.float32)[0]
        assert found == 0.5 if option else np.isnan(found)


def test_switches_choose_the_other_reading() -> None:
    blend = {
        **target(0, 0xE5), **target(1, 0xE5), "SET_CT_SELECT": 1 | 1 << 4, "SET_BLEND:0": 1,
        "SET_BLEND_COLOR_OP": 1, "SET_BLEND_COLOR_SOURCE_COEFF": 2, "SET_BLEND_COLOR_DEST_COEFF": 2,
    }  # fmt: skip
    memory = np.full(9 * TARGET_ROOM // 4, 0.5, np.float32).view(np.uint8)
    value = np.ones((8, 4, 32), np.float32)
    for reading, red in (("target", 1.0), ("output", 1.5)):
        case = Case(blend, memory=memory, colours=value, choices={**CHOICES, "output.blend_index": reading})
        assert run(case, "numpy").memory.view(np.float32)[TARGET_ROOM // 4] == red
    alpha = {
        **target(0, 0x42), "SET_BLEND:0": 1, "SET_BLEND_COLOR_OP": 1, "SET_BLEND_COLOR_SOURCE_COEFF": 2,
        "SET_BLEND_COLOR_DEST_COEFF": 2, "SET_BLEND_ALPHA_OP": 1, "SET_BLEND_ALPHA_SOURCE_COEFF": 1,
        "SET_BLEND_ALPHA_DEST_COEFF": 2,
    }  # fmt: skip
    for reading, expected in (("flag", 1.5), ("always", 0.5)):
        case = Case(alpha, memory=memory, colours=value, choices={**CHOICES, "output.alpha_equation": reading})
        assert run(case, "numpy").memory.view(np.float32)[0] == expected
    bounds = {
        **zeta(0x14), "SET_DEPTH_BOUNDS_TEST": 1, "SET_DEPTH_BOUNDS_MIN": 0.5, "SET_DEPTH_BOUNDS_MAX": 1.0,
        "SET_STENCIL_TEST": 1, "SET_STENCIL_FUNC": 8, "SET_STENCIL_OP_FAIL": 1, "SET_STENCIL_OP_ZFAIL": 6,
        "SET_STENCIL_OP_ZPASS": 1, "SET_STENCIL_MASK": 255,
    }  # fmt: skip
    for reading, stencil in (("first", 0), ("depth", 255)):
        for general in (False, True):
            found = run(Case(bounds, choices={**CHOICES, "output.depth_bounds": reading}), "numpy", general)
            assert found.memory[8 * TARGET_ROOM] == stencil
            assert found.passed == 0


def test_unknown_numbers_are_events() -> None:
    registers = {
        **target(0, 0xD5), **zeta(0x14), "SET_DEPTH_FUNC": 0x99, "SET_BLEND:0": 1, "SET_BLEND_COLOR_OP": 77,
        "SET_BLEND_COLOR_SOURCE_COEFF": 1, "SET_BLEND_COLOR_DEST_COEFF": 1,
    }  # fmt: skip
    events = Case(registers).output().events
    assert ("draw.value", "SET_DEPTH_FUNC: there is no 0x99") in events
    assert ("draw.value", "SET_BLEND_COLOR_OP: there is no 0x4d") in events
    program = Case({**target(0, 0xD5), "SET_ITERATED_BLEND": 1}).output()
    assert [id for id, _ in program.events] == ["draw.iterated_blend"]
    odd = Case(target(0, 0xD5, MEMORY=0x1000, WIDTH=66)).output()
    assert [id for id, _ in odd.events] == ["draw.pitch"]
    assert not odd.writes


def test_constants_are_refreshed_without_a_new_state() -> None:
    registers = {**target(0, 0xD5), **zeta(0x14), "SET_STENCIL_TEST": 1, "SET_TWO_SIDED_STENCIL_TEST": 1}
    registers |= {"SET_BLEND:0": 1, "SET_BLEND_COLOR_OP": 1, "SET_BLEND_COLOR_SOURCE_COEFF": 0xE}
    changed = {
        "SET_ALPHA_REF": 0.25, "SET_BLEND_CONST_GREEN": 0.5, "SET_STENCIL_FUNC_REF": 0x107, "SET_BACK_STENCIL_MASK": 9,
        "SET_DEPTH_BOUNDS_MAX": 0.75,
    }  # fmt: skip
    before, after = Case(registers), Case({**registers, **changed})
    record = before.output().record(1, 2, [3])
    before.output().refresh(record, after.state())
    assert (record == after.output().record(1, 2, [3])).all()
    one_sided = Case({**registers, **changed, "SET_TWO_SIDED_STENCIL_TEST": 0})
    state: OutputState = one_sided.output()
    back = state.record(1, 2, [3])
    assert (back != record).any()  # the front's words serve the back
