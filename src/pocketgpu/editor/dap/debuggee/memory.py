"""Memory as a lane sees it at any time. A run that keeps memory is made when somebody looks.

A memory reference names a space and an address: "global:0x100000040", "shared:0x10", "local#4:0x8" of thread 4. One
without a space is global.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, Protocol

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.company import Range
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.trace_memory import SPACES, Piece, Touched, TraceMemory
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE

MOST_READ: Final = 1 << 20
"""Bytes of one answer."""
_WINDOW: Final = 1 << 16
"""Global memory that nothing names is kept in pieces of so many bytes."""
_MOST_WINDOWS: Final = 64
_PAGE: Final = 1 << 12
_REFERENCE = re.compile(r"(?:([a-z]{1,10})(?:#(\d{1,6}))?:)?(0x[0-9a-fA-F]{1,16}|\d{1,20})")


class Place(NamedTuple):
    """A place in memory. thread: whose local memory; 0 for what does not matter or is not said."""

    space: str
    address: int
    thread: int = 0


def reference_of(space: str, address: int, lane: int | None = None) -> str:
    """The memory reference of a place. lane: the number of the lane that sees it."""
    own = f"#{lane + 1}" if space == "local" and lane is not None else ""
    return f"{space}{own}:{address:#x}"


def place_of(text: str, where: str = "memoryReference") -> Place:
    """The place of a memory reference.

    :raises UsageError: it is none.
    """
    match = _REFERENCE.fullmatch(text.strip()) if len(text) < 40 else None
    space = (match[1] or SPACES[0]) if match is not None else ""
    if match is None or space not in SPACES:
        hint = f"Such as global:0x100000000; there are {', '.join(SPACES)}."
        raise UsageError("this is no place in memory", location=where, hint=hint)
    return Place(space, int(match[3], 0), int(match[2] or 0))


class _Traced(Protocol):
    """The lane whose memory this is."""

    name: str
    overrides: dict[int, Mapping[str, int]]

    @property
    def make(self) -> Any: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def time(self) -> _Working: ...


class _Working(Protocol):
    def working(self, title: str, /) -> AbstractContextManager[None]: ...
    def others(self, lane: Any, /) -> Mapping[int, Forced]: ...


class LaneMemory:
    """The memory of one trace of a lane."""

    def __init__(self, lane: _Traced) -> None:
        self._lane = lane
        self._kept: TraceMemory | None = None
        self._windows: list[Range] = []

    def _run(self) -> TraceMemory:
        """Run the lane once more, and keep memory."""
        lane = self._lane
        with lane.time.working(f"reading the memory of {lane.name}"):
            trace: Trace = lane.make(lane.overrides, lane.time.others(lane), [*self._windows, *touched(lane.trace)])
        if trace.memory is None:
            raise UsageError(f"{lane.name} has no memory that can be shown")
        self._kept = trace.memory
        return trace.memory

    @property
    def pieces(self) -> Sequence[Piece]:
        """What is kept: arrays of a kernel, memory that the lane accesses, shared and local memory, constants.

        :raises PocketGPUError: the run cannot be made again.
        """
        return (self._kept or self._run()).pieces

    @property
    def touched(self) -> Sequence[Touched]:
        """Accesses of all lanes of the warp, in order."""
        return (self._kept or self._run()).touched

    def name(self, space: str, address: int) -> str:
        """The name of a word, for expressions."""
        return (self._kept or self._run()).name(space, address)

    def read(self, space: str, address: int, size: int, tick: int) -> tuple[bytes, int]:
        """Bytes at a time, up to the first that cannot be read, and how many after those cannot be read.

        :raises UsageError: these are too many bytes.
        :raises PocketGPUError: the run cannot be made again.
        """
        if size > MOST_READ:
            raise UsageError(f"{size} bytes; {MOST_READ} are the most at once", location="count")
        kept = self._kept or self._run()
        if not kept.has(space, address, size) and address + size <= ADDRESS_SPACE:
            start = address & -_WINDOW
            self._windows = [(start, -(-(address + size - start) // _WINDOW) * _WINDOW), *self._windows][:_MOST_WINDOWS]
            kept = self._run()
        return kept.read(space, address, size, tick)


def touched(trace: Trace) -> list[Range]:
    """The pages of global memory that a lane accesses, those that follow each other together."""
    pages = sorted({
        page for step in trace.steps for one in step.accesses if one.space == "global"
        for page in (one.address & -_PAGE, one.address + one.size - 1 & -_PAGE)
    })  # fmt: skip
    found: list[Range] = []
    for page in pages:
        if found and sum(found[-1]) == page:
            found[-1] = found[-1][0], found[-1][1] + _PAGE
        else:
            found.append((page, _PAGE))
    return found[:_MOST_WINDOWS]


__all__ = ["MOST_READ", "LaneMemory", "Place", "place_of", "reference_of", "touched"]
