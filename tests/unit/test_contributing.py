"""The recipes for contributors: files that they name exist, and so do the tests and scripts that they say to run.

That prose names no missing file is tested for all pages in test_docs.py; here it is what stands in commands and tables.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "docs" / "contributing").glob("*.md"))
NAMES = ["choice", "instruction", "register", "rule", "scene", "service"]
MADE = {"scene": {"gallery/3ds/half_transparent.py"}}
"""Files that a recipe itself makes."""


def commands_of(page: Path) -> list[str]:
    """The commands of a page that a contributor runs: all are marked as the test suite itself."""
    found = blocks(page.read_text(encoding="utf-8"))
    return [line for block in found if block.reason for line in block.text.splitlines() if line]


def test_there_is_a_recipe_for_each_and_contributing_names_it() -> None:
    assert [page.stem for page in RECIPES] == NAMES
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(f"](docs/contributing/{name}.md)" in text for name in NAMES)


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_a_recipe_has_a_table_of_files_that_exist_and_tests_to_run(page: Path) -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    files = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert files and [name for name in files if not (ROOT / name).is_file()] == []
    assert len({*files}) == len(files), "a file stands twice"
    lines = commands_of(page)
    assert any("pytest" in line for line in lines)
    words = [word for line in lines for word in line.split() if "/" in word]
    words = [word for word in words if not word.startswith((".venv", "PYTHON"))]
    missing = {word for word in words if not (ROOT / word).exists()}
    assert missing == MADE.get(page.stem, set())


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_code_of_a_recipe_is_no_longer_than_a_screen(page: Path) -> None:
    assert [block.line for block in blocks(page.read_text(encoding="utf-8")) if block.text.count("\n") > 40] == []
