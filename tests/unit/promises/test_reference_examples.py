"""The pages of Python names have an example of each name, which runs and prints what the page says.

Scenes of the gallery are examples too: tests/unit/test_gallery.py runs them.

The blocks of a page are run in order, statement by statement, with the files that `support/pages.py` has for those that
the page names. A comment after a `print`, or in the lines after it, is what it prints: `...` stands for any text.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support import widgets
from support.pages import PAGES, ROOT, Block, blocks, place_stand_ins
from support.promised import MEMBERS, NAMES

SCENES = sorted((ROOT / "gallery").glob("*/*.py"))
REFERENCE = sorted((ROOT / "docs" / "reference").glob("python*.md"))
NOT_SHOWN = {
    "to_arrow",  # needs nanoarrow: docs/guides/decode.md shows it in prose and the tests use it
    "to_pandas",
}


def python_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text(encoding="utf-8")) if block.kind == "python" and not block.reason]


# -- running -----------------------------------------------------------------------------------------------------------
class Run:
    """What the blocks of a page did: `printed` lines by the line of the `print`, and `types` of all values that got a
    name."""

    def __init__(self, page: Path) -> None:
        self.lines = page.read_text(encoding="utf-8").splitlines()
        self.printed: dict[int, list[str]] = {}
        self.types: set[type] = set()
        self.names: dict[str, Any] = {"__name__": "__guide__", "print": self.say}
        for block in python_blocks(page):
            tree = ast.increment_lineno(ast.parse(block.text), block.line - 1)
            for node in tree.body:
                exec(compile(ast.Module([node], []), str(page), "exec"), self.names)
                self.types |= {type(value) for value in self.names.values()}

    def say(self, *values: object) -> None:
        text = io.StringIO()
        print(*values, file=text)
        line = sys._getframe(1).f_lineno
        self.printed.setdefault(line, []).extend(one.rstrip() for one in text.getvalue().splitlines())

    def wrong(self) -> list[str]:
        """Prints whose comment says another thing, or that have none."""
        found = []
        for line, printed in sorted(self.printed.items()):
            shown = comment_of(self.lines, line)
            if not fits(shown, printed):
                found.append(f"line {line} prints {printed}, and the page says {shown}")
        return found


def comment_of(lines: list[str], line: int) -> list[str]:
    """The comment of the print in a line, counted from 1: at its end, or else the lines of comment after it."""
    if (end := re.search(r"\)  # (.*)$", lines[line - 1])) is not None:
        return [end[1]]
    after = []
    for text in lines[line:]:
        if (match := re.fullmatch(r" *#(?: (.*))?", text)) is None:
            break
        after.append(match[1] or "")
    return after


def fits(shown: list[str], printed: list[str]) -> bool:
    patterns = [re.escape(one.rstrip()).replace(re.escape("..."), ".*") for one in shown]
    return len(shown) == len(printed) and all(map(re.fullmatch, patterns, printed))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "src"))
        for page in REFERENCE:
            folder = tmp_path_factory.mktemp(page.stem)
            patch.chdir(folder)
            text = page.read_text(encoding="utf-8")
            if "notebook import Viewer" in text and widgets.missing():
                widgets.without_page(patch, folder)
            place_stand_ins(text, folder)
            found[page.stem] = Run(page)
    yield found


@pytest.mark.parametrize("name", [page.stem for page in REFERENCE])
def test_examples_print_what_the_page_says(name: str, runs: dict[str, Run]) -> None:
    assert runs[name].wrong() == []
    assert sum(len(run.printed) for run in runs.values()) > 80


def test_a_wrong_comment_is_found() -> None:
    lines = ["print(1)  # 1", "    print(2)", "    # 2", "    # 3", "print(4)"]
    assert [comment_of(lines, line) for line in (1, 2, 5)] == [["1"], ["2", "3"], []]
    assert fits(["1 ... 3"], ["1 2 3"]) and not fits(["1"], ["1", "2"]) and not fits([], ["4"])
    assert not fits(["1"], ["12"])


# -- what is shown -----------------------------------------------------------------------------------------------------
def imported(module: str, name: str) -> Any:
    """What `from module import name` gives."""
    owner = importlib.import_module(module)
    return getattr(owner, name) if hasattr(owner, name) else importlib.import_module(f"{module}.{name}")


def shown(tree: ast.Module, known: dict[str, Any]) -> Iterator[Any]:
    """The objects of the package that code uses by their names. known: modules and objects that were imported before,
    to which imports are added."""

    def found(node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(owner := found(node.value), ModuleType):
            return getattr(owner, node.attr, None)
        return None

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {one.asname or one.name: importlib.import_module(one.name) for one in node.names}
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("pocketgpu"):
            known |= {one.asname or one.name: imported(str(node.module), one.name) for one in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield found(node)


def test_every_public_name_has_an_example(runs: dict[str, Run]) -> None:
    """It is called or read by its name, or it is the class of an object that the examples have."""
    used: set[int] = set()
    for page in REFERENCE:
        known: dict[str, Any] = {}
        for block in python_blocks(page):
            used |= {id(one) for one in shown(ast.parse(block.text), known)}
    for scene in SCENES:
        used |= {id(one) for one in shown(ast.parse(scene.read_text(encoding="utf-8")), {})}
    types = {base for run in runs.values() for one in run.types for base in one.__mro__}
    missing = []
    for module, names in NAMES.items():
        for name in names:
            one = getattr(importlib.import_module(module), name)
            if not inspect.ismodule(one) and id(one) not in used and not (inspect.isclass(one) and one in types):
                missing.append(f"{module}.{name}")
    assert missing == []


def test_every_promised_member_is_in_an_example() -> None:
    """Of any page: as an attribute, or as the name of an argument, which the fields of some classes are."""
    used: set[str] = set()
    texts = [block.text for page in PAGES for block in python_blocks(page)]
    texts += [scene.read_text(encoding="utf-8") for scene in SCENES]
    for node in (one for text in texts for one in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            used.add(node.arg)
    missing = {name: [one for one in members if one not in used | NOT_SHOWN] for name, members in MEMBERS.items()}
    assert {name: members for name, members in missing.items() if members} == {}


def test_names_in_code_are_resolved() -> None:
    import pocketgpu
    from pocketgpu.capture import pgc

    code = "import pocketgpu\nfrom pocketgpu.capture import pgc as files\npocketgpu.open(files.write)\nx = print"
    found = [one for one in shown(ast.parse(code), {}) if one is not None]
    assert found == [pocketgpu.open, pgc.write, pocketgpu, pgc] and None in list(shown(ast.parse("x"), {}))
