"""Writes the pages of JSON Schemas, one for answers and one for commands, from the files of the package.

    python docs/generate_schemas.py FOLDER

A schema is a section with a table of its fields: `screen.name` is a field of an object, `events[]` an element of a
list. What it refers to is a link. conf.py calls this before Sphinx looks for pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pocketgpu.inspect.model.schemas as schemas

Node = dict[str, Any]
FOLDER = Path(schemas.__file__).parent
PAGES = {
    "schemas": ("Schemas of answers", "These are the parts that the JSON of commands consists of, and what `to_json` "
                "of an answer gives. `pocketgpu.inspect.model.schema(id)` returns the schema itself."),
    "schemas-commands": ("Schemas of commands", "This is what each command prints with `--json`. A command that failed "
                         "has `error`, and may lack the others."),
}  # fmt: skip
_LIMITS = {"minimum": "at least {}", "maximum": "at most {}", "minItems": "at least {} elements",
           "maxItems": "at most {} elements", "pattern": "like `{}`"}  # fmt: skip


def anchor(reference: str, own: str) -> str:
    """The anchor of `urn:pocketgpu:why/2#/$defs/touch`, or of `#/$defs/touch` in the schema `own` ("why/2")."""
    name, _, part = reference.removeprefix("urn:pocketgpu:").partition("#/$defs/")
    words = ["schema", (name or own).rstrip("#").replace("/", "-").replace(".", "-"), part]
    return "-".join(word for word in words if word)


class Section:
    """The rows of one table: a schema, or one of its definitions. own: the id of the schema, such as "why/2"."""

    def __init__(self, node: Node, own: str) -> None:
        self.own = own
        self.rows: list[str] = []
        for one in self.alternatives(node):
            self.fields(one, "")
        if not self.rows and "items" in node:
            self.inner(node, "")

    def alternatives(self, node: Node) -> Iterator[Node]:
        """The node, and those that it combines, as far as they have fields of their own."""
        yield node
        for word in ("allOf", "anyOf", "oneOf"):
            for one in node.get(word, ()):
                if "$ref" in one:
                    self.rows.append(f"| | {self.link(one)} | | {'its fields too' if word == 'allOf' else 'or this'} |")
                elif "properties" in one:
                    yield from self.alternatives(one)

    def fields(self, node: Node, path: str) -> None:
        for name, one in node.get("properties", {}).items():
            one = {} if one is True else one
            place = f"{path}.{name}" if path else name
            always = "always" if name in node.get("required", ()) else ""
            self.rows.append(f"| `{place}` | {self.kind(one)} | {always} | {self.about(one)} |")
            self.inner(one, place)

    def inner(self, node: Node, place: str) -> None:
        """Rows of what is in a field."""
        if isinstance(node.get("items"), dict):
            self.inner(node["items"], f"{place}[]")
        elif isinstance(node.get("additionalProperties"), dict):
            self.inner(node["additionalProperties"], f"{place}.NAME")
        for one in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
            self.inner(one, place)
        self.fields(node, place)

    def link(self, node: Node) -> str:
        reference = str(node["$ref"])
        text = reference.removeprefix("urn:pocketgpu:").replace("#/$defs/", " ").strip("# ")
        return f"[{text.removeprefix('common/1 ')}](#{anchor(reference, self.own)})"

    def kind(self, node: Node) -> str:
        """What a value may be, in words."""
        if "$ref" in node:
            return self.link(node)
        if "const" in node:
            return f"`{json.dumps(node['const'])}`"
        if "enum" in node:
            return ", ".join(f"`{json.dumps(one)}`" for one in node["enum"])
        for word in ("anyOf", "oneOf"):
            if word in node:
                return " or ".join(dict.fromkeys(self.kind(one) for one in node[word]))
        if "allOf" in node:
            return " and ".join(self.kind(one) for one in node["allOf"])
        kinds = node.get("type", "object" if "properties" in node else "anything")
        if kinds == "array":
            inner = node.get("items")
            return f"list of {self.kind(inner)}" if inner else "list"
        if isinstance(node.get("additionalProperties"), dict) and kinds == "object":
            more = "and others" if "properties" in node else "of values"
            return f"object, {more} by name: {self.kind(node['additionalProperties'])}"
        return " or ".join([kinds] if isinstance(kinds, str) else kinds)

    def about(self, node: Node) -> str:
        parts = [str(node.get("description", "")).strip()]
        parts += [text.format(str(node[word]).replace("|", "\\|")) for word, text in _LIMITS.items() if word in node]
        return "; ".join(part.rstrip(".") for part in parts if part)


def section(node: Node, title: str, own: str, label: str, level: int) -> str:
    lines = [f"({label})=", f"{'#' * level} {title}", ""]
    if text := node.get("description"):
        lines += [str(text), ""]
    if rows := Section(node, own).rows:
        lines += ["| field | kind | there | meaning |", "|---|---|---|---|", *rows, ""]
    elif "$defs" not in node:
        kind = Section({}, own)
        lines += [f"{kind.kind(node)}{': ' if (more := kind.about(node | {'description': ''})) else ''}{more}", ""]
    return "\n".join(lines)


def whole(path: Path) -> str:
    """The sections of a file."""
    node = json.loads(path.read_text(encoding="utf-8"))
    own = "/".join(path.stem.rsplit("-", 1))
    parts = [section(node, f"pocketgpu.{own}", own, anchor(own, own), 2)]
    for name, one in node.get("$defs", {}).items():
        parts.append(section(one, name, own, anchor(f"#/$defs/{name}", own), 3))
    return "\n".join(parts)


def generate(folder: Path) -> list[Path]:
    """Write both pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (title, text) in PAGES.items():
        of_commands = name == "schemas-commands"
        files = [one for one in sorted(FOLDER.glob("*.json")) if one.name.startswith("command.") == of_commands]
        path = folder / f"{name}.md"
        parts = [f"# {title}", "", text, "", *(whole(one) for one in files)]
        path.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8", newline="\n")
        written.append(path)
    return written


if __name__ == "__main__":
    for one in generate(Path(sys.argv[1])):
        print(one)
