"""Textures that are drawn to."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.inspect.rules.switch.record import SwitchRecord


def look(record: SwitchRecord) -> Iterator[Found]:
    for draw in record.draws:
        for texture in draw.textures:
            for name, target in draw.targets:
                if texture.overlaps(target):
                    yield Found(f"a texture at {texture} overlaps the {name} at {target} of the same draw", draw.at)


RULE = Rule(
    "switch.target-texture",
    "a draw samples the target that it draws to",
    "Switch",
    "warning",
    "documented",
    "OpenGL 4.5, Rendering Feedback Loops; class header clb197.h",
    "What is sampled depends on how far the draw came, and on what caches hold.",
    "Draw to another target, or copy the texture first.",
    look,
)
