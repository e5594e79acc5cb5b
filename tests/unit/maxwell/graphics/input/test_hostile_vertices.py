"""Vertex inputs that a guest can make up: any registers, any indices; nothing of its memory changes, all of it ends."""

from __future__ import annotations

import pytest
from support.engine_host import Bench
from support.fuzz import load
from support.vertex_side import VertexSide

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.graphics.input.vertex_input import MAX_COUNT


def test_any_registers() -> None:
    """Some of the cases of tests/fuzz/vertices.py; they must go on reaching what they are about."""
    counts = load("vertices").run(300, seed=2)
    assert counts["cases"] == 300
    least = {"vertices": 20_000, "values": 150_000, "primitives": 20_000, "patch primitives": 500_000}
    assert {name: counts[name] >= n for name, n in least.items()} == dict.fromkeys(least, True), counts


@pytest.mark.parametrize("count", [0, MAX_COUNT + 1, 0xFFFFFFFF])
def test_counts_that_are_none(count: int) -> None:
    b = Bench(ThreeD)
    b(BEGIN=B197["BEGIN"].encode(OP=4), DRAW_VERTEX_ARRAY=count, END=0)
    draw = next(record for record in reversed(b.host.log) if isinstance(record, Draw))
    with pytest.raises(UsageError):
        VertexSide(b).begin(draw)
