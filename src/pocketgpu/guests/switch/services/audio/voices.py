"""Voices of the sound renderer: they play wave buffers in emulated time.

    voice.take(record, pools)  # what a program's update says of it
    voice.play(240)            # a frame of 240 samples

A voice has four places for wave buffers, which are used in turns. Source: libnx's audio/voice.c, services/audren.h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.audren import (
    ADPCM_BYTES,
    ADPCM_SAMPLES,
    AUDREN,
    SAMPLE_BYTES,
    WAVE_BUFFERS,
    PoolState,
    SampleFormat,
    VoiceState,
)
from pocketgpu.guests.kernel.sound import SoundQueue
from pocketgpu.late_dataclass import dataclass

_ONE: Final = 1 << 15
"""Speeds are counted in parts of it."""
_FASTEST: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class WaveBuffer:
    """A piece of sound. address, size: where it is. fits: whether its samples are inside of it."""

    address: int
    size: int
    samples: int
    loops: bool
    fits: bool


class MemoryPools:
    """Memory of the program that the renderer may read. attached: address and size, by the number of the pool."""

    def __init__(self) -> None:
        self.attached: dict[int, tuple[int, int]] = {}

    def __repr__(self) -> str:
        return f"<MemoryPools: {len(self.attached)} attached>"

    def holds(self, address: int, size: int) -> bool:
        """Whether a range is inside of a pool."""
        return any(base <= address and address + size <= base + room for base, room in self.attached.values())

    def take(self, number: int, record: Record, *, readable: bool) -> PoolState:
        """What a program wants with a pool; what becomes of it. readable: whether the program has that memory."""
        state = record["state"]
        if state == PoolState.ATTACH and readable:
            self.attached[number] = record["address"], record["size"]
            return PoolState.ATTACHED
        if state == PoolState.DETACH and number in self.attached:
            del self.attached[number]
            return PoolState.DETACHED
        if state in (PoolState.NEW, PoolState.RELEASED):
            self.attached.pop(number, None)
        return PoolState.NO_CHANGE


class Voice:
    """A voice. used: whether the program has it. state: what it does. speed: samples of its buffers for one of a frame,
    times 2 ** 15. played: samples so far. consumed: wave buffers that were played. coming: wave buffers that the queue
    has not got yet, by their place."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.reset()

    def __repr__(self) -> str:
        return f"<Voice: {self.consumed} wave buffers played, {len(self.queue)} queued>"

    def reset(self) -> None:
        """Forget everything."""
        self.used, self.state, self.speed = False, int(VoiceState.STOPPED), 0
        self.queue: SoundQueue[WaveBuffer] = SoundQueue()
        self.coming: dict[int, WaveBuffer] = {}
        self.played = self.consumed = 0
        self._place = self._fraction = 0

    # -- what the program wants -------------------------------------------------------------------------------------
    def take(self, record: Record) -> bool:
        """What an update says of the voice; then `queue_coming` is called.

        :returns: whether the same would change something once more.
        """
        if record["new"] or not record["used"]:
            self.reset()
        self.used = bool(record["used"])
        if not self.used:
            return False
        state = record["state"]
        if state == VoiceState.STOPPED != self.state:
            self._stop()
        self.state, self.speed = state, _speed(record, self.rate)
        buffers, size, again = record.part("wave_buffers"), AUDREN.size("wave_buffer"), bool(record["new"])
        for place in range(WAVE_BUFFERS):
            one = AUDREN.make("wave_buffer", buffers[place * size : (place + 1) * size])
            if not one["sent"]:
                self.coming[place], again = _wave_buffer(one, record), True
        return again

    def _stop(self) -> None:
        """All that was queued counts as played."""
        self.consumed += len(self.queue)
        self.queue.clear()
        self.coming.clear()
        self.played = self._fraction = 0

    def queue_coming(self, pools: MemoryPools, *, waits: bool) -> Iterator[WaveBuffer]:
        """Queue what has its turn. waits: whether wave buffers that cannot be read stay where they are, until they can.

        :returns: those that cannot be read.
        """
        while len(self.queue) < WAVE_BUFFERS and (one := self.coming.get(self._place)) is not None:
            if not (one.fits and pools.holds(one.address, one.size)):
                yield one
                if waits:
                    return
            del self.coming[self._place]
            self.queue.add((one,))
            self._place = (self._place + 1) % WAVE_BUFFERS

    # -- playing ----------------------------------------------------------------------------------------------------
    def play(self, count: int) -> None:
        """A frame of some samples passes."""
        if self.state != VoiceState.STARTED or not len(self.queue):
            return
        passed = self._fraction + self.speed * count
        samples, self._fraction = passed // _ONE, passed % _ONE
        rest = self.queue.play(samples, self)
        self.played += samples - int(rest or 0)

    def begun(self, sound: WaveBuffer) -> None:
        """Of its queue."""

    def repeated(self, sound: WaveBuffer) -> None:
        """Of its queue; a wave buffer that loops is never over."""

    def ended(self, sound: WaveBuffer) -> None:
        """Of its queue."""
        self.consumed += 1


def _speed(record: Record, rate: int) -> int:
    """How many samples of a voice pass with one of the renderer, by its sample rate and pitch."""
    pitch = record.real("pitch")
    if not math.isfinite(pitch) or pitch <= 0:
        return 0
    return int(min(record["sample_rate"] / rate * pitch, _FASTEST) * _ONE)


def _wave_buffer(one: Record, voice: Record) -> WaveBuffer:
    start, end, size = one["start"], one["end"], one["size"]
    fits = 0 <= start <= end and _bytes(voice["format"], voice["channel_count"], end) <= size
    return WaveBuffer(one["address"], size, max(0, end - start), bool(one["loops"]), fits)


def _bytes(format: int, channels: int, samples: int) -> float:
    """How many bytes samples take; more than there can be if the renderer does not know the format."""
    if format == SampleFormat.ADPCM:
        frames, more = divmod(samples, ADPCM_SAMPLES)
        return ADPCM_BYTES * frames + (1 + (more + 1) // 2 if more else 0)
    return samples * channels * SAMPLE_BYTES[SampleFormat(format)] if format in SAMPLE_BYTES else math.inf
