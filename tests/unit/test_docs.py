"""The examples of the guides run as they stand, and links of pages lead somewhere.

A block marked `python` is executed; the blocks of a page share their names and one folder, with the files that
`tests/support/pages.py` has for those that the page names. In a block marked `console`, each line after `$ pocketgpu`
is run, and what is printed must be what the page shows: line by line, where `...` stands for anything, also for several
lines. Indented commands and complete commands in sentences and tables are run as well.
"""

from __future__ import annotations

import fnmatch
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support import widgets
from support.made import is_made
from support.pages import (
    ELSEWHERE,
    Block,
    blocks,
    commands,
    expected_code,
    inline_command,
    place_stand_ins,
    run,
    unknown,
)
from support.pages import PAGES as EXAMPLES

from pocketgpu.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "pocketgpu"
GUIDES = sorted((DOCS / "guides").glob("*.md"))
PROJECT = ("src", "gallery", "tests", "tools", "benchmarks", "docs", "recorder", "requirements", "viewer")
OTHERS = frozenset({"__pycache__", "generated", "node_modules"})
"""Folders of what is made or installed."""
PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *(page for name in PROJECT for page in sorted((ROOT / name).rglob("*.md")))]
    if not OTHERS & set(path.parts) and not is_made(path)
]

# Files that an example of a page makes, outside of build/.
MADE_LATER = {
    "docs/contributing/scene.md": {"gallery/3ds/half_transparent.py"},
    "docs/guides/homebrew-ci.md": {"candidates/"},
    "docs/guides/ci.md": {"pocketgpu-report/", "candidates/", "outside/"},
}
PROMPT = "$ pocketgpu "


def place(path: Path) -> str:
    """A path from the folder of the project on."""
    return path.relative_to(ROOT).as_posix()


def sessions(text: str) -> list[tuple[str, str]]:
    """(command, expected output) pairs of a console block."""
    parts = re.split(rf"^{re.escape(PROMPT)}(.*)$\n?", text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def as_pattern(expected: str) -> str:
    """A regular expression for shown output: "..." alone on a line is any lines, inside of one any text."""
    pattern = ""
    for line in expected.splitlines():
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += re.escape(line).replace(re.escape("..."), ".*") + r" *\n"
    return pattern


def ran(command: str) -> str:
    """What a command of a page prints; its exit code must be the one that it should have."""
    code, out, err = run(command)
    assert code == expected_code(command), f"{PROMPT}{command}: {err or out}"
    return out


@pytest.mark.parametrize("path", EXAMPLES, ids=place)
def test_every_example_of_a_page_is_run_or_says_why_not(path: Path) -> None:
    found = [(block.line, unknown(place(path), block)) for block in blocks(path.read_text(encoding="utf-8"))]
    assert [f"{place(path)}:{line}: {what}" for line, what in found if what] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=place)
def test_the_examples_of_a_page_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(DOCS.parent / "src"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):  # where completion is installed
        monkeypatch.setenv(name, str(tmp_path))
    names: dict[str, Any] = {"__name__": "__guide__"}
    page = path.read_text(encoding="utf-8")
    if "from pocketgpu.notebook import Viewer" in page and (lacking := widgets.missing()):
        pytest.skip(lacking)
    place_stand_ins(page, tmp_path)
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    for block in blocks(page):
        if block.reason or (place(path), block.kind) in ELSEWHERE:
            continue
        if block.kind == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(path), "exec"), names)
        elif block.kind == "console":
            for command, expected in sessions(block.text):
                out = ran(command)
                if expected:
                    assert re.fullmatch(as_pattern(expected), out), f"{PROMPT}{command} prints\n{out}"
        elif block.kind in ("sh", "indented"):
            for command in commands(block.text):
                assert command.startswith("pocketgpu "), f"{place(path)}:{block.line}: nothing runs {command!r}"
                ran(command.removeprefix("pocketgpu "))
        elif block.kind == "inline" and (line := inline_command(block.text)) is not None:
            ran(line)


def test_reasons_and_kinds_of_blocks_are_held() -> None:
    page = "<!-- not run: a console -->\n```sh\nx\n```\n\n<!-- not run: lazy -->\n```sh\nx\n```\n```rust\nx\n```\n"
    page += "```text\n$ pocketgpu info\n```\n<!-- file: a -->\n```text\nx\n```\n"
    assert [bool(unknown("a.md", block)) for block in blocks(page)] == [False, True, True, True, False]
    assert inline_command("pocketgpu regs border color") == inline_command("regs border color") == "regs border color"
    for text in ("pocketgpu info", "info", "regs", "info CAPTURE", "capture verify", "launch a.cubin --arg …"):
        assert inline_command(text) is None
    assert list(commands("$ pocketgpu a \\\n  b  # why\n# no\n")) == ["pocketgpu a    b"]


def test_the_checker_of_examples_can_fail() -> None:
    shown = "one 5\n...\nlast ...\n"
    assert re.fullmatch(as_pattern(shown), "one 5\na\nb\nlast words\n")
    assert re.fullmatch(as_pattern(shown), "one 5\nlast words\n")
    assert not re.fullmatch(as_pattern(shown), "one 6\nlast words\n")
    assert not re.fullmatch(as_pattern(shown), "one 5\nlast words\nmore\n")
    assert sessions("$ pocketgpu regs a\nx\n$ pocketgpu info\n") == [("regs a", "x\n"), ("info", "")]
    assert blocks("a\n```python\nx = 1\n```\n") == [Block("python", "x = 1\n", 3)]
    assert blocks("a `b\nc`\n\n    x\n") == [Block("inline", "b c", 1), Block("indented", "x\n", 4)]


def test_every_guide_shows_something_that_runs() -> None:
    assert len(GUIDES) >= 5
    for path in GUIDES:
        languages = {block.kind for block in blocks(path.read_text(encoding="utf-8"))}
        assert languages & {"python", "console", "c"}, path  # C is compiled with the recorder's tests


def toctrees(page: Path) -> set[str]:
    """Pages that a page's tables of contents list, from the folder of the pages on."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"^```\{toctree\}\n((?:.+\n|\n)*?)```", text, re.MULTILINE)
    lines = [line for block in names for line in block.splitlines() if line and not line.startswith(":")]
    folder = page.parent.relative_to(DOCS).as_posix()
    return {os.path.normpath(f"{folder}/{line}") for line in lines}


def test_every_guide_is_two_steps_from_the_front_page() -> None:
    first = toctrees(DOCS / "index.md")
    second = [name for page in first if (DOCS / f"{page}.md").is_file() for name in toctrees(DOCS / f"{page}.md")]
    for path in GUIDES:
        assert second.count(f"guides/{path.stem}") == 1, path
    assert len(first) <= 12, "the sidebar is short"


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_links_lead_somewhere(path: Path) -> None:
    """To a file of the project, and to a heading of it. Generated pages are made with the site."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        name, _, heading = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        if "://" in target or is_made(page):
            continue
        assert page.exists(), f"{path.name} links to {target}"
        if heading:
            assert heading in headings(page), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_files_that_a_page_names_exist(path: Path) -> None:
    missing = {name for name in named_files(path.read_text(encoding="utf-8")) if not exists(name, path.parent)}
    assert missing == MADE_LATER.get(place(path), set())


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def named_files(text: str) -> set[str]:
    """Files and folders of the project in `code` of a page: what ends like one, or begins with one of its folders.

    For example `pica/vertex/`, `support/words.py`, `tests/support/slow_*`, `src/pocketgpu/data/sample.ctf.xz`.
    """
    prose = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    words = {word for code in re.findall(r"`([^`\n]+)`", prose) for word in code.split()}
    words |= {word for line in re.findall(r"^    +(\S.*)$", prose, re.MULTILINE) for word in line.split()}
    folders = {folder.name for base in (ROOT, PACKAGE) for folder in base.iterdir() if folder.is_dir()}
    return {
        word
        for word in words
        if re.fullmatch(r"[\w.*-]+(/[\w.*-]*)*", word)
        and (re.search(r"\w\.(py|md|tsv|toml|h|c|ksy)$|[\w*]/$", word) or word.partition("/")[0] in folders)
        and word.partition("/")[0] not in ("build", "dist", ".venv", ".github")
    }


def exists(name: str, folder: Path) -> bool:
    """Whether a file of the project is named so: beside the page, or with some of its folders in front left out."""
    name = name.rstrip("/")
    return any(folder.glob(name)) or any(fnmatch.fnmatch(known, f"*/{name}") for known in project_files())


@cache
def project_files() -> tuple[str, ...]:
    """Files and folders of the project with all their folders, in front of them a slash."""
    tops = [path for path in ROOT.iterdir() if path.is_dir() and path.name in PROJECT]
    inner = [path for top in tops for path in top.rglob("*")
             if not OTHERS & set(path.parts) and not is_made(path)]  # fmt: skip
    return tuple(f"/{place(path)}" for path in [*ROOT.glob("*.*"), *tops, *inner])


def test_names_of_files_are_found() -> None:
    text = "`pica/vertex/`, `no/none.py`, `f1/d3`, `x.py`, 1/2\n```c\n`n.py`\n```\n\n    make tests/fuzz build/x.py\n"
    assert named_files(text) == {"pica/vertex/", "no/none.py", "x.py", "tests/fuzz"}
    assert exists("pica/vertex/", DOCS) and exists("guides/check.md", DOCS) and exists("tests/support/slow_*", DOCS)
    assert exists("support/words.py", DOCS) and not exists("pica/none.py", DOCS) and not exists("ords.py", DOCS)


def test_the_command_line_page_names_every_command() -> None:
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert {match for match in re.findall(r"`pocketgpu (\w+)", page)} == {*COMMANDS, "COMMAND"}
