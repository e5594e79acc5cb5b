"""Grids of the compute class: from queue metadata to running threads.

Program and constant buffers are read from memory when a grid begins, so everything that a channel wrote before is
visible, without any cache. The grid's own writes to them are not visible to it, as its constants are a copy. Shared and
local memory belong to the launcher: no source defines their layout in the memory of SET_SHADER_LOCAL_MEMORY, and no
program can read it.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.errors import UsageError
from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.host.observer import USUAL, Order
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sampling.store import Pools, Textures
from pocketgpu.maxwell.sass.launch.in_memory import Programs
from pocketgpu.maxwell.sass.launch.launcher import Launcher, LaunchRules, Result
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, INDEFINITE

LIMIT = 1 << 28
"""Instructions after which a warp counts as hung: much more than a frame of the console has time for."""
BUDGET = 1 << 31
"""Instructions of all warps after which a grid counts as hung: as many as the console's GPU can do in a quarter
second."""

Read = Callable[[int, int, str], bytes]
"""Reads guest memory: address, bytes, and a name for the event if they are not mapped."""


class Grids:
    """Runs grids on a GPU's memory.

    :param area: arena offset and size of a part of the work area for its exclusive use.
    :param threads: of the host, over blocks, where the program allows it.
    :param textures: the textures by handle, once its pools are set.
    """

    def __init__(
        self,
        memory: GpuMemory,
        engine: Engine,
        events: EventLog,
        area: tuple[int, int],
        threads: int = 1,
        textures: Textures | None = None,
    ) -> None:
        self.launcher = Launcher(memory, engine, events, area, threads, textures)
        self.programs = Programs(memory)
        self.limit, self.budget = LIMIT, BUDGET
        self.tier = "auto"
        """The code that runs grids; see `Launcher.launch`."""

    def run(self, launch: Launch, state: State, read: Read, order: Order = USUAL) -> Result:
        """Run a grid, or the part given by `order`.

        :param state: the registers of the class, live or from `launch.state`.
        :raises UsageError: there is no program, or a size that this GPU does not have.
        """
        if 0 in launch.grid or 0 in launch.block:
            return Result()
        launcher = order.launcher or self.launcher
        events = launcher.events
        if order.silent:
            launcher.events = EventLog()
            read = lambda address, size, what: launcher.memory.try_read(address, size)[0]
        try:
            return self._run(launcher, launch, state, read, order)
        finally:
            launcher.events = events

    def _run(self, launcher: Launcher, launch: Launch, state: State, read: Read, order: Order) -> Result:
        region, offset = state.address("SET_PROGRAM_REGION_A"), launch.field("PROGRAM_OFFSET")
        code = launch.code = self.programs.find(region, offset, launch.register_count)
        constants = {
            bank: read(buffer.address, min(buffer.size, BANK_SIZE), f"constant buffer {bank} of a grid")
            for bank, buffer in enumerate(launch.constants)
            if buffer is not None
        }
        low, high = launch.local_bytes
        if high:
            raise UsageError(f"{high} bytes of local memory from the end of its window downwards")
        if code.textures:
            launcher.textures.pools = pools_of(launch, state)
        rules = LaunchRules(
            shared_window=state.word("SET_SHADER_SHARED_MEMORY_WINDOW"),
            local_window=state.word("SET_SHADER_LOCAL_MEMORY_WINDOW"),
            budget=self.budget,
            in_order=launch.flag("SEQUENTIALLY_RUN_CTAS"),
            texture_bank=state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT"),
            nan_integer=INDEFINITE if launch.flag("FP32_F2I_NAN_BEHAVIOR") else 0,
            backwards=order.backwards,
            first=order.first,
            last=order.last,
        )
        return launcher.launch(
            code, launch.grid, launch.block, constants, launch.shared_bytes, low,
            limit=self.limit, place=launch.place, tier=self.tier, rules=rules,
        )  # fmt: skip


def pools_of(launch: Launch, state: State) -> Pools:
    """The pools of headers and samplers of a launch."""
    return Pools(
        state.address("SET_TEX_HEADER_POOL_A"),
        state.field("SET_TEX_HEADER_POOL_C", "MAXIMUM_INDEX"),
        state.address("SET_TEX_SAMPLER_POOL_A"),
        state.field("SET_TEX_SAMPLER_POOL_C", "MAXIMUM_INDEX"),
        joined=launch.flag("SAMPLER_INDEX"),
    )


__all__ = ["Grids", "pools_of"]
