"""An emulator that starts to record in the middle of a program: our own machine plays it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.n3ds_trace import LoadRun, WriteRun
from pocketgpu.capture.formats.pgc.contents import Load
from pocketgpu.capture.pgc.snapshot import state_of
from pocketgpu.facts.memory_map import FCRAM, MIB, VRAM
from pocketgpu.pica.n3ds import N3DS as Machine

from .conftest import N3DS, OK, Recorder

USED = ((VRAM.base, VRAM.size), (FCRAM.base, 4 * MIB))
"""The sample stays within this."""
PAGE = 4096


def test_frames_from_the_middle_look_as_they_did(
    recorder: Callable[..., Recorder], sample_path: Path, tmp_path: Path
) -> None:
    sample = pocketgpu.open(sample_path)
    machine = Machine()
    frames = sample.render(range(2, 3), machine=machine)
    next(frames)  # the emulator has run three frames
    emulated = []
    recording = recorder(N3DS)
    for state in state_of(machine):
        assert recording.state(state.item, state.first, state.words.tolist(), len(state.words)) == OK

    for index in (3, 4, 5):
        for run in sample.trace.runs(index):
            if isinstance(run, LoadRun):
                machine.load_memory(run.address, run.data)
                continue
            assert isinstance(run, WriteRun)
            before = [machine.memory.read(base, size) for base, size in USED]
            for (base, size), held in zip(USED, before, strict=True):
                assert recording.memory(base, bytes(held), size) == OK
            for address, value in zip(run.addresses.tolist(), run.values.tolist(), strict=True):
                assert recording.write(address, value) == OK
            machine.write_registers(run.addresses, run.values)
            for (base, size), held in zip(USED, before, strict=True):
                now = bytes(machine.memory.read(base, size))
                changed = (np.frombuffer(now, np.uint8) != np.frombuffer(held, np.uint8)).reshape(-1, PAGE).any(1)
                for page in np.flatnonzero(changed).tolist():
                    part = now[page * PAGE : (page + 1) * PAGE]
                    assert recording.gpu_wrote(base + page * PAGE, part, PAGE) == OK
        machine.step_vblank()
        machine.finish()
        emulated.append({name: screen.array.copy() for name, screen in machine.screens.items()})
        assert recording.end_frame() == OK
    assert recording.close() == OK

    path = tmp_path / "middle.pgc"
    path.write_bytes(recording.data)
    originals = sample.render(range(3, 6))
    for replayed, original, seen in zip(pocketgpu.open(path).render(), originals, emulated, strict=True):
        assert replayed.draws == original.draws > 0 and replayed.warnings == []
        for name, picture in seen.items():
            assert np.array_equal(replayed.screens[name].array, picture)
            assert np.array_equal(original.screens[name].array, picture)

    # Pictures are in VRAM at the start; later only what the program changes comes, and that is in main memory.
    first, *others = pgc.parse(bytes(recording.data)).frames
    assert any(isinstance(event, Load) and event.address < FCRAM.base for event in first.events)
    for frame in others:
        loads = [event for event in frame.events if isinstance(event, Load)]
        assert loads and all(event.address >= FCRAM.base for event in loads)
