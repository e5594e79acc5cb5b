"""What draws did to one pixel: every fragment on it, with its intermediate values.

The triangles of a draw are in the work area before its fragments are drawn. The NumPy evaluator draws those that cover
the pixel once, for this pixel only, and notes every value that the code names (`Lang.probe`). Then the pixel gets its
old bytes back and the draw runs as always. Both must leave the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.vertices import Primitive
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.primitives.corners import DrawCorners
from pocketgpu.inspect.n3ds.primitives.geometry_runs import TriangleOwners
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords, buffer_formats, untiled
from pocketgpu.lanes import Engine, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import PACKET, TRIANGLE
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.engines.transfer import tile_order
from pocketgpu.pica.fragment.kernel import draw_fragments
from pocketgpu.pica.front.draw_target import make_target
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.wording import there_are

Probe = dict[str, list[Any]]
_HEAD = {
    name: getattr(PACKET, name) // 4
    for name in (
        "COLOR", "DEPTH", "WIDTH", "HEIGHT", "RECT", "FIRST_TRIANGLE", "LAST_TRIANGLE", "KIND", "IMMEDIATE_COUNT",
    )
}  # fmt: skip
_WORD = {
    name: getattr(TRIANGLE, name) // 4
    for name in ("MIN_X", "MAX_X", "MIN_Y", "MAX_Y", "A", "B", "C", "PRIMITIVE", "CARRIED")
}
_BOX = slice(_WORD["MIN_X"], _WORD["MAX_Y"] + 1)


@dataclass
class FragmentProbes:
    """The probed values of a fragment on the pixel.

    primitive: number of its triangle in the draw. probes: values by name, in the order in which they were computed.
    before, after: bytes of colour and depth before and after it. scissored: it is where the draw may not write, and was
    not shaded. origin: the primitive with its vertices.
    """

    primitive: int
    edges: tuple[int, int, int]
    before: tuple[bytes, bytes]
    after: tuple[bytes, bytes]
    probes: Probe = field(default_factory=dict)
    scissored: bool = False
    origin: Primitive | None = None

    def last(self, name: str, otherwise: Any = None) -> Any:
        """The last value of a name; `otherwise` if there was none."""
        return self.probes[name][-1] if name in self.probes else otherwise

    @property
    def shaded(self) -> bool:
        return "fragment.w" in self.probes


@dataclass
class DrawOnPixel:
    """What one draw did to the pixel. x, row: column and row of memory in its target. registers: of the draw, 0x300
    words. after: bytes of colour and depth that the machine's own code left. proved: the last fragment left these."""

    draw: int
    x: int
    row: int
    registers: NDArray[np.uint32]
    rect: tuple[int, int, int, int]
    fragments: list[FragmentProbes]
    before: tuple[bytes, bytes]
    after: tuple[bytes, bytes] = (b"", b"")
    powers: tuple[bool, ...] = ()
    overlapping: bool = False
    """Its colour and depth buffers overlap, so that other pixels write these bytes as well."""
    shift: int = 0
    """How many bytes before the requested place the pixel of this draw begins (its format may differ)."""

    @property
    def proved(self) -> bool:
        return self.after == (self.fragments[-1].after if self.fragments else self.before)

    def agrees(self, final: bytes) -> bool:
        """Whether the bytes that it left are in the bytes of the requested place, where the two overlap."""
        mine = self.after[0][self.shift :][: len(final)]
        return final[: len(mine)] == mine

    @cached_property
    def state(self) -> StaticRegisters:
        """Fields of the draw's registers, by name."""
        return StaticRegisters(RegisterWords(self.registers))


class PixelWatch(DrawWatcher):
    """Watches what the draws of a frame do to a pixel. offset: arena offset of the pixel.

    wanted: the draws to look at, by their numbers. `found` has those of them that draw to the pixel, in order.
    """

    def __init__(self, machine: N3DS, offset: int, wanted: Mapping[int, Address]) -> None:
        self.machine, self.offset, self.wanted = machine, offset, wanted
        self.found: list[DrawOnPixel] = []
        self._work, self._runner = machine.work, machine.runner
        self._arena = machine.memory.arena
        self._probes: Probe = {}
        self._lane = 0
        self._first = 0
        self._looking = False

    # -- draws run ----------------------------------------------------------------------------------------------------
    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`."""
        if not self.wanted.keys() & set(numbers):
            run(0, len(numbers))
            return
        self._first, self._looking = numbers.start - packets.start, True
        try:
            run(0, len(numbers))
        finally:
            self._looking = False

    def fragments(self, first: int, end: int, run: Run) -> None:
        """See `Observer`."""
        low = first
        for entry in range(first, end) if self._looking else ():
            packet = self._runner.drawn(entry)
            if self._first + packet not in self.wanted:
                continue
            place = self._place(packet)
            if place is None:
                continue
            if low < entry:
                run(low, entry)
            low = entry
            self._look(packet, *place)
            run(entry, entry + 1)
            low = entry + 1
            self.found[-1].after = self._bytes(packet)
        if low < end:
            run(low, end)

    # -- one draw -----------------------------------------------------------------------------------------------------
    def _place(self, packet: int) -> tuple[int, int] | None:
        """Column and row of memory of the pixel in a draw's target; None if the pixel is not in it."""
        head, get = self._work.head(packet), StaticRegisters(RegisterWords(self._work.registers(packet)))
        color, _ = buffer_formats(get)
        number = (self.offset - int(head[_HEAD["COLOR"]])) // (color.bits // 8)
        width, height = int(head[_HEAD["WIDTH"]]), int(head[_HEAD["HEIGHT"]])
        blocks = self.machine.choices["transfer.block32"] if get("FRAMEBUFFER_BLOCK32.enable") else ""
        if number < 0 or width < 8:
            return None
        x, row = untiled(number, width >> 3, blocks)
        return (x, row) if row < height else None

    def _texels(self, packet: int) -> tuple[slice, slice]:
        """Arena ranges of the colour and the depth of the pixel."""
        head, get = self._work.head(packet), StaticRegisters(RegisterWords(self._work.registers(packet)))
        color, depth = buffer_formats(get)
        size = color.bits // 8
        number = (self.offset - int(head[_HEAD["COLOR"]])) // size
        start = int(head[_HEAD["COLOR"]]) + number * size
        place = slice(start, start + size)
        if depth is None or not int(head[_HEAD["DEPTH"]]):
            return place, slice(0, 0)
        at = int(head[_HEAD["DEPTH"]]) + number * (depth.bits // 8)
        return place, slice(at, at + depth.bits // 8)

    def _bytes(self, packet: int) -> tuple[bytes, bytes]:
        color, depth = self._texels(packet)
        return self._arena[color].tobytes(), self._arena[depth].tobytes()

    def _look(self, packet: int, x: int, row: int) -> None:
        """Draw all triangles of a packet that cover the pixel, and note values; then memory is restored."""
        head = self._work.head(packet)
        rect = tuple(head[_HEAD["RECT"] : _HEAD["RECT"] + 4].tolist())
        before = self._bytes(packet)
        found = DrawOnPixel(self._first + packet, x, row, self._work.registers(packet).copy(), rect, [], before)
        found.overlapping = self._overlapping(packet)
        found.shift = self.offset - self._texels(packet)[0].start
        self.found.append(found)
        records, covering, edges = self._covering(head, x, row)
        if not len(covering):
            return
        corners = self._corners(packet)
        inside = rect[0] <= x <= rect[1] and rect[2] <= row <= rect[3]
        static = self._runner.fragment_code(packet)
        found.powers = static["powers_of_two"]
        kept_head, color_depth = head.copy(), self._texels(packet)
        first = int(head[_HEAD["FIRST_TRIANGLE"]])
        counter = self._work.words(self._work.layout.counters, 1)
        counted = counter.copy()
        tiles = int(head[_HEAD["WIDTH"]]) >> 3
        self._lane = int(tile_order(x & 7, row & 7, tiles))
        for place, edge in zip(covering.tolist(), edges.tolist(), strict=True):
            record = records[place]
            primitive, carried = int(record[_WORD["PRIMITIVE"]]), int(record[_WORD["CARRIED"]])
            origin = None if corners.staged else corners.primitive(self.wanted[found.draw], primitive, carried)
            now = self._bytes(packet)
            if not inside:
                found.fragments.append(FragmentProbes(primitive, tuple(edge), now, now, scissored=True, origin=origin))
                continue
            box = record[_BOX].copy()
            record[_BOX] = (x, x, row, row)
            head[_HEAD["RECT"] : _HEAD["RECT"] + 4] = (x, x, row, row)
            head[_HEAD["FIRST_TRIANGLE"]], head[_HEAD["LAST_TRIANGLE"]] = first + place, first + place + 1
            self._probes = {}
            self._oracle.get(draw_fragments, **static)(self._work.packet(packet), 0, 1)
            record[_BOX] = box
            head[:] = kept_head
            after = self._bytes(packet)
            found.fragments.append(FragmentProbes(primitive, tuple(edge), now, after, self._probes, origin=origin))
        counter[:] = counted
        for place, old in zip(color_depth, before, strict=True):
            self._arena[place] = np.frombuffer(old, np.uint8)

    def _corners(self, packet: int) -> DrawCorners:
        """What names the vertices of a packet's draw."""
        head = self._work.head(packet)
        kind, sent = (int(head[_HEAD[name]]) for name in ("KIND", "IMMEDIATE_COUNT"))
        return DrawCorners(self._work.registers(packet).copy(), kind, sent, self.machine.memory)

    def _overlapping(self, packet: int) -> bool:
        target = make_target(self.machine.memory, StaticRegisters(RegisterWords(self._work.registers(packet))))
        if isinstance(target, str):
            return False
        (a, m), (b, n) = target.color, target.depth
        return bool(m and n and a < b + n and b < a + m)

    def _covering(
        self, head: NDArray[np.int32], x: int, row: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Records of a draw's triangles, the indices of those that cover the pixel, and their edge functions there."""
        low, high = int(head[_HEAD["FIRST_TRIANGLE"]]), int(head[_HEAD["LAST_TRIANGLE"]])
        records = self._work.triangles(low, high)
        a, b = (records[:, _WORD[name] : _WORD[name] + 3].astype(np.int64) for name in "AB")
        c = np.ascontiguousarray(records[:, _WORD["C"] : _WORD["C"] + 6]).view(np.int64)
        edges = a * x + b * row + c
        covering = np.flatnonzero((edges >= 0).all(axis=1))
        return records, covering, edges[covering]

    # -- the oracle ---------------------------------------------------------------------------------------------------
    @cached_property
    def _oracle(self) -> Engine:
        return Engine(self._arena, "numpy", self._note)

    def _note(self, name: str, value: Value) -> None:
        raw = np.asarray(value.raw)
        one = raw if raw.ndim == 0 else raw[self._lane]
        self._probes.setdefault(name, []).append(one.item())


def primitives_of(records: NDArray[np.int32]) -> NDArray[np.int64]:
    """The numbers (n,) of the primitives of triangle records (n, words) within their draw. Triangles that a geometry
    program emits count by themselves."""
    return records[:, _WORD["PRIMITIVE"]].astype(np.int64)


class PrimitiveWatch(DrawWatcher):
    """Finds out how primitives of one draw are numbered: `primitive` then has any of them, with its vertices."""

    def __init__(self, machine: N3DS, draw: int) -> None:
        self.machine, self._draw = machine, draw
        self._corners: DrawCorners | None = None
        self._before = 0
        self._owners: NDArray[np.int64] | None = None
        self._ran: int | None = None

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """See `DrawWatcher`. The draw runs alone, so that what the unit holds before it can be read."""
        if self._draw not in numbers:
            run(0, len(numbers))
            return
        place, end = self._draw - numbers.start, len(numbers)
        if place:
            run(0, place)
        kind, sent = int(packets.kinds[place]), int(packets.immediate[place])
        corners = DrawCorners(packets.registers[place].copy(), kind, sent, self.machine.memory)
        self._corners, self._before = corners, self._held(packets.start + place, corners)
        if corners.staged:
            with TriangleOwners(self.machine, corners.own_uniforms) as owners:
                run(place, place + 1)
            self._owners, self._ran = owners.owners, owners.count
            place += 1
        if place < end:
            run(place, end)

    def _held(self, packet: int, corners: DrawCorners) -> int:
        """How many vertices, or registers, the units hold of earlier draws, and do not drop."""
        work = self.machine.work
        if work.head(packet)[PACKET.RESTART // 4]:
            return 0
        if not corners.staged:
            return work.control("CARRY")
        mode = StaticRegisters(RegisterWords(corners.registers))("GSH_MISC0.mode")
        return int(work.geometry("FILLED")[0]) if mode == int(work.geometry("MODE")[0]) else 0

    @property
    def count(self) -> int:
        """How many primitives there are; of a geometry program, those that it ran for."""
        assert self._corners is not None
        return self._corners.count_of(self._before) if self._ran is None else self._ran

    def owner(self, triangle: int) -> int | None:
        """The primitive that emitted a triangle of the draw; None if that is not known."""
        known = self._owners is not None and triangle < len(self._owners)
        return int(self._owners[triangle]) if known and self._owners is not None else None

    def primitive(self, draw: Address, number: int) -> Primitive:
        """A primitive of the draw, whose address is `draw`."""
        assert self._corners is not None
        return self._corners.primitive(draw, number, self._before)


def primitive_of(
    machine: N3DS, watch: Callable[[Event, DrawWatcher], None], event: Event, number: int
) -> Primitive:  # fmt: skip
    """A primitive of a draw, by its number. watch: plays the frame of an event up to it.

    :raises UsageError: the draw has no such primitive.
    """
    assert event.draw is not None
    found = PrimitiveWatch(machine, event.draw)
    watch(event, found)
    if number >= found.count:
        raise UsageError(
            f"the draw has no primitive {number}", location=str(event.address.at(primitive=number)),
            hint=there_are(found.count, "primitive", f"{event.address}/t0"),
        )  # fmt: skip
    return found.primitive(event.address, number)
