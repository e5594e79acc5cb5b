"""Differences of what two runs ask for: events that only one has, memory, facts, command words, registers.

State stays, so a register that differs once differs in all draws behind: it is told of where the difference arises,
and again only if it becomes another one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.lookup import register_named
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.diff.alignment import Pair, align, keys_of
from pocketgpu.inspect.diff.report import Difference
from pocketgpu.inspect.diff.switch import SwitchSides
from pocketgpu.inspect.model.changes import Change, change, changes_between
from pocketgpu.inspect.model.event import Event, Range, Words
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.n3ds.command_words import registers_of
from pocketgpu.inspect.n3ds.draw_log import PLAIN, FrameLog
from pocketgpu.inspect.n3ds.tables import table_changes

MOST_MEMORY = 64
"""Loads whose bytes are looked at; of further ones it is only said that they differ."""
_NAMES = {register.offset: register.name for register in PICA}
Known = dict[Any, tuple[int, int]]


@dataclass
class Structure:
    """Looks at one frame after the other. What differed in an earlier frame is known in the next."""

    a: Inspection
    b: Inspection
    registers: Known = field(default_factory=dict)
    tables: Known = field(default_factory=dict)
    seen_tables: set[tuple[bytes, bytes]] = field(default_factory=set)
    looked: int = 0
    sought: bool = False
    lists: tuple[Sequence[Range], Sequence[Range]] = ((), ())
    sides: SwitchSides | None = None
    """What recordings of a Switch tell; None for others."""

    def frame(
        self, mine: Sequence[Event], others: Sequence[Event], logs: tuple[FrameLog, FrameLog] | None
    ) -> tuple[list[Pair], list[Difference]]:
        """The pairs of a frame's events, and what differs. logs: what draws saw, if that is known."""
        if self.sides is not None:
            keys = [self.sides.keys(side, events) for side, events in enumerate((mine, others))]
        else:
            keys = [
                _keys(mine, None if logs is None else logs[0]), _keys(others, None if logs is None else logs[1]),
            ]  # fmt: skip
        self.lists = _command_memory(mine), _command_memory(others)
        pairs = align(*keys)
        found: list[Difference] = []
        behind_gap = False
        for i, j in pairs:
            if i is None or j is None:
                (event,) = (events[n] for events, n in ((mine, i), (others, j)) if n is not None)
                text = f"only in {'A' if j is None else 'B'}: {event.title}"
                first, second = (event.address if side is None else None for side in (j, i))
                found.append(Difference("events", first, second, text, {"kind": event.kind}))
            elif keys[0][i][0] != keys[1][j][0] or logs is not None or self.sides is not None:
                same = keys[0][i][0] == keys[1][j][0]
                # Behind a draw that the other run lacks, commands lead to the same state by another way.
                if behind_gap and keys[0][i][1] == keys[1][j][1] and mine[i].facts.get("kind") != "immediate":
                    same = True
                found += self._pair(mine[i], others[j], same, logs)
            behind_gap = i is None or j is None
        return pairs, _explained(found)

    # -- one pair -----------------------------------------------------------------------------------------------------
    def _pair(
        self, a: Event, b: Event, same: bool, logs: tuple[FrameLog, FrameLog] | None
    ) -> Iterator[Difference]:  # fmt: skip
        changes: list[Change] = []
        if self.sides is not None:
            changes = self.sides.changes(a, b)
            if not changes and not same:
                changes = list(_facts(*self.sides.facts(a, b)))
        elif a.draw is not None and b.draw is not None and logs is not None:
            changes = [*self._registers(a.draw, b.draw, logs), *self._tables(a.draw, b.draw, logs)]
        elif not same and a.kind != "list":  # what is in a list is told by its draws
            changes = [*_moved(a, b), *_facts(a.facts, b.facts)]
        if same and not changes:
            return
        command = None
        if not same and a.words is not None:
            command = self._command(a.words, b.words, bool(changes), self._numbers(a, a.words, logs is not None))
        if self.sides is not None and a.kind == "load":
            found = None if same else self.sides.memory(a, b)
            if found is not None:
                yield found
            return
        if not changes and self.sides is None and command is not None and logs is None and not self.sought:
            self.sought = True  # the first is the one that matters, and going there takes a while
            changes = changes_between(self.a.seek(a.by_number).registers(), self.b.seek(b.by_number).registers())
        if a.kind == "load" and "digest" in a.facts and a.facts["digest"] != b.facts.get("digest"):
            found = self._memory(a, b)
            if found is None:  # only commands differ, which draws tell of better
                return
            yield found
        for n, one in enumerate(changes):
            detail = {"change": one.to_json()} | ({"command": command} if command is not None and not n else {})
            yield Difference("register", a.address, b.address, str(one), detail)
        if command is not None and not changes:
            text = f"word {command['word']} of the commands: {command['a'] or 'none'}, not {command['b'] or 'none'}"
            text += f" ({command['register']})" if command.get("register") else ""
            yield Difference("command", a.address, b.address, text, {"kind": a.kind, "command": command})

    def _numbers(self, event: Event, words: Words, of_list: bool) -> NDArray[Any]:
        """The register or method that each word of A's event is for, -1: not known."""
        if self.sides is not None:
            return self.sides.methods(event)
        # Entries of a 3DS's lists name registers.
        return registers_of(words.values) if of_list else np.full(len(words.values), -1)

    def _command(
        self, a: Words, b: Words | None, told: bool, numbers: NDArray[Any]
    ) -> dict[str, Any] | None:  # fmt: skip
        """The first word in which commands differ. told: what comes of it is told already. Else words do not count that
        write what is known to differ. numbers: of the registers or methods that A's words are for, -1: not known."""
        if b is None:
            return None
        shorter = min(len(a.values), len(b.values))
        wrong = np.flatnonzero(a.values[:shorter] != b.values[:shorter])
        if len(a.values) != len(b.values):
            if not told and (self.registers or self.tables or (self.sides is not None and self.sides.registers)):
                return None
            wrong = np.append(wrong, shorter)
        elif not told:
            wrong = wrong[[not self._is_known(int(n)) for n in numbers[wrong]]]
        if not len(wrong):
            return None
        place = int(wrong[0])
        found: dict[str, Any] = {"word": place}
        for side, words in (("a", a), ("b", b)):
            there = place < len(words.values)
            found[side] = f"{int(words.values[place]):#010x}" if there else None
            found[f"{side}_memory"] = _memory_of(words, place)
        number = int(numbers[place]) if place < len(numbers) else -1
        if number >= 0:
            found["register"] = self._name(number)
        return found

    def _name(self, number: int) -> str:
        return _NAMES.get(number, f"register {number:#05x}") if self.sides is None else self.sides.name(number)

    def _is_known(self, number: int) -> bool:
        """Whether a register differs at the draw at hand, or a memory that it feeds."""
        if self.sides is not None:
            return self.sides.is_known(number)
        if number in self.registers or (0 <= number < len(PLAIN) and not PLAIN[number] and bool(self.tables)):
            return True
        return _NAMES.get(number, "").startswith("CMDBUF_")

    def _registers(self, a: int, b: int, logs: tuple[FrameLog, FrameLog]) -> Iterator[Change]:
        mine, others = logs[0].registers[a], logs[1].registers[b]
        numbers = np.flatnonzero((mine != others) & PLAIN[: len(mine)])
        now = {n: (int(mine[n]), int(others[n])) for n in numbers.tolist()}
        for n, words in now.items():
            if self.registers.get(n) != words:
                name = _NAMES.get(n, f"register {n:#05x}")
                yield change(name, *words, PICA.get(n))
        self.registers = now

    def _tables(self, a: int, b: int, logs: tuple[FrameLog, FrameLog]) -> Iterator[Change]:
        differing = {
            (bank, logs[0].banks[a].get(bank, b""), logs[1].banks[b].get(bank, b""))
            for bank in logs[0].banks[a].keys() | logs[1].banks[b].keys()
            if logs[0].banks[a].get(bank) != logs[1].banks[b].get(bank)
        }
        if not differing:
            self.tables = {}
            return
        staged = any(bank.startswith("gs_") for bank, _, _ in differing)
        changes = table_changes(logs[0].tables(a), logs[1].tables(b), geometry=staged)
        now = {one.register: (one.old, one.new) for one in changes}
        yield from (one for one in changes if self.tables.get(one.register) != now[one.register])
        self.tables = now

    def _memory(self, a: Event, b: Event) -> Difference | None:
        """The first byte in which two loads differ, command lists left out; None if there is none."""
        size = min(a.writes[0].size, b.writes[0].size)
        text = f"the processor loads other bytes to {a.writes[0].address:#010x}"
        detail: dict[str, Any] = {"address": f"{a.writes[0].address:#010x}", "size": size}
        self.looked += 1
        if self.looked > MOST_MEMORY:
            return Difference("memory", a.address, b.address, text, detail)
        commands = np.zeros(size, bool)
        data = []
        for run, event, spans in ((self.a, a, self.lists[0]), (self.b, b, self.lists[1])):
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
        count = "1 byte" if len(wrong) == 1 else f"{len(wrong)} bytes"
        text = f"memory at {at:#010x} {words[0]} -> {words[1]} ({count} of {size} that are loaded)"
        return Difference("memory", a.address, b.address, text, detail)


def _keys(events: Sequence[Event], log: FrameLog | None) -> list[tuple[Hashable, ...]]:
    return [
        keys_of(event) if log is None or event.draw is None else keys_of(event, log.state_digests(event.draw))
        for event in events
    ]  # fmt: skip


def _command_memory(events: Sequence[Event]) -> list[Range]:
    """Where the command lists of a frame lie."""
    return [span for event in events if event.kind == "list" and event.words is not None for span in event.words.spans]


def _word_at(data: NDArray[np.uint8], place: int) -> str:
    return f"0x{data[place & ~3 :][:4][::-1].tobytes().hex()}"


def _moved(a: Event, b: Event) -> Iterator[Change]:
    """Bytes that are loaded to another place."""
    if a.kind == "load" and a.writes and b.writes and a.writes[0].address != b.writes[0].address:
        yield Change("load address", a.writes[0].address, b.writes[0].address)


def _facts(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Facts of two events that differ; those that are registers with their fields."""
    mine, others = _flat(a), _flat(b)
    for name in dict.fromkeys([*mine, *others]):
        one, other = mine.get(name), others.get(name)
        if one == other or name == "digest":
            continue
        was, now = _as_word(one), _as_word(other)
        if was is not None and now is not None and register_named(name) is not None:
            yield change(name, was, now, register_named(name))
        else:
            yield Change(name, 0, 0, ((name, str(one), str(other)),))


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in facts.items():
        found |= _flat(value) if isinstance(value, Mapping) else {name: value}
    return found


def _as_word(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    try:
        return int(value, 16) if isinstance(value, str) and value.startswith("0x") else None
    except ValueError:
        return None


def _memory_of(words: Words, place: int) -> str | None:
    """The address of a word."""
    rest = 4 * place
    for span in words.spans:
        if rest < span.size:
            return f"{span.address + rest:#010x}"
        rest -= span.size
    return None


def _explained(found: list[Difference]) -> list[Difference]:
    """Without what differs in whole lists, if anything else differs: that explains it."""
    others = [one for one in found if one.detail.get("kind") != "list" or one.level == "events"]
    return others or found
