"""How hard captures are packed: quickly in tests, and as for users in those of their size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pocketgpu.capture.formats.pgc import sections

USUAL = sections.SHAPES, sections.PRESET, sections.LEVELS
QUICK = sections.SHAPES[:1], 1, (1, 1)


def quickly() -> None:
    """From now on."""
    sections.SHAPES, sections.PRESET, sections.LEVELS = QUICK


@contextmanager
def packed_well() -> Iterator[None]:
    """Captures are packed as they are for users."""
    sections.SHAPES, sections.PRESET, sections.LEVELS = USUAL
    try:
        yield
    finally:
        quickly()
