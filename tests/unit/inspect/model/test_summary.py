"""The summary of a state follows each register that it speaks of, on both consoles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model import schema
from pocketgpu.inspect.model.summary import PARTS, Summary
from pocketgpu.inspect.n3ds.resources.summary import summary_of as of_3ds
from pocketgpu.inspect.switch.summary import summary_of as of_switch
from pocketgpu.maxwell.engines.common.state import State

DATA = Path(__file__).resolve().parents[2] / "promises" / "data"


def number(field: Any, value: object) -> Any:
    """The number of a name of an enumeration; other values as they are."""
    return next(k for k, text in field.enum.items() if text == value) if isinstance(value, str) else value


def n3ds(**registers: dict[str, object]) -> dict[str, str]:
    """The summary of registers: name -> fields; the others are 0, but for those that write all colours."""
    words = np.zeros(0x300, np.uint32)
    usual: dict[str, dict[str, object]] = {
        "DEPTH_COLOR_MASK": dict.fromkeys(("red", "green", "blue", "alpha"), True), "LOGIC_OP": {"op": "copy"},
        "COLORBUFFER_WRITE": {"mask": 15}, "DEPTHBUFFER_WRITE": {"stencil": True},
        "DEPTHBUFFER_FORMAT": {"format": "D24S8"}, "STENCIL_TEST": {"write_mask": 0xFF},
    }  # fmt: skip
    for name in {**usual, **registers}:
        fields = {**usual.get(name, {}), **registers.get(name, {})}
        register = PICA[name]
        words[register.offset] = register.encode(**{part: number(register[part], one) for part, one in fields.items()})
    return dict(of_3ds(words, None, [], []).parts)


@pytest.mark.parametrize(
    ("part", "text", "registers"),
    [
        ("culling", "off", {}),
        ("culling", "drops front (counter-clockwise)", {"FACECULLING_CONFIG": {"mode": 1}}),
        ("culling", "drops back (clockwise)", {"FACECULLING_CONFIG": {"mode": 2}}),
        ("culling", "off", {"FACECULLING_CONFIG": {"mode": 3}}),
        ("depth", "off", {"DEPTH_COLOR_MASK": {"depth_function": "less", "depth_write": True}}),
        ("depth", "less, not written", {"DEPTH_COLOR_MASK": {"depth_test": True, "depth_function": "less"}}),
        (
            "depth",
            "never, written",
            {
                "DEPTH_COLOR_MASK": {"depth_test": True, "depth_function": "never", "depth_write": True},
                "DEPTHBUFFER_WRITE": {"depth": True},
            },
        ),
        ("stencil", "off", {"STENCIL_TEST": {"reference": 3}}),
        (
            "stencil",
            "equal with 3, mask 0x0f: zero if it fails, invert if depth fails, replace if both pass",
            {
                "STENCIL_TEST": {"enable": True, "function": "equal", "reference": 3, "input_mask": 15},
                "STENCIL_OP": {"fail": "zero", "z_fail": "invert", "z_pass": "replace"},
            },
        ),
        (
            "stencil",
            "always with 0, mask 0x00: keep if it fails, keep if depth fails, keep if both pass; writes bits 0x0f",
            {"STENCIL_TEST": {"enable": True, "function": "always", "write_mask": 15}},
        ),
        (
            "stencil",
            "always with 0, mask 0x00: keep if it fails, keep if depth fails, keep if both pass; not written",
            {"STENCIL_TEST": {"enable": True, "function": "always"}, "DEPTHBUFFER_WRITE": {"stencil": False}},
        ),
        (
            "stencil",
            "off, as D24 has no stencil",
            {"STENCIL_TEST": {"enable": True}, "DEPTHBUFFER_FORMAT": {"format": "D24"}},
        ),
        ("depth", "off, written", {"DEPTH_COLOR_MASK": {"depth_write": True}, "DEPTHBUFFER_WRITE": {"depth": True}}),
        ("blending", "off; writes no colour", {"COLORBUFFER_WRITE": {"mask": 0}}),
        ("blending", "off", {}),
        ("blending", "logic operation xor", {"LOGIC_OP": {"op": "xor"}}),
        ("blending", "off; writes red", {"DEPTH_COLOR_MASK": {"green": False, "blue": False, "alpha": False}}),
        (
            "blending",
            "add: source alpha, one; alpha maximum: zero, one",
            {
                "COLOR_OPERATION": {"blend_enable": True},
                "BLEND_FUNC": {
                    "src_rgb": "source alpha", "dst_rgb": "one", "equation_alpha": "maximum", "dst_alpha": "one",
                },
            },
        ),
        ("scissor", "off", {"SCISSORTEST_DIM": {"x2": 3}}),
        (
            "scissor",
            "keeps 1, 2 to 30, 40",
            {
                "SCISSORTEST_MODE": {"mode": 3}, "SCISSORTEST_POS": {"x1": 1, "y1": 2},
                "SCISSORTEST_DIM": {"x2": 30, "y2": 40},
            },
        ),
        ("scissor", "keeps nothing, 1, 0 to 0, 0", {"SCISSORTEST_MODE": {"mode": 3}, "SCISSORTEST_POS": {"x1": 1}}),
        (
            "scissor",
            "keeps what is outside of 0, 0 to 7, 0",
            {"SCISSORTEST_MODE": {"mode": 1}, "SCISSORTEST_DIM": {"x2": 7}},
        ),
        (
            "viewport",
            "240 by 400 pixels at 5, -6",
            {"VIEWPORT_WIDTH": {"value": 120.0}, "VIEWPORT_HEIGHT": {"value": 200.0}, "VIEWPORT_XY": {"x": 5, "y": -6}},
        ),
    ],
)  # fmt: skip
def test_the_summary_of_a_3ds_follows_its_registers(
    part: str, text: str, registers: dict[str, dict[str, object]]
) -> None:
    assert n3ds(**registers)[part] == text


USUAL = {f"SET_CT_WRITE({n})": 0x1111 for n in range(8)} | {"SET_VIEWPORT_SCALE_OFFSET": 1}


def switch(methods: dict[str, int | float], slots: list[int]) -> dict[str, str]:
    words = np.zeros(0x1000, np.uint32)
    for name, value in {**USUAL, **methods}.items():
        words[B197[name].word] = np.float32(value).view(np.uint32) if isinstance(value, float) else value
    return dict(of_switch(State(B197, words), slots, ["a"], None, []).parts)


@pytest.mark.parametrize(
    ("part", "text", "methods"),
    [
        ("culling", "off", {"OGL_SET_CULL_FACE": 0x404}),
        (
            "culling",
            "drops OGL_SET_CULL_FACE BACK, OGL_SET_FRONT_FACE CW",
            {"OGL_SET_CULL": 1, "OGL_SET_CULL_FACE": 0x405, "OGL_SET_FRONT_FACE": 0x900},
        ),
        ("depth", "off", {"SET_DEPTH_FUNC": 0x201, "SET_DEPTH_WRITE": 1}),
        (
            "depth",
            "SET_DEPTH_FUNC OGL_LESS, written",
            {"SET_DEPTH_TEST": 1, "SET_DEPTH_FUNC": 0x201, "SET_DEPTH_WRITE": 1},
        ),
        ("depth", "SET_DEPTH_FUNC D3D_NEVER, not written", {"SET_DEPTH_TEST": 1, "SET_DEPTH_FUNC": 1}),
        (
            "stencil",
            "SET_STENCIL_FUNC OGL_EQUAL with 0x3, mask 0xf: SET_STENCIL_OP_FAIL OGL_ZERO if it fails, "
            "SET_STENCIL_OP_ZFAIL OGL_KEEP if depth fails, SET_STENCIL_OP_ZPASS OGL_REPLACE if both pass, "
            "back sides have their own",
            {
                "SET_STENCIL_TEST": 1, "SET_STENCIL_FUNC": 0x202, "SET_STENCIL_FUNC_REF": 3,
                "SET_STENCIL_FUNC_MASK": 15,
                "SET_STENCIL_OP_FAIL": 0, "SET_STENCIL_OP_ZFAIL": 0x1E00, "SET_STENCIL_OP_ZPASS": 0x1E01,
                "SET_TWO_SIDED_STENCIL_TEST": 1,
            },
        ),
        ("blending", "off", {}),
        ("blending", "off; writes green", {"SET_CT_WRITE(0)": 0x10}),
        ("blending", "off; writes no colour", {"SET_CT_WRITE(0)": 0}),
        (
            "blending",
            "SET_BLEND_COLOR_OP OGL_FUNC_ADD, SET_BLEND_COLOR_SOURCE_COEFF OGL_SRC_ALPHA, "
            "SET_BLEND_COLOR_DEST_COEFF OGL_ONE",
            {
                "SET_BLEND(0)": 1, "SET_BLEND_COLOR_OP": 0x8006, "SET_BLEND_COLOR_SOURCE_COEFF": 0x4302,
                "SET_BLEND_COLOR_DEST_COEFF": 0x4001,
            },
        ),
        ("scissor", "off", {"SET_SCISSOR_HORIZONTAL(0)": 0x00100000}),
        (
            "scissor",
            "keeps 1, 2 up to, not including, 16, 32",
            {
                "SET_SCISSOR_ENABLE(0)": 1, "SET_SCISSOR_HORIZONTAL(0)": 0x00100001,
                "SET_SCISSOR_VERTICAL(0)": 0x00200002,
            },
        ),
        ("scissor", "keeps nothing, 0, 0 up to, not including, 0, 0", {"SET_SCISSOR_ENABLE(0)": 1}),
        (
            "viewport",
            "64 by 32 pixels at 8, 0; depth 0.25 to 1",
            {
                "SET_VIEWPORT_SCALE_X(0)": 32.0, "SET_VIEWPORT_OFFSET_X(0)": 40.0, "SET_VIEWPORT_SCALE_Y(0)": -16.0,
                "SET_VIEWPORT_OFFSET_Y(0)": 16.0, "SET_VIEWPORT_CLIP_MIN_Z(0)": 0.25, "SET_VIEWPORT_CLIP_MAX_Z(0)": 1.0,
            },
        ),
        ("viewport", "off: positions are pixels", {"SET_VIEWPORT_SCALE_OFFSET": 0}),
    ],
)  # fmt: skip
def test_the_summary_of_a_switch_follows_its_registers(part: str, text: str, methods: dict[str, int | float]) -> None:
    assert switch(methods, [0])[part] == text


def test_targets_of_a_switch_that_differ_are_told_apart() -> None:
    found = switch({"SET_CT_WRITE(2)": 0x1}, [0, 2])["blending"]
    assert found == "target 0: off; target 2: off; writes red"
    assert switch({}, [0, 2])["blending"] == "off" and switch({}, [])["blending"] == "no colour target"
    single = {"SET_SINGLE_CT_WRITE_CONTROL": 1, "SET_CT_WRITE(2)": 0x1}
    assert switch(single, [0, 2])["blending"] == "off"
    each = {"SET_BLEND(1)": 1, "SET_BLEND_STATE_PER_TARGET": 1, "SET_BLEND_PER_TARGET_COLOR_OP(1)": 0x8008}
    assert "target 1: SET_BLEND_PER_TARGET_COLOR_OP(1) OGL_MAX" in switch(each, [0, 1])["blending"]


@pytest.mark.parametrize("name", ["scene_3ds.pgc", "scene_switch.pgc"])
def test_state_begins_with_the_summary(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary = pocketgpu.debug(DATA / name).seek("f0/d1").summary
    assert isinstance(summary, Summary) and tuple(summary.parts) == PARTS
    assert main(["state", str(DATA / name), "f0/d1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in lines[1 : 1 + len(PARTS)]] == summary.lines()
    assert main(["state", str(DATA / name), "f0/d1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["state"]
    assert found["summary"] == dict(summary.parts)
    assert "summary" in schema("pocketgpu.state/1")["properties"]
