"""Finding a program in memory: where its code ends, and keeping what was read until the memory changes.

Nothing tells how long a program is. Its code ends with the first instruction that nothing goes on behind and that no
branch before it jumps over, or where what follows is no instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...facts.maxwell.sass import FORMS
from ..memory import GpuMemory
from ..sass.decoder import REFUSED, match, split
from ..sass.isa import BUNDLE, PT, WORD, Instruction, index_of, offset_of
from .headers import HEADER_SIZE

MAX_CODE = 1 << 20
"""Bytes of the longest program that is taken for one."""
_FIRST_LOOK = 4096
_LEAVES = {"EXIT", "BRA", "JMP", "BRX", "JMX", "RET", "SYNC", "BRK", "CONT", "LONGJMP"}
_ALWAYS = 15


def _leaves(one: Instruction) -> bool:
    """Whether nothing goes on behind an instruction."""
    test = one.row.fields.get("cc")
    always = test is None or test.get(one.word) == _ALWAYS
    return one.op in _LEAVES and one.guard.n == PT and not one.guard.negated and always


def end_of_code(data: bytes) -> int | None:
    """Bytes of the program that begins `data` (whole bundles); None if it does not end in there."""
    words, _ = split(data)
    rows = match(words)
    bad = np.nonzero(rows == REFUSED)[0]
    count = int(bad[0]) if len(bad) else len(words)
    forms = tuple(FORMS.values())
    furthest, tables = 0, False
    for index in range(count):
        one = Instruction(offset_of(index), int(words[index]), forms[rows[index]])
        target = None if one.target is None else index_of(one.target, len(words))
        furthest = max(furthest, index if target is None else target)
        tables = tables or one.op in ("BRX", "JMX")
        # Where tables name targets the last instruction is the branch to itself that compilers put behind code.
        if furthest <= index and _leaves(one) and (not tables or target == index):
            return offset_of(index) + WORD
    return offset_of(count) if len(bad) or tables else None


@dataclass(frozen=True)
class Found:
    """A program as it stands in memory: its header and its code."""

    header: bytes
    code: bytes


class CodeReader:
    """Reads programs, and remembers what it read while the pages do not change."""

    def __init__(self, memory: GpuMemory) -> None:
        self._memory = memory
        self._known: dict[int, tuple[int, int, int, Found]] = {}  # address: offset, bytes, version, program

    def read(self, address: int) -> Found | None:
        """The program whose header is at a GPU address; None if there is none."""
        memory = self._memory
        known = self._known.get(address)
        if known is not None:
            offset, size, version, found = known
            if memory.offset_of(address, size) == offset and memory.newest(offset, size) == version:
                return found
        fresh = self._read(address)
        if fresh is not None:
            size = len(fresh.header) + len(fresh.code)
            at = memory.offset_of(address, size)
            if at is not None:
                if len(self._known) > 4096:
                    self._known.clear()
                self._known[address] = (at, size, memory.newest(at, size), fresh)
        return fresh

    def _read(self, address: int) -> Found | None:
        size = _FIRST_LOOK
        while size <= MAX_CODE:
            data, missed = self._memory.try_read(address, HEADER_SIZE + size)
            if missed:
                holes = self._memory.unmapped(address, HEADER_SIZE + size)
                data = data[: holes[0][0] - address]
            code = data[HEADER_SIZE:]
            code = code[: len(code) // BUNDLE * BUNDLE]
            if not code:
                return None
            end = end_of_code(code)
            if end is None and missed:
                end = len(code)
            if end is not None:
                return Found(data[:HEADER_SIZE], code[:end]) if end > WORD else None
            size *= 2
        return None
