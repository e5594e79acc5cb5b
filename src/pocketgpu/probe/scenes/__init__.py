"""A scene for each choice that can be made visible, by console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.probe.model.registry import SCENES
from pocketgpu.probe.model.scene import Scene
from pocketgpu.probe.scenes import guests
from pocketgpu.probe.scenes.n3ds import (  # noqa: F401  (they register themselves)
    atmosphere,
    combiners,
    displays,
    fills,
    geometry,
    lighting,
    lists,
    none,
    raster,
    shaders,
    system,
    tests,
    textures,
    transfers,
    vertices,
)
from pocketgpu.probe.scenes.switch import blits, channels, engines, macros, outputs  # noqa: F401
from pocketgpu.probe.scenes.switch import raster as raster_switch  # noqa: F401
from pocketgpu.probe.scenes.switch import textures as textures_switch  # noqa: F401
from pocketgpu.probe.scenes.switch import vertices as vertices_switch  # noqa: F401

NO_SCENE: Final[Mapping[str, str]] = {**none.NO_SCENE, **guests.NO_SCENE}
"""Why a choice has no scene: the reason, by the choice's name."""


def scene_of(choice: str) -> Scene | None:
    """The scene of a choice; None: it has none, see NO_SCENE."""
    return SCENES.get(choice)


__all__ = ["NO_SCENE", "SCENES", "scene_of"]
