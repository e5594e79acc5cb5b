"""Recordings of real programs through the engines: what was cleared, copied, uploaded and drawn."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats import mxcap
from pocketgpu.maxwell.engines.common.action_log import Blit, Clear, Copy, Report, Upload
from pocketgpu.maxwell.engines.compute.launch import Launch
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B

NAMES = (
    "deko_basic_320x180", "ex01_simple_setup_320x180", "ex02_triangle_320x180", "ex03_cube_320x180",
    "ex04_textured_cube_320x180", "ex05_tessellation_320x180", "ex07_mesh_lighting_320x180",
    "ex07_mesh_lighting_1280x720", "ex09_compute_320x180", "gl_simple_triangle_320x180",
    "gl_textured_cube_320x180", "mesa_blend_320x180", "mesa_compute_320x180", "mesa_indexed_320x180",
    "mesa_texkinds_320x180",
)  # fmt: skip


@dataclass
class Replayed:
    """A recording at its end: the machine, what it did in all frames, and its pictures (RGB)."""

    machine: GM20B
    log: list[Any]
    pictures: list[np.ndarray]

    def all(self, kind: type) -> list[Any]:
        return [record for record in self.log if isinstance(record, kind)]


def replayed(folder: Path, name: str, evaluator: str = "llvm", draws: bool = False) -> Replayed:
    """Replay a recording. draws: shade them, too, which other tests are about and takes the slow evaluator minutes."""
    path = folder / "captures" / "switch" / f"{name}.mxcap.zip"
    if not path.is_file():
        pytest.skip(f"no recording {name}")
    log = mxcap.parse(path.read_bytes(), file=str(path))
    driver = drive(log, evaluator=evaluator)
    done = Replayed(driver.machine, [], [])
    if not draws:
        done.machine.draw = lambda *_: None
    for frame in driver.frames():
        done.log += done.machine.log
        for record in done.machine.log:
            if isinstance(record, Draw):
                record.freeze()
        done.pictures.append(np.asarray(frame.screens["screen"].array)[..., :3])
    return done


def counts_of_index(folder: Path) -> dict[str, dict[str, int]]:
    """The table at the end of INDEX.md."""
    found = {}
    for line in (folder / "captures" / "switch" / "INDEX.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 12 and cells[3].isdigit():
            names = ("draws", "clears", "macro_steps", "launches", "copies", "blits")
            found[cells[1]] = dict(zip(names, map(int, cells[7:13]), strict=True))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_counts(shared_dir: Path, name: str) -> None:
    """As many draws, clears, macro steps, launches, copies and blits as the recorder counted; no event at all."""
    index = counts_of_index(shared_dir)
    wanted = index.get(name) or index[name.replace("1280x720", "320x180")]
    done = replayed(shared_dir, name)
    assert {count: getattr(done.machine.stats, count) for count in wanted} == wanted
    assert not list(done.machine.events)
    kinds = Counter(type(record) for record in done.log)
    for kind, count in ((Draw, "draws"), (Clear, "clears"), (Launch, "launches"), (Copy, "copies"), (Blit, "blits")):
        assert kinds[kind] == wanted[count]
    assert all(draw.missed == 0 for draw in done.all(Draw))


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_clears_make_the_reference_picture(shared_dir: Path, evaluator: str) -> None:
    """A program that only clears, with scissors: its picture within one step of the reference."""
    pictures = replayed(shared_dir, "ex01_simple_setup_320x180", evaluator).pictures
    path = shared_dir / "captures" / "switch" / "reference" / "ex01_simple_setup_320x180.png"
    wanted = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert len(pictures) == 2
    for picture in pictures:
        assert picture.shape == wanted.shape
        assert np.abs(picture.astype(int) - wanted).max() <= 1


def test_the_copied_texture(shared_dir: Path) -> None:
    """The copy engine makes the BC1 texture block-linear: its blocks are those of the linear source, row by row."""
    done = replayed(shared_dir, "ex04_textured_cube_320x180")
    machine = done.machine
    (copy,) = done.all(Copy)
    assert (copy.source_layout, copy.target_layout) == ("pitch", "block-linear")
    width, lines = copy.line_length * copy.unit, copy.lines
    assert width * lines == 256 * 256 // 2
    source = np.frombuffer(machine.memory.read(copy.source, width * lines), np.uint8).reshape(lines, width)
    state = machine.registers(0xB0B5)
    high = 8 << (int(state[0x1C3]) >> 4 & 15)
    target = np.frombuffer(machine.memory.read(copy.target, width * -(-lines // high) * high), np.uint8)
    pieces = target.reshape(-1, width // 64, high // 8, 2, 4, 2, 2, 16)
    rows = pieces.transpose(0, 2, 4, 6, 1, 3, 5, 7).reshape(-1, width)[:lines]
    assert source.any() and np.array_equal(rows, source)


def test_the_indexed_scene(shared_dir: Path) -> None:
    """Mesa: 8-bit indices with restart in five instances, then 32-bit ones with a base vertex."""
    draws = replayed(shared_dir, "mesa_indexed_320x180").all(Draw)
    assert [(d.topology_name, d.index_bytes, d.instance) for d in draws] == [
        *(("TRIANGLE_STRIP", 1, i) for i in range(5)),
        ("TRIANGLES", 4, 0),
    ]
    assert draws[0].restart == 255 and draws[0].primitives == 4 and len(draws[0].indices) == 9
    offsets = [d.inputs[2][0, :2].tolist() for d in draws[:5]]
    assert len({tuple(pair) for pair in offsets}) == 5  # one for each instance
    assert draws[5].base_vertex == 2 and draws[5].vertex_numbers.tolist() == [2, 3, 4]
    assert np.abs(draws[0].inputs[0][:, :2]).max() <= 1  # snorm16
    assert draws[0].inputs[1].min() >= 0 and draws[0].inputs[1][:, 3].tolist() == [1.0] * 8  # unorm8


def test_the_mesh(shared_dir: Path) -> None:
    """deko3d: 7392 indices of 16 bits, unit normals; the resolve of the cleared corner is the clear colour."""
    done = replayed(shared_dir, "ex07_mesh_lighting_320x180")
    draw, blit = done.all(Draw)[0], done.all(Blit)[0]
    assert (draw.index_bytes, len(draw.indices), draw.primitives) == (2, 7392, 2464)
    lengths = np.linalg.norm(draw.inputs[1][:, :3].astype(float), axis=1)
    assert np.allclose(lengths, 1.0, atol=2e-3)
    assert (blit.filter, blit.steps, blit.origin) == ("bilinear", (2.0, 2.0), (0.5, 0.5))
    clear = next(record for record in done.all(Clear) if record.slot is not None)
    linear = [struct.unpack("<f", struct.pack("<I", word))[0] for word in clear.colour[:3]]
    curve = [12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055 for v in linear]
    assert np.abs(done.pictures[0][0, 0] - np.array(curve) * 255).max() <= 1


def test_the_launches(shared_dir: Path) -> None:
    """deko3d's QMD 1.7 and Mesa's without a version."""
    launches = replayed(shared_dir, "ex09_compute_320x180").all(Launch)
    assert [(r.version, r.grid, r.block) for r in launches] == [((1, 7), (8, 1, 1), (32, 1, 1))] * 2
    assert launches[0].address != launches[1].address
    assert launches[0].constants[0] is not None and launches[0].constants[2] is not None
    (launch,) = replayed(shared_dir, "mesa_compute_320x180").all(Launch)
    assert (launch.version, launch.grid, launch.block, launch.shared_bytes) == ((0, 0), (8, 8, 1), (8, 8, 1), 256)
    assert [i for i, buffer in enumerate(launch.constants) if buffer] == [7]


@pytest.mark.parametrize(
    ("name", "uploads", "size"),
    [("ex04_textured_cube_320x180", 2, 64), ("ex09_compute_320x180", 2, 1664), ("mesa_indexed_320x180", 9, 2440)],
)
def test_uploads(shared_dir: Path, name: str, uploads: int, size: int) -> None:
    """Inline data, through whichever class the driver sends it."""
    done = replayed(shared_dir, name)
    records = done.all(Upload)
    assert len(records) == done.machine.stats.uploads == uploads
    assert sum(r.line_length * r.lines for r in records) == size


def test_the_fences(shared_dir: Path) -> None:
    """The program's fence counts up, and time goes on between its releases."""
    fences = replayed(shared_dir, "ex03_cube_320x180").all(Report)
    values = [record.value for record in fences]
    assert len(values) > 2 and values == sorted(set(values))


@pytest.mark.parametrize("name", ["ex07_mesh_lighting_320x180", "mesa_texkinds_320x180"])
def test_both_evaluators(shared_dir: Path, name: str) -> None:
    """The same bytes everywhere: clears, copies into block-linear textures, the resolve of an sRGB target."""
    fast, slow = (replayed(shared_dir, name, evaluator).machine.memory for evaluator in ("llvm", "numpy"))
    assert [b.offset for b in fast.backings] == [b.offset for b in slow.backings]
    for backing in fast.backings:
        part = slice(backing.offset, backing.offset + backing.size)
        assert np.array_equal(fast.arena[part], slow.arena[part])
