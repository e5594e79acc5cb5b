"""States of the macro engine."""

from __future__ import annotations

IDLE, BUSY, WAITING = range(3)
"""Nothing runs; a macro runs; it waits for a parameter."""
