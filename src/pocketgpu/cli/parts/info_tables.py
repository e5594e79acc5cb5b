"""Tables of `pocketgpu info` that both consoles have: counts of frames, doubts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.choices.certainty import certainty


def opening(outcome: Outcome) -> str:
    """The file, what it is, and how many frames it has."""
    capture = outcome.extra["capture"]
    noun = "frame" if capture["frames"] == 1 else "frames"
    return f"{capture['path']}: {capture['kind']}, {capture['frames']} {noun}"


def frames(outcome: Outcome, counts: tuple[str, ...]) -> str:
    """Rows for frames, for what comes after the last, and for totals. Counts that are always 0 are left out."""
    totals, tail = outcome.extra["totals"], outcome.extra.get("after_last_frame")
    names = [name for name in counts if totals[name]]
    columns = [("frame", False), *((name.replace("_", " "), True) for name in names)]

    def row(label: str, part: dict[str, Any]) -> tuple[str, ...]:
        return label, *(f"{part[name]:,}" for name in names)

    rows = [row(f"f{frame['index']}", frame) for frame in outcome.frames[: terminal.MAX_ROWS]]
    if hidden := len(outcome.frames) - len(rows):
        rows.append((f"... {hidden} more", *("" for _ in names)))
    if tail:
        rows.append(row("after", tail))
    return terminal.format_table(columns, rows, row("all", totals) if len(rows) > 1 else ())


def doubts(outcome: Outcome) -> Iterator[str]:
    """Tables of doubts that are certain and of those that depend on data, each after an empty line."""
    for certain, title in ((True, "depends on"), (False, "may depend on, as the data go")):
        rows = [
            (
                f"{entry['switch']} = {entry['default']}", str(certainty(CHOICES[entry["switch"]])), entry["reason"],
                entry["first"],
            )
            for entry in outcome.extra["doubts"]
            if entry["certain"] == certain
        ]
        if rows:
            names = (title, "certainty", "because of", "first")
            yield from ("", terminal.format_table([(name, False) for name in names], rows))
    if not outcome.extra["doubts"]:
        yield from ("", "no doubt is seen here; 'pocketgpu doubts' tries what may matter all the same")


__all__ = ["doubts", "frames", "opening"]
