"""Overrides of registers of a 3DS: those that draws read and that do nothing by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import PICA
from pocketgpu.forced import Start
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.forcing import Forcing
from pocketgpu.inspect.model.inspection import Inspection, first_event
from pocketgpu.pica.front.command_list import EFFECT_NAMES, EFFECT_TABLE

_LISTS = "CMDBUF_"
"""How names of registers begin that say where command lists are."""
_HELD = ("PRIMITIVE_CONFIG",)
"""Registers whose writes have an effect (a new strip begins) and whose value draws read all the same."""


class N3dsForcing(Forcing):
    """The registers of the 3D core. A draw reads a copy of them, which is changed before it runs."""

    def __init__(self, run: Inspection) -> None:
        self._run = run

    def names(self) -> Iterable[str]:
        return (one.name for block in (PICA, EXTERNAL, LCD) for one in block if one.known)

    def register(self, name: str) -> tuple[Register, int] | None:
        found = next((one for block in (PICA, EXTERNAL, LCD) if (one := block.get(name)) is not None), None)
        return None if found is None else (found, found.offset)

    def refusal(self, name: str, register: Register, number: int) -> str:
        if register.block.name != PICA.name:
            return "it belongs to fills, transfers or displays, which do their work when they are written"
        effect = EFFECT_NAMES[EFFECT_TABLE[number]]
        if register.name in _HELD:
            return ""
        if effect == "ignore":
            return "command lists cannot write it"
        if register.trigger or effect != "store":
            return "a write has an effect by itself, which its value later does not show"
        if register.name.startswith(_LISTS):
            return "it says where command lists are, which no draw reads"
        if register.name.endswith("_INDEX") or register.name == "PROCTEX_LUT":
            return "it says where the next words of a table go, which no draw reads"
        return ""

    def start(self, place: Address) -> Start:
        run = self._run
        event = first_event(run, place)
        if event is None:
            run.events(place.frame)  # a missing frame is reported
            return place.frame, 0
        return place.frame, sum(one.number < event.number for one in run.draws(place.frame))


__all__ = ["N3dsForcing"]
