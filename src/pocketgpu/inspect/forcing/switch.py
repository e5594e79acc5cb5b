"""Overrides of registers of a Switch: methods of the 3D class that only store their word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.maxwell import B197
from pocketgpu.forced import Start
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.forcing import Forcing
from pocketgpu.inspect.model.inspection import first_event
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.dispatch import CODES
from pocketgpu.maxwell.host.layout import THREED_FILE

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

_PLACE = re.compile(r"s(\d+)/e(\d+)\+(\d+)")
_STORED = ("plain", "tracked")


class SwitchForcing(Forcing):
    """The methods of the 3D class. They are set right before each method that acts."""

    def __init__(self, run: SwitchInspection) -> None:
        self._run = run

    @cached_property
    def _words(self) -> dict[str, int]:
        return {label.upper(): word for label, word in B197.labels}

    @property
    def _machine(self) -> GM20B:
        machine = self._run.player.machine
        machine.channel(0)  # engines say which of their methods act
        return machine

    def names(self) -> Iterable[str]:
        return (label for label, _ in B197.labels)

    def register(self, name: str) -> tuple[Register, int] | None:
        word = self._words.get(name.upper(), self._words.get(f"{name.upper()}(0)"))
        found = None if word is None else B197.get(word)
        return None if found is None or word is None else (found, word)

    def refusal(self, name: str, register: Register, number: int) -> str:
        code = CODES[int(self._machine.codes[THREED_FILE, number])]
        if register.trigger or code not in _STORED:
            return "a write has an effect by itself, which its word later does not show"
        return ""

    def start(self, place: Address) -> Start:
        """Draws of one command word, such as a call of a macro, are at one place."""
        run = self._run
        log, rest = run.log, place.frame >= run.frame_count
        event = first_event(run, place)
        if event is None:
            run.events(place.frame)  # a missing frame is reported
            return (log.tail if rest else log.submissions_of(place.frame)).start, 0, 0
        for one in run.events(place.frame)[event.number :]:
            found = _PLACE.fullmatch(str(one.facts.get("place", "")))
            if found is not None:
                return tuple(map(int, found.groups()))
        return (len(log.submissions) if rest else log.submissions_of(place.frame).stop), 0, 0


__all__ = ["SwitchForcing"]
