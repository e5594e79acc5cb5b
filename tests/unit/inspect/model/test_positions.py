"""Positions in a few words."""

from __future__ import annotations

import numpy as np

from pocketgpu.inspect.model.vertices import numbers_of, same_place


def test_values_and_ranges_of_the_axes_that_are_asked_for() -> None:
    positions = np.array([[0, 1, 0.5, 1], [2, 3, 0.75, 1]], np.float32)
    assert numbers_of(positions, "zw") == ": z is 0.5 to 0.75, w is 1"
    assert numbers_of(positions, "x") == ": x is 0 to 2"
    assert numbers_of(positions, "") == "" and numbers_of(positions[:0], "zw") == ""


def test_a_place_is_told_only_if_all_are_there() -> None:
    assert same_place(np.full((3, 4), 0.5, np.float32)) == ": all corners are at (0.5, 0.5, 0.5, 0.5)"
    assert same_place(np.eye(4, dtype=np.float32)) == "" and same_place(np.zeros((0, 4), np.float32)) == ""
