"""Uniforms that words of a 3DS upload, with their registers and values.

    0x20040000  ...  VSH_FLOATUNIFORM_DATA0  8 words [upload]  c4 = 1, 0, 0, 0; c5 = 0, 1, 0, 0

A float uniform takes three words of packed 24-bit floats or four of 32-bit floats, in the order w, z, y, x; the index
register says which of both and which uniform comes next, and writing it drops the words of a half vector. A Switch has
constant buffers instead.

Source: 3dbrew GPU/Internal Registers, GPUREG_VSH_FLOATUNIFORM_INDEX; pica/front/command_list.py does the same.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed
from pocketgpu.facts.dialect.registers import decode_float
from pocketgpu.facts.pica import FLOAT_UNIFORMS, PICA
from pocketgpu.inspect.decode.rows import IMMEDIATE, PARAMETER, PICA_BLOCK, Rows
from pocketgpu.late_dataclass import dataclass

_UNITS: Final = {"VSH": "vertex", "GSH": "geometry"}
_INTEGERS: Final = 4
_BOOLEANS: Final = 16
_DATA: Final = 8
_PACKED_WORDS, _WHOLE_WORDS = 3, 4


@dataclass(frozen=True, slots=True, repr=False)
class Uniform(Displayed):
    """A uniform after a write. unit: "vertex" or "geometry". name: "c4" (values: x, y, z, w as floats), "i0" (x, y, z,
    w as integers of 8 bits), or "b" (b0 to b15, bools)."""

    unit: str
    name: str
    values: tuple[float, ...] | tuple[int, ...] | tuple[bool, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data; NaN and infinities as text."""
        values = [value if isinstance(value, int) or np.isfinite(value) else str(value) for value in self.values]
        return {"unit": self.unit, "register": self.name, "value": values}

    @property
    def text(self) -> str:
        """Its name and values."""
        if self.name == "b":
            return f"true: {', '.join(f'b{n}' for n, value in enumerate(self.values) if value) or 'none'}"
        return f"{self.name} = {', '.join(f'{value:.6g}' for value in self.values)}"

    def __str__(self) -> str:
        return f"{self.unit} {self.text}"


_INDEX_MASK: Final = PICA["VSH_FLOATUNIFORM_INDEX"]["index"].mask
_IDS: Final = {
    short: (
        PICA[f"{short}_FLOATUNIFORM_INDEX"].offset,
        PICA[f"{short}_FLOATUNIFORM_DATA0"].offset,
        PICA[f"{short}_INTUNIFORM_I0"].offset,
        PICA[f"{short}_BOOLUNIFORM"].offset,
    )
    for short in _UNITS
}
"""For each unit the ids of its index register, and the first ids of float data, integers and booleans."""


def uniforms_of(rows: Rows) -> dict[int, Uniform]:
    """The uniforms that rows of a stream write, by the index of the row that completes them, in order.

    The index register's value before the first row is not known: what is uploaded before it is written is left out.
    """
    written = _is_written(rows)
    found: dict[int, Uniform] = {}
    for short, unit in _UNITS.items():
        index, data, integers, booleans = _IDS[short]
        ids = np.where(written, rows["id"], 0)
        places = np.flatnonzero((ids == index) | ((ids >= data) & (ids < data + _DATA)))
        found |= _floats(rows, places, index, unit)
        for place in np.flatnonzero((ids >= integers) & (ids < integers + _INTEGERS)).tolist():
            register, word = PICA[int(ids[place])], int(rows["new"][place])
            values = tuple(register[axis].raw(word) for axis in "xyzw")
            found[place] = Uniform(unit, f"i{int(ids[place]) - integers}", values)
        for place in np.flatnonzero(ids == booleans).tolist():
            bits = PICA[booleans]["bools"].raw(int(rows["new"][place]))
            found[place] = Uniform(unit, "b", tuple(bool(bits >> n & 1) for n in range(_BOOLEANS)))
    return dict(sorted(found.items()))


def _is_written(rows: Rows) -> NDArray[np.bool_]:
    """Which rows write a register of the 3D core."""
    found: NDArray[np.bool_] = (rows["block"] == PICA_BLOCK) & np.isin(rows["what"], (PARAMETER, IMMEDIATE))
    return found


def uniforms_in(rows: Rows, mask: NDArray[np.bool_] | None) -> dict[int, Uniform]:
    """Those of the rows from the first to the last that a mask selects: others need not be looked at."""
    if mask is None:
        return uniforms_of(rows)
    chosen = np.flatnonzero(mask)
    if not len(chosen):
        return {}
    begin, end = int(chosen[0]), int(chosen[-1]) + 1
    ids = np.where(_is_written(rows[:begin]), rows["id"][:begin], 0)
    for index, *_ in _IDS.values():  # an upload may have begun earlier
        starts = np.flatnonzero(ids == index)
        begin = min(begin, int(starts[-1])) if len(starts) else begin
    return {begin + place: one for place, one in uniforms_of(rows[begin:end]).items()}


class UniformsAt:
    """The uniforms of rows of a long stream, for few rows at a time: only the words that a uniform is made of are
    looked at.

    :param rows: the stream. It is searched once for the words that upload floats, piece by piece (`note`).
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._noted: dict[str, list[NDArray[np.int64]]] = {short: [] for short in _UNITS}
        self._places: dict[str, NDArray[np.int64]] = {}
        self._begins: dict[str, NDArray[np.int64]] = {}

    def note(self, first: int, end: int) -> None:
        """Look at these rows. They follow those that were noted before."""
        rows = self._rows[first:end]
        ids = np.where(_is_written(rows), rows["id"], 0)
        for short, (index, data, *_) in _IDS.items():
            self._noted[short].append(first + np.flatnonzero((ids == index) | ((ids >= data) & (ids < data + _DATA))))

    def settle(self) -> None:
        """All rows were noted."""
        for short, (index, *_) in _IDS.items():
            parts = self._noted.pop(short)
            places = self._places[short] = np.concatenate(parts) if parts else np.zeros(0, np.int64)
            self._begins[short] = np.flatnonzero(self._rows["id"][places] == index)

    def of(self, place: int) -> Uniform | None:
        """The uniform that a row completes; None if it completes none."""
        row = self._rows[place : place + 1]
        if not _is_written(row)[0]:
            return None
        id = int(row["id"][0])
        for short, (_, data, integers, booleans) in _IDS.items():
            if integers <= id < integers + _INTEGERS or id == booleans:
                return uniforms_of(row).get(0)
            if data <= id < data + _DATA:
                return self._float(short, place)
        return None

    def _float(self, short: str, place: int) -> Uniform | None:
        places, begins, index = self._places[short], self._begins[short], _IDS[short][0]
        at = int(np.searchsorted(places, place))
        before = int(np.searchsorted(begins, at)) - 1
        if before < 0:
            return None
        begin = int(begins[before])
        written = int(self._rows["new"][places[begin]])
        step = _WHOLE_WORDS if PICA[index]["f32"].raw(written) else _PACKED_WORDS
        count, left = divmod(at - begin, step)
        number = (PICA[index]["index"].raw(written) + count - 1) & _INDEX_MASK
        if left or not count or number >= FLOAT_UNIFORMS:
            return None
        words = self._rows["word"][places[at - step + 1 : at + 1]].reshape(1, step)
        return Uniform(_UNITS[short], f"c{number}", tuple((_whole if step == _WHOLE_WORDS else _packed)(words)[0]))


def _floats(rows: Rows, places: NDArray[np.int64], index: int, unit: str) -> dict[int, Uniform]:
    """The float uniforms of a unit. places: of writes of its index and data registers, in order."""
    found: dict[int, Uniform] = {}
    begins = np.flatnonzero(rows["id"][places] == index).tolist()
    start, mode = PICA[index]["index"], PICA[index]["f32"]
    words, indices, at = rows["word"][places], rows["new"][places].tolist(), places.tolist()
    for begin, end in pairwise([*begins, len(at)]):
        first, whole = start.raw(indices[begin]), mode.raw(indices[begin])
        step = _WHOLE_WORDS if whole else _PACKED_WORDS
        last = begin + 1 + (end - begin - 1) // step * step  # words of a half vector are left over
        vectors = (_whole if whole else _packed)(words[begin + 1 : last].reshape(-1, step))
        for number, (values, place) in enumerate(zip(vectors, at[begin + step : last : step], strict=True), first):
            if number & _INDEX_MASK < FLOAT_UNIFORMS:
                found[place] = Uniform(unit, f"c{number & _INDEX_MASK}", tuple(values))
    return found


def _whole(words: NDArray[np.uint32]) -> list[list[float]]:
    """x, y, z, w of vectors of four words of 32 bits, (n, 4)."""
    return words[:, ::-1].copy().view(np.float32).tolist()  # type: ignore[no-any-return]


def _packed(words: NDArray[np.uint32]) -> list[list[float]]:
    """x, y, z, w of vectors of three words, (n, 3): 96 bits with w in the highest 24."""
    return [
        [decode_float((a << 64 | b << 32 | c) >> 24 * n & 0xFFFFFF, "f24") for n in range(4)]
        for a, b, c in words.tolist()
    ]


__all__ = ["Uniform", "UniformsAt", "uniforms_in", "uniforms_of"]
