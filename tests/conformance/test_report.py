"""The report of rows, tried on small test suites of its own: what makes a row passed, failed or missing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).with_name("conftest.py")
ROWS = ("a.1", "a.2", "b.0x1")


class Suite:
    """A folder with the conftest under test, three rows and the given tests."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeconftest(CONFTEST.read_text("utf-8"))
        pytester.makeini("[pytest]\nmarkers =\n    row(id): rows\naddopts = --strict-markers -p no:cacheprovider\n")
        listed = "".join(f"{row}\ttitle of {row}\n" for row in ROWS)
        (pytester.path / "rows.tsv").write_text("row\ttitle\n" + listed, "utf-8")

    def run(self, tests: str, *options: str) -> pytest.RunResult:
        self.pytester.makepyfile("import pytest\n" + tests)
        return self.pytester.runpytest("--rows-report", "build/rows.tsv", *options)

    def report(self) -> dict[str, tuple[str, str, str]]:
        """Row to (status, tests, note)."""
        lines = (self.pytester.path / "build" / "rows.tsv").read_text("utf-8").splitlines()
        assert lines[0] == "row\tstatus\ttests\tnote"
        cells = [line.split("\t") for line in lines[1:]]
        assert [line[0] for line in cells] == list(ROWS)
        return {row: (status, tests, note) for row, status, tests, note in cells}


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    return Suite(pytester)


ALL_PASS = """
@pytest.mark.row("a.1", "a.2")
def test_two():
    assert 1 + 1 == 2

@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.row("b.0x1")), 2])
def test_by_parameter(n):
    assert n
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_a_row_passes_when_its_tests_pass(suite: Suite, options: tuple[str, ...]) -> None:
    result = suite.run(ALL_PASS, *options)
    assert result.ret == 0
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["3 rows: 3 passed, 0 failed, 0 missing -> *"])
    name = "test_a_row_passes_when_its_tests_pass.py"
    assert suite.report() == {
        "a.1": ("passed", f"{name}::test_two", ""),
        "a.2": ("passed", f"{name}::test_two", ""),
        "b.0x1": ("passed", f"{name}::test_by_parameter[1]", ""),
    }


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_failed_skipped_and_absent_tests(suite: Suite, options: tuple[str, ...]) -> None:
    result = suite.run(
        """
@pytest.mark.row("a.1")
def test_good():
    assert True

@pytest.mark.row("a.1")
def test_bad():
    found = 3
    assert found == 4

@pytest.mark.row("a.2")
def test_skipped():
    pytest.skip("no recordings here")
    assert True
""",
        *options,
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["3 rows: 0 passed, 1 failed, 2 missing*"])
    report = suite.report()
    status, tests, note = report["a.1"]
    assert status == "failed" and note == "assert 3 == 4"
    assert [test.rpartition("::")[2] for test in tests.split(",")] == ["test_bad", "test_good"]
    assert report["a.2"][0] == "missing" and report["a.2"][2] == "Skipped: no recordings here"
    assert report["b.0x1"] == ("missing", "", "no test")


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_notes_of_markers_stand_beside_passed_rows(suite: Suite, options: tuple[str, ...]) -> None:
    result = suite.run(
        """
@pytest.mark.row("a.1", note="pixels=later")
@pytest.mark.row("a.2")
def test_one():
    assert True

@pytest.mark.row("a.1", note="pixels=later")
def test_again():
    assert True

@pytest.mark.row("b.0x1", note="pixels=later")
def test_bad():
    assert 3 == 4
""",
        *options,
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "3 rows: 2 passed, 1 failed, 0 missing; 1 of them as state and text only, as nobody knows what they do to "
        "pixels: a.1 -> *"
    ])  # fmt: skip
    report = suite.report()
    assert (report["a.1"][0], report["a.1"][2]) == ("passed", "pixels=later")
    assert (report["a.2"][0], report["a.2"][2]) == ("passed", "")
    assert (report["b.0x1"][0], report["b.0x1"][2]) == ("failed", "assert 3 == 4")


def test_missing_rows_alone_fail_the_run(suite: Suite) -> None:
    result = suite.run('@pytest.mark.row("a.1")\ndef test_one():\n    assert True\n')
    result.assert_outcomes(passed=1)
    assert result.ret == 1


def test_errors_around_a_test_fail_its_rows(suite: Suite) -> None:
    result = suite.run(
        """
@pytest.fixture
def broken():
    raise ValueError("no machine")

@pytest.fixture
def leaves():
    yield
    raise ValueError("left over")

@pytest.mark.row("a.1")
def test_set_up(broken):
    assert True

@pytest.mark.row("a.2")
def test_tear_down(leaves):
    assert True

@pytest.mark.row("b.0x1")
@pytest.mark.xfail(reason="not built")
def test_expected():
    assert False
"""
    )
    assert result.ret == 1
    report = suite.report()
    assert (report["a.1"][0], report["a.1"][2]) == ("failed", "ValueError: no machine")
    assert (report["a.2"][0], report["a.2"][2]) == ("failed", "ValueError: left over")
    assert report["b.0x1"][0] == "missing"


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_an_unknown_row_fails_the_run(suite: Suite, options: tuple[str, ...]) -> None:
    result = suite.run(ALL_PASS + '@pytest.mark.row("a.3")\ndef test_typo():\n    assert True\n', *options)
    assert result.ret == 1
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*no such row in rows.tsv: a.3*"])


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ('@pytest.mark.row("a.1")\ndef test_empty():\n    print(1)\n', "*asserts nothing*"),
        ("@pytest.mark.row()\ndef test_no_row():\n    assert True\n", "*names no row*"),
        ('@pytest.mark.row("a.1", why="x")\ndef test_typo():\n    assert True\n', "*rows and a note, nothing else*"),
        ('pytestmark = pytest.mark.row("a.1")\ndef test_module():\n    assert True\n', "*whole module or class*"),
        (
            '@pytest.mark.row("a.1")\nclass TestClass:\n    def test_one(self):\n        assert True\n',
            "*whole module or class*",
        ),
    ],
    ids=["no assertion", "no row", "keyword", "module", "class"],
)
def test_a_claim_without_proof_fails(suite: Suite, tests: str, said: str) -> None:
    result = suite.run(tests)
    assert result.ret == 1
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])


@pytest.mark.parametrize(
    "body",
    ["with pytest.raises(ValueError):\n        int('x')", "check_it()", "assert True"],
    ids=["raises", "check_", "assert"],
)
def test_what_counts_as_a_proof(suite: Suite, body: str) -> None:
    check = "def check_it():\n    assert True\n"
    suite.run(f'{check}@pytest.mark.row("a.1")\ndef test_one():\n    {body}\n')
    assert suite.report()["a.1"][0] == "passed"


def test_collecting_alone_lists_what_would_run(suite: Suite) -> None:
    suite.run(ALL_PASS, "--collect-only", "-q")
    assert [status for status, _, _ in suite.report().values()] == ["collected"] * 3


def test_without_the_option_nothing_is_written(suite: Suite) -> None:
    suite.pytester.makepyfile("import pytest\n" + ALL_PASS)
    assert suite.pytester.runpytest().ret == 0
    assert not (suite.pytester.path / "build").exists()
