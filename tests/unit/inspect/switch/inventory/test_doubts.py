"""What blits and grids of the Switch depend on, told from records that are made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pocketgpu.inspect.switch.inventory.doubts import of_record
from pocketgpu.maxwell.engines.common.action_log import Blit
from pocketgpu.maxwell.sampling.records import FETCH, SAMPLE


def blit(steps: tuple[float, float], filter: str = "BILINEAR", operation: str = "SRCCOPY") -> Blit:
    return Blit("s0/e0+0", 0x1000, 0x2000, "A8B8G8R8", "A8B8G8R8", (0, 0, 8, 8), (0, 0), steps, filter, operation)


class Launch(SimpleNamespace):
    """As much of a launch as is looked at."""


def told(record: Any) -> list[tuple[str, bool]]:
    return [(doubt.choice, doubt.certain) for doubt in of_record(record)]


@pytest.mark.parametrize(
    ("steps", "odd"),
    [
        ((1, 1), False), ((2, 0.5), False), ((1 / 256, 255 / 256), False), ((1 / 3, 1), True), ((1, 1 / 3), True),
        ((1 / 512, 1), True), ((1 + 1 / 1024, 1), True), ((0.7, 0.7), True),
    ],
)  # fmt: skip
def test_factors_of_blits_with_more_bits_than_weights_have(steps: tuple[float, float], odd: bool) -> None:
    """Weights of the filter have 8 bits: a step of n / 256 pixels is exact."""
    assert told(blit(steps)) == [("twod.weights", False)] * odd
    assert told(blit(steps, "POINT")) == []


def test_operations_of_blits() -> None:
    assert told(blit((1, 1), operation="SRCCOPY_AND")) == [("twod.and_operations", True)]
    assert told(blit((0.3, 1), operation="BLEND_AND")) == [("twod.weights", False), ("twod.and_operations", True)]
    assert told(blit((1, 1), operation="BLEND_PREMULT")) == []


def test_textures_of_grids() -> None:
    known = {SAMPLE: "texture.fraction", FETCH: "texture.fetch_outside"}
    for kinds in ([], [SAMPLE], [FETCH], [SAMPLE, FETCH]):
        code = SimpleNamespace(textures=set(kinds))
        assert told(Launch(code=code)) == [(known[kind], False) for kind in kinds]
    assert told(Launch(code=None)) == [] and told(SimpleNamespace(code=code)) == []
