"""Which part of a Switch's GPU does what an event says: the tracks of a timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.maxwell import A140, B0B5, B1C0, B197, CLASSES, TWOD
from pocketgpu.facts.maxwell.classes import MethodBlock
from pocketgpu.inspect.model.event import Event

CPU, CHANNEL, DISPLAY = "CPU", "channel", "display"
ENGINES: Final[Mapping[str, MethodBlock]] = {
    "draw": B197, "clear": B197, "report": B197, "launch": B1C0, "upload": A140, "transfer": TWOD, "copy": B0B5,
}  # fmt: skip
"""By the kind of an event: the class that does it. Uploads say themselves which class they use."""
OTHERS: Final[Mapping[str, str]] = {"load": CPU, "registers": CPU, "flush": CPU, "submission": CHANNEL, "show": DISPLAY}


def unit_of(event: Event) -> str:
    """The engine with its class ("3D B197"), or what works outside of the engines."""
    engine = ENGINES.get(event.kind)
    if engine is None:
        return OTHERS.get(event.kind, CHANNEL)
    named = event.facts.get("class")
    if isinstance(named, str):
        engine = CLASSES.get(int(named, 16), engine)
    return f"{engine.engine} {engine.class_id:04X}"


__all__ = ["ENGINES", "OTHERS", "unit_of"]
