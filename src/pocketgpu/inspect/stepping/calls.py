"""The calls of a trace: in which routines each step is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pocketgpu.errors import CaptureError
from pocketgpu.inspect.stepping.listing import ProgramListing
from pocketgpu.inspect.stepping.trace import Trace

MOST_DEPTH = 256
"""Calls within calls that are kept; a program that never returns makes more."""

Calls = tuple[int, ...]
"""Steps that called the routines in which a step is, the outermost first."""


def calls_of(trace: Trace) -> list[Calls]:
    """The calls of each step, and of the end. A routine ends where control reaches what follows its call.

    A program whose control flow cannot be followed has no calls.
    """
    return calls_among(trace.listing, [step.number for step in trace.steps])


def calls_among(listing: ProgramListing | None, numbers: Sequence[int]) -> list[Calls]:
    """The same for the instructions that a lane ran, by number."""
    targets: dict[int, set[int]] = {}
    try:
        blocks = listing.blocks() if listing is not None else []
    except CaptureError:
        blocks = []
    for block in blocks:
        entries = {blocks[edge.to].first for edge in block.edges if edge.kind == "call"}
        if entries:
            targets[block.last] = entries
    if not targets:
        return [()] * (len(numbers) + 1)
    found: list[Calls] = []
    stack: Calls = ()
    for step, (number, then) in enumerate(pairwise([*numbers, -1])):
        found.append(stack)
        if step + 1 == len(numbers):
            break
        called = targets.get(number)
        if called is not None and then in called and len(stack) < MOST_DEPTH:
            stack = (*stack, step)
            continue
        for depth in range(len(stack) - 1, -1, -1):
            if numbers[stack[depth]] + 1 == then:
                stack = stack[:depth]
                break
    return [*found, ()]


__all__ = ["Calls", "calls_among", "calls_of"]
