"""Work in steps: who runs it can stop between two of them, and go on or give up later.

    steps = gathering(capture)
    for _ in steps: ...                          # until there is a time to look at something else
    stream = finished(gathering(capture))        # or all at once
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
InSteps: TypeAlias = Generator[None, None, T]
"""A generator that yields between steps, and returns what it makes."""


def finished(steps: InSteps[T]) -> T:
    """Do all steps; returns what they make."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


__all__ = ["InSteps", "finished"]
