"""The external registers: what the processor writes, and the units that a write starts.

Writes come in bulk. Plain registers are stored as arrays; only the few addresses that start something are looked at
one by one, in order. Units work at once: when `write` returns, memory holds their result and the busy bits are clear.

Source: 3dbrew GPU/External Registers; GBATEK for writable masks and interrupt bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from time import perf_counter

import numpy as np

from ..events import EventKind, EventLog
from ..facts.external import EXTERNAL, LCD
from ..facts.pica import PICA
from ..lanes import I32, U8, Engine, Lang, Value, kernel
from ..memory import GuestMemory
from .command_list import EFFECT_NAMES, EFFECT_TABLE
from .display import ColorTable
from .draws import Core3D
from .fill import MemoryFill
from .layout import CONTROL as C
from .layout import EXTERNAL_WORDS, MAX_WRITES, WorkLayout
from .stats import Stats
from .transfer import WORDS as TRANSFER_WORDS
from .transfer import TransferEngine

BASE = EXTERNAL.base
WORDS = EXTERNAL_WORDS
LCD_WORDS = 0x1000 // 4
_PICA_FIRST = (PICA.base - BASE) // 4
_STORE = EFFECT_NAMES.index("store")


@cache
def _address(name: str) -> int:
    return EXTERNAL[name].offset // 4


_FILLS = [(_address(f"PSC{unit}_START"), _address(f"PSC{unit}_CONTROL"), f"PSC{unit}") for unit in range(2)]
_TRANSFER_CONTROL = _address("PPF_CONTROL")
_FILL_START, _FILL_FINISHED = (EXTERNAL["PSC0_CONTROL"][name].mask for name in ("start", "finished"))
_FILL_WIDTH = EXTERNAL["PSC0_CONTROL"]["width"]
_TRANSFER_START, _TRANSFER_FINISHED = (EXTERNAL["PPF_CONTROL"][name].mask for name in ("start", "finished"))
_SELECTS = [_address(f"PDC{unit}_SELECT") for unit in range(2)]
_SELECT_CURRENT = EXTERNAL["PDC0_SELECT"]["current"].mask
_SELECT_FLAGS = sum(EXTERNAL["PDC0_SELECT"][name].mask for name in ("h_irq", "v_irq", "error_irq"))

# What starts the command list of each channel; where its size and its address stand.
_LIST_STARTS = tuple(PICA[f"CMDBUF_JUMP{channel}"].offset for channel in range(2))
_LISTS = [
    [
        (PICA[name].offset, PICA[name][field])
        for name, field in ((f"CMDBUF_SIZE{n}", "size"), (f"CMDBUF_ADDR{n}", "address"))
    ]
    for n in range(2)
]

# What a write to a word of the GPU block is: only a store (here, or to a register of the 3D core), or more.
PLAIN, CORE_PLAIN, TRIGGER, CORE, ELSEWHERE = range(5)
_WRITE_INDEX = C.WRITE_INDEX // 4


@kernel(1, first=I32, count=I32)
def store_writes(k: Lang, first: Value, count: Value, *, layout_start: int, layout_size: int) -> None:
    """Store pending writes from `first` on until one is more than a store; WRITE_INDEX says which (or `count`).

    Unwritable bits keep what they hold.
    """
    layout = WorkLayout(layout_start, layout_size)
    i, going = k.var(first), k.var(True)
    for _ in k.loop(lambda: going.value & (i.value < count)):
        at = k.to_i64(i.value << 2)
        index = (k.load(I32, at + layout.writes) - BASE).lsr(2)
        inside = index.below(WORDS)
        safe = k.to_i64(k.select(inside, index, 0))
        kind = k.load(U8, safe + layout.external_kinds)
        plain = inside & (kind <= CORE_PLAIN)
        for _ in k.when(plain):
            place = safe << 2
            writable = k.load(I32, place + layout.external_writable)
            register = place + k.to_i64(k.select(kind == PLAIN, layout.external, layout.registers - 4 * _PICA_FIRST))
            old, new = k.load(I32, register), k.load(I32, at + (layout.writes + 4 * MAX_WRITES))
            k.store(I32, register, (old & ~writable) | (new & writable))
            i.value = i.value + 1
        going.value = plain
    k.store(I32, layout.control + C.WRITE_INDEX, i.value)


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
        self.fill = MemoryFill(memory, engine, switches)
        self.transfer = TransferEngine(memory, engine, switches)
        layout = core.layout
        self._static = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
        part = lambda offset, size: memory.arena[offset : offset + size]
        self.words = part(layout.external, 4 * WORDS).view(np.uint32)
        self.lcd = np.zeros(LCD_WORDS, np.uint32)
        self.luts = (ColorTable(), ColorTable())
        self.interrupts: dict[str, int] = {}
        self.listeners: list[Callable[[str, int], None]] = []
        self._writable = part(layout.external_writable, 4 * WORDS).view(np.uint32)
        self._writable[:] = 0xFFFFFFFF
        self._pending = part(layout.writes, 8 * MAX_WRITES).view(np.uint32).reshape(2, MAX_WRITES)
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
        self._kind = part(layout.external_kinds, WORDS)
        self._kind[:] = PLAIN
        self._kind[list(self._triggers)] = TRIGGER
        self._kind[_PICA_FIRST : _PICA_FIRST + 0x400] = CORE
        self._kind[_PICA_FIRST : _PICA_FIRST + len(core.registers)][EFFECT_TABLE[: len(core.registers)] == _STORE] = (
            CORE_PLAIN
        )
        # Below the first register of the core proper: acknowledge bytes, and what only this side writes.
        self._kind[_PICA_FIRST : _PICA_FIRST + 0x40] = CORE
        self._kind[[_PICA_FIRST + number for number in _LIST_STARTS]] = CORE

    @cached_property
    def _store_writes(self) -> Callable[..., None]:
        return self._engine.get(store_writes, **self._static)

    # -- access -----------------------------------------------------------------------------------------------------
    def read(self, address: int) -> int:
        """The word at a physical address; 0 where there is no register."""
        index = (address - BASE) >> 2
        if 0 <= index < WORDS:
            if self._kind[index] in (CORE, CORE_PLAIN):
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
        run = self._store_writes
        for start in range(0, len(addresses), MAX_WRITES):
            count = min(MAX_WRITES, len(addresses) - start)
            self._pending[0, :count] = addresses[start : start + count]
            self._pending[1, :count] = values[start : start + count]
            stop = 0
            while True:
                run(stop, count)
                stop = int(self.core.control[_WRITE_INDEX])
                if stop >= count:
                    break
                self._act(int(self._pending[0, stop]), int(self._pending[1, stop]))
                stop += 1

    def _act(self, address: int, word: int) -> None:
        """A write that is more than a store."""
        index = (address - BASE) >> 2
        kind = int(self._kind[index]) if 0 <= index < WORDS else ELSEWHERE
        if kind == TRIGGER:
            self._triggers[index](word)
        elif kind == CORE:
            self._core_write(index - _PICA_FIRST, word)
        else:
            self._elsewhere(address, word)

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
        """The STATUS register: a mirror of the finished flags, or of the flags of units at work (external.status)."""
        word = 0
        busy = self.switches["external.status"] == "busy"
        for field in ("psc0", "psc1", "ppf"):
            name = f"{field.upper()}_CONTROL"
            if EXTERNAL[name]["start" if busy else "finished"].raw(int(self.words[_address(name)])):
                word = EXTERNAL["STATUS"][field].encode(1, word)
        if busy:  # a list has come to its end when the write that starts it is done
            return word
        request, compare = self.core.registers[0x10:0x20].view(np.uint8), self.core.registers[0x20:0x30].view(np.uint8)
        disabled = np.unpackbits(self.core.registers[0x30:0x32].view(np.uint8), bitorder="little").astype(bool)
        if ((request == compare) & ~disabled).any():
            word = EXTERNAL["STATUS"]["p3d"].encode(1, word)
        return word

    # -- units ------------------------------------------------------------------------------------------------------
    def _controlled(self, word: int, index: int, finished: int) -> int:
        """A word written to a unit's control register: "finished" can only be cleared by a write."""
        writable = int(self._writable[index])
        return word & writable & ~finished | word & int(self.words[index]) & finished

    def _fill(self, unit: int, word: int) -> None:
        started = perf_counter()
        first, index, name = _FILLS[unit]
        word = self._controlled(word, index, _FILL_FINISHED)
        if word & _FILL_START:
            start, end, value = self.words[first : first + 3].tolist()
            width = _FILL_WIDTH.raw(word)
            problem = self.fill.run(start << 3, end << 3, value, width)
            if problem:
                self.events.report("fault", "fill.unmapped", problem, self.core.place)
            if start or self.switches["fill.null_start"] == "finish":
                word |= _FILL_FINISHED
            word &= ~_FILL_START
            self.interrupt(name, int(start > 0))
        self.words[index] = word
        self.stats.seconds["fill"] += perf_counter() - started

    def _transfer(self, word: int) -> None:
        started = perf_counter()
        index = _TRANSFER_CONTROL
        word = self._controlled(word, index, _TRANSFER_FINISHED)
        if word & _TRANSFER_START:
            outcome = self.transfer.run(self.words[TRANSFER_WORDS])
            if outcome.problem:
                kind: EventKind = "hang" if outcome.hang else "warning" if outcome.moved else "fault"
                self.events.report(kind, outcome.event or f"transfer.{kind}", outcome.problem, self.core.place)
            if outcome.finished:
                word = word & ~_TRANSFER_START | _TRANSFER_FINISHED
                self.interrupt("PPF")
        self.words[index] = word
        self.stats.seconds["transfer"] += perf_counter() - started

    def _select(self, unit: int, word: int) -> None:
        """PDC framebuffer select: interrupt flags are cleared by writing ones; the rest is taken at VBlank."""
        index = _SELECTS[unit]
        current = int(self.words[index])
        flags, kept = _SELECT_FLAGS, _SELECT_CURRENT
        self.words[index] = (word & ~(flags | kept)) | (current & ~word & flags) | (current & kept)

    # -- the 3D core's registers --------------------------------------------------------------------------------------
    def _core_write(self, number: int, word: int) -> None:
        registers = self.core.registers
        if number < 0x10:  # acknowledge: the same storage as the request bytes
            registers[0x10 + number] = word
        elif number in _LIST_STARTS:
            registers[number] = word
            if word & 1:
                self._start_list(_LIST_STARTS.index(number))
                registers[number] = 0
        elif number < 0x40:
            registers[number] = word
        elif number < len(registers):
            if EFFECT_TABLE[number] == _STORE:
                registers[number] = word
            else:
                self.core.run_words([word, number | 0xF0000])

    def _start_list(self, channel: int) -> None:
        size, address = (int(f.decode(int(self.core.registers[number]))) & ~15 for number, f in _LISTS[channel])
        offset = self.memory.offset_of(address, size)
        if offset is None:
            message = f"command list {address:#010x}..{address + size:#010x} leaves memory"
            self.events.report("fault", "list.unmapped", message, self.core.place)
            return
        self.interrupt("P3D", self.core.run_list(offset, size))
