"""A run recorded at both doors, as register writes and as GX commands, must give the same bytes everywhere.

What is drawn does not matter here: whatever the machine makes of a recording, it must make it of both.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from support import recordings

import pocketgpu
from pocketgpu.capture.formats.gxlog import GxLog, MemoryEvent, SwapEvent
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import GX_COMMANDS
from pocketgpu.facts.memory_map import VRAM

NAMES = sorted(path.name.removesuffix(".gx.json.xz") for path in recordings.n3ds().glob("*.gx.json.xz"))
SHOWN = [
    register.address
    for register in EXTERNAL
    if register.name.startswith(("PDC0_", "PDC1_")) and "LUT" not in register.name
]


def test_there_are_recordings(shared_dir: Path) -> None:
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_both_doors_give_the_same(name: str, shared_dir: Path) -> None:
    folder = shared_dir / "captures" / "3ds"
    plain, log = pocketgpu.open(folder / f"{name}.ctf.xz"), pocketgpu.open(folder / f"{name}.gx.json.xz")
    assert isinstance(log.trace, GxLog)
    assert not log.warnings  # also: what our own gsp makes of each framebuffer entry is what was recorded
    assert log.frame_count == plain.frame_count > 0
    for ours, theirs in zip(log.render(), plain.render(), strict=True):
        assert ours.index == theirs.index
        assert sorted(ours.screens) == sorted(theirs.screens)
        for screen, picture in theirs.screens.items():
            assert np.array_equal(ours.screens[screen].array, picture.array), f"f{ours.index} {screen}"
        assert (ours.draws, ours.triangles, ours.fragments) == (theirs.draws, theirs.triangles, theirs.fragments)
        assert not [event for event in ours.warnings if event.id.startswith("gsp.")]
        for address in SHOWN:
            assert ours.machine.read_register(address) == theirs.machine.read_register(address), hex(address)
        if ours.index in (0, log.frame_count - 1):
            for start, size in ((VRAM.base, VRAM.size), (0x20000000, 32 << 20)):
                a, b = (hashlib.sha256(f.machine.memory.view(start, size)).digest() for f in (ours, theirs))
                assert a == b, f"f{ours.index}: memory from {start:#x} differs"


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("both_screens", "hwtest_texcopy", "multiple_buf")])
def test_a_client_with_queues_sees_the_same(name: str, shared_dir: Path) -> None:
    """The whole protocol: commands through shared memory, interrupts back, framebuffers taken over at VBlank."""
    folder = shared_dir / "captures" / "3ds"
    log = pocketgpu.open(folder / f"{name}.gx.json.xz").trace
    assert isinstance(log, GxLog)
    gpu = pocketgpu.N3DS()
    gpu.load_initial(**vars(log.initial))
    gsp = gpu.gsp
    gsp.virt_to_phys = log.virt_to_phys
    client = gsp.register_interrupt_relay_queue().client
    assert gsp.acquire_right(client) == 0
    commands, interrupts = gsp.shared.commands(client), gsp.shared.interrupts(client)
    for frame in pocketgpu.open(folder / f"{name}.ctf.xz").render():
        for event in log.frames[frame.index]:
            if isinstance(event, MemoryEvent):
                gpu.memory.write(event.phys, log.memory[event.offset : event.offset + event.size])
            elif isinstance(event, SwapEvent):
                gsp.shared.framebuffer(client, event.screen).present(event.info)
            else:
                assert commands.submit(event.words)
                assert gsp.trigger_cmd_req_queue(client) == 0 == commands["error"]
                done = set(interrupts.drain())
                assert done and done <= set(GX_COMMANDS[event.words[0] & 0xFF].interrupts)
        gpu.step_vblank()
        assert interrupts.drain() == ["PDC0", "PDC1"]
        for screen, picture in frame.screens.items():
            assert np.array_equal(gpu.screens[screen].array, picture.array), f"f{frame.index} {screen}"
