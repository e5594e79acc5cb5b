"""The parts of a page: a document, pictures, tables, and text whose indented lines fold.

    body = [figure("top", png), table(("register", "old", "new"), rows)]
    document("scene.pgc f1/d17", body)

Texts may come from a capture that somebody sent: everything is escaped, control characters are replaced, and the page's
own policy forbids scripts and anything from elsewhere.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import Final

from pocketgpu.displayed import plain
from pocketgpu.wording import counted

_RING: Final = 50
"""How often the radius of the ring around a marked pixel goes into a picture's width."""
_POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1320px; padding: 0 1em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; } h2 { font-size: 1.1em; margin: 0 0 .3em; overflow-wrap: anywhere; }
section { border-top: 1px solid #8888; padding: 1.2em 0; }
.what { color: #c22; margin: .2em 0 .8em; white-space: pre-wrap; } .dim { opacity: .75; }
.row { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; }
figure { margin: 0; max-width: 100%; } figcaption { font-size: .85em; opacity: .75; }
.framed { position: relative; display: inline-block; border: 1px solid #8886; line-height: 0; max-width: 100%;
  background: repeating-conic-gradient(#8884 0 25%, #8881 0 50%) 0 0 / 16px 16px; }
.framed img { image-rendering: pixelated; max-width: min(100%, 1000px); } .framed.zoomed img { width: 256px; }
.framed svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.framed rect, .framed circle { fill: none; stroke: #f0f; stroke-width: 2px; vector-effect: non-scaling-stroke; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em; font-size: .9em; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; font: 13px/1.4 ui-monospace, monospace; }
th { text-align: left; opacity: .75; } td, th { padding: 0 1em 0 0; vertical-align: top; overflow-wrap: anywhere; }
.text { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.text p, .text summary { margin: 0; white-space: pre-wrap; } .text details > div { margin-left: 1.4em; }
.text p { margin-left: 1.1em; } .swatch { display: inline-block; width: 1.6em; height: 1em; border: 1px solid #888; }
section > details { margin-top: 1em; } code { font: 13px/1.4 ui-monospace, monospace; }
""".strip()


def text(value: object) -> str:
    """A value as HTML text."""
    return escape(plain(str(value)))


def document(title: str, body: Iterable[str]) -> str:
    """A whole page. body: its parts, as HTML."""
    return "\n".join([
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{text(title)}</h1>",
        *body, "</body></html>", "",
    ])  # fmt: skip


def figure(
    label: str, png: bytes, size: tuple[int, int] = (0, 0), mark: tuple[int, int] | None = None, zoomed: bool = False
) -> str:
    """A picture with its name below. size: width and height in pixels; mark: a pixel with a frame around it, for which
    the size must be known. zoomed: show it enlarged."""
    data = b64encode(png).decode("ascii")
    frame = ""
    if mark is not None:
        x, y = mark
        ring = "" if zoomed else f'<circle cx="{x + 0.5}" cy="{y + 0.5}" r="{size[0] / _RING}"/>'
        frame = (
            f'<svg viewBox="0 0 {size[0]} {size[1]}" aria-hidden="true">'
            f'<rect x="{x}" y="{y}" width="1" height="1"/>{ring}</svg>'
        )
    name = text(label)
    return (
        f'<figure><div class="framed{" zoomed" if zoomed else ""}">'
        f'<img alt="{name}" src="data:image/png;base64,{data}">'
        f"{frame}</div><figcaption>{name}</figcaption></figure>"
    )


def row(parts: Iterable[str]) -> str:
    """Parts side by side, as far as there is room."""
    return f'<div class="row">{"".join(parts)}</div>'


def section(title: str, parts: Iterable[str]) -> str:
    """A part of the page with a title."""
    return f"<section><h2>{text(title)}</h2>{''.join(parts)}</section>"


def details(title: str, parts: Iterable[str]) -> str:
    """Parts that are folded away at first."""
    return f"<details><summary>{text(title)}</summary>{''.join(parts)}</details>"


def pairs(facts: Iterable[tuple[object, object]]) -> str:
    """Names and values."""
    return f"<dl>{''.join(f'<dt>{text(name)}</dt><dd>{text(value)}</dd>' for name, value in facts)}</dl>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]], most: int) -> str:
    """A table of at most `most` rows; a line says how many were left out."""
    shown = [f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in one)}</tr>" for one in islice(rows, most)]
    names = "".join(f"<th>{text(name)}</th>" for name in head)
    return f"<table><tr>{names}</tr>{''.join(shown)}</table>{_left_out(len(rows) - most, 'row')}"


def _left_out(count: int, what: str) -> str:
    return f'<p class="dim">{counted(count, what)} more, left out here</p>' if count > 0 else ""


# -- text that folds ------------------------------------------------------------------------------------------------
_BAR: Final = " |"
"""What lines are indented with: a bar goes before the lines of a source."""


def folded(lines: Iterable[str], most: int, unfolded: str = "") -> str:
    """Lines of text. A line owns the deeper ones after it and folds them away.

    :param most: lines to show; a line says how many were left out.
    :param unfolded: a line that begins with this word is open at first, with all that it owns. Lines that are not
        indented are open anyway.
    """
    known = [plain(line) for line in lines if line.strip()]
    whole = [(len(line) - len(line.lstrip(_BAR)), line.lstrip(_BAR)) for line in known[:most]]
    return f'<div class="text">{"".join(_tree(whole, unfolded))}</div>{_left_out(len(known) - most, "line")}'


def _tree(lines: Sequence[tuple[int, str]], unfolded: str) -> Iterator[str]:
    """HTML of lines with their indentation. No recursion: a text may be nested as deeply as a capture likes."""
    open_at: list[int] = []
    wanted = float("inf")  # the indentation of the line that is unfolded with all that it owns, if we are in it
    for number, (indent, line) in enumerate(lines):
        while open_at and open_at[-1] >= indent:
            open_at.pop()
            yield "</div></details>"
        owns = number + 1 < len(lines) and lines[number + 1][0] > indent
        if not owns:
            yield f"<p>{escape(line)}</p>"
            continue
        if indent <= wanted:
            wanted = indent if unfolded and line.split(maxsplit=1)[0] == unfolded else float("inf")
        yield f"<details{' open' if not open_at or indent >= wanted else ''}><summary>{escape(line)}</summary><div>"
        open_at.append(indent)
    yield "</div></details>" * len(open_at)


__all__ = ["details", "document", "figure", "folded", "pairs", "row", "section", "table", "text"]
