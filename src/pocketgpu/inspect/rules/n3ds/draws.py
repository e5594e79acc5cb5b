"""Records of the draws of a run: their registers, what they read and write, which programs they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.formats import DEPTH_FORMATS
from pocketgpu.facts.pica import ATTRIBUTES, PICA
from pocketgpu.facts.pica_enums import INDEX_TYPE
from pocketgpu.facts.vertices import component_field, skipped_bytes
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.n3ds.inventory.draw_state import STATE_IDS, STATE_MASKS, ZEROS
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord, Read
from pocketgpu.pica.core.layout import KIND_ELEMENTS, KIND_IMMEDIATE
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.front.draw_target import make_target
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS

_ALSO: Final = (
    "ATTRIBBUFFERS_LOC", *(f"ATTRIBBUFFER{n}_OFFSET" for n in range(ATTRIBUTES)), "INDEXBUFFER_CONFIG", "NUMVERTICES",
    "VERTEX_OFFSET", *(f"TEXUNIT{unit}_ADDR" for unit in range(3)), *(f"TEXUNIT0_ADDR{n}" for n in range(2, 7)),
    "SCISSORTEST_POS", "SCISSORTEST_DIM", "VIEWPORT_WIDTH", "VIEWPORT_INVW", "VIEWPORT_HEIGHT", "VIEWPORT_INVH",
    "DEPTHMAP_SCALE", "DEPTHMAP_OFFSET", "RENDERBUF_DIM", "START_DRAW_FUNC0", "GEOSTAGE_CONFIG2", "PRIMITIVE_CONFIG",
    "SH_OUTATTR_MODE", "SH_OUTATTR_CLOCK", "VSH_OUTMAP_MASK", "VSH_OUTMAP_TOTAL1", "VSH_OUTMAP_TOTAL2",
    "VSH_BOOLUNIFORM", "VSH_INPUTBUFFER_CONFIG", "VSH_ENTRYPOINT", "GSH_BOOLUNIFORM", "GSH_INPUTBUFFER_CONFIG",
    "GSH_OUTMAP_MASK", "GSH_ENTRYPOINT", "STENCIL_TEST", "FRAGOP_ALPHA_TEST", "LIGHTING_ENABLE0",
)  # fmt: skip
"""Registers that distinguish draws here, besides those of draw states."""


def _columns() -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    masks = dict(zip(STATE_IDS.tolist(), STATE_MASKS.tolist(), strict=True))
    masks |= {PICA[name].offset: 0xFFFFFFFF for name in _ALSO}
    ids = np.array(sorted(masks), np.int64)
    return ids, np.array([masks[int(n)] for n in ids], np.uint32)


_IDS, _MASKS = _columns()
_UNITS: Final = (("vertex", "vs", "VSH"), ("geometry", "gs", "GSH"))
_MOST_INDICES: Final = 1 << 20

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
        if draw.kind == KIND_IMMEDIATE:
            draw.vertices = int(packets.immediate[place]) // (draw("VSH_NUM_ATTR.count") + 1)
        else:
            draw.vertices = draw("NUMVERTICES.count")

        def note(kind: str, what: str, where: Range, name: str) -> None:
            draw.reads.append(replace(reads(kind, what, where, name), at=at))

        self._targets(draw, note)
        self._textures(draw, row, note)
        if draw.triggered:
            self._vertices(draw, note)
        return draw

    def _targets(self, draw: DrawRecord, note: Callable[[str, str, Range, str], None]) -> None:
        if isinstance(draw.target, str):
            return
        color, depth = (self._physical(part) for part in (draw.target.color, draw.target.depth))
        if color is not None:
            if draw.reads_color and draw("COLORBUFFER_READ.mask"):
                note("color", "colour buffer", color, "COLORBUFFER_LOC")
            if draw.writes_color or draw("COLOR_OPERATION.fragment_mode"):
                draw.writes["color"] = color
        if depth is not None and draw("DEPTHBUFFER_FORMAT.format") in DEPTH_FORMATS:
            if (draw.tests_depth or draw.tests_stencil) and (
                draw("DEPTHBUFFER_READ.depth") or draw("DEPTHBUFFER_READ.stencil")
            ):
                note("depth", "depth buffer", depth, "DEPTHBUFFER_LOC")
            if draw.writes_depth or (draw.tests_stencil and draw("DEPTHBUFFER_WRITE.stencil")):
                draw.writes["depth"] = depth

    def _textures(self, draw: DrawRecord, row: NDArray[np.uint32], note: Callable[..., None]) -> None:
        cache = self._machine.textures
        for unit in draw.texture_units:
            source = cache.describe(row, unit)
            for where in source.ranges if source is not None else ():
                found = self._physical(where)
                if found is not None:
                    note("texture", f"texture unit {unit}", found, f"TEXUNIT{unit}_ADDR")

    def _vertices(self, draw: DrawRecord, note: Callable[..., None]) -> None:
        base, count = draw.bytes("ATTRIBBUFFERS_LOC.base"), draw.vertices
        if not count:
            return
        low, high = draw("VERTEX_OFFSET.first"), draw("VERTEX_OFFSET.first") + count - 1
        if draw.kind == KIND_ELEMENTS:
            size = 2 if draw("INDEXBUFFER_CONFIG.type") == INDEX_TYPE.U16 else 1
            where = Range(base + draw("INDEXBUFFER_CONFIG.offset"), count * size)
            note("indices", "indices", where, "INDEXBUFFER_CONFIG")
            offset = self._machine.memory.offset_of(where.address, where.size)
            if offset is None or count > _MOST_INDICES or draw("GEOSTAGE_CONFIG.variable"):
                return
            indices = self._machine.memory.arena[offset : offset + where.size]
            indices = indices if size == 1 else indices[: where.size & ~1].copy().view("<u2")
            low, high = int(indices.min()), int(indices.max())
        for n in range(ATTRIBUTES):
            stride, size = draw(f"ATTRIBBUFFER{n}_CONFIG2.stride"), self.vertex_size(draw, n)
            if not size:
                continue
            start = base + draw(f"ATTRIBBUFFER{n}_OFFSET.offset") + low * stride
            where = Range(start & 0xFFFFFFFF, (high - low) * stride + size)
            note("vertices", f"vertex buffer {n}", where, f"ATTRIBBUFFER{n}_OFFSET")

    @staticmethod
    def vertex_size(draw: DrawRecord, loader: int) -> int:
        """Bytes of a vertex that a loader reads, with the gaps that align its components; 0 if it is not in use."""
        at = 0
        for i in range(min(ATTRIBUTES, draw(f"ATTRIBBUFFER{loader}_CONFIG2.count"))):
            code = draw(component_field(loader, i))
            size, count = draw.element(code) if code < ATTRIBUTES else (4, skipped_bytes(code) // 4)
            at = -(-at // size) * size + size * count
        return at

    def _physical(self, where: tuple[int, int]) -> Range | None:
        address = self._machine.memory.address_of(where[0]) if where[1] else None
        return None if address is None else Range(address, where[1])

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
