"""Constant buffers of the 3D engine: the buffer that is bound to each slot of a shader group.

A bind takes the selector's address and size at that moment; later changes of the selector don't change bindings. The
compiled parser binds by itself, and stores words for the buffer (LOAD_CONSTANT_BUFFER): bindings are words of the
channel that it shares with Python (`layout.BOUND`).
Source: class header for fields; drivers rely on binds taking a copy, and simulators agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.host.layout import BOUND, BOUND_WORDS, CONSTANT_SLOTS

GROUPS = ("vertex", "tessellation control", "tessellation evaluation", "geometry", "pixel")
"""Bind groups by number. SET_PIPELINE_BINDING selects the one that a stage uses."""
SLOTS = CONSTANT_SLOTS


class Binding(NamedTuple):
    """A buffer as bound: GPU address and bytes."""

    address: int
    size: int


Bindings = tuple[tuple[Binding | None, ...], ...]
"""By group and slot."""


def bindings_of(words: NDArray[np.uint32]) -> Bindings:
    """The bindings that BOUND records describe, in the order of groups and slots."""
    rows = words.reshape(-1, BOUND.size // 4)
    found: list[list[Binding | None]] = [[None] * SLOTS for _ in GROUPS]
    for number in np.flatnonzero(rows[:, 0]).tolist():
        _, low, high, size = rows[number].tolist()
        found[number // SLOTS][number % SLOTS] = Binding(low | high << 32, size)
    return tuple(map(tuple, found))


class ConstantBuffers:
    """The bindings of one channel."""

    def __init__(self, host: EngineHost, registers: Registers) -> None:
        self._host = host
        self._state = State(B197, registers)
        self._words = np.zeros(BOUND_WORDS, np.uint32)
        self._shown, self._all = b"", bindings_of(self._words)

    def attach(self, words: NDArray[np.uint32]) -> None:
        """Keep the bindings in these words from now on."""
        words[:] = self._words
        self._words = words

    def bind(self, group: int, value: int) -> None:
        """BIND_GROUP_CONSTANT_BUFFER of a group was written, by other means than the compiled parser."""
        method = B197["BIND_GROUP_CONSTANT_BUFFER"]
        new = None
        if method["VALID"].raw(value):
            size = self._state.field("SET_CONSTANT_BUFFER_SELECTOR_A", "SIZE")
            new = Binding(self._state.address("SET_CONSTANT_BUFFER_SELECTOR_B"), size)
        self.set(group, method["SHADER_SLOT"].raw(value), new)
        self._host.stats.constbuf_binds += 1

    def unbind_all(self, value: int) -> None:
        """UNBIND_ALL was written."""
        if B197["UNBIND_ALL"]["CONSTANT_BUFFERS"].raw(value):
            self._words[:] = 0

    def set(self, group: int, slot: int, binding: Binding | None) -> None:
        """Set a binding directly, for a recording that begins in the middle."""
        words = [0] * (BOUND.size // 4)
        if binding is not None:
            words = [1, binding.address & 0xFFFFFFFF, binding.address >> 32, binding.size]
        self._words.reshape(-1, BOUND.size // 4)[group * SLOTS + slot] = words

    @property
    def bindings(self) -> Bindings:
        """All bindings as they are now; the same object until something changes."""
        now = self._words.tobytes()
        if now != self._shown:
            self._shown, self._all = now, bindings_of(self._words)
        return self._all

    def save(self) -> object:
        """The bindings; the channel saves the words of `attach`."""
        return self.bindings

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""
        for group, bound in enumerate(kept):
            for slot, binding in enumerate(bound):
                self.set(group, slot, binding)
        self._shown, self._all = self._words.tobytes(), kept
