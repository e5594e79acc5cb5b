"""Kernel that decodes pushbuffers of a Switch: the machine's own parser, which writes rows instead of acting.

Channels run the same `Parser`, with the macro engine in it, so registers have the same values here. Methods with an
effect are only stored; constants and inline data are dropped. This kernel adds a row for each word, the value of each
register at the last draw, and a way to skip garbage in dumps.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.maxwell import B06F
from pocketgpu.facts.maxwell.pushbuffers import FORMS, HEADER, HOST_WORDS, TERTIARY
from pocketgpu.inspect.decode import maxwell_effects as roles
from pocketgpu.inspect.decode.emit import CONTROL, ROW_SIZE, ROWS, SPARE, RowEmitter
from pocketgpu.inspect.decode.rows import (
    CHANGED,
    DATA,
    EFFECTS,
    ENTRY,
    GARBAGE,
    GPFIFO_BLOCK,
    ISSUED,
    NOT_REACHED,
    PADDING,
    PARAMETER,
    ROW,
)
from pocketgpu.inspect.decode.rows import HEADER as HEADER_ROW
from pocketgpu.inspect.decode.rows import IMMEDIATE as IMMEDIATE_ROW
from pocketgpu.inspect.decode.stream import GPFIFO, SUBMISSION
from pocketgpu.lanes import BOOL, I32, I64, U8, Lang, Value, kernel
from pocketgpu.maxwell.host import constants
from pocketgpu.maxwell.host.dispatch import CODE
from pocketgpu.maxwell.host.layout import (
    CHANNEL_COUNT,
    CLASS_FILES,
    FILE_WORDS,
    FILES,
    HOST_FILE,
    OTHER_FILE,
    WorkLayout,
)
from pocketgpu.maxwell.host.pushbuffer import (
    LINE_COUNT,
    LINE_LENGTH,
    Packet,
    Parser,
    go_on,
    header,
)
from pocketgpu.maxwell.host.stops import MACRO_BUDGET, RUNNING

ROWS_FULL, OTHER_CHANNEL = 16, 17
"""Statuses with which the kernel ends, besides those of the parser."""
_LONG = 32
"""Most words of a packet in a dump that is accepted without checking the packets after it."""
_CHAIN = 3
"""How many valid packets in a row it takes to continue after garbage."""
_ID_AT: Final = int(ROW.fields["id"][1]) if ROW.fields else 0
"""Offset in a row of id and effect, 16 bits each."""
_BIND: Final = B06F["SET_OBJECT"]["NVCLASS"]
_OF_HEADERS: Final = sum(HEADER[name].mask for name in ("ADDRESS", "SUBCHANNEL", "COUNT", "SEC_OP"))
"""The bits that headers of the newer forms use."""


class Area:
    """Offsets of the decoder's data, after the machine's own layout. seen, stamps: of each register of each channel."""

    def __init__(self, start: int) -> None:
        self.control = start
        self.effects = self.control + 256
        self.seen = self.effects + 4 * FILES * FILE_WORDS
        self.stamps = self.seen + 4 * FILES * FILE_WORDS * CHANNEL_COUNT
        self.rows = self.stamps + 4 * FILES * FILE_WORDS * CHANNEL_COUNT
        self.end = self.rows + ROWS * ROW_SIZE
        assert CONTROL.size <= 256


class _Traced(Parser):
    """The parser without engines: it writes a row for each method."""

    packet: _PacketTracer

    def __init__(
        self, k: Lang, layout: WorkLayout, area: Area, channel: Value, ram_words: int, choices: frozenset[str]
    ) -> None:
        super().__init__(k, layout, channel, ram_words, choices)
        self.area, self.rows = area, RowEmitter(k, area.control, area.rows)
        self.row = k.var(self.rows.get("ROW"))
        self.segment = k.var(self.rows.get("SEGMENT") - 1)
        self.start = k.var(0)
        """Arena offset of the segment's first word."""
        self.registers_of_channel = channel * (4 * FILES * FILE_WORDS)
        self.find()

    def find(self) -> None:
        """Find where the current segment begins."""
        for _ in self.k.when(self.segment.value >= 0):
            first = self.rows.segment(self.segment.value, "first")
            self.start.value = self.rows.get("WORDS") + (first << 2)
            self.rows.enter(self.segment.value)

    # -- where the parser would return to Python ----------------------------------------------------------------------
    def stop(self, status: int, file: Value, word: Value, value: Value) -> None:
        """Do nothing: methods have no effect here."""

    def odd(self, what: str) -> None:
        """Do nothing: odd words are not reported here."""

    def run_macro(self) -> None:
        """Run a macro; an endless one is cut off without a report."""
        super().run_macro()
        for _ in self.k.when(self.status.value == MACRO_BUDGET):
            self.status.value = RUNNING

    def bind_constants(self, file: Value, word: Value, value: Value) -> None:
        """There is nothing to bind."""

    def constant(self, file: Value, value: Value) -> None:
        """Advance the offset only."""
        k, field = self.k, constants.OFFSET.fields[0]
        at = self.place(file, constants.OFFSET.word)
        k.store(I32, at, (k.load(I32, at).bits(field.lo, field.width) + 4) & field.mask)

    def launch_inline(self, file: Value, word: Value, value: Value) -> None:
        k = self.k
        k.store(I32, self.place(file, word), value)
        words = (k.load(I32, self.place(file, LINE_LENGTH)) + 3).lsr(2)
        total = k.to_i64(words, signed=False) * k.to_i64(k.load(I32, self.place(file, LINE_COUNT)), signed=False)
        k.store(I64, self.inline_left(file), total)

    def inline_data(self, file: Value, word: Value, value: Value, from_macro: bool) -> None:
        k = self.k
        at = self.inline_left(file)
        left = k.load(I64, at)
        k.store(I64, at, k.select(left != 0, left - 1, k.i64(0)))

    # -- rows ---------------------------------------------------------------------------------------------------------
    def put(self, position: Value, word: Value, what: Value | int, **columns: Value | int) -> None:
        """Write a row for a word of the stream, or for a method that the last word issued."""
        at = self.rows.emit(self.row.value, position, word, what, **columns)
        self.rows.put("LAST", self.k.low32(at))
        self.after_row()

    def after_row(self) -> None:
        k = self.k
        self.row.value = self.row.value + 1
        for _ in k.when((self.row.value > ROWS - SPARE) & (self.status.value == RUNNING)):
            self.status.value = ROWS_FULL

    def position_of(self, at: Value) -> Value:
        """The index in the segment of the word at an arena offset."""
        return self.k.max(at - self.start.value, 0).lsr(2)  # a macro may continue before the first word of a segment

    def draws(self, file: Value, word: Value) -> tuple[Value, Value]:
        """The effects of a method, and whether it draws."""
        k, rows = self.k, self.rows
        known = k.load(I32, k.to_i64((file * FILE_WORDS + word) << 2) + self.area.effects)
        role = known.bits(roles.ROLE_AT, 4)
        fires = k.var(0)
        for _ in k.when(role != roles.NONE):
            inside = rows.get("INSIDE") != 0
            for _ in k.when(role == roles.BEGIN):
                rows.put("INSIDE", 1)
                rows.put("INLINE", 0)
            for _ in k.when((role == roles.INLINE) & inside):
                rows.put("INLINE", 1)
            for _ in k.when((role == roles.WHOLE) | ((role == roles.DRAW) & inside)):
                fires.value = k.i32(1)
            for _ in k.when(role == roles.END):
                fires.value = k.select(inside & (rows.get("INLINE") != 0), 1, 0)
                rows.put("INSIDE", 0)
                rows.put("INLINE", 0)
            for _ in k.when(fires.value != 0):
                # The machine's run decides: conditions and broken state keep some triggers from drawing.
                trigger, drawn = rows.get("TRIGGERS"), rows.get("DRAWN")
                rows.put("TRIGGERS", trigger + 1)
                for _ in k.when(drawn != 0):
                    fires.value = k.load(U8, k.to_i64(drawn) + k.to_i64(trigger))
        return known & 0xFFFF, fires.value

    def method(self, file: Value, word: Value, value: Value, from_macro: bool) -> None:
        k, rows = self.k, self.rows
        at = self.place(file, word)
        old = k.load(I32, at)
        index = k.to_i64(((file * FILE_WORDS + word) << 2) + self.registers_of_channel)
        serial = rows.get("SERIAL")
        seen = k.var(k.load(I32, index + self.area.seen))
        for _ in k.when(k.load(I32, index + self.area.stamps) != serial):
            seen.value = old
            k.store(I32, index + self.area.seen, old)
            k.store(I32, index + self.area.stamps, serial)
        super().method(file, word, value, from_macro)
        if not from_macro:
            for _ in k.when((file == HOST_FILE) & (word == 0)):
                self.bind(value)
        new = k.load(I32, at)
        effects, fires = self.draws(file, word)
        draw = k.var(rows.get("DRAWS"))
        for _ in k.when(fires != 0):
            rows.put("DRAWS", draw.value + 1)
            rows.put("SERIAL", serial + 1)
        different = (new != seen.value) & ((effects & (DATA | EFFECTS["macro"])) == 0)
        effect = effects | k.select(fires != 0, EFFECTS["draw"], 0) | k.select(different, CHANGED, 0)
        packet = self.packet
        columns: dict[str, Value | int] = {
            "id": word, "effect": effect, "mask": 15, "subchannel": packet["SUBCHANNEL"], "block": file,
            "old": old, "new": new, "draw": draw.value,
        }  # fmt: skip
        last = k.to_i64(packet["POSITION"] - 4)
        if not from_macro:
            immediate = packet["IMMEDIATE"] != 0
            self.put(
                self.position_of(packet["POSITION"] - 4), k.load(I32, last),
                k.select(immediate, IMMEDIATE_ROW, PARAMETER), **columns,
            )  # fmt: skip
            return
        shown = rows.get("MACROS") != 0
        for _ in k.when(shown):
            self.rows.emit(self.row.value, self.position_of(packet["POSITION"] - 4), value, ISSUED, **columns)
            self.after_row()
        # Effects of a macro also count for the word that called it.
        parent = rows.get("LAST")
        inherited = effect & k.i32(~(CHANGED | DATA | EFFECTS["ignored"]) & 0xFFFF)
        for _ in k.when((parent != 0) & (inherited != 0) & ~shown):
            place = k.to_i64(parent) + _ID_AT
            k.store(I32, place, k.load(I32, place) | (inherited << 16))

    def bind(self, value: Value) -> None:
        """Bind a class to a subchannel."""
        k = self.k
        number, file = value.bits(_BIND.lo, _BIND.width), k.var(OTHER_FILE)
        for known, class_id in enumerate(CLASS_FILES):
            for _ in k.when(number == class_id):
                file.value = k.i32(known)
        k.store(I32, self.state.at("BINDINGS") + k.to_i64(self.packet["SUBCHANNEL"] << 2), file.value)
        self.packet.find_file()


class _PacketTracer(Packet):
    """Packets whose words come from segments. SKIPPING: 1 after the end of a segment."""

    def __init__(self, k: Lang, walk: _Traced, illegal_ends: bool) -> None:
        super().__init__(k, walk.state, illegal_ends)
        self.walk = walk

    def put(self, what: Value | int, **columns: Value | int) -> None:
        """Write a row for the word that has just been read as a header."""
        at = self["POSITION"] - 4
        word = self.k.load(I32, self.k.to_i64(at))
        draw = self.walk.rows.get("DRAWS")
        self.walk.put(self.walk.position_of(at), word, what, draw=draw, **columns)

    def begin(self, word: Value, odd: object) -> None:
        k, rows = self.k, self.walk.rows
        skipping = rows.get("SKIPPING") != 0
        for _ in k.when(skipping):
            self.put(NOT_REACHED)
        for _ in k.when(~skipping):
            good = k.var(k.const(True, BOOL))
            for _ in k.when(rows.get("TOLERANT") != 0):
                good.value = self.sensible(word)
                # A wrong header of a long packet would hide much: the packets after it must also be valid.
                words = k.select(header(word, "SEC_OP") == FORMS.IMMD_DATA_METHOD, 0, header(word, "COUNT"))
                long = (words > _LONG) & (self["POSITION"] + (words << 2) <= self["END"])
                for _ in k.when(good.value & ((rows.get("SYNC") == 0) | long)):
                    good.value = self.chain(self["POSITION"] - 4)
                rows.put("SYNC", k.select(good.value, 1, 0))
            for _ in k.when(~good.value):
                self.put(GARBAGE)
            for _ in k.when(good.value):
                super().begin(word, self.walk.odd)
                form = header(word, "SEC_OP")
                for _ in k.when((form != FORMS.IMMD_DATA_METHOD) | (self["REMAINING"] == 0)):
                    method = self["METHOD"]
                    file = k.select(method < HOST_WORDS, HOST_FILE, self.file.value)
                    zero = word == 0
                    self.put(
                        k.select(zero, PADDING, HEADER_ROW), id=k.select(zero, 0, method),
                        subchannel=k.select(zero, 0, self["SUBCHANNEL"]), block=k.select(zero, 0, file), mask=15,
                    )  # fmt: skip

    def end_segment(self) -> None:
        """Skip the rest of the segment as not reached; in a dump continue, as its end is not known."""
        rows = self.walk.rows
        rows.put("SKIPPING", self.k.select(rows.get("TOLERANT") != 0, 0, 1))

    def next_run(self) -> Value:
        k, walk = self.k, self.walk
        rows = walk.rows
        following = walk.segment.value + 1
        there = k.var(following < rows.get("SEGMENTS"))
        for _ in k.when(there.value):
            own = rows.segment(following, "channel") == rows.get("PLACE")
            for _ in k.when(~own):
                rows.put("STATUS", OTHER_CHANNEL)
                there.value = own
        for _ in k.when(there.value):
            walk.segment.value = following
            walk.find()
            rows.put("SKIPPING", 0)
            frame = rows.segment(following, "frame")
            for _ in k.when(frame != rows.get("FRAME")):
                rows.put("FRAME", frame)
                rows.put("DRAWS", 0)
            for _ in k.when((rows.segment(following, "flags") & SUBMISSION) != 0):
                self.state.put("MME_BUDGET", rows.get("LIST_WORDS"))
            count = rows.segment(following, "count")
            is_entry = rows.segment(following, "kind") == GPFIFO
            self["POSITION"] = walk.start.value
            self["END"] = walk.start.value + (count << 2)
            for _ in k.when(is_entry):
                position = k.var(k.i32(0))
                for _ in k.loop(lambda: position.value < count):
                    here = position.value
                    self["POSITION"] = self["POSITION"] + 4
                    self.put(ENTRY, id=here, block=GPFIFO_BLOCK, mask=15)
                    position.value = here + 1
        return there.value

    # -- dumps --------------------------------------------------------------------------------------------------------
    def sensible(self, word: Value) -> Value:
        """Whether a word may be a header: of a form that drivers use, for methods that the bound class has."""
        k = self.k
        form, method, count = header(word, "SEC_OP"), header(word, "ADDRESS"), header(word, "COUNT")
        subchannel = header(word, "SUBCHANNEL")
        bound = k.load(I32, self.state.at("BINDINGS") + k.to_i64(subchannel << 2))
        file = k.select(method < HOST_WORDS, HOST_FILE, bound)
        code = k.load(U8, k.to_i64(file * FILE_WORDS + method) + self.walk.layout.effects)
        known = (code != CODE["unknown"]) & (code != CODE["known_unknown"])
        spare = (word & ~_OF_HEADERS) == 0
        packet = (form == FORMS.INC_METHOD) | (form == FORMS.NON_INC_METHOD) | (form == FORMS.ONE_INC)
        usual = (packet & (count != 0)) | (form == FORMS.IMMD_DATA_METHOD)
        older = (form == FORMS.GRP0_USE_TERT) & (header(word, "TERT_OP") == TERTIARY.INC_METHOD)
        older = older & (header(word, "COUNT_OLD") != 0)
        packet_or_none = (word == 0) | (usual & known & spare) | (older & known)
        return packet_or_none | (form == FORMS.END_PB_SEGMENT) & (word << HEADER["SEC_OP"].width == 0)

    def chain(self, at: Value) -> Value:
        """Whether valid packets follow each other from a word on."""
        k = self.k
        here, good = k.var(at), k.var(k.const(True, BOOL))
        for _ in k.range(0, _CHAIN):
            for _ in k.when(good.value & (here.value < self["END"])):
                word = k.load(I32, k.to_i64(here.value))
                form = header(word, "SEC_OP")
                packet = (form == FORMS.INC_METHOD) | (form == FORMS.NON_INC_METHOD) | (form == FORMS.ONE_INC)
                good.value = self.sensible(word)
                here.value = here.value + 4 + (k.select(packet, header(word, "COUNT"), 0) << 2)
                good.value = good.value & (here.value <= self["END"])
        return good.value


@kernel(1, channel=I32)
def trace(
    k: Lang, channel: Value, *, start: int, area_start: int, ram_words: int, choices: tuple[str, ...] = ()
) -> None:
    """Write rows for segments from SEGMENT on, of `channel`; ends with STATUS set: 0, ROWS_FULL, OTHER_CHANNEL.

    After ROWS_FULL, set ROW to 0 and call it again.
    """
    chosen = frozenset(choices)
    walk = _Traced(k, WorkLayout(start), Area(area_start), channel, ram_words, chosen)
    packet = walk.packet = _PacketTracer(k, walk, "channel.illegal_header" in chosen)
    rows = walk.rows
    rows.put("PLACE", channel)
    rows.put("STATUS", 0)
    go_on(k, walk, packet)
    for _ in k.when(walk.status.value == ROWS_FULL):
        rows.put("STATUS", ROWS_FULL)
    rows.put("ROW", walk.row.value)
    rows.put("SEGMENT", walk.segment.value + 1)


__all__ = ["OTHER_CHANNEL", "ROWS_FULL", "Area", "trace"]
