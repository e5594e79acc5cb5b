"""A session on a text of the 3DS: order of requests, breakpoints, steps over calls and loops, what-if."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.dap_client import Editor, Refused

from pocketgpu.editor.dap.requests import REQUESTS

INPUTS: dict[str, Any] = {
    "inputs": {"v0": [4, 1, 0, 1]},
    "uniforms": {"i0": [2, 1, 1], "c2": [1, 1, 1, 1], "c3": [2, 2, 2, 2]},
}


@pytest.fixture
def at_entry(editor: Editor, pica: Path) -> Editor:
    stopped = editor.launch(source=str(pica), **INPUTS)
    assert stopped["reason"] == "entry" and editor.frame["line"] == 3
    return editor


def lines(editor: Editor, command: str, count: int) -> list[int]:
    found = []
    for _ in range(count):
        editor.go(command)
        found.append(editor.frame["line"])
    return found


def breakpoint(editor: Editor, pica: Path, line: int, **more: Any) -> dict[str, Any]:
    found = editor.ask("setBreakpoints", source={"path": str(pica)}, breakpoints=[{"line": line, **more}])
    (one,) = found["breakpoints"]
    return dict(one)


# -- order ------------------------------------------------------------------------------------------------------------
def test_what_an_editor_is_told_derives_from_the_table(editor: Editor) -> None:
    body = editor.ask("initialize")
    assert body["supportsStepBack"] and body["supportsSetVariable"] and body["supportsDataBreakpoints"]
    assert all(body[one.capability] for one in REQUESTS.values() if one.capability)
    assert [one["filter"] for one in body["exceptionBreakpointFilters"]] == [
        "nan",
        "infinity",
        "unwritten",
        "store",
        "load",
    ]


def test_requests_out_of_order_are_refused(editor: Editor, pica: Path) -> None:
    for name in REQUESTS:
        if name not in ("initialize", "cancel", "disconnect"):
            assert "no place here" in editor.request(name, {})["message"]
    editor.ask("initialize")
    assert "no place here" in editor.request("initialize", {})["message"]
    assert "no place here" in editor.request("next", {"threadId": 1})["message"]
    assert "there is no request 'attach'" in editor.request("attach", {})["message"]
    editor.ask("configurationDone")  # before the launch
    editor.ask("launch", source=str(pica))
    assert editor.stopped["reason"] == "entry"
    editor.ask("disconnect")
    assert editor.adapter.over and not editor.request("threads", {})["success"]


def test_a_launch_that_fails_can_be_tried_again(editor: Editor, pica: Path, tmp_path: Path) -> None:
    editor.ask("initialize")
    for arguments, text in (
        ({}, "names nothing"), ({"source": "x", "program": "y"}, "names program and source"),
        ({"source": str(pica), "grd": 1}, "means nothing"),
        ({"source": str(tmp_path / "none")}, "cannot read"),
        ({"source": str(pica), "inputs": {"v0": "x"}}, "neither a number"),
        ({"source": str(pica), "inputs": {"v77": 1}}, "no register v77"), ({"source": "-"}, "no path"),
        ({"source": str(pica), "args": ["in:-"]}, "where the editor speaks"),
        ({"source": str(pica), "grid": 4}, "kernels"),
        ({"source": str(pica), "most": 0}, "steps can be kept"), ({"program": str(pica)}, "no kernels"),
        ({"capture": str(pica), "address": "f0/d0/v0"}, "not|no "), ({"capture": str(pica), "address": "x"}, "x"),
    ):  # fmt: skip
        with pytest.raises(Refused, match=text):
            editor.ask("launch", **arguments)
    editor.ask("launch", source=str(pica), type="pocketgpu", request="launch", name="x", __sessionId="1")
    assert editor.named("initialized") == [{}]


def test_lines_can_count_from_zero(editor: Editor, pica: Path) -> None:
    editor.ask("initialize", linesStartAt1=False)
    editor.ask("launch", source=str(pica), **INPUTS)
    assert breakpoint(editor, pica, 9)["line"] == 9
    editor.ask("configurationDone")
    assert editor.frame["line"] == 2
    editor.go("continue")
    assert editor.frame["line"] == 9


# -- steps ------------------------------------------------------------------------------------------------------------
def test_steps_over_in_out_and_back(at_entry: Editor) -> None:
    editor = at_entry
    assert lines(editor, "next", 2) == [4, 5]
    assert lines(editor, "stepBack", 2) == [4, 3]
    assert lines(editor, "next", 1) == [4] and lines(editor, "stepIn", 1) == [15]
    frames = editor.ask("stackTrace", threadId=1)
    assert [one["line"] for one in frames["stackFrames"]] == [15, 4] and frames["totalFrames"] == 2
    assert frames["stackFrames"][0]["name"].startswith("twice (")
    assert editor.ask("stackTrace", threadId=1, startFrame=1, levels=1)["stackFrames"] == frames["stackFrames"][1:]
    assert lines(editor, "stepOut", 1) == [5]
    assert lines(editor, "stepBack", 1) == [4], "back over the call"
    assert lines(editor, "stepIn", 2) == [15, 16] and lines(editor, "stepBack", 2) == [15, 4]
    editor.go("next")
    assert lines(editor, "next", 8) == [6, 7, 8, 7, 8, 7, 8, 10], "three rounds of the loop"
    stopped = [editor.go("next") for _ in range(4)][-1]
    assert "the end of the program" in stopped["description"] and "end of" in editor.frame["name"]
    editor.go("reverseContinue")
    assert editor.place == 0 and "the beginning" in editor.go("stepBack")["description"]
    editor.go("continue")
    editor.ask("next", threadId=1)
    assert editor.named("terminated") == [{}] and editor.named("exited") == [{"exitCode": 0}]
    editor.ask("restart")
    assert editor.stopped["reason"] == "entry" and editor.place == 0


def test_frames_are_run_again_and_steps_are_gone_to(at_entry: Editor, pica: Path) -> None:
    editor = at_entry
    [editor.go("stepIn") for _ in range(3)]
    frame = editor.frame
    assert frame["line"] == 16
    editor.ask("restartFrame", frameId=frame["id"])
    assert editor.frame["line"] == 15
    targets = editor.ask("gotoTargets", source={"path": str(pica)}, line=7)["targets"]
    assert len(targets) == 1
    assert editor.go("goto", targetId=targets[0]["id"])["reason"] == "goto" and editor.frame["line"] == 7
    with pytest.raises(Refused):
        editor.ask("goto", threadId=1, targetId=4000)


# -- breakpoints ------------------------------------------------------------------------------------------------------
def test_breakpoints_by_line(at_entry: Editor, pica: Path) -> None:
    editor = at_entry
    one = breakpoint(editor, pica, 6)
    assert one["verified"] and one["line"] == 6
    assert breakpoint(editor, pica, 9)["line"] == 10, "the next line with code"
    assert not breakpoint(editor, pica, 99)["verified"]
    other = editor.ask("setBreakpoints", source={"path": "/nowhere"}, breakpoints=[{"line": 1}])["breakpoints"][0]
    assert not other["verified"] and "not made from" in other["message"]
    number = breakpoint(editor, pica, 7)["id"]
    for _ in range(3):
        stopped = editor.go("continue")
        assert (stopped["reason"], stopped["hitBreakpointIds"], editor.frame["line"]) == ("breakpoint", [number], 7)
    assert "end" in editor.go("continue")["description"]
    for _ in range(3):
        assert editor.go("reverseContinue")["reason"] == "breakpoint"
    editor.go("reverseContinue")
    assert editor.place == 0
    breakpoint(editor, pica, 15)
    editor.go("next")
    assert editor.go("next")["reason"] == "breakpoint" and editor.frame["line"] == 15, (
        "also inside of what is stepped over"
    )
    found = editor.ask("breakpointLocations", source={"path": str(pica)}, line=1, endLine=8)["breakpoints"]
    assert [one["line"] for one in found] == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(("more", "values"), (
    ({"condition": "r3.x >= 1"}, ["1", "3"]), ({"hitCondition": "2"}, ["1"]), ({"hitCondition": ">= 2"}, ["1", "3"]),
    ({"hitCondition": "%2"}, ["1"]), ({"condition": "r3.x >= 1", "hitCondition": "2"}, ["3"]),
    ({"condition": "r3.x > 9"}, []),
))  # fmt: skip
def test_conditions_and_counts(at_entry: Editor, pica: Path, more: dict[str, str], values: list[str]) -> None:
    """The loop comes to line 7 with 0, then c2, then c2 + c3."""
    editor = at_entry
    editor.ask("setExceptionBreakpoints", filters=[])
    breakpoint(editor, pica, 7, **more)
    for command, wanted in (("continue", ["0", *values]), ("reverseContinue", values[::-1])):
        found = []
        for _ in range(len(values)):
            assert editor.go(command)["reason"] == "breakpoint"
            found.append(editor.value("r3.x"))
        assert found == [one for one in wanted if one in values]
        assert editor.go(command)["reason"] == "step"


def test_a_bad_condition_is_told(at_entry: Editor, pica: Path) -> None:
    assert "missing" in breakpoint(at_entry, pica, 7, condition="r3.x >")["message"]
    assert "counts no hits" in breakpoint(at_entry, pica, 7, hitCondition="often")["message"]
    assert breakpoint(at_entry, pica, 7, condition="r99.x")["verified"]
    assert at_entry.go("continue")["reason"] == "breakpoint", "a condition without a value stops"


def test_log_points(at_entry: Editor, pica: Path) -> None:
    editor = at_entry
    breakpoint(editor, pica, 7, logMessage="sum {r3.xy}")
    assert "end" in editor.go("continue")["description"]
    outputs = [one for one in editor.named("output") if one["category"] == "stdout"]
    assert [one["output"] for one in outputs] == ["sum (0, 0)\n", "sum (1, 1)\n", "sum (3, 3)\n"]
    assert {one["line"] for one in outputs} == {7}
    editor.go("reverseContinue")
    assert editor.named("output") == []


def test_breakpoints_by_instruction(at_entry: Editor) -> None:
    editor = at_entry
    rows = editor.ask("disassemble", memoryReference="0x0", instructionCount=30, instructionOffset=-2)["instructions"]
    assert len(rows) == 30 and rows[0]["presentationHint"] == "invalid" and rows[2]["instruction"].startswith("mov r0")
    rsq = next(one for one in rows if one["instruction"].startswith("rsq"))
    assert rsq["line"] == 10
    given = [
        {"instructionReference": rsq["address"]},
        {"instructionReference": "0x0", "offset": 1},
        {"instructionReference": "0xffff"},
    ]
    found = editor.ask("setInstructionBreakpoints", breakpoints=given)["breakpoints"]
    assert [one["verified"] for one in found] == [True, True, False]
    assert editor.go("continue")["reason"] == "instruction breakpoint" and editor.frame["line"] == 4
    editor.go("continue")
    assert editor.frame["instructionPointerReference"] == rsq["address"]


def test_data_breakpoints(at_entry: Editor) -> None:
    editor = at_entry
    temporaries = editor.scopes()["temporaries"]
    info = editor.ask("dataBreakpointInfo", variablesReference=temporaries, name="r0")
    assert info["dataId"] == "r0.x r0.y r0.z r0.w" and "write" in info["accessTypes"]
    assert editor.ask("dataBreakpointInfo", name="c2.x")["accessTypes"] == ["read"]
    assert editor.ask("dataBreakpointInfo", name="c2.x + 1")["dataId"] is None
    found = editor.ask(
        "setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}, {"dataId": "x"}]
    )
    assert [one["verified"] for one in found["breakpoints"]] == [True, False]
    seen = []
    for _ in range(2):
        assert editor.go("continue")["reason"] == "data breakpoint"
        seen.append((editor.frame["line"], editor.value("r0.x")))
    assert seen == [(4, "4"), (16, "8")]
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": "r4.x", "accessType": "read"}])
    editor.go("continue")
    assert editor.frame["line"] == 12


def test_exceptions(at_entry: Editor) -> None:
    editor = at_entry
    editor.ask("setExceptionBreakpoints", filters=["nan", "unwritten"])
    stopped = editor.go("continue")
    assert stopped["reason"] == "exception" and editor.frame["line"] == 5 and "r2.x" in stopped["text"]
    editor.go("continue")
    assert editor.frame["line"] == 7, "r3 was not written either"
    stopped = editor.go("continue")
    assert editor.frame["line"] == 10 and "NaN born: r4.x became nan" in stopped["text"]
    info = editor.ask("exceptionInfo", threadId=1)
    assert info["exceptionId"] == "NaN born" and info["breakMode"] == "always"
    assert "end" in editor.go("continue")["description"]
    with pytest.raises(Refused):
        editor.ask("exceptionInfo", threadId=1)
    with pytest.raises(Refused, match="no filter"):
        editor.ask("setExceptionBreakpoints", filters=["all"])
    editor.ask("setExceptionBreakpoints", filters=[], filterOptions=[{"filterId": "nan", "condition": "r0.x < 0"}])
    assert editor.go("reverseContinue")["reason"] != "exception"


def test_breakpoints_from_before_the_launch_get_their_places(editor: Editor, pica: Path) -> None:
    editor.ask("initialize")
    assert not breakpoint(editor, pica, 10)["verified"]
    editor.ask("configurationDone")
    editor.ask("launch", source=str(pica), stopOnEntry=False, **INPUTS)
    (changed,) = [one["breakpoint"] for one in editor.named("breakpoint")]
    assert changed["verified"] and changed["line"] == 10
    assert editor.stopped["hitBreakpointIds"] == [changed["id"]] and editor.frame["line"] == 10


# -- looking ----------------------------------------------------------------------------------------------------------
def test_scopes_and_variables(at_entry: Editor) -> None:
    editor = at_entry
    assert [*editor.scopes()] == [
        "this instruction", "inputs", "temporaries", "outputs", "conditions", "address registers", "state of the unit",
        "constants", "memory",
    ]  # fmt: skip
    inputs = editor.variables(editor.scopes()["inputs"])
    assert inputs["v0"]["value"] == "(4, 1, 0, 1)" and inputs["v0"]["evaluateName"] == "v0"
    parts = editor.variables(inputs["v0"]["variablesReference"])
    assert (parts["x"]["value"], parts["x"]["type"], parts["x"]["evaluateName"]) == ("4", "f32", "v0.x")
    forms = editor.variables(parts["x"]["variablesReference"])
    assert forms["hex"]["value"] == "0x40800000" and forms["i32"]["value"] == str(0x40800000)
    digits = editor.variables(editor.scopes()["inputs"], format={"hex": True})
    assert digits["v0"]["value"].startswith("(0x40800000, 0x3f800000")
    assert editor.variables(editor.scopes()["constants"])["c3"]["value"] == "(2, 2, 2, 2)"
    assert len(editor.variables(editor.scopes()["inputs"], start=2, count=3)) == 3
    old = editor.scopes()["inputs"]
    editor.go("next")
    with pytest.raises(Refused, match="not good any more"):
        editor.variables(old)


def test_expressions_are_evaluated(at_entry: Editor) -> None:
    editor = at_entry
    assert editor.value("v0.xy * 2") == "(8, 2)" and editor.value("v0.x as bits", context="hover") == "1082130432"
    assert editor.value("v0") == "(4, 1, 0, 1)" and editor.value("v0.x", format={"hex": True}) == "0x40800000"
    for text in ("", "v0 +", "r99", "v0 + (1, 2)", "((" * 400):
        with pytest.raises(Refused):
            editor.value(text)
    labels = [one["label"] for one in editor.ask("completions", text="v0 + r1", column=8, frameId=4096)["targets"]]
    assert {"r1", "r10", "r1.x"} <= set(labels)


def test_sources(at_entry: Editor, pica: Path) -> None:
    editor = at_entry
    listing, text = editor.ask("loadedSources")["sources"]
    assert text["path"] == str(pica.resolve()) and editor.frame["source"] == text
    rows = editor.ask("source", sourceReference=listing["sourceReference"])["content"].splitlines()
    assert rows[:2] == ["0x0000  main: mov r0, v0", "0x0001  call 0x000a, 0x000c"]
    number = editor.ask("setBreakpoints", source=listing, breakpoints=[{"line": 3}])["breakpoints"][0]
    assert number["verified"] and number["line"] == 3
    with pytest.raises(Refused):
        editor.ask("source", sourceReference=9)
    assert editor.ask("modules")["modules"][0]["path"] == str(pica.resolve())
    assert editor.ask("threads")["threads"] == [{"id": 1, "name": "one vertex"}]


# -- what-if ----------------------------------------------------------------------------------------------------------
def test_a_register_is_set_and_what_follows_changes(at_entry: Editor) -> None:
    editor = at_entry
    editor.ask("setExceptionBreakpoints", filters=["nan"])
    [editor.go("next") for _ in range(2)]
    assert editor.frame["line"] == 5 and editor.value("r0") == "(8, 2, 0, 2)"
    found = editor.ask(
        "setVariable", variablesReference=editor.scopes()["temporaries"], name="r0", value="(-4, 1, 2, 3)"
    )
    assert found["value"] == "(-4, 1, 2, 3)" and editor.named("invalidated")
    assert editor.value("r0") == "(-4, 1, 2, 3)" and editor.place == 4
    assert "end" in editor.go("continue")["description"], "no NaN any more"
    assert editor.value("o0") == "(-4, 1, 2, 3)" and editor.value("o1.x") == "0.5"
    editor.go("reverseContinue")
    assert editor.value("v0") == "(4, 1, 0, 1)" and "what-if" in editor.scopes()
    editor.ask("restart")
    assert "what-if" not in editor.scopes()
    assert "NaN born" in editor.go("continue")["text"]


def test_values_have_the_type_of_the_register(at_entry: Editor) -> None:
    editor = at_entry

    def put(name: str, value: str) -> str:
        return str(editor.ask("setExpression", expression=name, value=value)["value"])

    assert put("r5.x", "1") == "1" and put("r5.x", "0x40000000") == "2" and put("r5.xy", "v0.yx") == "(1, 4)"
    assert put("r5", "0.5") == "(0.5, 0.5, 0.5, 0.5)" and put("a0.x", "-3") == "-3" and put("cmp.x", "true") != ""
    assert editor.value("cmp.x") == "true" and editor.value("a0") == "(-3, 0)"
    assert editor.value("r5.z = 9", context="repl") == "9" and editor.value("r5") == "(0.5, 0.5, 9, 0.5)"
    for name, value in (
        ("r5.xy", "(1, 2, 3)"),
        ("c99.x", "1"),
        ("loop", "1"),
        ("r5.x + 1", "1"),
        ("r5.x", "nothing"),
        ("r5.x", ""),
    ):
        with pytest.raises(Refused):
            put(name, value)
    editor.go("continue")
    with pytest.raises(Refused, match="ended"):
        put("r5.x", "1")
