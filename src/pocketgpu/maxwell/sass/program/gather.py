"""A program taken out of memory: all instructions that its entry can lead to, as code of its own.

A command only names the place where a program begins. Its end is found by following its instructions over branches,
calls and pushed addresses. Instructions that nothing leads to become NOP. Parts that are far away (functions that
programs share) are moved next to the rest, and branches to them are changed. So the code is no longer than the program,
and the same program gives the same code wherever it lies.

Nothing in the code says where tables of jumps lie. If a program jumps through a table, code directly after its other
instructions is taken for the targets.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.sass import FORMS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.bundles import BUNDLE, NOP, WORD, index_of, offset_of
from pocketgpu.maxwell.sass.isa.decoder import REFUSED, SassError, decode, match, split
from pocketgpu.maxwell.sass.isa.instruction import Instruction
from pocketgpu.maxwell.sass.isa.operand import Imm, Indirect, Label
from pocketgpu.maxwell.sass.program.control import BRANCHES, PUSHES, STOPS, conditional

LIMIT = 1 << 16
"""Instructions of a program, gaps between its parts included."""
SWEEP = 1 << 12
"""Instructions that may be targets of tables."""
GAP = 8
"""Parts of a program are moved together if there are so many bundles, or more, between them."""
CHUNK = 4096
_NOP = NOP.to_bytes(WORD, "little")
_CHUNK_COUNT = CHUNK // BUNDLE * 3
_CALLS = {"CAL", "JCAL"}
_JUMPS = {*BRANCHES, "JMP", "JCAL"}
_ENDS = {*_JUMPS, *STOPS, *PUSHES}

Read = Callable[[int, int], bytes]
"""Given an offset and a size: the bytes of code there, perhaps fewer."""


@dataclass(frozen=True)
class Gathered:
    """A program. data: bundles; start: offset of the entry in them; indirect: offsets that tables of jumps may name.

    origins: pairs of an offset in `data` and the offset of the code there from the entry. pieces: offset and bytes of
    each part of the code where it was found.
    """

    data: bytes
    start: int
    indirect: tuple[int, ...]
    origins: tuple[tuple[int, int], ...]
    pieces: tuple[tuple[int, int], ...]


@cache
def _rows(names: frozenset[str]) -> NDArray[np.bool_]:
    """For each row of the table whether its mnemonic is one of these; the last is for words that were refused."""
    return np.array([*(form.op in names for form in FORMS.values()), True])


_Chunk = tuple[bytes, NDArray[np.uint64], NDArray[np.int16], NDArray[np.intp]]
"""Bundles, their instructions, the row of the table of each, and where straight runs end."""


@lru_cache(maxsize=64)
def _matched(data: bytes) -> _Chunk:
    words, _ = split(data)
    rows = match(words)
    return data, words, rows, np.flatnonzero(_rows(frozenset(_ENDS))[rows])


class _Text:
    """Code as it is read, a chunk at a time, by numbers of instructions."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._chunks: dict[int, _Chunk] = {}

    def _chunk(self, number: int) -> _Chunk:
        found = self._chunks.get(number)
        if found is None:
            data = self._read(number * CHUNK, CHUNK) if number >= 0 else b""
            found = self._chunks[number] = _matched(bytes(data[: len(data) // BUNDLE * BUNDLE]))
        return found

    def row(self, index: int) -> int:
        """The row of the table of an instruction, REFUSED for none."""
        _, _, rows, _ = self._chunk(index // _CHUNK_COUNT)
        place = index % _CHUNK_COUNT
        return int(rows[place]) if place < len(rows) else REFUSED

    def instruction(self, index: int) -> Instruction:
        """An instruction. Raises SassError."""
        _, words, _, _ = self._chunk(index // _CHUNK_COUNT)
        place = index % _CHUNK_COUNT
        if place >= len(words):
            raise SassError("a program leads to where no code is", address=offset_of(index))
        return decode(int(words[place]), offset_of(index))

    def end(self, index: int) -> int:
        """The first from an instruction on that ends a straight run or is no instruction, at most LIMIT further."""
        stop = index + LIMIT
        while index < stop:
            number, place = divmod(index, _CHUNK_COUNT)
            _, words, _, ends = self._chunk(number)
            at = int(np.searchsorted(ends, place))
            if at < len(ends):
                return number * _CHUNK_COUNT + int(ends[at])
            if len(words) < _CHUNK_COUNT:
                return number * _CHUNK_COUNT + max(len(words), place)
            index = (number + 1) * _CHUNK_COUNT
        return index

    def bundle(self, number: int) -> bytes:
        """A control word and its three instructions."""
        data, *_ = self._chunk(number * BUNDLE // CHUNK)
        at = number * BUNDLE % CHUNK
        return data[at : at + BUNDLE]


def _falls(instruction: Instruction) -> bool:
    """Whether control can go on after an instruction that ends a straight run."""
    op = instruction.op
    if op in PUSHES or op in _CALLS:
        return True
    return conditional(instruction)


class _CodeWalk:
    """The instructions that others lead to, found so far."""

    def __init__(self, text: _Text) -> None:
        self.text = text
        self.reached: set[int] = set()
        self.named: dict[int, tuple[Instruction, int]] = {}
        """Instructions that name another one."""
        self.tables = False
        self.absolute = False
        """Whether the program has code addresses as numbers."""

    def follow(self, entry: int, limit: int) -> set[int]:
        """Add what an instruction leads to; returns what is new. Raises SassError, and changes nothing then."""
        fresh: set[int] = set()
        named: dict[int, tuple[Instruction, int]] = {}
        tables = absolute = False
        todo = [entry]
        while todo:
            index = todo.pop()
            if index in self.reached or index in fresh:
                continue
            end = self.text.end(index)
            if len(self.reached) + len(fresh) + end - index > limit:
                raise SassError(f"a program of more than {limit} instructions", address=offset_of(entry))
            fresh.update(range(index, end + 1))
            instruction = self.text.instruction(end)
            target = instruction.get("target")
            address = target.target if isinstance(target, Label) else target.bits if isinstance(target, Imm) else None
            if address is not None:
                found = index_of(address, 1 << 32)
                if found is None:
                    raise SassError(f"a jump to {address:#x}", address=offset_of(end))
                named[end] = (instruction, found)
                todo.append(found)
            elif target is not None:
                tables = True
                absolute |= instruction.op != "BRX" or not isinstance(target, Indirect)
            if _falls(instruction):
                todo.append(end + 1)
        rows = [self.text.row(index) for index in fresh]
        self.absolute |= absolute or bool(_rows(frozenset({"LEPC", "JMX"}))[rows].any())
        self.tables |= tables
        self.reached |= fresh
        self.named |= named
        return fresh

    def follow_tables(self) -> list[int]:
        """Add what tables of jumps may name: what looks like code directly after known instructions."""
        padding = _rows(frozenset({"NOP"}))
        limit = min(len(self.reached) + SWEEP, LIMIT)
        todo = sorted(index + 1 for index in self.reached)
        found = []
        for index in todo:  # which grows
            if index in self.reached or padding[self.text.row(index)]:
                continue
            try:
                fresh = self.follow(index, limit)
            except SassError:
                continue
            found.append(index)
            todo += sorted(one + 1 for one in fresh)
        return found


def gather(read: Read, entry: int) -> Gathered:
    """The program whose first instruction (or the control word before it) is at an offset.

    :raises SassError: something that is reached is not an instruction, or the program is too long.
    """
    start = index_of(entry, 1 << 32)
    if start is None:
        raise SassError("a program begins at a multiple of 8 bytes", address=entry)
    text = _Text(read)
    walk = _CodeWalk(text)
    walk.follow(start, LIMIT)
    tables = walk.follow_tables() if walk.tables else []
    return _join(text, walk, start, tables)


def _parts(walk: _CodeWalk) -> list[tuple[int, int]]:
    """First and last bundle of each part, as far apart as the parts are."""
    bundles = sorted({index // 3 for index in walk.reached})
    parts = [(0 if walk.absolute else bundles[0], bundles[0])]
    for bundle in bundles[1:]:
        first, last = parts[-1]
        if bundle - last > GAP and not walk.absolute:
            parts.append((bundle, bundle))
        else:
            parts[-1] = (first, bundle)
    return parts


def _join(text: _Text, walk: _CodeWalk, start: int, tables: list[int]) -> Gathered:
    """The parts one after the other. A program that has its own addresses as numbers is not moved."""
    parts = _parts(walk)
    firsts = [first for first, _ in parts]
    places, at = [], 0  # first bundle of each part in the new code
    for first, last in parts:
        places.append(at)
        at += last - first + 1
    if 3 * at > LIMIT:
        raise SassError(f"a program that is spread over more than {LIMIT} instructions", address=offset_of(start))

    def moved(index: int) -> int:
        part = bisect_right(firsts, index // 3) - 1
        return index + (places[part] - firsts[part]) * 3

    data = bytearray()
    for first, last in parts:
        for bundle in range(first, last + 1):
            found = text.bundle(bundle)
            if len(found) < BUNDLE:  # nothing is there, and nothing leads there
                found = bytes(BUNDLE)
            for n in range(3):
                if bundle * 3 + n not in walk.reached:
                    found = found[: WORD * (n + 1)] + _NOP + found[WORD * (n + 2) :]
            data += found
    for index, (instruction, target) in walk.named.items():
        here, there = offset_of(moved(index)), offset_of(moved(target))
        bits = next(one.bits for one in instruction.row.operands if one.role == "target")
        assert bits is not None
        relative = isinstance(instruction["target"], Label)
        word = instruction.word & ~bits.mask | bits.put(there - here - WORD if relative else there)
        data[here : here + WORD] = word.to_bytes(WORD, "little")
    entry = start // 3 * BUNDLE
    return Gathered(
        bytes(data),
        offset_of(moved(start)),
        tuple(sorted(offset_of(moved(index)) for index in tables)),
        tuple((new * BUNDLE, first * BUNDLE - entry) for new, first in zip(places, firsts, strict=True)),
        tuple((first * BUNDLE, (last - first + 1) * BUNDLE) for first, last in parts),
    )


__all__ = ["Gathered", "gather"]
