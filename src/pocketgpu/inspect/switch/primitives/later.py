"""The programs between the vertex program and raster, which run for primitives: how addresses name their runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pocketgpu.inspect.model.address import LATE
from pocketgpu.maxwell.graphics.stages.chain import CONTROL, EVALUATION, GEOMETRY

LATE_PROGRAMS: Final = dict(
    zip((CONTROL, EVALUATION, GEOMETRY), zip(LATE, ("thread", "point", "run"), strict=True), strict=True)
)
"""By stage: its letters in addresses, and what one of its runs is for people."""


def late_programs(stages: Collection[int]) -> dict[int, tuple[str, str]]:
    """Of the stages of a draw, those that run for its primitives, in order: LATE_PROGRAMS of each."""
    return {
        stage: told
        for stage, told in LATE_PROGRAMS.items()
        if stage in stages and (stage != CONTROL or EVALUATION in stages)  # a control program alone does not run
    }


__all__ = ["LATE_PROGRAMS", "late_programs"]
