"""The external registers: what the processor writes, and the units that a write starts.

Writes come in bulk. Plain registers are stored as arrays; only the few addresses that start something are looked at
one by one, in order. Units work at once: when `write` returns, memory holds their result and the busy bits are clear.

Source: 3dbrew GPU/External Registers; GBATEK for writable masks and interrupt bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from time import perf_counter

import numpy as np

from ..events import EventKind, EventLog
from ..facts.external import EXTERNAL, LCD
from ..facts.pica import PICA
from ..lanes import Engine
from ..memory import GuestMemory
from .command_list import EFFECT_NAMES, EFFECT_TABLE
from .display import ColorTable
from .draws import Core3D
from .fill import fill
from .stats import Stats
from .transfer import TransferEngine

BASE = EXTERNAL.base
WORDS = 0x2000 // 4
LCD_WORDS = 0x1000 // 4
_PICA_FIRST = (PICA.base - BASE) // 4
_STORE = EFFECT_NAMES.index("store")


@cache
def _address(name: str) -> int:
    return EXTERNAL[name].offset // 4


_PPF_REGISTERS = [(r.name, _address(r.name)) for r in EXTERNAL if r.name.startswith("PPF_")]


class ExternalRegisters:
    """Words at 0x10400000 (GPU) and 0x10202000 (LCD). `interrupts` counts what fired since `take_interrupts`."""

    def __init__(
        self,
        memory: GuestMemory,
        engine: Engine,
        core: Core3D,
        events: EventLog,
        stats: Stats,
        switches: Mapping[str, str],
    ) -> None:
        self.memory, self.core, self.events, self.stats, self.switches = memory, core, events, stats, switches
        self._engine = engine
        self.transfer = TransferEngine(memory, engine, switches)
        self.words = np.zeros(WORDS, np.uint32)
        self.lcd = np.zeros(LCD_WORDS, np.uint32)
        self.luts = (ColorTable(), ColorTable())
        self.interrupts: dict[str, int] = {}
        self.listeners: list[Callable[[str, int], None]] = []
        self._writable = np.full(WORDS, 0xFFFFFFFF, np.uint32)
        for register in EXTERNAL:
            self._writable[register.offset // 4] = register.writable
            self.words[register.offset // 4] = register.reset
        for register in LCD:
            self.lcd[register.offset // 4] = register.reset
        self._triggers: dict[int, Callable[[int], None]] = {
            _address("PSC0_CONTROL"): lambda w: self._fill(0, w),
            _address("PSC1_CONTROL"): lambda w: self._fill(1, w),
            _address("PPF_CONTROL"): self._transfer,
            _address("STATUS"): lambda w: None,
        }
        for unit in range(2):
            self._triggers[_address(f"PDC{unit}_LUT_INDEX")] = self.luts[unit].select
            self._triggers[_address(f"PDC{unit}_LUT_DATA")] = self.luts[unit].store
            self._triggers[_address(f"PDC{unit}_SELECT")] = lambda w, unit=unit: self._select(unit, w)  # type: ignore[misc]
        # 0: store, 1: one of the triggers, 2: a register of the 3D core
        self._kind = np.zeros(WORDS, np.uint8)
        self._kind[list(self._triggers)] = 1
        self._kind[_PICA_FIRST : _PICA_FIRST + 0x400] = 2

    # -- access -----------------------------------------------------------------------------------------------------
    def read(self, address: int) -> int:
        """The word at a physical address; 0 where there is no register."""
        index = (address - BASE) >> 2
        if 0 <= index < WORDS:
            if self._kind[index] == 2:
                number = index - _PICA_FIRST
                return int(self.core.registers[number]) if number < len(self.core.registers) else 0
            if index == _address("STATUS"):
                return self._status()
            for unit in range(2):
                if index == _address(f"PDC{unit}_LUT_DATA"):
                    return self.luts[unit].load()
            return int(self.words[index])
        index = (address - LCD.base) >> 2
        return int(self.lcd[index]) if 0 <= index < LCD_WORDS else 0

    def write(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Writes in order: two uint32 arrays of word-aligned physical addresses and values."""
        index = (addresses.astype(np.int64) - BASE) >> 2
        ours = (index >= 0) & (index < WORDS)
        kinds = np.where(ours, self._kind[np.where(ours, index, 0)], 3)
        start = 0
        for stop in np.flatnonzero(kinds != 0).tolist():
            self._store(index[start:stop], values[start:stop])
            kind, word = int(kinds[stop]), int(values[stop])
            if kind == 1:
                self._triggers[int(index[stop])](word)
            elif kind == 2:
                self._core_write(int(index[stop]) - _PICA_FIRST, word)
            else:
                self._elsewhere(int(addresses[stop]), word)
            start = stop + 1
        self._store(index[start:], values[start:])

    def _store(self, index: np.ndarray, values: np.ndarray) -> None:
        if len(index):
            # Unwritable bits keep what they hold; of several writes to one register the last one counts.
            keep = ~self._writable[index]
            self.words[index] = (self.words[index] & keep) | (values & ~keep)

    def _elsewhere(self, address: int, word: int) -> None:
        index = (address - LCD.base) >> 2
        if 0 <= index < LCD_WORDS:
            self.lcd[index] = word
        else:
            self.events.report(
                "fault", "external.unmapped", f"register write to {address:#010x}: no such register", self.core.place
            )

    def interrupt(self, name: str, count: int = 1) -> None:
        """Count interrupts: PSC0, PSC1, PDC0, PDC1, PPF or P3D."""
        if count:
            self.interrupts[name] = self.interrupts.get(name, 0) + count
            for listener in self.listeners:
                listener(name, count)

    def take_interrupts(self) -> dict[str, int]:
        """Interrupts since the last call, by name."""
        taken, self.interrupts = self.interrupts, {}
        return taken

    def _put(self, name: str, field: str, value: int) -> None:
        index = _address(name)
        self.words[index] = EXTERNAL[name][field].encode(value, int(self.words[index]))

    def _status(self) -> int:
        """The STATUS register: a mirror of the finished flags."""
        word = 0
        for field, finished in (
            ("psc0", ("PSC0_CONTROL", "finished")), ("psc1", ("PSC1_CONTROL", "finished")),
            ("ppf", ("PPF_CONTROL", "finished")),
        ):  # fmt: skip
            name, bit = finished
            if EXTERNAL[name][bit].raw(int(self.words[_address(name)])):
                word = EXTERNAL["STATUS"][field].encode(1, word)
        request, compare = self.core.registers[0x10:0x20].view(np.uint8), self.core.registers[0x20:0x30].view(np.uint8)
        disabled = np.unpackbits(self.core.registers[0x30:0x32].view(np.uint8), bitorder="little").astype(bool)
        if ((request == compare) & ~disabled).any():
            word = EXTERNAL["STATUS"]["p3d"].encode(1, word)
        return word

    # -- units ------------------------------------------------------------------------------------------------------
    def _fill(self, unit: int, word: int) -> None:
        started = perf_counter()
        name = f"PSC{unit}_CONTROL"
        register, index = EXTERNAL[name], _address(name)
        old = int(self.words[index])
        # "finished" can only be cleared by a write, "start" clears itself.
        word = register["finished"].encode(register["finished"].raw(word & old), word & register.writable)
        if register["start"].raw(word):
            start, end, value = (int(self.words[_address(f"PSC{unit}_{part}")]) for part in ("START", "END", "VALUE"))
            width = register["width"].raw(word)
            problem = fill(self.memory, self._engine, start << 3, end << 3, value, width, self.switches)
            if problem:
                self.events.report("fault", "fill.unmapped", problem, self.core.place)
            if start or self.switches["fill.null_start"] == "finish":
                word = register["finished"].encode(1, word)
            word = register["start"].encode(0, word)
            self.interrupt(f"PSC{unit}", int(start > 0))
        self.words[index] = word
        self.stats.seconds["fill"] += perf_counter() - started

    def _transfer(self, word: int) -> None:
        started = perf_counter()
        register, index = EXTERNAL["PPF_CONTROL"], _address("PPF_CONTROL")
        old = int(self.words[index])
        word = register["finished"].encode(register["finished"].raw(word & old), word & register.writable)
        if register["start"].raw(word):
            outcome = self.transfer.run({name: int(self.words[at]) for name, at in _PPF_REGISTERS})
            if outcome.problem:
                kind: EventKind = "hang" if outcome.hang else "warning" if outcome.moved else "fault"
                self.events.report(kind, f"transfer.{kind}", outcome.problem, self.core.place)
            if outcome.finished:
                word = register["start"].encode(0, register["finished"].encode(1, word))
                self.interrupt("PPF")
        self.words[index] = word
        self.stats.seconds["transfer"] += perf_counter() - started

    def _select(self, unit: int, word: int) -> None:
        """PDC framebuffer select: interrupt flags are cleared by writing ones; the rest is taken at VBlank."""
        name = f"PDC{unit}_SELECT"
        register, index = EXTERNAL[name], _address(name)
        current = int(self.words[index])
        for flag in ("h_irq", "v_irq", "error_irq"):
            keep = register[flag].raw(current) & ~register[flag].raw(word)
            word = register[flag].encode(keep & 1, word)
        self.words[index] = register["current"].encode(register["current"].raw(current), word)

    # -- the 3D core's registers --------------------------------------------------------------------------------------
    def _core_write(self, number: int, word: int) -> None:
        registers = self.core.registers
        if number < 0x10:  # acknowledge: the same storage as the request bytes
            registers[0x10 + number] = word
        elif number in (0x23C, 0x23D):
            registers[number] = word
            if word & 1:
                self._start_list(number - 0x23C)
                registers[number] = 0
        elif number < 0x40:
            registers[number] = word
        elif number < len(registers):
            if EFFECT_TABLE[number] == _STORE:
                registers[number] = word
            else:
                self.core.run_words([word, number | 0xF0000])

    def _start_list(self, channel: int) -> None:
        size, address = (
            int(PICA[name][field].decode(int(self.core.registers[PICA[name].offset]))) & ~15
            for name, field in ((f"CMDBUF_SIZE{channel}", "size"), (f"CMDBUF_ADDR{channel}", "address"))
        )
        offset = self.memory.offset_of(address, size)
        if offset is None:
            message = f"command list {address:#010x}..{address + size:#010x} leaves memory"
            self.events.report("fault", "list.unmapped", message, self.core.place)
            return
        self.interrupt("P3D", self.core.run_list(offset, size))
