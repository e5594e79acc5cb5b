"""What instructions compute: the documents' list of results, address registers, precision, and the last bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pocketgpu.pica.shader import Outputs, Program
from pocketgpu.pica.shader.arithmetic import LITP_BOUND
from pocketgpu.pica.shader.assembler import assemble

Run = Callable[..., Outputs]
INF, NAN = math.inf, math.nan


def equal(a: float, b: float) -> bool:
    """The same number, or both NaN; the sign of zero counts."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


# Source: 3dbrew GPU/Shader Instruction Set, "Floating-Point Behavior"; the rest follows from its definitions.
PAIRS = [
    ("mul", INF, 0, 0), ("mul", 0, -INF, 0), ("mul", NAN, 0, NAN), ("mul", 0, NAN, NAN), ("mul", INF, 2, INF),
    ("mul", INF, -INF, -INF), ("add", INF, -INF, NAN), ("add", INF, INF, INF), ("add", 1.5, -4, -2.5),
    ("max", 0, INF, INF), ("max", 0, NAN, NAN), ("max", NAN, 0, 0), ("max", -INF, INF, INF), ("max", 2, 1, 2),
    ("min", 0, INF, 0), ("min", 0, -INF, -INF), ("min", 0, NAN, NAN), ("min", NAN, 0, 0), ("min", -INF, INF, -INF),
    ("sge", 1, 1, 1), ("sge", 0, 1, 0), ("sge", NAN, NAN, 0), ("slt", 0, 1, 1), ("slt", 1, 1, 0), ("slt", NAN, 1, 0),
]  # fmt: skip
SINGLES = [
    ("rcp", -0.0, INF), ("rcp", 0, INF), ("rcp", INF, 0), ("rcp", NAN, NAN), ("rcp", 8, 0.125), ("rcp", -4, -0.25),
    ("rsq", -0.0, INF), ("rsq", 0, INF), ("rsq", -2, NAN), ("rsq", INF, 0), ("rsq", -INF, NAN), ("rsq", NAN, NAN),
    ("rsq", 16, 0.25), ("ex2", 0, 1), ("ex2", 6, 64), ("ex2", -800, 0), ("ex2", 800, INF), ("ex2", INF, INF),
    ("ex2", -INF, 0), ("ex2", NAN, NAN), ("ex2", -149, 2.0**-149), ("lg2", 64, 6), ("lg2", 0.125, -3),
    ("lg2", 0, -INF), ("lg2", -1, NAN), ("lg2", INF, INF), ("lg2", NAN, NAN), ("lg2", 2.0**-140, -140), ("lg2", 1, 0),
    ("flr", 1.5, 1), ("flr", -1.5, -2), ("flr", INF, INF), ("flr", NAN, NAN), ("mov", -0.0, -0.0),
]  # fmt: skip


def test_results_of_two_sources(run: Run) -> None:
    for name, a, b, expected in PAIRS:
        assert equal(run(f"{name} o0, v0, v1 \n end", a, b)[0, 0, 0], expected), (name, a, b)


def test_results_of_one_source(run: Run) -> None:
    for name, a, expected in SINGLES:
        assert equal(run(f"{name} o0, v0 \n end", a)[0, 0, 2], expected), (name, a)


def test_products_of_zero_and_infinity_vanish_inside_of_sums(run: Run) -> None:
    v0, v1 = (INF, 2, 3, 4), (0, 1, 1, 1)
    result = run(
        """
        dp3 o0, v0, v1
        dp4 o1, v0, v1
        dph o2, v0, v1
        mad o3, v0, v1, v1
        dst o4, v1, v0
        max r0, v1, v0      ; a maximum swallows NaN, yet the product must have been right
        mul r0, v0, v1
        max o5, r0, v1
        end
        """,
        v0,
        v1,
    )
    assert result[0, 0, 0] == 5 and result[0, 1, 0] == 9 and result[0, 2, 0] == 6
    assert result[0, 3].tolist() == [0, 3, 4, 5]
    assert result[0, 4].tolist() == [1, 2, 1, 4]
    assert result[0, 5].tolist() == [0, 2, 3, 4]


HIDDEN = {
    "mul": lambda a, b, i: a[i] * b[i] if a[i] else 0.0, "mad": lambda a, b, i: (a[i] * b[i] if a[i] else 0.0) + b[i],
    "dp4": lambda a, b, i: float(sum(x * y for x, y in zip(a, b, strict=True) if x)),
    "dp3": lambda a, b, i: float(sum(x * y for x, y in zip(a[:3], b[:3], strict=True) if x)),
    "dph": lambda a, b, i: float(sum(x * y for x, y in zip(a[:3], b[:3], strict=True) if x)) + b[3],
    "dst": lambda a, b, i: (1.0, a[1] * b[1] if a[1] else 0.0, a[2], b[3])[i],
}  # fmt: skip
"""What products give if the second vector has one infinity and the first one is zero there."""


@pytest.mark.parametrize("name", HIDDEN)
def test_a_nan_of_one_component_is_found(run: Run, name: str) -> None:
    """A maximum swallows the NaN of a plain product; the place of the infinity does not matter."""
    text = f"{name} r0, v0, v1{', v1' if name == 'mad' else ''} \n max r1, c0, r0 \n mov o0, r1 \n end"
    for place in range(4):
        a, b = [2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0]
        a[place], b[place] = 0.0, INF
        result = run(text, a, b, numpy=False, uniforms={0: (-1, -1, -1, -1)})
        assert result[0, 0].tolist() == [HIDDEN[name](a, b, i) for i in range(4)], place


def test_a_nan_that_plain_products_hide_is_still_found(run: Run) -> None:
    """The fast code multiplies plainly and looks for NaN at the end; whatever comes after the product."""
    for after in ("sge r1, c0, r0", "max r1, c0, r0", "min r1, r0, v0", "slt r1, c0, r0", "mova a0.x, r0.x"):
        for product in ("mul r0, v0, v1", "mad r0, v0, v1, v1", "dp4 r0, v0, v1", "dph r0, v1, v0", "dst r0, v0, v1"):
            for again in ("nop", "mov r0, c0", "mov r0.xy, c0", "mul r0, r0, r0", "rcp r0.x, r0.y"):
                text = f"{product} \n {after} \n {again} \n add o0, r1, r0 \n mov o1, c40[a0.x] \n mov o2, r1 \n end"
                words = assemble(text)
                inputs = np.zeros((1, 16, 4), np.float32)
                inputs[0, 0], inputs[0, 1] = (INF, -INF, INF, INF), (0, 0, 0, 0)
                runs = [
                    Program(words.code, words.descriptors, evaluator="numpy", tier=tier).run(
                        inputs, {0: (1, -1, 0, 2), 40: (4, 4, 4, 4)}
                    )
                    for tier in ("interpreter", "specialised")
                ]
                assert (runs[0].view(np.uint32) == runs[1].view(np.uint32)).all(), text


def test_light(run: Run) -> None:
    bound = LITP_BOUND
    assert bound == 127.99609375
    cases = [
        ((1, 2, 3, 4), [1, 2, 0, 4]),
        ((-1, 300, 3, -4), [0, bound, 0, 0]),
        ((0, -300, 3, -0.0), [0, -bound, 0, 0]),
    ]
    for source, expected in cases:
        result = run("litp o0, v0 \n end", source)
        assert result[0, 0].tolist() == expected
        assert result.conditions[0].tolist() == [source[0] >= 0, source[3] >= 0]
    zero = run("litp o0, v0 \n end", NAN)
    assert zero[0, 0].tolist() == [0, -bound, 0, 0] and not zero.conditions.any()
    kept = run("litp o0, v0 \n end", NAN, choices={"shader.litp_nan": "keep"})
    assert np.isnan(kept[0, 0, [0, 1, 3]]).all() and kept[0, 0, 2] == 0


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(run: Run, name: str) -> None:
    for a in (0.0, 1.0, NAN, INF):
        for b in (0.0, 1.0, NAN):
            holds = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name]
            result = run(f"cmp v0, {name}, eq, v1 \n end", a, b, numpy=False)
            assert result.conditions[0].tolist() == [holds, a == b], (a, b)


def test_comparisons_six_and_seven_are_true(run: Run) -> None:
    word = 0x2E << 26 | 6 << 24 | 7 << 21 | 1 << 7
    assert run(f".word {word} \n end", NAN, 1.0).conditions.all()


@pytest.mark.parametrize("offset", [-200, -129, -128, -73, -33, -32, -1, 0, 1, 62, 63, 64, 95, 127, 128, 1e9, NAN])
def test_uniforms_by_address(run: Run, offset: float) -> None:
    text = "mova a0.xy, v0 \n mov o0, c33[a0.x] \n mov o1, c33[a0.y] \n end".replace("c33[a0.x]", "c0[a0.x+33]")
    text = text.replace("c33[a0.y]", "c0[a0.y+33]")
    result = run(text, (offset, 5, 0, 0), uniforms={i: (i, 0, 0, 0) for i in range(96)})
    whole = 0 if math.isnan(offset) or not -128 <= int(offset) <= 127 else int(offset)
    place = (33 + whole) & 0x7F
    assert result[0, 0].tolist() == ([1, 1, 1, 1] if place > 95 else [place, 0, 0, 0])
    assert result[0, 1, 0] == 38
    assert result.address[0, 1] == 5


def test_an_address_register_moves_only_uniforms(run: Run) -> None:
    # MOV o0, v1 and MOV o1, r1 with the index field set to a0.x
    index, move = 1 << 19, 0x13 << 26
    text = f"""
        mova a0.x, v0.x
        mov r1, v1
        mov r3, c9
        .word {move | index | 0x01 << 12 | 0 << 21 | 1}
        .word {move | index | 0x11 << 12 | 1 << 21 | 1}
        end
        .desc 1, {0x1B << 5 | 15}
    """
    result = run(text, 2.0, 7.0, uniforms={9: (9, 9, 9, 9)})
    assert result[0, 0, 0] == 7 and result[0, 1, 0] == 7


def test_swizzles_negation_and_masks(run: Run) -> None:
    result = run("mov o0, -v0.wzyx \n mov o1.yw, v0.x \n add o2.xz, v0.yyww, -v0.xxxx \n end", (1, 2, 3, 4))
    assert result[0, :3].tolist() == [[-4, -3, -2, -1], [0, 1, 0, 1], [1, 0, 3, 0]]


def test_disputed_results_follow_their_switches(run: Run) -> None:
    assert run("max o0, v0, v1 \n end", 0.0, -INF)[0, 0, 0] == 0
    assert run("max o0, v0, v1 \n end", 0.0, -INF, choices={"shader.max_infinity": "result"})[0, 0, 0] == -INF
    signed = {"shader.reciprocal_zero": "signed"}
    for name in ("rcp", "rsq"):
        assert run(f"{name} o0, v0 \n end", -0.0, choices=signed)[0, 0, 0] == -INF
        assert run(f"{name} o0, v0 \n end", 0.0, choices=signed)[0, 0, 0] == INF


@pytest.mark.parametrize(
    ("name", "true", "low", "high"),
    [("ex2", np.exp2, -126, 127), ("ex2", np.exp2, -1, 1), ("lg2", np.log2, 1e-30, 1e30), ("lg2", np.log2, 0.5, 2)],
)
def test_powers_and_logarithms_are_nearly_always_the_nearest_number(
    name: str, true: Any, low: float, high: float
) -> None:
    x = np.random.default_rng(1).uniform(low, high, 20_000).astype(np.float32)
    words = assemble(f"{name} o0, v0 \n end")
    inputs = np.zeros((len(x), 16, 4), np.float32)
    inputs[:, 0, 0] = x
    got = np.asarray(Program(words.code, words.descriptors).run(inputs))[:, 0, 0]
    nearest = true(x.astype(np.float64)).astype(np.float32)
    steps = np.abs(got.view(np.int32).astype(np.int64) - nearest.view(np.int32))
    assert steps.max() <= 1 and (steps > 0).mean() < 0.02


def cut(x: float) -> float:
    """A result: it is computed as f32 and then cut."""
    with np.errstate(over="ignore"):
        return f24(float(np.float32(x)))


def f24(x: float) -> float:
    """The definition in words of its own: 7 bits of exponent, 16 of mantissa, cut off."""
    if math.isnan(x) or math.isinf(x) or x == 0:
        return abs(x) if x == 0 else x
    mantissa, exponent = math.frexp(abs(x))  # 0.5 <= mantissa < 1
    if exponent - 1 < -62:
        return 0.0
    if exponent - 1 > 63:
        return math.copysign(INF, x)
    return math.copysign(math.ldexp(math.floor(mantissa * 2**17), exponent - 17), x)


def test_24_bits(run: Run) -> None:
    choices = {"shader.precision": "f24"}
    values = [1.0, 1 / 3, -2 / 3, 1e-19, 2.0**-62, 2.0**-63, -1e-25, 1e19, 1.8446e19, 1e20, -3e38, 0.1, NAN, INF, -0.0]
    for x in values:
        single = float(np.float32(x))
        assert equal(run("mov o0, v0 \n end", x, choices=choices, numpy=False)[0, 0, 0], f24(single)), x
        for y in (3.0, 1 / 3, 1e10, 1e-10):
            a, b = f24(single), f24(float(np.float32(y)))
            result = run(
                "mul o0, v0, v1 \n add o1, v0, v1 \n mad o2, v0, v1, v1 \n end", x, y, choices=choices, numpy=False
            )
            product = cut(a * b)
            expected = [product, cut(a + b), cut(product + b)]
            for i, value in enumerate(expected):
                assert equal(float(result[0, i, 0]), value), (x, y, i)
    third = run("rcp o0, v0 \n end", 3.0, choices=choices)
    assert third[0, 0, 0] == f24(1 / 3) and run("rcp o0, v0 \n end", 3.0)[0, 0, 0] == np.float32(1 / 3)
