"""The language of conditions, watches and log points."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from pocketgpu.editor.dap.expressions import encoded, parse, parse_log, shown
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.register_values import Value


def word(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


class Some:
    """Registers of both consoles."""

    def __init__(self) -> None:
        self.words = {
            **{f"r0.{letter}": (word(number), "f32") for letter, number in zip("xyzw", (1, 2, 3, -4), strict=True)},
            "a0.x": (5, "i32"), "a0.y": (0xFFFFFFFF, "i32"), "cmp.x": (1, "bool"), "cmp.y": (0, "bool"),
            "R4": (0x3C00C000, "bits"), "R5": (word(0.5), "f32"), "R2": (0, "bits"), "R3": (0x3FF80000, "bits"),
            "CC.zero": (1, "bool"), "P0": (0, "bool"), "c[0x0][0x140]": (7, "bits"), "R6": (word(math.nan), "f32"),
        }  # fmt: skip

    def find(self, name: str) -> Value | None:
        found = self.words.get(name)
        return None if found is None else Value((name,), *found)


def value(text: str) -> Any:
    return parse(text).value(Some())


@pytest.mark.parametrize(("text", "wanted"), (
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3.5), ("-7 % 4", 1), ("1 << 4 | 3", 19), ("0xff & ~0xf", 0xF0),
    ("2 - 3 - 4", -5), ("1e2", 100.0), (".5", 0.5), ("- -1", 1), ("inf", math.inf),
    ("r0.x", 1.0), ("r0", (1.0, 2.0, 3.0, -4.0)), ("r0.zyx", (3.0, 2.0, 1.0)), ("r0.xx", (1.0, 1.0)), ("r0.rg",
    (1.0, 2.0)),
    ("a0", (5, -1)), ("R5", 0.5), ("R4", 0x3C00C000), ("CC.zero", True), ("c[0x0][0x140] + 1", 8),
    ("R4 as f16x2", (-2.0, 1.0)), ("R5 as bits", 0x3F000000), ("R5 as i32", 0x3F000000), ("0x3f800000 as f32", 1.0),
    ("(R2, R3) as f64", 1.5), ("r0.xy as bits", (0x3F800000, 0x40000000)), ("a0.y as u32", 0xFFFFFFFF),
    ("r0.xyz * 2", (2.0, 4.0, 6.0)), ("r0 + (1, 1, 1, 1)", (2.0, 3.0, 4.0, -3.0)), ("[1, 2]", (1, 2)),
    ("r0.xy == (1, 2)", (True, True)), ("r0.x > 0 and r0.w < 0", True), ("r0.x > 5 or cmp.x", True),
    ("not cmp.x", False),
    ("!cmp.y && P0 == 0", True), ("r0.xy == (1, 3) || 0", False), ("isnan(R6)", True), ("isinf(1 / 0)", True),
    ("dot(r0.xyz, r0.xyz)", 14.0), ("length((3, 4))", 5.0), ("min(r0.xyz, 2)", (1.0, 2.0, 2)), ("abs(r0.w)", 4.0),
    ("sqrt(16)", 4.0), ("max(1, 2)", 2), ("true and not false", True), ("1 < 2", True), ("2 >= 3", False),
))  # fmt: skip
def test_values(text: str, wanted: Any) -> None:
    assert value(text) == wanted


def test_what_decides_is_enough() -> None:
    assert value("0 and nothing.x") is False and value("1 or nothing.x") is True


@pytest.mark.parametrize("text", (
    "", "1 +", "(1", "1)", "r9", "r0.q", "r0.xq", "1 2", "R4 as f17", "R4 as", "@", "dot(1)", "unknown(1)", "and",
    "1 as f64",
    "r0 + (1, 2)", "1 << 99", "R5 & 1", "9" * 50, "1" * 2000, "(" * 60 + "1" + ")" * 60, "-" * 60 + "1",
    "*".join(["99999999999999999999"] * 9), "c[0x0]", "__import__('os')", "r0.__class__", "(1).real",
))  # fmt: skip
def test_mistakes_are_told(text: str) -> None:
    with pytest.raises(UsageError):
        value(text)


def test_no_expression_ends_in_another_error() -> None:
    assert value("+".join(["1"] * 400)) == 400
    assert math.isnan(value("0 / 0")) and math.isnan(value("sqrt(-1)")) and math.isnan(value("inf % 2"))


def test_text_and_words() -> None:
    assert shown((1.5, 2, True)) == "(1.5, 2, true)" and shown(255, True) == "0x000000ff"
    assert (encoded(1, "f32"), encoded(1, "bits"), encoded(1.0, "bits")) == (0x3F800000, 1, 0x3F800000)
    assert (encoded(-1, "i32"), encoded(3, "bool"), encoded(1e60, "f32")) == (0xFFFFFFFF, 1, 0x7F800000)
    with pytest.raises(UsageError):
        encoded(1 << 32, "bits")


def test_texts_of_log_points() -> None:
    assert parse_log("x is {r0.x}, {r0.yz * 2}; {nothing}").text(Some()).startswith("x is 1, (4, 6); <there is no")
    with pytest.raises(UsageError):
        parse_log("{1 +}")
