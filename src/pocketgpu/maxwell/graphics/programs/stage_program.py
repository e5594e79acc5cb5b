"""A program of one stage of a draw: its inputs and outputs, and the kernels that it needs."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import Engine, late
from pocketgpu.maxwell.graphics.programs.headers import Header, PageLayout, layout_of
from pocketgpu.maxwell.sampling.records import LOAD
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.special_code import SpecialCode
from pocketgpu.maxwell.sass.program.flow import Flow
from pocketgpu.maxwell.sass.program.flow_of import flow_of
from pocketgpu.maxwell.sass.program.needs import Needs, space_of
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.stages.instructions import Y_DIRECTION
from pocketgpu.maxwell.sass.stages.pixels import SC
from pocketgpu.maxwell.sass.thread_memory.access import GENERIC, GLOBAL
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, BANKS, STEP, SlotLayout
from pocketgpu.maxwell.sass.warp.encoding import encode, handles_of, operations_of

run_stage_warp = late("pocketgpu.maxwell.sass.warp.specialise", "run_stage_warp")
PROGRAM_ROOM = 2 << 20
"""The most bytes of instructions of a program that is interpreted."""


@lru_cache(maxsize=64)
def _needs(code: bytes, start: int, indirect: tuple[int, ...], outputs: tuple[int, ...]) -> Needs:
    """What a program needs that can be decoded. Kept as its flow is, for the next machine that has the program."""
    flow = flow_of(code, start, indirect, outputs)
    return Needs(flow.steps[i] for i in sorted(flow.reached))


class StageProgram:
    """A program of one stage. `header`: its decoded header; `flow`: its basic blocks; `address`: where it was found
    last.

    :raises SassError: its code cannot be decoded.
    """

    functions: tuple[tuple[int, int], ...] = ()
    """Functions are inlined in code of stages, so it calls none."""

    def __init__(self, code: Code, header: Header) -> None:
        self.code, self.header, self.address = code, header, 0
        self.flow: Flow = flow_of(*code.key, header.output_registers)
        self.prepared: dict[int, tuple[list[int], NDArray[np.int32]]] = {}
        """For a stage of the pipeline with final code: its slots, its launch record."""
        self.asked = False
        """Whether specialised code was requested."""

    @cached_property
    def needs(self) -> Needs:
        """What the reachable instructions need."""
        return _needs(*self.code.key, self.header.output_registers)

    @property
    def steps(self) -> list[Step]:
        """The reachable steps."""
        return self.needs.steps

    @cached_property
    def static(self) -> dict[str, Any]:
        """The static values of specialised code."""
        data, start, indirect = self.code.key
        return {
            "code": data, "start": start, "indirect": indirect, "stage": self.header.stage,
            "outputs": self.header.output_registers,
        }  # fmt: skip

    @cached_property
    def special(self) -> SpecialCode:
        """Its specialised code."""
        return SpecialCode(run_stage_warp, self.flow, self.static)

    @cached_property
    def registers(self) -> int:
        """Registers that need room."""
        header = self.header
        outputs = (*header.output_registers, header.mask_register or 0, header.depth_register or 0, 3)
        return max(self.needs.registers, *(n + 1 for n in outputs))

    @property
    def jumps(self) -> bool:
        """Whether it has branches whose target is only known at run time."""
        return self.needs.jumps

    @cached_property
    def operations(self) -> set[str]:
        """Operations that the interpreter needs."""
        return operations_of(self.flow.steps, self.flow.reached, self.header.stage)

    @property
    def fits_interpreter(self) -> bool:
        """Whether it is short enough for the interpreter."""
        return len(self.flow.steps) * STEP.size <= PROGRAM_ROOM

    def encoded(self, engine: Engine) -> NDArray[np.uint32]:
        """The instructions in the interpreter's encoding."""
        if self._encoded is None or self._encoded[0] is not engine:
            handles = handles_of(engine, self.operations)
            self._encoded = engine, encode(self.flow.steps, handles, self.header.stage)
        return self._encoded[1]

    _encoded: tuple[Engine, NDArray[np.uint32]] | None = None

    @property
    def accesses(self) -> set[tuple[int, int, bool]]:
        """See `Needs.accesses`."""
        return self.needs.accesses

    @cached_property
    def changes_memory(self) -> bool:
        """Whether it can store or do atomics: then the order of pixels can matter to others."""
        return any(
            (s.op == "ST" and space_of(s) in (GENERIC, GLOBAL)) or s.op in ("ATOM", "RED")
            or (s.texture is not None and s.texture.action != LOAD)
            for s in self.steps
        )  # fmt: skip

    @cached_property
    def asks_registers(self) -> bool:
        """Whether its results depend on words that `StageLaunch.follow` sets."""
        return any(
            s.op == "F2I" or (s.op == "IPA" and s.mods["op"] == SC) or (s.op == "S2R" and s.mods["sr"] == Y_DIRECTION)
            or (s.op in ("LD", "ST", "ATOM", "RED") and space_of(s) == GENERIC)
            for s in self.steps
        )  # fmt: skip

    @property
    def textures(self) -> tuple[int, ...]:
        """See `Needs.textures`."""
        return self.needs.textures

    @cached_property
    def handle_bytes(self) -> int:
        """Bytes that it can read of the constant bank with handles of textures."""
        return max((4 * s.texture.handle + 4 for s in self.steps if s.texture is not None), default=0)

    def banks(self, texture_bank: int) -> dict[int, int]:
        """Constant banks and how many bytes of each it can read, if that bank has the handles of textures."""
        if texture_bank < BANKS and self.handle_bytes > self.constants.get(texture_bank, 0):
            return self.constants | {texture_bank: self.handle_bytes}
        return self.constants

    @cached_property
    def outputs(self) -> PageLayout:
        """The layout of the page of its outputs."""
        return layout_of(self.header.outputs)

    @cached_property
    def constants(self) -> dict[int, int]:
        """Constant banks that it reads and how many bytes of each it can read."""
        seen: dict[int, int] = {}
        for step in self.steps:
            for source in step.sources:
                if source.kind == "const":
                    seen[source.n] = max(seen.get(source.n, 0), (source.offset & (BANK_SIZE - 4)) + 8)
            if step.op == "LDC":
                for bank in range(BANKS) if step.mods.get("mode", 0) >= 2 else (step.mods["bank"],):
                    seen[bank] = BANK_SIZE
            if step.indirect is not None and hasattr(step.indirect, "bank"):
                seen[step.indirect.bank] = BANK_SIZE
        return {bank: min(size, BANK_SIZE) for bank, size in sorted(seen.items()) if bank < BANKS}

    def layout(self) -> SlotLayout:
        """Offsets in a slot."""
        return SlotLayout(1, self.registers, 0, self.header.local_size)
