"""The order of the house: imports go one way, rooms keep their private names, nothing is too long.

docs/architecture.md says what the rooms are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from support.house import (
    ROOT,
    circles,
    console_tests,
    dependencies,
    foreign_privates,
    forget,
    functions,
    has_reason,
    modules,
)
from support.quick_tests import listed

MOST_LINES = 600
MOST_MODULES = 30
MOST_FUNCTION_LINES = 80
MOST_IGNORES = 25

# Modules that may ask which console it is, as they choose what serves it.
FACTORIES = ("inspect/inspection.py", "capture/driver/", "inspect/diff/compare.py: sides_of")


ORDER = (
    "facts", "lanes", "pica", "maxwell", "capture", "guests", "builder", "probe", "inspect", "sweeps", "editor", "cli",
)  # fmt: skip
"""Rooms at the top, from the ground up: a room imports rooms before it only."""


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    yield
    forget()


# imports


def test_folders_import_one_way() -> None:
    edges = {(one.room, other.room) for one, other in dependencies() if one.room != other.room}
    assert len(edges) > 100
    assert circles(edges) == set()


def test_rooms_import_downward() -> None:
    tops = {(one.room.split("/")[0], other.room.split("/")[0]) for one, other in dependencies()}
    known = {(one, other) for one, other in tops if one in ORDER and other in ORDER and one != other}
    assert len(known) > 15
    assert [pair for pair in sorted(known) if ORDER.index(pair[0]) < ORDER.index(pair[1])] == []
    assert ("maxwell", "pica") not in known


def test_modules_of_a_folder_import_one_way() -> None:
    edges = {(one.place, other.place) for one, other in dependencies() if one.room == other.room}
    assert len(edges) > 100
    assert circles(edges) == set()


def test_circles_are_found() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("f", "f")]
    assert circles(edges) == {frozenset("abc"), frozenset("f")}


# names


def test_no_room_reads_private_names_of_another() -> None:
    assert sorted(foreign_privates()) == []


def test_no_method_of_a_living_object_is_replaced() -> None:
    """mypy refuses that, unless it is told to be quiet."""
    lines = [(module.place, line) for module in modules() for line in module.text.splitlines()]
    ignores = [(place, line) for place, line in lines if "type: ignore" in line]
    assert [place for place, line in ignores if "method-assign" in line] == []
    assert [place for place, line in ignores if not re.search(r"type: ignore\[[\w, -]+\]", line)] == []


def test_types_are_rarely_ignored() -> None:
    count = sum(module.text.count("# type: ignore") for module in modules())
    assert count <= MOST_IGNORES, "type it, or make another one unnecessary"


# places


def test_only_the_script_for_ci_knows_where_recordings_lie() -> None:
    """Everything else goes by POCKETGPU_RECORDINGS, see support/recordings.py."""
    names = (".ci", ".github", "benchmarks", "docs", "gallery", "recorder", "src", "tests", "tools")
    folders = [ROOT / name for name in names]
    paths = [*ROOT.glob("*"), *(path for folder in folders for path in folder.rglob("*"))]
    sibling = re.compile(r"\.\./" + "shared" + r"\b|(\"\.\.\"|parent) / \"" + "shared")
    texts = [path for path in paths if path.suffix in ("", ".py", ".md", ".toml", ".txt", ".yml") and path.is_file()]
    assert len(texts) > 500
    naming = [path for path in texts if sibling.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert naming == [ROOT / ".ci" / "run"]


def test_the_list_of_quick_tests_names_what_is_there() -> None:
    """A file or function that was renamed would silently not be left out, or not run."""
    names = {path: set(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))) for path in listed()}
    assert len(names) > 100
    unknown = {path.name: {name.removeprefix("+") for name in listed()[path]} - names[path] for path in names}
    assert {file: functions for file, functions in unknown.items() if functions} == {}


def test_tests_lie_where_their_subject_lies() -> None:
    """tests/unit/pica/vertex has the tests of src/pocketgpu/pica/vertex. Promises are those of the whole package."""
    unit, package = ROOT / "tests" / "unit", ROOT / "src" / "pocketgpu"
    rooms = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")}
    assert len(rooms) > 40
    assert [str(room) for room in rooms if not (package / room).is_dir()] == ["promises"]


# sizes


def test_files_are_short() -> None:
    assert [module.place for module in modules() if len(module.text.splitlines()) > MOST_LINES] == []


def test_what_is_built_is_removed_by_make_clean() -> None:
    """Folders that .gitignore names as built."""
    built = (ROOT / ".gitignore").read_text(encoding="utf-8").partition("# What is built\n")[2].partition("\n\n")[0]
    clean = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nclean:\n")[2].partition("\n\n")[0].split()
    names = {name.strip("/") for name in built.splitlines()}
    assert {"build", "docs/way", "docs/figures.md"} <= names and names - set(clean) == set()


def test_folders_are_small() -> None:
    counts = Counter(module.room for module in modules() if module.path.name != "__init__.py")
    assert [room for room, count in counts.items() if count > MOST_MODULES] == []


def test_functions_are_short() -> None:
    """Or have "# long: reason" at their def."""
    long = []
    for module in modules():
        for name, node in functions(module):
            if int(node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES and not has_reason(module, node):
                long.append(f"{module.place}: {name}")
    assert long == []


# two consoles


def test_only_factories_ask_which_console_it_is() -> None:
    assert sorted(one for one in console_tests() if not one.startswith(FACTORIES)) == []
