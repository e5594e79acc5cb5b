"""Which methods of the 3D class somebody reads, found by letting them read many register files."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from support.output_case import Case

from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import choose
from pocketgpu.facts.maxwell import B197, Method
from pocketgpu.maxwell.engines.common.state import RecordingState, State
from pocketgpu.maxwell.engines.threed.draws import shaders_of
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape
from pocketgpu.maxwell.graphics.output.state import OutputState
from pocketgpu.maxwell.graphics.programs.headers import PERSPECTIVE, layout_of
from pocketgpu.maxwell.graphics.raster.raster_state import RasterEncoder, left_out, pixel_inputs
from pocketgpu.maxwell.graphics.records import ATTRIBUTE_SPACE, RASTER, VIEWPORT, VIEWPORT_COUNT
from pocketgpu.maxwell.host.layout import FILE_WORDS

_ROUNDS = 100


def value(r: random.Random, method: Method, number: Callable[[random.Random], int]) -> int:
    """A word for a method: legal values of its fields, else numbers."""
    word = 0
    for part in method.fields:
        raw = r.choice(list(part.enum)) if part.enum and r.random() < 0.9 else number(r) & ((1 << part.width) - 1)
        word |= raw << part.lo & part.mask
    return word & 0xFFFFFFFF


def _number(r: random.Random) -> int:
    return r.choice((0, 1, r.randrange(16), r.getrandbits(32)))


def wild_registers(r: random.Random) -> np.ndarray:
    """A register file in which most fields have legal values."""
    registers = np.zeros(FILE_WORDS, np.uint32)
    for method in B197:
        for word in method.words():
            registers[word] = value(r, method, _number)
    return registers


def names_read(*readers: Callable[[State], object], rounds: int = _ROUNDS) -> tuple[str, ...]:
    """Names of the methods that any of these reads, in the order of the class."""
    read = np.zeros(FILE_WORDS, bool)
    r = random.Random(1)
    for _ in range(rounds):
        registers = wild_registers(r)
        for reader in readers:
            state = RecordingState(B197, registers)
            with suppress(UsageError):  # what was read until then counts
                reader(state)
            read |= state.read
    return tuple(method.name for method in B197 if read[list(method.words())].any())


def names_of_draws() -> tuple[str, ...]:
    """Names of the methods that preparing a draw reads."""
    choices, header = choose(), Case({}, outputs=(15,) * 8, kills=True, gives_mask=True).header()
    inputs = dict.fromkeys(range(0x80, 0x3A0, 4), PERSPECTIVE)
    everything = layout_of(range(0, ATTRIBUTE_SPACE, 4)).read
    raster, viewports = np.zeros(RASTER.size // 4, np.int32), np.zeros(VIEWPORT.size // 4 * VIEWPORT_COUNT, np.int32)
    vertex_input = GM20B().drawing.vertex_input

    def plan(state: State) -> object:
        shape = InputShape.of(state)
        return [vertex_input.plan(state, 4, size, size != 0, shape, 0, 1, 0) for size in (0, 2)]

    return names_read(
        shaders_of, plan, left_out,
        lambda state: OutputState.of(state, header, choices, True),
        lambda state: RasterEncoder(choices).encode(state, everything, raster, viewports),
        lambda state: pixel_inputs(state, inputs, everything),
    )  # fmt: skip
