"""The declarative form itself: number formats, fields, look-up."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketgpu.facts.dialect.registers import Bank, Field, Register, RegisterBlock, decode_float, encode_float
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import PICA

FLOATS = {"f16": 16, "f20": 20, "f24": 24, "f31": 31, "f32": 32}
WORDS = st.integers(0, 0xFFFFFFFF)


@pytest.mark.parametrize(
    ("bits", "value"),
    [(0x3F0000, 1.0), (0x3E0000, 0.5), (0xC00000, -2.0), (0x45E000, 120.0), (0, 0.0), (0x400000, 2.0)],
)
def test_f24_values_of_the_documentation(bits: int, value: float) -> None:
    assert decode_float(bits, "f24") == value
    assert encode_float(value, "f24") == bits


def test_third_is_cut_off_in_f24() -> None:
    assert encode_float(1 / 3, "f24") == 0x3D5555
    assert abs(decode_float(0x3D5555, "f24") - 1 / 3) < 1e-5


@pytest.mark.parametrize(
    ("type_", "bits", "value"),
    [
        ("f16", 0x3C00, 1.0),
        ("f16", 0xC000, -2.0),
        ("f20", 0x3F000, 1.0),
        ("f20", 0xBE800, -0.75),
        ("f31", 0x1F800000, 1.0),
        ("f31", 0x1E000000, 0.125),
        ("f32", 0x3F800000, 1.0),
    ],
)
def test_other_float_formats(type_: str, bits: int, value: float) -> None:
    assert decode_float(bits, type_) == value
    assert encode_float(value, type_) == bits


@pytest.mark.parametrize("type_", FLOATS)
def test_float_specials(type_: str) -> None:
    assert decode_float(encode_float(math.inf, type_), type_) == math.inf
    assert decode_float(encode_float(-math.inf, type_), type_) == -math.inf
    assert math.isnan(decode_float(encode_float(math.nan, type_), type_))
    assert encode_float(-0.0, type_) == 0
    assert decode_float(1, type_) == 0.0, "an exponent of zero is zero"
    assert decode_float(encode_float(1e300, type_), type_) == math.inf
    assert encode_float(1e-300, type_) == 0


@pytest.mark.parametrize(("type_", "width"), FLOATS.items())
@given(word=WORDS)
def test_floats_survive_a_round_trip(type_: str, width: int, word: int) -> None:
    word &= (1 << width) - 1
    value = decode_float(word, type_)
    if not math.isnan(value) and value != 0.0:
        assert encode_float(value, type_) == word


@given(value=st.floats(-1e6, 1e6, width=32))
def test_f24_cuts_off_towards_zero(value: float) -> None:
    kept = decode_float(encode_float(value, "f24"), "f24")
    assert abs(kept) <= abs(value)
    if abs(value) > 1e-18:
        assert abs(kept - value) <= abs(value) / 65536


@pytest.mark.parametrize(
    ("field", "word", "value"),
    [
        (Field("a", 16, 10, "sint"), 0x03FF0000, -1),
        (Field("a", 0, 13, "fixed8"), 0x1F80, -0.5),
        (Field("a", 0, 8, "ufixed8"), 0x80, 0.5),
        (Field("a", 12, 12, "smag"), 0x00805000, -5),
        (Field("a", 31, 1, "bool"), 0x80000000, True),
        (Field("a", 0, 28, "pa8"), 0x03000000, 0x18000000),
        (Field("a", 1, 28, "pa16"), 0x03000000, 0x18000000),
        (Field("a", 0, 21, "x8"), 0x10, 0x80),
        (Field("a", 16, 16, "x16"), 0x00800000, 0x800),
    ],
)
def test_field_types(field: Field, word: int, value: float) -> None:
    assert field.decode(word) == value
    assert field.encode(value) == word
    assert field.encode(value, 0xFFFFFFFF) == word | (0xFFFFFFFF & ~field.mask), "other bits stay"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Field("a", 0, 4), 16),
        (Field("a", 0, 4), -1),
        (Field("a", 0, 4), 1.5),
        (Field("a", 0, 4, "sint"), 8),
        (Field("a", 0, 28, "pa8"), 0x18000004),
        (Field("a", 0, 13, "fixed8"), 16.0),
        (Field("a", 0, 13, "fixed8"), math.nan),
    ],
)
def test_values_that_do_not_fit_are_refused(field: Field, value: float) -> None:
    with pytest.raises(ValueError, match="does not fit field a"):
        field.encode(value)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Field("a", 30, 3),
        lambda: Field("a", 0, 0),
        lambda: Field("a", 0, 8, "float"),
        lambda: Field("a", 0, 23, "f24"),
        lambda: Field("a", 0, 8, "enum"),
        lambda: Field("a", 0, 8, "uint", enum={0: "x"}),
    ],
)
def test_senseless_fields_are_refused(bad: object) -> None:
    assert callable(bad)
    with pytest.raises(ValueError, match="field a"):
        bad()


def test_text_is_readable() -> None:
    assert Field("a", 0, 4, "enum", enum={3: "copy"}).text(3) == "3 (copy)"
    assert Field("a", 0, 4, "enum", enum={3: "copy"}).text(4) == "4 (undefined)"
    assert Field("a", 0, 28, "pa8").text(0x03000000) == "0x18000000"
    assert Field("a", 0, 3, unit="minus one").text(2) == "2 (means 3)"
    assert Field("a", 0, 24, "f24").text(0xBF0000) == "-1"
    assert Field("a", 0, 1, "bool").text(1) == "yes"
    assert Field("a", 0, 32, "sint", unit="bytes").text(0xFFFFFD30) == "-720 bytes"


def _block() -> RegisterBlock:
    bank = Bank("test", 0x1000, 4)
    one = Register(bank, 0, "ONE", ("FIRST",), (Field("low", 0, 8), Field("high", 8, 8)))
    two = Register(bank, 2, "TWO", doc="blue things")
    return RegisterBlock(bank, [two, one])


def test_block_lookup() -> None:
    block = _block()
    assert [register.name for register in block] == ["ONE", "TWO"]
    assert block[0] is block["ONE"] is block["first"] is block.at(0x1000)
    assert block["TWO"].address == 0x1008
    assert block.at(0x1009) is None and block.at(0x1004) is None and block.get("THREE") is None
    assert "TWO" in block and 1 not in block
    bound = block.field("ONE.high")
    assert (bound.register.offset, bound.lo, bound.width, bound.type, bound.mask) == (0, 8, 8, "uint", 0xFF00)
    assert bound.decode(0x1234) == 0x12
    assert block["ONE"].encode(0xFFFF0000, low=1, high=2) == 0xFFFF0201
    assert block["ONE"].decode(0x0201) == {"low": 1, "high": 2}
    assert [register.name for register in block.search("BLUE things")] == ["TWO"]
    with pytest.raises(KeyError, match=r"no field 'middle'.*low, high"):
        block.field("ONE.middle")
    with pytest.raises(KeyError, match="no register 0x1"):
        block[1]


def test_block_refuses_two_registers_of_one_name_or_place() -> None:
    bank = Bank("test", 0, 4)
    with pytest.raises(ValueError, match="two registers at"):
        RegisterBlock(bank, [Register(bank, 0, "A"), Register(bank, 0, "B")])
    with pytest.raises(ValueError, match="two registers named"):
        RegisterBlock(bank, [Register(bank, 0, "A"), Register(bank, 1, "B", ("a",))])


@pytest.mark.parametrize("block", [PICA, EXTERNAL, LCD], ids=lambda block: block.name)
def test_values_and_places_are_told_without_the_register(block: RegisterBlock) -> None:
    for register in block:
        for name in (register.name, register.name.lower(), *register.aliases):
            told = (block.reset_of(name), block.address_of(name), block.offset_of(name))
            assert told == (register.reset, register.address, register.offset)
    for ask in (block.reset_of, block.address_of):
        with pytest.raises(KeyError):
            ask("NONSENSE")
