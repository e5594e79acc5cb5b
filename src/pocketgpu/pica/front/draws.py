"""The 3D core for Python: runs a command list, which leaves pixels in memory.

The compiled walk records draws as packets; when it stops (or has no room for more) `batch.DrawRunner` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from time import perf_counter

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.events import EventKind, EventLog
from pocketgpu.facts.choices import departures
from pocketgpu.facts.memory_map import MEMORY
from pocketgpu.lanes import Engine
from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    BANKS,
    EMIT_SLOTS,
    GEOMETRY,
    ID_SPACE,
    INLINE_SIZE,
    MAX_GROUP_WORDS,
    MAX_RECORDS,
    REGISTER_COUNT,
    WorkLayout,
)
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.observer import Observer
from pocketgpu.pica.core.stats import Stats
from pocketgpu.pica.front import command_list as walk
from pocketgpu.pica.front.batch import PIXEL_BUDGET, DrawRunner
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.front.plans import GROUP_IDS, GROUP_MASKS
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.vertex.vertex_run import VERTEX_BUDGET

# Control words that are zero at the start of each submission, and those that a flush sets to zero.
_SUBMISSION = slice(C.IMMEDIATE_OPEN // 4, C.SHADER_STEPS_LOW // 4 + 1)
_LIST_END = slice(C.PACKETS // 4, C.IMMEDIATE_OPEN // 4 + 1)
_ZEROS = np.zeros(C.size // 4, np.int32).data
# Index of each control word.
_AT = {name: offset // 4 for name, offset in C.offsets.items()}
_POSITION, _END, _STATUS, _ENTRY_INDEX, _PACKETS, _POOL_TOP, _DIRTY = (
    _AT[name] for name in ("POSITION", "END", "STATUS", "ENTRY_INDEX", "PACKETS", "POOL_TOP", "DIRTY")
)
_ALL_BANKS = (1 << len(BANK_INDEX)) - 1


class Core3D:
    """Runs command lists on guest memory. `place` names the present place in the capture, for events ("f0")."""

    def __init__(
        self,
        memory: GuestMemory,
        engine: Engine,
        events: EventLog,
        stats: Stats,
        threads: int,
        choices: Mapping[str, str],
    ) -> None:
        self.memory, self.engine, self.events, self.stats, self.choices = memory, engine, events, stats, choices
        self._walk_choices = departures(choices, *walk.WALK_CHOICES)
        self.place = ""
        self._observers: tuple[Observer, ...] = ()
        self.layout = WorkLayout(memory.work_offset, memory.work_size)
        self._static = {"layout_start": memory.work_offset, "layout_size": memory.work_size}
        arena, layout = memory.arena, self.layout
        words = lambda offset, count: arena[offset : offset + 4 * count].view(np.int32)
        self.control = words(layout.control, C.size // 4)
        self.words = self.control.data  # elements are Python ints, which is fast
        self.registers = words(layout.registers, REGISTER_COUNT).view(np.uint32)
        arena[layout.effects : layout.effects + ID_SPACE] = walk.effect_table(choices)
        regions = words(layout.regions, 3 * len(memory.regions)).view(np.uint32)
        assert len(memory.regions) == len(MEMORY) == 4
        regions[:] = [v for region, offset in memory.regions for v in (region.base, region.size, offset)]
        # Eight ids, then their eight masks, and so on; the padding of the last eight has mask 0.
        padded = -(-len(GROUP_IDS) // 8) * 8
        assert padded <= MAX_GROUP_WORDS
        table = words(layout.group_table, 2 * padded).reshape(-1, 2, 8)
        table[:] = 0
        for half, column in enumerate((GROUP_IDS, GROUP_MASKS)):
            table[:, half].flat[: len(column)] = column.astype(np.uint32).view(np.int32)
        self._group_words = padded
        self.runner = DrawRunner(memory, engine, self.layout, self.control, events, stats, threads, choices)
        self.reset_control()
        for offset, size in self.layout.first_used:
            memory.populate(offset, size)

    @property
    def observers(self) -> tuple[Observer, ...]:
        """Observers of lists and draws."""
        return self._observers

    @observers.setter
    def observers(self, observers: tuple[Observer, ...]) -> None:
        self._observers = self.runner.observers = observers

    def reset(self) -> None:
        """As after power-on: registers, banks and the unit's state are zero. Prepared draw state is kept."""
        self.registers[:] = 0
        for bank in BANKS:
            self.bank(bank.name)[:] = 0
        self.reset_control()
        self.runner.reset()

    def reset_control(self) -> None:
        """Clear staged words, versions and carried vertices; banks and registers stay."""
        self.control[:] = 0
        self._set("POOL_TOP", self.layout.pool)
        self._set("GROUP_WORDS", self._group_words)
        unit = self.memory.arena[self.layout.geometry : self.layout.geometry + GEOMETRY.size].view(np.int32)
        unit[:] = 0
        buffers = GEOMETRY.EMIT_BUFFERS // 4
        unit[buffers : buffers + EMIT_SLOTS] = range(MAX_RECORDS, MAX_RECORDS + EMIT_SLOTS)
        self.touch_banks()

    def bank(self, name: str) -> np.ndarray:
        """The live words of a bank (uint32); call `touch_banks` after writing."""
        offset = self.layout.bank(name)
        return self.memory.arena[offset : offset + 4 * BANKS[BANK_INDEX[name]].words].view(np.uint32)

    def touch_banks(self) -> None:
        """All banks have new contents."""
        self._set("GS_UPLOADS", self._get("GS_UPLOADS") + 1)
        self.bank("gs_uniform_marks")[:] = self._get("GS_UPLOADS") & 0xFFFFFFFF
        self._copy_banks()

    def _copy_banks(self) -> None:
        """Every bank must be copied again for the next packet that reads it."""
        self.words[_DIRTY] = _ALL_BANKS

    def _get(self, name: str) -> int:
        word: int = self.words[_AT[name]]
        return word

    def _set(self, name: str, value: int) -> None:
        self.words[_AT[name]] = value

    def _report(self, kind: EventKind, id: str, message: str) -> None:
        self.events.report(kind, id, message, self.place)

    @cached_property
    def _walk(self) -> Callable[..., None]:
        return self.engine.get(walk.walk, **self._static, choices=self._walk_choices)

    # -- command lists ----------------------------------------------------------------------------------------------
    def run_list(self, offset: int, size: int, complete: bool = True) -> int:
        """Run the command list at an arena range; returns how often it raised the P3D interrupt.

        complete: the list should end with FINALIZE; otherwise the console hangs.
        """
        for one in self._observers:
            one.list_starts(offset, size)
        fired = self._run_list(offset, size, complete)
        for one in self._observers:
            one.list_ended(offset, size, self._get("JUMPS"), self._get("IGNORED"))
        return fired

    def _run_list(self, offset: int, size: int, complete: bool) -> int:
        started = perf_counter()
        words, run = self.words, self._walk
        words[_SUBMISSION] = _ZEROS[_SUBMISSION]
        words[_POSITION], words[_END] = offset, offset + size
        self.runner.pixels = 0
        status, before = walk.FULL, (offset, 0)
        while status == walk.FULL:
            words[_STATUS] = walk.RUNNING
            run()
            status = words[_STATUS]
            self.stats.seconds["list"] += perf_counter() - started
            self._flush()
            if status == walk.FULL:
                started = perf_counter()
                place = (words[_POSITION], words[_ENTRY_INDEX])
                if place == before:
                    status = walk.BUDGET  # not even one draw fits: impossible with the pool's size
                before = place
            if self.runner.exhausted:
                message = f"the command list draws more than {PIXEL_BUDGET} pixels or {VERTEX_BUDGET} vertices"
                self._report("hang", "list.endless", message)
                break
        if status == walk.ENDED and complete and not self._get("INTERRUPTS"):
            self._report("hang", "list.no-finalize", "the command list ends without FINALIZE: no P3D interrupt")
        elif status == walk.BUDGET:
            self._report("hang", "list.endless", "the command list does not come to an end (it jumps in circles?)")
        elif status == walk.UNMAPPED_JUMP:
            address = self._get("FAULT") & 0xFFFFFFFF
            self._report("fault", "list.unmapped-jump", f"command list jumps to {address:#010x}, where no memory is")
        return self._get("INTERRUPTS")

    def run_words(self, words: Sequence[int] | np.ndarray) -> int:
        """Run command-list words that are not in guest memory; returns how often the P3D interrupt was raised.

        :raises UsageError: more words than the scratch area holds.
        """
        data = np.asarray(words, np.uint32)
        place = self.memory.arena[self.layout.inline : self.layout.inline + data.nbytes]
        if data.nbytes > INLINE_SIZE:
            raise UsageError(f"a list of {len(data)} words is too long: at most {INLINE_SIZE // 4} words fit")
        place[:] = data.view(np.uint8)
        return self.run_list(self.layout.inline, data.nbytes, complete=False)

    def _flush(self) -> None:
        """Run all recorded packets and empty the list."""
        words = self.words
        count = words[_PACKETS]
        if count and not self._observers:
            self.runner.run(count, self.place)
        elif count:
            before = self.stats.draws
            self._draw(self._observers, 0, count, before)
            self.stats.draws = before + count  # draws that an observer skipped count too
        words[_LIST_END] = _ZEROS[_LIST_END]
        words[_POOL_TOP] = self.layout.pool
        words[_DIRTY] = _ALL_BANKS

    def _draw(self, observers: tuple[Observer, ...], first: int, end: int, before: int) -> None:
        """Run packets first .. end-1, or pass them to the first observer. before: draws before packet 0."""
        if observers:
            packets = DrawPackets(self.memory.arena, self.layout, first, end, self.place)
            observers[0].draws(packets, lambda low, high: self._draw(observers[1:], first + low, first + high, before))
        else:
            self.stats.draws = before + first
            self.runner.run(end, self.place, first)

    def see_again(self, packets: DrawPackets, draw: int) -> None:
        """Restore registers and banks as they were when a draw was recorded; the walk has gone further since."""
        self.registers[:] = packets.registers[draw]
        for bank in BANKS:
            version = int(packets.versions(bank.name)[draw])
            if version and bank.name != "gs_uniform_marks":
                self.bank(bank.name)[:] = np.frombuffer(packets.contents(version, bank.words), np.uint32)
