"""What a scene is made of. One description serves both sides, so that they draw the same.

Names of factors, operations and comparisons are OpenGL's without their prefix. The first row of a picture is the top,
depth goes from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
VERTEX_FLOATS = 12
"""Of a vertex: position, colour and texture coordinates, four each."""
CONSTANT_FLOATS = 16
"""Of a row of constants: four vectors."""


@dataclass(frozen=True)
class Stencil:
    """A stencil test. passed: operations where it and the depth test pass, of front faces and of back faces."""

    function: str
    passed: tuple[str, str]
    failed: str = "KEEP"
    reference: int = 0


@dataclass(frozen=True)
class State:
    """State of a draw. blend: factors of the source and of the target. depth: a comparison."""

    blend: tuple[str, str] | None = None
    depth: str | None = None
    stencil: Stencil | None = None
    writes_colour: bool = True
    culls: bool = False


@dataclass(frozen=True)
class Draw:
    """A draw of consecutive vertices. textures: names, of textures and targets. constants: a row of them."""

    program: str
    first: int
    count: int
    topology: str = "TRIANGLES"
    state: State = State()
    textures: tuple[str, ...] = ()
    constants: int | None = None


@dataclass(frozen=True)
class Target:
    """A colour target, with a depth target of its own if `depth`."""

    format: str = "RGBA8"
    samples: int = 1


@dataclass(frozen=True)
class Pass:
    """Draws to some targets, which are cleared before."""

    targets: tuple[str, ...]
    draws: tuple[Draw, ...]
    clear: tuple[float, float, float, float] = (0, 0, 0, 1)
    depth: bool = False


@dataclass(frozen=True)
class Scene:
    """A frame.

    vertices: (n, VERTEX_FLOATS) f32. textures: RGBA8 images, (height, width, 4), by name; programs read them with
    linear filters, and targets without. constants: (n, CONSTANT_FLOATS) f32. pushed: the commands of a frame have the
    rows of constants, instead of binding them. matrix: (4, 4), multiplied with positions by programs that do so.
    resolve: the target whose samples are averaged into the one that is shown.
    """

    name: str
    size: tuple[int, int]
    vertices: Array
    passes: tuple[Pass, ...]
    shown: str
    targets: Mapping[str, Target]
    textures: Mapping[str, Array] = field(default_factory=dict)
    constants: Array = field(default_factory=lambda: np.zeros((1, CONSTANT_FLOATS), np.float32))
    pushed: bool = True
    matrix: Array = field(default_factory=lambda: np.eye(4, dtype=np.float32))
    resolve: str | None = None

    @property
    def draws(self) -> int:
        """How many draws a frame has."""
        return sum(len(one.draws) for one in self.passes)
