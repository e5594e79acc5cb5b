"""A machine that is looked at while it works: it tells an observer of everything that the GPU does, as it happens.

Two kinds share the hooks. `ObservedN3DS` draws; its observer may let a batch of draws run in parts, look between them,
and stop the machine by raising. `WatchedN3DS` (watch.py) does not draw. Both tell the same events in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.gsp import REQUEST_DMA, command_of
from pocketgpu.pica.core.layout import CONTROL
from pocketgpu.pica.front.batch import DrawRunner
from pocketgpu.pica.front.draws import Core3D
from pocketgpu.pica.gsp import Gsp
from pocketgpu.pica.n3ds import MIB, N3DS
from pocketgpu.pica.watch import DrawPackets

_SHOWN = np.array([r.address for r in (*EXTERNAL, *LCD) if r.name.startswith(("PDC", "LCD"))], np.uint32)
"""Registers that decide what screens show."""
_DISPLAY = (int(_SHOWN.min()), int(_SHOWN.max()))


class Observer(Protocol):
    """Who is told: right after the thing has happened, but for `commanded`, `list_starts` and `draws`."""

    def loaded(self, address: int, size: int) -> None: ...

    def display_written(self, addresses: np.ndarray, values: np.ndarray) -> None: ...

    def filled(self, unit: str, words: Mapping[str, int]) -> None: ...

    def transferred(self, words: Mapping[str, int]) -> None: ...

    def commanded(self, words: Sequence[int]) -> None:
        """A GX command of eight words is about to run."""

    def copied(self, command: Sequence[int]) -> None:
        """A GX command RequestDMA ran."""

    def flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        """A GX command wrote ranges (virtual address, size) of the processor's cache back to memory."""

    def list_starts(self, offset: int, size: int) -> None:
        """A list at an arena range begins."""

    def list_ends(self, jumps: int) -> None: ...

    def draws(self, packets: DrawPackets, count: int, run: Callable[[int, int], None]) -> None:
        """Draws were recorded and are due: call `run(first, end)` for them, in order, in as many parts as wanted."""


_UNIT_REGISTERS = {
    unit: [register for register in EXTERNAL if register.name.startswith(f"{unit}_")]
    for unit in ("PSC0", "PSC1", "PPF")
}


class _Runner:
    """Stands where the machine has its draw runner, and hands draws to the observer."""

    def __init__(self, machine: ObservedN3DS, runner: DrawRunner) -> None:
        self._machine, self._runner = machine, runner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    @property
    def pixels(self) -> int:
        return self._runner.pixels

    @pixels.setter
    def pixels(self, count: int) -> None:
        self._runner.pixels = count

    def run(self, count: int, place: str) -> None:
        machine = self._machine
        packets = DrawPackets(machine.memory.arena, machine._core.layout, count, place)
        machine.observer.draws(packets, count, lambda first, end: self._runner.run(end, place, first))


class ObservedN3DS(N3DS):
    """A 3DS that tells `observer` what it does. Draws happen when the observer lets them."""

    def __init__(
        self, observer: Observer, fcram: int = 128 * MIB, threads: int = 1, evaluator: str = "llvm",
        switches: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.observer = observer
        super().__init__(fcram=fcram, threads=threads, evaluator=evaluator, switches=switches)

    def _power_on(self, timing: str, new: bool) -> None:
        super()._power_on(timing, new)
        core, external = self._core, self._external
        if not isinstance(core.runner, _Runner):
            core.runner = _Runner(self, core.runner)  # type: ignore[assignment]
            run_list = partial(Core3D.run_list, core)

            def observed_list(offset: int, size: int, complete: bool = True) -> int:
                self.observer.list_starts(offset, size)
                fired = run_list(offset, size, complete)
                self.observer.list_ends(core._get("JUMPS"))
                return fired

            core.run_list = observed_list  # type: ignore[method-assign]
        for unit in ("PSC0", "PSC1", "PPF"):
            place = EXTERNAL[f"{unit}_CONTROL"].offset // 4
            external._triggers[place] = self._observed_unit(unit, external._triggers[place])

    def _observed_unit(self, unit: str, trigger: Callable[[int], None]) -> Callable[[int], None]:
        control = EXTERNAL[f"{unit}_CONTROL"]

        def run(word: int) -> None:
            words = {register.name: self.read_register(register.address) for register in _UNIT_REGISTERS[unit]}
            trigger(word)
            if control["start"].raw(word):
                words[control.name] = word
                if unit == "PPF":
                    self.observer.transferred(words)
                else:
                    self.observer.filled(unit, words)

        return run

    def write_registers(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """As on any machine; what belongs to the displays is told of apart."""
        addresses = np.asarray(addresses, np.uint32)
        display = (addresses >= _DISPLAY[0]) & (addresses <= _DISPLAY[1])
        if display.any():
            display &= np.isin(addresses, _SHOWN)
        edges = np.flatnonzero(np.diff(display)) + 1
        for part in np.split(np.arange(len(addresses)), edges):
            super().write_registers(addresses[part], values[part])
            if len(part) and display[part[0]]:
                self.observer.display_written(addresses[part], values[part])

    def load_memory(self, physical: int, data: bytes | memoryview) -> None:
        super().load_memory(physical, data)
        self.observer.loaded(physical, len(data))

    @property
    def gsp(self) -> Gsp:
        made = self._gsp is None
        gsp = super().gsp
        if made:
            run = gsp.gx

            def observed(
                words: Sequence[int], *, client: int | None = None, recorded: bool = False, at: str = ""
            ) -> int:
                self.observer.commanded(words)
                code = run(words, client=client, recorded=recorded, at=at)
                if gsp.flushed:
                    self.observer.flushed(gsp.flushed)
                if not code and command_of(words) is REQUEST_DMA:
                    self.observer.copied(words)
                return code

            gsp.gx = observed  # type: ignore[method-assign]
        return gsp


__all__ = ["CONTROL", "ObservedN3DS", "Observer"]
