"""A machine for one engine: memory, an evaluator, and a log, with no channel around it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pocketgpu.events import EventLog
from pocketgpu.facts.choices import choose
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.compute.grids import Grids
from pocketgpu.maxwell.engines.common.base import Engine as GpuEngine
from pocketgpu.maxwell.host.observer import Observer
from pocketgpu.maxwell.host.stats import ChannelStats
from pocketgpu.maxwell.host.syncpoints import Syncpoints
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.workers import Workers

WORK, GRIDS = 16 << 20, 32 << 20


class Host:
    """What `EngineHost` asks for. `write` stores a method and sets off its effect, as the channel does."""

    def __init__(self, evaluator: str = "llvm", choices: dict[str, str] | None = None) -> None:
        self.memory = GpuMemory(work_size=WORK + GRIDS, capacity=64 << 20)
        self.engine = Engine(self.memory.arena, evaluator)
        self.events = EventLog()
        self.stats = ChannelStats()
        self.choices = choose(choices)
        self.syncpoints = Syncpoints()
        self.workers = Workers(2)
        self.log: list[Any] = []
        self.scratch = (self.memory.work_offset, WORK)
        self.place = "s0/e0+0"
        self.ticks = 1000
        self.interrupts: list[str] = []
        self.waits: list[tuple[int, int, str]] = []

    observers: tuple[Observer, ...] = ()
    inline_words = None

    @cached_property
    def grids(self) -> Grids:
        return Grids(self.memory, self.engine, self.events, (sum(self.scratch), GRIDS))

    def launch(self, launch: Any, state: Any, read: Any) -> Any:
        return self.grids.run(launch, state, read)

    def writing(self, run: Any) -> Any:
        return run()

    def draw(self, draw: Any, state: Any, counters: Any) -> None:
        """Draws are only noted."""

    constant_words = 0

    def hurry(self, on: bool) -> None:
        """Nothing waits here."""

    def timestamp(self) -> int:
        return self.ticks

    def spend(self, ticks: int) -> None:
        self.ticks += ticks

    def report(self, kind: Any, id: str, message: str) -> None:
        self.events.report(kind, id, message, self.place)

    def interrupt(self, name: str) -> None:
        self.interrupts.append(name)

    def wait_semaphore(self, address: int, payload: int, operation: str) -> None:
        self.waits.append((address, payload, operation))

    def ids(self) -> list[str]:
        """The ids of all events so far."""
        return [event.id for event in self.events]


class Bench:
    """An engine on a host of its own: `bench(NAME=word)` writes methods in order; `NAME__3` is element 3."""

    def __init__(self, engine: type[GpuEngine], evaluator: str = "llvm", **choices: str) -> None:
        from pocketgpu.facts.maxwell import CLASSES

        self.host = Host(evaluator, {name.replace("__", "."): value for name, value in choices.items()})
        self.block = CLASSES[engine.class_id]
        self.registers = np.zeros(0x1000, np.uint32)
        self.engine = engine(self.host, 0, self.registers)
        self.memory = self.host.memory

    def write(self, word: int, value: int) -> None:
        """Store a word and run its effect."""
        self.registers[word] = value & 0xFFFFFFFF
        effect = self.engine.effects.get(word)
        if effect is not None:
            effect(value & 0xFFFFFFFF)

    def __call__(self, **methods: int | float) -> None:
        for name, value in methods.items():
            plain, _, index = name.partition("__")
            method = self.block[plain]
            word = method.word + int(index or 0) * method.stride
            if isinstance(value, float):
                value = int(np.float32(value).view(np.uint32))
            self.write(word, value)

    def address(self, name: str, va: int, index: int = 0) -> None:
        """Write an address pair, the upper word of which is `name`."""
        method = self.block[name]
        at = method.word + index * method.stride
        self.write(at, va >> 32)
        self.write(at + 1, va & 0xFFFFFFFF)

    def map(self, va: int, data: bytes | int) -> None:
        """Memory at `va`: so many bytes, or these."""
        size = data if isinstance(data, int) else len(data)
        self.memory.map(va, size)
        if not isinstance(data, int):
            self.memory.write(va, data)


def stream(b: Bench, number: int, va: int, stride: int, size: int, frequency: int | None = None) -> None:
    """Write the registers of a vertex stream. frequency: instances for each of its vertices, None: it is per vertex."""
    half, i = "AB"[number >> 4], number % 16
    b(**{f"SET_VERTEX_STREAM_{half}_FORMAT__{i}": 1 << 12 | stride})
    b.address(f"SET_VERTEX_STREAM_{half}_LOCATION_A", va, i)
    b.address(f"SET_VERTEX_STREAM_LIMIT_{half}_A", va + size - 1, i)
    if frequency is not None:
        b(**{f"SET_VERTEX_STREAM_INSTANCE_{half}__{i}": 1, f"SET_VERTEX_STREAM_{half}_FREQUENCY__{i}": frequency})
