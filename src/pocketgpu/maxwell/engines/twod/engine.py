"""The 2D engine, class 902D: blits from memory with scaling, filters, clipping, formats and operations.

Writing PIXELS_FROM_MEMORY_SRC_Y0_INT blits. Steps and the source position are signed 32.32 fixed point. With ORIGIN
CENTER a position is relative to the centre of pixel 0, with CORNER to its corner, so CENTER 0.5 and CORNER 1.0 are both
between pixels 0 and 1. Point sampling takes the pixel that contains the position, bilinear the four around it;
positions beyond the edge take the pixel at the edge. A multisampled surface is resolved as a surface with more pixels.

Formats are converted through red, green, blue and alpha, sRGB formats through linear light. Blits between equal formats
without a filter copy pixels unchanged, including depth. Operations other than SRCCOPY follow their names; no
measurement is known. Colour keys, patterns, solid primitives and pixels from the pushbuffer are events: no driver of
this console uses them.
Source: class header cl902d.h; for positions, two drivers (deko3d CENTER, Mesa CORNER).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.distinct import distinct
from pocketgpu.errors import UsageError
from pocketgpu.events import EventKind, sized
from pocketgpu.facts.maxwell import TWOD
from pocketgpu.facts.maxwell.formats import TWOD as FORMATS
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.action_log import Blit
from pocketgpu.maxwell.engines.common.base import Engine, EngineHost, Registers
from pocketgpu.maxwell.engines.common.notify import notify
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import Scratch, report_missed, spend
from pocketgpu.maxwell.engines.twod.blits import LANES, blit_rows
from pocketgpu.maxwell.formats.channels import Channels
from pocketgpu.maxwell.formats.srgb import srgb_tables
from pocketgpu.maxwell.memory.places import Places
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, copy_rect

_ONE = 1 << 32
MAX_SIDE = 1 << 16
"""Pixels that a blit may write across or down; a larger one is a fault."""
_MAX_PLANS = 512
_ROW_BYTES = 16  # of the table of rows, for each row
_OPERATIONS, _LAYOUTS = TWOD.values("SET_OPERATION"), TWOD.values("SET_SRC_MEMORY_LAYOUT")
_ORIGINS, _FILTERS = (TWOD.values(f"SET_PIXELS_FROM_MEMORY_SAMPLE_MODE.{name}") for name in ("ORIGIN", "FILTER"))
_UNUSED = ("RENDER_SOLID_PRIM_POINT_X_Y", "RENDER_SOLID_PRIM_POINT_Y", "PIXELS_FROM_CPU_DATA")


@dataclass(frozen=True)
class _Axis:
    """The source pixels for target pixels along an axis: the one before the position, the one after it, its weight."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: NDArray[np.float32]


@dataclass(frozen=True)
class BlitPlan:
    """The blit that the registers describe. Extents are bytes from the planes' addresses.

    copy: sides and bytes of a line, if a plain copy gives the same result.
    """

    events: tuple[tuple[EventKind, str, str], ...] = ()
    record: Blit | None = None
    source: Plane | None = None
    target: Plane | None = None
    reads: tuple[int, int] = (0, 0)
    writes: tuple[int, int] = (0, 0)
    columns: NDArray[np.int32] | None = None
    rows: NDArray[np.int32] | None = None
    size: tuple[int, int] = (0, 0)
    code: Callable[..., None] | None = None
    factors: tuple[float, ...] = ()
    rop: int = 0
    copy: tuple[SurfaceSide, SurfaceSide, int] | None = None
    target_bytes: int = 0


class TwoD(Engine):
    """The 2D engine of one channel."""

    class_id: ClassVar[int] = TWOD.class_id

    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        conditions.power_on(TWOD, registers)
        self._state = State(TWOD, registers)
        self._plans: dict[bytes, BlitPlan] = {}
        self.plan: BlitPlan | None = None
        """The plan of the last blit."""
        last = TWOD["PIXELS_FROM_MEMORY_SRC_Y0_INT"].word
        self._parts = (
            slice(TWOD["SET_DST_FORMAT"].word, TWOD["SET_SRC_OFFSET_LOWER"].word + 1),
            slice(TWOD["SET_CLIP_X0"].word, TWOD["SET_OPERATION"].word + 1),
            slice(TWOD["SET_PIXELS_FROM_MEMORY_SAMPLE_MODE"].word, last + 1),
        )
        self.effects[last] = self._blit
        self.effects[TWOD["NOTIFY"].word] = partial(notify, host, self._state)
        for name in _UNUSED:
            for word in TWOD[name].words():
                self.effects[word] = partial(self._unused, name)

    def _unused(self, name: str, value: int) -> None:
        self.host.report("warning", "twod.unused", f"{name} draws nothing here: no driver of this console uses it")

    def _blit(self, value: int) -> None:
        host = self.host
        if not conditions.enabled(host, self._state):
            return
        key = b"".join(self.registers[part].tobytes() for part in self._parts)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            try:
                plan = self._plan()
            except UsageError as error:
                plan = BlitPlan((("fault", "engine.range", f"blit: {error}"),))
            self._plans[key] = plan
        self.plan = plan
        for kind, id, message in plan.events:
            host.report(kind, id, message)
        if plan.record is None:
            return
        host.stats.blits += 1
        host.log.append(replace(plan.record, place=host.place))
        if plan.copy is not None:
            self._copy(*plan.copy, plan.size[1])
        elif plan.code is not None:
            self._run(plan)
        spend(host, plan.size[0] * plan.size[1] * plan.target_bytes)
        if host.observers:
            self._notify_observers(plan, plan.record)

    def _notify_observers(self, plan: BlitPlan, record: Blit) -> None:
        """Notify observers of a finished blit."""
        observers = self.host.observers
        if plan.copy is not None:
            from_side, to_side, line = plan.copy
            source, target = (Places.of_surface(side, line, plan.size[1]) for side in (from_side, to_side))
            for one in observers:
                one.copied(self, target, source)
            return
        columns, rows = plan.columns, plan.rows
        if columns is None or rows is None or plan.source is None or plan.target is None:
            return
        layout, width = FORMATS.named(record.source_format), plan.size[0]
        target = Places(
            plan.target.va + plan.writes[0], _wide(rows[:, 0]), _wide(columns[0, :width], plan.target_bytes)
        )
        base = plan.source.va + plan.reads[0]
        if (record.source_format, record.filter, record.operation) == (record.target_format, "point", "SRCCOPY"):
            source = Places(base, _wide(rows[:, 1]), _wide(columns[1, :width], layout.bytes))
            for one in observers:
                one.copied(self, target, source)
            return
        taps, lines = distinct(columns[1:3, :width]), distinct(rows[:, 1:3])
        source = Places(base, _wide(lines), _wide(taps, layout.bytes))
        for one in observers:
            one.converted(self, target, source, layout)

    def _copy(self, source: SurfaceSide, target: SurfaceSide, width: int, lines: int) -> None:
        host = self.host
        missed = copy_rect(host.memory, host.engine, source, target, width, lines)
        if missed:
            report_missed(host, "blit", target.address, width * lines, missed)

    def _run(self, plan: BlitPlan) -> None:
        assert plan.source is not None and plan.target is not None and plan.code is not None
        assert plan.columns is not None and plan.rows is not None
        scratch = Scratch(self.host)
        curve = scratch.put(np.frombuffer(srgb_tables(), np.uint8))
        columns, rows = scratch.put(plan.columns), scratch.put(plan.rows)
        windows = []
        for plane, (low, high) in ((plan.source, plan.reads), (plan.target, plan.writes)):
            windows.append(scratch.open(plane.va + low, high - low, "blit"))
        source, target = windows
        if target is None or curve is None or columns is None or rows is None:
            return
        if source is None:
            return
        code, (width, height) = plan.code, plan.size

        def part(number: int, count: int) -> None:
            first, last = height * number // count, height * (number + 1) // count
            at = rows + _ROW_BYTES * first
            code(source.offset, target.offset, columns, at, width, last - first, curve, plan.rop, *plan.factors)

        # If the blit reads bytes of its target, it writes rows in order.
        apart = target.offset + target.size <= source.offset or source.offset + source.size <= target.offset
        if apart:
            self.host.workers.run(part, ("blit", plan.code), width * height)
        else:
            part(0, 1)
        scratch.close(target)

    # The blit that the registers describe

    def _plan(self) -> BlitPlan:
        state = self._state
        formats: list[PixelLayout] = []
        for side in ("SRC", "DST"):
            code = state.field(f"SET_{side}_FORMAT")
            layout = FORMATS.get(code)
            if layout is None or not layout.bytes:
                return BlitPlan((("fault", "twod.format", f"SET_{side}_FORMAT: blits have no format {code:#x}"),))
            formats.append(layout)
        events: list[tuple[EventKind, str, str]] = []
        source, target = self._plane("SRC", formats[0], events), self._plane("DST", formats[1], events)
        left, top, right, bottom = self._rectangle()
        if right - left > MAX_SIDE or bottom - top > MAX_SIDE:
            size = sized(right - left, bottom - top)
            return BlitPlan((("fault", "twod.size", f"a blit of {size} pixels: left out"),))
        fixed = lambda name: (state.signed(f"{name}_INT") << 32) | state.word(f"{name}_FRAC")
        base = "SET_PIXELS_FROM_MEMORY_"
        steps = fixed(f"{base}DU_DX"), fixed(f"{base}DV_DY")
        y_int = state.signed("PIXELS_FROM_MEMORY_SRC_Y0_INT")
        origin = fixed(f"{base}SRC_X0"), y_int << 32 | state.word(f"{base}SRC_Y0_FRAC")
        mode = lambda name: state.field("SET_PIXELS_FROM_MEMORY_SAMPLE_MODE", name)
        centre, bilinear = mode("ORIGIN") == _ORIGINS.CENTER, mode("FILTER") == _FILTERS.BILINEAR
        operation = _OPERATIONS.get(state.field("SET_OPERATION"), "")
        if not operation:
            return BlitPlan(
                (("fault", "twod.operation", f"SET_OPERATION: there is no operation {state.field('SET_OPERATION')}"),)
            )
        record = Blit(
            "", source.va, target.va, formats[0].name, formats[1].name,
            (left, top, max(right - left, 0), max(bottom - top, 0)), (origin[0] / _ONE, origin[1] / _ONE),
            (steps[0] / _ONE, steps[1] / _ONE), "bilinear" if bilinear else "point", operation,
        )  # fmt: skip
        if state.field("SET_COLOR_KEY_ENABLE"):
            events.append(("warning", "twod.color_key", "a blit with a colour key: all pixels are copied"))
        if left >= right or top >= bottom:
            return BlitPlan(tuple(events), record)
        first = state.signed(f"{base}DST_X0"), state.signed(f"{base}DST_Y0")
        sizes = (state.word("SET_SRC_WIDTH"), state.word("SET_SRC_HEIGHT"))
        overrun = source.layout is None and self.host.choices["twod.pitch_overrun"] == "next-line"
        across = self._axis(left - first[0], right - left, origin[0], steps[0], centre, bilinear, sizes[0], overrun)
        down = self._axis(top - first[1], bottom - top, origin[1], steps[1], centre, bilinear, sizes[1], False)
        same = formats[0].code == formats[1].code and operation == "SRCCOPY"
        bilinear = bilinear and bool(across.weight.any() or down.weight.any())
        plan = BlitPlan(
            tuple(events), record, source, target, size=(right - left, bottom - top), target_bytes=formats[1].bytes
        )
        if (
            same
            and not bilinear
            and (copied := self._as_copy(source, target, across, down, left, top, formats[0].bytes))
        ):
            return replace(plan, copy=copied)
        return self._tables(plan, across, down, left, top, formats, bilinear, same, operation)

    def _plane(self, side: str, layout: PixelLayout, events: list[tuple[EventKind, str, str]]) -> Plane:
        state = self._state
        va = state.address(f"SET_{side}_OFFSET_UPPER")
        unit = min(layout.bytes, 4)
        if state.field(f"SET_{side}_MEMORY_LAYOUT") == _LAYOUTS.PITCH:
            pitch = state.signed(f"SET_{side}_PITCH")
            if (va | pitch) & (unit - 1):
                events.append(
                    ("fault", "twod.alignment", f"SET_{side}_OFFSET and PITCH are no multiples of {unit}: rounded")
                )
            return Plane.linear(va & -unit, pitch & -unit)
        block = lambda part: state.field(f"SET_{side}_BLOCK_SIZE", part)
        layer = state.word("SET_DST_LAYER") if side == "DST" else 0
        return Plane.blocks(
            va & -512, state.word(f"SET_{side}_WIDTH") * layout.bytes, state.word(f"SET_{side}_HEIGHT"),
            block("HEIGHT"), block("DEPTH"), layer,
        )  # fmt: skip

    def _rectangle(self) -> tuple[int, int, int, int]:
        """The target pixels that are written: left, top, right, bottom; the last two exclusive."""
        state, base = self._state, "SET_PIXELS_FROM_MEMORY_DST_"
        edges = []
        for axis, size, clip in (("X", "WIDTH", "SET_CLIP_X0"), ("Y", "HEIGHT", "SET_CLIP_Y0")):
            low = state.signed(f"{base}{axis}0")
            high = low + state.word(f"{base}{size}")
            low, high = max(low, 0), min(high, state.word(f"SET_DST_{size}"))
            if state.field("SET_CLIP_ENABLE"):
                start = state.signed(clip)
                low, high = max(low, start), min(high, start + state.word(f"SET_CLIP_{size}"))
            edges.append((low, high))
        (left, right), (top, bottom) = edges
        return left, top, right, bottom

    def _axis(
        self, skipped: int, count: int, origin: int, step: int, centre: bool, bilinear: bool, size: int, overrun: bool
    ) -> _Axis:
        """Source pixels for `count` target pixels, after `skipped` clipped ones; size: of the source."""
        # Positions wrap at 64 bits, as fixed point does.
        i = np.arange(count, dtype=np.uint64) + np.uint64(skipped)
        start = origin + (_ONE >> 1 if centre else 0) - (_ONE >> 1 if bilinear else 0)
        at = (i * np.uint64(step & (1 << 64) - 1) + np.uint64(start & (1 << 64) - 1)).view(np.int64)
        first = at >> 32
        limit = max(size - 1, 0)
        if not bilinear:
            chosen = first if overrun else np.clip(first, 0, limit)
            return _Axis(chosen, chosen, np.zeros(count, np.float32))
        fraction = (at & (_ONE - 1)).astype(np.float64) / _ONE
        if self.host.choices["twod.weights"] == "8-bits":
            fraction = np.floor(fraction * 256) / 256
        if not overrun:
            return _Axis(np.clip(first, 0, limit), np.clip(first + 1, 0, limit), fraction.astype(np.float32))
        return _Axis(first, first + 1, fraction.astype(np.float32))

    def _as_copy(
        self, source: Plane, target: Plane, across: _Axis, down: _Axis, left: int, top: int, size: int
    ) -> tuple[SurfaceSide, SurfaceSide, int] | None:
        """The blit as a copy of a rectangle, if adjacent target pixels read adjacent source pixels."""
        x, y = int(across.first[0]), int(down.first[0])
        steady = all(bool((np.diff(axis.first) == 1).all()) for axis in (across, down))
        if not steady or x < 0 or max(x, left) * size >= 1 << 29:
            return None
        sides = [
            SurfaceSide(plane.va, column * size, line, plane.z, plane.pitch, plane.layout)
            for plane, column, line in ((source, x, y), (target, left, top))
        ]
        return sides[0], sides[1], len(across.first) * size

    def _tables(
        self, plan: BlitPlan, across: _Axis, down: _Axis, left: int, top: int, formats: list[PixelLayout],
        bilinear: bool, same: bool, operation: str,
    ) -> BlitPlan:  # fmt: skip
        source, target = plan.source, plan.target
        assert source is not None and target is not None
        width, height = plan.size
        rop = self._state.field("SET_ROP")
        events = list(plan.events)
        plain = operation if operation != "SRCCOPY_AND" else "SRCCOPY"
        if operation in ("ROP", "ROP_AND"):
            if (rop >> 4 ^ rop) & 0xF:
                text = f"SET_ROP {rop:#04x} uses a pattern, which no driver of this console sets: taken as ones"
                events.append(("warning", "twod.pattern", text))
            rop >>= 4  # the half for pattern bits of 1
        out_columns = target.columns(np.arange(left, left + width, dtype=np.int64) * formats[1].bytes)
        out_rows = target.rows(np.arange(top, top + height, dtype=np.int64))
        taps = [source.columns(x * formats[0].bytes) for x in (across.first, across.second)]
        lines = [source.rows(y) for y in (down.first, down.second)]
        reads = _extent(taps, lines, formats[0].bytes)
        writes = _extent([out_columns], [out_rows], formats[1].bytes)
        if max(reads[1] - reads[0], writes[1] - writes[0]) >= 1 << 31:
            return BlitPlan((("fault", "engine.range", "blit: the pixels are too far apart"),))
        padded = (width + LANES - 1) & -LANES
        columns = np.zeros((4, padded), np.int32)
        rows = np.zeros((height, 4), np.int32)
        # Offsets of columns and rows are relative to their own minimum; the window begins at the sum of both.
        for i, offsets in enumerate((out_columns, *taps)):
            columns[i, :width] = offsets - min(int(o.min()) for o in ([out_columns] if i == 0 else taps))
        columns[3, :width] = across.weight.view(np.int32)
        for i, places in enumerate((out_rows, *lines)):
            rows[:, i] = places - min(int(p.min()) for p in ([out_rows] if i == 0 else lines))
        rows[:, 3] = down.weight.view(np.int32)
        alpha_test = operation.endswith("_AND") and self.host.choices["twod.and_operations"] == "alpha"
        code = self.host.engine.get(
            blit_rows, read=Channels.of(formats[0]), write=Channels.of(formats[1]), bilinear=bilinear,
            raw=same and not bilinear, operation=plain, alpha_test=alpha_test,
        )  # fmt: skip
        beta1 = max(self._state.signed("SET_BETA1"), 0) / 0x7FFFFFFF
        beta4 = (self._state.field("SET_BETA4", channel) / 255 for channel in "RGBA")
        return replace(
            plan, events=tuple(events), reads=reads, writes=writes, columns=columns, rows=rows, code=code,
            factors=(beta1, *beta4), rop=rop & 15,
        )  # fmt: skip


def _wide(places: NDArray[np.int32], count: int = 1) -> NDArray[np.int64]:
    """Each offset and the `count` - 1 bytes after it."""
    return (places.astype(np.int64)[:, None] + np.arange(count)).reshape(-1)


def _extent(columns: list[NDArray[Any]], rows: list[NDArray[Any]], size: int) -> tuple[int, int]:
    """The first byte of all pixels, and the end of the last."""
    low = min(int(c.min()) for c in columns) + min(int(r.min()) for r in rows)
    high = max(int(c.max()) for c in columns) + max(int(r.max()) for r in rows)
    return low, high + size
