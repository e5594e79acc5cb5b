"""Watching code: a NumPy evaluator on the machine's own memory that reports intermediate values.

The watched engine runs the same kernels as the machine, on the same arena. Records hold the handles of the kernels that
kernels call. So a plan is watched through copies of its records: their handles are those of the watched engine, and
their pixel program has an observer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import I32, Engine, Value
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw.drawing import spare
from pocketgpu.maxwell.graphics.draw.plans import PIXEL, Plan
from pocketgpu.maxwell.graphics.primitives.shapes import room
from pocketgpu.maxwell.graphics.programs.stage_program import StageProgram
from pocketgpu.maxwell.graphics.records import RASTER, REGION, SHAPE
from pocketgpu.maxwell.sampling.store import Textures
from pocketgpu.maxwell.sass.launch.kernel_handles import handles_at, set_kernels
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH
from pocketgpu.maxwell.sass.warp.observer import Observer
from pocketgpu.maxwell.sass.warp.specialise import run_stage_warp
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

Listener = Callable[[str, Any], None]
"""Called with each intermediate value: its name, and a number or an array of the lanes."""
_PAGE = 4096


def _rounded(size: int) -> int:
    return -(-size // _PAGE) * _PAGE


class _ObserverRelay:
    """The observer of the watched engine's code: it passes notifications on to the current observer, if any."""

    def __init__(self) -> None:
        self.observer: Observer | None = None

    def begins(self, warp: VariableMachine) -> None:
        if self.observer is not None:
            self.observer.begins(warp)

    def comes_to(self, step: Step, active: Value) -> None:
        if self.observer is not None:
            self.observer.comes_to(step, active)

    def holds_for(self, mask: Value) -> None:
        if self.observer is not None:
            self.observer.holds_for(mask)


class Watch:
    """What watching a machine needs: an engine, and room in the work area after that of draws.

    raster, launch, region, shape: arena offsets of copies of records.
    """

    def __init__(self, machine: GM20B) -> None:
        self.machine = machine
        self.engine = Engine(machine.memory.arena, "numpy", self._hear)
        self.relay = _ObserverRelay()
        """The observer of programs that code is made with."""
        self._listener: Listener | None = None
        self.raster, size = spare(machine.areas.drawing)
        self.launch = self.raster + _rounded(RASTER.size)
        self.region = self.launch + _rounded(LAUNCH.size)
        self.shape = self.region + _rounded(REGION.size)
        end = self.shape + _rounded(room(SHAPE.size))
        self.rest = (end, self.raster + size - end)
        """Arena offset and size of the rest of that room."""
        if self.rest[1] < 0:
            raise AssertionError("the work area of draws has no room for copies of their records")
        self._resolve = 0

    def words(self, at: int, count: int) -> NDArray[np.int32]:
        """Words of the arena."""
        return self.machine.memory.words(at, count)

    def bytes(self, at: int, size: int) -> NDArray[np.uint8]:
        """Bytes of the arena."""
        return self.machine.memory.arena[at : at + size]

    # -- the twin of a plan -------------------------------------------------------------------------------------------
    def prepare(self, plan: Plan) -> None:
        """Make the copies of a plan's records. They are valid until the next plan is prepared."""
        engine, words = self.engine, self.words(self.raster, RASTER.size // 4)
        words[:] = plan.words
        wanted = plan.output.tests, plan.output.writes
        handles = [
            engine.handle(kernel, **static) if used else 0
            for (kernel, static), used in zip(plan.output.codes(False), wanted, strict=True)
        ]
        words[RASTER.TEST // 4 : RASTER.TEST // 4 + 4].view(np.int64)[:] = handles
        program = plan.programs.get(PIXEL)
        words[RASTER.PROGRAM // 4] = 0
        if program is not None:
            stage = self.machine.drawing.programs.stages[PIXEL]
            launch = self.words(self.launch, LAUNCH.size // 4)
            launch[:] = stage.words
            self.make_twin(launch, program)
            words[RASTER.PROGRAM // 4], words[RASTER.UNSEEN // 4] = self.launch, 0

    def make_twin(self, launch: NDArray[np.int32], program: StageProgram) -> None:
        """Put handles of the watched engine's kernels, and of the watched program, into a copy of a launch record."""
        set_kernels(launch, self.engine, program, self.textures)
        watched = self.engine.handle(run_stage_warp, **program.static, observer=self.relay)
        handles_at(launch, LAUNCH.RUN, 2)[:] = watched, 0
        launch[LAUNCH.CLEAR // 4] = 1

    # -- listening ----------------------------------------------------------------------------------------------------
    def _hear(self, name: str, value: Value) -> None:
        if self._listener is not None:
            self._listener(name, value.raw)

    @contextmanager
    def listening(self, listener: Listener, observer: Observer | None = None) -> Iterator[None]:
        """Call a listener with the values that kernels of the watched engine compute, and let them look up textures.

        :param observer: is notified of what programs do, instruction by instruction.
        """
        textures = self.textures
        if not self._resolve:
            self._resolve = self.engine.callback(textures.resolve, I32, I32, I32)
        self._listener, self.relay.observer = listener, observer
        try:
            with textures.resolved_by(self._resolve):
                yield
        finally:
            self._listener = self.relay.observer = None

    @property
    def textures(self) -> Textures:
        return self.machine.textures
