"""Words of registers as text: their digits, and the float that they would be if it has a usual size."""

from __future__ import annotations

import struct

import pytest

from pocketgpu.inspect.switch.lane_trace import as_float, number_text


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0, "0x0"), (1.0, "0x3f800000 (1)"), (-2.5, "0xc0200000 (-2.5)"), (-0.0, "0x80000000 (-0)"),
        (0.1, "0x3dcccccd (0.1)"), (1e-11, "0x2d2febff (1e-11)"), (1e-13, "0x29e12e13"), (1e11, "0x51ba43b7 (1e+11)"),
        (1e13, "0x551184e7"), (float("inf"), "0x7f800000"), (float("nan"), "0x7fc00000"),
    ],
)  # fmt: skip
def test_words_that_may_be_floats(number: float, shown: str) -> None:
    word = struct.unpack("<I", struct.pack("<f", number))[0]
    assert number_text(word) == shown and number_text(word | 5 << 32) == shown
    assert struct.pack("<f", as_float(word)) == struct.pack("<f", number)
    assert number_text(7) == "0x7"
