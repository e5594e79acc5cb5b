"""Kernels that were made ahead of time: how many there are for this processor, and making them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import field
from time import monotonic
from typing import Any

from pocketgpu.errors import UsageError
from pocketgpu.lanes import archive, making, object_cache
from pocketgpu.lanes.target import LEVELS, host
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted


@dataclass(frozen=True, slots=True)
class ShippedState:
    """target: what the code is for; "" where none can be made ahead. places: by GPU, "package", "cache" or "".

    made, listed: numbers of kernels, of both GPUs together. missing: names of the others, by GPU.
    """

    target: str
    places: dict[str, str]
    made: int
    listed: int
    missing: dict[str, list[str]]
    seconds: float | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "target": self.target,
            "places": self.places,
            "made": self.made,
            "listed": self.listed,
            "missing": self.missing,
            **({} if self.seconds is None else {"seconds": round(self.seconds, 1)}),
        }

    @property
    def text(self) -> str:
        """One line."""
        if not self.target:
            return f"none: code is made ahead of time for Linux on {', '.join(LEVELS)} only"
        where = " and the ".join(sorted({f"{place}" for place in self.places.values() if place}))
        source = f", from the {where}" if where else ""
        took = "" if self.seconds is None else f"; made in {self.seconds:.0f} s"
        return f"{self.made} of {counted(self.listed, 'kernel')} for {self.target}{source}{took}"


def state(seconds: float | None = None) -> ShippedState:
    """What is at hand in this process."""
    lists = {room: making.listed(room) for room in making.ROOMS}
    listed = sum(map(len, lists.values()))
    if not host().level:
        missing = {room: [kernel.name for kernel, _ in kernels] for room, kernels in lists.items()}
        return ShippedState("", dict.fromkeys(lists, ""), 0, listed, missing, seconds)
    missing = {room: making.missing(room) for room in lists}
    made = listed - sum(map(len, missing.values()))
    return ShippedState(host().name, {room: archive.place(room) for room in lists}, made, listed, missing, seconds)


def make(workers: int | None, seconds: float | None, say: Callable[[str], None]) -> ShippedState:
    """Compile what is missing and keep it in the cache; where nothing is made ahead of time, do nothing.

    :param say: is told how far it is.
    :raises UsageError: the cache is off or not used.
    """
    if not host().level:
        return state()
    if object_cache.folder() is None:
        raise UsageError("there is no cache to keep code in", hint="Set POCKETGPU_CACHE to a folder of your own.")
    begun, left = monotonic(), float("inf") if seconds is None else seconds
    for number, (room, console) in enumerate(making.ROOMS.items()):
        if not making.missing(room):
            continue
        share = left / (len(making.ROOMS) - number)

        def report(done: int, total: int, console: str = console) -> None:
            so_far = f"{done} of {total} kernels, {monotonic() - begun:.0f} s"
            say(f"compiling code for pictures of the {console}, once: {so_far}")

        since = monotonic()
        have = archive.images(room)
        found = making.images(room, host(), workers or os.cpu_count() or 1, report, share, have)
        left -= monotonic() - since
        archive.keep(room, archive.encode(room, have | found))
    archive.forget()
    return state(monotonic() - begun)
