"""`pocketgpu who`: the event that wrote an address last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import capture_argument, debug_option, json_option, parse_number, parsed, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event


@click.command()
@capture_argument
@click.argument("place", metavar="ADDRESS", callback=parsed(parse_number))
@click.option("--size", type=click.IntRange(1, 1 << 30), default=1, show_default=True, metavar="N", help="Bytes.")
@click.option("--before", metavar="EVENT", help="Look only at what comes before this event: f1/d3.")
@set_option
@json_option
@debug_option
@click.pass_obj
def who(outcome: Outcome, capture: str, place: int, size: int, before: str | None, choices: dict[str, str]) -> None:
    """Show which event wrote an address last.

    It can be a draw, a fill, a transfer, or a write of the processor. ADDRESS is physical on a 3DS, and a GPU address
    on a Switch. A draw counts only if it changed any of the bytes, as it could write to all of its render target.
    """
    from pocketgpu.inspect.inspection import debug

    opened = open_capture(capture, before)
    outcome.add_events(opened.warnings)
    run = debug(opened, choices)
    if place + size > 1 << 40:
        raise UsageError("the range reaches past the 40-bit address space", location=f"{place:#x}")
    found, possible = run.who_changed(place, size, before), run.who_wrote(place, size, before)

    def plain(event: Event | None) -> dict[str, object] | None:
        if event is None:
            return None
        return {"address": str(event.address), "event": str(event.by_number), "kind": event.kind, "title": event.title}

    outcome.extra["who"] = {
        "place": f"{place:#010x}", "size": size, "before": before, "changed": plain(found), "possible": plain(possible),
    }  # fmt: skip
    what = f"{place:#010x}" if size == 1 else f"{place:#010x}+{size:#x}"
    when = f" before {before}" if before else ""

    def show() -> None:
        lines = [f"{what}{when}: {found}" if found else f"{what}{when}: nothing in the capture wrote there"]
        if possible is not None and found is not possible:
            lines.append(f"  could have written there later, but changed nothing: {possible}")
        terminal.say("\n".join(lines))

    outcome.show = show
