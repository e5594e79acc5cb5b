"""The calls of a trace: in which routines each step is."""

from __future__ import annotations

from pocketgpu.errors import CaptureError
from pocketgpu.inspect.stepping.trace import Trace

MOST_DEPTH = 256
"""Calls within calls that are kept; a program that never returns makes more."""

Calls = tuple[int, ...]
"""Steps that called the routines in which a step is, the outermost first."""


def calls_of(trace: Trace) -> list[Calls]:
    """The calls of each step, and of the end. A routine ends where control reaches what follows its call.

    A program whose control flow cannot be followed has no calls.
    """
    listing = trace.listing
    targets: dict[int, set[int]] = {}
    try:
        blocks = listing.blocks() if listing is not None else []
    except CaptureError:
        blocks = []
    for block in blocks:
        entries = {blocks[edge.to].first for edge in block.edges if edge.kind == "call"}
        if entries:
            targets[block.last] = entries
    found: list[Calls] = []
    stack: Calls = ()
    for step, then in zip(trace.steps, [*trace.steps[1:], None], strict=True):
        found.append(stack)
        if then is None:
            break
        called = targets.get(step.number)
        if called is not None and then.number in called and len(stack) < MOST_DEPTH:
            stack = (*stack, step.index)
            continue
        for depth in range(len(stack) - 1, -1, -1):
            if trace.steps[stack[depth]].number + 1 == then.number:
                stack = stack[:depth]
                break
    return [*found, ()]


__all__ = ["Calls", "calls_of"]
