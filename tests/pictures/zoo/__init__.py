"""A zoo of the PICA200: for each feature a small picture with all its variants side by side.

    python tests/pictures/zoo --out build/zoo     # all pictures, and a page that names every cell

`stage.py` says what a scene is, `show.py` draws them, `gallery.py` makes the page; the others are scenes.
"""

from __future__ import annotations

# Each module of scenes registers its own.
from . import (  # noqa: F401
    atmosphere,
    blending,
    combiners,
    depth_stencil,
    geometry,
    lighting,
    lights,
    lists,
    procedural,
    programs,
    raster,
    shadows,
    textures,
    transfers,
    vertices,
)  # fmt: skip
from .show import Shown, show
from .stage import SCENES, Cell, Entry, Scene

__all__ = ["SCENES", "Cell", "Entry", "Scene", "Shown", "show"]
