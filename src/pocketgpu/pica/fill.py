"""Memory fill (PSC0, PSC1): a pattern of two, three or four bytes over a range.

Source: 3dbrew GPU/External Registers, "Memory Fill"; the end of a 24-bit fill is a switch (fill.tail_24).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..memory import GuestMemory

WIDTH_16, WIDTH_24, WIDTH_32 = 0, 1, 2
BYTES = {0: 2, 1: 3, 2: 4, 3: 3}


def fill(memory: GuestMemory, start: int, end: int, value: int, width: int, switches: Mapping[str, str]) -> str | None:
    """Fill physical [start, end) as control bits 9:8 (`width`) say; returns why nothing was filled, or None.

    The phase of the pattern is counted from `start`; the low byte of `value` comes first.
    """
    size = end - start
    if size <= 0 or (start == 0 and switches["fill.null_start"] == "finish"):
        return None
    step = BYTES[width]
    tail = {"stop": 0, "whole-groups": -size % 3, "half-words": 0}[switches["fill.tail_24"]] if step == 3 else 0
    offset = memory.offset_of(start, size + tail)
    if offset is None:
        return f"memory fill of {start:#010x}..{end:#010x} leaves memory"
    target = memory.arena[offset : offset + size + tail]
    if step == 4:
        target.view("<u4")[:] = value
    elif step == 2:
        target.view("<u2")[:] = value & 0xFFFF
    else:
        _fill_24(target, value)
    memory.touch(offset, size + tail)
    return None


def _fill_24(target: np.ndarray, value: int) -> None:
    """Twelve bytes are four groups and three whole words: fill by rows of that, then the rest."""
    group = np.frombuffer((value & 0xFFFFFF).to_bytes(3, "little") * 4, np.uint8)
    whole = len(target) // 12 * 12
    target[:whole].view("<u4").reshape(-1, 3)[:] = group.view("<u4")
    target[whole:] = np.resize(group, len(target) - whole)
