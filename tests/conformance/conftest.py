"""Which rows of the register documents are proved: the marker `row`, what it must satisfy, and the report of all rows.

A row is an id such as `cmd.alphafunc.bits.0` out of rows.tsv, which stands beside this file. A test says with the
marker which rows it proves; `--rows-report FILE` writes what became of every row. `note="pixels=later"` in the marker
goes to the report's note: what of the row this test leaves to be proved.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from support.pica_gpu import Gpu

ROWS_FILE = Path(__file__).with_name("rows.tsv")
OPTION = "--rows-report"
LATER = "pixels=later"
"""The note of a row that is proved as state and text, while nobody knows what it does to pixels."""
_GOOD = ("passed", "collected")


@cache
def known_rows() -> dict[str, str]:
    """Row id to title, in the order of the report."""
    lines = ROWS_FILE.read_text("utf-8").splitlines()[1:]
    return {row: title for row, title in (line.split("\t") for line in lines)}


# -- what a marked test must satisfy ----------------------------------------------------------------------------------


def rows_of(item: pytest.Item) -> list[str]:
    """The rows that a test, or one parameter of it, proves. Markers of modules and classes do not count."""
    return [row for mark in item.own_markers if mark.name == "row" for row in mark.args]


def notes_of(item: pytest.Item) -> list[tuple[str, str]]:
    """(row, note) of the rows that a test proves with a note."""
    marks = [mark for mark in item.own_markers if mark.name == "row" and "note" in mark.kwargs]
    return [(row, str(mark.kwargs["note"])) for mark in marks for row in mark.args]


def asserts(function: Callable[..., Any]) -> bool:
    """Whether a test can fail by what it looks at: assert, pytest.raises, or a helper whose name starts with check_."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            callee = node.func
            name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
            if name == "raises" or name.startswith("check_"):
                return True
    return False


def complaint(item: pytest.Item) -> str:
    """What is wrong with the markers of a test, or nothing."""
    if any(mark.name == "row" for node in item.listchain()[:-1] for mark in node.own_markers):
        return "the marker row stands on a whole module or class: name rows at the test that proves them"
    rows = rows_of(item)
    unknown = [row for row in rows if row not in known_rows()]
    if unknown:
        return f"no such row in {ROWS_FILE.name}: {', '.join(map(str, unknown))}"
    if any(mark.name == "row" and not mark.args for mark in item.own_markers):
        return "the marker row names no row"
    if any(mark.name == "row" and set(mark.kwargs) - {"note"} for mark in item.own_markers):
        return "the marker row takes rows and a note, nothing else"
    function = getattr(item, "function", None)
    if rows and function is not None and not asserts(function):
        return "the test claims to prove rows but asserts nothing"
    return ""


def pytest_itemcollected(item: pytest.Item) -> None:
    # User properties travel with the reports, also from the workers of xdist.
    item.user_properties += [("row", row) for row in rows_of(item)]
    item.user_properties += [(f"note {row}", note) for row, note in notes_of(item)]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if wrong := complaint(item):
        pytest.fail(wrong, pytrace=False)


# -- the report -------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, metavar="FILE", help="write what became of every row; the run fails unless all passed")


def pytest_configure(config: pytest.Config) -> None:
    # Workers of xdist report to the process that started them.
    target = config.getoption(OPTION, default=None)
    if target and not hasattr(config, "workerinput"):
        config.pluginmanager.register(RowReport(Path(target)), "rows-report")


class RowReport:
    """Gathers the reports of one run and writes row, status, tests and note of every row."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.tests: dict[str, list[str]] = {row: [] for row in known_rows()}
        self.outcomes: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self.remarks: dict[str, list[str]] = {row: [] for row in known_rows()}
        self.total = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            for item in session.items:
                self._claim(item.nodeid, item.user_properties)
                self.outcomes[item.nodeid] = "collected"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._claim(report.nodeid, report.user_properties)
        # The worst of set-up, call and tear-down counts; a passed set-up says nothing.
        if report.failed or (report.skipped and self.outcomes.get(report.nodeid) != "failed"):
            self.outcomes[report.nodeid] = report.outcome
            self.notes.setdefault(report.nodeid, first_line(report))
        elif report.when == "call":
            self.outcomes[report.nodeid] = "passed"

    def _claim(self, test: str, properties: Iterable[tuple[str, object]]) -> None:
        for name, row in properties:
            if name == "row" and row in self.tests and test not in self.tests[str(row)]:
                self.tests[str(row)].append(test)
            remarks = self.remarks.get(name.removeprefix("note ")) if name.startswith("note ") else None
            if remarks is not None and row not in remarks:
                remarks.append(str(row))

    def status(self, row: str) -> tuple[str, str]:
        """("passed", "failed" or "missing", note); "collected" when nothing was to run."""
        outcomes = {test: self.outcomes.get(test, "not run") for test in self.tests[row]}
        notes = [self.notes[test] for test in outcomes if test in self.notes]
        note = notes[0] if notes else ""
        if "failed" in outcomes.values():
            failed = next(test for test, outcome in outcomes.items() if outcome == "failed")
            return "failed", self.notes.get(failed, note)
        for good in _GOOD:
            if good in outcomes.values():
                return good, "; ".join([*self.remarks[row], *([note] if note else [])])
        return "missing", note or ("not run" if outcomes else "no test")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        lines = ["row\tstatus\ttests\tnote"]
        counts = {"passed": 0, "failed": 0, "missing": 0}
        found = {row: self.status(row) for row in self.tests}
        for row, tests in self.tests.items():
            status, note = found[row]
            counts[status] = counts.get(status, 0) + 1
            lines.append(f"{row}\t{status}\t{','.join(sorted(tests))}\t{note}")
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.target.write_text("\n".join(lines) + "\n", "utf-8")
        self.total = f"{len(self.tests)} rows: " + ", ".join(f"{number} {status}" for status, number in counts.items())
        later = [row for row, (status, note) in found.items() if status in _GOOD and LATER in note]
        if later:
            known = f"{len(later)} of them as state and text only"
            self.total += f"; {known}, as nobody knows what they do to pixels: {', '.join(later)}"
        if counts["failed"] or counts["missing"]:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"{self.total} -> {self.target}")


def first_line(report: pytest.TestReport) -> str:
    """Why a test failed or was skipped, in one line without tabs."""
    cause = report.longrepr
    if isinstance(cause, tuple):
        text = cause[2]
    else:
        crash = getattr(cause, "reprcrash", None)
        text = crash.message if crash else str(cause or getattr(report, "wasxfail", ""))
    return next((" ".join(line.split()) for line in text.splitlines() if line.strip()), report.outcome)


# -- machines ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def tier(request: pytest.FixtureRequest) -> str:
    """Which code draws: "auto", or what a module asks for."""
    return str(getattr(request, "param", "auto"))


@pytest.fixture
def gpu(tier: str) -> Gpu:
    """A machine with a render target of 16x16 and a pass-through vertex program."""
    return Gpu(tier=tier)


@pytest.fixture
def make_gpu(tier: str) -> Callable[..., Gpu]:
    """Gpu(width, height, evaluator=, threads=, switch__name=)."""
    return partial(Gpu, tier=tier)
