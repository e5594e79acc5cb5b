"""The first event after which pixels differ, found by bisection over aligned events; and comparison of screens."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import GuestMemoryError
from pocketgpu.inspect.diff.alignment import Pair
from pocketgpu.inspect.diff.report import Difference, PictureDifference
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.pictures.comparing import as_pixels, compare
from pocketgpu.inspect.switch.inspection import SwitchInspection

DRAWN = ("draw", "fill", "clear", "transfer", "copy", "upload", "launch")
"""Kinds of events that write pixels."""
MOST_SUSPECTS = 4


@dataclass(frozen=True)
class _Both:
    """A pair of aligned events."""

    a: Event
    b: Event


class Pixels:
    """Finds the first differing pixel of a frame."""

    def __init__(
        self, a: Inspection, b: Inspection, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
    ) -> None:
        self.a, self.b = a, b
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
        if isinstance(self.a, SwitchInspection) and isinstance(self.b, SwitchInspection):
            return _samples(one, self.a, self.b) or self._bytes(
                one, self.a.seek(one.a.by_number), self.b.seek(one.b.by_number)
            )
        mine, others = self.a.seek(one.a.by_number), self.b.seek(one.b.by_number)
        if one.a.draw is None:
            return self._bytes(one, mine, others)
        a, b = mine.target, others.target
        rows = [getattr(target, "rows", None) for target in (a, b)]
        if a is not None and b is not None and rows[0] is not None and rows[1] is not None:
            found = _texels(one, a, b, rows[0], rows[1]) or _depths(one, a, b)
            if found is not None:
                return found
        elif a is not None and b is not None:
            wrong_pair = _arrays_differ(a, b)
            if wrong_pair is not None:
                return Difference("pixel", one.a.address, one.b.address, *wrong_pair)
        return self._bytes(one, mine, others)

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


def _samples(one: _Both, a: SwitchInspection, b: SwitchInspection) -> Difference | None:
    """The first differing pixel of the surfaces that events of a Switch write, target by target."""
    sides = []
    for run, event in ((a, one.a), (b, one.b)):
        moment = run.seek(event.by_number)
        surfaces = run.recorder.traces[run.tick_of(event.by_number) - 1].surfaces
        sides.append([moment.picture(surface) for surface, _ in surfaces])
    for n, (first, second) in enumerate(zip(*sides, strict=False)):
        surface, size = first.surface, first.surface.format.bytes
        if first.rows.shape != second.rows.shape or surface.format != second.surface.format:
            return Difference("pixel", one.a.address, one.b.address, f"another surface: {surface} -> {second.surface}")
        texels = [picture.rows.reshape(surface.height, -1, size) for picture in (first, second)]
        wrong = (texels[0] != texels[1]).any(axis=2)
        if not wrong.any():
            continue
        column, row = _first(wrong)
        x, y = column // surface.grid[0], row // surface.grid[1]
        values = [surface.value(side[row, column].tobytes()) for side in texels]
        shown = [_value(value, first.is_depth) for value in values]
        text = f"{shown[0]} -> {shown[1]}"
        # Addresses of pixels are those of an event's first surface.
        places = [event.address if n else event.address.at(pixel=(x, y)) for event in (one.a, one.b)]
        text += f" at {x},{y} of {surface.name}" if n else ""
        detail = {"a_value": shown[0], "b_value": shown[1], "pixels": int(wrong.sum()), "x": x, "y": y}
        return Difference("pixel", places[0], places[1], text, {**detail, "surface": surface.name})
    return None


def _value(value: tuple[Any, ...], depth: bool) -> str:
    """A sample for people."""
    if depth:
        parts = zip(("depth", "stencil"), value, strict=True)
        return ", ".join(f"{name} {number:.9g}" for name, number in parts if number is not None)
    return "(" + ", ".join(f"{number:.6g}" for number in value) + ")"


def _read(moment: Moment, place: Range) -> bytes:
    try:
        return moment.read(place.address, place.size)
    except GuestMemoryError:
        return b""


def _texels(one: _Both, a: Any, b: Any, mine: NDArray[np.uint8], others: NDArray[np.uint8]) -> Difference | None:
    """The first differing pixel of two targets, in order of rows of memory."""
    if mine.shape != others.shape or not (wrong := (mine != others).any(axis=-1)).any():
        return None
    column, row = _first(wrong)
    values = ["#" + bytes(side[row, column].tolist()).hex() for side in (mine, others)]
    first, second = (
        event.address.at(pixel=(column, target.row(row))) for event, target in ((one.a, a), (one.b, b))
    )  # fmt: skip
    detail = {"a_value": values[0], "b_value": values[1], "pixels": int(wrong.sum())}
    return Difference("pixel", first, second, f"{values[0]} -> {values[1]}", detail)


def _depths(one: _Both, a: Any, b: Any) -> Difference | None:
    """The first differing pixel of two depth buffers."""
    mine, others = a.depth, b.depth
    if mine is None or others is None or mine.shape != others.shape or not (wrong := mine != others).any():
        return None
    column, row = _first(wrong)
    values = [{name: int(side[row, column][name]) for name in ("depth", "stencil")} for side in (mine, others)]
    text = f"depth {values[0]['depth']:#x} -> {values[1]['depth']:#x}"
    if values[0]["stencil"] != values[1]["stencil"]:
        text += f", stencil {values[0]['stencil']} -> {values[1]['stencil']}"
    text += f" at column {column}, row {row} of the buffer"
    detail = {"a_value": values[0], "b_value": values[1], "pixels": int(wrong.sum()), "column": column, "row": row}
    return Difference("pixel", one.a.address, one.b.address, text, detail)


def _first(wrong: NDArray[np.bool_]) -> tuple[int, int]:
    """Column and row of the first True, row by row."""
    row, column = divmod(int(np.flatnonzero(wrong.ravel())[0]), wrong.shape[1])
    return column, row


def _arrays_differ(a: Any, b: Any) -> tuple[str, dict[str, Any]] | None:
    first, second = as_pixels(a), as_pixels(b)
    if first.shape != second.shape:
        return f"the target has another size: {a} -> {b}", {}
    wrong = (first != second).any(axis=-1)
    if not wrong.any():
        return None
    x, y = _first(wrong)
    values = ["#" + bytes(side[y, x].tolist()).hex() for side in (first, second)]
    detail = {"a_value": values[0], "b_value": values[1], "pixels": int(wrong.sum()), "x": x, "y": y}
    return f"({x}, {y}) of the target {values[0]} -> {values[1]}", detail


# -- screens ----------------------------------------------------------------------------------------------------------
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
