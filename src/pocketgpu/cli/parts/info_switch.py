"""The text of `pocketgpu info` for recordings of a Switch."""

from __future__ import annotations

from typing import Any

from pocketgpu.cli.parts import info_tables, terminal
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.wording import counted

_FRAME_COUNTS = (
    "submissions", "segments", "words", "methods", "macro_calls", "macro_steps", "draws", "clears", "copies", "blits",
    "uploads", "launches",
)  # fmt: skip
_MOST_METHODS = 6


def report(outcome: Outcome) -> str:
    """The JSON of `info` as text."""
    extra = outcome.extra
    capture, totals = extra["capture"], extra["totals"]
    parts = [
        f"{info_tables.opening(outcome)}, {counted(totals['load_bytes'], 'byte', form=',')} of memory loads, "
        f"{counted(totals['words'], 'word', form=',')} of pushbuffers"
    ]
    if capture["source"]:
        parts.append(capture["source"])
    parts += ["", info_tables.frames(outcome, _FRAME_COUNTS)]
    if extra["classes"]:  # a program may draw with the processor alone
        parts += ["", _classes(extra["classes"])]
    macros = extra["macros"]
    if macros["calls"]:
        calls = ", ".join(f"{number}: {count}" for number, count in macros["calls"].items())
        parts += [
            "",
            f"macros: {macros['loaded']} loaded, {counted(macros['words'], 'word', form=',')}, longest run "
            f"{macros['longest_run']:,}",
            f"calls by macro: {calls}",
        ]
    for title, rows in (
        ("uses", [(e["id"], e["text"], f"{e['count']:,}", e["first"]) for e in extra["features"]]),
        (
            "unknown methods",
            [(f"{e['class']} {e['byte']:#06x}", "", f"{e['count']:,}", e["first"]) for e in extra["unknown_methods"]],
        ),
    ):
        if rows:
            hidden = len(rows) - terminal.MAX_ROWS
            shown = rows[: terminal.MAX_ROWS]
            if hidden > 0:
                shown.append((f"... {hidden} more", "", "", ""))
            columns = [(title, False), ("", False), ("times", True), ("first", False)]
            parts += ["", terminal.format_table(columns, shown)]
    if extra["classes"] and not extra["unknown_methods"]:
        parts += ["", "every method is known"]
    parts += [*info_tables.doubts(outcome), "", terminal.format_warnings(outcome.warnings)]
    return "\n".join(parts)


def _classes(classes: list[dict[str, Any]]) -> str:
    rows = []
    for entry in classes:
        most = [f"{name} {count:,}" for name, count in list(entry["methods"].items())[:_MOST_METHODS]]
        subchannels = ", ".join(str(number) for number in entry["subchannels"])
        name = f"{entry['class']} {entry['engine']}"
        rows.append((name, subchannels, f"{entry['writes']:,}", f"{entry['distinct']:,}", ", ".join(most)))
    columns = [("class", False), ("on", False), ("writes", True), ("methods", True), ("most of them", False)]
    return terminal.format_table(columns, rows)


__all__ = ["report"]
