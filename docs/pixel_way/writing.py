"""A page as Markdown: headings, tables, pictures, drawings, and numbers as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pocketgpu.facts.dialect.registers import Field, Register


def number(value: float) -> str:
    """A number with at most six digits that count."""
    return f"{float(value):.6g}"


def numbers(values: Iterable[float]) -> str:
    """Numbers in a row."""
    return ", ".join(number(value) for value in values)


def signed(value: float) -> str:
    """A number that is added to what stands before it."""
    text = number(abs(value)) if isinstance(value, float) else str(abs(int(value)))
    return f"{'-' if value < 0 else '+'} {text}"


def edge_rows(shape: Any, column: str, row: str) -> list[tuple[int, str, str]]:
    """Rows of a table: the number of each edge of a triangle, its function, and the value at the pixel. column, row:
    what the function counts in."""
    edges = zip(shape.a, shape.b, shape.c, shape.values, strict=True)
    return [
        (number, f"{a} * {column} {signed(b)} * {row} {signed(c)}", f"{value:,}")
        for number, (a, b, c, value) in enumerate(edges)
    ]


def whole(values: Iterable[int]) -> str:
    """Whole numbers in a row."""
    return ", ".join(str(int(value)) for value in values)


def word(value: int) -> str:
    """A word of 32 bits."""
    return f"`{value:#010x}`"


def short(value: int) -> str:
    """A number in a field of few bits."""
    return str(value) if value < 10 else f"{value:#x}"


def place(address: int) -> str:
    """An address."""
    return f"`{address:#x}`"


def octets(data: bytes) -> str:
    """Bytes in the order of memory."""
    return f"`{data.hex(' ')}`"


def code(text: str) -> str:
    """Text as code, in a table too."""
    return "`" + text.replace("|", "\\|") + "`"


def colour(rgb: Sequence[int]) -> str:
    """A colour: a sample of it, and its code."""
    text = "#" + "".join(f"{int(one):02x}" for one in rgb[:3])
    return f'<span class="colour" style="background:{text}"></span> `{text}`'


def register(name: str) -> str:
    """A link to a register of the 3DS."""
    return f"{{register}}`{name}`"


def method(name: str) -> str:
    """A link to a method of the Switch: of class B197, or CLASS.NAME."""
    return f"{{method}}`{name}`"


def meaning(found: Register, value: int, names: Sequence[str] = ()) -> str:
    """The fields of a register's word as text; all of them, or those of some names."""
    fields: list[Field] = [one for one in found.fields if not names or one.name in names]
    if not fields:
        return str(value)
    return ", ".join(f"{one.name} = {one.text(value)}" for one in fields)


class Page:
    """A page that grows from top to bottom.

    folder: where its pictures go. stem: what their names begin with. stages: names of the stages so far.
    """

    def __init__(self, folder: Path, stem: str, title: str) -> None:
        self.folder, self.stem = folder, stem
        self.lines = [f"# {title}", ""]
        self.stages: list[str] = []

    @property
    def text(self) -> str:
        """The page."""
        return "\n".join(self.lines) + "\n"

    def stage(self, name: str) -> None:
        """Begin the next stage of the way."""
        self.stages.append(name)
        self.lines += [f"(way-{self.stem}-{len(self.stages)})=", "", f"## {len(self.stages)}. {name}", ""]

    def heading(self, name: str) -> None:
        """Begin a section that is no stage."""
        self.lines += [f"## {name}", ""]

    def say(self, *sentences: str) -> None:
        """A paragraph."""
        self.lines += [" ".join(sentences), ""]

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table. Cells are Markdown."""
        self.lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        self.lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
        self.lines.append("")

    def command(self, *commands: str) -> None:
        """Commands of the shell that show what the stage is about."""
        self.lines += ["```sh", *(f"pocketgpu {one}" for one in commands), "```", ""]

    def picture(self, name: str, array: np.ndarray, alternative: str, caption: str) -> None:
        """A picture, (height, width, 3), with a text for those who do not see it."""
        path = self.folder / f"{self.stem}-{name}.png"
        Image.fromarray(np.ascontiguousarray(array, np.uint8)).save(path, optimize=True)
        self.lines += [
            f":::{{figure}} {path.name}", f":alt: {alternative}", ":figclass: drawn-picture", "", caption, ":::", "",
        ]  # fmt: skip

    def pictures(self, parts: Iterable[tuple[str, np.ndarray, str, str]]) -> None:
        """Pictures beside each other where there is room: the arguments of `picture` for each."""
        self.lines += ["::::{container} picture-row", ""]
        for part in parts:
            self.picture(*part)
        self.lines += ["::::", ""]

    def drawing(self, svg: str, caption: str) -> None:
        """A drawing, with a caption below."""
        figure = f"{svg}<figcaption>{escape(caption)}</figcaption>"
        self.lines += [":::{raw} html", f'<figure class="drawing" tabindex="0">{figure}</figure>', ":::", ""]

    def links(self, names: Iterable[str]) -> None:
        """The registers that this stage reads."""
        self.say(f"Registers: {', '.join(names)}.")
