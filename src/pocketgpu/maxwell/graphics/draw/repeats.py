"""Telling a draw that repeats the one before it: other vertices or another instance, and nothing else.

Such a draw finds everything set up. That nothing else changed is known from the registers, from versions of the memory
(all who write it open a new one or are counted), and from the bindings of constants.
"""

from __future__ import annotations

import re

import numpy as np

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.base import EngineHost
from pocketgpu.maxwell.engines.threed.draws import Draw

_FREE = re.compile("SET_VERTEX_ARRAY_START|SET_INDEX_BUFFER_F|BEGIN|END|DRAW_.*|SET_GLOBAL_BASE_.*")
"""Methods whose words may differ: what draws take from them is taken anew each time."""
_MOST = 8  # pairs of words that differ, beyond which nobody looks on
_ALL = (1 << 64) - 1


def _pairs() -> dict[int, int]:
    """Number of each pair of words with free ones in it to the bits that must not change."""
    free = {word for method in B197 if _FREE.fullmatch(method.name) for word in method.words()}
    found: dict[int, int] = {}
    for word in free:
        found[word >> 1] = found.get(word >> 1, _ALL) & ~(0xFFFFFFFF << 32 * (word & 1))
    return found


_KEPT = _pairs()


class Repeats:
    """Compares draws with the last one that was run in full."""

    def __init__(self, host: EngineHost) -> None:
        self._host, self._memory = host, host.memory
        self._last: Draw | None = None
        self._stamp: tuple[int, int, int] = (0, 0, 0)
        self._version = 0

    def _now(self) -> tuple[int, int, int]:
        host = self._host
        return self._memory.map_changes, host.constant_words, host.stats.launches

    def note(self, draw: Draw | None) -> None:
        """A draw has ended, which those after it may repeat; None: they may not."""
        self._last = draw
        if draw is not None:
            self._stamp, self._version = self._now(), self._memory.version

    def is_one(self, draw: Draw) -> bool:
        """Whether a draw repeats the last one. The channel opens one version of the memory after each draw."""
        last = self._last
        if last is None or self._memory.version > self._version + 1 or draw.constants is not last.constants:
            return False
        if draw.topology != last.topology or draw.index_bytes != last.index_bytes:
            return False
        if draw.inline is not None or last.inline is not None:
            return False
        mine, theirs = draw.snapshot, last.snapshot
        if mine.whole is not theirs.whole or self._now() != self._stamp:
            return False
        if len(mine.places) != len(theirs.places) or (mine.places != theirs.places).any():
            return False
        changed = mine.values ^ theirs.values
        places = np.flatnonzero(changed)
        if len(places) > _MOST:
            return False
        pairs, bits = mine.places[places].tolist(), changed[places].tolist()
        return all(_KEPT.get(pair, _ALL) & bit == 0 for pair, bit in zip(pairs, bits, strict=True))
