"""Scenes of inline data, notifiers, reports, copies and clears."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder.maxwell import Surface, size_of
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import (
    BLUE,
    IMAGE,
    LEFT,
    ORANGE,
    RIGHT,
    Color,
    SceneCanvas,
    pixels,
)

_SIDE = 88
_WORD = 4


@scene("inline.pitch_origin")
def _() -> Made:
    """Inline data makes a blue square on the left of a pitch target. An orange one is sent to the same address, with
    an origin that is further right: it covers the blue one (ignore), or is on the right (add)."""
    canvas = SceneCanvas(pitch=True)
    x, y, _, _ = LEFT
    target = canvas.target
    assert target.pitch is not None
    pb = canvas.wait().pb.on("inline-to-memory")
    for color, right in ((BLUE, 0), (ORANGE, RIGHT[0] - x)):
        pb.method("LINE_LENGTH_IN", _SIDE * target.pixel, _SIDE)
        pb.address("OFFSET_OUT_UPPER", target.address + y * target.pitch + x * target.pixel)
        pb.method("PITCH_OUT", target.pitch)
        pb.method("SET_DST_ORIGIN_BYTES_X", right * target.pixel).method("SET_DST_ORIGIN_SAMPLES_Y", 0)
        pb.method("LAUNCH_DMA", DST_MEMORY_LAYOUT="PITCH", COMPLETION_TYPE="FLUSH_ONLY")
        pb.method("LOAD_INLINE_DATA", *[_word(color)] * (_SIDE * _SIDE), form="non_inc")
    return canvas.made()


def _word(color: Color) -> int:
    """A pixel of A8B8G8R8."""
    return int.from_bytes(pixels([color]).tobytes(), "little")


@scene("notify.write")
def _() -> Made:
    """The left square shows the fourth word of a notifier before NOTIFY, the right one afterwards: it is black, as the
    word is 0 (now), or orange as before (never)."""
    canvas = SceneCanvas()
    words = canvas.rows(pixels([ORANGE] * 4))
    fourth = (3, 0, 1, 1)
    canvas.show(words, LEFT, fourth).pb.on("3D").address("SET_NOTIFY_A", words.address).method("NOTIFY", "WRITE_ONLY")
    return canvas.show(words, RIGHT, fourth).made((words.address + fourth[0] * _WORD, _WORD))


@scene("dma.layer")
def _() -> Made:
    """A block-linear surface has a blue slice and an orange one. The left square is a copy of slice 0, the right one of
    slice 1: it is orange (slice) or blue (ignore)."""
    canvas = SceneCanvas()
    _, _, width, height = LEFT
    slices = Surface(canvas.capture.allocate(2 * size_of(width, height), kind=IMAGE), width, height)
    for number, color in enumerate((BLUE, ORANGE)):
        canvas.capture.load(slices.address + number * slices.size, np.tile(pixels([color]), (slices.size // 4, 1, 1)))
    for layer, (x, y, _, _) in enumerate((LEFT, RIGHT)):
        canvas.wait().pb.on("DMA copy")
        canvas.pb.copy_rectangle(slices, canvas.target, to=(x, y), slices=2, layer=layer)
    return canvas.made()


@scene("report.release_size")
def _() -> Made:
    """A report semaphore of four words is released over four orange words. The left square shows the first one, which
    is the payload, blue. The right one shows the second: it is black, as it was written too (structure), or still
    orange (one-word)."""
    canvas = SceneCanvas()
    words = canvas.rows(pixels([ORANGE] * 4))
    canvas.pb.on("3D").report(words.address, _word(BLUE), four_words=True, OPERATION="RELEASE")
    canvas.show(words, LEFT, (0, 0, 1, 1)).show(words, RIGHT, (1, 0, 1, 1))
    return canvas.made((words.address, 2 * _WORD))


@scene("clear.raster_disabled")
def _() -> Made:
    """The left square is cleared while rasterising is on, the right one while it is off: both are there (clear), or the
    right one is missing (nothing)."""
    canvas = SceneCanvas().fill(LEFT, ORANGE)
    canvas.pb.method("SET_RASTER_ENABLE", 0)
    canvas.fill(RIGHT, ORANGE).pb.method("SET_RASTER_ENABLE", 1)
    return canvas.made()
