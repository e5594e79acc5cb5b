"""Pictures of text consoles of real programs of the Switch, and the text that is known to be in them."""

from __future__ import annotations

import re
from pathlib import Path

from . import recordings

GUESTS = recordings.folder() / "guests" / "switch"
TABLE = GUESTS / "EXPECT.tsv"
FRAMES = {"barrier": "f399", "user_events": "f399"}
"""Programs whose text is that of another picture than the first."""


def expected() -> list[tuple[Path, str]]:
    """Pictures, and the text that is known to be in them."""
    if not TABLE.is_file():
        return []
    found = []
    for row in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        cells = row.split("\t")
        path = GUESTS / "expected" / f"{cells[0]}_{FRAMES.get(cells[0], 'f0')}.png"
        if len(cells) < 15 or not cells[14] or not path.is_file():
            continue
        shown = cells[14].removeprefix("[frame 0] ").split(" [frame")[0].split("\\n")
        lines = {int(part.split(",")[0]): part for part in shown}
        text = []
        for number in range(max(lines) + 1):
            match = re.match(r"\d+,(\d+):(.*)", lines.get(number, ""))
            text.append(" " * int(match[1]) + match[2] if match else "")
        found.append((path, "\n".join(line.rstrip() for line in text)))
    return found
