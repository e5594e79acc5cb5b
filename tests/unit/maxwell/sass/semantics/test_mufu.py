"""The multi-function unit: as close to the true value as NVIDIA says of its own, and exact at the special ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.fuzz import load

COS, SIN, EX2, LG2, RCP, RSQ, RCP64H, RSQ64H, SQRT = range(9)
INF, NAN = math.inf, math.nan
LANES = 32


@pytest.fixture(scope="module", params=["interpreter", "specialised"])
def mufu(request: pytest.FixtureRequest) -> Callable[..., NDArray[np.uint32]]:
    """Bits of results for up to 512 words."""
    fuzz = load("sass_arithmetic")
    gpu = fuzz.Gpu("llvm", request.param)
    form = fuzz.FORMS["MUFU"]

    def run(op: int, words: NDArray[np.uint32], **fields: int) -> NDArray[np.uint32]:
        word = form.value & form.mask
        for name, v in {"guard": 7, "op": op, "a": 1, "d": 2, **fields}.items():
            word |= form.fields[name].put(v)
        padded = np.resize(words, -(-len(words) // LANES) * LANES).reshape(-1, LANES)
        cases = []
        for row in padded:
            before = np.zeros((LANES, fuzz.WORDS), np.uint32)
            before[:, 1] = row
            cases.append(fuzz.Case(form, word, before, np.zeros(fuzz.CONSTANTS, np.uint32)))
        return gpu.run(cases)[:, :, 2].reshape(-1)[: len(words)].copy()

    return run


def _spread(low: float, high: float) -> NDArray[np.uint32]:
    return np.random.default_rng(7).uniform(low, high, 512).astype(np.float32).view(np.uint32)


def _exponents(low: int, high: int) -> NDArray[np.uint32]:
    rng = np.random.default_rng(8)
    return (rng.uniform(1, 2, 512) * 2.0 ** rng.integers(low, high, 512)).astype(np.float32).view(np.uint32)


@pytest.mark.parametrize(
    "op, words, true, relative, absolute",
    [
        (COS, _spread(-math.pi, math.pi), np.cos, 0, 2**-21.19),
        (SIN, _spread(-math.pi, math.pi), np.sin, 0, 2**-21.41),
        (EX2, _spread(-125, 127), np.exp2, 2**-22, 0),
        (LG2, _spread(0.5, 2), np.log2, 0, 2**-22),
        (LG2, _exponents(-126, 127), np.log2, 3 * 2**-24, 2**-22),
        (RCP, _exponents(-125, 125), lambda x: 1 / x, 2**-23, 0),
        (RSQ, _exponents(-126, 127), lambda x: 1 / np.sqrt(x), 2**-22.4, 0),
        (SQRT, _exponents(-126, 127), np.sqrt, 2**-22.4, 0),
    ],
)
def test_close_to_the_true_value(
    mufu: Callable[..., NDArray[np.uint32]], op: int, words: NDArray[np.uint32],
    true: Callable[[NDArray[np.float64]], NDArray[np.float64]], relative: float, absolute: float,
) -> None:  # fmt: skip
    wanted = true(words.view(np.float32).astype(np.float64))
    error = np.abs(mufu(op, words).view(np.float32) - wanted)
    assert (error <= np.abs(wanted) * relative + absolute).all()


@pytest.mark.parametrize("op", [RCP64H, RSQ64H])
def test_upper_words_of_doubles(mufu: Callable[..., NDArray[np.uint32]], op: int) -> None:
    rng = np.random.default_rng(9)
    numbers = rng.uniform(1, 2, 512) * 2.0 ** rng.integers(-1000, 1000, 512)
    words = (numbers.view(np.uint64) >> np.uint64(32)).astype(np.uint32)
    got = (mufu(op, words).astype(np.uint64) << np.uint64(32)).view(np.float64)
    x = (words.astype(np.uint64) << np.uint64(32)).view(np.float64)
    wanted = 1 / x if op == RCP64H else 1 / np.sqrt(x)
    assert (np.abs(got / wanted - 1) < 2**-19).all()


SPECIAL = [
    (RCP, [0.0, -0.0, INF, -INF, NAN, 1e-40, -1e-40, 2.0**127], [INF, -INF, 0.0, -0.0, NAN, INF, -INF, 0.0]),
    (RSQ, [0.0, -0.0, INF, -1.0, NAN, 1e-40, 4.0], [INF, -INF, 0.0, NAN, NAN, INF, 0.5]),
    (SQRT, [0.0, -0.0, INF, -1.0, 1e-40, 9.0], [0.0, -0.0, INF, NAN, 0.0, 3.0]),
    (LG2, [0.0, -0.0, INF, -1.0, 1.0, 1e-40, 8.0], [-INF, -INF, INF, NAN, 0.0, -INF, 3.0]),
    (EX2, [0.0, -0.0, INF, -INF, NAN, 1e-40, 128.0, -127.0, -1.0], [1.0, 1.0, INF, 0.0, NAN, 1.0, INF, 0.0, 0.5]),
    (SIN, [0.0, -0.0, INF, -INF, NAN], [0.0, -0.0, NAN, NAN, NAN]),
    (COS, [0.0, -0.0, INF, NAN], [1.0, 1.0, NAN, NAN]),
]


@pytest.mark.parametrize("op, values, wanted", SPECIAL)
def test_special_values(
    mufu: Callable[..., NDArray[np.uint32]], op: int, values: list[float], wanted: list[float]
) -> None:
    expected = np.array(wanted, np.float32).view(np.uint32)
    expected = np.where(np.isnan(np.array(wanted)), 0x7FFFFFFF, expected)
    assert mufu(op, np.array(values, np.float32).view(np.uint32)).tolist() == expected.tolist()


def test_signs_and_saturation(mufu: Callable[..., NDArray[np.uint32]]) -> None:
    words = np.array([-4.0, 4.0, 0.25, NAN, 0.0], np.float32).view(np.uint32)
    as_floats = lambda **fields: mufu(RCP, words, **fields).view(np.float32)[[0, 1, 2, 4]].tolist()  # noqa: E731
    assert as_floats(**{"a.neg": 1}) == [0.25, -0.25, -4.0, -INF]
    assert as_floats(**{"a.abs": 1}) == [0.25, 0.25, 4.0, INF]
    assert as_floats(sat=1) == [0.0, 0.25, 1.0, 1.0]
    assert mufu(RCP, words, sat=1)[3] == 0
