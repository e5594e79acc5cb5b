"""The tables of the 3DS, in the dialect of `facts/dialect/tables.py`; the modules in `facts/` use them."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.tables import Tables

TABLES: Final = Tables("n3ds")
"""The tables beside this file."""
