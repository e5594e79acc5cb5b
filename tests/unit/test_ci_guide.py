"""docs/guides/ci.md: a newcomer who does what the page says gets what the page says. Files are those of the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.small_projects import WITHOUT

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")


def shown_file(name: str) -> str:
    """The block that the page shows under a file's name."""
    pattern = rf"`{re.escape(name)}`[^`]*:\n\n(?:<!-- not run: [^\n]* -->\n)?```\w+\n(.*?)^```$"
    (text,) = re.findall(pattern, PAGE, re.DOTALL | re.MULTILINE)
    return str(text)


def shown_pattern(start: str) -> str:
    """A line of output that the page shows, as a regular expression: "..." is any text."""
    (line,) = re.findall(rf"^{re.escape(start)}.*$", PAGE, re.MULTILINE)
    return re.escape(line).replace(re.escape("..."), ".+")


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "POCKETGPU_UP"))}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(ROOT / "src"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_newcomers_project(tmp_path: Path) -> None:
    for name in ("scene.py", "test_pictures.py", "requirements.txt"):
        (tmp_path / name).write_text(shown_file(name), encoding="utf-8")
    assert (tmp_path / "requirements.txt").read_text().split() == ["pocketgpu", "pytest"]
    cache = tmp_path / "cold"
    cache.mkdir(mode=0o700)
    environment = {"POCKETGPU_CACHE": str(cache)}

    def tests(*words: str) -> subprocess.CompletedProcess[str]:
        return run(tmp_path, "-m", "pytest", "--color=no", *WITHOUT, *words, **environment)

    made = run(tmp_path, "scene.py", **environment)
    assert (made.returncode, made.stderr) == (0, "")
    # From a cold cache and in several processes: no golden yet.
    done = tests("-n", "2")
    assert done.returncode == 1 and "goldens/triangle.png is missing" in done.stdout
    assert (tmp_path / "pocketgpu-report" / "index.html").is_file()
    assert not (tmp_path / "goldens").exists()
    assert tests("--update-goldens").returncode == 0
    first = (tmp_path / "goldens" / "triangle.png").read_bytes()
    done = tests()
    assert done.returncode == 0 and "1 passed" in done.stdout

    # The change that the page suggests.
    (change,) = re.findall(r"say `(TOP = [^`]+)`", PAGE)
    text = shown_file("scene.py")
    changed = re.sub(r"^TOP = .*$", change, text, flags=re.MULTILINE)
    assert changed != text
    (tmp_path / "scene.py").write_text(changed, encoding="utf-8")
    assert run(tmp_path, "scene.py", **environment).returncode == 0
    done = tests()
    assert done.returncode == 1
    for start in ("E       AssertionError: ", "E       If this "):
        assert re.search(rf"^{shown_pattern(start)}$", done.stdout, re.MULTILINE), done.stdout
    report = tmp_path / "pocketgpu-report"
    pictures = [*report.glob("pictures/*/*.png"), *report.glob("differences/*.png")]
    assert len(pictures) == 3 and "test_pictures.py::test_triangle" in (report / "index.html").read_text("utf-8")

    # As meant: the new picture becomes the golden.
    candidate = np.array(Image.open(tmp_path / "pocketgpu-report" / "candidates" / "goldens" / "triangle.png"))
    assert tests("--update-goldens").returncode == 0
    assert (tmp_path / "goldens" / "triangle.png").read_bytes() != first
    assert np.array_equal(np.array(Image.open(tmp_path / "goldens" / "triangle.png")), candidate)
    done = tests()
    assert done.returncode == 0 and "1 passed" in done.stdout and "pocketgpu:" not in done.stdout


@pytest.mark.parametrize("name", [".github/workflows/pictures.yml", ".gitlab-ci.yml"])
def test_workflows_run_what_the_project_has(name: str) -> None:
    text = shown_file(name)
    commands = re.findall(r"^ +- (?:run: )?((?:pip|python|pytest) .*)$", text, re.MULTILINE)
    assert commands == ["pip install -r requirements.txt", "python scene.py", "pytest --junitxml=results.xml"]
    assert "pocketgpu-report" in text and "POCKETGPU_CACHE" in text and "\t" not in text
