"""General code of the 3DS: kernels that depend on no capture, which are made ahead of time.

The first ones are what every picture needs, then what many need. `tests/unit/test_shipped.py` compares the list with
what the sample and all recordings ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.formats import TEXTURE_FORMATS
from pocketgpu.facts.pica_enums import TRANSFER_FORMAT
from pocketgpu.pica.core.layout import WorkLayout
from pocketgpu.pica.core.tiers import Code
from pocketgpu.pica.engines.fill import fill_steps
from pocketgpu.pica.engines.transfer import convert_rows, copy_units, detile_rows
from pocketgpu.pica.external.writes import store_writes
from pocketgpu.pica.fragment.kernel import draw_fragments, run_draws
from pocketgpu.pica.front.command_list import walk
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.primitives.assembly import assemble
from pocketgpu.pica.primitives.geometry import emit_vertices, geometry_step
from pocketgpu.pica.shader.geometry import geometry_interpreter
from pocketgpu.pica.shader.interpreter import vertex_interpreter
from pocketgpu.pica.shader.shader_choices import DEFAULT_RULES, geometry_choices
from pocketgpu.pica.texture.decode import decode_blocks, decode_texture, decode_tiles
from pocketgpu.pica.vertex.fetch import shade_vertices
from pocketgpu.pica.vertex.vertex_run import run_vertices


def kernels() -> Iterator[Code]:
    """Kernels with the static values that a machine with default choices and memory asks for."""
    memory = GuestMemory()
    layout = WorkLayout(memory.work_offset, memory.work_size)
    place: dict[str, Any] = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
    interpreted: dict[str, Any] = {"control": layout.control, "rules": DEFAULT_RULES}
    usual: dict[str, Any] = {"choices": ()}

    yield draw_fragments, {"words": None, "powers_of_two": (), **usual, **place}
    yield vertex_interpreter, interpreted
    for kernel in (walk, shade_vertices, assemble):
        yield kernel, {**place, **usual}
    for kernel in (store_writes, run_vertices, run_draws, emit_vertices):
        yield kernel, place
    yield fill_steps, {}
    yield copy_units, {}
    for output in TRANSFER_FORMAT:
        yield detile_rows, {"input": int(TRANSFER_FORMAT.RGBA8), "output": int(output)}
    for format, pixel in TEXTURE_FORMATS.items():
        if pixel.kind == "etc1":
            yield decode_blocks, {"format": int(format)}
        else:
            yield decode_tiles, {"format": int(format), **usual}
    yield geometry_step, {**geometry_choices(DEFAULTS), **place}
    yield draw_fragments, {"words": None, "powers_of_two": (), "rare": True, **usual, **place}
    for own in (True, False):
        yield geometry_interpreter, {"own_uniforms": own, "area": layout.emission, **interpreted}
    for format in TEXTURE_FORMATS:
        yield decode_texture, {"format": int(format), **usual}
    for same in TRANSFER_FORMAT:
        if same != TRANSFER_FORMAT.RGBA8:
            yield detile_rows, {"input": int(same), "output": int(same)}
        yield convert_rows, _conversion(same, same, (False, True), (0, 0))
        for scale in ((1, 0), (1, 1)):
            yield convert_rows, _conversion(TRANSFER_FORMAT.RGBA8, same, (True, False), scale)


def _conversion(input: int, output: int, tiled: tuple[bool, bool], scale: tuple[int, int]) -> dict[str, Any]:
    """Static values of a transfer. tiled: of input and output."""
    formats = {"input": int(input), "output": int(output), "tiled_in": tiled[0], "tiled_out": tiled[1]}
    return {**formats, "scale_x": scale[0], "scale_y": scale[1], "block": "", "choices": ()}
