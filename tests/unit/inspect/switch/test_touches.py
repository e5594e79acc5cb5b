"""Pixels that were copied and blitted lead to the bytes that they were made of: addresses are computed here."""

from __future__ import annotations

import numpy as np
import pytest
from support.slow_surfaces import Slow

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture import Capture
from pocketgpu.inspect.model.why import Touch
from pocketgpu.inspect.switch.inspection import SwitchInspection

SIZE, PITCH = 32, 192
"""Sides of both surfaces, and bytes from line to line where they are linear: more than their pixels have."""
PIXELS = np.random.default_rng(5).integers(0, 256, (SIZE, SIZE, 4), np.uint8)


class Moved:
    """A picture that is written by the processor, moved to a second surface, and shown there."""

    def __init__(self, linear: bool, way: str) -> None:
        builder = MaxwellCaptureBuilder("a test")
        self.target = Surface(builder.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        if linear:
            rows = np.zeros((SIZE, PITCH), np.uint8)
            rows[:, : 4 * SIZE] = PIXELS.reshape(SIZE, -1)
            self.source = Surface(builder.put(rows), SIZE, SIZE, pitch=PITCH)
            self.slow = Slow(self.source.address, 4 * SIZE, SIZE, pitch=PITCH)
        else:
            slow = Slow(0, 4 * SIZE, SIZE, block_height=1)
            data = np.zeros(slow.size, np.uint8)
            data[slow.places(0, 0, 4 * SIZE, SIZE)] = PIXELS.reshape(SIZE, -1)
            self.source = Surface(builder.put(data), SIZE, SIZE, block_height_log2=1)
            self.slow = Slow(self.source.address, 4 * SIZE, SIZE, block_height=1)
        pb = PushBuffer().bind("2D").bind("DMA copy")
        if way == "copy":
            pb.on("DMA copy").copy_rectangle(self.source, self.target, (3, 5, 16, 12), (7, 2))
        else:
            pb.on("2D").blit(self.source, self.target, (4, 6, 12, 10), *PLACES[way], filter=way.upper())
        builder.submit(pb).present(self.target)
        self.run = SwitchInspection(Capture("a test", builder.log()))

    def address(self, x: float, y: float) -> int:
        return self.slow.address(4 * int(x), int(y))

    def touch(self, x: int, y: int) -> Touch | None:
        """What moved bytes to a pixel of the target; None if nothing did."""
        found = self.run.why(f"f0/px{x},{y}")
        assert found.proved
        return found.touches[-1] if found.touches else None


PLACES = {"point": ((2, 3, 12, 10),), "bilinear": ((2, 3, 24, 20),)}
"""Where a blit puts its pixels: as many as it takes, or twice as many in both directions."""


@pytest.mark.parametrize("linear", [True, False])
def test_a_copied_pixel_names_the_bytes_it_was(linear: bool) -> None:
    moved = Moved(linear, "copy")
    for x, y in ((7, 2), (22, 13), (9, 11), (15, 2), (7, 13)):
        touch, address = moved.touch(x, y), moved.address(x - 7 + 3, y - 2 + 5)
        assert touch is not None and touch.text.endswith(f"takes the bytes at {address:#x}")
        (source,) = touch.sources
        assert source.place.address == address and source.touches[-1].event.kind == "load"
        assert touch.after == [PIXELS[y - 2 + 5, x - 7 + 3].tobytes().hex()]
    for x, y in ((6, 2), (7, 1), (23, 13), (22, 14)):
        assert moved.touch(x, y) is None


@pytest.mark.parametrize("linear", [True, False])
def test_a_blitted_pixel_names_the_pixel_it_was(linear: bool) -> None:
    moved = Moved(linear, "point")
    for x, y in ((2, 3), (13, 12), (2, 12), (8, 7)):
        touch, address = moved.touch(x, y), moved.address(x - 2 + 4, y - 3 + 6)
        assert touch is not None and touch.text.endswith(f"takes 1 of {address:#x}")
        assert touch.sources[0].place.address == address
        assert touch.after == [PIXELS[y - 3 + 6, x - 2 + 4].tobytes().hex()]
    for x, y in ((1, 3), (2, 2), (14, 12), (13, 13)):
        assert moved.touch(x, y) is None


@pytest.mark.parametrize("linear", [True, False])
def test_a_scaled_pixel_names_four_and_their_weights(linear: bool) -> None:
    """Twice as large: each pixel has its centre a quarter of the way between two of the source."""
    moved = Moved(linear, "bilinear")
    for x, y in ((4, 5), (5, 5), (24, 20), (11, 18), (2, 3)):
        u, v = 4 + (x - 2 + 0.5) / 2 - 0.5, 6 + (y - 3 + 0.5) / 2 - 0.5
        left, top = int(np.floor(u)), int(np.floor(v))
        across, down = u - left, v - top
        weights = {
            (left + i, top + j): (across if i else 1 - across) * (down if j else 1 - down)
            for j in range(2) for i in range(2)
        }  # fmt: skip
        touch = moved.touch(x, y)
        assert touch is not None
        told = touch.text.partition(": takes ")[2].split(", ")
        assert told == [f"{weight:.4g} of {moved.address(*at):#x}" for at, weight in weights.items()]
        mixed = sum(PIXELS[y, x].astype(float) * weight for (x, y), weight in weights.items())
        assert np.abs(np.frombuffer(bytes.fromhex(touch.after[0]), np.uint8) - mixed).max() <= 1
        heaviest = max(weights, key=lambda at: weights[at])
        assert touch.sources[0].place.address == moved.address(*heaviest)
