"""Source lines and names of `.shbin` files and captures: from a text to the pixel that its program drew, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.dap_client import Editor, Refused

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList
from pocketgpu.builder.matrices import UPRIGHT
from pocketgpu.cli import main
from pocketgpu.pica.shader.shbin import read_shbin

TEXT = (Path(__file__).resolve().parents[3] / "editor" / "light.v.pica").read_text(encoding="utf-8")
LIGHT = (0.25, 0.5, 0.0, 0.0)
COLOUR = (1.0, 0.5, 1.0)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "light.v.pica"
    path.write_text(TEXT)
    return path


@pytest.fixture
def shader(text: Path) -> Path:
    path = text.with_name("light.shbin")
    assert main(["shader", "asm", str(text), "-o", str(path)]) == 0
    return path


@pytest.fixture
def scene(shader: Path, tmp_path: Path) -> Path:
    """A triangle that the compiled program draws."""
    program = read_shbin(shader.read_bytes()).assembly()
    names = {one.name: one.first for one in program.symbols}
    capture = CaptureBuilder()
    corners = [[-0.8, -0.8, -0.5, *COLOUR], [0.8, -0.8, -0.5, *COLOUR], [0.0, 0.8, -0.5, *COLOUR]]
    vertices = capture.put(np.array(corners, np.float32))
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    cl = CommandList().plain_state().render_target(target, 240, 400)
    cl.shader(program).uniforms(names["clip"], UPRIGHT).uniforms(names["light"], LIGHT)
    cl.bool_uniforms({names["lit"]: True})
    cl.attributes(Buffer(vertices, [("f32", 3), ("f32", 3)])).draw_arrays(3).end_drawing()
    capture.clear(target, 240, 400, 0x000000FF).submit(cl).present("top", target).end_frame()
    path = tmp_path / "scene.ctf.xz"
    capture.save(path)
    return path


def lines(editor: Editor, command: str, count: int) -> list[int]:
    return [(editor.go(command), editor.frame["line"])[1] for _ in range(count)]


def important(editor: Editor) -> list[str]:
    return [one["output"] for one in editor.named("output") if one["category"] == "important"]


def test_from_a_text_to_a_pixel_and_back_to_the_lines_of_the_text(scene: Path, text: Path, editor: Editor) -> None:
    (frame,) = pocketgpu.open(str(scene)).render()
    expected = [(half + light) * colour for half, light, colour in zip((0.5,) * 3, LIGHT, COLOUR, strict=False)]
    found = np.asarray(frame.top.image)[120, 200][:3] / 255
    assert np.abs(found - expected).max() < 1 / 128
    editor.launch(capture=str(scene), address="f0/px200,120", text=str(text))
    assert editor.frame["source"]["path"] == str(text.resolve()) and editor.frame["line"] == 11
    assert lines(editor, "next", 5) == [12, 13, 14, 15, 16]
    assert lines(editor, "stepIn", 2) == [17, 23]
    assert editor.value("light") == "(0.25, 0.5, 0, 0)" and editor.value("r1") == editor.value("ambient")
    assert editor.frame["name"].startswith("shine (")
    assert lines(editor, "stepOut", 1) == [18] and lines(editor, "next", 2) == [19, 20]
    shown = [float(one) for one in editor.value("outclr.xyz").strip("()").split(", ")]
    assert shown == pytest.approx(expected)
    assert lines(editor, "stepBack", 3) == [19, 18, 17]


def test_a_breakpoint_in_the_text_of_a_capture(scene: Path, text: Path, editor: Editor) -> None:
    editor.ask("initialize", adapterID="pocketgpu")
    editor.ask("launch", capture="scene.ctf.xz", address="f0/d0/v1", texts=["light.v.pica"], cwd=str(scene.parent))
    (found,) = editor.ask("setBreakpoints", source={"path": str(text)}, breakpoints=[
        {"line": 19, "condition": "lit and light.x == 0.25 and clip[3].w == 1"}])["breakpoints"]  # fmt: skip
    assert found["verified"]
    editor.ask("configurationDone")
    editor.go("continue")
    assert editor.frame["line"] == 19
    assert editor.ask("setExpression", expression="inclr.x", value="0")["value"] == "0"
    editor.go("next")
    assert editor.value("outclr.x") == "0"
    editor.go("stepBack")
    assert editor.ask("setExpression", expression="light.x", value="0")["value"] == "0"


def test_names_are_a_scope(shader: Path, editor: Editor) -> None:
    editor.launch(source=str(shader), inputs={"inclr": [1, 0.5, 1, 1]}, uniforms={"clip[1]": [0, 2, 0, 0], "lit": True})
    names = editor.variables(editor.scopes()["names"])
    assert {one: names[one]["value"] for one in ("clip", "half", "ambient", "lit", "inclr", "outclr")} == {
        "clip": "c0 to c3", "half": "(0.5, 0.5, 0.5, 1)", "ambient": "(0.5, 0.5, 0.5, 1)", "lit": "true",
        "inclr": "(1, 0.5, 1, 1)", "outclr": "(0, 0, 0, 0)",
    }  # fmt: skip
    rows = editor.variables(names["clip"]["variablesReference"])
    assert [*rows] == ["[0]", "[1]", "[2]", "[3]"] or [*rows] == ["[1]"]
    assert rows["[1]"]["value"] == "(0, 2, 0, 0)" and rows["[1]"]["evaluateName"] == "clip[1]"
    assert "presentationHint" not in names["half"] and "presentationHint" not in names["outclr"]
    found = editor.ask("setVariable", variablesReference=editor.scopes()["names"], name="inclr", value="(2, 2, 2, 2)")
    assert found["value"] == "(2, 2, 2, 2)" and editor.value("v1") == "(2, 2, 2, 2)"
    labels = [one["label"] for one in editor.ask("completions", text="li", column=3, frameId=4096)["targets"]]
    assert labels == ["light", "lit"]


def test_without_a_text_a_file_has_the_names_of_its_tables(shader: Path, text: Path, editor: Editor) -> None:
    text.unlink()
    editor.launch(source=str(shader), uniforms={"clip[1]": [0, 2, 0, 0]})
    rows = editor.ask("source", sourceReference=1)["content"].splitlines()
    assert rows[0] == "0x0000  main: dp4 o0.x, c0, v0  ; position, clip[0], inpos"
    assert rows[10] == "0x000a  shine: add r1, c4, r1  ; light"
    assert editor.frame["source"]["sourceReference"] == 1 and important(editor) == []
    found = editor.ask("disassemble", memoryReference="0xa", instructionCount=1)["instructions"]
    assert found[0]["symbol"] == "shine"


def test_a_text_that_differs_is_told_once(shader: Path, text: Path, editor: Editor, tmp_path: Path) -> None:
    def launched(editor: Editor, **more: Any) -> list[str]:
        editor.ask("initialize", adapterID="pocketgpu")
        editor.ask("launch", source=str(shader), **more)
        return important(editor)

    assert launched(Editor()) == []
    text.write_text(TEXT.replace("mul outclr, r1", "add outclr, r1"))
    (note,) = launched(editor)
    assert f"{text}, line 19: word 8 is 'add o1, r1, v1' there, and here 'mul o1, r1, v1' at 0x008" in note
    editor.ask("configurationDone")
    places = []
    while "end" not in editor.frame["name"].split(" of ")[0]:
        places.append(("path" in editor.frame["source"], editor.frame["line"]))
        editor.go("stepIn")
    assert (False, 9) in places and (True, 20) in places  # what agrees has its lines, the rest the listing
    other = tmp_path / "other.pica"
    other.write_text(".proc main\nmov o0, v1\nend\n.end\n")
    (note,) = launched(Editor(), text=str(other))
    assert f"{other}, line 2" in note
    (note,) = launched(Editor(), texts=[str(tmp_path / "missing.pica")])
    assert "missing.pica" in note


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"program": "k.cubin", "text": "a.pica"}, "means nothing for a program"),
        ({"source": "a.shbin", "texts": "a.pica"}, "not a list"),
        ({"source": "a.shbin", "text": ""}, "no path"),
        ({"source": "a.shbin", "texts": ["a\0b"]}, "no path"),
        ({"source": "a.shbin", "texts": ["x"] * 65}, "64 are the most"),
    ],
)
def test_texts_that_are_none(shader: Path, editor: Editor, configuration: dict[str, Any], message: str) -> None:
    editor.ask("initialize", adapterID="pocketgpu")
    with pytest.raises(Refused, match=message):
        editor.ask("launch", **{**configuration, **({"source": str(shader)} if "source" in configuration else {})})
    if "source" in configuration:
        sample = Path(pocketgpu.__file__).parent / "data" / "sample_switch.mxcap.zip"
        with pytest.raises(Refused, match="not made of such texts"):
            editor.ask("launch", capture=str(sample), address="f0/d5/v3", text="a.pica")
