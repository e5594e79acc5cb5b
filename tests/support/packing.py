"""How hard captures are packed: quickly in tests, and as for users in those of their size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pocketgpu.capture.formats import container
from pocketgpu.capture.formats.pgc import sections

USUAL = sections.SHAPES, sections.PRESET, sections.LEVELS, container.PRESET, container.LEVEL
QUICK = sections.SHAPES[:1], 1, (1, 1), 0, 1


def _pack(how: tuple[Any, ...]) -> None:
    sections.SHAPES, sections.PRESET, sections.LEVELS, container.PRESET, container.LEVEL = how


def quickly() -> None:
    """From now on."""
    _pack(QUICK)


@contextmanager
def packed_well() -> Iterator[None]:
    """Captures are packed as they are for users."""
    _pack(USUAL)
    try:
        yield
    finally:
        quickly()
