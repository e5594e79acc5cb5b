"""Memory as pictures: which formats and layouts a console has, and what every such picture must keep to.

    moment.memory_picture(0x18000000, "RGBA8", "tiled", 240, 400)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

MOST_SIDE = 4096
"""Longest side of a picture of memory."""


@dataclass(frozen=True, repr=False)
class MemoryFormats(Displayed):
    """What memory can be shown as. formats: bits of a texel, by the format's name. layouts: names of orders of texels.
    first: the format and the layout to begin with."""

    formats: Mapping[str, float] = field(default_factory=dict)
    layouts: tuple[str, ...] = ()
    first: tuple[str, str] = ("", "")

    def check(self, format: str, layout: str, width: int, height: int) -> None:
        """Refuse what cannot be shown.

        :raises UsageError: there is no such format or layout, or a side has no texel or more than `MOST_SIDE`.
        """
        for what, name, known in (("format", format, tuple(self.formats)), ("layout", layout, self.layouts)):
            if name not in known:
                raise UsageError(f"'{name}' is no {what}", location=what, hint=f"There are: {', '.join(known)}.")
        if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE):
            raise UsageError(
                f"a picture of memory has 1 to {MOST_SIDE} texels a side, not {width} x {height}",
                location="width" if not 0 < width <= MOST_SIDE else "height",
            )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        formats = [{"name": name, "bits": bits} for name, bits in self.formats.items()]
        return {"formats": formats, "layouts": list(self.layouts), "first": list(self.first)}

    def __str__(self) -> str:
        return f"formats: {', '.join(self.formats)}; layouts: {', '.join(self.layouts)}"


__all__ = ["MOST_SIDE", "MemoryFormats"]
