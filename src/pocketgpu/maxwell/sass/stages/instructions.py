"""The instructions and special registers that only stages of graphics have, by name and by number.

There is one function for each instruction, over a `Machine`, for both executors. Modifiers and the stage are numbers in
specialised code and scalars in the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell.sass import SPECIAL_REGISTERS
from pocketgpu.lanes import I32, Value
from pocketgpu.maxwell.sass.stages.attributes import (
    attribute_address,
    attribute_load,
    attribute_store,
    emit,
    vertex_handle,
)
from pocketgpu.maxwell.sass.stages.pixels import discard, helpers, interpolate, pixel_load
from pocketgpu.maxwell.sass.stages.stage import PIXEL, one_of
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.steps import Step
    from pocketgpu.maxwell.sass.warp.warp_machine import WarpMachine

Y_DIRECTION = next(number for number, name in SPECIAL_REGISTERS.items() if name == "SR_Y_DIRECTION")
"""The special register that says which way y goes."""
ONE = 0x3F800000
"""1.0 as an f32."""

INSTRUCTIONS: Mapping[str, Callable[[WarpMachine, Step, Value], None]] = {
    "IPA": interpolate, "KIL": discard, "PIXLD": pixel_load, "ALD": attribute_load, "AST": attribute_store,
    "AL2P": attribute_address, "ISBERD": vertex_handle, "OUT": emit,
}  # fmt: skip
"""Functions by the name of the instruction."""
MODIFIERS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "IPA": (("op", 2), ("sample", 2), ("sat", 1)), "KIL": (), "PIXLD": (("mode", 3),),
    "ALD": (("size", 2), ("o", 1), ("p", 1)), "AST": (("size", 2), ("o", 1), ("p", 1)), "AL2P": (), "ISBERD": (),
    "OUT": (("op", 2),),
}  # fmt: skip
"""Modifiers that matter, with widths in bits."""


def special_registers(m: WarpMachine) -> Mapping[str, Callable[[], Value]]:
    """Special registers of graphics by name. The scale of w is not documented; it is 1 here."""
    k, p = m.k, m.place
    launch = lambda word: lambda: p.of_launch(word)
    one = lambda: k.i32(ONE)

    def killed() -> Value:
        of_pixels = one_of(m.stage, PIXEL)
        lanes = k.branch(of_pixels, lambda: k.ballot(helpers(m)), lambda: k.i32(0))
        return k.select(k.mask_of(lanes), k.splat(-1), 0)

    return {
        "SR_PRIM_TYPE": launch(LAUNCH.PRIMITIVE_TYPE),
        "SR_INVOCATION_ID": lambda: k.load(I32, p.of_block(BLOCK.INVOCATIONS_AT), LANES),
        "SR_Y_DIRECTION": launch(LAUNCH.Y_DIRECTION),
        "SR_THREAD_KILL": killed,
        "SM_SHADER_TYPE": launch(LAUNCH.STAGE),
        "SR_INVOCATION_INFO": launch(LAUNCH.INVOCATION_INFO),
        "SR_WSCALEFACTOR_XY": one,
        "SR_WSCALEFACTOR_Z": one,
    }
