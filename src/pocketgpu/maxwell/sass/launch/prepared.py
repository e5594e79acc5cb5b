"""Launches that came before: what their sizes and their program mean for the launch record.

The same kernel is often launched again with other arguments. Then its record is copied, and only the grid is set.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, SlotLayout

MOST = 64
"""Launches that are remembered."""
_GRID = LAUNCH.GRID // 4


@dataclass
class Prepared:
    """A launch as it is set up, apart from its grid.

    room: slots that the work area has room for. rounds: how often a block gets its turns. function: gives the handles
    of the code that runs warps. record: the words of the launch record; None if they cannot be used again.
    """

    code: Code
    rules: object
    layout: SlotLayout
    room: int
    rounds: int
    function: Callable[[], tuple[int, int]]
    run: Callable[..., None]
    record: NDArray[np.int32] | None = None


class PreparedLaunches:
    """Launches by what they depend on; the least recently used ones are forgotten."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Prepared] = {}

    def find(
        self, code: Code, rules: object, key: tuple[Any, ...], words: NDArray[np.int32], grid: tuple[int, int, int]
    ) -> Prepared | None:  # fmt: skip
        """A launch of the very same program under the very same rules, after its record was put into `words`.

        key: what it depends on besides.
        """
        name = (id(code), id(rules), *key)
        found = self._known.pop(name, None)
        if found is None or found.record is None:
            return None
        self._known[name] = found
        words[:] = found.record
        words[_GRID : _GRID + 3] = grid
        return found

    def keep(self, key: tuple[Any, ...], prepared: Prepared) -> None:
        """Remember a launch; its program and rules stay as long, so that no others have their identity."""
        self._known[(id(prepared.code), id(prepared.rules), *key)] = prepared
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]


__all__ = ["Prepared", "PreparedLaunches"]
