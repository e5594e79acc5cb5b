"""Loads and pictures of the Switch that differ in known bytes: the first of them, how many, and their words."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture import Capture
from pocketgpu.inspect.diff import Report, diff
from pocketgpu.inspect.switch.inspection import SwitchInspection

SIZE = 16


class Loaded:
    """Loads of some bytes, then a blit of a picture to what is shown."""

    def __init__(self, *data: bytes, picture: np.ndarray | None = None) -> None:
        builder = MaxwellCaptureBuilder("a test")
        target = Surface(builder.allocate(size_of(SIZE, SIZE)), SIZE, SIZE)
        self.addresses = [builder.put(one) for one in data]
        pixels = np.zeros((SIZE, SIZE, 4), np.uint8) if picture is None else picture
        source = Surface(builder.put(pixels), SIZE, SIZE, pitch=4 * SIZE)
        builder.submit(PushBuffer().bind("2D").blit(source, target)).present(target)
        self.run = SwitchInspection(Capture("a test", builder.log()))


def compared(a: Loaded, b: Loaded) -> Report:
    return diff(a.run, b.run)


@pytest.mark.parametrize("seed", range(6))
def test_bytes_of_loads_that_differ(seed: int) -> None:
    """Two loads differ, one does not; their sizes are no multiples of 4."""
    r = np.random.default_rng(seed)
    mine = [r.integers(0, 256, size, np.uint8) for size in (10, 333, 64)]
    others = [one.copy() for one in mine]
    for number in (0, 1):
        for place in r.choice(len(mine[number]), 1 + seed % 3, replace=False).tolist():
            others[number][place] ^= r.integers(1, 256)
    if seed == 5:
        others[0][:] = mine[0]
    a, b = Loaded(*(one.tobytes() for one in mine)), Loaded(*(one.tobytes() for one in others))
    (found,) = compared(a, b).structure
    wrong = [np.flatnonzero(x != y) for x, y in zip(mine, others, strict=True)]
    number = next(n for n, places in enumerate(wrong) if len(places))
    start = int(wrong[number][0]) & ~3
    words = [f"0x{side[number][start : start + 4][::-1].tobytes().hex()}" for side in (mine, others)]
    count, total = sum(map(len, wrong)), sum(len(x) for x, places in zip(mine, wrong, strict=True) if len(places))
    bytes_ = "1 byte" if count == 1 else f"{count} bytes"
    at = f"{a.addresses[number] + start:#x}"
    assert found.text == f"memory at {at} {words[0]} -> {words[1]} ({bytes_} of {total} that are loaded)"
    assert found.detail == {
        "first": at, "a_word": words[0], "b_word": words[1], "bytes": count, "size": total,
    }  # fmt: skip
    assert compared(a, a).same


def test_the_first_pixel_that_differs_is_the_first_from_the_top() -> None:
    plain = np.full((SIZE, SIZE, 4), 255, np.uint8)
    for places in ([(3, 5)], [(9, 2), (1, 3)], [(0, 0), (15, 15)], [(4, 7), (2, 7), (8, 9)]):
        other = plain.copy()
        for x, y in places:
            other[y, x, 1] = 0
        report = compared(Loaded(picture=plain), Loaded(picture=other))
        x, y = min(places, key=lambda at: (at[1], at[0]))
        found = report.pixel
        assert found is not None and found.a is not None and found.a.pixel == (x, y) and found.a == found.b
        assert found.text == "(1, 1, 1, 1) -> (1, 0, 1, 1)"
        detail = {name: found.detail[name] for name in ("x", "y", "pixels")}
        assert detail == {"x": x, "y": y, "pixels": len(places)}
        (picture,) = report.pictures
        left, top = min(x for x, _ in places), min(y for _, y in places)
        right, bottom = max(x for x, _ in places) + 1, max(y for _, y in places) + 1
        assert picture.detail["box"] == [left, top, right, bottom] and picture.detail["differing"] == len(places)
