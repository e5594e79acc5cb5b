"""The state of a machine in a few lines, the same for both consoles: what `pocketgpu state` begins with.

    culling: off
    depth: less or equal, written
    scissor: keeps 0, 0 to 239, 399
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pocketgpu.displayed import Displayed, table_html
from pocketgpu.late_dataclass import dataclass

PARTS = ("culling", "depth", "stencil", "blending", "scissor", "viewport", "targets", "textures", "programs")
"""What a summary has, in order."""


@dataclass(frozen=True, repr=False)
class Summary(Displayed):
    """What is in effect. parts: a text for each of PARTS, in this order: "off" and "none" where there is nothing."""

    parts: Mapping[str, str]

    def __post_init__(self) -> None:
        assert tuple(self.parts) == PARTS

    def to_json(self) -> dict[str, str]:
        """Plain data: the texts by name."""
        return dict(self.parts)

    def lines(self) -> list[str]:
        """A line for each part."""
        return [f"{name}: {text}" for name, text in self.parts.items()]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return table_html((), self.parts.items())


def listed(texts: Iterable[object], nothing: str = "none") -> str:
    """Texts with semicolons between them."""
    return "; ".join(map(str, texts)) or nothing


__all__ = ["PARTS", "Summary", "listed"]
