"""`pocketgpu who`: the event that wrote an address last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import (
    ADDRESS_SPACE,
    capture_argument,
    debug_option,
    json_option,
    parse_number,
    parsed,
    set_option,
)
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.model.inspection import Inspection


def _after(run: Inspection, event: Event | None) -> str | None:
    """The event after another one, as it may read what it writes; None at the end of the frame's events."""
    if event is None or event.number + 1 >= len(run.events(event.frame)):
        return None if event is None else str(event.by_number)
    return f"f{event.frame}/e{event.number + 1}"


@click.command()
@capture_argument
@click.argument("place", metavar="ADDRESS", callback=parsed(parse_number))
@click.option("--size", type=click.IntRange(1, 1 << 30), default=1, show_default=True, metavar="N", help="Bytes.")
@click.option("--before", metavar="EVENT", help="Look only at what comes before this event: f1/d3.")
@click.option("--reads", is_flag=True, help="Also list the events that read it after that, before the next write.")
@set_option
@json_option
@debug_option
@click.pass_obj
def who(
    outcome: Outcome, capture: str, place: int, size: int, before: str | None, reads: bool, choices: dict[str, str]
) -> None:  # fmt: skip
    """Show which event wrote an address last.

    With --reads it also shows which events read it.

    It can be a draw, a fill, a transfer, or a write of the processor. ADDRESS is physical on a 3DS, and a GPU address
    on a Switch. A draw counts only if it changed any of the bytes, as it could write to all of its render target.
    """
    from pocketgpu.inspect.inspection import debug
    from pocketgpu.inspect.model.touching import named

    opened = open_capture(capture, before)
    outcome.add_events(opened.warnings)
    run = debug(opened, choices)
    if place + size > ADDRESS_SPACE:
        raise UsageError("the range reaches past the 40-bit address space", location=f"{place:#x}")
    found, possible = run.who_changed(place, size, before), run.who_wrote(place, size, before)

    following = run.next_write(place, size, found.by_number if found else None) if reads else None
    readers = run.who_reads(place, size, found.by_number if found else None, _after(run, following)) if reads else []
    outcome.extra["who"] = {
        "place": f"{place:#010x}", "size": size, "before": before, "changed": named(found), "possible": named(possible),
        **({"next": named(following), "reads": [named(one) for one in readers]} if reads else {}),
    }  # fmt: skip
    what = f"{place:#010x}" if size == 1 else f"{place:#010x}+{size:#x}"
    when = f" before {before}" if before else ""

    def show() -> None:
        lines = [f"{what}{when}: {found}" if found else f"{what}{when}: nothing in the capture wrote there"]
        if possible is not None and found is not possible:
            lines.append(f"  could have written there later, but changed nothing: {possible}")
        if reads:
            lines.append(f"  next written by {following}" if following else "  not written again")
            lines += [f"  read by {one}" for one in readers] or ["  read by no event until then"]
        terminal.say("\n".join(lines))

    outcome.show = show
