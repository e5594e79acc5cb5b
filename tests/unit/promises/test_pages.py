"""The pages name nothing that the tables of promises lack, and the tests use all that the tables have."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.promised import MEMBERS, NAMES
from support.promised_commands import COMMANDS

from pocketgpu.inspect.model import schema_ids

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "docs" / "command-line.md",
    *sorted((ROOT / "docs" / "reference").glob("python*.md")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    *sorted((ROOT / "docs" / "formats").glob("*.md")),
]
REFERENCE = [page for page in PAGES if page.parent.name == "reference"]
PROMISED = {name for names in (*NAMES.values(), *MEMBERS.values()) for name in names}
DOTTED = {
    *(name.rpartition(".")[0] for name in MEMBERS if not name.startswith("(")),
    *(name for name in MEMBERS if not name.startswith("(")),
    *NAMES,
    *(f"{module}.{name}" for module, names in NAMES.items() for name in names),
    *(f"{name}.{member}" for name, members in MEMBERS.items() for member in members),
}
# What examples use of Python, NumPy, Pillow and widgets.
FOREIGN = frozenset(
    {"__name__", "any", "arange", "array", "array_equal", "astype", "count_nonzero", "dtype", "executable", "float32"}
    | {"flatnonzero", "isnan", "items", "join", "loads", "nbytes", "ones", "read_bytes", "repeat", "run", "save"}
    | {"shape", "splitlines", "startswith", "stdout", "sum", "to_bytes", "tobytes", "tolist", "uint8", "unique"}
    | {"append", "default_rng", "endswith", "full", "get", "getpixel", "integers", "keys", "pop", "random", "reshape"}
    | {"ZipFile", "read", "split", "transpose"}
    | {"write_text", "frombuffer", "fromfile", "observe", "scale", "sql", "uint32", "write_bytes", "zeros"}
)


def python_blocks(page: Path) -> list[ast.Module]:
    text = page.read_text(encoding="utf-8")
    return [ast.parse(block) for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_dotted_names_of_a_page_are_promised(page: Path) -> None:
    found = set(re.findall(r"\bpocketgpu(?:\.[A-Za-z_]\w*)+", page.read_text(encoding="utf-8")))
    schemas = {id.partition("/")[0] for id in [*schema_ids(), "pocketgpu.command.NAME/1"]}
    assert found - DOTTED - schemas - {"pocketgpu.ksy", "pocketgpu.vsix", "pocketgpu.command"} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_examples_import_and_touch_is_promised(page: Path) -> None:
    for block in python_blocks(page):
        for node in ast.walk(block):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pocketgpu"):
                assert {f"{node.module}.{alias.name}" for alias in node.names} <= DOTTED
            if isinstance(node, ast.Attribute):
                assert node.attr in PROMISED | FOREIGN, f"{page.name} shows .{node.attr}, which no table promises"


def test_what_the_text_calls_is_promised() -> None:
    """Code in a line of text: `run.seek(address)`, `moment.mesh()`, `trace.nans`."""
    objects = "run|moment|gpu|trace|step|answer|capture|frame|decoded|report|vertices|info|mode|pb|cl"
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for name in re.findall(rf"`(?:{objects})\.(\w+)", text):
            if name not in ("json", "bin"):
                assert name in PROMISED, f"{page.name} names .{name}, which no table promises"


def test_members_of_the_reference_are_promised() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    found = 0
    for name, options in re.findall(r"\.\. auto\w+:: (\S+)\n((?:   .*\n)*)", text):
        assert name in DOTTED
        for listed in re.findall(r":(?:exclude-)?members: *((?:[^:]|\n)*)", options):
            for member in re.findall(r"\w+", listed):
                assert f"{name}.{member}" in DOTTED, f"the reference lists {name}.{member}"
                found += 1
    assert found > 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_are_promised(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"(?:^\$ |^    |`)(?:\.venv[/\\]\w+[/\\])?pocketgpu ([a-z][^`#\n]*)", text, re.MULTILINE)
    for words in (line.split() for line in lines):
        names = [name for name in (" ".join(words[:2]), words[0]) if name in COMMANDS]
        groups = {name.split()[0] for name in COMMANDS if " " in name}
        assert names or words[0] in groups, f"{page.name}: pocketgpu {' '.join(words)}"
        if names:
            options = {word.split("=")[0] for word in words if re.fullmatch(r"-r|--\w[\w-]*(?:=\S*)?", word)}
            assert options <= {*COMMANDS[names[0]].split(), "--help"}, f"{page.name}: pocketgpu {' '.join(words)}"


def test_options_that_the_text_names_are_promised() -> None:
    known = {word for words in COMMANDS.values() for word in words.split() if word.startswith("-")}
    known |= {"--help", "--update-goldens", "--pocketgpu-report", "--junitxml"}
    for page in PAGES:
        text = re.sub(r"^```(?!console).*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for option in re.findall(r"`(--[a-z][a-z-]*)", text):
            assert option in known, f"{page.name} names {option}"


def test_every_promised_name_is_used_by_a_test() -> None:
    used: set[str] = set()
    for path in Path(__file__).parent.glob("test_use_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                used.add(node.attr)
            elif isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.ImportFrom | ast.Import):
                used |= {str(alias.asname) for alias in node.names if alias.asname}
    assert sorted(PROMISED - used) == []
