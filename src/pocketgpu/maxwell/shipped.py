"""General code of the Switch: kernels that depend on no capture, which are made ahead of time.

The first ones are what every picture needs, then what many need. `tests/unit/test_shipped.py` compares the list with
what the sample and all recordings ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.lanes import Kernel
from pocketgpu.maxwell.display.scan_out import show_rows
from pocketgpu.maxwell.engines.common.fills import fill_gobs, fill_lines
from pocketgpu.maxwell.graphics.draw.crew import serve
from pocketgpu.maxwell.graphics.draw.native import walk
from pocketgpu.maxwell.graphics.draw.quick import quick
from pocketgpu.maxwell.graphics.input.fetch import fetch_careful, fetch_general
from pocketgpu.maxwell.graphics.input.vertex_stage import next_piece, run_vertices
from pocketgpu.maxwell.graphics.output import write_block as output
from pocketgpu.maxwell.graphics.primitives.setup import set_up
from pocketgpu.maxwell.graphics.raster.pixel_blocks import raster_shapes
from pocketgpu.maxwell.graphics.stages.geometry import list_geometry, run_geometry
from pocketgpu.maxwell.graphics.stages.stream_out import stream_out
from pocketgpu.maxwell.graphics.stages.tessellation import begin_patches, run_control, run_evaluation, tessellate
from pocketgpu.maxwell.host.pushbuffer import parse
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.surface_copy import copy_gobs, copy_lines
from pocketgpu.maxwell.sampling.store import KERNELS, kernel_choices
from pocketgpu.maxwell.sampling.texel_kernels import half_texels, narrow_floats, narrow_texels, wide_texels
from pocketgpu.maxwell.sass.launch.block_runner import fault, run_blocks
from pocketgpu.maxwell.sass.semantics import OPERATIONS
from pocketgpu.maxwell.sass.thread_memory.access import BYTES, GLOBAL, LOCAL, SHARED, access, memory
from pocketgpu.maxwell.sass.thread_memory.atomics import atomic
from pocketgpu.maxwell.sass.warp.functions import FUNCTIONS, function
from pocketgpu.maxwell.sass.warp.in_parts import run_in_parts
from pocketgpu.maxwell.sass.warp.interpreter import interpret, interpret_warp
from pocketgpu.maxwell.sass.warp.record_machine import OTHERS
from pocketgpu.maxwell.sass.warp.stack import unstack
from pocketgpu.maxwell.textures.blocks import codecs
from pocketgpu.maxwell.textures.decode import decode_blocks

Code = tuple[Kernel, dict[str, Any]]
_PLAIN = (
    fill_gobs, fill_lines, copy_lines, next_piece, run_vertices, walk, serve, quick, fetch_careful, fetch_general,
    access, atomic, fault, unstack, run_blocks,
)  # fmt: skip
_STAGES = (begin_patches, run_control, tessellate, run_evaluation, run_geometry, list_geometry, stream_out)


def kernels() -> Iterator[Code]:
    """Kernels with the static values that a machine with default choices and memory asks for."""
    ram = int(DEFAULTS["mme.instruction_ram"])
    yield parse, {"start": GpuMemory().work_offset, "ram_words": ram, "choices": (), "inline_places": 0}
    for kernel in _PLAIN:
        yield kernel, {}
    for kind in (3, 2, 1):
        yield set_up, {"kind": kind}
    for multi in (False, True):
        yield raster_shapes, {"multi": multi}
    yield output.test, {"key": None}
    yield output.write, {"key": None}
    for to_linear in (False, True):
        yield copy_gobs, {"to_linear": to_linear}
    for size in (2, 4):
        yield show_rows, {"size": size}
    for size in (1, 2, 4, 8):
        yield narrow_texels, {"size": size}
    for size in (4, 8):
        yield half_texels, {"size": size}
    for size in (4, 8, 16):
        yield wide_texels, {"size": size, "spread": False}
    yield narrow_floats, {}
    for kernel in KERNELS:
        yield kernel, {"choices": kernel_choices(DEFAULTS)}
    for fn in range(FUNCTIONS):
        for saturated in (0, 1):
            yield function, {"fn": fn, "saturated": saturated}
    for space in (GLOBAL, SHARED, LOCAL):
        for size in range(len(BYTES)):
            for store in (False, True):
                yield memory, {"space": space, "size": size, "store": store}
    for codec in codecs():
        yield decode_blocks, codec.static
    for kernel in _STAGES:
        yield kernel, {}
    yield interpret_warp, {}
    yield run_in_parts, {}
    for op in sorted({*OPERATIONS, *OTHERS}):
        yield interpret, {"op": op}
