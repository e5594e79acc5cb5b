"""Which unit of a 3DS does what an event says: the tracks of a timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.inspect.model.event import Event

CPU, GPU, TRANSFERS, SCAN_OUT, FILLS = "CPU", "PICA200", "PPF", "PDC", "PSC"
"""As the document of external registers names them."""
UNITS: Final[Mapping[str, str]] = {
    "load": CPU, "registers": CPU, "flush": CPU, "list": GPU, "draw": GPU, "fill": FILLS, "transfer": TRANSFERS,
    "copy": TRANSFERS, "show": SCAN_OUT,
}  # fmt: skip
"""By the kind of an event."""


def unit_of(event: Event) -> str:
    """The unit; fills say themselves which of the two they use."""
    found = event.facts.get("unit", UNITS.get(event.kind, GPU))
    return found if isinstance(found, str) else UNITS[event.kind]


__all__ = ["UNITS", "unit_of"]
