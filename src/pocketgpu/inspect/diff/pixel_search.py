"""The first event after which pixels differ, found by bisection over aligned events; and comparison of screens."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from pocketgpu.errors import GuestMemoryError
from pocketgpu.inspect.diff.alignment import Pair
from pocketgpu.inspect.diff.report import Difference, PictureDifference
from pocketgpu.inspect.diff.sides import Sides
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.pictures.comparing import as_pixels, compare
from pocketgpu.late_dataclass import dataclass

DRAWN = ("draw", "fill", "clear", "transfer", "copy", "upload", "launch")
"""Kinds of events that write pixels."""
MOST_SUSPECTS = 4


@dataclass(frozen=True)
class _Both:
    """A pair of aligned events."""

    a: Event
    b: Event


class PixelSearch:
    """Finds the first differing pixel of a frame."""

    def __init__(
        self, sides: Sides, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
    ) -> None:  # fmt: skip
        self.sides, self.a, self.b = sides, sides.a, sides.b
        both = [_Both(mine[i], others[j]) for i, j in pairs if i is not None and j is not None]
        self.pairs = [one for one in both if one.a.kind in DRAWN and one.b.kind == one.a.kind]
        self.places = list(dict.fromkeys(place for one in self.pairs for place in _both_write(one)))
        self.probes = 0

    # -- where memory begins to differ --------------------------------------------------------------------------------
    def first(self, frame: int, suspects: Collection[Address] = ()) -> Difference | None:
        """The first differing pixel of the first event after which drawn memory differs; None if nothing differs at the
        end of the frame, nor after one of the first suspects (a later fill may hide their differences).

        The number of seeks is about the logarithm of the number of events.
        """
        numbers = [n for n, one in enumerate(self.pairs) if one.a.address in suspects][:MOST_SUSPECTS]
        last = len(self.pairs) - 1
        high = next((n for n in dict.fromkeys([*numbers, last]) if n >= 0 and self._differs(n)), None)
        if high is None:
            return None
        # After `high` memory differs, after `low` it does not: an event between them causes the difference.
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            if self._differs(middle):
                high = middle
            else:
                low = middle
        if high == 0 and frame and self._memory_differs(Address(frame - 1), Address(frame - 1)):
            address = Address(frame)
            return Difference("pixel", address, address, "what was drawn differs before the frame begins", {})
        return self._pixel(self.pairs[high])

    def _differs(self, number: int) -> bool:
        self.probes += 1
        one = self.pairs[number]
        return self._memory_differs(one.a.by_number, one.b.by_number)

    def _memory_differs(self, a: Address, b: Address) -> bool:
        mine, others = self.a.seek(a), self.b.seek(b)
        return any(_read(mine, x) != _read(others, y) for x, y in self.places)

    # -- which pixel --------------------------------------------------------------------------------------------------
    def _pixel(self, one: _Both) -> Difference:
        found = self.sides.pixel(one.a, one.b)
        return found or self._bytes(one, self.a.seek(one.a.by_number), self.b.seek(one.b.by_number))

    def _bytes(self, one: _Both, mine: Moment, others: Moment) -> Difference:
        """The first byte that differs, for events without pixels."""
        for x, y in [*zip(one.a.writes, one.b.writes, strict=False), *self.places]:
            first, second = (np.frombuffer(_read(side, place), np.uint8) for side, place in ((mine, x), (others, y)))
            wrong = np.flatnonzero(first != second) if len(first) == len(second) else np.zeros(0, np.int64)
            if len(wrong):
                place = int(wrong[0])
                text = f"byte {x.address + place:#010x} {first[place]:#04x} -> {second[place]:#04x}"
                detail = {"memory": f"{x.address + place:#010x}", "bytes": len(wrong)}
                return Difference("pixel", one.a.address, one.b.address, f"{text} after {one.a.title}", detail)
        return Difference("pixel", one.a.address, one.b.address, "what it wrote differs", {})


def _both_write(one: _Both) -> Iterator[tuple[Range, Range]]:
    """Memory that both events write: ranges of equal size, or at the same address as far as both reach."""
    for x, y in zip(one.a.writes, one.b.writes, strict=False):
        size = min(x.size, y.size)
        if size and (x.size == y.size or x.address == y.address):
            yield Range(x.address, size), Range(y.address, size)


def _read(moment: Moment, place: Range) -> bytes:
    try:
        return moment.read(place.address, place.size)
    except GuestMemoryError:
        return b""


def pictures_of(a: Inspection, b: Inspection, frame: int) -> list[PictureDifference]:
    """Screens that differ at the end of a frame."""
    address = Address(frame)
    sides = [dict(run.seek(address).screens) for run in (a, b)]
    found = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        place = address.at(screen=name)
        pictures = tuple(None if (one := side.get(name)) is None else as_pixels(one) for side in sides)
        first, second = pictures
        if first is None or second is None:
            text = f"{name}: only {'A' if second is None else 'B'} shows a picture"
            found.append(PictureDifference("picture", place, place, text, {}, name, (first, second)))
            continue
        result = compare(second, first)
        if result.same:
            continue
        text = f"{name}: {result}" if result.size == result.golden_size else f"{name}: pictures of different size"
        box = None if result.box is None else list(result.box)
        detail = {"pixels": result.pixels, "differing": result.differing, "largest": result.largest, "box": box}
        found.append(PictureDifference("picture", place, place, text, detail, name, (first, second)))
    return found
