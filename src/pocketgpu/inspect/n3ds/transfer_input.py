"""What a display transfer or a texture copy of a 3DS reads from memory."""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.inspect.model.event import Range
from pocketgpu.pica.engines.transfer import COPY_UNIT
from pocketgpu.pica.n3ds import N3DS


def read_by_transfer(machine: N3DS, words: Mapping[str, int]) -> Range | None:
    """From the first to the last byte that the transfer engine reads, gaps included; None if it reads nothing.

    words: its registers by name.
    """

    def raw(name: str) -> int:
        register, part = name.split(".")
        return EXTERNAL[register][part].raw(words[register])

    def decoded(name: str) -> int:
        register, part = name.split(".")
        return int(EXTERNAL[register][part].decode(words[register]))

    start = decoded("PPF_INPUT_ADDRESS.address")
    if raw("PPF_FLAGS.texture_copy"):
        size = words["PPF_COPY_SIZE"] // COPY_UNIT * COPY_UNIT
        width, gap = decoded("PPF_COPY_INPUT.width"), decoded("PPF_COPY_INPUT.gap")
        lines = -(-size // width) if width and gap else 1
        return Range(start, size + (lines - 1) * gap) if size else None
    read = machine.transfer_of(words).outcome.read
    width, stride = raw("PPF_OUTPUT_SIZE.width"), raw("PPF_INPUT_SIZE.width")
    if read and width and raw("PPF_FLAGS.crop") and stride > width:
        read = read // width * stride
    return Range(start, read) if read else None


__all__ = ["read_by_transfer"]
