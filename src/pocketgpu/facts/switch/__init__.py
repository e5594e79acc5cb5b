"""The tables of the Switch's system: supervisor calls, services. Those of its GPU are in `facts/maxwell`."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.tables import Tables

TABLES: Final = Tables("switch")
"""The tables beside this file."""
