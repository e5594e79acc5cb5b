"""Scenes of the Switch. Each module registers its own."""

from collections.abc import Mapping
from typing import Final

from pocketgpu.probe.scenes.switch import (  # noqa: F401
    blits,
    channels,
    engines,
    macros,
    outputs,
    raster,
    textures,
    vertices,
)

NO_SCENE: Final[Mapping[str, str]] = {}
"""Why a choice has no scene: the reason, by the choice's name."""

__all__ = ["NO_SCENE"]
