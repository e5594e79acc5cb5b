"""Looking at the geometry program of a draw while it runs, primitive by primitive.

Primitives are counted in the order in which the unit runs them, which is that of the draw's vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.shader_isa import EMITTED
from pocketgpu.lanes import I32, I64, Engine
from pocketgpu.pica.core.layout import CHUNK, PACKET_REGISTERS, UNIFORMS_SIZE, VERTEX_SIZE
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.primitives.geometry import MOST_EMITTED, RECORD_NEXT, RECORD_STATE
from pocketgpu.pica.shader.shader_choices import geometry_choices


class _CallbackRelay:
    """The callback of an engine's geometry stages. One for each engine, as callbacks are never removed."""

    def __init__(self, engine: Engine) -> None:
        self.target: Callable[..., None] | None = None
        self.handle = engine.callback(self._call, I64, I64, I64, I32, I64)

    def _call(self, *arguments: int) -> None:
        if self.target is not None:
            self.target(*arguments)


_relays: WeakKeyDictionary[Engine, _CallbackRelay] = WeakKeyDictionary()


class GeometryRuns:
    """Sits between the geometry stage and the unit while a draw runs. own: whether each primitive has its own uniforms,
    as in all modes but POINT."""

    def __init__(self, machine: N3DS, own: bool) -> None:
        self._own = own
        self._programs = machine.runner.geometry_programs
        self._work = machine.work
        self._engine = machine.runner.engine
        self._run = self._programs.interpreter(own)
        self.count = 0
        """How many primitives there were so far."""
        self._done = 0
        """Primitives of batches that are complete."""

    def __enter__(self) -> Self:
        relay = _relays.get(self._engine)
        if relay is None:
            relay = _relays[self._engine] = _CallbackRelay(self._engine)
        self._relay, handle = relay, relay.handle
        relay.target = self._primitives
        self._programs.stand_in = handle
        return self

    def __exit__(self, *_: object) -> None:
        self._relay.target = None
        self._programs.stand_in = None

    def _primitives(self, inputs: int, uniforms: int, packet: int, count: int, emit: int) -> None:
        """Called instead of the program, for several primitives; the first ones of a batch may come twice."""
        first = (inputs - self._work.layout.geometry_in) // 4
        if first == 0:
            self._done = self.count
        number = self._done + first
        self.begins(number, count, first, uniforms, packet)
        self._run(inputs, uniforms, packet, count, emit)
        again = int(self._work.geometry("TOP")[0]) > MOST_EMITTED and count > 1
        if not again:
            self.count = number + count
            self.ended(number, count)

    def begins(self, number: int, count: int, first: int, uniforms: int, packet: int) -> None:
        """Primitives from `number` on are about to run. first: the lane of the first of them. uniforms, packet: arena
        offsets."""

    def ended(self, number: int, count: int) -> None:
        """Primitives from `number` on have run, and what they emitted is in the work area."""


class InputsOfPrimitive(GeometryRuns):
    """Keeps the inputs of one primitive: `found` has its input registers, float uniforms and booleans."""

    def __init__(self, machine: N3DS, own: bool, wanted: int) -> None:
        super().__init__(machine, own)
        self._wanted = wanted
        self.found: tuple[NDArray[Any], NDArray[Any], int] | None = None

    def begins(self, number: int, count: int, first: int, uniforms: int, packet: int) -> None:
        arena, layout = self._work.arena, self._work.layout
        at = self._wanted - number
        if not 0 <= at < count:
            return
        rows = arena[layout.geometry_in :][: 4 * 64 * CHUNK].view(np.float32).reshape(16, 4, CHUNK)
        start = uniforms + at * UNIFORMS_SIZE * self._own
        shown = packet + PACKET_REGISTERS + 4 * field("VSH_BOOLUNIFORM.bools").register.offset
        bools = int(arena[shown : shown + 4].view(np.uint32)[0]) & 0xFFFF
        floats = arena[start : start + UNIFORMS_SIZE].view(np.float32)
        self.found = rows[:, :, first + at].copy()[None], floats.copy(), bools


class TriangleOwners(GeometryRuns):
    """Finds out which primitive emitted each triangle: `owners` has their numbers, triangle by triangle."""

    def __init__(self, machine: N3DS, own: bool) -> None:
        super().__init__(machine, own)
        self._buffers = int(geometry_choices(machine.choices)["buffers"])
        self._parts: list[NDArray[np.int64]] = []

    @property
    def owners(self) -> NDArray[np.int64]:
        """The primitive of each triangle, in the order in which they are assembled."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0, np.int64)

    def ended(self, number: int, count: int) -> None:
        layout = self._work.layout
        records = self._work.words(layout.vertices, MOST_EMITTED * VERTEX_SIZE // 4).reshape(MOST_EMITTED, -1)
        states, following = records[:, RECORD_STATE // 4], records[:, RECORD_NEXT // 4]
        low, width = EMITTED.fields["vertex"]
        makes = (states & EMITTED.mask("primitive") != 0) & (states >> low & (1 << width) - 1 < self._buffers)
        link = self._work.words(layout.geometry_lists, count).astype(np.int64)
        made = np.zeros(count, np.int64)
        for _ in range(MOST_EMITTED):  # all chains at once, a vertex further each time
            there = link >= 0
            if not there.any():
                break
            made[there] += makes[link[there]]
            link[there] = following[link[there]]
        self._parts.append(np.repeat(np.arange(number, number + count), made))


__all__ = ["GeometryRuns", "InputsOfPrimitive", "TriangleOwners"]
