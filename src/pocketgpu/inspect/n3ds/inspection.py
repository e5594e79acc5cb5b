"""A capture of a 3DS that is looked into: its events, its moments, its pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...capture.citrace import Trace
from ...capture.gxlog import GxLog
from ...capture.pgc.traces import PgcTrace
from ...capture.replay import MIB, begin, play
from ...errors import UsageError
from ...facts.pica import PICA
from ...pica.display import Screen
from ...pica.observe import ObservedN3DS
from ..address import Address
from ..event import Event, Pass
from ..inspection import Inspection, Moment, as_address
from .machine import Traveller
from .recorder import Recorder
from .targets import Target, target_of

if TYPE_CHECKING:
    from ...capture import Capture
    from ..stepping.trace import Trace as Steps


class N3dsMoment(Moment):
    """A 3DS right after an event."""

    def __init__(self, inspection: N3dsInspection, address: Address, event: Event | None) -> None:
        self.inspection, self.address, self.event = inspection, address, event
        self.machine = inspection.traveller.machine

    def registers(self) -> dict[str, int]:
        words = self.machine._core.registers
        return {r.name: int(words[r.offset]) for r in PICA if r.offset < len(words)}

    def read(self, address: int, size: int) -> bytes:
        return self.machine.memory.read(address, size)

    @property
    def target(self) -> Target | None:
        return target_of(self.machine.memory, self.machine._core.registers, self.machine.switches)

    @property
    def screens(self) -> dict[str, Screen]:
        return self.machine.screens

    def bank(self, name: str) -> np.ndarray:
        """A copy of a memory behind FIFO registers, as uint32 words: "vs_code", "vs_uniforms", "lighting_lut"…"""
        return self.machine._core.bank(name).copy()

    def _repr_png_(self) -> bytes | None:
        target = self.target
        return None if target is None else target._repr_png_()

    def __repr__(self) -> str:
        return f"<Moment after {self.event or 'the start of the frame'}, {self.address}>"


class N3dsInspection(Inspection):
    """Looks into a capture of a 3DS.

    switches, evaluator: as for `pocketgpu.N3DS`.
    """

    def __init__(self, capture: Capture, switches: Mapping[str, str] | None = None, evaluator: str = "llvm") -> None:
        self.capture = capture
        self._trace = cast("Trace | GxLog | PgcTrace", capture.trace)
        self._switches, self._evaluator = switches, evaluator
        self._recorder = Recorder()
        self._recorded = 0

    # -- events -------------------------------------------------------------------------------------------------------
    @cached_property
    def _recording(self) -> ObservedN3DS:
        fcram = (256 if self._trace.needs_new_model else 128) * MIB
        machine = ObservedN3DS(self._recorder, fcram=fcram, switches=self._switches)
        self._recorder.machine = machine
        begin(self._trace, machine)
        return machine

    def _frame(self, frame: int) -> None:
        if not 0 <= frame < self.frame_count:
            raise UsageError(f"the capture has {self.frame_count} frames", location=f"f{frame}")
        while self._recorded <= frame:
            play(self._recording, self._trace.runs(self._recorded), self._recorded)
            self._recording.events.drain()
            self._recorder.next_frame()
            self._recorded += 1

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
    def traveller(self) -> Traveller:
        """The machine that goes to events."""
        return Traveller(self._trace, self._switches, self._evaluator)

    def seek(self, place: Address | str) -> N3dsMoment:
        address = as_address(place)
        if address.draw is None and address.event is None:
            self._frame(address.frame)
            self.traveller.go(address.frame, None)
            return N3dsMoment(self, address.place, None)
        event = self.event(address)
        self.traveller.go(event.frame, event.number)
        return N3dsMoment(self, event.address, event)

    # -- answers ------------------------------------------------------------------------------------------------------
    def trace(self, place: Address | str, most: int | None = None) -> Steps:
        from .stepping import trace_of

        return trace_of(self, as_address(place), most)

    def why(self, place: Address | str) -> Any:
        from .why import why

        return why(self, as_address(place))
