"""`state`, `diff` and `who` of the 3DS: a planted difference of one bit, byte or pixel, and exactly this is named.

Registers, fields and their places are written down here again, from 3dbrew's page of internal registers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

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
        all_over(cl)  # what is written behind a draw, to begin the next one, was written before this one too
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
