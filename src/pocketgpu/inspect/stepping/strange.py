"""What is wrong in a trace besides NaNs and infinities: reads of what nobody wrote, accesses outside of memory."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.stepping.step import Step
from pocketgpu.inspect.stepping.trace import Trace

FAULT = "fault: "
"""How a note about an access outside of memory begins."""
STORES = ("store", "atomic")
"""Kinds of accesses that change memory."""


def unwritten(trace: Trace) -> Iterator[tuple[Step, str]]:
    """Steps that read a register before any step wrote it, or local memory before it was stored to; and what it was.

    Inputs have values from the beginning. Each register is reported once.
    """
    given = {name for group in trace.groups if group.given for name in group.registers}
    known = given | {name for words in trace.overrides.values() for name in words}
    stored: set[int] = set()
    for step in trace.steps:
        names = [name for value in step.reads for name in value.names if name in trace.start and name not in known]
        if names and not step.skipped:
            known.update(names)
            yield step, " and ".join(names)
        for access in step.accesses:
            if access.space != "local":
                continue
            places = range(access.address, access.address + access.size)
            if access.kind == "load" and not stored.issuperset(places):
                stored.update(places)
                yield step, f"{access.size} bytes of local memory at {access.address:#x}"
            elif access.kind != "load":
                stored.update(places)
        known.update(name for change in step.writes for name in change.names)


def outside(trace: Trace, stores: bool) -> Iterator[tuple[Step, str]]:
    """Steps with stores, or with other accesses, outside of memory; and what the machine said about it."""
    for step in trace.steps:
        notes = [note.removeprefix(FAULT) for note in step.notes if note.startswith(FAULT)]
        if notes and any(access.kind in STORES for access in step.accesses) == stores:
            yield step, "; ".join(notes)


__all__ = ["outside", "unwritten"]
