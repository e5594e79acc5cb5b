"""The page on architecture: it is short, its files exist, and no walk returns to a room."""

from __future__ import annotations

import re

import pytest
from support.house import ROOT

PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "src" / "pocketgpu"
MOST_LINES = 180
SERVING = ("facts/", "lanes/", "pica/core/")
"""Rooms that serve all others; a walk may come back to them."""
BEFORE = {"1.": (40,), "2.": (65,), "3.": (25,), "4.": (29, 34), "5.": (19, 11)}
"""Files of each walk before the rooms were made, for each console: no walk may get longer."""


Walk = list[list[str]]
"""Rows of a table: the room, and its files."""


def _tables() -> dict[str, list[Walk]]:
    """Title -> walks; a walk has rows, and a row the paths of its files in order."""
    found: dict[str, list[list[list[str]]]] = {}
    for part in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, _, text = part.partition("\n")
        for table in re.findall(r"(?:^\|.*\n)+", text.split("\n## ")[0], flags=re.M):
            rows = [line.strip("|").split("|") for line in table.splitlines()]
            for column in range(1, len(rows[0]) - 1):
                walk = [[cell.strip("` ") for cell in (row[0], row[column])] for row in rows[2:]]
                found.setdefault(title, []).append(walk)
    return found


def _files(walk: Walk, column: int) -> list[str]:
    paths = []
    for room, files in walk:
        rooms = [name.strip("` ") for name in room.split(" or ")]
        paths += [rooms[min(column, len(rooms) - 1)] + name.strip("` ") for name in files.split(",")]
    return paths


IDS = [f"{title[:1]}-{column}" for title, walks in _tables().items() for column in range(len(walks))]
WALKS = [(title, column, walk) for title, walks in _tables().items() for column, walk in enumerate(walks)]


def test_the_page_is_short_and_has_all_walks() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert [title[:2] for title, _, _ in WALKS] == ["1.", "2.", "3.", "4.", "4.", "5.", "5."]


@pytest.mark.parametrize(("title", "column", "walk"), WALKS, ids=IDS)
def test_a_walk_names_files_and_returns_to_no_room(title: str, column: int, walk: Walk) -> None:
    paths = _files(walk, column)
    assert [path for path in paths if not (PACKAGE / path).is_file()] == []
    assert len(set(paths)) == len(paths) <= BEFORE[title[:2]][column]
    rooms = [path.rpartition("/")[0] + "/" for path in paths]
    entered = [room for at, room in enumerate(rooms) if at == 0 or rooms[at - 1] != room]
    kept = [room for room in entered if not room.startswith(SERVING)]
    assert len(set(kept)) == len(kept)


def test_the_page_names_every_room() -> None:
    text = PAGE.read_text(encoding="utf-8")
    top = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert {room for room in top if f"`{room}/`" not in text} == set()
