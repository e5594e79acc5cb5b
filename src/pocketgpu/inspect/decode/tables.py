"""Rows as flat columns, for programs that work with tables: Arrow and pandas.

    table = decoded.to_pandas()
    table[table.register == "TEXUNIT0_DIM"].groupby("frame").size()

Arrow arrays are made by nanoarrow, which is small and which others read without a copy: pyarrow, polars, DuckDB. Both
packages are imported when they are used.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.decode.names import fields, named
from pocketgpu.inspect.decode.rows import (
    BLOCKS,
    CHANGED,
    COMMAND,
    DATA,
    ENTRY,
    HEADER,
    IMMEDIATE,
    ISSUED,
    PARAMETER,
    WHAT,
    Rows,
    effect_names,
)
from pocketgpu.inspect.decode.select import place_of
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    import nanoarrow
    import pandas

_NUMBERS: Final = ("frame", "draw", "list", "segment", "position", "address", "word")
_WRITES: Final = (PARAMETER, IMMEDIATE, ISSUED)
_NAMED: Final = (*_WRITES, HEADER, COMMAND, ENTRY)
_REGISTER: Final = ("id", "old", "new", "mask", "subchannel")


@dataclass(frozen=True)
class Texts:
    """A column of texts, of which most appear many times. codes: (n,) int32, indices into `words`."""

    codes: NDArray[np.int32]
    words: Sequence[str]


Column = NDArray[Any] | Texts
"""Numbers (n,) of the type of the row's field, bools (n,), or texts."""


def columns(rows: Rows) -> dict[str, Column]:
    """Columns by name: the numbers of `ROW`; and, as texts, what a word is, its block, the register's name, fields with
    their values, and effects.

    frame, draw: -1 as in `ROW`. "changed": bools. Texts are "" where a word has none. old, new, mask: 0 where a word
    is not a write.
    """
    found: dict[str, Column] = {name: np.ascontiguousarray(rows[name]) for name in _NUMBERS}
    found["what"] = Texts(rows["what"].astype(np.int32), WHAT)
    is_named = np.isin(rows["what"], _NAMED)
    found["block"] = Texts(np.where(is_named, rows["block"].astype(np.int32), len(BLOCKS)), (*BLOCKS, ""))
    found["register"] = _registers(rows, is_named)
    found |= {name: np.ascontiguousarray(rows[name]) for name in _REGISTER}
    found["changed"] = (rows["effect"] & CHANGED) != 0
    effects, codes = np.unique(rows["effect"] & ~np.uint16(CHANGED), return_inverse=True)
    found["effects"] = Texts(codes.astype(np.int32), [" ".join(effect_names(effect)) for effect in effects.tolist()])
    found["fields"] = _fields(rows)
    return found


def _registers(rows: Rows, is_named: NDArray[np.bool_]) -> Texts:
    """The name of each row's register."""
    key = rows["block"].astype(np.int64) << 24 | rows["id"].astype(np.int64) << 8
    key |= np.where(rows["what"] == COMMAND, rows["subchannel"], 0)
    keys, codes = np.unique(np.where(is_named, key, -1), return_inverse=True)
    words = ["" if one < 0 else named(one >> 24, one >> 8 & 0xFFFF, one & 0xFF).name for one in keys.tolist()]
    return Texts(codes.astype(np.int32), words)


def _fields(rows: Rows) -> Texts:
    """The fields of each write as "name=value name=value"; data for a memory has none."""
    is_plain = np.isin(rows["what"], _WRITES) & ((rows["effect"] & DATA) == 0)
    key = rows["block"].astype(np.int64) << 48 | rows["id"].astype(np.int64) << 32 | rows["new"].astype(np.int64)
    keys, codes = np.unique(np.where(is_plain, key, -1), return_inverse=True)
    words = []
    for one in keys.tolist():
        parts = () if one < 0 else fields(one >> 48, one >> 32 & 0xFFFF, one & 0xFFFFFFFF)
        words.append(", ".join(f"{name}={text}" for name, text in parts))
    return Texts(codes.astype(np.int32), words)


def first_rows(rows: Rows) -> Iterator[tuple[object, ...]]:
    """Some columns of the rows, for a notebook: place, word, what it is, register, value, fields."""
    found = columns(rows)
    texts = {name: one for name, one in found.items() if isinstance(one, Texts)}
    for n, row in enumerate(rows):
        what, register, field = (one.words[int(one.codes[n])] for one in map(texts.__getitem__, _SHOWN))
        place = place_of(int(row["frame"]), int(row["draw"]))
        new = f"{int(row['new']):#010x}" if int(row["what"]) in _WRITES else ""
        yield place, f"{int(row['address']):#010x}", f"{int(row['word']):08x}", what, register, new, field


_SHOWN: Final = ("what", "register", "fields")
SHOWN: Final = ("at", "address", "word", "what", "register", "value", "fields")
"""Heads of the columns of `first_rows`."""


def to_pandas(rows: Rows) -> pandas.DataFrame:
    """The columns as a data frame, a row for each row; texts are categories.

    :raises UsageError: pandas is not installed.
    """
    pd = _module("pandas", "pandas")
    return pd.DataFrame({
        name: pd.Categorical.from_codes(*_merged(one)) if isinstance(one, Texts) else one
        for name, one in columns(rows).items()
    })  # fmt: skip


def _merged(column: Texts) -> tuple[NDArray[np.int32], list[str]]:
    """Codes and words of which no two are equal, as categories must be."""
    places: dict[str, int] = {}
    moved = np.array([places.setdefault(word, len(places)) for word in column.words], np.int32)
    return moved[column.codes] if len(moved) else column.codes, list(places)


def to_arrow(rows: Rows) -> nanoarrow.Array:
    """The columns as an Arrow array of structures, which has the Arrow C interface (`__arrow_c_array__`).

    :raises UsageError: nanoarrow is not installed.
    """
    na = _module("nanoarrow", "pocketgpu[tables]")
    types, children = {}, []
    for name, column in columns(rows).items():
        if isinstance(column, Texts):
            types[name] = na.string()
            child = na.c_array_from_buffers(na.string(), len(rows), [None, *_text_buffers(column)])
        elif column.dtype == np.bool_:
            types[name] = na.bool_()
            bits = np.packbits(column, bitorder="little")
            child = na.c_array_from_buffers(na.bool_(), len(rows), [None, bits])
        else:
            types[name] = getattr(na, column.dtype.name)()
            child = na.c_array_from_buffers(types[name], len(rows), [None, column])
        children.append(child)
    made = na.c_array_from_buffers(na.struct(types), len(rows), [None], children=children)
    return na.Array(made)


def _text_buffers(column: Texts) -> tuple[NDArray[np.int32], bytes]:
    """Offsets and bytes of all texts, as Arrow stores them.

    :raises UsageError: they have 2 GiB or more.
    """
    data = [word.encode() for word in column.words]
    sizes = np.array([len(word) for word in data], np.int64)[column.codes] if data else np.zeros(0, np.int64)
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    if offsets[-1] >= 1 << 31:
        raise UsageError("the texts of these rows are too long for one array", hint="Decode a part: see `select`.")
    return offsets.astype(np.int32), b"".join(map(data.__getitem__, column.codes.tolist()))


def _module(name: str, package: str) -> ModuleType:
    """A module that not every installation has.

    :raises UsageError: it is not installed; the hint has the command.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError(f"{name} is not installed", hint=f"Install it: pip install '{package}'") from None


__all__ = ["SHOWN", "Column", "Texts", "columns", "first_rows", "to_arrow", "to_pandas"]
