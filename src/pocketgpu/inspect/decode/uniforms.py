"""Uniforms that words of a 3DS upload, with their registers and values.

    0x20040000  ...  VSH_FLOATUNIFORM_DATA0  8 words [upload]  c4 = 1, 0, 0, 0; c5 = 0, 1, 0, 0

A float uniform takes three words of packed 24-bit floats or four of 32-bit floats, in the order w, z, y, x; the index
register says which of both and which uniform comes next, and writing it drops the words of a half vector. A Switch has
constant buffers instead.

Source: 3dbrew GPU/Internal Registers, GPUREG_VSH_FLOATUNIFORM_INDEX; pica/front/command_list.py does the same.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pocketgpu.displayed import Displayed
from pocketgpu.facts.dialect.registers import decode_float
from pocketgpu.facts.pica import FLOAT_UNIFORMS, PICA
from pocketgpu.inspect.decode.rows import IMMEDIATE, PARAMETER, PICA_BLOCK, Rows

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


class _Upload:
    """The upload of a unit's float uniforms as it goes on. index: None until the index register is written."""

    def __init__(self) -> None:
        self.index: int | None = None
        self.whole = False
        self.words: list[int] = []

    def begin(self, index: int, whole: bool) -> None:
        """The index register is written."""
        self.index, self.whole, self.words = index, whole, []

    def take(self, word: int) -> tuple[int, tuple[float, ...]] | None:
        """A word of data. Returns the number and the values of a uniform that is complete."""
        self.words.append(word)
        if self.index is None or len(self.words) < (_WHOLE_WORDS if self.whole else _PACKED_WORDS):
            return None
        values = _whole(self.words) if self.whole else _packed(self.words)
        number, self.words = self.index, []
        self.index = (number + 1) & _INDEX_MASK
        return (number, values) if number < FLOAT_UNIFORMS else None


def _whole(words: Sequence[int]) -> tuple[float, ...]:
    """x, y, z, w of four words of 32 bits."""
    w, z, y, x = struct.unpack("<4f", struct.pack("<4I", *words))
    return x, y, z, w


def _packed(words: Sequence[int]) -> tuple[float, ...]:
    """x, y, z, w of three words: 96 bits with w in the highest 24."""
    bits = words[0] << 64 | words[1] << 32 | words[2]
    return tuple(decode_float(bits >> 24 * n & 0xFFFFFF, "f24") for n in range(4))


_INDEX_MASK: Final = PICA["VSH_FLOATUNIFORM_INDEX"]["index"].mask
_INDEX: Final = {PICA[f"{short}_FLOATUNIFORM_INDEX"].offset: short for short in _UNITS}
_WORDS: Final = {PICA[f"{short}_FLOATUNIFORM_DATA{n}"].offset: short for short in _UNITS for n in range(_DATA)}
_INTS: Final = {
    PICA[f"{short}_INTUNIFORM_I{n}"].offset: (short, n) for short in _UNITS for n in range(_INTEGERS)
}
_BOOLS: Final = {PICA[f"{short}_BOOLUNIFORM"].offset: short for short in _UNITS}
_IDS: Final = np.array([*_INDEX, *_WORDS, *_INTS, *_BOOLS], np.uint16)


def uniforms_of(rows: Rows) -> dict[int, Uniform]:
    """The uniforms that rows of a stream write, by the index of the row that completes them.

    The index register's value before the first row is not known: what is uploaded before it is written is left out.
    """
    chosen = (rows["block"] == PICA_BLOCK) & np.isin(rows["what"], (PARAMETER, IMMEDIATE)) & np.isin(rows["id"], _IDS)
    places = np.flatnonzero(chosen)
    uploads = {short: _Upload() for short in _UNITS}
    found: dict[int, Uniform] = {}
    columns = (rows[name][places].tolist() for name in ("id", "word", "new"))
    for place, id, word, new in zip(places.tolist(), *columns, strict=True):
        if (short := _WORDS.get(id)) is not None:
            done = uploads[short].take(word)
            if done is not None:
                found[place] = Uniform(_UNITS[short], f"c{done[0]}", done[1])
        elif (short := _INDEX.get(id)) is not None:
            register = PICA[id]
            uploads[short].begin(register["index"].raw(new), bool(register["f32"].raw(new)))
        elif id in _INTS:
            short, number = _INTS[id]
            values = tuple(PICA[id][axis].raw(new) for axis in "xyzw")
            found[place] = Uniform(_UNITS[short], f"i{number}", values)
        else:
            bits = PICA[id]["bools"].raw(new)
            found[place] = Uniform(_UNITS[_BOOLS[id]], "b", tuple(bool(bits >> n & 1) for n in range(_BOOLEANS)))
    return found


__all__ = ["Uniform", "uniforms_of"]
