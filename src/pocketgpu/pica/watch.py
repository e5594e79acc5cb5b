"""A machine that watches instead of drawing: what a client asks for, at the speed of the compiled list walk.

Command lists run as always, so registers, tables, jumps and interrupts are exact, but a recorded draw goes to the
watcher and not to the rasteriser. Fills and transfers are reported and carried out; they cost little, and tell of
ranges outside memory. Nothing is shown on the screens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

import numpy as np

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pica.core.layout import BANK_INDEX, MAX_PACKETS, PACKET, PACKET_REGISTERS, PACKET_SIZE, WorkLayout
from pocketgpu.pica.display.screens import Screen
from pocketgpu.pica.front.draws import Core3D
from pocketgpu.pica.front.targets import RenderTarget
from pocketgpu.pica.n3ds import MIB, N3DS


class DrawPackets:
    """Some consecutive draws of one list, as the walk recorded them; valid during the call that hands them over.

    registers: (n, 0x300) uint32, a row a draw. kinds: (n,) KIND_ARRAYS, KIND_ELEMENTS or KIND_IMMEDIATE.
    immediate: (n,) attributes sent for immediate vertices. places: (n,) arena offset of the list entry that draws.
    place: where in the capture ("f0").
    """

    def __init__(self, arena: np.ndarray, layout: WorkLayout, count: int, place: str) -> None:
        words = arena[layout.packets : layout.packets + MAX_PACKETS * PACKET_SIZE].view(np.int32)
        packets = words.reshape(MAX_PACKETS, -1)[:count]
        first = PACKET_REGISTERS // 4
        self.registers = packets[:, first:].view(np.uint32)
        self.kinds = packets[:, PACKET.KIND // 4]
        self.immediate = packets[:, PACKET.IMMEDIATE_COUNT // 4]
        self.places = packets[:, PACKET.AT // 4]
        self._versions = packets[:, PACKET.VERSIONS // 4 :]
        self._arena = arena
        self.place = place

    def versions(self, bank: str) -> np.ndarray:
        """Arena offsets (n,) of the version of a bank (such as "vs_code") that each draw sees; equal if unchanged."""
        return self._versions[:, BANK_INDEX[bank]]

    def contents(self, offset: int, words: int) -> bytes:
        """`words` 32-bit words of a bank's version."""
        return self._arena[offset : offset + 4 * words].tobytes()


class Watcher(Protocol):
    """Who is told. `list_ran`: a list in guest memory of `words` words ran; `ignored` of its writes have no register.
    `unit_starts`: "PSC0", "PSC1" or "PPF" starts, with the words of its registers by name."""

    def draws(self, packets: DrawPackets) -> None: ...
    def list_ran(self, words: int, ignored: int, place: str) -> None: ...
    def unit_starts(self, unit: str, words: Mapping[str, int], place: str) -> None: ...


class _Runner:
    """Stands where the machine has its draw runner."""

    exhausted = False

    def __init__(self, machine: WatchedN3DS, watcher: Watcher) -> None:
        self._machine, self._watcher = machine, watcher
        self.pixels = 0

    def run(self, count: int, place: str) -> None:
        machine = self._machine
        machine.stats.draws += count
        self._watcher.draws(DrawPackets(machine.memory.arena, machine._core.layout, count, place))

    def color_targets(self) -> list[RenderTarget]:
        return []

    def reset(self) -> None:
        pass


class WatchedN3DS(N3DS):
    """A 3DS that hands its draws to `watcher` instead of drawing them. It counts register writes and memory loads."""

    def __init__(self, watcher: Watcher, fcram: int = 128 * MIB, evaluator: str = "llvm") -> None:
        self._watcher = watcher
        super().__init__(fcram=fcram, evaluator=evaluator)

    def _power_on(self, timing: str, new: bool) -> None:
        super()._power_on(timing, new)
        self.writes = self.loads = self.load_bytes = 0
        watcher, core, external = self._watcher, self._core, self._external
        core.runner = _Runner(self, watcher)  # type: ignore[assignment]
        run_list = partial(Core3D.run_list, core)

        def watched_list(offset: int, size: int, complete: bool = True) -> int:
            fired = run_list(offset, size, complete)
            watcher.list_ran(size // 4 if complete else 0, core._get("IGNORED"), core.place)
            return fired

        core.run_list = watched_list  # type: ignore[method-assign]
        for unit in ("PSC0", "PSC1", "PPF"):
            control = EXTERNAL[f"{unit}_CONTROL"]
            trigger = external._triggers[control.offset // 4]
            external._triggers[control.offset // 4] = self._watched_unit(unit, trigger, watcher)

    def _watched_unit(self, unit: str, trigger: Callable[[int], None], watcher: Watcher) -> Callable[[int], None]:
        control = EXTERNAL[f"{unit}_CONTROL"]
        registers = [register for register in EXTERNAL if register.name.startswith(f"{unit}_")]

        def run(word: int) -> None:
            if control["start"].raw(word):
                words = {register.name: self.read_register(register.address) for register in registers}
                watcher.unit_starts(unit, words | {control.name: word}, self._core.place)
            trigger(word)

        return run

    def write_registers(self, addresses: np.ndarray, values: np.ndarray) -> None:
        self.writes += len(addresses)
        super().write_registers(addresses, values)

    def load_memory(self, physical: int, data: bytes | memoryview) -> None:
        super().load_memory(physical, data)
        self.loads += 1
        self.load_bytes += len(data)

    @property
    def screens(self) -> dict[str, Screen]:
        """Nothing: no frame is drawn."""
        return {}
