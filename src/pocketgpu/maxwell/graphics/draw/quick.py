"""The kernel `quick`: it sets up draws in known states, and makes them out of the walk of the pushbuffer.

The walk (pushbuffer.py) calls `quick` at methods that draw. If the draw's state is known, `quick` makes the draw and
the walk goes on. If not, the draw comes to Python and nothing has changed. Python also calls `quick` for its own draws;
then `quick` sets the draw up, and Python runs it.

No other code notifies `quick` of changes. It compares, at each draw, everything that the draw depends on:

* Registers. Those that were read to prepare the draw (`READ`) must have the values in the entry (`ENTRY`). The last
  entry is tried first, then those that a hash finds. What each draw reads itself (first, count, base vertex, ...) is
  read again. BEGIN and END are taken from the list of deferred methods.
* Memory. Programs, constants and textures are unchanged while the versions of their pages are. Changed constants are
  copied again. All other changes send the draw to Python.
* Bindings of constants are no part of a state: each draw looks up what is bound (`layout.BOUND`). Mappings of memory
  cannot change while a channel runs (`QuickTable.follow`).

Only plain draws have entries: those with a vertex and perhaps a pixel program, both with final code, whose targets and
constants are each in one piece, and that report nothing. `quick` stops at what is unusual in a draw: pieces and shapes
that threads can share, programs that fault or hang. Python continues that draw (`RESUME`).

After a draw, its targets have new versions, its samples are counted, and a LOGGED record describes it. Python takes all
this when the walk returns (quick_table.py), before anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import I32, I64, Lang, Value, Var, kernel
from pocketgpu.maxwell.engines.threed.drawn import LOGGED
from pocketgpu.maxwell.graphics.draw import native
from pocketgpu.maxwell.graphics.draw.crew import is_missed
from pocketgpu.maxwell.graphics.draw.native import WALK
from pocketgpu.maxwell.graphics.draw.quick_records import (
    ASKED_WORDS,
    BANK,
    COPY,
    ENTRY,
    ENTRY_INPUT,
    ENTRY_KEY,
    ENTRY_WALK,
    HASH,
    INPUT_BYTES,
    MOST_CHANGES,
    MOST_LOGGED,
    MOST_WHOLES,
    MOST_WORK,
    NEVER,
    PROBES,
    QUICK,
    READ,
    READ_FACTORS,
    READ_ROOM,
    SET_UP,
    SPAN,
    TABLE_BITS,
    TABLE_WORDS,
    WALK_BYTES,
    WALKING,
    WHOLE_BYTES,
)
from pocketgpu.maxwell.graphics.input.vertex_records import INPUT
from pocketgpu.maxwell.graphics.records import FRAGMENTS, REGION
from pocketgpu.maxwell.host import pushbuffer
from pocketgpu.maxwell.host.layout import (
    BOUND,
    BOUND_WORDS,
    CHANNEL_LAYOUT,
    DRAW_STATE,
    FILE_WORDS,
    RUN,
    THREED_FILE,
)
from pocketgpu.maxwell.host.stops import DRAWN, EFFECT, RESUME, RUNNING
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.mme.states import BUSY
from pocketgpu.maxwell.sampling.records import BOOK
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, VECTOR
from pocketgpu.struct_words import Struct

_BEGIN, _END, _INDEXED = (B197[name].word for name in ("BEGIN", "END", "DRAW_INDEX_BUFFER"))
_INDEX_SIZE = B197["SET_INDEX_BUFFER_E"]["INDEX_SIZE"]
_INSTANCES, _PRIMITIVES = B197.values("BEGIN.INSTANCE_ID"), B197.values("BEGIN.PRIMITIVE_ID")
MAX_COUNT = 1 << 24
"""Most vertices of a draw, as in vertex_input.py."""


def _field(word: Value, field: Field) -> Value:
    return word.bits(field.lo, field.width)


class _StructView:
    """A record of 32-bit words, read and written by a kernel. base: its arena offset (i32)."""

    def __init__(self, k: Lang, struct: Struct, base: Value) -> None:
        self.k, self.struct, self.base = k, struct, base

    def at(self, name: str, index: int = 0) -> Value:
        return self.base + (self.struct.offsets[name] + 4 * index)

    def __getitem__(self, name: str) -> Value:
        return self.k.load(I32, self.at(name))

    def __setitem__(self, name: str, value: Value | int) -> None:
        self.k.store(I32, self.at(name), value)

    def wide(self, name: str) -> Value:
        """64 bits."""
        return self.k.load(I64, self.at(name))

    def put_wide(self, name: str, value: Value | int) -> None:
        self.k.store(I64, self.at(name), value)


def _parts(k: Lang, count: Value, at: Value, struct: Struct, do: Callable[[_StructView], None]) -> None:
    """Do something for each of some adjacent records."""
    for n in k.range(0, count):
        do(_StructView(k, struct, at + n * struct.size))


def _vectors(k: Lang, size: Value, do: Callable[[Value, Value], None]) -> None:
    """Call do(offset, mask) for the vectors of `size` bytes, of which the mask says which words belong to them."""
    for at in k.range(0, size, VECTOR):
        do(at, k.iota() < ((size - at) >> 2))


def _copy(k: Lang, source: Value, target: Value, size: Value) -> None:
    """Copy bytes, a multiple of 4."""
    _vectors(k, size, lambda at, mask: k.store(I32, target + at, k.load(I32, source + at, LANES), mask))


def _some(bits: Var) -> Value:
    return bits.value != 0


def _newest(k: Lang, page: Value, pages: Value) -> Value:
    """The newest version of some pages. Versions are below 2^31 here."""
    newest = k.var(k.i32(0))
    for n in k.range(0, pages, LANES):
        found = k.load(I32, ((page + n) << 2) + page_table.VERSIONS, LANES)
        found = k.select(k.iota() < pages - n, found, 0)
        newest.value = k.max(newest.value, k.reduce("max", found))
    return newest.value


def _unchanged(k: Lang, span: _StructView) -> Value:
    """Whether the pages of a SPAN are unchanged."""
    return _newest(k, span["PAGE"], span["PAGES"]) == span["VERSION"]


class _QuickDraw:
    """A draw that `quick` works on. good: whether `quick` can still make it."""

    def __init__(self, k: Lang, record: Value, channel: Value) -> None:
        self.k, self.channel = k, channel
        self.quick = _StructView(k, QUICK, record)
        self.state = pushbuffer.ChannelState(k, k.to_i64(channel))
        self.registers = channel + CHANNEL_LAYOUT.registers
        zero = k.i32(0)
        self.topology, self.instance, self.primitive = k.var(zero), k.var(zero), k.var(zero)
        self.first, self.count, self.index_bytes = k.var(zero), k.var(zero), k.var(zero)
        self.drawn, self.begun = k.var(zero), k.var(zero)
        self.good = k.var(True)
        self.entry_at = k.var(self.quick["CURRENT"])

    @property
    def walking(self) -> Value:
        """Whether the walk of a pushbuffer has called, and not Python."""
        return self.quick["ASKS"] == WALKING

    @property
    def entry(self) -> _StructView:
        return _StructView(self.k, ENTRY, self.entry_at.value)

    def register(self, name: str, index: int = 0) -> Value:
        return self.k.load(I32, self.registers + 4 * (B197[name].word + index))

    def need(self, condition: Value) -> None:
        self.good.value = self.good.value & condition

    # -- what is drawn ------------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """Read the draw at which the walk has arrived."""
        k, quick = self.k, self.quick
        self.need(quick["ON"] != 0)
        for _ in k.when(self.good.value):
            self._take_waiting()
            # If the primitives of the draw before are not counted yet, Python counts them.
            self.need((self.topology.value >= 0) & (self.drawn.value == 0))
            count, size = self.state.get("EFFECT_VALUE"), _field(self.register("SET_INDEX_BUFFER_E"), _INDEX_SIZE)
            self.need((count != 0) & count.below(MAX_COUNT + 1))
            indexed = self.state.get("EFFECT_WORD") == _INDEXED
            self.need(~indexed | (size < 3))
            self.count.value, self.index_bytes.value = count, k.select(indexed, k.i32(1) << (size & 3), 0)
            start = self.register("SET_VERTEX_ARRAY_START")
            self.first.value = k.select(indexed, self.register("SET_INDEX_BUFFER_F"), start)
            room = quick["LOG_END"] - quick["LOG"]
            self.need((room >= MOST_LOGGED) & (quick["WHOLE_COUNT"] < MOST_WHOLES))

    def _take_waiting(self) -> None:
        """Apply the BEGIN and END that wait for Python."""
        k, state = self.k, self.state
        kept = (self.topology, self.instance, self.primitive, self.drawn, self.begun)
        for name, var in zip(DRAW_STATE, kept, strict=True):
            var.value = state.get(f"DRAW_{name}")
        for n in k.range(0, state.get("DEFERRED")):
            at = state.at("DEFERRED_METHODS") + k.to_i64(n * 12)
            file, word, value = (k.load(I32, at + 4 * i) for i in range(3))
            begins = word == _BEGIN
            self.need((file == THREED_FILE) & (begins | (word == _END)))
            self.topology.value = k.select(begins, _field(value, B197["BEGIN"]["OP"]), -1)
            for _ in k.when(begins):
                which = _field(value, B197["BEGIN"]["INSTANCE_ID"])
                following = self.instance.value + k.select(which == _INSTANCES.SUBSEQUENT, 1, 0)
                self.instance.value = k.select(which == _INSTANCES.FIRST, 0, following)
                restarts = _field(value, B197["BEGIN"]["PRIMITIVE_ID"]) == _PRIMITIVES.FIRST
                self.primitive.value = k.select(restarts, 0, self.primitive.value)
                self.drawn.value = k.select(restarts, 0, self.drawn.value)
                self.begun.value = k.i32(1)

    def take_asked(self) -> None:
        """Read the draw that Python requests."""
        asked = (self.topology, self.index_bytes, self.first, self.count, self.instance, self.primitive)
        for name, var in zip(ASKED_WORDS, asked, strict=True):
            var.value = self.quick[name]

    # -- the entry --------------------------------------------------------------------------------------------------
    def _fits(self, entry: _StructView) -> Value:
        """Whether an entry belongs to the current state, and its programs have not changed."""
        k = self.k
        words = (
            ("CHANNEL", self.channel), ("TOPOLOGY", self.topology.value), ("INDEX_BYTES", self.index_bytes.value)
        )  # fmt: skip
        same = k.var(True)
        for name, value in words:
            same.value = same.value & (entry[name] == value)
        for _ in k.when(same.value):
            read, other = entry["READ"], k.var(k.i32(0))
            for i in k.range(0, k.load(I32, read + READ.COUNT)):
                at, bits = (k.load(I32, read + (i << 2) + part) for part in (READ.AT, READ.BITS))
                now = k.load(I32, self.registers + at, LANES)
                key = k.load(I32, entry.base + ENTRY_KEY + i * VECTOR, LANES)
                other.value = other.value | (k.ballot(now != key) & bits)
            same.value = other.value == 0
        for _ in k.when(same.value):

            def as_before(span: _StructView) -> None:
                same.value = same.value & _unchanged(k, span)

            _parts(k, entry["CODE_COUNT"], entry.at("CODE"), SPAN, as_before)
        return same.value

    def find(self) -> None:
        """Find the entry of the current state: the last one, or another."""
        k = self.k
        same = k.var(False)
        for _ in k.when(self.entry_at.value != 0):
            same.value = self._fits(self.entry)
        for _ in k.when(~same.value):
            self.entry_at.value = k.i32(0)
            for n in k.range(0, self.quick["READ_COUNT"]):
                for _ in k.when(self.entry_at.value == 0):
                    self._find(self.quick["READS"] + n * READ_ROOM)
        self.need((self.entry_at.value != 0) & (~self.walking | (self.entry["ALONE"] != 0)))

    def _find(self, read: Value) -> None:
        """Search the entries of a READ."""
        k, digest = self.k, self._digest(read)
        place, left = k.var((digest * HASH).lsr(32 - TABLE_BITS)), k.var(k.i32(PROBES))
        for _ in k.loop(lambda: (left.value > 0) & (self.entry_at.value == 0)):
            at = k.load(I32, self.quick["TABLE"] + (place.value << 2))
            left.value = k.select(at == 0, 0, left.value - 1)
            place.value = (place.value + 1) & (TABLE_WORDS - 1)
            there = k.var(at != 0)
            for _ in k.when(there.value):
                there.value = k.load(I32, at + ENTRY.HASH) == digest
            for _ in k.when(there.value):
                self.entry_at.value = k.select(self._fits(_StructView(k, ENTRY, at)), at, 0)

    def _digest(self, read: Value) -> Value:
        """The hash of the registers of a READ."""
        k, total = self.k, self.k.var(self.k.splat(0))
        for n in k.range(0, k.load(I32, read + READ.COUNT)):
            now = k.load(I32, self.registers + k.load(I32, read + (n << 2) + READ.AT), LANES)
            total.value = total.value + now * k.load(I32, read + n * VECTOR + READ_FACTORS, LANES)
        return k.reduce("add", total.value) + self.topology.value + (self.index_bytes.value << 8)

    def _look_up(self, bank: _StructView) -> None:
        """Find what is bound to a bank in the arena, if that is not known. It must be in one piece, of whole words."""
        k = self.k
        now = _StructView(k, BOUND, bank["BOUND"])
        same = (now["LOW"] == bank["LOW"]) & (now["HIGH"] == bank["HIGH"]) & (now["SIZE"] == bank["ROOM"])
        for _ in k.when((bank["BOUND"] != 0) & ~same):
            low, high = now["LOW"], now["HIGH"]
            size = k.min(now["SIZE"], bank["WANTED"])
            address = (k.to_i64(high) << 32) + k.to_i64(low, signed=False)
            first, mapped = page_table.translate(k, address)
            whole = k.var(((size & 3) == 0) & (mapped | (size == 0)))
            # The first page may have some bytes only; every other page begins where the one before it ends.
            into = k.low32(address) & (PAGE_SIZE - 1)
            for at in k.range(PAGE_SIZE, into + size, PAGE_SIZE):
                ahead = k.to_i64(at - into)
                there, more = page_table.translate(k, address + ahead)
                whole.value = whole.value & more & (there == first + ahead)
            self.need(whole.value)
            for _ in k.when(whole.value):
                source = k.low32(first)
                page = source.lsr(PAGE_SHIFT)
                last = (source + size - 1).lsr(PAGE_SHIFT)
                pages = k.select(size == 0, 0, last + 1 - page)
                for name, value in (
                    ("LOW", low), ("HIGH", high), ("ROOM", now["SIZE"]), ("SOURCE", source), ("SIZE", size),
                    ("PAGE", page), ("PAGES", pages),
                ):  # fmt: skip
                    bank[name] = value
                bank["VERSION"] = NEVER

    def check(self) -> None:
        """Check that textures have not changed, and find the constants."""
        k, entry, quick = self.k, self.entry, self.quick
        self.need(k.load(I32, page_table.VERSION) > 0)
        for _ in k.when(entry["TEXTURED"] != 0):
            changes = quick["CHANGES"]
            self.need((changes != 0) & (changes == k.load(I32, quick["BOOK"] + BOOK.CHANGES)))
            self.need(entry["POOLS"] == quick["POOLS"])
            for _ in k.when(self.good.value):
                _parts(k, quick["SPAN_COUNT"], quick["SPANS"], SPAN, lambda span: self.need(_unchanged(k, span)))
        for _ in k.when(self.good.value):
            _parts(k, entry["BANK_COUNT"], entry.at("BANKS"), BANK, self._look_up)

    # -- the draw ---------------------------------------------------------------------------------------------------
    def set_up(self) -> None:
        """Set up all that the draw reads."""
        k, entry, quick = self.k, self.entry, self.quick
        fresh = quick["CURRENT"] != self.entry_at.value
        touched = k.var(fresh)
        for _ in k.when(fresh):
            _parts(
                k, entry["COPY_COUNT"], entry.at("COPIES"), COPY,
                lambda part: _copy(k, part["SOURCE"], part["TARGET"], part["SIZE"]),
            )  # fmt: skip
            quick["CURRENT"] = self.entry_at.value

        def fill(bank: _StructView) -> None:
            version = _newest(k, bank["PAGE"], bank["PAGES"])
            for _ in k.when(fresh | (version != bank["VERSION"])):
                size, target, filled = bank["SIZE"], bank["TARGET"], bank["FILLED"]
                _copy(k, bank["SOURCE"], target, size)
                end = target + size
                beyond = k.load(I32, filled) - size
                _vectors(k, beyond, lambda at, mask: k.store(I32, end + at, k.splat(0), mask))
                k.store(I32, filled, size)
                bank["VERSION"] = version
                touched.value = k.i32(1) == 1

        _parts(k, entry["BANK_COUNT"], entry.at("BANKS"), BANK, fill)
        quick["TOUCHED"] = quick["TOUCHED"] | k.select(touched.value, 1, 0)
        for start, record, size in (
            (ENTRY_INPUT, quick["INPUT"], INPUT_BYTES), (ENTRY_WALK, quick["WALK"], WALK_BYTES)
        ):  # fmt: skip
            for at in range(0, size, VECTOR):
                k.store(I32, record + at, k.load(I32, entry.base + (start + at), LANES))
        self._vertices()
        region = _StructView(k, REGION, quick["REGION"])
        for name in ("STIPPLE", "SHAPES", "COME", "GONE"):
            region[name] = 0
        for n in range(2):
            k.store(I64, k.load(I32, entry.at("SLOTS", n)) + BLOCK.STEPS, 0)
        k.store(I64, quick["FRAGMENTS"] + FRAGMENTS.PASSED, 0)

    def _vertices(self) -> None:
        """Do what `VertexInput.begin` does."""
        k, entry = self.k, self.entry
        record = _StructView(k, INPUT, self.quick["INPUT"])
        first, index_bytes = self.first.value, self.index_bytes.value
        for _ in k.when(index_bytes != 0):
            upper, lower = self.register("SET_INDEX_BUFFER_A"), self.register("SET_INDEX_BUFFER_B")
            upper = upper.bits(0, page_table.ADDRESS_BITS - 32)
            shift = index_bytes >> 1  # of 1, 2 and 4 bytes: 0, 1 and 2
            skipped = k.to_i64(first, signed=False) << k.to_i64(shift)
            record.put_wide("SOURCE", (k.to_i64(upper) << 32) + k.to_i64(lower, signed=False) + skipped)
            left = k.to_i64(entry["INDEX_ROOM"], signed=False) - skipped
            at = k.to_i64(entry["INDEX_AT"]) + skipped
            for _ in k.when((left > 0) & ((at & k.to_i64(index_bytes - 1)) == 0)):
                record["INDEX_AT"] = k.low32(at)
                record["INDEX_ROOM"] = k.low32(left).lsr(shift)
        record["FIRST_PRIMITIVE"] = self.primitive.value
        record["FIRST"], record["COUNT"], record["INSTANCE"] = first, self.count.value, self.instance.value
        base = self.register("SET_GLOBAL_BASE_VERTEX_INDEX")
        record["BASE_VERTEX"] = k.select(entry["ADDS_BASE"] != 0, base, 0)
        record["BASE_INSTANCE"] = self.register("SET_GLOBAL_BASE_INSTANCE_INDEX")
        start = k.select(entry["USES_START"] != 0, 0, first)
        record["ID_OFFSET"] = self.register("SET_VERTEX_ID_BASE") - start

    def _logged(self) -> Sequence[tuple[Value, int, int]]:
        """What a LOGGED keeps of the channel: where it is, where it is in a whole, and its bytes."""
        registers, bound = 4 * FILE_WORDS, 4 * BOUND_WORDS
        return ((self.registers, 0, registers), (self.channel + CHANNEL_LAYOUT.bound, registers, bound))

    def log(self) -> None:
        """Write a LOGGED of the draw, and keep what BEGIN and END have changed."""
        k, quick, state = self.k, self.quick, self.state
        at = quick["LOG"]
        record, words = _StructView(k, LOGGED, at), at + LOGGED.size
        changes = k.var(k.i32(MOST_CHANGES + 1))
        number = quick["WHOLE_COUNT"]
        for _ in k.when(number > 0):
            whole = quick["WHOLES"] + (number - 1) * WHOLE_BYTES
            changes.value = k.i32(0)
            for live, start, size in self._logged():
                for i in k.range(0, size, VECTOR):
                    now = k.load(I32, live + i, LANES)
                    left = k.var(k.ballot(now != k.load(I32, whole + start + i, LANES)))
                    for _ in k.loop(partial(_some, left)):
                        word = i.lsr(2) + k.trailing_zeros(left.value)
                        for _ in k.when(changes.value < MOST_CHANGES):
                            to = words + (changes.value << 3)
                            k.store(I32, to, word + start // 4)
                            k.store(I32, to + 4, k.load(I32, live + (word << 2)))
                        changes.value = changes.value + 1
                        left.value = left.value & (left.value - 1)
        many = changes.value > MOST_CHANGES
        for _ in k.when(many):
            whole = quick["WHOLES"] + number * WHOLE_BYTES
            for live, start, size in self._logged():
                for i in k.range(0, size, VECTOR):
                    k.store(I32, whole + start + i, k.load(I32, live + i, LANES))
            quick["WHOLE_COUNT"] = number + 1
            changes.value = k.i32(0)
        record["WHOLE"] = quick["WHOLE_COUNT"] - 1
        record["CHANGES"] = changes.value
        quick["LOG"] = words + (changes.value << 3)
        run = state.base + CHANNEL_LAYOUT.runs + k.to_i64(k.max(state.get("RUN"), 0) * RUN.size)
        read = (state.get("POSITION") - k.load(I32, run + RUN.OFFSET)) >> 2
        record["SUBMISSION"], record["SEGMENT"] = state.get("SUBMISSION"), state.get("ENTRY")
        record["WORD"] = k.max(k.load(I32, run + RUN.FIRST) + read - 1, 0)
        for name, value in (
            ("FIRST", self.first.value), ("COUNT", self.count.value), ("INDEX_BYTES", self.index_bytes.value),
            ("TOPOLOGY", self.topology.value), ("INSTANCE", self.instance.value), ("PRIMITIVE", self.primitive.value),
        ):  # fmt: skip
            record[name] = value
        kept = (self.topology, self.instance, self.primitive, self.drawn, self.begun)
        self.drawn.value = k.i32(1)
        for name, var in zip(DRAW_STATE, kept, strict=True):
            state.put(f"DRAW_{name}", var.value)
        waiting = state.get("DEFERRED")
        state.put("DEFERRED", 0)
        state.put("QUICK_DRAWS", state.get("QUICK_DRAWS") + 1)
        # As for draws that Python makes, the cost is taken from a macro's budget.
        for _ in k.when(state.get("MME_STATE") == BUSY):
            budget = state.get("MME_BUDGET") - state.get("MME_COST") * (waiting + 1)
            state.put("MME_BUDGET", k.max(budget, 0))

    def run(self) -> None:
        """Make the draw, and set how the walk continues."""
        k, entry, quick = self.k, self.entry, self.quick
        k.invoke(quick.wide("WALK_CALL"), quick["WALK"])
        walked = _StructView(k, WALK, quick["WALK"])
        odd = k.var((k.load(I32, walked.base + native.STATUS) != native.DONE) | (walked["FAILED"] != 0))
        for n in range(2):
            slot = k.load(I32, entry.at("SLOTS", n))
            failed = k.load(I32, slot + BLOCK.FAULT_COUNT) | k.load(I32, slot + BLOCK.HUNG)
            odd.value = odd.value | (failed != 0)
        self.state.put("QUICK_RESULT", RESUME)
        for _ in k.when(~odd.value):
            self._stamp_targets()
            work = quick["WORK"] + walked["AREA"] + walked["SHADED"].lsr(5) + 1
            quick["WORK"] = work
            stops = k.var((work > MOST_WORK) | (self.state.get("QUICK_DRAWS") >= quick["MOST"]))
            for _ in k.when(walked["CREW"] != 0):
                stops.value = stops.value | is_missed(k, walked["CREW"])
            result = k.select(stops.value, DRAWN, k.i32(RUNNING))
            self.state.put("QUICK_RESULT", result)

    def _stamp_targets(self) -> None:
        """Give each target a new version, and everything after the draw another one."""
        k, entry, quick = self.k, self.entry, self.quick
        version = k.var(k.load(I32, page_table.VERSION))

        def stamp(window: _StructView) -> None:
            version.value = version.value + 1
            page, pages = window["PAGE"], window["PAGES"]
            for n in k.range(0, pages, LANES):
                at = ((page + n) << 2) + page_table.VERSIONS
                k.store(I32, at, k.splat(version.value), k.iota() < pages - n)

        _parts(k, entry["WINDOW_COUNT"], entry.at("WINDOWS"), SPAN, stamp)
        k.store(I32, page_table.VERSION, version.value + 1)
        for _ in k.when(entry["COUNTS"] != 0):
            passed = k.load(I64, quick["FRAGMENTS"] + FRAGMENTS.PASSED)
            quick.put_wide("PASSED", quick.wide("PASSED") + passed)


@kernel(lanes=LANES, record=I32, channel=I32)
def quick(k: Lang, record: Value, channel: Value) -> None:
    """Make the draw of EFFECT_WORD, if its state is known; or set up the draw that Python requests.

    record: offset of QUICK. channel: offset of the channel's part of the work area. QUICK_RESULT is how the walk goes
    on: EFFECT: Python makes the draw; RESUME: Python continues it; RUNNING: it is done; DRAWN: it is done, and Python
    must process it.
    """
    draw = _QuickDraw(k, record, channel)
    for _ in k.when(draw.walking):
        draw.state.put("QUICK_RESULT", EFFECT)
        draw.begin()
    for _ in k.when(~draw.walking):
        draw.take_asked()
    for step in (draw.find, draw.check):
        for _ in k.when(draw.good.value):
            step()
    for _ in k.when(draw.good.value):
        for _ in k.when(draw.walking):
            draw.log()
        draw.set_up()
        for _ in k.when(draw.walking):
            draw.run()
        for _ in k.when(~draw.walking):
            draw.quick["ASKS"] = SET_UP
