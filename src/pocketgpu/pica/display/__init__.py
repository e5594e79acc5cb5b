"""From framebuffers to the pictures on the screens."""

from __future__ import annotations

from pocketgpu.pictures import Screen

__all__ = ["Screen"]


def __dir__() -> list[str]:
    return [*__all__]
