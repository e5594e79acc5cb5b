"""Findings of picture comparisons as plain data, and a page that shows them: one HTML file with its pictures inside.

A `Finding` can be sent between processes as JSON, because tests may run in several and one of them writes the page.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Self

from pocketgpu.inspect.pages import html
from pocketgpu.inspect.pictures.comparing import Comparison, Pixels, compare, difference, to_png
from pocketgpu.late_dataclass import dataclass

OURS, GOLDEN, DIFFERENCE = "ours", "golden", "difference"

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
    parts = [f"<p>{html.text(hint)}</p>"] if hint else []
    if len(findings) > 1:
        entries = (f'<li><a href="#n{n}">{html.text(found.test)}</a></li>' for n, found in enumerate(findings))
        parts.append(f"<ul>{''.join(entries)}</ul>")
    for number, found in enumerate(findings):
        shown = html.row(html.figure(name, png) for name, png in found.pictures)
        facts = html.pairs((("golden", found.golden), *found.facts))
        message = f'<p class="what">{html.text(found.message)}</p>'
        parts.append(f'<div id="n{number}">{html.section(found.test, (message, shown, facts))}</div>')
    return html.document(title, parts)


__all__ = ["DIFFERENCE", "GOLDEN", "OURS", "Finding", "hold", "measures", "page"]
