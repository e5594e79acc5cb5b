"""A memory and what launches code there, for tests of warps."""

from __future__ import annotations

from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.launch.launcher import Launcher

FORMS = ("llvm specialised", "llvm interpreter", "numpy specialised")
"""Evaluators and tiers that tests run code in: `SassGpu(*form.split())`."""
_WORK = 32 * MIB


class SassGpu:
    """tier: how code runs. make: the class of the launcher."""

    def __init__(self, evaluator: str, tier: str, make: type[Launcher] = Launcher) -> None:
        self.tier = tier
        self.memory = GpuMemory(work_size=_WORK, capacity=1 * MIB)
        self.events = EventLog()
        scratch = (self.memory.work_offset, _WORK)
        self.launcher = make(self.memory, Engine(self.memory.arena, evaluator), self.events, scratch)
