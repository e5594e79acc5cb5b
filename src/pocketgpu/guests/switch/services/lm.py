"""`lm`: messages that a program logs become lines of its output. A console throws them away.

Source: libnx's services/lm.c; switchbrew Log services.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.enumerations import LOG_PIECE
from pocketgpu.facts.switch.structures import LOG_PACKET
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_BYTES: Final = 0x10000
"""Of a packet."""
_HEADER: Final = LOG_PACKET.bits // 8
_EVERYWHERE: Final = 0xFFFF


class LogService(Interface):
    """The service."""

    name = "lm"

    @command(0)
    def open_logger(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(Logger(self.kernel),))


class Logger(Interface):
    """Takes messages. destination: where a console for developers would send them."""

    name = "lm.ILogger"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.destination = _EVERYWHERE

    @command(0)
    def log(self, request: CmifRequest) -> CmifAnswer:
        """A packet: a message, or a part of one. What is no packet is taken as text."""
        if request.inputs:
            given = request.inputs[0]
            data = self.kernel.space.read(given.address, min(given.size, MOST_BYTES))
            if text := text_of(data):
                self.kernel.printed(text)
        return CmifAnswer()

    @command(1)
    def set_destination(self, request: CmifRequest) -> CmifAnswer:
        (self.destination,) = request.values("I")
        return CmifAnswer()


def text_of(data: bytes) -> bytes:
    """The text of a packet; the last one of a message ends its line."""
    header = int.from_bytes(data[:_HEADER], "little")
    pieces = data[_HEADER:]
    if len(data) < _HEADER or LOG_PACKET["size"].raw(header) != len(pieces):
        text, ends = data.split(b"\0")[0], True
    else:
        text = b"".join(piece for kind, piece in _pieces(pieces) if kind == LOG_PIECE.TEXT)
        ends = bool(LOG_PACKET["tail"].raw(header))
    return text + b"\n" if text and ends and not text.endswith(b"\n") else text


def _pieces(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kinds and bytes; a piece that ends past the end of the data is cut."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at)
        size, at = _number(data, at)
        yield kind, data[at : at + size]
        at += size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of 7 bits, the lowest first (ULEB128), and where it ends."""
    value = shift = 0
    while at < len(data):
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, at
