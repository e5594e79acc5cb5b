"""Compute launches of recorded programs: what they leave, against what their shaders say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.capture import Frame
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats import mxcap
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.maxwell.engines.compute.launch import Launch
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.host.observer import Undrawn

FOLDER = Path("captures") / "switch"


def recording(shared_dir: Path, name: str) -> ChannelLog:
    path = shared_dir / FOLDER / f"{name}.mxcap.zip"
    if not path.is_file():
        pytest.skip(f"no recording {name}")
    return mxcap.parse(path.read_bytes(), file=str(path))


def frames(shared_dir: Path, name: str, evaluator: str) -> Iterator[Frame]:
    """Replay a recording frame by frame, but for its draws: the slow evaluator would take minutes for them."""
    log = recording(shared_dir, name)
    driver = drive(log, evaluator=evaluator)
    driver.machine.observe(Undrawn())
    yield from driver.frames()


def launches(frame: Frame) -> list[Launch]:
    return [record for record in frame.machine.log if isinstance(record, Launch)]


def faults(frame: Frame) -> list[str]:
    return [event.message for event in frame.machine.events if event.kind in ("fault", "hang")]


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_the_vertices_of_ex09(shared_dir: Path, evaluator: str) -> None:
    """deko3d: a program, uniforms and a buffer of vertices; positions and colours that differ from frame to frame."""
    seen = []
    for frame in frames(shared_dir, "ex09_compute_320x180", evaluator):
        (launch,) = launches(frame)
        assert launch.result is not None and launch.result.steps == 8 * 45 and not faults(frame)
        wanted = np.load(shared_dir / FOLDER / "reference" / f"ex09_vertices_f{frame.index}.npy")
        vertices = np.frombuffer(frame.machine.memory.read(0x6_0014_0100, wanted.nbytes), "<f4")
        assert np.abs(vertices.reshape(wanted.shape) - wanted).max() <= 1e-5
        seen.append(vertices.tobytes())
    assert len(set(seen)) == 2


def scene_of_mesa() -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """The shader of gltest.c's scene "compute", written for arrays: (64, 64, 4) bytes of its image, its counters.

    Groups of 8 x 8 invocations sum the squares of their numbers by halves, count themselves by column, and store
    position and sum as a colour.
    """
    groups, side = 8, 8
    sums = np.broadcast_to(np.arange(side * side, dtype=np.uint32) ** 2, (groups, groups, side * side)).copy()
    half = side * side // 2
    while half:
        sums[..., :half] += sums[..., half : 2 * half]
        half //= 2
    total = np.kron(sums[..., 0], np.ones((side, side), np.uint32))
    y, x = np.mgrid[: groups * side, : groups * side].astype(np.float32)
    one = np.ones_like(x)
    colour = np.stack([x / np.float32(63), y / np.float32(63), (total & 255) / np.float32(255), one], -1)
    counters = np.zeros(4, np.uint32)
    np.add.at(counters, np.arange(groups) & 3, groups * side * side)
    return np.floor(colour * 255 + 0.5).astype(np.uint8), counters


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_the_image_of_mesa(shared_dir: Path, evaluator: str) -> None:
    """Mesa: shared memory, barriers, atomic counters and stores to an image, which textures read as one."""
    (frame,) = frames(shared_dir, "mesa_compute_320x180", evaluator)
    memory = frame.machine.memory
    (launch,) = launches(frame)
    assert launch.result is not None and not faults(frame)
    image, counters = scene_of_mesa()
    assert memory.read(0x5_0490_0100, 16) == counters.astype("<u4").tobytes()
    header = TextureHeader.parse(memory.read(launch.state.address("SET_TEX_HEADER_POOL_A"), 32))
    assert (header.width, header.height) == (64, 64)
    assert np.array_equal(header.picture(memory, frame.machine.engine), image)


@pytest.mark.parametrize("name", ["ex09_compute_320x180", "mesa_compute_320x180"])
def test_every_way_leaves_the_same(shared_dir: Path, name: str) -> None:
    """Interpreter or specialised code, one thread or two: the same bytes and the same time."""
    found = []
    for threads, tier in ((1, "interpreter"), (1, "specialised"), (2, "auto")):
        log = recording(shared_dir, name)
        driver = drive(log, threads=threads)
        machine = driver.machine
        machine.grids.tier = tier
        for _ in driver.frames():
            pass
        pages = [machine.memory.arena[b.offset : b.offset + b.size].tobytes() for b in machine.memory.backings]
        found.append((pages, machine.stats.launch_steps, machine.timestamp()))
    assert found[0] == found[1] == found[2]
