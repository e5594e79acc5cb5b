"""What leaves a vertex program and what it computes: output maps, and instructions with rules of their own.

Source: 3dbrew GPU/Internal Registers ("Geometry pipeline registers"), GPU/Shader Instruction Set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

MOV, ADD, MUL, MAX, MIN, RCP, RSQ, SGE, MOVA = 0x13, 0x00, 0x08, 0x0C, 0x0D, 0x0E, 0x0F, 0x09, 0x12
LOOP, END = 0x29, 0x22 << 26
F32 = 3
# A triangle that covers the whole target, as positions of its three vertices.
BIG = np.array([(-1, -1, -0.5, 1), (3, -1, -0.5, 1), (-1, 3, -0.5, 1)], np.float32)


# -- outputs ----------------------------------------------------------------------------------------------------------


def test_enabled_output_registers_are_numbered_without_gaps(gpu: Any) -> None:
    """Registers o0 and o2 enabled: attribute 1 of the rasteriser is o2."""
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "c0"), gpu.op(MOV, "o2", "c1"), gpu.op(MOV, "o3", "c0")])
    gpu.uniform(0, 1, 1, 1, 1)
    gpu.uniform(1, 0, 0.2, 0.4, 0.6)
    gpu.outputs(0x03020100, 0x0B0A0908, enabled=0b0101)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    data = gpu.place(BIG)
    gpu.loaders(data, [(F32, 4)], (data, [0], 16))
    gpu.launch(3)
    assert gpu.one_color() == [0, 51, 102, 153]


def test_output_total_counts_from_one(gpu: Any) -> None:
    """SH_OUTMAP_TOTAL of 1 is one output: the colour, second, is not mapped and so white."""
    gpu.draw(BIG, color=(0, 0, 0, 0))
    gpu.write("SH_OUTMAP_TOTAL", 1)
    gpu.launch(3)
    assert gpu.one_color() == [255] * 4


def test_highest_output_registers_can_be_used(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o15", "v0"), gpu.op(MOV, "o9", "c0")])
    gpu.uniform(0, 0.2, 0.4, 0.6, 0.8)
    gpu.outputs(0x0B0A0908, 0x03020100, enabled=1 << 15 | 1 << 9)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    data = gpu.place(BIG)
    gpu.loaders(data, [(F32, 4)], (data, [0], 16))
    gpu.launch(3)
    assert gpu.one_color() == [51, 102, 153, 204]


def test_components_map_one_by_one_and_31_is_nothing(gpu: Any) -> None:
    gpu.draw(BIG, color=(0.2, 0.4, 0.6, 0.8))
    gpu.outputs(0x03020100, 0x1F08091F)  # x and w dropped; y is green, z is red
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [153, 102, 255, 255]


def test_later_map_of_a_semantic_wins(gpu: Any) -> None:
    gpu.draw(BIG, color=(0.2, 0.4, 0.6, 0.8), uv0=(1, 0, 1, 0))
    gpu.outputs(0x03020100, 0x0B0A0908, 0x0B0A0908)
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [255, 0, 255, 0]


def test_unmapped_colour_is_one_and_passes_the_alpha_test(gpu: Any) -> None:
    gpu.draw(BIG, color=(0, 0, 0, 0))
    gpu.outputs(0x03020100)
    gpu.set(FRAGOP_ALPHA_TEST=0x1 | 7 << 4 | 255 << 8, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    gpu.put_color(np.full((16, 16), 0x12345678, np.uint32))
    assert gpu.one_color() == [255] * 4


def test_colours_become_positive_and_at_most_one_before_interpolation(gpu: Any) -> None:
    # Left vertices -0.5, right ones +0.5: the same everywhere. Left 3 (cut to 1), right 1: also.
    gpu.quad(color=[(-0.5, 3, -3, 1), (0.5, 1, 1, -1), (-0.5, 3, -3, 1), (0.5, 1, 1, -1)])
    pixels = gpu.one_color()
    assert pixels[0] in (127, 128)
    assert pixels[1:] == [255, 255, 255]


# -- the program ------------------------------------------------------------------------------------------------------


def result(gpu: Any, code: Sequence[int], descriptors: Sequence[int] | None = None) -> list[int]:
    """The colour that a program (from v0: position) leaves in o1."""
    gpu.draw(BIG)
    gpu.list = gpu.list[: max(i for i, w in enumerate(gpu.list) if w == 0x000F025E) - 1]
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.program([gpu.op(MOV, "o0", "v0"), *code], descriptors)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)
    gpu.launch(3)
    return gpu.one_color()


@pytest.mark.parametrize(("x", "y", "z", "rounds", "after"), [(0, 5, 1, 1, 6), (3, 0, 2, 4, 8), (7, 10, 0, 8, 10)])
def test_loop_runs_one_round_more_and_counts_after_the_last_too(
    gpu: Any, x: int, y: int, z: int, rounds: int, after: int
) -> None:
    """LOOP i0 = (x, y, z): x + 1 rounds, aL starts at y and grows by z after each."""
    for number in range(96):
        gpu.uniform(number, *[number / 255] * 4)
    gpu.uniform(95, *[10 / 255] * 4)
    gpu.set(VSH_INTUNIFORM_I0=x | y << 8 | z << 16)
    code = [
        gpu.op(MOV, "r0", "c0"),
        gpu.flow(LOOP, to=3, extra=0),  # after the two MOVs: the body is instruction 3
        gpu.op(ADD, "r0", "c95", "r0"),
        gpu.op(MOV, "r1", "c0", index=3),
        gpu.op(MOV, "o1", "r0", desc=1),
        gpu.op(MOV, "o1", "r1", desc=2),
    ]
    colors = result(gpu, code, [gpu.descriptor(), gpu.descriptor("xy"), gpu.descriptor("zw")])
    assert colors == [10 * rounds, 10 * rounds, after, after]


def test_address_registers_index_uniforms(gpu: Any) -> None:
    for number in range(96):
        gpu.uniform(number, *[number / 255] * 4)
    gpu.uniform(1, 7.9, -3.9, 200, -200)
    code = [
        gpu.op(MOVA, "r0", "c1"), gpu.op(MOV, "o1", "c20", desc=1, index=1), gpu.op(MOV, "o1", "c20", desc=2, index=2),
        gpu.op(MOV, "r1", "c1", desc=3), gpu.op(MOVA, "r0", "r1"), gpu.op(MOV, "o1", "c20", desc=4, index=1),
        gpu.op(MOV, "o1", "c94", desc=5, index=2),
    ]  # fmt: skip
    d = gpu.descriptor
    # a0 = (7, -3), cut toward zero; then (200, 90): 200 is out of range and counts as 0, 94 + 90 wraps to 56
    gpu.uniform(1, 7.9, -3.9, 200, 90)
    colors = result(gpu, code, [d(), d("x"), d("y"), d("xyzw", "zwzw"), d("z"), d("w")])
    assert colors == [27, 17, 20, (94 + 90) % 128]


def test_uniform_index_past_the_last_is_one(gpu: Any) -> None:
    gpu.uniform(0, 0, 0, 0, 0)
    gpu.uniform(1, 20, 0, 0, 0)
    assert result(gpu, [gpu.op(MOVA, "r0", "c1"), gpu.op(MOV, "o1", "c90", index=1)]) == [255] * 4


INF, NAN = float("inf"), float("nan")


def test_zero_times_infinity_is_zero_but_nan_stays(gpu: Any) -> None:
    gpu.uniform(0, 0.0, INF, 0.0, NAN)
    gpu.uniform(1, INF, 0.0, NAN, 0.0)
    gpu.uniform(2, 0.2, 0.2, 0.2, 0.2)
    # r0 = c0 * c1 = (0, 0, NaN, NaN); r0 == r0 as SGE(r0, r0): 1, 1, 0, 0; colour = that * 0.8 ... + |0.2|
    code = [
        gpu.op(MOV, "r1", "c1"), gpu.op(MUL, "r0", "c0", "r1"), gpu.op(SGE, "r2", "r0", "r0"),
        gpu.op(MUL, "o1", "c2", "r2"),
    ]  # fmt: skip
    assert result(gpu, code) == [51, 51, 0, 0]


def test_infinity_minus_infinity_is_nan(gpu: Any) -> None:
    gpu.uniform(0, INF, INF, 1, -INF)
    code = [
        gpu.op(MOV, "r1", "c0"), gpu.op(ADD, "r0", "c0", "r1", desc=1), gpu.op(SGE, "o1", "r0", "r0"),
    ]  # fmt: skip
    assert result(gpu, code, [gpu.descriptor(), gpu.descriptor(negative="t")]) == [0, 0, 255, 0]


def test_maximum_and_minimum_take_the_second_operand_when_one_is_nan(gpu: Any) -> None:
    """MAX is s > t ? s : t, so max(0, NaN) is NaN and max(NaN, 0) is 0; MIN likewise."""
    gpu.uniform(0, 0.2, NAN, 0.6, 0.4)
    gpu.uniform(1, NAN, 0.2, 0.4, 0.6)
    gpu.uniform(2, 1, 1, 1, 1)
    gpu.uniform(3, 0, 0, 0, 0)
    for code, expected in ((MAX, [255, 51, 153, 153]), (MIN, [255, 51, 102, 102])):
        program = [
            gpu.op(MOV, "r1", "c1"), gpu.op(MOV, "r9", "c3"), gpu.op(code, "r0", "c0", "r1"),
            # NaN is shown as 1: (r0, or 0 for NaN) + (1 - (r0 >= r0))
            gpu.op(SGE, "r2", "r0", "r0"), gpu.op(MAX, "r3", "r0", "r9"), gpu.op(ADD, "r6", "c2", "r2", desc=1),
            gpu.op(ADD, "o1", "r3", "r6"),
        ]  # fmt: skip
        assert result(gpu, program, [gpu.descriptor(), gpu.descriptor(negative="t")]) == expected


@pytest.mark.parametrize(
    ("code", "inputs", "expected"),
    [
        (RCP, [4.0, 0.0, -0.0, INF], [0.25, INF, INF, 0.0]), (RCP, [-INF, -2.0, NAN, 1.0], [0.0, -0.5, NAN, 1.0]),
        (RSQ, [4.0, 0.0, -1.0, INF], [0.5, INF, NAN, 0.0]), (RSQ, [-INF, 0.25, NAN, 1.0], [NAN, 2.0, NAN, 1.0]),
    ],
)  # fmt: skip
def test_reciprocals_of_special_values(gpu: Any, code: int, inputs: list[float], expected: list[float]) -> None:
    """Seen by comparing with the expected value: 0.2 where equal (or both NaN), 0 elsewhere."""
    d = gpu.descriptor
    swizzles = [d("xyzw"[i], "xyzw"[i] * 4) for i in range(4)]
    gpu.uniform(0, *inputs)
    gpu.uniform(1, *[0.0 if e != e else e for e in expected])
    gpu.uniform(2, *[1.0 if e != e else 0.0 for e in expected])
    gpu.uniform(3, *[0.2] * 4)
    gpu.uniform(4, *[1.0] * 4)
    program = [
        *(gpu.op(code, "r0", "c0", desc=1 + i) for i in range(4)),
        gpu.op(SGE, "r1", "c1", "r0"), gpu.op(MOV, "r4", "c1"),
        gpu.op(SGE, "r3", "r0", "r4"), gpu.op(MUL, "r1", "r1", "r3"),  # equal
        gpu.op(SGE, "r5", "r0", "r0"), gpu.op(ADD, "r5", "c4", "r5", desc=5),  # is NaN
        gpu.op(MUL, "r5", "c2", "r5"), gpu.op(MAX, "r1", "r1", "r5"), gpu.op(MUL, "o1", "c3", "r1"),
    ]  # fmt: skip
    assert result(gpu, program, [d(), *swizzles, d(negative="t")]) == [51] * 4


def test_swizzle_negation_and_mask(gpu: Any) -> None:
    gpu.uniform(0, 0.2, 0.4, 0.6, 0.8)
    gpu.uniform(1, 1, 1, 1, 1)
    code = [
        gpu.op(MOV, "o1", "c0", desc=1), gpu.op(MOV, "r0", "c0", desc=2), gpu.op(ADD, "o1", "c1", "r0", desc=3),
    ]  # fmt: skip
    d = gpu.descriptor
    # o1.xz = c0.wx; o1.yw = 1 - c0.zy
    assert result(gpu, code, [d(), d("xz", "wzxy"), d("xyzw", "zzyy"), d("yw", t="xyzw", negative="t")]) == [
        204, 102, 51, 153,
    ]  # fmt: skip


def test_entry_point_counts_instructions(gpu: Any) -> None:
    gpu.draw(BIG)
    gpu.uniform(0, 0.2, 0.4, 0.6, 0.8)
    gpu.program([END, END, END, gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "c0")], entry_point=3)
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(RESTART_PRIMITIVE=1)
    gpu.launch(3)
    assert gpu.one_color() == [51, 102, 153, 204]
