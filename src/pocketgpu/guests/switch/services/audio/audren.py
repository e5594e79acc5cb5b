"""`audren:u`: the sound renderer, which mixes voices; as a model that consumes their wave buffers in emulated time.

A frame takes 5 ms: 240 samples at 48 kHz. For each, the voices that play advance, and the program's event is signalled.
The program hands in all its wishes in one update, and reads back how far its voices are. There is no sound output.
Source: libnx's services/audren.c, audio/*.c, services/auddev.c; switchbrew Audio services.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.audren import (
    AUDREN,
    FRAMES_PER_SECOND,
    INPUTS,
    LIMITS,
    MOST_CHANNELS,
    NEWEST_REVISION,
    OUTPUTS,
    POOL_PAGE,
    RATES,
    REVISION_NAME,
    PoolState,
    SinkType,
)
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import AddressError, Permission
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.sound import FrameClock
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.audio.devices import AudioDevice
from pocketgpu.guests.switch.services.audio.updates import MalformedUpdate, Update, UpdateAnswer, update_size
from pocketgpu.guests.switch.services.audio.voices import MemoryPools, Voice

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_RENDERERS: Final = 2
"""That are open at a time."""
_STARTED, _STOPPED = 0, 1
_PAGE: Final = 0x1000
_WORK: Final = struct.Struct("<QQ")
"""After the parameters: size of the work buffer, the program's id."""
_WORK_AT: Final = 0x38
_MIX_SAMPLE: Final = 4
"""Bytes of a sample in a mix buffer."""
_UNUSED_MIX: Final = 0x7FFFFFFF
_OUTPUT_SAMPLE: Final = 2
"""Bytes of a sample in a circular buffer."""
_ALL_TIME: Final = 100
_NORMAL: Final = 1.0


def _counts(parameters: Record) -> dict[str, int]:
    """How many records of each kind updates have."""
    found = {name: parameters[name] for name in LIMITS}
    voices, effects = found["voices"], found["effects"]
    return found | {"one": 1, "memory_pools": effects + 4 * voices, "mixes": found["submixes"] + 1}


def _work_size(parameters: Record) -> int:
    """How much memory the program has to lend: what updates and mix buffers take. A console needs more."""
    counts = _counts(parameters)
    mixing = counts["mix_buffers"] * parameters["sample_count"] * _MIX_SAMPLE
    size = update_size(INPUTS, counts) + update_size(OUTPUTS, counts) + mixing
    return -(-size // _PAGE) * _PAGE


class AudioRendererManager(Interface):
    """The service. docked: whether the console is in its dock. renderers: how many are open."""

    name = "audren:u"

    def __init__(self, kernel: SwitchKernel, docked: Callable[[], bool]) -> None:
        super().__init__(kernel)
        self.docked = docked
        self.renderers = 0
        self.device_event = Event(Reset.STICKY, "sound devices")

    def device_changed(self) -> None:
        """Sound goes to another device, such as the television."""
        self.kernel.signal(self.device_event)

    def _wrong(self, request: CmifRequest, parameters: Record) -> Result:
        """What is wrong with parameters."""
        revision = parameters["revision"].to_bytes(4, "little")
        number = revision[3] - ord("0")
        if revision[:3] != REVISION_NAME or number < 1:
            return Result.SOUND_NOT_SUPPORTED
        if number > NEWEST_REVISION or parameters["splitters"]:
            what = f"revision {number}" if number > NEWEST_REVISION else "splitters"
            self.kernel.not_modelled("guest.command", f"{self.name}: {what}", (parameters["revision"],), request.thread)
            return Result.SOUND_NOT_SUPPORTED
        if RATES.get(parameters["sample_rate"]) != parameters["sample_count"]:
            return Result.BAD_SAMPLE_RATE
        if any(not low <= parameters[name] <= high for name, (low, high) in LIMITS.items()):
            return Result.SOUND_OPERATION_FAILED
        return Result.OK

    @command(0)
    def open_audio_renderer(self, request: CmifRequest) -> CmifAnswer:
        """Parameters; memory that the program lends for it."""
        parameters = AUDREN.make("parameters", request.data[: AUDREN.size("parameters")])
        if (wrong := self._wrong(request, parameters)) != Result.OK:
            return CmifAnswer(result=wrong)
        size, _ = _WORK.unpack(request.data[_WORK_AT:].ljust(_WORK.size, b"\0")[: _WORK.size])
        if len(request.copies) < 2 or request.copies[1] is not self.kernel.process:
            return CmifAnswer(result=Result.BAD_SOUND_HANDLE)
        lent = request.copies[0]
        if not isinstance(lent, MemoryBlock):
            return CmifAnswer(result=Result.BAD_SOUND_HANDLE)
        if min(size, len(lent.view)) < _work_size(parameters):
            return CmifAnswer(result=Result.SOUND_BUFFER_TOO_SMALL)
        if self.renderers >= MOST_RENDERERS:
            return CmifAnswer(result=Result.OUT_OF_SOUND_RESOURCES)
        return CmifAnswer(objects=(AudioRenderer(self.kernel, self, parameters),))

    @command(1)
    def get_work_buffer_size(self, request: CmifRequest) -> CmifAnswer:
        parameters = AUDREN.make("parameters", request.data[: AUDREN.size("parameters")])
        if (wrong := self._wrong(request, parameters)) != Result.OK:
            return CmifAnswer(result=wrong)
        return CmifAnswer(struct.pack("<Q", _work_size(parameters)))

    @command(2)
    @command(4)
    def get_audio_device_service(self, request: CmifRequest) -> CmifAnswer:
        """The program's id, and the revision of what it knows about devices."""
        return CmifAnswer(objects=(AudioDevice(self.kernel, self.docked, self.device_event),))


class AudioRenderer(Interface):
    """A renderer. parameters: what it was opened with. event: signalled for each frame."""

    name = "IAudioRenderer"

    def __init__(self, kernel: SwitchKernel, manager: AudioRendererManager, parameters: Record) -> None:
        super().__init__(kernel)
        self.manager, self.parameters = manager, parameters
        manager.renderers += 1
        self.counts: Mapping[str, int] = _counts(parameters)
        self.event = Event(Reset.STICKY, "sound frames")
        self.pools = MemoryPools()
        self.voices = [Voice(parameters["sample_rate"]) for _ in range(self.counts["voices"])]
        self.playing: list[Voice] = []
        self._known_voices = [b""] * len(self.voices)
        self.sinks: dict[int, tuple[int, int]] = {}
        self.written: dict[int, int] = {}
        self.time_limit, self.voice_drop = _ALL_TIME, _NORMAL
        self.clock = FrameClock(kernel.time, kernel.time.hertz // FRAMES_PER_SECOND, self._frame)
        self._quiet_pools = b""

    def __repr__(self) -> str:
        state = "started" if self.clock.running else "stopped"
        return f"<AudioRenderer: {state}, {len(self.playing)} of {len(self.voices)} voices used>"

    def closed(self) -> None:
        self.clock.stop()
        self.manager.renderers -= 1

    # -- frames -----------------------------------------------------------------------------------------------------
    def _frame(self) -> None:
        """Play a frame."""
        count = self.parameters["sample_count"]
        for voice in self.playing:
            voice.play(count)
        for number, (inputs, size) in self.sinks.items():
            self.written[number] = (self.written.get(number, 0) + count * inputs * _OUTPUT_SAMPLE) % size
        self.kernel.signal(self.event)

    # -- updates ----------------------------------------------------------------------------------------------------
    @command(4)
    @command(10)
    def request_update(self, request: CmifRequest) -> CmifAnswer:
        """The update goes in, the answer and figures about performance come out; there are no such figures."""
        revision, counts = self.parameters["revision"], self.counts
        answer = UpdateAnswer(counts, revision)
        if not request.inputs or not request.outputs:
            return CmifAnswer(result=Result.INVALID_UPDATE)
        if request.outputs[0].size < answer.size:
            return CmifAnswer(result=Result.SOUND_BUFFER_TOO_SMALL)
        given = request.inputs[0]
        try:
            data = self.kernel.space.read(given.address, min(given.size, update_size(INPUTS, counts)))
            update = Update(data, counts, revision)
            changed = self._changed_voices(update)
            self._check(update, changed)
        except MalformedUpdate:
            return CmifAnswer(result=Result.INVALID_UPDATE)
        self._take_pools(update, answer)
        self._take_voices(changed)
        self._tell_voices(answer)
        self._take_sinks(update, answer, request)
        request.output(answer.finished())
        return CmifAnswer()

    def _changed_voices(self, update: Update) -> dict[int, Record]:
        """Those of which the update says something else than the one before."""
        found = ((n, data) for n, data in update.raw("voice_in") if data != self._known_voices[n])
        return {number: AUDREN.make("voice_in", data) for number, data in found}

    def _check(self, update: Update, voices: Mapping[int, Record]) -> None:
        """Whether voices, mixes and sinks name others that there are.

        :raises MalformedUpdate: they do not.
        """
        mixes = self.counts["mixes"]
        for number, voice in voices.items():
            if not voice["used"]:
                continue
            channels = voice["channel_count"]
            if channels > MOST_CHANNELS or any(one >= len(self.voices) for one in voice.numbers("channels")[:channels]):
                raise MalformedUpdate(f"voice {number} has no such channels")
            if voice["mix"] not in (*range(mixes), _UNUSED_MIX):
                raise MalformedUpdate(f"voice {number} has no such mix")
        for number, mix in update.records("mix_in", "used"):
            if mix is not None and (mix["id"] >= mixes or mix["target"] not in (*range(mixes), _UNUSED_MIX)):
                raise MalformedUpdate(f"mix {number} has no such target")

    def _take_pools(self, update: Update, answer: UpdateAnswer) -> None:
        section = update.section("memory_pool_in")
        if section == self._quiet_pools:
            return
        quiet = True
        for number, record in update.records("memory_pool_in"):
            assert record is not None
            readable = record["state"] == PoolState.ATTACH and self._readable(record["address"], record["size"])
            state = self.pools.take(number, record, readable=readable)
            quiet &= record["state"] not in (PoolState.ATTACH, PoolState.DETACH)
            if state != PoolState.NO_CHANGE:
                answer.store("memory_pool_out", number, state=state)
            elif record["state"] == PoolState.ATTACH:
                answer.errors.append((Result.NO_MEMORY_POOL, record["address"]))
        self._quiet_pools = section if quiet else b""

    def _readable(self, address: int, size: int) -> bool:
        """Whether the program has this memory, in whole pages."""
        if address % POOL_PAGE or size % POOL_PAGE or not size:
            return False
        try:
            self.kernel.space.check(address, size, Permission.READ)
        except AddressError:
            return False
        return True

    def _take_voices(self, changed: Mapping[int, Record]) -> None:
        for number, record in changed.items():
            again = self.voices[number].take(record)
            self._known_voices[number] = b"" if again else bytes(record.data)
        self.playing = [voice for voice in self.voices if voice.used]

    def _tell_voices(self, answer: UpdateAnswer) -> None:
        waits = self.kernel.machine.choices["guest.wave_buffers"] == "waits"
        for number, voice in enumerate(self.voices):
            if not voice.used:
                continue
            for one in voice.queue_coming(self.pools, waits=waits):
                code = Result.NO_MEMORY_POOL if one.fits else Result.INVALID_UPDATE
                answer.errors.append((code, one.address))
                text = f"a wave buffer at {one.address:#x} is in no memory pool that is attached"
                if not one.fits:
                    text = f"a wave buffer at {one.address:#x} is smaller than its samples, or of an unknown format"
                self.kernel.events.report("warning", "guest.sound", text)
            played, consumed = voice.played & 0xFFFF_FFFF_FFFF_FFFF, voice.consumed & 0xFFFF_FFFF
            answer.store("voice_out", number, played=played, consumed=consumed)

    def _take_sinks(self, update: Update, answer: UpdateAnswer, request: CmifRequest) -> None:
        """Of a sink that is memory, only the place is told; nothing is stored there."""
        self.sinks = {}
        for number, sink in update.records("sink_in", "used"):
            if sink is None or sink["type"] != SinkType.CIRCULAR_BUFFER:
                self.written.pop(number, None)
                continue
            inputs, size = sink["inputs"], sink["buffer_size"]
            if 0 < inputs <= MOST_CHANNELS and size:
                self.kernel.not_modelled("guest.command", f"{self.name}: sound into memory", (), request.thread)
                self.sinks[number] = inputs, size
                answer.store("sink_out", number, written_offset=self.written.get(number, 0))

    # -- the rest ---------------------------------------------------------------------------------------------------
    @command(0)
    @command(1)
    @command(2)
    def get_parameter(self, request: CmifRequest) -> CmifAnswer:
        """What it was opened with: the sample rate, samples of a frame, mix buffers."""
        name = ("sample_rate", "sample_count", "mix_buffers")[request.command]
        return CmifAnswer(struct.pack("<I", self.parameters[name]))

    @command(3)
    def get_state(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", _STARTED if self.clock.running else _STOPPED))

    @command(5)
    def start(self, request: CmifRequest) -> CmifAnswer:
        if not self.clock.running:
            self.clock.start()
        return CmifAnswer()

    @command(6)
    def stop(self, request: CmifRequest) -> CmifAnswer:
        """Voices keep their places."""
        self.clock.stop()
        return CmifAnswer()

    @command(7)
    def query_system_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.event,))

    @command(8)
    def set_rendering_time_limit(self, request: CmifRequest) -> CmifAnswer:
        """How much of a frame's time rendering may take, in percent. Here it takes none, so no voice is dropped."""
        (limit,) = request.values("i")
        if not 0 <= limit <= _ALL_TIME:
            return CmifAnswer(result=Result.SOUND_OPERATION_FAILED)
        self.time_limit = limit
        return CmifAnswer()

    @command(9)
    def get_rendering_time_limit(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", self.time_limit))

    @command(11)
    def execute_audio_renderer_rendering(self, request: CmifRequest) -> CmifAnswer:
        """Only for renderers without a clock of their own."""
        return CmifAnswer(result=Result.SOUND_NOT_SUPPORTED)

    @command(12)
    def set_voice_drop_parameter(self, request: CmifRequest) -> CmifAnswer:
        (self.voice_drop,) = request.values("f")
        return CmifAnswer()

    @command(13)
    def get_voice_drop_parameter(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.voice_drop))
