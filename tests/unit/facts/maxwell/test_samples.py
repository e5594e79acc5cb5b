"""Modes with several samples for each pixel, and the standard places of samples."""

from __future__ import annotations

import pytest

from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.samples import PLACES_IN_REGISTERS, SAMPLE_MODES, SAMPLE_PLACES
from pocketgpu.maxwell.formats.samples import sample_grids


@pytest.mark.parametrize("count", SAMPLE_PLACES)
def test_places_are_apart_and_around_the_middle(count: int) -> None:
    """No two samples of a pixel share a column or a row of the 16 x 16 places; their mean is the middle."""
    places = SAMPLE_PLACES[count]
    for axis in zip(*places, strict=True):
        assert len(set(axis)) == count and sum(axis) == 8 * count and 0 <= min(axis) <= max(axis) < 16


def test_modes_store_so_many_samples_and_registers_hold_their_places() -> None:
    modes = B197["SET_ANTI_ALIAS"]["SAMPLES"].values.symbols
    for count, mode in SAMPLE_MODES.items():
        across, down = sample_grids()[modes[mode]]
        assert across * down == count == len(SAMPLE_PLACES[count])
    register = B197["SET_ANTI_ALIAS_SAMPLE_POSITIONS"]
    in_word = sum(field.name.startswith("X") for field in register.fields)
    assert in_word * register.count == PLACES_IN_REGISTERS
