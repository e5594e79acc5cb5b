"""What minimising keeps: every piece of memory that a picture shows, where it was, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import CaptureBuilder
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import Contents, FrameContents, Load, Map, Present, Store
from pocketgpu.capture.pgc.minimise import minimise

PAGE, VA = 4096, 0x5_0000_0000
SIZE = 5 * PAGE
ROW = 1024
"""Pixels of four bytes in a row, which is as long as a page."""


def needed(start: int, data: bytes, shown: list[tuple[int, int]]) -> list[tuple[int, bytes]]:
    """(place, bytes) of the runs of pages that contain shown bytes, page by page."""
    runs: list[tuple[int, bytes]] = []
    for page in range(start - start % PAGE, start + len(data), PAGE):
        low, high = max(page, start), min(page + PAGE, start + len(data))
        if any(low < place + size and place < high for place, size in shown):
            part = data[low - start : high - start]
            if runs and runs[-1][0] + len(runs[-1][1]) == low:
                runs[-1] = runs[-1][0], runs[-1][1] + part
            else:
                runs.append((low, part))
    return runs


@pytest.mark.parametrize("handle", [None, 7])
@pytest.mark.parametrize("start", [0, 1000])
@pytest.mark.parametrize("rows", [(0, 1, 2, 3, 4), (0, 4), (2,)])
def test_stores_of_a_switch(handle: int | None, start: int, rows: tuple[int, ...]) -> None:
    """A store of five pages, of which each frame shows one row: by the memory's handle or by address."""
    data = np.random.default_rng(start).integers(1, 256, SIZE, np.uint8).tobytes()
    frames = []
    for row in rows:
        place = start + row * PAGE
        shown = Present(VA + place, handle, place, ROW, 1, 0, False, 0, 4 * ROW, 0, None)
        frames.append(FrameContents((shown,)))
    store = Store(handle, start if handle is not None else 0, VA + start, (data,))
    frames[0] = FrameContents((Map(0, VA, 8 * PAGE, 7, 0), store, *frames[0].events))
    contents = Contents("Switch", frames=frames)
    found = minimise(contents, replays=100)
    kept = [event for event in found.contents.memory_events() if isinstance(event, Store)]
    expected = needed(start, data, [(start + row * PAGE, PAGE) for row in rows])
    assert [(event.gpu_va - VA, b"".join(event.pieces)) for event in kept] == expected
    assert {event.handle for event in kept} == {handle}
    assert handle is None or [event.offset for event in kept] == [place for place, _ in expected]
    assert (found.bytes_before, found.bytes_after) == (SIZE, sum(len(part) for _, part in expected))
    assert len(found.contents.frames) == len(rows) and all(frame.pictures for frame in found.contents.frames)


def test_loads_of_a_3ds(tmp_path: Path) -> None:
    """A load that begins before a framebuffer and ends inside of it, and one that ends after it."""
    capture = CaptureBuilder()
    size = 240 * 400 * 3
    start = capture.allocate(size + 8 * PAGE, region="VRAM") + 100
    screen = start + 2 * PAGE + 28
    loads = [(start, 5 * PAGE + 8), (screen + size - PAGE, 4 * PAGE)]
    r = np.random.default_rng(1)
    data = [(place, r.integers(1, 256, length, np.uint8).tobytes()) for place, length in loads]
    for place, part in data:
        capture.load(place, part)
    capture.show("top", screen).show("bottom", capture.allocate(240 * 320 * 3, region="VRAM")).end_frame()
    capture.save(tmp_path / "a.ctf")
    contents = pgc.write(tmp_path / "a.pgc", pocketgpu.open(tmp_path / "a.ctf"), pictures=False)
    found = minimise(contents, replays=100)
    kept = [event for event in found.contents.memory_events() if isinstance(event, Load)]
    expected = [run for place, part in data for run in needed(place, part, [(screen, size)])]
    assert [(event.address, b"".join(event.pieces)) for event in kept] == expected
