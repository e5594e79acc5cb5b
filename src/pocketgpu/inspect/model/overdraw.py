"""Overdraw: how many fragments each pixel of a target got, counted from the shapes of draws before any test.

Both consoles draw shapes with a box and up to four edges. A pixel is in a shape if it is in the box and no edge
function is negative there; all pixels of many shapes are tested at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Pass
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

Over = Literal["draw", "pass", "frame"]
OVER: Final[tuple[Over, ...]] = ("draw", "pass", "frame")
"""What is counted: one draw, its pass up to it, or the frame up to it, as far as it goes to the same target."""
MOST_TESTS: Final = 1 << 27
"""Most pixels of boxes that are tested."""
_AT_ONCE: Final = 1 << 19
"""Most pixels that are tested as one array."""
_KEYS: Final = 64
"""More than the logarithm of any size: a key is that of a width times this, and that of a height."""
Ints = NDArray[np.int64]
Edges = tuple[Ints, Ints, Ints]


@dataclass(frozen=True, eq=False, repr=False)
class Overdraw(Displayed):
    """counts: (height, width) uint32, upright as the pictures of the target. address: of the last draw that counts.
    draws: how many count. left: shapes that were left out, because too many pixels would have to be tested."""

    address: Address
    over: Over
    draws: int
    counts: NDArray[np.uint32]
    left: int = 0

    @property
    def fragments(self) -> int:
        """How many there are."""
        return int(self.counts.sum(dtype=np.int64))

    def to_json(self) -> dict[str, Any]:
        """Plain data, without the counts of single pixels."""
        return {
            "address": str(self.address), "over": self.over, "draws": self.draws, "left": self.left,
            "fragments": self.fragments, "pixels": int(np.count_nonzero(self.counts)),
            "most": int(self.counts.max(initial=0)), "width": self.counts.shape[1], "height": self.counts.shape[0],
        }  # fmt: skip

    def __str__(self) -> str:
        touched = int(np.count_nonzero(self.counts))
        return f"{counted(self.fragments, 'fragment')} on {counted(touched, 'pixel')}, {counted(self.draws, 'draw')}"


def draws_of(events: Sequence[Event], passes: Sequence[Pass], place: Address, over: Over) -> list[Event]:
    """The draws that count at a place, in order; the last of them is the draw of the place, or the last one before it.

    :raises UsageError: there is no draw before it.
    """
    if place.pass_ is not None:
        last = passes[place.pass_].events[-1].number if place.pass_ < len(passes) else -1
    elif place.draw is not None:
        last = next((one.number for one in events if one.draw == place.draw), -1)
    else:
        last = len(events) - 1 if place.event is None else place.event
    before = [one for one in events[: last + 1] if one.draw is not None]
    if not before:
        raise UsageError("nothing was drawn before this place", location=str(place), hint="Name a draw: f1/d17.")
    if over == "draw":
        return before[-1:]
    mine = before[-1].pass_
    target = {one.number: one.target for one in passes}
    if over == "pass" or mine is None:
        return [one for one in before if one.pass_ == mine]
    return [one for one in before if one.pass_ is not None and target.get(one.pass_) == target.get(mine)]


class CoverCounts:
    """Counts under construction, for a target of width x height pixels."""

    def __init__(self, width: int, height: int, most: int = MOST_TESTS) -> None:
        self.counts = np.zeros((height, width), np.uint32)
        self.left = 0
        self._room = most

    def add(self, boxes: Ints, edges: Edges, points: Sequence[tuple[int, int]], scale: int) -> None:
        """Count shapes. boxes: (n, 4) left, top, right, bottom, both ends inclusive. edges: a, b, c, each (n, k): a
        point is inside where a * x + b * y + c >= 0. points: of a pixel, in parts of it, of which one must be inside.
        scale: parts of a pixel."""
        height, width = self.counts.shape
        bounds = np.concatenate(
            [np.maximum(boxes[:, :2], 0), np.minimum(boxes[:, 2:], (width - 1, height - 1))], axis=1
        )  # fmt: skip
        areas, fits = _room_for(bounds, self._room)
        self.left += int((~fits).sum())
        self._room -= int(areas[fits].sum())
        for _, x, y, covered in _covered(np.flatnonzero(fits & (areas > 0)), bounds, edges, points, scale):
            places = (y * width + x)[covered]
            self.counts += np.bincount(places, minlength=height * width).astype(np.uint32).reshape(height, width)


def cover_sizes(
    boxes: Ints, edges: Edges, points: Sequence[tuple[int, int]], scale: int, most: int = MOST_TESTS
) -> tuple[Ints, int]:
    """(n,) how many pixels each shape covers, -1 where `most` pixels were tested before; and how many were tested."""
    areas, fits = _room_for(boxes, most)
    found = np.where(fits, 0, -1)
    for some, _, _, covered in _covered(np.flatnonzero(fits & (areas > 0)), boxes, edges, points, scale):
        found[some] += covered.sum(axis=(1, 2))
    return found, int(areas[fits].sum())


def _room_for(boxes: Ints, most: int) -> tuple[Ints, NDArray[np.bool_]]:
    """How many pixels boxes have, and which boxes have at most so many with those before them."""
    areas = np.maximum(boxes[:, 2:] - boxes[:, :2] + 1, 0).prod(axis=1)
    return areas, np.cumsum(areas) <= most


def _covered(
    shapes: Ints, boxes: Ints, edges: Edges, points: Sequence[tuple[int, int]], scale: int
) -> Iterator[tuple[Ints, Ints, Ints, NDArray[np.bool_]]]:  # fmt: skip
    """Some of the shapes at a time: their numbers, columns and rows of pixels, and which of these they cover. Shapes of
    about the same size are tested together, as one array."""
    sizes = boxes[shapes, 2:] - boxes[shapes, :2] + 1
    across, down = (np.ceil(np.log2(sizes[:, axis])).astype(np.int64) for axis in (0, 1))
    keys = across * _KEYS + down
    for key in np.unique(keys).tolist():
        for some, first, rows in _strips(shapes[keys == key], 1 << key // _KEYS, 1 << key % _KEYS):
            left, top, right, bottom = boxes[some].T[:, :, None, None]
            x, y = left + np.arange(1 << key // _KEYS), top + first + np.arange(rows)[:, None]
            covered = np.zeros((len(some), rows, x.shape[2]), bool)
            for dx, dy in points:
                inside = np.ones_like(covered)
                for edge in zip(*(part[some].T for part in edges), strict=True):
                    a, b, c = (part[:, None, None] for part in edge)
                    inside &= a * (x * scale + dx) + b * (y * scale + dy) + c >= 0
                covered |= inside
            covered &= (x <= right) & (y <= bottom)
            yield some, x, y, covered


def _strips(group: Ints, across: int, down: int) -> Iterator[tuple[Ints, int, int]]:
    """Parts of a group that fit into memory: shapes, the first row of their boxes, how many rows."""
    rows = min(down, max(_AT_ONCE // across, 1))
    number = max(_AT_ONCE // (across * rows), 1)
    for start in range(0, len(group), number):
        for first in range(0, down, rows):
            yield group[start : start + number], first, rows


__all__ = ["MOST_TESTS", "OVER", "CoverCounts", "Over", "Overdraw", "cover_sizes", "draws_of"]
