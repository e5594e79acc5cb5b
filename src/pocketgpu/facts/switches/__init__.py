"""Behaviour that the sources leave open, and what-ifs: each is one named choice with a default.

Nothing of the kind is buried in the code. A switch stands where documents or simulators disagree, where only
one source speaks, or where a picture with a different setting is of interest (`texture.filter`). Values are
plain words; `sources` says for each who holds it. The short names of simulators: Azahar (SW: its software
renderer, GL: its shader generator), Panda3DS, Mikage, 3Beans; all but the last have ancestors in common.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.switches import core, machine, maxwell
from pocketgpu.facts.switches.switch import Switch

__all__ = ["DEFAULTS", "SWITCHES", "Switch", "check", "choose", "departures", "parse"]

SWITCHES: Final[Mapping[str, Switch]] = {
    switch.name: switch for switch in (*core.switches(), *machine.switches(), *maxwell.switches())
}
"""Every switch by its name."""

DEFAULTS: Final[Mapping[str, str]] = {name: switch.default for name, switch in SWITCHES.items()}
"""The value of each switch that nobody sets."""


def check(name: str, value: str) -> None:
    """Raise ValueError, saying what there is instead, unless `value` can be chosen for the switch `name`."""
    switch = SWITCHES.get(name)
    if switch is None:
        close = difflib.get_close_matches(name, SWITCHES, n=1)
        raise ValueError(f"There is no switch {name!r}" + (f"; did you mean {close[0]!r}?" if close else "."))
    if value not in switch.values:
        raise ValueError(f"Switch {name!r} has no value {value!r}; its values are {', '.join(switch.values)}.")


def parse(text: str) -> tuple[str, str]:
    """("texture.filter", "linear") from "texture.filter=linear". ValueError if it is no such choice."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError(f"{text!r} is not of the form NAME=VALUE.")
    check(name, value)
    return name, value


def departures(switches: Mapping[str, str], *names: str) -> tuple[tuple[str, str], ...]:
    """The choices that differ from the default, sorted by name: of `names`, which are switches or whole groups
    ("combiner"). Code is specialised for these, so that the usual code has one form."""
    wanted = [name for name in SWITCHES if name in names or name.partition(".")[0] in names]
    return tuple(sorted((name, switches[name]) for name in wanted if switches[name] != DEFAULTS[name]))


def choose(chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """A value for every switch: the chosen ones, the rest defaults. ValueError for an unknown name or value."""
    for name, value in (chosen or {}).items():
        check(name, value)
    return {**DEFAULTS, **(chosen or {})}
