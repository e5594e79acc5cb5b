"""Memory: bytes at any step, data breakpoints on them, elements of arrays in parts, and what-if."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from support.dap_client import Editor, Refused

TEXT = """.kernel swaps
.registers 10
.shared 256
.param data ptr
.param more ptr
S2R R0, SR_TID.X;
SHL R1, R0, 0x2;
STS [R1], R0;
BAR.SYNC 0x0;
LOP.XOR R6, R1, 0x4;
LDS R5, [R6];
IADD R2.CC, R1, c[0x0][0x140];
IADD.X R3, RZ, c[0x0][0x144];
LDG.E R4, [R2];
IADD R4, R4, R5;
STG.E [R2], R4;
IADD R2.CC, R1, c[0x0][0x148];
IADD.X R3, RZ, c[0x0][0x14c];
STG.E [R2], R5;
EXIT;
"""
"""Steps: 2 stores to shared memory, 5 loads from it, 8 loads data, 10 stores it, 13 stores the other array."""
START = {"grid": 1, "block": [32], "args": ["inout:{data}", "zeros:128"], "at": "b0/t3"}
WORDS = np.arange(100, 132, dtype=np.uint32)


@pytest.fixture
def at_entry(editor: Editor, tmp_path: Path) -> Editor:
    path, data = tmp_path / "swaps.sass", tmp_path / "data.bin"
    path.write_text(TEXT)
    data.write_bytes(WORDS.tobytes())
    editor.launch(program=str(path), **{**START, "args": [f"inout:{data}", "zeros:128"]})
    return editor


def pieces(editor: Editor) -> dict[str, dict[str, object]]:
    return {name: dict(one) for name, one in editor.variables(editor.scopes()["memory"]).items()}


def words(editor: Editor, reference: object, count: int = 8, offset: int = 0) -> list[int]:
    body = editor.ask("readMemory", memoryReference=reference, count=4 * count, offset=offset)
    return np.frombuffer(base64.b64decode(body["data"]), np.uint32).tolist()


def to(editor: Editor, step: int) -> None:
    editor.ask("goto", threadId=editor.thread, targetId=step + 1)


def test_bytes_are_those_of_the_step(at_entry: Editor) -> None:
    editor = at_entry
    found = pieces(editor)
    assert [*found][:4] == ["argument 0 (data)", "argument 1 (more)", "shared memory", "constant bank 0"]
    data, more, shared = (one["memoryReference"] for one in [*found.values()][:3])
    other = [n ^ 1 for n in range(8)]
    sums = [int(WORDS[n]) + other[n] for n in range(8)]
    for place, wanted in (
        (0, (WORDS[:8].tolist(), [0] * 8, [0] * 8)), (2, (WORDS[:8].tolist(), [0] * 8, [0] * 8)),
        (3, (WORDS[:8].tolist(), [0] * 8, [*range(8)])), (10, (WORDS[:8].tolist(), [0] * 8, [*range(8)])),
        (11, (sums, [0] * 8, [*range(8)])), (14, (sums, other, [*range(8)])), (15, (sums, other, [*range(8)])),
        (4, (WORDS[:8].tolist(), [0] * 8, [*range(8)])),
    ):  # fmt: skip
        to(editor, place)
        assert (words(editor, data), words(editor, more), words(editor, shared)) == wanted, f"before step {place}"


def test_what_cannot_be_read_is_told(at_entry: Editor) -> None:
    editor = at_entry
    data = pieces(editor)["argument 0 (data)"]["memoryReference"]
    body = editor.ask("readMemory", memoryReference=data, offset=128 - 8, count=64)
    assert len(base64.b64decode(body["data"])) == 8 and body["unreadableBytes"] == 56
    assert editor.ask("readMemory", memoryReference="0x7000000000", count=16)["unreadableBytes"] == 16
    assert editor.ask("readMemory", memoryReference="shared:0x80000", count=1)["unreadableBytes"] == 1
    assert editor.ask("readMemory", memoryReference=data, count=0)["data"] == ""
    for more in ({"count": 1 << 30}, {"count": -1}, {"count": 1, "offset": -(1 << 50)}, {"memoryReference": data},
                 {"count": 1, "memoryReference": "texture:0x0"}, {"count": 1, "memoryReference": "x"}):  # fmt: skip
        with pytest.raises(Refused):
            editor.ask("readMemory", **{"memoryReference": data, **more})


def test_elements_come_in_parts(at_entry: Editor) -> None:
    editor = at_entry
    kinds = editor.variables(pieces(editor)["argument 0 (data)"]["variablesReference"])  # type: ignore[arg-type]
    assert {name: one["indexedVariables"] for name, one in kinds.items()} == {
        "f32": 32, "u32": 32, "i32": 32, "f16": 64, "u16": 64, "u8": 128, "f64": 16,
    }  # fmt: skip
    numbers = kinds["u32"]["variablesReference"]
    part = editor.variables(numbers, filter="indexed", start=30, count=5)
    assert {name: one["value"] for name, one in part.items()} == {"[30]": "130", "[31]": "131"}
    assert editor.variables(numbers, filter="named") == {} and len(editor.variables(numbers)) == 32
    assert editor.variables(numbers, start=3, count=1, format={"hex": True})["[3]"]["value"] == "0x00000067"
    assert editor.variables(kinds["u8"]["variablesReference"], start=4, count=1)["[4]"]["value"] == "101"
    bank = editor.variables(pieces(editor)["constant bank 0"]["variablesReference"])  # type: ignore[arg-type]
    rest = editor.variables(bank["u8"]["variablesReference"])
    assert len(rest) == 4097 and rest["..."]["value"].startswith("61440 more")


def test_data_breakpoints_on_bytes(at_entry: Editor) -> None:
    editor = at_entry
    data = str(pieces(editor)["argument 0 (data)"]["memoryReference"])
    address = int(data.partition(":")[2], 0)
    own, beside = (
        editor.ask("dataBreakpointInfo", name=f"{address + at:#x}", asAddress=True, bytes=4) for at in (12, 16)
    )  # fmt: skip
    assert own["accessTypes"] == ["read", "write", "readWrite"] and "4 bytes of global memory" in own["description"]

    threads: list[int] = []

    def places(*given: dict[str, str]) -> list[int]:
        found = editor.ask("setDataBreakpoints", breakpoints=list(given))["breakpoints"]
        assert all(one["verified"] for one in found)
        to(editor, 0)
        seen = []
        threads.clear()
        while editor.go("continue")["reason"] == "data breakpoint":
            seen.append(editor.place)
            threads.append(editor.stopped["threadId"])
        return seen

    assert places({"dataId": own["dataId"], "accessType": "write"}) == [11], "after the store"
    assert places({"dataId": own["dataId"], "accessType": "read"}) == [8], "before the load"
    assert places({"dataId": own["dataId"], "accessType": "readWrite"}) == [8, 11]
    assert threads == [4, 4]
    assert places({"dataId": beside["dataId"], "accessType": "readWrite"}) == [8, 11] and threads == [5, 5], "another's"
    assert places({"dataId": beside["dataId"], "condition": "R0 == 3"}) == [], "conditions are of the lane that does it"
    both = {"dataId": f"@{data} 32", "accessType": "write"}
    assert places(both) == [11] and threads == [4], "the lane that is stepped goes before others"
    assert editor.go("reverseContinue")["reason"] == "data breakpoint" and editor.stopped["threadId"] == 4
    to(editor, 0)
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": beside["dataId"]}])
    assert "end" in editor.go("continue", singleThread=True)["description"], "alone, it meets no other lane's"
    shared = editor.ask("dataBreakpointInfo", name="shared:0x8", asAddress=True, bytes=8)
    assert places({"dataId": shared["dataId"], "accessType": "readWrite"}) == [3, 5]
    named = editor.ask("dataBreakpointInfo", name="shared[0xc]")
    assert places({"dataId": named["dataId"]}) == [3]
    constant = editor.ask("dataBreakpointInfo", name="c[0x0][0x148]")
    assert constant["accessTypes"] == ["read"] and places({"dataId": constant["dataId"]}) == [11]
    to(editor, 0)
    kinds = editor.variables(pieces(editor)["shared memory"]["variablesReference"])  # type: ignore[arg-type]
    references = [kinds[name]["variablesReference"] for name in ("u32", "u16")]
    assert editor.variables(references[0])["[3]"]["memoryReference"] == "shared:0xc"
    word, half = (
        editor.ask("dataBreakpointInfo", variablesReference=reference, name=name)
        for reference, name in zip(references, ("[3]", "[7]"), strict=True)
    )  # fmt: skip
    assert places({"dataId": word["dataId"]}) == [3]
    assert half["dataId"] == "@shared:0xe 2" and places({"dataId": half["dataId"]}) == [3]


def test_data_that_cannot_be_watched(at_entry: Editor) -> None:
    editor = at_entry
    assert editor.ask("dataBreakpointInfo", name="0x5", asAddress=True)["dataId"] is None
    assert editor.ask("dataBreakpointInfo", name="shared[0x9999]")["dataId"] is None
    for more in ({"bytes": 0}, {"bytes": 1 << 20}, {"name": "R0"}, {"name": "x:0x1"}):
        with pytest.raises(Refused):
            editor.ask("dataBreakpointInfo", **{"name": "0x100000000", "asAddress": True, **more})
    ids = ("@x", "@global:0x0", "@global:0x0 -1", "@global:0x0 x", "@global:0x0 99999999", "@")
    given = [*({"dataId": one} for one in ids), {"dataId": "c[0x0][0x140]", "accessType": "write"}]
    found = editor.ask("setDataBreakpoints", breakpoints=given)["breakpoints"]
    assert [one["verified"] for one in found] == [False] * 7


def test_expressions_read_memory(at_entry: Editor) -> None:
    editor = at_entry
    to(editor, 8)
    assert editor.value("global[(R2, R3)]") == "0x00000067" and editor.value("global[(R2, R3)] as u32") == "103"
    assert editor.value("shared[R6] + 1") == "3" and editor.value("shared[4 * 3]") == "0x00000003"
    assert editor.value("c[0x0][0x140] == R2 - R1") == "true"
    body = editor.ask("evaluate", expression="shared[R6]", frameId=editor.frame["id"])
    assert body["memoryReference"] == "shared:0x8" and words(editor, body["memoryReference"], 1) == [2]
    for text in ("global[5]", "shared[0x99999]", "global[(R2, R3, R4)]", "global[1.5]", "global[", "shared[-4]",
                 "local[0]"):  # fmt: skip
        with pytest.raises(Refused):
            editor.value(text)
    (one,) = editor.ask("setInstructionBreakpoints", breakpoints=[
        {"instructionReference": editor.frame["instructionPointerReference"], "condition": "shared[R1] == 3"}
    ])["breakpoints"]  # fmt: skip
    assert one["verified"]
    editor.go("reverseContinue")
    assert editor.go("continue")["hitBreakpointIds"] == [one["id"]] and editor.place == 8


def test_memory_is_set_and_what_follows_changes(at_entry: Editor) -> None:
    editor = at_entry
    to(editor, 8)
    data = str(pieces(editor)["argument 0 (data)"]["memoryReference"])
    kinds = editor.variables(pieces(editor)["argument 0 (data)"]["variablesReference"])  # type: ignore[arg-type]
    numbers = kinds["u32"]["variablesReference"]
    found = editor.ask("setVariable", variablesReference=numbers, name="[3]", value="1000")
    assert found["value"] == "1000" and editor.named("invalidated")
    to(editor, 9)
    assert editor.value("R4 as u32") == "1000" and words(editor, data)[3] == 1000
    to(editor, 8)
    assert words(editor, data)[:5] == [100, 101, 102, 1000, 104]
    to(editor, 7)
    assert words(editor, data)[3] == 103, "before it, nothing has changed"
    to(editor, 15)
    assert words(editor, data)[3] == 1002
    to(editor, 8)
    assert "global[" in "".join(editor.variables(editor.scopes()["what-if"]))
    editor.ask("setExpression", expression="shared[R6] as f32", value="1.5")
    assert editor.value("shared[R6] as f32") == "1.5"
    floats = editor.variables(pieces(editor)["argument 0 (data)"]["variablesReference"])["f16"]  # type: ignore[arg-type]
    with pytest.raises(Refused, match="cannot be set"):
        editor.ask("setVariable", variablesReference=floats["variablesReference"], name="[3]", value="1")
    with pytest.raises(Refused, match="nothing is at"):
        editor.ask("setExpression", expression="global[0x5]", value="1")
    editor.ask("restart")
    to(editor, 15)
    assert words(editor, data)[3] == 105


def test_constants_are_set(at_entry: Editor) -> None:
    editor = at_entry
    before = editor.value("c[0x0][0x140]")
    constants = editor.scopes()["constants"]
    editor.ask("setVariable", variablesReference=constants, name="c[0x0][0x148]", value=before)
    to(editor, 14)
    data = str(pieces(editor)["argument 0 (data)"]["memoryReference"])
    assert words(editor, data)[3] == 2, "the second store went to the first array"
    assert editor.value("c[0x0][0x148]") == before
    editor.ask("restart")
    assert editor.value("c[0x0][0x148]") != before


def test_bytes_are_written(at_entry: Editor) -> None:
    editor = at_entry
    data = str(pieces(editor)["argument 0 (data)"]["memoryReference"])
    write = base64.b64encode(b"\1\2\3").decode()
    assert editor.ask("writeMemory", memoryReference=data, offset=14, data=write)["bytesWritten"] == 3
    assert words(editor, data)[3:5] == [0x02010067, 0x03 | 104 & ~0xFF]
    editor.ask("writeMemory", memoryReference=data, offset=14, data=base64.b64encode(b"\0\0\x68").decode())
    assert words(editor, data)[3:5] == [103, 104]
    for more in ({"data": "%%"}, {"data": ""}, {"data": base64.b64encode(bytes(5000)).decode()},
                 {"memoryReference": "0x50"}, {"offset": -(1 << 40)}):  # fmt: skip
        with pytest.raises(Refused):
            editor.ask("writeMemory", **{"memoryReference": data, "data": write, **more})


def test_uniforms_of_a_3ds_are_bytes(editor: Editor, pica: Path) -> None:
    editor.launch(source=str(pica), inputs={"v0": [4, 1, 0, 1]}, uniforms={"i0": [1, 1, 1], "c2": [1, 2, 3, 4]})
    (bank,) = pieces(editor).values()
    assert bank["memoryReference"] == "constant:0x0" and str(bank["value"]).startswith("1536 bytes")
    body = editor.ask("readMemory", memoryReference="constant:0x0", offset=32, count=16)
    assert np.frombuffer(base64.b64decode(body["data"]), np.float32).tolist() == [1, 2, 3, 4]
    info = editor.ask("dataBreakpointInfo", name="constant:0x20", asAddress=True, bytes=16)
    assert info["dataId"] == "c2.w c2.x c2.y c2.z" and info["accessTypes"] == ["read"]
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
    assert editor.go("continue")["reason"] == "data breakpoint" and editor.frame["line"] == 7
    place = editor.place
    editor.ask("setExpression", expression="c2.y", value="9")
    assert editor.value("c2") == "(1, 9, 3, 4)" and editor.place == place
    editor.go("next")
    assert editor.value("r3") == "(1, 9, 3, 4)"
    body = editor.ask("readMemory", memoryReference="constant:0x24", count=4)
    assert np.frombuffer(base64.b64decode(body["data"]), np.float32).tolist() == [9]
    editor.ask("setExpression", expression="i0.x", value="5")
    rounds = 0
    editor.ask("setDataBreakpoints", breakpoints=[])
    editor.go("reverseContinue")
    assert editor.value("c2.y") == "2", "before it, nothing has changed"
    editor.ask("setExpression", expression="i0.x", value="4")
    while editor.go("next")["reason"] == "step" and "end" not in editor.frame["name"]:
        rounds += editor.frame["line"] == 7
    assert rounds == 5
