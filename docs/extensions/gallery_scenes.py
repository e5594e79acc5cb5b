"""The scenes of the gallery as files: their order, their parts, and which registers they are about.

A scene is a Python file in `gallery/3ds` or `gallery/switch`: a docstring (the title, and a sentence that says what the
picture shows), code that writes pictures, and a paragraph after a line `# %%`. Reading scenes needs no Sphinx.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pocketgpu.facts.lookup import register_named
from pocketgpu.facts.maxwell import B197, CLASSES, MethodBlock

GALLERY = Path(__file__).resolve().parents[2] / "gallery"
CONSOLES = {"3ds": "Nintendo 3DS", "switch": "Nintendo Switch"}
"""Folders of scenes, in the order in which the site shows them."""
BLOCK = "# %%"
"""The line between the code and the paragraph."""
ROLE = re.compile(r":([\w-]+):`([^`]+)`")
REGISTERS, METHODS, FIELDS = "register", "method", "field"
"""Roles of links to what 3DS and Switch programs write, and to a part of it."""
WRITES = {"write": REGISTERS, "method": METHODS}
"""Calls of builders whose first argument names one."""


class Scene(NamedTuple):
    """A scene as others link to it. Its page is `gallery/CONSOLE/NAME`."""

    name: str
    console: str
    title: str

    @property
    def page(self) -> str:
        return f"gallery/{self.console}/{self.name}"


class Source:
    """The file of a scene, and its parts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Source: {self.path.parent.name}/{self.path.stem}>"

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @cached_property
    def heading(self) -> list[str]:
        """Paragraphs of the docstring: the title with its underline, and the sentence."""
        return [part.strip() for part in (ast.get_docstring(self.tree) or "").split("\n\n") if part.strip()]

    @property
    def title(self) -> str:
        return self.heading[0].splitlines()[0] if self.heading else ""

    @property
    def sentence(self) -> str:
        """What the picture shows, in one line without marks."""
        return plain(" ".join(" ".join(self.heading[1:]).split()))

    @cached_property
    def code(self) -> str:
        """What runs: from the docstring to the paragraph."""
        first = self.tree.body[0].end_lineno or 0
        return self.text.split(BLOCK, 1)[0].split("\n", first)[-1].strip("\n")

    @cached_property
    def paragraph(self) -> str:
        """The text after the code, without the signs of comments."""
        lines = self.text.partition(BLOCK)[2].splitlines()
        return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines).strip()

    @property
    def scene(self) -> Scene:
        return Scene(self.path.stem, self.path.parent.name, self.title)

    def named(self) -> Iterator[tuple[str, str]]:
        """(role, name) of what the text links to and what the code writes by name."""
        for role, name in ROLE.findall(self.text.split('"""')[1] + self.paragraph):
            yield role, re.sub(r".*<(.+)>", r"\1", name, flags=re.DOTALL)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                role, first = WRITES.get(node.func.attr), node.args[0]
                if role and isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield role, first.value


def plain(text: str) -> str:
    """Text without roles and marks of reStructuredText."""
    return re.sub(r"`+|\*+", "", ROLE.sub(r"\2", text))


def order(console: str) -> list[str]:
    """Names of a console's scenes in the order in which they are shown.

    :raises ValueError: `order.txt` and the folder name different scenes.
    """
    folder = GALLERY / console
    listed = (folder / "order.txt").read_text(encoding="utf-8").split()
    there = {path.stem for path in folder.glob("*.py")}
    wrong = sorted(there ^ set(listed)) or sorted({name for name in listed if listed.count(name) > 1})
    if wrong:
        raise ValueError(f"gallery/{console}/order.txt must list each scene once: {', '.join(wrong)}")
    return listed


def sources() -> list[Source]:
    """All scenes, in their order."""
    return [Source(GALLERY / console / f"{name}.py") for console in CONSOLES for name in order(console)]


def scenes_using() -> dict[str, list[Scene]]:
    """The scenes that are about a register or method, by its name: `TEXUNIT0_DIM` on a 3DS, `b197.SET_BLEND` on a
    Switch. Names that no table has are left out; the build reports their links."""
    found: dict[str, list[Scene]] = {}
    for source in sources():
        for key in {key for role, name in source.named() if (key := key_of(role, name))}:
            found.setdefault(key, []).append(source.scene)
    return found


def key_of(role: str, name: str) -> str:
    """The key of a link or a call in `scenes_using`; empty if no table has the name."""
    if role == FIELDS:
        name = name.rpartition(".")[0]
    if role in (REGISTERS, FIELDS) and (register := register_named(name)):
        return register.name
    if role not in (METHODS, FIELDS):
        return ""
    prefix, dot, rest = name.partition(".")
    blocks = [one for one in CLASSES.values() if one.name == prefix.lower()] if dot else _classes()
    for block in blocks:
        method = block.get(rest if dot else name)
        if method:
            return f"{block.name}.{method.name}"
    return ""


def _classes() -> list[MethodBlock]:
    """Classes in the order in which a name alone is looked for: first the 3D engine's."""
    return [B197, *(block for block in CLASSES.values() if block is not B197)]
