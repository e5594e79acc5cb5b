"""Where vertices come from, and what their outputs mean."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import Buffer, assemble
from pocketgpu.facts.pica_enums import ATTRIBUTE_TYPE

from .stage import BLUE, CORNERS, GREEN, RED, YELLOW, Array, Scene, each, scene

SCALED = assemble("""
    ; Integer attributes count as they are: the colour comes down to 0..1 here.
    .out o0 position
    .out o1 color
    main:
        mov o0, v0
        mul o1, c0, v1
        end
""")
PLAIN = assemble("""
    .out o0 position
    .out o1 color
    main:
        mov o0, v0
        mov o1, v1
        end
""")
DTYPES = {"s8": "i1", "u8": "u1", "s16": "<i2", "f32": "<f4"}
FULL = {"s8": 127, "u8": 255, "s16": 32767, "f32": 1}
QUAD = np.array([(x, y, -0.5, 1) for x, y in CORNERS], "<f4")
HUES = np.array([RED, GREEN, BLUE, YELLOW])
FAN = "triangle fan"


@scene(4, 4, 16)
def vertex_formats(s: Scene) -> None:
    """A colour attribute of each type (rows: s8, u8, s16, f32) and size (columns: 1 to 4): red, green, blue and yellow
    at the corners. Missing components are 0, and alpha 1 (of 127, 255, 32767 or 1); with four, alpha is 0.25 to 1.
    Signed colours are negative at the lower right corner; colours count without their sign."""
    s.cl.shader(SCALED)
    places = s.put(QUAD)
    for type in each(ATTRIBUTE_TYPE):
        for size in (1, 2, 3, 4):
            s.cell(f"{type} x {size}").uniforms(0, [1 / FULL[type]] * 4)
            colors = HUES.copy()
            colors[:, 3] = (0.25, 0.5, 0.75, 1)
            if type != "u8":
                colors[1] *= -1
            scaled = colors[:, :size] * FULL[type]
            values = s.put((scaled if type == "f32" else np.round(scaled)).astype(DTYPES[type]))
            s.cl.attributes(Buffer(places, [("f32", 4)]), Buffer(values, [(type, size)]))
            s.cl.draw_arrays(4, primitive=FAN)


def interleaved(*parts: Array | int) -> Array:
    """Rows of bytes from arrays of four rows; a number is that many bytes of rubbish."""
    columns = [
        np.full((4, part), 0xA5, np.uint8) if isinstance(part, int) else np.ascontiguousarray(part).view(np.uint8)
        for part in parts
    ]
    return np.concatenate(columns, axis=1)


@scene(6, 3, 16)
def vertex_buffers(s: Scene) -> None:
    """The same quad (red, green, blue, yellow from the lower left, counter-clockwise), however it is stored; all cells
    of the first two rows are alike but the fixed colours: two buffers; one; one with gaps of 4, 8, 12 and 16 bytes
    skipped; attributes padded to their size; colour before place, exchanged by the permutation; a fixed colour
    (orange); one with two components (rest 0 and 1); a fixed place for all (nothing); immediate vertices as fan, strip
    and triangles; a first vertex other than 0; 16-bit indices, 8-bit indices from an odd address, indices before the
    vertices; 12 attributes in 12 buffers, of which the last is the colour; indices that start at 17."""
    s.cl.shader(PLAIN)
    hues = HUES.astype("<f4")
    bytes4 = np.round(HUES * 255).astype("u1")
    place = ("f32", 4)
    s.cell("two buffers").attributes(Buffer(s.put(QUAD), [place]), Buffer(s.put(hues), [place]))
    s.cl.draw_arrays(4, primitive=FAN)
    s.cell("one buffer").attributes(Buffer(s.put(interleaved(QUAD, hues)), [place, place]))
    s.cl.draw_arrays(4, primitive=FAN)
    gaps = s.put(interleaved(4, QUAD, 8, 12, hues, 16))
    s.cell("gaps of 4, 8, 12, 16").attributes(Buffer(gaps, [4, place, 8, 12, place, 16]))
    s.cl.draw_arrays(4, primitive=FAN)
    # Three bytes, then a float pair that starts at the next multiple of four.
    odd = s.put(interleaved(bytes4[:, :3], 1, QUAD[:, :2]))
    s.cell("aligned to elements").shader(SCALED).uniforms(0, [1 / 255, 1 / 255, 1 / 255, 1])
    s.cl.attributes(Buffer(odd, [("u8", 3), ("f32", 2)])).write("VSH_ATTRIBUTES_PERMUTATION_LOW", input0=1)
    s.cl.write("DEPTHMAP_OFFSET", value=0.5).draw_arrays(4, primitive=FAN)
    s.cl.write("DEPTHMAP_OFFSET").shader(PLAIN)
    s.cell("permuted").attributes(Buffer(s.put(interleaved(hues, QUAD)), [place, place]))
    s.cl.write("VSH_ATTRIBUTES_PERMUTATION_LOW", input0=1).draw_arrays(4, primitive=FAN)
    s.cell("stride beyond its parts").attributes(Buffer(s.put(interleaved(QUAD, hues, 20)), [place, place], 52))
    s.cl.draw_arrays(4, primitive=FAN)

    s.cell("fixed colour").attributes(Buffer(s.put(QUAD), [place]), fixed=[(1, 0.5, 0, 0.75)])
    s.cl.draw_arrays(4, primitive=FAN)
    s.cell("fixed colour of two components").attributes(Buffer(s.put(QUAD), [place]), fixed=[(0.3, 0.7)])
    s.cl.draw_arrays(4, primitive=FAN)
    s.cell("fixed place").attributes(Buffer(s.put(hues), [place]), fixed=[(0, 0, -0.5, 1)])
    s.cl.write("VSH_ATTRIBUTES_PERMUTATION_LOW", input0=1).draw_arrays(4, primitive=FAN)
    both = np.stack([QUAD, hues], axis=1)
    for name, primitive, order in (
        ("fan", FAN, (0, 1, 2, 3)), ("strip", "triangle strip", (0, 1, 3, 2)),
        ("triangles", "triangles", (0, 1, 2, 0, 2, 3)),
    ):  # fmt: skip
        s.cell(f"immediate, {name}").draw_immediate(both[list(order)], primitive=primitive)

    five = np.concatenate([QUAD[::-1], QUAD])
    s.cell("first vertex 4").attributes(
        Buffer(s.put(five), [place]), Buffer(s.put(np.concatenate([hues * 0, hues])), [place])
    )
    s.cl.draw_arrays(4, 4, primitive=FAN)
    order = np.array([0, 1, 2, 0, 2, 3])
    buffer = Buffer(s.put(interleaved(QUAD, hues)), [place, place])
    s.cell("16-bit indices").attributes(buffer).draw_elements(6, s.put(order.astype("<u2")))
    narrow = s.put(np.concatenate([[9, 9, 9], order]).astype("u1")) + 3
    s.cell("8-bit indices, odd address").attributes(buffer).draw_elements(6, narrow, wide=False)
    early = s.capture.put(order.astype("<u2"))
    late = Buffer(s.capture.put(interleaved(QUAD, hues)), [place, place])
    s.cell("indices before vertices").attributes(late, base=early).draw_elements(6, early)
    s.cell("twelve attributes in twelve buffers").shader(TWELVE)
    rubbish = [Buffer(s.put(np.full(16, n, "u1")), [("u8", 4)]) for n in range(10)]
    s.cl.attributes(Buffer(s.put(QUAD), [place]), *rubbish, Buffer(s.put(hues), [place])).draw_arrays(4, primitive=FAN)
    s.cl.shader(PLAIN)
    s.cell("17 vertices on, by index").attributes(
        Buffer(late.address - 17 * 32, [place, place]), base=late.address - 544
    )
    s.cl.draw_elements(6, s.put((order + 17).astype("<u2")))


TWELVE = assemble("""
    .out o0 position
    .out o1 color
    main:
        mov o0, v0
        mov o1, v11
        end
""")
OUTPUTS = assemble("""
    ; Everything that the scene of output maps maps: colour as it is, its parts elsewhere, zeros.
    .constf c0, 0.0, 0.0, 0.0, 1.0
    .out o0 position
    main:
        mov o0, v0
        mov o1, v1
        mov o2, v1.wzyx
        mov o3, c0
        mov o4, v1.xxxx
        end
""")
POSITION, COLOR = (0, 1, 2, 3), (8, 9, 10, 11)
OFF = 0x1F


@scene(5, 2, 16)
def output_map(s: Scene) -> None:
    """What the components of output registers mean. The colour as it is (red, green, blue, yellow at the corners, alpha
    0.5); reversed by the program, undone by the map; red, green and blue exchanged by the map; from two registers
    (green is red's); alpha not mapped (1); green not mapped (1); registers 0 and 2 only, renumbered; blue mapped
    twice (the later register counts); w not mapped (1); colours below 0 (without sign) and above 1."""
    s.cl.shader(OUTPUTS)
    hues = HUES.copy()
    hues[:, 3] = 0.5

    def show(label: str, outputs: dict[int, tuple[int, ...]], colors: Array = hues, w: float = 1.0) -> None:
        place = QUAD * np.array([1, 1, 1, w], "<f4")
        s.cell(label).outputs(outputs)
        s.cl.attributes(Buffer(s.put(place), [("f32", 4)]), Buffer(s.put(colors.astype("<f4")), [("f32", 4)]))
        s.cl.draw_arrays(4, primitive=FAN)

    show("plain", {0: POSITION, 1: COLOR})
    show("reversed and back", {0: POSITION, 2: COLOR[::-1]})
    show("red to green to blue", {0: POSITION, 1: (9, 10, 8, 11)})
    show("from two registers", {0: POSITION, 1: (8, OFF, 10, 11), 4: (OFF, OFF, OFF, 9)})
    show("alpha not mapped", {0: POSITION, 1: (8, 9, 10, OFF)})
    show("green not mapped", {0: POSITION, 1: (8, OFF, 10, 11)})
    show("registers 0 and 2", {0: POSITION, 2: COLOR})
    show("blue twice", {0: POSITION, 1: COLOR, 4: (10, OFF, OFF, OFF)})
    show("w not mapped", {0: (0, 1, 2, OFF), 1: COLOR}, w=2.0)
    show("below 0 and above 1", {0: POSITION, 1: COLOR}, colors=hues * np.array([[-1], [3], [-0.5], [0.6]]))
