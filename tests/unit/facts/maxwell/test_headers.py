"""Structures that the Tegra X1's GPU reads from memory: sound tables, and the same value from every kind of words."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pocketgpu.facts.maxwell import GPFIFO, QMD, SPH, TIC, TSC, BitStructure, tic_of
from pocketgpu.facts.maxwell.headers import STRUCTURES

ALL = pytest.mark.parametrize("structure", STRUCTURES, ids=lambda one: f"{one.file}-{one.name}")


@ALL
def test_fields_lie_inside_and_apart(structure: BitStructure) -> None:
    assert structure.fields
    seen = 0
    names = [field.name for field in structure.elements()]
    assert len(set(names)) == len(names)
    for field in structure.elements():
        assert field.lo + field.width <= structure.bits, field.name
        if not field.view:
            assert not field.mask & seen, field.name
            seen |= field.mask
        if field.enum:
            assert max(field.enum) < 1 << field.width, field.name


@pytest.mark.parametrize("name", TIC)
def test_texture_headers_name_every_bit(name: str) -> None:
    covered = 0
    for field in TIC[name]:
        covered |= field.mask
    assert covered == (1 << 256) - 1


@ALL
def test_words_bytes_arrays_and_numbers_read_alike(structure: BitStructure) -> None:
    source = random.Random(structure.bits)
    words = [source.getrandbits(32) for _ in range(structure.words)]
    array = np.array(words, np.uint32)
    number = int.from_bytes(array.astype("<u4").tobytes(), "little")
    for field in structure.elements():
        expected = number >> field.lo & ((1 << field.width) - 1)
        for data in (number, words, array, array.tobytes(), memoryview(array.tobytes())):
            assert field.raw(data) == expected, field.name


@ALL
def test_packing_gives_back_what_was_decoded(structure: BitStructure) -> None:
    source = random.Random(len(structure.fields))
    words = [source.getrandbits(32) & 0xBF7FFFFF for _ in range(structure.words)]  # no NaN
    values = structure.decode(words)
    assert structure.pack(values, base=words) == words
    plain = {field.name: values[field.name] for field in structure.elements() if not field.view}
    covered = sum(field.mask for field in structure.elements() if not field.view)
    number = int.from_bytes(np.array(words, "<u4").tobytes(), "little")
    packed = int.from_bytes(np.array(structure.pack(plain), "<u4").tobytes(), "little")
    assert packed == number & covered


def test_a_texture_header() -> None:
    words = TIC["BL"].pack(
        {
            "COMPONENTS": 0x08, "R_DATA_TYPE": 2, "HEADER_VERSION": 3, "WIDTH_MINUS_ONE": 1279, "HEIGHT_MINUS_ONE": 719,
            "ADDRESS_BITS31TO9": 0x12345600 >> 9, "ADDRESS_BITS47TO32": 5, "MIP_LOD_BIAS": -1.5, "TEXTURE_TYPE": 1,
        }
    )  # fmt: skip
    # Words and bits as the public header of the class has them.
    assert words[0] == 0x08 | 2 << 7 and words[1] == 0x12345600 and words[2] == 5 | 3 << 21
    assert words[4] == 1279 | 1 << 23 and words[5] == 719 and words[6] == (-384 & 0x1FFF) << 6
    assert tic_of(words) is TIC["BL"]
    assert "WIDTH_MINUS_ONE = 1279 (means 1280)" in TIC["BL"].text(words)
    assert [tic_of([0, 0, version << 21]) for version in range(6)] == [
        TIC["1D"], TIC["PITCHCK"], TIC["PITCH"], TIC["BL"], TIC["BLCK"], None,
    ]  # fmt: skip


def test_fields_that_cross_words_and_arrays() -> None:
    qmd = QMD["01_07"]
    assert qmd["CONSTANT_BUFFER_SIZE"](2).lo == 975 + 2 * 64
    words = qmd.pack({"CONSTANT_BUFFER_SIZE(2)": 0x10000, "CONSTANT_BUFFER_ADDR_UPPER(2)": 5, "CTA_RASTER_WIDTH": 7})
    assert words[30 + 4] == 0x10000 << 15 | 5 and words[12] == 7
    assert qmd["CONSTANT_BUFFER_VALID(7)"].lo == 647
    with pytest.raises(IndexError):
        qmd["CONSTANT_BUFFER_VALID(8)"]
    with pytest.raises(KeyError):
        qmd["NOTHING"]
    with pytest.raises(ValueError, match="does not fit"):
        qmd.pack({"CTA_RASTER_HEIGHT": 0x10000})


def test_gpfifo_words() -> None:
    entry = GPFIFO["ENTRY"]
    raw = 0x5_12345678 | 1 << 41 | 300 << 42
    assert entry["GET"].raw(raw) << 2 == 0x12345678 and entry["GET_HI"].raw(raw) == 5
    assert entry["LENGTH"].raw(raw) == 300 and entry["LEVEL"].text(raw) == "1 (SUBROUTINE)"
    header = GPFIFO["HEADER"]
    assert header["SEC_OP"].text(0xA0030E24) == "5 (ONE_INC)" and header["ADDRESS"].raw(0xA0030E24) == 0xE24
    assert header["COUNT"].raw(0xA0030E24) == 3 and header["IMMD_DATA"].raw(0x8FFF2044) == 0xFFF
    assert header["SUBCHANNEL"].raw(0x8FFF2044) == 1


def test_samplers_and_shader_headers() -> None:
    assert TSC["MIN_LOD_CLAMP"].decode([0, 0, 0x180, 0, 0, 0, 0, 0]) == 1.5
    assert TSC["BORDER_COLOR_G"].decode([0, 0, 0, 0, 0, 0x3F000000, 0, 0]) == 0.5
    assert SPH["VTG"]["GENERIC_OMAP_X"](0).lo == 432 and SPH["PS"]["OMAP_RED"](3).lo == 588
    assert SPH["PS"]["GENERIC_IMAP_W"](31).lo == 198 + 31 * 8
