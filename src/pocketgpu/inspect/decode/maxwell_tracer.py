"""Runs the kernel that decodes pushbuffers of a Switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.choices import DEFAULTS, departures
from pocketgpu.in_steps import InSteps, finished
from pocketgpu.inspect.decode import maxwell_kernel as kernel
from pocketgpu.inspect.decode.maxwell_effects import effect_table
from pocketgpu.inspect.decode.rows import ROW, Rows
from pocketgpu.inspect.decode.stream import Stream
from pocketgpu.inspect.decode.tracer import TracerArena, finish_draws
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.host.layout import CHANNEL, CHANNEL_COUNT, CHANNEL_LAYOUT, FILE_WORDS, FILES, MACROS, WorkLayout
from pocketgpu.maxwell.host.stops import PARSE_CHOICES

_START = 4096
_LAYOUT = WorkLayout(_START)
_AREA = kernel.Area((_LAYOUT.end + 4095) & ~4095)
MACRO_BUDGET, DUMP_MACRO_BUDGET = 1 << 28, 1 << 18
"""Most instructions of a submission's macros: as the machine allows, and fewer in dumps, which may contain anything."""

_PARTS = (
    (CHANNEL_LAYOUT.state, CHANNEL.size),
    (CHANNEL_LAYOUT.registers, 4 * FILES * FILE_WORDS),
    (CHANNEL_LAYOUT.shadows, 4 * FILES * FILE_WORDS),
    (CHANNEL_LAYOUT.mme_starts, 4 * MACROS),
)
"""Bytes of a channel's block that are its state; the instruction RAM is separate."""


@dataclass(frozen=True)
class MaxwellState:
    """The state of channels before the first word. channels: by index, the bytes of the parts of a channel's block.

    codes: the effect code of each method, (FILES, FILE_WORDS).
    """

    codes: NDArray[np.uint8]
    channels: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    ram_words: int = 2048


def channel_bytes(block: NDArray[np.uint8], ram_words: int) -> tuple[bytes, ...]:
    """The state of a channel, taken from its block."""
    parts = (*_PARTS, (CHANNEL_LAYOUT.mme_code, 4 * ram_words))
    return tuple(block[at : at + size].tobytes() for at, size in parts)


@cache
def power_on(choices: tuple[tuple[str, str], ...] = ()) -> MaxwellState:
    """The state of a machine at power-on; every channel begins like the first."""
    from pocketgpu.maxwell.gm20b import GM20B

    machine = GM20B(switches=dict(choices))
    held = channel_bytes(machine.channel(0).block, machine.ram_words)
    return MaxwellState(machine.codes.copy(), {0: held}, machine.ram_words)


class MaxwellTracer:
    """One arena with the state of one GPU. macros: rows also for the methods that macros issue.

    tolerant: words may be no packets at all.
    """

    def __init__(
        self,
        stream: Stream,
        tolerant: bool = False,
        macros: bool = False,
        choices: Mapping[str, str] | None = None,
        evaluator: str = "llvm",
    ) -> None:
        chosen = {**DEFAULTS, **(choices or {})}
        start = power_on(tuple(sorted((choices or {}).items())))
        state = stream.state if isinstance(stream.state, MaxwellState) else start
        self.stream, self._ram_words = stream, state.ram_words
        self.arena = TracerArena(_AREA.end, _AREA.control, _AREA.rows, stream)
        data = self.arena.bytes
        data[_LAYOUT.effects : _LAYOUT.effects + FILES * FILE_WORDS] = state.codes.reshape(-1)
        data[_AREA.effects : _AREA.effects + 4 * FILES * FILE_WORDS] = effect_table().reshape(-1).view(np.uint8)
        parts = (*_PARTS, (CHANNEL_LAYOUT.mme_code, 4 * state.ram_words))
        for channel in range(min(stream.channels, CHANNEL_COUNT)):
            base = _LAYOUT.channel(channel)
            for (at, size), held in zip(parts, state.channels.get(channel, start.channels[0]), strict=True):
                data[base + at : base + at + size] = np.frombuffer(held, np.uint8)
            words = data[base + CHANNEL_LAYOUT.state :][: CHANNEL.size].view(np.int32)
            for name, value in (("URGENT", 1), ("POSITION", 0), ("END", 0), ("RUNS", 0)):
                words[getattr(CHANNEL, name) // 4] = value
        self.arena["TOLERANT"] = int(tolerant)
        self.arena["MACROS"] = int(macros)
        recorded = isinstance(stream.state, MaxwellState)
        self.arena["LIST_WORDS"] = MACRO_BUDGET if recorded else DUMP_MACRO_BUDGET
        self._run = Engine(data, evaluator).get(
            kernel.trace,
            start=_START,
            area_start=_AREA.control,
            ram_words=state.ram_words,
            choices=tuple(name for name, _ in departures(chosen, *PARSE_CHOICES)),
        )

    def files(self, channel: int = 0) -> NDArray[np.uint32]:
        """The registers of a channel as they are now, (FILES, FILE_WORDS)."""
        at = _LAYOUT.channel(channel) + CHANNEL_LAYOUT.registers
        return self.arena.bytes[at : at + 4 * FILES * FILE_WORDS].view(np.uint32).reshape(FILES, FILE_WORDS)

    def channel(self, channel: int) -> tuple[bytes, ...]:
        """The state of a channel as it is now, for a stream that continues this one (`MaxwellState.channels`)."""
        at = _LAYOUT.channel(channel)
        return channel_bytes(self.arena.bytes[at : at + CHANNEL_LAYOUT.size], self._ram_words)

    def open_words(self, channel: int) -> int:
        """How many words the last packet of a channel still lacks."""
        at = _LAYOUT.channel(channel) + CHANNEL_LAYOUT.state + CHANNEL.REMAINING
        return int(self.arena.bytes[at : at + 4].view(np.int32)[0])

    def trace(self) -> Rows:
        """All rows of the stream."""
        return finished(self.tracing())

    def tracing(self) -> InSteps[Rows]:
        """All rows of the stream, in steps."""
        channels = self.stream.table["channel"].tolist()
        at_work = channels[:1]

        def run() -> None:
            self._run(*at_work)

        def stopped(status: int) -> bool:
            if status == kernel.OTHER_CHANNEL:
                at_work[0] = channels[self.arena["SEGMENT"]]
                return True
            return False

        if not channels:
            return np.zeros(0, ROW)
        rows = yield from self.arena.collecting(run, len(self.stream.words), kernel.ROWS_FULL, stopped)
        return finish_draws(rows, self.stream)
