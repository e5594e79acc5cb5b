"""`csnd:SND`: the older sound service. Sounds end after their time; there is no sound output.

Programs put commands of 32 bytes into shared memory and have them done. Source: libctru's csnd.c; 3dbrew CSND Services
and CSND Shared Memory.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import PAGE, host_memory
from pocketgpu.guests.kernel.objects import Mutex
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

CHANNEL_MASK: Final = 0xFFFFFF00
"""Channels 8 to 31 are for programs; the sound processor has the others."""
_COMMAND, _END, _DONE_AT = 0x20, 0xFFFF, 4
_MOST_MEMORY: Final = 1 << 20
_INFO: Final = 0x0C
_TICKS_OF_A_TIMER_STEP: Final = 4
"""Channels count at a quarter of the kernel's clock."""
_FOREVER: Final = -1


class Does(IntEnum):
    """Commands that change whether something is played, or ask."""

    PLAY_STATE_AT_ONCE = 0x000
    PLAY_STATE = 0x001
    CHANNEL = 0x00E
    SQUARE = 0x00F
    NOISE = 0x010
    INFO = 0x300


class Loop(IntEnum):
    """What happens at the end of a sound."""

    MANUAL = 0
    NORMAL = 1
    ONCE = 2
    ONCE_KEPT = 3


_SAMPLES_OF_TWO_BYTES: Final = {0: 2, 1: 1, 2: 4, 3: 0}
"""By encoding: 8 bits, 16 bits, ADPCM, square wave."""
_PLAYS: Final = 1 << 14


class Csnd(Service):
    """The service. ends: the tick at which each channel that plays is silent; -1 for never."""

    name = "csnd:SND"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.lock = Mutex()
        self.block: MemoryBlock | None = None
        self.ends: dict[int, int] = {}
        self._info_at = 0

    @command(0x1)
    def initialize(self, request: Request) -> Answer:
        """Shared memory of a size; offsets of its parts: flags, channels, capture units, a further one."""
        size = -(-request.words[1] // PAGE) * PAGE
        if not 0 < size <= _MOST_MEMORY:
            return Answer(Result.OUT_OF_MEMORY, handles=(None, None))
        self.block = MemoryBlock("csnd's shared memory", host_memory(size))
        self._info_at = request.words[3]
        return Answer(handles=(self.lock, self.block))

    @command(0x2)
    def shutdown(self, request: Request) -> Answer:
        self.block = None
        self.ends.clear()
        return Answer()

    @command(0x3)
    def execute_commands(self, request: Request) -> Answer:
        """Do a list of commands; each is marked as done."""
        if self.block is None:
            return Answer(Result.INVALID_COMMAND)
        view, at = self.block.view, request.words[1]
        for _ in range(len(view) // _COMMAND):
            if at % 4 or at + _COMMAND > len(view):
                break
            following, number = struct.unpack_from("<HH", view, at)
            self._do(number, struct.unpack_from("<6I", view, at + 8))
            view[at + _DONE_AT] = 1
            if following == _END:
                break
            at = following
        return Answer()

    def _do(self, number: int, words: tuple[int, ...]) -> None:
        now, channel = self.kernel.time.now, words[0] & 0x1F
        if number in (Does.PLAY_STATE, Does.PLAY_STATE_AT_ONCE):
            if words[1]:
                self.ends.setdefault(channel, _FOREVER)
            else:
                self.ends.pop(channel, None)
        elif number in (Does.SQUARE, Does.NOISE):
            self.ends[channel] = _FOREVER
        elif number == Does.CHANNEL and words[0] & _PLAYS:
            timer, encoding, loop = words[0] >> 16, words[0] >> 12 & 3, words[0] >> 10 & 3
            samples = words[5] * _SAMPLES_OF_TWO_BYTES[encoding] // 2
            once = loop in (Loop.ONCE, Loop.ONCE_KEPT) and samples > 0
            self.ends[channel] = now + samples * timer * _TICKS_OF_A_TIMER_STEP if once else _FOREVER
        elif number == Does.INFO:
            self._tell()

    def _tell(self) -> None:
        """Which channels play, for each channel that programs have."""
        assert self.block is not None
        now, view = self.kernel.time.now, self.block.view
        channels = [one for one in range(32) if CHANNEL_MASK >> one & 1]
        for place, channel in enumerate(channels):
            at = self._info_at + _INFO * place
            if at + _INFO > len(view):
                return
            end = self.ends.get(channel)
            view[at] = int(end is not None and (end == _FOREVER or end > now))

    @command(0x5)
    def acquire_sound_channels(self, request: Request) -> Answer:
        return Answer(values=(CHANNEL_MASK,))

    @command(0x6)
    @command(0xC)
    def release_sound_channels(self, request: Request) -> Answer:
        self.ends.clear()
        return Answer()

    @command(0x7)
    def acquire_cap_unit(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x8)
    def release_cap_unit(self, request: Request) -> Answer:
        return Answer()

    @command(0x9)
    @command(0xA)
    @command(0xB)
    def data_cache(self, request: Request) -> Answer:
        return Answer()
