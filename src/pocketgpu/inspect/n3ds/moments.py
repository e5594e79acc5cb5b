"""Moments of a 3DS capture: the state of the machine right after an event."""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.capture.driver import Position
from pocketgpu.errors import UsageError
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.changes import Change, changes_between, in_full
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.meshes import Mesh, mesh_of
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.summary import Summary
from pocketgpu.inspect.model.vertices import IndexBuffer, VertexBuffer, Vertices
from pocketgpu.inspect.n3ds.recorder import KIND_TEXT
from pocketgpu.inspect.n3ds.resources.bound_programs import PROGRAM_BANKS, UnitProgram, programs_of
from pocketgpu.inspect.n3ds.resources.buffers import index_buffer, vertex_buffers
from pocketgpu.inspect.n3ds.resources.fifo_tables import NAMES, table_changes
from pocketgpu.inspect.n3ds.resources.summary import summary_of
from pocketgpu.inspect.n3ds.resources.targets import Target, target_of
from pocketgpu.inspect.n3ds.resources.textures import UnitTexture, textures_of
from pocketgpu.inspect.n3ds.vertices import vertices_of
from pocketgpu.pica.core.layout import KIND_ELEMENTS
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pictures import Screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pocketgpu.inspect.model.memory_pictures import MemoryFormats
    from pocketgpu.inspect.model.pictures import MomentPicture
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection

INDEXED = KIND_TEXT[KIND_ELEMENTS]


class _Memory:
    """Guest memory at a moment: the machine goes back there to read it."""

    def __init__(self, moment: N3dsMoment) -> None:
        self._moment = moment

    def read(self, address: int, size: int) -> bytes:
        """See `GuestMemory.read`."""
        return self._moment.machine.memory.read(address, size)

    def offset_of(self, address: int, size: int) -> int | None:
        """See `GuestMemory.offset_of`."""
        return self._moment.machine.memory.offset_of(address, size)


class N3dsMoment(Moment):
    """A 3DS right after an event."""

    def __init__(self, inspection: N3dsInspection, address: Address, event: Event | None) -> None:
        self.inspection, self.address, self.event = inspection, address, event

    @property
    def machine(self) -> N3DS:
        """The machine, brought back to this moment. All moments of the inspection share it and move it."""
        player = self.inspection.player
        if self.event is None:
            player.go(Position(self.address.frame + 1))
        else:
            player.go(Position(self.event.frame, self.event.number + 1))
        return player.machine

    def registers(self) -> dict[str, int]:
        words = self.machine.registers.tolist()
        places = sorted(PICA.places, key=itemgetter(1))
        return {name: words[offset] for name, offset in places if offset < len(words)}

    def read(self, address: int, size: int) -> bytes:
        return self.machine.memory.read(address, size)

    def mapped(self, address: int, size: int) -> list[Range]:
        from pocketgpu.inspect.n3ds.resources.memory import mapped

        return mapped(self.machine.memory, address, size)

    @property
    def memory_formats(self) -> MemoryFormats:
        from pocketgpu.inspect.n3ds.resources.memory import FORMATS

        return FORMATS

    def memory_picture(self, address: int, format: str, layout: str, width: int, height: int) -> np.ndarray:
        from pocketgpu.inspect.n3ds.resources.memory import picture

        self.memory_formats.check(format, layout, width, height)
        return picture(self.machine.memory, address, format, layout, width, height)

    @property
    def target(self) -> Target | None:
        return self._target_at(self)

    def _target_at(self, moment: N3dsMoment) -> Target | None:
        """The target of this moment, in the memory of another one."""
        machine = self.machine
        return target_of(_Memory(moment), machine.registers.copy(), machine.choices)

    @property
    def screens(self) -> dict[str, Screen]:
        return self.machine.screens

    def _target_pictures(self, draw: Address | None, earlier: Moment | None = None) -> Iterator[MomentPicture]:
        from pocketgpu.inspect.n3ds.target_pictures import target_pictures

        target = self._target_at(earlier if isinstance(earlier, N3dsMoment) else self)
        return iter(()) if target is None else target_pictures(target, draw)

    @property
    def summary(self) -> Summary:
        return summary_of(self._words, self.target, self.textures.values(), self.programs.values())

    # -- resources ----------------------------------------------------------------------------------------------------
    @property
    def _words(self) -> np.ndarray:
        return self.machine.registers

    @property
    def textures(self) -> dict[int, UnitTexture]:
        """Bound textures by unit (0 to 2), for units that have one; units that are off are included (`enabled`)."""
        return textures_of(self.machine, self._words)

    @property
    def index_buffer(self) -> IndexBuffer | None:
        """The index buffer; None right after a draw that reads no indices."""
        if self.event is not None and self.event.facts.get("kind", INDEXED) != INDEXED:
            return None
        return index_buffer(self.machine.memory, self._words)

    @property
    def vertex_buffers(self) -> list[VertexBuffer]:
        """Attribute loaders in use."""
        return vertex_buffers(self._words)

    @property
    def programs(self) -> dict[str, UnitProgram]:
        """Shader programs: "vertex", and "geometry" if that stage is on."""
        return programs_of(self._words, {name: self.bank(name) for name in PROGRAM_BANKS})

    @cached_property
    def vertices(self) -> Vertices:
        """Inputs and outputs of the draw's vertices, and how primitives name them.

        :raises UsageError: the moment is not that of a draw.
        """
        if self.event is None:
            raise UsageError("a frame's end has no vertices", location=str(self.address), hint="Name a draw: f1/d17.")
        return vertices_of(self.inspection, self.event)

    def mesh(self, space: str = "output") -> Mesh:
        """The draw's triangles as a mesh, for `to_obj` and `to_glb`; `mesh_of` says what `space` can be.

        :raises UsageError: the moment is not that of a draw, or there is no such space.
        """
        return mesh_of(self.vertices, space, self.textures, str(self.address))

    def changes(self, to: Address | str = "previous") -> list[Change]:
        """Registers, and words of memories that FIFO registers fill (uniforms, programs, tables), that differ from
        those of another moment: "reset", "previous" (the draw before, or reset before the first), or an address. Old
        values are the other moment's.

        :raises UsageError: there is no such event.
        """
        mine, tables = self.registers(), self.tables()
        old, old_tables = {register.name: register.reset for register in PICA}, None
        if to == "previous":
            to = self.inspection.draw_before(self.address) or "reset"
        if to != "reset":
            other = self.inspection.seek(to)
            old, old_tables = other.registers(), other.tables()
        staged = self.programs.keys() >= {"geometry"}
        return [*changes_between(old, mine), *table_changes(old_tables, tables, geometry=staged)]

    def every_register(self) -> list[Change]:
        mine = self.registers()
        return [in_full(one.name, one.reset, mine[one.name], one) for one in PICA if one.name in mine]

    def unlike(self, other: Moment) -> list[Change]:
        if not isinstance(other, N3dsMoment):
            return super().unlike(other)
        staged = any("geometry" in one.programs for one in (self, other))
        return [*super().unlike(other), *table_changes(other.tables(), self.tables(), geometry=staged)]

    def tables(self) -> dict[str, np.ndarray]:
        """Copies of all memories that FIFO registers fill, by name; see `bank`."""
        return {name: self.bank(name) for name in NAMES}

    def bank(self, name: str) -> np.ndarray:
        """A copy of a memory that FIFO registers fill, as uint32 words: "vs_code", "vs_uniforms", "lighting_lut"…"""
        return self.machine.bank(name).copy()


__all__ = ["N3dsMoment"]
