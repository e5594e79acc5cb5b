"""Where the page is wrong about a place, or has what is no method of this class."""

from __future__ import annotations

import pytest

from pocketgpu.cli import main
from pocketgpu.facts.dialect.registers import Certainty
from pocketgpu.facts.maxwell import B1C0, B197
from pocketgpu.maxwell.engines.common.state import State

from .switch_client import COMPUTE, Client


@pytest.mark.parametrize(
    ("alias", "page_word", "name", "word"),
    [
        pytest.param("PolygonOffsetClamp0", 0x51F, "SET_DEPTH_BIAS_CLAMP", 0x61F,
                     marks=pytest.mark.row("b197.0x51f")),
        pytest.param("TexSamplerPoolMaximumIndex", 0x558, "SET_TEX_SAMPLER_POOL_C", 0x559,
                     marks=pytest.mark.row("b197.0x558")),
        pytest.param("InvalidateShaderCachesNoWfi", 0x5A6, "INVALIDATE_SHADER_CACHES_NO_WFI", 0x369,
                     marks=pytest.mark.row("b197.0x5a6")),
        pytest.param("SetSpare", 0x689, "SET_SPARE00", 0x68C, marks=pytest.mark.row("b197.0x689")),
    ],
)  # fmt: skip
def test_a_name_at_a_wrong_place_means_the_method_of_that_name(
    alias: str, page_word: int, name: str, word: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert B197[alias].name == name and B197[alias].word == word
    assert main(["regs", alias]) == 0
    assert f"word {word:#05x}" in capsys.readouterr().out
    client = Client()
    client.put(word, 0x00ABCDEF)
    assert client.read(word) == 0x00ABCDEF and client.events() == []


@pytest.mark.parametrize(
    "word",
    [
        pytest.param(0x51F, marks=pytest.mark.row("b197.0x51f")),
        pytest.param(0x5A6, marks=pytest.mark.row("b197.0x5a6")),
        pytest.param(0x689, marks=pytest.mark.row("b197.0x689")),
    ],
)
def test_at_the_place_of_the_page_there_is_no_method(word: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The class header has none. A write is kept, does nothing else and is reported once."""
    assert B197.at(word) is None
    assert main(["regs", "b197", f"{word:#x}"]) == 2
    assert "Switchbrew's" in capsys.readouterr().err
    client = Client()
    client.put(word, 5)
    client.put(word, 6)
    assert client.events() == ["channel.unknown_method"] and client.read(word) == 6 and client.gpu.log == []


@pytest.mark.row("b197.0x558")
def test_the_word_of_the_page_is_the_lower_half_of_the_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert B197[0x558].name == "SET_TEX_SAMPLER_POOL_B"
    field = B197["SET_TEX_SAMPLER_POOL_C"]["MAXIMUM_INDEX"]
    assert (field.hi, field.lo) == (19, 0)
    client = Client()
    client.put(0x557, 0x12, 0x34567800, 0xFFFFF)
    address = State(B197, client.gpu.registers(0xB197)).address("SET_TEX_SAMPLER_POOL_A")
    assert address == 0x12_34567800
    assert field.raw(client.read(0x559)) == 0xFFFFF


@pytest.mark.row("b197.0x689")
def test_there_are_four_spare_words() -> None:
    client = Client()
    client.put(0x68C, 1, 2, 3, 4)
    assert [client.read(0x68C + n) for n in range(4)] == [1, 2, 3, 4] and client.events() == []
    assert [method.word for method in B197.find("SetSpare")] == [0x68C, 0x68D, 0x68E, 0x68F]


@pytest.mark.row("b197.0x5a6")
def test_the_place_of_the_page_is_that_of_the_compute_class() -> None:
    assert B1C0["INVALIDATE_SHADER_CACHES_NO_WFI"].word == 0x5A6
    for block in (B197, B1C0):
        bits = {field.name: field.lo for field in block["INVALIDATE_SHADER_CACHES_NO_WFI"].fields}
        assert bits == {"INSTRUCTION": 0, "GLOBAL_DATA": 4, "CONSTANT": 12}  # no bit 8, which the page has
    client = Client()
    client.put(0x5A6, 0x1011, subchannel=COMPUTE)
    assert client.read(0x5A6, COMPUTE) == 0x1011 and client.events() == []


@pytest.mark.parametrize(
    ("word", "certainty"),
    [
        pytest.param(0x3D8, Certainty.PEERS, marks=pytest.mark.row("b197.0x3d8")),
        pytest.param(0x3D9, Certainty.PEERS, marks=pytest.mark.row("b197.0x3d9")),
        pytest.param(0x3DE, Certainty.PEERS, marks=pytest.mark.row("b197.0x3de")),
        pytest.param(0x3E0, Certainty.PEERS, marks=pytest.mark.row("b197.0x3e0")),
        pytest.param(0x56D, Certainty.PEERS, marks=pytest.mark.row("b197.0x56d")),
        pytest.param(0x4AB, Certainty.DRIVER, marks=pytest.mark.row("b197.0x4ab")),
        pytest.param(0x599, Certainty.DRIVER, marks=pytest.mark.row("b197.0x599")),
        pytest.param(0x5A5, Certainty.DRIVER, marks=pytest.mark.row("b197.0x5a5")),
        pytest.param(0x64C, Certainty.DRIVER, marks=pytest.mark.row("b197.0x64c")),
    ],
)
def test_what_the_class_header_does_not_have_is_marked_as_that(
    word: int, certainty: Certainty, capsys: pytest.CaptureFixture[str]
) -> None:
    method = B197[word]
    assert method.certainty is certainty and "not in clb197.h" in method.source
    assert main(["regs", "b197", f"{word:#x}"]) == 0
    assert "not in clb197.h" in capsys.readouterr().out


@pytest.mark.row("b197.0x3ef", "b197.0x3f0", "b197.0x3f1", "b197.0x3f2")
def test_the_four_sample_masks_begin_one_word_earlier() -> None:
    """The page begins them at 0x3f0 and has a coverage modulation mode at 0x3ef, which is at 0x3f5."""
    assert [B197[0x3EF + n].name[-5:] for n in range(4)] == ["X0_Y0", "X1_Y0", "X0_Y1", "X1_Y1"]
    assert B197["SET_TIR_MODULATION"].word == 0x3F5


@pytest.mark.row("b197.0x3d6", "b197.0x4e7")
def test_back_and_front_stencil_words_stand_in_different_orders() -> None:
    """The page has enables where the write masks are."""
    assert [B197[0x3D5 + n].name for n in range(3)] == [
        "SET_BACK_STENCIL_FUNC_REF", "SET_BACK_STENCIL_MASK", "SET_BACK_STENCIL_FUNC_MASK",
    ]  # fmt: skip
    assert [B197[0x4E5 + n].name for n in range(3)] == [
        "SET_STENCIL_FUNC_REF", "SET_STENCIL_FUNC_MASK", "SET_STENCIL_MASK",
    ]  # fmt: skip


@pytest.mark.row("b197.0x4c3", "b197.0x4c5", "b197.0x781", "b197.0x784")
@pytest.mark.parametrize(
    ("name", "gl", "d3d"),
    [
        ("SET_DEPTH_FUNC", (0x203, "OGL_LEQUAL"), (4, "D3D_LESSEQUAL")),
        ("SET_ALPHA_FUNC", (0x200, "OGL_NEVER"), (1, "D3D_NEVER")),
        ("SET_BLEND_PER_TARGET_COLOR_OP", (0x8006, "OGL_FUNC_ADD"), (1, "D3D_ADD")),
        ("SET_BLEND_PER_TARGET_ALPHA_OP", (0x8007, "OGL_MIN"), (4, "D3D_MIN")),
    ],
)
def test_functions_are_numbered_in_two_ways(name: str, gl: tuple[int, str], d3d: tuple[int, str]) -> None:
    """The page gives them three or four bits; the words hold GL's numbers or Direct3D's."""
    field = B197[name]["V"]
    assert field.width == 32 and field.enum is not None
    for number, word in (gl, d3d):
        assert field.enum[number] == word and field.text(number) == f"{number} ({word})"


@pytest.mark.row("b197.0x647")
def test_the_winding_is_a_gl_number() -> None:
    """The page says 0x9000, which is a slip: 0x900 is clockwise, 0x901 counter-clockwise."""
    assert B197["OGL_SET_FRONT_FACE"]["V"].enum == {0x900: "CW", 0x901: "CCW"}
