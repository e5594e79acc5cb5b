"""Targets as they lie in memory, programs' constants, and draws that are left out by a condition."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder.maxwell import Surface as Target

from .switch_canvas import BLUE, GREEN, RED, Canvas, Surface, empty, paint, row

PIXEL_BYTES = bytes((255, 0, 0, 255))
GOB = 512


def lit(data: bytes) -> set[int]:
    """Which GOBs of memory have a byte that is not 0."""
    return {at // GOB for at in np.flatnonzero(np.frombuffer(data, np.uint8)).tolist()}


# -- colour targets ---------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x202", "b197.0x205")
@pytest.mark.parametrize("pitch", [64, 160])
def test_a_target_in_rows_has_them_as_far_apart_as_its_width_says(pitch: int) -> None:
    """In bytes; the second and third pixel of each of four rows."""

    def draw(s: Canvas) -> None:
        s.pb.render_target(0, Target(s.result(4 * pitch), 8, 4, pitch=pitch))
        s.rect(RED, (1, 0, 3, 8))

    line = (bytes(4) + 2 * PIXEL_BYTES).ljust(pitch, b"\0")
    assert paint(draw, canvas={"depth_format": None}).result() == 4 * line


@pytest.mark.row("b197.0x205")
@pytest.mark.parametrize(("height", "gobs"), [(0, {2}), (1, {1}), (2, {1})])
def test_blocks_of_a_target_are_so_many_gobs_high(height: int, gobs: set[int]) -> None:
    """Rows 8 to 15 of a target that is two GOBs wide and four high, columns 0 to 15."""

    def draw(s: Canvas) -> None:
        s.set(SET_COLOR_TARGET_MEMORY=(0, {"BLOCK_HEIGHT": height})).rect(RED, (0, 8, 16, 16))

    painted = paint(draw, canvas={"side": 32, "depth_format": None})
    assert lit(painted.raw(painted.canvas.color)) == gobs


@pytest.mark.row("b197.0x202", "b197.0x203")
@pytest.mark.parametrize(
    ("method", "value", "picture"),
    [("WIDTH", 5, row("8 x RRRRR...")), ("HEIGHT", 3, row("3 x RRRRRRRR", "5 x ........"))],
)
def test_nothing_is_drawn_beyond_a_target(method: str, value: int, picture: str) -> None:
    def draw(s: Canvas, on: bool) -> None:
        if on:
            s.set(**{f"SET_COLOR_TARGET_{method}": (0, value)})
        s.rect(RED)

    assert paint(draw, False).picture == row("8 x RRRRRRRR")
    assert paint(draw, True).picture == picture


@pytest.mark.row("b197.0x207", "b197.0x3fc", "b197.0x48c")
def test_layers_of_both_targets_are_a_stride_apart() -> None:
    def draw(s: Canvas) -> None:
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1, SET_RT_LAYER={"V": 2}).rect(RED, z=0.25)

    painted = paint(draw, canvas={"layers": 3})
    assert [painted.letters(layer=n) for n in range(3)] == [empty(), empty(), row("8 x RRRRRRRR")]
    assert [float(painted.zeta(n)[0].min()) for n in range(3)] == pytest.approx([1, 1, 0.25], abs=1e-6)


@pytest.mark.row("b197.0x48c")
@pytest.mark.parametrize(("control", "depths"), [(0, (1.0, 0.25)), (1, (1.0, 1.0))])
def test_a_depth_target_may_have_one_layer_whatever_its_size_says(control: int, depths: tuple[float, float]) -> None:
    """What goes to a layer that is not there is not stored."""

    def draw(s: Canvas) -> None:
        s.set(SET_ZT_SIZE_C={"THIRD_DIMENSION": 2, "CONTROL": control}, SET_RT_LAYER={"V": 1})
        s.set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1).rect(RED, z=0.25)

    painted = paint(draw, canvas={"layers": 2})
    assert tuple(float(painted.zeta(n)[0].min()) for n in range(2)) == pytest.approx(depths, abs=1e-6)


@pytest.mark.row("b197.0x3fb")
@pytest.mark.parametrize(("height", "gobs"), [(0, {2}), (1, {1})])
def test_blocks_of_a_depth_target_are_so_many_gobs_high(height: int, gobs: set[int]) -> None:
    def draw(s: Canvas) -> None:
        s.pb.clear_depth(0.0, 0)
        s.set(SET_ZT_BLOCK_SIZE={"HEIGHT": height}, SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1)
        s.set(SET_DEPTH_FUNC={"V": "OGL_ALWAYS"}).rect(RED, (0, 8, 16, 16))

    painted = paint(draw, canvas={"side": 32})
    depth: Surface | None = painted.canvas.depth
    assert depth is not None and lit(painted.raw(depth)) == gobs


@pytest.mark.row("b197.0x48a", "b197.0x48b")
@pytest.mark.parametrize(("axis", "shape"), [("A", (8, 5)), ("B", (5, 8))])
def test_no_depth_is_stored_beyond_its_target(axis: str, shape: tuple[int, int]) -> None:
    def draw(s: Canvas) -> None:
        s.set(**{f"SET_ZT_SIZE_{axis}": 5}).set(SET_DEPTH_TEST=1, SET_DEPTH_WRITE=1).rect(RED, z=0.25)

    depth = paint(draw).depth
    rows, columns = shape
    assert (depth[:rows, :columns] < 0.3).all() and (depth < 0.3).sum() == rows * columns


# -- constants --------------------------------------------------------------------------------------------------------

SHOWN = "".join(f"MOV R{n}, c[0x3][{4 * n:#x}]\n" for n in range(4)) + "EXIT"


def constant(s: Canvas, color: tuple[float, ...]) -> None:
    """A buffer with a colour, bound to slot 3 of pixel programs, which show it."""
    s.programs(SHOWN)
    s.constants(np.array(color, np.float32), slot=3)


@pytest.mark.row("b197.0x8e0", "b197.0x8e1", "b197.0x904")
@pytest.mark.parametrize(("size", "valid", "letter"), [(256, 1, "B"), (256, 0, "."), (8, 1, ".")])
def test_programs_read_buffers_of_their_group(size: int, valid: int, letter: str) -> None:
    """What is beyond the end, or unbound, is 0; blue is the third word."""

    def draw(s: Canvas) -> None:
        constant(s, GREEN)
        s.set(SET_CONSTANT_BUFFER_SELECTOR_A=size)
        s.pb.address("SET_CONSTANT_BUFFER_SELECTOR_B", s.table(np.array(BLUE, np.float32)))
        s.set(BIND_GROUP_CONSTANT_BUFFER=(4, {"VALID": valid, "SHADER_SLOT": 3})).rect()

    assert paint(draw).picture == row(f"8 x {8 * letter}")


@pytest.mark.row("b197.0x8e3", "b197.0x8e4")
def test_words_loaded_into_a_buffer_count_from_the_next_draw_on() -> None:
    def draw(s: Canvas) -> None:
        constant(s, RED)
        s.rect(box=(0, 0, 4, 8))
        s.set(LOAD_CONSTANT_BUFFER_OFFSET=0).pb.method("LOAD_CONSTANT_BUFFER", 0, 0, 0x3F800000)
        s.rect(box=(4, 0, 8, 8))

    assert paint(draw).picture == row("8 x RRRRGGGG")


@pytest.mark.row("b197.0x43d")
def test_buffers_that_are_unbound_read_as_zero() -> None:
    def draw(s: Canvas, all: int) -> None:
        constant(s, RED)
        s.set(UNBIND_ALL={"CONSTANT_BUFFERS": all}).rect()

    assert paint(draw, 0).picture == row("8 x RRRRRRRR")
    assert paint(draw, 1).picture == empty()


NUMBERS = """
    MOV32I R4, 0x7fc00000
    F2I.{to}.F32 R4, R4
    MOV32I R5, {value:#x}
    ISETP.EQ.AND P0, PT, R4, R5, PT
    MOV R0, RZ
    MOV R1, RZ
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    @P0 MOV32I R1, 0x3f800000
    EXIT
"""
"""Green if NaN becomes this integer."""


@pytest.mark.row("b197.0x5a4")
@pytest.mark.parametrize("tier", ["general", "specialised"])
@pytest.mark.parametrize("to", ["S32", "U32"])
@pytest.mark.parametrize(("behavior", "value"), [("PASS_ZERO", 0), ("PASS_INDEFINITE", 0x80000000)])
def test_what_is_no_number_becomes_zero_or_the_least_integer(behavior: str, value: int, to: str, tier: str) -> None:
    def draw(s: Canvas, number: int) -> None:
        s.programs(NUMBERS.format(to=to, value=number))
        s.set(SET_SHADER_CONTROL={"FP32_F2I_NAN_BEHAVIOR": behavior}).rect(RED)

    assert paint(draw, value, tier=tier).picture == row("8 x GGGGGGGG")
    assert paint(draw, 0x80000000 - value, tier=tier).picture == empty()


# -- conditions -------------------------------------------------------------------------------------------------------


@pytest.mark.row("b197.0x554", "b197.0x556", "b197.0x651")
@pytest.mark.parametrize(
    ("words", "mode", "override", "drawn"),
    [
        ((5, 5), "TRUE", 0, True),
        ((5, 5), "FALSE", 0, False),
        ((5, 5), "RENDER_IF_EQUAL", 0, True),
        ((5, 6), "RENDER_IF_EQUAL", 0, False),
        ((5, 5), "RENDER_IF_NOT_EQUAL", 0, False),
        ((5, 6), "RENDER_IF_NOT_EQUAL", 0, True),
        ((0, 0), "CONDITIONAL", 0, False),
        ((1, 0), "CONDITIONAL", 0, True),
        ((5, 5), "FALSE", "ALWAYS_RENDER", True),
        ((5, 5), "TRUE", "NEVER_RENDER", False),
    ],
)
def test_draws_are_left_out_by_a_condition(words: tuple[int, int], mode: str, override: int | str, drawn: bool) -> None:
    """Two reports of 16 bytes whose first words are compared, or one that is 0 or not."""

    def draw(s: Canvas) -> None:
        reports = np.array([words[0], 0, 0, 0, words[1], 0, 0, 0], "<u4")
        s.pb.address("SET_RENDER_ENABLE_A", s.capture.put(reports))
        s.set(SET_RENDER_ENABLE_C={"MODE": mode}, SET_RENDER_ENABLE_OVERRIDE={"MODE": override}).rect(RED)

    assert paint(draw).picture == (row("8 x RRRRRRRR") if drawn else empty())


# -- what is reported -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "value"),
    [
        pytest.param("SET_VIEWPORT_INCREASE_SNAP_GRID_PRECISION", (0, {"X_BITS": 4}),
                     marks=pytest.mark.row("b197.0x287", note="pixels=later")),
    ],
)  # fmt: skip
def test_what_registers_ask_for_and_is_not_done_is_told_of(method: str, value: object) -> None:
    def draw(s: Canvas, on: bool) -> None:
        if on:
            s.set(**{method: value})
        s.rect(RED)

    plain, asked = paint(draw, False), paint(draw, True)
    assert plain.events == () and asked.events == ("draw.left_out",)
    assert plain.picture == asked.picture == row("8 x RRRRRRRR")
