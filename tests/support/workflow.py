"""Steps of a workflow or of a composite action, read from their YAML as far as this project's files use it.

    for step in steps(text):
        step.run, step.uses, step.values
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Step:
    """A step. run: its lines for a shell. uses: the action that it calls. values: of `with` and `env`, by name."""

    run: str = ""
    uses: str = ""
    condition: str = ""
    values: dict[str, str] = field(default_factory=dict)

    def environment(self, inputs: Mapping[str, str]) -> dict[str, str]:
        """Its values for these inputs of the action."""
        known = {f"inputs.{name}": value for name, value in inputs.items()}
        return {name: _EXPRESSION.sub(lambda one: known[one[1]], value) for name, value in self.values.items()}


def steps(text: str) -> list[Step]:
    """All steps of a file, in order."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found: list[Step] = []
    indent, at = -1, 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if match := re.match(r"( +)- (?=(?:run|uses|name):)", line):
            indent = len(match[0])
            found.append(Step())
            line = " " * indent + line[indent:]
        depth = len(line) - len(line.lstrip())
        if not found or depth < indent:
            indent = -1 if depth < indent else indent
            continue
        if indent < 0:
            continue
        key, _, value = line.strip().partition(":")
        value = value.strip()
        if value in ("", "|"):
            inner = []
            while at < len(lines) and len(lines[at]) - len(lines[at].lstrip()) > depth:
                inner.append(lines[at].strip())
                at += 1
            if key == "run":
                found[-1].run = "\n".join(inner)
            elif value != "|":
                pairs = (one.partition(":") for one in inner if ":" in one)
                found[-1].values |= {name.strip(): _plain(rest) for name, _, rest in pairs}
        elif key == "run":
            found[-1].run = value
        elif key == "uses":
            found[-1].uses = value
        elif key == "if":
            found[-1].condition = value
        elif key == "with":
            pairs = (one.partition(":") for one in value.strip("{} ").split(","))
            found[-1].values |= {name.strip(): _plain(rest) for name, _, rest in pairs}
    return found


def inputs(text: str) -> dict[str, str]:
    """The inputs of an action with their defaults; those that must be given have none."""
    part = text.split("inputs:\n", 1)[1].split("\nruns:", 1)[0]
    found = {}
    for name, body in re.findall(r"^  (\w+):\n((?:    .*\n?)+)", part, re.MULTILINE):
        if default := re.search(r"default: (.*)", body):
            found[name] = _plain(default[1])
    return found


def _plain(text: str) -> str:
    return text.strip().strip('"')
