"""Lanes go together: the others of a warp, quad or triangle stand where they were at the time of the one that steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.dap_client import Editor, Refused

from pocketgpu.editor.dap.debuggee import group
from pocketgpu.inspect.stepping.schedule import merged

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"
TEXT = """.kernel parts
.registers 8
.param data ptr
S2R R0, SR_TID.X;
SHL R4, R0, 0x2;
ISETP.LT.AND P0, PT, R0, 0x4, PT;
SSY join;
@P0 BRA small;
IADD R1, R0, 0x10;
SYNC;
small:
IADD R1, R0, 0x20;
IADD R1, R1, 0x1;
SYNC;
join:
IADD R2.CC, R4, c[0x0][0x140];
IADD.X R3, RZ, c[0x0][0x144];
STG.E [R2], R1;
EXIT;
"""
"""Lanes from 4 on run lines 9 and 10 first, then lanes 0 to 3 lines 12 to 14, then all of them line 16 and so on."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "parts.sass"
    found.write_text(TEXT)
    return found


def begin(editor: Editor, path: Path, at: str = "b0/t2", **more: Any) -> Editor:
    editor.launch(program=str(path), grid=1, block=32, args=["zeros:128"], at=at, **more)
    return editor


def top(editor: Editor, thread: int) -> dict[str, Any]:
    return dict(editor.ask("stackTrace", threadId=thread)["stackFrames"][0])


def traced(editor: Editor) -> list[int]:
    return [lane.number + 1 for lane in editor.adapter.session.debuggee.lanes if lane.is_traced]


def to_branch(editor: Editor) -> None:
    for _ in range(5):
        editor.go("next")


def test_a_step_takes_the_warp_along(editor: Editor, path: Path) -> None:
    begin(editor, path)
    to_branch(editor)
    assert (editor.frame["line"], top(editor, 1)["line"], top(editor, 10)["line"]) == (12, 12, 16)
    waiting = top(editor, 10)
    assert (waiting["name"], waiting["presentationHint"]) == ("parts (step 7, inactive here)", "subtle")
    assert "inactive" not in top(editor, 1)["name"] and traced(editor) == [3], "no other lane was traced for that"
    [editor.go("next") for _ in range(3)]
    assert [top(editor, thread)["line"] for thread in (1, 3, 10, 32)] == [16] * 4
    assert "inactive" not in top(editor, 10)["name"]
    editor.go("stepBack")
    assert (editor.frame["line"], top(editor, 10)["line"]) == (14, 16)


def test_variables_of_another_lane_are_of_the_same_time(editor: Editor, path: Path) -> None:
    begin(editor, path)
    to_branch(editor)
    frames = [top(editor, thread)["id"] for thread in (1, 3, 10)]

    def values(name: str) -> list[str]:
        return [editor.ask("evaluate", expression=f"{name} as u32", frameId=frame)["result"] for frame in frames]

    assert values("R0") == ["0", "2", "9"] and values("R1") == ["0", "0", "25"], "lane 9 has run its branch"
    editor.go("next")
    assert values("R1") == ["32", "34", "25"]
    editor.go("stepBack")
    scopes = editor.ask("scopes", frameId=frames[2])["scopes"]
    (registers,) = [one["variablesReference"] for one in scopes if one["name"] == "registers"]
    assert editor.variables(registers)["R1"]["value"] == "25"


def test_a_lane_of_the_other_branch_leads(editor: Editor, path: Path) -> None:
    begin(editor, path)
    [editor.go("next") for _ in range(4)]
    editor.ask("next", threadId=10)
    assert editor.stopped["threadId"] == 10
    assert (top(editor, 10)["line"], top(editor, 3)["line"]) == (9, 12) and "inactive" in top(editor, 3)["name"]
    editor.ask("next", threadId=10)
    editor.ask("next", threadId=10)
    assert [top(editor, thread)["line"] for thread in (3, 10, 1, 32)] == [16] * 4
    editor.ask("stepBack", threadId=10)
    assert (top(editor, 10)["line"], top(editor, 3)["line"]) == (10, 12)
    assert traced(editor) == [3, 10]


def test_one_thread_goes_alone(editor: Editor, path: Path) -> None:
    begin(editor, path)
    assert editor.ask("continue", threadId=3, singleThread=True)["allThreadsContinued"] is False
    assert editor.place == 12 and top(editor, 1)["line"] == 4 and top(editor, 10)["line"] == 4
    editor.ask("next", threadId=1)
    assert [top(editor, thread)["line"] for thread in (1, 3, 10)] == [5, 5, 5], "the others go together again"
    editor.ask("next", threadId=3, singleThread=True)
    editor.ask("stepBack", threadId=3, singleThread=True)
    assert [top(editor, thread)["line"] for thread in (1, 3)] == [5, 5]
    assert editor.ask("continue", threadId=3)["allThreadsContinued"] is True
    assert "end" in top(editor, 10)["name"] and "end" in top(editor, 3)["name"]


def test_breakpoints_stop_the_warp_at_any_lane(editor: Editor, path: Path) -> None:
    begin(editor, path)
    (one,) = editor.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": 9}])["breakpoints"]
    stopped = editor.go("continue")
    assert (stopped["threadId"], stopped["hitBreakpointIds"]) == (5, [one["id"]]), "lane 4 comes there first"
    assert top(editor, 5)["line"] == 9 and top(editor, 3)["line"] == 12
    assert "end" in editor.go("continue")["description"]
    stopped = editor.go("reverseContinue")
    assert stopped["threadId"] == 5 and top(editor, 5)["line"] == 9
    editor.go("reverseContinue", singleThread=True)
    assert editor.place == 0
    editor.ask("goto", threadId=3, targetId=1)
    assert "end" in editor.go("continue", singleThread=True)["description"], "alone, it meets no other lane's"


def test_conditions_are_those_of_the_lane_that_comes(editor: Editor, path: Path) -> None:
    begin(editor, path)
    given = [{"line": 9, "condition": "(R0 as u32) == 20"}, {"line": 12, "condition": "R0 == 1"}]
    editor.ask("setBreakpoints", source={"path": str(path)}, breakpoints=given)
    assert editor.go("continue")["threadId"] == 21
    assert editor.go("continue")["threadId"] == 2 and top(editor, 3)["line"] == 12
    editor.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": 12}])
    editor.go("reverseContinue")
    assert editor.go("continue")["threadId"] == 3, "the lane that is stepped, where it comes with others"
    editor.go("next")
    assert editor.go("stepBack")["threadId"] == 3 and editor.frame["line"] == 12


def test_conditions_of_long_traces_are_asked_of_one_lane(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "long.sass"
    text = ".kernel k\n.registers 8\n.param data ptr\nS2R R0, SR_TID.X\nagain:\nIADD R1, R1, 0x1\n"
    path.write_text(text + "ISETP.LT.AND P0, PT, R1, 0x400, PT\n@P0 BRA again\nMOV R2, R0\nEXIT\n")
    begin(editor, path, at="b0/t3")
    source = {"path": str(path)}
    editor.ask("setBreakpoints", source=source, breakpoints=[{"line": 9, "condition": "R0 == 20"}])
    assert "end" in editor.go("continue")["description"]
    assert ["asked of one thread" in one["output"] for one in editor.named("output")] == [True]
    assert traced(editor) == [4]
    editor.go("reverseContinue")
    editor.ask("setBreakpoints", source=source, breakpoints=[{"line": 6, "hitCondition": "% 500"}, {"line": 9}])
    places = []
    while "end" not in editor.go("continue").get("description", ""):
        places.append((editor.stopped["threadId"], editor.place))
    assert places == [(4, 1 + 3 * 499), (4, 1 + 3 * 999), (4, 1 + 3 * 0x400)]


def test_what_if_in_one_lane_is_seen_by_the_others(editor: Editor, path: Path, tmp_path: Path) -> None:
    text = TEXT.replace("STG.E [R2], R1;", "SHFL.UP PT, R5, R1, 0x1, 0x0;\nSTG.E [R2], R5;")
    other = tmp_path / "shuffles.sass"
    other.write_text(text)
    begin(editor, other)
    to_branch(editor)
    editor.go("next")
    editor.ask("setExpression", expression="R1", value="0x1000")
    [editor.go("next") for _ in range(5)]
    frame = top(editor, 4)["id"]
    assert editor.ask("evaluate", expression="R5", frameId=frame)["result"] == "0x00001001"
    editor.ask("setExpression", expression="R5", value="7", frameId=frame)
    names = [one["name"] for one in editor.ask("scopes", frameId=frame)["scopes"]]
    assert "what-if" in names and "what-if" in editor.scopes()
    editor.go("stepBack")
    assert editor.ask("evaluate", expression="R5", frameId=frame)["result"] == "0x00000000"
    editor.ask("restart")
    [editor.go("next") for _ in range(11)]
    assert editor.ask("evaluate", expression="R5 as u32", frameId=frame)["result"] == "35"


def test_the_lanes_of_a_quad(editor: Editor) -> None:
    """All four are of the same run, also those that are only helpers."""
    editor.launch(capture=str(DATA / "sample_switch.mxcap.zip"), address="f0/px200,120")
    main = editor.thread
    for _ in range(3):
        editor.go("stepIn", granularity="instruction")
    frames = [top(editor, one["id"]) for one in editor.ask("threads")["threads"]]
    assert len({one["line"] for one in frames}) == 1 and all("step 3" in one["name"] for one in frames)
    lanes = editor.adapter.session.debuggee.lanes
    own = lanes[main - 1].trace
    for lane in lanes:
        assert lane.trace.schedule is not None and own.schedule is not None
        assert lane.trace.schedule.numbers[: len(own)] == own.schedule.numbers[: len(own)]
        assert lane.trace.schedule.lane == own.schedule.lane + lane.number - own_number(lanes, own)
    names = [one["name"] for one in editor.ask("threads")["threads"]]
    assert len(set(names)) == 4 and "pixel (200, 120)" in names and "pixel (201, 121)" in names


def own_number(lanes: list[Any], trace: Any) -> int:
    return next(lane.number for lane in lanes if lane.trace is trace)


def test_the_vertices_of_a_triangle(editor: Editor) -> None:
    editor.launch(capture=str(DATA / "sample.ctf.xz"), address="f0/px200,120")
    for _ in range(4):
        editor.go("stepIn", granularity="instruction")
    tops = [top(editor, thread) for thread in (1, 2, 3)]
    assert len({one["instructionPointerReference"] for one in tops}) == 1
    editor.ask("stepIn", threadId=2, granularity="instruction")
    assert len({top(editor, thread)["instructionPointerReference"] for thread in (1, 2, 3)}) == 1
    editor.ask("stepIn", threadId=2, granularity="instruction", singleThread=True)
    assert len({top(editor, thread)["instructionPointerReference"] for thread in (1, 2, 3)}) == 2


def test_lanes_that_ran_one_by_one_meet_again() -> None:
    """A loop with one, three and two rounds, a call, and a lane that ends early."""
    programs = [[0, 1, 2, 3, 4, 8, 9, 5, 6], [0, 1, 2, 1, 2, 1, 2, 3, 4, 8, 9, 5, 6], [0, 1, 2, 1, 2, 3, 6]]
    depths = [[0, 0, 0, 0, 0, 1, 1, 0, 0], [0] * 9 + [1, 1, 0, 0], [0] * 7]
    found = merged(programs, depths)
    steps = [(number, [lane for lane in range(3) if mask >> lane & 1])
             for number, mask in zip(found.numbers, found.masks, strict=True)]  # fmt: skip
    assert steps == [
        (0, [0, 1, 2]), (1, [0, 1, 2]), (2, [0, 1, 2]), (1, [1, 2]), (2, [1, 2]), (1, [1]), (2, [1]), (3, [0, 1, 2]),
        (4, [0, 1]), (8, [0, 1]), (9, [0, 1]), (5, [0, 1]), (6, [0, 1, 2]),
    ]  # fmt: skip
    assert [found.place(lane, 7) for lane in range(3)] == [3, 7, 5]
    assert found.tick(1, 5) == 5 and found.tick(2, 7) == len(found) and found.runs(2, 3) and not found.runs(0, 3)
    assert found.instructions(2).tolist() == programs[2]


def test_traces_of_other_lanes_are_forgotten_where_they_are_many(
    editor: Editor, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "MOST_STEPS", 60)
    begin(editor, path)
    to_branch(editor)
    frames = {thread: top(editor, thread)["id"] for thread in (1, 2, 5, 6, 7, 8)}

    def value(thread: int) -> str:
        return str(editor.ask("evaluate", expression="R0 as u32", frameId=frames[thread])["result"])

    for thread in (1, 2, 5, 6, 7, 8, 1, 8):
        assert value(thread) == str(thread - 1) and 3 in traced(editor) and thread in traced(editor)
        assert len(traced(editor)) <= 5
    assert editor.value("R0 as u32") == "2" and top(editor, 10)["line"] == 16


def test_a_lane_that_is_not_there(editor: Editor, path: Path) -> None:
    editor.launch(program=str(path), grid=1, block=5, args=["zeros:128"], at="b0/t0")
    assert len(editor.ask("threads")["threads"]) == 5
    with pytest.raises(Refused, match="no thread"):
        editor.ask("next", threadId=6)
