"""The compiled store of register writes, which also runs fills and transfers that ran before.

Programs clear the same buffers and transfer the same pictures every frame. The first time Python checks the registers,
and prepares the work. Then the registers with their work are an entry of a table, and the next start with the same
registers stays in native code. What needs Python at every start (observers, listeners, video memory that is off) runs
without the table.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.lanes import I32, I64, U8, Lang, Value, kernel
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.layout import (
    EXTERNAL_WORDS,
    MAX_REPEATED,
    MAX_UNITS_RUN,
    MAX_WRITES,
    REPEATED,
    WorkLayout,
)
from pocketgpu.pica.engines.work import Work
from pocketgpu.pica.memory.guest import GuestMemory

PICA_FIRST = (PICA.base - EXTERNAL.base) // 4
"""Where the 3D core's registers are among the external words."""

# The kind of a word: a plain store (here, or to a register of the 3D core), the framebuffer select of a display, the
# control register of a fill or of the transfer engine, anything else that is more than a store (here, or likewise),
# outside the GPU block, a mirror of another register, no register.
PLAIN, CORE_PLAIN, SELECT, UNIT, TRIGGER, CORE, ELSEWHERE, MIRROR, HOLE = range(9)

Word = TypeVar("Word", Value, int)

SELECT_KEPT = EXTERNAL["PDC0_SELECT"]["current"].mask
SELECT_FLAGS = sum(EXTERNAL["PDC0_SELECT"][name].mask for name in ("h_irq", "v_irq", "error_irq"))
_SELECT_PULSE = EXTERNAL["PDC0_SELECT"]["reset_fifo"].mask

UNITS = {
    name: (EXTERNAL[first].offset // 4, EXTERNAL[f"{name}_CONTROL"].offset // 4)
    for name, first in (("PSC0", "PSC0_START"), ("PSC1", "PSC1_START"), ("PPF", "PPF_INPUT_ADDRESS"))
}
"""For each unit: the word index of its first register, and of its control register."""
_START, _FILL_FINISHED = (EXTERNAL["PSC0_CONTROL"][name].mask for name in ("start", "finished"))
_MOVE_FINISHED = EXTERNAL["PPF_CONTROL"]["finished"].mask
assert EXTERNAL["PPF_CONTROL"]["start"].mask == _START
_WORDS = 16
"""External words that are compared, from a unit's first register on. `_COMPARED`: where those of the unit end."""
_COMPARED = {
    name: max(offset // 4 for register, offset in EXTERNAL.places if register.startswith(f"{name}_")) + 1
    for name in UNITS
}
assert all(end - UNITS[name][0] <= _WORDS for name, end in _COMPARED.items())


def selected(word: Word, current: Word) -> Word:
    """What PDCn_SELECT holds after a write: ones clear interrupt flags; the display uses the rest."""
    taken = word & ~(SELECT_FLAGS | SELECT_KEPT | _SELECT_PULSE)
    return taken | (current & ~word & SELECT_FLAGS) | (current & SELECT_KEPT)


class _Store:
    """The parts of `store_writes`. index: of the external word that is written; old, new: what it holds and gets."""

    def __init__(self, k: Lang, layout: WorkLayout, count: Value) -> None:
        self.k, self.layout, self.count = k, layout, count
        self.ran = k.var(0)

    def register(self, index: Value) -> Value:
        """The offset of an external word."""
        return self.k.to_i64(index << 2) + self.layout.external

    def start(self, index: Value, old: Value, new: Value) -> Value:
        """Write a control register whose unit starts; whether its work is in the table, and done."""
        k, layout = self.k, self.layout
        moves = index == UNITS["PPF"][1]
        finished = k.select(moves, k.i32(_MOVE_FINISHED), _FILL_FINISHED)
        first = k.select(index == UNITS["PSC0"][1], k.i32(UNITS["PSC0"][0]), UNITS["PSC1"][0])
        first = k.select(moves, UNITS["PPF"][0], first)
        place = self.register(index)
        writable = k.load(I32, k.to_i64(index << 2) + layout.external_writable)
        word = (new & writable & ~finished) | (new & old & finished)
        k.store(I32, place, word)
        done, number = k.var(False), k.var(0)
        for _ in k.loop(lambda: ~done.value & (number.value < self.count)):
            entry = k.to_i64(number.value * REPEATED.size) + layout.repeated
            same = (k.load(I32, entry + REPEATED.CONTROL) == index) & self._same(entry, self.register(first))
            for _ in k.when(same):
                self._run(entry, moves)
                k.store(I32, k.to_i64(self.ran.value << 2) + layout.units_run, number.value)
                self.ran.value = self.ran.value + 1
                k.store(I32, place, (word & ~_START) | finished)
                done.value = True
            number.value = number.value + 1
        return done.value

    def _same(self, entry: Value, registers: Value) -> Value:
        k = self.k
        difference: Value | None = None
        for at in range(0, 4 * _WORDS, 32):
            wanted, mask = (k.load(I32, entry + (place + at), lanes=8) for place in (REPEATED.WORDS, REPEATED.MASKS))
            apart = (k.load(I32, registers + at, lanes=8) ^ wanted) & mask
            difference = apart if difference is None else difference | apart
        assert difference is not None
        return ~k.any(difference != 0)

    def _run(self, entry: Value, moves: Value) -> None:
        k = self.k
        places = (REPEATED.HANDLE, REPEATED.PLACES, REPEATED.PLACES + 8)
        handle, place, other = (k.load(I64, entry + at) for at in places)
        numbers = [k.load(I32, entry + (REPEATED.NUMBERS + 4 * i)) for i in range(4)]
        for _ in k.when(moves):
            k.invoke(handle, place, other, *numbers)
        for _ in k.when(~moves):
            k.invoke(handle, place, *numbers)


@kernel(1, first=I32, count=I32, repeated=I32)
def store_writes(k: Lang, first: Value, count: Value, repeated: Value, *, layout_start: int, layout_size: int) -> None:
    """Store pending writes from `first` on until one is more than a store; WRITE_INDEX is its index (or `count`).

    Unwritable bits keep their value. Starts of units whose work is among the first `repeated` entries of the table run
    it: UNITS_RUN of them, their entries are in `units_run`.
    """
    layout = WorkLayout(layout_start, layout_size)
    store = _Store(k, layout, repeated)
    i, going = k.var(first), k.var(True)
    for _ in k.loop(lambda: going.value & (i.value < count)):
        at = k.to_i64(i.value << 2)
        index = (k.load(I32, at + layout.writes) - EXTERNAL.base).lsr(2)
        inside = index.below(EXTERNAL_WORDS)
        index = k.select(inside, index, 0)
        kind = k.load(U8, k.to_i64(index) + layout.external_kinds)
        new = k.load(I32, at + (layout.writes + 4 * MAX_WRITES))
        going.value = inside & (kind <= SELECT)
        for _ in k.when(inside & (kind <= CORE_PLAIN)):
            place = k.to_i64(index << 2)
            writable = k.load(I32, place + layout.external_writable)
            register = place + k.to_i64(k.select(kind == PLAIN, layout.external, layout.registers - 4 * PICA_FIRST))
            k.store(I32, register, (k.load(I32, register) & ~writable) | (new & writable))
        for _ in k.when(inside & (kind == SELECT)):
            register = store.register(index)
            k.store(I32, register, selected(new, k.load(I32, register)))
        usual = (repeated > 0) & (store.ran.value < MAX_UNITS_RUN) & ((new & _START) != 0)
        for _ in k.when(inside & (kind == UNIT) & usual):
            going.value = store.start(index, k.load(I32, store.register(index)), new)
        i.value = i.value + k.select(going.value, 1, 0)
    k.store(I32, layout.control + C.WRITE_INDEX, i.value)
    k.store(I32, layout.control + C.UNITS_RUN, store.ran.value)


_HEAD = Struct("=qqqiiiii")
_ENTRY_WORDS, _ENTRY_MASKS = (slice(at // 4, at // 4 + _WORDS) for at in (REPEATED.WORDS, REPEATED.MASKS))
assert (REPEATED.PLACES, REPEATED.NUMBERS, REPEATED.CONTROL) == (8, 24, 40)


@cache
def _masks(unit: str, control: int) -> NDArray[np.uint32]:
    """Which bits of the external words from a unit's first register on count; control: of its control register."""
    first, at = UNITS[unit]
    masks = np.zeros(_WORDS, np.uint32)
    masks[: _COMPARED[unit] - first] = 0xFFFFFFFF
    masks[at - first] = control
    return masks


class Repeated(NamedTuple):
    """What Python notes when work was repeated. written: an arena range; traffic: bytes for the traffic counters."""

    unit: str
    phase: str
    written: tuple[int, int]
    traffic: tuple[tuple[str, int], ...]
    size: int


class RepeatedWork:
    """The table of `store_writes`. It stays when the machine is reset, like prepared fills and transfers."""

    def __init__(self, memory: GuestMemory, layout: WorkLayout) -> None:
        entries = memory.arena[layout.repeated : layout.repeated + MAX_REPEATED * REPEATED.size]
        self._words = entries.reshape(MAX_REPEATED, -1).view(np.uint32)
        self._run = memory.words(layout.units_run, MAX_UNITS_RUN).data
        self._works: list[Repeated] = []
        self._next = 0

    def __len__(self) -> int:
        return len(self._works)

    def add(self, unit: str, work: Work, words: NDArray[np.uint32], control: int) -> None:
        """The work of a unit with these external registers. control: the bits of its control register that count. A
        full table loses its oldest entry."""
        number, self._next = self._next, (self._next + 1) % MAX_REPEATED
        traffic = tuple((f"{unit}_{side}", size) for side, size in (("READ", work.read), ("WRITE", work.made)) if size)
        phase = "transfer" if unit == "PPF" else "fill"
        self._works[number : number + 1] = [Repeated(unit, phase, work.written, traffic, work.read + work.made)]
        first, at = UNITS[unit]
        masks = _masks(unit, control)
        row = self._words[number]
        row[_ENTRY_WORDS] = words[first : first + _WORDS]
        row[_ENTRY_MASKS] = masks
        places = (*work.places, 0)[:2]
        _HEAD.pack_into(row.data, 0, work.handle, *places, *work.numbers, at)

    def ran(self, count: int) -> list[Repeated]:
        """What the last call of `store_writes` ran, in order; it left the number."""
        return [self._works[number] for number in self._run[:count]]
