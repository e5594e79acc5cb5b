"""Comparison of two runs of a Switch: registers at each event of an engine, names of command words, memory, vertices.

Registers are compared as they are at events, all classes of the channel at once. Methods whose words are data, such as
words for constant buffers and parameters of macros, are left out: they keep no state. Their data are compared as
command words, and by their consequences.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.errors import GuestMemoryError, PocketGPUError
from pocketgpu.facts.maxwell import CLASSES
from pocketgpu.facts.maxwell.pushbuffers import segment_of
from pocketgpu.inspect.decode.api import decode
from pocketgpu.inspect.decode.rows import IMMEDIATE, PARAMETER
from pocketgpu.inspect.decode.stream import PUSHBUFFER
from pocketgpu.inspect.diff.alignment import STATE_LEVELS, Pair, keys_of
from pocketgpu.inspect.diff.report import Difference
from pocketgpu.inspect.diff.sides import Compared, Sides, facts_between, first_place
from pocketgpu.inspect.diff.vertices import rows_differ
from pocketgpu.inspect.model.changes import Change, change
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.switch.inspection import SwitchInspection
from pocketgpu.inspect.switch.recorder import register_name
from pocketgpu.maxwell.host.layout import CLASS_FILES, FILE_WORDS, THREED_FILE
from pocketgpu.wording import counted

_DATA = ("LOAD_", "CALL_", "SET_MME_SHADOW_SCRATCH", "SET_FALCON", "NO_OPERATION", "PIPE_NOP")
"""Prefixes of the names of methods whose words are not state."""
_HAPPENED = {"place", "registers", "submission", "constant_words", "steps", "qmd", "entries", "bytes", "runs", "digest"}
"""Facts of an event that say how it was caused, not what it does; or that are reported better elsewhere."""
_PLACE = re.compile(r"s(\d+)/e(\d+)\+(\d+)")
Known = dict[tuple[int, int], tuple[int, int]]


def _plain() -> NDArray[np.bool_]:
    """Which words of which class are state."""
    found = np.zeros((len(CLASS_FILES), FILE_WORDS), bool)
    for file, class_id in enumerate(CLASS_FILES):
        for method in CLASSES[class_id].methods:
            if not method.name.startswith(_DATA):
                found[file, list(method.words())] = True
    return found


_PLAIN = _plain()


class _Cursor:
    """Registers of a run at its events, for events in order."""

    def __init__(self, run: SwitchInspection) -> None:
        self.run = run
        self._tick = 0
        self._files: dict[int, NDArray[np.uint32]] = {}

    def at(self, event: Event) -> NDArray[np.uint32] | None:
        """Words of all classes, (classes, 0x1000); None for events without a channel. Valid until the next call."""
        recorder = self.run.recorder
        tick = recorder.tick_of(event)
        for trace in recorder.traces[self._tick : tick]:
            if trace.channel < 0:
                continue
            files = self._files.get(trace.channel)
            if files is None:
                power_on = recorder.power_on.get(trace.channel)
                files = np.zeros_like(_PLAIN, np.uint32) if power_on is None else power_on[: len(CLASS_FILES)].copy()
                self._files[trace.channel] = files
            for one in trace.changes:
                if one.file < len(CLASS_FILES):
                    files[one.file][one.words] = one.after
        self._tick = max(self._tick, tick)
        return self._files.get(recorder.traces[tick - 1].channel)


class _Names:
    """The method of each command word of a run. The run's stream is decoded at the first use."""

    def __init__(self, run: SwitchInspection) -> None:
        self._run = run

    @cached_property
    def _decoded(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], dict[tuple[int, int], int]]:
        """For all words of pushbuffers in the order of submissions: FILE_WORDS * file + word, or -1; the words; and the
        index of the first word of each segment, by submission and entry."""
        decoded = decode(self._run.capture, switches=self._run.choices)
        rows, table = decoded.rows, decoded.stream.table
        rows = rows[table["kind"][rows["segment"]] == PUSHBUFFER]
        rows = rows[np.argsort(rows["list"], kind="stable")]
        written = ((rows["what"] == PARAMETER) | (rows["what"] == IMMEDIATE)) & (rows["block"] < len(CLASS_FILES))
        numbers = np.where(written, rows["block"].astype(np.int64) * FILE_WORDS + rows["id"], -1)
        begins = np.flatnonzero(np.diff(rows["segment"], prepend=-1))
        entries = table["entry"][rows["segment"][begins]].tolist()
        keys = zip(rows["list"][begins].tolist(), entries, strict=True)
        return numbers, rows["word"].copy(), dict(zip(keys, begins.tolist(), strict=True))

    def of(self, event: Event) -> NDArray[np.int64]:
        """For each word FILE_WORDS * file + word, or -1."""
        words = np.zeros(0, np.uint32) if event.words is None else event.words.values
        nothing = np.full(len(words), -1, np.int64)
        place = _PLACE.fullmatch(str(event.facts.get("place", "")))
        if place is None or not len(words):
            return nothing
        try:
            numbers, known, starts = self._decoded
        except PocketGPUError:  # too many words to decode; names are only for people
            return nothing
        submission, entry, word = map(int, place.groups())
        end = starts.get((submission, entry), -1) + word + 1
        own = slice(end - len(words), end)
        if own.start < 0 or not np.array_equal(known[own], words):
            return nothing  # the bytes in memory at that time are not those that the channel read
        return numbers[own]


class SwitchSides(Sides):
    """Two runs of a Switch. registers: words that differ at the last pair."""

    missing = ""
    sees_state = True
    a: SwitchInspection
    b: SwitchInspection

    def __init__(self, a: SwitchInspection, b: SwitchInspection) -> None:
        super().__init__(a, b)
        self.runs = a, b
        self._for_keys = _Cursor(a), _Cursor(b)
        self._for_pairs = _Cursor(a), _Cursor(b)
        self._names = _Names(a)
        self.registers: Known = {}

    def forget(self) -> None:
        super().forget()
        self.registers = {}

    # -- alignment ----------------------------------------------------------------------------------------------------
    def keys(self, side: int, events: Sequence[Event]) -> list[tuple[Hashable, ...]]:
        """Keys of a frame's events (`alignment.keys_of`)."""
        found = []
        for event in events:
            plain = Event(
                event.frame, event.number, event.kind, "", event.draw, None, self._does(event), event.writes, (),
                event.words,
            )  # fmt: skip
            found.append(keys_of(plain, self._state_keys(side, event)))
        return found

    @staticmethod
    def _does(event: Event) -> dict[str, Any]:
        facts = {name: value for name, value in event.facts.items() if name not in _HAPPENED}
        if event.kind == "load":
            facts["digest"] = event.facts.get("digest")
        if event.draw is None:
            return facts
        # Sizes and formats do not depend on the memory layout.
        targets = [(one["name"], one["format"], one["width"], one["height"]) for one in facts.get("targets", ())]
        facts.pop("targets", None)
        facts["programs"] = sorted(facts.get("programs", ()))
        return {"target": targets, **facts}

    def _state_keys(self, side: int, event: Event) -> tuple[Hashable, ...]:
        """Keys of the state of a draw, the strictest first: its registers; programs, vertices and targets by their
        addresses; programs and vertices; programs."""
        if event.draw is None:
            return ()
        files = self._for_keys[side].at(event)
        state = b"" if files is None else files[THREED_FILE][_PLAIN[THREED_FILE]].tobytes()
        digest = blake2b(state, digest_size=16).digest() if state else b""
        programs = repr(event.facts.get("programs"))
        keys = (digest, (programs, event.reads, event.writes), (programs, event.reads), programs)
        assert len(keys) == STATE_LEVELS
        return keys

    # -- one pair -----------------------------------------------------------------------------------------------------
    def pair(self, a: Event, b: Event, same: bool) -> Compared:
        changes = self._changes(a, b)
        if not changes and not same:
            changes = list(facts_between(*self._facts(a, b)))
        is_load = a.kind == "load"
        return Compared(changes, self._memory(a, b) if is_load and not same else None, explained=is_load)

    def sought(self, a: Event, b: Event) -> list[Change]:
        return []

    def _changes(self, a: Event, b: Event) -> list[Change]:
        """Registers that begin to differ at a pair of events, or whose difference changes."""
        mine, others = (cursor.at(event) for cursor, event in zip(self._for_pairs, (a, b), strict=True))
        if mine is None or others is None:
            return []
        places = np.argwhere((mine != others) & _PLAIN).tolist()
        now = {(file, word): (int(mine[file, word]), int(others[file, word])) for file, word in places}
        found = []
        for (file, word), words in now.items():
            if self.registers.get((file, word)) != words:
                found.append(change(register_name(file, word), *words, CLASSES[CLASS_FILES[file]].get(word)))
        self.registers = now
        return found

    def _facts(self, a: Event, b: Event) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Facts of both that say what they do; none if registers differ, as those cause the facts."""
        if self.registers or "load" in (a.kind, b.kind):
            return {}, {}
        mine, others = ({n: v for n, v in one.facts.items() if n not in _HAPPENED} for one in (a, b))
        return mine, others

    def numbers(self, event: Event) -> NDArray[np.int64]:
        """The method of each command word of A's event; -1: none, or not known."""
        return self._names.of(event)

    def is_known(self, number: int) -> bool:
        """Whether a method's register is known to differ."""
        return number >= 0 and divmod(number, FILE_WORDS) in self.registers

    @property
    def differing(self) -> bool:
        return bool(self.registers)

    def name(self, number: int) -> str:
        """The name of a method."""
        return register_name(*divmod(number, FILE_WORDS))

    # -- memory -------------------------------------------------------------------------------------------------------
    def _memory(self, a: Event, b: Event) -> Difference | None:
        """The first byte that differs in memory after loads, pushbuffers left out; None if there is none."""
        sides = [self._loaded(run, event) for run, event in zip(self.runs, (a, b), strict=True)]
        ranges = list(dict.fromkeys((*a.writes, *b.writes)))
        # Bytes that both load alike need no replay.
        ranges = [one for one in ranges if sides[0].get(one) != sides[1].get(one) or sides[0].get(one) is None]
        if not ranges:
            return None
        commands = [span for run, event in zip(self.runs, (a, b), strict=True) for span in _pushbuffers(run, event)]
        moments = [run.seek(event.by_number) for run, event in zip(self.runs, (a, b), strict=True)]
        count, total, first = 0, 0, None
        for one in sorted(ranges, key=lambda place: place.address):
            data = []
            for moment in moments:
                try:
                    data.append(np.frombuffer(moment.read(one.address, one.size), np.uint8))
                except GuestMemoryError:
                    data.append(np.zeros(0, np.uint8))
            if not len(data[0]) and not len(data[1]):
                continue
            there = [len(side) > 0 for side in data]
            wrong = data[0] != data[1] if all(there) else np.ones(one.size, bool)
            for span in commands:
                if span.overlaps(one):
                    wrong[max(span.address - one.address, 0) : max(span.end - one.address, 0)] = False
            total += one.size
            places = np.flatnonzero(wrong)
            count += len(places)
            if len(places) and first is None:
                first = one.address + int(places[0])
                words = [_word(side, int(places[0]), one) for side in data]
        if first is None:
            return None
        bytes_ = counted(count, "byte")
        text = f"memory at {first & ~3:#x} {words[0]} -> {words[1]} ({bytes_} of {total} that are loaded)"
        detail = {"first": f"{first & ~3:#x}", "a_word": words[0], "b_word": words[1], "bytes": count, "size": total}
        return Difference("memory", a.address, b.address, text, detail)

    def pixel(self, a: Event, b: Event) -> Difference | None:
        """The first differing pixel of the surfaces that events of a Switch write, target by target."""
        sides = []
        for run, event in ((self.a, a), (self.b, b)):
            moment = run.seek(event.by_number)
            surfaces = run.recorder.traces[run.tick_of(event.by_number) - 1].surfaces
            sides.append([moment.picture(surface) for surface, _ in surfaces])
        for n, (first, second) in enumerate(zip(*sides, strict=False)):
            surface, size = first.surface, first.surface.format.bytes
            if first.rows.shape != second.rows.shape or surface.format != second.surface.format:
                return Difference("pixel", a.address, b.address, f"another surface: {surface} -> {second.surface}")
            texels = [picture.rows.reshape(surface.height, -1, size) for picture in (first, second)]
            wrong = (texels[0] != texels[1]).any(axis=2)
            if not wrong.any():
                continue
            column, row = first_place(wrong)
            x, y = column // surface.grid[0], row // surface.grid[1]
            values = [surface.value(side[row, column].tobytes()) for side in texels]
            shown = [_value(value, first.is_depth) for value in values]
            text = f"{shown[0]} -> {shown[1]}"
            # Addresses of pixels are those of an event's first surface.
            places = [event.address if n else event.address.at(pixel=(x, y)) for event in (a, b)]
            text += f" at {x},{y} of {surface.name}" if n else ""
            detail = {"a_value": shown[0], "b_value": shown[1], "pixels": int(wrong.sum()), "x": x, "y": y}
            return Difference("pixel", places[0], places[1], text, {**detail, "surface": surface.name})
        return None

    def vertex(
        self, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
    ) -> tuple[Difference | None, str]:
        return first_vertex_of(self.a, self.b, mine, others, pairs)

    @staticmethod
    def _loaded(run: SwitchInspection, event: Event) -> dict[Range, bytes]:
        log: ChannelLog = run.log
        chunks = [log.chunks[update] for update in log.submissions[int(event.facts["submission"])].updates]
        return {Range(chunk.gpu_va, len(chunk.data)): bytes(chunk.data) for chunk in chunks}


def _pushbuffers(run: SwitchInspection, event: Event) -> list[Range]:
    """The memory of the pushbuffers of an event's frame."""
    found = []
    for number in run.log.submissions_of(event.frame):
        for entry in run.log.submissions[number].entries.tolist():
            address, words = segment_of(entry)
            found.append(Range(address, 4 * words))
    return found


def _word(data: NDArray[np.uint8], place: int, one: Range) -> str:
    """The aligned word around a byte, as far as it is in the range."""
    if not len(data):
        return "nothing"
    start = max(place - ((one.address + place) & 3), 0)
    return f"0x{data[start : (one.address + place & ~3) + 4 - one.address][::-1].tobytes().hex()}"


def _value(value: tuple[Any, ...], depth: bool) -> str:
    """A sample for people."""
    if depth:
        parts = zip(("depth", "stencil"), value, strict=True)
        return ", ".join(f"{name} {number:.9g}" for name, number in parts if number is not None)
    return "(" + ", ".join(f"{number:.6g}" for number in value) + ")"


# -- vertices ----------------------------------------------------------------------------------------------------------
def first_vertex_of(
    a: SwitchInspection, b: SwitchInspection, mine: Sequence[Event], others: Sequence[Event], pairs: Sequence[Pair]
) -> tuple[Difference | None, str]:
    """The first vertex of aligned draws of a frame with different outputs, None if there is none; and a sentence about
    what could not be compared."""
    missed = ""
    for i, j in pairs:
        if i is None or j is None or mine[i].draw is None or others[j].draw is None:
            continue
        try:
            first, second = a.seek(mine[i].address).vertices, b.seek(others[j].address).vertices
        except PocketGPUError as error:
            missed = missed or f"vertices of {mine[i].address} are not compared: {error.message}"
            continue
        found = rows_differ(first, second, mine[i], others[j])
        if found is not None:
            return found, missed
    return None, missed
