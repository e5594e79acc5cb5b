"""Channels of the sound processor: order, loops, limits."""

from __future__ import annotations

import pytest

from pocketgpu.guests.n3ds.services.dsp import Buffer, Channel


def played(channel: Channel, frames: int) -> list[int]:
    """The buffer that plays after each frame; 0 for none."""
    found = []
    for _ in range(frames):
        channel.play(160)
        found.append(channel.queue.now.sequence if channel.queue.now else 0)
    return found


def playing(rate: float = 1.0) -> Channel:
    channel = Channel()
    channel.playing, channel.rate = True, rate
    return channel


def test_a_buffer_that_loops_stays() -> None:
    channel = playing()
    channel.queue.add([Buffer(5, 400, True), Buffer(6, 400, False)])
    assert played(channel, 10) == [5] * 10
    assert channel.queue.position == 1600 % 400 and channel.playing
    channel.queue.clear()
    assert played(channel, 1) == [0] and not channel.playing


def test_buffers_follow_each_other_within_a_frame() -> None:
    channel = playing(2.0)
    channel.queue.add([Buffer(1, 100, False), Buffer(2, 100, False), Buffer(3, 200, False)])
    assert played(channel, 3) == [3, 0, 0]
    assert channel.status == (0, 1, 0, 0, 0, 3)


def test_a_channel_that_is_paused_keeps_its_place() -> None:
    channel = playing()
    channel.queue.add([Buffer(1, 1000, False)])
    played(channel, 2)
    channel.playing = False
    played(channel, 5)
    channel.playing = True
    assert channel.queue.position == 320 and played(channel, 4) == [1, 1, 1, 1] and channel.queue.position == 960


@pytest.mark.parametrize("loops", [False, True])
def test_buffers_without_samples_end_at_once(loops: bool) -> None:
    channel = playing()
    channel.queue.add([Buffer(number, 0, loops) for number in range(1, 300)])
    assert len(channel.queue) == 256
    assert played(channel, 1) == [0] and channel.last == 256
