"""The consoles that a probe runs on, by the name that captures have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.probe.consoles.base import ProbeConsole


def _n3ds() -> ProbeConsole:
    from pocketgpu.probe.consoles.n3ds.console import N3DSProbe

    return N3DSProbe()


def _switch() -> ProbeConsole:
    from pocketgpu.probe.consoles.switch.console import SwitchProbe

    return SwitchProbe()


CONSOLES: Final[Mapping[str, Callable[[], ProbeConsole]]] = {"3DS": _n3ds, "Switch": _switch}
"""Makes each console; they are imported when they are used."""


def probe_console(name: str) -> ProbeConsole:
    """The console of this name.

    :raises UsageError: there is no probe for it.
    """
    if name not in CONSOLES:
        raise UsageError(f"there is no probe for a {name}", hint=f"There is one for: {', '.join(CONSOLES)}.")
    return CONSOLES[name]()


__all__ = ["CONSOLES", "probe_console"]
