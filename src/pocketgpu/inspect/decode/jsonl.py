"""Rows as JSON lines: one object for each word, under a schema with a version (docs/formats/decode.md).

Lines are joined from texts that are made once for each register and value: a general JSON writer would take ten times
as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.decode.consoles import CONSOLES, Console
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
    ROW,
    WHAT,
    Rows,
    effect_names,
)
from pocketgpu.inspect.decode.select import place_of
from pocketgpu.inspect.decode.uniforms import Uniform, uniforms_in

if TYPE_CHECKING:
    from pocketgpu.inspect.decode.api import Decoded

SCHEMA: Final = "pocketgpu.decode"
VERSION: Final = 1
_PIECE: Final = 1 << 14
"""How many rows are converted to Python numbers at a time."""
_MOST_TEXTS: Final = 1 << 18
_WRITES = (PARAMETER, IMMEDIATE, ISSUED)
_NAMED = (*_WRITES, HEADER, COMMAND, ENTRY)
_KEY_AT: Final = int(ROW.fields["id"][1]) if ROW.fields else 0
"""Offset in a row of id, effect, what, mask, subchannel and block: eight bytes, read as one number."""


def header(decoded: Decoded) -> dict[str, Any]:
    """The first line."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "source": decoded.source,
        "console": decoded.console,
        "as": decoded.kind,
        "frames": decoded.stream.frame_count,
        "segments": len(decoded.stream.table),
        "words": len(decoded.stream.words),
    }


def lines(decoded: Decoded, mask: NDArray[np.bool_] | None = None, headed: bool = True) -> Iterator[str]:
    """The header (unless `headed` is False) and a line for each row that `mask` selects (default: all), without line
    ends."""
    if headed:
        yield json.dumps(header(decoded))
    uniforms = {place: _compact(one.to_json()) for place, one in uniforms_in(decoded.rows, mask).items()}
    chosen = np.arange(len(decoded.rows)) if mask is None else np.flatnonzero(mask)
    heads: dict[int, _Head] = {}
    for start in range(0, len(chosen), _PIECE):
        places = chosen[start : start + _PIECE]
        written = {}
        if uniforms:
            written = {n: uniforms[place] for n, place in enumerate(places.tolist()) if place in uniforms}
        yield from _piece(decoded.rows[places], heads, CONSOLES[decoded.console], written)


def lines_at(
    rows: Rows, places: NDArray[np.int64], console: str, uniforms: Mapping[int, Uniform]
) -> Iterator[str]:
    """The lines of some rows. places: their indices. uniforms: those that rows complete, by index of the row."""
    texts = {place: _compact(one.to_json()) for place, one in uniforms.items()}
    written = {n: texts[place] for n, place in enumerate(places.tolist()) if place in texts}
    yield from _piece(rows[places], {}, CONSOLES[console], written)


class _Head:
    """The text that rows share if they differ only in place and values.

    text: the text between word and values. values: the text after each value; None if the row is not a write.
    """

    __slots__ = ("block", "data", "id", "text", "values")

    def __init__(self, row: np.void, console: Console) -> None:
        what, effect, self.block, self.id = (int(row[name]) for name in ("what", "effect", "block", "id"))
        mask, sub = int(row["mask"]), int(row["subchannel"])
        self.data = bool(effect & DATA)
        self.values: dict[int, str] | None = {} if what in _WRITES else None
        text = f'","what":"{WHAT[what]}"'
        if effect & CHANGED:
            text += ',"changed":true'
        if found := effect_names(effect):
            text += f',"effects":{json.dumps(found, separators=(",", ":"))}'
        if what in (*_WRITES, HEADER):
            text += f',"mask":"{mask:#x}"'
            text += f',"subchannel":{sub}' if console.has_subchannels else ""
        if what in _NAMED:
            register = named(self.block, self.id, sub if what == COMMAND else 0)
            text += f',"block":"{BLOCKS[self.block]}","register":{{"id":"{register.id}","name":"{register.name}"'
            text += ',"old":"0x' if what in _WRITES else "}"
        self.text = text

    def value(self, value: int) -> str:
        """The text after a value: its fields. Words of data have none."""
        assert self.values is not None
        if len(self.values) > _MOST_TEXTS:
            self.values.clear()
        found = () if self.data else fields(self.block, self.id, value)
        text = f'"}},"fields":{json.dumps(dict(found), separators=(",", ":"))}}}' if found else '"}}'
        if not self.data:
            self.values[value] = text
        return text


def _hex(column: NDArray[Any], digits: int) -> list[str]:
    """Each number of a column as that many hexadecimal digits. Much faster than formatting one by one."""
    size = column.dtype.itemsize
    text = column.astype(f">u{size}").tobytes().hex()
    return [text[end - digits : end] for end in range(2 * size, len(text) + 1, 2 * size)]


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _piece(rows: Rows, heads: dict[int, _Head], console: Console, uniforms: dict[int, str]) -> Iterator[str]:
    """Lines of some rows. uniforms: JSON of those that a row completes, by its index."""
    keys = rows.getfield(np.dtype(np.uint64), _KEY_AT).tolist()
    places = (rows["frame"].astype(np.int64) << 32 | rows["draw"].astype(np.uint32)).tolist()
    there, address = rows["address"].astype(np.bool_).tolist(), _hex(rows["address"], console.address_digits)
    at, last = "", None
    for index, (key, place, list_, position, in_memory, where, word, old, new, value) in enumerate(
        zip(
            keys,
            places,
            rows["list"].tolist(),
            rows["position"].tolist(),
            there,
            address,
            _hex(rows["word"], 8),
            _hex(rows["old"], 8),
            _hex(rows["new"], 8),
            rows["new"].tolist(),
            strict=True,
        )
    ):
        if place != last:
            last = place
            at = f'{{"at":"{place_of(int(rows["frame"][index]), int(rows["draw"][index]))}","list":'
        head = heads.get(key)
        if head is None:
            head = heads[key] = _Head(rows[index], console)
        lies = f',"address":"0x{where}","word":"0x' if in_memory else ',"word":"0x'
        if head.values is None:
            yield f'{at}{list_},"position":{position}{lies}{word}{head.text}}}'
        else:
            text = head.values.get(value) or head.value(value)
            if index in uniforms:
                text = f'{text[:-1]},"uniform":{uniforms[index]}}}'
            yield f'{at}{list_},"position":{position}{lies}{word}{head.text}{old}","new":"0x{new}{text}'
