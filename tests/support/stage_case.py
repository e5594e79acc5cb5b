"""One stage of graphics at work: a program out of assembly, its header, pages in and out, one warp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import EventLog
from pocketgpu.facts.maxwell.headers import SPH
from pocketgpu.lanes import I32, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.common.constants import Binding
from pocketgpu.maxwell.graphics.programs.headers import PageLayout, layout_of
from pocketgpu.maxwell.graphics.programs.programs import STAGES, Programs, StageLaunch
from pocketgpu.maxwell.graphics.programs.run_stage import run_stage
from pocketgpu.maxwell.graphics.records import FRAGMENTS, GROUP, PAGE_ONE, PAGE_ZERO, PLANE, plane_at
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.stages.stage import PIXEL
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK

CODE, DATA = 0x1_0000_0000, 0x1_0010_0000
"""Where programs and data lie that tests put into the GPU's memory."""
ALL = -1


@kernel(lanes=32, launch=I32, slot=I32, mask=I32)
def call_stage(k: Lang, launch: Value, slot: Value, mask: Value) -> None:
    """Run a stage from the outside."""
    run_stage(k, launch, slot, mask)


def header(stage: int, **fields: Any) -> bytes:
    """A shader header with these fields; `FIELD__3` is element 3 of an array."""
    structure = SPH["PS" if stage == PIXEL else "VTG"]
    values: dict[str, Any] = {"SPH_TYPE": 2 if stage == PIXEL else 1, "VERSION": 3, "SHADER_TYPE": stage}
    for name, value in fields.items():
        plain, _, index = name.partition("__")
        values[f"{plain}({index})" if index else plain] = value
    return b"".join(word.to_bytes(4, "little") for word in structure.pack(values))


class StageCase:
    """A machine with one program bound. `room`: arena offset of 4 MiB for pages and the like."""

    def __init__(
        self,
        pipeline: int,
        code: str,
        evaluator: str = "numpy",
        tier: str = "auto",
        constants: Mapping[int, bytes] | None = None,
        **fields: Any,
    ) -> None:
        self.memory = GpuMemory(work_size=64 * MIB)
        self.engine = Engine(self.memory.arena, evaluator)
        self.events = EventLog()
        at, size = self.memory.work_offset, self.memory.work_size
        self.room = (at + size - 4 * MIB) & -4096
        self.programs = Programs(self.memory, self.engine, self.events, (at, size - 5 * MIB))
        self.memory.map(CODE, 0x10000)
        self.memory.map(DATA, 0x100000)
        self.memory.write(CODE, header(STAGES[pipeline], **fields) + assemble(code).code)
        found = self.programs.find(pipeline, CODE)
        assert found is not None, list(self.events)
        self.program = found
        self.stage: StageLaunch = self.programs.stages[pipeline]
        bindings: list[Binding | None] = [None] * 18
        place = DATA + 0x80000
        for bank, data in (constants or {}).items():
            self.memory.write(place, data)
            bindings[bank] = Binding(place, len(data))
            place += 0x10000
        self.bindings = bindings
        self.memory.open_version()
        assert self.stage.bind(found, bindings, tier=tier)
        self._used = self.room

    @property
    def slot(self) -> int:
        return self.stage.slots[0]

    def words(self, at: int, count: int, dtype: Any = np.int32) -> NDArray[Any]:
        return self.memory.arena[at : at + 4 * count].view(dtype)

    def allocate(self, size: int) -> int:
        """Zeroed room."""
        at = self._used
        self._used += (size + 127) & -128
        self.memory.arena[at : at + size] = 0
        return at

    def set_block(self, **values: Any) -> None:
        """Words of the slot by name; floats as f32."""
        for name, v in values.items():
            self.words(self.slot + BLOCK.offsets[name], 1)[0] = np.float32(v).view(np.int32) if type(v) is float else v

    def page(self, layout: PageLayout, values: Mapping[int, Sequence[float] | NDArray[Any]] | None = None) -> int:
        """A page with values (32 lanes, as f32 or as the integers they are) by address."""
        at = self.allocate(layout.vectors * 128)
        self.words(at + PAGE_ZERO, 32)[:] = 0
        self.words(at + PAGE_ONE, 32, np.float32)[:] = 1
        for address, lanes in (values or {}).items():
            self.put(at, layout, address, lanes)
        return at

    def put(self, page: int, layout: PageLayout, address: int, lanes: Any) -> None:
        data = np.broadcast_to(np.asarray(lanes), 32)
        data = data.astype(np.float32) if data.dtype.kind == "f" else data.astype(np.int64).astype(np.int32)
        self.words(page + int(layout.read[address >> 2]), 32)[:] = data.view(np.int32)

    def get(self, page: int, layout: PageLayout, address: int, dtype: Any = np.float32) -> NDArray[Any]:
        """A word of a page, all lanes."""
        return self.words(page + int(layout.read[address >> 2]), 32, dtype).copy()

    def outputs(self) -> PageLayout:
        """The layout of the program's outputs, set up."""
        layout = layout_of(self.program.header.outputs)
        self.stage.set_map("OUT_MAP", layout.written)
        return layout

    def inputs(self, addresses: Sequence[int]) -> PageLayout:
        """A layout of inputs, set up."""
        layout = layout_of(addresses)
        self.stage.set_map("IN_MAP", layout.read)
        return layout

    def vectors(self, *lanes: Any) -> int:
        """Vectors one after the other."""
        at = self.allocate(128 * len(lanes))
        for n, v in enumerate(lanes):
            self.words(at + 128 * n, 32)[:] = v
        return at

    def run(self, mask: int = ALL) -> None:
        self.engine.get(call_stage)(self.stage.record, self.slot, mask)
        self.stage.tell_failures("here")


class PixelCase(StageCase):
    """A pixel program on one block. planes: address to (C, DX, DY, FLAT); FLAT as the integer it is."""

    def __init__(self, code: str, planes: Mapping[int, tuple[float, float, float, int]], **options: Any) -> None:
        options = {"OMAP_RED__0": 1, "OMAP_GREEN__0": 1, "OMAP_BLUE__0": 1, "OMAP_ALPHA__0": 1, **options}
        super().__init__(5, code, **options)
        table = np.zeros(256, np.int32)
        at = self.allocate(plane_at(len(planes) + 2 * GROUP) & -PLANE.size)
        self.words(at + plane_at(1), 1, np.float32)[0] = 1
        for n, (address, (c, dx, dy, flat)) in enumerate(planes.items(), 2):
            table[address >> 2] = plane_at(n)
            for word, v in zip((PLANE.C, PLANE.DX, PLANE.DY), (c, dx, dy), strict=True):
                self.words(at + plane_at(n) + word, 1, np.float32)[0] = v
            self.words(at + plane_at(n) + PLANE.FLAT, 1)[0] = np.int64(flat).astype(np.int32)
        self.stage.set_map("IN_MAP", table)
        self.fragments = self.allocate(FRAGMENTS.size)
        self.set_fragments(X=16, Y=8, SAMPLES=1, COVERED=-1, SAMPLE=-1)
        self.words(self.fragments + FRAGMENTS.COVER, 16)[:] = -1
        self.set_block(IN_AT=at, FRAGMENTS=self.fragments, PIXEL_X=0.5, PIXEL_Y=0.5)

    def set_fragments(self, **values: int) -> None:
        for name, v in values.items():
            self.words(self.fragments + FRAGMENTS.offsets[name], 1)[0] = np.int64(v).astype(np.int32)

    def fragment(self, name: str, n: int = 0) -> int:
        return int(self.words(self.fragments + FRAGMENTS.offsets[name] + 4 * n, 1)[0]) & 0xFFFFFFFF

    def output(self, n: int, dtype: Any = np.float32) -> NDArray[Any]:
        """Register n at the program's end."""
        return self.words(self.fragment("OUTPUTS") + 128 * n, 32, dtype).copy()
