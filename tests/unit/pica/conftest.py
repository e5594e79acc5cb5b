"""Fixtures around the small machine of tests/support/pica_gpu.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from support.pica_gpu import Gpu


@pytest.fixture
def tier(request: pytest.FixtureRequest) -> str:
    """Which code draws: "auto", or what a module asks for (see BOTH_TIERS in those that do)."""
    return str(getattr(request, "param", "auto"))


@pytest.fixture
def gpu(tier: str) -> Gpu:
    """A machine with a render target of 16x16."""
    return Gpu(tier=tier)


@pytest.fixture
def make_gpu(tier: str) -> Callable[..., Gpu]:
    """Gpu(width, height, evaluator=, threads=, switch__name=)."""
    return partial(Gpu, tier=tier)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Iterator[np.random.Generator]:
    """Random numbers that are the same in every run of a test."""
    yield np.random.default_rng(sum(request.node.name.encode()))
