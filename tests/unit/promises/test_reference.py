"""The pages of Python names list every public name, and what they list tells shapes, units and errors."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from support.promised import NAMES

PAGES = sorted((Path(__file__).resolve().parents[3] / "docs" / "reference").glob("python*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
DIRECTIVE = re.compile(r"\.\. (auto|py:)(\w+):: (\S+)\n((?:   .*\n|\n(?=   ))*)")
MODULES = {"pocketgpu.errors"}
"""Modules of which a page shows all that they define."""


def resolved(dotted: str) -> Any:
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    raise AssertionError(dotted)


def listed() -> dict[str, Any]:
    """Dotted names of the pages, with their objects."""
    found: dict[str, Any] = {}
    for _, kind, name, options in DIRECTIVE.findall(TEXT):
        found[name] = resolved(name)
        if kind != "module":
            continue
        members = re.search(r":members: *((?:[^:]|\n)*)", options)
        names = re.findall(r"\w+", members[1]) if members else []
        if name in MODULES:
            names += [one for one, what in vars(found[name]).items() if inspect.isclass(what)]
        found |= {f"{name}.{one}": getattr(found[name], one) for one in names}
    return found


LISTED = listed()


def test_the_pages_list_every_public_name_and_no_other() -> None:
    objects = {id(one) for one in LISTED.values()}
    public = {f"{module}.{name}": getattr(importlib.import_module(module), name)
              for module, names in NAMES.items() for name in names}  # fmt: skip
    missing = [name for name, one in public.items() if not inspect.ismodule(one) and id(one) not in objects]
    assert missing == []
    known = {id(one) for one in public.values()}
    others = [name for name, one in LISTED.items() if id(one) not in known and not inspect.ismodule(one)]
    assert others == []
    assert len(LISTED) > 90
    names = [name for _, _, name, _ in DIRECTIVE.findall(TEXT)]
    assert len(names) == len(set(names)), "a name has one place"


def functions() -> list[tuple[str, Any]]:
    """Functions of the page, and the methods that it lists, by dotted name."""
    found = [(name, one) for name, one in LISTED.items() if inspect.isfunction(one)]
    for _, kind, name, options in DIRECTIVE.findall(TEXT):
        members = re.search(r":members: *((?:[^:]|\n)*)", options)
        if kind == "class" and members:
            methods = re.findall(r"\w+", members[1])
            found += [(f"{name}.{one}", inspect.getattr_static(resolved(name), one, None)) for one in methods]
    return [(name, one) for name, one in found if inspect.isfunction(one)]


def texts_of(name: str, one: Any) -> str:
    """The text about a function: its own, and that of its class."""
    owner = resolved(name.rpartition(".")[0])
    return f"{inspect.getdoc(one) or ''}\n{(inspect.getdoc(owner) or '') if inspect.isclass(owner) else ''}"


@pytest.mark.parametrize(("name", "one"), functions(), ids=lambda part: part if isinstance(part, str) else "")
def test_a_function_of_the_page_tells_what_it_raises(name: str, one: Any) -> None:
    text = texts_of(name, one)
    assert len(text.strip()) > 10, f"{name} has no text"
    raised = set(re.findall(r"^\s*raise (\w+Error)\b", inspect.getsource(one), re.MULTILINE))
    told = [error for error in sorted(raised) if error not in text]
    assert told == [] or re.search(r"[Rr]aises? ", text), f"{name} raises {told} and does not say so"


@pytest.mark.parametrize("name", [name for name, one in LISTED.items() if inspect.isclass(one)])
def test_a_class_of_the_page_tells_the_shapes_of_its_arrays(name: str) -> None:
    """Arrays among the fields of a data class: the text has their shape in brackets, or says what they are."""
    one = LISTED[name]
    assert inspect.getdoc(one), name
    hints = [hint for base in one.__mro__ for hint in vars(base).get("__annotations__", {}).items()]
    arrays = [field for field, kind in hints if "NDArray" in str(kind) and not field.startswith("_")]
    text = inspect.getdoc(one) or ""
    for field in arrays:
        assert re.search(rf"\b{field}\b", text), f"{name}.{field} is not described"
    assert not arrays or re.search(r"\(\w+[^)]*,|\bof `\w+`|uint32|all words", text), f"{name} tells no shape"


def test_the_checks_can_fail() -> None:
    assert "pocketgpu.errors.UsageError" in LISTED and "pocketgpu.facts.pica.PICA" in LISTED
    assert resolved("pocketgpu.surface.decode") is LISTED["pocketgpu.surface.decode"]
    assert {"pocketgpu.builder.CommandList.write", "pocketgpu.surface.decode"} <= {name for name, _ in functions()}
