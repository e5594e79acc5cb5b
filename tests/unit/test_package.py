"""What a user installs: the wheel, its sample, the locked versions, and the promises of the README."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pocketgpu.cli.app import COMMANDS, app
from pocketgpu.cli.parts.outcome import Outcome

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def pins(name: str) -> Iterator[tuple[str, str]]:
    """(package, rest of the line) for each line of a lock file and of those it includes."""
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("-r "):
            yield from pins(text[3:].strip())
        elif text:
            match = re.fullmatch(r"([A-Za-z0-9._-]+)==(.+)", text)
            assert match, f"{name}: {line!r} names no exact version"
            yield re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=~! ;\[]", text)[0].lower() for text in requirements}


def test_every_dependency_is_locked(project: dict[str, object]) -> None:
    dependencies, extras = project["dependencies"], project["optional-dependencies"]
    assert isinstance(dependencies, list) and isinstance(extras, dict)
    run = {package for package, _ in pins("run.txt")}
    assert names(dependencies) <= run
    assert names(dependencies + extras["test"]) <= {package for package, _ in pins("test.txt")}
    assert not {"pytest", "ruff", "mypy", "hatchling"} & run  # `make demo` installs what running needs, no more


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_all_that_running_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        (entry_points,) = (archive.read(name).decode() for name in held if name.endswith("entry_points.txt"))
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "pocketgpu").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected.add("pocketgpu/data/pocketgpu_recorder.h")  # from recorder/, so that an installation can hand it on
    assert {name for name in held if name.startswith("pocketgpu/")} == expected
    assert {"pocketgpu/py.typed", "pocketgpu/data/sample.ctf.xz", "pocketgpu/data/sample_switch.mxcap.zip"} <= held
    assert any(name.endswith("licenses/LICENSE") for name in held)
    assert "pocketgpu = pocketgpu.cli:run" in entry_points
    assert "[pytest11]\npocketgpu = pocketgpu.pytest_plugin\n" in entry_points


def test_the_demo_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    installed, work = tmp_path / "installed", tmp_path / "work"
    work.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pocketgpu", *arguments],
            cwd=work,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    text = run("demo")
    pictures = sorted(path.name for path in (work / "build" / "demo").iterdir())
    assert "f0.top.png" in pictures
    for name in pictures:
        assert str(Path("build/demo") / name) in text
    for word in ("draws", "triangles", "ms per frame", "try next"):
        assert word in text
    # The commands that it suggests lead somewhere.
    (suggested,) = (line for line in text.splitlines() if " render " in line)
    words = shlex.split(suggested)
    out = run(*words[words.index("render") :], "--json")
    assert json.loads(out)["frames"]


def readme_commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^    (?:\S*[/\\])?pocketgpu (.+?)(?:\s+#.*)?$", text, re.MULTILINE)


def test_the_readme_has_commands() -> None:
    assert {line.split()[0] for line in readme_commands()} == set(COMMANDS)


@pytest.mark.parametrize("line", readme_commands())
def test_commands_of_the_readme_are_understood(line: str) -> None:
    name, *rest = shlex.split(line)
    command = app.get_command(click.Context(app), name)
    assert command is not None
    # Refuses unknown options, values that do not parse, and missing ones.
    command.make_context(name, rest, obj=Outcome())


def test_the_test_command_of_the_readme_is_what_a_change_must_pass() -> None:
    assert "    make demo " in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "    make test " in (ROOT / "README.md").read_text(encoding="utf-8")
    script = ROOT / ".ci" / "run"
    assert "make test" in script.read_text(encoding="utf-8")
    if os.name == "posix":
        assert os.access(script, os.X_OK)


# -- the check of the wheel -------------------------------------------------------------------------------------------
def test_a_difference_between_wheels_is_named(wheel: Path, tmp_path: Path) -> None:
    check = runpy.run_path(str(ROOT / "tools" / "check_wheel.py"))
    assert check["difference"](wheel, wheel) == ""
    other = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(other, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info, data + b"#" if info.filename == "pocketgpu/__init__.py" else data)
    assert check["difference"](wheel, other) == "files differ: pocketgpu/__init__.py"
    assert check["MOST_PACKED"] > wheel.stat().st_size
    assert wheel.stat().st_size < check["installed_bytes"](wheel) < check["MOST_INSTALLED"]


def test_a_file_of_a_built_page_that_the_wheel_lacks_is_named(wheel: Path, tmp_path: Path) -> None:
    check = runpy.run_path(str(ROOT / "tools" / "check_wheel.py"))
    assert check["lacking_pages"](wheel) == []
    other = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(other, "w") as new:
        pages = [name for name in old.namelist() if re.match(r"pocketgpu/(view|notebook)/page/", name)]
        for info in old.infolist():
            if info.filename != "pocketgpu/notebook/page/widget.js":
                new.writestr(info, old.read(info))
    assert check["lacking_pages"](other) == (["pocketgpu/notebook/page/widget.js"] if pages else [])
