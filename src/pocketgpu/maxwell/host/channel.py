"""One channel: its queue of submissions, its engines, and what happens when the compiled parser stops.

The parser runs plain methods without Python. It returns here for methods with an effect, for complete inline data, for
something to report, and at the end of its pieces of pushbuffer.

Source: NVIDIA's header of the channel class A06F for GPFIFO entries; recorded drivers for what spans them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import SUBCHANNELS
from pocketgpu.facts.maxwell.pushbuffers import ENTRY, segment_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.host import stops
from pocketgpu.maxwell.host.dispatch import CODE, block_of
from pocketgpu.maxwell.host.layout import (
    BOUND_WORDS,
    CHANNEL,
    CHANNEL_LAYOUT,
    CLASS_FILES,
    COUNTER,
    COUNTERS,
    DRAW_STATE,
    FILE_WORDS,
    FILES,
    FRONT_END_FILES,
    HOST_FILE,
    MACROS,
    MAX_RUNS,
    OTHER_FILE,
    RUN,
    STAGING_SIZE,
    THREED_FILE,
    WorkLayout,
)
from pocketgpu.maxwell.host.methods import HostMethods
from pocketgpu.maxwell.host.observer import Segment
from pocketgpu.maxwell.host.waits import Wait
from pocketgpu.maxwell.mme.states import BUSY

if TYPE_CHECKING:
    from pocketgpu.maxwell.engines.common.base import Effect, Engine
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.maxwell.memory.places import Offsets

WORD_BUDGET = 1 << 28
"""Words of pushbuffer in one submission, more than a gigabyte of them."""
INLINE_LIMIT = 256 << 20
"""Bytes of inline data that one upload may have."""

MOST_EFFECTS_SHIFT = 17
"""A method that an engine acts on costs a macro 1 / 2^17 of its instruction budget."""
BOUND_SUBCHANNELS = 8
_QUICK = CHANNEL.QUICK // 4
_MACRO_STATE, _MACRO_LEFT = CHANNEL.MME_STATE // 4, CHANNEL.MME_BUDGET // 4
_OPCODE = ENTRY["OPCODE"]
_IDLE_OPCODES = _OPCODE.values.numbers("NOP", "GP_CRC", "PB_CRC")
"""Control entries that have nothing to do."""

# Errors that the parser found: kind of event, id, message.
_ODD = {
    "missing_parameter": ("fault", "mme.missing_parameter", "a macro fetches a parameter that never comes; it gets 0"),
    "leftover_parameter": ("fault", "mme.leftover_parameter", "a parameter for a macro that does not wait for one"),
    "branch_in_slot": ("warning", "mme.branch_in_slot", "a branch in the delay slot of a branch"),
    "instruction": ("fault", "mme.instruction", "an instruction or an address that the macro engine does not have"),
    "macro_method": ("fault", "mme.host_method", "a macro sends a method of the host"),
    "macro_call": ("fault", "mme.nested_call", "a macro calls a macro"),
    "ram_overflow": ("fault", "mme.ram", "a load beyond the end of the macro engine's memory"),
    "header": ("fault", "channel.illegal_header", "a method header of a reserved form"),
    "inline_data": ("warning", "inline.not_expected", "inline data without a launch that expects it"),
    "constant": ("fault", "channel.constant_unmapped", "words for a constant buffer at an unmapped address"),
}


@dataclass
class Submission:
    """GPFIFO entries of one submission; `next` is the first that the parser has not been given."""

    number: int
    entries: NDArray[np.uint64]
    next: int = 0
    words: int = 0


@dataclass(frozen=True, eq=False)
class ChannelState:
    """The state of a channel; see `Channel.save`. block: bytes of its part of the work area. never_bound: subchannels
    that no class was bound to yet. pieces: inline data received so far, by class. engines: the Python state of each
    engine, by register file."""

    block: NDArray[np.uint8]
    never_bound: frozenset[int]
    pieces: tuple[tuple[NDArray[np.uint8], ...], ...]
    reference: int
    waiting: Wait | None
    yielded: bool
    submission: int
    queue: tuple[Submission, ...]
    fresh: bool
    engines: dict[int, object]

    def same(self, other: ChannelState) -> bool:
        """Whether another state is the same; False if that cannot be told, because data is on its way."""
        if any(self.pieces) or any(other.pieces) or self.queue or other.queue or self.waiting or other.waiting:
            return False
        return (
            (self.never_bound, self.reference, self.yielded, self.fresh)
            == (other.never_bound, other.reference, other.yielded, other.fresh)
            and np.array_equal(self.block, other.block)
            and _alike(self.engines, other.engines)
        )


def _alike(one: Any, two: Any) -> bool:
    """Whether two values that engines saved are the same; draws say so of themselves."""
    if hasattr(one, "alike"):
        return type(one) is type(two) and bool(one.alike(two))
    if isinstance(one, dict):
        return isinstance(two, dict) and one.keys() == two.keys() and all(_alike(one[key], two[key]) for key in one)
    if isinstance(one, tuple | list):
        return type(one) is type(two) and len(one) == len(two) and all(map(_alike, one, two))
    return bool(one == two)


class Channel:
    """A channel; the machine makes it. `id`: the number that programs submit to; `index`: its position in the work
    area."""

    def __init__(self, machine: GM20B, id: int, index: int) -> None:
        self.machine, self.id, self.index = machine, id, index
        base = machine.layout.channel(index)
        arena = machine.memory.arena
        part = lambda offset, size: arena[base + offset : base + offset + size]
        part(0, CHANNEL_LAYOUT.staging)[:] = 0  # an earlier machine may have used it
        self.state = part(CHANNEL_LAYOUT.state, CHANNEL.size).view(np.int32)
        self._words = self.state.data
        first = CHANNEL.STATUS // 4
        self._stop_words = self._words[first : first + 7]
        unsigned = part(CHANNEL_LAYOUT.state, CHANNEL.size).view(np.uint32).data
        self.counters = part(CHANNEL_LAYOUT.counters, 8 * len(COUNTERS)).view(np.int64)
        self._constants = self.counters[COUNTER["constbuf_words_inline"] // 8 :].data
        self._version = self._stamped = -1
        self._place = ""  # valid while the parser does not run
        self.macro_counts = part(CHANNEL_LAYOUT.macro_counts, 8 * MACROS).view(np.int64)
        size = 4 * FILE_WORDS * FILES
        self.files = part(CHANNEL_LAYOUT.registers, size).view(np.uint32).reshape(FILES, FILE_WORDS)
        self.shadows = part(CHANNEL_LAYOUT.shadows, size).view(np.uint32).reshape(FILES, FILE_WORDS)
        self._bound = part(CHANNEL_LAYOUT.bound, 4 * BOUND_WORDS).view(np.uint32)
        self.mme_code = part(CHANNEL_LAYOUT.mme_code, 4 * machine.ram_words).view(np.uint32)
        self.mme_starts = part(CHANNEL_LAYOUT.mme_starts, 4 * MACROS).view(np.uint32)
        self.mme_known = part(CHANNEL_LAYOUT.mme_known, 4 * MACROS).view(np.uint32)
        """1 for each of `mme_starts` that was loaded."""
        self._runs = part(CHANNEL_LAYOUT.runs, RUN.size * MAX_RUNS).view(np.int32).reshape(MAX_RUNS, RUN.size // 4)
        self._staging = part(CHANNEL_LAYOUT.staging, FRONT_END_FILES * STAGING_SIZE).reshape(FRONT_END_FILES, -1)
        self._pieces: list[list[NDArray[np.uint8]]] = [[] for _ in range(FRONT_END_FILES)]
        self._inline_words: list[list[Offsets]] = [[] for _ in range(FRONT_END_FILES)]
        self.inline_words: Offsets | None = None
        """Arena offsets of the inline data's words while an engine receives it; None unless an observer wants them."""
        self.host_registers = self.files[HOST_FILE]
        self.reference = 0
        """The number that the last SET_REFERENCE published."""
        self.waiting: Wait | None = None
        self.yielded = False
        self.submission = 0
        self._queue: deque[Submission] = deque()
        self._fresh = True
        self._never_bound = set(range(BOUND_SUBCHANNELS))
        self._bind_unbound()
        self._effects: dict[int, Effect] = {}
        self.engines: dict[int, Engine] = {}
        for file, class_id in enumerate(CLASS_FILES):
            made = machine.engine_classes.get(class_id)
            if made is not None:
                engine = self.engines[file] = made(machine, id, self.files[file])
                self._listen(file, self._forced(file, engine.effects))
                machine.defer(file, engine.deferred)
                machine.defer(file, engine.drawing, "draw")
                if engine.drawing:
                    first = CHANNEL.DRAW_TOPOLOGY // 4
                    engine.attach(unsigned[first : first + len(DRAW_STATE)], self._bound)
                    self._drawing = engine
        self.shadows[:] = self.files  # at power-on the shadow RAM equals the registers
        self._listen(HOST_FILE, HostMethods(self).effects)

    def _forced(self, file: int, effects: Mapping[int, Effect]) -> Mapping[int, Effect]:
        """The effects of an engine, with the registers that the machine was told to force."""
        if not self.machine.forced or file != THREED_FILE:
            return effects
        from pocketgpu.maxwell.host.forced import forced_effects

        return forced_effects(effects, self.files[file], self.machine.forced, lambda: self.place)

    def _listen(self, file: int, effects: Mapping[int, Effect]) -> None:
        self._effects.update({file * FILE_WORDS + word: effect for word, effect in effects.items()})
        self.machine.ask(file, effects)

    # -- state words ------------------------------------------------------------------------------------------------
    def get(self, name: str, index: int = 0) -> int:
        """A word of the channel's state by its name in `layout.CHANNEL`; `index`: which one, for names with several
        words."""
        return int(self._words[getattr(CHANNEL, name) // 4 + index])

    def put(self, name: str, value: int, index: int = 0) -> None:
        """Change a word of the state. Nothing may be running."""
        self._words[getattr(CHANNEL, name) // 4 + index] = value

    @property
    def subchannel(self) -> int:
        """The subchannel of the current packet."""
        return self.get("SUBCHANNEL")

    def bind(self, file: int, subchannel: int | None = None) -> None:
        """Bind a subchannel to this register file; None: that of the current packet."""
        bound = self.subchannel if subchannel is None else subchannel
        self._never_bound.discard(bound)
        self.put("BINDINGS", file, bound)

    def _bind_unbound(self) -> None:
        """What methods of subchannels do that nothing was bound to is a choice of this machine."""
        convention = self.machine.choices["channel.unbound"] == "convention"
        for subchannel in self._never_bound:
            usual = SUBCHANNELS.get(subchannel) if convention else None
            self.put("BINDINGS", CLASS_FILES.index(usual.class_id) if usual else OTHER_FILE, subchannel)

    def macros(self) -> dict[int, list[int]]:
        """The macros loaded so far, by number: the words from each start address to the next, or to the last loaded."""
        known = np.flatnonzero(self.mme_known)
        starts = {int(n): int(self.mme_starts[n]) for n in known}
        ends = sorted({*starts.values(), self.get("MME_TOP")})
        return {
            n: self.mme_code[start : min((end for end in ends if end > start), default=start)].tolist()
            for n, start in starts.items()
        }

    @property
    def place(self) -> str:
        """Where the parser is: "s3/e2+17", the word last read."""
        if not self._place:
            run = self._runs[max(self.get("RUN"), 0)]
            word = int(run[RUN.FIRST // 4]) + (self.get("POSITION") - int(run[RUN.OFFSET // 4])) // 4 - 1
            self._place = f"s{self.submission}/e{self.get('ENTRY')}+{max(word, 0)}"
        return self._place

    @property
    def constant_words(self) -> int:
        """Words written into constant buffers so far."""
        return int(self._constants[0])

    @property
    def work(self) -> int:
        """A number that grows with all work that is done."""
        return int(self.counters[COUNTER["methods"] // 8] + self.counters[COUNTER["macro_steps"] // 8])

    # -- checkpoints ------------------------------------------------------------------------------------------------
    def save(self) -> ChannelState:
        """The channel's state, in the middle of a packet as well. Nothing may be running."""
        # Inline data is copied only where a transfer is under way, because its area is most of a channel's block.
        staged = any(self.get("INLINE_STAGED", file) for file in range(FRONT_END_FILES))
        return ChannelState(
            self.block[: CHANNEL_LAYOUT.size if staged else CHANNEL_LAYOUT.staging].copy(),
            frozenset(self._never_bound), tuple(map(tuple, self._pieces)), self.reference, self.waiting, self.yielded,
            self.submission, tuple(replace(one) for one in self._queue), self._fresh,
            {file: engine.save() for file, engine in self.engines.items()},
        )  # fmt: skip

    def restore(self, state: ChannelState) -> None:
        """Return to a state from `save`."""
        self.block[: len(state.block)] = state.block
        self._never_bound = set(state.never_bound)
        self._bind_unbound()  # the state may be of a machine with another choice
        self._pieces = [list(pieces) for pieces in state.pieces]
        self._inline_words = [[] for _ in range(FRONT_END_FILES)]
        self.reference, self.waiting, self.yielded = state.reference, state.waiting, state.yielded
        self.submission, self._fresh = state.submission, state.fresh
        self._queue = deque(replace(one) for one in state.queue)
        for file, kept in state.engines.items():
            self.engines[file].restore(kept)
        self._place = ""
        self.open_version()

    @property
    def block(self) -> NDArray[np.uint8]:
        """The channel's part of the work area, in the order of `layout.CHANNEL_LAYOUT`; staged inline data is at its
        end."""
        start = self.machine.layout.channel(self.index)
        return self.machine.memory.arena[start : start + CHANNEL_LAYOUT.size]

    def open_version(self) -> None:
        """Begin a new version: later writes of this channel are stamped with it."""
        self._version = -1

    # -- submissions ------------------------------------------------------------------------------------------------
    def submit(self, number: int, entries: NDArray[np.uint64]) -> None:
        """Put entries at the end of the queue."""
        self._queue.append(Submission(number, entries))

    @property
    def idle(self) -> bool:
        """Whether there is nothing left to do."""
        return self.waiting is None and not self._queue

    def drop(self) -> None:
        """Drop all remaining work."""
        self.waiting = None
        self._queue.clear()
        self._fresh = True
        for name in ("RUNS", "RUN", "POSITION", "END", "REMAINING", "MME_STATE"):
            self.put(name, 0)

    def _load(self) -> bool:
        """Give the parser the next pieces of pushbuffer. Returns whether there are any."""
        while self._queue:
            head = self._queue[0]
            if head.next == 0:
                self.submission = head.number
                self.put("ODD_SEEN", 0)
                self.put("SUBMISSION", head.number)
                self.put("MME_BUDGET", self.machine.macro_budget)
                self.put("MME_COST", self.machine.macro_budget >> MOST_EFFECTS_SHIFT)
            first = head.next
            runs = self._pieces_of(head)
            if self.machine.observers and first < head.next:
                self._notify_segments(head, first, runs)
            if runs:
                self._runs[: len(runs)] = runs
                self.put("RUNS", len(runs))
                self.put("RUN", -1)
                return True
            self._queue.popleft()
        return False

    def _notify_segments(self, submission: Submission, first: int, runs: Sequence[tuple[int, int, int, int]]) -> None:
        """Notify observers of the entries from `first` to the submission's current position."""
        pieces: dict[int, list[tuple[int, int]]] = {}
        for offset, words, number, _ in runs:
            pieces.setdefault(number, []).append((offset, words))
        segments = tuple(
            Segment(number, int(submission.entries[number]), tuple(pieces.get(number, ())))
            for number in range(first, submission.next)
        )
        for one in self.machine.observers:
            one.segments_read(self, submission.number, segments)

    def _pieces_of(self, submission: Submission) -> list[tuple[int, int, int, int]]:
        """The next pieces of a submission, as records of `RUN`."""
        runs: list[tuple[int, int, int, int]] = []
        memory, entries = self.machine.memory, submission.entries
        while submission.next < len(entries) and len(runs) < MAX_RUNS // 2:
            number, entry = submission.next, int(entries[submission.next])
            submission.next += 1
            address, length = segment_of(entry)
            if length == 0:
                self._control(number, entry)
                continue
            if submission.words + length > WORD_BUDGET:
                text = f"more than {WORD_BUDGET} words in one submission"
                self.machine.events.report("hang", "channel.words", text, f"s{submission.number}/e{number}")
                submission.next = len(entries)
                break
            submission.words += length
            offset = memory.offset_of(address, 4 * length)
            spans = [(offset, 4 * length)] if offset is not None else memory.spans(address, 4 * length)
            first = 0
            for start, size in spans:
                if start is None:
                    text = f"no memory for a pushbuffer at {address + 4 * first:#x}; the rest of the entry is left out"
                    place = f"s{submission.number}/e{number}+{first}"
                    self.machine.events.report("fault", "channel.unmapped_pushbuffer", text, place)
                    break
                runs.append((start, size // 4, number, first))
                first += size // 4
        return runs

    def _control(self, number: int, entry: int) -> None:
        """A control entry: it has no pushbuffer."""
        if _OPCODE.raw(entry) in _IDLE_OPCODES:
            return
        place = f"s{self._queue[0].number}/e{number}"
        self.machine.events.report("fault", "channel.illegal_entry", f"a GPFIFO entry {entry:#018x}", place)

    # -- running ----------------------------------------------------------------------------------------------------
    def run(self) -> bool:
        """Continue until nothing is left, the channel waits, or it yields to the others.

        Returns whether anything was done.
        """
        machine, worked = self.machine, False
        if self._words[_QUICK]:
            machine.drawing.quick.follow()
        self.yielded = False
        while True:
            if self.waiting is not None:
                if not self.waiting.over(machine.memory, machine.syncpoints, machine.choices):
                    return worked
                self.waiting, worked = None, True
            elif self.yielded:
                return worked
            if self._fresh:
                self._place = ""
                if not self._load():
                    return worked
                self._fresh = False
            worked = True
            self._step()
            for one in machine.observers:
                one.stopped(self)

    def _step(self) -> None:
        """Run the parser once, and handle the reason why it stopped."""
        machine, memory = self.machine, self.machine.memory
        # If nothing has been stamped with the current version, no new one is needed.
        if memory.version != self._version or self._constants[0] != self._stamped:
            self._version, self._stamped = memory.open_version(), self._constants[0]
        if self._words[_QUICK]:
            machine.drawing.crew.come()
        started = perf_counter()
        self._place = ""
        machine.parse(self.index)
        parsed = perf_counter()
        seconds = machine.stats.seconds
        seconds["parse"] += parsed - started
        status, odd, file, word, value, deferred, drawn = self._stop_words.tolist()
        if drawn:
            self.put("QUICK_DRAWS", 0)
            # Nearly all of the time was spent in them.
            seconds["draws"] += parsed - started
            seconds["parse"] -= parsed - started
            self._drawing.drew(drawn, status == stops.RESUME)
        if deferred:
            self._take_deferred(deferred)
        if odd:
            self._report_odd(odd)
        if status == stops.ENDED:
            self._fresh = True
            if machine.inline_places:
                self._take_all_staged()
            return
        if status == stops.EFFECT:
            self._effects[file * FILE_WORDS + word](value & 0xFFFFFFFF)
        elif status == stops.UNKNOWN:
            self._report_unknown(file, word)
        elif status in (stops.STAGED, stops.STAGE_FULL):
            self._take_staged(file, status == stops.STAGED)
        elif status == stops.MACRO_BUDGET:
            text = f"macro {self.get('MME_MACRO')} does not end within {machine.macro_budget} instructions"
            text += f" or {1 << MOST_EFFECTS_SHIFT} draws, clears and the like"
            machine.report("hang", "mme.endless", text)
        if self._words[_MACRO_STATE] == BUSY and status not in (stops.DRAWN, stops.RESUME):
            cost = (machine.macro_budget >> MOST_EFFECTS_SHIFT) * (1 + deferred)
            self._words[_MACRO_LEFT] = max(self._words[_MACRO_LEFT] - cost, 0)
        seconds["effects"] += perf_counter() - parsed

    def _take_deferred(self, count: int) -> None:
        """Run the effects that were deferred to this stop."""
        first = CHANNEL.DEFERRED_METHODS // 4
        methods = self._words[first : first + 3 * count].tolist()
        self.put("DEFERRED", 0)
        for file, word, value in zip(methods[::3], methods[1::3], methods[2::3], strict=True):
            self._effects[file * FILE_WORDS + word](value & 0xFFFFFFFF)

    def hurry(self, on: bool) -> None:
        """Whether effects that are usually deferred must run at once."""
        self.put("URGENT", int(on))

    def _report_odd(self, found: int) -> None:
        self.put("ODD_SEEN", self.get("ODD_SEEN") | found)
        self.put("ODD", 0)
        for name, bit in stops.ODD.items():
            if found & bit:
                kind, id, text = _ODD[name]
                if name == "header":
                    text += f": {self.get('HEADER') & 0xFFFFFFFF:#010x}"
                elif id.startswith("mme."):
                    text += f" (macro {self.get('MME_MACRO')})"
                self.machine.report("warning" if kind == "warning" else "fault", id, text)

    def _report_unknown(self, file: int, word: int) -> None:
        """A write to a word that the class does not have: reported once for each word, then only counted."""
        block = block_of(file)
        name = "the host" if file == HOST_FILE else f"class {block.class_id:#06x}" if block else "no class"
        text = f"{name} has no method at word {word:#x}"
        self.machine.report("warning", "channel.unknown_method", text)
        self.machine.codes[file, word] = CODE["known_unknown"]

    def _take_all_staged(self) -> None:
        """Take the inline data received so far, before other words are read, so that observers get all of it."""
        for file in range(FRONT_END_FILES):
            if self.get("INLINE_STAGED", file):
                self._take_staged(file, False)

    def _take_staged(self, file: int, complete: bool) -> None:
        """Take the inline data received so far; the engine gets it once it is complete."""
        count = self.get("INLINE_STAGED", file)
        self.put("INLINE_STAGED", 0, file)
        pieces, words = self._pieces[file], self._inline_words[file]
        if not self.get("INLINE_TAKEN", file):
            pieces.clear()  # from an earlier launch
            words.clear()
        self.put("INLINE_TAKEN", 1, file)
        pieces.append(self._staging[file, : 4 * count].copy())
        if self.machine.inline_places:
            words.append(self._places_of_staged(file, count))
        if sum(map(len, pieces)) > INLINE_LIMIT:
            pieces.clear()
            self.machine.report("fault", "inline.too_long", f"inline data of more than {INLINE_LIMIT} bytes")
            self.state[CHANNEL.INLINE_LEFT // 4 + 2 * file :][:2] = 0
        elif complete:
            data = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
            pieces.clear()
            found = np.concatenate(words) if words else np.empty(0, np.int64)
            words.clear()
            # None where a macro sent some words, or no observer wanted them when the first of them came.
            self.inline_words = found if len(found) == len(data) >> 2 and (found >= 0).all() else None
            engine = self.engines.get(file)
            if engine is not None:
                engine.staged_complete(data)
            self.inline_words = None

    def _places_of_staged(self, file: int, count: int) -> Offsets:
        """Arena offsets of `count` staged words; notifies observers."""
        machine = self.machine
        start = WorkLayout.inline_places(machine.inline_places, self.index, file)
        found = machine.memory.arena[start : start + 4 * count].view(np.int32).astype(np.int64)
        for one in machine.observers:
            if one.wants_inline:
                one.inline_read(self, found[found >= 0])
        return found
