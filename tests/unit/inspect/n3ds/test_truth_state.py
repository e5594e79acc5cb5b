"""`state`, `diff` and `who` of the 3DS: a planted difference of one bit, byte or pixel, and exactly this is named.

Registers, fields and their places are written down here again, from 3dbrew's page of internal registers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.inspect.diff import Report, diff
from pocketgpu.inspect.model.inspection import Inspection

SIDE = 32
PROGRAM = ".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend"

# Register, name, and the lowest bit of each field.
FIELDS = """
040 FACECULLING_CONFIG mode:0
041 VIEWPORT_WIDTH value:0
043 VIEWPORT_HEIGHT value:0
047 FRAGOP_CLIP enable:0
04d DEPTHMAP_SCALE value:0
04e DEPTHMAP_OFFSET value:0
065 SCISSORTEST_MODE mode:0
066 SCISSORTEST_POS x1:0 y1:16
067 SCISSORTEST_DIM x2:0 y2:16
068 VIEWPORT_XY x:0 y:16
06d DEPTHMAP_ENABLE enable:0
080 TEXUNIT_CONFIG unit0_enable:0 unit1_enable:1 unit2_enable:2 unit3_enable:10
081 TEXUNIT0_BORDER_COLOR r:0 g:8 b:16 a:24
082 TEXUNIT0_DIM height:0 width:16
083 TEXUNIT0_PARAM mag_filter:1 min_filter:2 wrap_t:8 wrap_s:12 mip_filter:24 type:28
084 TEXUNIT0_LOD bias:0 max_level:16 min_level:24
085 TEXUNIT0_ADDR address:0
08e TEXUNIT0_TYPE format:0
091 TEXUNIT1_BORDER_COLOR r:0
092 TEXUNIT1_DIM height:0 width:16
093 TEXUNIT1_PARAM mag_filter:1
095 TEXUNIT1_ADDR address:0
096 TEXUNIT1_TYPE format:0
09a TEXUNIT2_DIM height:0
09e TEXUNIT2_TYPE format:0
0c0 TEXENV0_SOURCE rgb0:0 rgb1:4 rgb2:8 alpha0:16 alpha1:20 alpha2:24
0c1 TEXENV0_OPERAND rgb0:0 rgb1:4 rgb2:8 alpha0:12 alpha1:16 alpha2:20
0c2 TEXENV0_COMBINER rgb:0 alpha:16
0c3 TEXENV0_COLOR r:0 g:8 b:16 a:24
0c4 TEXENV0_SCALE rgb:0 alpha:16
0c8 TEXENV1_SOURCE rgb0:0
0d1 TEXENV2_OPERAND rgb0:0
0da TEXENV3_COMBINER rgb:0
0e1 FOG_COLOR r:0 g:8 b:16
0f3 TEXENV4_COLOR a:24
0fc TEXENV5_SCALE alpha:16
0fd TEXENV_BUFFER_COLOR r:0 g:8 b:16 a:24
100 COLOR_OPERATION blend_enable:8
101 BLEND_FUNC equation_rgb:0 equation_alpha:8 src_rgb:16 dst_rgb:20 src_alpha:24 dst_alpha:28
102 LOGIC_OP op:0
103 BLEND_COLOR r:0 g:8 b:16 a:24
104 FRAGOP_ALPHA_TEST enable:0 function:4 reference:8
105 STENCIL_TEST enable:0 function:4 write_mask:8 reference:16 input_mask:24
106 STENCIL_OP fail:0 z_fail:4 z_pass:8
107 DEPTH_COLOR_MASK depth_test:0 depth_function:4 red:8 green:9 blue:10 alpha:11 depth_write:12
112 COLORBUFFER_READ mask:0
113 COLORBUFFER_WRITE mask:0
114 DEPTHBUFFER_READ stencil:0 depth:1
115 DEPTHBUFFER_WRITE stencil:0 depth:1
140 LIGHT0_SPECULAR0 b:0 g:10 r:20
142 LIGHT0_DIFFUSE b:0 g:10 r:20
1c0 LIGHTING_AMBIENT b:0 g:10 r:20
"""
CASES = [
    (int(number, 16), name, field.partition(":")[0], int(field.partition(":")[2]))
    for number, name, *fields in (line.split() for line in FIELDS.split("\n") if line)
    for field in fields
]
PART = 8
"""Fields of one recording, as going to a draw runs its list from the start."""
Draws = Callable[[CommandList], None]


def scene(path: Path, draws: Draws, texture: bytes = b"") -> str:
    """A command list with draws into a target of 32 x 32, which was filled before. texture: bytes that are loaded."""
    capture = CaptureBuilder()
    target, depth = (capture.allocate(SIDE * SIDE * 4, region="VRAM") for _ in range(2))
    capture.put(texture or bytes(64))
    cl = CommandList().plain_state().render_target(target, SIDE, SIDE, depth=depth).shader(assemble(PROGRAM))
    cl.depth(None, write=False)
    draws(cl)
    capture.clear(target, SIDE, SIDE, 0x11223344).fill(depth, depth + SIDE * SIDE * 4, 0)
    capture.submit(cl.end_drawing()).end_frame()
    capture.save(path)
    return str(path)


def all_over(cl: CommandList) -> None:
    """A triangle over all of the target."""
    cl.draw_immediate([[(x, y, -0.5, 1), (1, 1, 1, 1)] for x, y in ((-1, -1), (3, -1), (-1, 3))])


def flipped(name: str, bit: int, word: int) -> Draws:
    def draws(cl: CommandList) -> None:
        all_over(cl)
        cl.write_word(name, word ^ 1 << bit)
        all_over(cl)
        all_over(cl)

    return draws


# -- state ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("part", range(0, len(CASES), PART))
def test_the_state_names_the_bit_that_a_draw_changed(tmp_path: Path, part: int) -> None:
    """Each field by one bit: exactly its register and its field differ from the draw before."""
    cases = CASES[part : part + PART]
    words: dict[int, int] = {}

    def plain(cl: CommandList) -> None:
        all_over(cl)

    start = pocketgpu.debug(scene(tmp_path / "plain.ctf", plain)).seek("f0/d0").registers()
    for number, name, _, _ in cases:
        words[number] = start[name]

    def draws(cl: CommandList) -> None:
        all_over(cl)
        all_over(cl)  # what is written after a draw, for the next one, was written before this one too
        for number, _, _, bit in cases:
            cl.write_word(number, words[number] ^ 1 << bit)
            all_over(cl)
            cl.write_word(number, words[number])
            all_over(cl)

    run = pocketgpu.debug(scene(tmp_path / "scene.ctf", draws))
    for n, (number, name, field, bit) in enumerate(cases):
        moment = run.seek(f"f0/d{2 * n + 2}")
        (one,) = moment.changes()
        assert (one.register, one.old, one.new) == (name, words[number], words[number] ^ 1 << bit)
        assert [part[0] for part in one.fields] == [field], one
        assert moment.registers()[name] == words[number] ^ 1 << bit
        (back,) = run.seek(f"f0/d{2 * n + 3}").changes()
        assert (back.register, back.old, back.new) == (name, one.new, one.old)
        assert [(part[0], part[2], part[1]) for part in back.fields] == list(one.fields)


def test_the_state_names_the_uniform_that_changed(tmp_path: Path) -> None:
    rng = random.Random("uniforms")
    chosen = [(rng.randrange(96), rng.randrange(4)) for _ in range(20)]

    def draws(cl: CommandList) -> None:
        values = np.zeros((96, 4))
        all_over(cl.uniforms(0, values))
        for n, (number, axis) in enumerate(chosen, 1):
            values[number, axis] = n
            all_over(cl.uniforms(number, [values[number]]))

    run = pocketgpu.debug(scene(tmp_path / "scene.ctf", draws))
    old = np.zeros((96, 4))
    for n, (number, axis) in enumerate(chosen, 1):
        changes = [one for one in run.seek(f"f0/d{n}").changes() if one.table]
        was = f"{old[number, axis]:.9g}"
        (one,) = changes
        assert (one.register, one.fields) == (f"vertex c{number}.{'xyzw'[axis]}", (("value", was, f"{n}"),))
        old[number, axis] = n


def test_the_state_names_the_fixed_attribute_that_changed(tmp_path: Path) -> None:
    """By its number and component, with its value as a float."""
    chosen = [(3, 1, 0.25), (3, 1, -2.0), (0, 0, 1.5), (11, 3, 8.0)]

    def draws(cl: CommandList) -> None:
        values = np.zeros((12, 4))
        for number in range(12):
            cl.fixed_attribute(number, values[number])
        all_over(cl)
        all_over(cl)
        for number, axis, value in chosen:
            values[number, axis] = value
            all_over(cl.fixed_attribute(number, values[number]))

    run = pocketgpu.debug(scene(tmp_path / "scene.ctf", draws))
    old = np.zeros((12, 4))
    for n, (number, axis, value) in enumerate(chosen, 2):
        (one,) = (one for one in run.seek(f"f0/d{n}").changes() if one.table)
        was = f"{old[number, axis]:.9g}"
        name = f"fixed attribute {number}.{'xyzw'[axis]}"
        assert (one.register, one.fields) == (name, (("value", was, f"{value:.9g}"),))
        old[number, axis] = value


# Register words in front of a draw, what of the state they are about, and what it says then.
TEXTURES = (
    "RGBA8", "RGB8", "RGB5A1", "RGB565", "RGBA4", "IA8", "HILO8", "I8", "A8", "IA44", "I4", "A4", "ETC1", "ETC1A4",
)  # fmt: skip
WRAPS = (
    "clamp to edge", "clamp to border", "repeat", "mirrored repeat", "repeat below, edge above",
    "repeat below, border above", "repeat, code 6", "repeat, code 7",
)  # fmt: skip
Said = Callable[[Any], Any]
NAMES: list[tuple[dict[int, int], Said, Any]] = [
    *(({0x8E: code}, lambda m: m.textures[0].format, name) for code, name in enumerate(TEXTURES)),
    *(({0x83: code << 12}, lambda m: m.textures[0].parameters["wrap_s"], name) for code, name in enumerate(WRAPS)),
    *(({0x83: code << 8}, lambda m: m.textures[0].parameters["wrap_t"], name) for code, name in enumerate(WRAPS)),
    *(({0x83: code << 1}, lambda m: m.textures[0].parameters["mag_filter"], name)
      for code, name in enumerate(("nearest", "linear"))),
    *(({0x83: code << 2}, lambda m: m.textures[0].parameters["min_filter"], name)
      for code, name in enumerate(("nearest", "linear"))),
    *(({0x83: code << 24}, lambda m: m.textures[0].parameters["mip_filter"], name)
      for code, name in enumerate(("nearest", "linear"))),
    *(({0x83: code << 28}, lambda m: m.textures[0].kind, name)
      for code, name in ((0, "2D"), (2, "shadow 2D"), (3, "projection"), (5, "disabled"))),
    *(({0x80: 1 << 12 | on}, lambda m: m.textures[0].enabled, bool(on)) for on in (0, 1)),
    ({0x82: 16 << 16 | 32}, lambda m: (m.textures[0].width, m.textures[0].height), (16, 32)),
    ({0x85: 0x20000200 >> 3}, lambda m: m.textures[0].places[0].address, 0x20000200),
    *(({0x117: code << 16 | size}, lambda m: m.target.format.name, name)
      for code, size, name in ((0, 2, "RGBA8"), (1, 1, "RGB8"), (2, 0, "RGB5A1"), (3, 0, "RGB565"), (4, 0, "RGBA4"))),
    *(({0x116: code}, lambda m: m.target.depth_format.name, name)
      for code, name in ((0, "D16"), (2, "D24"), (3, "D24S8"))),
    ({0x11E: 16 | 23 << 12 | 1 << 24}, lambda m: (m.target.width, m.target.height), (16, 24)),
    ({0x229: 0}, lambda m: (sorted(m.programs), m.programs["vertex"].entry), (["vertex"], 0)),
    ({0x229: 0, 0x2BA: 0x7FFF0002}, lambda m: m.programs["vertex"].entry, 2),
    ({0x11D: 0x18000400 >> 3}, lambda m: m.target.address, 0x18000400),
    ({0x11C: 0x18008000 >> 3}, lambda m: m.target.depth_address, 0x18008000),
    *(({0x201: code | count - 1 << 2, 0x203: 0x80, 0x204: 0, 0x205: 1 << 28 | 24 << 16, 0x200: 0x20000000 >> 4 << 1},
       lambda m: [(b.number, b.address, b.stride, b.components) for b in m.vertex_buffers],
       [(0, 0x20000080, 24, (f"attribute 0: {count} x {name}",))])
      for code, name in enumerate(("s8", "u8", "s16", "f32")) for count in (1, 4)),
    *(({0x201: 0, 0x203: 0, 0x204: code, 0x205: 1 << 28 | 24 << 16},
       lambda m: [b.components for b in m.vertex_buffers], [(f"padding of {size} bytes",)])
      for code, size in ((12, 4), (13, 8), (14, 12), (15, 16))),
]  # fmt: skip
# What is put back in front of the next one.
PLAIN = {
    0x80: 1 << 12, 0x82: 8 << 16 | 8, 0x83: 0, 0x85: 0x20000000 >> 3, 0x8E: 0, 0x116: 3, 0x117: 2,
    0x11C: 0x18001000 >> 3, 0x11D: 0x18000000 >> 3, 0x11E: 32 | 31 << 12 | 1 << 24, 0x203: 0, 0x204: 0, 0x205: 0,
    0x2BA: 0x7FFF0000,
}  # fmt: skip


@pytest.mark.parametrize("part", range(0, len(NAMES), PART))
def test_names_of_the_state_follow_the_bits_of_their_registers(tmp_path: Path, part: int) -> None:
    """Textures, the target and vertex buffers, each code of each field in a draw of its own."""
    cases = NAMES[part : part + PART]

    def draws(cl: CommandList) -> None:
        for words, _, _ in cases:
            for number, word in (PLAIN | words).items():
                cl.write_word(number, word)
            all_over(cl)

    run = pocketgpu.debug(scene(tmp_path / "scene.ctf", draws, bytes(4096)))
    for n, (words, said, wanted) in enumerate(cases):
        assert said(run.seek(f"f0/d{n}")) == wanted, words


def test_the_summary_says_what_draws_write(tmp_path: Path) -> None:
    """Colour, depth and stencil change exactly where the summary says that they are written."""
    cases = [
        (colors, write, depth, planes, stencil, mask)
        for colors, write in ((15, 15), (15, 0), (0, 15), (4, 1)) for depth in (0, 1, 1 << 12, 1 | 1 << 12)
        for planes in range(4) for stencil, mask in ((0, 0xFF), (1, 0xFF), (1, 0x0F), (1, 0))
    ]  # fmt: skip
    chosen = random.Random("summary").sample(cases, 48)

    def draws(cl: CommandList) -> None:
        cl.combiner(0, ("replace", "constant"), ("replace", "constant"))
        for n, (colors, write, depth, planes, stencil, mask) in enumerate(chosen):
            value = 0x55 if n & 1 else 0xAA  # always another one than before, in each bit
            cl.write_word("TEXENV0_COLOR", value * 0x01010101)
            cl.write_word("DEPTH_COLOR_MASK", 1 << 4 | depth | colors << 8).write_word("COLORBUFFER_WRITE", write)
            cl.write_word("DEPTHBUFFER_WRITE", planes).write_word("STENCIL_OP", 5 | 5 << 4 | 5 << 8)  # inverts
            cl.write_word("STENCIL_TEST", stencil | 1 << 4 | mask << 8 | 0xFF << 24)
            z = -0.25 if n & 1 else -0.75
            cl.draw_immediate([[(x, y, z, 1), (1, 1, 1, 1)] for x, y in ((-1, -1), (3, -1), (-1, 3))])

    run = pocketgpu.debug(scene(tmp_path / "scene.ctf", draws))
    channels = ["red", "green", "blue", "alpha"]
    old = None
    for n, case in enumerate(chosen):
        moment = run.seek(f"f0/d{n}")
        target, parts = moment.target, moment.summary.parts
        now = [target.rows[..., i].copy() for i in range(4)] + [target.depth["depth"], target.depth["stencil"]]
        masked = parts["blending"].partition("; writes ")[2]
        written = [not masked or channel in masked.split(", ") for channel in channels]
        written.append(parts["depth"].endswith(", written"))
        value, depth = (0x55, 0.25) if n & 1 else (0xAA, 0.75)
        for plane, stated, found in zip(now, written, [value] * 4 + [int(depth * 0xFFFFFF)], strict=False):
            assert not stated or (plane == found).all(), (case, parts)
        if old is not None:
            changed = [bool((one != other).any()) for one, other in zip(old, now, strict=True)]
            assert all(stated or not change for stated, change in zip(written, changed, strict=False)), (case, parts)
            inverts = parts["stencil"] != "off" and not parts["stencil"].endswith("; not written")
            assert changed[5] == inverts, (case, parts)
        old = now


# -- diff -------------------------------------------------------------------------------------------------------------
def report(a: str, b: str) -> Report:
    return diff(pocketgpu.debug(a), pocketgpu.debug(b))


@pytest.mark.parametrize(("name", "field", "bit"), [case[1:] for case in CASES[::5]])
def test_a_bit_of_a_register_is_the_only_difference(tmp_path: Path, name: str, field: str, bit: int) -> None:
    """It is written before the second draw of three; the third has it as well, and it is told once."""
    run = pocketgpu.debug(scene(tmp_path / "plain.ctf", all_over))
    word = run.seek("f0/d0").registers()[name]
    a = scene(tmp_path / "a.ctf", flipped(name, bit, word ^ 1 << bit))
    b = scene(tmp_path / "b.ctf", flipped(name, bit, word))
    (one,) = report(a, b).structure
    change = one.detail["change"]
    assert (one.level, str(one.a), str(one.b), change["register"]) == ("register", "f0/d1", "f0/d1", name)
    assert (int(change["old"], 16), int(change["new"], 16)) == (word, word ^ 1 << bit)
    assert [part["name"] for part in change["fields"]] == [field]
    assert one.text.startswith(f"{name} {word:#010x} -> {word ^ 1 << bit:#010x} ({field} ")


@pytest.mark.parametrize("seed", range(6))
def test_a_byte_of_memory_is_the_only_difference(tmp_path: Path, seed: int) -> None:
    rng = random.Random(f"byte {seed}")
    data = bytearray(rng.randbytes(256))
    a = scene(tmp_path / "a.ctf", all_over, bytes(data))
    place = rng.randrange(256)
    other = bytearray(data)
    other[place] ^= 1 << rng.randrange(8)
    b = scene(tmp_path / "b.ctf", all_over, bytes(other))
    (one,) = report(a, b).structure
    load = next(event for event in pocketgpu.debug(a).events(0) if event.kind == "load" and event.writes[0].size == 256)
    address = load.writes[0].address + place // 4 * 4
    was, now = (int.from_bytes(part[place // 4 * 4 :][:4], "little") for part in (data, other))
    assert (one.level, one.detail["bytes"]) == ("memory", 1)
    assert one.text.startswith(f"memory at {address:#010x} {was:#010x} -> {now:#010x}")


def boxes(cl: CommandList, places: list[tuple[int, int, int, int]], colors: list[int]) -> None:
    """Rectangles (left, bottom, width, height), by the scissor, each with a colour (0xAABBGGRR)."""
    cl.combiner(0, ("replace", "constant"), ("replace", "constant"))
    for (x, y, width, height), color in zip(places, colors, strict=True):
        cl.scissor(x, y, x + width - 1, y + height - 1).write_word("TEXENV0_COLOR", color)
        all_over(cl)


def some_boxes(rng: random.Random, count: int) -> list[tuple[int, int, int, int]]:
    found = []
    for _ in range(count):
        x, y = rng.randrange(SIDE), rng.randrange(SIDE)
        found.append((x, y, rng.randint(1, SIDE - x), rng.randint(1, SIDE - y)))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_pixel_is_the_only_difference(tmp_path: Path, seed: int) -> None:
    """One draw of a single pixel has another colour: this pixel is named, at this draw, with both colours."""
    rng = random.Random(f"pixel {seed}")
    x, y = rng.randrange(SIDE), rng.randrange(SIDE)
    places = [*some_boxes(rng, 3), (x, y, 1, 1), *some_boxes(rng, 2)]
    colors = [rng.randrange(1 << 32) for _ in places]
    other = [*colors[:3], colors[3] ^ 0x80, *colors[4:]]
    a = scene(tmp_path / "a.ctf", lambda cl: boxes(cl, places, colors))
    b = scene(tmp_path / "b.ctf", lambda cl: boxes(cl, places, other))
    found = report(a, b)
    (one,) = found.structure
    assert one.detail["change"]["register"] == "TEXENV0_COLOR" and str(one.a) == "f0/d3"
    assert found.pixel is not None and str(found.pixel.a) == str(found.pixel.b) == f"f0/d3/px{x},{y}"
    shown = ["#" + color.to_bytes(4, "little").hex() for color in (colors[3], other[3])]
    of_both = [bytes(pocketgpu.debug(path).why(found.pixel.a).color).hex() for path in (a, b)]
    assert ["#" + color for color in of_both] == shown
    assert [found.pixel.detail["a_value"], found.pixel.detail["b_value"]] == shown


# -- who --------------------------------------------------------------------------------------------------------------
def tiled(x: int, y: int) -> int:
    """The number of a pixel of the target in memory; y from the bottom of the picture, which ends the memory."""
    row = SIDE - 1 - y
    inside = sum((x >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1 for bit in range(3))
    return (row // 8 * (SIDE // 8) + x // 8) * 64 + inside


@pytest.mark.parametrize("seed", range(4))
def test_who_wrote_a_pixel_last(tmp_path: Path, seed: int) -> None:
    """Rectangles over each other, some in the colour that is there already, which changes nothing."""
    rng = random.Random(f"who {seed}")
    places = some_boxes(rng, 12)
    colors = [rng.choice([0x44332211, 0xFFFFFFFF, 0x80402010]) for _ in places]
    run = pocketgpu.debug(scene(tmp_path / "scene.ctf", lambda cl: boxes(cl, places, colors)))
    target = run.seek("f0/d0").target.address
    fill = next(event for event in run.events(0) if event.kind == "fill")
    pixels = np.full((SIDE, SIDE), 0x44332211, np.int64)
    last = np.full((SIDE, SIDE), -1)
    history = []
    for n, ((x, y, width, height), color) in enumerate(zip(places, colors, strict=True)):
        part = np.s_[y : y + height, x : x + width]
        last[part] = np.where(pixels[part] != color, n, last[part])
        pixels[part] = color
        history.append(last.copy())
    stored = run.seek(f"f0/d{len(places) - 1}")
    for _ in range(12):
        x, y = rng.randrange(SIDE), rng.randrange(SIDE)
        address = target + 4 * tiled(x, y)
        assert stored.read(address, 4)[::-1] == int(pixels[y, x]).to_bytes(4, "little"), (x, y)
        wanted = (lambda n: f"f0/d{n}" if n >= 0 else str(fill.address))(int(last[y, x]))
        assert str(run.who_changed(address, 4).address) == wanted, (x, y)
        before = rng.randrange(1, len(places))
        n = int(history[before - 1][y, x])
        wanted = f"f0/d{n}" if n >= 0 else str(fill.address)
        assert str(run.who_changed(address, 4, before=f"f0/d{before}").address) == wanted, (x, y, before)


def test_who_wrote_the_first_and_the_last_byte_of_a_range(tmp_path: Path) -> None:
    """A load has its bytes and none beside them."""
    run: Inspection = pocketgpu.debug(scene(tmp_path / "scene.ctf", all_over, bytes(range(1, 97))))
    load = next(event for event in run.events(0) if event.kind == "load" and event.writes[0].size == 96)
    place = load.writes[0]
    for address in (place.address, place.end - 1):
        assert run.who_changed(address).address == load.address
    for address in (place.address - 1, place.end):
        found = run.who_changed(address)
        assert found is None or found.address != load.address
