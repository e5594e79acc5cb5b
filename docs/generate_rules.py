"""Writes the list of rules into guides/check.md, between its two markers. Run it after a rule was added or changed."""

from __future__ import annotations

import re
from pathlib import Path

from pocketgpu.inspect.rules.registry import RULES

PAGE = Path(__file__).resolve().parent / "guides" / "check.md"
BEGIN, END = "<!-- rules -->", "<!-- end of rules -->"


def table() -> str:
    """Both lists, as Markdown."""
    parts = []
    for console in ("3DS", "Switch"):
        rules = [rule for rule in RULES if rule.console == console]
        rows = [f"| {named(r.id)} | {r.title} | {r.severity} | {r.confidence} | {r.source} |" for r in rules]
        head = [f"### {console}: {len(rules)} rules", "", "| rule | looks for | severity | confidence | source |"]
        parts.append("\n".join([*head, "|---|---|---|---|---|", *rows]))
    return "\n\n".join(parts)


def named(id: str) -> str:
    """A rule's id with an anchor, to which the role `rule` of other pages links (reference_pages/names.py)."""
    return f'<a id="rule-{id.replace(".", "-").lower()}"></a>`{id}`'


def page(text: str) -> str:
    """The page with the lists as they are now."""
    found = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    return found.sub(lambda _: f"{BEGIN}\n\n{table()}\n\n{END}", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE}: {len(RULES)} rules")
