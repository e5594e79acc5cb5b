"""The transfer engine against a pixel-by-pixel model written from the documents.

Sources: 3dbrew GPU/External Registers ("Transfer Engine", "Texture copy"), GBATEK (writable bits).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

SOURCE, TARGET = 0x20000000, 0x18000000
VRAM_END, FCRAM_END = 0x18600000, 0x28000000
RGBA8, RGB8, RGB565, RGB5A1, RGBA4 = range(5)
SIZES = {RGBA8: 4, RGB8: 3, RGB565: 2, RGB5A1: 2, RGBA4: 2}
FIELDS = {  # lowest bit and width of r, g, b, a in the little-endian word
    RGBA8: ((24, 8), (16, 8), (8, 8), (0, 8)), RGB8: ((16, 8), (8, 8), (0, 8), None),
    RGB565: ((11, 5), (5, 6), (0, 5), None), RGB5A1: ((11, 5), (6, 5), (1, 5), (0, 1)),
    RGBA4: ((12, 4), (8, 4), (4, 4), (0, 4)),
}  # fmt: skip


def expand(value: int, bits: int) -> int:
    return {8: value, 6: value << 2 | value >> 4, 5: value << 3 | value >> 2, 4: value * 17, 1: value * 255}[bits]


def decode(data: bytes, at: int, form: int) -> list[int]:
    word = int.from_bytes(data[at : at + SIZES[form]], "little")
    return [255 if f is None else expand(word >> f[0] & (1 << f[1]) - 1, f[1]) for f in FIELDS[form]]


def encode(color: list[int], form: int) -> bytes:
    word = sum(c >> 8 - f[1] << f[0] for c, f in zip(color, FIELDS[form], strict=True) if f)
    return word.to_bytes(SIZES[form], "little")


def tiled(x: int, y: int, stride: int) -> int:
    inside = sum((x >> b & 1) << 2 * b | (y >> b & 1) << 2 * b + 1 for b in range(3))
    return ((y >> 3) * (stride >> 3) + (x >> 3)) * 64 + inside


def model(
    data: bytes, old: bytes, in_width: int, out_width: int, out_height: int, flags: int, skew: bool = True
) -> bytes:  # fmt: skip
    """Bytes at the output address afterwards."""
    flip, to_tiled, crop, keep_tiling = (flags >> b & 1 for b in (0, 1, 2, 5))
    read, write, scale = flags >> 8 & 7, flags >> 12 & 7, flags >> 24 & 3
    width, height = out_width >> (scale != 0), out_height >> (scale == 2)
    stride = in_width if crop else out_width
    source_tiled, target_tiled = not to_tiled, bool(to_tiled) != bool(keep_tiling)
    out = bytearray(old)
    start = (
        (in_width - out_width) * (out_height - 1) * SIZES[write]
        if skew and flip and crop and in_width > out_width
        else 0
    )
    for row in range(height):
        y = height - 1 - row if flip else row
        for x in range(width):
            box = [(x << (scale != 0), y << (scale == 2))]
            if scale:
                box = [(box[0][0] + i, box[0][1] + j) for j in range(scale) for i in range(2)]
            texels = [tiled(i, j, stride) if source_tiled else j * stride + i for i, j in box]
            colors = [decode(data, n * SIZES[read], read) for n in texels]
            mean = [sum(c) // len(box) for c in zip(*colors, strict=True)]
            at = start + (tiled(x, row, width) if target_tiled else row * width + x) * SIZES[write]
            out[at : at + SIZES[write]] = encode(mean, write)
    return bytes(out)


def transfer(
    gpu: Any, in_width: int, out_width: int, out_height: int, flags: int, source: int = SOURCE, target: int = TARGET,
    in_height: int = 8,
) -> dict[str, int]:  # fmt: skip
    """Run a display transfer; the interrupts it raised."""
    gpu.n3ds.take_interrupts()
    gpu.poke("PPF_INPUT_ADDRESS", source >> 3)
    gpu.poke("PPF_OUTPUT_ADDRESS", target >> 3)
    gpu.poke("PPF_OUTPUT_SIZE", out_height << 16 | out_width)
    gpu.poke("PPF_INPUT_SIZE", in_height << 16 | in_width)
    gpu.poke("PPF_FLAGS", flags)
    gpu.poke("PPF_CONTROL", 1)
    return gpu.n3ds.take_interrupts()


def check(gpu: Any, rng: Any, in_width: int, out_width: int, out_height: int, flags: int, **more: Any) -> None:
    """One random picture through engine and model; bytes around the output must survive."""
    data = rng.integers(0, 256, 4 * max(in_width, out_width) * (out_height + 8) + 4096, np.uint8).tobytes()
    old = rng.integers(0, 256, 4 * max(in_width, out_width) * (out_height + 8) + 4096, np.uint8).tobytes()
    gpu.memory.write(SOURCE, data)
    gpu.memory.write(TARGET, old)
    assert transfer(gpu, in_width, out_width, out_height, flags) == {"PPF": 1}
    assert gpu.memory.read(TARGET, len(old)) == model(data, old, in_width, out_width, out_height, flags, **more), hex(
        flags
    )


# -- layouts and formats ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0, 1, 2])
@pytest.mark.parametrize("layout", [0x00, 0x02, 0x20, 0x22])
@pytest.mark.parametrize("flip", [0, 1])
def test_layouts_flip_and_scale_match_the_model(gpu: Any, rng: Any, scale: int, layout: int, flip: int) -> None:
    for read, write in ((RGBA8, RGBA8), (RGBA8, RGB565), (RGB5A1, RGB5A1)):
        check(gpu, rng, 48, 48, 32, scale << 24 | write << 12 | read << 8 | layout | flip)


@pytest.mark.parametrize("read", range(5))
@pytest.mark.parametrize("write", range(5))
def test_every_pair_of_formats_matches_the_model(
    make_gpu: Callable[..., Any], rng: Any, read: int, write: int
) -> None:
    gpu = make_gpu(transfer__odd_formats="convert")
    check(gpu, rng, 16, 16, 16, write << 12 | read << 8)
    check(gpu, rng, 16, 16, 16, write << 12 | read << 8 | 0x02)
    check(gpu, rng, 16, 16, 16, write << 12 | read << 8 | 2 << 24)


@pytest.mark.parametrize("code", [5, 6, 7])
def test_formats_past_the_last_act_as_rgba4(gpu: Any, rng: Any, code: int) -> None:
    data = rng.integers(0, 256, 512, np.uint8).tobytes()
    gpu.memory.write(SOURCE, data)
    transfer(gpu, 16, 16, 16, code << 12 | code << 8)
    assert gpu.memory.read(TARGET, 512) == model(data, bytes(512), 16, 16, 16, 0x4400)


def test_random_transfers_match_the_model(make_gpu: Callable[..., Any], rng: Any) -> None:
    gpu = make_gpu(transfer__odd_formats="convert")
    for _ in range(40):
        scale = int(rng.integers(0, 3))
        out_width, out_height = (int(v) * 8 << (scale > 0) for v in rng.integers(1, 5, 2))
        in_width = out_width + 8 * int(rng.integers(0, 4))
        flags = int(rng.choice([0x00, 0x02, 0x20, 0x22])) | 4 | int(rng.integers(0, 2))
        flags |= int(rng.integers(0, 5)) << 8 | int(rng.integers(0, 5)) << 12 | scale << 24
        check(gpu, rng, in_width, out_width, out_height, flags)


def test_white_5551_is_format_3_here_and_2_in_the_core(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(transfer__odd_formats="convert")
    gpu.memory.write(SOURCE, b"\xff\xff" * 64)
    transfer(gpu, 8, 8, 8, RGB5A1 << 8 | RGBA8 << 12)
    assert gpu.memory.read(TARGET, 256) == b"\xff" * 256
    gpu.memory.write(SOURCE, b"\xfe\xff" * 64)  # alpha 0
    transfer(gpu, 8, 8, 8, RGB5A1 << 8 | RGBA8 << 12)
    assert gpu.memory.read(TARGET, 256) == b"\x00\xff\xff\xff" * 64
    # The core's format 2 stores the same word that format 3 reads here.
    gpu.target(16, 16, color=2)
    gpu.quad(color=(1, 0, 1, 0))
    gpu.run()
    assert (gpu.color_words() == 0xF83E).all()
    transfer(gpu, 16, 16, 16, RGB5A1 << 8 | RGBA8 << 12, source=0x18000000, target=SOURCE)
    assert gpu.memory.read(SOURCE, 8) == b"\x00\xff\x00\xff" * 2


def test_contraction_cuts_bits_off(gpu: Any) -> None:
    gpu.memory.write(SOURCE, bytes((127, 7, 3, 15)) + bytes((128, 8, 4, 16)) + bytes(62 * 4))  # A, B, G, R
    words = {}
    for name, form in (("565", RGB565), ("5551", RGB5A1), ("4444", RGBA4)):
        transfer(gpu, 8, 8, 8, form << 12)
        words[name] = np.frombuffer(gpu.memory.read(TARGET, 4), "<u2").tolist()
    assert words["565"] == [1 << 11, 2 << 11 | 1 << 5 | 1]
    assert words["5551"] == [1 << 11, 2 << 11 | 1 << 1 | 1]
    assert words["4444"] == [0x0007, 0x1008]


# -- geometry ---------------------------------------------------------------------------------------------------------


def test_output_size_is_the_one_before_scaling_down(gpu: Any) -> None:
    gpu.memory.write(SOURCE, b"\xff" * (480 * 800 * 4))
    transfer(gpu, 480, 480, 800, 2 << 24)
    assert gpu.memory.read(TARGET, 240 * 400 * 4) == b"\xff" * (240 * 400 * 4)
    assert gpu.memory.read(TARGET + 240 * 400 * 4, 4096) == bytes(4096)


def test_input_and_output_widths_come_from_their_own_registers(gpu: Any, rng: Any) -> None:
    """0xC0C holds the input, 0xC08 the output."""
    data = rng.integers(0, 256, 64 * 16 * 4, np.uint8)
    gpu.memory.write(SOURCE, data.tobytes())
    gpu.poke(0x10400C00, SOURCE >> 3)
    gpu.poke(0x10400C04, TARGET >> 3)
    gpu.poke(0x10400C0C, 16 << 16 | 64)
    gpu.poke(0x10400C08, 16 << 16 | 24)
    gpu.poke(0x10400C10, 0x26)  # crop, linear to linear
    gpu.poke(0x10400C18, 1)
    assert gpu.memory.read(TARGET, 24 * 16 * 4) == data.reshape(16, 64, 4)[:, :24].tobytes()


def test_input_height_does_not_matter(gpu: Any, rng: Any) -> None:
    gpu.memory.write(SOURCE, rng.integers(0, 256, 16 * 16 * 4, np.uint8).tobytes())
    results = []
    for height in (0, 8, 16, 0xFFF8):
        transfer(gpu, 16, 16, 16, 1, in_height=height)
        results.append(gpu.memory.read(TARGET, 1024))
        gpu.memory.write(TARGET, bytes(1024))
    assert len(set(results)) == 1


def test_without_the_crop_flag_the_input_has_the_outputs_width(make_gpu: Callable[..., Any], rng: Any) -> None:
    data = rng.integers(0, 256, 32 * 16 * 4, np.uint8).reshape(16, 32, 4)
    for value, expected in (("output", data.reshape(-1, 4)[: 24 * 16]), ("input", data[:, :24])):
        gpu = make_gpu(transfer__uncropped_stride=value)
        gpu.memory.write(SOURCE, data.tobytes())
        transfer(gpu, 32, 24, 16, 0x22)
        assert gpu.memory.read(TARGET, 24 * 16 * 4) == expected.tobytes()


def test_flip_reverses_the_order_of_rows(gpu: Any) -> None:
    rows = np.repeat(np.arange(16, dtype="<u4"), 8)
    gpu.memory.write(SOURCE, rows.tobytes())
    transfer(gpu, 8, 8, 16, 0x23)
    assert np.frombuffer(gpu.memory.read(TARGET, 512), "<u4").tolist() == rows[::-1].tolist()


def test_flip_of_a_cropped_picture_starts_later(make_gpu: Callable[..., Any], rng: Any) -> None:
    """32x16 to 24x16 with flags 0 and 2: 8 pixels for each of the 15 rows after the first."""
    data = rng.integers(0, 256, 32 * 16 * 4, np.uint8).tobytes()
    for value, start in (("skew", 8 * 15 * 4), ("plain", 0)):
        gpu = make_gpu(transfer__flip_crop=value)
        gpu.memory.write(SOURCE, data)
        transfer(gpu, 32, 24, 16, 5)
        plain = model(data, bytes(24 * 16 * 4), 32, 24, 16, 5, skew=False)
        assert gpu.memory.read(TARGET, start + len(plain) + 64) == bytes(start) + plain + bytes(64)


def test_scaling_averages_eight_bit_values_and_cuts(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(transfer__odd_formats="convert")
    # red of one 2x2 box: 0, 1, 1, 1 -> 0; green 255, 255, 255, 254 -> 254; blue in 5 bits: 31, 30 -> (255 + 247) / 2
    texels = np.zeros((8, 8), "<u4")
    texels[0, 0], texels[0, 1], texels[1, 0], texels[1, 1] = 0x00FF0000, 0x01FF0000, 0x01FF0000, 0x01FE0000
    gpu.memory.write(SOURCE, b"".join(texels[y, x].tobytes() for x, y in sorted(
        ((x, y) for y in range(8) for x in range(8)), key=lambda p: tiled(*p, 8))))  # fmt: skip
    transfer(gpu, 8, 8, 8, 2 << 24)
    assert gpu.memory.read(TARGET, 4) == bytes((0, 0, 254, 0))
    gpu.memory.write(SOURCE, np.array([31 << 11, 30 << 11] * 32, "<u2").tobytes())
    transfer(gpu, 8, 8, 8, 1 << 24 | RGB565 << 8 | RGBA8 << 12)
    assert gpu.memory.read(TARGET, 4)[3] == (255 + 247) // 2


def test_both_tiling_flags_copy_rows(make_gpu: Callable[..., Any], rng: Any) -> None:
    data = rng.integers(0, 256, 16 * 16 * 4, np.uint8).tobytes()
    gpu = make_gpu()
    gpu.memory.write(SOURCE, data)
    assert transfer(gpu, 16, 16, 16, 0x22) == {"PPF": 1}
    assert gpu.memory.read(TARGET, len(data)) == data
    gpu = make_gpu(transfer__both_tiling_flags="hang")
    assert transfer(gpu, 16, 16, 16, 0x22) == {}
    assert (gpu.peek("PPF_CONTROL"), [e.kind for e in gpu.events]) == (1, ["hang"])


def test_32x32_blocks_are_announced_as_missing(gpu: Any) -> None:
    assert transfer(gpu, 32, 32, 32, 0x10000) == {"PPF": 1}
    (event,) = gpu.events
    assert event.kind == "warning"
    assert "32x32" in event.message


# -- registers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "mask"),
    [(0xC00, 0x1FFFFFFE), (0xC04, 0x1FFFFFFE), (0xC08, 0xFFF8FFF8), (0xC10, 0x0301772F), (0xC14, 0x1FFFFF),
     (0xC20, 0xFFFFFFF0), (0xC24, 0xFFFFFFFF), (0xC28, 0xFFFFFFFF)],
)  # fmt: skip
def test_only_writable_bits_are_kept(gpu: Any, offset: int, mask: int) -> None:
    gpu.poke(0x10400000 + offset, 0xFFFFFFFF)
    assert gpu.peek(0x10400000 + offset) == mask
    gpu.poke(0x10400000 + offset, 0)
    assert gpu.peek(0x10400000 + offset) == 0


def test_sizes_are_cut_to_multiples_of_eight(gpu: Any, rng: Any) -> None:
    data = rng.integers(0, 256, 16 * 16 * 4, np.uint8).tobytes()
    gpu.memory.write(SOURCE, data)
    transfer(gpu, 16 + 7, 16 + 5, 8 + 7, 0)
    assert gpu.memory.read(TARGET, 1024) == model(data, bytes(1024), 16, 16, 8, 0)


def test_finished_flag_and_status(gpu: Any) -> None:
    assert gpu.peek("STATUS") >> 30 & 1 == 0
    transfer(gpu, 8, 8, 8, 0)
    assert (gpu.peek("PPF_CONTROL"), gpu.peek("STATUS") >> 30 & 1) == (0x100, 1)
    gpu.poke("PPF_CONTROL", 0x100)
    assert gpu.peek("PPF_CONTROL") == 0x100
    gpu.poke("PPF_CONTROL", 0)
    assert (gpu.peek("PPF_CONTROL"), gpu.peek("STATUS") >> 30 & 1) == (0, 0)


@pytest.mark.parametrize(("in_width", "width", "height"), [(8, 0, 8), (8, 8, 0), (8, 0, 0)])
def test_size_zero_moves_nothing_and_finishes(
    make_gpu: Callable[..., Any], in_width: int, width: int, height: int
) -> None:
    for value, interrupts in (("finish", {"PPF": 1}), ("ignore", {})):
        gpu = make_gpu(transfer__zero_size=value)
        gpu.memory.write(SOURCE, b"\xff" * 256)
        assert transfer(gpu, in_width, width, height, 0) == interrupts
        assert gpu.memory.read(TARGET, 256) == bytes(256)
        assert [event.id for event in gpu.events] == ["transfer.fault"]


OUTSIDE = [
    {"source": 0x10000000}, {"target": 0x10000000}, {"source": FCRAM_END - 1024}, {"target": VRAM_END - 1024},
    {"source": 0}, {"target": 0xFFFFFFF0}, {"target": FCRAM_END - 32 * 32 * 4 + 16},
]  # fmt: skip


@pytest.mark.parametrize("where", OUTSIDE)
@pytest.mark.parametrize("flags", [0x00, 0x02, 0x20, 0x22])
def test_memory_outside_is_reported_and_nothing_is_written(gpu: Any, where: dict[str, int], flags: int) -> None:
    gpu.memory.write(SOURCE, b"\xff" * 4096)
    versions = gpu.memory.page_versions.copy()
    assert transfer(gpu, 32, 32, 32, flags, **where) == {"PPF": 1}
    assert gpu.ids == {"transfer.fault"}
    assert (gpu.memory.page_versions == versions).all()


def test_transfer_may_end_with_its_region(gpu: Any, rng: Any) -> None:
    data = rng.integers(0, 256, 4096, np.uint8).tobytes()
    gpu.memory.write(FCRAM_END - 4096, data)
    assert transfer(gpu, 32, 32, 32, 0, source=FCRAM_END - 4096, target=VRAM_END - 4096) == {"PPF": 1}
    assert gpu.memory.read(VRAM_END - 4096, 4096) == model(data, bytes(4096), 32, 32, 32, 0)
    assert not gpu.ids


@pytest.mark.parametrize(
    ("in_width", "out_width", "out_height", "flags"),
    [
        (8, 8, 8, 0x01000002), (8, 8, 16, 0x01000020), (24, 24, 8, 0x01000002), (24, 24, 16, 0x02000002),
        (40, 40, 16, 0x02000020), (8, 264, 8, 0x24), (8, 65528, 8, 0x04), (16, 1024, 8, 0x01000004),
    ],
)  # fmt: skip
def test_odd_widths_stay_inside_what_was_checked(
    gpu: Any, in_width: int, out_width: int, out_height: int, flags: int
) -> None:
    """Tile rows narrower than the picture overlap: the last tiles then lie past width times height pixels.

    With input and output at the very ends of their regions, such a transfer must be refused, or keep inside.
    """
    memory = gpu.memory
    guard = memory.arena[memory.guest_end : memory.work_offset]
    scale = flags >> 24 & 3
    width, height = out_width >> (scale > 0), out_height >> (scale == 2)
    size = width * height * 4
    vram, after = memory.offset_of(VRAM_END - 4, 4) + 4, memory.offset_of(0x1FF00000, 4096)
    # Output at the end: what follows must stay zero. Input at the end: what follows must not show up in the output.
    gpu.memory.write(SOURCE, b"\xee" * (4 * 65536 * 8))
    for end in (VRAM_END, FCRAM_END):
        transfer(gpu, in_width, out_width, out_height, flags, target=(end - size) & ~15)
        assert not guard.any()
        assert not memory.arena[vram : after + 4096].any()
    memory.arena[memory.guest_end : memory.guest_end + 65536] = 0xAB
    memory.write(0x1FF00000, b"\xab" * 65536)
    stride = in_width if flags & 4 else out_width
    for end in (VRAM_END, FCRAM_END):
        gpu.poke(0x10400010, 0)
        memory.write(end - 65536, b"\x11" * 65536)
        memory.write(SOURCE + 0x1000000, bytes(size + 4096))
        transfer(
            gpu,
            in_width,
            out_width,
            out_height,
            flags,
            source=(end - stride * out_height * 4) & ~15,
            target=SOURCE + 0x1000000,
        )
        assert 0xAB not in set(memory.read(SOURCE + 0x1000000, size))
    memory.arena[memory.guest_end : memory.guest_end + 65536] = 0


# -- texture copy -----------------------------------------------------------------------------------------------------


def copy(
    gpu: Any, size: int, line_in: tuple[int, int], line_out: tuple[int, int], source: int = SOURCE,
    target: int = TARGET,
    flags: int = 8,
) -> dict[str, int]:  # fmt: skip
    """Run a texture copy with lines of (width, gap) in units of sixteen bytes; the interrupts it raised."""
    gpu.n3ds.take_interrupts()
    gpu.poke("PPF_INPUT_ADDRESS", source >> 3)
    gpu.poke("PPF_OUTPUT_ADDRESS", target >> 3)
    gpu.poke("PPF_FLAGS", flags)
    gpu.poke("PPF_COPY_SIZE", size)
    gpu.poke("PPF_COPY_INPUT", line_in[1] << 16 | line_in[0])
    gpu.poke("PPF_COPY_OUTPUT", line_out[1] << 16 | line_out[0])
    gpu.poke("PPF_CONTROL", 1)
    return gpu.n3ds.take_interrupts()


def places(size: int, width: int, gap: int) -> list[int]:
    """Offset of every byte copied on one side."""
    if not gap:
        return list(range(size))
    return [i + i // (16 * width) * 16 * gap for i in range(size)]


def copy_model(
    memory: bytearray, source: int, target: int, size: int, line_in: tuple[int, int], line_out: tuple[int, int]
) -> bytes:
    """Both cursors byte by byte in ascending order, in one memory."""
    for i, o in zip(places(size & ~15, *line_in), places(size & ~15, *line_out), strict=True):
        memory[target + o] = memory[source + i]
    return bytes(memory)


@pytest.mark.parametrize(
    ("size", "line_in", "line_out"),
    [
        (256, (0, 0), (0, 0)), (256, (4, 4), (0, 0)), (256, (0, 0), (4, 4)), (256, (4, 4), (2, 1)), (256, (1, 3), (5,
        7)),
        (1000, (7, 9), (3, 2)), (16, (5, 5), (5, 5)), (4096, (128, 1), (1, 1)), (4096, (300, 300), (256, 0xF)),
        (48, (0, 0), (2, 100)), (256, (9, 0), (77, 0)),
    ],
)  # fmt: skip
def test_copies_match_two_byte_cursors(
    gpu: Any, rng: Any, size: int, line_in: tuple[int, int], line_out: tuple[int, int]
) -> None:
    data = rng.integers(0, 256, 1 << 17, np.uint8).tobytes()
    gpu.memory.write(SOURCE, data)
    assert copy(gpu, size, line_in, line_out, target=SOURCE + 0x10000) == {"PPF": 1}
    assert gpu.memory.read(SOURCE, len(data)) == copy_model(bytearray(data), 0, 0x10000, size, line_in, line_out)


def test_widths_and_gaps_are_units_of_sixteen_bytes(make_gpu: Callable[..., Any], rng: Any) -> None:
    """The left half of a 128x128 RGBA8 texture: a row of tiles is 4096 bytes, of which 2048 are taken."""
    data = rng.integers(0, 256, 128 * 128 * 4, np.uint8)
    gpu = make_gpu()
    gpu.memory.write(SOURCE, data.tobytes())
    gpu.poke(0x10400C00, SOURCE >> 3)
    gpu.poke(0x10400C04, TARGET >> 3)
    gpu.poke(0x10400C10, 8)
    gpu.poke(0x10400C20, 32768)
    gpu.poke(0x10400C24, 0x00800080)
    gpu.poke(0x10400C28, 0x00000080)
    gpu.poke(0x10400C18, 1)
    assert gpu.memory.read(TARGET, 32768) == data.reshape(16, 4096)[:, :2048].tobytes()
    assert gpu.memory.read(TARGET + 32768, 64) == bytes(64)
    gpu = make_gpu(texture_copy__units="byte")
    gpu.memory.write(SOURCE, data.tobytes())
    copy(gpu, 256, (64, 32), (0, 0))
    assert gpu.memory.read(TARGET, 256) == data[:384].reshape(4, 96)[:, :64].tobytes()


@pytest.mark.parametrize("shift", [-48, -16, 16, 48])
@pytest.mark.parametrize("lines", [((0, 0), (0, 0)), ((2, 1), (0, 0)), ((0, 0), (2, 1))])
def test_overlapping_copies_go_upwards(
    gpu: Any, rng: Any, shift: int, lines: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    data = rng.integers(0, 256, 4096, np.uint8).tobytes()
    gpu.memory.write(SOURCE, data)
    copy(gpu, 512, *lines, source=SOURCE + 1024, target=SOURCE + 1024 + shift)
    assert gpu.memory.read(SOURCE, 4096) == copy_model(bytearray(data), 1024, 1024 + shift, 512, *lines)


def test_size_is_cut_to_sixteen_bytes(gpu: Any) -> None:
    gpu.memory.write(SOURCE, b"\xff" * 2048)
    copy(gpu, 1000, (0, 0), (0, 0))
    assert gpu.memory.read(TARGET, 1008) == b"\xff" * 992 + bytes(16)


@pytest.mark.parametrize("size", [0, 15])
def test_copy_of_nothing_never_ends(gpu: Any, size: int) -> None:
    gpu.memory.write(SOURCE, b"\xff" * 64)
    assert copy(gpu, size, (1, 0), (1, 0)) == {}
    assert gpu.peek("PPF_CONTROL") == 1
    assert [(event.kind, event.id) for event in gpu.events] == [("hang", "transfer.hang")]
    assert gpu.memory.read(TARGET, 64) == bytes(64)


@pytest.mark.parametrize("lines", [((0, 4), (0, 0)), ((0, 0), (0, 4))])
def test_gap_without_a_line_width_never_ends(
    make_gpu: Callable[..., Any], lines: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    gpu = make_gpu()
    gpu.memory.write(SOURCE, b"\xff" * 64)
    assert copy(gpu, 64, *lines) == {}
    assert [event.id for event in gpu.events] == ["transfer.hang"]
    assert gpu.memory.read(TARGET, 64) == bytes(64)
    gpu = make_gpu(texture_copy__zero_width="no-gap")
    gpu.memory.write(SOURCE, b"\xff" * 64)
    assert copy(gpu, 64, *lines) == {"PPF": 1}
    assert gpu.memory.read(TARGET, 64) == b"\xff" * 64


def test_other_flags_do_not_matter_to_a_copy(gpu: Any, rng: Any) -> None:
    data = rng.integers(0, 256, 1024, np.uint8).tobytes()
    gpu.memory.write(SOURCE, data)
    copy(gpu, 1024, (0, 0), (0, 0), flags=0x0301772F)
    assert gpu.memory.read(TARGET, 1024) == data


@pytest.mark.parametrize(
    ("size", "line_in", "line_out", "where"),
    [
        (4096, (0, 0), (0, 0), {"source": FCRAM_END - 2048}), (4096, (0, 0), (0, 0), {"target": VRAM_END - 2048}),
        (64, (1, 0xFFFF), (0, 0), {"source": FCRAM_END - 4096}), (64, (0, 0), (1, 0xFFFF), {"target": VRAM_END - 4096}),
        (0xFFFFFFF0, (0, 0), (0, 0), {}), (0xFFFFFFF0, (1, 0xFFFF), (1, 0xFFFF), {}), (16, (0, 0), (0, 0),
        {"source": 0}),
    ],
)  # fmt: skip
def test_copy_outside_memory_is_reported_and_writes_nothing(
    gpu: Any, size: int, line_in: tuple[int, int], line_out: tuple[int, int], where: dict[str, int]
) -> None:
    versions = gpu.memory.page_versions.copy()
    assert copy(gpu, size, line_in, line_out, **where) == {"PPF": 1}
    assert gpu.ids == {"transfer.fault"}
    assert (gpu.memory.page_versions == versions).all()
