"""What two runs of a 3DS ask for: registers and memories at each draw, bytes that are loaded, vertices."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.diff.alignment import Pair, keys_of
from pocketgpu.inspect.diff.report import Difference
from pocketgpu.inspect.diff.sides import Compared, Sides, first_place
from pocketgpu.inspect.diff.vertices import first_vertex
from pocketgpu.inspect.model.changes import Change, change
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.n3ds.command_words import registers_of
from pocketgpu.inspect.n3ds.draw_log import PLAIN, DrawLog, FrameLog
from pocketgpu.inspect.n3ds.inspection import N3dsInspection
from pocketgpu.inspect.n3ds.resources.fifo_tables import table_changes
from pocketgpu.wording import counted

MOST_MEMORY = 64
"""Most loads whose bytes are compared; further ones are only reported as different."""
_NAMES = {register.offset: register.name for register in PICA}
Known = dict[Any, tuple[int, int]]


class N3dsSides(Sides):
    """Two runs of a 3DS; they run again, with a log of the state of draws."""

    missing = ""
    sees_state = True
    a: N3dsInspection
    b: N3dsInspection

    def __init__(self, a: N3dsInspection, b: N3dsInspection) -> None:
        self._recorders = DrawLog(), DrawLog()
        super().__init__(
            *(N3dsInspection(run.capture, run.choices, run.evaluator, log, forced=run.forced)
              for run, log in zip((a, b), self._recorders, strict=True))
        )  # fmt: skip
        self._logs = FrameLog(), FrameLog()
        self._registers: Known = {}
        self._tables: Known = {}
        self._looked = 0
        self._lists: tuple[Sequence[Range], Sequence[Range]] = ((), ())

    def begin(self, mine: Sequence[Event], others: Sequence[Event]) -> None:
        self._logs = self._recorders[0].last, self._recorders[1].last
        self._lists = _command_memory(mine), _command_memory(others)

    def forget(self) -> None:
        super().forget()
        self._registers, self._tables, self._looked = {}, {}, 0

    def keys(self, side: int, events: Sequence[Event]) -> list[tuple[Hashable, ...]]:
        log = self._logs[side]
        return [keys_of(event, () if event.draw is None else log.state_digests(event.draw)) for event in events]

    # -- one pair -----------------------------------------------------------------------------------------------------
    def pair(self, a: Event, b: Event, same: bool) -> Compared:
        if a.draw is not None and b.draw is not None:
            return Compared([*self._changed_registers(a.draw, b.draw), *self._changed_tables(a.draw, b.draw)])
        found = super().pair(a, b, same)
        if not same and a.kind == "load" and "digest" in a.facts and a.facts["digest"] != b.facts.get("digest"):
            found.memory = self._memory(a, b)
            found.explained = found.memory is None  # only commands differ: these are reported at draws
        return found

    def sought(self, a: Event, b: Event) -> list[Change]:
        return []

    # -- command words ------------------------------------------------------------------------------------------------
    def numbers(self, event: Event) -> NDArray[Any]:
        # Entries of lists name registers.
        return np.zeros(0, np.int64) if event.words is None else registers_of(event.words.values)

    @property
    def differing(self) -> bool:
        return bool(self._registers or self._tables)

    def is_known(self, number: int) -> bool:
        if number in self._registers or (0 <= number < len(PLAIN) and not PLAIN[number] and bool(self._tables)):
            return True
        return _NAMES.get(number, "").startswith("CMDBUF_")

    def name(self, number: int) -> str:
        return _NAMES.get(number, super().name(number))

    # -- state --------------------------------------------------------------------------------------------------------
    def _changed_registers(self, a: int, b: int) -> Iterator[Change]:
        mine, others = self._logs[0].registers[a], self._logs[1].registers[b]
        numbers = np.flatnonzero((mine != others) & PLAIN[: len(mine)])
        now = {n: (int(mine[n]), int(others[n])) for n in numbers.tolist()}
        for n, words in now.items():
            if self._registers.get(n) != words:
                name = _NAMES.get(n, f"register {n:#05x}")
                yield change(name, *words, PICA.get(n))
        self._registers = now

    def _changed_tables(self, a: int, b: int) -> Iterator[Change]:
        differing = {
            (bank, self._logs[0].banks[a].get(bank, b""), self._logs[1].banks[b].get(bank, b""))
            for bank in self._logs[0].banks[a].keys() | self._logs[1].banks[b].keys()
            if self._logs[0].banks[a].get(bank) != self._logs[1].banks[b].get(bank)
        }
        if not differing:
            self._tables = {}
            return
        staged = any(bank.startswith("gs_") for bank, _, _ in differing)
        changes = table_changes(self._logs[0].tables(a), self._logs[1].tables(b), geometry=staged)
        now = {one.register: (one.old, one.new) for one in changes}
        yield from (one for one in changes if self._tables.get(one.register) != now[one.register])
        self._tables = now

    def _memory(self, a: Event, b: Event) -> Difference | None:
        """The first byte in which two loads differ, command lists left out; None if there is none."""
        size = min(a.writes[0].size, b.writes[0].size)
        text = f"the processor loads other bytes to {a.writes[0].address:#010x}"
        detail: dict[str, Any] = {"address": f"{a.writes[0].address:#010x}", "size": size}
        self._looked += 1
        if self._looked > MOST_MEMORY:
            return Difference("memory", a.address, b.address, text, detail)
        commands = np.zeros(size, bool)
        data = []
        for run, event, spans in ((self.a, a, self._lists[0]), (self.b, b, self._lists[1])):
            place = event.writes[0]
            data.append(np.frombuffer(run.seek(event.by_number).read(place.address, size), np.uint8))
            for span in spans:
                commands[max(span.address - place.address, 0) : max(span.end - place.address, 0)] = True
        wrong = np.flatnonzero((data[0] != data[1]) & ~commands)
        if not len(wrong):
            return None if commands.any() else Difference("memory", a.address, b.address, text, detail)
        first = int(wrong[0])
        words = [_word_at(one, first) for one in data]
        at = a.writes[0].address + (first & ~3)
        detail |= {"first": f"{at:#010x}", "a_word": words[0], "b_word": words[1], "bytes": len(wrong)}
        count = counted(len(wrong), "byte")
        text = f"memory at {at:#010x} {words[0]} -> {words[1]} ({count} of {size} that are loaded)"
        return Difference("memory", a.address, b.address, text, detail)

    def pixel(self, a: Event, b: Event) -> Difference | None:
        if a.draw is None:
            return None
        mine, others = self.a.seek(a.by_number).target, self.b.seek(b.by_number).target
        if mine is None or others is None:
            return None
        return _texels((a, b), mine, others) or _depths((a, b), mine, others)

    def vertex(
        self, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
    ) -> tuple[Difference | None, str]:
        return first_vertex(self.a, self.b, mine, others, pairs), ""


def _texels(events: tuple[Event, Event], a: Any, b: Any) -> Difference | None:
    """The first differing pixel of two targets, in order of rows of memory."""
    mine, others = a.rows, b.rows
    if mine.shape != others.shape or not (wrong := (mine != others).any(axis=-1)).any():
        return None
    column, row = first_place(wrong)
    values = ["#" + bytes(side[row, column].tolist()).hex() for side in (mine, others)]
    first, second = (
        event.address.at(pixel=(column, target.row(row))) for event, target in zip(events, (a, b), strict=True)
    )  # fmt: skip
    detail = {"a_value": values[0], "b_value": values[1], "pixels": int(wrong.sum())}
    return Difference("pixel", first, second, f"{values[0]} -> {values[1]}", detail)


def _depths(events: tuple[Event, Event], a: Any, b: Any) -> Difference | None:
    """The first differing pixel of two depth buffers."""
    mine, others = a.depth, b.depth
    if mine is None or others is None or mine.shape != others.shape or not (wrong := mine != others).any():
        return None
    column, row = first_place(wrong)
    values = [{name: int(side[row, column][name]) for name in ("depth", "stencil")} for side in (mine, others)]
    text = f"depth {values[0]['depth']:#x} -> {values[1]['depth']:#x}"
    if values[0]["stencil"] != values[1]["stencil"]:
        text += f", stencil {values[0]['stencil']} -> {values[1]['stencil']}"
    text += f" at column {column}, row {row} of the buffer"
    detail = {"a_value": values[0], "b_value": values[1], "pixels": int(wrong.sum()), "column": column, "row": row}
    return Difference("pixel", events[0].address, events[1].address, text, detail)


def _command_memory(events: Sequence[Event]) -> list[Range]:
    """The memory of a frame's command lists."""
    return [span for event in events if event.kind == "list" and event.words is not None for span in event.words.spans]


def _word_at(data: NDArray[np.uint8], place: int) -> str:
    return f"0x{data[place & ~3 :][:4][::-1].tobytes().hex()}"


__all__ = ["N3dsSides"]
