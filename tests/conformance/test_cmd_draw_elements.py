"""Drawing by an array of indices: the commands that glDrawElements sends, modes, indices (GPU/Commands of 2013)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from .commands import FCRAM, VRAM, Gpu, command, core, decoded, drawn, pixel, unexplained, wipe

INDICES = FCRAM + 0x300000
BIG = [(-1, -1), (3, -1), (-1, 3)]
"""A triangle that covers the target."""
CORNERS = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
WIDE = 1 << 31


def scene(gpu: Gpu, points: Sequence[Sequence[float]], color: Sequence[float] = (1, 1, 1, 1), base: int = VRAM) -> int:
    """Vertices of one colour in arrays that count from `base`; the address of the first."""
    corners = np.array([(x, y, -0.5, 1, *color) for x, y in points], np.float32)
    address = gpu.place(corners)
    gpu.loaders(base, [(3, 4), (3, 4)], (address, [0, 1], 32))
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=1)
    return address


def draw_elements(
    mode: int = 3, flag: int = 1, count: int = 3, config: int = WIDE | INDICES - VRAM
) -> list[tuple[int, int]]:
    """Header and parameter of every command of the set, in the page's order; entry n has the page's index n."""
    return [
        (0x00020229, flag << 8),
        (0x00020253, flag << 8),
        (0x00020253, flag << 8),
        (0x0002025E, mode << 8),
        (0x0004025E, 0),
        (0x000F025F, 1),
        (0x00010253, 0),
        (0x000F0227, config),
        (0x000F0228, count),
        (0x00010245, 0),
        (0x000F022F, 1),
        (0x00010245, 1),
        (0x000F0231, 1),
        (0x000F0111, 1),
        (0x00020229, 0),
        (0x00020253, 0),
        (0x0002025E, 0),
        (0x000C02BA, 0x7FFF0000),
    ]


def send(gpu: Gpu, commands: Sequence[tuple[int, int]]) -> None:
    for header, parameter in commands:
        command(gpu, header, parameter)


def put_indices(gpu: Gpu, indices: Sequence[int], address: int = INDICES, kind: type = np.uint16) -> None:
    gpu.memory.write(address, np.array(indices, kind).tobytes())


# -- the set ----------------------------------------------------------------------------------------------------------

MEANING = [  # field of the register that the command is about, and its text
    ("triangle_elements", "yes"), ("triangle_elements", "yes"), ("triangle_elements", "yes"), ("mode", "3 (geometry)"),
    ("outputs", "1 (means 2)"), ("value", "1"), ("arrays", "no"), ("type", "1 (u16)"), ("count", "3"),
    ("configuration", "no"), ("value", "1"), ("configuration", "yes"), ("clear", "yes"), ("flush", "yes"),
    ("triangle_elements", "no"), ("triangle_elements", "no"), ("mode", "0 (triangles)"), ("end", "32767 (0x7fff)"),
]  # fmt: skip


def rows_of_the_set() -> list[object]:
    names = ["0", "1-2", "1-2", *(str(n) for n in range(3, 18))]
    return [pytest.param(n, marks=pytest.mark.row(f"cmd.set.drawelements.{name}")) for n, name in enumerate(names)]


@pytest.mark.parametrize("number", rows_of_the_set())
def test_every_command_of_the_set_changes_its_bytes(gpu: Gpu, number: int) -> None:
    """The register after the id keeps the bytes that the id leaves out, and the rest reads as what is known of it.

    The page explains only the mode, the indices and the number; the others are: triangle lists by index (0 to 2, 14,
    15), outputs per vertex untouched (4), a new primitive (5), no arrays (6), drawing and configuring (9, 11), the draw
    itself (10), an empty vertex cache (12), a flush (13), and the program's end (17).
    """
    header, parameter = draw_elements()[number]
    register, mask = header & 0xFFFF, header >> 16 & 15
    # Another value than the one written, also in the lowest bit; no vertices are waiting for a draw.
    before = 0xA5A5A500 | (parameter ^ 1) & 1 if register != 0x228 else 0
    command(gpu, 0x000F0000 | register, before)
    command(gpu, header, parameter)
    gpu.run()
    keep = sum(0xFF << 8 * byte for byte in range(4) if not mask >> byte & 1)
    assert core(gpu, register) == before & keep | parameter & ~keep & 0xFFFFFFFF
    field, text = MEANING[number]
    assert decoded(register, core(gpu, register))[field] == text
    assert not gpu.ids


def test_whole_set_draws_a_triangle_list(gpu: Gpu) -> None:
    """Eighteen commands word by word, twice in a list: two quads of two triangles each."""
    put_indices(gpu, [0, 1, 2, 2, 1, 3])
    for color, box in (((1, 0, 0, 1), -1), ((0, 1, 0, 1), 0)):
        scene(gpu, [(box + (x + 1) / 2, y) for x, y in CORNERS], color)
        send(gpu, draw_elements(count=6))
    gpu.run()
    assert (gpu.color_words()[:, :8] == 0xFF0000FF).all()
    assert (gpu.color_words()[:, 8:] == 0x00FF00FF).all()
    assert not gpu.ids


@pytest.mark.row("cmd.set.drawelements.0", "cmd.set.drawelements.1-2")
@pytest.mark.parametrize(("mode", "indices"), [(3, [0, 1, 2, 2, 1, 3]), (1, [0, 1, 2, 3]), (2, [0, 1, 3, 2])])
def test_triangle_flags_are_not_seen(make_gpu: Callable[..., Gpu], mode: int, indices: list[int]) -> None:
    """The value 0 or 1 that the page cannot explain is 1 for lists of triangles; the picture is the same without."""
    for flag in (0, 1):
        gpu = make_gpu()
        scene(gpu, CORNERS)
        put_indices(gpu, indices)
        send(gpu, draw_elements(mode, flag, len(indices)))
        assert drawn(gpu).all()


@pytest.mark.row("cmd.set.drawelements.5")
def test_restart_drops_an_unfinished_primitive(gpu: Gpu) -> None:
    """Two vertices wait from a draw before; without command 5 they would be the first of the next triangle."""
    put_indices(gpu, [3, 4], INDICES + 64)
    put_indices(gpu, [0, 1, 2])
    # The mode is left alone, because writing it has the same effect.
    rest = [part for part in draw_elements() if part[0] & 0xFFFF != 0x25E]
    for restart in (True, False):
        scene(gpu, [*BIG, (5, 5), (6, 5)])
        send(gpu, draw_elements(count=2, config=WIDE | INDICES + 64 - VRAM)[:14])
        send(gpu, rest if restart else [part for part in rest if part[0] != 0x000F025F])
        assert drawn(gpu).all() == restart


@pytest.mark.row("cmd.set.drawelements.10", "cmd.set.drawelements.9", "cmd.set.drawelements.11")
def test_the_draw_happens_between_drawing_and_configuring(gpu: Gpu) -> None:
    """What is written after the draw has no part in it; without command 10 nothing is drawn."""
    scene(gpu, BIG)
    put_indices(gpu, [0, 1, 2])
    commands = draw_elements()
    send(gpu, commands[:10] + commands[11:])
    assert not drawn(gpu).any()
    send(gpu, commands[:11])
    gpu.set(DEPTH_COLOR_MASK=0)
    send(gpu, commands[11:])
    assert drawn(gpu).all()
    assert core(gpu, 0x245) == 1


@pytest.mark.row("cmd.set.drawelements.12")
def test_vertices_are_read_anew(gpu: Gpu) -> None:
    """After the vertex cache was emptied, the same indices give the vertices that are there now."""
    address = scene(gpu, BIG)
    put_indices(gpu, [0, 1, 2])
    send(gpu, draw_elements())
    assert drawn(gpu).all()
    half = np.array([(x, y / 4 - 0.75, -0.5, 1, 1, 1, 1, 1) for x, y in BIG], np.float32)
    gpu.memory.write(address, half.tobytes())
    send(gpu, draw_elements())
    seen = drawn(gpu)
    assert seen[0].all() and not seen[8:].any()


@pytest.mark.row("cmd.set.drawelements.13")
def test_flush_leaves_the_picture_in_memory(gpu: Gpu) -> None:
    scene(gpu, BIG, (1, 0.2, 0, 1))
    put_indices(gpu, [0, 1, 2])
    send(gpu, draw_elements()[:14])
    gpu.run()
    assert gpu.memory.read(0x18000000, 1024) == bytes([255, 0, 51, 255]) * 256


@pytest.mark.row("cmd.set.drawelements.4", "cmd.set.drawelements.16", "cmd.id.0x0002025E", "cmd.set.drawelements.3")
def test_mode_leaves_the_number_of_outputs_alone(gpu: Gpu) -> None:
    """Mode is byte 1, the low byte counts outputs; byte 2 is written 0 and means nothing that is known."""
    scene(gpu, CORNERS)
    put_indices(gpu, [0, 1, 2, 3])
    send(gpu, draw_elements(1, 0, 4)[:14])
    gpu.run()
    assert core(gpu, 0x25E) == 0x101
    assert gpu.covered().all()
    send(gpu, draw_elements(1, 0, 4)[14:])
    gpu.run()
    assert core(gpu, 0x25E) == 0x001
    assert unexplained(0x25E, 0xFF0000) == 0xFF0000


@pytest.mark.row("cmd.set.drawelements.17")
def test_the_last_command_keeps_where_the_program_begins(gpu: Gpu) -> None:
    """The upper half of the entry point: 0x7FFF by custom; programs run from the lower half and end at their END."""
    mov, end = 0x13, gpu.flow(0x22)
    plain = [gpu.op(mov, "o0", "v0"), gpu.op(mov, "o1", "v1")]
    gpu.program([gpu.op(mov, "o0", "v0"), gpu.op(mov, "o1", "v0"), end, *plain], entry_point=3)
    put_indices(gpu, [0, 1, 2])
    scene(gpu, BIG, (0, 1, 0, 1))
    for upper in (0, 0x7FFF0000):
        command(gpu, 0x000C02BA, upper)
        send(gpu, draw_elements())
        wipe(gpu)
        gpu.run()
        assert pixel(gpu, 3, 3) == [0, 255, 0, 255]
    assert core(gpu, 0x2BA) == 0x7FFF0003


# -- modes ------------------------------------------------------------------------------------------------------------

POINTS = [(-1, -1), (-0.5, -1), (-1, 1), (0.25, -0.5), (0.5, 1), (1, 0)]
LIST = ((0, 1, 2), (3, 4, 5))
MODES = [
    pytest.param(0, LIST, marks=pytest.mark.row("cmd.glmode.0")),
    pytest.param(1, ((0, 1, 2), (2, 1, 3), (2, 3, 4), (4, 3, 5)), marks=pytest.mark.row("cmd.glmode.1")),
    pytest.param(2, ((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)), marks=pytest.mark.row("cmd.glmode.2")),
    pytest.param(3, LIST, marks=pytest.mark.row("cmd.glmode.3")),
    pytest.param(4, LIST, marks=pytest.mark.row("cmd.glmode.4")),
]


@pytest.mark.row("cmd.id.0x0002025E", "cmd.set.drawelements.3")
@pytest.mark.parametrize(("mode", "triangles"), MODES)
@pytest.mark.parametrize("cull", [0, 1, 2])
def test_modes(make_gpu: Callable[..., Gpu], mode: int, triangles: Sequence[Sequence[int]], cull: int) -> None:
    """Six vertices as a strip (1), a fan (2), or two triangles (3, by index).

    0, of which the page says nothing, gives triangles too, and 4 the same, because the mode has two bits. Every second
    triangle of a strip is turned round, as culling shows.
    """
    gpu, single = make_gpu(), make_gpu()
    single.set(FACECULLING_CONFIG=cull)
    for triangle in triangles:
        single.draw([POINTS[i] for i in triangle])
    gpu.set(FACECULLING_CONFIG=cull)
    scene(gpu, POINTS)
    put_indices(gpu, range(6))
    send(gpu, draw_elements(mode, int(mode == 3), 6)[:11])
    assert (drawn(gpu) == drawn(single)).all()
    assert gpu.covered().any() or cull
    assert core(gpu, 0x25E) == mode << 8 | 1


# -- indices ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("cmd.id.0x000F0227", "cmd.indices.30-0", "cmd.set.drawelements.7")
@pytest.mark.parametrize(
    ("base", "offset"),
    [
        (VRAM, 0x100000),
        (VRAM, 0x08300000),
        (VRAM, 0x08300006),
        (FCRAM + 0x200000, 0x100000),
        (FCRAM + 0x300000, 0),
    ],
)
def test_place_of_the_indices(gpu: Gpu, base: int, offset: int) -> None:
    """The page counts from VRAM, 0x18000000; it is from the base of the arrays (0200), which its programs put there.

    Only bits 27-0 are the offset.
    """
    put_indices(gpu, [3, 4, 5], base + offset)
    for high in (0, 7 << 28):
        scene(gpu, [(5, 5)] * 3 + BIG, base=base)
        send(gpu, draw_elements(config=WIDE | high | offset))
        assert drawn(gpu).all()
    assert core(gpu, 0x227) == WIDE | 7 << 28 | offset
    assert decoded(0x227, WIDE | 0x123)["offset"] == "291 bytes"
    assert unexplained(0x227, 0xFFFFFFFF) == 7 << 28
    # One array element further, other vertices are drawn.
    scene(gpu, [(5, 5)] * 3 + BIG, base=base)
    send(gpu, draw_elements(config=WIDE | offset + 2))
    assert not drawn(gpu).all()


@pytest.mark.row("cmd.indices.31", "cmd.id.0x000F0227", "cmd.set.drawelements.7")
@pytest.mark.parametrize(("kind", "bit"), [(np.uint8, 0), (np.uint16, WIDE)])
def test_type_of_the_indices(gpu: Gpu, kind: type, bit: int) -> None:
    """Sixteen bits with bit 31, else eight; the highest value is a vertex like others."""
    last = np.iinfo(kind).max
    points = [(5.0, 5.0)] * (int(last) + 1)
    points[0], points[1], points[last] = BIG
    scene(gpu, points)
    put_indices(gpu, [0, 1, last], kind=kind)
    send(gpu, draw_elements(config=bit | INDICES - VRAM))
    assert drawn(gpu).all()
    send(gpu, draw_elements(config=bit ^ WIDE | INDICES - VRAM))
    assert not drawn(gpu).any()
    assert decoded(0x227, bit)["type"] == ("1 (u16)" if bit else "0 (u8)")


@pytest.mark.row("cmd.id.0x000F0228", "cmd.set.drawelements.8")
@pytest.mark.parametrize(("count", "quads"), [(0, 0), (3, 0.5), (6, 1), (9, 1.5), (12, 2)])
def test_number_of_elements(gpu: Gpu, count: int, quads: float) -> None:
    """Of four triangles, two for each half of the target, only as many are drawn as the number has room for."""
    left = [(-1, -1), (0, -1), (-1, 1), (0, 1)]
    scene(gpu, left + [(x + 1, y) for x, y in left])
    put_indices(gpu, [0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7])
    send(gpu, draw_elements(count=count))
    seen = drawn(gpu)
    for half in range(2):
        part = min(max(quads - half, 0), 1)
        columns = seen[:, 8 * half : 8 * half + 8]
        assert columns.all() if part == 1 else columns.any() == (part > 0)
    assert core(gpu, 0x228) == count
