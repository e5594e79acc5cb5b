"""What clipping and culling do to a draw's triangles: the machine's own code tests all of them at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.model.stage import Loss
from pocketgpu.inspect.model.vertices import numbers_of, same_place
from pocketgpu.lanes import Value
from pocketgpu.lanes.numpy_eval import ArenaViews, NumpyLang
from pocketgpu.lanes.values import F32, I64
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.primitives.assembly import USER_PLANE, Setup

EYE = 6
"""The plane of the eye. A corner on its wrong side is right and left of the view at once: other planes mean nothing."""
PLANES = {
    0: "right of the view", 1: "left of it", 2: "above it", 3: "below it", 4: "beyond the far plane",
    5: "nearer than the near plane", EYE: "behind the eye (w too small)", 7: "cut off by the plane of FRAGOP_CLIP",
}  # fmt: skip
"""What each clip plane cuts off. The far plane is z = 0, the near one z = -w, as usual projections have it."""
_TOLD = {4: "zw", 5: "zw", EYE: "w"}
"""The coordinates that tell how far away from a plane positions are."""
DEPTHS = (-1.0, 0.0)
"""z divided by w at the near and at the far plane."""
POSITION = "the position that the program gives"
PROGRAM = "the vertex program, or what it reads"
_NAN = 0x100
_SUBPIXELS = 16


@dataclass(frozen=True)
class TriangleFates:
    """The fates of n triangles.

    corners: (n, 3, 4) float32, positions in clip space. nan: (n,) a corner has NaN. outside: (n,) a bit for each plane
    that all corners lie beyond; only that of the eye if it is one of them. flat: (n,) no area; culled: (n,) dropped by
    FACECULLING_CONFIG, clockwise: (n,) their corners run clockwise. cut: (n,) they cross a plane: what clipping leaves
    of them can be flat or culled. cut_culled: (n,) of those, what is left is dropped by FACECULLING_CONFIG. boxes: (n,
    4) left, right, bottom, top in pixels; without meaning where `cut` is set.
    """

    corners: NDArray[np.float32]
    nan: NDArray[np.bool_]
    outside: NDArray[np.int64]
    flat: NDArray[np.bool_]
    culled: NDArray[np.bool_]
    clockwise: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    cut_culled: NDArray[np.bool_]
    boxes: NDArray[np.float64]

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """(n,) bool: triangles that are not drawn."""
        found: NDArray[np.bool_] = self.nan | (self.outside != 0) | self.flat | self.culled
        return found

    def beside(self, left: int, right: int, bottom: int, top: int) -> NDArray[np.bool_]:
        """(n,) bool: triangles that are not stopped and not cut, and lie outside of these pixels, the last ones
        included."""
        a, b, c, d = self.boxes.T
        outside: NDArray[np.bool_] = (a >= right + 1) | (b <= left) | (c >= top + 1) | (d <= bottom)
        return (outside | (right < left) | (top < bottom)) & ~self.stopped & ~self.cut

    @property
    def between(self) -> NDArray[np.bool_]:
        """(n,) bool: triangles that are not stopped and not cut, and lie between the centres of pixels."""
        low, high = (np.rint(self.boxes[:, first::2].T * _SUBPIXELS).astype(np.int64) for first in (0, 1))
        # As in assembly.py: the first and the last pixel whose centre may be covered.
        missed = (low + _SUBPIXELS // 2 - 1) // _SUBPIXELS > (high - _SUBPIXELS // 2) // _SUBPIXELS
        found: NDArray[np.bool_] = np.any(missed, axis=0) & ~self.stopped & ~self.cut
        return found

    def losses(self, drops: str) -> Iterator[Loss]:
        """Why triangles are not drawn. drops: FACECULLING_CONFIG.mode as text."""
        yield _loss(self.nan, "{has|have} a corner with NaN", PROGRAM)
        for plane, text in PLANES.items():
            beyond = self.outside >> plane & 1 != 0
            told = numbers_of(self.corners[beyond].reshape(-1, 4), _TOLD.get(plane, ""))
            yield _loss(beyond, f"{{lies|lie}} {text}{told}", "FRAGOP_CLIP" if plane == USER_PLANE else POSITION)
        told = same_place(self.corners[self.flat].reshape(-1, 4))
        yield _loss(self.flat, f"{{has|have}} no area{told}", POSITION)
        for turn, side in (("clockwise", self.clockwise), ("counter-clockwise", ~self.clockwise)):
            text = f"{{is|are}} culled: {{its|their}} corners run {turn} on the screen"
            yield _loss(self.culled & side, text, f"FACECULLING_CONFIG drops {drops}")

    def where(self, number: int) -> str:
        """The positions of a triangle's corners as text."""
        corners = self.corners[number].tolist()
        return ", ".join(f"({', '.join(f'{value:.6g}' for value in corner)})" for corner in corners)


def _loss(which: NDArray[np.bool_], text: str, register: str) -> Loss:
    count = int(which.sum())
    return Loss(count, text, register)


def window_of(machine: N3DS, packet: int) -> NDArray[np.float64]:
    """What the viewport does to a position, as a matrix (3, 4): x and y in pixels, y up, times w, and w. packet: arena
    offset of the draw's packet."""
    work = machine.work
    k = NumpyLang(ArenaViews(work.arena), 1, {})
    setup = Setup(k, work.layout, k.const(packet, I64), dict(machine.runner.assembly_choices))
    half, origin = ([float(np.ravel(one.raw)[0]) for one in both] for both in (setup.half, setup.origin))
    return np.array([
        [half[0], 0, 0, half[0] + origin[0]], [0, half[1], 0, half[1] + origin[1]], [0, 0, 0, 1],
    ])  # fmt: skip


def fates_of(machine: N3DS, packet: int, corners: NDArray[np.float32]) -> TriangleFates:
    """Test triangles. packet: arena offset of the draw's packet. corners: (n, 3, 4) float32, positions."""
    n = len(corners)
    if not n:
        none = np.zeros(0, bool)
        return TriangleFates(corners, none, np.zeros(0, np.int64), none, none, none, none, none, np.zeros((0, 4)))
    work = machine.work
    k = NumpyLang(ArenaViews(work.arena), n, {})
    with np.errstate(all="ignore"):
        setup = Setup(k, work.layout, k.const(packet, I64), dict(machine.runner.assembly_choices))
        points = [
            [Value(k, np.ascontiguousarray(corners[:, corner, axis]), F32, n) for axis in range(4)]
            for corner in range(3)
        ]
        codes = [np.broadcast_to(setup.outcode(point).raw, (n,)) for point in points]
        _, x, y, area = setup.projected(points)
        dropped = np.broadcast_to(setup.culled(area).raw, (n,))
        # What is before the eye of a triangle turns as the matrix of its corners says.
        turns = np.sign(np.linalg.det(np.nan_to_num(corners[..., [0, 1, 3]].astype(np.float64))))
        dropped_part = np.broadcast_to(setup.culled(Value(k, turns.astype(area.raw.dtype), area.type, n)).raw, (n,))
    some, every = codes[0] | codes[1] | codes[2], codes[0] & codes[1] & codes[2]
    nan = (some & _NAN) != 0
    outside = np.where(nan, 0, np.where(every >> EYE & 1 != 0, 1 << EYE, every)).astype(np.int64)
    whole = ~nan & (some == 0)
    flat = whole & (area.raw == 0)
    culled = whole & ~flat & dropped
    columns, rows = (np.stack([np.broadcast_to(v.raw, (n,)) for v in axis]) / _SUBPIXELS for axis in (x, y))
    boxes = np.stack([columns.min(axis=0), columns.max(axis=0), rows.min(axis=0), rows.max(axis=0)], axis=1)
    clockwise = np.broadcast_to(area.raw < 0, (n,))
    cut = ~nan & (outside == 0) & ~whole
    return TriangleFates(corners, nan, outside, flat, culled, clockwise, cut, cut & dropped_part, boxes)


__all__ = ["DEPTHS", "PLANES", "POSITION", "PROGRAM", "TriangleFates", "fates_of", "window_of"]
