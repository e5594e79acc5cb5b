"""The command stream of a 3DS capture: what the processor writes, and the lists that it starts, with their jumps.

The capture is replayed without drawing, because lists are in memory that loads, fills and transfers write. The stream
is kept with the capture: a second decode does not replay it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive
from pocketgpu.facts.list_entry import header_columns
from pocketgpu.facts.pica import PICA
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.decode.pica_kernel import WORD_LIMIT
from pocketgpu.inspect.decode.pica_tracer import PicaState, PicaTracer
from pocketgpu.inspect.decode.rows import Words
from pocketgpu.inspect.decode.stream import GX, ISSUED_WRITES, JUMPED, LIST, RECORDED, WRITES, Stream, StreamBuilder
from pocketgpu.pica.core.observer import Undrawn
from pocketgpu.pica.external.registers import starts_list

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pocketgpu.capture.formats.n3ds_trace import N3DSTrace

MOST_JUMPS = 1 << 12
"""Most jumps of one list that are followed."""


class StreamNotes(Undrawn):
    """Notes the register writes, GX commands and lists of a 3DS, in the order in which it runs them."""

    def __init__(self) -> None:
        self.builder = StreamBuilder("3DS")
        self._frame = 0
        self._numbers = 0
        self._issued = 0
        self._waiting: list[Words] = []

    def _note(self, kind: int, words: Words, address: int = 0, flags: int = 0) -> None:
        """Add a segment of the current frame."""
        self.builder.add(kind, words, self._frame, self._numbers, address, flags)
        self._numbers += 1

    def vblank(self, frame: int) -> None:
        """Begin a frame: lists count from 0 in each."""
        self._note_writes(len(self._waiting))
        self._frame += 1
        self._numbers = 0

    def begin_rest(self) -> None:
        """What follows belongs to no frame."""
        self._frame = -1

    def end_rest(self) -> None:
        """Nothing follows."""
        self._note_writes(len(self._waiting))

    def command_starts(self, words: Sequence[int]) -> None:
        self._note_writes(len(self._waiting))
        self._note(GX, np.array(words, np.uint32), flags=RECORDED)
        self._issued = ISSUED_WRITES

    def command_ended(self, words: Sequence[int], result: int) -> None:
        self._note_writes(len(self._waiting))
        self._issued = 0

    # -- register writes, and the lists between them ------------------------------------------------------------------
    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        """Note writes in order; each list comes after the write that starts it."""
        self._note_writes(len(self._waiting))
        starts = np.flatnonzero(starts_list(addresses, values)) + 1
        pairs = np.stack((addresses, values), axis=1)
        self._waiting = [part.reshape(-1) for part in np.split(pairs, starts.tolist()) if len(part)]
        self._note_writes(1)

    def _note_writes(self, count: int) -> None:
        """Note the next writes that are not noted yet: `count` of the parts that lists divide them into."""
        for words in self._waiting[:count]:
            self._note(WRITES, words, flags=self._issued)
        del self._waiting[:count]

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        if unit == "P3D":
            self._note_writes(1)

    def words_at(self, address: int, size: int) -> Words | None:
        """Words of guest memory; None if there is no memory."""
        memory = self.machine.memory
        offset = memory.offset_of(address, size) if size else None
        return None if offset is None else memory.arena[offset : offset + size].view(np.uint32).copy()

    def list_starts(self, offset: int, size: int) -> None:
        """Note a list, and those that it jumps to, as they are in memory now."""
        memory, registers = self.machine.memory, self.machine.registers
        address = memory.address_of(offset)
        if address is None:
            return
        self._note(LIST, memory.arena[offset : offset + size].view(np.uint32), address)
        jumps = Jumps(PicaState(registers.copy(), np.zeros(0, np.uint32), np.zeros(0, np.uint32)))
        for target, words in jumps.follow(self.builder.parts[-1], self.words_at, dict(self.machine.choices)):
            self.builder.add(LIST, words, self._frame, self._numbers - 1, target, JUMPED)


class Jumps:
    """Finds where a list jumps to, by decoding it. Lists without a write to a jump register are not decoded."""

    _IDS = tuple(PICA[f"CMDBUF_JUMP{channel}"].offset for channel in range(2))

    def __init__(self, state: PicaState) -> None:
        self.state = state

    def follow(
        self, words: Words, fetch: Callable[[int, int], Words | None], choices: Mapping[str, str]
    ) -> list[tuple[int, Words]]:
        """Addresses and words of the lists that a list jumps to, in order. Lists in a circle end after MOST_JUMPS."""
        found: list[tuple[int, Words]] = []
        size, state = 0, self.state
        while self._may_jump(words) and len(found) < MOST_JUMPS:
            builder = StreamBuilder("3DS")
            builder.add(LIST, words, 0, 0)
            tracer = PicaTracer(builder.build(state), choices=choices)
            wanted = tracer.wanted_jump()
            target = fetch(*wanted) if wanted is not None else None
            if wanted is None or target is None or size + len(target) > WORD_LIMIT:
                break
            found.append((wanted[0], target))
            size, words, state = size + len(target), target, replace(state, pica=tracer.registers.copy())
        return found

    def _may_jump(self, words: Words) -> bool:
        ids, _, extra, step = header_columns(words)
        last = ids + extra * step
        return any(bool(((ids <= id) & (id <= last)).any()) for id in self._IDS)


def gathering(trace: N3DSTrace, choices: Mapping[str, str] | None = None) -> InSteps[Stream]:
    """The whole stream of a capture; a step is a frame."""
    driver, notes = drive(trace, switches=choices), StreamNotes()
    driver.machine.observe(notes)
    while driver.frame < driver.frame_count:
        driver.play_frame()
        yield
    notes.begin_rest()
    driver.play_rest()
    notes.end_rest()
    initial = trace.initial
    state = PicaState(initial.pica.copy(), initial.external.copy(), initial.lcd.copy())
    return notes.builder.build(state, frame_count=trace.frame_count)
