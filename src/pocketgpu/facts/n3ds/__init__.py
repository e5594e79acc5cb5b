"""The tables of the 3DS, in the dialect that `facts/dialect/tables.py` reads; the modules above it use them."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.tables import Tables

TABLES: Final = Tables("n3ds")
"""The tables beside this file."""
