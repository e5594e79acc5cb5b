"""Code with which kernels write rows of `ROW`: one store for each column or pair of columns."""

from __future__ import annotations

from typing import Final

from pocketgpu.inspect.decode.rows import ROW
from pocketgpu.inspect.decode.stream import SEGMENT
from pocketgpu.lanes import I32, I64, Lang, Value
from pocketgpu.struct_words import Struct

ROW_SIZE: Final = ROW.itemsize
SEGMENT_SIZE: Final = SEGMENT.itemsize
ROWS: Final = 1 << 15
"""Rows in the kernel's buffer: it returns to the host when the buffer is full."""
SPARE: Final = 600
"""Most rows that one step of a kernel writes: an entry of a command list has at most 258 words."""

_AT: Final = {name: int(ROW.fields[name][1]) for name in ROW.names or ()} if ROW.fields else {}
_SEGMENT_AT: Final = {name: int(SEGMENT.fields[name][1]) for name in SEGMENT.names or ()} if SEGMENT.fields else {}
assert _AT["effect"] == _AT["id"] + 2 and _AT["block"] == _AT["what"] + 3

CONTROL: Final = Struct(
    "STATUS", "ROW", "SEGMENT", "SEGMENTS", "TABLE", "WORDS", "TOLERANT", "SYNC", "PLACE", "SKIPPING",
    "DRAWS", "FRAME", "SERIAL", "TRIGGERS", "DRAWN", "INSIDE", "INLINE", "MACROS", "LAST",
    # a jump that waits for its target
    "PENDING", "JUMP_ADDRESS", "JUMP_SIZE", "JUMPED", "LIST_WORDS",
)  # fmt: skip
"""Words that kernels and the host share. TABLE, WORDS: arena offsets of segments and words. DRAWS: draws of the frame
so far. SERIAL: draws of the whole stream so far. TRIGGERS: triggers so far. DRAWN: arena offset of the marks which of
them draw (0: all do). LAST: arena offset of the last row that is a word of the stream."""


class RowEmitter:
    """Writes rows in a kernel. Columns that are equal for a whole segment are kept in variables: see `enter`."""

    def __init__(self, k: Lang, control: int, rows: int) -> None:
        self.k, self.control, self.rows = k, control, rows
        self._address, self._scale = k.var(k.i64(0)), k.var(k.i64(0))
        self._number, self._frame, self._list = k.var(0), k.var(0), k.var(0)

    def enter(self, segment: Value) -> None:
        """The rows that follow are of this segment."""
        k = self.k
        address = self.segment(segment, "address")
        self._address.value = address
        self._scale.value = k.select(address == 0, k.i64(0), k.i64(4))
        self._number.value = segment
        self._frame.value, self._list.value = self.segment(segment, "frame"), self.segment(segment, "list")

    def get(self, name: str) -> Value:
        return self.k.load(I32, self.control + int(getattr(CONTROL, name)))

    def put(self, name: str, value: Value | int) -> None:
        self.k.store(I32, self.control + int(getattr(CONTROL, name)), value)

    def segment(self, number: Value, name: str) -> Value:
        """A number of a segment's record; `address` has 64 bits."""
        k = self.k
        at = k.to_i64(number * SEGMENT_SIZE + self.get("TABLE")) + _SEGMENT_AT[name]
        return k.load(I64 if name == "address" else I32, at)

    def emit(
        self,
        row: Value,
        position: Value,
        word: Value,
        what: Value | int,
        id: Value | int = 0,
        effect: Value | int = 0,
        mask: Value | int = 0,
        subchannel: Value | int = 0,
        block: Value | int = 0,
        old: Value | int = 0,
        new: Value | int = 0,
        draw: Value | int = 0,
    ) -> Value:
        """Write row number `row` of the buffer; returns its arena offset."""
        k = self.k

        def part(value: Value | int, bits: int) -> Value:
            one = value if isinstance(value, Value) else k.i32(value)
            return one << bits if bits else one

        at = k.to_i64(row) * ROW_SIZE + self.rows
        place = self._address.value + k.to_i64(position, signed=False) * self._scale.value
        k.store(I64, at + _AT["address"], place)
        k.store(I32, at + _AT["word"], word)
        for name, value in (("old", old), ("new", new), ("draw", draw)):
            k.store(I32, at + _AT[name], value)
        for name, kept in (("frame", self._frame), ("list", self._list), ("segment", self._number)):
            k.store(I32, at + _AT[name], kept.value)
        k.store(I32, at + _AT["position"], position)
        k.store(I32, at + _AT["id"], part(id, 0) | part(effect, 16))
        k.store(I32, at + _AT["what"], part(what, 0) | part(mask, 8) | part(subchannel, 16) | part(block, 24))
        return at
