"""Cheap copies of register files: a snapshot keeps only the words that changed since an earlier copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.base import Registers

_MAX_CHANGES = 256


@dataclass(frozen=True, eq=False)
class RegisterSnapshot:
    """A copy of a register file: a whole copy, and the pairs of words that differ from it."""

    whole: Registers
    places: NDArray[np.int64]
    values: NDArray[np.uint64]

    @property
    def registers(self) -> Registers:
        """The register file as an array of its own."""
        registers = self.whole.copy()
        registers.view(np.uint64)[self.places] = self.values
        return registers


class Snapshots:
    """Takes snapshots of one live register file."""

    def __init__(self, registers: Registers) -> None:
        self._live = registers
        self._pairs = registers.view(np.uint64)  # half as many to compare
        self._whole: Registers | None = None
        self._whole_pairs = self._pairs

    def take(self) -> RegisterSnapshot:
        """A snapshot of the register file."""
        if self._whole is not None:
            places = (self._pairs != self._whole_pairs).nonzero()[0]
            if len(places) <= _MAX_CHANGES:
                return RegisterSnapshot(self._whole, places, self._pairs[places])
        self._whole = self._live.copy()
        self._whole_pairs = self._whole.view(np.uint64)
        return RegisterSnapshot(self._whole, np.empty(0, np.int64), np.empty(0, np.uint64))
