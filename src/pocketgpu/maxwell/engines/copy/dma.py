"""The copy engine, class B0B5: pitch and block-linear surfaces in every combination, remapping, fills, semaphores.

Writing LAUNCH_DMA runs one transfer; everything else is plain state. Two common values of it, bit by bit:

* 0x186 is NON_PIPELINED (2), FLUSH_ENABLE, both layouts PITCH, one line: a linear copy of LINE_LENGTH_IN bytes. The
  pitches and LINE_COUNT have no effect, because MULTI_LINE_ENABLE is 0.
* 0x586 is the same with REMAP_ENABLE: elements instead of bytes. With SET_REMAP_COMPONENTS 0x34444 (every component
  CONST_A, four bytes, one component on each side) that fills LINE_LENGTH_IN words with SET_REMAP_CONST_A.

Lengths, widths and x origins are in bytes without remapping, in elements with it. A pitch side has no origin and no
size; a block-linear side has both, and blocks as given. A source component that the element does not have reads as 0.
Source: class header clb0b5.h; simulators agree on units, origins and the truncation of constants. The result of
overlapping copies is not known: rows are copied in ascending order.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B0B5
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common import conditions, semaphores
from pocketgpu.maxwell.engines.common.action_log import Copy
from pocketgpu.maxwell.engines.common.base import Engine, EngineHost, Registers
from pocketgpu.maxwell.engines.common.fills import PERIOD, Fill
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import Scratch, report_missed, spend
from pocketgpu.maxwell.engines.copy import remap
from pocketgpu.maxwell.memory import places
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, copy_rect

_LAUNCH = B0B5["LAUNCH_DMA"]
_TRANSFERS, _SEMAPHORES = _LAUNCH["DATA_TRANSFER_TYPE"].values, _LAUNCH["SEMAPHORE_TYPE"].values
_SIGNS, _INTERRUPTS = _LAUNCH["SEMAPHORE_REDUCTION_SIGN"].values, _LAUNCH["INTERRUPT_TYPE"].values
_LAYOUTS, _TYPES = _LAUNCH["SRC_MEMORY_LAYOUT"].values, _LAUNCH["SRC_TYPE"].values
_COMPONENTS = B0B5.values("SET_REMAP_COMPONENTS.DST_X")
_SOURCES = [_COMPONENTS.number(f"SRC_{name}") for name in "XYZW"]
_GOBS = B0B5.values("SET_SRC_BLOCK_SIZE.GOB_HEIGHT")
MAX_BYTES = 1 << 28
"""The most bytes that one transfer may move; larger ones are a fault. Drivers stay below 2^22 bytes a line."""
_LINE_COST = 16  # a line costs at least as much as so many bytes
_MAX_FILL_LINE = 1 << 22  # bytes; a longer line is filled in pieces, as a remapping copy
_ROW = 4096  # bytes of a row of a linear fill
_MAX_PLANS = 1024


@dataclass(frozen=True)
class TransferPlan:
    """The transfer that the registers describe. fault: why there is none. columns: elements of a line."""

    kind: str
    source: remap.Side
    target: remap.Side
    layers: tuple[int, int]
    columns: int
    rows: int
    remap: remap.Remap
    fault: str = ""

    @cached_property
    def sides(self) -> tuple[SurfaceSide, SurfaceSide]:
        """The two sides of a plain copy."""
        source, target = (
            SurfaceSide(side.plane.va, side.x, side.y, layer, side.plane.pitch, side.plane.layout)
            for side, layer in zip((self.source, self.target), self.layers, strict=True)
        )
        return source, target


class DmaCopy(Engine):
    """The copy engine of one channel."""

    class_id: ClassVar[int] = B0B5.class_id

    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        conditions.power_on(B0B5, registers)
        self._state = State(B0B5, registers)
        self._plans: dict[bytes, TransferPlan] = {}
        self.plan: TransferPlan | None = None
        """The plan of the last transfer."""
        first, last = B0B5["OFFSET_IN_UPPER"].word, B0B5["SET_SRC_ORIGIN"].word
        self._words = slice(first, last + 1)
        self.effects[_LAUNCH.word] = self._launch

    def _launch(self, value: int) -> None:
        bit = lambda name: _LAUNCH[name].raw(value)
        if bit("DATA_TRANSFER_TYPE") != _TRANSFERS.NONE and conditions.enabled(self.host, self._state):
            self._transfer(value)
        at, payload = self._state.address("SET_SEMAPHORE_A"), self._state.word("SET_SEMAPHORE_PAYLOAD")
        if bit("SEMAPHORE_TYPE") != _SEMAPHORES.NONE:
            if bit("SEMAPHORE_REDUCTION_ENABLE"):
                op = semaphores.reduction_name(_LAUNCH["SEMAPHORE_REDUCTION"], value)
                signed = bit("SEMAPHORE_REDUCTION_SIGN") == _SIGNS.SIGNED
                semaphores.reduction(self.host, at, op, payload, signed, "copy semaphore")
            else:
                four = bit("SEMAPHORE_TYPE") == _SEMAPHORES.RELEASE_FOUR_WORD_SEMAPHORE
                semaphores.release(self.host, at, payload, four, "copy semaphore")
        if bit("INTERRUPT_TYPE") != _INTERRUPTS.NONE:
            self.host.interrupt("copy")

    def _transfer(self, value: int) -> None:
        host = self.host
        key = value.to_bytes(4, "little") + self.registers[self._words].tobytes()
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._plan(value)
        self.plan = plan
        if plan.fault:
            host.report("fault", "dma.transfer", plan.fault)
            return
        if not plan.columns or not plan.rows:
            return
        host.stats.copies += 1
        layouts = _layout(plan.source), _layout(plan.target)
        addresses = plan.source.plane.va, plan.target.plane.va
        host.log.append(
            Copy(host.place, plan.kind, *addresses, *layouts, plan.columns, plan.rows, plan.target.element, plan.layers)
        )
        if plan.kind == "copy":
            self._copy(plan)
        elif plan.kind == "fill":
            self._fill(plan)
        else:
            remap.run(host, plan.source, plan.target, plan.remap, plan.columns, plan.rows)
        spend(host, plan.columns * plan.rows * plan.target.element)
        if host.observers:
            self._notify_observers(plan)

    def _notify_observers(self, plan: TransferPlan) -> None:
        """Notify observers of a finished transfer."""
        most = max(places.CHUNK // max(plan.source.element, plan.target.element), 1)
        for first in range(0, plan.columns, most):  # a buffer may be one line of any length
            columns = min(plan.columns - first, most)
            source, target = (
                places.Places.of_side(replace(side, x=side.x + first * side.element), columns, plan.rows)
                for side in (plan.source, plan.target)
            )
            for one in self.host.observers:
                if plan.kind == "copy":
                    one.copied(self, target, source)
                elif plan.kind == "fill":
                    one.filled(target)
                else:
                    one.converted(self, target, source, None)

    def _copy(self, plan: TransferPlan) -> None:
        host = self.host
        source, target = plan.sides
        width = plan.columns * plan.target.element
        low, high = target.reach(width, plan.rows)
        if all(offset is None for offset, _ in host.memory.spans(low, high - low)):
            report_missed(host, "copy", low, high - low, high - low)
            return
        try:
            missed = copy_rect(host.memory, host.engine, source, target, width, plan.rows)
        except UsageError as error:
            host.report("fault", "engine.range", f"copy: {error}")
            return
        if missed:
            text = f"copy from {source.address:#x} to {target.address:#x}: {missed:#x} bytes of it are not mapped"
            host.report("fault", "memory.unmapped", text)

    def _fill(self, plan: TransferPlan) -> None:
        """Every component is a constant or left alone, and elements divide the period of a pattern."""
        size, pattern, bits = plan.remap.size, 0, 0
        for to, _, constant in plan.remap.components:
            pattern |= constant << 8 * size * to
            bits |= ((1 << 8 * size) - 1) << 8 * size * to
        side = plan.target
        element = side.element
        both = [np.frombuffer(v.to_bytes(element, "little") * (PERIOD // element), np.uint8) for v in (pattern, bits)]
        plane, x, width = side.plane, side.x, plan.columns * element
        if plane.layout is None:
            # Begin at a multiple of the period, with the pattern rotated to match.
            phase = plane.va % PERIOD
            plane, x = replace(plane, va=plane.va - phase), phase
            both = [np.roll(b, phase) for b in both]
        parts = [(plane, x, x + width, side.y, side.y + plan.rows)]
        if plane.layout is None and plan.rows == 1 and x + width > _ROW:
            plane, end = replace(plane, pitch=_ROW), x + width
            last, rest = divmod(end, _ROW)
            parts = [(plane, x, _ROW, 0, 1), (plane, 0, _ROW, 1, last), (plane, 0, rest, last, last + 1)]
        for where, x_from, x_to, y_from, y_to in parts:
            if x_from < x_to and y_from < y_to:
                self._fill_part(Fill(where, x_from, x_to, y_from, y_to, both[0].tobytes(), both[1].tobytes()))

    def _fill_part(self, fill: Fill) -> None:
        scratch = Scratch(self.host)
        masks = scratch.put(fill.masks)
        window = scratch.open(fill.plane.va + fill.low, fill.high - fill.low, "fill")
        if masks is None or window is None:
            return
        fill.run(self.host.engine, window.offset, masks)
        scratch.close(window)

    # The transfer that the registers describe

    def _plan(self, value: int) -> TransferPlan:
        state, bit = self._state, lambda name: _LAUNCH[name].raw(value)
        remapped, many = bool(bit("REMAP_ENABLE")), bool(bit("MULTI_LINE_ENABLE"))
        columns, rows = state.word("LINE_LENGTH_IN"), state.word("LINE_COUNT") if many else 1
        part = lambda name: state.field("SET_REMAP_COMPONENTS", name)
        size = part("COMPONENT_SIZE") + 1 if remapped else 1
        counts = [part(f"NUM_{side}_COMPONENTS") + 1 if remapped else 1 for side in ("SRC", "DST")]
        components = self._components(size, counts) if remapped else ((0, 0, 0),)
        fault, sides = "", []
        for name, count in zip(("SRC", "DST"), counts, strict=True):
            try:
                pitch = bit(f"{name}_MEMORY_LAYOUT") == _LAYOUTS.PITCH
                sides.append(self._side(name, count * size, pitch, many))
            except UsageError as error:
                fault = f"LAUNCH_DMA, {name}: {error}"
                sides.append(remap.Side(Plane.linear(0, 0), 0, 0, count * size))
        layers = tuple(0 if side.plane.layout is None else side.plane.z for side in sides)
        identity = counts[0] == counts[1] and [c[:2] for c in components] == [(i, i) for i in range(counts[1])]
        kind = "copy" if not remapped or identity else "remap"
        if kind == "remap" and all(of is None for _, of, _ in components):
            # Patterns repeat after 16 bytes; lines of a pitch target must not shift them.
            fits = PERIOD % (counts[1] * size) == 0
            shifts = sides[1].plane.layout is None and rows > 1 and sides[1].plane.pitch % PERIOD
            long = (sides[1].plane.layout is not None or rows > 1) and columns * counts[1] * size > _MAX_FILL_LINE
            kind = "fill" if fits and not shifts and not long else "remap"
        if _TYPES.PHYSICAL in (bit("SRC_TYPE"), bit("DST_TYPE")):
            fault = "LAUNCH_DMA with physical addresses, which channels of this machine do not have"
        elif max(columns * size * max(counts), _LINE_COST) * rows > MAX_BYTES:
            fault = f"LAUNCH_DMA of {rows} lines of {columns} elements: more than a transfer may move"
        elif not components:
            columns = 0  # nothing is written
        return TransferPlan(
            kind, sides[0], sides[1], (layers[0], layers[1]), columns, rows, remap.Remap(size, components), fault
        )

    def _components(self, size: int, counts: list[int]) -> tuple[tuple[int, int | None, int], ...]:
        """For each component that is written: its number, the source component (None: a constant), the constant."""
        found: list[tuple[int, int | None, int]] = []
        mask = (1 << 8 * size) - 1
        constants = {_COMPONENTS.CONST_A: "SET_REMAP_CONST_A", _COMPONENTS.CONST_B: "SET_REMAP_CONST_B"}
        for to, name in zip(range(counts[1]), "XYZW", strict=False):
            of = self._state.field("SET_REMAP_COMPONENTS", f"DST_{name}")
            if of in constants:
                found.append((to, None, self._state.word(constants[of]) & mask))
            elif of in _SOURCES[: counts[0]]:
                found.append((to, _SOURCES.index(of), 0))
            elif of in _SOURCES:
                found.append((to, None, 0))
        return tuple(found)

    def _side(self, name: str, element: int, pitch: bool, many: bool) -> remap.Side:
        state = self._state
        way = "IN" if name == "SRC" else "OUT"
        va = state.address(f"OFFSET_{way}_UPPER")
        if pitch:
            return remap.Side(Plane.linear(va, state.signed(f"PITCH_{way}") if many else 0), 0, 0, element)
        block = lambda part: state.field(f"SET_{name}_BLOCK_SIZE", part)
        layer = state.word(f"SET_{name}_LAYER") if self.host.choices["dma.layer"] == "slice" else 0
        if block("GOB_HEIGHT") == _GOBS.GOB_HEIGHT_TESLA_4:
            self.host.report("warning", "dma.gob", f"SET_{name}_BLOCK_SIZE: GOBs of 4 lines are read as of 8")
        plane = Plane.blocks(
            va & -512, state.word(f"SET_{name}_WIDTH") * element, state.word(f"SET_{name}_HEIGHT"),
            block("HEIGHT"), block("DEPTH"), layer,
        )  # fmt: skip
        origin = lambda part: state.field(f"SET_{name}_ORIGIN", part)
        return remap.Side(plane, origin("X") * element, origin("Y"), element)


def _layout(side: remap.Side) -> str:
    return "pitch" if side.plane.layout is None else "block-linear"
