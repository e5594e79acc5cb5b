"""All rules, in the order in which they are listed: lists, programs, vertices, memory, targets, textures, and so on.

Topics are imported one by one, so that packaged and zipped installations find them without listing files.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.model.rules import Rule
from pocketgpu.inspect.rules.n3ds import (
    displays,
    doubts,
    drawing,
    fills,
    fragments,
    geometry,
    lists,
    memory,
    outputs,
    programs,
    system,
    targets,
    textures,
    transfers,
    vertices,
    viewport,
)
from pocketgpu.inspect.rules.switch import channels as switch_channels
from pocketgpu.inspect.rules.switch import doubts as switch_doubts
from pocketgpu.inspect.rules.switch import drawing as switch_drawing
from pocketgpu.inspect.rules.switch import draws as switch_draws
from pocketgpu.inspect.rules.switch import grids as switch_grids

RULES: Final[tuple[Rule, ...]] = (
    *lists.RULES,
    *programs.RULES,
    *vertices.RULES,
    *memory.RULES,
    *targets.RULES,
    *textures.RULES,
    *viewport.RULES,
    *outputs.RULES,
    *drawing.RULES,
    *geometry.RULES,
    *fragments.RULES,
    *fills.RULES,
    *transfers.RULES,
    *displays.RULES,
    *system.RULES,
    *doubts.RULES,
    *switch_grids.RULES,
    *switch_draws.RULES,
    *switch_drawing.RULES,
    *switch_channels.RULES,
    *switch_doubts.RULES,
)
"""Every rule, those for the 3DS first."""


def rule(id: str) -> Rule:
    """The rule with an id.

    :raises KeyError: there is none.
    """
    return _BY_ID[id]


_BY_ID: Final = {one.id: one for one in RULES}
assert len(_BY_ID) == len(RULES)

__all__ = ["RULES", "rule"]
