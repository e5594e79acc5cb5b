"""What draws cost: vertices, primitives and fragments of each draw of a frame."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.overdraw import Ints, cover_sizes
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

_AT_ONCE: Final = 1 << 13
"""Shapes that wait before they are counted together."""
COLUMNS: Final = ("vertices", "primitives", "fragments")


@dataclass(frozen=True, eq=False, repr=False)
class Costs(Displayed):
    """Costs of the draws of a frame, in order; uint32 each.

    events: numbers of the events. vertices: that the draw names. primitives: that the pipeline gets of them, before
    clipping; on a 3DS the triangles that are left after it. fragments: before any test. left: shapes whose fragments
    are not counted, because too many pixels would have to be tested.
    """

    frame: int
    events: NDArray[np.uint32]
    vertices: NDArray[np.uint32]
    primitives: NDArray[np.uint32]
    fragments: NDArray[np.uint32]
    left: int = 0

    def to_json(self) -> dict[str, Any]:
        """Totals."""
        totals = {name: int(getattr(self, name).sum(dtype=np.int64)) for name in COLUMNS}
        return {"frame": self.frame, "draws": len(self.events), "left": self.left, **totals}

    def __str__(self) -> str:
        totals = self.to_json()
        parts = [counted(totals[name], name[:-1], "vertices" if name == "vertices" else "") for name in COLUMNS]
        return f"f{self.frame}: {counted(len(self.events), 'draw')}, {', '.join(parts)}"


class CostCounter:
    """Costs under construction. Shapes of many small draws are counted together. most: as for `cover_sizes`."""

    def __init__(self, draws: int, most: int) -> None:
        self.primitives = np.zeros(draws, np.int64)
        self.fragments = np.zeros(draws, np.int64)
        self.left = 0
        self._room = most
        self._waiting: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
        """Draws, boxes and edges (a, b, c) of shapes."""
        self._waiting_count = 0
        self._how: tuple[tuple[tuple[int, int], ...], int] = ((), 1)
        """`points` and `scale` of the shapes that wait."""

    def add(
        self, draw: int, boxes: Ints, edges: tuple[Ints, Ints, Ints], points: tuple[tuple[int, int], ...], scale: int
    ) -> None:  # fmt: skip
        """Shapes of a draw, by its place among the draws; see `CoverCounts.add`."""
        if not len(boxes):
            return
        if (points, scale) != self._how:
            self.count()
            self._how = points, scale
        self._waiting.append((np.full(len(boxes), draw), boxes, *edges))
        self._waiting_count += len(boxes)
        if self._waiting_count >= _AT_ONCE:
            self.count()

    def count(self) -> None:
        """Count the shapes that wait."""
        if not self._waiting:
            return
        owners, boxes, a, b, c = (np.concatenate(part) for part in zip(*self._waiting, strict=True))
        self._waiting, self._waiting_count = [], 0
        sizes, tested = cover_sizes(boxes, (a, b, c), *self._how, self._room)
        self.left += int((sizes < 0).sum())
        self._room -= tested
        np.add.at(self.fragments, owners, np.maximum(sizes, 0))

    def result(self, frame: int, events: list[int], vertices: list[int]) -> Costs:
        """All costs."""
        self.count()
        most = np.iinfo(np.uint32).max
        parts = (events, vertices, self.primitives, self.fragments)
        columns = [np.minimum(np.array(part, np.int64), most).astype(np.uint32) for part in parts]
        return Costs(frame, columns[0], columns[1], columns[2], columns[3], self.left)


__all__ = ["COLUMNS", "CostCounter", "Costs"]
