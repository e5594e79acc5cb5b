"""Scenes of command lists: which entries do something, and where a list ends."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.list_entry import ALL_BYTES
from pocketgpu.facts.pica import FINALIZE_VALUE, PICA
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, DARK, LEFT, ORANGE, ORDER, RIGHT, Color, SceneCanvas, row

_IDS = 0x400
"""What a simulator takes register ids modulo."""
_LOW_BYTE = 0xFF


def _color_word(color: Color) -> int:
    return PICA["TEXENV0_COLOR"].encode(**dict(zip("rgba", color, strict=True)))


@scene("list.high_ids")
def _() -> Made:
    """The left square is blue. Before the right one a list writes orange to the id of the colour's register plus 0x400.
    The right square is still blue (ignore), or orange (wrap)."""
    canvas = SceneCanvas()
    canvas.fill(LEFT, BLUE)
    canvas.paint(BLUE)
    canvas.list.write_id(PICA["TEXENV0_COLOR"].offset + _IDS, _color_word(ORANGE))
    canvas.quad(RIGHT)
    return canvas.made()


@scene("list.private_ids")
def _() -> Made:
    """A list draws two blue squares, switches off IRQ_AUTOSTOP, requests its interrupt, and paints the right square
    orange. The square stays blue, because the list has ended at the request (ignore), or is orange (store)."""
    canvas = SceneCanvas()
    canvas.fill(LEFT, BLUE)
    canvas.fill(RIGHT, BLUE)
    canvas.list.write("IRQ_AUTOSTOP", enable=False).end_drawing()
    canvas.list.write_word("FINALIZE", FINALIZE_VALUE)
    canvas.fill(RIGHT, ORANGE)
    canvas.capture.submit(canvas.list.end_drawing())
    canvas.capture.write_word(PICA["IRQ_AUTOSTOP"].address, PICA["IRQ_AUTOSTOP"].reset)
    return canvas.shown()


@scene("list.fifo_mask")
def _() -> Made:
    """A list sends a uniform through its data port: 1.0, whose lower half is zero. All bytes are enabled for the left
    square: orange. Only the lower half is enabled for the right one: the uniform is 1, orange (raw), or 0, blue
    (masked)."""
    canvas = SceneCanvas()
    canvas.program("mov o1.xy, c0.x")
    canvas.palette(BLUE, ORANGE)
    word = int(np.float32(1.0).view(np.uint32))
    for box, mask in ((LEFT, ALL_BYTES), (RIGHT, 0b0011)):
        canvas.list.write("VSH_FLOATUNIFORM_INDEX", index=0, f32=True)
        canvas.list.write_words("VSH_FLOATUNIFORM_DATA0", [word] * 4, consecutive=False, byte_mask=mask)
        canvas.draw(box)
    return canvas.made()


@scene("list.jump_value")
def _() -> Made:
    """A list writes 0 to CMDBUF_JUMP1 and then paints the right square blue. The other list would paint it orange. The
    square is orange, because the list has jumped (any), or blue (non-zero)."""
    canvas = SceneCanvas()
    canvas.fill(RIGHT, ORANGE)
    other = canvas.list.end_drawing().finalize().tobytes()
    address = canvas.capture.put(other)
    canvas.new_list()
    canvas.fill(LEFT, DARK)
    canvas.list.write("CMDBUF_SIZE1", size=len(other)).write("CMDBUF_ADDR1", address=address)
    canvas.list.write_word("CMDBUF_JUMP1", 0)
    canvas.fill(RIGHT, BLUE)
    return canvas.made()


@scene("list.end_match")
def _() -> Made:
    """Four lists write FINALIZE and then paint a square orange. They write the usual word, 0, the word's lowest byte,
    and that byte while its interrupt is disabled. A square stays blue where its list has ended: squares 1 and 3
    (masked-bytes), 1, 3 and 4 (any-byte), 1 (convention), all (any-value), none (end-of-list)."""
    canvas = SceneCanvas()
    boxes = row(4)
    for box in boxes:
        canvas.fill(box, BLUE)
    canvas.capture.submit(canvas.list.end_drawing())
    mask = PICA["IRQ_MASK_LOW"]
    disabled = mask.reset | mask["byte0"].mask
    low = FINALIZE_VALUE & _LOW_BYTE
    words = ((FINALIZE_VALUE, mask.reset), (0, mask.reset), (low, mask.reset), (low, disabled))
    for box, (word, disabled_bytes) in zip(boxes, words, strict=True):
        canvas.capture.write_word(mask.address, disabled_bytes)
        canvas.new_list().write_word("FINALIZE", word)
        canvas.fill(box.inner(12), ORANGE)
        canvas.capture.submit(canvas.list.end_drawing())
    canvas.capture.write_word(mask.address, mask.reset)
    return canvas.shown()


@scene("draw.trigger_value")
def _() -> Made:
    """The left square is drawn by writing 1 to DRAWARRAYS, the right one by writing 0. The right square is orange too
    (any), or missing (non-zero)."""
    canvas = SceneCanvas()
    for box, word in ((LEFT, 1), (RIGHT, 0)):
        canvas.fill(box, DARK)
        canvas.paint(ORANGE)
        canvas.vertices(box.inner(20))
        canvas.list.write("PRIMITIVE_CONFIG", byte_mask=2, mode="triangles").write_word("RESTART_PRIMITIVE", 1)
        canvas.list.write("INDEXBUFFER_CONFIG", type="u16")
        canvas.list.write("NUMVERTICES", count=len(ORDER)).write("VERTEX_OFFSET")
        canvas.list.write("GEOSTAGE_CONFIG2", byte_mask=1, arrays=True).write("START_DRAW_FUNC0", byte_mask=1)
        canvas.list.write_word("DRAWARRAYS", word)
        canvas.list.write("START_DRAW_FUNC0", byte_mask=1, configuration=True)
        canvas.list.write("GEOSTAGE_CONFIG2", byte_mask=1).write("VTX_FUNC", clear=True)
    return canvas.made()
