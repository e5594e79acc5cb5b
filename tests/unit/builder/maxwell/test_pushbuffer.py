"""Pushbuffers and recordings written in Python: their words, and what the machine makes of them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, Packets, PushBuffer, Surface, size_of
from pocketgpu.builder.maxwell.packets import MOST_DATA, header
from pocketgpu.capture.driver import drive
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B0B5, B06F, B197, TWOD
from pocketgpu.facts.maxwell.pushbuffers import HEADER
from pocketgpu.inspect.decode import decode_words
from pocketgpu.inspect.decode.rows import IMMEDIATE, PARAMETER
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.memory.blocklinear import Layout, detile

INC, NON_INC, IMMD, ONE_INC = 0x2000_0000, 0x6000_0000, 0x8000_0000, 0xA000_0000


def words(pb: Packets) -> list[int]:
    return [int(word) for word in pb.words]


def written(pb: Packets) -> list[tuple[int, int]]:
    """(word of the method, value) of each write, as the machine's parser reads them."""
    rows = decode_words(pb.words, "pushbuffer", tolerant=False).rows
    rows = rows[(rows["what"] == PARAMETER) | (rows["what"] == IMMEDIATE)]
    data = HEADER["IMMD_DATA"]
    values = [data.raw(int(row["word"])) if row["what"] == IMMEDIATE else int(row["word"]) for row in rows]
    return list(zip(rows["id"].tolist(), values, strict=True))


def machine_after(*segments: PushBuffer) -> GM20B:
    """A machine that ran the segments as one submission."""
    made = MaxwellCaptureBuilder()
    made.submit(*segments)
    return run(made)


def run(made: MaxwellCaptureBuilder) -> GM20B:
    log = made.log()
    driver = drive(log)
    driver.play_rest()
    return driver.machine


# -- header forms


def test_headers_by_hand() -> None:
    """The examples of the documents: increment four words from 0x6C0, wait for idle, inline data, a macro call."""
    assert header("inc", 0, 0x6C0, 4) == 0x200406C0
    assert header("immd", 0, 0x44, 0) == 0x80000044
    assert header("non_inc", 0, 0x6D, 10) == 0x600A006D
    assert header("one_inc", 0, 0xE24, 3) == 0xA0030E24


def test_a_small_value_stands_in_its_header() -> None:
    assert words(PushBuffer().method("WAIT_FOR_IDLE", 0)) == [0x80000044]
    assert words(PushBuffer().method("WAIT_FOR_IDLE", 0x1FFF)) == [IMMD | 0x1FFF << 16 | 0x44]
    assert words(PushBuffer().method("WAIT_FOR_IDLE", 0x2000)) == [INC | 1 << 16 | 0x44, 0x2000]


def test_writes_in_a_row_share_a_header() -> None:
    pb = PushBuffer().method("SET_COLOR_TARGET_WIDTH", 0, 640).method("SET_COLOR_TARGET_HEIGHT", 0, 360)
    pb.method("SET_COLOR_TARGET_FORMAT", 0, V="A8B8G8R8")
    assert words(pb) == [INC | 3 << 16 | 0x202, 640, 360, 0xD5]


def test_repeats_share_a_header_that_stays() -> None:
    pb = PushBuffer()
    for value in (7, 8, 9):
        pb.method("LOAD_INLINE_DATA", value)
    assert words(pb) == [NON_INC | 3 << 16 | 0x6D, 7, 8, 9]


def test_first_here_and_the_rest_behind_share_a_header() -> None:
    pb = PushBuffer().method("CALL_MME_MACRO", 3, 1)
    for value in (2, 3, 4):
        pb.method("CALL_MME_DATA", 3, value)
    assert words(pb) == [ONE_INC | 4 << 16 | 0xE06, 1, 2, 3, 4]


def test_two_small_values_are_cheapest_one_by_one() -> None:
    pb = PushBuffer().method("SET_COLOR_TARGET_WIDTH", 0, 64, 32)
    assert words(pb) == [IMMD | 64 << 16 | 0x202, IMMD | 32 << 16 | 0x203]


def test_writes_of_other_subchannels_do_not_mix() -> None:
    pb = PushBuffer().write(0x45, 0x10000).on("2D").write(0x46, 0x20000)
    assert words(pb) == [INC | 1 << 16 | 0x45, 0x10000, INC | 1 << 16 | 3 << 13 | 0x46, 0x20000]


def test_forms_can_be_chosen() -> None:
    assert words(PushBuffer().method("WAIT_FOR_IDLE", 1, form="inc")) == [INC | 1 << 16 | 0x44, 1]
    assert words(PushBuffer().method("LOAD_INLINE_DATA", 1, form="non_inc")) == [NON_INC | 1 << 16 | 0x6D, 1]
    assert words(PushBuffer().method("WAIT_FOR_IDLE", 1, form="immd")) == [IMMD | 1 << 16 | 0x44]
    assert words(PushBuffer().method("WAIT_FOR_IDLE", 1, 2, 3, form="one_inc"))[0] == ONE_INC | 3 << 16 | 0x44
    with pytest.raises(UsageError, match="one value up to"):
        PushBuffer().method("WAIT_FOR_IDLE", 0x2000, form="immd")
    with pytest.raises(UsageError, match="no header form"):
        PushBuffer().method("WAIT_FOR_IDLE", 0, form="twice")  # type: ignore[arg-type]


def test_long_data_is_split_where_a_header_ends() -> None:
    data = list(range(MOST_DATA + 5))
    pb = PushBuffer().method("LOAD_INLINE_DATA", *data, form="non_inc")
    assert len(pb) == len(data) + 2
    assert words(pb)[0] == NON_INC | MOST_DATA << 16 | 0x6D and words(pb)[MOST_DATA + 1] == NON_INC | 5 << 16 | 0x6D
    with pytest.raises(UsageError, match="at most"):
        PushBuffer().call_macro(0, *data)


def test_a_random_mix_writes_what_was_asked_for() -> None:
    """Packed or not: the packets say the same writes in the same order."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        pb, asked = PushBuffer(), []
        word = 0x100
        for _ in range(int(rng.integers(1, 60))):
            word = int(rng.choice([word, word + 1, word, rng.integers(0x40, 0xD00)]))
            value = int(rng.choice([rng.integers(0x2000), rng.integers(1 << 32)]))
            pb.write(word, value)
            asked.append((word, value))
        assert written(pb) == asked


# -- values


def test_fields_by_name() -> None:
    clear = B197["CLEAR_SURFACE"]
    pb = PushBuffer().method("CLEAR_SURFACE", R_ENABLE=True, a_enable=1, MRT_SELECT=2, RT_ARRAY_INDEX=3)
    ((_, word),) = written(pb)
    assert word == clear.encode(0, R_ENABLE=1, A_ENABLE=1, MRT_SELECT=2, RT_ARRAY_INDEX=3)


def test_floats_names_and_negative_numbers() -> None:
    pb = PushBuffer().method("SET_Z_CLEAR_VALUE", 0.5)
    assert words(pb)[1] == 0x3F000000
    pb = PushBuffer().on("2D").method("SET_OPERATION", "SRCCOPY")
    assert words(pb) == [IMMD | 3 << 16 | 3 << 13 | 0xAB]
    pb = PushBuffer().on("2D").method("SET_CLIP_X0", -2)
    assert words(pb)[1] == 0xFFFFFFFE


def test_arrays_take_their_element() -> None:
    for pb in (
        PushBuffer().method("SET_COLOR_TARGET_WIDTH", 3, 0x4000),
        PushBuffer().method("SET_COLOR_TARGET_WIDTH[3]", 0x4000),
        PushBuffer().method("SET_COLOR_TARGET_WIDTH(3)", 0x4000),
    ):
        assert words(pb) == [INC | 1 << 16 | 0x202 + 3 * 16, 0x4000]
    assert words(PushBuffer().address("SET_COLOR_TARGET_A", 1, 0x5_0000_4000)) == [INC | 2 << 16 | 0x210, 5, 0x4000]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda pb: pb.method("SET_COLOUR_TARGET_A", 0, 1), "Did you mean SET_COLOR_TARGET_A"),
        (lambda pb: pb.method("SET_COLOR_TARGET_A"), "give an element"),
        (lambda pb: pb.method("SET_COLOR_TARGET_A", 8, 0), "elements 0 to 7"),
        (lambda pb: pb.method("CLEAR_SURFACE", 1, R_ENABLE=1), "not both"),
        (lambda pb: pb.method("CLEAR_SURFACE", X_ENABLE=1), "no field 'X_ENABLE'"),
        (lambda pb: pb.method("CLEAR_SURFACE", MRT_SELECT=16), "does not fit"),
        (lambda pb: pb.method("WAIT_FOR_IDLE", 1 << 32), "32 bits"),
        (lambda pb: pb.on("2D").method("SET_OPERATION", "MIX"), "'MIX' is no value"),
        (lambda pb: pb.address("SEMAPHOREA", 1 << 40), "40 bits"), (lambda pb: pb.bind("4D"), "no class '4D'"),
        (lambda pb: pb.bind(0xB197, 8), "0 to 7"), (lambda pb: pb.on("host"), "bound to no subchannel"),
        (lambda pb: pb.write(0x1000, 0), "after the last method"),
        (lambda pb: pb.call_macro(128), "macros are 0 to 127"),
        (lambda pb: pb.semaphore_acquire(0, 0, compare="less"), "no comparison"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call(PushBuffer())


def test_classes_are_bound_where_drivers_bind_them() -> None:
    pb = PushBuffer()
    for number, name in enumerate(("3D", "compute", "inline-to-memory", "2D", "DMA copy")):
        assert pb.bind(name).subchannel == number
    assert words(pb)[::2] == [INC | 1 << 16 | number << 13 for number in range(5)]
    assert words(pb)[1::2] == [0xB197, 0xB1C0, 0xA140, 0x902D, 0xB0B5]
    assert PushBuffer().bind("b0b5", 6).block is B0B5


# -- on the machine


def test_every_form_arrives_in_the_registers() -> None:
    pb = PushBuffer().bind("3D").method("SET_COLOR_TARGET_WIDTH", 2, 640, 360).method("SET_Z_CLEAR_VALUE", 0.25)
    pb.method("SET_COLOR_TARGET_LAYER", 2, 5, form="one_inc").bind("2D").method("SET_CLIP_X0", 1, 2, 300000)
    machine = machine_after(pb)
    threed, twod = machine.registers(0xB197), machine.registers(0x902D)
    at = B197["SET_COLOR_TARGET_WIDTH"](2).word
    assert threed[at : at + 2].tolist() == [640, 360]
    assert threed[B197["SET_Z_CLEAR_VALUE"].word] == 0x3E800000
    assert threed[B197["SET_COLOR_TARGET_LAYER"](2).word] == 5
    at = TWOD["SET_CLIP_X0"].word
    assert twod[at : at + 3].tolist() == [1, 2, 300000]
    assert machine.stats.unknown_methods == 0 and not list(machine.events)


#: Fill registers: r1 is address and increment, then how many, then the value.
FILL = [0x00000A51, 0x00000301, 0xFFFFD211, 0xFFFFD017, 0x000018C1, 0x00000011]


def test_macros_are_uploaded_and_called() -> None:
    at = B197["SET_COLOR_TARGET_WIDTH"].word
    pb = PushBuffer().bind("3D").upload_macro(5, FILL, at=0x100).call_macro(5, at | 1 << 12, 3, 0x1111)
    machine = machine_after(pb)
    assert machine.registers(0xB197)[at : at + 4].tolist() == [0x1111] * 3 + [0]
    assert machine.stats.macro_calls == 1 and machine.stats.macro_steps == 12


def test_parameters_may_come_with_the_next_segment() -> None:
    """What indirect draws do: the header announces words that lie elsewhere."""
    at = B197["SET_COLOR_TARGET_WIDTH"].word
    made = MaxwellCaptureBuilder()
    elsewhere = made.put(np.array([2, 0x2222], np.uint32))
    made.submit(PushBuffer().bind("3D").upload_macro(5, FILL, at=0).call_macro(5, at | 1 << 12, more=2), (elsewhere, 2))
    assert run(made).registers(0xB197)[at : at + 3].tolist() == [0x2222, 0x2222, 0]


def test_the_host_releases_and_waits() -> None:
    made = MaxwellCaptureBuilder()
    address = made.allocate(4096)
    made.submit(PushBuffer().semaphore_acquire(address, 7).semaphore_release(address + 16, 9), channel=1)
    made.submit(PushBuffer().semaphore_release(address, 7).semaphore_release(address + 32, 5, four_words=True))
    machine = run(made)
    found = np.frombuffer(machine.memory.read(address, 48), np.uint32)
    assert found[0] == 7 and found[4] == 9 and found[8] == 5 and found[9] == 0 and found[10] > 0
    assert not list(machine.events)


def test_numbers_of_syncpoints_are_words_of_their_own() -> None:
    """So that the probe can put a console's own numbers there."""
    first, second = (INC | 1 << 16 | B06F[f"SYNCPOINT{one}"].word for one in "AB")
    assert PushBuffer().syncpoint_increment(8).words.tolist()[-2:] == [second, 8 << 8 | 1]
    assert PushBuffer().syncpoint_wait(8, 2).words.tolist() == [first, 2, second, 8 << 8 | 1 << 4]


def test_mappings_begin_at_multiples_of_a_step() -> None:
    made = MaxwellCaptureBuilder(step=0x10000)
    places = [made.allocate(size) for size in (1, 0x10000, 0x10001, 4096)]
    assert places == [0x5_0000_0000, 0x5_0002_0000, 0x5_0004_0000, 0x5_0007_0000]
    usual = MaxwellCaptureBuilder()
    assert [usual.allocate(1), usual.allocate(1)] == [0x5_0000_0000, 0x5_0001_1000]
    for step in (0, -4096, 100):
        with pytest.raises(UsageError, match=f"cannot begin at multiples of {step}"):
            MaxwellCaptureBuilder(step=step)


def test_syncpoints_are_raised_and_waited_for() -> None:
    made = MaxwellCaptureBuilder()
    address, id = made.allocate(4096), made.syncpoint()
    made.submit(PushBuffer().syncpoint_wait(id, 2).semaphore_release(address, 1), channel=1)
    made.submit(PushBuffer().syncpoint_increment(id))
    log = made.log()
    driver = drive(log)
    machine, steps = driver.machine, driver.steps()
    machine.syncpoints.foreign_reached = False
    assert (next(steps), next(steps)) == (0, 1)
    assert machine.memory.read(address, 4) == bytes(4) and machine.syncpoints[id] == 1
    machine.syncpoints.increment(id)
    machine.finish()
    assert machine.memory.read(address, 4) == b"\1\0\0\0" and not list(machine.events)


@pytest.mark.parametrize("name", ["3D", "compute", "inline-to-memory"])
def test_inline_data_arrives(name: str) -> None:
    made = MaxwellCaptureBuilder()
    address = made.allocate(4096)
    made.submit(PushBuffer().bind(name).inline(address + 4, b"inline").inline(address + 100, np.arange(5)))
    memory = run(made).memory
    assert memory.read(address, 12) == b"\0\0\0\0inline\0\0"
    assert memory.read(address + 100, 40) == np.arange(5).tobytes()


# -- surfaces


def test_sizes_of_surfaces() -> None:
    assert size_of(320, 180) == 0x50000 and size_of(1280, 720) == 0x3C0000
    assert size_of(16, 8, block_height_log2=0) == 512
    assert Surface(0, 100, 3, pitch=512).size == 1536 and Surface(0, 3, 3, "R5G6B5").row == 6
    with pytest.raises(UsageError, match="no colour target has format"):
        _ = Surface(0, 1, 1, "YUV").size


def pixels_of(machine: GM20B, surface: Surface) -> np.ndarray:
    """Bytes of a surface, (height, width, bytes of a pixel), read by the layout's formula."""
    data = machine.memory.read(surface.address, surface.size)
    if surface.pitch is None:
        rows = detile(data, Layout(surface.row, surface.height, block_height_log2=surface.block_height_log2))
    else:
        rows = np.frombuffer(data, np.uint8).reshape(surface.height, surface.pitch)[:, : surface.row]
    return np.asarray(rows).reshape(surface.height, surface.width, surface.pixel)


def surfaces(made: MaxwellCaptureBuilder, width: int, height: int, format: str = "A8B8G8R8") -> list[Surface]:
    """A block-linear surface and one in rows."""
    tiled = Surface(made.allocate(size_of(width, height, format, block_height_log2=1)), width, height, format, None, 1)
    pitch = -(-width * tiled.pixel // 128) * 128
    return [tiled, Surface(made.allocate(pitch * height), width, height, format, pitch)]


@pytest.mark.parametrize("which", [0, 1])
def test_clears_fill_what_they_are_told(which: int) -> None:
    made = MaxwellCaptureBuilder()
    target = surfaces(made, 70, 30)[which]
    pb = PushBuffer().bind("3D").render_target(0, target).clear((1, 0, 0.5, 1))
    pb.scissor((5, 3, 60, 20)).clear((0, 1, 0, 0)).scissor((0, 0, 1, 1)).scissor(None).method("WAIT_FOR_IDLE")
    machine = run(made.submit(pb))
    pixels = pixels_of(machine, target)
    assert pixels[0, 0].tolist() == [255, 0, 128, 255] or pixels[0, 0].tolist() == [255, 0, 127, 255]
    inside = np.zeros((30, 70), bool)
    inside[3:23, 5:65] = True
    assert (pixels[inside] == [0, 255, 0, 0]).all() and (pixels[~inside] == pixels[0, 0]).all()
    assert machine.stats.clears == 2 and not list(machine.events)


def test_bytes_are_copied_and_filled() -> None:
    made = MaxwellCaptureBuilder()
    source, target = made.put(bytes(range(200))), made.allocate(4096)
    pb = PushBuffer().bind("DMA copy").copy(source + 3, target + 5, 100).fill(target + 1024, 0x04030201, 7)
    memory = run(made.submit(pb)).memory
    assert memory.read(target, 110) == bytes(5) + bytes(range(3, 103)) + bytes(5)
    assert memory.read(target + 1024, 32) == b"\1\2\3\4" * 7 + bytes(4)


@pytest.mark.parametrize("source", [0, 1])
@pytest.mark.parametrize("target", [0, 1])
def test_rectangles_are_copied_between_layouts(source: int, target: int) -> None:
    made = MaxwellCaptureBuilder()
    fill, sources, targets = (surfaces(made, 70, 30) for _ in range(3))
    pixels = np.random.default_rng(1).integers(0, 256, (30, 70, 4), np.uint8)
    padded = np.zeros((30, fill[1].pitch or 0), np.uint8)
    padded[:, :280] = pixels.reshape(30, 280)
    made.load(fill[1].address, padded)
    pb = PushBuffer().bind("DMA copy").copy_rectangle(fill[1], sources[source])
    pb.copy_rectangle(sources[source], targets[target], (6, 2, 33, 21), (11, 5))
    machine = run(made.submit(pb))
    expected = np.zeros_like(pixels)
    expected[5:26, 11:44] = pixels[2:23, 6:39]
    assert (pixels_of(machine, targets[target]) == expected).all() and not list(machine.events)
    with pytest.raises(UsageError, match="different sizes"):
        pb.copy_rectangle(Surface(0, 1, 1, "R8", 64), fill[0])


def test_a_slice_is_copied() -> None:
    made = MaxwellCaptureBuilder()
    source = Surface(made.allocate(3 * size_of(16, 8)), 16, 8)
    target = Surface(made.allocate(64 * 8), 16, 8, pitch=64)
    for number in range(3):
        made.load(source.address + number * source.size, bytes([number + 1]) * source.size)
    machine = run(made.submit(PushBuffer().bind("DMA copy").copy_rectangle(source, target, slices=3, layer=2)))
    assert (pixels_of(machine, target) == 3).all() and not list(machine.events)


def test_rectangles_arrive_inline() -> None:
    made = MaxwellCaptureBuilder()
    target = surfaces(made, 70, 30, "R8")[0]
    pixels = np.random.default_rng(2).integers(1, 256, (9, 13), np.uint8)
    machine = run(made.submit(PushBuffer().bind("inline-to-memory").inline_rectangle(target, 50, 4, pixels)))
    expected = np.zeros((30, 70), np.uint8)
    expected[4:13, 50:63] = pixels
    assert (pixels_of(machine, target)[..., 0] == expected).all()
    with pytest.raises(UsageError, match="block-linear"):
        PushBuffer().inline_rectangle(Surface(0, 8, 8, "R8", 64), 0, 0, pixels)


def test_blits_scale_and_flip() -> None:
    made = MaxwellCaptureBuilder()
    tiled, rows = surfaces(made, 16, 8)
    big = surfaces(made, 64, 32)[0]
    pixels = np.random.default_rng(3).integers(0, 256, (8, 16, 4), np.uint8)
    padded = np.zeros((8, rows.pitch or 0), np.uint8)
    padded[:, :64] = pixels.reshape(8, 64)
    made.load(rows.address, padded)
    pb = PushBuffer().bind("2D").blit(rows, tiled).blit(tiled, big, (2, 1, 8, 4), (10, 6, 16, 8), flip=True)
    machine = run(made.submit(pb))
    assert (pixels_of(machine, tiled) == pixels).all()
    expected = np.zeros((32, 64, 4), np.uint8)
    expected[6:14, 10:26] = np.repeat(np.repeat(pixels[1:5, 2:10], 2, 0), 2, 1)[::-1]
    assert (pixels_of(machine, big) == expected).all()
    with pytest.raises(UsageError, match="draws nothing"):
        pb.blit(rows, tiled, None, (0, 0, 0, 1))


def test_blits_have_operations() -> None:
    made = MaxwellCaptureBuilder()
    rows, target = (Surface(made.allocate(64 * 8), 16, 8, pitch=64) for _ in range(2))
    pixels = np.full((8, 16, 4), 200, np.uint8)
    pixels[:, 8:, 3] = 0
    made.load(rows.address, pixels)
    machine = run(made.submit(PushBuffer().bind("2D").blit(rows, target, operation="SRCCOPY_AND")))
    assert (pixels_of(machine, target)[:, :8] == 200).all() and (pixels_of(machine, target)[:, 8:] == 0).all()
    with pytest.raises(UsageError):
        PushBuffer().bind("2D").blit(rows, target, operation="MULTIPLY")


def test_report_semaphores_are_written() -> None:
    made = MaxwellCaptureBuilder()
    address = made.allocate(4096)
    pb = PushBuffer().bind("3D").report(address, 77).report(address + 16, 88, four_words=True)
    found = np.frombuffer(run(made.submit(pb)).memory.read(address, 32), np.uint32)
    assert found[[0, 1, 4, 5]].tolist() == [77, 0, 88, 0] and found[6] > 0


# -- recordings


def test_a_recording_says_what_was_built(tmp_path: Path) -> None:
    made = MaxwellCaptureBuilder("a test")
    surface = Surface(made.allocate(size_of(64, 32)), 64, 32)
    made.load(surface.address, b"\1\2\3\4")
    made.submit(PushBuffer().bind("3D").syncpoint_increment(made.syncpoint())).present(surface, fence=1)
    made.submit(PushBuffer().raw([0]))
    path = tmp_path / "made.mxcap.zip"
    made.save(path)
    with zipfile.ZipFile(path) as archive:
        document = json.loads(archive.read("capture.json"))
        assert archive.namelist() == ["capture.json", "mem/0000.bin", "mem/0001.bin", "mem/0002.bin"]
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert document == made.document() and document["meta"]["source"] == "a test"
    assert document["submissions"][0]["memory_updates"] == [0, 1]
    capture = pocketgpu.open(path)
    (frame,) = capture.render()
    assert frame.warnings == [] and frame.screens["screen"].array.shape == (32, 64, 3)
    assert frame.screens["screen"].array[0, 0].tolist() == [1, 2, 3]
    assert made.tobytes() == path.read_bytes()


def test_recordings_refuse_what_they_cannot_hold() -> None:
    made = MaxwellCaptureBuilder()
    with pytest.raises(UsageError, match="nothing is mapped"):
        made.load(0x1000, b"x")
    with pytest.raises(UsageError, match="cannot allocate"):
        made.allocate(0)
    address = made.allocate(4096)
    with pytest.raises(UsageError, match="nothing is mapped"):
        made.load(address + 4090, b"1234567")
    with pytest.raises(UsageError, match="no mapping begins"):
        made.alias(address + 4096 - 4)
    with pytest.raises(UsageError, match="1 to"):
        made.submit(PushBuffer())
    with pytest.raises(UsageError, match="cannot be shown"):
        made.present(Surface(address, 1, 1, "RF32", pitch=4))
    made.unmap(address)
    with pytest.raises(UsageError, match="nothing is mapped"):
        made.load(address, b"x")


def test_large_pushbuffers_get_memory_of_their_own() -> None:
    made = MaxwellCaptureBuilder()
    long = PushBuffer().bind("3D").raw(np.zeros(300_000, np.uint32)).method("SET_Z_CLEAR_VALUE", 1.0)
    short = PushBuffer().method("SET_STENCIL_CLEAR_VALUE", 3)
    machine = run(made.submit(short).submit(long).submit(short))
    assert machine.registers(0xB197)[B197["SET_Z_CLEAR_VALUE"].word] == 0x3F800000
    assert machine.stats.nop_words == 300_000
