"""Kernel that decodes command lists and register writes of a 3DS: the machine's own walk, which writes rows.

The machine runs the same `Walk`, so registers have the same values here. Draws are only counted. This kernel adds a row
for each word, the value of each register at the last draw, and a way to skip garbage in dumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.gsp import GX_HEADER
from pocketgpu.facts.list_entry import ALL_BYTES, BYTE_MASK, CONSECUTIVE, EXTRA, ID, UNUSED
from pocketgpu.facts.pica import COUNT, LIST_ALIGNMENT, PICA, START_LIST
from pocketgpu.inspect.decode.emit import CONTROL, ROW_SIZE, ROWS, SPARE, RowEmitter
from pocketgpu.inspect.decode.rows import (
    ADDRESS,
    CHANGED,
    COMMAND,
    DATA,
    EFFECTS,
    EXTERNAL_BLOCK,
    GARBAGE,
    GX_BLOCK,
    HEADER,
    LCD_BLOCK,
    NOT_REACHED,
    PADDING,
    PARAMETER,
    PICA_BLOCK,
)
from pocketgpu.inspect.decode.stream import JUMPED, LIST
from pocketgpu.lanes import BOOL, I32, U8, Lang, Value, kernel
from pocketgpu.pica.core.layout import ID_SPACE, REGISTER_COUNT, WorkLayout
from pocketgpu.pica.core.registers import part, register_id
from pocketgpu.pica.external.registers import LIST_STARTS
from pocketgpu.pica.front.command_list import BUDGET, EFFECT_NAMES, JUMP_BUDGET, RUNNING, STOPPED, Walk, kept_bits

ROWS_FULL, WANT_JUMP, DONE = 16, 17, 18
"""Statuses with which the kernel ends, besides those of a list."""
WORD_LIMIT: Final = 1 << 22
"""Most words of one list, with all that it jumps to; a longer one counts as endless."""

EXTERNAL_COUNT, LCD_COUNT = 0x800, 0x400
_INDICES = ID_SPACE + EXTERNAL_COUNT + LCD_COUNT
_PICA_FIRST = (PICA.base - EXTERNAL.base) // 4
_CHAIN = 3
"""How many valid entries in a row it takes to continue after garbage."""

_UPLOADS = (
    "fixed_data", "vs_uniform_data", "vs_code", "vs_opdescs", "gs_uniform_data", "gs_code", "gs_opdescs", "fog",
    "lighting", "proctex", "gas",
)  # fmt: skip
EFFECT_OF_CODE: Final = [EFFECTS["upload"] if name in _UPLOADS else 0 for name in EFFECT_NAMES]
"""The effect of a write, by the effect code of the walk."""


@cache
def units() -> Mapping[int, tuple[int, int, int]]:
    """External registers that start a unit: word offset to the masks of "start" and "finished", and the effect."""
    found = {}
    for name, effect in (("PSC0", "fill"), ("PSC1", "fill"), ("PPF", "transfer")):
        control = EXTERNAL[f"{name}_CONTROL"]
        found[control.offset // 4] = (control["start"].mask, control["finished"].mask, EFFECTS[effect])
    return found


class Area:
    """Offsets of the decoder's data, after the machine's own layout. known: for each register id, whether lists write
    it."""

    def __init__(self, start: int) -> None:
        self.control = start
        self.lcd = self.control + 256
        self.seen = self.lcd + 4 * LCD_COUNT
        self.stamps = self.seen + 4 * _INDICES
        self.known = self.stamps + 4 * _INDICES
        self.code_effects = self.known + ID_SPACE
        self.rows = self.code_effects + 256
        self.end = self.rows + ROWS * ROW_SIZE
        assert CONTROL.size <= 256


class _Traced(Walk):
    """The walk without packets: draws are only counted, and the host does jumps."""

    def __init__(self, k: Lang, layout: WorkLayout, choices: Mapping[str, str], rows: RowEmitter) -> None:
        super().__init__(k, layout, choices)
        self.rows = rows

    def record(self, kind: int) -> Value:
        self.rows.put("DRAWS", self.rows.get("DRAWS") + 1)
        self.rows.put("SERIAL", self.rows.get("SERIAL") + 1)
        return self.k.i64(1)

    def jump(self, channel: int) -> None:
        rows, live = self.rows, self.live
        rows.put("JUMPED", 1)
        rows.put("PENDING", 1)
        rows.put("JUMP_ADDRESS", live.bytes(f"CMDBUF_ADDR{channel}.address"))
        rows.put("JUMP_SIZE", live.bytes(f"CMDBUF_SIZE{channel}.size") & -LIST_ALIGNMENT)
        jumps = self.get("JUMPS") + 1
        self.put("JUMPS", jumps)
        self.status.value = self.k.select(jumps > JUMP_BUDGET, BUDGET, STOPPED)


class _ListTracer:
    """The parts of the kernel."""

    def __init__(self, k: Lang, layout: WorkLayout, area: Area, choices: Mapping[str, str]) -> None:
        self.k, self.layout, self.area = k, layout, area
        self.rows = RowEmitter(k, area.control, area.rows)
        self.walk = _Traced(k, layout, choices, self.rows)
        self.status = k.var(RUNNING)
        self.row = k.var(self.rows.get("ROW"))
        self.segment = k.var(self.rows.get("SEGMENT"))
        self.place = k.var(self.rows.get("PLACE"))
        self.count = k.var(0)
        self.start = k.var(k.i64(0))
        self.kind = k.var(0)
        self.find()

    def find(self) -> None:
        """Find where the current segment is."""
        k, rows = self.k, self.rows
        for _ in k.when(self.segment.value < rows.get("SEGMENTS")):
            self.count.value = rows.segment(self.segment.value, "count")
            first = rows.segment(self.segment.value, "first")
            self.start.value = k.to_i64(rows.get("WORDS")) + (k.to_i64(first) << 2)
            self.kind.value = rows.segment(self.segment.value, "kind")
            rows.enter(self.segment.value)

    def begin(self) -> None:
        """Prepare for the first word of a segment."""
        k, rows, walk = self.k, self.rows, self.walk
        frame = rows.segment(self.segment.value, "frame")
        for _ in k.when(frame != rows.get("FRAME")):
            rows.put("FRAME", frame)
            rows.put("DRAWS", 0)
        flags = rows.segment(self.segment.value, "flags")
        for _ in k.when((self.kind.value == LIST) & ((flags & JUMPED) == 0)):
            self.new_submission()
            walk.put("JUMPS", 0)
            rows.put("LIST_WORDS", 0)
        rows.put("PENDING", 0)

    def new_submission(self) -> None:
        """Reset the state that the core resets before it runs words."""
        for name in ("STAGED_FIXED", "IMMEDIATE_OPEN"):
            self.walk.put(name, 0)

    def word(self, position: Value) -> Value:
        return self.k.load(I32, self.start.value + (self.k.to_i64(position) << 2))

    def put(self, row: Value, position: Value, word: Value, what: Value | int, **columns: Value | int) -> None:
        self.rows.emit(row, position, word, what, **columns)

    def draw(self) -> Value:
        """The draw of a word that is not a write: the next one, or an open draw of immediate vertices."""
        return self.rows.get("DRAWS") - self.k.select(self.walk.get("IMMEDIATE_OPEN") != 0, 1, 0)

    # -- one write ----------------------------------------------------------------------------------------------------
    def changed(self, index: Value, old: Value) -> Value:
        """The value of a register at the last draw. Call it before the write."""
        k = self.k
        at = k.to_i64(index << 2)
        serial = self.rows.get("SERIAL")
        seen = k.var(k.load(I32, at + self.area.seen))
        for _ in k.when(k.load(I32, at + self.area.stamps) != serial):
            seen.value = old
            k.store(I32, at + self.area.seen, old)
            k.store(I32, at + self.area.stamps, serial)
        return seen.value

    def write(
        self, row: Value, position: Value, id: Value, keep: Value, mask: Value, w: Value, outside: Value
    ) -> Value:
        """Do a write to a register of the core, with its row; returns the draw that it belongs to.

        outside: the processor writes. Then registers below 0x40 and those that start lists are plain storage.
        """
        k, walk, rows = self.k, self.walk, self.rows
        wraps = "list.high_ids" in walk.choices
        number = id & (ID_SPACE - 1) if wraps else k.select(id.below(ID_SPACE), id, ID_SPACE - 1)
        at = k.to_i64(number << 2) + self.layout.registers
        code = k.load(U8, k.to_i64(number) + self.layout.effects)
        old = k.load(I32, at)
        seen = self.changed(number, old)
        draws, interrupts = k.var(rows.get("DRAWS")), k.var(walk.get("INTERRUPTS"))
        was_open = k.var(walk.get("IMMEDIATE_OPEN"))
        rows.put("JUMPED", 0)
        starts = k.const(False, BOOL)
        for start in LIST_STARTS:
            starts = starts | (number == start)
        plain = outside & (starts | number.below(register_id("FACECULLING_CONFIG")))
        effect = k.var(0)
        for _ in k.when(plain):
            request = register_id("FINALIZE")
            acknowledge = number.below(request)  # the same storage as the requests
            k.store(I32, k.select(acknowledge, at + 4 * request, at), w)
            effect.value = k.select(starts & ((w & START_LIST) != 0), EFFECTS["list"], 0)
        for _ in k.when(~plain):
            for _ in k.when(outside & (code != EFFECT_NAMES.index("store"))):
                self.new_submission()
            walk.put("POOL_TOP", self.layout.pool)  # nothing reads the data of immediate vertices there
            walk.put("PACKETS", 1)
            walk.status.value = RUNNING
            walk.write(number, keep, w)
            fired = rows.get("DRAWS") - draws.value
            effect.value = (
                k.load(I32, k.to_i64(code << 2) + self.area.code_effects)
                | k.select(fired != 0, EFFECTS["draw"], 0)
                | k.select(rows.get("JUMPED") != 0, EFFECTS["jump"], 0)
                | k.select(walk.get("INTERRUPTS") != interrupts.value, EFFECTS["interrupt"], 0)
                | k.select(code == EFFECT_NAMES.index("ignore"), EFFECTS["ignored"], 0)
            )
        new = k.load(I32, at)
        different = (new != seen) & ((effect.value & DATA) == 0)
        for _ in k.when(plain & starts):
            k.store(I32, at, 0)  # the list has ended when the processor continues
        still_open = k.select((was_open.value != 0) & (walk.get("IMMEDIATE_OPEN") != 0), 1, 0)
        draw = draws.value - still_open
        effect.value = effect.value | k.select(different, CHANGED, 0)
        self.put(
            row, position, w, PARAMETER, id=id & 0xFFFF, effect=effect.value, mask=mask, block=PICA_BLOCK, old=old,
            new=new, draw=draw,
        )  # fmt: skip
        return draw

    def external(self, row: Value, position: Value, address: Value, w: Value) -> None:
        """Do a write of the processor to a register of the GPU's or the LCDs' block."""
        k, layout, area = self.k, self.layout, self.area
        index, lcd = (address - EXTERNAL.base).lsr(2), (address - LCD.base).lsr(2)
        is_external, is_lcd = index.below(EXTERNAL_COUNT), lcd.below(LCD_COUNT)
        number = k.select(is_external, index, k.select(is_lcd, lcd, 0))
        at = k.to_i64(number << 2) + k.select(is_external, k.i64(layout.external), k.i64(area.lcd))
        writable = k.select(is_external, k.load(I32, k.to_i64(number << 2) + layout.external_writable), -1)
        old = k.load(I32, at)
        there = is_external | is_lcd
        new = k.select(there, (old & ~writable) | (w & writable), 0)
        seen = self.changed(number + k.select(is_external, ID_SPACE, ID_SPACE + EXTERNAL_COUNT), old)
        effect, kept = k.var(k.select(there, 0, EFFECTS["ignored"])), k.var(new)
        for offset, (start, finished, what) in units().items():
            for _ in k.when(is_external & (number == offset) & ((w & start) != 0)):
                effect.value = effect.value | what
                kept.value = new & ~start | finished
        for _ in k.when(there):
            k.store(I32, at, kept.value)
            effect.value = effect.value | k.select(new != seen, CHANGED, 0)
        block = k.select(is_external, EXTERNAL_BLOCK, k.select(is_lcd, LCD_BLOCK, 0))
        self.put(
            row, position, w, PARAMETER, id=number << 2, effect=effect.value, mask=ALL_BYTES, block=block,
            old=k.select(there, old, 0), new=new, draw=self.rows.get("DRAWS"),
        )  # fmt: skip

    # -- dumps --------------------------------------------------------------------------------------------------------
    def sensible(self, header: Value) -> Value:
        """Whether a word may be the header of an entry: ids that lists write, and unused bits 0."""
        k = self.k
        first, extra, step = part(header, ID), part(header, EXTRA), part(header, CONSECUTIVE)
        last = first + extra * step
        safe = k.to_i64(k.select(first.below(ID_SPACE), first, 0))
        known = k.load(U8, safe + self.area.known) != 0
        return (part(header, UNUSED) == 0) & last.below(COUNT) & known

    def chain(self, position: Value) -> Value:
        """Whether valid entries follow each other from a word on, up to the end or for long enough."""
        k = self.k
        at, good = k.var(position), k.var(k.const(True, BOOL))
        for _ in k.range(0, _CHAIN):
            for _ in k.when(good.value & (at.value + 2 <= self.count.value)):
                header = self.word(at.value + 1)
                good.value = self.sensible(header) & (part(header, BYTE_MASK) != 0)
                extra = part(header, EXTRA)
                at.value = at.value + 2 + extra + (extra & 1)
                good.value = good.value & (at.value <= self.count.value)
        return good.value

    # -- segments -----------------------------------------------------------------------------------------------------
    def entry(self) -> None:
        """Decode an entry of a command list."""
        k, rows, walk = self.k, self.rows, self.walk
        start = self.place.value
        tolerant = rows.get("TOLERANT") != 0
        whole = start + 2 <= self.count.value
        position = k.select(whole, start + 1, start)
        header = self.word(position)
        good = k.var(whole)
        for _ in k.when(tolerant & whole):
            fine = k.var(self.sensible(header))
            for _ in k.when(rows.get("SYNC") == 0):
                fine.value = self.chain(start)
            rows.put("SYNC", k.select(fine.value, 1, 0))
            good.value = fine.value
        for _ in k.when(~good.value):
            # Two words, to stay aligned with headers; or a last word that is no entry.
            what = k.select(tolerant, GARBAGE, NOT_REACHED)
            here, row = k.var(start), k.var(self.row.value)
            end = k.min(start + 2, self.count.value)
            for _ in k.loop(lambda: here.value < end):
                self.put(row.value, here.value, self.word(here.value), what, draw=self.draw())
                here.value = here.value + 1
                row.value = row.value + 1
            self.row.value = row.value
            self.place.value = end
        for _ in k.when(good.value):
            first, extra, step = part(header, ID), part(header, EXTRA), part(header, CONSECUTIVE)
            mask, keep = part(header, BYTE_MASK), kept_bits(header)
            base = self.row.value
            i, going = k.var(0), k.var(k.const(True, BOOL))
            for _ in k.loop(lambda: going.value & (i.value <= extra)):
                n = i.value
                where = start + k.select(n == 0, 0, n + 1)
                for _ in k.when(where < self.count.value):
                    target = base + k.select(n == 0, 0, n + 1)
                    draw = self.write(
                        target, where, first + n * step, keep, mask, self.word(where), k.const(False, BOOL)
                    )
                    for _ in k.when(n == 0):
                        self.put(base + 1, start + 1, header, HEADER, id=first, mask=mask, block=PICA_BLOCK, draw=draw)
                    i.value = n + 1
                    for _ in k.when(tolerant):
                        walk.status.value = RUNNING
                        rows.put("PENDING", 0)
                    going.value = walk.status.value == RUNNING
                for _ in k.when(where >= self.count.value):
                    going.value = k.const(False, BOOL)
            written = i.value + 1
            self.row.value = base + written
            self.place.value = start + written
            rows.put("LIST_WORDS", rows.get("LIST_WORDS") + written)
            for _ in k.when(rows.get("LIST_WORDS") > WORD_LIMIT):
                walk.status.value = BUDGET
            whole_entry = (i.value > extra) & ((extra & 1) != 0) & (self.place.value < self.count.value)
            for _ in k.when(whole_entry):
                at = self.place.value
                what = k.select(walk.status.value == RUNNING, PADDING, NOT_REACHED)
                self.put(self.row.value, at, self.word(at), what, draw=self.draw())
                self.row.value = self.row.value + 1
                self.place.value = at + 1
            for _ in k.when(walk.status.value != RUNNING):
                rows.put("SKIPPING", 1)
                for _ in k.when(walk.status.value == BUDGET):
                    rows.put("PENDING", 0)
                walk.status.value = RUNNING

    def skip(self) -> None:
        """Skip a word that the machine does not reach."""
        at = self.place.value
        self.put(self.row.value, at, self.word(at), NOT_REACHED, draw=self.draw())
        self.row.value = self.row.value + 1
        self.place.value = at + 1

    def pair(self) -> None:
        """Decode an address and the value that the processor writes there."""
        k = self.k
        at, row = self.place.value, self.row.value
        address = self.word(at)
        draws = self.rows.get("DRAWS")
        self.put(row, at, address, ADDRESS, draw=draws)
        for _ in k.when(at + 1 < self.count.value):
            value = self.word(at + 1)
            number = (address - EXTERNAL.base).lsr(2) - _PICA_FIRST
            core = number.below(REGISTER_COUNT)
            for _ in k.when(core):
                self.write(row + 1, at + 1, number, k.i32(0), k.i32(ALL_BYTES), value, k.const(True, BOOL))
            for _ in k.when(~core):
                self.external(row + 1, at + 1, address, value)
        size = k.min(self.count.value - at, 2)
        self.row.value = row + size
        self.place.value = at + size

    def command(self) -> None:
        """Decode a word of a GX command."""
        at = self.place.value
        first = self.word(at & ~7)
        self.put(
            self.row.value, at, self.word(at), COMMAND, id=at & 7, subchannel=part(first, GX_HEADER["id"]),
            block=GX_BLOCK, draw=self.rows.get("DRAWS"), mask=ALL_BYTES,
        )  # fmt: skip
        self.row.value = self.row.value + 1
        self.place.value = at + 1

    def step(self) -> None:
        """Decode the next few words of the current segment."""
        k, rows = self.k, self.rows

        def of_kind() -> None:
            k.switch(self.kind.value, [self.entry, self.pair, self.command])

        k.branch(rows.get("SKIPPING") != 0, self.skip, of_kind)

    def end_segment(self) -> None:
        """Continue with the next segment; stop for the target of a jump if the stream does not have it."""
        k, rows = self.k, self.rows
        rows.put("SKIPPING", 0)
        following = self.segment.value + 1
        waits = k.var(rows.get("PENDING") != 0)
        for _ in k.when(waits.value & (following < rows.get("SEGMENTS"))):
            waits.value = (rows.segment(following, "flags") & JUMPED) == 0
        for _ in k.when(waits.value):
            self.status.value = WANT_JUMP
        for _ in k.when(~waits.value):
            for _ in k.when(rows.get("PENDING") == 0):
                self.walk.put("IMMEDIATE_OPEN", 0)
            self.segment.value = following
            self.place.value = 0
            rows.put("SYNC", 1)
            self.find()


@kernel(1)
def trace(
    k: Lang, *, layout_start: int, layout_size: int, area_start: int, choices: tuple[tuple[str, str], ...] = ()
) -> None:
    """Write rows for all segments from SEGMENT on; ends with STATUS set: DONE, ROWS_FULL or WANT_JUMP.

    After ROWS_FULL, set ROW to 0 and call it again; after WANT_JUMP, set PENDING to 0 or add the next segment.
    """
    tracer = _ListTracer(k, WorkLayout(layout_start, layout_size), Area(area_start), dict(choices))
    rows, status = tracer.rows, tracer.status
    for _ in k.loop(lambda: status.value == RUNNING):
        there = tracer.segment.value < rows.get("SEGMENTS")
        for _ in k.when(~there):
            status.value = DONE
        for _ in k.when(there):
            for _ in k.when((tracer.place.value == 0) & (rows.get("SKIPPING") == 0)):
                tracer.begin()
            for _ in k.loop(lambda: (tracer.place.value < tracer.count.value) & (tracer.row.value < ROWS - SPARE)):
                tracer.step()
            finished = tracer.place.value >= tracer.count.value
            for _ in k.when(finished):
                tracer.end_segment()
            for _ in k.when(~finished):
                status.value = ROWS_FULL
    rows.put("ROW", tracer.row.value)
    rows.put("SEGMENT", tracer.segment.value)
    rows.put("PLACE", tracer.place.value)
    rows.put("STATUS", status.value)


__all__ = ["DONE", "ROWS_FULL", "WANT_JUMP", "Area", "trace"]
