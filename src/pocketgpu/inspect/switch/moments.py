"""Moments: the machine right behind an event, and what one can ask of it."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197, CLASSES
from pocketgpu.maxwell.engines.draws import Draw
from pocketgpu.maxwell.engines.state import State
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.layout import CLASS_FILES
from pocketgpu.maxwell.present import Picture

from ..address import Address
from ..event import Event
from ..inspection import Moment
from .recorder import register_name
from .resources import (
    BoundBuffer,
    BoundShader,
    BoundTexture,
    OutputWatch,
    buffers,
    shaders,
    textures,
    vertex_inputs,
)
from .surfaces import Surface, TargetPicture, grid_of, surface_of, targets_of

if TYPE_CHECKING:
    from .inspection import SwitchInspection

Registers = NDArray[np.uint32]


class SwitchMoment(Moment):
    """The machine right behind an event; see `SwitchInspection.seek`. It is that of the inspection: what is asked of it
    after another `seek` is answered from here by going back.

    address, event: of the moment; event is None where a frame begins.
    """

    def __init__(self, inspection: SwitchInspection, address: Address, event: Event | None, tick: int) -> None:
        self.address, self.event = address, event
        self._inspection, self._tick = inspection, tick

    @property
    def machine(self) -> GM20B:
        """The machine, as it stands at this moment."""
        self._inspection.player.go(self._tick)
        return self._inspection.player.machine

    # -- registers ----------------------------------------------------------------------------------------------------
    @property
    def channel(self) -> int:
        """Index of the channel that the last event of an engine came through."""
        for trace in reversed(self._inspection.recorder.traces[: self._tick]):
            if trace.channel >= 0:
                return trace.channel
        return 0

    def words(self, class_id: int = B197.class_id) -> Registers:
        """The register file of a class, 0x1000 words, as its last event found it.

        :raises UsageError: there is no such class.
        """
        return self._inspection.registers(self._tick, class_id, self.channel)

    @property
    def state(self) -> State:
        """The registers of the 3D class by official name and field."""
        return State(B197, self.words())

    def registers(self, class_id: int = B197.class_id) -> dict[str, int]:
        """Registers of a class by official name ("SET_COLOR_TARGET_A(0)"), as words; all that the class has.

        :raises UsageError: there is no such class.
        """
        words = self.words(class_id)
        block = CLASSES[class_id]
        return {
            method(n).label if method.stride else method.label: int(words[word])
            for method in block.methods
            for n, word in enumerate(method.words())
        }

    def changed(self, since: Address | str = "draw", class_id: int = B197.class_id) -> dict[str, tuple[int, int]]:
        """Registers that differ from another moment: name to (there, here), as words.

        since: "reset" (as at power-on), "draw" (behind the draw before), or an address.

        :raises UsageError: there is no such event or class, or no draw before this moment.
        """
        inspection = self._inspection
        if since == "reset":
            tick = 0
        elif since == "draw":
            tick = self._draw_before()
        else:
            tick = inspection.tick_of(since)
        there = inspection.registers(tick, class_id, self.channel)
        here = self.words(class_id)
        file = CLASS_FILES.index(class_id)
        return {register_name(file, int(n)): (int(there[n]), int(here[n])) for n in np.flatnonzero(there != here)}

    def _draw_before(self) -> int:
        for tick in range(self._tick - 1, 0, -1):
            if self._inspection.recorder.traces[tick - 1].event.draw is not None:
                return tick
        raise UsageError("there is no draw before this moment", location=str(self.address))

    # -- memory -------------------------------------------------------------------------------------------------------
    def read(self, address: int, size: int) -> bytes:
        """Bytes of the GPU's address space.

        :raises GuestMemoryError: not all of it is mapped.
        """
        return self.machine.memory.read(address, size)

    # -- pictures -----------------------------------------------------------------------------------------------------
    def surfaces(self) -> list[Surface]:
        """The targets that draws go to now: of colours as outputs are routed, then of depth."""
        state = self.state
        return [surface_of(target, grid_of(state)) for target in targets_of(state)]

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

    @property
    def screens(self) -> dict[str, Picture]:
        """What is shown now: {"screen": picture} behind the first picture of the recording."""
        traces = self._inspection.recorder.traces[: self._tick]
        for tick in range(len(traces), 0, -1):
            if traces[tick - 1].what == "show":
                frame = int(traces[tick - 1].record)
                player = self._inspection.player
                player.go(self._tick)
                array = player.replay.picture(player.log.presents[frame], frame)
                return {} if array is None else {"screen": Picture(array)}
        return {}

    # -- what a draw works with ---------------------------------------------------------------------------------------
    @property
    def draw(self) -> Draw:
        """The draw that has just happened, as its record.

        :raises UsageError: the event of this moment is no draw.
        """
        what = self._inspection.recorder.traces[self._tick - 1].what if self._tick else None
        if not isinstance(what, Draw):
            raise UsageError("the event of this moment is no draw", location=str(self.address), hint="Such as f1/d17.")
        return what

    @property
    def shaders(self) -> list[BoundShader]:
        """Its programs, in order of the pipeline; `text` of each disassembles it."""
        return shaders(self.machine, self.draw)

    @property
    def buffers(self) -> list[BoundBuffer]:
        """Its constant buffers."""
        return buffers(self.machine, self.draw)

    @property
    def textures(self) -> list[BoundTexture]:
        """Textures that its programs name; `image` and `array` of each read memory while this moment stands."""
        return textures(self.machine, self.draw)

    def vertices(self) -> NDArray[Any]:
        """Inputs of its vertices: a structured array with "vertex", "id" and "a0", "a1", … (four numbers each).

        :raises UsageError: the event is no draw, or has too many vertices.
        """
        draw = copy(self.draw)
        for name in ("indices", "runs", "vertex_numbers", "inputs"):
            draw.__dict__.pop(name, None)  # whoever asked before may have stood elsewhere
        _ = self.machine
        return vertex_inputs(draw)

    def outputs(self) -> NDArray[Any]:
        """What its last program before raster put out: a structured array with "position", "generic0", …, one row for
        each vertex that was shaded. The draw is replayed for it.

        :raises UsageError: the event is no draw.
        """
        _ = self.draw
        player = self._inspection.player
        player.go(self._tick - 1)
        listener = OutputWatch(player.machine)
        player.machine.drawing.watch = listener.look
        try:
            player.replay_to(self._tick)
        except BaseException:
            player.spoilt = True
            raise
        finally:
            player.machine.drawing.watch = None
        return listener.found

    # -- itself -------------------------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        """Where it is, and the registers that are not as at power-on; words as hexadecimal strings."""
        changed = self.changed("reset")
        return {
            "address": str(self.address),
            "event": None if self.event is None else {"kind": self.event.kind, "title": self.event.title},
            "registers": {name: f"{here:#010x}" for name, (_, here) in changed.items()},
        }

    def __str__(self) -> str:
        what = "before the first event" if self.event is None else f"behind {self.event}"
        return f"{self.address}: {what}; targets: {', '.join(map(str, self.surfaces())) or 'none'}"

    def _repr_png_(self) -> bytes | None:
        target = self.target
        return None if target is None else target._repr_png_()
