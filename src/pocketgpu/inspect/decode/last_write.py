"""The word of the command stream that gave a register its value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.inspect.decode import select
from pocketgpu.inspect.decode.api import decode
from pocketgpu.inspect.decode.rows import ISSUED
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.references import RegisterWord

if TYPE_CHECKING:
    from pocketgpu.capture import Capture


def word_of(capture: Capture, register: str, draw: Address) -> RegisterWord | None:
    """The word that wrote a register last before a draw, or for it. If a macro of a Switch wrote it, the word that
    started the macro, or was its last parameter. None if no word wrote it.

    register: its name, such as DEPTH_COLOR_MASK, SET_DEPTH_FUNC or SET_CT_WRITE(1).

    :raises UsageError: there is no such register.
    """
    # Patterns write the element of an array as NAME[1]. `of_registers` refuses a name that does not exist.
    pattern = re.sub(r"\((\d+)\)$", r"[\1]", register)
    decoded = decode(capture, macros=True)
    rows = decoded.rows
    written = np.flatnonzero(select.of_registers(rows, [pattern]))
    if not len(written):
        return None
    _, last = select.parse_range(str(draw))
    keys = select.keys_of(rows, decoded.stream.frame_count)
    before = written[keys[written] <= last]
    if not len(before):
        return None
    at = int(before[-1])
    value = int(rows["new"][at])
    # What a macro writes is in no word of the stream: the last word before it started the macro, or was its parameter.
    own = np.flatnonzero(rows["what"][: at + 1] != ISSUED)
    at = int(own[-1])
    frame, number = select.split_key(int(keys[at]))
    place = Address(frame, draw=number) if number < select.LAST else Address(frame)
    line = int(np.count_nonzero(keys[own] == keys[at])) - 1
    address = int(rows["address"][at])
    return RegisterWord(register, place, line, address or None, value)


__all__ = ["word_of"]
