"""Kernels of the Switch: arguments, lanes of the warp, stores outside of memory, and what-if."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.dap_client import Editor, Refused
from support.line_tables import cubin

START = {"grid": 2, "block": [40], "args": ["zeros:160"], "at": "b1/t3"}


@pytest.fixture
def at_entry(editor: Editor, sass: Path) -> Editor:
    assert editor.launch(program=str(sass), **START)["reason"] == "entry"
    return editor


def test_a_thread_by_lines(at_entry: Editor, sass: Path) -> None:
    editor = at_entry
    assert editor.frame["line"] == 4 and editor.frame["source"]["path"] == str(sass.resolve())
    assert [*editor.scopes()][:4] == ["this instruction", "registers", "predicates", "condition code"]
    editor.go("next")
    assert editor.value("R0") == "0x00000003" and editor.value("R0 as i32") == "3"
    [editor.go("next") for _ in range(5)]
    accesses = editor.variables(editor.scopes()["memory accesses"])
    assert "load 4 bytes of global memory" in accesses["step 4"]["value"]
    assert "c[0x0][0x140]" in editor.variables(editor.scopes()["constants"])
    assert editor.value("c[0x0][0x140] + R0 * 4 == R2") == "true"


def test_lanes_of_the_warp_are_threads(at_entry: Editor) -> None:
    editor = at_entry
    threads = editor.ask("threads")["threads"]
    assert len(threads) == 32 and editor.thread == 4 and threads[3]["name"] == "block 1,0,0, thread 3,0,0"
    other = threads[7]["id"]
    frame = editor.ask("stackTrace", threadId=other)["stackFrames"][0]
    editor.ask("next", threadId=other)
    assert editor.stopped["threadId"] == other
    assert editor.ask("evaluate", expression="R0", frameId=frame["id"])["result"] == "0x00000007"
    assert editor.place == 1, "the warp goes together"
    with pytest.raises(Refused, match="no thread"):
        editor.ask("stackTrace", threadId=33)


def test_the_last_warp_is_not_full(editor: Editor, sass: Path) -> None:
    editor.launch(program=str(sass), **{**START, "at": "b0/t39"})
    assert len(editor.ask("threads")["threads"]) == 8 and editor.thread == 8


def test_a_store_outside_is_an_exception(editor: Editor, sass: Path) -> None:
    editor.launch(filters=("store", "load"), program=str(sass), grid="1", block="40", args=["zeros:8"], at="b0/t3")
    assert "Load outside" in editor.go("continue")["text"] and editor.frame["line"] == 8
    assert "Store outside" in editor.go("continue")["text"] and editor.frame["line"] == 10
    editor.ask("setExceptionBreakpoints", filters=["store"])
    editor.go("reverseContinue")
    assert editor.place == 0 and editor.go("continue")["reason"] == "exception" and editor.frame["line"] == 10


def test_what_if_in_a_kernel(at_entry: Editor) -> None:
    editor = at_entry
    [editor.go("next") for _ in range(5)]
    editor.ask("setExpression", expression="R4", value="0x100")
    editor.ask("setExpression", expression="P2", value="true")
    assert editor.value("R4") == "0x00000100" and editor.value("P2") == "true"
    editor.go("next")
    assert editor.value("R4") == "259" and editor.value("P2") == "true"
    editor.go("stepBack")
    editor.go("stepBack")
    assert editor.value("R4") == "0x00000000" and editor.value("P2") == "false"


def test_what_if_finds_arrays_of_one_size_where_they_were(editor: Editor, tmp_path: Path) -> None:
    """Five runs of the launch, and launches of others between them."""
    path = tmp_path / "three.sass"
    text = ".kernel three\n.registers 12\n" + "".join(f".param p{n} ptr\n" for n in range(3))
    text += "".join(f"MOV R{n}, c[0x0][{0x140 + 4 * n:#x}]\n" for n in range(6))
    path.write_text(text + "MOV32I R8, 0x7\nSTG.E [R2], R8\nLDG.E R9, [R2]\nEXIT\n")
    editor.launch(program=str(path), grid=1, block=1, args=["zeros:160"] * 3, at="b0/t0")
    [editor.go("next") for _ in range(7)]
    pointers = [editor.value(f"R{n}") for n in range(6)]
    for value in ("0x11", "0x22", "0x33", "0x44"):
        editor.ask("setExpression", expression="R8", value=value)
        other = Editor()
        other.launch(program=str(path), grid=1, block=1, args=["zeros:160", "zeros:161", "zeros:160"], at="b0/t0")
        assert [editor.value(f"R{n}") for n in range(6)] == pointers
        [editor.go("next") for _ in range(2)]
        assert editor.value("R9 as u32") == str(int(value, 16))
        assert editor.value("global[(R2, R3)]") == f"{int(value, 16):#010x}"
        assert editor.value("global[(R0, R1)]") == "0x00000000"
        [editor.go("stepBack") for _ in range(2)]


def test_all_registers_and_all_uniforms(editor: Editor, tmp_path: Path, pica: Path) -> None:
    path = tmp_path / "many.sass"
    path.write_text(".kernel many\n.registers 255\n.param p ptr\n" + "MOV32I R250, 0x5\nMOV R254, R250\nEXIT\n")
    editor.launch(program=str(path), grid=1, block=32, args=["zeros:128"], at="b0/t0")
    [editor.go("next") for _ in range(2)]
    registers = editor.scopes()["registers"]
    found = editor.variables(registers)
    assert len(found) == 255 and found["R254"]["value"] == "0x00000005"
    part = editor.variables(registers, filter="named", start=252, count=9)
    assert [*part] == ["R252", "R253", "R254"] and editor.variables(registers, filter="indexed") == {}
    other = Editor()
    other.launch(source=str(pica), uniforms={f"c{n}": [n, 0, 0, 0] for n in range(96)})
    (constants,) = [one for one in other.ask("scopes", frameId=4096)["scopes"] if one["name"] == "constants"]
    assert constants["namedVariables"] == 96 + 16 + 4
    assert other.variables(constants["variablesReference"])["c95"]["value"] == "(95, 0, 0, 0)"
    assert [*other.variables(constants["variablesReference"], start=94, count=2)] == ["c94", "c95"]


def test_arguments_that_do_not_fit(editor: Editor, sass: Path) -> None:
    editor.ask("initialize")
    for more in ({"at": "b9/t0"}, {"at": "b0/t99"}, {"at": "x"}, {"args": ["x:1"]}, {"args": []}, {"grid": "x"},
    {"kernel": "other"},
                 {"shared": -1}, {"block": [4096]}, {"args": ["zeros:99999999999999"]}):  # fmt: skip
        with pytest.raises(Refused):
            editor.ask("launch", program=str(sass), **{**START, **more})
    editor.ask("launch", program=str(sass), **START)


def test_a_cubin_with_a_line_table_stops_in_its_source(editor: Editor, tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text("\n" * 20)
    rows = ((0, 1, 7), (1, 2, 300), (2, 1, 8), (4, 1, 3))
    code = "MOV32I R0, 0x1\nIADD R1, R0, 0x2\nIADD R2, R1, R0\nNOP\nEXIT"
    path = tmp_path / "kernel.cubin"
    path.write_bytes(cubin(code, (str(source), "not/there.cuh"), rows))
    editor.launch(program=str(path), grid="1", block="32", at="b0/t0")
    assert editor.frame["line"] == 7 and editor.frame["source"]["path"] == str(source.resolve())
    editor.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": 8}, {"line": 3}])
    assert editor.go("continue")["reason"] == "breakpoint" and editor.frame["line"] == 8
    assert editor.value("R2") == "0x00000000" and editor.value("R1") in ("3", "0x00000003")
    editor.go("continue")
    assert editor.frame["line"] == 3
    editor.go("stepBack")
    assert editor.frame["line"] == 8
