"""From framebuffers to the pictures on the screens."""

from pocketgpu.pica.display.screens import Screen

__all__ = ["Screen"]


def __dir__() -> list[str]:
    return [*__all__]
