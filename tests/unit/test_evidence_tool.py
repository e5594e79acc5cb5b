"""tools/evidence.py: which values of choices agree best with pictures of recordings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pocketgpu.facts.choices import CHOICES
from pocketgpu.inspect.doubts import Agreement, CaptureDoubts, Parting, PhotoAgreement
from pocketgpu.inspect.doubts.found import Work
from pocketgpu.inspect.model.address import Address

TOOLS = Path(__file__).resolve().parents[2] / "tools"
STENCIL = "test.stencil_write"
DEFAULT = CHOICES[STENCIL].default
(OTHER,) = CHOICES[STENCIL].alternatives


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    sys.path.insert(0, str(TOOLS))
    try:
        import evidence

        yield evidence
    finally:
        sys.path.remove(str(TOOLS))


def found(agreement: Any, wrong: int | None = None, failed: Mapping[tuple[str, str], str] | None = None) -> Any:
    parting = Parting(STENCIL, OTHER, 30, 1, Address(0, screen="top", pixel=(1, 2)), wrong)
    trial = (STENCIL, OTHER)
    partings = () if failed else (parting,)
    return CaptureDoubts("scene.ctf", "3DS", 1, 1, (trial,), partings, failed or {}, Work(), agreement)


def test_the_value_with_the_fewest_wrong_pixels_wins(tool: ModuleType) -> None:
    copies = Agreement({STENCIL: OTHER}, 5, 40, 96_000)
    (won,) = tool.winners(found(copies, wrong=5), "scene")
    assert (won.choice, won.value, won.unlike, won.next, won.pixels) == (STENCIL, OTHER, 5, 40, 96_000)
    (won,) = tool.winners(found(copies, wrong=50), "scene")
    assert (won.value, won.unlike, won.next) == (DEFAULT, 40, 50)
    assert not list(tool.winners(found(copies, wrong=40), "scene")), "both are as far"
    assert not list(tool.winners(found(copies, failed={(STENCIL, OTHER): "it hangs"}), "scene")), "nothing to compare"


@pytest.mark.parametrize(
    "agreement",
    [
        PhotoAgreement({STENCIL: OTHER}, "", 40.0, 2.2, (), ()), PhotoAgreement({}, "too far", 0.0, 2.2, (), ()),
        Agreement({}, 90_000, 90_000, 96_000), None,
    ],
)  # fmt: skip
def test_pictures_that_are_no_copies_give_no_rows(tool: ModuleType, agreement: Any) -> None:
    assert list(tool.winners(found(agreement), "scene")) == []
