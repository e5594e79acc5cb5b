""".github/workflows/readme.yml runs what README says under "Try it", on each system; docs/install.md says so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from support.workflow import steps

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "readme.yml").read_text(encoding="utf-8")
SHOWN = {"linux": "From a clone, on Linux", "macos": "From a clone on macOS", "windows": "and on Windows"}


def jobs() -> dict[str, str]:
    """The text of each job by its name."""
    parts = re.split(r"^  (\w+):\n", WORKFLOW.partition("\njobs:\n")[2], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def shown(words: str) -> list[str]:
    """The commands of README's block after these words, without comments."""
    block = re.match(r"[^\n]*\n+(?:<!--[^\n]*\n+)?((?:    [^\n]*\n)+)", README[README.index(words) :])
    assert block is not None, words
    return [line.partition("  #")[0].strip() for line in block[1].splitlines()]


@pytest.mark.parametrize("name", SHOWN)
def test_a_job_runs_the_lines_of_the_readme(name: str) -> None:
    found = steps(jobs()[name])
    assert [step.uses.partition("@")[0] for step in found[:2]] == ["actions/checkout", "actions/setup-python"]
    assert [step.run for step in found[2:]] == shown(SHOWN[name])
    assert len(found) > 3 and name in re.search(r"runs-on: (\S+)", jobs()[name])[1].replace("ubuntu", "linux")  # type: ignore[index]


def test_the_lines_lead_somewhere() -> None:
    assert shown(SHOWN["linux"]) == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in shown(SHOWN["linux"]):
        assert re.search(rf"^{line.removeprefix('make ')}:", makefile, re.MULTILINE)
    for name in ("macos", "windows"):
        lines = [line.replace("\\", "/").replace("Scripts", "bin") for line in shown(SHOWN[name])]
        assert len(lines) == 4 and lines[1:] == [
            ".venv/bin/pip install -r requirements/run.txt",
            ".venv/bin/pip install --no-deps -e .",
            ".venv/bin/pocketgpu demo",
        ]
    assert (ROOT / "requirements" / "run.txt").is_file()


def test_the_workflow_is_plain() -> None:
    assert set(jobs()) == set(SHOWN) and "\t" not in WORKFLOW and "secrets" not in WORKFLOW
    used = re.findall(r"uses: (\S+)", WORKFLOW)
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+\.\d+\.\d+", one) for one in used), "a full version"
    assert "permissions:\n  contents: read\n" in WORKFLOW
    for name, text in jobs().items():
        assert re.search(r"^    timeout-minutes: [1-9]\d?$", text, re.MULTILINE), f"{name} could run for hours"


def test_the_launcher_of_windows_takes_the_python_that_was_set_up() -> None:
    (set_up,) = re.findall(r'python-version: "(.*)"', jobs()["windows"])
    assert re.findall(r'^      PY_PYTHON: "(.*?)"', jobs()["windows"], re.MULTILINE) == [set_up]


def test_every_version_of_python_is_tried_on_linux() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = re.findall(r"Python :: (3\.\d+)", "\n".join(table["classifiers"]))
    assert re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", WORKFLOW)[1]) == known  # type: ignore[index]
    head = re.search(r"^\| system \| Python (.*) \|$", INSTALL, re.MULTILINE)
    assert head is not None and head[1].split(" | ") == known


def test_the_table_of_systems_has_a_word_for_each_cell() -> None:
    rows = re.findall(r"^\| ((?:Linux|macOS|Windows), [^|]+) \| (.+) \|$", INSTALL, re.MULTILINE)
    assert len(rows) >= 5
    for system, cells in rows:
        words = [re.split(r"[ :,]", cell)[0] for cell in cells.split(" | ")]
        assert set(words) <= {"tested", "expected", "no"}, system
    assert "has not run yet" in " ".join(INSTALL.split())


def test_extras_of_the_page_are_those_of_the_package() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", INSTALL, re.MULTILINE))
    assert set(rows) == set(table) - {"test", "docs"}
    for name, brought in rows.items():
        assert sorted(brought.strip().split(", ")) == sorted(re.split(r"[<>=]", one)[0] for one in table[name]), name
