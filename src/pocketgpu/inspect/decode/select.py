"""Selection of rows: by place ("f1/d17", "f1/d3..d9", "f1"), by register or field, by change."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Field, Register
from pocketgpu.facts.gsp import GX_COMMANDS
from pocketgpu.facts.lookup import BLOCKS, register_named
from pocketgpu.facts.maxwell import CLASSES
from pocketgpu.inspect.decode.names import named
from pocketgpu.inspect.decode.rows import CHANGED, GX_BLOCK, IMMEDIATE, ISSUED, PARAMETER, Rows
from pocketgpu.inspect.model.address import Address

Mask = NDArray[np.bool_]

_PLACES: Final = "Such as f1, f1/d17, f1/d3..d9, f0..f2, f0/d5..f1/d2."
_FILTERS: Final = "Such as 'TEXENV*', FACECULLING_CONFIG, 0x040, 'TEXUNIT*.width', TEXUNIT0_DIM.width=64."
_ELEMENT: Final = re.compile(r"(?<=\w\w)\[(\d+)\]$")
"""An element as SET_COLOR_TARGET_A[3]; as a pattern that is also a set of letters, so both meanings are tried."""
LAST: Final = 1 << 30
"""The draw number of rows after the last draw of a frame."""


def _key(frame: int, draw: int) -> int:
    return frame << 32 | draw


def split_key(key: int) -> tuple[int, int]:
    """The frame and the draw of a key (`keys_of`)."""
    return divmod(key, 1 << 32)


def _ends(text: str, other: Address | None = None) -> tuple[Address, Address]:
    """The first and last place that one side of a range names."""
    if other is not None and re.fullmatch(r"d\d{1,9}", text):
        text = f"f{other.frame}/{text}"
    address = Address.parse(text)
    if address != Address(address.frame, draw=address.draw):
        raise UsageError(f"'{text}' names something inside of a draw or frame", hint=_PLACES)
    return address, address


def parse_range(text: str) -> tuple[int, int]:
    """The keys of the first and last draw of a place or range of places, both included.

    :raises UsageError: the text is no place.
    """
    first, dots, last = text.partition("..")
    begin, end = _ends(first)
    if dots:
        end, _ = _ends(last, begin)
    low = _key(begin.frame, 0 if begin.draw is None else begin.draw)
    high = _key(end.frame, LAST if end.draw is None else end.draw)
    if high < low:
        raise UsageError(f"'{text}' ends before it begins", hint=_PLACES)
    return low, high


def of_places(rows: Rows, places: Iterable[str], rest: int) -> Mask:
    """Rows that belong to any of these places; all rows if there are none. rest: the number that stands for a frame
    after the last one.

    :raises UsageError: one is no place.
    """
    ranges = [parse_range(place) for place in places]
    if not ranges:
        return np.ones(len(rows), np.bool_)
    keys = keys_of(rows, rest)
    found = np.zeros(len(rows), np.bool_)
    for low, high in ranges:
        found |= (keys >= low) & (keys <= high)
    return found


def keys_of(rows: Rows, rest: int) -> NDArray[np.int64]:
    """For each row its frame, and in the lower 32 bits its draw, `LAST` after the last one. rest: the number that
    stands for a frame after the last one."""
    draws = rows["draw"].astype(np.int64)
    frames = np.where(rows["frame"] < 0, rest, rows["frame"]).astype(np.int64)
    keys: NDArray[np.int64] = frames << 32 | np.where(draws < 0, LAST, draws)
    return keys


def of_registers(rows: Rows, patterns: Iterable[str]) -> Mask:
    """Rows that write a register that one of the patterns names; all rows if there are no patterns.

    TEXUNIT0_DIM, TEXENV*, 0x040, TEXUNIT*.width, TEXUNIT0_DIM.width=64: a pattern is a name, alias or id, with * and ?
    for any letters; then optionally "." and a field (rows of registers that have it); then optionally "=" and its
    value, as a number or a name.

    :raises UsageError: there is no register of that name, or the field has no such value.
    """
    wanted = list(patterns)
    for pattern in wanted:
        _check(pattern)
    if not wanted:
        return np.ones(len(rows), np.bool_)
    writes = (rows["what"] == PARAMETER) | (rows["what"] == IMMEDIATE) | (rows["what"] == ISSUED)
    commands = rows["block"] == GX_BLOCK
    own = np.where(commands, rows["subchannel"].astype(np.int64), 0)
    keys = own << 32 | rows["block"].astype(np.int64) << 16 | rows["id"]
    there = np.unique(keys[writes | commands]).tolist()
    found = np.zeros(len(rows), np.bool_)
    for pattern in wanted:
        found |= _matching(rows, keys, there, pattern) & (writes | commands)
    return found


def _matching(rows: Rows, keys: NDArray[np.int64], there: list[int], pattern: str) -> Mask:
    path, equals, value = pattern.partition("=")
    name, dot, field = path.strip().partition(".")
    element = _ELEMENT.sub(r"(\1)", name)
    found = np.zeros(len(rows), np.bool_)
    plain: list[int] = []
    for key in there:
        register = named(key >> 16 & 0xFF, key & 0xFFFF, key >> 32)
        both = f"{name}.{field}" if dot else name
        if key >> 16 & 0xFF == GX_BLOCK:
            if _fits(register.name, both) or _fits(register.name.partition(".")[0], both):
                plain.append(key)
            continue
        # The name alone also selects elements of an array, such as SET_COLOR_TARGET_A(3).
        names = (register.name, register.name.partition("(")[0], register.id)
        fits = any(_fits(one, name) for one in names) or _fits(register.name, element)
        if not (fits or _alias(register.register, name)):
            continue
        if not dot:
            plain.append(key)
            continue
        for one in register.register.fields if register.register else ():
            if _fits(one.name, field):
                mask = keys == key
                if equals:
                    mask &= (rows["new"] >> np.uint32(one.lo) & np.uint32((1 << one.width) - 1)) == _number(one, value)
                found |= mask
    return found | np.isin(keys, plain)


def _check(pattern: str) -> None:
    """Refuse a plain name that no table has: it is probably mistyped."""
    name = pattern.partition("=")[0].strip().partition(".")[0].removeprefix("GPUREG_")
    if re.search(r"[*?\[]|^0[xX]|^UNKNOWN_|^ENTRY$", name) or name in {command.name for command in GX_COMMANDS}:
        return
    if register_named(name) is None and not any(block.get(name) for block in CLASSES.values()):
        close = difflib.get_close_matches(name.upper(), _all_names(), n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else _FILTERS
        raise UsageError(f"there is no register {name!r}", location="--filter", hint=hint)
    _check_field(pattern, name)


def _check_field(pattern: str, name: str) -> None:
    """Refuse a field that no register of that name has."""
    field = pattern.partition("=")[0].strip().partition(".")[2]
    if not field:
        return
    registers = [register_named(name), *(block.get(name) for block in CLASSES.values())]
    fields = [one.name for register in registers if register is not None for one in register.fields]
    if not any(_fits(one, field) for one in fields):
        known = ", ".join(dict.fromkeys(fields)) or "none"
        raise UsageError(f"{name} has no field {field!r}", location="--filter", hint=f"It has: {known}.")


def _all_names() -> list[str]:
    names = [one.name for block in BLOCKS for one in block]
    names += [one.name for methods in CLASSES.values() for one in methods]
    return list(dict.fromkeys(names))  # consoles and classes have names in common


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.upper(), pattern.upper())


def _alias(register: Register | None, pattern: str) -> bool:
    return register is not None and any(
        _fits(alias, pattern) for alias in (*register.aliases, f"GPUREG_{register.name}")
    )


def _number(field: Field, value: str) -> int:
    """The bits of a value of a field: a number, or a name of its enumeration."""
    text = value.strip()
    for number, name in (field.enum or {}).items():
        if text.upper() in name.upper().split("|"):
            return number
    if field.type == "bool" and text.lower() in ("yes", "no", "true", "false"):
        return int(text.lower() in ("yes", "true"))
    try:
        return int(text, 0)
    except ValueError:
        names = ", ".join((field.enum or {}).values())
        hint = f"It has {names}." if names else "Write a number such as 64 or 0x40: the raw bits."
        raise UsageError(f"field {field.name} has no value {text!r}", location="--filter", hint=hint) from None


def changed(rows: Rows) -> Mask:
    """Rows after which a register differs from its value at the last draw."""
    found: Mask = (rows["effect"] & CHANGED) != 0
    return found


def place_of(frame: int, draw: int) -> str:
    """The address of the frame or draw of a row; "tail" is after the last frame."""
    if frame < 0:
        return "tail" if draw < 0 else f"tail/d{draw}"
    return f"f{frame}" if draw < 0 else f"f{frame}/d{draw}"
