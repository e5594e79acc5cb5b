"""A program that talks to the sound renderer of the Switch as libnx's audio driver does.

    sound = SoundClient(voices=2)
    sound.pools[0] = (MEMORY, 0x10000, ATTACH)
    sound.voices[0] = VoiceIn(wave_buffers=[wave(MEMORY, 480)])
    answer = sound.update()
    answer.pools[0], answer.voices[0].played

Offsets are written by hand here, not by the table that the package reads: see libnx's services/audren.h.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from support.cmif_client import CmifClient, In, Out, Service

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.maxwell.gm20b import GM20B

from .guest_messages import Idle

REVISION = 0x34564552
NEW, DETACH, DETACHED, ATTACH, ATTACHED, RELEASED = range(1, 7)
STARTED, STOPPED, PAUSED = range(3)
INT16, ADPCM = 2, 6
FINAL, NO_MIX = 0, 0x7FFFFFFF
FRAME = layout.CLOCK // 200


def wave(address: int, samples: int, *, loops: bool = False, sent: bool = False, size: int | None = None) -> bytes:
    """A wave buffer of 16 bit samples, one channel."""
    size = 2 * samples if size is None else size
    return struct.pack("<QQii3B5x24x", address, size, 0, samples, loops, 0, sent)


@dataclass
class VoiceIn:
    """A voice as a program has it. waves: its four places."""

    wave_buffers: list[bytes] = field(default_factory=list)
    new: bool = True
    used: bool = True
    state: int = STARTED
    format: int = INT16
    rate: int = 48000
    channel_count: int = 1
    pitch: float = 1.0
    mix: int = FINAL
    channel: int = 0

    def __bytes__(self) -> bytes:
        waves = [*self.wave_buffers, *[wave(0, 0, sent=True)] * 4][:4]
        head = struct.pack("<II4BIIIIff", 0, 0, self.new, self.used, self.state, self.format, self.rate, 0, 0,
                           self.channel_count, self.pitch, 1.0)  # fmt: skip
        queue = struct.pack("<24xIhHIQQII", len(self.wave_buffers), 0, 0, 0, 0, 0, self.mix, 0xFFFFFFFF)
        data = head + queue + b"".join(waves) + struct.pack("<6I24x", self.channel, 0, 0, 0, 0, 0)
        assert len(data) == 0x170
        return data


class VoiceOut(NamedTuple):
    """What the renderer says of a voice."""

    played: int
    consumed: int
    drops: int


@dataclass(frozen=True)
class Answer:
    """What an update brought back. errors: results and addresses."""

    result: int
    pools: list[int] = field(default_factory=list)
    voices: list[VoiceOut] = field(default_factory=list)
    sinks: list[int] = field(default_factory=list)
    errors: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Wishes:
    """An update. count: of the renderer's voices. pools: address, size and state, by number. sink: its record."""

    count: int
    pools: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    voices: dict[int, VoiceIn] = field(default_factory=dict)
    sink: bytes = bytes(0x140)

    def __bytes__(self) -> bytes:
        pools = [self.pools.get(n, (0, 0, RELEASED)) for n in range(4 * self.count)]
        voices = [self.voices.get(n, VoiceIn(used=False, new=False)) for n in range(self.count)]
        sections = (
            struct.pack("<IIQ", REVISION, 0, 0), b"".join(struct.pack("<QQI12x", *one) for one in pools),
            b"".join(struct.pack("<I96xB11x", n, 1) for n in range(self.count)), b"".join(map(bytes, voices)), b"",
            struct.pack("<fIIB3xIII8x2304xII4x", 1.0, 48000, 2, 1, 0, 0, 0, NO_MIX, 0xFFFFFFFF), self.sink, bytes(16),
        )  # fmt: skip
        behaviour, memory, channels, voice_data, effects, mixes, sinks, performance = map(len, sections)
        body = b"".join(sections)
        sizes = behaviour, memory, voice_data, channels, effects, mixes, sinks, performance
        return struct.pack("<9I24xI", REVISION, *sizes, 0x40 + len(body)) + body

    @property
    def room(self) -> int:
        """Bytes of the answer."""
        return 0x40 + 0x50 * self.count + 0x20 + 0x10 + 0xB0


def parameters(
    voices: int = 1, rate: int = 48000, count: int | None = None, revision: int = REVISION, splitters: int = 0
) -> bytes:
    """What a renderer is opened with."""
    count = rate // 200 if count is None else count
    return struct.pack("<13I", rate, count, 2, 0, voices, 1, 0, 0, 0, splitters, 0, 0, revision)


def lent(client: CmifClient, size: int) -> int:
    """The handle of memory for a renderer."""
    handle = client.kernel.handles.add(MemoryBlock("work", host_memory(-(-size // 4096) * 4096)))
    assert handle is not None
    return handle


def ask_renderer(manager: Service, about: bytes, size: int, *handles: int) -> tuple[int, list[Service]]:
    """Ask for a renderer: the result, and the renderer."""
    data = about + bytes(4) + struct.pack("<QQ", size, 0)
    reply = manager.ask(0, data, handles=handles, pid=True, out_objects=1)
    return reply.result, list(reply.objects)


def open_renderer(client: CmifClient, manager: Service, about: bytes) -> Service:
    """A renderer, opened as libnx does."""
    (size,) = manager.ask(1, about).values("Q")
    result, found = ask_renderer(manager, about, size, lent(client, size), client.process)
    assert result == 0, hex(result)
    (found[0].pointer_size,) = found[0].control(3).values("H")
    return found[0]


class SoundClient(CmifClient):
    """A program with a renderer."""

    def __init__(self, voices: int = 2, rate: int = 48000, choices: Mapping[str, str] | None = None) -> None:
        self.console = SwitchConsole(Idle(), GM20B(switches=choices), MemoryFiles({}))
        super().__init__(kernel=self.console.kernel)
        self.manager = self.service("audren:u")
        self.renderer = open_renderer(self, self.manager, parameters(voices, rate))
        event = self.object(self.renderer.ask(7).copies[0])
        assert isinstance(event, Event)
        self.event, self.wishes = event, Wishes(voices)
        self.pools, self.voices = self.wishes.pools, self.wishes.voices

    def frames(self, count: int = 1) -> None:
        """Let frames of 5 ms pass."""
        time = self.kernel.time
        time.pass_ticks(count * FRAME)
        while (due := time.take_due()) is not None:
            due.action(due.tick)

    def update(self, wishes: bytes | None = None, room: int | None = None, kind: str = "auto") -> Answer:
        """Send an update, and do what libnx does with its answer: wave buffers are new only once."""
        wishes = bytes(self.wishes) if wishes is None else wishes
        room = self.wishes.room if room is None else room
        reply = self.renderer.ask(10, buffers=[Out(room, kind), Out(0, kind), In(wishes, kind)])
        assert reply.call == 0
        if reply.result:
            return Answer(reply.result)
        for one in self.voices.values():
            one.new, one.wave_buffers = False, []
        return self._parsed(reply.outputs[0])

    def _parsed(self, data: bytes) -> Answer:
        revision, behaviour, pools, voices, channels, effects, mixes, sinks, performance, total = struct.unpack_from(
            "<9I24xI", data
        )
        assert (revision, total) == (REVISION, len(data))
        assert (behaviour, channels, effects, mixes, performance) == (0xB0, 0, 0, 0, 0x10)
        at = 0x40
        states = [one for (one,) in struct.iter_unpack("<I12x", data[at : at + pools])]
        at += pools
        told = [VoiceOut(*one) for one in struct.iter_unpack("<QII", data[at : at + voices])]
        at += voices
        written = [one for (one,) in struct.iter_unpack("<I28x", data[at : at + sinks])]
        at += sinks + performance
        (count,) = struct.unpack_from("<I", data, at + 0xA0)
        errors = list(struct.iter_unpack("<I4xQ", data[at : at + 16 * count]))
        return Answer(0, states, told, written, [(one, about) for one, about in errors])
