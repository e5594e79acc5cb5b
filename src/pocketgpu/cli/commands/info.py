"""`pocketgpu info`: what is in a capture, which features it uses and which doubtful behaviour it depends on."""

from __future__ import annotations

import click

from pocketgpu.cli.parts import info_3ds, info_switch, terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture

REPORTS = {"3DS": info_3ds.report, "Switch": info_switch.report}
"""What makes a text of the JSON, by the name of the console."""


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
    from pocketgpu.inspect.inspection import examine

    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    progress = terminal.Progress()
    try:
        progress.show("reading")
        found = examine(opened, lambda index: progress.show(f"frame {index + 1} of {opened.frame_count}"))
    finally:
        terminal.clear_progress()
    outcome.add_events(found.events)
    outcome.frames += [frame.to_dict() for frame in found.frames]
    about = {"path": capture, "kind": opened.trace.kind, "frames": opened.frame_count}
    outcome.extra["capture"] = about if found.source is None else about | {"source": found.source}
    outcome.extra |= found.to_dict()
    outcome.show = lambda: terminal.say(REPORTS[opened.console](outcome))
