"""Constant buffers of the 3D engine: the buffer that is bound to each slot of a shader group.

A bind takes the selector's address and size at that moment; later changes of the selector don't change bindings. The
compiled parser stores words for the buffer itself (LOAD_CONSTANT_BUFFER).
Source: class header for fields; drivers rely on binds taking a copy, and simulators agree.
"""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.common.state import State

GROUPS = ("vertex", "tessellation control", "tessellation evaluation", "geometry", "pixel")
"""Bind groups by number. SET_PIPELINE_BINDING selects the one that a stage uses."""
SLOTS = 32  # the range of the field; drivers use 18
_MOST_NUMBERED = 4096
_NUMBERS = count(1)  # never repeated, so a number identifies bindings across machines


class Binding(NamedTuple):
    """A buffer as bound: GPU address and bytes."""

    address: int
    size: int


Bindings = tuple[tuple[Binding | None, ...], ...]
"""By group and slot."""


class ConstantBuffers:
    """The bindings of one channel."""

    def __init__(self, host: EngineHost, registers: Registers) -> None:
        self._host = host
        self._state = State(B197, registers)
        self._slots: list[list[Binding | None]] = [[None] * SLOTS for _ in GROUPS]
        self._shown: list[tuple[Binding | None, ...]] = [tuple(slots) for slots in self._slots]
        self._all: Bindings | None = None
        self._numbers: memoryview | None = None
        self._known: dict[tuple[Binding | None, ...], int] = {}

    def attach(self, numbers: memoryview) -> None:
        """Keep a number for the bindings of each group in these words: 0 until something is bound, then a new one for
        each change."""
        self._numbers = numbers

    def _changed(self, *groups: int) -> None:
        self._all = None
        for group in groups:
            bound = self._shown[group] = tuple(self._slots[group])
            if self._numbers is None:
                continue
            number = self._known.get(bound)
            if number is None:
                if len(self._known) >= _MOST_NUMBERED:
                    self._known.clear()
                number = self._known[bound] = next(_NUMBERS) & 0x7FFFFFFF
            self._numbers[group] = number

    def bind(self, group: int, value: int) -> None:
        """BIND_GROUP_CONSTANT_BUFFER of a group was written."""
        method = B197["BIND_GROUP_CONSTANT_BUFFER"]
        slot = method["SHADER_SLOT"].raw(value)
        new = None
        if method["VALID"].raw(value):
            size = self._state.field("SET_CONSTANT_BUFFER_SELECTOR_A", "SIZE")
            new = Binding(self._state.address("SET_CONSTANT_BUFFER_SELECTOR_B"), size)
        if self._slots[group][slot] != new:
            self._slots[group][slot] = new
            self._changed(group)
        self._host.stats.constbuf_binds += 1

    def unbind_all(self, value: int) -> None:
        """UNBIND_ALL was written."""
        if B197["UNBIND_ALL"]["CONSTANT_BUFFERS"].raw(value):
            self._slots = [[None] * SLOTS for _ in GROUPS]
            self._changed(*range(len(GROUPS)))

    def set(self, group: int, slot: int, binding: Binding | None) -> None:
        """Set a binding directly, for a recording that begins in the middle."""
        self._slots[group][slot] = binding
        self._changed(group)

    def save(self) -> object:
        """The bindings; their numbers are in the words of `attach`."""
        return self.bindings

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""
        self._slots = [list(bound) for bound in kept]
        self._shown = [tuple(bound) for bound in kept]
        self._all = kept

    @property
    def bindings(self) -> Bindings:
        """All bindings as they are now; the same object until something changes."""
        if self._all is None:
            self._all = tuple(self._shown)
        return self._all
