"""Findings of picture comparisons as plain data, and a page that shows them: one HTML file with its pictures inside.

A `Finding` can be sent between processes as JSON, because tests may run in several and one of them writes the page.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import Any, Self

from pocketgpu.inspect.pictures.comparing import Comparison, Pixels, compare, difference, to_png
from pocketgpu.late_dataclass import dataclass

OURS, GOLDEN, DIFFERENCE = "ours", "golden", "difference"

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1320px; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.1em; margin: 0 0 .3em; overflow-wrap: anywhere; }
section { border-top: 1px solid #8888; padding: 1.2em 0; }
.what { color: #c22; margin: .2em 0 .8em; white-space: pre-wrap; }
.row { display: flex; flex-wrap: wrap; gap: 12px; } figure { margin: 0; } figcaption { font-size: .85em; opacity: .75; }
img { image-rendering: pixelated; max-width: 100%; background: #8883; border: 1px solid #8886; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em; font-size: .9em; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; } :root { color-scheme: light dark; }
""".strip()


@dataclass(frozen=True, slots=True)
class Finding:
    """A picture that is not as expected.

    test: what compared it, such as the id of a test. golden: the name of the expected picture. message: what is wrong.
    facts: (name, value) pairs for people. pictures: (name, PNG file) pairs, "ours" first.
    """

    test: str
    golden: str
    message: str
    facts: tuple[tuple[str, str], ...] = ()
    pictures: tuple[tuple[str, bytes], ...] = ()

    def picture(self, name: str) -> bytes | None:
        """The PNG file of a name, None if there is none."""
        return dict(self.pictures).get(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` reverses it."""
        return {
            "test": self.test,
            "golden": self.golden,
            "message": self.message,
            "facts": [list(fact) for fact in self.facts],
            "pictures": [[name, base64.b64encode(png).decode("ascii")] for name, png in self.pictures],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        facts = tuple((str(name), str(value)) for name, value in data["facts"])
        pictures = tuple((str(name), base64.b64decode(png)) for name, png in data["pictures"])
        return cls(data["test"], data["golden"], data["message"], facts, pictures)


def hold(ours: Pixels, golden: Pixels, tolerance: int) -> tuple[Comparison, tuple[tuple[str, bytes], ...]]:
    """Compare two pictures. Also returns PNG files of both and of their difference, unless they are the same."""
    found = compare(ours, golden, tolerance)
    if found.same:
        return found, ()
    shown = ((OURS, ours), (GOLDEN, golden), (DIFFERENCE, difference(ours, golden, tolerance)))
    return found, tuple((name, to_png(pixels)) for name, pixels in shown)


def measures(found: Comparison) -> tuple[tuple[str, str], ...]:
    """A comparison as facts of a finding."""
    size = "x".join(map(str, found.size))
    if found.size != found.golden_size:
        return (("size", size), ("size of the golden", "x".join(map(str, found.golden_size))))
    share = 100 * found.differing / found.pixels
    return (
        ("size", size),
        ("differing pixels", f"{found.differing} of {found.pixels} ({share:.3g} %)"),
        ("largest difference", f"{found.largest} of 255, allowed {found.tolerance}"),
    )


def page(findings: Sequence[Finding], title: str, hint: str = "") -> str:
    """An HTML page of all findings that needs no other file."""
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
    ]
    if hint:
        parts.append(f"<p>{html.escape(hint)}</p>")
    if len(findings) > 1:
        entries = (f'<li><a href="#n{n}">{html.escape(found.test)}</a></li>' for n, found in enumerate(findings))
        parts.append(f"<ul>{''.join(entries)}</ul>")
    for number, found in enumerate(findings):
        parts.append(f'<section id="n{number}"><h2>{html.escape(found.test)}</h2>')
        parts.append(f'<p class="what">{html.escape(found.message)}</p><div class="row">')
        parts += [_figure(name, png) for name, png in found.pictures]
        facts = (("golden", found.golden), *found.facts)
        rows = (f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>" for name, value in facts)
        parts.append(f"</div><dl>{''.join(rows)}</dl></section>")
    return "\n".join([*parts, "</body></html>", ""])


def _figure(name: str, png: bytes) -> str:
    data = base64.b64encode(png).decode("ascii")
    label = html.escape(name)
    return f'<figure><img alt="{label}" src="data:image/png;base64,{data}"><figcaption>{label}</figcaption></figure>'


__all__ = ["DIFFERENCE", "GOLDEN", "OURS", "Finding", "hold", "measures", "page"]
