"""The bytes of host memory at one moment, page by page: zeros take nothing, and what did not change is shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.guests.kernel.memory import PAGE

_BLOCK: Final = 16 * PAGE
"""Zeros are looked for in pieces of this size, which is faster."""
_ZEROS: Final = bytes(PAGE)


class HostPages:
    """The bytes of some views. inside: a range of host addresses that somebody else keeps. before: an earlier one of
    the same memory, with which equal pages are shared."""

    def __init__(
        self, views: Mapping[int, memoryview], inside: range = range(0), before: HostPages | None = None
    ) -> None:
        self._views = dict(_widest(views, inside))
        self._pages: dict[int, dict[int, bytes]] = {
            address: _pages_of(_array(view), before._pages.get(address, {}) if before else {})
            for address, view in self._views.items()
        }

    def __repr__(self) -> str:
        return f"<HostPages: {sum(map(len, self._pages.values()))} of {len(self._views)} pieces>"

    def bytes_beside(self, other: HostPages) -> int:
        """Bytes that are not shared with another."""
        return sum(
            len(page)
            for address, pages in self._pages.items()
            for number, page in pages.items()
            if other._pages.get(address, {}).get(number) is not page
        )

    def restore(self) -> set[int]:
        """Put the bytes back; the host addresses of views that had others."""
        return {
            address for address, view in self._views.items() if _put_back(_array(view), self._pages[address])
        }


def _array(view: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(view, np.uint8)


def _widest(views: Mapping[int, memoryview], inside: range) -> Iterable[tuple[int, memoryview]]:
    """Views that are not part of another one, nor of what is kept elsewhere."""
    end = 0
    for address, view in sorted(views.items(), key=lambda one: (one[0], -len(one[1]))):
        if address + len(view) > end and address not in inside:
            yield address, view
            end = address + len(view)


def _pages_of(raw: NDArray[np.uint8], before: Mapping[int, bytes]) -> dict[int, bytes]:
    found = {}
    for at in range(0, len(raw), _BLOCK):
        block = raw[at : at + _BLOCK]
        if not (block.view(np.uint64) if len(block) % 8 == 0 else block).any():
            continue
        for place in range(at, min(at + _BLOCK, len(raw)), PAGE):
            data = raw[place : place + PAGE].tobytes()
            if data != _ZEROS[: len(data)]:
                known = before.get(place)
                found[place] = known if known == data else data
    return found


def _put_back(raw: NDArray[np.uint8], pages: Mapping[int, bytes]) -> bool:
    changed = False
    for place in range(0, len(raw), PAGE):
        part = raw[place : place + PAGE]
        data = pages.get(place, _ZEROS[: len(part)])
        if part.tobytes() != data:
            part[:] = np.frombuffer(data, np.uint8)
            changed = True
    return changed
