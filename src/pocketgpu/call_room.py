"""Room for the frames of deep calls.

CPython keeps the frames of Python functions in chunks of 16 KiB. Where a loop calls a function just at the end of a
chunk, the next chunk is mapped and unmapped with every call, which can take two thirds of the loop's time. A frame that
is too large for such a chunk gets a larger one, and the frames above it share that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

_T = TypeVar("_T")

_SLOTS: Final = 70_000
"""Of 8 bytes each. A chunk is twice as large as the next smaller one, so nearly half of this one is left: 490 KB. Only
what frames use of it becomes memory."""


def with_room(function: Callable[[], _T]) -> _T:
    """Call a function, with room for its frames and those that it calls in this thread."""
    return function()


with_room.__code__ = with_room.__code__.replace(co_stacksize=_SLOTS)

__all__ = ["with_room"]
