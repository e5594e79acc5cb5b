"""Draws that kernels made without Python (graphics/draw/quick.py), as logged by the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pocketgpu.distinct import distinct
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.base import Registers
from pocketgpu.maxwell.engines.common.constants import Bindings, bindings_of
from pocketgpu.maxwell.engines.common.snapshots import RegisterSnapshot
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.host.layout import FILE_WORDS
from pocketgpu.maxwell.host.log import Later
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.struct_words import Struct

LOGGED = Struct(
    "SUBMISSION", "SEGMENT", "WORD",  # the place
    "WHOLE", "CHANGES",  # the whole register file that it differs from, and the number of words that differ
    "FIRST", "COUNT", "INDEX_BYTES", "TOPOLOGY", "INSTANCE", "PRIMITIVE",
)  # fmt: skip
"""A draw. The words of the register file and of the bindings that differ follow it, as pairs of number and value."""


@dataclass
class Drawn(Later):
    """Draws whose records are made later. words: LOGGED records; wholes: the register files that they refer to, each
    with bindings of constants after it (`layout.BOUND`)."""

    count: int
    words: NDArray[np.uint32]
    wholes: tuple[Registers, ...]
    memory: GpuMemory
    choices: Mapping[str, str]
    _bound: tuple[bytes, Bindings] | None = None

    def records(self) -> list[Draw]:
        """The draws."""
        return self._records

    def _bindings(self, words: NDArray[np.uint32]) -> Bindings:
        """The bindings that words describe; the same object while they are equal."""
        data = words.tobytes()
        if self._bound is None or self._bound[0] != data:
            self._bound = data, bindings_of(words)
        return self._bound[1]

    def alike(self, other: Drawn) -> bool:
        """Whether the last draw of others is the same."""
        return self.last.alike(other.last)

    @property
    def last(self) -> Draw:
        """The last one."""
        return self._records[-1]

    @cached_property
    def _records(self) -> list[Draw]:
        found, at = [], 0
        for _ in range(self.count):
            size = LOGGED.size // 4 + 2 * int(self.words[at + LOGGED.CHANGES // 4])
            found.append(self._record(self.words[at : at + size]))
            at += size
        return found

    def _record(self, words: NDArray[np.uint32]) -> Draw:
        get = lambda name: int(words[LOGGED.offsets[name] // 4])
        whole, changes = self.wholes[get("WHOLE")], words[LOGGED.size // 4 :].reshape(-1, 2)
        numbers = changes[:, 0].astype(np.int64)
        bound = whole[FILE_WORDS:]
        if len(numbers) and numbers[-1] >= FILE_WORDS:
            bound, mine = bound.copy(), numbers >= FILE_WORDS
            bound[numbers[mine] - FILE_WORDS] = changes[mine, 1]
            numbers, changes = numbers[~mine], changes[~mine]
        whole = whole[:FILE_WORDS]
        places = distinct(numbers >> 1)
        pairs = whole.reshape(-1, 2)[places]
        pairs[np.searchsorted(places, numbers >> 1), numbers & 1] = changes[:, 1]
        snapshot = RegisterSnapshot(whole, places, pairs.reshape(-1).view(np.uint64))
        size = get("INDEX_BYTES")
        return Draw(
            f"s{get('SUBMISSION')}/e{get('SEGMENT')}+{get('WORD')}",
            "DRAW_INDEX_BUFFER" if size else "DRAW_VERTEX_ARRAY",
            get("TOPOLOGY"), get("FIRST"), get("COUNT"), size, get("INSTANCE"), snapshot,
            self._bindings(bound), self.memory, self.choices, None, get("PRIMITIVE"),
        )  # fmt: skip


__all__ = ["LOGGED", "Drawn"]
