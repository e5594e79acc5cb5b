"""The vertices of each primitive of a draw of the Switch, by its topology: which of those that the draw names."""

from __future__ import annotations

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.steppable import Steppable
from pocketgpu.inspect.model.vertices import Corner, Primitive
from pocketgpu.inspect.switch.primitives.later import late_programs
from pocketgpu.maxwell.engines.threed import topology
from pocketgpu.maxwell.engines.threed.draws import STAGES, Draw
from pocketgpu.maxwell.graphics.draw.plans import PIXEL

_NUMBERS = 1 << 32


class DrawCorners:
    """What names the vertices of a draw, which reads the machine's memory: of a moment near the draw."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._patch = draw.state.field("SET_PATCH", "SIZE")
        try:
            self._runs = [len(run) for run in draw.runs]
            self._numbers = draw.vertex_numbers
        except UsageError:  # too many vertices
            self._runs = []
        stages = {one.stage for one in draw.shaders}
        self._shaded = min(stages, default=PIXEL) != PIXEL
        self._late = late_programs(stages)

    def places(self, number: int) -> list[int]:
        """The places of a primitive's vertices in the draw. number: as programs read it."""
        draw, first = self._draw, 0
        left = (number - draw.first_primitive) % _NUMBERS
        for length in self._runs:
            count = topology.primitives(draw.topology, length, self._patch)
            if left < count:
                return [first + place for place in topology.corners(draw.topology, length, self._patch, left)]
            left -= count
            first += length
        return []

    def primitive(self, at: Address, number: int) -> Primitive:
        """A primitive with its vertices, and the programs that made it. at: of the draw."""
        corners = tuple(
            Corner(at.at(vertex=place), int(self._numbers[place])) for place in self.places(number)
        )  # fmt: skip
        own = at.at(primitive=number)
        runs = [
            Steppable(f"{STAGES[stage]} program of {at}", own.at(late=(letter, 0)))
            for stage, (letter, _) in reversed(self._late.items())
        ]
        runs += [Steppable(f"vertex program of {at}", one.address) for one in corners] if self._shaded else []
        return Primitive(own, corners, tuple(runs))


__all__ = ["DrawCorners"]
