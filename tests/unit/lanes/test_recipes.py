"""What a recipe depends on: the files of code and the tables that its kernel is made from, and nothing else."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.lanes import recipes

ASK = """
from pocketgpu.lanes import recipes
from pocketgpu.pica.engines import fill
from pocketgpu.lanes.kernel import Kernel
kernel = next(one for one in vars(fill).values() if isinstance(one, Kernel))
print(recipes.of(kernel, {}, b""))
"""


def recipe(tree: Path) -> str:
    """The recipe of a kernel by the package in a folder, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("package")
    ignored = shutil.ignore_patterns("__pycache__", "*.zip", "*.xz")
    shutil.copytree(Path(pocketgpu.__file__).parent, folder / "pocketgpu", ignore=ignored)
    return folder


@pytest.fixture(scope="module")
def before(tree: Path) -> str:
    """The recipe by the copy as it is; each test leaves it so."""
    return recipe(tree)


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("facts/n3ds/pica.tsv", True), ("pica/shader/unit.py", True), ("lanes/values.py", True), ("version.py", True),
        ("maxwell/sass/semantics/__init__.py", False), ("cli/app.py", False), ("py.typed", False), ("notes.txt", False),
    ],
)  # fmt: skip
def test_code_and_tables_change_it_and_nothing_else(name: str, matters: bool, tree: Path, before: str) -> None:
    assert len(before) == 40
    path = tree / "pocketgpu" / name
    kept = path.read_bytes() if path.exists() else None
    path.write_bytes((kept or b"") + b"\n# changed\n")
    try:
        assert (recipe(tree) != before) == matters
    finally:
        if kept is None:
            path.unlink()
        else:
            path.write_bytes(kept)
    assert recipe(tree) == before


def test_a_change_of_the_same_size_and_the_place_of_the_package(tree: Path, before: str, tmp_path: Path) -> None:
    path = tree / "pocketgpu" / "wording.py"
    kept, about = path.read_text(), path.stat()
    path.write_text(kept.replace("Phrases", "phrases", 1))
    assert path.stat().st_size == about.st_size and recipe(tree) != before
    path.write_text(kept)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 10**9))
    assert recipe(tree) == before  # only the time is another one
    moved = tmp_path / "elsewhere"
    shutil.copytree(tree, moved)
    assert recipe(moved) == before


@pytest.mark.parametrize("room", recipes.MACHINES)
def test_a_machine_is_made_from_itself_and_what_is_below(room: str) -> None:
    """Else code in the cache would be old after a change elsewhere."""
    package = Path(pocketgpu.__file__).parent
    rooms = {path.name for path in package.iterdir() if path.is_dir()}
    for path in [file for part in (*recipes.BELOW, room) for file in (package / part).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            used = {name.split(".")[1] for name in names if name.startswith("pocketgpu.")}
            assert used & rooms <= {*recipes.BELOW, room}, path


LATE = """
import sys
import numpy as np
from pocketgpu.lanes import Engine, late
module = "pocketgpu.pica.engines.transfer"
Engine(np.zeros(4096, np.uint8)).get(late(module, "copy_units"))
print(module in sys.modules)
"""


def test_code_from_the_cache_needs_no_module_that_describes_it(tmp_path: Path) -> None:
    environment = {**os.environ, "POCKETGPU_CACHE": str(tmp_path)}
    found = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True, env=environment)
        found.append(done.stdout.strip())
    assert found[1] == "False"
