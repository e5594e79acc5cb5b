"""The tool that puts small faults into the code: which faults there are, and how caught ones are counted."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """NAMES = ("low", "high")
CODES = {
    "less": COMPARE.LESS, "equal": COMPARE.EQUAL,
}

def told(a, b):
    \"\"\"A docstring with (1, 2) is left alone.\"\"\"
    if a < b:
        raise ValueError(f"{a} and {b}")
    return f"{a} of {b}", place(a, b), a + 1
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("mutants")


def lines_with(tool: ModuleType, shown: bool) -> dict[str, set[str]]:
    """The changed lines of each kind of fault."""
    found: dict[str, set[str]] = {}
    lines = SOURCE.splitlines()
    for change in tool.python_changes(SOURCE, shown):
        node = change.node
        line = lines[node.lineno - 1]
        new = line[: node.col_offset] + change.text + line[node.end_col_offset :]
        found.setdefault(change.kind, set()).add(new.strip())
    return found


def test_every_kind_of_fault(tool: ModuleType) -> None:
    found = lines_with(tool, shown=True)
    assert found == {
        "names": {'NAMES = ("high", "low")', '"less": COMPARE.EQUAL, "equal": COMPARE.LESS,'},
        "branch": {"if not (a < b):"},
        "comparison": {"if (a) <= (b):"},
        "dropped": {"if False and (a < b):"},
        "words": {'return f"{b} of {a}", place(a, b), a + 1'},
        "swap": {'return f"{a} of {b}", place(b, a), a + 1'},
        "operator": {'return f"{a} of {b}", place(a, b), (a) - (1)'},
        "constant": {'return f"{a} of {b}", place(a, b), a + 2'},
    }
    assert "words" not in lines_with(tool, shown=False), "texts are answers only where they are shown"


def test_the_kept_faults_are_those_of_the_rooms() -> None:
    rows = json.loads((ROOT / "tools" / "mutants.json").read_text(encoding="utf-8"))
    assert len(rows) == 150
    assert all(row["old"] != row["new"] and row["old"].count("\n") == row["new"].count("\n") for row in rows)


def test_each_room_needs_nine_of_ten(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults that change nothing are listed and not counted, unless a test has caught them."""

    def verdicts(room: str, caught: int, missed: int, same: int) -> list[tuple[object, object]]:
        fault = lambda reason: tool.Mutant(room, "a.py", "constant", "1", "2", reason)  # noqa: E731
        found = [(fault(""), tool.Verdict(True, "a test"))] * caught + [(fault("why"), tool.Verdict(False))] * missed
        return found + [(fault("equivalent: why"), tool.Verdict(False))] * same

    assert tool.summary([*verdicts("lanes", 9, 1, 3), *verdicts("cli", 5, 0, 0)])
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "lanes 9 of 10 caught, 3 equivalent", "cli 5 of 5 caught", "all 14 of 15 caught",
    ]  # fmt: skip
    assert not tool.summary([*verdicts("lanes", 90, 0, 0), *verdicts("cli", 8, 1, 0)])
    assert "cli 8 of 9 caught TOO FEW" in " ".join(capsys.readouterr().out.split())


def test_the_nearest_tests_go_first(tool: ModuleType) -> None:
    path = ROOT / "src" / "pocketgpu" / "pica" / "pdc" / "mode.py"
    found = tool.tests_of(ROOT, tool.ROOMS["pica display"], path)
    assert found[0] == "tests/unit/pica/pdc/test_mode.py" and len(found) == len(set(found)) > 5
    assert all(name.startswith("tests/unit/pica/pdc/") for name in found[:3])
