"""Scenes of the Switch's zoo as captures that show something, to be looked into."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "pictures"))
from zoo_switch import SCENES, Scene
from zoo_switch.stage import BLOCK_HEIGHT

from pocketgpu.builder.maxwell import Surface
from pocketgpu.capture import Capture
from pocketgpu.inspect.switch.inspection import SwitchInspection


def capture_of(scene: Scene, frames: int = 1) -> Capture:
    """A scene as a capture; its colour target is what is shown (with all samples, if that is what it has)."""
    color = scene.color
    across, down = color.grid
    size = color.width * across, color.height * down
    shown = Surface(color.address, *size, color.layout.name, block_height_log2=BLOCK_HEIGHT)
    for _ in range(frames):
        scene.capture.present(shown)
    return Capture("zoo", scene.capture.log())


def look_into(name: str) -> SwitchInspection:
    """A scene of the zoo by name."""
    return SwitchInspection(capture_of(SCENES[name].make()), SCENES[name].choices)
