"""Checkpoints of running programs: going on after one gives the same bytes, whatever was kept or restored between."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import pytest

from pocketgpu.errors import UsageError
from pocketgpu.guests import App, run
from pocketgpu.guests.kernel.checkpoint import Checkpoint
from pocketgpu.guests.kernel.history import History
from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.state import State, UnknownStateError
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.messages import Session
from pocketgpu.guests.n3ds.kernel import N3DSKernel
from pocketgpu.guests.n3ds.services.fs_sessions import FileSession
from pocketgpu.maxwell.gm20b import GM20B

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

GUESTS = Path(__file__).resolve().parents[2] / "guests"
PROGRAMS = GUESTS / "n3ds"
SWITCH = ("scene", "console", "framebuffer", "input", "files", "sessions")
NAMES = sorted(f"n3ds/{path.name}" for path in PROGRAMS.glob("*.elf")) + [f"switch/{name}.nro" for name in SWITCH]
MOST_BYTES = 1 << 20
"""Of an area of memory, that are compared from its start: the heap of a Switch is large."""
PLAIN = (int, float, str, bytes, Enum, type(None))
CONTEXT = "context"
"""Registers of a thread as the processor keeps them, with addresses of the host."""


def described(value: object, numbers: dict[int, int]) -> object:
    """A value without addresses: objects by their number."""
    if isinstance(value, PLAIN):  # most values; they are no objects with numbers
        return value
    if id(value) in numbers:
        return "object", numbers[id(value)]
    if isinstance(value, tuple):
        return tuple(described(one, numbers) for one in value)
    if isinstance(value, MethodType):
        return value.__name__, described(value.__self__, numbers)
    if isinstance(value, FunctionType):
        return value.__qualname__, tuple(described(one.cell_contents, numbers) for one in value.__closure__ or ())
    return type(value).__name__


def objects(app: App) -> list[object]:
    """All that the guest's objects hold, in an order that does not depend on addresses."""
    console = app.console
    machine, kernel = console.machine, console.kernel
    outside = (machine, machine.memory, machine.choices, kernel.processor)
    kept = list(State((console, machine.events, machine.stats), outside).kept)
    numbers = {id(one): number for number, (one, _) in enumerate(kept)}
    found: list[object] = []
    for one, value in kept:
        held: Iterator[tuple[object, object]]
        if one is machine.stats.seconds:
            continue  # of the host
        if isinstance(value, dict):
            held = ((key, it) for key, it in value.items() if key != CONTEXT)
            found.append((type(one).__name__, [(described(k, numbers), described(v, numbers)) for k, v in held]))
        elif isinstance(value, list | tuple):
            found.append((type(one).__name__, [described(it, numbers) for it in value]))
        elif isinstance(value, bytes | bytearray):
            found.append((type(one).__name__, bytes(value)))
        else:
            found.append(type(one).__name__)
    return found


def gpu(machine: Any) -> dict[str, object]:
    """Registers of the machine, and what it waits for."""
    if not isinstance(machine, GM20B):
        return {name: words.tobytes() for name, words in machine.save_state().items()}
    kept = machine.checkpoint()
    channels = {str(n): channel.files.tobytes() for n, (channel, _) in enumerate(kept.channels)}
    return {**channels, "syncpoints": kept.syncpoints, "interrupts": dict(kept.interrupts), "ran": kept.submissions}


def moment(app: App) -> dict[str, Any]:
    """Everything at one moment, small enough to be compared."""
    console, kernel = app.console, app.console.kernel
    kernel.processor.settle()
    memory = {}
    for area in kernel.space:
        memory[area.base, area.size, area.name] = hashlib.blake2b(area.view[:MOST_BYTES]).hexdigest()
    screens = {name: np.array(one.array).tobytes() for name, one in app.screens.items()}
    registers = [kernel.processor.registers(one).values for one in kernel.scheduler.threads]
    return {
        "frame": app.frame_count, "steps": kernel.steps, "tick": kernel.time.now, "text": app.debug_text,
        "screens": screens,
        "memory": memory, "registers": registers, "end": app.end,
        "events": [str(one) for one in console.machine.events],
        "gpu": gpu(console.machine),
        "objects": objects(app),
    }  # fmt: skip


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name in one:
        assert one[name] == other[name], name


def steps(app: App, count: int) -> None:
    for _ in range(count):
        if not app.console.kernel.step():
            break


@pytest.mark.parametrize("name", NAMES)
def test_any_moments_with_and_without_checkpoints(name: str) -> None:
    """Random places, whose state is compared with a run that never stops for a checkpoint or a restore."""
    choose = random.Random(name)
    with run(GUESTS / name) as straight:
        places = sorted(choose.sample(range(1, 700), 5))
        expected = []
        for before, place in zip([0, *places], places, strict=False):
            steps(straight, place - before)
            expected.append(moment(straight))
    with run(GUESTS / name) as app:
        start, points = app.checkpoint(), []
        for before, place, state in zip([0, *places], places, expected, strict=False):
            steps(app, place - before)
            same(state, moment(app))
            points.append(app.checkpoint())
        for n in choose.sample(range(len(places)), len(places)):
            app.restore(points[n])
            same(expected[n], moment(app))
            for before, place, state in zip(places[n:], places[n + 1 :], expected[n + 1 :], strict=False):
                steps(app, place - before)
                same(state, moment(app))
        app.restore(start)
        steps(app, places[0])
        same(expected[0], moment(app))


def test_back_shows_the_pictures_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocketgpu.guests.kernel.history.INTERVAL", 0.0)
    with run(PROGRAMS / "scene.elf") as app:
        shown = [b""]
        for _ in range(40):
            app.frames(1)
            shown.append(app.top.array.tobytes())
        assert len(set(shown)) == 41
        for count in (1, 5, 0, 12, 2):
            before = app.frame_count
            app.back(count)
            assert app.frame_count == before - count and app.top.array.tobytes() == shown[app.frame_count]
            app.frames(count // 2)
            assert app.top.array.tobytes() == shown[app.frame_count]
        app.back(app.frame_count)
        assert app.frame_count == 0 and app.console.kernel.steps == 0
        for wrong in (1, -1):
            with pytest.raises(UsageError, match="cannot go back"):
                app.back(wrong)


def test_back_keeps_the_input_and_restore_that_of_then() -> None:
    with run(PROGRAMS / "scene.elf") as app:
        app.frames(5)
        point = app.checkpoint()
        app.press("A", frames=4)
        app.frames(3)
        app.back(2)
        assert app.console.inputs.statements and app.frame_count == 6
        held = app.console.hid.now
        app.frames(1)
        assert app.console.hid.now == held != type(held)()
        app.restore(point)
        assert not app.console.inputs.statements
        app.frames(3)
        assert app.console.hid.now == type(held)()


def test_checkpoints_stay_within_a_budget() -> None:
    with run(PROGRAMS / "scene.elf") as app:
        history = History(app.console, budget=24 << 20, interval=0.0)
        history.keep()
        kept = history._kept
        assert kept is not None
        most = 0
        for _ in range(30):
            app.frames(1)
            history.stepped()
            most = max(most, len(kept))
            assert kept.bytes <= 24 << 20
        assert 1 < len(kept) <= most < 30
        assert "of 25165824 bytes" in repr(history)


def test_checkpoints_share_what_did_not_change() -> None:
    with run(PROGRAMS / "scene.elf") as app:
        app.frames(5)
        one = Checkpoint.take(app.console)
        app.frames(1)
        two = Checkpoint.take(app.console, one)
        alone = Checkpoint.take(app.console)
        assert two.bytes_beside(one) < alone.bytes_beside(one)
        assert two.memory.bytes_beside(one.memory) < 1 << 16
        assert repr(two) == f"<Checkpoint frame 6, step {app.console.kernel.steps}>"


def test_a_checkpoint_is_of_one_run() -> None:
    app, other = run(PROGRAMS / "scene.elf"), run(PROGRAMS / "scene.elf")
    with pytest.raises(UsageError, match="another run"):
        other.restore(app.checkpoint())


def test_what_cannot_be_kept_matters_only_to_who_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    load = N3DSKernel.load

    def with_an_iterator(self: N3DSKernel, *arguments: Any) -> None:
        load(self, *arguments)
        self.blocks[0] = iter(())  # type: ignore[assignment]

    monkeypatch.setattr(N3DSKernel, "load", with_an_iterator)
    with run(PROGRAMS / "scene.elf") as app:
        assert app.frames(2)
        for go in (app.checkpoint, app.back):
            with pytest.raises(UnknownStateError, match=r"tuple_iterator cannot be kept \(at N3DS.*kernel.blocks\)"):
                go()


def test_a_program_that_ended_goes_on() -> None:
    with run(PROGRAMS / "framebuffers.elf") as app:
        app.frames(4)
        point = app.checkpoint()
        assert not app.frames(60) and app.end is not None
        text = app.debug_text
        app.restore(point)
        assert app.end is None
        assert not app.frames(60) and app.end is not None and app.debug_text == text


def test_a_recorded_run_is_recorded_again() -> None:
    """Its capture is that of a run which never went back."""
    captures = []
    for back in (0, 4):
        with run(PROGRAMS / "scene.elf", record=True) as app:
            app.frames(6)
            app.back(back)
            app.frames(back)
            found = app.contents()
            captures.append(pickle.dumps((found.state, found.frames, found.tail)))
    assert captures[0] == captures[1]


def test_memory_that_came_or_went_between() -> None:
    with run(PROGRAMS / "scene.elf") as app:
        kernel = app.console.kernel
        assert isinstance(kernel, N3DSKernel)
        app.frames(2)
        both = Permission.READ | Permission.WRITE
        kernel.allocate(layout.HEAP, 0x10000, both, linear=False)
        place = kernel.allocate(0, 0x4000, both, linear=True)
        assert place is not None
        for at in (layout.HEAP + 0x3000, place + 0x1000):
            kernel.space.write(at, b"before")
        areas, point = list(kernel.space), app.checkpoint()
        kernel.free(layout.HEAP, 0x8000)
        kernel.free(place, 0x4000)
        kernel.allocate(layout.HEAP + 0x20000, 0x1000, both, linear=False)
        kernel.space.protect(layout.HEAP + 0x8000, 0x1000, Permission.READ)
        kernel.space.write(layout.HEAP + 0xA000, b"after")
        app.frames(2)
        for _ in range(2):
            app.restore(point)
            assert list(kernel.space) == areas
            assert sorted(kernel.processor._mapped.values(), key=lambda one: one.base) == areas  # type: ignore[attr-defined]
            for at in (layout.HEAP + 0x3000, place + 0x1000):
                assert kernel.space.read(at, 6) == b"before"
            assert kernel.space.read(layout.HEAP + 0xA000, 5) == bytes(5)
            assert app.frames(2)


def test_files_are_open_again_and_what_was_written_stays(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    with run(PROGRAMS / "scene.elf", sd=tmp_path, writable=True) as app:
        app.frames(1)
        console = app.console
        session = FileSession(console.kernel, console.fs.card.open("/x", write=True), "/x")
        console.kernel.handles.add(Session(session))
        point = app.checkpoint()
        app.restore(point)
        assert not list(console.machine.events)
        session.file.write(0, b"z")
        session.file.close()
        app.restore(point)
        assert session.file.read(0, 3) == b"zbc"
        assert [event.id for event in console.machine.events] == ["guest.files"]
        assert "stays written" in str(next(iter(console.machine.events)))
