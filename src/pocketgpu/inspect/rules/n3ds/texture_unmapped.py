"""Textures where no memory is."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "texture.unmapped",
    "a texture leaves memory or has no size",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/Internal Registers, GPUREG_TEXUNIT0_ADDR1",
    "It is black here. What a console reads there is not known.",
    "The register holds the physical address divided by 8.",
    lambda record: record.tells("texture.unmapped"),
)
