"""What the index of the Switch recordings says of each of them, for tests that compare."""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import dataclass, field
from pathlib import Path

from . import recordings


@dataclass
class Entry:
    """One recording. counts, headers: by name, as far as the page's lines go. calls: of macros, by number.
    classes: subchannel ("host" or a number) to (class, methods, distinct ones)."""

    counts: dict[str, int] = field(default_factory=dict)
    headers: dict[str, int] = field(default_factory=dict)
    calls: dict[int, int] = field(default_factory=dict)
    steps: int = 0
    longest: int = 0
    classes: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    row: dict[str, int] = field(default_factory=dict)


def folder() -> Path:
    """Where recordings lie, whether they are there or not."""
    return recordings.switch()


def names() -> list[str]:
    """All recordings that are there."""
    return sorted(path.name.removesuffix(".mxcap.zip") for path in folder().glob("*.mxcap.zip"))


def read() -> dict[str, Entry]:
    """Entries by name of the recording, as the page gives it (at 320x180)."""
    text = (folder() / "INDEX.md").read_text(encoding="utf-8")
    summary, _, details = text.partition("## Per capture")
    found: dict[str, Entry] = {}
    for part in re.split(r"^### ", details, flags=re.MULTILINE)[1:]:
        entry = found[part.split("\n", 1)[0].strip()] = Entry()
        for line in part.splitlines():
            key, _, rest = line.partition(": ")
            if key in ("headers", "counts"):
                # Long lines of the page are cut off: whole words and numbers count.
                pairs = {word: int(number) for word, number in re.findall(r"(\w+) (\d+)(?=,|$)", rest)}
                setattr(entry, key, pairs)
            elif key == "macros":
                match = re.fullmatch(r"(\d+) steps, longest run (\d+); calls per macro: ({.*})", rest)
                assert match, line
                entry.steps, entry.longest, entry.calls = int(match[1]), int(match[2]), literal_eval(match[3])
            elif match := re.match(r"subchannel (\w+) class 0x(\w+): (\d+) methods, (\d+) distinct", line):
                entry.classes[match[1]] = match[2].lower(), int(match[3]), int(match[4])
    table = [line.strip("| ").split("|") for line in summary.splitlines() if line.startswith("| ")]
    titles = [title.strip() for title in table[0]]
    for row in table[1:]:
        cells = dict(zip(titles, (cell.strip() for cell in row), strict=True))
        if cells["capture"] in found:
            found[cells["capture"]].row = {name: int(value) for name, value in cells.items() if value.isdigit()}
    return found


def entry_of(name: str, entries: dict[str, Entry]) -> Entry:
    """The entry of a recording; other sizes of a program differ in nothing that is counted."""
    return entries[re.sub(r"_\d+x\d+$", "_320x180", name)]
