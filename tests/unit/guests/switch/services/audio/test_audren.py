"""`audren:u`: voices play wave buffers, and their program reads back how far they are."""

from __future__ import annotations

import struct

import pytest
from support.audren_client import (
    ADPCM,
    ATTACH,
    ATTACHED,
    DETACH,
    DETACHED,
    FRAME,
    NEW,
    PAUSED,
    STARTED,
    STOPPED,
    SoundClient,
    VoiceIn,
    VoiceOut,
    ask_renderer,
    lent,
    parameters,
    wave,
)
from support.cmif_client import MEMORY, In, Out

from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.kernel.state import State
from pocketgpu.guests.switch.abi.results import Result

SOUND = MEMORY + 0x10000
"""Where a test's sound is; messages are before it."""


def started(voices: int = 2, rate: int = 48000, **choices: str) -> SoundClient:
    """A renderer that runs, with its memory attached."""
    sound = SoundClient(voices, rate, {name.replace("_", "."): value for name, value in choices.items()})
    sound.pools[0] = SOUND, 0x100000, ATTACH
    assert sound.update().pools[0] == ATTACHED
    sound.pools[0] = SOUND, 0x100000, ATTACHED
    assert sound.renderer.ask(5).result == 0
    return sound


def test_wave_buffers_are_played_one_after_the_other() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 480), wave(SOUND, 600)])
    assert sound.update().voices == [VoiceOut(0, 0, 0)] * 2
    sound.frames()
    assert sound.event.on
    assert sound.update().voices[0] == VoiceOut(240, 0, 0)
    sound.frames(2)
    assert sound.update().voices[0] == VoiceOut(720, 1, 0), "the first was over after two frames"
    sound.voices[0].wave_buffers = [wave(0, 0, sent=True)] * 2 + [wave(SOUND, 100)]
    assert sound.update().voices[0].consumed == 1
    sound.frames(10)
    assert sound.update().voices[0] == VoiceOut(1180, 3, 0), "nothing is played when all is over"
    assert not sound.update().errors


def test_frames_take_five_milliseconds() -> None:
    for rate, count in ((48000, 240), (32000, 160)):
        sound = started(rate=rate)
        assert [sound.renderer.ask(n).values("I")[0] for n in (0, 1, 2, 3)] == [rate, count, 2, 0]
        sound.event.on = False
        sound.kernel.time.pass_ticks(FRAME - 1)
        assert sound.kernel.time.take_due() is None or not sound.event.on
        sound.frames()
        assert sound.event.on


@pytest.mark.parametrize(
    ("rate", "pitch", "played"),
    [(48000, 1.0, 2400), (24000, 1.0, 1200), (44100, 1.0, 2204), (48000, 2.0, 4800), (48000, 0.0, 0),
     (48000, float("nan"), 0)],
)  # fmt: skip
def test_speed_is_by_sample_rate_and_pitch(rate: int, pitch: float, played: int) -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 100000)], rate=rate, pitch=pitch)
    sound.update()
    sound.frames(10)
    assert sound.update().voices[0].played == played


def test_a_loop_is_never_over() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 100, loops=True), wave(SOUND, 100)])
    sound.update()
    sound.frames(10)
    assert sound.update().voices[0] == VoiceOut(2400, 0, 0)
    sound.voices[0].new = True
    assert sound.update().voices[0] == VoiceOut(0, 0, 0), "a new voice has forgotten it"
    sound.frames(2)
    assert sound.update().voices[0] == VoiceOut(0, 0, 0)


def test_pause_and_stop() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 1000), wave(SOUND, 1000)], state=PAUSED)
    sound.update()
    sound.frames(2)
    assert sound.update().voices[0].played == 0
    sound.voices[0].state = STARTED
    sound.update()
    sound.frames(2)
    sound.voices[0].state = PAUSED
    assert sound.update().voices[0] == VoiceOut(480, 0, 0)
    sound.frames(2)
    assert sound.update().voices[0].played == 480
    sound.voices[0].state = STOPPED
    assert sound.update().voices[0] == VoiceOut(0, 2, 0), "what was queued counts as played"
    del sound.voices[0]
    assert sound.update().voices[0] == VoiceOut(0, 0, 0)


def test_a_renderer_that_is_stopped_plays_nothing() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 1000)])
    sound.update()
    sound.frames()
    sound.renderer.ask(6)
    sound.event.on = False
    sound.frames(5)
    assert not sound.event.on and sound.update().voices[0].played == 240 and sound.renderer.ask(3).values("I") == (1,)
    sound.renderer.ask(5)
    sound.frames()
    assert sound.update().voices[0].played == 480
    sound.renderer.close()
    sound.event.on = False
    sound.frames()
    assert not sound.event.on and sound.console.renderers.renderers == 0


def test_adpcm_has_14_samples_in_8_bytes() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 1400, size=800)], format=ADPCM)
    sound.voices[1] = VoiceIn([wave(SOUND, 1401, size=801)], format=ADPCM)
    assert sound.update().errors == [(Result.INVALID_UPDATE, SOUND)], "801 bytes have no place for a further sample"
    sound.frames(20)
    assert sound.update().voices == [VoiceOut(1400, 1, 0), VoiceOut(0, 0, 0)]


def test_memory_pools() -> None:
    sound = SoundClient()
    wrong = [(SOUND, 0x1000, NEW), (SOUND + 8, 0x1000, ATTACH), (SOUND, 0, ATTACH), (16, 4096, ATTACH)]
    sound.pools |= dict(enumerate([*wrong, (SOUND, 0x1000, ATTACH), (0x1000, 0x1000, ATTACH)]))
    answer = sound.update()
    assert answer.pools[:6] == [0, 0, 0, 0, ATTACHED, 0]
    assert answer.errors == [(Result.NO_MEMORY_POOL, about) for about in (SOUND + 8, SOUND, 16, 0x1000)]
    sound.pools.clear()
    sound.pools |= {4: (SOUND, 0x1000, DETACH), 5: (SOUND, 0x1000, DETACH)}
    assert sound.update().pools[:6] == [0, 0, 0, 0, DETACHED, 0]
    assert sound.update().pools[:6] == [0] * 6


@pytest.mark.parametrize(("choice", "played"), [("waits", 0), ("played", 480)])
def test_a_wave_buffer_in_no_pool(choice: str, played: int) -> None:
    sound = SoundClient(choices={"guest.wave_buffers": choice})
    sound.renderer.ask(5)
    sound.voices[0] = VoiceIn([wave(SOUND, 480)])
    assert sound.update().errors == [(Result.NO_MEMORY_POOL, SOUND)]
    sound.frames(4)
    assert sound.update().voices[0].played == played
    assert "in no memory pool" in next(iter(sound.kernel.events)).message
    sound.pools[0] = SOUND, 0x1000, ATTACH
    assert not sound.update().errors
    sound.frames(4)
    assert sound.update().voices[0] == VoiceOut(480, 1, 0)


def test_a_sink_in_memory_tells_its_place() -> None:
    sound = started()
    sound.wishes.sink = struct.pack("<BB2xI24xQIIII", 2, 1, 0, SOUND, 1000, 2, 240, 0).ljust(0x140, b"\0")
    assert sound.update().sinks == [0]
    sound.frames(2)
    assert sound.update().sinks == [2 * 240 * 2 * 2 % 1000]
    assert "sound into memory is not modelled" in str(next(iter(sound.kernel.events)))


def test_updates_in_every_kind_of_buffer() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 480)])
    sound.update(kind="map")
    sound.frames()
    assert sound.update(kind="map").voices[0].played == sound.update().voices[0].played == 240


def test_wrong_updates_have_codes() -> None:
    sound = started()
    good = bytes(sound.wishes)

    def changed(at: int, value: int) -> int:
        data = bytearray(good)
        struct.pack_into("<I", data, at, value)
        return sound.update(bytes(data)).result

    assert sound.update(good).result == 0
    for at in (0, *range(4, 0x24, 4), 0x3C):
        assert changed(at, 0x12345678) == Result.INVALID_UPDATE, hex(at)
    assert sound.update(good[:-1]).result == Result.INVALID_UPDATE
    assert sound.update(b"").result == Result.INVALID_UPDATE
    assert sound.update(good + bytes(100)).result == 0, "more room than needed"
    assert sound.update(room=100).result == Result.SOUND_BUFFER_TOO_SMALL
    assert sound.renderer.ask(10).result == Result.INVALID_UPDATE
    for voice in (VoiceIn(channel=2), VoiceIn(channel_count=7), VoiceIn(mix=1)):
        sound.voices[0] = voice
        assert sound.update().result == Result.INVALID_UPDATE
    waves = [wave(SOUND, -5, size=8), wave(SOUND, 2**31 - 1)]
    sound.voices[0] = VoiceIn(waves, format=77, state=99, rate=2**32 - 1, pitch=1e30)
    answer = sound.update()
    assert answer.result == 0 and answer.errors == [(Result.INVALID_UPDATE, SOUND)]
    sound.frames(3)


def test_a_program_cannot_queue_without_end() -> None:
    sound = started()
    for _ in range(100):
        sound.voices[0] = VoiceIn([wave(SOUND, 480)] * 4, new=False)
        sound.update()
    sound.frames(20)
    assert sound.update().voices[0].consumed == 4, "it has four places"


def test_wrong_parameters_have_codes() -> None:
    sound = SoundClient()

    def result(about: bytes) -> int:
        return sound.manager.ask(1, about).result

    assert result(parameters(rate=44100)) == result(parameters(count=241)) == Result.BAD_SAMPLE_RATE
    assert result(parameters(voices=0)) == result(parameters(voices=1025)) == Result.SOUND_OPERATION_FAILED
    assert result(parameters(revision=0)) == result(parameters(revision=0x30564552)) == Result.SOUND_NOT_SUPPORTED
    assert not list(sound.kernel.events)
    assert result(parameters(revision=0x35564552)) == result(parameters(splitters=1)) == Result.SOUND_NOT_SUPPORTED
    assert [one.message.split(" is not")[0] for one in sound.kernel.events] == [
        "audren:u: revision 5", "audren:u: splitters",
    ]  # fmt: skip
    good, handle = parameters(), lent(sound, 0x100000)
    assert ask_renderer(sound.manager, good, 0x100000)[0] == Result.BAD_SOUND_HANDLE
    assert ask_renderer(sound.manager, good, 0x100000, sound.process, handle)[0] == Result.BAD_SOUND_HANDLE
    assert ask_renderer(sound.manager, good, 0x100000, sound.process, sound.process)[0] == Result.BAD_SOUND_HANDLE
    assert ask_renderer(sound.manager, good, 0x100, handle, sound.process)[0] == Result.SOUND_BUFFER_TOO_SMALL
    small = lent(sound, 0x1000)
    assert ask_renderer(sound.manager, good, 0x100000, small, sound.process)[0] == Result.SOUND_BUFFER_TOO_SMALL
    assert ask_renderer(sound.manager, good, 0x100000, handle, sound.process)[0] == 0
    assert ask_renderer(sound.manager, good, 0x100000, handle, sound.process)[0] == Result.OUT_OF_SOUND_RESOURCES


def test_limits_are_kept() -> None:
    sound = SoundClient()
    assert sound.renderer.ask(9).values("i") == (100,)
    assert sound.renderer.ask(8, struct.pack("<i", 70)).result == 0 and sound.renderer.ask(9).values("i") == (70,)
    assert sound.renderer.ask(8, struct.pack("<i", -1)).result == Result.SOUND_OPERATION_FAILED
    sound.renderer.ask(12, struct.pack("<f", 0.5))
    assert sound.renderer.ask(13).data[:4] == struct.pack("<f", 0.5)
    assert sound.renderer.ask(11).result == Result.SOUND_NOT_SUPPORTED


def test_devices() -> None:
    sound = SoundClient()
    device = sound.manager.ask(2, bytes(8), out_objects=1).objects[0]
    reply = device.ask(6, buffers=[Out(0x280)])
    assert reply.values("i") == (2,), "two have room"
    assert [reply.outputs[0][at:].split(b"\0")[0] for at in (0, 0x100)] == [
        b"AudioStereoJackOutput", b"AudioBuiltInSpeakerOutput",
    ]  # fmt: skip
    name = b"AudioTvOutput".ljust(0x100, b"\0")
    assert device.ask(7, struct.pack("<f", 0.25), buffers=[In(name)]).result == 0
    assert device.ask(8, buffers=[In(name)]).data[:4] == struct.pack("<f", 0.25)
    assert device.ask(8, buffers=[In(b"Piano".ljust(0x100, b"\0"))]).result == Result.NO_SOUND_DEVICE
    changed = sound.object(device.ask(4).copies[0])
    assert isinstance(changed, Event) and not changed.on and device.ask(5).values("i") == (2,)
    assert device.ask(10, buffers=[Out(0x100)]).outputs[0].startswith(b"AudioBuiltInSpeakerOutput")
    sound.console.do_once("docked", ())
    assert changed.on and device.ask(10, buffers=[Out(0x100)]).outputs[0] == name


def test_a_checkpoint_keeps_voices() -> None:
    sound = started()
    sound.voices[0] = VoiceIn([wave(SOUND, 600), wave(SOUND, 600)])
    sound.update()
    sound.frames(2)
    state = State([sound.console], outside=[sound.console.machine, sound.kernel.processor])
    sound.frames(2)
    assert sound.update().voices[0] == VoiceOut(960, 1, 0)
    sound.frames(20)
    state.restore()
    assert sound.update().voices[0] == VoiceOut(480, 0, 0)
    sound.frames(2)
    assert sound.update().voices[0] == VoiceOut(960, 1, 0)
