"""`pocketgpu info`: what is in a capture, which features it uses and which doubtful behaviour it depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.capture_info import CaptureInfo

_COUNTS = ("writes", "loads", "lists", "draws", "vertices", "fills", "transfers", "texture_copies")


@click.command()
@capture_argument
@json_option
@debug_option
@click.pass_obj
def info(outcome: Outcome, capture: str) -> None:
    """Show what is in a capture and which doubtful behaviour it depends on.

    The command lists of a 3DS recording run, but nothing is drawn; a Switch recording is replayed. A behaviour is
    doubtful if documents of the GPU leave it open; --set can choose it.
    """
    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    if opened.console == "Switch":
        from pocketgpu.cli.parts.info_switch import tell

        tell(outcome, opened)
        return
    from pocketgpu.inspect.n3ds.capture_info import examine, kind_of

    progress = terminal.Progress()
    try:
        progress.show("reading")
        found = examine(opened, lambda index: progress.show(f"frame {index + 1} of {opened.frame_count}"))
    finally:
        terminal.clear_progress()
    outcome.add_events(found.events)
    outcome.frames += [vars(frame) for frame in found.frames]
    outcome.extra |= {"capture": {"path": capture, "kind": kind_of(opened), "frames": opened.frame_count}}
    outcome.extra |= found.to_dict()
    outcome.show = lambda: terminal.say(_report(outcome, found))


def _report(outcome: Outcome, found: CaptureInfo) -> str:
    capture, totals = outcome.extra["capture"], outcome.extra["totals"]
    noun = "frame" if capture["frames"] == 1 else "frames"
    parts = [
        f"{capture['path']}: {capture['kind']}, {capture['frames']} {noun}, "
        f"{_size(totals['load_bytes'])} of memory loads, {totals['list_words']:,} words of command lists",
        "",
        _frames(outcome.frames, totals),
    ]
    if found.features:
        rows = [(entry["id"], entry["text"], f"{entry['count']:,}", entry["first"]) for entry in _features(outcome)]
        columns = [("uses", False), ("", False), ("times", True), ("first", False)]
        parts += ["", terminal.format_table(columns, rows)]
    if found.programs:
        rows = [
            (f"{p.unit} shader", f"{p.words} words, entry {p.entry:#05x}", f"{p.draws:,}", p.first)
            for p in found.programs[: terminal.MAX_ROWS]
        ]
        columns = [("programs", False), ("", False), ("draws", True), ("first", False)]
        parts += ["", terminal.format_table(columns, rows)]
    for certain, title in ((True, "depends on"), (False, "may depend on, as the data go")):
        doubts = [_doubt(entry) for entry in outcome.extra["doubts"] if entry["certain"] == certain]
        if doubts:
            columns = [(title, False), ("because of", False), ("first", False)]
            parts += ["", terminal.format_table(columns, doubts)]
    if not found.doubts:
        parts += ["", "depends on no known doubt"]
    parts += ["", terminal.format_warnings(outcome.warnings)]
    return "\n".join(parts)


def _features(outcome: Outcome) -> list[dict[str, Any]]:
    """The features that are printed: long lists of the same kind are cut."""
    shown: list[dict[str, Any]] = []
    for entry in outcome.extra["features"]:
        same = sum(1 for other in shown if other["id"] == entry["id"])
        if same < terminal.MAX_ROWS:
            shown.append(entry)
        elif same == terminal.MAX_ROWS:
            shown.append({"id": entry["id"], "text": "... more, all of them with --json", "count": 0, "first": ""})
    return shown


def _doubt(entry: dict[str, Any]) -> tuple[str, str, str]:
    return f"{entry['switch']} = {entry['default']}", entry["reason"], entry["first"]


def _frames(frames: list[dict[str, Any]], totals: dict[str, int]) -> str:
    names = [name for name in _COUNTS if totals[name]]
    columns = [("frame", False), *((name.replace("_", " "), True) for name in names)]
    rows = [(f"f{frame['index']}", *(f"{frame[name]:,}" for name in names)) for frame in frames[: terminal.MAX_ROWS]]
    hidden = len(frames) - len(rows)
    if hidden:
        rows.append((f"... {hidden} more", *("" for _ in names)))
    footer = ("all", *(f"{totals[name]:,}" for name in names)) if len(frames) > 1 else ()
    return terminal.format_table(columns, rows, footer)


def _size(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{count:,} bytes"
