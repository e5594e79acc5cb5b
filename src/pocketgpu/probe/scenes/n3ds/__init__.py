"""Scenes of the 3DS. Each module registers its own."""

from pocketgpu.probe.scenes.n3ds import (  # noqa: F401
    atmosphere,
    combiners,
    displays,
    fills,
    geometry,
    lighting,
    lists,
    raster,
    shaders,
    system,
    tests,
    textures,
    transfers,
    vertices,
)
from pocketgpu.probe.scenes.n3ds.none import NO_SCENE

__all__ = ["NO_SCENE"]
