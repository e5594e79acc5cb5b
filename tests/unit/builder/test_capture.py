"""The builder: entries word by word, draws by what they draw, captures by reading them back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.capture import start_state
from pocketgpu.builder.gx import (
    display_transfer,
    flush_cache_regions,
    gx_command,
    memory_fill,
    process_command_list,
    request_dma,
    texture_copy,
    to_virtual,
)
from pocketgpu.builder.matrices import UPRIGHT, orthographic, perspective, rotation, scaling, translation
from pocketgpu.builder.uploads import pack_f24
from pocketgpu.capture.formats.pgc.contents import Gx, Narrow, Swap, Writes
from pocketgpu.capture.formats.pgc.decoder import parse
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.memory.surface import decode

ROOT = Path(__file__).resolve().parents[3]


def entries(cl: CommandList) -> list[tuple[int, int, int]]:
    """(register id, word, byte mask) of every write, by the entry format alone."""
    words = cl.words.tolist()
    found = []
    place = 0
    while place < len(words):
        first, header = words[place : place + 2]
        extra = header >> 20 & 0xFF
        values = [first, *words[place + 2 : place + 2 + extra]]
        step = header >> 31
        found += [((header & 0xFFFF) + i * step, value, header >> 16 & 15) for i, value in enumerate(values)]
        place += (2 + extra + 1) // 2 * 2
    assert place == len(words)
    return found


def last(cl: CommandList, register: str) -> dict[str, int | float | bool]:
    """Fields of the last write of a register."""
    words = [word for id, word, _ in entries(cl) if id == PICA[register].offset]
    return PICA[register].decode(words[-1])


# -- entries ----------------------------------------------------------------------------------------------------------
def test_one_word() -> None:
    assert CommandList().write_word("FINALIZE", 0x12345678).words.tolist() == [0x12345678, 0x000F0010]
    assert CommandList().write("DEPTH_COLOR_MASK", byte_mask=2, red=True).words.tolist() == [0x100, 0x00020107]


def test_ids_without_a_register() -> None:
    cl = CommandList().write_id(0x4C3, 0x1_0000_0005, byte_mask=3).write_id(0xFFFF, 7)
    assert entries(cl) == [(0x4C3, 5, 3), (0xFFFF, 7, 15)]
    for id, mask in ((-1, 15), (1 << 16, 15), (0, 16), (0, -1)):
        with pytest.raises(UsageError, match="16 and four bits"):
            CommandList().write_id(id, 0, byte_mask=mask)
    with pytest.raises(UsageError, match="finished"):
        CommandList().finalize().write_id(0, 0)


def test_consecutive_words_are_padded_to_pairs() -> None:
    three = CommandList().write_words("DEPTHBUFFER_LOC", [0xA, 0xB, 0xC])
    assert three.words.tolist() == [0xA, 0x802F011C, 0xB, 0xC]
    assert CommandList().write_words("DEPTHBUFFER_LOC", [0xA, 0xB]).words.tolist() == [0xA, 0x801F011C, 0xB, 0]
    assert CommandList().fifo("VSH_CODETRANSFER_DATA0", [1, 2]).words.tolist() == [1, 0x001F02CC, 2, 0]


def test_long_uploads_are_split() -> None:
    cl = CommandList().upload_code(range(512))
    data = [word for id, word, mask in entries(cl) if id == PICA["VSH_CODETRANSFER_DATA0"].offset and mask == 15]
    assert data == list(range(512))
    headers = [word for word in cl.words.tolist() if word & 0xFFFF == 0x2CC and word >> 16 & 15 == 15]
    assert [header >> 20 & 0xFF for header in headers if header >> 20] == [255, 255]


def test_values_are_those_of_people() -> None:
    cl = CommandList()
    cl.write("TEXUNIT0_DIM", width=64, height=32).write("VIEWPORT_WIDTH", value=120.0)
    cl.write("COLORBUFFER_LOC", address=0x18000100).write("FRAMEBUFFER_DIM", width=240, height=400, flip=True)
    cl.write("PRIMITIVE_CONFIG", mode="triangle strip", outputs=3).write("GPUREG_FACECULLING_CONFIG", mode=2)
    assert cl.words.tolist() == [
        *(64 << 16 | 32, 0x000F0082),
        *(0x45E000, 0x000F0041),
        *(0x18000100 >> 3, 0x000F011D),
        *(240 | 399 << 12 | 1 << 24, 0x000F011E),
        *(2 | 1 << 8, 0x000F025E),
        *(2, 0x000F0040),
    ]


@pytest.mark.parametrize(
    ("register", "fields", "message"),
    [
        ("TEXUNIT0_DIMM", {}, "no register 'TEXUNIT0_DIMM'.* Did you mean TEXUNIT0_DIM"),
        (0x300, {}, "no register 768"),
        ("TEXUNIT0_DIM", {"breadth": 8}, "no field 'breadth'"),
        ("TEXUNIT0_DIM", {"width": 2048}, "2048 does not fit field width"),
        ("FRAMEBUFFER_DIM", {"height": 0}, "does not fit"),
        ("COLORBUFFER_LOC", {"address": 0x18000004}, "does not fit"),
        ("BLEND_FUNC", {"src_rgb": "two"}, "'two' is no value of BLEND_FUNC.src_rgb.*source alpha"),
        ("TEXUNIT0_DIM", {"width": "wide"}, "It takes a number"),
    ],
)
def test_what_cannot_be_written(register: str | int, fields: dict[str, int | str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CommandList().write_fields(register, fields)


def test_lists_end_with_finalize_in_whole_sixteen_bytes() -> None:
    for count in range(4):
        cl = CommandList()
        for _ in range(count):
            cl.write_word("LOGIC_OP", 3)
        words = cl.finalize().words.tolist()
        assert len(words) % 4 == 0 and words[-2:] == [0x12345678, 0x000F0010]
        assert cl.finalize().words.tolist() == words
        with pytest.raises(UsageError, match="finished"):
            cl.write_word("LOGIC_OP", 3)


# -- uploads ----------------------------------------------------------------------------------------------------------
def test_uniforms_in_both_packings() -> None:
    assert pack_f24([1, 2, 3, 4]) == [0x41000040, 0x80004000, 0x003F0000]
    words = [word for _, word, _ in entries(CommandList().uniforms(5, [1, 2, 3, 4], f32=False))]
    assert words == [5, 0x41000040, 0x80004000, 0x003F0000]
    words = [word for _, word, _ in entries(CommandList().uniforms(5, [1, 2, 3, 4]))]
    assert words == [0x80000005, 0x40800000, 0x40400000, 0x40000000, 0x3F800000]
    with pytest.raises(UsageError, match="there are 96"):
        CommandList().uniforms(95, np.eye(4))


def test_booleans_and_integers() -> None:
    cl = CommandList().bool_uniforms({3: True, 4: False}).int_uniform(2, 7, 1, 2)
    assert last(cl, "VSH_BOOLUNIFORM")["bools"] == 8
    assert last(cl, "VSH_INTUNIFORM_I2") == {"x": 7, "y": 1, "z": 2, "w": 0}


def test_tables_hold_values_and_steps() -> None:
    ramp = np.linspace(0, 1, 129)
    fog = [word for id, word, _ in entries(CommandList().fog_table(1 - ramp)) if id == 0xE8]
    assert len(fog) == 128
    decoded = [PICA["FOG_LUT_DATA0"].decode(word) for word in fog]
    assert decoded[0]["value"] == 2047 and decoded[64]["value"] == 1024
    values = [int(entry["value"]) for entry in decoded] + [0]
    assert [int(entry["difference"]) for entry in decoded] == np.diff(values).tolist()

    cl = CommandList().lighting_table("SP3", np.linspace(1, 0, 257))
    light = [PICA["LIGHTING_LUT_DATA0"].decode(word) for id, word, _ in entries(cl) if id == 0x1C8]
    assert len(light) == 256 and light[0] == {"value": 4095, "difference": -8}
    assert last(cl, "LIGHTING_LUT_INDEX") == {"index": 0, "table": 11}

    colors = np.array([[0, 10, 20, 255], [100, 0, 20, 255]])
    cl = CommandList().procedural_table("color", colors)
    words = [word for id, word, _ in entries(cl) if id == 0xB0]
    assert words == [0xFF140A00, 0xFF140064, 50 | (-5 & 0xFF) << 8, 0]
    noise = [word for id, word, _ in entries(CommandList().procedural_table("noise", ramp)) if id == 0xB0]
    assert len(noise) == 128 and noise[0] & 0xFFF == 0
    with pytest.raises(UsageError, match="no table 'D9'"):
        CommandList().lighting_table("D9", np.zeros(257))
    with pytest.raises(UsageError, match="129 values, not 128"):
        CommandList().fog_table(np.zeros(128))


# -- draws, by what they draw -----------------------------------------------------------------------------------------
PROGRAM = assemble(
    """
    .out o0 position
    .out o1 color
    main:
        dp4 o0.x, c0, v0
        dp4 o0.y, c1, v0
        dp4 o0.z, c2, v0
        dp4 o0.w, c3, v0
        mul o1, c4, v1
        end
    """
)
QUAD = np.array([[-8, -6, -5], [8, -6, -5], [8, 6, -5], [-8, 6, -5]], np.int64)
COLORS = np.array([[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]], np.int64)
ORDER = [0, 1, 2, 0, 2, 3]
TARGET, WIDTH, HEIGHT = 0x18000000, 64, 32


@pytest.fixture(scope="module")
def machine() -> Iterator[pocketgpu.N3DS]:
    yield pocketgpu.N3DS()


def start() -> CommandList:
    cl = CommandList().plain_state().render_target(TARGET, WIDTH, HEIGHT).shader(PROGRAM)
    cl.uniforms(0, scaling(0.1, 0.1, 0.1)).uniforms(4, np.full(4, 1 / 255))
    return cl


def picture(machine: pocketgpu.N3DS, cl: CommandList) -> np.ndarray:
    """What a list draws on black, upside up: (HEIGHT, WIDTH, 4)."""
    machine.memory.write(TARGET, bytes(4 * WIDTH * HEIGHT))
    machine.events.drain()
    assert machine.submit(cl.finalize().words)
    assert machine.events.drain() == []
    return decode(machine.memory.read(TARGET, 4 * WIDTH * HEIGHT), BY_NAME["RGBA8"], WIDTH, HEIGHT, "tiled")


@pytest.fixture(scope="module")
def expected(machine: pocketgpu.N3DS) -> np.ndarray:
    """A rectangle from one plain buffer of floats."""
    data = np.hstack([QUAD[ORDER], COLORS[ORDER]]).astype(np.float32)
    machine.memory.write(0x20000000, data.tobytes())
    cl = start().attributes(Buffer(0x20000000, [("f32", 3), ("f32", 4)])).draw_arrays(6)
    return picture(machine, cl)


def test_a_rectangle_has_its_place_and_colours(expected: np.ndarray) -> None:
    covered = expected[..., 3] > 0
    rows, columns = np.flatnonzero(covered.any(axis=1)), np.flatnonzero(covered.any(axis=0))
    assert (columns[0], columns[-1]) == (6, 57)  # 32 -+ 25.6
    assert (rows[0], rows[-1]) == (6, 25)  # 16 -+ 9.6
    assert covered.sum() == 52 * 20
    assert expected[25, 6, 0] > 240 and expected[25, 57, 1] > 240 and expected[6, 57, 2] > 240


def test_formats_of_attributes(machine: pocketgpu.N3DS, expected: np.ndarray) -> None:
    packed = np.zeros(4, np.dtype([("at", "<i2", 3), ("color", "u1", 4), ("gap", "u1", 10)]))
    packed["at"], packed["color"], packed["gap"] = QUAD, COLORS, 0xEE
    machine.memory.write(0x20001000, packed[ORDER].tobytes())
    buffer = Buffer(0x20001000, [("s16", 3), ("u8", 4), 8])
    assert buffer.size() == packed.itemsize  # two bytes of the gap align what is skipped
    assert np.array_equal(picture(machine, start().attributes(buffer).draw_arrays(6)), expected)


def test_two_buffers_and_a_first_vertex(machine: pocketgpu.N3DS, expected: np.ndarray) -> None:
    places = np.concatenate([np.full((3, 3), 99), QUAD[ORDER]]).astype(np.int8)
    machine.memory.write(0x20003000, places.tobytes())
    machine.memory.write(0x20002003, np.concatenate([np.zeros((3, 4)), COLORS[ORDER]]).astype(np.uint8).tobytes())
    cl = start().attributes(Buffer(0x20003000, [("s8", 3)]), Buffer(0x20002003, [("u8", 4)]))
    assert last(cl, "ATTRIBBUFFERS_LOC")["base"] == 0x20002000
    assert np.array_equal(picture(machine, cl.draw_arrays(6, first=3)), expected)


def test_fixed_attributes(machine: pocketgpu.N3DS, expected: np.ndarray) -> None:
    machine.memory.write(0x20004000, QUAD[ORDER].astype(np.float32).tobytes())
    cl = start().attributes(Buffer(0x20004000, [("f32", 3)]), fixed=[[0, 51, 102, 255]]).draw_arrays(6)
    found = picture(machine, cl)
    covered = expected[..., 3] > 0
    assert (found[covered] == [0, 51, 102, 255]).all() and (found[~covered] == 0).all()


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("primitive", ["triangles", "triangle fan", "triangle strip"])
def test_indices(machine: pocketgpu.N3DS, expected: np.ndarray, wide: bool, primitive: str) -> None:
    data = np.hstack([QUAD, COLORS]).astype(np.float32)
    machine.memory.write(0x20005000, data.tobytes())
    order = {"triangles": ORDER, "triangle fan": [0, 1, 2, 3], "triangle strip": [3, 0, 2, 1]}[primitive]
    machine.memory.write(0x20006000, np.array(order, "<u2" if wide else "u1").tobytes())
    cl = start().attributes(Buffer(0x20005000, [("f32", 3), ("f32", 4)]))
    cl.draw_elements(len(order), 0x20006000, wide=wide, primitive=primitive)
    found = picture(machine, cl)
    if primitive == "triangle strip":  # its diagonal is the other one
        assert np.array_equal(found[..., 3], expected[..., 3])
    else:
        assert np.array_equal(found, expected)
    with pytest.raises(UsageError, match="below the base"):
        start().attributes(Buffer(0x20005000, [("f32", 3)])).draw_elements(3, 0x20004000)


def test_immediate_vertices(machine: pocketgpu.N3DS, expected: np.ndarray) -> None:
    vertices = np.zeros((6, 2, 4))
    vertices[:, 0, :3], vertices[:, 0, 3], vertices[:, 1] = QUAD[ORDER], 1, COLORS[ORDER]
    assert np.array_equal(picture(machine, start().draw_immediate(vertices)), expected)
    with pytest.raises(UsageError, match="immediate vertices have shape"):
        start().draw_immediate(QUAD)
    turned = start().draw_immediate(vertices[:, ::-1], inputs=(1, 0))
    assert np.array_equal(picture(machine, turned), expected)
    assert last(turned, "VSH_ATTRIBUTES_PERMUTATION_LOW") == {f"input{i}": i if i > 1 else 1 - i for i in range(8)}
    for inputs in ((1,), (0, 0), (0, 16), (0, 1, 2)):
        with pytest.raises(UsageError, match="input registers"):
            start().draw_immediate(vertices, inputs=inputs)


def test_uniforms_of_24_bits_draw_the_same(machine: pocketgpu.N3DS, expected: np.ndarray) -> None:
    machine.memory.write(0x20000000, np.hstack([QUAD[ORDER], COLORS[ORDER]]).astype(np.float32).tobytes())
    cl = start().uniforms(0, np.diag([0.125, 0.125, 0.125, 1.25]), f32=False)  # exact in both
    cl.attributes(Buffer(0x20000000, [("f32", 3), ("f32", 4)])).draw_arrays(6)
    assert np.array_equal(picture(machine, cl)[..., 3], expected[..., 3])


def test_a_jump_to_another_list(machine: pocketgpu.N3DS, expected: np.ndarray) -> None:
    machine.memory.write(0x20000000, np.hstack([QUAD[ORDER], COLORS[ORDER]]).astype(np.float32).tobytes())
    rest = start().attributes(Buffer(0x20000000, [("f32", 3), ("f32", 4)])).draw_arrays(6).finalize().tobytes()
    machine.memory.write(0x20010000, rest)
    for odd in range(2):  # the jump is the last entry of whole sixteen bytes either way
        cl = CommandList()
        for _ in range(odd):
            cl.write("LOGIC_OP", op="copy")
        cl.jump(0x20010000, len(rest), channel=odd)
        assert len(cl) % 4 == 0 and entries(cl)[-1][0] == PICA[f"CMDBUF_JUMP{odd}"].offset
        assert np.array_equal(picture(machine, cl), expected)
    with pytest.raises(UsageError, match="multiples of 16"):
        CommandList().jump(0x20010008, 16)


def test_textures_combiners_scissor_and_tests(machine: pocketgpu.N3DS) -> None:
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[:4], pixels[4:], pixels[..., 3] = (200, 100, 50, 0), (10, 20, 30, 0), 255
    capture = CaptureBuilder()
    address = capture.put_texture(pixels, "RGBA8")
    textured = assemble(".out o0 position\n.out o1 color\n.out o2 texcoord0\nmov o0, v0\nmov o1, v1\nmov o2, v2\nend")
    corners = [[-1, -1, -0.5, 1], [1, -1, -0.5, 1], [1, 1, -0.5, 1], [-1, 1, -0.5, 1]]
    vertices = np.zeros((6, 3, 4))
    vertices[:, 0], vertices[:, 1] = np.array(corners)[ORDER], (1, 0.5, 1, 1)
    vertices[:, 2, :2] = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[ORDER]
    machine.memory.write(address, decode_load(capture))
    cl = CommandList().plain_state().render_target(TARGET, WIDTH, HEIGHT).shader(textured)
    cl.texture(0, address, 8, 8, filter="nearest", wrap="clamp to edge")
    cl.combiner(0, ("modulate", "texture 0", "vertex color"), ("replace", "constant"), color=(0, 0, 0, 128))
    cl.combiner(1, ("add", "previous stage", "constant"), color=(1, 2, 3, 0))
    cl.scissor(8, 0, 15, 31).draw_immediate(vertices)
    found = picture(machine, cl)
    assert (found[:16, 8:16] == (201, 100 * 128 // 255 + 2, 53, 128)).all()  # v = 1 is the top row
    assert (found[16:, 8:16] == (11, 20 * 128 // 255 + 2, 33, 128)).all()
    assert not found[:, :8].any() and not found[:, 16:].any()

    half = CommandList().plain_state().render_target(TARGET, WIDTH, HEIGHT).shader(textured)
    half.blend("constant alpha", "zero").write("BLEND_COLOR", a=64).draw_immediate(vertices)
    assert (picture(machine, half) == (64, 128 * 64 // 255, 64, 64)).all()


def decode_load(capture: CaptureBuilder) -> bytes:
    """The bytes that a fresh capture loads first."""
    capture.end_frame()
    (event,) = capture.frames[0]
    data = event.data  # type: ignore[union-attr]
    assert isinstance(data, bytes)
    return data


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cl: cl.texture(3, 0x20000000, 8, 8), "texture unit 3"),
        (lambda cl: cl.combiner(6), "combiner stage 6"),
        (lambda cl: cl.combiner(0, ("blend", "texture 0")), "'blend' is no value of TEXENV0_COMBINER.rgb"),
        (lambda cl: cl.render_target(0x18000000, 64, 64, color_format="RGBA16"), "no render target has format RGBA16"),
        (lambda cl: cl.attributes(), "1 to 12 attributes"),
        (lambda cl: cl.attributes(Buffer(0, [("f64", 1)])), "is no attribute"),
        (lambda cl: cl.attributes(Buffer(0, [("f32", 1), 5])), "5 bytes cannot be skipped"),
        (lambda cl: cl.attributes(Buffer(0, [("f32", 1)], stride=256)), "does not fit a loader"),
        (lambda cl: cl.shader(assemble("end")), "0 output registers"),
        (lambda cl: cl.entry(assemble("here: end"), "there"), "no label there.*It has: here"),
        (lambda cl: cl.upload_code([1], unit="PSH"), "'PSH' is no shader unit"),
        (lambda cl: cl.bool_uniforms({16: True}), "boolean uniform 16"),
    ],
)
def test_what_cannot_be_drawn(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call(CommandList())  # type: ignore[operator]


# -- matrices ---------------------------------------------------------------------------------------------------------
def test_projections_end_where_the_clip_volume_does() -> None:
    matrix = perspective(np.pi / 2, 2.0, 1.0, 10.0)
    for z, depth in ((-1.0, -1.0), (-10.0, 0.0)):
        x, y, d, w = matrix @ [2.0 * -z, -z, z, 1]
        assert (x / w, y / w, d / w) == pytest.approx((1, 1, depth))
    flat = orthographic(0, 400, 0, 240)
    assert flat @ [400, 240, 0, 1] == pytest.approx([1, 1, -1, 1])
    assert flat @ [0, 0, -1, 1] == pytest.approx([-1, -1, 0, 1])
    assert rotation((0, 0, 1), np.pi / 2) @ [1, 0, 0, 1] == pytest.approx([0, 1, 0, 1])
    assert translation(1, 2, 3) @ scaling(2, 2, 2) @ [1, 1, 1, 1] == pytest.approx([3, 4, 5, 1])
    right = UPRIGHT @ [1, 0, 0, 1]
    assert right.tolist() == [0, -1, 0, 1]  # right of the picture is down in the target


# -- captures ---------------------------------------------------------------------------------------------------------
def test_start_state_is_what_system_software_leaves() -> None:
    state = start_state()
    assert state.external[0x474 // 4] == 0x00010501 and state.external[0x570 // 4] == 0x00080300
    assert state.pica[0x20] == 0x12345678 and state.pica[0x34] == 1


def test_a_capture_shows_what_it_was_told(tmp_path: Path) -> None:
    """Fill, transfer, copy and both screens; written packed and read back."""
    capture = CaptureBuilder()
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    small = capture.put(np.arange(1024, dtype=np.uint32))
    copy = capture.allocate(4096)
    capture.clear(target, 240, 400, 0x11223344).present("top", target)
    capture.copy(small, copy, 256, input_line=(64, 64), output_line=(128, 0))
    capture.end_frame()
    columns = np.zeros((320, 240, 3), np.uint8)
    columns[10, 5] = 30, 20, 10  # blue, green, red: column 10, row 5 from below
    capture.show("bottom", capture.put(columns)).write("TOP_FILL", enable=True, r=9, g=8, b=7).end_frame()
    capture.fill(copy, copy + 32, 0x00AABBCC, width=24)
    path = tmp_path / "made.ctf.zst"
    capture.save(path)
    opened = pocketgpu.open(str(path))
    first, second = opened.render()
    assert (first.top.array == (0x11, 0x22, 0x33)).all() and not first.bottom.array.any()
    assert (second.top.array == (9, 8, 7)).all()
    assert second.bottom.array[239 - 5, 10].tolist() == [10, 20, 30] and second.bottom.array.sum() == 60
    assert first.warnings == second.warnings == []
    copied = np.frombuffer(second.machine.memory.read(copy, 256), np.uint32)
    assert copied.tolist() == [*range(16), *range(32, 48), *range(64, 80), *range(96, 112)]


def test_equal_lists_are_stored_once() -> None:
    capture = CaptureBuilder()
    for _ in range(2):
        capture.submit(CommandList().write("LOGIC_OP", op="copy")).end_frame()
    assert [len(frame) for frame in capture.frames] == [4, 3]


# -- what only a .pgc holds -------------------------------------------------------------------------------------------
def test_a_pgc_shows_what_the_recording_shows(tmp_path: Path) -> None:
    capture = CaptureBuilder()
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    for color in (0x112233FF, 0x445566FF):
        capture.clear(target, 240, 400, color).present("top", target).end_frame()
    capture.load(target, b"tail")
    for name in ("scene.pgc", "scene.ctf"):
        capture.save(tmp_path / name)
    pgc, recording = (pocketgpu.open(tmp_path / name) for name in ("scene.pgc", "scene.ctf"))
    assert (tmp_path / "scene.pgc").read_bytes() == capture.to_pgc()
    assert (pgc.trace.kind, pgc.has_rest, recording.has_rest) == ("pgc capture", True, True)
    for one, other in zip(pgc.render(), recording.render(), strict=True):
        assert np.array_equal(one.top.array, other.top.array) and one.counts == other.counts


def test_commands_framebuffers_and_bytes_are_in_a_pgc(tmp_path: Path) -> None:
    capture = CaptureBuilder()
    words = memory_fill((0x18000000, 0x18000010, 1, 32))
    stride = EXTERNAL["PDC1_STRIDE"]
    capture.write("PSC0_CONTROL").gx(words).write_byte(stride.address, 0x80)
    capture.swap("bottom", 0x20000100, format="RGB565", second=True)
    capture.swap("top", 0x20000200, right=0x20000300, stride=-8)
    capture.end_frame()
    (frame,) = parse(capture.to_pgc()).frames
    writes, gx, narrow, bottom, top = frame.events
    assert isinstance(writes, Writes) and writes.addresses.tolist() == [EXTERNAL["PSC0_CONTROL"].address]
    assert gx == Gx(words) and narrow == Narrow(stride.address, 0x80, 8)
    assert isinstance(bottom, Swap) and (bottom.screen, bottom.info[0], bottom.info[5]) == (1, 1, 1)
    assert bottom.info[1:5] == (0x30000100, 0x30000100, 480, EXTERNAL["PDC1_FORMAT"].reset | 2)
    assert isinstance(top, Swap) and top.info[1:4] == (0x30000200, 0x30000300, 0xFFFFFFF8)
    assert dict(top.registers)[EXTERNAL["PDC0_ADDRESS_A0"].address] == 0x20000200
    for write in (capture.tobytes, lambda: capture.save(tmp_path / "scene.ctf.xz")):
        with pytest.raises(UsageError, match="no GX commands"):
            write()
    with pytest.raises(UsageError, match="8 words, not 7"):
        capture.gx(words[1:])
    with pytest.raises(UsageError, match="0x100 does not fit"):
        capture.write_byte(stride.address, 0x100)
    with pytest.raises(UsageError, match="no screen"):
        capture.swap("left", 0x20000000)
    with pytest.raises(UsageError, match="cannot be written"):
        capture.save(tmp_path / "none" / "scene.pgc")


def test_memory_is_handed_out_to_its_last_byte() -> None:
    capture = CaptureBuilder()
    first = capture.allocate(100, region="VRAM")
    assert capture.allocate(0, region="VRAM") == first + 128 == capture.allocate(28, region="VRAM", align=4)
    assert capture.allocate(1, region="VRAM", align=16) == first + 160
    rest = (6 << 20) - (capture.allocate(0, region="VRAM", align=1) - first)
    with pytest.raises(UsageError, match=f"{rest + 1} bytes do not fit"):
        capture.allocate(rest + 1, region="VRAM", align=1)
    assert capture.allocate(rest, region="VRAM", align=1) + rest == first + (6 << 20)
    with pytest.raises(UsageError, match="-1 bytes"):
        capture.allocate(-1)


@pytest.mark.parametrize("attributes", [0, 1, 12, 13])
@pytest.mark.parametrize("components", [0, 1, 4, 5])
def test_immediate_vertices_have_as_many_numbers_as_registers(attributes: int, components: int) -> None:
    commands = CommandList()
    vertices = np.zeros((3, attributes, components))
    if attributes in (1, 12) and components in (1, 4):
        commands.draw_immediate(vertices)
    else:
        with pytest.raises(UsageError, match="immediate vertices have shape"):
            commands.draw_immediate(vertices)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.allocate(7 << 20, region="VRAM"), "do not fit into the rest of VRAM"),
        (lambda c: c.allocate(1, region="ROM"), "no region 'ROM'"),
        (lambda c: c.show("middle", 0x18000000), "no screen 'middle'.*top and bottom"),
        (lambda c: c.clear(0x18000000, 8, 8, format="RGB9"), "no format 'RGB9'"),
        (lambda c: c.fill(0x18000000, 0x18000010, 0, width=8), "widths of 16, 24 and 32"),
        (lambda c: c.fill(0x18000001, 0x18000010, 0), "does not fit field address"),
        (lambda c: c.write("PSC0_STARTT"), "Did you mean PSC0_START"),
        (lambda c: c.put_texture(np.zeros((8, 9, 4), np.uint8)), "sides multiples of 8"),
        (lambda c: c.put_texture(np.zeros((8, 8, 4), np.uint8), "RGBA9"), "no texture has format 'RGBA9'"),
        (
            lambda c: c.put_texture(np.zeros((16, 32, 4), np.uint8), levels=[np.zeros((8, 8, 4), np.uint8)]),
            "level 1 of a texture has half the sides",
        ),
    ],
)
def test_what_a_capture_cannot_hold(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call(CaptureBuilder())  # type: ignore[operator]


def test_levels_of_a_texture_follow_each_other() -> None:
    levels = [np.full((side, 2 * side, 4), side, np.uint8) for side in (32, 16, 8)]
    capture = CaptureBuilder()
    address = capture.put_texture(levels[0], "RGB565", levels=levels[1:])
    sizes = [side * 2 * side * 2 for side in (32, 16, 8)]
    alone = [CaptureBuilder() for _ in levels]
    for one, level in zip(alone, levels, strict=True):
        one.put_texture(level, "RGB565")
    assert decode_load(capture) == b"".join(map(decode_load, alone)) and len(decode_load(capture)) == sum(sizes)
    cl = CommandList().texture(1, address, 64, 32, "RGB565", levels=3)
    assert last(cl, "TEXUNIT1_LOD") == {"bias": 0, "max_level": 2, "min_level": 0}
    with pytest.raises(UsageError, match="max_level"):
        CommandList().texture(1, address, 64, 32, levels=0)


# -- GX commands ------------------------------------------------------------------------------------------------------
def test_words_of_gx_commands() -> None:
    head = 1 << 24
    assert request_dma(0x20001003, 0x18000000, 77) == (head, 0x30001003, 0x1F000000, 77, 0, 0, 0, 0)
    assert process_command_list(0x20000100, 64) == (head | 1, 0x30000100, 64, 0, 0, 0, 0, 1)
    fill = memory_fill((0x18000000, 0x18000040, 0x1234, 16), (0x18000100, 0x18000140, 7, 32))
    controls = 0x0001 | 0x0201 << 16
    assert fill == (head | 2, 0x1F000000, 0x1234, 0x1F000040, 0x1F000100, 7, 0x1F000140, controls)
    transfer = display_transfer(0x18000000, 0x20000000, (240, 800), (240, 800), scale="2x1")
    assert transfer == (head | 3, 0x1F000000, 0x30000000, 240 | 800 << 16, 240 | 800 << 16, 0x01001000, 0, 0)
    copy = texture_copy(0x18000000, 0x18010000, 32768, (2048, 2048), (2048, 0))
    assert copy == (head | 4, 0x1F000000, 0x1F010000, 32768, 0x00800080, 0x00000080, 0xC, 0)
    assert flush_cache_regions((0x20000000, 5)) == (head | 5, 0x30000000, 5, 0, 0, 0, 0, 0)
    assert gx_command("FlushCacheRegions", {}, stop_after=True, fail_if_busy=False)[0] == 5 | 1 << 16


def test_addresses_of_programs() -> None:
    assert to_virtual(0x20000010) == 0x30000010 and to_virtual(0x20000010, old_heap=True) == 0x14000010
    assert to_virtual(0x18000000 + (6 << 20) - 1) == 0x1F5FFFFF and to_virtual(0) == 0
    with pytest.raises(UsageError, match="no address for physical 0x10400000"):
        to_virtual(0x10400000)


def test_gx_commands_run_on_the_machine(machine: pocketgpu.N3DS) -> None:
    machine.gsp.gx(memory_fill((0x18200000, 0x18200040, 0xCAFE, 16)))
    assert machine.memory.read(0x18200000, 64) == b"\xfe\xca" * 32
    machine.gsp.gx(texture_copy(0x18200000, 0x20200000, 64))
    machine.gsp.gx(request_dma(0x20200000, 0x20200101, 3))
    assert machine.memory.read(0x20200100, 5) == b"\0\xfe\xca\xfe\0"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gx_command("SetSpeed", {}), "no GX command SetSpeed"),
        (lambda: gx_command("RequestDMA", {"length": 5}), "RequestDMA has no word length.*source"),
        (lambda: gx_command("RequestDMA", {"size": 1 << 32}), "does not fit the word size"),
        (lambda: memory_fill(), "one or two ranges"),
        (lambda: memory_fill((0x18000000, 0x18000000, 0, 32)), "is empty"),
        (lambda: memory_fill((0x18000000, 0x18000010, 0, 8)), "16, 24 or 32 bits"),
        (lambda: texture_copy(0x18000000, 0x18001000, 16, (8, 8)), "units of 16 bytes"),
        (lambda: flush_cache_regions(), "one to three ranges"),
    ],
)
def test_gx_commands_that_cannot_be(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()  # type: ignore[operator]


# -- the guide --------------------------------------------------------------------------------------------------------
def test_the_triangle_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "guides" / "triangle.md").read_text(encoding="utf-8")
    program, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [line for line in program.splitlines() if line.strip()]
    assert len(lines) <= 30
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "triangle.md", "exec"), {"__name__": "guide"})
    assert {"triangle.ctf.xz", "triangle.png"} == set(os.listdir(tmp_path))
    (frame,) = pocketgpu.open("triangle.ctf.xz").render()
    pixels = frame.top.array
    assert frame.warnings == [] and frame.triangles == 1
    assert pixels[10, 10].tolist() == [0x20, 0x30, 0x40]
    red, green, blue = pixels[212, 48].tolist(), pixels[212, 352].tolist(), pixels[28, 200].tolist()
    assert red[0] > 230 and green[1] > 230 and blue[2] > 230


def test_the_line_of_the_guide_about_registers() -> None:
    cl = CommandList().write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=128)
    assert cl.words.tolist() == [1 | 6 << 4 | 128 << 8, 0x000F0104]
    assert EXTERNAL["PPF_FLAGS"]["scale"].enum  # names that display_transfer takes
