"""The fates of a draw's primitives before raster: how many are lost, and which plane, side or rectangle loses them.

They are computed here from the positions that the last program before raster wrote, by the rules of the clipper. So a
count does not depend on the machine's own code; tests compare it with the shapes that the machine made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pocketgpu.distinct import distinct
from pocketgpu.inspect.model.stage import Loss
from pocketgpu.inspect.model.vertices import numbers_of, same_place
from pocketgpu.inspect.switch.primitives.causes import culling_registers, empty_scissor, target_size
from pocketgpu.inspect.switch.primitives.viewports import column, vertex_output, viewports_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.draw.plans import Plan
from pocketgpu.maxwell.graphics.output.targets import Target
from pocketgpu.maxwell.graphics.primitives.assembled import GUARD, LEAST_W, SUBPIXEL_BITS, SUBPIXELS
from pocketgpu.maxwell.graphics.primitives.layout import USER_PLANES
from pocketgpu.maxwell.graphics.records import (
    LINE_LIST,
    POINT_LIST,
    PRIMITIVE_ID,
    PRIMITIVES,
    PROVOKING,
    RASTER,
    TRIANGLE_LIST,
    VERTICES,
    VIEWPORT,
    VIEWPORT_COUNT,
)
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
_NO_POSITIONS = np.zeros((0, 4), np.float32)
MOST_SIZE = 2048
"""The largest size of a point in pixels; programs can write any."""
NO_PLACE = "NaN or infinity"
"""Part of the reason of primitives without a place."""
_USER_PLANE = "outside of user clip plane"
_PLANE_REGISTERS = {
    "nearer than the near plane": "SET_VIEWPORT_Z_CLIP", "beyond the far plane": "SET_VIEWPORT_CLIP_CONTROL",
}  # fmt: skip
_ENABLE = "SET_USER_CLIP_ENABLE"
_TOLD = {"behind the eye": "w", **dict.fromkeys(_PLANE_REGISTERS, "zw")}
"""The coordinates that tell how far away from a plane positions are."""
_SIDES = (("left of the view", "right of the view"), ("below the view", "above the view"))
"""The sides of an axis of clip space, negative and positive."""
_EXTENTS = (
    ("the viewport's rectangle", "SET_VIEWPORT_CLIP", ("X0", "Y0"), True),
    ("the surface clip", "SET_SURFACE_CLIP", ("X", "Y"), False),
)
"""Rectangles given by a first pixel and a size: name, prefix of their registers, fields, whether each viewport has its
own."""
_AXES = (("HORIZONTAL", "WIDTH", "columns"), ("VERTICAL", "HEIGHT", "rows"))


@dataclass(frozen=True)
class Limit:
    """Pixels that may be drawn, along one axis (0: columns, 1: rows), both ends inclusive; what limits them there."""

    axis: int
    first: int
    last: int
    reason: str
    register: str


def limits_of(state: State, targets: list[Target], n: int) -> Iterator[Limit]:
    """What limits the pixels of viewport `n`, the scissor first."""
    size = target_size(state, targets)
    if state.field("SET_SCISSOR_ENABLE", "V", n):
        empty = empty_scissor(state, targets, n)
        for axis, (name, _, what) in enumerate(_AXES):
            method, letter = f"SET_SCISSOR_{name}", "XY"[axis]
            low, high = (state.field(method, f"{letter}{end}", n) for end in ("MIN", "MAX"))
            reason = f"{{lies|lie}} outside of the scissor, which keeps {what} {low} to {high - 1}"
            if empty is not None and empty[1] == f"{method}({n})":
                reason = empty[0]
            yield Limit(axis, low, high - 1, reason, f"{method}({n})")
    for what, prefix, fields, own in _EXTENTS:
        for axis, (name, extent, unit) in enumerate(_AXES):
            method, index = f"{prefix}_{name}", n if own else 0
            first = state.field(method, fields[axis], index)
            last = first + state.field(method, extent, index) - 1
            register = f"{method}({n})" if own else method
            yield Limit(axis, first, last, f"{{lies|lie}} outside of {what}, {unit} {first} to {last}", register)
    for axis, end in enumerate(size or ()):
        reason = f"{{lies|lie}} beside the target, which has {end} {_AXES[axis][2]}"
        yield Limit(axis, 0, end - 1, reason, "")


def plane_register(name: str) -> str:
    """The register that turns a plane of the clip volume on; "" if it is always on."""
    return _ENABLE if _USER_PLANE in name else _PLANE_REGISTERS.get(name, "")


def _extent(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """The least and the greatest number of each axis, (2, 4)."""
    positions = corners.reshape(-1, 4)
    return np.stack([positions.min(axis=0), positions.max(axis=0)])


class PrimitiveCount:
    """Counts of one draw, list by list; with a `primitive`, of that one.

    vertices: shaded. wholes: primitives by their numbers; primitives: rows of the lists, of which a quad has two.
    copies: rows for all viewports that a program's mask selects. viewports: the numbers of those in use. broken: those
    without a place. planes: how many of those outside of the clip volume lie beyond each plane. culled, flat: triangles
    of a culled side, without area. beside: of those left, how many have no shape, by (reason, registers).
    """

    def __init__(self, memory: GpuMemory, state: State, primitive: int | None) -> None:
        self._memory, self._state, self._primitive = memory, state, primitive
        self.vertices = self.wholes = self.primitives = self.copies = self.broken = self.culled = self.flat = 0
        self.viewports: set[int] = set()
        self.planes: Counter[str] = Counter()
        self._beyond: dict[str, list[NDArray[np.float32]]] = {}  # the least and the greatest numbers of positions
        self._flat: list[NDArray[np.float32]] = []
        self.beside: Counter[tuple[str, str]] = Counter()
        self.first, self.end = -1, 0
        """The primitives of the draw, by number."""

    @property
    def outside(self) -> int:
        """How many lie outside of the clip volume."""
        return sum(self.planes.values())

    def losses(self) -> list[Loss]:
        """The primitives outside of the clip volume, plane by plane."""
        return [
            Loss(count, f"{{lies|lie}} {name}{self._numbers(name)}", plane_register(name))
            for name, count in self.planes.items()
        ]

    def _numbers(self, plane: str) -> str:
        """What positions beyond a plane of depth are."""
        return numbers_of(np.concatenate(self._beyond.get(plane, [_NO_POSITIONS])), _TOLD.get(plane, ""))

    @property
    def flat_at(self) -> str:
        """Where triangles without area are, if that is a point."""
        return same_place(np.concatenate(self._flat or [_NO_POSITIONS]))

    @property
    def facing(self) -> int:
        """How many are left to be drawn."""
        return self.copies - self.broken - self.outside - self.culled - self.flat

    def add(self, plan: Plan, count: int) -> None:
        """Count a list of primitives."""
        memory = self._memory
        kind = int(memory.words(plan.lists[1], 2)[PRIMITIVES.KIND // 4])
        self.vertices += int(memory.words(plan.lists[0] + VERTICES.COUNT, 1)[0])
        if not count:
            return
        ids = column(memory, plan, PRIMITIVE_ID, count) & 0xFFFFFFFF
        self.first = int(ids.min()) if self.first < 0 else min(self.first, int(ids.min()))
        self.end = max(self.end, int(ids.max()) + 1)
        mine = np.flatnonzero(ids == self._primitive) if self._primitive is not None else np.arange(count)
        self.wholes += len(distinct(ids[mine]))
        self.primitives += len(mine)
        if not len(mine) or kind > TRIANGLE_LIST:
            self.copies += len(mine)
            return
        columns = np.stack([column(memory, plan, n, count) for n in range(kind + 1)], axis=1)[mine]
        which, numbers = viewports_of(memory, plan, column(memory, plan, PROVOKING, count)[mine])
        self.copies += len(which)
        for n in distinct(numbers).tolist():
            self.viewports.add(n)
            rows = which[numbers == n]
            self._of_viewport(plan, n, kind, columns[rows], mine[rows])

    def judge(self, rows: Ints, verdict: str, reason: str = "", register: str = "") -> None:
        """What became of copies of primitives, by their rows in the list; see `VERDICTS`. Counts need nothing else."""

    # -- fates --------------------------------------------------------------------------------------------------------
    def _of_viewport(self, plan: Plan, n: int, kind: int, columns: Ints, rows: Ints) -> None:
        """The fates of primitives of one viewport. columns: their vertices, (count, kind + 1). rows: in the list."""
        size = VIEWPORT.size // 4
        viewport = self._memory.words(plan.viewports, size * VIEWPORT_COUNT)[n * size : (n + 1) * size]
        source, sign = (viewport[at // 4 : at // 4 + 4] for at in (VIEWPORT.SOURCE, VIEWPORT.SIGN))
        words = [vertex_output(self._memory, plan, int(at)) ^ bit for at, bit in zip(source, sign, strict=True)]
        corners = np.stack(words, axis=1).view(np.float32)[columns]
        with np.errstate(all="ignore"):
            broken = self._broken(plan, corners)
            self.broken += int(broken.sum())
            self.judge(rows[broken], "broken", f"{{has|have}} {NO_PLACE} in {{its|their}} positions")
            away = broken.copy()
            crossing: list[tuple[str, Flags]] = []
            planes = (
                *self._planes(plan, viewport, n, kind, corners.astype(np.float64)), *self._user_planes(plan, columns)
            )  # fmt: skip
            for name, beyond in planes:
                fresh = beyond.all(axis=1) & ~away
                self.planes[name] += int(fresh.sum())
                if name in _TOLD and fresh.any():
                    self._beyond.setdefault(name, []).append(_extent(corners[fresh]))
                self.judge(rows[fresh], "outside", f"{{lies|lie}} {name}", plane_register(name))
                away |= fresh
                crossing.append((name, np.asarray(beyond.any(axis=1))))
            if kind == TRIANGLE_LIST:
                self._faces(plan, viewport, n, corners[~away], rows[~away])
            for name, beyond in crossing:
                self.judge(rows[beyond & ~away], "clipped", f"{{is|are}} partly {name}", plane_register(name))

    @staticmethod
    def _broken(plan: Plan, corners: NDArray[np.float32]) -> Flags:
        """Whether a corner has no place. An infinite w is one: the middle of the viewport."""
        infinite = np.isinf(corners)
        if not plan.words[RASTER.CLIP_Z // 4]:
            infinite[..., 2] = False
        infinite[..., 2] &= ~infinite[..., 3]
        infinite[..., 3] = False
        found: Flags = np.any(np.isnan(corners) | infinite, axis=(1, 2))
        return found

    def _planes(
        self, plan: Plan, viewport: NDArray[np.int32], n: int, kind: int, corners: Floats
    ) -> Iterator[tuple[str, Flags]]:  # fmt: skip
        """The planes of the clip volume, and which corners are beyond each. What is beside the view counts as drawn if
        the rectangle of the viewport is larger than the view."""
        words, state = plan.words, self._state
        x, y, z, w = (corners[..., i] for i in range(4))
        yield "behind the eye", w < LEAST_W
        scale, offset = (
            viewport[at // 4 : at // 4 + 3].view(np.float32).astype(np.float64)
            for at in (VIEWPORT.SCALE, VIEWPORT.OFFSET)
        )
        margin = self._margin(plan, kind)
        moved = bool(state.field("SET_VIEWPORT_SCALE_OFFSET", "ENABLE"))
        for axis, (v, field) in enumerate(((x, "X0"), (y, "Y0"))):
            method, extent, _ = f"SET_VIEWPORT_CLIP_{_AXES[axis][0]}", *_AXES[axis][1:]
            first = state.field(method, field, n)
            at = v * scale[axis] + offset[axis] * w
            low = at < (first - margin) * w
            high = at > (first + state.field(method, extent, n) + margin) * w
            negative, positive = _SIDES[axis]
            if not moved:  # positions are pixels, y down
                yield (negative, low) if axis == 0 else (positive, low)
                yield (positive, high) if axis == 0 else (negative, high)
                continue
            mirrored = scale[axis] < 0
            yield negative, (v < -w) & (high if mirrored else low)
            yield positive, (v > w) & (low if mirrored else high)
        if words[RASTER.CLIP_Z // 4]:
            yield "nearer than the near plane", z < (0 if words[RASTER.NEAR_ZERO // 4] else -w)
            yield "beyond the far plane", z > w

    @staticmethod
    def _margin(plan: Plan, kind: int) -> float:
        """How many pixels a primitive reaches beyond its corners, at most."""
        words = plan.words

        def number(at: int) -> float:
            return float(words[at // 4 : at // 4 + 1].view(np.float32)[0])

        found = float(any(words[at // 4] for at in (RASTER.HALF, RASTER.CONSERVATIVE, RASTER.POLY_SMOOTH)))
        modes = words[RASTER.MODES // 4 : RASTER.MODES // 4 + 2]
        if kind == POINT_LIST or (kind == TRIANGLE_LIST and modes.any()):
            size = MOST_SIZE if words[RASTER.POINT_SIZE_AT // 4] >= 0 else number(RASTER.POINT_SIZE)
            found = max(found, size / 2 + 1)
        if kind == LINE_LIST or (kind == TRIANGLE_LIST and modes.any()):
            found = max(found, number(RASTER.LINE_WIDTH) / 2 + 1)
        return found

    def _user_planes(self, plan: Plan, columns: Ints) -> Iterator[tuple[str, Flags]]:
        """User clip planes that are on, and which corners are beyond each."""
        words = plan.words
        for n in range(USER_PLANES):
            if words[RASTER.USER_PLANES // 4] >> n & 1:
                distances = vertex_output(self._memory, plan, int(words[RASTER.DISTANCES // 4 + n])).view(np.float32)
                yield f"{_USER_PLANE} {n}", ~(distances[columns] >= 0)

    def _faces(
        self, plan: Plan, viewport: NDArray[np.int32], n: int, corners: NDArray[np.float32], rows: Ints
    ) -> None:  # fmt: skip
        """Triangles of the culled side, those without area, and what keeps the others from having a shape."""
        scale, offset = (
            viewport[at // 4 : at // 4 + 2].view(np.float32) for at in (VIEWPORT.SCALE, VIEWPORT.OFFSET)
        )
        w = corners[..., 3:]
        window = corners[..., :2] * (np.float32(1) / w) * scale + offset
        snapped = np.rint(window * np.float32(SUBPIXELS)).astype(np.float64)
        a, b = snapped[:, 1] - snapped[:, 0], snapped[:, 2] - snapped[:, 0]
        twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        crossing = (w[..., 0] < LEAST_W).any(axis=1)
        if crossing.any():  # the part before the eye turns as the matrix of the corners says
            turns = np.linalg.det(corners[crossing][..., [0, 1, 3]].astype(np.float64))
            twice[crossing] = turns * np.sign(float(scale[0]) * float(scale[1]))
        flat = twice == 0
        front = (twice < 0) == bool(plan.words[RASTER.FRONT_NEGATIVE // 4])
        cull = int(plan.words[RASTER.CULL // 4])
        culled = ~flat & np.where(front, bool(cull & 1), bool(cull & 2))
        self.flat += int(flat.sum())
        if flat.any():
            self._flat.append(_extent(corners[flat]))
        self.culled += int(culled.sum())
        self.judge(rows[flat], "degenerate", "{has|have} no area")
        self.judge(rows[culled], "culled", "{shows|show} the side that is culled", culling_registers(self._state))
        words = plan.words
        odd = [RASTER.MODES, RASTER.MODES + 4, RASTER.CONSERVATIVE, RASTER.FILL_VIA_TRIANGLE, RASTER.POLY_SMOOTH]
        if any(words[at // 4] for at in odd):
            return
        whole = ~flat & ~culled & ~crossing & (np.abs(window) <= GUARD).all(axis=(1, 2))
        if words[RASTER.CLIP_Z // 4]:
            z = corners[..., 2]
            near = np.float32(0) if words[RASTER.NEAR_ZERO // 4] else -w[..., 0]
            whole &= ((z >= near) & (z <= w[..., 0])).all(axis=1)
        self._beside(plan, n, snapped[whole].astype(np.int64) + int(words[RASTER.HALF // 4]), rows[whole])

    def _beside(self, plan: Plan, n: int, corners: Ints, rows: Ints) -> None:
        """Triangles that no plane cuts: which have no shape, as no pixel of their box may be drawn. corners: in 1/256
        pixel, (count, 3, 2)."""
        half = 0 if plan.words[RASTER.MULTISAMPLE // 4] else SUBPIXELS // 2
        low = (corners.min(axis=1) + max(half - 1, 0)) >> SUBPIXEL_BITS
        high = (corners.max(axis=1) - half) >> SUBPIXEL_BITS
        gone = (low > high).any(axis=1)
        self.beside["{lies|lie} between the centres of pixels", ""] += int(gone.sum())
        self.judge(rows[gone], "degenerate", "{lies|lie} between the centres of pixels")
        for limit in limits_of(self._state, plan.targets, n):
            beyond = (high[:, limit.axis] < limit.first) | (low[:, limit.axis] > limit.last)
            beyond |= limit.first > limit.last  # it keeps nothing
            self.beside[limit.reason, limit.register] += int((beyond & ~gone).sum())
            self.judge(rows[beyond & ~gone], "outside", limit.reason, limit.register)
            gone |= beyond


__all__ = ["NO_PLACE", "Limit", "PrimitiveCount", "limits_of"]
