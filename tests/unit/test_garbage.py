"""Memory of a process that goes on for long: opening, rendering and asking again and again keeps nothing."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.resident import resident, settled

import pocketgpu
from pocketgpu import garbage
from pocketgpu.lanes import machine_code, making
from pocketgpu.pica.memory.guest import MIB, GuestMemory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")
DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = {"3DS": DATA / "sample.ctf.xz", "Switch": DATA / "sample_switch.mxcap.zip"}


def rendered(path: Path) -> None:
    for frame in pocketgpu.open(path).render():
        assert frame.screens


def asked(path: Path) -> None:
    run = pocketgpu.debug(path)
    frame = run.frame_count - 1
    draw = run.draws(frame)[-1].address
    moment = run.seek(draw)
    assert list(moment.pictures)
    for texture in moment.textures.values():
        assert texture.pixels(texture.parts[0]).size
    assert run.overdraw(draw) and run.programs_at(draw) is not None
    assert str(run.why(f"f{frame}/px20,30")) and str(run.why(draw))
    assert len(run.stream)


@pytest.mark.parametrize("path", SAMPLES.values(), ids=list(SAMPLES))
@pytest.mark.parametrize("job", [rendered, asked])
def test_the_same_again_keeps_nothing(job: Callable[[Path], None], path: Path) -> None:
    for _ in range(2):
        job(path)
    before = settled()
    for _ in range(4):
        job(path)
    assert settled() - before < 8 * MIB


@pytest.fixture
def memories() -> Iterator[Callable[[], list[GuestMemory]]]:
    """Makes a memory in a circle, as the parts of a machine are, with 16 MiB in use."""
    gc.collect()

    def make() -> list[GuestMemory]:
        circle: list[object] = []
        memory = GuestMemory(work_size=MIB)
        memory.view(0x20000000, 16 * MIB)[:] = 1
        circle += [circle, memory]
        return [memory]

    yield make
    gc.collect()


def test_memories_without_an_owner_do_not_pile_up(memories: Callable[[], list[GuestMemory]]) -> None:
    garbage.look()
    start = highest = resident()
    for _ in range(40):
        memories()
        highest = max(highest, resident())
    assert highest - start < max(256 * MIB, start // 3)  # all of them have 640 MiB
    held = [memories() for _ in range(4)]
    for _ in range(40):
        memories()
    assert all(memory.read(0x20000000, 4) == b"\1\1\1\1" for (memory,) in held)


def test_who_switches_the_collector_off_is_left_alone(
    memories: Callable[[], list[GuestMemory]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda *_: found.append(1) or 0)
    monkeypatch.setattr(garbage, "_least", 1)
    monkeypatch.setattr(garbage, "_GROWTH", 1)
    gc.disable()
    try:
        garbage.look()
        assert not found
    finally:
        gc.enable()
    garbage.look()
    assert found


def test_a_system_that_does_not_tell_its_memory_counts_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda *_: found.append(1) or 0)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(garbage, "_made", 0)
    for _ in range(130):
        garbage.look()
    assert len(found) == 2


def test_what_llvm_made_for_a_kernel_goes() -> None:
    kernel, static = next(code for code in making.listed("pica") if code[0].name == "assemble")
    text = kernel.trace(kernel.lanes or machine_code.best_lanes(), static)
    assert not text.startswith(machine_code.HURRIED)
    code = machine_code.compile_object(text)
    before = settled()
    for _ in range(12):
        assert machine_code.compile_object(text) == code
    assert settled() - before < 3 * MIB // 2
