"""Makes one register for each element of a table's rows, arrays and parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pocketgpu.facts.dialect.late import Late
from pocketgpu.facts.dialect.registers import Bank, Field, Register, RegisterBlock, Slot
from pocketgpu.facts.dialect.tables import Entry, Row, apart, count_of, expand, names_of, parse_array, parse_marks
from pocketgpu.facts.n3ds import TABLES

_COMMA = re.compile(r",(?![^{]*\})")
"""Between names, not inside braces."""
_EVERYTHING = "*"
_WHOLE = 0xFFFFFFFF


def block(bank: Bank, name: str, page: str, size: int = 0, also: str = "") -> RegisterBlock:
    """The registers of `NAME.tsv`, read at their first use.

    page: the document that describes them. size: number of offsets, for tables with a row `*`, which describes all
    offsets without another row. also: a prefix under which each name works too.
    """
    return RegisterBlock(bank, lambda: _slots(bank, name, page, size, also))


def _slots(bank: Bank, name: str, page: str, size: int, also: str) -> list[Slot]:
    entries = TABLES.entries(name, "register")
    shared: dict[int, tuple[Field, ...]] = {}
    slots: list[Slot] = []
    for entry in entries:
        if entry.cells["offset"] != _EVERYTHING:
            slots += _RegisterRow(bank, entry, _offsets(entry), page, shared).slots(also)
    for entry in entries:
        if entry.cells["offset"] == _EVERYTHING:
            taken = {slot.offset for slot in slots}
            free = [offset for offset in range(size) if offset not in taken]
            slots += _RegisterRow(bank, entry, free, page, shared).slots(also)
    return slots


def _offsets(entry: Entry) -> list[int]:
    offsets, text, name = entry.offsets, entry.cells.get("array"), entry.cells["register"]
    if text:
        array = parse_array(text)
        offsets = [offsets[0] + number * array.stride for number in range(array.elements)]
    elif len(offsets) == 1 and "{" not in name:
        return offsets
    names = count_of(name)
    if names not in (1, len(offsets)):
        raise ValueError(f"{entry['register']}: {names} names for {len(offsets)} registers")
    return offsets


class _RegisterRow:
    """A row of a table: one register, or an array of them."""

    def __init__(
        self, bank: Bank, entry: Entry, offsets: Sequence[int], page: str, shared: dict[int, tuple[Field, ...]]
    ) -> None:
        self.bank, self.entry, self.offsets, self.page, self.shared = bank, entry, offsets, page, shared
        self.marks = parse_marks(entry["marks"])

    def slots(self, also: str) -> list[Slot]:
        """The places of the registers, with their names; with the prefix `also` each name works too."""
        entry, make, get = self.entry, self.register, self.entry.cells.get
        texts = [entry.prefix + entry.cells["register"]]
        if more := get("also"):
            texts += [entry.prefix + text for text in _COMMA.split(more)]
        if also and self.marks.known:
            texts = [each for text in texts for each in (text, also + text)]
        bits = get("writable")
        writable = int(bits, 0) if bits else _WHOLE
        if len(self.offsets) == 1:
            names = [self._text(text, 0) if "{" in text else text for text in texts]
            return [Slot(self.offsets[0], names, make, self._resets()[0], writable)]
        columns = zip(*[self._texts(text) for text in texts], strict=True)
        places = zip(self.offsets, columns, self._resets(), strict=True)
        return [Slot(offset, names, make, reset, writable, n) for n, (offset, names, reset) in enumerate(places)]

    def register(self, slot: Slot) -> Register:
        """The register of a place."""
        entry, marks = self.entry, self.marks
        certainty, source = TABLES.source(marks.source, self.page)
        return Register(
            self.bank,
            slot.offset,
            slot.names[0],
            tuple(slot.names[1:]),
            Late(lambda: self._fields(slot.number)),
            slot.reset,
            marks.access,
            slot.writable,
            marks.trigger,
            source=source,
            certainty=certainty,
            doc=self._text(entry["doc"], slot.number),
            known=marks.known,
        )

    def _element(self, number: int) -> int:
        """The index into lists in braces; for a row that is not an array, the number of its part."""
        return number if len(self.offsets) > 1 else self.entry.element

    def _texts(self, text: str) -> Sequence[str]:
        """A cell for each element."""
        count = len(self.offsets)
        if "{" not in text:
            return [text] * count
        if count > 1 and "{id}" not in text:
            return names_of(text)
        before, found, after = text.partition("{id}")
        if found and "{" not in before + after:
            return [f"{before}{offset:03X}{after}" for offset in self.offsets]
        return [self._text(text, number) for number in range(count)]

    def _resets(self) -> Sequence[int]:
        """The reset value of each element."""
        text = self.entry.cells.get("reset") or "0"
        if "{" not in text:
            return [int(text, 0)] * len(self.offsets)
        return [int(one, 0) for one in self._texts(text)]

    def _text(self, text: str, number: int) -> str:
        if "{id}" in text:
            text = text.replace("{id}", f"{self.offsets[number]:03X}")
        return expand(text, self._element(number))

    def _fields(self, number: int) -> tuple[Field, ...]:
        """The fields; made once if they are the same for all elements."""
        rows = self.entry.rows
        found = self.shared.get(id(rows)) if rows else ()
        if found is None:
            found = tuple(row.field for row in apart(TABLES.fields(rows, self._element(number), self.page)))
            if not _varies(TABLES.rows(rows)):
                self.shared[id(rows)] = found
        return found


def _varies(rows: Iterable[Row]) -> bool:
    """Whether fields differ from element to element: lists in braces that no array of the field's own uses."""
    return any(
        "{" in row["bits"] or (not row.get("array") and ("{" in row["field"] or "{" in row.get("doc", "")))
        for row in rows
    )
