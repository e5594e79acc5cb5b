"""Draws of real programs through the vertex side: every attribute and primitive as the Python decoders have them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.vertex_side import VertexSide

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats import mxcap
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.records import PATCH_LIST, V0

NAMES = (
    "deko_basic_320x180", "ex02_triangle_320x180", "ex03_cube_320x180", "ex04_textured_cube_320x180",
    "ex05_tessellation_320x180", "ex07_mesh_lighting_320x180", "gl_simple_triangle_320x180",
    "gl_textured_cube_320x180", "mesa_blend_320x180", "mesa_indexed_320x180", "mesa_texkinds_320x180",
)  # fmt: skip


def check(side: VertexSide, draw: Draw) -> int:
    """Compare one draw; returns how many primitives it has."""
    draw.freeze()
    shape = side.begin(draw, tier="general")
    attributes: dict[int, list[np.ndarray]] = {number: [] for number in draw.inputs}
    numbers, total = [], 0
    for piece in side.pieces():
        pages = side.shade(shape, len(piece.numbers))
        kind = int(side.words(side.input.primitives, 4)[1])
        corners = 1 if kind == PATCH_LIST else kind + 1
        slots = piece.primitives[:, V0 : V0 + corners].reshape(-1)
        if kind == PATCH_LIST:
            slots = piece.slots[slots]
        total += len(piece.primitives)
        numbers.append(piece.numbers[slots])
        for number, parts in attributes.items():
            at = [int(shape.map[(0x80 + 16 * number) // 4 + c]) // 128 for c in range(4)]
            parts.append(pages[at].T[slots])
    if draw.topology_name in ("TRIANGLES", "LINES", "POINTS") and draw.restart is None:
        assert np.array_equal(np.concatenate(numbers), draw.indices[: len(np.concatenate(numbers))])
        for number, parts in attributes.items():
            got, wanted = np.concatenate(parts), draw.inputs[number]
            assert np.array_equal(got, wanted[: len(got)].view(np.uint32)), number
    if "QUAD" not in draw.topology_name and draw.topology_name != "POLYGON":
        assert total == draw.primitives
    return total


@pytest.mark.parametrize("name", NAMES)
def test_recorded_draws(shared_dir: Path, name: str) -> None:
    path = shared_dir / "captures" / "switch" / f"{name}.mxcap.zip"
    if not path.is_file():
        pytest.skip(f"no recording {name}")
    log = mxcap.parse(path.read_bytes(), file=str(path))
    driver = drive(log)
    machine = driver.machine
    side = VertexSide(SimpleNamespace(host=machine, memory=machine.memory), capacity=1024)  # type: ignore[arg-type]
    primitives = 0
    for _ in driver.frames(range(min(2, driver.frame_count))):
        for record in machine.log:
            if isinstance(record, Draw):
                primitives += check(side, record)
    assert primitives
