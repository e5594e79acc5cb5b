"""EMIT and SETEMIT: a log for each vertex, and the two banks of output registers.

Only geometry programs should emit, but any program can; both tiers of the shader unit write the same log. A log holds
LOG_ENTRIES emitted vertices: 64 output components and the SETEMIT state of each. Later ones are only counted, so that
an endless program cannot fill the memory.

Source: 3dbrew GPU/Shader Instruction Set, EMIT and SETEMIT.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from pocketgpu.facts.shader_isa import EMIT_STATE, emit_state
from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.pica.core.layout import CHUNK

LOG_ENTRIES = 16
ENTRY_ROWS = 65  # the last one is the state
LOG_BYTES = 4 * CHUNK * ENTRY_ROWS * LOG_ENTRIES  # of one chunk of vertices

Rows = Iterable[tuple[int | Value, Callable[[], Value]]]
"""(number, function that reads it) of output components (register * 4 + component)."""


class EmitState(ABC):
    """The SETEMIT state of each lane. `state`: its fields, at the bits of EMITTED."""

    def __init__(self, k: Lang) -> None:
        self.k = k
        self.state = k.var(k.splat(0))

    def set(self, word: Value | int, mask: Value | None) -> None:
        """Run a SETEMIT instruction word."""
        k = self.k
        new = k.splat(emit_state(word) if isinstance(word, int) else word.bits(*EMIT_STATE))
        self.state.value = new if mask is None else k.select(mask, new, self.state.value)

    @abstractmethod
    def emit(self, rows: Rows, mask: Value | None) -> None:
        """Run EMIT in the lanes of the mask (None: all)."""


class EmissionLog(EmitState):
    """The log of some lanes."""

    def __init__(self, k: Lang, log: Value, first: Value) -> None:
        """log: arena offset of the chunk's log; first: the lanes' first vertex in the chunk."""
        super().__init__(k)
        self.log = log
        self.lane = (k.iota() + first) << 2
        self.count = k.var(k.splat(0))

    def emit(self, rows: Rows, mask: Value | None) -> None:
        """Append a vertex."""
        k = self.k
        everyone = k.iota() >= 0
        mask = everyone if mask is None else mask
        count = self.count.value
        room = mask & (count < LOG_ENTRIES)
        base = k.select(room, count, 0) * (4 * CHUNK * ENTRY_ROWS) + self.lane
        for row, read in rows:
            k.scatter(F32, k.to_i64(base + row * (4 * CHUNK)) + self.log, read(), room)
        k.scatter(I32, k.to_i64(base + 64 * 4 * CHUNK) + self.log, self.state.value, room)
        self.count.value = count + k.select(mask, 1, 0)
