"""With machine code, arrays touch no pixel on the way of a frame: not where textures are decoded, surfaces are copied,
cleared or filled, nor where the picture is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import recordings
from support.deferred_scene import DeferredScene

from pocketgpu import capture
from pocketgpu.capture.driver import drive
from pocketgpu.maxwell.display import present, scan_out
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.memory import blocklinear, surface_copy
from pocketgpu.maxwell.sampling import texel_copies
from pocketgpu.maxwell.textures import blocks

FEW = 64
"""Pixels that arrays may convert at once: clears and constant attributes are single ones."""
BY_ARRAYS = [
    (arrays, "decode"), (arrays, "picture"), (arrays, "to_rgba8"), (arrays, "encode"), (arrays, "encode_depth"),
    (arrays, "decode_depth"), (present, "to_picture"), (scan_out, "to_picture"), (blocklinear, "detile"),
    (blocklinear, "tile"), (surface_copy, "to_array"), (surface_copy, "from_array"), (texel_copies, "canonical"),
    (blocks, "texels"),
]  # fmt: skip


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of array functions that were called with more than a few pixels."""
    found: list[str] = []

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            first = given[0]
            if not isinstance(first, np.ndarray) or first.size > 4 * FEW:
                found.append(name)
            return function(*given, **more)

        return call

    for module, name in BY_ARRAYS:
        monkeypatch.setattr(module, name, noted(f"{module.__name__}.{name}", getattr(module, name)))
    yield found


def play(log: Any, touched: list[str]) -> None:
    driver = drive(log)
    for frame in range(driver.frame_count):
        driver.play_frame()
        driver.shown(frame)
    assert touched == []


def test_a_deferred_scene(touched: list[str]) -> None:
    scene = DeferredScene(160, 90)
    play(scene.builder().log(), touched)


def test_arrays_are_seen_by_this_test(touched: list[str]) -> None:
    driver = drive(DeferredScene(32, 32, frames=1).builder().log(), evaluator="numpy")
    driver.play_frame()
    driver.shown(0)
    assert "pocketgpu.maxwell.sampling.texel_copies.canonical" in touched


@pytest.mark.parametrize("path", sorted(recordings.switch().glob("*.zip")), ids=lambda path: path.name)
def test_recordings(path: Path, touched: list[str]) -> None:
    play(capture.open(path).trace, touched)


SMALL = [DeferredScene(44, 28, filter=2), DeferredScene(44, 28, target="A8B8G8R8", texture="A8B8G8R8", type=2),
         DeferredScene(44, 28, target="RF32_GF32_BF32_AF32", texture="R32_G32_B32_A32"),
         DeferredScene(29, 23, block_height=0)]  # fmt: skip


@pytest.mark.parametrize("scene", SMALL, ids=lambda scene: f"{scene.target}-{scene.filter}-{scene.block_height}")
def test_a_deferred_scene_is_the_same_on_both_evaluators(scene: DeferredScene) -> None:
    pictures = []
    for evaluator in ("llvm", "numpy"):
        driver = drive(scene.builder().log(), evaluator=evaluator)
        for frame in range(scene.frames):
            driver.play_frame()
            pictures.append(driver.shown(frame)["screen"].array)
    half = len(pictures) // 2
    assert all(np.array_equal(a, b) for a, b in zip(pictures[:half], pictures[half:], strict=True))
    assert pictures[0].std() > 5 and not np.array_equal(pictures[0], pictures[1])
