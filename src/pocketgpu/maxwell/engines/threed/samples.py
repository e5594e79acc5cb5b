"""How many samples a pixel of the targets has."""

from __future__ import annotations

from pocketgpu.facts.maxwell.samples import SAMPLE_GRIDS
from pocketgpu.maxwell.engines.common.state import State


def sample_grid(state: State) -> tuple[int, int]:
    """Samples of a pixel across and down, as SET_ANTI_ALIAS has them; one for a mode that does not exist."""
    return SAMPLE_GRIDS.get(state.field("SET_ANTI_ALIAS", "SAMPLES"), (1, 1))


def sample_count(state: State) -> int:
    """Samples of a pixel in all."""
    across, down = sample_grid(state)
    return across * down
