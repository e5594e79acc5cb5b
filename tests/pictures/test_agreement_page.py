"""docs/agreement.md says what is so: its rows are what the tool finds, and each row that deviates has its reason."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEVIATING = ["loop_subdivision", "mipmap_fog", "normal_mapping"]


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    """tools/agreement.py, which is no package."""
    path = list(sys.path)
    spec = importlib.util.spec_from_file_location("agreement", ROOT / "tools" / "agreement.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["agreement"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path
    del sys.modules["agreement"]


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8")


def rows(page: str) -> dict[str, str]:
    """Lines of the table by name of the recording."""
    found = re.finditer(r"^\| \[?(\w+).*? \| (?:nearest|as programmed) \|.*$", page, re.MULTILINE)
    return {match[1]: match[0] for match in found}


def test_the_page_has_all_recordings_and_their_reasons(tool: ModuleType, page: str, shared_dir: Path) -> None:
    assert sorted(rows(page)) == sorted(tool.textured(shared_dir / "captures" / "3ds"))
    assert tool.explained(tool.PAGE) == set(DEVIATING) == {n for n, row in rows(page).items() if row.startswith("| [")}


@pytest.mark.parametrize("name", [*DEVIATING, "2d_shapes", "hwtest_texcopy"])
def test_a_row_is_what_the_tool_finds(tool: ModuleType, page: str, shared_dir: Path, name: str) -> None:
    folder = shared_dir / "captures" / "3ds"
    found = tool.compare(folder, name, tool.textured(folder)[name])
    assert found.good
    assert found.row() == rows(page)[name]
    assert found.memories == (7 if name == "hwtest_texcopy" else 0)


def test_what_is_counted(tool: ModuleType) -> None:
    """The worst picture decides; every channel counts."""
    one = tool.Agreement("x", False)
    picture = np.zeros((10, 10, 3), np.uint8)
    one.add(picture, picture)
    changed = picture.copy()
    changed[0, 0] = 0, 3, 0
    changed[0, 1] = 2, 0, 0
    one.add(changed, picture)
    assert (one.pixels, one.beyond, one.differing, one.largest, one.share) == (200, 1, 2, 3, 0.99)
    assert not one.good and one.row() == "| [x](#x) | as programmed | 2 | 99 % | 1 | 2 | 3 |"
