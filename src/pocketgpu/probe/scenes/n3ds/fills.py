"""Scenes of memory fills, and of registers that are no unit's own."""

from __future__ import annotations

from pocketgpu.builder import CaptureBuilder
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.facts.pica import PICA
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made, Watch
from pocketgpu.probe.scenes.n3ds.bands import Bands, line_of
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, DARK, LEFT, LIGHT, ORANGE, RIGHT, SCREEN, WIDTH, SceneCanvas

_SOME_BYTES = 256


@scene("fill.tail_24")
def _() -> Made:
    """A fill of 16 bytes with a 24-bit pattern makes texels light. Left, one of these 16 as a square; right, the texel
    after them: it is dark still (stop), or light too (whole-groups)."""
    canvas = SceneCanvas()
    side, texels, filled = 8, 64, 16
    texture = canvas.capture.allocate(texels, region="VRAM")
    canvas.capture.fill(texture, texture + texels, _pattern(DARK[0], 2), width=16)
    canvas.capture.fill(texture, texture + filled, _pattern(LIGHT[0], 3), width=24)
    canvas.list.texture(0, texture, side, side, "I8", filter="nearest")
    canvas.show("texture 0")
    # The 16th texel and the 17th, in the order of a tile, whose first row is at v = 1.
    for box, x, y in ((LEFT, 3, 3), (RIGHT, 4, 0)):
        canvas.quad(box, texture=((x + 0.5) / side, 1 - (y + 0.5) / side, 1))
    return canvas.made((texture, texels))


def _pattern(byte: int, count: int) -> int:
    return int.from_bytes(bytes([byte]) * count, "little")


@scene("fill.null_start")
def _() -> Made:
    """A fill starts at address 0, where no memory is. Its control register says afterwards that it has finished
    (finish), or nothing (ignore). There is nothing to be seen."""
    capture = CaptureBuilder()
    capture.write("PSC0_CONTROL").fill(0, _SOME_BYTES, 0).end_frame()
    control = EXTERNAL["PSC0_CONTROL"]
    bits = control["start"].mask | control["finished"].mask
    watch = Watch(registers=(control.address,), bits=((control.address, bits),), pictures=False)
    return Made(capture.to_pgc(), watch)


@scene("external.status")
def _() -> Made:
    """STATUS is read while fill unit 0 works, as its own register says. Unit 0 has no bit in STATUS, as it has reported
    nothing yet (interrupt); it has one (busy); or unit 1 has one (busy-exchanged)."""
    capture = CaptureBuilder()
    for unit in ("PSC0", "PSC1", "PPF"):
        capture.write(f"{unit}_CONTROL")
    capture.end_frame()
    capture.fill(VRAM.base, VRAM.base + VRAM.size, 0, unit=0)
    # The unit's own register comes second: if it still works then, it did before.
    status, control = EXTERNAL["STATUS"], EXTERNAL["PSC0_CONTROL"]
    bits = (status.address, status["psc0"].mask | status["psc1"].mask), (control.address, control["start"].mask)
    watch = Watch(registers=(status.address, control.address), bits=bits, pictures=False)
    return Made(capture.to_pgc(), watch, timed=True)


@scene("external.hardware_id")
def _() -> Made:
    """HARDWARE_ID is read on the newer model: bit 2 is set (model), or not (constant)."""
    capture = CaptureBuilder().end_frame()
    return Made(capture.to_pgc(), Watch(registers=(EXTERNAL["HARDWARE_ID"].address,), pictures=False), new_model=True)


@scene("external.core_reads")
def _() -> Made:
    """The register that starts a command list is read while a long list runs: the processor waits for the end and reads
    0 (stall), or reads 1 at once (at-once). STATUS is read first: it tells that the list has not ended before."""
    canvas = SceneCanvas()
    canvas.capture.end_frame()
    for _ in range(40):
        canvas.fill(SCREEN, BLUE)
    canvas.capture.submit(canvas.list.end_drawing())
    # Also a list that has ended reads 0. STATUS comes first, as the read of the other may wait for the end.
    status, start = EXTERNAL["STATUS"], PICA["CMDBUF_JUMP0"].address
    watch = Watch(registers=(status.address, start), bits=((status.address, status["p3d"].mask),), pictures=False)
    return Made(canvas.capture.to_pgc(), watch, timed=True)


@scene("vram.power_off")
def _() -> Made:
    """The picture lies across both banks of video memory: blue in the first, orange in the second. The second is
    switched off and on again: it is still orange (keep), or black (lose)."""
    middle = WIDTH // 2
    bands = Bands(address=VRAM.base + VRAM.size // 2 - middle * line_of())
    bands.fill(0, middle, BLUE)
    bands.fill(middle, WIDTH, ORANGE)
    bands.capture.write("VRAM_POWER", b_low_off=True, b_high_off=True).write("VRAM_POWER")
    return bands.made()
