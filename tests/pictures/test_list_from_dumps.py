"""`render --list`: what a list draws from memory dumps is what the whole recording shows.

The dumps are taken from a replay that stops before the list, as a debugger would stop a program there.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu.capture.dumps import Dump, physical, run_list
from pocketgpu.capture.formats.gxlog import GxLog
from pocketgpu.capture.formats.n3ds_trace import GxRun, LoadRun, WriteRun
from pocketgpu.errors import NoPictureError, UsageError
from pocketgpu.facts.memory_map import VRAM

HEAP = 0x20000000
HEAP_SIZE = 0x200000


class Stopped:
    """multiple_buf before its first list: memory, the list as the program names it, and what the frame then shows."""

    def __init__(self, folder: Path) -> None:
        capture = pocketgpu.open(folder / "captures" / "3ds" / "multiple_buf.gx.json.xz")
        log = capture.trace
        assert isinstance(log, GxLog)
        machine = pocketgpu.N3DS()
        machine.load_initial(**vars(log.initial))
        machine.gsp.virt_to_phys = log.virt_to_phys
        for run in log.runs(0):
            if isinstance(run, GxRun):
                if run.words[0] & 0xFF == 1:
                    self.virtual, self.size = run.words[1], run.words[2]
                    break
                assert machine.gsp.gx(run.words) == 0
            elif isinstance(run, LoadRun):
                machine.load_memory(run.address, run.data)
            else:
                assert isinstance(run, WriteRun)
                machine.write_registers(run.addresses, run.values)
        self.address = machine.gsp.virt_to_phys.translate(self.virtual, self.size)
        assert self.address is not None
        self.vram, self.heap = (machine.memory.read(*span) for span in ((VRAM.base, VRAM.size), (HEAP, HEAP_SIZE)))
        self.shown = next(iter(capture.render(frames=range(1)))).top.array

    @property
    def dumps(self) -> list[Dump]:
        return [Dump(VRAM.base, self.vram, "vram"), Dump(HEAP, self.heap, "heap")]


@pytest.fixture(scope="module")
def stopped(shared_dir: Path) -> Stopped:
    return Stopped(shared_dir)


def test_the_target_is_what_the_screen_shows(stopped: Stopped) -> None:
    assert len(np.unique(stopped.shown.reshape(-1, 3), axis=0)) > 10  # a triangle, no plain colour
    run = run_list(stopped.address, stopped.size, stopped.dumps)
    assert run.fired
    (target,) = run.targets
    assert (target.width, target.height, target.format.name, target.turned) == (240, 400, "RGBA8", True)
    assert np.array_equal(target.picture(run.machine.memory)[..., :3], stopped.shown)
    # Without the cleared target the triangle is the same, on black.
    alone = run_list(stopped.address, stopped.size, stopped.dumps[1:])
    picture = alone.targets[0].picture(alone.machine.memory)[..., :3]
    assert not picture[0].any()
    assert np.array_equal(picture[120], np.where(picture[120].any(axis=1)[:, None], stopped.shown[120], 0))


def test_addresses_as_programs_see_them(stopped: Stopped) -> None:
    dumps = [Dump(0x1F000000, stopped.vram), Dump(0x14000000, stopped.heap)]
    run = run_list(stopped.virtual, stopped.size, dumps)
    assert np.array_equal(run.targets[0].picture(run.machine.memory)[..., :3], stopped.shown)
    assert physical(0x1F001000) == 0x18001000 and physical(0x18001000) == 0x18001000
    assert physical(0x30000010) == physical(0x14000010) == physical(0x20000010) == 0x20000010
    assert physical(0x10400000) is None and physical(0x185FFFFF, 2) is None


def test_the_command_writes_the_picture(stopped: Stopped, tmp_path: Path, run_program: Callable[..., Any]) -> None:
    (tmp_path / "vram.bin").write_bytes(stopped.vram)
    (tmp_path / "heap@1.bin").write_bytes(stopped.heap)
    arguments = [
        *("render", "--list", f"{stopped.address:#x}:{stopped.size}", "--memory", "vram.bin@0x18000000"),
        *("--memory", f"heap@1.bin@{HEAP}", "--out", "pictures"),
    ]
    done = run_program(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    (target,) = document["targets"]
    assert target["address"] == 0x18000000 and target["turned"] and document["list"]["interrupt"]
    assert (target["width"], target["height"]) == (400, 240)
    assert document["list"]["draws"] == document["list"]["triangles"] == 1
    with Image.open(tmp_path / target["file"]) as picture:
        assert np.array_equal(np.asarray(picture), stopped.shown)
    done = run_program(*arguments)
    assert done.returncode == 0 and "target0.png" in done.stdout and "0x18000000" in done.stdout


def draw_list(colour_address: int, width: int, height: int) -> list[int]:
    """A list that sets a target and draws three vertices from nowhere: enough for the machine to name the target."""
    writes = [
        (0x11C, 0x18200000 >> 3), (0x11D, colour_address >> 3), (0x11E, (height - 1) << 12 | width),
        (0x117, 2), (0x116, 0), (0x228, 3), (0x22E, 1), (0x10, 0x12345678),
    ]  # fmt: skip
    words = [word for register, value in writes for word in (value, 0xF0000 | register)]
    return words + [0x12345678, 0xF0010] * (len(writes) % 2)


def test_every_target_is_found() -> None:
    words = draw_list(0x18010000, 64, 32)[:14] + draw_list(0x18000000, 240, 400)
    data = struct.pack(f"<{len(words)}I", *words)
    run = run_list(0x20000010, len(data) & ~15, [Dump(0x20000000, bytes(16) + data + bytes(16))])
    assert [(t.address, t.width, t.height) for t in run.targets] == [(0x18010000, 64, 32), (0x18000000, 240, 400)]
    assert [t.turned for t in run.targets] == [False, True]
    assert run.targets[0].picture(run.machine.memory).shape == (32, 64, 4)
    assert run.targets[1].picture(run.machine.memory).shape == (240, 400, 4)


def test_registers_come_from_dumps() -> None:
    """The list sets no target: it is the one of the register dump, here given at the address that programs see."""
    words = [3, 0xF0228, 1, 0xF022E, 0x12345678, 0xF0010, 0x12345678, 0xF0010]
    core = np.zeros(0x300, "<u4")
    for register, value in ((0x11C, 0x18200000 >> 3), (0x11D, 0x18020000 >> 3), (0x11E, 31 << 12 | 16), (0x117, 2)):
        core[register] = value
    core[[0x20, 0x30, 0x34]] = 0x12345678, 0xFFFFFFF0, 1
    memory = [Dump(0x20000000, struct.pack("<8I", *words))]
    for address in (0x10401000, 0x1EF01000):
        run = run_list(0x20000000, 32, memory, [Dump(address, core.tobytes())])
        assert [(t.address, t.width, t.height) for t in run.targets] == [(0x18020000, 16, 32)]
        assert run.fired


@pytest.mark.parametrize(
    ("address", "size", "dumps", "message"),
    [
        (0x20000008, 16, [Dump(0x20000000, bytes(64))], "cannot start at"),
        (0x20000000, 128, [Dump(0x20000000, bytes(64))], "no dump holds all"),
        (0x20000000, 96, [Dump(0x20000000, bytes(32)), Dump(0x20000040, bytes(32))], "no dump holds all"),
        (0x12340000, 16, [Dump(0x20000000, bytes(64))], "no memory for the list"),
        (0x20000000, 16, [Dump(0x185FFFF0, bytes(64), "end.bin")], "no memory for end.bin"),
        (0x20000000, 0, [Dump(0x20000000, bytes(64))], "1 to"),
        (0x20000000, 16, [], "no dump holds all"),
    ],
)  # fmt: skip
def test_dumps_that_do_not_fit(address: int, size: int, dumps: list[Dump], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_list(address, size, dumps)


@pytest.mark.parametrize(
    ("dump", "message"),
    [(Dump(0x10401002, bytes(8)), "whole registers"), (Dump(0x10401000, bytes(6)), "whole registers"),
     (Dump(0x10500000, bytes(8)), "no registers")],
)  # fmt: skip
def test_registers_that_do_not_fit(dump: Dump, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_list(0x20000000, 16, [Dump(0x20000000, bytes(16))], [dump])


def test_a_list_that_draws_nothing() -> None:
    with pytest.raises(NoPictureError, match="draws nothing"):
        run_list(0x20000000, 16, [Dump(0x20000000, struct.pack("<4I", *[0x12345678, 0xF0010] * 2))])


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("--list", "0x20000000:16", "--out", "x"), 2, "--memory"),
        (("--memory", "a.bin@0x20000000", "--out", "x"), 2, "--list"),
        (("--list", "0x20000000:16", "--memory", "a.bin@0x20000000"), 2, "--out"),
        (("scene.ctf", "--list", "0x20000000:16", "--memory", "a.bin@0", "--out", "x"), 2, "CAPTURE"),
        (("--list", "0x20000000:16", "--memory", "a.bin", "--out", "x"), 2, "FILE@ADDRESS"),
        (("--list", "0x20000000:16", "--memory", "a.bin@0x100000000", "--out", "x"), 2, "FILE@ADDRESS"),
        (("--list", "0x20000000:16", "--memory", "a.bin@9999999999", "--out", "x"), 2, "32-bit"),
        (("--list", "0x20000000", "--memory", "a.bin@0x20000000", "--out", "x"), 2, "ADDRESS:SIZE"),
        (("--list", "0x20000000:16", "--memory", "missing.bin@0x20000000", "--out", "x"), 3, "missing.bin"),
        (("--out", "x"), 2, "CAPTURE"),
    ],
)
def test_wrong_words(arguments: tuple[str, ...], code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    from pocketgpu.cli import main

    assert main(["render", *arguments]) == code
    assert text in capsys.readouterr().err
