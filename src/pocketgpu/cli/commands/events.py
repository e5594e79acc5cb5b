"""`pocketgpu events`: the run of a capture as a tree of frames, passes and events, with their addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.model.inspection import Inspection

_MOST_FRAMES = 4


@click.command()
@click.argument("capture", type=click.Path(), metavar="CAPTURE")
@click.argument("address", required=False, metavar="[ADDRESS]", shell_complete=complete.addresses)
@click.option("--draws", is_flag=True, help="Only draws.")
@click.option("--graph", is_flag=True, help="Of a frame: its passes and copies, and which use what others wrote.")
@click.option("--perfetto", metavar="FILE", help="Also write the events, a track for each unit, for ui.perfetto.dev.")
@set_option
@json_option
@debug_option
@click.pass_obj
def events(
    outcome: Outcome, capture: str, address: str | None, draws: bool, graph: bool, perfetto: str | None,
    choices: dict[str, str],
) -> None:  # fmt: skip
    """List what happens in a capture, event by event: frames, passes, draws, fills, copies.

    ADDRESS is a frame (f3), a pass of it (f3/p1) or one event (f3/d17, f3/e412), which is then shown in full, with its
    words of the command stream. Without one: all frames, or the first ones of a long capture. What comes after the
    last frame has the next number: f60 after 60 frames.

    Recordings hold no times: in the file of --perfetto each event lasts a microsecond.
    """
    from pocketgpu.inspect.index.events import listing
    from pocketgpu.inspect.model.address import Address

    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    run = listing(opened, choices)
    only = None
    if address is None:
        count = run.frame_count + run.has_rest
        frames = range(count if outcome.json else min(count, _MOST_FRAMES))
    else:
        wanted = Address.parse(address)
        if graph or perfetto is not None:
            wanted = Address(wanted.frame)
        if wanted.names_event:
            _one(outcome, run, run.event(wanted))
            run.keep()
            return
        if wanted != wanted.place:
            raise UsageError(
                "this address names no frame, pass or event", location=address,
                hint=f"'pocketgpu why' explains pixels; the events of the frame are those of f{wanted.frame}.",
            )  # fmt: skip
        frames = range(wanted.frame, wanted.frame + 1)
        only = None if wanted.pass_ is None else run.pass_of(wanted).number
    if perfetto is not None:
        _write(outcome, run, frames, perfetto)
    if graph:
        _graphs(outcome, run, frames)
        run.keep()
        return
    outcome.extra["events"] = [
        event.to_json() for frame in frames for event in run.events(frame)
        if (not draws or event.draw is not None) and only in (None, event.pass_)
    ]  # fmt: skip
    run.keep()
    outcome.show = lambda: terminal.say("\n".join(_tree(run, frames, only, draws, address is None)))


def _write(outcome: Outcome, run: Inspection, frames: range, path: str) -> None:
    import json
    from pathlib import Path

    from pocketgpu.cli.parts.replay import write_file
    from pocketgpu.inspect.frames.timeline import to_perfetto

    write_file(Path(path), json.dumps(to_perfetto(run, frames)).encode(), "--perfetto")
    outcome.extra["perfetto"] = path


def _graphs(outcome: Outcome, run: Inspection, frames: range) -> None:
    from pocketgpu.inspect.frames.frame_graph import frame_graph

    found = [frame_graph(run, frame) for frame in frames]
    outcome.extra["graphs"] = [one.to_json() for one in found]
    outcome.show = lambda: terminal.say("\n".join(map(str, found)))


def _tree(run: Inspection, frames: range, only: int | None, draws: bool, whole: bool) -> Iterator[str]:
    for frame in frames:
        found = run.events(frame)
        draws_here = counted(sum(e.draw is not None for e in found), "draw")
        title = f"frame {frame}" if frame < run.frame_count else "after the last frame"
        yield f"{title}: {draws_here}, {counted(len(found), 'event')}  f{frame}"
        for row in run.passes(frame):
            if only not in (None, row.number):
                continue
            yield f"  pass {row.number}: {row}"
            yield from (f"    {event}" for event in row.events if not draws or event.draw is not None)
    if whole and not run.frame_count:
        rest = "all that happens is f0" if run.has_rest else "nothing happens"
        yield f"no picture is shown, so there is no frame; {rest}"
    if whole and len(frames) < run.frame_count:
        yield f"frames {len(frames)} to {run.frame_count - 1} are not shown; give one as ADDRESS"
    if whole and run.has_rest and run.frame_count not in frames:
        yield f"what comes after the last frame is f{run.frame_count}"


def _one(outcome: Outcome, run: Inspection, event: Event) -> None:
    words, uniforms = event.words, run.uniforms(event)
    outcome.extra["event"] = event.to_json(words=True)
    if uniforms:
        outcome.extra["event"]["uniforms"] = [one.to_json() for one in uniforms]

    def show() -> None:
        lines = [str(event)]
        lines += [f"  {name}: {value}" for name, value in event.facts.items() if not isinstance(value, dict)]
        lines += [f"  writes {one}" for one in event.writes] + [f"  reads {one}" for one in event.reads]
        if words is not None:
            where = ", ".join(map(str, words.spans)) or "not in guest memory"
            lines.append(f"  {counted(len(words.values), 'word')}: {where}")
            rows = [words.values[at : at + 8].tolist() for at in range(0, len(words.values), 8)]
            lines += ["    " + " ".join(f"{word:08x}" for word in row) for row in rows[: terminal.MAX_ROWS]]
            if len(rows) > terminal.MAX_ROWS:
                lines.append(f"    and {8 * (len(rows) - terminal.MAX_ROWS)} more; --json has all")
        lines += [f"  uniform {one}" for one in uniforms[: terminal.MAX_ROWS]]
        if len(uniforms) > terminal.MAX_ROWS:
            lines.append(f"    and {counted(len(uniforms) - terminal.MAX_ROWS, 'uniform')} more; --json has all")
        if event.draw is not None:  # which has two addresses
            lines.append(f"  {event.address} = {event.by_number}")
        terminal.say("\n".join(lines))

    outcome.show = show
