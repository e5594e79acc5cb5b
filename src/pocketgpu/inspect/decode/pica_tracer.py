"""Runs the kernel that decodes command lists and register writes of a 3DS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.choices import DEFAULTS, departures
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.pica import COUNT, PICA
from pocketgpu.in_steps import InSteps, finished
from pocketgpu.inspect.decode import pica_kernel as kernel
from pocketgpu.inspect.decode.rows import Rows, Words
from pocketgpu.inspect.decode.stream import Stream
from pocketgpu.inspect.decode.tracer import TracerArena, finish_draws
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import REGISTER_COUNT, WorkLayout
from pocketgpu.pica.front.command_list import WALK_CHOICES, effect_table

_START = 4096
_SIZE = 96 << 20
"""Bytes of the machine's own layout; only the pages that the walk touches use memory."""
_LAYOUT = WorkLayout(_START, _SIZE)
_AREA = kernel.Area(_START + _SIZE)


@dataclass(frozen=True)
class PicaState:
    """The registers before the first word: uint32 arrays of 0x300, up to 0x800 and up to 0x400 words."""

    pica: Words
    external: Words
    lcd: Words


@cache
def power_on() -> PicaState:
    """The reset values of registers, from the tables."""
    pica, external, lcd = np.zeros(0x300, np.uint32), np.zeros(0x800, np.uint32), np.zeros(0x400, np.uint32)
    for words, block, unit in ((pica, PICA, 1), (external, EXTERNAL, 4), (lcd, LCD, 4)):
        for register in block:
            words[register.offset // unit] = register.reset
    return PicaState(pica, external, lcd)


@cache
def _tables(private_ids: str) -> tuple[NDArray[Any], ...]:
    """Tables of the kernel: effects of writes, writable bits of external registers, effects by code, known ids."""
    writable = np.full(kernel.EXTERNAL_COUNT, 0xFFFFFFFF, np.uint32)
    for register in EXTERNAL:
        writable[register.offset // 4] = register.writable
    request, state = PICA["FINALIZE"].offset, PICA["FACECULLING_CONFIG"].offset
    known = np.array([n >= request and (n >= state or PICA[n].known) for n in range(COUNT)], np.uint8)
    effects = effect_table({"list.private_ids": private_ids})
    return effects, writable, np.array(kernel.EFFECT_OF_CODE, np.int32), known


class PicaTracer:
    """One arena with the state of one console. `trace` continues where the last call ended.

    tolerant: the words may be no lists at all; jumps and ends of lists are listed, but not followed.
    """

    def __init__(
        self,
        stream: Stream,
        tolerant: bool = False,
        choices: Mapping[str, str] | None = None,
        evaluator: str = "llvm",
    ) -> None:
        chosen = {**DEFAULTS, **(choices or {})}
        self.stream = stream
        self.arena = TracerArena(_AREA.end, _AREA.control, _AREA.rows, stream)
        state = stream.state if isinstance(stream.state, PicaState) else power_on()
        data, layout = self.arena.bytes, _LAYOUT
        self.registers = data[layout.registers : layout.registers + 4 * REGISTER_COUNT].view(np.uint32)
        self.registers[:] = state.pica[:REGISTER_COUNT]
        effects, writable, codes, known = _tables(chosen["list.private_ids"])
        for at, table in (
            (layout.effects, effects),
            (layout.external_writable, writable),
            (_AREA.code_effects, codes),
            (_AREA.known, known),
            (layout.external, state.external),
            (_AREA.lcd, state.lcd),
        ):
            data[at : at + table.nbytes] = table.view(np.uint8)
        self.arena["TOLERANT"] = int(tolerant)
        self._run = Engine(data, evaluator).get(
            kernel.trace,
            layout_start=_START,
            layout_size=_SIZE,
            area_start=_START + _SIZE,
            choices=departures(chosen, *WALK_CHOICES),
        )

    def wanted_jump(self) -> tuple[int, int] | None:
        """Address and size in bytes of the first jump target that is not in the stream."""
        wanted: list[tuple[int, int]] = []

        def stopped(status: int) -> bool:
            if status == kernel.WANT_JUMP:
                wanted.append((self.arena["JUMP_ADDRESS"] & 0xFFFFFFFF, self.arena["JUMP_SIZE"]))
            return False

        finished(self.arena.collecting(self._run, len(self.stream.words), kernel.ROWS_FULL, stopped))
        return wanted[0] if wanted else None

    def trace(self) -> Rows:
        """All rows of the stream."""
        return finished(self.tracing())

    def tracing(self) -> InSteps[Rows]:
        """All rows of the stream, in steps."""

        def stopped(status: int) -> bool:
            if status == kernel.WANT_JUMP:
                self.arena["PENDING"] = 0  # its target is not in the stream
                return True
            return False

        rows = yield from self.arena.collecting(self._run, len(self.stream.words), kernel.ROWS_FULL, stopped)
        return finish_draws(rows, self.stream)
