"""`pocketgpu regs` for the Switch's GPU: by class and number, by either name, bit by bit, and in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pocketgpu.cli import main
from pocketgpu.facts.maxwell import B197, CLASSES
from pocketgpu.inspect.registers import describe, methods


def said(capsys: Any, *words: str) -> str:
    assert main(["regs", *words]) == 0
    return str(capsys.readouterr().out)


def rows(text: str) -> dict[str, str]:
    """Field to value, without what the field means."""
    lines = [line.split() for line in text.splitlines() if line.startswith("    ") and line[4].isdigit()]
    return {line[1]: " ".join(line[2:]).partition(" [")[0] for line in lines}


def test_a_word_offset_and_what_it_would_be_in_bytes(capsys: Any) -> None:
    text = said(capsys, "b197", "0x360")
    assert text.startswith("SET_COLOR_CLEAR_VALUE(0)   3D method (b197 MAXWELL_B), word 0x360, byte 0x0d80")
    assert "also called: ClearColor" in text
    assert "Byte offset 0x360 is SET_SUBTILING_PERF_KNOB_A, word 0xd8." in text


def test_a_byte_offset(capsys: Any) -> None:
    text = said(capsys, "0xB197", "0x19d0", "0x3c")
    assert text.startswith("CLEAR_SURFACE   ") and "byte offset: words end at 0xfff" in text
    assert "No method has word 0xc00; this is byte 0xc00." in said(capsys, "b197", "0xc00")
    assert text == said(capsys, "MAXWELL_B", "0x19D0", "60")


def test_a_value_bit_by_bit(capsys: Any) -> None:
    found = rows(said(capsys, "b197", "0x674", "0x2000c3c"))
    assert found["R_ENABLE"] == found["A_ENABLE"] == "1 (TRUE)" and found["Z_ENABLE"] == "0 (FALSE)"
    assert found["RT_ARRAY_INDEX"] == "32771 (0x8003)" and found["MRT_SELECT"] == "0"
    assert rows(said(capsys, "dma", "0xc0", "0x586"))["DATA_TRANSFER_TYPE"] == "2 (NON_PIPELINED)"
    assert rows(said(capsys, "b197", "0x364=0x3f000000"))["V"] == "0.5"
    assert rows(said(capsys, "b197", "0x360", "0x40000000"))["AS_FLOAT"] == "2"


def test_names_need_no_class(capsys: Any) -> None:
    by_number = said(capsys, "b197", "0x674")
    assert said(capsys, "clear_surface") == by_number
    assert "ANTI_ALIAS_RASTER" in said(capsys, "MultisampleRasterSamples")
    assert said(capsys, "RenderTarget3Addr").startswith("SET_COLOR_TARGET_A(3)   3D method")
    assert "8 of them, 16 words apart" in said(capsys, "b197", "SET_COLOR_TARGET_A")
    only = rows(said(capsys, "clear_surface.mrt_select", "0x1c0"))
    assert only == {"MRT_SELECT": "7"}


def test_a_name_of_several_classes_is_explained_for_each(capsys: Any) -> None:
    text = said(capsys, "LAUNCH_DMA", "0x186")
    assert [line.split("(")[1][:4] for line in text.splitlines() if line.startswith("LAUNCH_DMA")] == [
        "b197", "b1c0", "a140", "b0b5",
    ]  # fmt: skip


def test_host_words_belong_to_the_host(capsys: Any) -> None:
    text = said(capsys, "b0b5", "0x1d", "0x501")
    assert text.startswith("SYNCPOINTB   host method") and "go to the host" in text
    assert rows(text)["SYNCPT_INDEX"] == "5" and rows(text)["OPERATION"] == "1 (INCR)"


def test_headers_of_pushbuffers(capsys: Any) -> None:
    text = said(capsys, "b197", "0x200406C0")
    assert text.startswith("SET_REPORT_SEMAPHORE_A")
    assert "1 (INC_METHOD), subchannel 0, 4 words follow, from word 0x6c0 on." in text
    assert "4 (IMMD_DATA_METHOD), subchannel 0, the value 0x1, from" in said(capsys, "b197", "0x80010044")


def test_listing_and_searching(capsys: Any) -> None:
    for block in CLASSES.values():
        assert len(said(capsys, block.name).splitlines()) == len(block)
    found = said(capsys, "b197", "zcull", "storage").splitlines()
    assert [line.split()[3] for line in found] == [f"SET_ZCULL_STORAGE_{letter}" for letter in "ABCD"]
    both = said(capsys, "scissor")
    assert "SCISSORTEST_MODE" in both and "SET_SCISSOR_ENABLE" in both
    assert {line[:4] for line in said(capsys, "pitch_out").splitlines() if line.startswith("PITCH_OUT")} == {"PITC"}


def test_json(capsys: Any) -> None:
    (entry,) = json.loads(said(capsys, "b197", "0x230", "0x12", "--json"))["registers"]
    assert (entry["console"], entry["class"], entry["word"], entry["byte"]) == ("switch", "b197", 0x230, 0x8C0)
    assert entry["name"] == "SET_COLOR_TARGET_A" and entry["index"] == 3 and entry["aliases"] == ["RenderTargetNAddr"]
    assert entry["fields"][0]["raw"] == 0x12 and entry["value"] == 0x12 and not entry["trigger"]
    document = json.loads(said(capsys, "--json"))
    assert [one["class"] for one in document["classes"]] == [block.name for block in CLASSES.values()]
    assert all(entry["console"] == "3ds" for entry in document["registers"])


def test_structures(capsys: Any) -> None:
    assert "1 MAG_POINT, 2 MAG_LINEAR" in said(capsys, "tsc")
    text = said(capsys, "tic", "0x2d8", "0", "0x600000", "0", "0x4ff", "0", "0", "0")
    assert text.startswith("tic.bl   texture header, block-linear, 32 bytes") and "1279 (means 1280)" in text
    assert said(capsys, "gpfifo.header", "200406c0").count("word  0") == 9
    data = json.loads(said(capsys, "qmd.01_07", "--json"))["structures"]
    assert len(data) == 1 and data[0]["words"] == 64
    words = ["0"] * 18 + ["0x00000017"] + ["0"] * 45
    assert said(capsys, "qmd", *words).startswith("qmd.01_07")
    assert said(capsys, "sph", "0x2062", *["0"] * 19).startswith("sph.ps")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["b197", "0x51f"], "Switchbrew's PolygonOffsetClamp0 is SET_DEPTH_BIAS_CLAMP, word 0x61f."),
        (["b197", "0x4000"], "class b197 has no method at 0x4000"),
        (["b197", "0x1002"], "class b197 has no method at 0x1002"),
        (["b197", "CLEAR_SURFCE"], "Did you mean CLEAR_SURFACE"),
        (["CLEAR_SURFCE", "1"], "Did you mean CLEAR_SURFACE"),
        (["b197", "0x674", "0x100000000"], "does not fit a 32-bit register"),
        (["0x900"], "need their class"),
        (["tic", "1", "2"], "are no words"),
        (["tic", "0x1", "0x2"], "these 2 words are no tic"),
        (["tic", "0", "0", "0xe00000", "0", "0", "0", "0", "0"], "are no tic"),
    ],
)
def test_mistakes_help(words: list[str], hint: str, capsys: Any) -> None:
    assert main(["regs", *words]) == 2
    printed = capsys.readouterr()
    assert hint in printed.err and printed.out == ""


def test_every_method_is_explained_by_word_and_by_name() -> None:
    for block in CLASSES.values():
        for method in block:
            match = methods.resolve(block, method.name)
            assert match is not None and match.register is method
            by_word = methods.resolve(block, hex(method.word))
            assert by_word is not None and by_word.register.name == method.name
            lines = describe.explain(method, 0xFFFFFFFF).lines()
            assert f"word {method.word:#05x}, byte {method.byte:#06x}" in lines[0]


def test_words_that_are_no_class_stay_searches(capsys: Any) -> None:
    assert methods.class_named("dma") is None and methods.class_named("dma", engines=True) is CLASSES[0xB0B5]
    assert len(said(capsys, "compute").splitlines()) > 1
    assert methods.similar("SET_COLOR_TARGET_FORMT", B197)[0] == "SET_COLOR_TARGET_FORMAT"
