"""The register of scenes: the modules of `scenes` add theirs.

    @scene("blend.factor_15")
    def _() -> Made:
        '''A square is blended with factor 15: it keeps its colour (one), or becomes darker (source).'''
        ...
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc

from pocketgpu.facts.choices import CHOICES
from pocketgpu.probe.model.scene import Made, Scene

SCENES: dict[str, Scene] = {}
"""The scene of each choice that has one, by the choice's name."""


def scene(choice: str) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Add a function as the scene of a choice; its docstring is the scene's `doc`."""

    def register(make: Callable[[], Made]) -> Callable[[], Made]:
        if choice not in CHOICES or choice in SCENES:
            raise ValueError(f"{choice!r} is no choice, or has a scene already")
        SCENES[choice] = Scene(choice, " ".join(cleandoc(make.__doc__ or "").split()), make)
        return make

    return register


__all__ = ["SCENES", "scene"]
