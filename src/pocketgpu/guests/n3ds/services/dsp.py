"""`dsp::DSP`: the sound processor with its usual program, as a model that consumes buffers in emulated time.

A frame is 160 samples. For each, the model reads the settings of 24 channels, advances their buffers by that many
samples, and writes which buffers play; there is no sound output. Programs look for the processor's program on
the card first, so they use the service only where the card has it, or with the choice `guest.sound`.
Source: libctru's ndsp.c and ndsp-channel.c; 3dbrew DSP Services.
"""

from __future__ import annotations

import math
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Final

from pocketgpu.facts import dsp
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.sound import FrameClock, SoundQueue
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

FRAME_SAMPLES: Final = 160
TICKS_OF_A_SAMPLE: Final = 8192
"""Of the kernel's clock: 32728.5 samples a second."""
FRAME_TICKS: Final = FRAME_SAMPLES * TICKS_OF_A_SAMPLE
CHANNELS: Final = 24
DATA_MEMORY: Final = 0x40000
"""Offset of the processor's data memory in the memory that programs see. Its second half has the second copies."""
SECOND_COPY: Final = 0x20000
_AUDIO_PIPE: Final = 2
_QUEUED, _BUFFERS_AT = 4, 0x4C
_FASTEST: Final = 1 << 16
_STATUS: Final = ("playing", "changed", "sync", "position", "sequence", "last")
_NOTHING: Final[tuple[int, ...]] = ()


class Change(IntFlag):
    """What a program has changed of a channel."""

    PLAYING = 1 << 16
    RATE = 1 << 18
    QUEUE = 1 << 19
    SYNC = 1 << 28
    RESET = 1 << 29
    FIRST_BUFFER = 1 << 30


class State(IntEnum):
    """What a program writes to the pipe."""

    START = 0
    STOP = 1
    WAKE = 2
    SLEEP = 3


@dataclass(slots=True)
class Buffer:
    """Samples that are to be played."""

    sequence: int
    samples: int
    loops: bool


class Channel:
    """What a channel plays. rate: samples of its sounds for one of a frame. last: sequence of the sound that has ended.
    changed: whether it plays another one than in the frame before, or none."""

    def __init__(self) -> None:
        self.playing, self.changed = False, False
        self.rate, self.sync, self.last = 1.0, 0, 0
        self.queue: SoundQueue[Buffer] = SoundQueue()

    def __repr__(self) -> str:
        return f"<Channel: {'playing' if self.playing else 'silent'}, {len(self.queue)} buffers>"

    @property
    def status(self) -> tuple[int, ...]:
        """What the program can read of it: playing, changed, sync, position, sequence, last."""
        queue = self.queue
        sequence = queue.now.sequence if queue.now else 0
        return int(self.playing), int(self.changed), self.sync, int(queue.position), sequence, self.last

    def play(self, samples: int) -> None:
        """Let samples pass."""
        if self.playing and self.queue.play(samples * self.rate, self) is not None:
            self.playing, self.changed = False, True

    def begun(self, sound: Buffer) -> None:
        """Of its queue."""
        self.changed = True

    def repeated(self, sound: Buffer) -> None:
        """Of its queue."""
        self.last = sound.sequence

    def ended(self, sound: Buffer) -> None:
        """Of its queue."""
        self.last = sound.sequence


class Dsp(Service):
    """The service. frames: how many have been played. event: its interrupt for the program."""

    name = "dsp::DSP"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.frames = 0
        self.semaphore = Event(Reset.ONE_SHOT, "dsp semaphore")
        self.event: Event | None = None
        self.channels = [Channel() for _ in range(CHANNELS)]
        self._pipe = bytearray()
        self._written = [[_NOTHING] * CHANNELS for _ in range(2)]
        self.clock = FrameClock(kernel.time, FRAME_TICKS, self._frame)
        self._counters = [0, 0]

    # -- the program of the processor -------------------------------------------------------------------------------
    @command(0x11)
    def load_component(self, request: Request) -> Answer:
        return Answer(values=(1,))

    @command(0x12)
    def unload_component(self, request: Request) -> Answer:
        self.clock.stop()
        return Answer()

    @command(0x15)
    def register_interrupt_events(self, request: Request) -> Answer:
        """An event for interrupts of a pipe; no handle takes it away."""
        if request.words[2] == _AUDIO_PIPE:
            event = request.object(4)
            self.event = event if isinstance(event, Event) else None
            if self.event is not None:
                self.event.references += 1
        return Answer()

    @command(0x16)
    def get_semaphore_handle(self, request: Request) -> Answer:
        return Answer(handles=(self.semaphore,))

    @command(0x7)
    @command(0x17)
    def set_semaphore(self, request: Request) -> Answer:
        return Answer()

    # -- pipes and registers ----------------------------------------------------------------------------------------
    @command(0xD)
    def write_process_pipe(self, request: Request) -> Answer:
        if request.words[1] == _AUDIO_PIPE:
            state = int.from_bytes(request.static(3)[:2], "little")
            if state in (State.START, State.WAKE):
                words = (len(dsp.ADDRESSES), *dsp.ADDRESSES)
                self._pipe[:] = b"".join(word.to_bytes(2, "little") for word in words)
                self._start()
            elif state in (State.STOP, State.SLEEP):
                self.clock.stop()
        return Answer()

    @command(0x10)
    @command(0xE)
    def read_pipe(self, request: Request) -> Answer:
        """As many bytes as there are."""
        size = request.words[3] & 0xFFFF if request.words[1] == _AUDIO_PIPE else 0
        data = bytes(self._pipe[:size])
        del self._pipe[: len(data)]
        return Answer(values=(len(data),), statics={0: data})

    @command(0xF)
    def get_pipe_readable_size(self, request: Request) -> Answer:
        return Answer(values=(len(self._pipe) if request.words[1] == _AUDIO_PIPE else 0,))

    @command(0xC)
    def convert_process_address_from_dsp_dram(self, request: Request) -> Answer:
        """The address that a program has for a word of the processor's data memory."""
        return Answer(values=(layout.DSP + DATA_MEMORY + 2 * request.words[1] & 0xFFFFFFFF,))

    @command(0x1)
    def recv_data(self, request: Request) -> Answer:
        """Whether the processor's program has stopped."""
        return Answer(values=(int(not self.clock.running),))

    @command(0x2)
    @command(0x4)
    def is_ready(self, request: Request) -> Answer:
        return Answer(values=(1,))

    @command(0x3)
    def send_data(self, request: Request) -> Answer:
        return Answer()

    @command(0x13)
    @command(0x14)
    def data_cache(self, request: Request) -> Answer:
        return Answer()

    @command(0x1F)
    def get_headphone_status(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @property
    def _memory(self) -> memoryview:
        """What the program sees at 0x1FF00000."""
        return self.kernel.machine.memory.view(layout.DSP, layout.DSP_SIZE).data

    # -- frames -----------------------------------------------------------------------------------------------------
    def _start(self) -> None:
        self.channels = [Channel() for _ in range(CHANNELS)]
        self._counters = [0, 0]
        self._written = [[_NOTHING] * CHANNELS for _ in range(2)]
        self.clock.start()
        if self.event is not None:
            self.kernel.signal(self.event)

    def _place(self, structure: int, copy: int) -> int:
        return DATA_MEMORY + 2 * dsp.ADDRESSES[structure] + SECOND_COPY * copy

    def _frame(self) -> None:
        """Play a frame: read the newer copy of the program's settings, write the other copy of the status."""
        self.frames += 1
        view = self._memory
        counters = [int(dsp.read(view, self._place(dsp.FRAME, copy), "frame", "counter")) for copy in (0, 1)]
        newer = int(0 < (counters[1] - counters[0] & 0xFFFF) < 0x8000)
        fresh, self._counters = counters != self._counters, counters
        for number, channel in enumerate(self.channels):
            wanted = self._place(dsp.CHANNEL, newer) + dsp.SIZES["channel"] * number
            place = self._place(dsp.STATUS, 1 - newer) + dsp.SIZES["status"] * number
            if fresh:
                # The program has read the status of the frame before.
                channel.changed = False
                self._take(view, channel, wanted)
            channel.play(FRAME_SAMPLES)
            if (status := channel.status) != self._written[1 - newer][number]:
                self._written[1 - newer][number] = status
                for name, value in zip(_STATUS, status, strict=True):
                    dsp.write(view, place, "status", name, value)
        if self.event is not None:
            self.kernel.signal(self.event)

    def _take(self, view: memoryview, channel: Channel, place: int) -> None:
        """What a program has changed of a channel."""
        changes = Change(int(dsp.read(view, place, "channel", "flags")) & _ALL_CHANGES)
        if not changes:
            return
        dsp.write(view, place, "channel", "flags", 0)
        if changes & Change.RESET:
            channel.queue.clear()
            channel.playing = False
        if changes & Change.SYNC:
            sync = int(dsp.read(view, place, "channel", "sync"))
            if sync != channel.sync:
                channel.queue.clear()
            channel.sync = sync
        if changes & Change.RATE:
            rate = dsp.read(view, place, "channel", "rate")
            channel.rate = rate if math.isfinite(rate) and 0 <= rate <= _FASTEST else 1.0
        if changes & Change.FIRST_BUFFER:
            loops = bool(int(dsp.read(view, place, "channel", "loops")) & 2)
            channel.queue.add([_buffer(view, place, "channel", loops)])
        if changes & Change.QUEUE:
            active = int(dsp.read(view, place, "channel", "active"))
            dsp.write(view, place, "channel", "active", 0)
            places = [place + _BUFFERS_AT + dsp.SIZES["buffer"] * one for one in range(_QUEUED) if active >> one & 1]
            found = [_buffer(view, at, "buffer", bool(dsp.read(view, at, "buffer", "loops"))) for at in places]
            channel.queue.add(sorted(found, key=lambda one: one.sequence - channel.last & 0xFFFF))
        if changes & Change.PLAYING:
            channel.playing = bool(int(dsp.read(view, place, "channel", "playing")) & 0xFF)


def _buffer(view: memoryview, place: int, structure: str, loops: bool) -> Buffer:
    sequence, samples = (int(dsp.read(view, place, structure, one)) for one in ("sequence", "samples"))
    return Buffer(sequence, samples, loops)


_ALL_CHANGES: Final = int(
    Change.PLAYING | Change.RATE | Change.QUEUE | Change.SYNC | Change.RESET | Change.FIRST_BUFFER
)
