"""The base class of engines, and the protocol of the machine that they run in.

The compiled parser stores every method of a class into the class's register file. Only methods named in an engine's
`effects` return to Python, after the store and in order, when all earlier work is done.
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
    """The machine as engines use it."""

    memory: GpuMemory
    engine: LanesEngine
    events: EventLog
    stats: ChannelStats
    choices: Mapping[str, str]
    syncpoints: Syncpoints
    workers: Workers
    """Threads for work that can be cut into parts."""
    log: Log
    """What was done, in order: draws, launches, clears, copies, blits, uploads."""
    scratch: tuple[int, int]
    """Arena offset and size of a part of the work area that is free for the next kernel."""
    observers: tuple[Observer, ...]
    """Observers of the machine. They are notified after an action, except by `draw_recorded` and `launch_recorded`."""

    @property
    def inline_words(self) -> Offsets | None:
        """Arena offsets of the words of the inline data that has just arrived; None if no observer wants them."""
        ...

    @property
    def place(self) -> str:
        """The current place: "s3/e2+17" is submission 3, entry 2 of it, word 17 of the entry."""
        ...

    @property
    def constant_words(self) -> int:
        """Words that channels have written into constant buffers so far."""
        ...

    def writing(self, run: Callable[[], T]) -> T:
        """Run a function that writes memory, and notify observers of the pages that it wrote."""
        ...

    def launch(self, launch: Launch, state: State, read: Read) -> Result:
        """Run the grid of a launch; see `GM20B.launch`."""
        ...

    def draw(self, draw: Draw, state: State, counters: Counters) -> None:
        """Shade a draw whose state is in the live registers."""
        ...

    def go_on(self, counters: Counters) -> None:
        """Make the rest of a draw that a kernel has begun."""
        ...

    def take_drawn(self, count: int, counters: Counters) -> tuple[NDArray[np.uint32], tuple[Registers, ...]]:
        """The log of draws that kernels made since the last call: records (`drawn.LOGGED`), and the register files that
        these differ from. Adds what was counted to `counters`."""
        ...

    def timestamp(self) -> int:
        """Ticks of 614.4 MHz since the machine was made. They are computed from the work done, so each run has the
        same."""
        ...

    def spend(self, ticks: int) -> None:
        """Add time for work that no counter of methods contains, such as bytes copied."""
        ...

    def report(self, kind: EventKind, id: str, message: str) -> None:
        """Report an event at the current place."""
        ...

    def interrupt(self, name: str) -> None:
        """Raise an interrupt of the current channel: "non-stall", "notify", "copy"."""
        ...

    def hurry(self, on: bool) -> None:
        """Set whether effects of the current channel that are usually deferred (`Engine.deferred`) run at once."""
        ...

    def wait_semaphore(self, address: int, payload: int, operation: str) -> None:
        """Make the current channel wait until the word at GPU address `address` compares: "equal", "geq", "and".

        Then the channel continues with its next word; other channels run meanwhile. To be called in an effect.
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
        """The action for a write of a word, besides the store; called with the value written."""
        self.deferred: set[int] = set()
        """Words of `effects` that may run as late as the next other effect; see `EngineHost.hurry`."""
        self.drawing: set[int] = set()
        """Words of `effects` that draw; kernels may run them without Python, which is notified by `drew`."""

    def attach(self, words: memoryview, bound: NDArray[np.uint32]) -> None:
        """Keep the state that kernels need, too, in these words of the channel (`layout.DRAW_STATE`, BOUND)."""

    def drew(self, count: int, unfinished: bool) -> None:
        """Kernels made draws without this engine, the last one perhaps in part. Called before any other effect."""

    def save(self) -> object:
        """The state besides registers, as a value that does not change later; None if there is none. The channel saves
        the words of `attach`."""
        return None

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""

    def staged_complete(self, data: NDArray[np.uint8]) -> None:
        """All inline data of the last LAUNCH_DMA has arrived: lines padded to 4 bytes each, as they were sent.

        For a launch without data, this is called at once.
        """
