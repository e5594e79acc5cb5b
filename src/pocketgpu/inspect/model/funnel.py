"""The funnel of a draw, or of one of its triangles: what entered each stage, what passed, what stopped the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.references import Link, Reference, registers_in
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.model.steppable import Steppable
from pocketgpu.late_dataclass import dataclass


@dataclass(repr=False)
class Funnel(Answer):
    """The answer to "what became of this draw?": how much entered and passed each stage.

    stages: the counts, from vertices to changed bytes; those of one primitive alone if the question was about one.
    triangle: where the corners of that primitive are, as text; "" without one. example (Switch): what happened to one
    fragment, if the draw changed no bytes. odd: findings of `pocketgpu check` on the draw's registers and program.
    tiles (3DS): (tiles on which fragments were counted, all tiles); None if all were counted. depths: fragments that
    changed depth or stencil; None if they were not counted. proved: whether everything was counted; on a 3DS also
    whether NumPy gives the bytes that the machine wrote, on a Switch only for the example.
    """

    schema: ClassVar[str] = "pocketgpu.funnel/2"

    address: Address
    event: Event
    stages: list[Stage] = field(default_factory=list)
    because: str = ""
    triangle: str = ""
    example: str = ""
    odd: list[str] = field(default_factory=list)
    tiles: tuple[int, int] | None = None
    depths: int | None = None
    proved: bool = True

    @property
    def programs(self) -> list[Steppable]:
        """The program of its first vertex."""
        if not self.stages or not self.stages[0].came:
            return []
        return [Steppable("program of the first vertex", self.event.address.at(vertex=0))]

    @property
    def narrowest(self) -> Stage | None:
        """The first stage that nothing passed."""
        return next((stage for stage in self.stages if stage.stops_all), None)

    @property
    def conclusion(self) -> list[str]:
        """The fate of the draw or the primitive, then the findings in `odd`."""
        if self.address.primitive is None:
            lines = [f"{self.event.title}: {self.because}  {self.address.place}"]
        else:
            lines = [f"{self.address}: {self.because}", f"  of {self.event.title}  {self.address.place}"]
        lines += [f"  {self.triangle}"] if self.triangle else []
        lines += [f"  odd: {line}" for line in self.odd]
        return [*lines, *([self.example] if self.example else [])]

    def details(self) -> Iterator[str]:
        for stage in self.stages:
            yield f"  {stage}"
            yield from (f"      {loss}" for loss in stage.lost if loss.count)
        if self.depths:
            yield f"  fragments that changed depth or stencil: {self.depths:,}"
        if self.tiles is not None:
            yield f"  fragments were counted on {self.tiles[0]} of {self.tiles[1]} tiles; --all counts all of them"
        elif not self.proved:
            yield "  NOT proved: not everything was counted, or the machine's own code wrote other bytes"

    def links(self) -> list[Link]:
        """The registers that stop something, at the lines that say so."""
        found, line = [], self.first_detail
        for stage in self.stages:
            line += 1
            for loss in stage.lost:
                if loss.count:
                    names = registers_in(loss.register)
                    found += [Link(line, self.event.address, Reference(0, name)) for name in names]
                    line += 1
        return found

    def to_json(self) -> dict[str, Any]:
        tiles = None if self.tiles is None else {"looked_at": self.tiles[0], "of": self.tiles[1]}
        return self.head() | {
            "event": str(self.event.by_number), "proved": self.proved, "triangle": self.triangle,
            "example": self.example, "odd": self.odd, "tiles": tiles, "depths": self.depths,
            "stages": [stage.to_json() for stage in self.stages],
        }  # fmt: skip


__all__ = ["Funnel"]
