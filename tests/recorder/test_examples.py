"""The two example programs record what they say, the same on every run, and it replays."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.formats.pgc.contents import Gx, Load, Present, Store, Submit, Swap, Writes, bytes_of

from .conftest import RECORDER, build

Recording = Callable[..., Path]
Pictures = list[dict[str, NDArray[np.uint8]]]


def contents(path: Path) -> pgc.Contents:
    return pgc.parse(path.read_bytes())


def pictures(path: Path) -> Pictures:
    found = []
    for frame in pocketgpu.open(path).render():
        assert frame.warnings == []
        found.append({name: np.ascontiguousarray(screen.array) for name, screen in frame.screens.items()})
    return found


def equal(some: Pictures, others: Pictures) -> bool:
    return len(some) == len(others) and all(
        a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)
        for a, b in zip(some, others, strict=True)
    )


@pytest.mark.parametrize("arguments", [("3ds",), ("3ds", "gx"), ("switch",)])
def test_each_run_records_the_same_bytes(record: Recording, arguments: tuple[str, ...]) -> None:
    assert record(*arguments).read_bytes() == record(*arguments).read_bytes()


@pytest.mark.parametrize("name", ["3ds", "switch"])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_another_compiler_records_the_same_bytes(record: Recording, tmp_path: Path, name: str, language: str) -> None:
    """Optimised, without sanitizers, and the header as C++."""
    source = tmp_path / f"main.{'c' if language == 'c' else 'cpp'}"
    options = ["-O3"]
    if language == "c":
        source.write_bytes((RECORDER / f"example_{name}.c").read_bytes())
    else:
        # The examples themselves are C: only the header is compiled as C++, with the same program after it.
        source.write_text('#define POCKETGPU_RECORDER_IMPLEMENTATION\n#include "pocketgpu_recorder.h"\n')
        program = (
            (RECORDER / f"example_{name}.c").read_text().replace("#define POCKETGPU_RECORDER_IMPLEMENTATION\n", "")
        )
        (tmp_path / "program.c").write_text(program)
        options += [str(build(tmp_path / "program.o", tmp_path / "program.c", "-c"))]
    program = build(tmp_path / "program", source, *options, language=language)
    path = tmp_path / "scene.pgc"
    subprocess.run([program, path], check=True)
    assert path.read_bytes() == record(name).read_bytes()


# -- 3DS --------------------------------------------------------------------------------------------------------------
def test_the_3ds_example_holds_each_change_once_and_in_order(record: Recording) -> None:
    found = contents(record("3ds"))
    assert found.console == "3DS" and found.about == {"recorder": "example_3ds"} and not found.tail
    assert len(found.frames) == 4
    kinds = [[type(event) for event in frame.events] for frame in found.frames]
    assert kinds == [[Writes, Load, Load, Load, Writes]] + 3 * [[Writes, Load, Writes]]

    fill, texture, vertices, commands, rest = found.frames[0].events
    assert isinstance(fill, Writes) and fill.addresses[3] == 0x1040001C and fill.values[3] == 0x201
    # Memory comes after the writes that point at it, and before the one that starts the list.
    assert fill.addresses[-1] == 0x104018E8 and fill.values[-1] == 0x20008000 >> 3
    assert isinstance(rest, Writes) and rest.addresses[0] == 0x104018F0
    assert isinstance(texture, Load) and isinstance(vertices, Load) and isinstance(commands, Load)
    assert (texture.address, sum(map(len, texture.pieces))) == (0x20000000, 1024)
    assert vertices.address == 0x20001000
    corners = np.frombuffer(bytes_of(vertices.pieces), "<f4").reshape(9, 9)
    assert corners[:, 0].tolist() == pytest.approx([-0.6, 0.6, 0.6, -0.6, 0.6, -0.6, -1.5, -0.9, -1.5])
    assert commands.address == 0x20008000
    assert struct.unpack("<2I", bytes_of(commands.pieces)[:8]) == (0x00030003, 0x804F00C0)
    for frame in found.frames[1:]:
        matrix = frame.events[1]
        assert isinstance(matrix, Load) and matrix.address > 0x20008000
        assert sum(map(len, matrix.pieces)) < 64


def test_the_3ds_example_replays(record: Recording) -> None:
    shown = pictures(record("3ds"))
    assert [{name: array.shape for name, array in frame.items()} for frame in shown] == [
        {"top": (240, 400, 3), "bottom": (240, 320, 3)}
    ] * 4
    for number, frame in enumerate(shown):
        top, bottom = frame["top"], frame["bottom"]
        assert (bottom == [0x20 + 0x40 * number, 0x40, 0x60]).all()
        assert (top[0, 0] == [0x20, 0x30, 0x40]).all()
        # The square has sides of 144 pixels, whichever way it is turned; pixels on its rim count or not.
        square = (top[:, 94:] != [0x20, 0x30, 0x40]).any(2)
        assert abs(int(square.sum()) - 144 * 144) < 4 * 144
        rows, columns = (np.flatnonzero(square.any(axis)) for axis in (1, 0))
        width = (144, 202, 202, 144)[number]
        assert abs(len(rows) - width) <= 2 and abs(len(columns) - width) <= 2
        # The triangle keeps its colours: red below, green right, blue above.
        for y, x, channel in ((226, 22, 0), (224, 82, 1), (160, 21, 2)):
            assert top[y, x].argmax() == channel and top[y, x].max() > 25
    tops = {frame["top"].tobytes() for frame in shown}
    assert len(tops) == 4


def test_gx_commands_show_the_same_pictures_as_registers(record: Recording) -> None:
    path = record("3ds", "gx")
    first = contents(path).frames[0].events
    assert [type(event) for event in first] == [Load, Load, Gx, Load, Gx, Gx, Gx, Swap, Swap]
    assert isinstance(first[-2], Swap) and first[-2].screen == 0
    assert first[-2].info == (0, 0x1F100000, 0x1F100000, 720, 0x41, 0, 0)
    assert equal(pictures(path), pictures(record("3ds")))


def test_the_file_is_small_before_it_is_packed(record: Recording) -> None:
    assert record("3ds").stat().st_size < 5000
    assert record("switch").stat().st_size < 1000


@pytest.mark.parametrize("arguments", [("3ds",), ("3ds", "gx"), ("switch",)])
def test_converting_adds_what_the_recorder_cannot_know(
    record: Recording, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    recorded, packed = record(*arguments), tmp_path / "packed.pgc"
    assert all(frame.pictures is None for frame in contents(recorded).frames)
    written = pgc.write(packed, pocketgpu.open(recorded))
    assert all(frame.pictures for frame in written.frames)
    assert packed.stat().st_size < recorded.stat().st_size + 200
    assert equal(pictures(packed), pictures(recorded))


# -- Switch -----------------------------------------------------------------------------------------------------------
def test_the_switch_example_holds_each_change_once_and_in_order(record: Recording) -> None:
    found = contents(record("switch"))
    assert found.console == "Switch" and len(found.frames) == 3 and not found.tail
    kinds = [[type(event).__name__ for event in frame.events] for frame in found.frames]
    assert kinds == [["Map", "Map", "Store", "Submit", "Present"]] + 2 * [["Store", "Submit", "Present"]]
    store, submit, present = found.frames[0].events[2:]
    assert isinstance(store, Store) and (store.handle, store.offset, store.gpu_va) == (2, 0, 0x500100000)
    words = len(bytes_of(store.pieces)) // 4
    assert isinstance(submit, Submit) and submit.entries.tolist() == [0x500100000 | 1 << 41 | words << 42]
    assert isinstance(present, Present) and (present.handle, present.gpu_va) == (1, 0x500000000)
    # Only colours and rectangles change.
    changed = found.frames[1].events[0]
    assert isinstance(changed, Store) and sum(map(len, changed.pieces)) < 4 * words - 64


def test_the_switch_example_replays(record: Recording) -> None:
    for number, frame in enumerate(pictures(record("switch"))):
        picture = frame["screen"]
        assert picture.shape == (180, 320, 3)
        bright = [255, round(63.75 * number), 51]
        expected = np.full((180, 320, 3), [26, 51, 102], np.uint8)
        expected[30:90, 40 + 20 * number : 140 + 20 * number] = bright
        expected[100 - 10 * number : 150 - 10 * number, 200:260] = bright
        assert np.array_equal(picture, expected)


def test_a_file_that_cannot_be_written_is_told(record: Recording, tmp_path: Path) -> None:
    program = record("switch").with_name("switch")
    done = subprocess.run([program, tmp_path / "missing" / "scene.pgc"], capture_output=True, text=True)
    assert done.returncode == 1 and "could not be recorded" in done.stderr
    if os.path.exists("/dev/full"):
        assert subprocess.run([program, "/dev/full"], capture_output=True).returncode == 1


# -- the guide --------------------------------------------------------------------------------------------------------
EMULATOR = """
#include <stddef.h>
#include <stdint.h>
extern uint8_t *fcram, *vram;
extern size_t fcram_size, vram_size, changed_count;
extern uint32_t external_registers[], lcd_registers[], core_registers[], vertex_program[];
extern const char *title_of_the_game;
extern struct { uint32_t handle; uint64_t offset; void *bytes; } changed[];
void handle_gpu_register(uint32_t address, uint32_t value);
uint8_t *physical_memory(uint32_t address);
void run_gpfifo(uint32_t channel, const uint64_t *entries, uint32_t count);
void show_message(const char *text);
"""
"""What the guide's reader has."""


def test_the_code_of_the_guide_compiles_and_names_what_exists(tmp_path: Path) -> None:
    page = (RECORDER.parent / "docs" / "guides" / "recorder.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```c\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 7
    source = tmp_path / "guide.c"
    source.write_text(EMULATOR + "".join(blocks))
    build(tmp_path / "guide.o", source, "-c")
    header = (RECORDER / "pocketgpu_recorder.h").read_text()
    public = header[: header.index("#ifdef POCKETGPU_RECORDER_IMPLEMENTATION")]
    named = set(re.findall(r"\b(?:pgr|PGR)_\w+", page))
    assert named and all(re.search(rf"\b{name}\b", public) for name in named)
    # And nothing that is there goes unexplained: calls of which the guide says nothing.
    calls = set(re.findall(r"\b(pgr_\w+)\(pgr_recorder", public)) | {"pgr_open"}
    assert calls - named == set()
