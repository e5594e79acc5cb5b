"""Methods of the Tegra X1's GPU by class, with NVIDIA's names: everything that a pushbuffer can write.

A subchannel is bound to a class. A class is a set of methods, each a 32-bit word at an offset that pushbuffers count in
words and the vendor's headers in bytes. The tables are in this folder, one per class, in the dialect of
`facts/dialect/tables.py`. They are read at the first use.

Sources: NVIDIA's public class headers (clb197.h, clb1c0.h, cla140.h, cl902d.h, clb0b5.h, clb06f.h). Counts of arrays
are not in the headers; they follow from the offsets of neighbours. A method that is not in the class header is marked
with its source (`sources.tsv`); see `Method.certainty`.

Descriptions of fields are our own words. They follow the names in the headers, NVIDIA's Shader Program Header
Specification, the register database of envytools, the driver library deko3d, and the rules of OpenGL and Direct3D for
state that these also have. Fields that none of them describes have no sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Final

from pocketgpu.facts.dialect.late import Late
from pocketgpu.facts.dialect.registers import Bank, Field, Register
from pocketgpu.facts.dialect.tables import Array, Entry, Tables, apart, expand, names_of, parse_array, parse_marks
from pocketgpu.facts.dialect.values import Values
from pocketgpu.late_dataclass import dataclass

WORDS: Final = 0x1000
"""Words of a class's method space; a method's word number has 12 bits."""

TABLES: Final = Tables("maxwell")
"""The tables in this folder."""


@dataclass(frozen=True, slots=True)
class Method(Register):
    """One method of a class, or an array of them.

    `offset` and `word` count 32-bit words from the start of the class; `byte` counts bytes. An array has `count`
    elements, `stride` words apart; otherwise these are 1 and 0. Two-dimensional arrays have no gaps: `shape` has both
    counts then, and elements are numbered consecutively. `method(3)` is element 3, with `index` 3 and `count` 1.
    """

    count: int = 1
    stride: int = 0
    shape: tuple[int, ...] = ()
    index: int | None = None

    @property
    def word(self) -> int:
        """Offset in 32-bit words, as in pushbuffers."""
        return self.offset

    @property
    def byte(self) -> int:
        """Offset in bytes, as in class headers."""
        return 4 * self.offset

    @property
    def label(self) -> str:
        """The name, with the number of the element of an array."""
        return self.name if self.index is None else f"{self.name}({self.index})"

    def __call__(self, *index: int) -> Method:
        """Element of an array, by its number or, with two dimensions, by both numbers.

        Raises IndexError outside the array, and if the method is not an array.
        """
        limits = self.shape if self.shape and len(index) == len(self.shape) else (self.count,)
        if self.stride == 0 or len(index) != len(limits):
            raise IndexError(f"{self.label} takes no {len(index)} indices")
        number = 0
        for one, limit in zip(index, limits, strict=True):
            if not 0 <= one < limit:
                raise IndexError(f"{self.name} has elements 0 to {limit - 1}, not {one}")
            number = number * limit + one
        return replace(self, offset=self.offset + number * self.stride, count=1, stride=0, shape=(), index=number)

    def words(self) -> range:
        """The word of every element."""
        return _words(self.offset, self.count, self.stride)


class MethodBlock:
    """All methods of a class, found by word, official name or alias (upper or lower case)."""

    def __init__(self, class_id: int, title: str, engine: str, header: str) -> None:
        self.class_id = class_id
        self.title = title
        self.engine = engine
        self.header = header
        self.bank = Bank(f"{class_id:04x}", 0)

    @property
    def name(self) -> str:
        """The class number in four lower-case hex digits, such as "b197"."""
        return self.bank.name

    def __repr__(self) -> str:
        return f"MethodBlock({self.name}, {self.title})"

    @cached_property
    def _slots(self) -> tuple[_Slot, ...]:
        """The places of all methods, by word. No method is made for this: a class has up to 800."""
        found = [slot for entry in TABLES.entries(self.name, "method") for slot in _slots(self, entry)]
        return tuple(sorted(found, key=attrgetter("offset")))

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """All methods, by word; an array is one method."""
        return tuple(slot.method for slot in self._slots)

    @property
    def places(self) -> Iterator[tuple[str, range]]:
        """Name and words of all methods, by word."""
        return ((slot.name, slot.words) for slot in self._slots)

    @property
    def labels(self) -> Iterator[tuple[str, int]]:
        """Label and word of every register, by method: an array has one for each element. No method is made for it."""
        for slot in self._slots:
            if slot.array.stride >= 4:
                yield from ((f"{slot.name}({number})", word) for number, word in enumerate(slot.words))
            else:
                yield slot.name, slot.offset

    @cached_property
    def _at(self) -> dict[int, tuple[_Slot, int]]:
        return {word: (slot, index) for slot in self._slots for index, word in enumerate(slot.words)}

    @cached_property
    def _by_name(self) -> dict[str, _Slot]:
        names = {slot.name.upper(): slot for slot in self._slots}
        for slot in self._slots:
            for alias in slot.aliases:
                # On the page a pair of words has one name, which means its first word here.
                names.setdefault(alias.upper(), slot)
        return names

    def __getitem__(self, key: int | str) -> Method:
        found = self.get(key)
        if found is None:
            shown = f"word {key:#x}" if isinstance(key, int) else repr(key)
            raise KeyError(f"class {self.name} has no method {shown}")
        return found

    def get(self, key: int | str) -> Method | None:
        """The method (element, for a word in an array) of that word, name or alias, or None.

        Names may include an element: "SET_COLOR_TARGET_A(3)", "SET_COLOR_TARGET_A[3]", "RenderTarget3Addr".
        """
        if isinstance(key, int):
            found = self.at(key)
            return None if found is None else found[0](found[1]) if found[0].stride else found[0]
        plain = self._by_name.get(key.upper())
        if plain is not None:
            return plain.method
        match = re.fullmatch(r"(\w+?)[(\[](\d{1,3})[)\]]", key) or re.fullmatch(r"([A-Za-z]\D*)(\d{1,3})(\D*)", key)
        if match is None:
            return None
        name = match[1] if match.lastindex == 2 else f"{match[1]}N{match[3]}"
        slot = self._by_name.get(name.upper())
        array = None if slot is None else slot.method
        return array(int(match[2])) if array is not None and int(match[2]) < array.count and array.stride else None

    def at(self, word: int) -> tuple[Method, int] | None:
        """The method at a word and the number of the element (0 without an array), or None."""
        found = self._at.get(word)
        return None if found is None else (found[0].method, found[1])

    def find(self, text: str) -> list[Method]:
        """Methods whose official name or alias contains `text`, in upper or lower case."""
        part = text.upper()
        return [
            method
            for method in self.methods
            if part in method.name or any(part in alias.upper() for alias in method.aliases)
        ]

    def field(self, path: str) -> Field:
        """The field named "METHOD.FIELD"."""
        method, _, field = path.partition(".")
        return self[method][field]

    def values(self, path: str) -> Values:
        """The values of the field "METHOD.FIELD", or of the only field of "METHOD"."""
        method, _, field = path.partition(".")
        return (self[method][field] if field else self[method].fields[0]).values

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int | str) and self.get(key) is not None

    def __iter__(self) -> Iterator[Method]:
        return iter(self.methods)

    def __len__(self) -> int:
        return len(self._slots)


_NO_ARRAY: Final = Array((), 0)


class _Slot:
    """The place of a method: what finds it, and the method itself, which is made at its first use."""

    __slots__ = ("_block", "_entry", "_index", "_made", "aliases", "array", "name", "offset")

    def __init__(
        self, block: MethodBlock, entry: Entry, index: int, name: str, aliases: tuple[str, ...],
        offset: int, array: Array,
    ) -> None:  # fmt: skip
        """index: the number of the name in a row with a list of names."""
        self._block, self._entry, self._index = block, entry, index
        self.name, self.aliases, self.offset, self.array = name, aliases, offset, array
        self._made: Method | None = None

    @property
    def words(self) -> range:
        """The word of every element."""
        return _words(self.offset, self.array.elements, self.array.stride // 4)

    @property
    def method(self) -> Method:
        """The method; an array is one method."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def _make(self) -> Method:
        block, entry, index, array = self._block, self._entry, self._index, self.array
        marks = parse_marks(entry["marks"])
        certainty, source = TABLES.source(marks.source, block.header)
        return Method(
            block=block.bank,
            offset=self.offset,
            name=self.name,
            aliases=self.aliases,
            fields=Late(lambda: tuple(row.field for row in apart(TABLES.fields(entry.rows, index, block.header)))),
            trigger=marks.trigger,
            source=source,
            certainty=certainty,
            doc=expand(entry["doc"], index),
            count=array.elements,
            stride=array.stride // 4,
            shape=array.shape if len(array.shape) > 1 else (),
        )


def _words(offset: int, count: int, stride: int) -> range:
    return range(offset, offset + max(count * stride, 1), stride or 1)


def _slots(block: MethodBlock, entry: Entry) -> Iterator[_Slot]:
    """The place of a row's method, or of all methods of a list of names."""
    cells = entry.cells
    names, array, aliases = names_of(cells["method"]), parse_array(cells.get("array", "")), cells.get("aliases", "")
    offset = entry.offsets[0]
    stride, array = (array.stride, _NO_ARRAY) if len(names) > 1 else (0, array)
    others = tuple(aliases.split(",")) if aliases else ()
    for index, name in enumerate(names):
        yield _Slot(block, entry, index, name, others, (offset + index * stride) // 4, array)


B197: Final = MethodBlock(0xB197, "MAXWELL_B", "3D", "clb197.h")
B1C0: Final = MethodBlock(0xB1C0, "MAXWELL_COMPUTE_B", "compute", "clb1c0.h")
A140: Final = MethodBlock(0xA140, "KEPLER_INLINE_TO_MEMORY_B", "inline-to-memory", "cla140.h")
TWOD: Final = MethodBlock(0x902D, "FERMI_TWOD_A", "2D", "cl902d.h")
B0B5: Final = MethodBlock(0xB0B5, "MAXWELL_DMA_COPY_A", "DMA copy", "clb0b5.h")
B06F: Final = MethodBlock(0xB06F, "MAXWELL_CHANNEL_GPFIFO_A", "host", "clb06f.h")

CLASSES: Final[Mapping[int, MethodBlock]] = {block.class_id: block for block in (B197, B1C0, A140, TWOD, B0B5, B06F)}
"""Methods by class number. B06F is the channel's own class: words below 0x40 on any subchannel."""

SUBCHANNELS: Final[Mapping[int, MethodBlock]] = {0: B197, 1: B1C0, 2: A140, 3: TWOD, 4: B0B5}
"""The class of each subchannel by the drivers' convention. Source: Switchbrew GPU (Subchannels)."""

MISPLACED: Final[Mapping[int, str]] = {
    0x51F: "PolygonOffsetClamp0",
    0x558: "TexSamplerPoolMaximumIndex",
    0x5A6: "InvalidateShaderCachesNoWfi",
    0x689: "SetSpare",
}
"""Words of class B197 where Switchbrew's page lists a method of another word, and its name there."""
