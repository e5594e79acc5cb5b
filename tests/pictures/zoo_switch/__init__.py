"""A zoo of the Switch's 3D engine: for each feature a small picture with all its variants side by side.

    python tests/pictures/zoo --switch --out build/zoo_switch     # all pictures, and a page that names every cell

`stage.py` says what a scene is, `show.py` draws them; the others are scenes.
"""

from __future__ import annotations

# Each module of scenes registers its own.
from . import output, programs, rare, raster, stages, targets, textures, vertices  # noqa: F401
from .show import Shown, show
from .stage import SCENES, Cell, Entry, Scene

__all__ = ["SCENES", "Cell", "Entry", "Scene", "Shown", "show"]
