"""The tables of the Tegra X1's methods: sound in themselves, and found by every name."""

from __future__ import annotations

import math
import random
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pocketgpu.facts.dialect.registers import Certainty
from pocketgpu.facts.dialect.tables import Row, parse_values
from pocketgpu.facts.maxwell import A140, B0B5, B06F, B1C0, B197, CLASSES, SUBCHANNELS, TWOD, WORDS, Method, MethodBlock
from pocketgpu.facts.maxwell.classes import MISPLACED, TABLES

BLOCKS = pytest.mark.parametrize("block", CLASSES.values(), ids=lambda block: block.name)


@BLOCKS
def test_methods_ascend_and_their_elements_never_meet(block: MethodBlock) -> None:
    words = [method.word for method in block]
    assert words == sorted(words) and len(set(words)) == len(words)
    owner: dict[int, Method] = {}
    for method in block:
        for index, word in enumerate(method.words()):
            assert 0 <= word < WORDS, method.name
            assert word not in owner, f"{method.name} and {owner[word].name} at {word:#x}"
            owner[word] = method
            assert block.at(word) == (method, index)
    free = next(word for word in range(WORDS) if word not in owner)
    assert block.at(free) is None and block.get(free) is None


@BLOCKS
def test_fields_of_a_method_overlap_only_as_views(block: MethodBlock) -> None:
    for method in block:
        assert method.fields, method.name
        seen = 0
        for field in method.fields:
            if not field.view:
                assert not field.mask & seen, f"{method.name}.{field.name}"
                seen |= field.mask
            elif not field.mask & seen:
                raise AssertionError(f"{method.name}.{field.name} is a second reading of nothing")


@BLOCKS
def test_enumerations_fit_their_fields_and_have_no_double_numbers(block: MethodBlock) -> None:
    for method in block:
        for field in method.fields:
            if field.enum is not None:
                assert field.type == "enum" and field.enum, method.name
                assert max(field.enum) < 1 << field.width, f"{method.name}.{field.name}"
                assert all(name.strip("_").replace("_", "").isalnum() for name in field.enum.values())


def _field_rows(name: str) -> Iterator[Row]:
    for entry in TABLES.read(name):
        yield from TABLES.rows(entry.rows)


def test_every_shared_enumeration_is_used() -> None:
    classes = [block.name for block in CLASSES.values()]
    parts = {entry["method"].partition("@")[2] for name in classes for entry in TABLES.read(name)} - {""}
    tables = (*classes, *parts, "tic", "tsc", "qmd", "sph")
    used = {row.get("type") for name in tables for row in _field_rows(name)}
    assert [name for name in TABLES.enumerations if name not in used] == []
    assert parse_values("", "A=0x1 B=0xa") == {1: "A", 10: "B"}
    assert parse_values("", "A=0x1 B=0x1") == {1: "A|B"}


@BLOCKS
def test_values_survive_encoding(block: MethodBlock) -> None:
    source = random.Random(block.class_id)
    for method in block:
        word = source.getrandbits(32)
        again = 0
        for field in method.fields:
            assert field.raw(word) << field.lo == word & field.mask
            value = field.decode(word)
            if isinstance(value, float) and math.isnan(value):
                continue
            assert field.encode(value, word) == word, f"{method.name}.{field.name}"
            again |= field.encode(value)
        if not any(isinstance(value, float) for value in method.decode(word).values()):
            assert again == word & sum({field.mask for field in method.fields if not field.view})


def test_floats_are_whole_binary32() -> None:
    field = B197["SET_Z_CLEAR_VALUE"]["V"]
    for value in (1.0, -0.0, 1e-42, 0.1, 3.4e38):
        (word,) = struct.unpack("<I", struct.pack("<f", value))
        assert field.encode(value) == word
        assert field.decode(word) == struct.unpack("<f", struct.pack("<f", value))[0]
    assert field.encode(1e300) == 0x7F800000 and field.encode(-1e300) == 0xFF800000


@BLOCKS
def test_names_find_their_methods(block: MethodBlock) -> None:
    for method in block:
        assert block[method.name] is method and block[method.name.lower()] is method
        assert method.name in block and method.word in block
        assert method in block.find(method.name)
        for alias in method.aliases:
            assert alias in block[alias].aliases and method in block.find(alias)


def test_elements_of_arrays() -> None:
    array = B197["SET_COLOR_TARGET_A"]
    assert (array.word, array.byte, array.count, array.stride) == (0x200, 0x800, 8, 16)
    third = array(3)
    assert (third.word, third.index, third.count, third.stride, third.label) == (
        0x230,
        3,
        1,
        0,
        "SET_COLOR_TARGET_A(3)",
    )
    assert third["OFFSET_UPPER"].raw(0x12345678) == 0x78
    for name in ("SET_COLOR_TARGET_A(3)", "set_color_target_a[3]", "RenderTarget3Addr", 0x230):
        assert B197[name] == third
    grid = B197["SET_STREAM_OUT_LAYOUT_SELECT"]
    assert grid.shape == (4, 32) and grid.count == 128
    assert grid(2, 5) == grid(2 * 32 + 5) == B197[grid.word + 69]
    for bad in [(8,), (-1,), (1, 1)]:
        with pytest.raises(IndexError):
            array(*bad)
    with pytest.raises(IndexError):
        B197["CLEAR_SURFACE"](0)
    assert B197.get("SET_COLOR_TARGET_A(8)") is None
    with pytest.raises(KeyError, match="class b197 has no method 'NOTHING'"):
        B197["NOTHING"]


@pytest.mark.parametrize(
    ("block", "name", "word", "field", "bits"),
    [
        (B197, "CLEAR_SURFACE", 0x674, "RT_ARRAY_INDEX", (25, 10)),
        (B197, "SET_COLOR_TARGET_MEMORY", 0x205, "BLOCK_DEPTH", (11, 8)),
        (B197, "SET_VERTEX_ATTRIBUTE_A", 0x458, "COMPONENT_BIT_WIDTHS", (26, 21)),
        (B197, "SET_REPORT_SEMAPHORE_D", 0x6C3, "REPORT", (27, 23)),
        (B197, "SET_BLEND_ALPHA_DEST_COEFF", 0x4D6, "V", (31, 0)),
        (B197, "BIND_GROUP_CONSTANT_BUFFER", 0x904, "SHADER_SLOT", (8, 4)),
        (B1C0, "SEND_SIGNALING_PCAS_B", 0xAF, "SCHEDULE", (1, 1)),
        (A140, "LAUNCH_DMA", 0x6C, "COMPLETION_TYPE", (5, 4)),
        (TWOD, "SET_SRC_BLOCK_SIZE", 0x8E, "HEIGHT", (6, 4)),
        (B0B5, "LAUNCH_DMA", 0xC0, "REMAP_ENABLE", (10, 10)),
        (B06F, "SEMAPHORED", 0x7, "REDUCTION", (30, 27)),
    ],
)
def test_some_facts(block: MethodBlock, name: str, word: int, field: str, bits: tuple[int, int]) -> None:
    method = block[name]
    assert method.word == word
    assert (method[field].hi, method[field].lo) == bits


def test_the_remap_word_of_the_page_is_a_fill() -> None:
    remap = B0B5["SET_REMAP_COMPONENTS"]
    assert remap.decode(0x34444) == {
        "DST_X": 4, "DST_Y": 4, "DST_Z": 4, "DST_W": 4,
        "COMPONENT_SIZE": 3, "NUM_SRC_COMPONENTS": 0, "NUM_DST_COMPONENTS": 0,
    }  # fmt: skip
    assert remap["DST_X"].text(0x34444) == "4 (CONST_A)" and remap["COMPONENT_SIZE"].text(0x34444) == "3 (FOUR)"


def test_what_no_class_header_has_says_so() -> None:
    assert B197["CLEAR_SURFACE"].certainty is Certainty.DOC and B197["CLEAR_SURFACE"].source == "clb197.h"
    tiled = B197["TiledCacheAction0"]
    assert tiled.certainty is Certainty.PEERS and "not in clb197.h" in tiled.source
    assert B06F["SYNCPOINTB"].certainty is Certainty.PEERS
    assert B197["SET_SHADER_SCHEDULING"].certainty is Certainty.DRIVER


def test_page_names_at_wrong_places_lead_to_the_right_ones() -> None:
    assert B197["PolygonOffsetClamp0"].name == "SET_DEPTH_BIAS_CLAMP"
    assert B197["TexSamplerPoolMaximumIndex"].name == "SET_TEX_SAMPLER_POOL_C"
    for word, alias in MISPLACED.items():
        assert B197[alias].word != word


def test_triggers() -> None:
    for name in ("CLEAR_SURFACE", "BEGIN", "SET_REPORT_SEMAPHORE_D", "CALL_MME_MACRO", "SET_FALCON04", "DRAW_AUTO"):
        assert B197[name].trigger, name
    for name in ("SET_COLOR_TARGET_A", "OGL_SET_CULL", "LINE_COUNT", "SET_MME_SHADOW_SCRATCH", "PITCH_OUT"):
        assert not B197[name].trigger, name
    assert TWOD["PIXELS_FROM_MEMORY_SRC_Y0_INT"].trigger and B06F["SEMAPHORED"].trigger
    assert not B06F["SEMAPHOREA"].trigger and not B0B5["PITCH_IN"].trigger


def test_classes_and_subchannels() -> None:
    assert CLASSES[0xB197] is B197 and CLASSES[0x902D] is TWOD and len(CLASSES) == 6
    assert [SUBCHANNELS[number].class_id for number in range(5)] == [0xB197, 0xB1C0, 0xA140, 0x902D, 0xB0B5]
    assert [len(block) for block in CLASSES.values()] == [613, 181, 72, 180, 35, 19]


def test_importing_reads_no_table() -> None:
    code = (
        "import pocketgpu.facts.maxwell as m;"
        "assert not m.classes.TABLES.loaded, 'a table was read';"
        "assert all('methods' not in vars(b) for b in m.CLASSES.values());"
        "assert len(m.B197) > 600 and m.classes.TABLES.loaded;"
        "assert 'methods' not in vars(m.B197), 'methods were made to count them'"
    )
    subprocess.run([sys.executable, "-S", "-c", code], check=True, env={"PYTHONPATH": "src"})
