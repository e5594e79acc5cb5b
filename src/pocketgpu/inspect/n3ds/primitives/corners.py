"""The vertices of each primitive of a draw of a 3DS, by its registers: which of those that the draw names."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica_enums import GEOMETRY_MODE, GEOMETRY_STAGE, PRIMITIVE
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.steppable import Steppable
from pocketgpu.inspect.model.vertices import Corner, Primitive
from pocketgpu.inspect.n3ds.resources.buffers import index_buffer
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import KIND_ELEMENTS, KIND_IMMEDIATE
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.primitives.assembly import CHAINED

_CORNERS = 3


@dataclass(frozen=True, eq=False)
class DrawCorners:
    """What names the vertices of a draw. registers: of the draw, 0x300 words. kind: of its packet. sent: attributes
    that were sent for immediate vertices. memory: as it is right before the draw."""

    registers: NDArray[np.uint32]
    kind: int
    sent: int
    memory: GuestMemory

    @cached_property
    def _get(self) -> StaticRegisters:
        return StaticRegisters(RegisterWords(self.registers))

    @property
    def staged(self) -> bool:
        """Whether a geometry program makes the triangles."""
        return self._get("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON

    @property
    def own_uniforms(self) -> bool:
        """Whether each primitive of the geometry program has its own uniforms."""
        return self._get("GSH_MISC0.mode") != GEOMETRY_MODE.POINT

    @property
    def count(self) -> int:
        """How many vertices the draw names."""
        get = self._get
        return self.sent // (get("VSH_NUM_ATTR.count") + 1) if self.kind == KIND_IMMEDIATE else get("NUMVERTICES.count")

    def count_of(self, before: int) -> int:
        """How many triangles the vertices form, without a geometry program. before: vertices of earlier draws."""
        total = self.count + before
        return max(total - _CORNERS + 1, 0) if self._get("PRIMITIVE_CONFIG.mode") in CHAINED else total // _CORNERS

    def places(self, primitive: int, before: int) -> list[int]:
        """The places of a primitive's vertices in the draw.

        :param before: what the unit holds of earlier draws: vertices; registers for a geometry program in POINT mode.
        """
        get, found = self._get, range(0)
        if self.staged:
            mode = get("GSH_MISC0.mode")
            if mode == GEOMETRY_MODE.POINT:
                inputs, outputs = get("GSH_INPUTBUFFER_CONFIG.count") + 1, get("VSH_OUTMAP_TOTAL1.count") + 1
                first = primitive * inputs - before
                found = range(first // outputs, -(-(first + inputs) // outputs))
            elif mode == GEOMETRY_MODE.FIXED:
                size = get("GSH_MISC0.vertices") + 1
                found = range(primitive * size - before, (primitive + 1) * size - before)
            return self._own(found)
        mode = get("PRIMITIVE_CONFIG.mode")
        first = (primitive if mode in CHAINED else _CORNERS * primitive) - before
        found = range(first, first + _CORNERS)
        if mode == PRIMITIVE.TRIANGLE_FAN:
            return self._own([-before, *found[1:]])
        return self._own(found)

    def _own(self, places: range | list[int]) -> list[int]:
        """Those that are the draw's own."""
        return [place for place in places if 0 <= place < self.count]

    def numbers(self, places: list[int]) -> list[int]:
        """The numbers of vertices in the buffers. Of immediate ones, which are in none, the places."""
        if self.kind == KIND_IMMEDIATE:
            return places
        if self.kind == KIND_ELEMENTS:
            indices = self._indices
            return [int(indices[place]) if place < len(indices) else 0 for place in places]
        first = self._get("VERTEX_OFFSET.first")
        return [first + place for place in places]

    @cached_property
    def _indices(self) -> NDArray[np.unsignedinteger[Any]]:
        return index_buffer(self.memory, self.registers).array

    def primitive(self, draw: Address, number: int, before: int) -> Primitive:
        """A primitive with its vertices, and the programs that made it. before: see `places`."""
        places = self.places(number, before)
        corners = tuple(
            Corner(draw.at(vertex=place), buffered)
            for place, buffered in zip(places, self.numbers(places), strict=True)
        )
        at = draw.at(primitive=number)
        runs = [Steppable(f"geometry program of {draw}", at)] if self.staged else []
        runs += [Steppable(f"vertex program of {draw}", one.address) for one in corners]
        return Primitive(at, corners, tuple(runs))


__all__ = ["DrawCorners"]
