"""Moments of a Switch recording: the state of the machine right after an event."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B0B5, B1C0, B197, CLASSES, TWOD
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.changes import Change, change, in_full
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.resources import ConstantBuffer
from pocketgpu.inspect.model.summary import Summary
from pocketgpu.inspect.model.vertices import IndexBuffer, VertexBuffer, Vertices
from pocketgpu.inspect.switch.recorder import register_name
from pocketgpu.inspect.switch.resources import HandleTexture, StageShader, buffers, shaders, textures
from pocketgpu.inspect.switch.summary import summary_of
from pocketgpu.inspect.switch.surfaces import Surface, TargetPicture, surface_of, targets_of
from pocketgpu.inspect.switch.vertices import fresh, index_buffer, vertex_buffers, vertices_of
from pocketgpu.maxwell.display.present import Picture
from pocketgpu.maxwell.engines.common.action_log import Blit, Copy
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.formats.samples import samples_of
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.layout import CLASS_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pocketgpu.inspect.model.memory_pictures import MemoryFormats
    from pocketgpu.inspect.model.pictures import MomentPicture
    from pocketgpu.inspect.switch.inspection import SwitchInspection

Registers = NDArray[np.uint32]


class _Memory:
    """Guest memory at a moment: the machine goes back there to read it."""

    def __init__(self, moment: SwitchMoment) -> None:
        self._moment = moment

    def try_read(self, va: int, size: int) -> tuple[bytes, int]:
        """See `GpuMemory.try_read`."""
        return self._moment.machine.memory.try_read(va, size)


class SwitchMoment(Moment):
    """The state of the machine right after an event; see `SwitchInspection.seek`.

    address, event: of the moment; event is None at the beginning of a frame.
    """

    def __init__(self, inspection: SwitchInspection, address: Address, event: Event | None, tick: int) -> None:
        self.address, self.event = address, event
        self._inspection, self._tick = inspection, tick

    @property
    def machine(self) -> GM20B:
        """The machine, brought back to this moment. All moments of the inspection share it and move it."""
        self._inspection.player.go(self._inspection.player.at(self._tick))
        return self._inspection.player.machine

    # -- registers ----------------------------------------------------------------------------------------------------
    @property
    def channel(self) -> int:
        """Index of the channel of the last event of an engine."""
        for trace in reversed(self._inspection.recorder.traces[: self._tick]):
            if trace.channel >= 0:
                return trace.channel
        return 0

    def words(self, class_id: int = B197.class_id) -> Registers:
        """The register file of a class at its last event, 0x1000 words.

        :raises UsageError: there is no such class.
        """
        return self._inspection.registers(self._tick, class_id, self.channel)

    @property
    def state(self) -> State:
        """The registers of the 3D class by official name and field."""
        return State(B197, self.words())

    def registers(self, class_id: int = B197.class_id) -> dict[str, int]:
        """Words of all registers of a class by official name ("SET_COLOR_TARGET_A(0)").

        :raises UsageError: there is no such class.
        """
        words = self.words(class_id).tolist()
        return {label: words[word] for label, word in CLASSES[class_id].labels}

    def changes(self, to: Address | str = "previous", class_id: int | None = None) -> list[Change]:
        """Registers of a class (default: of the 3D class; after a launch, a blit or a copy the class of its engine)
        that differ from those of another moment: "reset" (power-on), "previous" (the draw before, or power-on before
        the first), or an address. Old values are the other moment's.

        :raises UsageError: there is no such event or class.
        """
        inspection = self._inspection
        if class_id is None:
            class_id = self._class
        if to == "previous":
            to = inspection.draw_before(self.address) or "reset"
        there = inspection.registers(0 if to == "reset" else inspection.tick_of(to), class_id, self.channel)
        return self._changed(class_id, there)

    def every_register(self) -> list[Change]:
        block = CLASSES[self._class]
        here, there = self.words(self._class), self._inspection.registers(0, self._class, self.channel)
        return [in_full(label, int(there[n]), int(here[n]), block.get(n)) for label, n in block.labels]

    def unlike(self, other: Moment) -> list[Change]:
        return self._changed(self._class, other.words(self._class)) if isinstance(other, SwitchMoment) else []

    def _changed(self, class_id: int, there: Registers) -> list[Change]:
        """Registers of a class that are not as in another file."""
        here = self.words(class_id)
        file, block = CLASS_FILES.index(class_id), CLASSES[class_id]
        return [
            change(register_name(file, n), int(there[n]), int(here[n]), block.get(n))
            for n in np.flatnonzero(there != here).tolist()
        ]

    @property
    def _class(self) -> int:
        """The class of the engine that did the event of this moment."""
        what = self._inspection.recorder.traces[self._tick - 1].what if self._tick and self.event is not None else None
        engines = {Launch: B1C0, Blit: TWOD, Copy: B0B5}
        return engines.get(type(what), B197).class_id

    # -- memory -------------------------------------------------------------------------------------------------------
    def read(self, address: int, size: int) -> bytes:
        """Bytes of the GPU's address space.

        :raises GuestMemoryError: not all of it is mapped.
        """
        return self.machine.memory.read(address, size)

    def mapped(self, address: int, size: int) -> list[Range]:
        from pocketgpu.inspect.switch.memory.pictures import mapped

        return mapped(self.machine, address, size)

    @property
    def memory_formats(self) -> MemoryFormats:
        from pocketgpu.inspect.switch.memory.pictures import FORMATS

        return FORMATS

    def memory_picture(self, address: int, format: str, layout: str, width: int, height: int) -> NDArray[np.uint8]:
        from pocketgpu.inspect.switch.memory.pictures import picture

        self.memory_formats.check(format, layout, width, height)
        return picture(self.machine, address, format, layout, width, height)

    # -- pictures -----------------------------------------------------------------------------------------------------
    def surfaces(self) -> list[Surface]:
        """The bound targets: colour targets in the order of outputs, then the depth target."""
        state = self.state
        return [surface_of(target, samples_of(state)) for target in targets_of(state)]

    def picture(self, surface: Surface) -> TargetPicture:
        """A surface as it is now."""
        machine = self.machine
        return TargetPicture(surface, surface.rows(machine.memory, machine.engine))

    @property
    def targets(self) -> list[TargetPicture]:
        """All of `surfaces` as pictures."""
        return [self.picture(surface) for surface in self.surfaces()]

    @property
    def target(self) -> TargetPicture | None:
        """The first colour target as a picture, row 0 first; None without one."""
        found = next((one for one in self.surfaces() if one.slot is not None), None)
        return None if found is None else self.picture(found)

    @property
    def depth(self) -> TargetPicture | None:
        """The depth target as a picture; None without one."""
        found = next((one for one in self.surfaces() if one.slot is None), None)
        return None if found is None else self.picture(found)

    def _target_pictures(self, draw: Address | None, earlier: Moment | None = None) -> Iterator[MomentPicture]:
        from pocketgpu.inspect.switch.target_pictures import target_pictures

        moment = earlier if isinstance(earlier, SwitchMoment) else self
        return target_pictures(self.surfaces(), moment.picture, draw)

    @property
    def screens(self) -> dict[str, Picture]:
        """What is shown now: {"screen": picture}; empty before the first picture of the recording."""
        traces = self._inspection.recorder.traces[: self._tick]
        for tick in range(len(traces), 0, -1):
            if traces[tick - 1].what == "show":
                frame = int(traces[tick - 1].record)
                player = self._inspection.player
                player.go(player.at(self._tick))
                array = player.driver.picture(frame)
                return {} if array is None else {"screen": Picture(array)}
        return {}

    @property
    def summary(self) -> Summary:
        surfaces = self.surfaces()
        slots = [one.slot for one in surfaces if one.slot is not None]
        textures = programs = None
        if self.runs_programs:
            textures = [str(one) for one in self.textures.values()]
            programs = [f"{one.unit} {one.digest}, {one.size}" for one in self.programs.values()]
        return summary_of(self.state, slots, [str(one) for one in surfaces], textures, programs)

    # -- resources of a draw ------------------------------------------------------------------------------------------
    @property
    def draw(self) -> Draw:
        """The record of the draw that has just happened. It reads memory as it is at this moment.

        :raises UsageError: the event of this moment is no draw.
        """
        return fresh(self._draw, _Memory(self))

    @property
    def _draw(self) -> Draw:
        what = self._inspection.recorder.traces[self._tick - 1].what if self._tick else None
        if not isinstance(what, Draw):
            raise UsageError("the event of this moment is no draw", location=str(self.address), hint="Such as f1/d17.")
        return what

    @property
    def runs_programs(self) -> bool:
        """Whether the event of this moment is a draw or a launch: only those have `programs`, `buffers` and so on."""
        what = self._inspection.recorder.traces[self._tick - 1].what if self._tick and self.event is not None else None
        return isinstance(what, Draw | Launch)

    @property
    def _work(self) -> Draw | Launch:
        """The draw or launch that has just happened."""
        what = self._inspection.recorder.traces[self._tick - 1].what if self.runs_programs else None
        return what if isinstance(what, Launch) else self._draw

    @property
    def programs(self) -> dict[str, StageShader]:
        """Its programs by stage, in order of the pipeline ("vertex B", "pixel"…), or that of a launch ("compute").

        :raises UsageError: the event is no draw and no launch.
        """
        return {one.unit: one for one in shaders(self.machine, self._work)}

    @property
    def buffers(self) -> list[ConstantBuffer]:
        """Its constant buffers.

        :raises UsageError: the event is no draw and no launch.
        """
        return buffers(self.machine, self._work)

    @property
    def constants(self) -> list[ConstantBuffer]:
        """The same as `buffers`; both consoles have this name."""
        return self.buffers

    @property
    def missing(self) -> str:
        """What a moment without a program does not have."""
        if self.runs_programs:
            return ""
        return "only draws and launches have textures, programs, constants and vertices"

    @property
    def textures(self) -> dict[str, HandleTexture]:
        """Textures that its programs name, by `HandleTexture.name`; empty for a launch.

        :raises UsageError: the event is no draw and no launch.
        """
        work = self._work
        return {} if isinstance(work, Launch) else {one.name: one for one in textures(self, work)}

    @property
    def index_buffer(self) -> IndexBuffer | None:
        """Its indices; None if the draw has none.

        :raises UsageError: the event is no draw, or has too many indices.
        """
        return index_buffer(self.draw)

    @property
    def vertex_buffers(self) -> list[VertexBuffer]:
        """Vertex streams that are on; empty for a launch."""
        return [] if isinstance(self._work, Launch) else vertex_buffers(self.draw)

    @cached_property
    def vertices(self) -> Vertices:
        """Inputs and outputs of the draw's vertices, and how primitives name them. The draw is replayed for this.

        :raises UsageError: the event is no draw, or has too many vertices.
        """
        return vertices_of(self._inspection, self._draw, self._tick)
