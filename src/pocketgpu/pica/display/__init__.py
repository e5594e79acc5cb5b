"""From framebuffers to the pictures that the screens show."""

from pocketgpu.pica.display.screens import Screen

__all__ = ["Screen"]
