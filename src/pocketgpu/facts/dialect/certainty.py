"""How certain a fact is."""

from __future__ import annotations

from enum import StrEnum


class Certainty(StrEnum):
    """How certain a fact is, most certain first."""

    DOC = "doc"
    """Stated by the public documentation (3dbrew; the vendor's class headers for the Switch)."""
    GBATEK = "gbatek"
    """Stated by GBATEK, mostly measured on a console."""
    DRIVER = "driver"
    """Used by the public driver libraries, so known to work on a console."""
    PEERS = "peers agree"
    """Other simulators do the same."""
    DIFFER = "peers differ"
    """Other simulators disagree; facts/choices/ may name the choice."""
    ONE_PEER = "one peer"
    """A single simulator does it."""
    UNKNOWN = "unknown"
    """Not measured by anybody."""
