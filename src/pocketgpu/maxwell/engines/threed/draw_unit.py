"""Methods of the 3D class that draw: they record draws, and the machine runs them.

Kernels that draw without Python (graphics/draw/quick.py) keep the same state between BEGIN and END, in the words of
`attach`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.common.constants import ConstantBuffers
from pocketgpu.maxwell.engines.common.report import Counters
from pocketgpu.maxwell.engines.common.snapshots import Snapshots
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed import topology, vertices
from pocketgpu.maxwell.engines.threed.drawn import Drawn
from pocketgpu.maxwell.engines.threed.draws import Draw

_INSTANCES, _PRIMITIVE_IDS = B197.values("BEGIN.INSTANCE_ID"), B197.values("BEGIN.PRIMITIVE_ID")
_OVERRIDES = B197.values("SET_PRIMITIVE_TOPOLOGY_CONTROL.OVERRIDE")
_TOPOLOGY, _INSTANCE, _PRIMITIVE, _DRAWN, _BEGUN = range(5)
_NO_TOPOLOGY = 0xFFFFFFFF
_SIZES = B197.values("SET_INDEX_BUFFER_E.INDEX_SIZE")
_INDEX_BYTES = {_SIZES.ONE_BYTE: 1, _SIZES.TWO_BYTES: 2, _SIZES.FOUR_BYTES: 4}


class DrawUnit:
    """Collects the draws of one channel. `effects`: the actions of methods, by name."""

    def __init__(self, host: EngineHost, registers: Registers, constants: ConstantBuffers, counters: Counters) -> None:
        self._host, self._constants, self._counters = host, constants, counters
        self._state = State(B197, registers)
        self._snapshots = Snapshots(registers)
        # Topology between BEGIN and END, instance, number of the next primitive (without those of a draw that are not
        # counted yet), whether there is such a draw, whether there was a BEGIN. Kernels that draw update it, too.
        self._words: Any = np.array([_NO_TOPOLOGY, 0, 0, 0, 0], np.uint32).data
        self._uncounted: Draw | Drawn | None = None
        self._inline: list[int] = []
        self._inline_method = ""
        self._skip, self._left = 0, -1  # of the following inline indices; -1: no end
        self.effects: dict[str, Callable[[int], None]] = {
            "BEGIN": self._begin,
            "END": self._end,
            "LOAD_PRIMITIVE_ID": self._load_primitive,
            "ADD_TO_PRIMITIVE_ID": lambda more: self._load_primitive(self._next_primitive() + more),
            "DRAW_VERTEX_ARRAY": lambda count: self._draw(
                "DRAW_VERTEX_ARRAY", self._state.word("SET_VERTEX_ARRAY_START"), count, 0
            ),
            "DRAW_INDEX_BUFFER": self._draw_indexed,
            "DRAW_AUTO": self._draw_auto,
            "DRAW_ZERO_INDEX": self._draw_zero,
            "DRAW_INLINE_INDEX": lambda word: self._push("DRAW_INLINE_INDEX", [word]),
            "DRAW_INLINE_INDEX2X16": lambda word: self._push_parts("DRAW_INLINE_INDEX2X16", word),
            "DRAW_INLINE_INDEX4X8": lambda word: self._push_parts("DRAW_INLINE_INDEX4X8", word),
            "SET_INLINE_INDEX2X16_ALIGN": lambda word: self._align("SET_INLINE_INDEX2X16_ALIGN", "START_ODD", word),
            "SET_INLINE_INDEX4X8_ALIGN": lambda word: self._align("SET_INLINE_INDEX4X8_ALIGN", "START", word),
        }
        for order in ("FIRST", "SUBSEQUENT"):
            instance = _INSTANCES.number(order)
            self._whole(f"DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_{order}", "START_INDEX", 0, instance)
            for bits in (32, 16, 8):
                self._whole(f"DRAW_INDEX_BUFFER{bits}_BEGIN_END_INSTANCE_{order}", "FIRST", bits // 8, instance)

    def attach(self, words: memoryview) -> None:
        """Keep the state between draws in these words (layout.DRAW_STATE) from now on."""
        words[:] = self._words
        self._words = words

    def save(self) -> object:
        """The state of unfinished draws, except for the words of `attach`."""
        return self._uncounted, tuple(self._inline), self._inline_method, self._skip, self._left

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""
        self._uncounted, inline, self._inline_method, self._skip, self._left = kept
        self._inline = list(inline)

    def drew(self, count: int, unfinished: bool) -> None:
        """Kernels made draws; the last one may have to be finished in Python."""
        host, words = self._host, self._words
        records, wholes = host.take_drawn(count, self._counters)
        drawn = Drawn(count, records, wholes, host.memory, host.choices)
        self._uncounted = drawn
        if words[_BEGUN]:
            self._skip, self._left, words[_BEGUN] = 0, -1, 0
        host.stats.draws += count
        host.log.later(drawn)
        if unfinished:
            host.go_on(self._counters)

    @property
    def _topology(self) -> int | None:
        """The topology of BEGIN; None after END."""
        number: int = self._words[_TOPOLOGY]
        return None if number == _NO_TOPOLOGY else number

    @_topology.setter
    def _topology(self, number: int | None) -> None:
        self._words[_TOPOLOGY] = _NO_TOPOLOGY if number is None else number

    def _whole(self, name: str, first: str, index_bytes: int, instance: int) -> None:
        """A method that is BEGIN, draw and END in one."""
        method = B197[name]

        def run(word: int) -> None:
            self._count_instance(instance)
            self._load_primitive(0)
            self._topology = self._override(method["TOPOLOGY"].raw(word))
            self._draw(name, method[first].raw(word), method["COUNT"].raw(word), index_bytes)
            self._topology = None

        self.effects[name] = run

    def _count_instance(self, how: int) -> None:
        if how == _INSTANCES.FIRST:
            self._words[_INSTANCE] = 0
        elif how == _INSTANCES.SUBSEQUENT:
            self._words[_INSTANCE] = self._words[_INSTANCE] + 1 & 0xFFFFFFFF

    def _load_primitive(self, number: int) -> None:
        """Set the number of the next primitive."""
        self._words[_PRIMITIVE], self._words[_DRAWN] = number & 0xFFFFFFFF, 0

    def _next_primitive(self) -> int:
        """The number of the next primitive. Most draws restart it, so primitives are counted only when it is read."""
        if self._words[_DRAWN]:
            drawn = self._uncounted.last if isinstance(self._uncounted, Drawn) else self._uncounted
            assert drawn is not None
            self._load_primitive(self._words[_PRIMITIVE] + drawn.generated[1])
        return int(self._words[_PRIMITIVE])

    def _override(self, number: int) -> int:
        """The topology in effect: the method's, unless SET_PRIMITIVE_TOPOLOGY_CONTROL selects the separate state."""
        if self._state.field("SET_PRIMITIVE_TOPOLOGY_CONTROL", "OVERRIDE") != _OVERRIDES.USE_SEPARATE_TOPOLOGY_STATE:
            return number
        own = self._state.field("SET_PRIMITIVE_TOPOLOGY")
        found = topology.separate().get(own)
        if found is None:
            self._host.report("fault", "draw.topology", f"SET_PRIMITIVE_TOPOLOGY: there is no topology {own:#x}")
            return number
        return found

    def _begin(self, word: int) -> None:
        method = B197["BEGIN"]
        self._count_instance(method["INSTANCE_ID"].raw(word))
        if method["PRIMITIVE_ID"].raw(word) == _PRIMITIVE_IDS.FIRST:
            self._load_primitive(0)
        self._topology = self._override(method["OP"].raw(word))
        if self._inline:
            self._host.hurry(False)
        self._inline, self._skip, self._left = [], 0, -1

    def _end(self, word: int) -> None:
        if self._inline:
            self._host.hurry(False)
            indices = np.array(self._inline, np.uint32)
            self._inline = []
            self._draw(self._inline_method, 0, len(indices), 0, indices)
        self._topology = None

    def _draw_indexed(self, count: int) -> None:
        size = self._state.field("SET_INDEX_BUFFER_E", "INDEX_SIZE")
        if size not in _INDEX_BYTES:
            self._host.report("fault", "draw.index_size", f"SET_INDEX_BUFFER_E: there is no index size {size}")
            return
        self._draw("DRAW_INDEX_BUFFER", self._state.word("SET_INDEX_BUFFER_F"), count, _INDEX_BYTES[size])

    def _draw_auto(self, total: int) -> None:
        stride = self._state.field("SET_DRAW_AUTO_STRIDE")
        used = total - self._state.word("SET_DRAW_AUTO_START")
        self._draw("DRAW_AUTO", 0, max(used, 0) // stride if stride else 0, 0)

    def _draw_zero(self, count: int) -> None:
        if count > vertices.MAX_VERTICES:
            self._host.report("fault", "draw.count", f"DRAW_ZERO_INDEX of {count} vertices: left out")
            return
        self._draw("DRAW_ZERO_INDEX", 0, count, 0, np.zeros(count, np.uint32))

    def _align(self, name: str, start: str, word: int) -> None:
        method = B197[name]
        self._skip, self._left = method[start].raw(word), method["COUNT"].raw(word)

    def _push_parts(self, name: str, word: int) -> None:
        self._push(name, [field.raw(word) for field in B197[name].fields])

    def _push(self, name: str, indices: list[int]) -> None:
        """Indices from the pushbuffer, without those that an alignment skips."""
        skip = min(self._skip, len(indices))
        self._skip -= skip
        indices = indices[skip:]
        if self._left >= 0:
            indices = indices[: self._left]
            self._left -= len(indices)
        if self._topology is None:
            self._outside(name)
        elif len(self._inline) + len(indices) > vertices.MAX_VERTICES:
            self._host.report("fault", "draw.count", f"{name}: more than {vertices.MAX_VERTICES} indices: left out")
        else:
            self._host.hurry(True)
            self._inline_method = name
            self._inline += indices

    def _outside(self, name: str) -> None:
        self._host.report("fault", "draw.outside", f"{name} outside of BEGIN and END: nothing is drawn")

    def _draw(
        self, name: str, first: int, count: int, index_bytes: int, inline: NDArray[np.uint32] | None = None
    ) -> None:
        host, topology_now = self._host, self._topology
        if topology_now is None:
            self._outside(name)
            return
        if topology_now not in topology.begin_names():
            host.report("fault", "draw.topology", f"BEGIN: there is no topology {topology_now:#x}")
            return
        if not conditions.enabled(host, self._state):
            return
        draw = Draw(
            host.place, name, topology_now, first, count, index_bytes, self._words[_INSTANCE], self._snapshots.take(),
            self._constants.bindings, host.memory, host.choices, inline, self._next_primitive(),
        )  # fmt: skip
        self._uncounted, self._words[_DRAWN] = draw, 1
        host.stats.draws += 1
        host.log.append(draw)
        for one in host.observers:
            one.draw_recorded(draw)
        self._count(draw)
        if count:
            host.draw(draw, self._state, self._counters)

    def _count(self, draw: Draw) -> None:
        """Count what needs no shading."""
        counters = self._counters
        if not self._state.word("SET_STATISTICS_COUNTER"):
            return
        if not any(counters.running(name) for name in ("DA_VERTICES_GENERATED", "DA_PRIMITIVES_GENERATED")):
            return
        count, primitives = draw.generated
        counters.add("DA_VERTICES_GENERATED", count)
        counters.add("DA_PRIMITIVES_GENERATED", primitives)
