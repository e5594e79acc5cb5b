"""A small interpreter of Kaitai Struct descriptions: enough of the language to walk a file with docs/formats/pgc.ksy.

It knows fields of fixed types, sizes, conditions, repetitions, switched types, parameters, enums and computed values.
Whatever else a description uses is an error here, not a guess.
"""

from __future__ import annotations

import re
from typing import Any

_NUMBERS = {"u1": 1, "u2": 2, "u4": 4, "u8": 8}
_FIELD_KEYS = {
    "id", "type", "size", "if", "enum", "contents", "repeat", "repeat-expr", "repeat-until", "doc", "encoding",
}  # fmt: skip


# YAML, as far as descriptions need it


def parse_yaml(text: str) -> Any:
    """Maps and lists by indentation, plain and quoted scalars, lists in brackets, folded text."""
    lines = [line.rstrip() for line in text.splitlines()]
    value, rest = _block([line for line in lines if line.strip() and not line.lstrip().startswith("#")], 0)
    assert not rest, rest[:1]
    return value


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block(lines: list[str], indent: int) -> tuple[Any, list[str]]:
    if lines[0].lstrip().startswith("- "):
        items = []
        while lines and _indent(lines[0]) == indent and lines[0].lstrip().startswith("- "):
            lines = [" " * (indent + 2) + lines[0].lstrip()[2:], *lines[1:]]
            item, lines = _block(lines, indent + 2)
            items.append(item)
        return items, lines
    found: dict[Any, Any] = {}
    while lines and _indent(lines[0]) == indent:
        match = re.fullmatch(r"\s*('[^']*'|[^:\s]+):(?: (.*))?", lines[0])
        assert match, lines[0]
        key, value = _scalar(match[1]), match[2]
        lines = lines[1:]
        if value in (">-", "|"):
            parts = []
            while lines and _indent(lines[0]) > indent:
                parts.append(lines.pop(0).strip())
            found[key] = " ".join(parts)
        elif value:
            found[key] = _scalar(value)
        elif lines and _indent(lines[0]) > indent:
            found[key], lines = _block(lines, _indent(lines[0]))
        assert key in found, f"nothing follows {key}"
    return found, lines


def _scalar(text: str) -> Any:
    text = text.strip()
    if text.startswith("["):
        return [_scalar(part) for part in text[1:-1].split(",")]
    if text.startswith("'"):
        return text[1:-1]
    return int(text, 0) if re.fullmatch(r"0x[0-9a-f]+|\d+", text) else text


# Files


class Node:
    """What was read as one type: fields as attributes."""

    def __init__(self, reader: Reader, name: str, parameters: dict[str, Any]) -> None:
        self._reader, self._name, self._fields = reader, name, dict(parameters)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__["_fields"]
        if name in fields:
            return fields[name]
        instances = self._reader.spec(self._name).get("instances", {})
        if name in instances:
            return self._reader.evaluate(instances[name]["value"], self)
        raise AttributeError(f"{self._name} has no {name}")


class _List(list[Any]):
    @property
    def size(self) -> int:
        return len(self)


class Reader:
    """Reads bytes by a description; `root` is what came out. Raises ValueError for bytes that do not fit."""

    def __init__(self, description: dict[str, Any], data: bytes) -> None:
        self.description = description
        self.data, self.at, self.end = data, 0, len(data)
        self.enums = {
            f"{name}::{label}": number
            for name, labels in description["enums"].items()
            for number, label in labels.items()
        }
        self.root: Node | None = None
        self.root = self.read("", {})

    def spec(self, name: str) -> dict[str, Any]:
        return self.description if not name else self.description["types"][name]

    def read(self, name: str, parameters: dict[str, Any]) -> Node:
        """One value of a type of the description, from here."""
        node = Node(self, name, parameters)
        if self.root is None:
            self.root = node
        for field in self.spec(name)["seq"]:
            assert set(field) <= _FIELD_KEYS, field
            if "if" in field and not self.evaluate(field["if"], node):
                continue
            node._fields[field["id"]] = self.repeated(field, node)
        return node

    def repeated(self, field: dict[str, Any], node: Node) -> Any:
        how = field.get("repeat")
        if how is None:
            return self.value(field, node)
        values = _List()
        if how == "eos":
            while self.at < self.end:
                values.append(self.value(field, node))
        elif how == "expr":
            for _ in range(self.evaluate(field["repeat-expr"], node)):
                values.append(self.value(field, node))
        else:
            assert how == "until"
            while not values or not self.evaluate(field["repeat-until"], node, values[-1]):
                values.append(self.value(field, node))
        return values

    def value(self, field: dict[str, Any], node: Node) -> Any:
        if "contents" in field:
            found = self.take(len(field["contents"]))
            if found != bytes(field["contents"]):
                raise ValueError(f"{found!r} instead of {field['contents']}")
            return found
        kind = field.get("type")
        if isinstance(kind, dict):
            switched = self.evaluate(kind["switch-on"], node)
            cases = {self.evaluate(case, node): name for case, name in kind["cases"].items()}
            if switched not in cases:
                raise ValueError(f"no case for {switched}")
            kind = cases[switched]
        if kind in _NUMBERS:
            number = int.from_bytes(self.take(_NUMBERS[kind]), "little")
            if "enum" in field and number not in self.description["enums"][field["enum"]]:
                raise ValueError(f"{number} is no {field['enum']}")
            return number
        if "size" not in field:
            return self.typed(kind, node)
        size = self.evaluate(field["size"], node)
        if kind is None:
            return self.take(size)
        if kind == "str":
            return self.take(size).decode(field["encoding"])
        outer, self.end = self.end, self.at + size
        if self.end > outer:
            raise ValueError("a part leaves the whole")
        found = self.typed(kind, node)
        if self.at != self.end:
            raise ValueError(f"{self.end - self.at} bytes are left over")
        self.end = outer
        return found

    def typed(self, kind: str, node: Node) -> Node:
        match = re.fullmatch(r"(\w+)(?:\((.*)\))?", kind)
        assert match
        names = [parameter["id"] for parameter in self.spec(match[1]).get("params", [])]
        given = [self.evaluate(part, node) for part in match[2].split(",")] if match[2] else []
        return self.read(match[1], dict(zip(names, given, strict=True)))

    def take(self, size: int) -> bytes:
        if self.at + size > self.end:
            raise ValueError(f"{size} bytes where {self.end - self.at} are left")
        self.at += size
        return self.data[self.at - size : self.at]

    def evaluate(self, expression: Any, node: Node, last: Any = None) -> Any:
        if not isinstance(expression, str):
            return expression
        text = re.sub(r"\w+::\w+", lambda match: str(self.enums[match[0]]), expression)
        text = re.sub(r"\(([^?()]+) \? ((?:[^()?:]|\([^()]*\))+) : (\w+)\)", r"((\2) if (\1) else \3)", text)
        assert "?" not in text, text
        names = {name: getattr(node, name, None) for name in re.findall(r"(?<![.\w])[a-z_]\w*", text)}
        return eval(text, {"__builtins__": {}}, {**names, "_root": self.root, "_": last})  # our own file
