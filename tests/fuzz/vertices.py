"""Random registers, indices and levels for the vertex side of Maxwell draws: it ends, memory stays as it was,
attributes are those of the Python decoders, primitives those of the slow model; tessellated patches have ends, too.

    python tests/fuzz/vertices.py --cases 100000 --seed 1
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from numpy.typing import NDArray
from support.engine_host import Bench
from support.fuzz import command
from support.vertex_side import Piece, VertexSide, model

from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.threed import vertices
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.graphics.programs.headers import layout_of
from pocketgpu.maxwell.graphics.records import PRIMITIVE_ID, V0, VERTICES
from pocketgpu.maxwell.graphics.stages.tessellation import (
    TessellationRoom,
    TessellationStage,
    begin_patches,
    tessellate,
)
from pocketgpu.maxwell.graphics.stages.tessellator import MOST_POINTS, MOST_PRIMITIVES
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory

VA, SIZE = 0x5_0000_0000, 0x10000
TOPOLOGIES = 15
LEVELS = (
    *(f"SET_TESSELLATION_LOD_{name}" for name in ("U0_OR_DENSITY", "V0_OR_DETAIL", "U1_OR_W0", "V1")),
    "SET_TG_LOD_INTERIOR_U", "SET_TG_LOD_INTERIOR_V",
)  # fmt: skip

_INPUTS = (
    "SET_ATTRIBUTE_DEFAULT", "SET_DA_PRIMITIVE_RESTART", "SET_DA_PRIMITIVE_RESTART_INDEX",
    "SET_DA_PRIMITIVE_RESTART_VERTEX_ARRAY", "SET_DA_OUTPUT", "SET_PROVOKING_VERTEX", "SET_PATCH",
    "SET_VERTEX_ATTRIBUTE_A", "SET_VERTEX_ATTRIBUTE_B", "SET_VERTEX_STREAM_A_FORMAT", "SET_VERTEX_STREAM_B_FORMAT",
)  # fmt: skip
_WORDS = sorted(word for name in _INPUTS for word in B197[name].words())


def wild_draw(b: Bench, rng: np.random.Generator) -> Draw:
    """A draw with random state; most addresses are near what is mapped."""

    def pick(*choices: Any) -> int:
        return int(choices[rng.integers(len(choices))])

    b.registers[_WORDS] = rng.integers(0, 1 << 32, len(_WORDS), np.uint64).astype(np.uint32)
    for half in "AB":
        for i in range(16):
            start = VA + pick(rng.integers(SIZE), -3, SIZE - 40, SIZE + 100, 1 << 33)
            limit = VA + pick(rng.integers(SIZE), SIZE - 1, SIZE + 200, 1 << 34, -5)
            b.address(f"SET_VERTEX_STREAM_{half}_LOCATION_A", start & 0xFF_FFFF_FFFF, i)
            b.address(f"SET_VERTEX_STREAM_LIMIT_{half}_A", limit & 0xFF_FFFF_FFFF, i)
            frequency = {f"SET_VERTEX_STREAM_{half}_FREQUENCY__{i}": pick(0, 1, 3, 0xFFFFFFFF)}
            b(**frequency, **{f"SET_VERTEX_STREAM_INSTANCE_{half}__{i}": pick(0, 0, 1)})
    size = pick(0, 1, 2)
    top = pick(3, 40, 250)
    data = rng.integers(0, top, 1024).astype(f"<u{1 << size}")
    data[rng.integers(0, 1024, 60)] = top  # which restarts, if that is on
    if pick(0, 1, 1):
        b(SET_DA_PRIMITIVE_RESTART_INDEX=top)
    b.memory.write(VA + 0x4000, data.tobytes())
    b.address("SET_INDEX_BUFFER_A", VA + pick(0x4000, 0x4000, 0x4001, SIZE - 20, SIZE))
    b.address("SET_INDEX_BUFFER_C", VA + pick(0x43FF, SIZE - 1, SIZE + 50, 0))
    b(
        SET_INDEX_BUFFER_E=size, SET_INDEX_BUFFER_F=pick(0, 5, 300), SET_PATCH=pick(1, 3, 32),
        SET_GLOBAL_BASE_VERTEX_INDEX=pick(0, 7, 0xFFFFFFF0), SET_GLOBAL_BASE_INSTANCE_INDEX=pick(0, 2, 0xFFFFFFFF),
        SET_VERTEX_ARRAY_START=pick(0, 9, 0xFFFFFFF0), BEGIN=pick(*range(TOPOLOGIES)),
    )  # fmt: skip
    count = pick(*range(1, 20), 100, 255, 256, 257, 700)
    b(**{("DRAW_INDEX_BUFFER", "DRAW_VERTEX_ARRAY")[pick(0, 1)]: count}, END=0)
    draw = b.host.log.pop()
    assert isinstance(draw, Draw)
    b.host.log.clear()
    return draw


def expected(b: Bench, draw: Draw, piece: Piece, instance: int) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Attribute to slots of an instance and their values, by the Python decoders."""
    mine = np.flatnonzero(piece.instances == instance)
    numbers = piece.numbers[mine].astype(np.int64)
    if draw.indexed:
        numbers = numbers + draw.base_vertex & 0xFFFFFFFF
    found = {}
    for a in draw.attributes:
        assert a.format is not None
        stream = draw.streams[a.stream]
        chosen = vertices.elements(stream, numbers, instance, draw.base_instance, "constant") & 0xFFFFFFFF
        at = stream.address + chosen * stream.stride + a.offset
        raw, _ = vertices.fetch(b.memory, at, a.format.bytes, stream.address, stream.limit)
        found[a.number] = mine, vertices.decode(raw, a.format, a.type, a.swap)
    return found


def check_primitives(draw: Draw, pieces: list[Piece], neighbours: bool, instances: int) -> int:
    """Compare with the slow model; returns how many there are."""
    last, patch = bool(draw.state.field("SET_PROVOKING_VERTEX")), min(max(draw.state.field("SET_PATCH", "SIZE"), 1), 32)
    wanted, number = [], 0
    for run in draw.runs:
        made = model(draw.topology_name, len(run), last, neighbours, patch)
        wanted += [(tuple(int(run[p]) for p in places), number + own) for places, _, own, _ in made]
        number += max((own for _, _, own, _ in made), default=-1) + 1
    found = []
    order = (V0, 1, 2, 6, 7, 8)
    for piece in pieces:
        for row in piece.primitives.tolist():
            slots = [piece.slots[row[V0]]] if draw.topology_name == "PATCH" else [row[c] for c in order]
            found.append((tuple(int(piece.numbers[s]) for s in slots), row[PRIMITIVE_ID]))
    assert len(found) == len(wanted) * instances
    for i, (numbers, id) in enumerate(found):
        places, own = wanted[i % len(wanted)]
        assert (numbers[: len(places)], id) == (places, own), i
    return len(found)


class Patches:
    """A tessellator with four patches whose levels come from registers."""

    def __init__(self) -> None:
        self.memory = GpuMemory(work_size=16 * MIB)
        self.engine = Engine(self.memory.arena)
        self.at = (self.memory.work_offset + 127) & -128
        self.words(self.at + 128, 4)[:] = 4, 3, self.at + 4096, 4096
        self.stage = TessellationStage(self.memory, self.engine, TessellationRoom(self.at + 0x20000, 12000))
        self.registers = np.zeros(0x1000, np.uint32)

    def words(self, at: int, count: int) -> NDArray[np.int32]:
        return self.memory.arena[at : at + 4 * count].view(np.int32)

    def run(self, rng: np.random.Generator) -> int:
        """Random levels, any bits among them; returns how many primitives they made."""
        for name in LEVELS:
            level = np.float32(rng.choice([rng.uniform(0, 70), rng.uniform(0, 5), float(rng.integers(1, 66))]))
            word = level.view(np.uint32) if rng.random() < 0.9 else rng.integers(1 << 32)
            self.registers[B197[name].word] = word
        self.registers[B197["SET_TESSELLATION_PARAMETERS"].word] = rng.integers(1 << 10)
        state = State(B197, self.registers)
        assert self.stage.begin(state, 3, self.at, self.at + 128, self.at + 256, 0, layout_of([0x70]), 0)
        self.engine.get(begin_patches)(self.stage.room.record, 0)
        made = 0
        while self.stage.left:
            before = self.stage.left
            self.engine.get(tessellate)(self.stage.room.record)
            done = before - self.stage.left
            points = int(self.words(self.stage.vertices + VERTICES.COUNT, 1)[0])
            count, _, columns, stride = self.words(self.stage.primitives, 4).tolist()
            assert done and points <= done * MOST_POINTS and count <= done * MOST_PRIMITIVES
            corners = np.stack([self.words(columns + c * stride, count) for c in range(3)])
            assert not count or (corners.min() >= 0 and corners.max() < points)
            made += count
        return made


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Counts: cases; vertices shaded, primitives, values compared, primitives of patches."""
    counts: Counter[str] = Counter()
    b = Bench(ThreeD)
    b.map(VA, SIZE)
    data = np.random.default_rng(1).integers(0, 256, SIZE, np.uint8)
    offset = b.memory.offset_of(VA, SIZE)
    assert offset is not None
    side, patches = VertexSide(b, page_vectors=200), Patches()
    for number in range(first, first + cases):
        rng = np.random.default_rng([seed, number])
        b.memory.write(VA, data.tobytes())
        draw = wild_draw(b, rng)
        before = b.memory.arena[offset : offset + SIZE].copy()
        instances, neighbours = int(rng.integers(1, 4)), bool(rng.integers(2))
        shape = side.begin(draw, instances=instances, neighbours=neighbours, tier=("general", "auto")[rng.integers(2)])
        pieces = []
        for piece in side.pieces():
            pages = side.shade(shape, len(piece.numbers))
            pieces.append(piece)
            counts["vertices"] += len(piece.numbers)
            for instance in range(draw.instance, draw.instance + instances):
                for attribute, (slots, values) in expected(b, draw, piece, instance).items():
                    at = [int(shape.map[(0x80 + 16 * attribute) // 4 + c]) // 128 for c in range(4)]
                    got, wanted = pages[at][:, slots].T, values.view(np.uint32)
                    same = got == wanted
                    if values.dtype == np.float32:
                        same |= np.isnan(values) & np.isnan(got.view(np.float32))
                    assert same.all(), f"case {number} of seed {seed}: attribute {attribute}"
                    counts["values"] += same.size
        counts["primitives"] += check_primitives(draw, pieces, neighbours, instances)
        assert np.array_equal(b.memory.arena[offset : offset + SIZE], before), f"case {number} of seed {seed}"
        counts["patch primitives"] += patches.run(rng)
        counts["cases"] += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "draws")
