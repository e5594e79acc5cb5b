"""The external registers: the processor's writes, and the units that they start.

Writes come in bulk. Plain registers are stored as arrays; only writes to the few addresses that start something are
processed one by one, in order. Units work at once: when `write` returns, memory holds their result and the busy bits
are clear. In `timed.py` the same units take time.

Source: 3dbrew GPU/External Registers; GBATEK for writable masks, interrupt bits, mirrors and unused addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import EventKind, EventLog
from pocketgpu.facts.external import CORE_READ_HANGS, COUNTED_TRAFFIC, EXTERNAL, HOLES, LCD, MIRRORS
from pocketgpu.facts.list_entry import header_word
from pocketgpu.facts.pica import PICA, START_LIST
from pocketgpu.lanes import Engine
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.layout import EXTERNAL_WORDS, ID_SPACE, MAX_WRITES
from pocketgpu.pica.core.observer import Observer, tell_written
from pocketgpu.pica.core.stats import Stats
from pocketgpu.pica.display.screens import ColorTable, scan_out
from pocketgpu.pica.engines.fill import MemoryFill
from pocketgpu.pica.engines.transfer import WORDS as TRANSFER_WORDS
from pocketgpu.pica.engines.transfer import TransferEngine
from pocketgpu.pica.engines.work import Work
from pocketgpu.pica.external.vram_power import VramPower
from pocketgpu.pica.external.writes import (
    CORE,
    CORE_PLAIN,
    ELSEWHERE,
    HOLE,
    MIRROR,
    PICA_FIRST,
    PLAIN,
    SELECT,
    SELECT_FLAGS,
    TRIGGER,
    UNIT,
    RepeatedWork,
    selected,
    store_writes,
)
from pocketgpu.pica.front.command_list import EFFECT_NAMES, EFFECT_TABLE
from pocketgpu.pica.front.draws import Core3D
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pictures import Screen

BASE = EXTERNAL.base
WORDS = EXTERNAL_WORDS
LCD_WORDS = 0x1000 // 4
_STORE = EFFECT_NAMES.index("store")


@cache
def _address(name: str) -> int:
    return EXTERNAL.offset_of(name) // 4


FILLS = [(_address(f"PSC{unit}_START"), _address(f"PSC{unit}_CONTROL"), f"PSC{unit}") for unit in range(2)]
TRANSFER_CONTROL = _address("PPF_CONTROL")
FILL_START, FILL_FINISHED = (EXTERNAL["PSC0_CONTROL"][name].mask for name in ("start", "finished"))
FILL_WIDTH = EXTERNAL["PSC0_CONTROL"]["width"]
_FILL_ADDRESS = EXTERNAL["PSC0_START"]["address"]
_FILL_UNIT = _FILL_ADDRESS.scale >> _FILL_ADDRESS.lo
"""Bytes for each one of a masked address word. Masked here, not by `Field.raw`, because fills repeat every frame."""
_FILL_MASK = _FILL_ADDRESS.mask
TRANSFER_START, TRANSFER_FINISHED = (EXTERNAL["PPF_CONTROL"][name].mask for name in ("start", "finished"))
_SELECTS = [_address(f"PDC{unit}_SELECT") for unit in range(2)]

_SYNC_OFF = EXTERNAL["PDC0_POLARITY"]["h"].mask | EXTERNAL["PDC0_POLARITY"]["v8"].mask
"""The bits of POLARITY that stop sync pulses, if they have that function (display.sync_bits)."""

_STATUS, _BUSY = _address("STATUS"), _address("BUSY")
_STATUS_BITS = {field.name.upper(): field.mask for field in EXTERNAL["STATUS"].fields}
_EXCHANGED = {"PSC0": "PSC1", "PSC1": "PSC0"}
_CONTROLS = {
    unit: (_address(f"{unit}_CONTROL"), *(EXTERNAL[f"{unit}_CONTROL"][name].mask for name in ("start", "finished")))
    for unit in ("PSC0", "PSC1", "PPF")
}
"""For each unit: the word index of its control register, and the bits "start" and "finished"."""
_LUTS = {_address(f"PDC{unit}_LUT_DATA"): unit for unit in range(2)}
_TRAFFIC = {_address(f"TRAFFIC_{name}"): name for name in COUNTED_TRAFFIC}
_HOME = {
    at // 4: (area.home + (at - area.start) % area.period) // 4
    for area in MIRRORS
    for at in range(area.start, area.end, 4)
}
"""For each mirror word: the word of the register that it mirrors."""

FIRST_REQUEST = PICA["FINALIZE"].offset
"""Smaller ids are acknowledge bytes."""
FIRST_STATE = PICA["FACECULLING_CONFIG"].offset
"""Smaller ids are interrupt registers."""
_REQUEST = slice(FIRST_REQUEST, PICA["IRQ_CMP0"].offset)
_COMPARE = slice(PICA["IRQ_CMP0"].offset, PICA["IRQ_MASK_LOW"].offset)
_MASKS = slice(PICA["IRQ_MASK_LOW"].offset, PICA["IRQ_STAT_LOW"].offset)
_UNIT_WORDS = {
    unit: {name: offset // 4 for name, offset in EXTERNAL.places if name.startswith(f"{unit}_")}
    for unit in ("PSC0", "PSC1", "PPF")
}
"""For each unit: the word index of each of its registers."""

# The register that starts the command list of each channel; the registers with its size and address.
LIST_STARTS = tuple(PICA[f"CMDBUF_JUMP{channel}"].offset for channel in range(2))
_LIST_STARTS = np.array([PICA[number].address for number in LIST_STARTS], np.uint32)
_LISTS = [
    [
        (PICA[name].offset, PICA[name][field])
        for name, field in ((f"CMDBUF_SIZE{n}", "size"), (f"CMDBUF_ADDR{n}", "address"))
    ]
    for n in range(2)
]

_LIST_WORDS = [(size[0], address[0]) for size, address in _LISTS]
# Limit of cached list ranges.
_MOST_LISTS = 4096
_WRITE_INDEX, _UNITS_RUN = C.WRITE_INDEX // 4, C.UNITS_RUN // 4


def starts_list(addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """The writes among these that start a command list."""
    started: NDArray[np.bool_] = np.isin(addresses, _LIST_STARTS) & ((values & START_LIST) != 0)
    return started


class ExternalRegisters:
    """Words at 0x10400000 (GPU) and 0x10202000 (LCD). `interrupts` counts what fired since `take_interrupts`."""

    def __init__(
        self,
        memory: GuestMemory,
        engine: Engine,
        core: Core3D,
        fill: MemoryFill,
        transfer: TransferEngine,
        repeated: RepeatedWork,
        events: EventLog,
        stats: Stats,
        choices: Mapping[str, str],
    ) -> None:
        self.memory, self.core, self.events, self.stats, self.choices = memory, core, events, stats, choices
        self._engine = engine
        self.fill, self.transfer, self.repeated = fill, transfer, repeated
        self.vram = VramPower(memory, choices["vram.power_off"])
        layout = core.layout
        self._static = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
        part = lambda offset, size: memory.arena[offset : offset + size]
        self.words = part(layout.external, 4 * WORDS).view(np.uint32)
        self.words[:] = 0  # the machine may have run before
        self.lcd = np.zeros(LCD_WORDS, np.uint32)
        self.luts = (ColorTable(), ColorTable())
        self.interrupts: dict[str, int] = {}
        self.listeners: list[Callable[[str, int], None]] = []
        self.observers: tuple[Observer, ...] = ()
        """Observers of unit starts and ends."""
        self._at_work: dict[str, Mapping[str, int]] = {}  # registers passed to observers, for units that have not ended
        self.moved = dict.fromkeys(COUNTED_TRAFFIC, 0)
        """Bytes by the name of their traffic counter."""
        self._writable = part(layout.external_writable, 4 * WORDS).view(np.uint32)
        self._writable[:] = 0xFFFFFFFF
        pending = part(layout.writes, 8 * MAX_WRITES).view(np.uint32)
        self._pending = pending[:MAX_WRITES], pending[MAX_WRITES:]  # addresses, values
        for offset, writable in EXTERNAL.writables:
            self._writable[offset // 4] = writable
        for offset, reset in EXTERNAL.resets:
            self.words[offset // 4] = reset
        for unit in range(2):
            self._writable[_address(f"PDC{unit}_STRIDE")] = 0x100000000 - int(choices["display.stride_unit"])
            if choices["display.sync_bits"] == "disable":
                self._writable[_address(f"PDC{unit}_POLARITY")] = _SYNC_OFF
        for offset, reset in LCD.resets:
            self.lcd[offset // 4] = reset
        self._triggers: dict[int, Callable[[int], None]] = {
            _address("PSC0_CONTROL"): lambda w: self._fill(0, w),
            _address("PSC1_CONTROL"): lambda w: self._fill(1, w),
            _address("PPF_CONTROL"): self._transfer,
            _address("VRAM_POWER"): self._vram_power,
            **dict.fromkeys((_STATUS, _BUSY, *_TRAFFIC), lambda w: None),
        }
        for unit in range(2):
            self._triggers[_address(f"PDC{unit}_LUT_INDEX")] = self.luts[unit].select
            self._triggers[_address(f"PDC{unit}_LUT_DATA")] = self.luts[unit].store
            self._triggers[_address(f"PDC{unit}_SELECT")] = partial(self._select, unit)
        for channel, number in enumerate(LIST_STARTS):
            self._triggers[PICA_FIRST + number] = partial(self._list_started, channel)
        self._kind = part(layout.external_kinds, WORDS)
        self._kinds = self._kind.data
        self._core_words = core.registers.data
        self._lists: dict[tuple[int, int], tuple[int, int, int | None]] = {}
        self._kind[:] = PLAIN
        self._kind[list(self._triggers)] = TRIGGER
        self._kind[_SELECTS] = SELECT
        self._kind[[index for index, *_ in _CONTROLS.values()]] = UNIT
        self._kind[PICA_FIRST : PICA_FIRST + ID_SPACE] = CORE
        self._kind[PICA_FIRST : PICA_FIRST + len(core.registers)][EFFECT_TABLE[: len(core.registers)] == _STORE] = (
            CORE_PLAIN
        )
        # Ids below the first core register: acknowledge bytes, and registers that only this side writes.
        self._kind[PICA_FIRST : PICA_FIRST + FIRST_STATE] = CORE
        self._kind[[PICA_FIRST + number for number in LIST_STARTS]] = CORE
        self._kind[list(_HOME)] = MIRROR
        for hole in HOLES:
            self._kind[hole.start // 4 : hole.end // 4] = HOLE

    def set_model(self, new: bool) -> None:
        """Set the model in HARDWARE_ID."""
        if self.choices["external.hardware_id"] == "model":
            self._put("HARDWARE_ID", "new_model", int(new))

    @cached_property
    def _store_writes(self) -> Callable[..., None]:
        return self._engine.get(store_writes, **self._static)

    # -- access -----------------------------------------------------------------------------------------------------
    def read(self, address: int) -> int:
        """The word at a physical address; 0 where there is no register."""
        index = (address - BASE) >> 2
        if 0 <= index < WORDS:
            index = _HOME.get(index, index)
            kind = int(self._kind[index])
            if kind in (TRIGGER, SELECT):
                return self._read_active(index)
            if kind in (CORE, CORE_PLAIN):
                return self._read_core(index - PICA_FIRST)
            if kind == HOLE:
                self._in_hole(address)
            return int(self.words[index])
        index = (address - LCD.base) >> 2
        if 0 <= index < LCD_WORDS:
            return int(self.lcd[index])
        self._in_hole(address)
        return 0

    def peek(self, address: int) -> int:
        """The value of a display or LCD register, without side effects of a read."""
        index = (address - BASE) >> 2
        return int(self.words[index] if 0 <= index < WORDS else self.lcd[(address - LCD.base) >> 2])

    def _read_active(self, index: int) -> int:
        """A register with a side effect or a computed value."""
        if index == _STATUS:
            return self._status()
        if index == _BUSY:
            return self._busy()
        if index in _LUTS:
            return self.luts[_LUTS[index]].load()
        word = int(self.words[index])
        if index in _TRAFFIC:
            return (word + self.moved[_TRAFFIC[index]]) & 0xFFFFFFFF
        if index in _SELECTS and self.choices["display.select_read"] == "zero":
            word &= ~EXTERNAL["PDC0_SELECT"]["next"].mask
        return word

    def _read_core(self, number: int) -> int:
        if number in CORE_READ_HANGS:
            self.report("hang", "external.hang", f"read of register {number:#05x} of the 3D core: the bus hangs")
        return int(self.core.registers[number]) if number < len(self.core.registers) else 0

    def _in_hole(self, address: int) -> bool:
        """Report an access to an unused address of the GPU block; returns False for other addresses."""
        for hole in HOLES:
            if hole.start <= address - BASE < hole.end:
                if hole.hangs:
                    self.report("hang", "external.hang", f"access to {address:#010x}: the bus hangs")
                else:
                    self.report("fault", "external.abort", f"access to {address:#010x}: data abort")
                return True
        return False

    def report(self, kind: EventKind, id: str, message: str) -> None:
        """Report an event at the current place."""
        self.events.report(kind, id, message, self.core.place)

    def write(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Writes in order: two uint32 arrays of word-aligned physical addresses and values."""
        run, control, (pending_addresses, pending_values) = self._store_writes, self.core.words, self._pending
        for start in range(0, len(addresses), MAX_WRITES):
            count = min(MAX_WRITES, len(addresses) - start)
            whole = count == len(addresses)  # then there is nothing to cut
            pending_addresses[:count] = addresses if whole else addresses[start : start + count]
            pending_values[:count] = values if whole else values[start : start + count]
            stop = 0
            while True:
                started = perf_counter()
                run(stop, count, len(self.repeated) if self._unwatched else 0)
                if control[_UNITS_RUN]:
                    self._repeat(control[_UNITS_RUN], perf_counter() - started)
                stop = control[_WRITE_INDEX]
                if stop >= count:
                    break
                self._act(int(pending_addresses[stop]), int(pending_values[stop]))
                stop += 1

    @property
    def _unwatched(self) -> bool:
        """Whether nobody must know when a unit starts or ends, so that several can run without Python in between."""
        return not (self.observers or self.listeners or self.vram.off)

    def _repeat(self, count: int, seconds: float) -> None:
        """So many units ran again, in this time."""
        interrupts, moved, total = self.interrupts, self.moved, 0
        done = self.repeated.ran(count)
        self.memory.touch_all([work.written for work in done])
        for work in done:
            for counter, size in work.traffic:
                moved[counter] += size
            total += work.size
            interrupts[work.unit] = interrupts.get(work.unit, 0) + 1
        for work in done:
            self.stats.seconds[work.phase] += seconds * work.size / total

    def _act(self, address: int, word: int) -> None:
        """A write that is more than a store."""
        index = (address - BASE) >> 2
        run = self._triggers.get(index)
        if run is not None:
            run(word)
            return
        kind = self._kinds[index] if 0 <= index < WORDS else ELSEWHERE
        if kind == MIRROR:
            index = _HOME[index]
            kind = self._kinds[index]
        if SELECT <= kind <= TRIGGER:
            self._triggers[index](word)
        elif kind == CORE:
            self._core_write(index - PICA_FIRST, word)
        elif kind == ELSEWHERE:
            self._elsewhere(address, word)
        else:
            if kind == HOLE:
                self._in_hole(address)
            self._store(index, word)

    def _store(self, index: int, word: int) -> None:
        """A plain store: unwritable bits keep their value."""
        writable = int(self._writable[index])
        self.words[index] = int(self.words[index]) & ~writable | word & writable

    def _elsewhere(self, address: int, word: int) -> None:
        index = (address - LCD.base) >> 2
        if 0 <= index < LCD_WORDS:
            self.lcd[index] = word
        elif not self._in_hole(address):
            self.report("fault", "external.unmapped", f"register write to {address:#010x}: no such register")

    def interrupt(self, name: str, count: int = 1) -> None:
        """Count interrupts: PSC0, PSC1, PDC0, PDC1, PPF or P3D."""
        if count:
            self.interrupts[name] = self.interrupts.get(name, 0) + count
            for listener in self.listeners:
                listener(name, count)

    def display_masked(self, unit: int) -> bool:
        """Whether a display's VBlank interrupt is disabled."""
        word = int(self.words[_address(f"PDC{unit}_CONTROL")])
        return bool(EXTERNAL["PDC0_CONTROL"]["v_irq_off"].raw(word))

    def take_interrupts(self) -> dict[str, int]:
        """Interrupts since the last call, by name."""
        taken, self.interrupts = self.interrupts, {}
        return taken

    def _put(self, name: str, field: str, value: int) -> None:
        index = _address(name)
        self.words[index] = EXTERNAL[name][field].encode(value, int(self.words[index]))

    def at_work(self, unit: str) -> bool:
        """Whether PSC0, PSC1, PPF or P3D is working; without emulated time only a unit that never ends is."""
        if unit == "P3D":
            return self._core_at_work()
        index, start, _ = _CONTROLS[unit]
        return bool(int(self.words[index]) & start)

    def reset_units(self) -> None:
        """Fills, transfers and lists stop, also endless ones. Their finished work stays; no interrupt is raised."""
        for index, start, finished in _CONTROLS.values():
            self.words[index] = int(self.words[index]) & ~(start | finished)

    def _core_at_work(self) -> bool:
        return False  # the write that starts a list returns after its end

    def _busy(self) -> int:
        fill, word = self.at_work("PSC0") or self.at_work("PSC1"), int(self.words[_BUSY])
        return EXTERNAL["BUSY"].encode(word, fill=fill, transfer=self.at_work("PPF"))

    def _status(self) -> int:
        """The STATUS register: pending interrupts, or working units (choice external.status)."""
        reading = self.choices["external.status"]
        if reading == "interrupt":
            on = [unit for unit, (index, _, finished) in _CONTROLS.items() if int(self.words[index]) & finished]
            on += [f"PDC{unit}" for unit, index in enumerate(_SELECTS) if int(self.words[index]) & SELECT_FLAGS]
            on += ["P3D"] * self._core_matches()
        else:
            on = [unit for unit in (*_CONTROLS, "P3D") if self.at_work(unit)]
            if reading == "busy-exchanged":
                on = [_EXCHANGED.get(unit, unit) for unit in on]
        return sum(_STATUS_BITS[unit] for unit in on)

    def _core_matches(self) -> bool:
        """Whether a byte of the core's interrupt request equals its compare byte."""
        request, compare, masks = (self.core.registers[part].view(np.uint8) for part in (_REQUEST, _COMPARE, _MASKS))
        disabled = np.unpackbits(masks, bitorder="little").astype(bool)
        return bool(((request == compare) & ~disabled).any())

    # -- units ------------------------------------------------------------------------------------------------------
    def _notify_start(self, unit: str, word: int) -> None:
        """Notify observers that PSC0, PSC1 or PPF starts: `word` was written to its control register."""
        words = {name: int(self.words[place]) for name, place in _UNIT_WORDS[unit].items()}
        words[f"{unit}_CONTROL"] = word
        self._notify_observers(unit, words)

    def _notify_observers(self, unit: str, words: Mapping[str, int]) -> None:
        self._at_work[unit] = words
        for one in self.observers:
            one.unit_starts(unit, words)

    def _notify_end(self, unit: str) -> None:
        words = self._at_work.pop(unit)
        for one in self.observers:
            one.unit_ended(unit, words)

    def rest(self) -> None:
        """No unit is working: observers get no end of earlier starts."""
        self._at_work.clear()

    def _controlled(self, word: int, index: int, finished: int) -> int:
        """A word written to a unit's control register: a write can only clear "finished"."""
        writable = int(self._writable[index])
        return word & writable & ~finished | word & int(self.words[index]) & finished

    def _fill(self, unit: int, word: int) -> None:
        """A write to a fill's control register."""
        first, index, name = FILLS[unit]
        if word & FILL_START and self.observers:
            self._notify_start(name, word)
        self.words[index] = word = self._controlled(word, index, FILL_FINISHED)
        if word & FILL_START:
            fill = (*self._fill_range(first), FILL_WIDTH.raw(word))
            self._run_fill(unit, *fill)
            if self._unwatched:
                self._keep(name, self.fill.repeated(*fill), FILL_WIDTH.mask)

    def _fill_range(self, first: int) -> tuple[int, int, int]:
        """Start address, end address and value of a fill; `first` is the word of the unit's first register."""
        start, end, value = self.words[first : first + 3].tolist()
        return (start & _FILL_MASK) * _FILL_UNIT, (end & _FILL_MASK) * _FILL_UNIT, value

    def _run_fill(self, unit: int, start: int, end: int, value: int, width: int) -> None:
        """Fill [start, end) with a pattern, and set the unit to finished."""
        started = perf_counter()
        _, index, name = FILLS[unit]
        self._fill_memory(unit, start, end, value, width)
        word = int(self.words[index]) & ~FILL_START
        if start or self.choices["fill.null_start"] == "finish":
            word |= FILL_FINISHED
        self.words[index] = word
        self.interrupt(name, int(start > 0))
        self.stats.seconds["fill"] += perf_counter() - started
        if name in self._at_work:
            self._notify_end(name)

    def _fill_memory(self, unit: int, start: int, end: int, value: int, width: int) -> None:
        problem = self.fill.run(start, end, value, width)
        if problem:
            self.report("fault", "fill.unmapped", problem)
        elif start and end > start:
            self.moved[f"PSC{unit}_WRITE"] += end - start
            if self.observers:
                tell_written(self.observers, [(self.memory.offset_of(start, end - start) or 0, end - start)])
        if self.vram.off:
            self.vram.lose()

    def _transfer(self, word: int) -> None:
        """A write to the transfer engine's control register."""
        index = TRANSFER_CONTROL
        if word & TRANSFER_START and self.observers:
            self._notify_start("PPF", word)
        self.words[index] = word = self._controlled(word, index, TRANSFER_FINISHED)
        if word & TRANSFER_START:
            self._run_transfer(self.words[TRANSFER_WORDS])
            if self._unwatched:
                self._keep("PPF", self.transfer.repeated(self.words[TRANSFER_WORDS]), 0)

    def _keep(self, unit: str, work: Work | None, control: int) -> None:
        """Work that just ran can be repeated while the unit's registers, with these bits of its control register, are
        the same."""
        if work is not None:
            self.repeated.add(unit, work, self.words, control)

    def _run_transfer(self, words: np.ndarray) -> None:
        """Run the transfer of these registers, and set the unit to finished, unless it never ends."""
        started = perf_counter()
        outcome = self.transfer.run(words)
        if outcome.problem:
            kind: EventKind = "hang" if outcome.hang else "warning" if outcome.moved else "fault"
            self.report(kind, outcome.event or f"transfer.{kind}", outcome.problem)
        if outcome.moved and self.observers:
            tell_written(self.observers, [self.transfer.prepare(words).written])
        self.moved["PPF_READ"] += outcome.read
        self.moved["PPF_WRITE"] += outcome.written
        if self.vram.off:
            self.vram.lose()
        if outcome.finished:
            index = TRANSFER_CONTROL
            self.words[index] = int(self.words[index]) & ~TRANSFER_START | TRANSFER_FINISHED
            self.interrupt("PPF")
        self.stats.seconds["transfer"] += perf_counter() - started
        if "PPF" in self._at_work:
            self._notify_end("PPF")

    def _vram_power(self, word: int) -> None:
        index = _address("VRAM_POWER")
        self._store(index, word)
        self.vram.set(int(self.words[index]))
        if self.vram.off:
            halves = ", ".join(name.replace("_", " ") for name in self.vram.off)
            self.report("warning", "vram.off", f"video memory is switched off: bank {halves}")

    def _select(self, unit: int, word: int) -> None:
        """PDC framebuffer select: writing ones clears interrupt flags; the display uses the rest."""
        index = _SELECTS[unit]
        self.words[index] = selected(word, int(self.words[index]))

    # -- the 3D core's registers --------------------------------------------------------------------------------------
    def _core_write(self, number: int, word: int) -> None:
        registers = self.core.registers
        if number < FIRST_REQUEST:  # acknowledge bytes: the same storage as the request bytes
            registers[FIRST_REQUEST + number] = word
        elif number < FIRST_STATE:
            registers[number] = word
        elif number < len(registers):
            if EFFECT_TABLE[number] == _STORE:
                registers[number] = word
            else:
                self.core.run_words([word, header_word(number, 1, consecutive=False)])

    def _list_started(self, channel: int, word: int) -> None:
        """A write to the register that starts the list of a channel."""
        number = LIST_STARTS[channel]
        self._core_words[number] = word
        if word & START_LIST:
            self._start_list(channel)
            self._core_words[number] = 0

    def _start_list(self, channel: int) -> None:
        self.list_done(self._run_list(channel))

    def _run_list(self, channel: int) -> int:
        """Run the list in a channel's registers; returns how often it raised the P3D interrupt."""
        if self.observers:
            names = [f"CMDBUF_{what}{channel}" for what in ("SIZE", "ADDR", "JUMP")]
            self._notify_observers("P3D", {name: int(self._core_words[PICA[name].offset]) for name in names})
        size_at, address_at = _LIST_WORDS[channel]
        words = self._core_words[size_at], self._core_words[address_at]
        known = self._lists.get(words)
        if known is None:
            if len(self._lists) >= _MOST_LISTS:
                self._lists.clear()
            size, address = (int(f.decode(w)) & ~15 for w, (_, f) in zip(words, _LISTS[channel], strict=True))
            known = self._lists[words] = (address, size, self.memory.offset_of(address, size))
        address, size, offset = known
        if offset is None:
            self.report("fault", "list.unmapped", f"command list {address:#010x}..{address + size:#010x} leaves memory")
            return 0
        fired = self.core.run_list(offset, size)
        if self.vram.off:
            self.vram.lose()
        return fired

    def list_done(self, fired: int) -> None:
        """A list ended and raised this many interrupts."""
        self.interrupt("P3D", fired)
        if "P3D" in self._at_work:
            self._notify_end("P3D")

    def submit(self, words: Sequence[int] | np.ndarray) -> int:
        """Run command words that are not in guest memory; returns how often they raised the P3D interrupt."""
        fired = self.core.run_words(words)
        self.list_done(fired)
        return fired

    # -- screens ------------------------------------------------------------------------------------------------------
    def screens(self) -> dict[str, Screen]:
        """The pictures of both screens."""
        return scan_out(self.memory, self.peek, self.luts, self.events, self.core.place, self.choices)
