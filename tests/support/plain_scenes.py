"""Recordings that cost nothing to draw: each frame shows one colour on each screen, painted by the fill unit."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pocketgpu.builder import CaptureBuilder


def plain_scene(path: str | os.PathLike[str], colours: Sequence[int], bottom: int = 0x204060) -> None:
    """Write a recording with a frame for each of `colours` (0xRRGGBB) on the top screen."""
    capture = CaptureBuilder()
    screens = {
        name: capture.allocate(240 * width * 3, region="VRAM") for name, width in (("top", 400), ("bottom", 320))
    }
    for colour in colours:
        for name, width, value in (("top", 400, colour), ("bottom", 320, bottom)):
            start = screens[name]
            capture.fill(start, start + 240 * width * 3, value, width=24).show(name, start)
        capture.end_frame()
    capture.save(path)
