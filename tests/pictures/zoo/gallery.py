"""All scenes of a zoo as pictures, with a page that names every cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image

from .show import show
from .stage import SCENES

ZOOM = 4
STYLE = """
body { background: #14151c; color: #d8d8e0; font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em }
h1, h2, h3 { font-weight: 600 } p { max-width: 50em }
figure { display: inline-block; margin: 0 1em 1em 0; position: relative } figcaption { color: #9a9ab0; font-size: 80% }
img { image-rendering: pixelated; display: block }
.cell { position: absolute } .cell:hover { outline: 2px solid #ffb060 }
table { border-collapse: collapse; font-size: 75% } td { border: 1px solid #33354a; padding: 2px 6px }
"""


def write_gallery(
    folder: Path,
    names: list[str] | None = None,
    scenes: Mapping[str, Any] = SCENES,
    show: Callable[[Any], Any] = show,
    chip: str = "PICA200",
) -> Path:
    """Write pictures (as they are, and index.html that enlarges them); returns the page.

    scenes: by name, those of another zoo, too. show: what draws them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [entry for entry in scenes.values() if not names or entry.name in names]
    parts = [f"<!doctype html><meta charset=utf-8><title>Zoo</title><style>{STYLE}</style><h1>Zoo of the {chip}</h1>"]
    parts.append("<p>One feature a scene, one variant a cell. Point at a cell to see its name.</p>")
    for group, entries in groupby(chosen, lambda entry: entry.group):
        parts.append(f"<h2>{escape(group.replace('_', ' '))}</h2>")
        parts += [_section(entry, show(entry), folder) for entry in entries]
    page = folder / "index.html"
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def _section(entry: Any, shown: Any, folder: Path) -> str:
    out = [f"<h3>{escape(entry.name.replace('_', ' '))}</h3><p>{escape(entry.doc)}</p>"]
    for number, (name, pixels) in enumerate(shown.panels().items()):
        file = f"{entry.name}.png" if number == 0 else f"{entry.name}.{name.replace(': ', '.')}.png"
        Image.fromarray(pixels).save(folder / file)
        height, width = pixels.shape[:2]
        whole = (width, height) == (shown.scene.width, shown.scene.height)  # others have no cells
        boxes = "".join(_box(shown, i) for i in range(len(shown.scene.cells)) if whole)
        out.append(
            f'<figure><img src="{file}" width="{ZOOM * width}" height="{ZOOM * height}">{boxes}'
            f"<figcaption>{escape(name)}</figcaption></figure>"
        )
    return "\n".join([*out, _legend(shown)])


def _box(shown: Any, number: int) -> str:
    cell = shown.scene.cells[number]
    place = f"left:{ZOOM * cell.x}px;top:{ZOOM * cell.y}px;width:{ZOOM * cell.width}px;height:{ZOOM * cell.height}px"
    return f'<div class=cell style="{place}" title="{escape(cell.label)}"></div>'


def _legend(shown: Any) -> str:
    """Labels in a table with the cells' places."""
    at = {(cell.y, cell.x): cell.label for cell in shown.scene.cells}
    rows, columns = sorted({y for y, _ in at}), sorted({x for _, x in at})
    lines = ["".join(f"<td>{escape(at.get((y, x), ''))}</td>" for x in columns) for y in rows]
    return "<details><summary>cells</summary><table><tr>" + "<tr>".join(lines) + "</table></details>"
