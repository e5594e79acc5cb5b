"""Machines for the tests of the graphics module. Most of them draw nothing, so one machine serves a whole test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pocketgpu.pica.gsp import Gsp
from pocketgpu.pica.n3ds import N3DS


@pytest.fixture
def gpu() -> N3DS:
    return N3DS()


@pytest.fixture
def gsp(gpu: N3DS) -> Gsp:
    return gpu.gsp


@pytest.fixture
def switched() -> Callable[..., N3DS]:
    """A machine with choices: switched(gsp_alignment="ignore")."""

    def make(**values: str) -> N3DS:
        return N3DS(switches={name.replace("_", ".", 1): value for name, value in values.items()})

    return make
