"""`audout:u`: buffers of sound come back when they would have been heard."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from support.switch_requests import Asker

from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, Interface
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.audio.audout import RATE, AudioOutManager

MILLISECOND = layout.CLOCK // 1000


class Player:
    """An output that a test plays with."""

    def __init__(self) -> None:
        self.asker = Asker()
        manager = AudioOutManager(self.asker.kernel)
        answer = self.asker.ask(manager, 1, "<IIQ", 0, 2, 0, inputs=[bytes(0x100)], room=0x100)
        assert struct.unpack("<4I", answer.data) == (RATE, 2, 2, 1), "48 kHz, two channels, 16 bits, stopped"
        (self.out,) = answer.objects
        (self.event,) = self.ask(4).copies

    def ask(
        self, command: int, format: str = "<", *values: float, inputs: Sequence[bytes] = (), room: int = 0
    ) -> CmifAnswer:
        return self.asker.ask(self.out, command, format, *values, inputs=inputs, room=room)

    def append(self, tag: int, milliseconds: int) -> int:
        size = milliseconds * RATE // 1000 * 4
        buffer = struct.pack("<5Q", 0, 0x1000, size, size, 0)
        return self.ask(3, "<Q", tag, inputs=[buffer]).result

    def pass_time(self, milliseconds: int) -> None:
        time = self.asker.kernel.time
        time.pass_ticks(milliseconds * MILLISECOND)
        while (due := time.take_due()) is not None:
            due.action(due.tick)

    def released(self) -> list[int]:
        (count,) = struct.unpack("<I", self.ask(5, room=64).data)
        return list(struct.unpack(f"<{count}Q", self.asker.output(8 * count)))

    def number(self, command: int) -> int:
        data = self.ask(command).data
        return int.from_bytes(data, "little")


def test_buffers_come_back_when_they_were_played() -> None:
    player = Player()
    assert isinstance(player.event, Event)
    assert player.append(1, 10) == player.append(2, 20) == 0
    player.pass_time(100)
    assert not player.event.on and player.released() == [], "it is stopped"
    player.ask(1)
    player.pass_time(9)
    assert player.released() == [] and player.number(10) == 9 * RATE // 1000
    player.pass_time(2)
    assert player.event.on and player.released() == [1] and player.number(9) == 1
    assert player.ask(6, "<Q", 2).data == b"\1" and player.ask(6, "<Q", 1).data == b"\0"
    player.event.on = False
    player.pass_time(18)
    assert not player.event.on
    player.pass_time(1)
    assert player.event.on and player.released() == [2] and player.number(10) == 30 * RATE // 1000
    assert player.append(3, 5) == 0, "it is still started"
    player.pass_time(5)
    assert player.released() == [3] and player.number(0) == 0


def test_a_stopped_output_gives_everything_back() -> None:
    player = Player()
    player.append(1, 10)
    player.append(2, 10)
    player.ask(1)
    player.pass_time(5)
    player.ask(2)
    assert player.released() == [1, 2] and player.number(0) == 1
    player.pass_time(50)
    assert player.released() == [] and player.number(10) == 0
    player.append(3, 10)
    player.ask(1)
    assert player.ask(11).data == b"\1" and player.released() == [3] and player.ask(11).data == b"\0"


def test_wrong_requests_have_codes() -> None:
    player = Player()
    manager = AudioOutManager(player.asker.kernel)

    def opened(rate: int, channels: int, name: bytes) -> int:
        inputs = [name.ljust(0x100, b"\0")]
        return player.asker.ask(manager, 1, "<IIQ", rate, channels, 0, inputs=inputs, room=0x100).result

    assert opened(44100, 2, b"") == Result.BAD_SAMPLE_RATE and opened(0, 3, b"") == Result.BAD_CHANNEL_COUNT
    assert opened(0, 2, b"nothing") == Result.NO_SOUND_DEVICE and opened(48000, 6, b"DeviceOut") == Result.OK
    assert player.ask(3, "<Q", 1, inputs=[bytes(8)]).result == Result.SOUND_BUFFER_TOO_SMALL
    assert [player.append(n, 1) for n in range(33)].count(Result.OK) == 32
    assert player.append(99, 1) == Result.TOO_MANY_SOUND_BUFFERS
    assert player.asker.ask(manager, 0, room=0x400).data == struct.pack("<I", 1)
    assert player.asker.output(9) == b"DeviceOut"
    player.ask(12, "<f", 0.5)
    assert player.ask(13).data == struct.pack("<f", 0.5)


def test_a_closed_output_plays_no_more() -> None:
    player = Player()
    player.append(1, 10)
    player.ask(1)
    assert isinstance(player.out, Interface)
    player.out.closed()
    player.pass_time(50)
    assert player.released() == []
