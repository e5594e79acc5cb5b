"""The dialect of the fact tables, and its reader.

A table is a text file with columns separated by tabs. Its first line names the columns of *head rows* (a register, a
method, a structure, an enumeration, ...), its second those of the indented rows that belong to the head row above them
(fields, values, words). Empty cells at the end of a row may be left out. Lines that begin with `#` are comments.

    offset	register	array	marks	reset	also	doc
        field	bits	type	array	unit	doc
    # Ids of the rasteriser.
    040	FACECULLING_CONFIG
        mode	1:0	cull
    068	VIEWPORT_XY
        x	9:0	sint
        y	25:16	sint

Cells that have the same meaning in all tables:

* offset: hexadecimal, in the units of the block (bytes, or register ids); also `081,091,099` and `070-07f`.
* bits: `9:6`, highest first, or `5`; `9:6 view` is a second interpretation of bits that another field has.
* type: a type of `registers.Field`, the name of an enumeration, or its values: `OFF=0 ON=0x2`. Their texts are then
  their symbols. `uint*256` is a number that counts units of 256 bytes, but is shown to readers as it is stored.
* array: `16*0x10` is a count and a distance: in units of the offset for registers, in bits for fields. `4x2*0x8` has
  two dimensions.
* unit: a word for readers, as in `registers.Field`.
* marks: `!` a write has an effect besides storing; `r` and `w` can only be read or only be written; `?` undocumented.
  One more word may name the source of the row: a row of `sources.tsv`. Field rows may have marks too, if their source
  is not that of their head row.
* doc: a sentence of meaning.

Repetition is avoided with these forms:

* Braces are a list: `{0..7}`, `{0,4..60}`, `{x,y,z,w}`. In the name of a register (with `array`) it makes that many
  registers of one row; every other cell with braces then has one text for each of them, as in `reset`
  `{0xc84,0x840c}`; `{id}` is the register's offset. In the name of a field (with `array`) it makes that many
  fields. A field whose bits are `-` for a register is not part of it. Consecutive field arrays are listed by their
  bits.
* `@NAME` instead of a field is a group of fields, a head row of `groups.tsv`. A structure with groups lists its fields
  by their bits.
* `@NAME` instead of a register inserts the table `NAME.tsv` as a part: its offsets are added.
  `TEXUNIT{0..2}_@texture_unit` at `081,091,099` inserts it three times, with names that begin with that prefix; braces
  in its rows then select by the part's number, if the row is not an array itself. A row of the table itself replaces
  the part's row at the same place.
* `=NAME` among the marks: the row is that of `NAME.tsv` with the same name. Non-empty cells replace those of that row,
  and so do field rows: those of this table come first, in its order.

A folder of tables may also have:

* `values.tsv`, the enumerations: a head row has a name, and either all values in one cell (`OFF=0x0 ON=0x2`), or a row
  for each: symbol, number, text, marks. Code compares with symbols, readers see texts. Numbers may be decimal or
  hexadecimal (`0x1f`); symbols and texts may have braces, for consecutive numbers from the given one on.
* `groups.tsv`, groups of fields.
* `sources.tsv`: mark, certainty, source. `{page}` in a source is replaced by the block's own document, and the row `-`
  is for rows without a mark.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from pocketgpu.facts.dialect.certainty import Certainty
from pocketgpu.facts.dialect.late import Late
from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.dialect.values import Named, Values
from pocketgpu.late_dataclass import dataclass

Row = Mapping[str, str]
"""Cells by the name of their column."""

_AS_ABOVE: Final[tuple[Certainty | None, str]] = (None, "")
"""For rows with the source of their head row."""


class Array(NamedTuple):
    """The cell "array". `shape` has the count of each dimension and is empty without an array."""

    shape: tuple[int, ...]
    stride: int

    @property
    def elements(self) -> int:
        """Number of elements, 1 without an array."""
        count = 1
        for one in self.shape:
            count *= one
        return count


class Source(NamedTuple):
    """The meaning of a mark."""

    certainty: Certainty
    source: str


class Marks(NamedTuple):
    """The cell "marks", parsed; `source` is the word that names a row of `sources.tsv`."""

    trigger: bool
    access: str
    known: bool
    source: str


class FieldRow(NamedTuple):
    """An indented row of a field: the arguments of `Field`, in order, and `many` and `stride` (in bits) of an array."""

    name: str
    lo: int
    width: int
    type: str
    unit: str
    enum: Values | None
    doc: str
    view: bool
    source: str
    certainty: Certainty | None
    step: int
    many: int
    stride: int

    @property
    def field(self) -> Field:
        """The field itself, if it is not an array."""
        return Field(*self[:11])


@dataclass(frozen=True, slots=True)
class Entry:
    """A head row with its indented rows.

    `base` and `prefix` come from its part, whose number is `element`.
    """

    cells: Row
    rows: Sequence[Row]
    base: int = 0
    prefix: str = ""
    element: int = 0

    def __getitem__(self, column: str) -> str:
        """A cell; "" if the row or the table has none."""
        return self.cells.get(column, "")

    @property
    def offsets(self) -> list[int]:
        """All offsets in the row."""
        base, text = self.base, self.cells["offset"]
        if text.isalnum():  # nearly all are one number
            return [base + int(text, 16)]
        return [base + offset for offset in parse_offsets(text)]


def read(path: str) -> list[Entry]:
    """All head rows of a table; `path` is relative to this folder, such as "n3ds/pica.tsv"."""
    # Not importlib.resources: importing that costs more than reading a table.
    with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), *path.split("/")), encoding="utf-8") as file:
        return parse(path, file.read())


def parse(path: str, text: str) -> list[Entry]:
    """All head rows of a table with this text. Raises ValueError, with `path`, for rows without a head row."""
    lines = [line for line in text.split("\n") if line and line[0] != "#"]
    head, *rest = lines
    columns = head.split("\t")
    row_columns: list[str] = []
    entries: list[tuple[Row, list[str]]] = []
    for line in rest:
        if line[0] != "\t":
            entries.append((dict(zip(columns, line.split("\t"), strict=False)), []))
        elif not row_columns:
            row_columns = line.split("\t")
        elif not entries:
            raise ValueError(f"{path}: a row without a head: {line.strip()}")
        else:
            entries[-1][1].append(line)
    return [Entry(cells, _late_rows(row_columns, lines) if lines else ()) for cells, lines in entries]


def _late_rows(columns: Sequence[str], lines: Sequence[str]) -> Late[Row]:
    return Late(lambda: tuple([dict(zip(columns, line.split("\t"), strict=False)) for line in lines]))


@lru_cache(4096)
def parse_bits(text: str) -> tuple[int, int, bool]:
    """(lowest bit, width, whether it is a second interpretation) from "9:6", "5" or "9:6 view"."""
    bits, _, view = text.partition(" ")
    high, _, low = bits.partition(":")
    lo = int(low or high)
    return lo, int(high) - lo + 1, view == "view"


@lru_cache(256)
def parse_array(text: str) -> Array:
    """The cell "array": "16*0x10", "4x2*0x8", or nothing."""
    counts, _, stride = text.partition("*")
    return Array(tuple(int(count) for count in counts.split("x")) if counts else (), int(stride or "0", 0))


@lru_cache(1024)
def parse_offsets(text: str) -> tuple[int, ...]:
    """The cell "offset": "040", "081,091", "070-07f"."""
    if text.isalnum():
        return (int(text, 16),)
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first, 16), int(last or first, 16) + 1)
    return tuple(found)


@lru_cache(256)
def parse_marks(text: str) -> Marks:
    """The cell "marks"."""
    words = text.split()
    access = "r" if "r" in words else "w" if "w" in words else "rw"
    named = [word for word in words if word not in ("!", "?", "r", "w") and word[0] != "="]
    return Marks("!" in words, access, "?" not in words, " ".join(named))


@lru_cache(1024)
def parse_list(text: str) -> tuple[str, ...]:
    """A list between braces: "x,y,z", "0..7", "00..31" or "0,4..60"."""
    *items, last = text.split(",")
    start, dots, end = last.partition("..")
    if not dots:
        return (*items, last)
    step = int(start) - int(items[-1]) if items else 1
    digits = len(start) if start.startswith("0") else 0
    return (*items, *(f"{number:0{digits}d}" for number in range(int(start), int(end) + 1, step)))


def expand(text: str, index: int) -> str:
    """A cell for one element of an array: each list in braces replaced by its item."""
    if "{" not in text:
        return text
    parts = _lists(text)
    if len(parts) == 3:
        before, items, after = parts
        return f"{before}{items[index]}{after}"
    return "".join(part if isinstance(part, str) else part[index] for part in parts)


@lru_cache(1024)
def _lists(text: str) -> tuple[str | tuple[str, ...], ...]:
    """A cell split into text, the items of a list, text, and so on."""
    before, *rest = text.split("{")
    parts: list[str | tuple[str, ...]] = [before]
    for part in rest:
        inside, _, after = part.partition("}")
        parts += (parse_list(inside), after)
    return tuple(parts)


def count_of(text: str) -> int:
    """The number of names in a cell with braces; 1 without."""
    inside = text.partition("{")[2].partition("}")[0]
    return len(parse_list(inside)) if inside and inside != "id" else 1


def names_of(text: str) -> list[str]:
    """All names in a cell with braces; the cell itself without."""
    if "{" not in text:
        return [text]
    parts = _lists(text)
    if len(parts) == 3:
        before, items, after = parts
        return [f"{before}{item}{after}" for item in items]
    return [expand(text, index) for index in range(count_of(text))]


def parse_values(name: str, text: str) -> Values:
    """Values written in one cell: "OFF=0x0 ON=0x2"; symbols are texts."""
    pairs = [part.rpartition("=") for part in text.split()]
    return Values.of(name, [Named(int(number, 0), symbol, symbol) for symbol, _, number in pairs])


@dataclass
class Tables:
    """The tables of one folder, with their shared rows."""

    folder: str
    loaded: dict[str, list[Entry]] = field(default_factory=dict)
    """Tables that have been read, by name."""
    _named: dict[str, dict[str, Entry]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Rows by name, of tables that others borrow rows from."""

    def read(self, name: str) -> list[Entry]:
        """The head rows of `NAME.tsv`, without changes."""
        found = self.loaded.get(name)
        if found is None:
            found = self.loaded[name] = read(f"{self.folder}/{name}.tsv")
        return found

    # Registers

    def entries(self, name: str, column: str) -> list[Entry]:
        """The head rows of `NAME.tsv` with those of its parts; `column` has the names."""
        own: list[Entry] = []
        parts: list[Entry] = []
        for entry in self.read(name):
            prefix, at, part = entry.cells.get(column, "").partition("@")
            if not at:
                own.append(self._borrowed(entry, column))
                continue
            array = parse_array(entry["array"])
            bases = entry.offsets
            if array.shape:
                bases = [bases[0] + number * array.stride for number in range(array.elements)]
            for number, base in enumerate(bases):
                text = expand(prefix, number)
                parts += (
                    Entry(one.cells, one.rows, base + one.base, text + one.prefix, number)
                    for one in self.entries(part, column)
                )
        if not parts:
            return own
        taken = {entry.offsets[0] for entry in own if entry["offset"] != "*"}
        return [*own, *(part for part in parts if part.offsets[0] not in taken)]

    def _borrowed(self, entry: Entry, column: str) -> Entry:
        """A row with `=NAME` among its marks, completed from the row of its name in that table; others unchanged."""
        marks = entry.cells.get("marks", "")
        if "=" not in marks or not (other := next((word[1:] for word in marks.split() if word[0] == "="), "")):
            return entry
        by_name = self._by_name(other, column)
        origin = next(by_name[name] for name in names_of(entry[column]) if name in by_name)
        own = {name: cell for name, cell in entry.cells.items() if cell}
        # Aliases belong to one block only. The array of a row with a list of names applies to that list.
        left_out = {"aliases", "also"} | ({"array"} if "{" in origin[column] else set())
        rest = {name: cell for name, cell in origin.cells.items() if name not in left_out}
        cells = {**rest, **own, "marks": f"{origin['marks']} {marks}"}
        return Entry(cells, Late(lambda: _joined(entry.rows, origin.rows)) if entry.rows else origin.rows)

    def _by_name(self, table: str, column: str) -> dict[str, Entry]:
        """The head rows of a table by each of their names."""
        found = self._named.get(table)
        if found is None:
            found = self._named[table] = {}
            for entry in self.read(table):
                for name in names_of(entry[column]):
                    found.setdefault(name, entry)
        return found

    # What rows share

    @cached_property
    def enumerations(self) -> Mapping[str, Values]:
        """All enumerations by name."""
        return {entry["enumeration"]: self._values(entry) for entry in self.read("values")}

    def values(self, name: str) -> Values:
        """An enumeration by its name; the table is read when its first value is used."""
        return Values(name, lambda: self.enumerations[name].all())

    def _values(self, entry: Entry) -> Values:
        name = entry["enumeration"]
        if entry["values"]:
            return parse_values(name, entry["values"])
        return Values(name, lambda: list(self._value_rows(entry)))

    def _value_rows(self, entry: Entry) -> Iterator[Named]:
        for row in entry.rows:
            first, symbol = int(row["number"], 0), row["symbol"]
            certainty, source = self.source(row["marks"]) if row.get("marks") else _AS_ABOVE
            text = row.get("text") or symbol
            for index in range(count_of(symbol)):
                yield Named(first + index, expand(symbol, index), expand(text, index), source, certainty)

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """The meanings of this folder's marks."""
        return {
            entry["mark"].removeprefix("-"): Source(Certainty(entry["certainty"]), entry["source"])
            for entry in self.read("sources")
        }

    def source(self, mark: str, page: str = "") -> Source:
        """The meaning of a mark, in a block whose document is `page`."""
        certainty, source = self.sources[mark]
        return Source(certainty, source.replace("{page}", page))

    @cached_property
    def groups(self) -> Mapping[str, Sequence[Row]]:
        """Groups of fields by name."""
        return {entry["group"]: entry.rows for entry in self.read("groups")}

    # Fields

    def type(self, text: str) -> tuple[str, Values | None]:
        """Field.type and Field.enum from the cell "type"."""
        if "=" in text:
            return "enum", parse_values(text, text)
        shared = self.enumerations.get(text)
        return ("enum", shared) if shared is not None else (text or "uint", None)

    def rows(self, rows: Sequence[Row]) -> Iterator[Row]:
        """The field rows of a head row, with the rows of their groups."""
        for row in rows:
            name = row["field"]
            if name[0] == "@":
                yield from self.rows(self.groups[name[1:]])
            else:
                yield row

    def fields(self, rows: Sequence[Row], index: int = 0, page: str = "") -> list[FieldRow]:
        """The fields of a head row, for element `index` of an array; field arrays are not expanded.

        page: the document of the block, for sources that refer to it.
        """
        found = []
        for row in self.rows(rows):
            bits = expand(row["bits"], index)
            if bits == "-":
                continue
            get = row.get
            array = parse_array(get("array", ""))
            name = row["field"] if array.shape else expand(row["field"], index)
            doc = get("doc", "") if array.shape else expand(get("doc", ""), index)
            lo, width, view = parse_bits(bits)
            type_, _, step = get("type", "").partition("*")
            type_, values = self.type(type_)
            certainty, source = self.source(row["marks"], page) if get("marks") else _AS_ABOVE
            row_of = (name, lo, width, type_, get("unit", ""), values, doc, view, source, certainty, int(step or "1"))
            found.append(FieldRow(*row_of, array.elements, array.stride))
        return found


def _joined(own: Iterable[Row], others: Iterable[Row]) -> tuple[Row, ...]:
    """The field rows of a row that borrows: its own first, completed; then the others."""
    under = {row["field"]: row for row in others}
    rows = [{**under.pop(row["field"], {}), **{k: v for k, v in row.items() if v}} for row in own]
    return (*rows, *under.values())


def apart(fields: Sequence[FieldRow]) -> list[FieldRow]:
    """Fields with arrays expanded; consecutive arrays are listed by their bits."""
    result: list[FieldRow] = []
    run: list[FieldRow] = []
    for one in fields:
        if one.stride:
            for index in range(one.many):
                name, doc = expand(one.name, index), expand(one.doc, index)
                lo = one.lo + index * one.stride
                run.append(one._replace(name=name, doc=doc, lo=lo, many=1, stride=0))
            continue
        if run:
            result += sorted(run, key=_lowest)
            run.clear()
        result.append(one)
    return result + sorted(run, key=_lowest)


def _lowest(row: FieldRow) -> int:
    return row.lo
