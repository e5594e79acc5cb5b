"""The reference has what the program has: fields of schemas, exit codes, commands with examples, the changes."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.pages import blocks, commands
from support.promised_commands import COMMANDS, EXIT_CODES

from pocketgpu.cli.parts.examples import EXAMPLES
from pocketgpu.cli.parts.outcome import MEANINGS, ExitCode
from pocketgpu.inspect.model import schema_ids

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SCHEMAS = ROOT / "src" / "pocketgpu" / "inspect" / "model" / "schemas"
COMMAND_LINE = (DOCS / "command-line.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of schemas, by name."""
    generate = runpy.run_path(str(DOCS / "generate_schemas.py"))["generate"]
    return {page.stem: page.read_text(encoding="utf-8") for page in generate(tmp_path_factory.mktemp("schemas"))}


def part(pages: dict[str, str], id: str) -> str:
    """The section of a schema, with those of its definitions."""
    name = "schemas-commands" if id.startswith("pocketgpu.command.") else "schemas"
    return re.split(r"^## ", pages[name].partition(f"\n## {id}\n")[2], flags=re.MULTILINE)[0]


def fields(node: Any) -> Iterator[str]:
    """All names of properties in a schema."""
    if isinstance(node, dict):
        yield from node["properties"] if isinstance(node.get("properties"), dict) else ()
        for name, one in node.items():
            yield from fields(list(one.values()) if name == "properties" else one)
    elif isinstance(node, list):
        for one in node:
            yield from fields(one)


@pytest.mark.parametrize("id", schema_ids())
def test_the_page_of_schemas_has_every_field(id: str, pages: dict[str, str]) -> None:
    node = json.loads((SCHEMAS / f"{id.removeprefix('pocketgpu.').replace('/', '-')}.json").read_text(encoding="utf-8"))
    text = part(pages, id)
    assert node["description"] in text
    rows = {row.replace("[]", "").rpartition(".")[2] for row in re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)}
    assert set(fields(node)) - rows == set()
    for definition in node.get("$defs", {}):
        assert f"### {definition}\n" in text


def test_links_between_schemas_lead_somewhere(pages: dict[str, str]) -> None:
    text = "\n".join(pages.values())
    anchors = re.findall(r"^\((schema-[\w-]+)\)=$", text, re.MULTILINE)
    links = set(re.findall(r"\]\(#(schema-[\w-]+)\)", text))
    assert len(anchors) == len(set(anchors)) > len(schema_ids()) and len(links) > 30
    assert links - set(anchors) == set()


def test_a_section_says_what_a_value_may_be(pages: dict[str, str]) -> None:
    text = part(pages, "pocketgpu.why/2")
    assert "| `screen.memory` | [place](#schema-common-1-place) or null | always |  |" in text
    assert "| `color` | list of integer or null | always |" in text
    common = part(pages, "pocketgpu.common/1")
    assert "string: like `^0x[0-9a-f]{8}$`" in common
    assert "| | [envelope](#schema-common-1-envelope) | | its fields too |" in part(pages, "pocketgpu.command.dump/1")
    decode = part(pages, "pocketgpu.decode/1")
    assert "| | [header](#schema-decode-1-header) | | or this |" in decode and "| `version` | `1` | always |" in decode


def test_the_page_says_what_each_exit_code_means() -> None:
    section = COMMAND_LINE.partition("## Exit codes\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", section, re.MULTILINE))
    assert rows == {str(int(code)): meaning for code, meaning in MEANINGS.items()}
    assert set(MEANINGS) == set(ExitCode) and {int(code) for code in MEANINGS} == set(EXIT_CODES.values())


def test_every_command_has_an_example() -> None:
    """In its --help: tests/unit/cli/test_completion.py runs those."""
    assert set(EXAMPLES) == set(COMMANDS) - {""}


def test_the_page_of_the_command_line_shows_every_command() -> None:
    """In a line with its arguments, which test_docs.py runs, or by its name."""
    shown = set()
    for block in blocks(COMMAND_LINE):
        if block.kind in ("console", "indented", "sh", "inline"):
            lines = [block.text] if block.kind == "inline" else commands(block.text)
            words = [line.removeprefix("pocketgpu ").split() for line in lines]
            shown |= {name for line in words for name in (" ".join(line[:2]), *line[:1])}
    assert sorted(set(EXAMPLES) - shown) == []


def test_changes_are_a_page_of_the_site() -> None:
    text = (DOCS / "changelog.md").read_text(encoding="utf-8")
    assert "```{include} ../CHANGELOG.md\n:relative-docs: docs/\n" in text
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[:1] == ["Unreleased"]
