"""Plans: a draw's state, computed from registers and programs.

A plan has records in the work area that kernels read. It has the kernels and targets of the draw. Draws that differ
only in vertices and constants share a plan, as those registers are not read for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import Window
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape
from pocketgpu.maxwell.graphics.output.records import OUTPUT
from pocketgpu.maxwell.graphics.output.state import Code, OutputState
from pocketgpu.maxwell.graphics.output.targets import Target, column_bits
from pocketgpu.maxwell.graphics.programs.headers import Header, PageLayout, layout_of
from pocketgpu.maxwell.graphics.programs.programs import StageProgram
from pocketgpu.maxwell.graphics.raster import raster_state
from pocketgpu.maxwell.graphics.raster.raster_state import PixelInputs, RasterEncoder
from pocketgpu.maxwell.graphics.records import RASTER, VIEWPORT, VIEWPORT_COUNT
from pocketgpu.maxwell.graphics.stages.chain import Chain
from pocketgpu.maxwell.graphics.stages.stream_out import StreamOut
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory

MAX_PLANS = 256
_INPUT_TABLE = 8192  # bytes of PIXEL_INPUT records
_NO_PLACE = -1
FIRST_VERTEX, SECOND_VERTEX, CONTROL, EVALUATION, GEOMETRY, PIXEL = range(6)
"""Stages by number of the pipeline."""


def rounded(size: int, to: int = 4096) -> int:
    """`size`, rounded up."""
    return (size + to - 1) // to * to


_VIEWPORTS = rounded(RASTER.size)
_OUTPUT = _VIEWPORTS + rounded(VIEWPORT.size * VIEWPORT_COUNT)
_TABLE = _OUTPUT + rounded(OUTPUT.size)
PLAN_ROOM = _TABLE + _INPUT_TABLE
"""Bytes of the work area that a plan takes."""


@dataclass(eq=False)
class Plan:
    """The state of a draw from registers and programs.

    at: arena offset of its records. programs: by stage of the pipeline. vertices: outputs of the vertex program; chain:
    the stages after it, None if there are none. rasters: whether there are pixels. stores, textures: whether any
    program changes memory, reads textures. streams: whether there is transform feedback. counts: whether passed samples
    are counted.
    """

    at: int
    programs: Mapping[int, StageProgram]
    shape: InputShape
    vertices: PageLayout
    chain: Chain | None
    output: OutputState
    inputs: PixelInputs
    multi: bool
    rasters: bool
    words: NDArray[np.int32]
    stores: bool
    textures: bool
    streams: bool
    counts: bool
    final: bool = False
    lists: tuple[int, int] = (0, 0)
    """The VERTICES and PRIMITIVES records that its RASTER record refers to."""
    walks: dict[tuple[int, int, int], NDArray[np.int32]] = field(default_factory=dict)
    """WALK records (native.py) by kind of primitives and slots."""
    left_out: tuple[str, ...] = ()
    """Features of raster that the registers enable and that are not emulated."""
    masks: bool = False
    """Whether programs write masks of viewports."""
    placed: int = _NO_PLACE
    """GpuMemory.map_changes when the targets' places in the records were looked up."""
    windows: tuple[Window, ...] = ()
    share_area: int = 0
    """REGION.AREA from which threads share its pixels; 0: not yet known."""
    apart: bool = True
    """Whether no byte belongs to two targets: then threads that share pixels never write the same byte."""

    @property
    def viewports(self) -> int:
        """Arena offset of its VIEWPORT records."""
        return self.at + _VIEWPORTS

    @property
    def output_record(self) -> int:
        """Arena offset of its OUTPUT record."""
        return self.at + _OUTPUT

    @property
    def table(self) -> int:
        """Arena offset of its PIXEL_INPUT records."""
        return self.at + _TABLE

    @property
    def first(self) -> int:
        """The first vertex program, whose inputs are fetched."""
        return FIRST_VERTEX if FIRST_VERTEX in self.programs else SECOND_VERTEX

    @property
    def targets(self) -> list[Target]:
        """Colour targets, then that of depth."""
        return [*self.output.colours, *([self.output.zeta] if self.output.zeta is not None else [])]

    def place(self, windows: Sequence[Window], srgb: int, memory: GpuMemory) -> None:
        """Set the targets' places. srgb: arena offset of the sRGB tables."""
        self.windows = tuple(windows)
        offsets = [window.offset for window in windows]
        colours = len(self.output.colours)
        zeta = offsets[colours] if self.output.zeta is not None else 0
        record = self.output.record(srgb, zeta, offsets[:colours])
        memory.arena[self.output_record :][: record.nbytes].view(np.int32)[:] = record
        ranges = sorted((window.offset, window.offset + window.size) for window in windows)
        self.apart = all(end <= start for (_, end), (start, _) in pairwise(ranges))
        # Copies of targets that are not contiguous are made for one draw only.
        self.placed = memory.map_changes if not any(window.pieces for window in windows) else _NO_PLACE

    def choose(self, engine: Engine, tier: str) -> None:
        """Choose the code of tests and writes: specialised code, and general code until that is compiled."""
        handles, final = [], True
        wanted = (self.output.tests, self.output.writes)
        for special, general, used in zip(self.output.codes(False), self.output.codes(True), wanted, strict=True):
            handle, ready = _code(engine, special, general, tier) if used else (0, True)
            handles.append(handle)
            final = final and ready
        at = RASTER.TEST // 4
        self.words[at : at + 4].view(np.int64)[:] = handles
        self.final = final


def _code(engine: Engine, special: Code, general: Code, tier: str) -> tuple[int, bool]:
    """(handle, whether the code is final)."""
    (kernel, static), (_, fallback) = special, general
    if tier == "general":
        return engine.handle(kernel, **fallback), True
    if tier == "specialised" or engine.evaluator == "numpy" or engine.has(kernel, **static):
        return engine.handle(kernel, **static), True
    if engine.has(kernel, **fallback):
        engine.later(kernel, **static)
        return engine.handle(kernel, **fallback), False
    engine.later(kernel, **fallback)
    return engine.handle(kernel, **static), True


def make_plan(
    memory: GpuMemory, at: int, state: State, programs: Mapping[int, StageProgram], shape: InputShape,
    choices: Mapping[str, str], raster: RasterEncoder, places: Mapping[str, int],
) -> Plan:  # fmt: skip
    """Make a plan, with its records written to `at`.

    :param shape: the layout of the first program's inputs.
    :param raster: of the machine; it has the same choices.
    :param places: words of the RASTER record that do not depend on registers.
    :raises UsageError: a target would not fit into the address space.
    """
    pixel = programs.get(PIXEL)
    header: Header | None = None if pixel is None else pixel.header
    vertex = programs[SECOND_VERTEX if SECOND_VERTEX in programs else FIRST_VERTEX]
    vertices = layout_of(vertex.header.outputs)
    chain = Chain.of(programs, vertices)
    last = chain.output if chain is not None else vertices
    layered = any(state.word(name) for name in ("SET_RT_LAYER", "SET_OFFSET_RENDER_TARGET_INDEX"))
    output = OutputState.of(state, header, choices, layered)
    inputs = raster_state.pixel_inputs(state, {} if header is None else header.inputs, last.read)
    area = memory.arena[at : at + PLAN_ROOM].view(np.int32)
    area[:] = 0
    words = area[: RASTER.size // 4]
    plan = Plan(
        at, programs, shape, vertices, chain, output, inputs, False, bool(state.field("SET_RASTER_ENABLE")), words,
        any(p.changes_memory for p in programs.values()), any(p.textures for p in programs.values()),
        StreamOut.on(state), bool(state.field("SET_ZPASS_PIXEL_COUNT", "ENABLE")),
    )  # fmt: skip
    viewports = area[_VIEWPORTS // 4 :][: VIEWPORT.size // 4 * VIEWPORT_COUNT]
    raster.encode(state, last.read, words, viewports)
    if plan.targets:
        key = output.test_key
        width, height = min(t.width for t in plan.targets), min(t.height for t in plan.targets)
        raster_state.limit(viewports, width >> key.grid_x, height >> key.grid_y)
    plan.left_out = raster_state.left_out(state)
    plan.masks = bool(words[RASTER.VIEWPORT_MASK_AT // 4] >= 0)
    plan.multi = bool(words[RASTER.SAMPLES // 4] > 1)
    if inputs.table.nbytes > _INPUT_TABLE:
        raise UsageError("a pixel program with more inputs than attribute space has")
    area[_TABLE // 4 :][: inputs.table.size] = inputs.table
    own = {
        "VIEWPORTS": plan.viewports, "INPUTS": plan.table, "INPUT_GROUPS": inputs.groups,
        "DEPTH_WANTED": int(output.zeta is not None), "OUTPUT": plan.output_record, "EARLY": int(output.early),
        "COLUMN_BITS": column_bits(plan.targets), "UNSEEN": int(not (output.seen or plan.stores)),
        "ALPHAS": raster_state.alpha_registers([] if header is None else header.target_registers),
    }  # fmt: skip
    for name, value in (own | dict(places)).items():
        words[RASTER.offsets[name] // 4] = value
    return plan
