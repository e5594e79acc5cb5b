"""Scenes of channels: waits, bindings and headers."""

from __future__ import annotations

from pocketgpu.facts.maxwell import pushbuffers
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import BLUE, DARK, HEIGHT, LEFT, ORANGE, RIGHT, WIDTH, SceneCanvas

_CHANNEL, _OTHER = 0, 1
_NEVER, _RELEASED = 0, 1


@scene("channel.deadlock")
def _() -> Made:
    """A channel waits for a word that nothing writes, between a left and a right square: both are there (continue), or
    the right one is missing (stop)."""
    canvas = SceneCanvas().fill(LEFT, ORANGE)
    canvas.pb.semaphore_acquire(canvas.allocate(4), _RELEASED)
    return canvas.fill(RIGHT, ORANGE).made()


@scene("channel.unbound")
def _() -> Made:
    """A subchannel is told to fill the picture with orange before it is bound to a class. Then it is bound, and draws
    all but the right square: that is orange (convention), or still black (ignore)."""
    canvas = SceneCanvas(bound=False)
    canvas.set_state(("3D",)).clear(ORANGE).submit()
    x, y, width, height = RIGHT
    canvas.begin(clear=False).fill((0, 0, x, HEIGHT), DARK).fill((x + width, 0, WIDTH - x - width, HEIGHT), DARK)
    canvas.fill((x, 0, width, y), DARK).fill((x, y + height, width, HEIGHT - y - height), DARK)
    return canvas.fill(LEFT, ORANGE).made()


@scene("channel.acquire_geq")
def _() -> Made:
    """A channel waits until a word that is 0xFFFFFFFF is at least 1, then makes the right square orange. Another one
    makes it blue and writes 1 there: the square ends orange, as the first one had to wait (circular), or blue
    (unsigned)."""
    canvas = SceneCanvas().fill(LEFT, ORANGE)
    word = canvas.put(b"\xff" * 4)
    canvas.pb.semaphore_acquire(word, _RELEASED, compare="geq")
    canvas.fill(RIGHT, ORANGE).wait().submit(_CHANNEL)
    canvas.begin(clear=False).fill(RIGHT, BLUE).wait().pb.semaphore_release(word, _RELEASED)
    return canvas.made(channel=_OTHER)


@scene("channel.syncpoint_index")
def _() -> Made:
    """A channel raises its syncpoint and the one whose number is 256 more, waits until its own one has been raised
    twice, and makes the right square orange. Another channel makes the square blue and raises the first one's
    syncpoint: the square ends blue, as both raises were of one syncpoint (8-bits), or orange (12-bits)."""
    canvas = SceneCanvas().fill(LEFT, ORANGE)
    number = canvas.capture.syncpoint(_CHANNEL)
    canvas.pb.syncpoint_increment(number).syncpoint_increment(number + 256).syncpoint_wait(number, 2)
    canvas.fill(RIGHT, ORANGE).wait().submit(_CHANNEL)
    canvas.begin(clear=False).fill(RIGHT, BLUE).wait().pb.syncpoint_increment(number)
    return canvas.made(channel=_OTHER)


@scene("channel.illegal_header")
def _() -> Made:
    """A word between two squares is a header of the reserved form: both squares are there (skip), or the right one is
    missing, as the rest of the GPFIFO entry was skipped (end-segment). The next entry draws the bar below them."""
    canvas = SceneCanvas().fill(LEFT, ORANGE)
    canvas.pb.raw([pushbuffers.HEADER["SEC_OP"].encode(pushbuffers.FORMS.RESERVED6)])
    canvas.fill(RIGHT, ORANGE).submit()
    x, y, _, height = LEFT
    return canvas.set_state().fill((x, y + height + 8, RIGHT[0] + RIGHT[2] - x, 12), BLUE).made()
