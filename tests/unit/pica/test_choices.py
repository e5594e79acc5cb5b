"""Every choice of the 3D core, the list walk and the transfer engine that is no other file's: each value does what the
documents say it does.

A scene gets a machine with one choice set and tells what came out; a table says what each value has to give. Choices
of fragment code are tried three ways: specialised machine code, and general code under the NumPy evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pocketgpu.builder import Buffer, CommandList, assemble
from pocketgpu.facts.choices import CHOICES
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.shader.program import program_of

Scene = Callable[[Any], Any]
CASES: dict[str, tuple[Scene, dict[str, Any]]] = {}
COLOR, DEPTH, SOURCE, TARGET = 0x18000000, 0x18200000, 0x20800000, 0x20900000
MOV = 0x13
BIG = np.array([(-1, -1, -0.5, 1), (3, -1, -0.5, 1), (-1, 3, -0.5, 1)], np.float32)
BUFFER, CONSTANT, PREVIOUS = 13, 14, 15


def case(name: str, *values: Any) -> Callable[[Scene], Scene]:
    """Register a scene: what it has to give for each value of the choice, the default first."""

    def register(scene: Scene) -> Scene:
        CASES[name] = scene, dict(zip(CHOICES[name].values, values, strict=True))
        return scene

    return register


def grey(value: float) -> tuple[float, float, float, float]:
    return (value / 255,) * 4


# -- lists -------------------------------------------------------------------------------------------------------------
@case("list.high_ids", 0, 2)
def _(gpu: Any) -> int:
    gpu.write(0x440, 2)
    gpu.run()
    return gpu.peek("FACECULLING_CONFIG")


@case("list.private_ids", 0x12345678, 5)
def _(gpu: Any) -> int:
    gpu.write(0x20, 5)
    gpu.run(finalize=False)
    return gpu.peek(0x10401080)


@case("list.fifo_mask", 0x12345678, 0x78)
def _(gpu: Any) -> int:
    gpu.write("FOG_LUT_INDEX", 3)
    gpu.write(0xE8, 0x12345678, mask=1)
    gpu.run()
    return int(gpu.n3ds.bank("fog_lut")[3])


@case("list.jump_value", 1, 0)
def _(gpu: Any) -> int:
    other = gpu.place(np.array([*gpu.entry(0x40, 1), *gpu.entry(0x10, 0x12345678)], np.uint32))
    gpu.set(CMDBUF_SIZE1=16 >> 3, CMDBUF_ADDR1=other >> 3, CMDBUF_JUMP1=0)
    gpu.run()
    return gpu.peek("FACECULLING_CONFIG")


@case("list.end_match", "1 1  ", "1 11 ", "1    ", "1111 ", "11111")
def _(gpu: Any) -> str:
    """Interrupts from: the usual word, none of its bytes, its lowest byte, the same switched off, no FINALIZE."""
    out = ""
    for word, disabled in ((0x12345678, 0), (0, 0), (0x78, 0), (0x78, 1), (None, 0)):
        gpu.poke(0x104010C0, 0xFFFFFFF0 | disabled)
        gpu.list = [*gpu.entry(0x40, 0), *(gpu.entry(0x41, 0) if word is None else gpu.entry(0x10, word))]
        out += "1" if gpu.run(finalize=False) else " "
    return out


@case("draw.trigger_value", True, False)
def _(gpu: Any) -> bool:
    gpu.quad()
    gpu.list[gpu.list.index(0x000F022E) - 1] = 0
    gpu.run()
    return bool(gpu.covered().any())


# -- vertices ----------------------------------------------------------------------------------------------------------
def colored(gpu: Any) -> None:
    gpu.program([gpu.op(MOV, "o0", "v0"), gpu.op(MOV, "o1", "v1")])
    gpu.outputs(0x03020100, 0x0B0A0908)
    gpu.set(PRIMITIVE_CONFIG=0, RESTART_PRIMITIVE=1)


@case("vertex.alignment", 51, 153, 0)
def _(gpu: Any) -> int:
    """Red after a byte: aligned it is 0.2; byte by byte 0.6; at the address cut to a multiple of 4 next to nothing."""
    colored(gpu)
    positions = gpu.place(BIG)
    reds = gpu.place(bytes([0, 0x9A, 0x99, 0x19, 0x3F, 0xCC, 0x4C, 0x3E]) * 3)
    formats = [(3, 4), (3, 1), (1, 1)]
    gpu.loaders(positions, formats, (positions, [0], 16), (reds, [2, 1], 8))
    gpu.launch(3)
    return int(gpu.one_color()[0])


def two_colors(gpu: Any) -> int:
    return int(gpu.place(np.array([grey(51)] * 3 + [grey(102)] * 3, np.float32)))


@case("vertex.repeated_attribute", 102, 51)
def _(gpu: Any) -> int:
    colored(gpu)
    data, colors = gpu.place(BIG), two_colors(gpu)
    gpu.loaders(data, [(3, 4), (3, 4)], (data, [0], 16), (colors, [1], 16), (colors + 48, [1], 16))
    gpu.launch(3)
    return int(gpu.one_color()[0])


@case("vertex.fixed_and_loaded", 51, 204)
def _(gpu: Any) -> int:
    colored(gpu)
    data, colors = gpu.place(BIG), two_colors(gpu)
    gpu.write("FIXEDATTRIB_INDEX", 1)
    gpu.write(0x233, *gpu.packed(*grey(204)))
    gpu.loaders(data, [(3, 4), (3, 4)], (data, [0], 16), (colors, [1], 16), fixed=2)
    gpu.launch(3)
    return int(gpu.one_color()[0])


@case("vertex.fixed_index", (51, 3), (102, 1))
def _(gpu: Any) -> tuple[int, int]:
    colored(gpu)
    data = gpu.place(BIG)
    gpu.write("FIXEDATTRIB_INDEX", 1)
    gpu.write(0x233, *gpu.packed(*grey(51)), *gpu.packed(*grey(102)))
    gpu.loaders(data, [(3, 4), (3, 4)], (data, [0], 16), fixed=2)
    gpu.launch(3)
    return int(gpu.one_color()[0]), gpu.peek("FIXEDATTRIB_INDEX")


def immediate(gpu: Any, mode: int, vertices: list[tuple[Any, ...]]) -> None:
    gpu.set(PRIMITIVE_CONFIG=1 | mode << 8, RESTART_PRIMITIVE=1)
    gpu.set(GEOSTAGE_CONFIG2=1, START_DRAW_FUNC0=0, FIXEDATTRIB_INDEX=15)
    for vertex in vertices:
        for attribute in vertex:
            gpu.write(0x233, *gpu.packed(*attribute))
    gpu.set(START_DRAW_FUNC0=1, GEOSTAGE_CONFIG2=0)


@case("vertex.immediate_inputs", True, False)
def _(gpu: Any) -> bool:
    """Colour first, position second: right if the permutation exchanges them."""
    colored(gpu)
    gpu.inputs(2, 0xFEDCBA9876543201)
    immediate(gpu, 0, [(grey(51), p) for p in BIG.tolist()])
    gpu.run()
    return bool((gpu.color_words() == 0x33333333).all())


@case("vertex.immediate_strip", 256, 120)
def _(gpu: Any) -> int:
    """Pixels of a strip of two triangles while backs are culled."""
    colored(gpu)
    gpu.inputs(2)
    gpu.set(FACECULLING_CONFIG=2)
    corners = [(x, y, -0.5, 1) for y in (-1, 1) for x in (-1, 1)]
    immediate(gpu, 1, [(p, grey(51)) for p in corners])
    gpu.run()
    return int(np.count_nonzero(gpu.covered()))


def ending(gpu: Any) -> list[int]:
    """Red of two draws by one program in memory, of which ENTRYPOINT says that it ends after three words, then four."""
    move = lambda to, s, desc=0: gpu.op(MOV, to, s, desc=desc)  # noqa: E731
    gpu.program([move("o0", "v0"), move("o1", "v1"), move("o2", "v2"), move("o1", "c1", 1), move("o3", "v3")],
                [gpu.descriptor(), gpu.descriptor("x")])  # fmt: skip
    gpu.uniform(1, 1, 1, 1, 1)
    for end in (3, 4):
        gpu.set(VSH_ENTRYPOINT=end << 16)
        gpu.quad((-1, -1, 1, 0) if end == 3 else (-1, 0, 1, 1), color=grey(51))
    gpu.run()
    return [int(red) for red in gpu.pixels()[[2, 12], 5, 0]]


@case("shader.end", [255, 255], [51, 255])
def _(gpu: Any) -> list[int]:
    return ending(gpu)


# -- raster ------------------------------------------------------------------------------------------------------------
@case("clip.depth_range", [True, False, False], [True, True, False])
def _(gpu: Any) -> list[bool]:
    out = []
    for z in (-0.5, 0.5, 1.5):
        gpu.put_color(np.zeros((16, 16), np.uint32))
        gpu.quad(z=z)
        gpu.run()
        out.append(bool(gpu.covered().all()))
    return out


@case("viewport.offset_sign", list(range(4, 16)), list(range(12)))
def _(gpu: Any) -> list[int]:
    gpu.set(VIEWPORT_XY=4)
    gpu.quad()
    gpu.run()
    return np.flatnonzero(gpu.covered()[0]).tolist()


@case("raster.cull_0_3", [True, True, True, False], [True, False, True, False])
def _(gpu: Any) -> list[bool]:
    """Fronts and backs with mode 0 or 3; then backs with mode 1, and fronts."""
    out = []
    for mode, order in ((3, 1), (0, -1), (1, -1), (1, 1)):
        gpu.put_color(np.zeros((16, 16), np.uint32))
        gpu.set(FACECULLING_CONFIG=mode)
        gpu.draw(BIG[::order])
        gpu.run()
        out.append(bool(gpu.covered().all()))
    return out


@case("depth.bits", [0xFFFFFF, 0x7FFFFF, 0xFFFF], [0xFFFFFE, 0x7FFFFE, 0xFFFF])
def _(gpu: Any) -> list[int]:
    out = []
    for z, format in ((-1.0, 3), (-0.5, 2), (-1.0, 0)):
        gpu.target(16, 16, depth=format)
        gpu.set(DEPTH_COLOR_MASK=0x1F00)
        gpu.quad(z=z)
        gpu.run()
        out.append(int(gpu.depth_words()[3, 3]) & 0xFFFFFF)
    return out


# -- textures ----------------------------------------------------------------------------------------------------------
@case("texture.expand", [33, 65, 255, 255], [32, 64, 255, 255])
def _(gpu: Any) -> list[int]:
    gpu.texture_data(0, np.full(64, 4 << 11 | 16 << 5 | 31, "<u2").tobytes(), 3, 8, 8)
    gpu.show()
    gpu.quad()
    return gpu.one_color()


def columns(gpu: Any, wrap: tuple[int, int]) -> list[int]:
    """Red of three places left of, in and right of a texture whose columns are 10, 20, ... 80; its border is 99."""
    out = []
    for u in (-0.5 / 8, 2.5 / 8, 8.5 / 8):
        gpu.texture(0, np.tile(np.arange(10, 90, 10, dtype=np.uint32) << 24, (8, 1)), wrap=wrap, border=99)
        gpu.show()
        gpu.span(u, u, 0.5, 0.5)
        out.append(int(gpu.one_color()[0]))
    return out


@case("texture.nearest", [80, 30, 10], [10, 30, 10])
def _(gpu: Any) -> list[int]:
    return columns(gpu, (2, 2))


@case("texture.wrap_4_7", [80, 30, 99], [99, 30, 99])
def _(gpu: Any) -> list[int]:
    return columns(gpu, (5, 2))


# -- combiners ---------------------------------------------------------------------------------------------------------
def stage(gpu: Any, color: float = 100, **setting: Any) -> int:
    """What one stage makes of a vertex colour; after it is a last stage that passes its input on."""
    gpu.stage(0, **setting)
    gpu.quad(color=grey(color))
    return int(gpu.one_color()[0])


def constant(value: int) -> int:
    return value * 0x01010101


@case("combiner.arithmetic", [39, 10, 178, 99], [40, 10, 178, 100])
def _(gpu: Any) -> list[int]:
    """100 * 101 / 255 is 39.6; 100 - 90; a mixture; a dot product."""
    return [
        stage(gpu, op=1, sources=(0, CONSTANT, 0), constant=constant(101)),
        stage(gpu, op=5, sources=(0, CONSTANT, 0), constant=constant(90)),
        stage(gpu, op=4, sources=(CONSTANT, 0, CONSTANT), constant=constant(200)),
        stage(gpu, op=6, sources=(0, CONSTANT, 0), constant=constant(50)),
    ]


@case("combiner.vertex_color", 101, 100)
def _(gpu: Any) -> int:
    return stage(gpu, 100.6, sources=(0, 0, 0))


@case("combiner.add_signed", 22, 23)
def _(gpu: Any) -> int:
    return stage(gpu, op=3, sources=(0, CONSTANT, 0), constant=constant(50))


@case("combiner.add_multiply", [100, 255], [156, 255])
def _(gpu: Any) -> list[int]:
    return [
        stage(gpu, 200, op=9, sources=(0, 0, CONSTANT), constant=constant(100)),
        stage(gpu, 255, op=9, sources=(0, 0, CONSTANT), constant=constant(255)),
    ]


@case("combiner.scale_3", [20, 100], [160, 255])
def _(gpu: Any) -> list[int]:
    return [stage(gpu, color, sources=(0, 0, 0), scale=3) for color in (20, 100)]


@case("combiner.first_previous", [100, 100, 30], [30, 0, 30], [0, 0, 30], [20, 20, 30])
def _(gpu: Any) -> list[int]:
    """The previous result as the first operand, as the third one (of a * b + c), and not at all."""
    gpu.set(TEXENV_BUFFER_COLOR=constant(20))
    return [
        stage(gpu, sources=(PREVIOUS, 0, CONSTANT), constant=constant(30)),
        stage(gpu, op=8, sources=(FRAGMENT_OFF, FRAGMENT_OFF, PREVIOUS), constant=constant(30)),
        stage(gpu, sources=(CONSTANT, 0, CONSTANT), constant=constant(30)),
    ]


FRAGMENT_OFF = 1  # lighting is off: zero


@case("combiner.first_buffer", 0, 20)
def _(gpu: Any) -> int:
    gpu.set(TEXENV_BUFFER_COLOR=constant(20))
    return stage(gpu, sources=(BUFFER, 0, 0))


@case("combiner.buffer_delay", 20, 100)
def _(gpu: Any) -> int:
    gpu.set(TEXENV_BUFFER_COLOR=constant(20), TEXENV_UPDATE_BUFFER=0x1100)
    gpu.stage(1, sources=(BUFFER, 0, 0))
    return stage(gpu, sources=(0, 0, 0))


# -- tests and blending ------------------------------------------------------------------------------------------------
def stencil(gpu: Any, function: int, operation: int, **more: Any) -> tuple[int, bool]:
    """The stencil afterwards (5 before; reference 7), and whether anything was drawn."""
    gpu.put_color(np.zeros((16, 16), np.uint32))
    gpu.put_depth(np.full((16, 16), 5 << 24, np.uint32))
    gpu.set(STENCIL_TEST=0xFF07FF01 | function << 4, STENCIL_OP=operation, **more)
    gpu.quad()
    gpu.run()
    return int(gpu.depth_words()[2, 2]) >> 24, bool(gpu.covered().any())


@case("test.order", [(5, False), (5, False), (7, True)], [(7, False), (5, False), (7, True)])
def _(gpu: Any) -> list[tuple[int, bool]]:
    """Alpha never passes: stencil fails and is to be replaced; stencil passes. Then alpha passes too."""
    return [
        stencil(gpu, 0, 0x002, FRAGOP_ALPHA_TEST=0x01),
        stencil(gpu, 1, 0x222, FRAGOP_ALPHA_TEST=0x01),
        stencil(gpu, 1, 0x222, FRAGOP_ALPHA_TEST=0x11),
    ]


@case("test.stencil_operands", (5, False), (5, True))
def _(gpu: Any) -> tuple[int, bool]:
    return stencil(gpu, 4, 0)


@case("test.stencil_write", [7, 7, 5], [5, 7, 5])
def _(gpu: Any) -> list[int]:
    return [stencil(gpu, 1, 0x200, DEPTHBUFFER_WRITE=written)[0] for written in (2, 1, 0)]


@case("test.untested_depth_write", [True, True], [False, True])
def _(gpu: Any) -> list[bool]:
    """Without the depth test, and with one that always passes."""
    out = []
    for mask in (0x1F00, 0x1F11):
        gpu.put_depth(np.zeros((16, 16), np.uint32))
        gpu.set(DEPTH_COLOR_MASK=mask)
        gpu.quad()
        gpu.run()
        out.append(bool(gpu.depth_words().any()))
    return out


def blended(gpu: Any, function: int) -> list[int]:
    gpu.put_color(np.full((16, 16), 0x80808080, np.uint32))
    gpu.set(COLOR_OPERATION=0x00E40100, BLEND_FUNC=function)
    gpu.quad(color=(0.2, 0.4, 0.6, 1.0))
    return gpu.one_color()


@case("blend.min_max", [[0, 0, 0, 0], [0, 0, 0, 0]], [[51, 102, 128, 128], [128, 128, 153, 255]])
def _(gpu: Any) -> list[list[int]]:
    return [blended(gpu, 0x00000303), blended(gpu, 0x00000404)]


@case("blend.factor_15", [51, 102, 153, 255], [10, 40, 91, 255])
def _(gpu: Any) -> list[int]:
    return blended(gpu, 0x0F0F0000)


# -- units -------------------------------------------------------------------------------------------------------------
def transfer(gpu: Any, width: int, height: int, flags: int) -> int:
    """Run the transfer engine; how often it raised its interrupt."""
    gpu.poke("PPF_INPUT_ADDRESS", SOURCE >> 3)
    gpu.poke("PPF_OUTPUT_ADDRESS", TARGET >> 3)
    gpu.poke("PPF_OUTPUT_SIZE", height << 16 | width)
    gpu.poke("PPF_INPUT_SIZE", height << 16 | width)
    gpu.poke("PPF_FLAGS", flags)
    gpu.n3ds.take_interrupts()
    gpu.poke("PPF_CONTROL", 1)
    return int(gpu.n3ds.take_interrupts().get("PPF", 0))


def result(gpu: Any, dtype: str, count: int) -> list[int]:
    return np.frombuffer(gpu.memory.read(TARGET, count * np.dtype(dtype).itemsize), dtype).tolist()


@case("external.status", [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2])
def _(gpu: Any) -> list[int]:
    """Bits of a fill that has finished, of the transfer engine before it does anything, and while it hangs; both fills'
    bits while the first one runs, on a machine in which that takes time."""
    for name, value in (("START", SOURCE >> 3), ("END", SOURCE + 64 >> 3), ("VALUE", 1), ("CONTROL", 1)):
        gpu.poke(f"PSC0_{name}", value)
    status = gpu.peek("STATUS")
    gpu.poke("PPF_COPY_SIZE", 0)
    transfer(gpu, 16, 16, 8)
    timed = N3DS(timing="emulated", switches=gpu.n3ds.choices)
    timed.write_register(0x10400014, SOURCE + (1 << 16) >> 3)
    timed.write_register(0x10400010, SOURCE >> 3)
    timed.write_register(0x1040001C, 1)
    running = timed.read_register(0x10400034) >> 26 & 3
    return [status >> 26 & 1, status >> 30 & 1, gpu.peek("STATUS") >> 30 & 1, running]


@case("transfer.no_tiling", [42, 0], [56, 0])
def _(gpu: Any) -> list[int]:
    """Upside down: where the first pixel comes from; the last one of the first column, which is where it was first."""
    gpu.memory.write(SOURCE, np.arange(64, dtype="<u4").tobytes())
    transfer(gpu, 8, 8, 1 << 5 | 1)
    out = result(gpu, "<u4", 64)
    return [out[0], out.index(0) - out[0]]


@case("transfer.contract", [31, 31, 0, 1], [30, 31, 1, 1])
def _(gpu: Any) -> list[int]:
    """Red 250 and 255 as five bits; alpha 1 and 128 as one bit."""
    words = np.zeros(64, "<u4")
    words[:4] = (250 << 24, 255 << 24, 1, 128)
    gpu.memory.write(SOURCE, words.tobytes())
    transfer(gpu, 8, 8, 1 << 5 | 3 << 12)
    out = result(gpu, "<u2", 4)
    return [out[0] >> 11, out[1] >> 11, out[2] & 1, out[3] & 1]


@case("transfer.odd_formats", [0, 1, 1], [1, 1, 1])
def _(gpu: Any) -> list[int]:
    """RGB8 to RGBA8; RGBA8 to RGB8; RGB565 to RGBA4."""
    return [transfer(gpu, 8, 8, read << 8 | write << 12) for read, write in ((1, 0), (0, 1), (2, 4))]


@case("transfer.small", [1, 1, 1, 1], [0, 0, 1, 1])
def _(gpu: Any) -> list[int]:
    """16-bit pictures of 32x32, 64x56 and 64x64 pixels; 32-bit ones of 32x32."""
    sizes = ((32, 32, 2, 4), (64, 56, 2, 2), (64, 64, 3, 4), (32, 32, 0, 4))
    return [transfer(gpu, width, height, read << 8 | write << 12) for width, height, read, write in sizes]


@case("transfer.average_bits", [31, 15], [30, 15])
def _(gpu: Any) -> list[int]:
    """Red 31 and 30, 16 and 15 (of 31), made one of two."""
    words = np.zeros(128, "<u2")
    words[:4] = [red << 11 for red in (31, 30, 16, 15)]
    gpu.memory.write(SOURCE, words.tobytes())
    transfer(gpu, 16, 8, 1 << 1 | 1 << 5 | 1 << 24 | 2 << 8 | 2 << 12)
    return [word >> 11 for word in result(gpu, "<u2", 2)]


@case("transfer.linear_scale", [(0 + 1 + 16 + 17) >> 2, 1], [(0 + 1 + 2 + 3) >> 2, 1], [0xFF, 1])
def _(gpu: Any) -> list[int]:
    gpu.memory.write(SOURCE, np.arange(256, dtype="<u4").tobytes())
    gpu.memory.write(TARGET, b"\xff" * 256)
    fired = transfer(gpu, 16, 16, 1 << 1 | 2 << 24)
    return [result(gpu, "<u4", 1)[0] & 0xFF, fired]


def block_order(rule: str) -> np.ndarray:
    """Texel number of (row, column) in a picture of 64x64."""
    y, x = np.mgrid[:64, :64]
    bits = 5 if rule == "morton" else 3
    inside = sum(((x >> b & 1) << 2 * b) + ((y >> b & 1) << 2 * b + 1) for b in range(bits))
    if rule == "tiles":
        inside = inside + 64 * ((y >> 3 & 3) * 4 + (x >> 3 & 3))
    return ((y >> 5) * 2 + (x >> 5)) * 1024 + inside


@case("transfer.block32", ["morton"] * 3, ["tiles"] * 3)
def _(gpu: Any) -> list[str]:
    """Which order pixels have: written by the transfer engine, read by it, drawn."""
    numbers = np.arange(64 * 64, dtype="<u4")
    gpu.memory.write(SOURCE, numbers.tobytes())
    transfer(gpu, 64, 64, 1 << 16 | 1 << 1)
    written = np.array(result(gpu, "<u4", 4096))
    transfer(gpu, 64, 64, 1 << 16)
    read = np.array(result(gpu, "<u4", 4096))
    assert [(e.kind, e.id, e.count) for e in gpu.events] == [("warning", "pica.block32", 2)]
    gpu.target(64, 64)
    gpu.set(FRAMEBUFFER_BLOCK32=1)
    gpu.quad(color=[(0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1), (1, 1, 0, 1)])
    gpu.run()
    words = np.frombuffer(gpu.memory.read(COLOR, 4 * 4096), "<u4")
    out = ["?"] * 3
    for rule in CHOICES["transfer.block32"].values:
        order = block_order(rule)
        if (written[order].ravel() == numbers).all():
            out[0] = rule
        if (read == order.ravel()).all():
            out[1] = rule
        picture = words[order][::-1]
        red, green = picture >> 24 & 0xFF, picture >> 16 & 0xFF
        steady = (np.diff(red.astype(int), axis=1) > 0).all() and (np.diff(green.astype(int), axis=0) > 0).all()
        if steady:
            out[2] = rule
    assert gpu.ids == {"pica.block32"}
    (target,) = gpu.n3ds.render_targets
    rows = target.read(gpu.memory)
    assert (rows == np.stack([words[block_order(out[2])] >> s & 0xFF for s in (24, 16, 8, 0)], axis=-1)).all()
    return out


# -- the table ---------------------------------------------------------------------------------------------------------
FRAGMENT = ("blend", "combiner", "depth", "test", "texture")
EACH = [(name, value) for name, (_, results) in CASES.items() for value in results]


@pytest.mark.parametrize(("name", "value"), EACH)
def test_a_value_does_what_it_says(make_gpu: Callable[..., Any], name: str, value: str) -> None:
    scene, results = CASES[name]
    assert scene(make_gpu(**{name.replace(".", "__"): value})) == results[value]


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, v in EACH if n.partition(".")[0] in FRAGMENT])
def test_general_code_and_the_other_evaluator_agree(make_gpu: Callable[..., Any], name: str, value: str) -> None:
    scene, results = CASES[name]
    gpu = make_gpu(evaluator="numpy", **{name.replace(".", "__"): value, "tier": "general"})
    assert scene(gpu) == results[value]


@pytest.mark.parametrize(
    "name",
    [
        "list.end_match", "vertex.alignment", "vertex.fixed_and_loaded", "clip.depth_range", "transfer.contract",
        "transfer.average_bits", "transfer.block32",
    ],
)  # fmt: skip
def test_numpy_and_machine_code_agree(make_gpu: Callable[..., Any], name: str) -> None:
    scene, results = CASES[name]
    value = CHOICES[name].alternatives[0]
    assert scene(make_gpu(evaluator="numpy", **{name.replace(".", "__"): value})) == results[value]


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_the_interpreter_knows_where_programs_end(
    make_gpu: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, evaluator: str
) -> None:
    program_of.cache_clear()
    monkeypatch.setattr("pocketgpu.pica.shader.program.MAX_NODES", 0)
    assert ending(make_gpu(evaluator=evaluator, shader__end="entrypoint")) == [51, 255]
    assert ending(make_gpu(evaluator=evaluator)) == [255, 255]


@pytest.mark.parametrize("tier", ["specialised", "general"])
@pytest.mark.parametrize(("value", "drawn"), [("nothing", True), ("entrypoint", False)])
def test_geometry_programs_end_there_too(tier: str, value: str, drawn: bool) -> None:
    """The upper half of ENTRYPOINT lies before the third vertex is emitted."""
    parts = ["mov o0, v0", "mov o1, v1", "setemit 0", "emit", "mov o0, v2", "setemit 1", "emit", "mov o0, v4",
             "setemit 2, prim", "emit", "end"]  # fmt: skip
    vertices = np.concatenate([BIG, np.ones((3, 4), np.float32)], axis=1)
    machine = N3DS(evaluator="numpy", tier=tier, switches={"shader.end": value})
    machine.memory.write(SOURCE, vertices.tobytes())
    outputs = ".out o0 position\n.out o1 color\n"
    cl = CommandList().plain_state().render_target(COLOR, 8, 8)
    cl.shader(assemble(outputs + "mov o0, v0\nmov o1, v1\nend\n"))
    cl.attributes(Buffer(SOURCE, [("f32", 4), ("f32", 4)]))
    cl.geometry_shader(assemble(outputs + "\n".join(parts)), outputs=2, inputs=6)
    cl.write("GSH_ENTRYPOINT", entry=0, end=7).write_word("RESTART_PRIMITIVE", 1)
    cl.write("NUMVERTICES", count=3).write("VERTEX_OFFSET", first=0)
    cl.write("INDEXBUFFER_CONFIG", type="u16").write_word("DRAWARRAYS", 1)
    assert machine.submit(cl.finalize().words)
    assert any(machine.memory.read(COLOR, 4)) == drawn


def test_the_values_of_a_case_differ() -> None:
    """Otherwise a scene would prove nothing."""
    for name, (_, results) in CASES.items():
        assert len({repr(result) for result in results.values()}) == len(results), name
