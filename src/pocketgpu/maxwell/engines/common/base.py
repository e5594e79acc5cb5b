"""What an engine is, and what the machine around it gives it.

The compiled parser stores every method of a class into the class's register file. Only methods named in an engine's
`effects` come to Python, after the store, in order; everything else that happened before has been done by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import EventKind, EventLog
from pocketgpu.lanes import Engine as LanesEngine

if TYPE_CHECKING:
    from pocketgpu.maxwell.compute.grids import Read
    from pocketgpu.maxwell.engines.common.report import Counters
    from pocketgpu.maxwell.engines.common.state import State
    from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.host.log import Log
    from pocketgpu.maxwell.host.observer import Observer
    from pocketgpu.maxwell.host.stats import ChannelStats
    from pocketgpu.maxwell.host.syncpoints import Syncpoints
    from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
    from pocketgpu.maxwell.memory.places import Offsets
    from pocketgpu.maxwell.sass.launch.launcher import Result
    from pocketgpu.workers import Workers

T = TypeVar("T")
Registers = NDArray[np.uint32]
Effect = Callable[[int], None]


class EngineHost(Protocol):
    """The machine as engines see it."""

    memory: GpuMemory
    engine: LanesEngine
    events: EventLog
    stats: ChannelStats
    choices: Mapping[str, str]
    syncpoints: Syncpoints
    workers: Workers
    """Threads of the computer, for work that can be cut into parts."""
    log: Log
    """What was done, in order: draws, launches, clears, copies, blits, uploads."""
    scratch: tuple[int, int]
    """Arena offset and size of a part of the work area that is free for whoever runs a kernel next."""
    observers: tuple[Observer, ...]
    """Who is told of what engines do; they tell after it is done, but for `draw_recorded` and `launch_recorded`."""

    @property
    def inline_words(self) -> Offsets | None:
        """Where the words of the inline data that has just come in full stood; None unless somebody wants to know."""
        ...

    @property
    def place(self) -> str:
        """Where the machine is: "s3/e2+17", submission 3, entry 2 of it, word 17 of the entry."""
        ...

    @property
    def constant_words(self) -> int:
        """Words that channels have written into constant buffers so far."""
        ...

    def writing(self, run: Callable[[], T]) -> T:
        """Do something that writes memory, and tell observers of the pages that it has written."""
        ...

    def launch(self, launch: Launch, state: State, read: Read) -> Result:
        """Run the grid of a launch; see `GM20B.launch`."""
        ...

    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Shade a draw, whose state the live registers are."""
        ...

    def go_on(self, counters: Counters) -> None:
        """Make the rest of a draw that a kernel has begun."""
        ...

    def take_drawn(self, count: int, counters: Counters) -> tuple[NDArray[np.uint32], tuple[Registers, ...]]:
        """What kernels noted of draws that they made since the last call: records (`drawn.LOGGED`), and the register
        files that these differ from. Counters hear of what was counted."""
        ...

    def timestamp(self) -> int:
        """Ticks of 614.4 MHz since the machine was made. They come of the work done, so each run has the same."""
        ...

    def spend(self, ticks: int) -> None:
        """Let time pass for work that no counter of methods tells of, such as bytes copied."""
        ...

    def report(self, kind: EventKind, id: str, message: str) -> None:
        """An event at the present place."""
        ...

    def interrupt(self, name: str) -> None:
        """Raise an interrupt of the channel at work: "non-stall", "notify", "copy"."""
        ...

    def hurry(self, on: bool) -> None:
        """Whether effects of the channel at work that could wait (`Engine.deferred`) may not do so from now on."""
        ...

    def wait_semaphore(self, address: int, payload: int, operation: str) -> None:
        """Let the channel at work wait until the word at GPU address `address` compares: "equal", "geq", "and".

        The channel goes on with its next word when it does; other channels run meanwhile. To be called in an effect.
        """
        ...


class Engine:
    """One class on one channel. Subclasses set `class_id`, and fill `effects` when they are made.

    `registers` is the live register file, 0x1000 words: register word N of the class is `registers[N]`.
    """

    class_id: ClassVar[int] = 0

    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        self.host, self.channel, self.registers = host, channel, registers
        self.effects: dict[int, Effect] = {}
        """What a write of a word sets off beside the store; called with the value written."""
        self.deferred: set[int] = set()
        """Words of `effects` that need not be heard of before the next other effect; see `EngineHost.hurry`."""
        self.drawing: set[int] = set()
        """Words of `effects` that draw; kernels may do so without Python, which hears of it in `drew`."""

    def attach(self, words: memoryview, groups: memoryview) -> None:
        """Keep what kernels want to know, too, in these words of the channel (`layout.DRAW_STATE`, GROUPS)."""

    def drew(self, count: int, unfinished: bool) -> None:
        """Draws were made without this engine, the last one perhaps in part. It is told before any other effect."""

    def save(self) -> object:
        """What it keeps beside registers, as a value that stays as it is; None if that is nothing. What it keeps in the
        words of `attach` is the channel's to keep."""
        return None

    def restore(self, kept: Any) -> None:
        """Be as `save` found it."""

    def staged_complete(self, data: NDArray[np.uint8]) -> None:
        """All inline data of the last LAUNCH_DMA has come: lines padded to 4 bytes each, as they were sent.

        Called at once, without data, for a launch that wants none.
        """
