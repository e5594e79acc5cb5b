"""`audout:u`: sound that a program hands over in buffers. Source: libnx's audout.h and audout.c.

Nothing is heard. Buffers are played one after the other in emulated time, and come back when they would have been
heard.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.timeline import Due
    from pocketgpu.guests.switch.kernel import SwitchKernel

RATE: Final = 48000
CHANNELS: Final = (1, 2, 6)
MOST_BUFFERS: Final = 32
_DEVICE: Final = b"DeviceOut"
_NAME_BYTES: Final = 0x100
_INT16, _SAMPLE_BYTES = 2, 2
"""The format of samples, and its size."""
_STARTED, _STOPPED = 0, 1
_BUFFER: Final = struct.Struct("<5Q")
"""The next buffer, address, room, bytes of sound, where those begin."""
_TAG: Final = struct.Struct("<Q")
_LOUDEST: Final = 1.0


@dataclass(slots=True)
class _Sound:
    """A buffer in the queue. tag: the program's name for it. samples: of each channel."""

    tag: int
    samples: int


class AudioOutManager(Interface):
    """The service."""

    name = "audout:u"

    @command(0)
    @command(2)
    def list_audio_outs(self, request: CmifRequest) -> CmifAnswer:
        stored = request.output(_DEVICE.ljust(_NAME_BYTES, b"\0"))
        return CmifAnswer(struct.pack("<I", int(stored == _NAME_BYTES)))

    @command(1)
    @command(3)
    def open_audio_out(self, request: CmifRequest) -> CmifAnswer:
        """Rate and number of channels, 0 for the usual ones; a name in the buffer, empty for any device."""
        rate, channels = request.values("II")
        name = request.input()[:_NAME_BYTES].split(b"\0")[0]
        if name not in (b"", _DEVICE):
            return CmifAnswer(result=Result.NO_SOUND_DEVICE)
        if rate not in (0, RATE):
            return CmifAnswer(result=Result.BAD_SAMPLE_RATE)
        channels = channels & 0xFFFF or 2
        if channels not in CHANNELS:
            return CmifAnswer(result=Result.BAD_CHANNEL_COUNT)
        request.output(_DEVICE.ljust(_NAME_BYTES, b"\0"))
        opened = AudioOut(self.kernel, channels)
        return CmifAnswer(struct.pack("<4I", RATE, channels, _INT16, _STOPPED), objects=(opened,))


class AudioOut(Interface):
    """An output. waiting: buffers that are to be played, the first is being played. released: those that were.
    played: samples so far."""

    name = "IAudioOut"

    def __init__(self, kernel: SwitchKernel, channels: int) -> None:
        super().__init__(kernel)
        self.channels = channels
        self.waiting: deque[_Sound] = deque()
        self.released: deque[int] = deque()
        self.event = Event(Reset.STICKY, "sound buffers")
        self.state, self.played, self.volume = _STOPPED, 0, _LOUDEST
        self._due: Due | None = None

    def closed(self) -> None:
        self._stop()

    # -- playing ----------------------------------------------------------------------------------------------------
    def _go_on(self, tick: int) -> None:
        """Play the first buffer, if there is one, from a tick on."""
        if self.state == _STARTED and self.waiting and self._due is None:
            ticks = self.waiting[0].samples * self.kernel.time.hertz // RATE
            self._due = self.kernel.time.at(tick + max(1, ticks), self._ended, self)

    def _ended(self, tick: int) -> None:
        """The first buffer was played."""
        self._due = None
        one = self.waiting.popleft()
        self.played += one.samples
        self._release(one)
        self._go_on(tick)

    def _release(self, one: _Sound) -> None:
        self.released.append(one.tag)
        self.kernel.signal(self.event)

    def _stop(self) -> None:
        self.state = _STOPPED
        if self._due is not None:
            self._due.cancelled = True
            self._due = None

    # -- commands ---------------------------------------------------------------------------------------------------
    @command(0)
    def get_audio_out_state(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.state))

    @command(1)
    def start_audio_out(self, request: CmifRequest) -> CmifAnswer:
        self.state = _STARTED
        self._go_on(self.kernel.time.now)
        return CmifAnswer()

    @command(2)
    def stop_audio_out(self, request: CmifRequest) -> CmifAnswer:
        """What was not played comes back, too."""
        self._stop()
        self._flush()
        return CmifAnswer()

    def _flush(self) -> bool:
        found = bool(self.waiting)
        while self.waiting:
            self._release(self.waiting.popleft())
        return found

    @command(3)
    @command(7)
    def append_audio_out_buffer(self, request: CmifRequest) -> CmifAnswer:
        (tag,) = request.values("Q")
        data = request.input()
        if len(data) < _BUFFER.size:
            return CmifAnswer(result=Result.SOUND_BUFFER_TOO_SMALL)
        if len(self.waiting) + len(self.released) >= MOST_BUFFERS:
            return CmifAnswer(result=Result.TOO_MANY_SOUND_BUFFERS)
        _, _, room, size, offset = _BUFFER.unpack_from(data)
        heard = max(0, min(size, room - offset))
        self.waiting.append(_Sound(tag, heard // (self.channels * _SAMPLE_BYTES)))
        self._go_on(self.kernel.time.now)
        return CmifAnswer()

    @command(4)
    def register_buffer_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.event,))

    @command(5)
    @command(8)
    def get_released_audio_out_buffers(self, request: CmifRequest) -> CmifAnswer:
        room = request.outputs[0].size // _TAG.size if request.outputs else 0
        count = min(room, len(self.released))
        request.output(b"".join(_TAG.pack(self.released.popleft()) for _ in range(count)))
        return CmifAnswer(struct.pack("<I", count))

    @command(6)
    def contains_audio_out_buffer(self, request: CmifRequest) -> CmifAnswer:
        (tag,) = request.values("Q")
        return CmifAnswer(bytes([any(one.tag == tag for one in self.waiting)]))

    @command(9)
    def get_audio_out_buffer_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", len(self.waiting)))

    @command(10)
    def get_audio_out_played_sample_count(self, request: CmifRequest) -> CmifAnswer:
        playing = 0
        if self._due is not None:
            left = (self._due.tick - self.kernel.time.now) * RATE // self.kernel.time.hertz
            playing = max(0, self.waiting[0].samples - max(0, left))
        return CmifAnswer(struct.pack("<Q", self.played + playing))

    @command(11)
    def flush_audio_out_buffers(self, request: CmifRequest) -> CmifAnswer:
        if self._due is not None:
            self._due.cancelled = True
            self._due = None
        return CmifAnswer(bytes([self._flush()]))

    @command(12)
    def set_audio_out_volume(self, request: CmifRequest) -> CmifAnswer:
        (self.volume,) = request.values("f")
        return CmifAnswer()

    @command(13)
    def get_audio_out_volume(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.volume))
