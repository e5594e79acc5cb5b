"""Which unit does what, in order: tracks of events, for people and for Perfetto.

    Path("trace.json").write_text(json.dumps(to_perfetto(run, range(2))))      # open it at ui.perfetto.dev

Recordings hold no times, so the place of an event in the timeline is its number. In the file for Perfetto each event
lasts a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pocketgpu.inspect.model.inspection import Inspection

MOST_SLICES: Final = 1_000_000
"""Most events of a file for Perfetto, so that a browser can open it."""
_PROCESS: Final = 1
_FRAMES, _PASSES = "frames", "passes"


def tracks(run: Inspection, frame: int) -> dict[str, list[int]]:
    """For each unit, in the order of its first event: the numbers of its events in a frame.

    :raises UsageError: there is no such frame.
    """
    found: dict[str, list[int]] = {}
    for event in run.events(frame):
        found.setdefault(run.unit(event), []).append(event.number)
    return found


def to_perfetto(run: Inspection, frames: Iterable[int]) -> dict[str, Any]:
    """Frames in the trace event format, which Perfetto and Chrome's tracing open: a track for frames, one for passes,
    and one for each unit. Slices have addresses, kinds and the memory that the event reads and writes as arguments.

    :raises UsageError: there is no such frame.
    """
    threads: dict[str, int] = {_FRAMES: 0, _PASSES: 1}
    slices: list[dict[str, Any]] = []
    start = 0

    def put(track: str, name: str, category: str, at: int, long: int, **arguments: Any) -> None:
        thread = threads.setdefault(track, len(threads))
        slices.append({
            "name": name, "cat": category, "ph": "X", "ts": at, "dur": long, "pid": _PROCESS, "tid": thread,
            "args": arguments,
        })  # fmt: skip

    for frame in frames:
        events = run.events(frame)
        if len(slices) + len(events) > MOST_SLICES:
            break
        put(_FRAMES, f"frame {frame}", "frame", start, max(len(events), 1), address=f"f{frame}")
        for one in run.passes(frame):
            if one.events:
                first, last = one.events[0].number, one.events[-1].number
                name, at = one.target or "no target", str(one.address)
                put(_PASSES, name, "pass", start + first, last - first + 1, address=at)
        for event in events:
            put(
                run.unit(event), event.title, event.kind, start + event.number, 1, address=str(event.address),
                reads=[str(part) for part in event.reads], writes=[str(part) for part in event.writes],
            )  # fmt: skip
        start += max(len(events), 1)
    names = [
        {"name": "thread_name", "ph": "M", "pid": _PROCESS, "tid": thread, "args": {"name": name}}
        for name, thread in threads.items()
    ]
    order = [
        {"name": "thread_sort_index", "ph": "M", "pid": _PROCESS, "tid": thread, "args": {"sort_index": thread}}
        for thread in threads.values()
    ]
    process = {"name": "process_name", "ph": "M", "pid": _PROCESS, "args": {"name": run.capture.console}}
    return {"traceEvents": [process, *names, *order, *slices], "displayTimeUnit": "ns"}


__all__ = ["to_perfetto", "tracks"]
