"""Records of the draws of a run: their registers, what they read and write, which programs they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.formats import DEPTH_FORMATS
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.n3ds.draw_inputs import INPUT_REGISTERS, columns, inputs, physical
from pocketgpu.inspect.n3ds.inventory.draw_state import ZEROS
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord, Read
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.front.draw_target import make_target
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS

_ALSO: Final = (
    *INPUT_REGISTERS,
    "SCISSORTEST_POS", "SCISSORTEST_DIM", "VIEWPORT_WIDTH", "VIEWPORT_INVW", "VIEWPORT_HEIGHT", "VIEWPORT_INVH",
    "DEPTHMAP_SCALE", "DEPTHMAP_OFFSET", "RENDERBUF_DIM", "START_DRAW_FUNC0", "GEOSTAGE_CONFIG2", "PRIMITIVE_CONFIG",
    "SH_OUTATTR_MODE", "SH_OUTATTR_CLOCK", "VSH_OUTMAP_MASK", "VSH_OUTMAP_TOTAL1", "VSH_OUTMAP_TOTAL2",
    "VSH_BOOLUNIFORM", "VSH_INPUTBUFFER_CONFIG", "VSH_ENTRYPOINT", "GSH_BOOLUNIFORM", "GSH_INPUTBUFFER_CONFIG",
    "GSH_OUTMAP_MASK", "GSH_ENTRYPOINT", "FRAGOP_ALPHA_TEST", "LIGHTING_ENABLE0",
)  # fmt: skip
"""Registers that distinguish draws here, besides those of draw states."""


_IDS, _MASKS = columns(_ALSO)
_UNITS: Final = (("vertex", "vs", "VSH"), ("geometry", "gs", "GSH"))

Reads = Callable[[str, str, Range, str], Read]
Writes = Callable[[Sequence[Range]], None]


class DrawReader:
    """Makes one record for all draws with the same state."""

    def __init__(self, machine: N3DS, record: N3dsRecord, most: int) -> None:
        self._machine, self._record, self._most = machine, record, most
        self._known: dict[bytes, DrawRecord] = {}
        self._programs: dict[Any, Program] = {}

    def add(
        self, packets: DrawPackets, frame: str, first: int, reads: Reads, writes: Writes
    ) -> list[tuple[DrawRecord, NDArray[np.int64]]]:
        """Records of some draws, the first of which is draw `first` of a frame, each with the indices of its draws.

        They have not been drawn yet: memory is as they read it.
        """
        registers = packets.registers
        rows = np.empty((len(registers), len(_IDS) + 5), np.uint32)
        rows[:, :-5] = registers[:, _IDS] & _MASKS
        rows[:, -5] = packets.kinds
        for column, bank in enumerate(("vs_code", "vs_uniforms", "gs_code", "gs_uniforms")):
            rows[:, column - 4] = packets.versions(bank)
        whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
        _, places, inverse = np.unique(whole, return_index=True, return_inverse=True)
        order = np.argsort(places, kind="stable")
        members: list[tuple[DrawRecord, NDArray[np.int64]]] = []
        for n in order.tolist():
            place, mine = int(places[n]), np.flatnonzero(inverse == n)
            # Versions of banks are offsets that are valid in this list only.
            key = rows[place, :-4].tobytes()
            at = f"{frame}/d{first + place}"
            known = self._known.get(key)
            if known is None:
                if len(self._known) >= self._most:
                    continue
                known = self._known[key] = self._make(packets, place, at, reads)
                self._record.draws.append(known)
            known.draws += len(mine)
            self._note_programs(known, packets, place, at, len(mine))
            writes(list(known.writes.values()))
            members.append((known, mine))
        return members

    # -- one record -------------------------------------------------------------------------------------------------
    def _make(self, packets: DrawPackets, place: int, at: str, reads: Reads) -> DrawRecord:
        row = packets.registers[place]
        words = dict(enumerate(row.tolist()))
        zero = frozenset(name for name in ZEROS if not words[PICA[name].offset])
        draw = DrawRecord(words, int(packets.kinds[place]), zero, at)
        get = StaticRegisters(words)
        draw.target = make_target(self._machine.memory, get)
        draw.vertices = draw.vertices_of(int(packets.immediate[place]))
        self._note_writes(draw)
        for one in inputs(self._machine, draw, draw.target, row):
            draw.reads.append(replace(reads(one.kind, one.what, one.range, one.register), at=at))
        return draw

    def _note_writes(self, draw: DrawRecord) -> None:
        if isinstance(draw.target, str):
            return
        color, depth = (physical(self._machine, part) for part in (draw.target.color, draw.target.depth))
        if color is not None and (draw.writes_color or draw("COLOR_OPERATION.fragment_mode")):
            draw.writes["color"] = color
        known = draw("DEPTHBUFFER_FORMAT.format") in DEPTH_FORMATS
        if depth is not None and known and (draw.writes_depth or draw.writes_stencil):
            draw.writes["depth"] = depth

    # -- programs ---------------------------------------------------------------------------------------------------
    def _note_programs(self, draw: DrawRecord, packets: DrawPackets, place: int, at: str, count: int) -> None:
        for unit, bank, prefix in _UNITS:
            if bank == "gs" and not draw.geometry:
                continue
            code, descriptors = (packets.seen(f"{bank}_{what}", place) for what in ("code", "opdescs"))
            entry, bools = draw(f"{prefix}_ENTRYPOINT.entry"), draw(f"{prefix}_BOOLUNIFORM.bools")
            key = (unit, code, descriptors, entry, bools)
            program = self._programs.get(key)
            if program is None:
                words, table = (tuple(np.frombuffer(data, "<u4").tolist()) for data in (code, descriptors))
                program = self._programs[key] = Program(unit, words, table, entry, bools, at)
                self._record.programs.append(program)
            program.draws += count
            draw.programs[unit] = program
            values = np.frombuffer(packets.seen(f"{bank}_uniforms", place), "<f4").reshape(-1, 4)
            for register, component in np.argwhere(np.isnan(values)).tolist():
                first, times = program.nans.get((register, component), (at, 0))
                program.nans[register, component] = first, times + count


__all__ = ["DrawReader"]
