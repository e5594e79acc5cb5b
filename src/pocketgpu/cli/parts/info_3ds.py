"""The text of `pocketgpu info` for captures of a 3DS."""

from __future__ import annotations

from typing import Any

from pocketgpu.cli.parts import info_tables, terminal
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.wording import counted

_COUNTS = ("writes", "loads", "lists", "draws", "vertices", "fills", "transfers", "texture_copies")


def report(outcome: Outcome) -> str:
    """The JSON of `info` as text."""
    extra, totals = outcome.extra, outcome.extra["totals"]
    parts = [
        f"{info_tables.opening(outcome)}, {_size(totals['load_bytes'])} of memory loads, "
        f"{counted(totals['list_words'], 'word', form=',')} of command lists",
        "",
        info_tables.frames(outcome, _COUNTS),
    ]
    if extra["features"]:
        rows = [(one["id"], one["text"], f"{one['count']:,}", one["first"]) for one in _features(extra["features"])]
        columns = [("uses", False), ("", False), ("times", True), ("first", False)]
        parts += ["", terminal.format_table(columns, rows)]
    if extra["programs"]:
        rows = [
            (f"{p['unit']} shader", _length(p["words"], p["entry"]), f"{p['draws']:,}", p["first"])
            for p in extra["programs"][: terminal.MAX_ROWS]
        ]
        columns = [("programs", False), ("", False), ("draws", True), ("first", False)]
        parts += ["", terminal.format_table(columns, rows)]
    parts += [*info_tables.doubts(outcome), "", terminal.format_warnings(outcome.warnings)]
    return "\n".join(parts)


def _features(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The features that are printed: long lists of the same kind are cut."""
    shown: list[dict[str, Any]] = []
    for entry in features:
        same = sum(1 for other in shown if other["id"] == entry["id"])
        if same < terminal.MAX_ROWS:
            shown.append(entry)
        elif same == terminal.MAX_ROWS:
            shown.append({"id": entry["id"], "text": "... more, all of them with --json", "count": 0, "first": ""})
    return shown


def _size(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{counted(count, 'byte', form=',')}"


__all__ = ["report"]


def _length(words: int, entry: int) -> str:
    """How long a program is, and where it begins."""
    return f"{counted(words, 'word')}, entry {entry:#05x}"
