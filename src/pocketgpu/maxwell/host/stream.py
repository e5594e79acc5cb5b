"""Pushbuffers read for people: which packets a channel gets, in which header form, to which methods.

The machine has a compiled parser of its own; this one names things and does nothing. It keeps what a channel keeps
(bound classes, a packet that goes on in the next segment), and costs Python per packet, not per word.

Source: NVIDIA's clb06f.h for the header forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B06F, CLASSES, SUBCHANNELS, Method, MethodBlock

Words = NDArray[np.uint32]

INC, NON_INC, IMMEDIATE, ONE_INC, END_SEGMENT = 1, 3, 4, 5, 7
FORM_NAMES: Final = {
    INC: "incrementing",
    NON_INC: "non_incrementing",
    IMMEDIATE: "immediate",
    ONE_INC: "increment_once",
    END_SEGMENT: "end_segment",
    -1: "nop_word_0",
    0: "group_0",
    2: "group_2",
    6: "reserved",
}
"""Header forms, by bits 31:29; -1 is the word 0, which does nothing."""

HOST_WORDS: Final = 0x40
"""Methods below belong to the host on every subchannel."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A header with the data that this segment has for it.

    block: the class that the methods belong to, None for one that is not known here. first: whether `values` begins
    with the packet's first word; at: number of the header's (or the first value's) word in the segment.
    """

    form: int
    subchannel: int
    block: MethodBlock | None
    word: int
    values: Words
    first: bool
    at: int

    def methods(self) -> Iterator[tuple[int, int]]:
        """The words of the methods written, each with how often."""
        count = len(self.values)
        if self.form == INC:
            yield from ((self.word + i & 0xFFF, 1) for i in range(count))
        elif self.form == ONE_INC and self.first and count:
            yield self.word, 1
            if count > 1:
                yield self.word + 1 & 0xFFF, count - 1
        elif count:
            yield self.word, count

    def method(self, word: int) -> Method | None:
        """What is known of a method by its word."""
        if self.block is None:
            return None
        found = self.block.get(word)
        return found if isinstance(found, Method) else None


class StreamReader:
    """What one channel's segments say, in order."""

    def __init__(self) -> None:
        self.bound: dict[int, MethodBlock | None] = dict(SUBCHANNELS)
        self.forms: dict[str, int] = {}
        self._open: tuple[int, int, int, int, bool] | None = None  # form, subchannel, word, words to come, first

    @property
    def open_words(self) -> int:
        """Words that the last packet still waits for."""
        return self._open[3] if self._open else 0

    def segment(self, words: Words) -> Iterator[Packet]:
        """The packets of one segment; the last of them may go on in the next segment."""
        at, count = 0, len(words)
        while at < count:
            if self._open is None:
                header = int(words[at])
                at += 1
                form = header >> 29
                self._count(-1 if header == 0 else form)
                subchannel, word, more = header >> 13 & 7, header & 0xFFF, header >> 16 & 0x1FFF
                if form == END_SEGMENT:
                    return
                if form == IMMEDIATE:
                    yield self._packet(form, subchannel, word, np.array([more], np.uint32), True, at - 1)
                    continue
                if form in (0, 2):
                    if header >> 16 & 3:  # masks of sub-devices
                        continue
                    word, more = header >> 2 & 0x7FF, header >> 18 & 0x7FF
                    form = NON_INC if form == 2 else INC
                elif form == 6:
                    continue
                if not more:
                    continue
                self._open = form, subchannel, word, more, True
            form, subchannel, word, more, first = self._open
            values = words[at : at + more]
            if len(values):
                yield self._packet(form, subchannel, word, values, first, at)
            at += len(values)
            left = more - len(values)
            if form == INC:
                word = word + len(values) & 0xFFF
            elif form == ONE_INC and first and len(values):
                word, form = word + 1 & 0xFFF, NON_INC
            self._open = (form, subchannel, word, left, first and not len(values)) if left else None

    def _packet(self, form: int, subchannel: int, word: int, values: Words, first: bool, at: int) -> Packet:
        if word == 0 and len(values):
            self.bound[subchannel] = CLASSES.get(int(values[0]) & 0xFFFF)
        block = B06F if word < HOST_WORDS else self.bound.get(subchannel)
        return Packet(form, subchannel, block, word, values, first, at)

    def _count(self, form: int) -> None:
        name = FORM_NAMES[form]
        self.forms[name] = self.forms.get(name, 0) + 1
