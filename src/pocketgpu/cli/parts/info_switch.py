"""The part of `pocketgpu info` for Switch recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import NoPictureError

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

_FRAME_COUNTS = (
    "submissions", "segments", "words", "methods", "macro_calls", "macro_steps", "draws", "clears", "copies", "blits",
    "uploads", "launches",
)  # fmt: skip
_MOST_METHODS = 6


def tell(outcome: Outcome, capture: Capture) -> None:
    """Fill the outcome with what is in a Switch recording. Raises NoPictureError if it has no submissions."""
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.inspect.n3ds.capture_info import kind_of
    from pocketgpu.inspect.switch.capture_info import examine

    log = capture.trace
    assert isinstance(log, ChannelLog)
    if not log.submissions:
        raise NoPictureError("the capture has no submissions", location=capture.path, hint="Record until it draws.")
    progress = terminal.Progress()
    try:
        progress.show("reading")
        found = examine(log, lambda index: progress.show(f"frame {index + 1} of {log.frame_count}"))
    finally:
        terminal.clear_progress()
    outcome.add_events(found.events)
    outcome.frames += [frame.to_dict() for frame in found.frames]
    outcome.extra |= {
        "capture": {"path": capture.path, "kind": kind_of(capture), "frames": log.frame_count, "source": log.source}
    }
    outcome.extra |= found.to_dict()
    outcome.show = lambda: terminal.say(_report(outcome))


def _report(outcome: Outcome) -> str:
    extra = outcome.extra
    capture, totals = extra["capture"], extra["totals"]
    noun = "frame" if capture["frames"] == 1 else "frames"
    parts = [
        f"{capture['path']}: {capture['kind']}, {capture['frames']} {noun}, "
        f"{totals['load_bytes']:,} bytes of memory loads, {totals['words']:,} words of pushbuffers"
    ]
    if capture["source"]:
        parts.append(capture["source"])
    parts += ["", _frames(outcome.frames, extra["after_last_frame"], totals), "", _classes(extra["classes"])]
    macros = extra["macros"]
    if macros["calls"]:
        calls = ", ".join(f"{number}: {count}" for number, count in macros["calls"].items())
        parts += [
            "",
            f"macros: {macros['loaded']} loaded, {macros['words']:,} words, longest run {macros['longest_run']:,}",
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
    if not extra["unknown_methods"]:
        parts += ["", "every method is known"]
    for certain, title in ((True, "depends on"), (False, "may depend on, as the data go")):
        doubts = [
            (f"{entry['switch']} = {entry['default']}", entry["reason"], entry["first"])
            for entry in extra["doubts"]
            if entry["certain"] == certain
        ]
        if doubts:
            parts += ["", terminal.format_table([(title, False), ("because of", False), ("first", False)], doubts)]
    if not extra["doubts"]:
        parts += ["", "depends on no known doubt"]
    parts += ["", terminal.format_warnings(outcome.warnings)]
    return "\n".join(parts)


def _frames(frames: list[dict[str, Any]], tail: dict[str, Any] | None, totals: dict[str, int]) -> str:
    names = [name for name in _FRAME_COUNTS if totals[name]]
    columns = [("frame", False), *((name.replace("_", " "), True) for name in names)]
    rows = [(f"f{frame['index']}", *(f"{frame[name]:,}" for name in names)) for frame in frames[: terminal.MAX_ROWS]]
    if hidden := len(frames) - len(rows):
        rows.append((f"... {hidden} more", *("" for _ in names)))
    if tail:
        rows.append(("after", *(f"{tail[name]:,}" for name in names)))
    footer = ("all", *(f"{totals[name]:,}" for name in names)) if len(rows) > 1 else ()
    return terminal.format_table(columns, rows, footer)


def _classes(classes: list[dict[str, Any]]) -> str:
    rows = []
    for entry in classes:
        most = [f"{name} {count:,}" for name, count in list(entry["methods"].items())[:_MOST_METHODS]]
        subchannels = ", ".join(str(number) for number in entry["subchannels"])
        name = f"{entry['class']} {entry['engine']}"
        rows.append((name, subchannels, f"{entry['writes']:,}", f"{entry['distinct']:,}", ", ".join(most)))
    columns = [("class", False), ("on", False), ("writes", True), ("methods", True), ("most of them", False)]
    return terminal.format_table(columns, rows)
