"""The copy engine against a model that moves every byte by its own address."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from support.engine_host import Bench
from support.slow_surfaces import Slow, SlowMemory

from pocketgpu.facts.maxwell import B0B5
from pocketgpu.maxwell.engines.copy.dma import DmaCopy

VA = 0x5_0000_0000
HALF = 0x40000
SIZE = 2 * HALF
LAUNCH = B0B5["LAUNCH_DMA"]
COMPONENTS = B0B5["SET_REMAP_COMPONENTS"]
EVALUATORS = ("llvm", "numpy")


def noise(size: int = SIZE) -> bytes:
    return np.random.default_rng(11).integers(0, 256, size, np.uint8).tobytes()


def bench(evaluator: str = "llvm", **choices: str) -> Bench:
    made = Bench(DmaCopy, evaluator, **choices)
    made.map(VA, noise())
    return made


def side(b: Bench, name: str, surface: Slow, x: int = 0, y: int = 0, z: int = 0, unit: int = 1) -> None:
    """One side of a copy; `x` counts units."""
    way = "IN" if name == "SRC" else "OUT"
    b.address(f"OFFSET_{way}_UPPER", surface.va)
    if surface.pitch is not None:
        b(**{f"PITCH_{way}": surface.pitch})
        return
    block = B0B5[f"SET_{name}_BLOCK_SIZE"].encode(HEIGHT=surface.block_height, DEPTH=surface.block_depth, GOB_HEIGHT=1)
    values = {"BLOCK_SIZE": block, "WIDTH": surface.width // unit, "HEIGHT": surface.height, "DEPTH": surface.depth}
    values |= {"LAYER": z, "ORIGIN": y << 16 | x}
    b(**{f"SET_{name}_{part}": value for part, value in values.items()})


def launch(source: Slow | None, target: Slow, **bits: int) -> int:
    return LAUNCH.encode(
        DATA_TRANSFER_TYPE=2,
        FLUSH_ENABLE=1,
        SRC_MEMORY_LAYOUT=int(source is None or source.pitch is not None),
        DST_MEMORY_LAYOUT=int(target.pitch is not None),
        **bits,
    )


PITCH = Slow(VA, 200, 60, pitch=208)
BACKWARDS = Slow(VA + 59 * 208, 200, 60, pitch=-208)
TILED = Slow(VA, 200, 60, block_height=2)
DEEP = Slow(VA, 200, 60, block_height=1, block_depth=2, depth=6)


def moved(surface: Slow) -> Slow:
    """The same shape in the second half of memory."""
    return Slow(surface.va + HALF, *list(surface.__dict__.values())[1:])


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("source", [PITCH, BACKWARDS, TILED, DEEP], ids=["pitch", "negative", "tiled", "deep"])
@pytest.mark.parametrize("target", [PITCH, BACKWARDS, TILED, DEEP], ids=["pitch", "negative", "tiled", "deep"])
def test_layouts(evaluator: str, source: Slow, target: Slow) -> None:
    """Every combination of layouts: a rectangle with odd edges lands where the definition says."""
    target = moved(target)
    b = bench(evaluator)
    origin = (13, 7, 3), (29, 5, 5)
    places = []
    for name, surface, (x, y, z) in (("SRC", source, origin[0]), ("DST", target, origin[1])):
        if surface.pitch is not None:
            x = y = z = 0  # a pitch side has no origin
        side(b, name, surface, x, y, z if surface.depth > 1 else 0)
        places.append(surface.places(x, y, 101, 33, z if surface.depth > 1 else 0))
    b(LINE_LENGTH_IN=101, LINE_COUNT=33, LAUNCH_DMA=launch(source, target, MULTI_LINE_ENABLE=1))
    model = SlowMemory(VA, noise())
    model[places[1]] = model[places[0]]
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    assert not list(b.host.events)
    assert b.host.stats.copies == 1
    record = b.host.log[0]
    assert (record.kind, record.line_length, record.lines, record.unit) == ("copy", 101, 33, 1)
    assert record.slices == (3 if source is DEEP else 0, 5 if target.depth > 1 else 0)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_control_0x186(evaluator: str) -> None:
    """A linear copy of LINE_LENGTH_IN bytes: pitches and LINE_COUNT do not count."""
    b = bench(evaluator)
    side(b, "SRC", Slow(VA + 3, 1, 1, pitch=77))
    side(b, "DST", Slow(VA + HALF + 1, 1, 1, pitch=-5))
    b(LINE_LENGTH_IN=0x1235, LINE_COUNT=9, LAUNCH_DMA=0x186)
    data = bytearray(noise())
    data[HALF + 1 : HALF + 1 + 0x1235] = data[3 : 3 + 0x1235]
    assert b.memory.read(VA, SIZE) == bytes(data)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("start", [0, 4, 7, 0xFFC])
@pytest.mark.parametrize("count", [1, 3, 1023, 1024, 5000])
def test_control_0x586(evaluator: str, start: int, count: int) -> None:
    """A fill of LINE_LENGTH_IN words with SET_REMAP_CONST_A; SET_DST_WIDTH, which one source calls its length, is
    none."""
    b = bench(evaluator)
    b.address("OFFSET_OUT_UPPER", VA + start)
    b(
        SET_REMAP_CONST_A=0xDDCCBBAA,
        SET_REMAP_COMPONENTS=0x34444,
        SET_DST_WIDTH=1,
        SET_DST_HEIGHT=1,
        LINE_LENGTH_IN=count,
        LAUNCH_DMA=0x586,
    )
    data = bytearray(noise())
    data[start : start + 4 * count] = bytes.fromhex("aabbccdd") * count
    assert b.memory.read(VA, SIZE) == bytes(data)
    assert (b.host.log[0].kind, b.host.log[0].unit) == ("fill", 4)


REMAPS = {
    "swap": (1, 4, 4, (2, 1, 0, 3)),
    "widen": (1, 1, 4, (0, 0, 0, 4)),
    "narrow": (1, 4, 2, (3, 0, 4, 5)),
    "halves": (2, 2, 2, (1, 0, 6, 6)),
    "three": (3, 2, 2, (1, 4, 6, 6)),
    "words": (4, 4, 3, (3, 5, 0, 6)),
    "keep": (1, 4, 4, (0, 6, 2, 6)),
    "constants": (2, 1, 2, (4, 5, 4, 4)),
    "odd-fill": (1, 1, 3, (4, 5, 4, 6)),
    "masked-fill": (4, 1, 4, (4, 6, 5, 6)),
    "beyond": (1, 1, 2, (3, 0, 0, 0)),
    "identity": (2, 3, 3, (0, 1, 2, 3)),
}


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("layouts", ["pitch-pitch", "pitch-tiled", "tiled-pitch", "tiled-tiled"])
@pytest.mark.parametrize("name", REMAPS)
def test_remap(evaluator: str, layouts: str, name: str) -> None:
    """Components of each element: source components, constants cut to size, or left alone. Lengths and origins count
    elements."""
    size, sources, targets, chosen = REMAPS[name]
    constants = (0x12345678, 0x9ABCDEF0)
    elements = (size * sources, size * targets)
    shapes = []
    for layout, element, va in zip(layouts.split("-"), elements, (VA, VA + HALF), strict=True):
        width = 40 * element
        shapes.append(
            Slow(va, width, 24, pitch=width + 16) if layout == "pitch" else Slow(va, width, 24, block_height=1)
        )
    b = bench(evaluator)
    origins = [(0, 0) if s.pitch is not None else (3 + i, 2 + i) for i, s in enumerate(shapes)]
    for side_name, s, (x, y), element in zip(("SRC", "DST"), shapes, origins, elements, strict=True):
        side(b, side_name, s, x, y, unit=element)
    word = COMPONENTS.encode(
        **{f"DST_{n}": v for n, v in zip("XYZW", chosen, strict=True)},
        COMPONENT_SIZE=size - 1,
        NUM_SRC_COMPONENTS=sources - 1,
        NUM_DST_COMPONENTS=targets - 1,
    )
    b(SET_REMAP_COMPONENTS=word, SET_REMAP_CONST_A=constants[0], SET_REMAP_CONST_B=constants[1])
    b(LINE_LENGTH_IN=33, LINE_COUNT=19, LAUNCH_DMA=launch(*shapes, REMAP_ENABLE=1, MULTI_LINE_ENABLE=1))
    model = SlowMemory(VA, noise())
    places = [
        s.places(x * element, y, 33 * element, 19).reshape(19, 33, -1, size)
        for s, (x, y), element in zip(shapes, origins, elements, strict=True)
    ]
    read = model[places[0]]
    for to in range(targets):
        of = chosen[to]
        if of == 6:
            continue
        if of in (4, 5):
            value = np.frombuffer(constants[of - 4].to_bytes(4, "little"), np.uint8)[:size]
            new = np.broadcast_to(value, (19, 33, size))
        else:
            new = read[:, :, of] if of < sources else np.zeros((19, 33, size), np.uint8)
        model[places[1][:, :, to]] = new
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()
    assert not list(b.host.events)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_unaligned_remap(evaluator: str) -> None:
    """Components of two bytes at odd addresses."""
    b = bench(evaluator)
    source, target = Slow(VA + 1, 80, 5, pitch=83), Slow(VA + HALF + 3, 80, 5, pitch=81)
    side(b, "SRC", source)
    side(b, "DST", target)
    word = COMPONENTS.encode(DST_X=1, DST_Y=0, COMPONENT_SIZE=1, NUM_SRC_COMPONENTS=1, NUM_DST_COMPONENTS=1)
    b(SET_REMAP_COMPONENTS=word, LINE_LENGTH_IN=20, LINE_COUNT=5)
    b(LAUNCH_DMA=launch(source, target, REMAP_ENABLE=1, MULTI_LINE_ENABLE=1))
    model = SlowMemory(VA, noise())
    read = model[source.places(0, 0, 80, 5)].reshape(5, 20, 2, 2)
    model[target.places(0, 0, 80, 5)] = read[:, :, ::-1].reshape(5, 80)
    assert b.memory.read(VA, SIZE) == model.bytes.tobytes()


def test_long_lines_go_in_pieces() -> None:
    """More elements than a table holds."""
    b = Bench(DmaCopy)
    b.map(VA, 0x100000)
    data = np.random.default_rng(0).integers(0, 256, 0x30000, np.uint8)
    b.memory.write(VA, data.tobytes())
    b.address("OFFSET_IN_UPPER", VA)
    b.address("OFFSET_OUT_UPPER", VA + 0x80000)
    word = COMPONENTS.encode(DST_X=1, DST_Y=0, NUM_SRC_COMPONENTS=1, NUM_DST_COMPONENTS=1)
    b(SET_REMAP_COMPONENTS=word, LINE_LENGTH_IN=0x18000, LAUNCH_DMA=0x586)
    wanted = data.reshape(-1, 2)[:, ::-1].tobytes()
    assert b.memory.read(VA + 0x80000, 0x30000) == wanted


def test_semaphores() -> None:
    """One word, four words with a time stamp, and none; also if nothing is copied."""
    b = bench()
    b.address("SET_SEMAPHORE_A", VA + 0x100)
    b(SET_SEMAPHORE_PAYLOAD=0xCAFE)
    old = noise()
    b(LAUNCH_DMA=LAUNCH.encode(SEMAPHORE_TYPE=1))
    assert b.memory.read(VA + 0x100, 16) == struct.pack("<I", 0xCAFE) + old[0x104:0x110]
    b.host.ticks = 0x1_2345_6789
    b(LAUNCH_DMA=LAUNCH.encode(SEMAPHORE_TYPE=2, INTERRUPT_TYPE=2))
    assert b.memory.read(VA + 0x100, 16) == struct.pack("<QQ", 0xCAFE, 0x1_2345_6789)
    assert b.host.interrupts == ["copy"]
    assert b.host.stats.copies == 0 and b.host.stats.semaphores == 2


@pytest.mark.parametrize(
    ("number", "sign", "old", "payload", "new"),
    [
        (0, 0, 5, 0xFFFFFFFF, 0xFFFFFFFF),
        (0, 1, 5, 0xFFFFFFFF, 5),
        (1, 0, 5, 0xFFFFFFFF, 5),
        (1, 1, 5, 0xFFFFFFFF, 0xFFFFFFFF),
        (2, 0, 0b1100, 0b1010, 0b0110),
        (3, 0, 0b1100, 0b1010, 0b1000),
        (4, 0, 0b1100, 0b1010, 0b1110),
        (5, 0, 0xFFFFFFFF, 3, 2),
        (6, 1, 7, 7, 0),
        (6, 1, 6, 7, 7),
        (7, 1, 0, 9, 9),
        (7, 1, 5, 9, 4),
        (10, 0, 0x3F800000, 0x40000000, 0x40400000),
    ],
)
def test_reductions(number: int, sign: int, old: int, payload: int, new: int) -> None:
    b = bench()
    b.memory.write(VA + 0x40, struct.pack("<I", old))
    b.address("SET_SEMAPHORE_A", VA + 0x40)
    b(SET_SEMAPHORE_PAYLOAD=payload)
    word = LAUNCH.encode(
        SEMAPHORE_TYPE=1,
        SEMAPHORE_REDUCTION_ENABLE=1,
        SEMAPHORE_REDUCTION=number,
        SEMAPHORE_REDUCTION_SIGN=sign,
    )
    b(LAUNCH_DMA=word)
    assert struct.unpack("<I", b.memory.read(VA + 0x40, 4))[0] == new


def test_a_reserved_reduction_is_a_fault() -> None:
    b = bench()
    b.address("SET_SEMAPHORE_A", VA)
    b(LAUNCH_DMA=1 << 3 | 1 << 19 | 9 << 14)
    assert b.host.ids() == ["engine.reduction"]
    assert b.memory.read(VA, 4) == noise()[:4]


def test_render_enable() -> None:
    """A copy that is not to be done still releases its semaphore."""
    b = bench()
    b.address("OFFSET_IN_UPPER", VA)
    b.address("OFFSET_OUT_UPPER", VA + HALF)
    b.address("SET_RENDER_ENABLE_A", VA + 0x1000)
    b.address("SET_SEMAPHORE_A", VA + 0x2000)
    b.memory.write(VA + 0x1000, bytes(8))
    b(SET_RENDER_ENABLE_C=2, SET_SEMAPHORE_PAYLOAD=77, LINE_LENGTH_IN=64)
    b(LAUNCH_DMA=0x186 | LAUNCH.encode(SEMAPHORE_TYPE=1))
    assert b.memory.read(VA + HALF, 64) == noise()[HALF : HALF + 64]
    assert b.memory.read(VA + 0x2000, 4) == struct.pack("<I", 77)
    b.memory.write(VA + 0x1000, b"\0\0\0\0\1\0\0\0")
    b(LAUNCH_DMA=0x186)
    assert b.memory.read(VA + HALF, 64) == noise()[:64]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_holes(evaluator: str) -> None:
    """Unmapped sources read as zero, unmapped targets swallow; both are told. So it is for fills and remapping."""
    for what, word in (("copy", 0x186), ("fill", 0x586), ("remap", 0x586)):
        b = Bench(DmaCopy, evaluator)
        b.map(VA, noise(0x2000))
        b.map(VA + HALF, 0x1000)
        b.address("OFFSET_IN_UPPER", VA + 0x1000)
        b.address("OFFSET_OUT_UPPER", VA + HALF)
        components = (
            0x34444
            if what == "fill"
            else COMPONENTS.encode(DST_Y=0, DST_X=1, NUM_SRC_COMPONENTS=1, NUM_DST_COMPONENTS=1)
        )
        b(SET_REMAP_CONST_A=0x01010101, SET_REMAP_COMPONENTS=components)
        b(LINE_LENGTH_IN={"copy": 0x1800, "fill": 0x600, "remap": 0xC00}[what], LAUNCH_DMA=word)
        source = np.frombuffer(noise(0x2000)[0x1000:], np.uint8)
        wanted = {"copy": source, "fill": np.ones(0x1000, np.uint8), "remap": source.reshape(-1, 2)[:, ::-1]}[what]
        assert b.memory.read(VA + HALF, 0x1000) == wanted.tobytes(), what
        assert set(b.host.ids()) == {"memory.unmapped"}, what


def test_the_last_element_may_end_where_memory_ends() -> None:
    """Elements of different sizes reach no further than they are long."""
    b = Bench(DmaCopy)
    b.map(VA, noise(0x1000))
    b.map(VA + HALF, 0x1000)
    b.address("OFFSET_IN_UPPER", VA + 0xFF0)
    b.address("OFFSET_OUT_UPPER", VA + HALF + 0xFC0)
    word = COMPONENTS.encode(DST_X=0, DST_Y=0, DST_Z=4, DST_W=0, NUM_DST_COMPONENTS=3)
    b(SET_REMAP_COMPONENTS=word, SET_REMAP_CONST_A=7, LINE_LENGTH_IN=16, LAUNCH_DMA=0x586)
    source = np.frombuffer(noise(0x1000)[0xFF0:], np.uint8)
    wanted = np.stack([source, source, np.full(16, 7, np.uint8), source], 1)
    assert b.memory.read(VA + HALF + 0xFC0, 64) == wanted.tobytes()
    assert not list(b.host.events)


def test_layer_is_a_switch() -> None:
    surface = Slow(VA + HALF, 64, 8, block_depth=1, depth=2)
    for choice, z in (("slice", 1), ("ignore", 0)):
        b = bench(dma__layer=choice)
        side(b, "SRC", Slow(VA, 64, 1, pitch=64))
        side(b, "DST", surface, z=1)
        b(LINE_LENGTH_IN=64, LAUNCH_DMA=launch(None, surface))
        model = SlowMemory(VA, noise())
        model[surface.places(0, 0, 64, 1, z)] = model.bytes[:64].reshape(1, 64)
        assert b.memory.read(VA, SIZE) == model.bytes.tobytes()


def test_nothing_to_copy_and_faults() -> None:
    """No type, no length, no lines; physical addresses; sizes that no memory has."""
    b = bench()
    b.address("OFFSET_IN_UPPER", VA)
    b.address("OFFSET_OUT_UPPER", VA + HALF)
    b(LINE_LENGTH_IN=0, LAUNCH_DMA=0x186)
    b(LINE_LENGTH_IN=64, LAUNCH_DMA=0x184)
    b(LINE_COUNT=0, LAUNCH_DMA=0x386)
    assert not list(b.host.events) and b.memory.read(VA, SIZE) == noise()
    b(LAUNCH_DMA=0x186 | LAUNCH.encode(DST_TYPE=1))
    b(LINE_LENGTH_IN=0xFFFFFFFF, LAUNCH_DMA=0x186)
    b(LINE_LENGTH_IN=1, LINE_COUNT=0xFFFFFFFF, LAUNCH_DMA=0x386)
    assert b.host.ids() == ["dma.transfer"] * 3
    b(LINE_LENGTH_IN=64, LINE_COUNT=1, SET_DST_WIDTH=0xFFFFFFFF, SET_DST_HEIGHT=0xFFFFFFFF, SET_DST_LAYER=0xFFFFFFFF)
    b(SET_DST_BLOCK_SIZE=0x1FFF, SET_DST_ORIGIN=0xFFFFFFFF, LAUNCH_DMA=0x086)
    b(LAUNCH_DMA=0x486, SET_REMAP_COMPONENTS=0x3334444)
    assert b.memory.read(VA, SIZE) == noise()
    assert b.host.stats.copies == 0
