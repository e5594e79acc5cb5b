"""What the page sees of a moment of a program that runs, as a message: only the rows that changed, and while it runs no
larger than the page shows them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass

Pictures: TypeAlias = dict[str, NDArray[np.uint8]]
"""Red, green, blue by screen."""
_LENGTH: Final = 4
"""Bytes of a length in a message."""
_STEPS: Final = (1, 2, 4)
"""Pixels of a screen, in each direction, that may become one."""


class Follower(Protocol):
    """Who shows a run. ready: whether it can take another moment; it may be set on another thread."""

    ready: bool

    def told(self) -> None:
        """There is something new."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A moment. number: grows with each. head: for JSON. screens: red, green, blue by screen. runs: whether the next
    moment comes soon."""

    number: int
    head: Mapping[str, Any]
    screens: Pictures
    runs: bool

    @property
    def pixels(self) -> bytes:
        """Red, green, blue of all screens, one screen after the other."""
        return b"".join(one.tobytes() for one in self.screens.values())

    def sent(self, step: int) -> Pictures:
        """The pictures as a page gets them that shows `step` pixels as one: smaller while the program runs."""
        if not self.runs or step == 1:
            return self.screens
        return {name: smaller(one, step) for name, one in self.screens.items()}

    def message(self, sent: Pictures, known: Pictures) -> bytes:
        """As a stream has it: two lengths in four bytes each, lowest first, the head as JSON, the pixels. sent: what
        `sent` has returned. known: that of the message before; rows that are the same are left out."""
        screens, parts = [], []
        for name, one in sent.items():
            first, end = changed_rows(one, known.get(name))
            height, width = one.shape[:2]
            screens.append({"name": name, "width": width, "height": height, "first": first, "rows": end - first})
            parts.append(one[first:end].tobytes())
        head = json.dumps({**self.head, "screens": screens}, separators=(",", ":")).encode()
        pixels = b"".join(parts)
        lengths = (len(part).to_bytes(_LENGTH, "little") for part in (head, pixels))
        return b"".join((*lengths, head, pixels))


def changed_rows(now: NDArray[np.uint8], before: NDArray[np.uint8] | None) -> tuple[int, int]:
    """The first row that differs, and the one after the last; all if the sizes differ, (0, 0) if nothing does."""
    if before is None or before.shape != now.shape:
        return 0, len(now)
    if now is before:
        return 0, 0
    rows = [np.ascontiguousarray(one).reshape(len(one), -1) for one in (now, before)]
    words = [one.view(np.uint64) if one.shape[1] % 8 == 0 else one for one in rows]
    differ = np.flatnonzero((words[0] != words[1]).any(axis=1))
    return (int(differ[0]), int(differ[-1]) + 1) if len(differ) else (0, 0)


def smaller(picture: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """A picture with the mean of `step` by `step` pixels, rounded down at each halving, for each of them."""
    while step > 1:
        height, width = (size & ~1 for size in picture.shape[:2])
        if not height or not width:
            break
        picture = _mean(picture[:height:2], picture[1:height:2])
        picture = _mean(picture[:, :width:2], picture[:, 1:width:2])
        step //= 2
    return picture


def _mean(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = (one & other) + ((one ^ other) >> 1)
    return found


def step_of(asked: int) -> int:
    """The step that is nearest to the one asked for, and not above it."""
    return max(one for one in _STEPS if one <= max(1, asked))


__all__ = ["Follower", "Pictures", "Shown", "changed_rows", "smaller", "step_of"]
