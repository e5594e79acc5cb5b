"""Counts the fragments of a draw: how many pass each test, and how many change the bytes of colour and depth.

NumPy draws the triangles in order, and the bytes of the tiles (8 x 8 pixels) that a triangle touches are compared
before and after it. Afterwards memory is as before, and the machine's own code draws: both must leave the same bytes.
If that would take too long, some tiles are chosen, spread over the draw, and each gets all its triangles in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.n3ds.resources.targets import RegisterWords, buffer_formats
from pocketgpu.lanes import Engine, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import PACKET, TRIANGLE
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.engines.transfer import tile_order
from pocketgpu.pica.fragment.kernel import draw_fragments, tiles_at_once
from pocketgpu.pica.n3ds import N3DS

MOST_RUNS = 256
"""Most times that a triangle is drawn into a tile (or into tiles at once), if not everything is to be counted."""
MOST_LISTED = 1 << 16
"""Most pairs of a triangle and a tile that are listed, if not everything is to be counted."""
MOST_OF_ALL = 1 << 22
"""The same, if everything is to be counted."""
SIDES = {
    "alpha": ("alpha.incoming", "alpha.reference"), "stencil": ("stencil.reference", "stencil.tested"),
    "depth": ("depth.incoming", "depth.stored"),
}  # fmt: skip
"""For each test the probes of both operands."""
_COMPARED = frozenset(probe for sides in SIDES.values() for probe in sides)
_TILE, _TEXELS = 8, 64
_TRIED = 4
"""Tiles that are drawn first, one by one, if any fragment that changes a colour is enough."""
Tile = tuple[int, int]
"""Column and row."""
_BOX = slice(TRIANGLE.MIN_X // 4, TRIANGLE.MAX_Y // 4 + 1)


@dataclass
class FragmentCount:
    """Counts, summed over the pieces of a draw.

    covered: fragments. passed: of each test that was reached, in order, how many passed it. colours, depths: fragments
    that changed bytes of the colour buffer, and of the depth buffer. values: lowest and highest value of each operand
    of a test. tiles: (counted, all). complete: all tiles were counted. proved: the machine left the same bytes there.
    """

    covered: int = 0
    passed: dict[str, int] = field(default_factory=dict)
    colours: int = 0
    depths: int = 0
    values: dict[str, tuple[int, int]] = field(default_factory=dict)
    tiles: tuple[int, int] = (0, 0)
    complete: bool = True
    proved: bool = True
    drawn: list[tuple[slice, NDArray[np.uint8]]] = field(default_factory=list, repr=False)
    """Bytes that NumPy left in the tiles, until the machine has drawn."""

    def compare(self, arena: NDArray[np.uint8]) -> None:
        """Compare with what the machine's own code has drawn."""
        self.proved = self.proved and all(np.array_equal(arena[place], left) for place, left in self.drawn)
        self.drawn = []


class FragmentCounter:
    """Counts fragments of a draw, for the pieces of its triangles that are in the work area.

    every: count on all tiles, however many there are. brief: count on no more tiles once a fragment changed a colour.
    """

    def __init__(self, machine: N3DS, every: bool = False, brief: bool = False) -> None:
        self._machine, self._every, self._brief = machine, every, brief
        self._work, self._arena = machine.work, machine.work.arena
        self._engine = Engine(self._arena, "numpy", self._note)
        self.count = FragmentCount()
        self._noting = False
        self._mask: NDArray[np.bool_] = np.zeros(0, bool)

    def add(self, packet: int, wanted: NDArray[np.bool_]) -> None:
        """Count fragments of the triangles of a packet that are in the work area. wanted: (n,) which triangles count;
        the others are drawn, but not counted."""
        work, count = self._work, self.count
        head = work.head(packet)
        first, last = PACKET.FIRST_TRIANGLE // 4, PACKET.LAST_TRIANGLE // 4
        low = int(head[first])
        records = work.triangles(low, int(head[last]))
        boxes = records[:, _BOX]
        tiles, complete = self._tiles(boxes, wanted)
        whole = complete and (self._every or self._runs(packet, boxes, wanted, tiles) <= MOST_RUNS)
        total = sum(map(len, tiles.values()))
        step = 1 if self._every or whole else max(-(-total // MOST_RUNS), 1)
        chosen = list(tiles)[::step]
        count.tiles = (count.tiles[0] + len(chosen), count.tiles[1] + len(tiles))
        count.complete = count.complete and complete and len(chosen) == len(tiles)
        run = self._engine.get(draw_fragments, **self._machine.runner.fragment_code(packet))
        counter = work.words(work.layout.counters, 1)
        old_head, old_counter = head.copy(), counter.copy()
        places = self._places(packet, chosen)
        kept = [(place, self._arena[place].copy()) for both in places.values() for place in both]

        def draw(pieces: Iterator[tuple[int, list[Tile]]]) -> None:
            for n, at in pieces:
                if self._brief and count.colours:
                    break
                box = boxes[n].copy()
                if len(at) == 1:
                    x, y = (_TILE * part for part in at[0])
                    boxes[n] = max(x, box[0]), min(x + _TILE - 1, box[1]), max(y, box[2]), min(y + _TILE - 1, box[3])
                head[first], head[last] = low + n, low + n + 1
                self._noting = bool(wanted[n])
                before = [[self._arena[place].copy() for place in places[tile]] for tile in at]
                counter[:] = 0
                run(work.packet(packet), 0, 1)
                boxes[n] = box
                if self._noting:
                    count.covered += int(counter[0])
                    for tile, (colours, depths) in zip(at, before, strict=True):
                        count.colours += _changed(colours, self._arena[places[tile][0]])
                        count.depths += _changed(depths, self._arena[places[tile][1]])

        if self._brief:  # mostly some tile in the middle has the answer
            draw(_pieces(tiles, chosen[len(chosen) // 2 :][:_TRIED], wanted, whole=False))
            for place, old in kept:
                self._arena[place] = old
        draw(_pieces(tiles, chosen, wanted, whole))
        count.drawn += [(place, self._arena[place].copy()) for place, _ in kept]
        for place, old in kept:
            self._arena[place] = old
        head[:], counter[:] = old_head, old_counter

    def _runs(
        self, packet: int, boxes: NDArray[np.int32], wanted: NDArray[np.bool_], tiles: dict[Tile, list[int]]
    ) -> int:
        """How often tiles are drawn if each wanted triangle is drawn at once."""
        row = int(self._work.head(packet)[PACKET.WIDTH // 4]) >> 3
        x0, x1, y0, y1 = (boxes[wanted] >> 3).T
        columns = (x1 - x0 + 1).tolist()
        steps = [-(-many // tiles_at_once(row, many)) for many in columns]
        others = sum(not wanted[n] for listed in tiles.values() for n in listed)
        return int(np.dot(steps, y1 - y0 + 1)) + others

    def _tiles(self, boxes: NDArray[np.int32], wanted: NDArray[np.bool_]) -> tuple[dict[Tile, list[int]], bool]:
        """Tiles that wanted triangles touch, each with all triangles that touch it, in order; and whether these are
        all."""
        most = MOST_OF_ALL if self._every else MOST_LISTED
        tiles: dict[Tile, list[int]] = {}
        sides = (boxes >> 3).tolist()
        listed = 0
        for only_wanted in (True, False):
            for n, (x0, x1, y0, y1) in enumerate(sides):
                if only_wanted and not wanted[n]:
                    continue
                for y in range(y0, y1 + 1):
                    for x in range(x0, x1 + 1):
                        if listed >= most:
                            return tiles, False
                        listed += 1
                        if only_wanted:
                            tiles.setdefault((x, y), [])
                        elif (x, y) in tiles:
                            tiles[x, y].append(n)
        return tiles, True

    def _places(self, packet: int, tiles: list[Tile]) -> dict[Tile, list[slice]]:
        """Arena ranges of each tile's colours and depths."""
        head, get = self._work.head(packet), StaticRegisters(RegisterWords(self._work.registers(packet)))
        blocks = self._machine.choices["transfer.block32"] if get("FRAMEBUFFER_BLOCK32.enable") else ""
        row, buffers = int(head[PACKET.WIDTH // 4]) >> 3, []
        for name, format in zip(("COLOR", "DEPTH"), buffer_formats(get), strict=True):
            start = int(head[getattr(PACKET, name) // 4])
            buffers.append((start, 0 if format is None or (name == "DEPTH" and not start) else format.bits // 8))

        def places(column: int, line: int) -> list[slice]:
            at = int(tile_order(column * _TILE, line * _TILE, row, blocks))
            return [slice(start + at * size, start + (at + _TEXELS) * size) if size else slice(0, 0)
                    for start, size in buffers]  # fmt: skip

        return {tile: places(*tile) for tile in tiles}

    def _note(self, name: str, value: Value) -> None:
        if name == "fragment.covered" or name.endswith(".passed"):
            self._mask = np.asarray(value.raw, bool)
        if not self._noting:
            return
        count = self.count
        if name.endswith(".passed"):
            test = name.removesuffix(".passed")
            count.passed[test] = count.passed.get(test, 0) + int(np.sum(value.raw))
        elif name in _COMPARED and self._mask.any():
            values = np.broadcast_to(value.raw, self._mask.shape)[self._mask]
            low, high = count.values.get(name, (int(values[0]), int(values[0])))
            count.values[name] = min(low, int(values.min())), max(high, int(values.max()))


def _pieces(
    tiles: dict[Tile, list[int]], chosen: list[Tile], wanted: NDArray[np.bool_], whole: bool
) -> Iterator[tuple[int, list[Tile]]]:
    """Triangles in the order that they are drawn in, with the tiles of each: all of them, or one at a time."""
    if not whole:
        for tile in chosen:
            for n in tiles[tile]:
                yield n, [tile]
        return
    touched: dict[int, list[Tile]] = {}
    for tile, listed in tiles.items():
        for n in listed:
            touched.setdefault(n, []).append(tile)
    for n in sorted(touched):
        if wanted[n]:
            yield n, touched[n]
        else:
            yield from ((n, [tile]) for tile in touched[n])


def _changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> int:
    """How many of the texels of a tile differ."""
    return int((before != after).reshape(_TEXELS, -1).any(axis=1).sum()) if len(before) else 0


__all__ = ["SIDES", "FragmentCount", "FragmentCounter"]
