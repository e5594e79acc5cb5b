"""The fates of a draw's triangles on a 3DS, in the form that both consoles have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import sized
from pocketgpu.facts.pica_enums import SCISSOR
from pocketgpu.inspect.model.fates import Fates, FateTable
from pocketgpu.inspect.n3ds.primitives.triangle_fates import PLANES, POSITION, PROGRAM, TriangleFates
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.primitives.assembly import USER_PLANE

_VIEWPORT = "VIEWPORT_XY, VIEWPORT_WIDTH, VIEWPORT_HEIGHT"
_SCISSOR = "SCISSORTEST_POS, SCISSORTEST_DIM"
_CULLING = "FACECULLING_CONFIG.mode"


def judged(found: TriangleFates, get: StaticRegisters, numbers: NDArray[np.int64]) -> Fates:
    """The fates of triangles. get: the draw's registers. numbers: the numbers of their primitives."""
    table = FateTable(len(numbers))
    table.give(found.nan, "broken", "{has|have} a corner with NaN", PROGRAM)
    for plane, text in PLANES.items():
        register = "FRAGOP_CLIP" if plane == USER_PLANE else POSITION
        table.give(found.outside >> plane & 1 != 0, "outside", f"{{lies|lie}} {text}", register)
    table.give(found.flat, "degenerate", "{has|have} no area", POSITION)
    for turn, side in (("clockwise", found.clockwise), ("counter-clockwise", ~found.clockwise)):
        table.give(found.culled & side, "culled", f"{{its|their}} corners run {turn} on the screen", _CULLING)
    table.give(found.cut_culled, "culled", "what clipping leaves shows the side that is culled", _CULLING)
    width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1
    beside = found.beside(0, width - 1, 0, height - 1)
    table.give(beside, "outside", f"{{lies|lie}} beside the target of {sized(width, height)}", _VIEWPORT)
    if get("SCISSORTEST_MODE.mode") == SCISSOR.INSIDE:
        x1, y1, x2, y2 = (get(f"SCISSORTEST_{name}") for name in ("POS.x1", "POS.y1", "DIM.x2", "DIM.y2"))
        reason = f"{{lies|lie}} outside of the scissor, which keeps {x1}, {y1} to {x2}, {y2}"
        table.give(found.beside(x1, x2, y1, y2), "outside", reason, _SCISSOR)
    table.give(found.between, "degenerate", "{lies|lie} between the centres of pixels", POSITION)
    table.give(found.cut, "clipped", "{crosses|cross} a plane of the clip volume", POSITION)
    return table.result(numbers)


__all__ = ["judged"]
