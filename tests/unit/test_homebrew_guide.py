"""docs/guides/homebrew-ci.md and action.yml: their lines are run as they stand, with the wheel of this project in the
place of the package, and with a program of the tests in the place of a reader's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.pages import blocks
from support.small_projects import WITHOUT
from support.workflow import Step, inputs, steps

pytest.importorskip("unicorn", reason="needs the extra 'guest'")
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guides" / "homebrew-ci.md").read_text(encoding="utf-8")
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
PROGRAM = ROOT / "tests" / "guests" / "n3ds" / "console.elf"
WORKFLOW, ELSEWHERE = (block.text for block in blocks(PAGE) if block.kind == "yaml")
(CHANGED,) = (block.text for block in blocks(PAGE) if block.kind == "text" and "not as expected" in block.text)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what is in the wheel, under `unpacked`. Beside it projects have their `site`, and the bytecode of
    what is there: each would compile all modules again."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(folder / "unpacked")
    return folder


class Project:
    """A reader's project, and commands that stand for those that reach the network: pip unpacks the wheel, docker
    "builds" the program."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.bin, self.site = folder / "project", folder / "bin", wheel / "site"
        self._bytecode = wheel / "bytecode"
        shutil.rmtree(self.site, ignore_errors=True)
        for one in (self.folder, self.bin, self.site):
            one.mkdir()
        self.built = self.folder / "built"
        self.calls = folder / "calls"
        python = f'exec "{sys.executable}"'
        # Installing makes the package importable, and nothing else does.
        self._command("python", f'if [ "$2" = pip ]; then echo "$@" >> "{self.calls}"; '
                                f'cp -rp "{wheel}/unpacked/." "{self.site}"; else {python} "$@"; fi')  # fmt: skip
        self._command("docker", f'echo "docker $@" >> "{self.calls}"; cp "{self.built}" app.3dsx')
        self._command("pocketgpu", f'{python} -m pocketgpu "$@"')

    def _command(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def run(self, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A line of a workflow, as GitHub runs it."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON"))}
        found = {
            **clean, "PATH": f"{self.bin}:{os.environ['PATH']}", "PYTHONPATH": str(self.site),
            "PYTHONPYCACHEPREFIX": str(self._bytecode), "GITHUB_ACTION_PATH": str(ROOT), **environment,
        }  # fmt: skip
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line], cwd=self.folder, env=found,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
        )  # fmt: skip

    def workflow(self, found: list[Step], values: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """All steps, as far as one fails; `uses` of our own action is its steps."""
        done = None
        for step in found:
            if step.uses.startswith("OWNER/pocketgpu@"):
                done = self.workflow(steps(ACTION), {**inputs(ACTION), **step.values})
            elif step.run:
                done = self.run(step.run, **(step.environment(values) if values is not None else {}))
            if done is not None and done.returncode:
                break
        assert done is not None
        return done

    def change(self) -> None:
        """What the page says that somebody changes."""
        old, new = re.findall(r'Somebody changes "(.*?)" into "(.*?)"', PAGE)[0]
        data = PROGRAM.read_bytes()
        assert len(old) == len(new) and data.count(old.encode()) == 1
        self.built.write_bytes(data.replace(old.encode(), new.encode()))


@pytest.fixture
def project(tmp_path: Path, wheel: Path) -> Project:
    made = Project(tmp_path, wheel)
    made.built.write_bytes(PROGRAM.read_bytes())
    return made


def make_goldens(project: Project) -> None:
    """The first command of the page, on the reader's computer."""
    shutil.copy(project.built, project.folder / "app.3dsx")
    assert project.run("python -m pip install x").returncode == 0
    (line,) = re.findall(r"^\$ (pocketgpu run app\.3dsx .* --out goldens)$", PAGE, re.MULTILINE)
    assert project.run(line).returncode == 0
    assert len(list((project.folder / "goldens").glob("*.png"))) == 10
    for path in (project.folder / "app.3dsx", project.calls):
        path.unlink()
    shutil.rmtree(project.site)
    project.site.mkdir()


def as_pattern(text: str) -> str:
    return "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in text.splitlines())


@pytest.mark.parametrize("name", ["GitHub", "elsewhere"])
def test_a_workflow_is_green_and_turns_red(project: Project, name: str) -> None:
    make_goldens(project)
    found = steps(WORKFLOW) if name == "GitHub" else [steps(WORKFLOW)[1], *steps(ELSEWHERE)]
    done = project.workflow(found)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 pictures compared with goldens: all the same" in done.stdout
    calls = project.calls.read_text()
    assert "docker run " in calls and ("pip install 'pocketgpu" in ELSEWHERE) and "[guest]" in calls

    project.change()
    done = project.workflow(found)
    assert done.returncode == 1
    assert re.search(as_pattern(CHANGED), done.stdout), done.stdout
    report = project.folder / "pocketgpu-report"
    assert (report / "index.html").is_file()
    # Both failures are about the same three pictures.
    assert len([*report.glob("pictures/*/*.png"), *report.glob("differences/*.png")]) == 3
    results = project.folder / ("pocketgpu-report.xml" if name == "GitHub" else "build/results.xml")
    assert 'failures="2"' in results.read_text(encoding="utf-8")

    # The change is meant.
    shutil.copytree(report / "candidates", project.folder / "goldens", dirs_exist_ok=True)
    shutil.rmtree(project.folder / "build", ignore_errors=True)
    assert project.workflow(found).returncode == 0


def test_the_action_makes_pictures_where_there_is_nothing_to_compare_with(project: Project) -> None:
    shutil.copy(project.built, project.folder / "app.3dsx")
    values = {**inputs(ACTION), "program": "app.3dsx", "arguments": "--press 'A @ 3-4' --frames 5"}
    done = project.workflow(steps(ACTION), values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (project.folder / "pocketgpu-report").iterdir()} == {
        "f0.top.png", "f0.bottom.png", "f4.top.png", "f4.bottom.png"
    }  # fmt: skip
    values["arguments"] = "--until never --frames 5"
    assert project.workflow(steps(ACTION), values).returncode == 1
    values["arguments"] = "--press '$(touch made)' --until `touch made`;touch made"
    assert project.workflow(steps(ACTION), values).returncode == 2
    assert not (project.folder / "made").exists()
    values["arguments"] = "--frames 5 --press 'A@3"
    assert project.workflow(steps(ACTION), values).returncode
    values["arguments"] = "--nonsense"
    assert project.workflow(steps(ACTION), values).returncode == 2


def test_the_action_is_whole() -> None:
    found = steps(ACTION)
    assert [one.uses.split("@")[0] for one in found if one.uses] == [
        "actions/setup-python", "actions/cache", "actions/upload-artifact"
    ]  # fmt: skip
    assert found[-1].condition == "always()" and "\t" not in ACTION
    # What somebody gives reaches a shell as a variable, never as text of a script.
    assert not [one.run for one in found if "${{" in one.run or "eval" in one.run]
    named = set(re.findall(r"inputs\.(\w+)", ACTION))
    assert named == {"program", "expect", "arguments", "report", "python"} == {*inputs(ACTION), "program"}
    (step,) = [one for one in steps(WORKFLOW) if one.uses.startswith("OWNER/")]
    assert set(step.values) <= named and step.values["program"] == "app.3dsx"


def test_the_test_of_the_page_compares(project: Project) -> None:
    (test,) = [block for block in blocks(PAGE) if block.file == "test_start.py"]
    (project.folder / test.file).write_text(test.text, encoding="utf-8")
    app = project.folder / "app.3dsx"
    shutil.copy(project.built, app)
    line = " ".join(["python -m pytest -q -p no:cacheprovider", *WITHOUT])
    assert project.run("python -m pip install x").returncode == 0
    assert project.run(line + " --update-goldens").returncode == 0
    assert (project.folder / "goldens" / "start.png").is_file()
    assert project.run(line).returncode == 0
    project.change()
    shutil.copy(project.built, app)
    assert project.run(line).returncode == 1


def test_exit_codes_of_the_page_are_those_of_the_command_line() -> None:
    table = re.findall(r"^\| (\d) \| (.*) \|$", PAGE, re.MULTILINE)
    from pocketgpu.cli.parts.outcome import ExitCode

    assert {int(code) for code, _ in table} <= {int(one) for one in ExitCode} and len(table) == 5
