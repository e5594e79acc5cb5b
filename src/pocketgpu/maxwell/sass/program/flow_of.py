"""The flow of a program, from its bytes."""

from __future__ import annotations

from functools import lru_cache

from pocketgpu.maxwell.sass.isa.decoder import decode_program
from pocketgpu.maxwell.sass.program.flow import Flow, likely_functions
from pocketgpu.maxwell.sass.program.make_steps import step_of


@lru_cache(maxsize=64)
def flow_of(
    code: bytes, start: int, indirect: tuple[int, ...], outputs: tuple[int, ...] = (), as_written: bool = False
) -> Flow:
    """The flow of a program given as its bytes. See `Flow` for the rest. Raises SassError."""
    program = decode_program(code)
    steps = tuple(step_of(program, i) for i in range(len(program)))
    return Flow(steps, start, tuple(sorted({*indirect, *likely_functions(steps)})), outputs, as_written)
