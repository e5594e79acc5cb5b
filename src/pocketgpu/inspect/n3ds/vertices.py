"""Vertices of a draw: their inputs, the outputs of the program, and how primitives name them.

The machine's own code shades the draw's vertices a second time, in pieces, right before the draw runs; after each piece
their rows and records are read from the work area. A geometry program runs in the same way, and the vertices that it
emits are read from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.pica_enums import GEOMETRY_MODE, GEOMETRY_STAGE, PRIMITIVE
from pocketgpu.facts.shader_isa import SEMANTICS
from pocketgpu.inspect.model.vertices import Attribute, Vertices
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.primitives.geometry_runs import TriangleOwners
from pocketgpu.inspect.n3ds.primitives.judged_triangles import judged
from pocketgpu.inspect.n3ds.primitives.triangle_fates import DEPTHS, fates_of, window_of
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import (
    CHUNK,
    CONTROL,
    EMIT_SLOTS,
    GEOMETRY,
    GEOMETRY_PIECE,
    KIND_IMMEDIATE,
    MAX_RECORDS,
    PACKET,
    PLAN_ENTRY,
    VERTEX_FLOATS,
    VERTEX_SIZE,
)
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.primitives.assembly import CHAINED
from pocketgpu.pica.vertex.fetch import CONSTANT, PLAN

if TYPE_CHECKING:
    from pocketgpu.inspect.model.event import Event
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

MOST_VERTICES = 1 << 20
"""Most vertices of a draw that are read; `Vertices.cut` counts those that are left out."""
TYPES: tuple[tuple[str, str], ...] = (("s8", "<i1"), ("u8", "<u1"), ("s16", "<i2"), ("f32", "<f4"))
"""Name and NumPy type of an element, by TYPE of a plan."""
_ROWS = 64
_REGISTERS = 16
_PLANS = 256


def _groups() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, name in enumerate(SEMANTICS):
        if name:
            found.setdefault(name.partition(".")[0], []).append(number)
    return found


GROUPS = _groups()
"""Semantics by name ("position", "texcoord0"…), with the numbers of their components."""


def triangles_of(mode: int, count: int) -> NDArray[np.int64]:
    """Indices (m, 3) of the corners of triangles; mode: PRIMITIVE_CONFIG.mode, 1 for strips, 2 for fans."""
    if mode not in CHAINED:
        return np.arange(count // 3 * 3).reshape(-1, 3)
    t = np.arange(max(count - 2, 0))
    places = np.stack([np.zeros_like(t) if mode == PRIMITIVE.TRIANGLE_FAN else t, t + 1, t + 2], axis=1)
    if (
        mode == PRIMITIVE.TRIANGLE_STRIP
    ):  # each second one has its first corners exchanged, so that all face the same way
        places[1::2, :2] = places[1::2, 1::-1]
    return places


class VertexWatch(DrawWatcher):
    """Reads the vertices of draws while a frame runs. wanted: numbers of the draws; `found`: vertices by draw. judge:
    also find out what becomes of their triangles."""

    def __init__(self, machine: N3DS, wanted: set[int], judge: bool = False) -> None:
        self.machine, self.wanted, self._judge = machine, wanted, judge
        self.found: dict[int, Vertices] = {}
        self._owners = np.zeros(0, np.int64)
        """The primitive that emitted each triangle of the last draw that has a geometry program."""
        self._work, self._runner = machine.work, machine.runner
        self._arena, self._layout = self._work.arena, self._work.layout

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`."""
        done = 0
        for number in sorted(self.wanted & set(numbers)):
            place = number - numbers.start
            if done < place:
                run(done, place)
            self.found[number], positions = self.read(packets.start + place)
            if self._judge:
                self._add_fates(self.found[number], packets.start + place, positions)
            run(place, place + 1)
            done = place + 1
        if done < len(numbers):
            run(done, len(numbers))

    def read(self, packet: int) -> tuple[Vertices, NDArray[np.float32]]:
        """The vertices of a packet that has not run yet, and positions (n, 4) float32 of the vertices that `triangles`
        index. The state that units keep between draws is as before."""
        staged = self._get(packet)("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
        before = self._keep(staged)
        found, records = self._look(packet)
        self._bring_back(before)
        if staged:
            with TriangleOwners(self.machine, self._get(packet)("GSH_MISC0.mode") != GEOMETRY_MODE.POINT) as owners:
                records = self._emitted(packet)
            self._owners = owners.owners
            found.emitted = _semantics(records, self._get(packet))
            found.triangles = triangles_of(0, len(records))
            self._bring_back(before)
        return found, records[:, :4]

    def _add_fates(self, found: Vertices, packet: int, positions: NDArray[np.float32]) -> None:
        place = self._work.packet(packet)
        numbers = np.arange(len(found.triangles))
        if found.emitted is not None:  # the primitives that emitted them
            known = self._owners[: len(numbers)]
            numbers = np.concatenate([known, np.full(len(numbers) - len(known), -1)])
        corners = positions[found.triangles] if len(numbers) else np.zeros((0, 3, 4), np.float32)
        found.fates = judged(fates_of(self.machine, place, corners), self._get(packet), numbers)
        found.window = window_of(self.machine, place)
        found.depths = DEPTHS

    # -- reading the work area ----------------------------------------------------------------------------------------
    def _get(self, packet: int) -> StaticRegisters:
        return StaticRegisters(RegisterWords(self._work.registers(packet)))

    def _keep(self, staged: bool) -> list[tuple[int, NDArray[np.uint8]]]:
        """A copy of the state that units keep from draw to draw: shading twice changes it, so it is restored."""
        layout = self._layout
        held = layout.vertices + VERTEX_SIZE * MAX_RECORDS
        areas = (
            (layout.control, CONTROL.size),
            (layout.geometry, layout.triangles - layout.geometry if staged else GEOMETRY.size),
            (held, VERTEX_SIZE * EMIT_SLOTS),
        )  # fmt: skip
        return [(at, self._arena[at : at + size].copy()) for at, size in areas]

    def _bring_back(self, kept: list[tuple[int, NDArray[np.uint8]]]) -> None:
        for at, old in kept:
            self._arena[at : at + len(old)] = old

    # -- one draw -----------------------------------------------------------------------------------------------------
    def _total(self, packet: int) -> int:
        """How many vertices the draw names."""
        get, head = self._get(packet), self._work.head(packet)
        if head[PACKET.KIND // 4] == KIND_IMMEDIATE:
            return int(head[PACKET.IMMEDIATE_COUNT // 4]) // (get("VSH_NUM_ATTR.count") + 1)
        return get("NUMVERTICES.count")

    def _begin(self, packet: int) -> None:
        """The first step of the vertex driver: primitives continue only in the same mode."""
        restart = self._work.head(packet)[PACKET.RESTART // 4]
        mode = self._get(packet)("GSH_MISC0.mode")
        if restart or int(self._work.geometry("MODE")[0]) != mode:
            for name in ("FILLED", "OWED", "SIZE"):
                self._work.geometry(name)[0] = 0
        self._work.geometry("MODE")[0] = mode

    def _look(self, packet: int) -> tuple[Vertices, NDArray[np.float32]]:
        get, total = self._get(packet), self._total(packet)
        staged = get("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
        self._begin(packet)
        pieces: list[_VertexChunk] = []
        for start in range(0, min(total, MOST_VERTICES), CHUNK):
            pieces.append(self._piece(packet, start, min(CHUNK, total - start)))
            if staged and get("GSH_MISC0.mode") == GEOMETRY_MODE.VARIABLE:
                for name in ("OWED", "SIZE"):
                    self._work.geometry(name)[0] = self._work.geometry(f"{name}_AFTER")[0]
        return _together(pieces, get, staged, max(total - MOST_VERTICES, 0))

    def _piece(self, packet: int, start: int, count: int) -> _VertexChunk:
        layout = self._layout
        plan = self._work.words(layout.plan, _PLANS * PLAN_ENTRY // 4).reshape(_PLANS, -1)
        plan[:] = 0
        self._runner.shade_alone(packet, start, count)
        named, low = self._work.control("PIECE_VERTICES"), self._work.control("LOWEST_VERTEX")
        slots = self._work.slots(named)
        numbers = self._work.words(layout.shade_list, CHUNK)[slots].astype(np.int64) + (low & 0xFFFFFFFF)
        rows = [self._work.words(at, _ROWS * CHUNK, "<f4").reshape(_ROWS, CHUNK)[:, slots]
                for at in (layout.shader_in, layout.shader_out)]  # fmt: skip
        attributes = tuple(self._attributes(plan[plan[:, PLAN.SIZE // 4] != 0], low))
        return _VertexChunk(numbers, rows[0], rows[1], self._work.vertices(CHUNK)[slots], attributes)

    def _attributes(self, plan: NDArray[np.int32], low: int) -> Iterator[Attribute]:
        for row in plan.tolist():
            word = dict(zip(PLAN_WORDS, row, strict=False))
            name, stride = f"v{word['DEST'] // 4}", word["STRIDE"]
            if word["TYPE"] == CONSTANT:
                yield Attribute(name, "4 numbers", "constant", None, 0, "draw")
            else:
                address = self.machine.memory.address_of(word["START"]) if word["ROOM"] >= 0 else None
                first = None if address is None else address - low * stride
                kind = TYPES[word["TYPE"]][0]
                yield Attribute(name, f"{word['COUNT']} x {kind}", kind, first, stride)

    def _emitted(self, packet: int) -> NDArray[np.float32]:
        """Records (n, 24) of vertices that the geometry program emits, three for each triangle."""
        self._begin(packet)
        total, found, count = self._total(packet), [np.zeros((0, VERTEX_FLOATS), np.float32)], 0
        if self._get(packet)("GSH_MISC0.mode") not in GEOMETRY_MODE:  # no such mode; the draw is left out
            total = 0
        for start in range(0, min(total, MOST_VERTICES), GEOMETRY_PIECE):
            self._runner.shade_alone(packet, start, min(GEOMETRY_PIECE, total - start))
            self._work.geometry("STARTED")[0] = 0
            while not self._work.control("HANG") and count < MOST_VERTICES:
                self._runner.emit_alone(packet, start)
                slots = self._work.slots(self._work.control("ASSEMBLE_COUNT"))
                found.append(self._work.vertices(MAX_RECORDS + EMIT_SLOTS)[slots])
                count += len(slots)
                if not self._work.geometry("MORE")[0]:
                    break
        return np.concatenate(found)


PLAN_WORDS = ("DEST", "TYPE", "COUNT", "START", "STRIDE", "ROOM", "SIZE")
assert all(getattr(PLAN, name) == 4 * n for n, name in enumerate(PLAN_WORDS))


@dataclass(frozen=True, eq=False)
class _VertexChunk:
    """Data of some vertices from the work area: rows are (64, n), records (n, 24)."""

    numbers: NDArray[np.int64]
    inputs: NDArray[np.float32]
    outputs: NDArray[np.float32]
    records: NDArray[np.float32]
    attributes: tuple[Attribute, ...]


def _together(
    pieces: list[_VertexChunk], get: StaticRegisters, staged: bool, cut: int
) -> tuple[Vertices, NDArray[np.float32]]:
    def joined(name: str, empty: NDArray[Any], axis: int) -> NDArray[Any]:
        return np.concatenate([getattr(piece, name) for piece in pieces], axis) if pieces else empty

    numbers = joined("numbers", np.zeros(0, np.int64), 0)
    inputs, outputs = (joined(name, np.zeros((_ROWS, 0), np.float32), 1) for name in ("inputs", "outputs"))
    attributes = pieces[0].attributes if pieces else ()
    used = sorted({int(one.register[1:]) for one in attributes})
    mask = get("VSH_OUTMAP_MASK.mask")
    registers = _registers(outputs, "o", [n for n in range(_REGISTERS) if mask >> n & 1])
    mode = get("PRIMITIVE_CONFIG.mode")
    records = joined("records", np.zeros((0, VERTEX_FLOATS), np.float32), 0)
    found = Vertices(
        numbers, numbers.astype(np.uint32), _registers(inputs, "v", used),
        registers if staged else _semantics(records, get), None, triangles_of(mode, len(numbers)), attributes,
        PRIMITIVES[mode if staged else mode % 3], registers, "the geometry program" if staged else "", cut,
    )  # fmt: skip
    return found, records


PRIMITIVES = ("triangles", "strip", "fan", "geometry")
"""PRIMITIVE_CONFIG.mode as text; without a geometry program the last is also a list of triangles."""


def _registers(rows: NDArray[np.float32], letter: str, numbers: list[int]) -> NDArray[np.void]:
    found = np.zeros(rows.shape[1], np.dtype([(f"{letter}{n}", "<f4", (4,)) for n in numbers]))
    for n in numbers:
        found[f"{letter}{n}"] = rows[4 * n : 4 * n + 4].T
    return found


def _semantics(records: NDArray[np.float32], get: StaticRegisters) -> NDArray[np.void]:
    """Records as a structured array, of the semantics that outputs are mapped to."""
    mapped = {
        get(f"SH_OUTMAP_O{n}.{axis}") for n in range(min(get("SH_OUTMAP_TOTAL.count"), 7)) for axis in "xyzw"
    }  # fmt: skip
    groups = {name: slots for name, slots in GROUPS.items() if mapped & set(slots)}
    found = np.zeros(len(records), np.dtype([(name, "<f4", (len(slots),)) for name, slots in groups.items()]))
    for name, slots in groups.items():
        found[name] = records[:, slots]
    return found


def vertices_of(run: N3dsInspection, event: Event) -> Vertices:
    """The vertices of a draw. Afterwards the machine of the inspection is right after the draw.

    :raises UsageError: the event is no draw.
    """
    if event.draw is None:
        raise UsageError("this event is no draw", location=str(event.address))
    watch = VertexWatch(run.player.machine, {event.draw}, judge=True)
    run.watch(event, watch)
    return watch.found[event.draw]
