"""Pushbuffers by hand, and a machine to send them to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pocketgpu.maxwell.gm20b import GM20B

BUFFER = 0x5_0000_0000
SIZE = 1 << 20
DATA = 0x6_0000_0000
"""A page that tests may use."""

LEGACY, INC, LEGACY_STEADY, NON_INC, IMMD, ONE_INC, RESERVED, END = range(8)


def header(form: int, word: int, count: int, subchannel: int = 0) -> int:
    """A method header; `count` is the data of an immediate one."""
    return form << 29 | count << 16 | subchannel << 13 | word


def inc(word: int, *values: int, subchannel: int = 0) -> list[int]:
    """An incrementing packet."""
    return [header(INC, word, len(values), subchannel), *values]


def non_inc(word: int, *values: int, subchannel: int = 0) -> list[int]:
    """A non-incrementing packet."""
    return [header(NON_INC, word, len(values), subchannel), *values]


def one_inc(word: int, *values: int, subchannel: int = 0) -> list[int]:
    """A packet that increments once."""
    return [header(ONE_INC, word, len(values), subchannel), *values]


def immd(word: int, value: int, subchannel: int = 0) -> list[int]:
    """An immediate packet."""
    return [header(IMMD, word, value, subchannel)]


def entry(address: int, words: int, sync: bool = False) -> int:
    """A GPFIFO entry."""
    return address | words << 42 | sync << 63


def load_macro(number: int, code: Sequence[int], at: int = 0) -> list[int]:
    """Packets that load a macro."""
    return [*inc(0x45, at), *non_inc(0x46, *code), *inc(0x47, number, at)]


class Sender:
    """A machine whose channels get words from a ring of memory."""

    def __init__(self, evaluator: str = "llvm", bare: bool = False, **choices: str) -> None:
        self.gpu = GM20B(evaluator=evaluator, switches={k.replace("__", "."): v for k, v in choices.items()})
        if bare:
            self.gpu.engine_classes = {}
        self.gpu.map(BUFFER, SIZE)
        self.gpu.map(DATA, 1 << 16)
        self._next = BUFFER

    def put(self, words: Sequence[int]) -> int:
        """Words into memory; the GPFIFO entry for them."""
        at = self._next
        self.gpu.memory.write(at, np.array(words, np.uint32))
        self._next += 4 * len(words)
        return entry(at, len(words))

    def send(self, *packets: Sequence[int], channel: int = 0) -> Sender:
        """Submit packets in one entry."""
        self.gpu.submit([self.put([word for packet in packets for word in packet])], channel)
        return self

    def segments(self, *segments: Sequence[int], channel: int = 0) -> Sender:
        """Submit several entries at once."""
        self.gpu.submit([self.put(words) for words in segments], channel)
        return self

    def word(self, word: int, class_id: int = 0xB197, channel: int = 0) -> int:
        """A register."""
        return int(self.gpu.registers(class_id, channel)[word])

    def words(self, first: int, count: int, class_id: int = 0xB197) -> list[int]:
        """Registers in a row."""
        return [int(value) for value in self.gpu.registers(class_id)[first : first + count]]

    def data(self, offset: int = 0) -> int:
        """A word of the page for tests."""
        return int.from_bytes(self.gpu.memory.read(DATA + offset, 4), "little")

    @property
    def ids(self) -> list[str]:
        """Ids of all events so far."""
        return [event.id for event in self.gpu.events]
