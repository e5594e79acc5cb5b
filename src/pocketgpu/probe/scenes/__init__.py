"""A scene for each choice that can be made visible, by console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.probe.model.registry import SCENES
from pocketgpu.probe.model.scene import Scene
from pocketgpu.probe.scenes.n3ds import fills as fills_3ds  # noqa: F401  (they register themselves)
from pocketgpu.probe.scenes.n3ds import geometry, lists, shaders, tests, vertices  # noqa: F401
from pocketgpu.probe.scenes.n3ds import transfers as transfers_3ds  # noqa: F401
from pocketgpu.probe.scenes.switch import blits, channels, engines, macros, outputs, raster, textures  # noqa: F401
from pocketgpu.probe.scenes.switch import vertices as vertices_switch  # noqa: F401

NO_SCENE: Final[Mapping[str, str]] = {}
"""Why a choice has no scene: the reason, by the choice's name."""


def scene_of(choice: str) -> Scene | None:
    """The scene of a choice; None: it has none, see NO_SCENE."""
    return SCENES.get(choice)


__all__ = ["NO_SCENE", "SCENES", "scene_of"]
