"""The display of a Switch: layers, their queues of buffers, VBlanks, pictures."""

from __future__ import annotations

from pocketgpu.guests.switch.display.display import SCREEN, Display, Layer, Present

__all__ = ["SCREEN", "Display", "Layer", "Present"]
