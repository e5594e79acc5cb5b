"""The machine's interface for gsp, refusals of requests, and register addresses by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.gsp import BAD_ADDRESS, Result
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.gsp.address_map import AddressMap

if TYPE_CHECKING:
    from pocketgpu.events import EventLog
    from pocketgpu.pica.core.observer import Observer
    from pocketgpu.pica.memory.guest import GuestMemory


class GspMachine(Protocol):
    """The part of `pocketgpu.pica.n3ds.N3DS` that gsp uses."""

    choices: dict[str, str]
    frame: int

    @property
    def memory(self) -> GuestMemory: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def observers(self) -> tuple[Observer, ...]: ...
    def write_registers(self, addresses: np.ndarray, values: np.ndarray, /) -> None: ...
    def read_register(self, physical: int, /) -> int: ...
    def at_work(self, unit: str, /) -> bool: ...
    def reset_units(self) -> None: ...
    def on_interrupt(self, listener: Callable[[str, int], None], /) -> None: ...


class Refused(Exception):
    """Internal: gsp refuses a request with a result code. Never leaves this package."""

    def __init__(self, result: Result, reason: str) -> None:
        super().__init__(reason)
        self.result = result
        self.reason = reason


Write = tuple[int, int]
"""A register write: physical address and value."""


@cache
def address(name: str) -> int:
    """Physical address of a register by name."""
    for block in (EXTERNAL, PICA, LCD):
        if name in block:
            return block.address_of(name)
    raise KeyError(name)


def write(machine: GspMachine, writes: Iterable[Write]) -> None:
    """Register writes in order, in one call."""
    pairs = np.array(list(writes), np.uint64).astype(np.uint32).reshape(-1, 2)
    machine.write_registers(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))


class Translator:
    """Virtual to physical addresses for one gsp: a table that may change, and a choice for addresses outside of it."""

    def __init__(self, choices: Mapping[str, str]) -> None:
        self.map = AddressMap()
        self.choices = choices

    def __call__(self, virt: int, size: int = 1, what: str = "address") -> int:
        """Physical address of `size` bytes; 0 means "none" and stays 0. Raises Refused outside the table."""
        if virt == 0:
            return 0
        phys = self.map.translate(virt, size)
        if phys is None:
            if self.choices["gsp.untranslatable"] == "zero":
                return 0
            end = f"..{virt + size:#010x}" if size > 1 else ""
            raise Refused(BAD_ADDRESS, f"{what} {virt:#010x}{end} is not memory that the GPU can reach")
        return phys
