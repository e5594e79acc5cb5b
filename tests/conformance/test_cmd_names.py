"""Command ids as names: `pocketgpu regs` answers to the ids of the page of 2013 and to no other numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pocketgpu.cli import main
from pocketgpu.inspect.registers import describe

from .commands import VRAM

IDS = {
    "0x000F0010": "FINALIZE", "0x000F0110": "FRAMEBUFFER_INVALIDATE", "0x000F0111": "FRAMEBUFFER_FLUSH",
    "0x000F0040": "FACECULLING_CONFIG", "0x000F0041": "VIEWPORT_WIDTH", "0x000F0042": "VIEWPORT_INVW",
    "0x000F0043": "VIEWPORT_HEIGHT", "0x000F0044": "VIEWPORT_INVH", "0x801F004D": "DEPTHMAP_SCALE",
    "0x0002025E": "PRIMITIVE_CONFIG", "0x000F0068": "VIEWPORT_XY", "0x000F006E": "RENDERBUF_DIM",
    "0x809F0081": "TEXUNIT0_BORDER_COLOR", "0x000F008E": "TEXUNIT0_TYPE", "0x00020100": "COLOR_OPERATION",
    "0x000F0101": "BLEND_FUNC", "0x00010107": "DEPTH_COLOR_MASK", "0x00020107": "DEPTH_COLOR_MASK",
    "0x00030107": "DEPTH_COLOR_MASK", "0x000F0116": "DEPTHBUFFER_FORMAT", "0x000F0117": "COLORBUFFER_FORMAT",
    "0x000F011C": "DEPTHBUFFER_LOC", "0x000F011D": "COLORBUFFER_LOC", "0x000F011E": "FRAMEBUFFER_DIM",
    "0x826F0200": "ATTRIBBUFFERS_LOC", "0x00080126": "GAS_DELTAZ_DEPTH", "0x000F0227": "INDEXBUFFER_CONFIG",
    "0x000F0228": "NUMVERTICES", "0x803F0232": "FIXEDATTRIB_INDEX", "0x000F02B0": "VSH_BOOLUNIFORM",
    "0x801F02BB": "VSH_ATTRIBUTES_PERMUTATION_LOW", "0x000F02C0": "VSH_FLOATUNIFORM_INDEX",
    "0xXXXF02C1": "VSH_FLOATUNIFORM_DATA0", "0x00020229": "GEOSTAGE_CONFIG", "0x00020253": "GEOSTAGE_CONFIG2",
    "0x0004025E": "PRIMITIVE_CONFIG", "0x000F025F": "RESTART_PRIMITIVE", "0x00010253": "GEOSTAGE_CONFIG2",
    "0x00010245": "START_DRAW_FUNC0", "0x000F022F": "DRAWELEMENTS", "0x000F0231": "VTX_FUNC",
    "0x000C02BA": "VSH_ENTRYPOINT",
}  # fmt: skip


def test_command_ids_of_the_page_are_names(capsys: Any) -> None:
    for header, name in IDS.items():
        assert main(["regs", header, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["registers"]
        assert found["name"] == name
        assert main(["regs", header]) == 0
        assert "header of a command list entry" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("0x000F0110", "it writes all bits."),
        ("0x00020107", "it writes bits 15-8 of it."),
        ("0x000C02BA", "it writes bits 23-16, 31-24 of it."),
        ("0x809F0081", "it writes all bits; 10 words, to this and the following registers."),
        ("0x003F02C1", "it writes all bits; 4 words, to this register, one after the other."),
    ],
)
def test_what_a_header_does_is_said(capsys: Any, header: str, said: str) -> None:
    assert main(["regs", header]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0x000F0300", "0x00000300", "0x100F0110", "0x00100000", hex(VRAM), "0xXXXF0300"])
def test_numbers_that_are_no_header(text: str) -> None:
    match = describe.resolve(text)
    assert match is None or match.header is None
