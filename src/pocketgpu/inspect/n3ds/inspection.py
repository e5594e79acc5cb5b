"""The inspection of a 3DS capture: its events, moments and pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from pocketgpu.capture.driver import Position, drive
from pocketgpu.capture.driver.n3ds import N3DSDriver, N3DSPlayer
from pocketgpu.capture.formats.n3ds_trace import N3DSTrace
from pocketgpu.errors import UsageError
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.changes import Change, changes_between
from pocketgpu.inspect.model.event import Event, Pass, Range
from pocketgpu.inspect.model.inspection import FrameAnswer, Inspection, as_address, of_frame, refuse_unshown
from pocketgpu.inspect.model.mesh import mesh_of
from pocketgpu.inspect.model.meshes import Mesh
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.summary import Summary
from pocketgpu.inspect.model.vertices import IndexBuffer, VertexBuffer, Vertices
from pocketgpu.inspect.n3ds.bound_programs import PROGRAM_BANKS, UnitProgram, programs_of
from pocketgpu.inspect.n3ds.buffers import index_buffer, vertex_buffers
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.fifo_tables import NAMES, table_changes
from pocketgpu.inspect.n3ds.programs import Program as DrawProgram
from pocketgpu.inspect.n3ds.recorder import Recorder
from pocketgpu.inspect.n3ds.summary import summary_of
from pocketgpu.inspect.n3ds.targets import Target, target_of
from pocketgpu.inspect.n3ds.textures import UnitTexture, textures_of
from pocketgpu.inspect.n3ds.vertices import vertices_of
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pictures import Screen

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written
    from pocketgpu.inspect.decode.uniforms import Uniform
    from pocketgpu.inspect.stepping.trace import Trace as Steps


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


Judge: TypeAlias = Callable[[Mapping[int, int], int, "DrawProgram | None"], list[str]]
"""Takes a draw's registers by id, its kind and its vertex program; returns lines about what is odd."""


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
        words = self.machine.registers
        return {r.name: int(words[r.offset]) for r in PICA if r.offset < len(words)}

    def read(self, address: int, size: int) -> bytes:
        return self.machine.memory.read(address, size)

    @property
    def target(self) -> Target | None:
        machine = self.machine
        return target_of(_Memory(self), machine.registers, machine.choices)

    @property
    def screens(self) -> dict[str, Screen]:
        return self.machine.screens

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
    def index_buffer(self) -> IndexBuffer:
        """The index buffer; only draws of kind "elements" read it."""
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
        """The draw's triangles as a mesh, for `to_obj` and `to_glb`; see inspect/model/mesh.py for what `space` can be.

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

    def tables(self) -> dict[str, np.ndarray]:
        """Copies of all memories that FIFO registers fill, by name; see `bank`."""
        return {name: self.bank(name) for name in NAMES}

    def bank(self, name: str) -> np.ndarray:
        """A copy of a memory that FIFO registers fill, as uint32 words: "vs_code", "vs_uniforms", "lighting_lut"…"""
        return self.machine.bank(name).copy()


class N3dsInspection(Inspection):
    """The inspection of a 3DS capture.

    choices, evaluator: as for `pocketgpu.N3DS`. recorder: notes the events, if it has to note more than usual.
    judge: finds what is odd about a draw's registers and program; None: nothing is reported as odd.
    """

    def __init__(
        self, capture: Capture, choices: Mapping[str, str] | None = None, evaluator: str = "llvm",
        recorder: Recorder | None = None, judge: Judge | None = None, frames: FrameAnswer | None = None,
    ) -> None:  # fmt: skip
        self.capture, self.judge, self.frames = capture, judge, frames
        self._trace = cast("N3DSTrace", capture.trace)
        self.choices, self.evaluator = choices or {}, evaluator
        self._recorder = recorder or Recorder()

    # -- events -------------------------------------------------------------------------------------------------------
    @cached_property
    def _recording(self) -> N3DSDriver:
        driver = drive(self._trace, switches=self.choices)
        driver.machine.observe(self._recorder)
        return driver

    def _frame(self, frame: int) -> None:
        if not 0 <= frame < self.frame_count + self.has_rest:
            raise self.missing_frame(frame)
        while self._recording.frame <= min(frame, self.frame_count - 1):
            self._recording.play_frame()
            self._recording.machine.events.drain()
        if frame == self.frame_count:
            _ = self._rest

    @cached_property
    def _rest(self) -> None:
        """Plays what comes after the last frame, once."""
        for _ in self._recording.steps():
            self._recording.machine.events.drain()

    def events(self, frame: int) -> Sequence[Event]:
        self._frame(frame)
        self._recorder.settle(frame)
        return self._recorder.frames[frame].events

    def draws(self, frame: int) -> list[Event]:
        self._frame(frame)
        return self._recorder.frames[frame].draws

    def passes(self, frame: int) -> Sequence[Pass]:
        self.events(frame)
        return self._recorder.frames[frame].passes

    # -- moments ------------------------------------------------------------------------------------------------------
    @cached_property
    def player(self) -> N3DSPlayer:
        """The player that brings the machine to events."""
        return N3DSPlayer(drive(self._trace, switches=self.choices, evaluator=self.evaluator))

    def watch(self, event: Event, watcher: DrawWatcher) -> None:
        """Play the frame of an event up to that event, with a watcher of its draws."""
        self.player.go(Position(event.frame))
        self.player.play_to(Position(event.frame, event.number + 1), watcher)

    def seek(self, place: Address | str) -> N3dsMoment:
        address = as_address(place)
        if address.draw is None and address.event is None:
            self._frame(address.frame)
            if address.pass_ is None:
                self.player.go(Position(address.frame + 1))
                return N3dsMoment(self, address.place, None)
            event = self.pass_of(address).events[-1]
        else:
            event = self.event(address)
        self.player.go(Position(event.frame, event.number + 1))
        return N3dsMoment(self, event.address, event)

    def who_changed(self, address: int, size: int = 1, before: Address | str | None = None) -> Event | None:
        from pocketgpu.inspect.n3ds.writers import who_changed

        return who_changed(self, Range(address, size), None if before is None else self.event(before))

    # -- answers ------------------------------------------------------------------------------------------------------
    def trace(self, place: Address | str, most: int | None = None) -> Steps:
        from pocketgpu.inspect.n3ds.stepping import trace_of

        return trace_of(self, as_address(place), most)

    def words_of(self, event: Event) -> Iterable[str]:
        from pocketgpu.inspect.decode import decode

        decoded = decode(self.capture)
        return decoded.json_lines(decoded.select([str(event.address)]))

    def uniforms(self, event: Event) -> list[Uniform]:
        from pocketgpu.inspect.decode import decode_words
        from pocketgpu.inspect.decode.uniforms import uniforms_of

        if event.words is None:
            return []
        rows = decode_words(event.words.values).rows
        last = {(one.unit, one.name): one for one in uniforms_of(rows).values()}
        return list(last.values())

    def stored_by(self, app: App, event: Event, answer: Answer | None = None) -> Written | None:
        from pocketgpu.inspect.n3ds.queued import stored_by

        return stored_by(app, self, event)

    def why(self, place: Address | str, every: bool = False) -> Any:
        from pocketgpu.inspect.n3ds.why import why

        refuse_unshown(self, as_address(place))
        return of_frame(self, as_address(place)) or why(self, as_address(place), every)
